#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""raidtrace's counters of a disk equal the log of the simulated device and the kernel's counts: kmod-truth.py [DISK]"""

import collections
import pathlib
import random
import subprocess
import sys
import time

import kmod_client as kmod
from kmod_witness import Measured, check_commands, check_diskstats, size_bin

DISK = sys.argv[1] if len(sys.argv) > 1 else "sda"


def buffered_reads() -> None:
    """Buffered reads with readahead: the controller's log and diskstats agree"""
    with Measured(DISK) as measured:
        subprocess.run(["dd", f"if=/dev/{DISK}", "of=/dev/null", "bs=1M", "count=128", "status=none"], check=True)
    check_commands(measured)
    check_diskstats(measured)
    kmod.equal("something was read", measured.counters.flow["read"]["bytes-completed"] >= 128 << 20, True)


def buffered_writes() -> None:
    """Buffered writes and a flush: the controller's log and diskstats agree"""
    with Measured(DISK) as measured:
        command = ["dd", "if=/dev/zero", f"of=/dev/{DISK}", "bs=1M", "count=32", "conv=fsync", "status=none"]
        subprocess.run(command, check=True)
    check_commands(measured)
    check_diskstats(measured)
    kmod.equal("bytes written", measured.counters.flow["write"]["bytes-completed"], 32 << 20)
    cache = pathlib.Path(f"/sys/block/{DISK}/queue/write_cache").read_text(encoding="ascii").strip()
    flushed = measured.counters.flow["flush"]["completed"]
    kmod.equal(f"flushes of a {cache} cache", bool(flushed), cache == "write back")


def random_direct() -> None:
    """Random direct reads and writes of random sizes: the controller's log and diskstats agree"""
    numbers = random.Random(9500)
    with Measured(DISK) as measured:
        disk = kmod.Disk(DISK)
        for _ in range(400):
            move = numbers.choice((disk.read, disk.write))
            move(numbers.randrange(1 << 20) * 8, numbers.choice((8, 16, 24, 128, 248, 256, 512, 2048)))
        disk.close()
    check_commands(measured)
    check_diskstats(measured)
    flow = measured.counters.flow
    kmod.equal("every bio became a request", flow["read"]["queued"] + flow["read"]["splits"], flow["read"]["issued"])


def parallel_processes() -> None:
    """Eight processes at once: the controller's log and diskstats agree"""
    with Measured(DISK) as measured:
        commands = [
            ["dd", f"if=/dev/{DISK}", "of=/dev/null", "bs=256K", "count=64", f"skip={4096 * i}", "iflag=direct"]
            for i in range(8)
        ]
        running = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for command in commands]
        for process in running:
            kmod.equal("dd", process.wait(), 0)
    check_commands(measured)
    check_diskstats(measured)
    kmod.equal("requests were in flight together", measured.counters.flow["read"]["in-flight-max"] >= 8, True)


def waits() -> None:
    """Bios wait for q2c less d2c; each process has the time of its requests; sizes and distances have their exact time"""
    with Measured(DISK) as measured:
        commands = [
            ["dd", f"if=/dev/{DISK}", "of=/dev/null", f"bs={4 << i}K", "count=64", f"skip={999 * i}", "iflag=direct"]
            for i in range(4)
        ]
        running = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for command in commands]
        for process in running:
            kmod.equal("dd", process.wait(), 0)
    counters = measured.counters
    flow, reply = counters.flow["read"], counters.reply
    kmod.equal("each bio is a request", [flow["queued"], flow["completed"]], 2 * [flow["issued"]])
    kmod.equal("nothing else was done", counters.total("queued"), flow["queued"])
    kmod.equal("ns that bios waited", reply["waiting-sum-ns"], flow["q2c-sum-ns"] - flow["d2c-sum-ns"])
    kmod.equal("bios without a place", reply["waiting-unknown"], 0)
    of_dd = [one for one in reply["submitter"] if one.get("comm") == "dd"]
    kmod.equal("processes that read", sum(one["completed"] >= 64 for one in of_dd), 4)
    kmod.equal("ns of their requests", sum(one["d2c-sum-ns"] for one in of_dd), flow["d2c-sum-ns"])
    sizes = collections.Counter(size_row(int(row["sectors"])) for row in measured.commands if row["name"] == "READ")
    kmod.equal("requests by size", counters.bins("size-d2c", "read"), dict(sizes))
    kmod.equal("all but the first have a distance", counters.sum("seek-d2c", "read"), flow["completed"] - 1)


def size_row(sectors: int) -> int:
    """The octave of a size."""
    return min(sectors.bit_length(), 15)


def latency() -> None:
    """Latency holds the controller's own, to the bin"""
    with Measured(DISK) as measured:
        kmod.reads(DISK, [i * 1 << 16 for i in range(64)], 256)
    inside = sum(
        int(row["completion_ns"]) - int(row["arrival_ns"]) for row in measured.commands if row["name"] == "READ"
    )
    flow = measured.counters.flow["read"]
    over = flow["d2c-sum-ns"] - inside
    kmod.equal("raidtrace measures no less than the controller", over >= 0, True)
    kmod.equal(f"nor 20 us per request more ({over} ns in all)", over < 20000 * flow["completed"], True)


