"""The endpoint: what a monitoring system, a browser and an attacker see of it."""

import json
import shutil
import socket
import subprocess
import threading

import pytest

# Of different intervals: a pulse whose every turn meets another test's would be left out each time.
QUICK = """tests = ( { kind = "pulse"; period = "1s"; interval = "2s"; }, { kind = "commit"; interval = "1300ms"; count = 20; },
 { kind = "stream"; interval = "1700ms"; size = "1MiB"; }, { kind = "create"; interval = "1900ms"; count = 20; } );"""

RESULT_KEYS = {
    "target", "test", "kind", "outcome", "reason", "phase", "truncated", "started", "elapsed_seconds", "written_bytes",
    "samples", "sync_seconds", "write_seconds", "syncs_per_second", "stream_bytes_per_second", "parameters", "verdict",
    "reached", "basis", "reasons", "evidence",
}


def strict(text):
    def refuse(name):
        raise ValueError(name)

    return json.loads(text, parse_constant=refuse)


@pytest.fixture
def running(daemon, workdir):
    """A daemon with one good target that has results of all kinds, and one that is missing."""
    d = daemon(f'targets = ( {{ name = "good"; path = "{workdir}"; labels = {{ site = "here"; }}; {QUICK} }},'
               f' {{ name = "missing"; path = "{workdir}/missing"; {QUICK} }} );')
    d.wait_for(lambda d: all(t["last_ok"] for t in d.get("/api/v1/targets/good").json()["tests"]))
    # Not the pulse: whether it meets the others' turns depends on the machine's phases.
    d.wait_for(lambda d: all(t["failures"] for t in d.get("/api/v1/targets/missing").json()["tests"][1:]))
    return d


def raw(d, data):
    """What comes back for these bytes, to the end of the connection."""
    with socket.create_connection(("127.0.0.1", d.port), timeout=20) as s:
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
        answer = b""
        while more := s.recv(65536):
            answer += more
        return answer


def test_shapes(running):
    targets = strict(running.get("/api/v1/targets").text)["targets"]
    good = next(t for t in targets if t["name"] == "good")
    assert {"name", "path", "status", "state", "phase", "inflight_seconds", "labels", "tests"} <= set(good)
    assert good["labels"] == {"site": "here"}
    assert good["status"] == "fine"
    for test in good["tests"]:
        assert {"name", "kind", "interval_seconds", "next_run", "last", "last_ok", "runs", "failures", "skipped"} <= set(test)
        assert RESULT_KEYS <= set(test["last_ok"])
        assert test["last_ok"]["evidence"]["fstype"]
    missing = next(t for t in targets if t["name"] == "missing")
    assert missing["status"] == "unavailable"
    assert all(t["last"]["reason"] == "notfound" and t["last"]["elapsed_seconds"] is None for t in missing["tests"][1:])
    one = strict(running.get("/api/v1/targets/good").text)
    assert one["stack"]["nodes"][0]["name"] == one["fstype"] and one["name"] == "good"
    status = strict(running.get("/api/v1/status").text)
    assert {"version", "started", "status", "targets", "store", "config"} <= set(status)
    assert (status["status"], status["targets"]["fine"]) == ("unavailable", 1)


def test_results_are_paged_newest_first(running):
    running.wait_for(lambda d: running.get("/api/v1/targets/good").json()["tests"][1]["runs"] >= 3)
    base = "/api/v1/targets/good/tests/commit/"
    everything = running.get(base + "results?limit=1000").json()["results"]
    started = [r["started"] for r in everything]
    assert started == sorted(started, reverse=True)
    seen, url = [], f"results?limit=2&until={started[0][:-1]}999999Z"
    while url:
        page = strict(running.get(base + url).text)
        seen += page["results"]
        url = page["next"]
    assert [r["started"] for r in seen] == started
    assert running.get(base + f"results?since={started[0]}").json()["results"][0]["started"] >= started[0]


def test_errors_are_json(running):
    for path, status in (("/nothing", 404), ("/api/v1/targets/none", 404), ("/../etc/passwd", 404),
                         ("/api/v1/targets/good/tests/commit/results?limit=0", 400),
                         ("/api/v1/targets/good/tests/commit/results?since=then", 400)):
        answer = running.get(path)
        assert (answer.status, list(strict(answer.text))) == (status, ["error"])
    answer = running.get("/metrics", method="PUT")
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")
    strict(answer.text)


def test_heads_and_headers(running):
    body = running.get("/")
    head = running.get("/", method="HEAD")
    assert head.status == 200 and head.text == ""
    assert body.headers["Content-Type"] == "text/html; charset=utf-8"
    for answer in (body, running.get("/metrics")):
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert running.get("/-/healthy").status == running.get("/-/ready").status == 200


