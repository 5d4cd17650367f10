"""Fixtures: file systems to test on, the programs, a daemon.

Everything made here is undone by its own fixture, after a failed test too, and
`nothing_left` checks that at the end of the session. Waiting is for an event,
with a limit; never for a time.
"""

import ctypes
import http.client
import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import tempfile
import time

import pytest

BUILD = pathlib.Path(
    os.environ.get("SYNCPROBE_BUILD")
    or pathlib.Path(__file__).resolve().parents[2] / "build"
).resolve()

READY_LIMIT_S = 20
STOP_LIMIT_S = 10
BUSY_LIMIT_S = 10

PR_SET_CHILD_SUBREAPER = 36

# Whoever starts the tests with nohup, or in the background, has these ignored: the programs would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def poll_until(check, limit_s, what, period_s=0.02):
    """Calls check() until it gives something true, which is returned."""
    end = time.monotonic() + limit_s
    while True:
        found = check()
        if found:
            return found
        if time.monotonic() > end:
            pytest.fail(f"not within {limit_s} s: {what() if callable(what) else what}")
        time.sleep(period_s)


def command(*args):
    """Runs one of the system's tools; its output is shown only when it fails."""
    done = subprocess.run(args, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, f"{' '.join(map(str, args))}: {done.stdout}"
    return done.stdout.strip()


# --- processes -------------------------------------------------------------


def read_or_empty(path):
    try:
        return pathlib.Path(path).read_text()
    except OSError:  # the process has just gone
        return ""


def descendants():
    """Living processes started by this session, as {pid: name}."""
    parent, name = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        left, _, right = read_or_empty(f"/proc/{pid}/stat").rpartition(")")
        if right and right.split()[0] != "Z":
            parent[int(pid)] = int(right.split()[1])
            name[int(pid)] = left.partition("(")[2]
    ours, grew = {os.getpid()}, True
    while grew:
        more = {p for p, up in parent.items() if up in ours} - ours
        ours |= more
        grew = bool(more)
    return {pid: name[pid] for pid in ours - {os.getpid()}}


def our_programs():
    return {p: n for p, n in descendants().items() if n.startswith("syncprobe")}


def holders(mountpoint):
    """Who keeps a mount busy, as lines for a person."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        links = [f"/proc/{pid}/{what}" for what in ("cwd", "root", "exe")]
        try:
            links += [f"/proc/{pid}/fd/{fd}" for fd in os.listdir(f"/proc/{pid}/fd")]
        except OSError:
            continue
        for link in links:
            try:
                to = os.readlink(link)
            except OSError:
                continue
            if to == str(mountpoint) or to.startswith(f"{mountpoint}/"):
                yield f"{link} -> {to} ({read_or_empty(f'/proc/{pid}/comm').strip()})"


# --- the session -----------------------------------------------------------


@pytest.fixture(scope="session", autouse=True)
def nothing_left(tmp_path_factory):
    """Fails the session that leaves a process, a mount or a loop device."""
    # What a daemon orphans becomes this process's child, so it can be found.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    base = str(tmp_path_factory.getbasetemp())
    yield
    try:
        poll_until(lambda: not our_programs(), STOP_LIMIT_S, lambda: f"all gone: {our_programs()}")
    finally:
        for pid in our_programs():
            os.kill(pid, signal.SIGKILL)
    mounts = [line for line in read_or_empty("/proc/self/mounts").splitlines() if base in line]
    assert not mounts
    if os.geteuid() == 0:
        assert base not in command("losetup", "--list", "--noheadings", "--output", "NAME,BACK-FILE")


@pytest.fixture
def root():
    if os.geteuid() != 0:
        pytest.skip("needs root: loop devices and mounts")


# --- file systems ----------------------------------------------------------

MKFS = {
    "ext4": ["mkfs.ext4", "-q", "-F"],
    "xfs": ["mkfs.xfs", "-q", "-f"],  # at least 300 MiB
    "btrfs": ["mkfs.btrfs", "-q", "-f"],  # at least 110 MiB
}


class Mount:
    """A file system that is mounted at .path; str() and os.fspath() give that."""

    def __init__(self, path, *mount_args):
        self.path = path
        self.mount_args = mount_args
        self.path.mkdir()
        self.mount()

    def __str__(self):
        return str(self.path)

    __fspath__ = __str__

    def mount(self):
        command("mount", *self.mount_args, self.path)

    def unmount(self):
        command("umount", self.path)

    def close(self):
        """Unmounts for good; a file system that is kept busy fails the test."""

        def gone():
            if not os.path.ismount(self.path):
                return True
            return subprocess.run(["umount", "--quiet", self.path], stderr=subprocess.DEVNULL).returncode == 0

        try:
            poll_until(gone, BUSY_LIMIT_S, lambda: "\n".join([f"umount {self.path}, held by", *holders(self.path)]))
        finally:
            if os.path.ismount(self.path):
                command("umount", "--lazy", self.path)


class LoopFs(Mount):
    def __init__(self, directory, kind, size, options):
        self.kind = kind
        self.image = directory / "image"
        with open(self.image, "wb") as image:
            image.truncate(size)
        command(*MKFS[kind], self.image)
        self.device = command("losetup", "--find", "--show", self.image)
        try:
            super().__init__(directory / "mnt", "-o", options, self.device)
        except BaseException:
            command("losetup", "--detach", self.device)
            raise

    def close(self):
        try:
            super().close()
        finally:
            command("losetup", "--detach", self.device)
            self.image.unlink()


@pytest.fixture
def mounts():
    """Mounts to be closed with the test, the newest first; all are tried."""
    made = []
    yield made
    errors = []
    for mount in reversed(made):
        try:
            mount.close()
        except (AssertionError, pytest.fail.Exception) as error:
            errors.append(str(error))
    assert not errors, "\n".join(errors)


@pytest.fixture
def loopfs(root, mounts, tmp_path_factory):
    """loopfs(kind, size=512 MiB, options="defaults"): a new file system on a loop device."""

    def make(kind, size=512 << 20, options="defaults"):
        mounts.append(LoopFs(tmp_path_factory.mktemp(kind), kind, size, options))
        return mounts[-1]

    return make


@pytest.fixture
def tmpfs(root, mounts, tmp_path_factory):
    """tmpfs(size=64 MiB): a new tmpfs."""

    def make(size=64 << 20):
        mounts.append(Mount(tmp_path_factory.mktemp("tmpfs") / "mnt", "-t", "tmpfs", "-o", f"size={size}", "tmpfs"))
        return mounts[-1]

    return make


class FaultFs(Mount):
    """A file system in user space that delays or fails what set() says; see faultfs.c."""

    def __init__(self, directory, *faults):
        self.directory = directory
        self.set(*faults)
        (directory / "below").mkdir()
        super().__init__(directory / "mnt")

    def set(self, *faults):
        """Takes the place of those before, from the next call on."""
        new = self.directory / "faults.new"
        new.write_text("".join(f"{fault}\n" for fault in faults))
        new.rename(self.directory / "faults")

    def below(self):
        return os.listdir(self.directory / "below")

    def mount(self):
        with open(self.directory / "log", "wb") as log:
            self.process = subprocess.Popen(
                [BUILD / "tests/integration/faultfs", self.directory / "below", self.directory / "faults", self.path],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )
        poll_until(lambda: os.path.ismount(self.path) or self.process.poll() is not None, BUSY_LIMIT_S, "faultfs mounted")
        assert os.path.ismount(self.path), (self.directory / "log").read_text()

    def close(self):
        self.set()
        try:
            super().close()
        finally:
            self.process.terminate()
            self.process.wait(BUSY_LIMIT_S)


@pytest.fixture
def faultfs(root, mounts, tmp_path_factory):
    """faultfs(*faults): a file system in user space, with lines as faultfs.c reads them."""
    if not (BUILD / "tests/integration/faultfs").exists() or not os.path.exists("/dev/fuse"):
        pytest.skip("needs libfuse3 and /dev/fuse")

    def make(*faults):
        mounts.append(FaultFs(tmp_path_factory.mktemp("faultfs"), *faults))
        return mounts[-1]

    return make


@pytest.fixture
def workdir():
    """An empty directory on the disk of the build tree."""
    with tempfile.TemporaryDirectory(prefix="test-", dir=BUILD) as path:
        yield pathlib.Path(path)


# --- programs --------------------------------------------------------------


def program(name):
    path = BUILD / name
    assert path.is_file(), f"{path} is not built (SYNCPROBE_BUILD names the build directory)"
    return path


@pytest.fixture(scope="session")
def syncprobe():
    return program("syncprobe")


@pytest.fixture(scope="session")
def syncprobed():
    return program("syncprobed")


@pytest.fixture(scope="session")
def syncprobe_worker():
    return program("syncprobe-worker")


@pytest.fixture
def run_cli(syncprobe):
    """run_cli(*args, check=True, env={}, …): a finished syncprobe, output as text."""

    def run(*args, check=True, env=None, timeout=120, **more):
        done = subprocess.run(
            [syncprobe, *map(str, args)],
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            **more,
        )
        if check:
            assert done.returncode == 0, f"{done.args}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    return run


@pytest.fixture(scope="session")
def machine(syncprobe, tmp_path_factory):
    """The machine's 8 digits in the names of our files, as a run shows them."""
    path = tmp_path_factory.mktemp("machine")
    run = subprocess.Popen(
        [syncprobe, "run", "--kind", "pulse", "--count", "1000", "--period", "1s", path],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    try:
        poll_until(lambda: os.listdir(path), 10, "a test file")
        return os.listdir(path)[0].split("-")[1]
    finally:
        run.terminate()
        run.wait(STOP_LIMIT_S)


class Response:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.text = response.read().decode()

    def json(self):
        return json.loads(self.text)


class Daemon:
    """A running syncprobed, ready to answer."""

    def __init__(self, syncprobed, directory, config, env):
        self.port = free_port()
        self.config = directory / "syncprobe.conf"
        self.state = directory / "state"
        self.log_path = directory / "log"
        self.write_config(config)
        with tempfile.TemporaryDirectory(prefix="notify-") as short, socket.socket(
            socket.AF_UNIX, socket.SOCK_DGRAM
        ) as notify:
            notify.bind(f"{short}/socket")
            with open(self.log_path, "wb") as log:
                self.process = subprocess.Popen(
                    [syncprobed, "--foreground", "--config", self.config, "--state", self.state],
                    env={**os.environ, "NOTIFY_SOCKET": f"{short}/socket", **env},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            try:
                self._wait_ready(notify)
            except BaseException:
                self.kill()
                raise

    def _wait_ready(self, notify):
        pidfd = os.pidfd_open(self.process.pid)
        end = time.monotonic() + READY_LIMIT_S
        try:
            while True:
                came, _, _ = select.select([notify, pidfd], [], [], max(0, end - time.monotonic()))
                if notify in came:
                    if "READY=1" in notify.recv(65536).decode().splitlines():
                        return
                elif came:
                    pytest.fail(f"syncprobed ended before it was ready:\n{self.log}")
                else:
                    pytest.fail(f"syncprobed was not ready within {READY_LIMIT_S} s:\n{self.log}")
        finally:
            os.close(pidfd)

    @property
    def log(self):
        return self.log_path.read_text(errors="replace")

    @property
    def pid(self):
        return self.process.pid

    def write_config(self, config):
        """Writes the file anew, with this daemon's address put before `config`."""
        self.config.write_text(f'listen = [ "127.0.0.1:{self.port}" ];\n{config}')

    def get(self, path, method="GET", headers=None, timeout=10):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, headers=headers or {})
            return Response(connection.getresponse())
        finally:
            connection.close()

    def metrics(self):
        """The samples of /metrics: {'name{label="value"}': number}."""
        lines = self.get("/metrics").text.splitlines()
        pairs = (line.rsplit(" ", 1) for line in lines if line and not line.startswith("#"))
        return {name: float(value) for name, value in pairs}

    def wait_for(self, predicate, timeout=20, what="the daemon's state"):
        """Asks predicate(daemon) until it gives something true, which is returned."""

        def check():
            assert self.process.poll() is None, f"syncprobed has ended:\n{self.log}"
            return predicate(self)

        return poll_until(check, timeout, lambda: f"{what}\n{self.log}", period_s=0.05)

    def stop(self):
        """SIGTERM, and the daemon ends well."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(STOP_LIMIT_S) == 0, self.log

    def kill(self):
        self.process.kill()  # does nothing to one that was waited for
        self.process.wait(STOP_LIMIT_S)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.fixture
def daemon(syncprobed, tmp_path_factory):
    """daemon(config, env={}): a syncprobed with this configuration (less `listen`)."""
    started = []

    def start(config, env=None):
        started.append(Daemon(syncprobed, tmp_path_factory.mktemp("daemon"), config, env or {}))
        return started[-1]

    yield start
    for d in started:
        d.kill()
