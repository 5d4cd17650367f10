#!/usr/bin/python3
"""A test for the test: layering.py finds what is planted."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

LAYERING = pathlib.Path(__file__).resolve().parent / "layering.py"


class Planted(unittest.TestCase):
    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.tree = pathlib.Path(tmp.name)
        self.write("include/core/units.h", "#pragma once\n")
        self.write("include/main/group.h", '#include "core/units.h"\n')
        self.write("daemon/main/group.c", '#include <systemd/sd-event.h>\n#include "main/group.h"\n')

    def write(self, name, text):
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def check(self, status, output):
        run = subprocess.run([sys.executable, LAYERING, self.tree], capture_output=True, text=True)
        self.assertEqual(run.stdout, output)
        self.assertEqual(run.returncode, status, run.stderr)

    def test_clean(self):
        self.check(0, "layering: every #include keeps the rules\n")

    def test_another_programs_header(self):
        self.write("daemon/worker/sweep.c", '\n#include "main/group.h"\n')
        self.check(1, "daemon/worker/sweep.c:2: worker may not use main/group.h\n")

    def test_core_uses_nobody(self):
        self.write("daemon/core/units.c", '#include "core/units.h"\n# include <main/group.h>\n')
        self.check(1, "daemon/core/units.c:2: core may not use main/group.h\n")

    def test_library_in_a_foreign_folder(self):
        self.write("daemon/cli/run.c", "#include <stdio.h>\n#include <microhttpd.h>\n")
        self.check(1, "daemon/cli/run.c:2: cli may not use microhttpd.h\n")

    def test_library_in_a_header(self):
        self.write("include/main/log.h", "#include <systemd/sd-journal.h>\n")
        self.check(1, "include/main/log.h:1: a library's header in include/: systemd/sd-journal.h\n")

    def test_private_header(self):
        self.write("daemon/core/units.c", '#include "units.h"\n')
        self.check(1, "daemon/core/units.c:1: no such header in include/: units.h\n")

    def test_folder_without_a_rule(self):
        self.write("daemon/misc/util.c", "")
        self.check(1, "daemon/misc/util.c:1: no rule for the folder misc\n")


if __name__ == "__main__":
    unittest.main()