def test_metrics(running):
    m = running.metrics()
    assert m['syncprobe_runs_total{target="good",test="commit",outcome="ok"}'] >= 1
    assert m['syncprobe_sync_duration_seconds_count{target="good",test="commit"}'] >= 20
    assert m['syncprobe_last_run_stream_bytes_per_second{target="good",test="stream"}'] > 0
    assert m['syncprobe_target_status{target="missing",status="unavailable"}'] == 1
    assert m['syncprobe_run_failures_total{target="missing",test="commit",reason="notfound"}'] >= 1
    assert not [n for n in m if n.startswith("syncprobe_last_run_sync") and 'target="missing"' in n]
    assert m["process_open_fds"] > 0 and m["process_resident_memory_bytes"] > 1 << 20
    openmetrics = running.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert openmetrics.headers["Content-Type"].startswith("application/openmetrics-text")
    assert openmetrics.text.endswith("# EOF\n")


def test_promtool_accepts_it(running):
    if not shutil.which("promtool"):
        pytest.skip("needs promtool, of Debian's prometheus")
    done = subprocess.run(["promtool", "check", "metrics"], input=running.get("/metrics").text,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_parallel_scrapes_start_nothing(running):
    """Fifty at once are all answered, and no test runs because of them."""
    runs = 'syncprobe_runs_total{target="good",test="stream",outcome="ok"}'
    before, answers = running.metrics()[runs], []
    threads = [threading.Thread(target=lambda: answers.append(running.get("/metrics").status)) for _ in range(50)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert answers == [200] * 50
    assert running.metrics()[runs] - before <= 3  # one a second is due anyway


SMUGGLED = [
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /-/ready HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length : 5\r\n\r\nhello",
    b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
    b"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n 5\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n 5\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nHost:\r\n b\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nX: a\rHost: b\r\n\r\n",
    b"GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n",
]


@pytest.mark.parametrize("number", range(len(SMUGGLED)))
def test_ambiguous_requests_end_the_connection(daemon, number):
    d = daemon("")
    answer = raw(d, SMUGGLED[number] + b"GET /-/ready HTTP/1.1\r\nHost: a\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400"), answer
    assert answer.count(b"HTTP/1.1 ") == 1
    d.stop()


def test_odd_clients(daemon):
    d = daemon("")
    assert raw(d, b"GET /-/ready HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.")
    assert raw(d, b"GET /-/ready HTTP/1.1\r\nHost: a\r\n\r\nGET /-/healthy HTTP/1.1\r\nHost: a\r\n\r\n").count(b" 200 ") == 2
    assert raw(d, b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 100_000 + b"\r\n\r\n").startswith(b"HTTP/1.1 4")
    for _ in range(50):  # gone before the answer
        with socket.create_connection(("127.0.0.1", d.port)) as s:
            s.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
    assert d.get("/-/ready").status == 200
    d.stop()


def test_many_connections(daemon):
    """More than there may be: the daemon answers again as soon as they go."""
    d = daemon("")
    idle = [socket.create_connection(("127.0.0.1", d.port)) for _ in range(400)]
    for s in idle:
        s.close()
    d.wait_for(lambda d: d.get("/-/ready").status == 200)
    d.stop()


def test_no_descriptors_left(syncprobed, tmp_path):
    """It turns clients away, without spinning, and serves again when they have gone."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    conf = tmp_path / "c.conf"
    conf.write_text(f'listen = "127.0.0.1:{port}";')
    p = subprocess.Popen(["prlimit", "--nofile=40", syncprobed, "--foreground", "--config", conf],
                         stderr=subprocess.PIPE, text=True)
    try:
        while "ready" not in (line := p.stderr.readline()):
            assert line, "it ended"
        clients = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(60)]
        clients[-1].sendall(b"GET /-/ready HTTP/1.0\r\n\r\n")
        try:
            assert clients[-1].recv(1) == b""  # turned away
        except ConnectionResetError:
            pass
        ticks = lambda: sum(map(int, open(f"/proc/{p.pid}/stat").read().rsplit(")", 1)[1].split()[11:13]))
        before = ticks()
        clients[0].sendall(b"GET /-/ready HTTP/1.1\r\nHost: a\r\n\r\n")
        assert clients[0].recv(12) == b"HTTP/1.1 200"
        assert ticks() - before < 20
        for c in clients:
            c.close()
        with socket.create_connection(("127.0.0.1", port), timeout=10) as again:
            again.sendall(b"GET /-/ready HTTP/1.0\r\n\r\n")
            assert again.recv(4096)
    finally:
        p.terminate()
        p.stderr.close()
        assert p.wait(10) == 0
