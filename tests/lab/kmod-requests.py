#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""Requests that are not plain reads and writes: flush sequences, errors, requeues, parts, those in flight at attach.

The witness is ftrace: the same block events, counted by the kernel's own event records, and diskstats.
"""

import collections
import contextlib
import os
import pathlib
import re
import sys
import threading
import time
from collections.abc import Iterator

import kmod_client as kmod

TRACING = pathlib.Path("/run/lab/tracing")
EVENTS = (
    "block_bio_queue", "block_split", "block_bio_backmerge", "block_bio_frontmerge", "block_getrq", "block_rq_merge",
    "block_rq_insert", "block_rq_issue", "block_rq_requeue", "block_rq_complete",
)  # fmt: skip


class Traced:
    """Counts of ftrace's event records of a disk in a with block: events[name], and the records themselves."""

    def __init__(self, disk: str) -> None:
        self.number = ",".join(str(part) for part in kmod.device_number(disk))
        self.records: list[tuple[str, str]] = []

    def __enter__(self) -> "Traced":
        TRACING.mkdir(exist_ok=True)
        if not (TRACING / "trace").exists():
            kmod.run(f"mount -t tracefs tracefs {TRACING}")
        (TRACING / "buffer_size_kb").write_text("16384", encoding="ascii")
        (TRACING / "trace").write_text("", encoding="ascii")
        for event in EVENTS:
            (TRACING / f"events/block/{event}/enable").write_text("1", encoding="ascii")
        return self

    def __exit__(self, *_: object) -> None:
        for event in EVENTS:
            (TRACING / f"events/block/{event}/enable").write_text("0", encoding="ascii")
        for line in (TRACING / "trace").read_text(encoding="ascii").splitlines():
            match = re.search(rf": (block_\w+): {self.number} (.*)", line)
            if match:
                self.records.append((match[1], match[2]))
        self.events = collections.Counter(name for name, _ in self.records)


# endings of the counters that bios have without requests
BIO_COUNTERS = ("-queued", "-queued-forward-sectors", "-queued-backward-sectors", "q2c-sum-ns")


def same_as_trace(counters: kmod.Counters, traced: Traced) -> None:
    """Every counter of an event is the number of ftrace's records of it."""
    for event, names in (
        ("block_bio_queue", ("queued",)),
        ("block_split", ("splits",)),
        ("block_bio_backmerge", ("back-merges",)),
        ("block_bio_frontmerge", ("front-merges",)),
        ("block_rq_merge", ("request-merges",)),
        ("block_rq_insert", ("inserted",)),
        ("block_rq_issue", ("issued",)),
        ("block_rq_requeue", ("requeued", "requeued-unissued")),
    ):
        kmod.equal(event, sum(counters.total(name) for name in names), traced.events[event])


@contextlib.contextmanager
def loop_disk() -> Iterator[str]:
    """A loop disk: it has a write cache to flush and no FUA, so FUA writes become flush sequences."""
    file = pathlib.Path(os.environ["TMPDIR"], "loop.img")
    with file.open("wb") as image:
        image.truncate(16 << 20)
    device = kmod.run(f"losetup --find --show {file}").strip()
    try:
        yield device.removeprefix("/dev/")
    finally:
        kmod.run(f"losetup -d {device}", check=False)
        file.unlink()


@contextlib.contextmanager
def scsi_disk(**parameters: object) -> Iterator[str]:
    """A disk of scsi_debug."""
    try:
        yield kmod.scsi_debug(**parameters)
    finally:
        kmod.run("modprobe -r scsi_debug", check=False)


def test_empty_flushes() -> None:
    """An empty flush is queued and ends unissued; a flush request is issued for it"""
    with loop_disk() as name, kmod.counted(name, kmod.GROUPS) as (client, target):
        disk = kmod.Disk(name)
        with Traced(name) as traced:
            for _ in range(7):
                disk.flush()
        counters = client.counters(target)
        disk.close()
    flow = counters.flow["flush"]
    names = ("queued", "issued", "completed", "unissued", "unmatched", "errors")
    kmod.equal("flushes", [flow[name] for name in names], [7, 7, 7, 7, 0, 0])
    kmod.equal("nothing else", counters.total("issued"), 7)
    same_as_trace(counters, traced)


