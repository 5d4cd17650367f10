#!/usr/bin/python3
"""Checks who includes whom: layering.py [TREE]

Every broken rule is printed as FILE:LINE: what is wrong, and the exit status
is 1. CONTRIBUTING.md gives the reasons for the rules.
"""

import pathlib
import re
import sys

# folder: the folders whose headers it may include, beside its own
MAY_USE = {
    "core": set(),
    "child": {"core"},
    "worker": {"core"},
    "http": {"core"},
    "cli": {"core", "child"},
    "main": {"core", "child", "http"},
}

# library header (or its directory): the folders that may include it
LIBRARY = {
    "jansson.h": {"core", "http"},
    "libconfig.h": {"main"},
    "microhttpd.h": {"http"},
    "seccomp.h": {"worker"},
    "sqlite3.h": {"store"},
    "systemd": {"main"},
}

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def judge(tree, top, folder, quote, header):
    """Says what is wrong with one #include, or None."""
    first = header.split("/")[0]
    if first in LIBRARY:
        if top == "include":
            return f"a library's header in include/: {header}"
        if folder not in LIBRARY[first]:
            return f"{folder} may not use {header}"
        return None
    if first in MAY_USE and "/" in header:
        if folder != first and first not in MAY_USE[folder]:
            return f"{folder} may not use {header}"
    if quote == '"' and not (tree / "include" / header).is_file():
        return f"no such header in include/: {header}"
    return None


def check(tree):
    """Yields one line for each broken rule below tree."""
    for top in "daemon", "include":
        for path in sorted((tree / top).rglob("*.[ch]")):
            name = path.relative_to(tree)
            folder = name.parts[1]
            if folder not in MAY_USE:
                yield f"{name}:1: no rule for the folder {folder}"
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                found = INCLUDE.match(line)
                wrong = found and judge(tree, top, folder, *found.groups())
                if wrong:
                    yield f"{name}:{number}: {wrong}"


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent.parent
    broken = list(check(pathlib.Path(sys.argv[1]) if sys.argv[1:] else here))
    print("\n".join(broken) or "layering: every #include keeps the rules")
    sys.exit(bool(broken))
