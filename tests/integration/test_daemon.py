"""syncprobed: real results of every kind, hangs, ends, and what it does to a host."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time

import pytest

from conftest import BUILD, command, free_port, our_programs, poll_until

KINDS = ("pulse", "commit", "stream", "create")


def quick_tests(*kinds):
    tests = {
        "pulse": '{ kind = "pulse"; period = "1s"; interval = "2s"; }',
        "commit": '{ kind = "commit"; interval = "1s"; count = 20; }',
        "stream": '{ kind = "stream"; interval = "1s"; size = "1MiB"; }',
        "create": '{ kind = "create"; interval = "1s"; count = 20; }',
    }
    return f"tests = ( {', '.join(tests[k] for k in kinds)} );"


def target(name, path, *kinds, more=""):
    return f'{{ name = "{name}"; path = "{path}"; {more} {quick_tests(*(kinds or KINDS))} }}'


def config(*targets):
    return f"targets = ( {', '.join(targets)} );\n"


def by_test(d, name):
    return {t["name"]: t for t in d.get(f"/api/v1/targets/{name}").json()["tests"]}


def state_of(d, name):
    return d.get(f"/api/v1/targets/{name}").json()


def workers():
    return [pid for pid, name in our_programs().items() if name.startswith("syncprobe-work")]


def own_files(path):
    return [n for n in os.listdir(path) if n.startswith(".syncprobe-")]


@pytest.fixture
def frozen():
    """frozen(fs): a file system whose every write hangs, until the test ends or .thaw()."""
    made = []

    def freeze(fs):
        command("fsfreeze", "--freeze", fs.path)
        made.append(fs)

        def thaw():
            if fs in made:
                made.remove(fs)
                command("fsfreeze", "--unfreeze", fs.path)

        return thaw

    yield freeze
    for fs in made:
        command("fsfreeze", "--unfreeze", fs.path)


def test_real_results_of_all_kinds(daemon, loopfs):
    fs = loopfs("ext4")
    d = daemon(config(target("disk", fs)))
    d.wait_for(lambda d: all(t["last_ok"] for t in by_test(d, "disk").values()), what="a result of each kind")
    for name, test in by_test(d, "disk").items():
        last = test["last_ok"]
        assert last["kind"] == name and last["target"] == "disk" and last["outcome"] == "ok"
        assert last["written_bytes"] > 0 and last["samples"] > 0
        assert last["evidence"]["fstype"] == "ext4"
        assert last["verdict"] == "unverified"
    results = d.get("/api/v1/targets/disk/tests/commit/results?limit=1").json()
    assert results["results"][0]["test"] == "commit"
    assert len(results["results"]) == 1
    d.stop()
    # The pulse's file may stay while its test is configured, and nothing else.
    assert all("-kept" in n for n in own_files(fs)) and len(own_files(fs)) <= 1


def test_no_target_is_ready(daemon):
    d = daemon("")
    assert d.get("/-/ready").status == 200
    assert d.get("/api/v1/targets").json() == {"targets": []}
    d.stop()


def test_bad_targets_beside_good_ones(daemon, tmp_path, workdir):
    file = tmp_path / "file"
    file.write_bytes(b"precious")
    link = tmp_path / "link"
    link.symlink_to(workdir)
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    bad = {"file": file, "missing": tmp_path / "missing", "link": link, "open": open_to_all}
    d = daemon(config(target("good", workdir, "commit"), *(target(n, p, "commit") for n, p in bad.items())))
    d.wait_for(lambda d: all(by_test(d, n)["commit"]["failures"] for n in bad), what="the bad ones to fail")
    d.wait_for(lambda d: by_test(d, "good")["commit"]["last_ok"])
    reasons = {n: by_test(d, n)["commit"]["last"]["reason"] for n in bad}
    assert reasons == {"file": "notfound", "missing": "notfound", "link": "notprepared", "open": "notprepared"}
    for n in bad:
        assert state_of(d, n)["status"] == "unavailable"
        assert by_test(d, n)["commit"]["last"]["syncs_per_second"] is None
    assert file.read_bytes() == b"precious"
    # Told once each, and again when it works.
    d.wait_for(lambda d: all(by_test(d, n)["commit"]["failures"] >= 3 for n in bad))
    assert d.log.count("test commit failed") == len(bad)
    (tmp_path / "missing").mkdir()
    d.wait_for(lambda d: state_of(d, "missing")["status"] == "fine")
    assert "target missing: test commit works again" in d.log
    d.stop()


def test_a_hang_is_shown_and_holds_up_nobody(daemon, loopfs, workdir, frozen):
    fs = loopfs("ext4")
    d = daemon(config(target("sick", fs, "commit", "pulse", more='deadline = "2s"; kill_after = "60s";'),
                      target("well", workdir, "commit")))
    d.wait_for(lambda d: by_test(d, "sick")["commit"]["last_ok"] and by_test(d, "well")["commit"]["last_ok"])
    thaw = frozen(fs)
    d.wait_for(lambda d: state_of(d, "sick")["state"] == "overdue", what="the hang to be shown")
    sick = state_of(d, "sick")
    assert sick["status"] == "hung"
    # On a frozen ext4 even the opening of a file for writing hangs.
    assert sick["phase"] in ("lookup", "create", "write", "sync", "unlink")
    assert sick["inflight_seconds"] >= 2
    assert d.metrics()['syncprobe_inflight_seconds{target="sick"}'] >= 2
    failures = by_test(d, "sick")
    before = by_test(d, "well")["commit"]["runs"]
    d.wait_for(lambda d: by_test(d, "well")["commit"]["runs"] >= before + 3, what="the well one to go on")
    # Counted once; the age grows; no second process; skips are told apart.
    assert sum(t["failures"] for t in by_test(d, "sick").values()) <= sum(t["failures"] for t in failures.values()) + 1
    assert state_of(d, "sick")["inflight_seconds"] > sick["inflight_seconds"]
    assert len(workers()) <= 2
    thaw()
    d.wait_for(lambda d: state_of(d, "sick")["status"] == "fine", what="recovery by itself")
    assert "the hung call has returned" in d.log
    d.stop()
    assert all("-kept" in n for n in own_files(fs))


def test_a_killed_worker_is_not_replaced_until_it_has_gone(daemon, loopfs, frozen):
    fs = loopfs("ext4")
    d = daemon(config(target("sick", fs, "commit", more='deadline = "1s"; kill_after = "2s";')))
    d.wait_for(lambda d: by_test(d, "sick")["commit"]["last_ok"])
    thaw = frozen(fs)
    d.wait_for(lambda d: state_of(d, "sick")["state"] == "stuck")
    skipped = by_test(d, "sick")["commit"]["skipped"]
    d.wait_for(lambda d: by_test(d, "sick")["commit"]["skipped"] >= skipped + 2)
    assert len(workers()) == 1
    thaw()
    d.wait_for(lambda d: state_of(d, "sick")["status"] == "fine")
    d.stop()


def test_stop_with_a_hung_target(daemon, loopfs, frozen):
    fs = loopfs("ext4")
    d = daemon(config(target("sick", fs, "commit", more='deadline = "1s"; kill_after = "60s";')))
    d.wait_for(lambda d: by_test(d, "sick")["commit"]["last_ok"])
    thaw = frozen(fs)
    d.wait_for(lambda d: state_of(d, "sick")["state"] == "overdue")
    start = time.monotonic()
    d.stop()
    assert time.monotonic() - start < 2
    with socket.socket() as s:  # the port is free at once
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("127.0.0.1", d.port))
    thaw()
    poll_until(lambda: not workers(), 10, "the abandoned worker to end")


def test_umount_never_finds_a_target_busy(daemon, loopfs):
    fs = loopfs("ext4")
    d = daemon(config(target("disk", fs, "pulse", "commit")))
    d.wait_for(lambda d: by_test(d, "disk")["commit"]["last_ok"])
    for _ in range(5):
        poll_until(lambda: subprocess.run(["umount", "--quiet", fs.path], stderr=subprocess.DEVNULL).returncode == 0,
                   1, "umount to succeed within a second", period_s=0.01)
        fs.mount()
        runs = by_test(d, "disk")["commit"]["runs"]
        d.wait_for(lambda d: by_test(d, "disk")["commit"]["runs"] >= runs + 2)
    d.stop()


def test_a_mount_made_over_a_target_gets_a_fresh_worker(daemon, loopfs, workdir):
    d = daemon(config(target("t", workdir, "commit", more="owner_check = false;")))
    d.wait_for(lambda d: by_test(d, "t")["commit"]["last_ok"])
    (before,) = workers()
    command("mount", "-t", "tmpfs", "tmpfs", workdir)
    try:
        d.wait_for(lambda d: (by_test(d, "t")["commit"]["last_ok"] or {}).get("evidence", {}).get("fstype") == "tmpfs")
        assert before not in workers()
        assert by_test(d, "t")["commit"]["failures"] == 0  # the run began again, in the fresh worker
    finally:
        poll_until(lambda: subprocess.run(["umount", "--quiet", workdir]).returncode == 0, 5, "umount")
    d.stop()


def test_tests_of_one_device_do_not_overlap(daemon, loopfs):
    """Two targets on one file system: their runs, told by start and length, lie apart."""
    fs = loopfs("ext4")
    for name in ("a", "b"):
        (fs.path / name).mkdir()
    stream = 'tests = ( { kind = "stream"; interval = "1s"; size = "8MiB"; max_rate = "40MiB"; } );'
    d = daemon(config(*(f'{{ name = "{n}"; path = "{fs}/{n}"; {stream} }}' for n in ("a", "b"))))
    d.wait_for(lambda d: all(by_test(d, n)["stream"]["runs"] >= 5 for n in ("a", "b")), timeout=30)

    def spans(name):
        for r in d.get(f"/api/v1/targets/{name}/tests/stream/results").json()["results"]:
            h, m, s = r["started"][11:-1].split(":")
            start = int(h) * 3600 + int(m) * 60 + float(s)
            yield start, start + r["elapsed_seconds"], r

    # The first runs may come before the devices are known.
    pairs = [(a, b) for a in list(spans("a"))[:4] for b in list(spans("b"))[:4]]
    assert not [(a, b) for a, b in pairs if a[0] < b[1] - 0.002 and b[0] < a[1] - 0.002]
    d.stop()


def test_left_overs_go_at_the_start(daemon, workdir, machine):
    left = workdir / f".syncprobe-{machine}-{os.geteuid()}-0123456789abcdef"
    left.write_bytes(b"x")
    removed_test = workdir / f".syncprobe-{machine}-{os.geteuid()}-kept0123456789ab"
    removed_test.write_bytes(b"x")
    d = daemon(config(target("t", workdir, "commit")))
    d.wait_for(lambda d: by_test(d, "t")["commit"]["last_ok"])
    assert not left.exists() and not removed_test.exists()
    d.stop()
    assert own_files(workdir) == []


def test_kill_9_of_the_daemon_leaves_no_process_and_the_next_start_tidies_up(daemon, workdir):
    d = daemon(config(target("t", workdir)))
    d.wait_for(lambda d: by_test(d, "t")["commit"]["last_ok"])
    d.kill()
    poll_until(lambda: not our_programs(), 10, "the workers to end with their parent")
    assert all("-kept" in n for n in own_files(workdir))


def test_workers_have_only_what_they_need(daemon, workdir):
    d = daemon(config(target("t", workdir, "commit")), env={"SECRET": "x", "WATCHDOG_USEC": "1000000"})
    d.wait_for(lambda d: by_test(d, "t")["commit"]["last_ok"])
    (pid,) = workers()
    environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    assert {e.split(b"=")[0] for e in environment if e} <= {b"PATH", b"LANG", b"LANGUAGE", b"LC_ALL", b"LC_MESSAGES",
                                                            b"LC_CTYPE", b"LC_NUMERIC"}

    def between_runs():
        links = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
        return links if not any(str(workdir) in l for l in links) else None

    links = poll_until(between_runs, 10, "nothing held below the target")
    assert len([l for l in links if l.startswith("socket:")]) == 1
    assert all(l.startswith(("socket:", "/dev/null", "/memfd", "pipe:", str(d.log_path))) for l in links), links
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    status = dict(l.split(":\t", 1) for l in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in l)
    assert status["NoNewPrivs"] == "1"
    if not (BUILD / "config.log").read_text().count("--enable-asan"):
        assert status["Seccomp"] == "2"
    d.stop()


def test_the_main_process_makes_no_call_on_a_target(syncprobed, workdir, tmp_path):
    """Not even a stat: every call of the main thread that names the path is a finding."""
    port = free_port()
    path = workdir / "very-own-name"
    path.mkdir()
    conf = tmp_path / "c.conf"
    conf.write_text(f'listen = "127.0.0.1:{port}";\n' + config(target("t", path, "commit")))
    trace = tmp_path / "trace"
    # A file a thread: in one file, a call that another interrupts stands in two lines.
    p = subprocess.Popen(["strace", "-ff", "-o", trace, "-s", "300", syncprobed, "--foreground", "--config", conf],
                         stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    try:
        def ran():
            import http.client
            c = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            try:
                c.request("GET", "/api/v1/targets/t")
                return json.loads(c.getresponse().read())["tests"][0]["last_ok"]
            except OSError:
                return None
        poll_until(ran, 20, "a result")
        (pid,) = [pid for pid, name in our_programs().items() if name == "syncprobed"]
        os.kill(pid, signal.SIGTERM)
        p.wait(20)
    finally:
        p.kill()
        p.wait()
    calls = trace.with_name(f"trace.{pid}").read_text().splitlines()
    assert any(c.startswith("epoll_wait") for c in calls)
    # It may send the path to its worker, and serve it to us.
    harmless = re.compile(r"send|recv|read\b|pread64|write")
    named = [c for c in calls if "very-own-name" in c and not harmless.match(c)]
    assert named == []
    # (__WALL is LeakSanitizer's own, at the exit of an instrumented build.)
    assert not [c for c in calls if c.startswith("vfork") or ("wait4" in c and not {"WNOHANG", "__WALL"} & set(re.findall(r"\w+", c)))]


def test_port_taken(syncprobed, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        conf = tmp_path / "c.conf"
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        conf.write_text(f'listen = "{address}";')
        done = subprocess.run([syncprobed, "--foreground", "--config", conf], capture_output=True, text=True, timeout=20)
    assert done.returncode == 1
    assert f"cannot listen on {address}: Address already in use" in done.stderr
    assert "ready:" not in done.stderr


@pytest.mark.parametrize("address", ["[::1]:0", "localhost:0", "127.0.0.1:0", "{tmp}/api.sock"])
def test_addresses(syncprobed, tmp_path, address):
    if address.startswith("[") and not pathlib.Path("/proc/net/if_inet6").exists():
        pytest.skip("no IPv6 here")
    conf = tmp_path / "c.conf"
    conf.write_text(f'listen = "{address.format(tmp=tmp_path)}";')
    p = subprocess.Popen([syncprobed, "--foreground", "--config", conf], stderr=subprocess.PIPE, text=True)
    try:
        while "ready" not in (line := p.stderr.readline()):
            assert line, "it ended"
        if "/" in address:
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(str(tmp_path / "api.sock"))
                s.sendall(b"GET /-/ready HTTP/1.0\r\n\r\n")
                assert s.recv(100).startswith(b"HTTP/1.")
        p.terminate()
        assert p.wait(10) == 0
    finally:
        p.kill()
        p.stderr.close()
        p.wait()
    assert not (tmp_path / "api.sock").exists()


def test_signals_never_kill_it_by_default(daemon, workdir):
    d = daemon(config(target("t", workdir, "commit")))
    for s in (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE):
        d.process.send_signal(s)
    runs = by_test(d, "t")["commit"]["runs"]
    d.wait_for(lambda d: by_test(d, "t")["commit"]["runs"] > runs)
    d.stop()


def test_one_daemon_a_state_directory(daemon, syncprobed):
    d = daemon("")
    assert d.state.stat().st_mode & 0o777 == 0o700
    done = subprocess.run([syncprobed, "--foreground", "--config", d.config, "--state", d.state],
                          capture_output=True, text=True, timeout=20)
    assert done.returncode == 1
    assert "another syncprobed uses it" in done.stderr
    d.stop()


def test_check(syncprobed, tmp_path):
    conf = tmp_path / "c.conf"
    conf.write_text(config(target("t", "/somewhere")))
    good = subprocess.run([syncprobed, "--check", conf], capture_output=True, text=True)
    assert good.returncode == 0 and "GB/day" in good.stdout and '"/somewhere"' in good.stdout
    conf.write_text('targets = (\n { name = "a"; path = "a"; } );')
    bad = subprocess.run([syncprobed, "--check", conf], capture_output=True, text=True)
    assert bad.returncode == 1 and f"{conf}:2: path must be absolute" in bad.stderr
    assert subprocess.run([syncprobed, "--frob"], capture_output=True).returncode == 2


def test_many_targets_start_spread_and_end_clean(daemon, workdir):
    paths = []
    for i in range(40):
        (workdir / f"t{i}").mkdir()
        paths.append(target(f"t{i}", workdir / f"t{i}", "pulse", more=f'group = "g{i}";'))
    d = daemon(config(*paths))
    d.wait_for(lambda d: all(t["tests"][0]["last_ok"] for t in d.get("/api/v1/targets").json()["targets"]), timeout=30)
    assert len(workers()) == 40
    d.stop()
    assert our_programs() == {}