def test_flush_sequences() -> None:
    """A FUA write to a disk without FUA is one write and one flush, completed once each"""
    with loop_disk() as name, kmod.counted(name, kmod.GROUPS) as (client, target):
        descriptor = os.open(f"/dev/{name}", os.O_RDWR | os.O_DIRECT | os.O_DSYNC)
        disk = kmod.Disk(name)
        before = kmod.diskstats(name)
        with Traced(name) as traced:
            for i in range(5):
                os.pwritev(descriptor, [memoryview(disk.buffer)[:4096]], i * 8192)
        os.close(descriptor)
        disk.close()
        counters = client.counters(target)
        after = kmod.diskstats(name)
    write, flush = counters.flow["write"], counters.flow["flush"]
    names = ("queued", "issued", "completed", "bytes-completed", "unissued", "unmatched", "errors")
    kmod.equal("writes", [write[name] for name in names], [5, 5, 5, 5 * 4096, 0, 0, 0])
    kmod.equal("flushes", flush["issued"] >= 5 and flush["issued"] == flush["completed"], True)
    kmod.equal("unmatched", counters.total("unmatched"), 0)
    kmod.equal("empty flushes that O_DSYNC adds", flush["unissued"], flush["queued"])
    # diskstats counts an empty flush among the writes as well.
    kmod.equal("diskstats' writes", after["writes"] - before["writes"], write["completed"] + flush["unissued"])
    kmod.equal("diskstats' sectors", 512 * (after["write_sectors"] - before["write_sectors"]), write["bytes-completed"])
    kmod.equal("diskstats' flushes", after["flushes"] - before["flushes"], flush["completed"])
    same_as_trace(counters, traced)


def test_discards() -> None:
    """Discards and write zeroes are directions of their own, with a size; no head moves for them"""
    with scsi_disk(dev_size_mb=64, lbpu=1, lbpws=1, delay=0) as name, kmod.counted(name, kmod.GROUPS) as (
        client,
        target,
    ):
        before = kmod.diskstats(name)
        disk = kmod.Disk(name)
        with Traced(name) as traced:
            disk.discard(0, 2048)
            disk.discard(8192, 1024)
            disk.zero_out(9216, 512)
        disk.close()
        counters = client.counters(target)
        stat = kmod.diskstats(name)
    flow = counters.flow["discard"]
    kmod.equal("discards", flow["completed"], stat["discards"] - before["discards"])
    kmod.equal("bytes", flow["bytes-completed"], 512 * (stat["discard_sectors"] - before["discard_sectors"]))
    kmod.equal("bytes requested", flow["bytes-completed"], 3072 * 512)
    zeroed = counters.flow["write-zeroes"]
    # diskstats counts write zeroes among the writes.
    kmod.equal("write zeroes", zeroed["completed"], stat["writes"] - before["writes"])
    kmod.equal("bytes of write zeroes", zeroed["bytes-completed"], 512 << 9)
    kmod.equal("write zeroes are nothing else", [counters.flow[one]["issued"] for one in ("write", "other")], [0, 0])
    kmod.equal("distances", counters.sum("seek") + counters.sum("seek-queued"), 0)
    same_as_trace(counters, traced)


