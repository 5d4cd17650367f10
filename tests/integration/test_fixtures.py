"""The fixtures themselves: what a broken machine should be told by."""

import os
import subprocess

import pytest


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs"])
def test_loopfs(loopfs, kind):
    fs = loopfs(kind)
    (fs.path / "file").write_bytes(b"x")
    fs.unmount()
    assert os.listdir(fs.path) == []
    fs.mount()
    assert (fs.path / "file").read_bytes() == b"x"


def test_tmpfs_is_of_its_size(tmpfs):
    found = os.statvfs(tmpfs(size=1 << 20))
    assert found.f_blocks * found.f_frsize == 1 << 20


def test_a_busy_mount_is_waited_for(tmpfs):
    fs = tmpfs()
    holder = subprocess.Popen(["cat"], cwd=fs, stdin=subprocess.PIPE)
    assert subprocess.run(["umount", fs], stderr=subprocess.DEVNULL).returncode != 0
    holder.stdin.close()
    fs.close()
    holder.wait()
    assert not os.path.ismount(fs)
