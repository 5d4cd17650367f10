"""Where the bytes went: what is to be believed of a run, on real file systems."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading

import pytest

from conftest import BUILD, Mount, command, holders, poll_until

SUSPECT = {"memory-backed", "not-allocated", "compressed", "device-bytes-missing", "no-flush", "sync-disabled"}

# A run of each kind, as short as tells something: fifty syncs are enough to be held against a device.
KINDS = {
    "commit": ["--kind", "commit", "--count", "60", "--size", "256KiB"],
    "stream": ["--kind", "stream", "--data", "random", "--size", "4MiB"],
    "create": ["--kind", "create", "--count", "60", "--duration", "2s"],
    "pulse": ["--kind", "pulse", "--count", "3", "--period", "1ms"],
}

# Under the sanitizers everything takes longer, and the kernel is the same.
SANITIZED = re.search("^CFLAGS = .*-fsanitize", (BUILD / "Makefile").read_text(), re.M)
RUNS = 10 if SANITIZED else 100


def run(run_cli, path, *options):
    done = run_cli("run", "--json", *options, path, check=False, timeout=600)
    return json.loads(done.stdout)["results"]


def codes(result):
    return {r["code"] for r in result["reasons"]}


def text(result, code):
    return next(r["text"] for r in result["reasons"] if r["code"] == code)


# --- RAM ---------------------------------------------------------------------


def assert_in_ram(run_cli, path, *options):
    for kind in KINDS:
        [result] = run(run_cli, path, *KINDS[kind], *options)
        assert result["outcome"] == "ok", result["error"]
        assert "memory-backed" in codes(result), result
        assert (result["verdict"], result["reached"]) == ("suspect", "ram")
    report = run_cli("run", "--kind", "commit", path).stdout
    assert report.splitlines()[1] == "Verdict: suspect"
    assert "RAM" in report and "Next: test a directory on a disk" in report


def test_tmpfs(run_cli, tmpfs):
    assert_in_ram(run_cli, tmpfs())


def test_ramfs(run_cli, root, mounts, tmp_path):
    mounts.append(Mount(tmp_path / "ramfs", "-t", "ramfs", "ramfs"))
    assert_in_ram(run_cli, mounts[-1])


def test_a_link_to_tmpfs(run_cli, tmpfs, tmp_path):
    (tmp_path / "link").symlink_to(tmpfs())
    assert_in_ram(run_cli, tmp_path / "link")


def test_a_bind_mount_of_tmpfs(run_cli, tmpfs, mounts, tmp_path):
    below = tmpfs()
    (below.path / "directory").mkdir()
    mounts.append(Mount(tmp_path / "bound", "--bind", below.path / "directory"))
    assert_in_ram(run_cli, mounts[-1])


def test_an_overlay_on_tmpfs(run_cli, tmpfs, mounts, tmp_path):
    below = tmpfs()
    for name in "lower", "upper", "work":
        (below.path / name).mkdir()
    options = f"lowerdir={below}/lower,upperdir={below}/upper,workdir={below}/work"
    mounts.append(Mount(tmp_path / "overlay", "-t", "overlay", "-o", options, "overlay"))
    assert_in_ram(run_cli, mounts[-1])


def test_a_loop_device_on_tmpfs(run_cli, tmpfs, mounts, tmp_path):
    """The statfs says ext4: what is under it tells."""
    below = tmpfs(256 << 20)
    with open(below.path / "image", "wb") as image:
        image.truncate(128 << 20)
    command("mkfs.ext4", "-q", "-F", below.path / "image")
    mounts.append(Mount(tmp_path / "loop", "-o", "loop", below.path / "image"))
    assert_in_ram(run_cli, mounts[-1])


@pytest.fixture
def zram(root):
    """A block device in memory, of 256 MiB."""
    device = pathlib.Path("/sys/block/zram0")
    if not device.exists():
        pytest.skip("the kernel has no zram device")
    if (device / "disksize").read_text().strip() != "0":
        pytest.skip("zram0 is in use")
    (device / "disksize").write_text(str(256 << 20))
    yield "/dev/zram0"
    poll_until(lambda: not list(holders("/dev/zram0")), 10, "zram0 let go")
    (device / "reset").write_text("1")


def test_ext4_on_zram(run_cli, zram, root, tmp_path):
    command("mkfs.ext4", "-q", "-F", zram)
    mount = Mount(tmp_path / "zram", zram)
    try:
        assert_in_ram(run_cli, mount)
    finally:
        mount.close()


# --- a file system that compresses ----------------------------------------------


def test_btrfs_compresses_zeros(run_cli, loopfs):
    fs = loopfs("btrfs", 1 << 30, "compress-force=zstd")
    zeros, random = run(run_cli, fs, "--kind", "stream", "--size", "64MiB")
    assert {"compressed", "device-bytes-missing"} <= codes(zeros), zeros
    assert (zeros["verdict"], zeros["reached"]) == ("suspect", "filesystem")
    # st_blocks show the full size: they do not tell.
    assert zeros["evidence"]["allocated_bytes"] >= 64 << 20
    assert "not-allocated" not in codes(zeros)
    assert zeros["evidence"]["encoded_bytes"] == zeros["evidence"]["extent_bytes"]
    assert zeros["evidence"]["device_written_bytes"] < 32 << 20
    assert "67.1 MB written" in text(zeros, "compressed")
    # A suspect value is exported all the same.
    assert zeros["stream_bytes_per_second"] > 0

    assert not codes(random) & SUSPECT, random
    assert random["evidence"]["encoded_bytes"] == 0
    assert random["evidence"]["device_written_bytes"] >= 64 << 20


def test_the_report_says_what_dd_did_not(run_cli, loopfs):
    fs = loopfs("btrfs", 1 << 30, "compress-force=zstd")
    report = run_cli("run", "--kind", "stream", "--size", "64MiB", fs).stdout
    assert report.splitlines()[1].startswith("Verdict: suspect (stream-zero); ")
    assert "Next: take the rate of stream-random: the zeros of stream-zero hardly reached a disk" in report
    done = run_cli("run", "--dd", "--size", "64MiB", fs)
    assert "copied" in done.stderr.splitlines()[0]
    assert done.stderr.splitlines()[1].startswith("syncprobe: suspect: compressed: ")


def test_partly_compressible(run_cli, loopfs):
    fs = loopfs("btrfs", 1 << 30, "compress-force=zstd")
    [result] = run(run_cli, fs, "--kind", "stream", "--size", "64MiB", "--data", "compressible:75")
    assert "compressed" in codes(result) and result["verdict"] == "suspect"


# --- what is to be believed ---------------------------------------------------------


@contextlib.contextmanager
def neighbour(path):
    """Writes and syncs next to the test for as long as the block goes on."""
    stop = threading.Event()
    started = threading.Event()

    def work():
        with open(path / "neighbour", "wb", buffering=0) as file:
            for i in range(1 << 30):
                if stop.is_set():
                    return
                file.seek((i % 64) << 16)
                file.write(os.urandom(1 << 16))
                os.fdatasync(file.fileno())
                started.set()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert started.wait(20)
        yield
    finally:
        stop.set()
        thread.join()
        (path / "neighbour").unlink()


@pytest.mark.parametrize("busy", [False, True], ids=["quiet", "neighbour"])
def test_honest_file_systems_are_never_suspected(run_cli, loopfs, busy):
    """Each kind on three file systems at once: two hundred runs of each, half of them beside a neighbour."""
    found, errors = {}, []

    def repeat(fs):
        try:
            for kind, options in KINDS.items():
                found[fs.kind, kind] = run(run_cli, fs, *options, "--repeat", RUNS)
        except BaseException as error:  # told by the main thread
            errors.append(error)

    filesystems = [loopfs(kind, 512 << 20) for kind in ("ext4", "xfs", "btrfs")]
    threads = [threading.Thread(target=repeat, args=[fs]) for fs in filesystems]
    with contextlib.ExitStack() as stack:
        for fs in filesystems if busy else []:
            stack.enter_context(neighbour(fs.path))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not errors, errors
    assert len(found) == len(filesystems) * len(KINDS)
    for (filesystem, kind), results in found.items():
        assert len(results) == RUNS
        for result in results:
            assert result["outcome"] == "ok", result["error"]
            assert not codes(result) & SUSPECT, (filesystem, kind, result["reasons"], result["evidence"])


def test_accepting(run_cli, loopfs):
    """What is under a loop device here decides what there is to vouch for."""
    fs = loopfs("ext4")
    [result] = run(run_cli, fs, *KINDS["commit"])
    unseen = codes(result) & {"host-cache-unseen", "controller-cache-unseen", "device-unseen"}
    if not unseen:
        pytest.skip("nothing is out of sight here")
    assert result["verdict"] == "unverified"
    accept = [option for code in unseen for option in ("--accept", code)]
    [result] = run(run_cli, fs, *KINDS["commit"], *accept)
    assert all(r["accepted"] == (r["code"] in unseen) for r in result["reasons"])
    if codes(result) == unseen and "device-unseen" not in unseen:
        assert (result["verdict"], result["basis"]) in {("credible", "flushes-counted"),
                                                        ("credible", "no-volatile-cache-claimed")}
    done = run_cli("run", "--accept", "compressed", fs, check=False)
    assert done.returncode == 2 and "--accept takes" in done.stderr


# --- flushes -------------------------------------------------------------------------


def leaf_counts_flushes(result):
    devices = result["evidence"]["devices"]
    return devices and all(d["write_cache"] == "write back" and d["flushes"] is not None for d in devices)


def test_flushes_that_end_at_a_loop_device(run_cli, loopfs):
    """Told that there is no cache, the kernel sends a loop device no flush, and that no sync to its file."""
    fs = loopfs("ext4")
    control = pathlib.Path(f"/sys/block/{pathlib.Path(fs.device).name}/queue/write_cache")
    assert control.read_text().strip() == "write back"
    [before] = run(run_cli, fs, *KINDS["commit"])
    assert not codes(before) & {"no-flush", "sync-disabled"}
    control.write_text("write through")
    try:
        [result] = run(run_cli, fs, *KINDS["commit"], "--accept", "host-cache-unseen")
    finally:
        control.write_text("write back")  # the device would keep it for its next file
    assert "sync-disabled" in codes(result), result
    assert result["verdict"] == "suspect"
    if leaf_counts_flushes(result):
        assert "no-flush" in codes(result), result
        assert "flushes completed by" in text(result, "no-flush")
    assert "told" in text(result, "sync-disabled")


def test_nobarrier(run_cli, loopfs):
    try:
        fs = loopfs("ext4", options="nobarrier")
    except AssertionError:
        pytest.skip("the kernel refuses nobarrier")
    [result] = run(run_cli, fs, *KINDS["commit"])
    assert "sync-disabled" in codes(result), result
    assert result["verdict"] == "suspect"
    assert "nobarrier" in text(result, "sync-disabled")
    if leaf_counts_flushes(result):
        assert "no-flush" in codes(result)
    assert "nobarrier" in run_cli("explain", fs).stdout


def test_nobarrier_further_down(run_cli, loopfs, mounts, tmp_path):
    """A file system that syncs well, in a file on one that does not."""
    try:
        outer = loopfs("ext4", options="nobarrier")
    except AssertionError:
        pytest.skip("the kernel refuses nobarrier")
    with open(outer.path / "image", "wb") as image:
        image.truncate(128 << 20)
    command("mkfs.ext4", "-q", "-F", outer.path / "image")
    mounts.append(Mount(tmp_path / "inner", "-o", "loop", outer.path / "image"))
    [result] = run(run_cli, mounts[-1], *KINDS["commit"])
    assert "sync-disabled" in codes(result) and result["verdict"] == "suspect"


# --- what never has a value ------------------------------------------------------------


def test_a_full_disk_is_no_value(run_cli, tmpfs):
    [result] = run(run_cli, tmpfs(8 << 20), "--kind", "stream", "--data", "random", "--size", "64MiB")
    assert (result["outcome"], result["reason"]) == ("failed", "nospace")
    assert result["stream_bytes_per_second"] is None and result["written_bytes"] is None
    assert result["verdict"] == "unverified" and result["reasons"] == []


def test_nothing_written_is_no_value(run_cli, workdir):
    for nothing in ("--size", "0"), ("--kind", "commit", "--count", "0"), ("--kind", "stream", "--size", "2700.0X"):
        done = run_cli("run", *nothing, workdir, check=False)
        assert done.returncode == 2 and done.stdout == "", nothing


# --- what is out of sight ------------------------------------------------------------------


@pytest.fixture
def fuse(root, mounts, tmp_path):
    """A directory seen through a file system in user space."""
    if not shutil.which("bindfs") or not os.path.exists("/dev/fuse"):
        pytest.skip("needs bindfs and /dev/fuse")
    below = tmp_path / "below"
    below.mkdir()
    mounts.append(Mount(tmp_path / "fuse", "-t", "fuse.bindfs", below))
    return mounts[-1]


def test_fuse(run_cli, fuse):
    for options in KINDS.values():
        [result] = run(run_cli, fuse, *options)
        assert result["outcome"] == "ok", result["error"]
        assert codes(result) - {"burst-rate", "cpu-starved"} == {"device-unseen"}
        assert (result["verdict"], result["reached"], result["basis"]) == ("unverified", "unknown", "none")
        assert result["evidence"]["devices"] == []


def test_fast_writes_and_slow_syncs(run_cli, faultfs):
    """A rate and a latency, each with a verdict of its own: the first does not hide the second."""
    fs = faultfs("fsync delay 20")
    [commit] = run(run_cli, fs, "--kind", "commit", "--count", "100", "--duration", "60s")
    [stream] = run(run_cli, fs, "--kind", "stream", "--data", "random", "--size", "32MiB")
    assert commit["sync_seconds"]["min"] >= 0.02 and commit["write_seconds"]["p50"] < 0.02
    assert commit["syncs_per_second"] < 50
    assert stream["stream_bytes_per_second"] > 100 * 4096 / 0.02  # what the commits make of it, ten times over and more
    assert "device-unseen" in codes(commit) & codes(stream)
    report = run_cli("run", "--kind", "commit", "--count", "100", "--duration", "60s", fs).stdout
    assert "\nSlow: commit's syncs have a p99 of " in report


def test_a_failing_sync_is_no_value(run_cli, faultfs):
    """Errors of the storage, and not of ours."""
    fs = faultfs("fsync error 5")
    for kind in KINDS:
        [result] = run(run_cli, fs, *KINDS[kind])
        assert (result["outcome"], result["reason"], result["phase"]) == ("failed", "io", "sync"), result["error"]
        assert "EIO" in result["error"]
        assert result["sync_seconds"] is None and result["stream_bytes_per_second"] is None
        assert result["verdict"] == "unverified" and result["reasons"] == []
    assert fs.below() == []


def test_a_loop_device_on_fuse(run_cli, fuse, mounts, tmp_path):
    with open(fuse.path / "image", "wb") as image:
        image.truncate(128 << 20)
    command("mkfs.ext4", "-q", "-F", fuse.path / "image")
    mounts.append(Mount(tmp_path / "loop", "-o", "loop", fuse.path / "image"))
    [result] = run(run_cli, mounts[-1], *KINDS["commit"])
    assert "device-unseen" in codes(result)
    assert result["verdict"] != "credible"


def test_counters_that_are_switched_off(run_cli, loopfs):
    """No suspicion comes of a device that does not count."""
    fs = loopfs("ext4")
    [result] = run(run_cli, fs, *KINDS["commit"])
    leaves = [d["name"] for d in result["evidence"]["devices"]]
    if not leaves:
        pytest.skip("no device is found here")
    controls = [pathlib.Path(f"/sys/block/{name}/queue/iostats") for name in leaves]
    before = [c.read_text() for c in controls]
    try:
        for control in controls:
            control.write_text("0")
        [result] = run(run_cli, fs, *KINDS["commit"])
    finally:
        for control, value in zip(controls, before):
            control.write_text(value)
    assert "device-unseen" in codes(result) and not codes(result) & SUSPECT
    assert result["verdict"] == "unverified"
    assert all(d["written_bytes"] is None for d in result["evidence"]["devices"])
    assert "iostats" in text(result, "device-unseen")


# --- a busy host -------------------------------------------------------------------------------


def test_a_starved_test_is_not_slow_storage(syncprobe, loopfs):
    """One processor, and others that want it as well."""
    fs = loopfs("ext4")
    hogs = [subprocess.Popen(["taskset", "-c", "0", "sh", "-c", "while :; do :; done"]) for _ in range(6)]
    try:
        done = subprocess.run(
            ["taskset", "-c", "0", syncprobe, "run", "--json", "--kind", "stream", "--data", "random", "--size", "256MiB", fs],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
        )
    finally:
        for hog in hogs:
            hog.send_signal(signal.SIGKILL)
            hog.wait()
    [result] = json.loads(done.stdout)["results"]
    assert "cpu-starved" in codes(result), result
    assert not codes(result) & SUSPECT
    assert result["verdict"] == "unverified"
    assert "no processor for" in text(result, "cpu-starved")


# --- explain ---------------------------------------------------------------------------------------


def test_explain_shows_the_stack(run_cli, loopfs):
    fs = loopfs("btrfs", options="compress=zstd")
    report = run_cli("explain", fs).stdout
    loop = pathlib.Path(fs.device).name
    assert f"{fs} (btrfs on " in report
    assert f"└─ {loop}  loop device" in report and str(fs.image)[:60] in report
    assert "compress" in report and "only random data tell a rate" in report
    assert "Default tests" in report and "commit  every" in report
    assert os.listdir(fs.path) == []

    document = json.loads(run_cli("explain", "--json", fs, fs).stdout)
    assert [p["path"] for p in document["paths"]] == [str(fs)] * 2
    nodes = document["paths"][0]["stack"]["nodes"]
    assert [n["name"] for n in nodes][:2] == ["btrfs", loop]
    assert nodes[0]["parent"] is None and nodes[1]["parent"] == 0
    assert "compression" in nodes[0]["facts"]
    assert {t["kind"] for t in document["paths"][0]["default_tests"]} == {"pulse", "commit", "stream"}


def test_explain_refuses(run_cli, tmp_path):
    assert run_cli("explain", check=False).returncode == 2
    done = run_cli("explain", tmp_path / "missing", check=False)
    assert done.returncode == 1 and "no such directory" in done.stderr
    (tmp_path / "file").write_text("")
    done = run_cli("explain", tmp_path / "file", check=False)
    assert done.returncode == 1 and "not a directory" in done.stderr
    assert run_cli("explain", "--bad", tmp_path, check=False).returncode == 2
    assert "Usage" in run_cli("explain", "--help").stdout


# --- the daemon --------------------------------------------------------------------------------------


def test_the_daemon_judges_too(daemon, tmpfs, loopfs):
    ram, disk = tmpfs(), loopfs("ext4")
    tests = """tests = ( { kind = "commit"; interval = "1s"; }, { kind = "pulse"; period = "1300ms"; interval = "3s"; } );"""
    d = daemon(f'targets = ( {{ name = "ram"; path = "{ram}"; min_free = "1MiB"; {tests} }},'
               f' {{ name = "disk"; path = "{disk}"; min_free = "1MiB"; accept = "host-cache-unseen"; {tests} }} );')
    for name in "ram", "disk":
        d.wait_for(lambda d: all(t["last_ok"] for t in d.get(f"/api/v1/targets/{name}").json()["tests"]))
    one = d.get("/api/v1/targets/ram").json()
    assert one["status"] == "suspect" and one["fstype"] == "tmpfs"
    assert one["stack"]["nodes"][0]["layer"] == "memory-filesystem"
    assert all(t["last"]["verdict"] == "suspect" and t["last"]["reached"] == "ram" for t in one["tests"])
    other = d.get("/api/v1/targets/disk").json()
    assert other["source"] == disk.device
    leaves = [n["name"] for n in other["stack"]["nodes"] if n["layer"] in ("disk", "virtual", "controller", "fabric")]
    for test in other["tests"]:
        assert [v["name"] for v in test["last"]["evidence"]["devices"]] == leaves
        assert not codes(test["last"]) & SUSPECT
        if leaves:
            assert test["last"]["evidence"]["device_written_bytes"] >= test["last"]["written_bytes"]
        assert all(r["accepted"] == (r["code"] == "host-cache-unseen") for r in test["last"]["reasons"])

    metrics = d.metrics()
    assert metrics['syncprobe_verdict{target="ram",test="commit",verdict="suspect"}'] == 1
    assert metrics['syncprobe_suspicion{target="ram",test="commit",code="memory-backed"}'] == 1
    assert metrics['syncprobe_target_status{target="ram",status="suspect"}'] == 1
    for leaf in leaves:
        assert metrics[f'syncprobe_target_device_info{{target="disk",device="{leaf}",role="data"}}'] == 1
    assert not any(name.startswith('syncprobe_suspicion{target="disk"') and "memory" in name for name in metrics)
    d.stop()


def test_a_new_mount_is_mapped_anew(daemon, mounts, tmp_path, root):
    tests = 'tests = ( { kind = "commit"; interval = "1s"; count = 20; } );'
    place = tmp_path / "place"
    place.mkdir()
    d = daemon(f'targets = ( {{ name = "t"; path = "{place}"; owner_check = false; min_free = "1MiB"; {tests} }} );')
    last = lambda d: d.get("/api/v1/targets/t").json()["tests"][0]["last_ok"]
    d.wait_for(lambda d: last(d) and last(d)["evidence"]["fstype"] != "tmpfs")
    mount = Mount.__new__(Mount)
    mount.path, mount.mount_args = place, ("-t", "tmpfs", "tmpfs")
    mount.mount()
    mounts.append(mount)
    d.wait_for(lambda d: last(d)["evidence"]["fstype"] == "tmpfs")
    assert d.get("/api/v1/targets/t").json()["stack"]["fstype"] == "tmpfs"
    assert "memory-backed" in codes(last(d))
    d.stop()
