#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""Under load: every snapshot is consistent, nothing is lost over attach, reset, detach or a change of the queue."""

import contextlib
import os
import pathlib
import re
import subprocess
import sys
import time

import kmod_client as kmod
import kmod_nullb

WORKERS = 6


def load(disk: str) -> contextlib.AbstractContextManager[None]:
    """Processes that read and write at random until the end of the block."""
    return kmod_nullb.load([disk] * WORKERS, places=1 << 15, sectors=(*kmod_nullb.SECTORS, 2048))


def slow_null_blk(**parameters: object) -> str:
    """A disk of several hardware queues, with 0.2 ms a request."""
    return kmod.null_blk(nr_devices=1, gb=1, irqmode=2, completion_nsec=200000, hw_queue_depth=32, **parameters)[0]


def test_snapshots() -> None:
    """Every one of 300 snapshots under load holds all invariants, and deltas are never negative"""
    name = slow_null_blk()
    before = kmod.diskstats(name)
    with kmod.counted(name) as (client, target):
        last = client.counters(target)
        busy = 0
        with load(name):
            for _ in range(300):
                time.sleep(0.004)
                now = client.counters(target)
                kmod.equal("time goes on", now.reply["now-ns"] > last.reply["now-ns"], True)
                for direction in kmod.DIRECTIONS:
                    for counter, value in now.flow[direction].items():
                        if isinstance(value, int) and counter != "in-flight":
                            kmod.equal(f"{counter} grows", value >= last.flow[direction][counter], True)
                busy += now.flow["all"]["in-flight"] > 0
                last = now
        end = client.counters(target)
        after = kmod.diskstats(name)
    kmod.equal("snapshots with requests in flight", busy > 100, True)
    kmod.as_diskstats(end, before, after)
    for direction in ("read", "write"):
        flow = end.flow[direction]
        bios = flow["queued"] + flow["splits"]
        merged = flow["back-merges"] + flow["front-merges"] + flow["request-merges"]
        kmod.equal(f"{direction} bios were issued or merged", bios, flow["issued"] - flow["reissued"] + merged)
    kmod.equal("in flight at the end", end.flow["all"]["in-flight"], 0)
    kmod.equal("unmatched", end.total("unmatched"), 0)


def test_attach_and_detach() -> None:
    """A hundred times attach, read and detach under load"""
    name = slow_null_blk()
    unmatched = 0
    with kmod.Client() as client, load(name):
        for _ in range(100):
            target = client.add(name)
            time.sleep(0.002)
            counters = client.counters(target)
            unmatched += counters.total("unmatched")
            client.delete(target)
    kmod.equal("some were in flight at attach", unmatched > 0, True)


def test_resets() -> None:
    """Fifty resets under load lose no request: what they counted in pieces is what one target counted in whole"""
    name = slow_null_blk()
    fields = ("issued", "completed", "bytes-issued", "bytes-completed", "queued", "splits")
    before = kmod.diskstats(name)
    with kmod.counted(name) as (client, target):
        carried = 0
        with load(name):
            for number in range(50):
                time.sleep(0.01)
                client.ask("target-reset", id=target["id"])
                counters = client.counters(target)
                kmod.equal("resets", counters.reply["resets"], number + 1)
                carried += counters.total("carried")
        last = client.counters(target)
        client.ask("target-reset", id=target["id"])
        zero = client.counters(target)
        after = kmod.diskstats(name)
    kmod.equal("requests were carried over", carried > 0, True)
    kmod.equal("all zero", [zero.total(field) for field in fields], [0] * len(fields))
    kmod.equal("fewer than all in the last piece", last.total("completed") < after["reads"] - before["reads"], True)


def test_memory() -> None:
    """A target takes the memory that Documentation/design.rst states, rounded up to pages and not to a power of two"""
    names = kmod.null_blk(nr_devices=8, gb=1)

    def free_kib() -> int:
        kmod.run("sync; echo 3 >/proc/sys/vm/drop_caches")
        of_cpus = re.findall(r"\bcount: +(\d+)", pathlib.Path("/proc/zoneinfo").read_text(encoding="ascii"))
        free = pathlib.Path("/proc/meminfo").read_text(encoding="ascii").split("MemFree:")[1].split()[0]
        return int(free) + sum(map(int, of_cpus)) * os.sysconf("SC_PAGE_SIZE") // 1024

    with kmod.Client() as client:
        client.delete(client.add(names[0], history_ns=0))
        before = free_kib()
        targets = [client.add(name, history_ns=0) for name in names]
        each = (before - free_kib()) / len(names)
        for target in targets:
            client.delete(target)
    cpus = 1 + int(
        pathlib.Path("/sys/devices/system/cpu/possible").read_text(encoding="ascii").strip().rpartition("-")[2]
    )
    documented = 2 * 173 + 23 + 384 + 192 + 512 + cpus * 132
    kmod.equal(
        f"{each:.0f} KiB, documented {documented}, little more", documented - 16 <= each <= documented + 64, True
    )


