"""Own files only: what is planted stays, what is left over goes, and nobody is hurt."""

import json
import os
import pathlib
import random
import signal
import socket
import stat
import subprocess
import time

import pytest

from conftest import our_programs, poll_until

QUICK = ["--kind", "commit", "--count", "3"]


def own_name(machine, token="0123456789abcdef", uid=None):
    return f".syncprobe-{machine}-{os.geteuid() if uid is None else uid}-{token}"


def tree(path):
    """Everything below, with what would change if somebody touched it."""
    found = {}
    for p in sorted(path.rglob("*")):
        s = p.lstat()
        found[str(p)] = (s.st_ino, s.st_mode, s.st_size, s.st_nlink, s.st_mtime_ns,
                         p.read_bytes() if stat.S_ISREG(s.st_mode) else None)
    return found


def test_left_overs_are_removed(run_cli, workdir, machine):
    (workdir / own_name(machine)).write_bytes(b"left over")
    directory = workdir / own_name(machine, "fedcba9876543210")
    directory.mkdir()
    (directory / "tf_17.dat").write_bytes(b"x")
    run_cli("run", *QUICK, workdir)
    assert list(workdir.iterdir()) == []


def test_what_is_not_ours_stays(run_cli, workdir, machine, tmp_path):
    precious = tmp_path / "precious"
    precious.write_bytes(b"precious")
    other_machine = "0" * 8 if machine != "0" * 8 else "1" * 8

    (workdir / "a user's file").write_bytes(b"data")
    (workdir / own_name(other_machine)).write_bytes(b"another host's, on shared storage")
    (workdir / own_name(machine, uid=os.geteuid() + 1)).write_bytes(b"another user's")
    (workdir / own_name(machine, "short")).write_bytes(b"")
    (workdir / own_name(machine, "0123456789ABCDEF")).write_bytes(b"")
    (workdir / (own_name(machine) + "x")).write_bytes(b"")
    (workdir / own_name(machine, "kept0123456789ab")).write_bytes(b"a daemon may want it")
    (workdir / own_name(machine, "1" * 16)).symlink_to(precious)
    (workdir / own_name(machine, "2" * 16)).hardlink_to(workdir / "a user's file")
    os.mkfifo(workdir / own_name(machine, "3" * 16))
    with socket.socket(socket.AF_UNIX) as s:
        here = os.open(workdir, os.O_RDONLY)
        s.bind(f"/proc/self/fd/{here}/{own_name(machine, '4' * 16)}")
        os.close(here)
    if os.geteuid() == 0:
        os.mknod(workdir / own_name(machine, "5" * 16), 0o600 | stat.S_IFBLK, os.makedev(7, 250))
        os.mknod(workdir / own_name(machine, "6" * 16), 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        foreign = workdir / own_name(machine, "7" * 16)
        foreign.write_bytes(b"owned by somebody else")
        os.chown(foreign, 12345, 12345)
    full = workdir / own_name(machine, "8" * 16)
    full.mkdir()
    (full / "not ours").write_bytes(b"so the directory stays too")

    before = tree(workdir)
    run_cli("run", *QUICK, workdir, timeout=30)
    assert tree(workdir) == before
    assert precious.read_bytes() == b"precious"


def test_a_living_file_is_not_swept(run_cli, syncprobe, workdir):
    """Two at once: neither takes the other's file away."""
    slow = subprocess.Popen(
        [syncprobe, "run", "--json", "--kind", "stream", "--data", "random", "--size", "24MiB", "--max-rate", "8MiB", workdir],
        stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
    )
    try:
        poll_until(lambda: list(workdir.iterdir()), 10, "the first one's file")
        (file,) = workdir.iterdir()
        for _ in range(3):
            run_cli("run", *QUICK, workdir)
            assert file.exists() or slow.poll() is not None
        (result,) = json.loads(slow.communicate(timeout=30)[0])["results"]
        assert result["outcome"] == "ok"
    finally:
        slow.kill()
        slow.wait()
    assert list(workdir.iterdir()) == []


def test_many_at_once(syncprobe, workdir):
    runs = [
        subprocess.Popen([syncprobe, "run", "--json", "--kind", kind, "--count", "40", *more, workdir],
                         stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        for kind, more in [("commit", []), ("create", []), ("pulse", ["--period", "1ms"])] * 4
    ]
    for r in runs:
        (result,) = json.loads(r.communicate(timeout=60)[0])["results"]
        assert (result["outcome"], result["samples"]) == ("ok", 40)
    assert list(workdir.iterdir()) == []


def test_kill_9_at_random_moments(run_cli, syncprobe, workdir):
    seed = int(os.environ.get("SYNCPROBE_TEST_SEED", random.randrange(2**32)))
    print(f"SYNCPROBE_TEST_SEED={seed}")
    dice = random.Random(seed)
    for _ in range(25):
        kind = dice.choice(["commit", "stream", "create", "pulse"])
        victim = subprocess.Popen(
            [syncprobe, "run", "--no-progress", "--kind", kind, "--duration", "5s", workdir],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
        )
        workers = poll_until(
            lambda: [p for p, name in our_programs().items() if name.startswith("syncprobe-work")], 10, "a worker"
        )
        end = time.monotonic() + dice.random() * 0.05
        while time.monotonic() < end:  # a random moment is what is tested
            pass
        for pid in workers:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        victim.wait(10)
    run_cli("run", *QUICK, workdir)
    assert list(workdir.iterdir()) == []


def test_a_killed_parent_leaves_nothing(syncprobe, workdir):
    parent = subprocess.Popen(
        [syncprobe, "run", "--kind", "commit", "--duration", "20s", workdir],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
    )
    poll_until(lambda: list(workdir.iterdir()), 10, "a test file")
    parent.kill()
    parent.wait()
    poll_until(lambda: not our_programs(), 10, "the worker to end with its parent")
    assert list(workdir.iterdir()) == []


@pytest.mark.parametrize("what", ["file", "fifo", "socket", "char", "block", "link to a device"])
def test_what_is_no_directory_is_refused(run_cli, tmp_path, what):
    path = tmp_path / "it"
    if what == "file":
        path.write_bytes(b"precious")
    elif what == "fifo":
        os.mkfifo(path)
    elif what == "socket":
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(str(path))
    else:
        if os.geteuid() != 0:
            pytest.skip("needs root: device nodes")
        device = tmp_path / "device"
        os.mknod(device, 0o600 | (stat.S_IFBLK if what != "char" else stat.S_IFCHR), os.makedev(7, 250))
        path = device if what != "link to a device" else path
        if what == "link to a device":
            path.symlink_to(device)
    before = tree(tmp_path)
    done = run_cli("run", *QUICK, path, check=False, timeout=30)
    assert done.returncode == 1
    assert str(path) in done.stdout + done.stderr
    assert tree(tmp_path) == before


def test_a_target_below_a_symbolic_link_is_followed_once(run_cli, workdir):
    real = workdir / "real"
    real.mkdir()
    (workdir / "link").symlink_to(real)
    done = run_cli("run", "--json", *QUICK, workdir / "link")
    assert json.loads(done.stdout)["results"][0]["target"] == str(real)


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs"])
def test_umount_finds_nothing_busy(run_cli, loopfs, kind):
    fs = loopfs(kind)
    run_cli("run", "--kind", "commit", "--count", "50", fs)
    fs.unmount()
    fs.mount()


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs"])
def test_all_kinds_on_real_file_systems(run_cli, loopfs, kind):
    fs = loopfs(kind)
    done = run_cli("run", "--json", "--size", "16MiB", "--count", "200", "--duration", "2s", fs)
    for result in json.loads(done.stdout)["results"]:
        assert result["outcome"] == "ok"
        assert result["evidence"]["fstype"] == kind
        assert result["written_bytes"] > 0
    assert [p.name for p in fs.path.iterdir() if p.name != "lost+found"] == []