def test_not_to_wait() -> None:
    """Bios that are not to wait and would have to are refused, and have no latency"""
    with scsi_disk(dev_size_mb=64, delay=0) as name, kmod.counted(name, kmod.GROUPS) as (client, target):
        pathlib.Path(f"/sys/block/{name}/queue/max_sectors_kb").write_text("64", encoding="ascii")
        disk = kmod.Disk(name)
        client.ask("target-reset", id=target["id"])
        block = memoryview(disk.buffer)[: 256 << 10]
        refused = 0
        for i in range(50):  # as io_uring does: without waiting first, then from a worker that may wait
            try:
                os.preadv(disk.descriptor, [block], i << 18, os.RWF_NOWAIT)
            except BlockingIOError:
                refused += 1
                os.preadv(disk.descriptor, [block], i << 18)
        disk.close()
        counters = client.counters(target)
    flow = counters.flow["read"]
    kmod.equal("some are refused", refused > 0, True)
    if kmod.kernel_version() >= (6, 12):  # before it is refused before there is a bio, or waits
        kmod.equal("refused", flow["refused"], refused)
    kmod.equal("queued", flow["queued"], 50 + flow["refused"])
    kmod.equal("their bytes", flow["bytes-queued"], (50 + flow["refused"]) << 18)
    kmod.equal("the others go on where the one before ended", flow["sequential-queued"], 49)
    kmod.equal("pieces with a latency", counters.sum("q2c", "read"), 50 + flow["splits"])


def test_medium_error() -> None:
    """A read that fails in its middle is one part and one error"""
    with scsi_disk(dev_size_mb=16, delay=0) as name, kmod.counted(name, kmod.GROUPS) as (client, target):
        disk = kmod.Disk(name)
        pathlib.Path("/sys/module/scsi_debug/parameters/opts").write_text("2", encoding="ascii")
        with Traced(name) as traced:
            try:
                disk.read(0x1200, 128)
            except OSError:
                pass
            else:
                raise AssertionError("the read did not fail")
        disk.close()
        counters = client.counters(target)
    flow = counters.flow["read"]
    kmod.equal("errors", flow["errors"], 1)
    kmod.equal("a part", flow["partial"], 1)
    kmod.equal("completed after it", flow["completed"] + flow["requeued"], flow["issued"])
    kmod.equal("bytes, failed ones too", flow["bytes-completed"], 128 * 512)
    completions = flow["partial"] + counters.total("completed") + counters.total("unissued")
    kmod.equal("completions", completions, traced.events["block_rq_complete"])
    same_as_trace(counters, traced)


def replayed_requeues(traced: Traced) -> tuple[int, int]:
    """Requeues of a request that was issued, and of one that was not, as ftrace's records follow each other."""
    issued, after, without = set(), 0, 0
    for name, text in traced.records:
        match = re.search(r"(\d+) \+ \d+", text)
        sector = match[1] if match else ""
        if name == "block_rq_issue":
            issued.add(sector)
        elif name == "block_rq_requeue" and sector in issued:
            issued.remove(sector)
            after += 1
        elif name == "block_rq_requeue":
            without += 1
    return after, without


def test_requeues_of_a_busy_host() -> None:
    """Requeues of commands that the host is too busy for are counted apart: after an issue, and without one"""
    for scheduler in ("none", "mq-deadline"):
        with scsi_disk(dev_size_mb=16, delay=0, every_nth=5, opts=0x8000) as name, kmod.counted(name, kmod.GROUPS) as (
            client,
            target,
        ):
            pathlib.Path(f"/sys/block/{name}/queue/scheduler").write_text(scheduler, encoding="ascii")
            disk = kmod.Disk(name)
            client.ask("target-reset", id=target["id"])
            with Traced(name) as traced:
                for i in range(60):
                    disk.read(i * 64, 8)
            disk.close()
            counters = client.counters(target)
        flow = counters.flow["read"]
        kmod.equal(f"{scheduler}: reads", flow["completed"], 60)
        kmod.equal(f"{scheduler}: some were requeued", flow["requeued"] >= 5, True)
        kmod.equal(f"{scheduler}: data that was read once", flow["bytes-issued"], 60 * 4096)
        kmod.equal(f"{scheduler}: each issued again", flow["reissued"], flow["requeued"])
        kmod.equal(f"{scheduler}: from read to read", flow["seek-forward-sectors"], 59 * 56)
        requeues = counters.total("requeued"), counters.total("requeued-unissued")
        kmod.equal(f"{scheduler}: after an issue, without one", requeues, replayed_requeues(traced))
        kmod.equal(f"{scheduler}: nothing in flight", counters.flow["all"]["in-flight"], 0)
        same_as_trace(counters, traced)