def test_queue_changes() -> None:
    """Scheduler, each that there is, and number of requests change under load; every snapshot holds"""
    kmod.run("modprobe kyber-iosched; modprobe bfq")
    name = slow_null_blk()
    queue = pathlib.Path(f"/sys/block/{name}/queue")
    with kmod.counted(name) as (client, target):
        before = kmod.diskstats(name)
        with load(name):
            for number in range(24):
                scheduler = ("none", "mq-deadline", "kyber", "bfq")[number % 4]
                (queue / "scheduler").write_text(scheduler, encoding="ascii")
                (queue / "nr_requests").write_text(str((8, 16, 32)[number % 3]), encoding="ascii")
                time.sleep(0.03)
                client.counters(target)
        end = client.counters(target)
        after = kmod.diskstats(name)
    kmod.equal("reads", end.flow["read"]["completed"], after["reads"] - before["reads"])
    kmod.all_ended(end)


def test_depth_changes() -> None:
    """The limit of requests in flight changes under load; every snapshot is consistent, and depth never exceeds it"""
    name = kmod.scsi_debug(dev_size_mb=64, ndelay=1_000_000, max_queue=32)
    queue_depth = pathlib.Path(f"/sys/block/{name}/device/queue_depth")
    with kmod.counted(name) as (client, target):
        with kmod_nullb.load([name] * WORKERS, sectors=(8,)):
            for depth in (1, 32, 2, 4):
                queue_depth.write_text(str(depth), encoding="ascii")
                kmod.wait_for("no more", lambda most=depth: client.counters(target).flow["all"]["in-flight"] <= most)
                client.ask("target-reset", id=target["id"])
                kmod.wait_for(
                    f"as many as there may be with {depth}",
                    lambda most=min(depth, WORKERS): client.counters(target).flow["all"]["in-flight-max"] >= most,
                )
                time.sleep(0.02)
                highest = client.counters(target).flow["all"]["in-flight-max"]
                kmod.equal(f"highest depth with {depth}", highest, min(depth, WORKERS))
        client.ask("target-reset", id=target["id"])
        kmod.idle(name)
        end = client.counters(target)
    kmod.run("modprobe -r scsi_debug")
    kmod.all_ended(end)


def test_fio() -> None:
    """The counters are those of fio"""
    name = slow_null_blk(memory_backed=0)
    with kmod.counted(name) as (client, target):
        command = [
            "fio", "--name=j", f"--filename=/dev/{name}", "--rw=randrw", "--bs=4k", "--direct=1", "--ioengine=libaio",
            "--iodepth=16", "--size=64m", "--number_ios=4000", "--clocksource=clock_gettime", "--randseed=1",
            "--minimal",
        ]  # fmt: skip
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
        counters = client.counters(target)
    fields = output.strip().splitlines()[-1].split(";")
    kmod.equal("KiB read", counters.flow["read"]["bytes-completed"] >> 10, int(fields[5]))
    kmod.equal("KiB written", counters.flow["write"]["bytes-completed"] >> 10, int(fields[46]))
    kmod.equal("depth reached", counters.flow["all"]["in-flight-max"], 16)


def test_idle_module() -> None:
    """No target: no tracepoint is attached, and none is left behind"""
    name = kmod.null_blk(nr_devices=1, gb=1)[0]

    def users() -> int:
        text = pathlib.Path("/proc/modules").read_text(encoding="ascii")
        return int(next(line.split()[2] for line in text.splitlines() if line.startswith("raidtrace ")))

    with kmod.Client() as client:
        kmod.equal("users of an idle module", users(), 0)
        target = client.add(name)
        client.delete(target)
        kmod.equal("users after a target", users(), 0)
    kmod.run(f"rmmod raidtrace && insmod {os.environ['RAIDTRACE_KO']}")
    kmod.reads(name, [i * 8 for i in range(100)])


if __name__ == "__main__":
    status = kmod.main()
    kmod.run("modprobe -r null_blk", check=False)
    sys.exit(status)
