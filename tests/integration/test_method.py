"""How the kinds measure, as strace sees their system calls.

strace watches from outside, so these tests hold for the program as it is
shipped, sandbox and all.
"""

import json
import re
import shutil
import subprocess

import pytest

CALL = re.compile(r"^\d+\s+(?P<time>\d+\.\d+) (?P<name>\w+)\((?P<args>.*?)\)? += (?P<result>-?\w+)(?: (?P<error>E\w+))?")


class Call:
    def __init__(self, match):
        self.time = float(match["time"])
        self.name = match["name"]
        self.args = match["args"]
        self.result = match["result"]
        self.error = match["error"]
        self.fd = self.args.split(",")[0].split("<")[0]

    def __repr__(self):
        return f"{self.name}({self.args}) = {self.result}"


@pytest.fixture
def trace(syncprobe, tmp_path):
    """trace(path, *options): the calls that the worker made on the target, and the results."""
    if not shutil.which("strace"):
        pytest.skip("needs strace")

    def run(path, *options, inject=None):
        output = tmp_path / "trace"
        done = subprocess.run(
            ["strace", "-f", "-ttt", "-y", "-s", "16", "-o", output]
            + (["-e", f"inject={inject}"] if inject else [])
            + [syncprobe, "run", "--json", "--no-progress", *options, path],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        )
        assert done.stdout, done.stderr
        calls = [Call(m) for m in map(CALL.match, output.read_text().splitlines()) if m]
        return [c for c in calls if ".syncprobe-" in c.args or f"<{path}" in c.args], json.loads(done.stdout)["results"]

    return run


def timed(calls):
    """From the first write to the close of the test file, its calls alone."""
    data = [c for c in calls if ".syncprobe-" in c.args and c.name in ("pwrite64", "fdatasync", "fsync", "close")]
    fd = next(c.fd for c in data if c.name == "pwrite64")
    ours = [c for c in data if c.fd == fd]
    # Afterwards it is opened again, to see how it lies.
    return ours[: [c.name for c in ours].index("close") + 1]


@pytest.mark.parametrize(
    "options, written",
    [
        (["--size", "1MiB", "--block", "64KiB"], 1 << 20),
        (["--size", "1MiB", "--block", "1MiB"], 1 << 20),
        (["--size", "1000001", "--block", "65536"], 1000001),
        (["--size", "1", "--block", "4KiB"], 1),
        (["--size", "20MiB", "--writeback", "lazy"], 20 << 20),
    ],
)
@pytest.mark.parametrize("data", ["zero", "random"])
def test_stream_ends_with_one_sync(trace, workdir, options, written, data):
    calls, (result,) = trace(workdir, "--kind", "stream", "--data", data, *options)
    names = [c.name for c in timed(calls)]
    assert names[-2:] == ["fdatasync", "close"]
    assert set(names[:-2]) == {"pwrite64"}
    assert sum(int(c.result) for c in timed(calls)[:-2]) == written == result["written_bytes"]
    # The clock stops after the sync has returned: elapsed holds all of it.
    span = timed(calls)[-1].time - timed(calls)[0].time
    assert result["elapsed_seconds"] > 0.5 * span


@pytest.mark.parametrize("count", [1, 2, 17])
@pytest.mark.parametrize("layout", ["overwrite", "prealloc", "append"])
@pytest.mark.parametrize("sync", ["fdatasync", "fsync"])
def test_each_sample_syncs_what_it_wrote(trace, workdir, count, layout, sync):
    calls, (result,) = trace(
        workdir, "--kind", "commit", "--count", str(count), "--layout", layout, "--sync", sync
    )
    names = [c.name for c in timed(calls)]
    # Laying out comes before: the samples are the last pairs, then the close.
    assert names[-1] == "close"
    assert names[-1 - 2 * count : -1] == ["pwrite64", sync] * count
    assert result["samples"] == count


def test_dsync_writes_are_the_syncs(trace, workdir):
    calls, (result,) = trace(workdir, "--kind", "commit", "--count", "5", "--sync", "dsync")
    assert any("O_DSYNC" in c.args for c in calls if c.name == "openat")
    assert [c.name for c in timed(calls)][-6:] == ["pwrite64"] * 5 + ["close"]
    assert result["samples"] == 5


