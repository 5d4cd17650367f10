"""Whether our syncs reach the device as everybody's do.

btrfs long skipped the log sync of files without a link, so a test file that is
unlinked early measures nothing there. So: flushes a sync, as the block device
counts them, beside those of a plain named file written by hand.
"""

import os
import pathlib

import pytest

SYNCS = 200
FLUSHES_COMPLETED = 15  # the 16th field of /sys/block/*/stat, since Linux 5.5


def flushes(fs):
    fields = pathlib.Path("/sys/block", os.path.basename(fs.device), "stat").read_text().split()
    if len(fields) <= FLUSHES_COMPLETED:
        pytest.skip("this kernel does not count flushes")
    return int(fields[FLUSHES_COMPLETED])


def by_hand(fs, layout):
    path = fs.path / "by-hand"
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        if layout == "overwrite":
            os.pwrite(fd, os.urandom(1 << 20), 0)
        os.fdatasync(fd)
        before = flushes(fs)
        for i in range(SYNCS):
            offset = i * 4096 % (1 << 20) if layout == "overwrite" else i * 4096
            os.pwrite(fd, os.urandom(4096), offset)
            os.fdatasync(fd)
        return flushes(fs) - before
    finally:
        os.close(fd)
        os.unlink(path)


@pytest.mark.parametrize("layout", ["overwrite", "append"])
@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs"])
def test_flushes_a_sync(run_cli, loopfs, kind, layout):
    fs = loopfs(kind)
    expected = by_hand(fs, layout)
    before = flushes(fs)
    run_cli("run", "--kind", "commit", "--layout", layout, "--count", SYNCS, fs)
    ours = flushes(fs) - before
    print(f"{kind} {layout}: {expected / SYNCS} flushes a sync by hand, {ours / SYNCS} ours")
    assert expected >= SYNCS
    # Laying out, and the end of a transaction here and there, come on top.
    assert expected <= ours <= expected + 12