def ranges() -> None:
    """Discards, write zeroes and flushes: bytes, sizes and latencies of the log, in a direction each"""
    limits = pathlib.Path(f"/sys/block/{DISK}/queue")
    knows = {
        name: int((limits / f"{name}_max_bytes").read_text(encoding="ascii")) for name in ("discard", "write_zeroes")
    }
    with Measured(DISK) as measured:
        disk = kmod.Disk(DISK)
        for i in range(24):
            if knows["discard"]:
                disk.discard(i * 8192, 8 << i % 6)
            disk.zero_out(i * 8192 + 4096, 8 << i % 7)
            disk.write(i * 8192, 8)
            disk.flush()
        disk.close()
    counters = measured.counters
    named = {
        "discard": ("DEALLOCATE", "DISCARD", "TRIM"),
        "write-zeroes": ("WRITE_ZEROES",),
        "flush": ("FLUSH", "SYNCHRONIZE_CACHE"),
    }
    for direction, names in named.items():
        rows = [row for row in measured.commands if row["name"] in names]
        flow = counters.flow[direction]
        if direction == "flush":
            kmod.equal("bytes of flushes", [flow["bytes-issued"], flow["bytes-completed"]], [0, 0])
        else:
            kmod.equal(f"the disk got {direction}", len(rows), 24 if knows[direction.replace("-", "_")] else 0)
            sectors = [int(row["sectors"]) for row in rows]
            kmod.equal(
                f"bytes of {direction}", [flow["bytes-issued"], flow["bytes-completed"]], 2 * [512 * sum(sectors)]
            )
            kmod.equal(f"bytes of {direction} queued", flow["bytes-queued"], 512 * sum(sectors))
            kmod.equal(f"sizes of {direction}", counters.bins("size", direction),
                       dict(collections.Counter(size_bin(one) for one in sectors)))  # fmt: skip
        kmod.equal(f"requests of {direction}", [flow["issued"] - flow["requeued"], flow["completed"]], 2 * [len(rows)])
        over = flow["d2c-sum-ns"] - sum(int(row["completion_ns"]) - int(row["arrival_ns"]) for row in rows)
        kmod.equal(f"latency of {direction}: {over} ns more than the log's", 0 <= over < 20000 * (len(rows) + 1), True)
        kmod.equal(f"latencies of {direction}", sum(counters.bins("d2c", direction).values()), len(rows))
        kmod.equal(f"bios of {direction} with a latency", sum(counters.bins("q2c", direction).values()), flow["queued"])
    cache = (limits / "write_cache").read_text(encoding="ascii").strip()
    kmod.equal(
        f"bios of flushes of a {cache} cache", counters.flow["flush"]["queued"], 24 if cache == "write back" else 0
    )
    kmod.equal("other", counters.flow["other"]["queued"], 0)


def passthrough() -> None:
    """SG_IO counts as passthrough and nowhere else"""
    with Measured(DISK) as measured:
        disk = kmod.Disk(DISK)
        for _ in range(5):
            disk.inquiry()
        disk.close()
    flow = measured.counters.flow
    inquiries = sum(row["name"] == "INQUIRY" for row in measured.commands)
    kmod.equal("the controller got them", inquiries, 5)
    kmod.equal("passthrough", flow["passthrough"]["completed"], len(measured.commands))
    kmod.equal("bytes of 5 x 36", flow["passthrough"]["bytes-completed"], 180)
    kmod.equal("reads", flow["read"]["issued"], 0)
    kmod.equal("read depth", measured.counters.bins("depth-issue", "read"), {})


def readahead_now() -> None:
    """The readahead reported is the present one"""
    path = pathlib.Path(f"/sys/block/{DISK}/queue/read_ahead_kb")
    was = path.read_text(encoding="ascii")
    with kmod.counted(DISK) as (client, target):
        path.write_text("8192", encoding="ascii")
        counted = client.counters(target).reply["readahead-sectors"]
        path.write_text(was, encoding="ascii")
    kmod.equal("sectors", counted, 16384)


def idle() -> None:
    """An idle disk's time is all spent at depth 0"""
    with Measured(DISK) as measured:
        time.sleep(2)
    kmod.equal("depths", set(measured.counters.bins("depth-time", "all")), {0})
    span = measured.counters.reply["now-ns"] - measured.counters.reply["since-ns"]
    kmod.equal("2 s and little more", 2_000_000_000 <= span < 2_100_000_000, True)


ANY_DISK = [
    readahead_now,
    idle,
    buffered_reads,
    buffered_writes,
    random_direct,
    parallel_processes,
    waits,
    latency,
    ranges,
]

if __name__ == "__main__":
    sys.exit(kmod.main(ANY_DISK if sys.argv[1:] else [*ANY_DISK, passthrough]))
