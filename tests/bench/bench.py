"""syncprobe side by side with dd, fio, a bare loop and pveperf's calls.

Run by `make bench`, as root (it mounts a tmpfs and an ext4 on a loop device, and
takes both away again). Everything is a ratio of interleaved pairs, since a
machine is never the same for two minutes: the median of ten, and how far the
pairs lie apart. fio is measured against itself too, which is the noise that no
difference smaller than it can be told from.

With --check it exits 1 when a figure is missed.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(os.environ.get("SYNCPROBE_BUILD", "build")).resolve()
BARE = BUILD / "tests/bench/bare_commit"
PVEPERF = BUILD / "tests/bench/pveperf_calls"

TMPFS_COMMITS = 400_000
DISK_COMMITS = 5_000
TMPFS_STREAM = 512 << 20
DISK_STREAM = 256 << 20
CREATES = 1_000


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


@contextlib.contextmanager
def tmpfs(base):
    path = base / "tmpfs"
    path.mkdir()
    run("mount", "-t", "tmpfs", "-o", "size=2g", "tmpfs", path)
    try:
        yield path
    finally:
        run("umount", path)


@contextlib.contextmanager
def ext4(base):
    image, path = base / "image", base / "ext4"
    path.mkdir()
    # Written, not merely allocated: turning unwritten extents into written ones costs the disk below.
    run("dd", "if=/dev/zero", f"of={image}", "bs=1M", "count=1024", "conv=fsync")
    run("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", image)
    device = run("losetup", "--find", "--show", image).stdout.strip()
    try:
        run("mount", device, path)
        try:
            yield path
        finally:
            run("umount", path)
    finally:
        run("losetup", "--detach", device)


# --- the measurements: one number each -------------------------------------------


def syncprobe(path, *options):
    (result,) = json.loads(run(BUILD / "syncprobe", "run", "--json", "--no-progress", *options, path).stdout)["results"]
    if result["outcome"] != "ok":
        sys.exit(f"syncprobe {options}: {result['error']}")
    return result


def our_commit_ns(path):
    r = syncprobe(path, "--kind", "commit", "--count", TMPFS_COMMITS)
    return r["elapsed_seconds"] / r["samples"] * 1e9


def bare_commit_ns(path):
    return float(run(BARE, path / "bare", TMPFS_COMMITS).stdout)


def fio(path, count, *options):
    out = run(
        "fio", "--name=commit", f"--filename={path}/fio", "--ioengine=psync", "--rw=write", "--bs=4k", "--filesize=1m",
        f"--io_size={count * 4}k", "--overwrite=1", "--fdatasync=1", "--output-format=json", *options,
    ).stdout
    (path / "fio").unlink()
    return json.loads(out[out.index("{"):])["jobs"][0]


def fio_commit_ns(path):
    job = fio(path, TMPFS_COMMITS)
    return job["write"]["runtime"] * 1e6 / job["write"]["total_ios"]


def fio_sync(path):
    p = fio(path, DISK_COMMITS)["sync"]["lat_ns"]["percentile"]
    return p["50.000000"], p["99.000000"]


def our_sync(path):
    r = syncprobe(path, "--kind", "commit", "--count", DISK_COMMITS)
    return r["sync_seconds"]["p50"] * 1e9, r["sync_seconds"]["p99"] * 1e9


def dd_rate(path, size):
    err = subprocess.run(
        ["dd", "if=/dev/zero", f"of={path}/dd", "bs=64k", f"count={size >> 16}", "conv=fdatasync"],
        env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True, check=True,
    ).stderr
    (path / "dd").unlink()
    return size / float(re.search(r"copied, (\S+) s", err)[1])


def our_rate(path, size, data, writeback="lazy"):
    r = syncprobe(path, "--kind", "stream", "--size", size, "--data", data, "--writeback", writeback)
    return r["stream_bytes_per_second"]


def pveperf_rate(path):
    return float(run(PVEPERF, path, CREATES).stdout)


def our_create_rate(path):
    return syncprobe(path, "--kind", "create", "--count", CREATES)["syncs_per_second"]


# --- pairs and the table ----------------------------------------------------------


def pairs(ours, theirs, count):
    ours(), theirs()  # both warm: memory that the machine has not given out yet costs the first
    found = []
    for i in range(count):
        # Each goes first as often as second.
        if i % 2:
            a, b = ours(), theirs()
        else:
            b, a = theirs(), ours()
        found.append((a, b))
    return found


class Table:
    def __init__(self):
        self.missed = 0
        print(f"{'what':44} {'ours/theirs':>11} {'pairs':>15} {'goal':>14}")

    def add(self, what, found, goal=None, low=None, high=None):
        """The ratio of the medians must lie within [low, high]."""
        ratio = statistics.median(a for a, _ in found) / statistics.median(b for _, b in found)
        each = [a / b for a, b in found]
        good = (low is None or ratio >= low) and (high is None or ratio <= high)
        self.missed += not good
        print(f"{what:44} {ratio:11.3f} {min(each):7.3f}–{max(each):5.3f}   {goal or '':>14} {'' if good else 'MISSED'}",
              flush=True)


def on_tmpfs(table, path, count):
    table.add("commit, tmpfs, time: bare loop", pairs(lambda: our_commit_ns(path), lambda: bare_commit_ns(path), count),
              "at most 1.25", high=1.25)
    table.add("commit, tmpfs, time: fio psync", pairs(lambda: our_commit_ns(path), lambda: fio_commit_ns(path), count),
              "at most 0.8", high=0.8)
    for data, least in (("zero", 1.1), ("random", 1.0)):
        table.add(f"stream, tmpfs, {data}, rate: dd zeros",
                  pairs(lambda: our_rate(path, TMPFS_STREAM, data), lambda: dd_rate(path, TMPFS_STREAM), count),
                  f"at least {least}", low=least)


def on_ext4(table, path, count):
    found = pairs(lambda: our_sync(path), lambda: fio_sync(path), count)
    noise = pairs(lambda: fio_sync(path), lambda: fio_sync(path), count)
    for i, (name, within) in enumerate((("p50", 0.03), ("p99", 0.05))):
        table.add(f"commit, ext4, fdatasync {name}: fio", [(a[i], b[i]) for a, b in found],
                  f"within {within:.0%}", 1 - within, 1 + within)
        table.add(f"  fio {name}: fio itself", [(a[i], b[i]) for a, b in noise])
    table.add("stream, ext4, lazy zeros, rate: dd",
              pairs(lambda: our_rate(path, DISK_STREAM, "zero"), lambda: dd_rate(path, DISK_STREAM), count),
              "within 3%", 0.97, 1.03)
    table.add("  dd: dd itself", pairs(lambda: dd_rate(path, DISK_STREAM), lambda: dd_rate(path, DISK_STREAM), count))
    table.add("stream, ext4, eager zeros, rate: dd",
              pairs(lambda: our_rate(path, DISK_STREAM, "zero", "eager"), lambda: dd_rate(path, DISK_STREAM), count))
    table.add("create, ext4, rate: pveperf's calls",
              pairs(lambda: our_create_rate(path), lambda: pveperf_rate(path), count))


def main():
    parser = argparse.ArgumentParser(description="syncprobe beside dd, fio and pveperf's calls")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--check", action="store_true", help="exit 1 when a figure is missed")
    parser.add_argument("--only", choices=["tmpfs", "ext4"])
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("make bench needs root: it mounts a tmpfs and a loop device")
    table = Table()
    with tempfile.TemporaryDirectory(prefix="bench-", dir=BUILD) as base:
        base = pathlib.Path(base)
        if options.only != "ext4":
            with tmpfs(base) as path:
                on_tmpfs(table, path, options.pairs)
        if options.only != "tmpfs":
            with ext4(base) as path:
                on_ext4(table, path, options.pairs)
    return 1 if options.check and table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