def test_direct_alone_is_not_taken_for_synced(trace, workdir):
    calls, _ = trace(workdir, "--kind", "commit", "--count", "5", "--direct")
    assert any("O_DIRECT" in c.args for c in calls if c.name == "openat")
    assert [c.name for c in timed(calls)][-11:] == ["pwrite64", "fdatasync"] * 5 + ["close"]


@pytest.mark.parametrize("durable", [False, True])
def test_create_is_pveperf(trace, workdir, durable):
    calls, (result,) = trace(workdir, "--kind", "create", "--count", "310", *(["--durable"] if durable else []))
    files = [c for c in calls if "tf_" in c.args and c.name in ("openat", "fsync", "write", "pwrite64", "close")]
    order = ["openat", "pwrite64", "fsync", "close"] if durable else ["openat", "fsync", "pwrite64", "close"]
    assert [c.name for c in files] == order * 310
    opened = [re.search(r"tf_(\d+)\.dat", c.args)[1] for c in files if c.name == "openat"]
    assert [int(n) for n in opened] == [i % 300 for i in range(1, 311)]
    assert all("O_TRUNC" in c.args and "O_CREAT" in c.args for c in files if c.name == "openat")
    assert all(c.result == "4001" for c in files if c.name == "pwrite64")
    assert result["test"] == ("create-durable" if durable else "create")
    assert result["syncs_per_second"] == pytest.approx(310 / result["elapsed_seconds"], rel=0.01)


def test_pulse_opens_and_closes_around_each_sample(trace, workdir):
    calls, (result,) = trace(workdir, "--kind", "pulse", "--count", "3", "--period", "10ms")
    data = [c for c in calls if ".syncprobe-" in c.args and c.name in ("openat", "pwrite64", "fdatasync", "close")]
    names = [c.name for c in data]
    sample = ["pwrite64", "fdatasync", "close"]
    # The first comes right after the laying out; the last close lets the lock go.
    assert names[-12:] == sample + ["openat", *sample] * 2 + ["close"]
    assert result["samples"] == 3


def test_nothing_is_written_outside(trace, workdir):
    calls, _ = trace(workdir, "--count", "5", "--size", "1MiB", "--duration", "100ms")
    writes = [c for c in calls if c.name in ("pwrite64", "write", "fallocate", "unlinkat", "mkdirat")]
    assert writes and all(str(workdir) in c.args for c in writes)


@pytest.mark.parametrize(
    "inject, reason, phase",
    [
        ("fdatasync:error=EIO:when=2+", "io", "sync"),
        ("fdatasync:error=ENOSPC:when=3", "nospace", "sync"),
        ("pwrite64:error=EDQUOT:when=3", "quota", "write"),
        ("pwrite64:retval=0:when=3", "io", "write"),
        ("unlinkat:error=EBUSY:when=1", "internal", "unlink"),
        ("flock:error=EIO", "io", "create"),
        # NFS may tell of a lost write only here. (The first closes are the loader's.)
        ("close:error=EIO:when=25+", "io", "close"),
    ],
)
def test_errors_fail_the_run(trace, workdir, inject, reason, phase):
    kind = "create" if phase == "close" else "commit"
    _, (result,) = trace(workdir, "--kind", kind, "--count", "40", inject=inject)
    assert result["outcome"] == "failed"
    assert (result["reason"], result["phase"]) == (reason, phase)
    for key in ("elapsed_seconds", "written_bytes", "samples", "sync_seconds", "write_seconds", "syncs_per_second"):
        assert result[key] is None
    assert list(workdir.iterdir()) == []


@pytest.mark.parametrize("call", ["pwrite64", "fdatasync"])
def test_eintr_is_retried(trace, workdir, call):
    _, (result,) = trace(workdir, "--kind", "commit", "--count", "5", inject=f"{call}:error=EINTR:when=3..4")
    assert (result["outcome"], result["samples"]) == ("ok", 5)


def test_short_writes_are_continued(trace, workdir):
    calls, (result,) = trace(
        workdir, "--kind", "stream", "--size", "1MiB", "--data", "zero", inject="pwrite64:retval=1000:when=2"
    )
    assert result["outcome"] == "ok"
    assert result["written_bytes"] == 1 << 20
    rest = [c for c in calls if c.name == "pwrite64"][2]
    assert ", 64536, 66536" in rest.args
