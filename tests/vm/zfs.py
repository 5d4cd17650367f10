#!/usr/bin/python3
"""Runs in the virtual machine of run-vm: is the figure of a ZFS stripe to be believed?

The case that this project began with: zeros on a stripe of two disks whose file
system compresses. Leaves its reports in /out; exits 1 when a check fails.
"""

import json
import os
import pathlib
import subprocess
import sys

SYNCPROBE = "/programs/syncprobe"
OUT = pathlib.Path("/out")
SUSPECT = {"memory-backed", "not-allocated", "compressed", "device-bytes-missing", "no-flush", "sync-disabled"}
NOTES = {"device-busy", "burst-rate"}
LIMIT = int(os.environ["VM_TANK_BYTES_PER_S"])  # of each of the two disks

failures = []


def check(holds, what, seen):
    print(f"{'ok  ' if holds else 'FAIL'} {what}{'' if holds else f': {seen}'}", flush=True)
    if not holds:
        failures.append(what)


def command(*args):
    subprocess.run(args, check=True, stdout=subprocess.DEVNULL)


def run(path, *options):
    done = subprocess.run([SYNCPROBE, "run", "--json", *options, path], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["results"]


def codes(result):
    return {reason["code"] for reason in result["reasons"]}


def keep(name, *args):
    """A report as a person sees it, kept."""
    done = subprocess.run([SYNCPROBE, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True,
                          env={**os.environ, "LC_ALL": "C.UTF-8"})
    (OUT / name).write_text(f"$ syncprobe {' '.join(args)}\n{done.stdout}")
    print(done.stdout, flush=True)


def settle():
    """What the runs before have left to do is others' traffic for the next one."""
    command("zpool", "wait", "-t", "free", "tank")
    command("zpool", "sync", "tank")


def stripe():
    command("zpool", "create", "-O", "compression=on", "-o", "ashift=12", "tank", os.environ["DISK_TANK1"],
            os.environ["DISK_TANK2"])
    disks = {pathlib.Path(os.environ[name]).name for name in ("DISK_TANK1", "DISK_TANK2")}

    zeros, random = run("/tank", "--kind", "stream", "--size", "512MiB")
    print(json.dumps([zeros, random], indent=1), flush=True)
    check({d["name"] for d in zeros["evidence"]["devices"]} == disks, "both disks are found under the data set",
          zeros["evidence"]["devices"])
    check(zeros["verdict"] == "suspect" and codes(zeros) & {"not-allocated", "device-bytes-missing"},
          "zeros are suspect: not allocated, or missing on the disks", codes(zeros))
    check(zeros["stream_bytes_per_second"] > 0, "and their rate is shown all the same", zeros)
    check(random["verdict"] == "unverified" and codes(random) - NOTES == {"host-cache-unseen"},
          "random data are unverified by the host's cache alone", random["reasons"])
    check(random["evidence"]["device_written_bytes"] >= 512 << 20, "all of them reached the disks", random["evidence"])
    rate = random["stream_bytes_per_second"]
    check(abs(rate / (2 * LIMIT) - 1) <= 0.1, "their rate is within 10 % of what the disks take",
          f"{rate / 1e6:.1f} of {2 * LIMIT / 1e6:.0f} MB/s")
    (OUT / "rates").write_text(
        f"zeros {zeros['stream_bytes_per_second'] / 1e6:.1f} MB/s, random {rate / 1e6:.1f} MB/s, "
        f"limit {2 * LIMIT / 1e6:.0f} MB/s\n")

    settle()
    [commit] = run("/tank", "--kind", "commit", "--count", "100", "--duration", "60s")
    print(json.dumps(commit, indent=1), flush=True)
    check(commit["verdict"] == "unverified" and codes(commit) - NOTES == {"host-cache-unseen"},
          "commits are unverified by the host's cache alone", commit["reasons"])
    check(commit["basis"] == "flushes-counted", "their flushes are counted", commit["evidence"]["devices"])
    settle()
    [commit] = run("/tank", "--kind", "commit", "--count", "100", "--duration", "60s", "--accept", "host-cache-unseen")
    check(commit["verdict"] == "credible", "credible once that is accepted", commit["reasons"])
    [random] = run("/tank", "--kind", "stream", "--data", "random", "--size", "128MiB", "--accept", "host-cache-unseen")
    check(random["verdict"] == "credible", "random data are credible once that is accepted", random["reasons"])

    settle()
    keep("report", "run", "/tank")
    keep("explain", "explain", "/tank")

    command("zfs", "set", "sync=disabled", "tank")
    [commit] = run("/tank", "--kind", "commit", "--count", "200")
    check({"sync-disabled", "no-flush"} <= codes(commit) and commit["verdict"] == "suspect",
          "with sync=disabled no sync is honoured, and no flush is seen", commit)
    keep("report-sync-disabled", "run", "--kind", "commit", "/tank")
    command("zpool", "export", "tank")
    check(True, "nothing keeps the pool from being exported", "")


def flushes_per_sync(filesystem):
    """On this older kernel: our named file has the flushes that each sync must make."""
    disk = os.environ["DISK_PLAIN"]
    command(f"mkfs.{filesystem}", "-q", *(["-f"] if filesystem == "btrfs" else ["-F"]), disk)
    os.makedirs("/mnt", exist_ok=True)
    command("mount", disk, "/mnt")
    for layout in "overwrite", "append":
        [result] = run("/mnt", "--kind", "commit", "--count", "200", "--duration", "60s", "--layout", layout)
        flushes = sum(d["flushes"] for d in result["evidence"]["devices"])
        print(f"{filesystem} {layout}: {flushes / result['samples']:.2f} flushes a sync", flush=True)
        check(flushes >= result["samples"], f"{filesystem}, {layout}: each sync is flushed", flushes)
        check(not codes(result) & SUSPECT, f"{filesystem}, {layout}: nothing is suspect", result["reasons"])
    command("umount", "/mnt")


stripe()
for filesystem in "ext4", "btrfs":
    flushes_per_sync(filesystem)
print(f"{len(failures)} checks failed" if failures else "all checks passed", flush=True)
sys.exit(1 if failures else 0)
