"""`syncprobe run`: exit codes, output for people and for programs, Ctrl-C."""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import time

import pytest

from conftest import command, our_programs, poll_until

LIMIT_S = 30

DD_LINE = re.compile(
    r"(\d+) bytes? (?:\(\d+(?:\.\d)? [kMGT]?B(?:, \d+(?:\.\d)? [KMGT]iB)?\) )?copied, "
    r"\d+(?:\.\d+)?(?:e[-+]\d+)? s, \d+(?:\.\d)? [kMGTPE]?B/s\n"
)

QUICK = {  # each kind, as short as it may be
    "commit": ["--kind", "commit", "--count", "20"],
    "stream": ["--kind", "stream", "--size", "1MiB", "--data", "random"],
    "create": ["--kind", "create", "--count", "20"],
    "pulse": ["--kind", "pulse", "--count", "3", "--period", "10ms"],
}


def results(done):
    return json.loads(done.stdout)["results"]


def assert_tidy(path):
    """Nothing of ours lies in the directory, and no worker lives on."""
    poll_until(lambda: not our_programs(), LIMIT_S, lambda: f"no worker left: {our_programs()}")
    assert [n for n in os.listdir(path) if n != "lost+found"] == []


# --- exit codes --------------------------------------------------------------


@pytest.mark.parametrize("kind", QUICK)
def test_done(run_cli, workdir, kind):
    done = run_cli("run", *QUICK[kind], workdir)
    assert done.stderr == ""
    assert done.stdout.startswith(str(workdir))
    assert "Verdict: unverified" in done.stdout
    assert_tidy(workdir)


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["walk"],
        ["version", "now"],
        ["run"],
        ["run", ""],
        ["run", "--frob", "/"],
        ["run", "--kind", "nothing", "/"],
        ["run", "--size", "0", "/"],
        ["run", "--size", "99999999T", "/"],
        ["run", "--kind", "commit", "--size", "2700.0M", "--count", "0", "/"],
        ["run", "--kind", "commit", "--period", "1s", "/"],
        ["run", "--dd", "--json", "/"],
        ["run", "--dd", "/", "/"],
    ],
)
def test_wrong_use(run_cli, args):
    done = run_cli(*args, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr


@pytest.mark.parametrize("args", [["version"], ["--version"], ["help"], ["--help"], ["run", "--help"]])
def test_told(run_cli, args):
    done = run_cli(*args)
    assert done.stdout and done.stderr == ""


def test_no_such_directory(run_cli, workdir):
    done = run_cli("run", workdir / "missing", check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == f"syncprobe: {workdir}/missing: looking the directory up: no such directory (ENOENT)\n"


def test_a_file_is_no_target(run_cli, workdir):
    (workdir / "file").write_text("mine")
    done = run_cli("run", workdir / "file", check=False)
    assert done.returncode == 1
    assert (workdir / "file").read_text() == "mine"


def test_a_full_disk_fails_without_a_value(run_cli, tmpfs):
    fs = tmpfs(1 << 20)
    done = run_cli("run", "--json", "--kind", "stream", "--data", "random", "--size", "8MiB", fs, check=False)
    assert done.returncode == 1
    [result] = results(done)
    assert result["outcome"] == "failed" and result["reason"] == "nospace" and result["phase"] == "write"
    assert result["stream_bytes_per_second"] is None and result["written_bytes"] is None
    assert "ENOSPC" in result["error"] and "ENOSPC" in done.stderr
    assert_tidy(fs)


def test_min_free_leaves_it_alone(run_cli, tmpfs):
    fs = tmpfs(64 << 20)
    done = run_cli("run", "--json", *QUICK["stream"], "--min-free", "64MiB", fs, check=False)
    assert done.returncode == 1
    [result] = results(done)
    assert (result["outcome"], result["reason"]) == ("skipped", "lowspace")


def test_no_worker_no_test(run_cli, syncprobe, workdir, tmp_path):
    lonely = tmp_path / "syncprobe"
    shutil.copy(syncprobe, lonely)
    done = subprocess.run([lonely, "run", workdir], capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 1
    assert "syncprobe-worker" in done.stderr


def test_output_that_cannot_be_written(syncprobe, workdir):
    with open("/dev/full", "w") as full:
        done = subprocess.run([syncprobe, "run", *QUICK["commit"], workdir], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert b"No space left" in done.stderr


# --- JSON ----------------------------------------------------------------------

COMMON = {
    "target", "test", "kind", "outcome", "reason", "phase", "truncated", "started", "elapsed_seconds",
    "written_bytes", "samples", "sync_seconds", "write_seconds", "syncs_per_second", "stream_bytes_per_second",
    "parameters", "verdict", "reached", "basis", "reasons", "evidence",
}  # fmt: skip


@pytest.mark.parametrize("kind", QUICK)
def test_json_of_each_kind(run_cli, workdir, kind):
    [result] = results(run_cli("run", "--json", *QUICK[kind], workdir))
    assert COMMON <= set(result)
    assert result["target"] == str(workdir)
    assert result["test"] == result["kind"] == kind
    assert (result["outcome"], result["reason"], result["phase"]) == ("ok", None, None)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", result["started"])
    assert result["written_bytes"] > 0 and result["elapsed_seconds"] > 0
    assert result["samples"] == {"commit": 20, "stream": 1, "create": 20, "pulse": 3}[kind]
    assert (result["syncs_per_second"] is None) == (kind == "stream")
    assert (result["stream_bytes_per_second"] is None) == (kind != "stream")
    sync = result["sync_seconds"]
    assert set(sync) == {"min", "mean", "p50", "p90", "p99", "p999", "max"}
    assert 0 < sync["min"] <= sync["mean"] <= sync["max"]
    assert sync["p999"] is None
    assert result["parameters"]["data"] == "random"
    assert ("period_seconds" in result["parameters"]) == (kind == "pulse")
    assert result["verdict"] in ("credible", "unverified", "suspect")
    assert all(set(r) == {"code", "text", "accepted"} and r["text"] for r in result["reasons"])
    assert result["evidence"]["fstype"] not in (None, "")
    assert all({"name", "rotational", "write_cache", "written_bytes", "flushes"} <= set(d)
               for d in result["evidence"]["devices"])


def test_rates_are_worked_out_of_the_right_times(run_cli, workdir):
    commit, stream, create = (
        results(run_cli("run", "--json", *QUICK[kind], workdir))[0] for kind in ("commit", "stream", "create")
    )
    busy = commit["samples"] * (commit["sync_seconds"]["mean"] + commit["write_seconds"]["mean"])
    assert commit["syncs_per_second"] == pytest.approx(commit["samples"] / busy, rel=1e-3)
    assert stream["stream_bytes_per_second"] == pytest.approx(2**20 / stream["elapsed_seconds"], rel=1e-6)
    assert create["syncs_per_second"] == pytest.approx(20 / create["elapsed_seconds"], rel=1e-6)


def test_dsync_has_one_call(run_cli, workdir):
    [result] = results(run_cli("run", "--json", *QUICK["commit"], "--sync", "dsync", workdir))
    assert result["write_seconds"] is None
    assert result["syncs_per_second"] == pytest.approx(1 / result["sync_seconds"]["mean"], rel=1e-3)


def test_without_a_kind(run_cli, workdir):
    done = run_cli("run", "--json", "--size", "1MiB", "--duration", "100ms", workdir)
    assert [r["test"] for r in results(done)] == ["commit", "stream-zero", "stream-random", "create"]
    assert [r["parameters"]["data"] for r in results(done)] == ["random", "zero", "random", "random"]
    assert done.stderr == ""


def test_a_path_that_is_not_utf8(run_cli, workdir):
    odd = os.fsencode(workdir) + b"/a\xff\n"
    os.mkdir(odd)
    done = run_cli("run", "--json", *QUICK["commit"], os.fsdecode(odd))
    assert results(done)[0]["target"] == f"{workdir}/a\ufffd\n"
    done = run_cli("run", *QUICK["commit"], os.fsdecode(odd))
    assert done.stdout.startswith(f"{workdir}/a\\xff\\x0a (")


def test_a_relative_path_and_a_link_are_resolved(run_cli, workdir):
    (workdir / "real").mkdir()
    (workdir / "link").symlink_to("real")
    done = run_cli("run", "--json", *QUICK["commit"], "link", cwd=workdir)
    assert results(done)[0]["target"] == str(workdir / "real")


# --- --dd ------------------------------------------------------------------------


def test_dd(run_cli, workdir):
    done = run_cli("run", "--dd", "--size", "5MiB", workdir)
    assert done.stdout == ""
    found = DD_LINE.fullmatch(done.stderr)
    assert found and int(found[1]) == 5 << 20
    assert "(5.2 MB, 5.0 MiB)" in done.stderr


def test_dd_fails_as_dd(run_cli, tmpfs):
    done = run_cli("run", "--dd", "--size", "8MiB", tmpfs(1 << 20), check=False)
    assert done.returncode == 1
    assert "copied" not in done.stderr and "ENOSPC" in done.stderr


# --- a locale with a decimal comma --------------------------------------------------


@pytest.fixture(scope="session")
def german(tmp_path_factory):
    """The environment of de_DE.UTF-8, made for this session."""
    if not shutil.which("localedef") or not pathlib.Path("/usr/share/i18n/locales/de_DE").exists():
        pytest.skip("needs localedef and the definition of de_DE (Debian: locales)")
    directory = tmp_path_factory.mktemp("locale")
    command("localedef", "--inputfile=de_DE", "--charmap=UTF-8", "--no-archive", directory / "de_DE.UTF-8")
    return {"LOCPATH": str(directory), "LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"}


@pytest.mark.parametrize("locale", ["C", "german"])
@pytest.mark.parametrize("size", [1, 999, 1000, 1024, 5 << 20])
def test_dd_says_it_in_the_same_words(run_cli, workdir, german, locale, size):
    """The same line as dd's own, but for time and rate."""
    env = {**os.environ, **(german if locale == "german" else {"LC_ALL": "C"})}
    dd = subprocess.run(
        ["dd", "if=/dev/zero", f"of={workdir}/theirs", f"bs={size}", "count=1", "conv=fdatasync"],
        env=env, stderr=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    ours = run_cli("run", "--dd", "--size", size, workdir, env=env).stderr
    left, time_and_rate = re.fullmatch(r"(.*, )(\S+ s, \S+) [kMGT]?B/s\n", ours).groups()
    assert dd.stderr.splitlines()[-1].startswith(left)
    assert ("." in time_and_rate) <= (locale == "C") and ("," in time_and_rate.replace(" s, ", "")) <= (locale != "C")


def test_json_and_report_in_german(run_cli, workdir, german):
    [result] = results(run_cli("run", "--json", *QUICK["commit"], workdir, env=german))
    assert isinstance(result["syncs_per_second"], float)
    done = run_cli("run", *QUICK["commit"], workdir, env=german)
    assert not re.search(r"\d,\d", done.stdout)
    assert "█" in done.stdout and "µs" in done.stdout


def test_plain_signs_without_utf8(run_cli, workdir):
    done = run_cli("run", *QUICK["commit"], workdir, env={"LC_ALL": "C"})
    assert done.stdout.isascii() and "#" in done.stdout


# --- several runs, several paths -----------------------------------------------------


def test_repeat(run_cli, workdir):
    done = run_cli("run", "--repeat", "3", *QUICK["commit"], workdir)
    lines = done.stdout.splitlines()
    assert [line[:5] for line in lines[:3]] == ["1/3  ", "2/3  ", "3/3  "]
    assert "Medians of 3 rounds" in lines
    assert re.search(r"^  commit +commits/s +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+ %$", done.stdout, re.M)
    done = run_cli("run", "--repeat", "3", "--json", *QUICK["commit"], workdir)
    assert [r["test"] for r in results(done)] == ["commit"] * 3


def test_several_paths(run_cli, workdir):
    for name in "ab":
        (workdir / name).mkdir()
    done = run_cli("run", *QUICK["commit"], workdir / "b", workdir / "a")
    assert done.stdout.index(f"{workdir}/b (") < done.stdout.index(f"{workdir}/a (")
    assert re.search(rf"^  A  {workdir}/b ", done.stdout, re.M)
    assert re.search(r"^  commit +commits/s +[\d.]+ +[\d.]+ +[×x][\d.]+$", done.stdout, re.M)
    done = run_cli("run", "--json", "--repeat", "2", *QUICK["commit"], workdir / "b", workdir / "a")
    assert [r["target"][-1] for r in results(done)] == ["b", "a", "b", "a"]


def test_one_bad_path_leaves_the_others(run_cli, workdir):
    done = run_cli("run", "--json", *QUICK["commit"], workdir / "missing", workdir, check=False)
    assert done.returncode == 1
    assert [(r["outcome"], r["reason"]) for r in results(done)] == [("failed", "notfound"), ("ok", None)]


# --- on a terminal ---------------------------------------------------------------------


class Terminal:
    """A syncprobe with a terminal of its own, in which Ctrl-C is typed."""

    def __init__(self, *args, env=None):
        self.screen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(args[0], [os.fspath(a) for a in args], {**os.environ, "TERM": "xterm", **(env or {})})
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))

    def read(self):
        """Reads what has come, waiting for it; False at the end."""
        ready, _, _ = select.select([self.fd], [], [], LIMIT_S)
        assert ready, f"silent: {self.text[-500:]!r}"
        try:
            more = os.read(self.fd, 65536)
        except OSError:  # EIO: the other end has gone
            return False
        self.screen += more
        return bool(more)

    @property
    def text(self):
        return self.screen.decode(errors="replace")

    def wait_for(self, text):
        end = time.monotonic() + LIMIT_S
        while text not in self.text:
            assert time.monotonic() < end and self.read(), f"no {text!r} in {self.text[-500:]!r}"

    def type(self, keys):
        os.write(self.fd, keys)

    def wait(self):
        """The exit status; negative for a signal. A worker that hangs may hold on to the terminal."""
        pidfd = os.pidfd_open(self.pid)
        ended = []
        while not ended:
            ready, _, _ = select.select([self.fd, pidfd], [], [], LIMIT_S)
            assert ready, f"silent: {self.text[-500:]!r}"
            ended = [fd for fd in ready if fd == pidfd]
            if self.fd in ready and not self.read():
                ended = select.select([pidfd], [], [], LIMIT_S)[0]
                assert ended, f"goes on: {self.text[-500:]!r}"
        while select.select([self.fd], [], [], 0)[0] and self.read():
            pass
        os.close(pidfd)
        _, status = os.waitpid(self.pid, 0)
        self.close()
        return os.waitstatus_to_exitcode(status)

    def close(self):
        """Hangs up, which ends whatever still runs there."""
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1


@pytest.fixture
def terminal(syncprobe):
    """terminal(*args, env={}): a Terminal with `syncprobe run`."""
    opened = []

    def start(*args, env=None):
        opened.append(Terminal(syncprobe, "run", *args, env=env))
        return opened[-1]

    yield start
    for t in opened:
        t.close()


ENGLISH = {"LC_ALL": "C.UTF-8"}


def test_progress_is_drawn_and_erased(terminal, workdir):
    t = terminal("--kind", "commit", "--duration", "300ms", workdir, env=ENGLISH)
    assert t.wait() == 0
    assert "commit █" in t.text and " %  " in t.text
    last = t.text.rindex("\r\033[K")
    assert "\033[1m" in t.text[last:]  # the report comes after the line was erased
    assert "░" not in t.text[last:]


@pytest.mark.parametrize("how", ["option", "no terminal"])
def test_no_progress(terminal, run_cli, workdir, how):
    if how == "option":
        t = terminal("--no-progress", *QUICK["commit"], workdir, env=ENGLISH)
        assert t.wait() == 0
        text = t.text
    else:
        text = run_cli("run", *QUICK["commit"], workdir).stderr
    assert "\033[K" not in text


def test_no_color(terminal, workdir):
    t = terminal("--no-progress", *QUICK["commit"], workdir, env={**ENGLISH, "NO_COLOR": "1"})
    assert t.wait() == 0
    assert "\033" not in t.text


@pytest.mark.parametrize("moment", ["commit", "stream-zero", "stream-random", "create"])
def test_ctrl_c_leaves_nothing(terminal, workdir, moment):
    args = ["--duration", "2s"] if moment != "commit" else ["--duration", "30s"]
    t = terminal(*args, "--size", "1GiB", "--max-rate", "100MB", workdir, env=ENGLISH)
    t.wait_for(f"{moment} █")
    t.type(b"\x03")
    assert t.wait() == 130
    assert "interrupted" in t.text
    assert_tidy(workdir)


@pytest.mark.parametrize("number", range(12))
def test_ctrl_c_at_any_moment(terminal, workdir, number):
    """As soon as the n-th piece of output has come, or at once."""
    t = terminal("--size", "16MiB", "--duration", "200ms", workdir, env=ENGLISH)
    for _ in range(number):
        if not t.read():
            break
    try:
        t.type(b"\x03")
    except OSError:  # it was faster
        pass
    assert t.wait() in (130, 0, -signal.SIGINT)
    assert_tidy(workdir)


@pytest.mark.parametrize("name, status", [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_signals(syncprobe, workdir, name, status):
    process = subprocess.Popen(
        [syncprobe, "run", "--json", "--kind", "pulse", "--period", "10ms", "--duration", "1h", workdir],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    poll_until(lambda: os.listdir(workdir), LIMIT_S, "the test file is there")
    process.send_signal(getattr(signal, name))
    stdout, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == status
    [result] = json.loads(stdout)["results"]
    assert (result["outcome"], result["reason"]) == ("failed", "interrupted")
    assert result["syncs_per_second"] is None
    assert_tidy(workdir)


def test_an_ignored_hangup_stays_ignored(syncprobe, workdir):
    process = subprocess.Popen(
        ["nohup", syncprobe, "run", *QUICK["pulse"], "--period", "50ms", "--count", "10", workdir],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    poll_until(lambda: os.listdir(workdir), LIMIT_S, "the test file is there")
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0


def worker_pids():
    return [pid for pid, name in our_programs().items() if name.startswith("syncprobe-work")]


def test_a_worker_that_dies(syncprobe, run_cli, workdir):
    process = subprocess.Popen(
        [syncprobe, "run", "--json", "--kind", "pulse", "--period", "10ms", "--duration", "1h", workdir],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    poll_until(lambda: os.listdir(workdir), LIMIT_S, "the test file is there")
    [pid] = worker_pids()
    os.kill(pid, signal.SIGKILL)
    stdout, stderr = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 1
    assert "killed by signal 9" in stderr
    [result] = json.loads(stdout)["results"]
    assert (result["outcome"], result["reason"]) == ("failed", "internal")
    run_cli("run", *QUICK["commit"], workdir)  # removes what the dead one left
    assert_tidy(workdir)


def test_a_syncprobe_that_is_killed(syncprobe, workdir):
    process = subprocess.Popen(
        [syncprobe, "run", "--kind", "pulse", "--period", "10ms", "--duration", "1h", workdir],
        stdout=subprocess.DEVNULL,
    )
    poll_until(lambda: os.listdir(workdir), LIMIT_S, "the test file is there")
    process.kill()
    process.wait()
    assert_tidy(workdir)


def test_a_storage_that_hangs(terminal, loopfs):
    """The first Ctrl-C waits and says for what; the second leaves. The worker tidies up in the end."""
    fs = loopfs("ext4")
    t = terminal("--kind", "pulse", "--period", "10ms", "--duration", "1h", fs, env=ENGLISH)
    t.wait_for("/s  ")  # samples are taken
    command("fsfreeze", "--freeze", fs)
    try:
        t.wait_for("for 1 s")
        t.type(b"\x03")
        t.wait_for("stopping, but the worker on")
        t.wait_for("Ctrl-C leaves without it")
        t.type(b"\x03")
        assert t.wait() == 130
        assert re.search(r"leaving, although the worker on \S+ has been in a system call \(\w+\) for", t.text)
        assert "removed by the next run there" in t.text
    finally:
        command("fsfreeze", "--unfreeze", fs)
    assert_tidy(fs)