def parallel_reads(name: str, count: int) -> list[threading.Thread]:
    """Begin reads that run at the same time."""
    disks = [kmod.Disk(name) for _ in range(count)]

    def read(disk: kmod.Disk, sector: int) -> None:
        with contextlib.suppress(OSError):
            disk.read(sector, 8)
        disk.close()

    threads = [threading.Thread(target=read, args=(disk, 64 * i)) for i, disk in enumerate(disks)]
    for thread in threads:
        thread.start()
    return threads


def test_in_flight_at_attach() -> None:
    """Requests issued before attach end as unmatched and never make the depth negative"""
    with scsi_disk(dev_size_mb=16, ndelay=900_000_000) as name:
        threads = parallel_reads(name, 9)
        kmod.wait_for("reads in flight", lambda: kmod.diskstats(name)["in_flight"] == 9)
        with kmod.counted(name, kmod.GROUPS) as (client, target):
            more = parallel_reads(name, 4)
            time.sleep(0.1)
            middle = client.counters(target)
            for thread in threads + more:
                thread.join()
            counters = client.counters(target)
    kmod.equal("in flight, as far as known", middle.flow["read"]["in-flight"], 4)
    kmod.equal("unmatched", counters.flow["read"]["unmatched"], 9)
    kmod.equal("completed", counters.flow["read"]["completed"], 4)
    kmod.equal("in flight at the end", counters.flow["all"]["in-flight"], 0)


def test_reset_in_flight() -> None:
    """Requests in flight at a reset are carried over it"""
    with scsi_disk(dev_size_mb=16, ndelay=900_000_000) as name, kmod.counted(name, kmod.GROUPS) as (client, target):
        threads = parallel_reads(name, 6)
        kmod.wait_for("reads in flight", lambda: kmod.diskstats(name)["in_flight"] == 6)
        client.ask("target-reset", id=target["id"])
        middle = client.counters(target)
        for thread in threads:
            thread.join()
        counters = client.counters(target)
    flow = middle.flow["read"]
    kmod.equal("after the reset", [flow[n] for n in ("issued", "carried", "in-flight", "in-flight-max")], [0, 6, 6, 6])
    kmod.equal("resets", counters.reply["resets"], 1)
    kmod.equal("completed", counters.flow["read"]["completed"], 6)
    kmod.equal("unmatched", counters.flow["read"]["unmatched"], 0)
    kmod.equal("queued before the reset", counters.flow["read"]["queued"], 0)


def test_bio_based() -> None:
    """A bio-based disk counts bios, and has no counter of requests"""
    with kmod.mapped_disk() as (_, name), kmod.counted(name, kmod.GROUPS) as (client, target):
        before = kmod.diskstats(name)
        kmod.reads(name, [i * 128 for i in range(10)], 64)
        counters = client.counters(target)
        after = kmod.diskstats(name)
    kmod.equal("bio-based", target.get("bio-based"), True)
    flow = counters.flow["read"]
    kmod.equal("bios", flow["queued"], after["reads"] - before["reads"])
    kmod.equal("bytes", flow["bytes-queued"], 512 * (after["read_sectors"] - before["read_sectors"]))
    bios = ["queued", "bytes-queued", "splits", "refused"] + [name for name in flow if name.endswith(BIO_COUNTERS)]
    kmod.equal("counters", sorted(flow), sorted({"direction", *bios}))
    kmod.equal("histograms", {kind for kind, _ in counters.histogram} - {"seek-queued", "q2c"}, set())


if __name__ == "__main__":
    sys.exit(kmod.main())
