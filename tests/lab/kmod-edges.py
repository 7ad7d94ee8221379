#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""Queues that change or stand still under a target, disks upon disks, a kernel without a tracepoint, a dump that is overtaken.

The checker of invariants, which checks every snapshot of every suite, reports a counter that is wrong.
"""

from __future__ import annotations

import contextlib
import copy
import errno
import fcntl
import os
import pathlib
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import kmod_client as kmod
import kmod_nullb
from kmod_invariants import Counters

RWF_HIPRI = 1
BLKRRPART = 0x125F
SECTORS = 64 * 2048  # of each part of a dm disk: 64 MiB


def polled_read(disk: kmod.Disk, sector: int) -> None:
    """A read by the hardware queue that is polled."""
    os.preadv(disk.descriptor, [memoryview(disk.buffer)[:4096]], sector << 9, RWF_HIPRI)


def test_hardware_queues() -> None:
    """Hardware queues come and go under a target: each request is counted, polled ones too"""
    with kmod_nullb.configured(size=64, submit_queues=1, poll_queues=1) as (name, here), kmod.counted(name) as (
        client,
        target,
    ):
        disk = kmod.Disk(name)
        before = kmod.diskstats(name)
        for number in range(12):
            (here / "poll_queues").write_text(str((2, 1)[number % 2]), encoding="ascii")
            for i in range(10):
                disk.read(i * 64, 8)
                polled_read(disk, i * 64)
            client.counters(target)
        disk.close()
        counters = client.counters(target)
        reads = kmod.diskstats(name)["reads"] - before["reads"]
    kmod.equal("reads of the disk", reads, 240)
    names = ("completed", "unmatched", "abandoned", "in-flight")
    kmod.equal("counted", [counters.flow["read"][n] for n in names], [240, 0, 0, 0])


def memory_of_target(**attributes: object) -> int:
    """Bytes of memory that a target of a null_blk disk takes."""

    def free() -> int:
        text = pathlib.Path("/proc/meminfo").read_text(encoding="ascii")
        return int(re.search(r"MemFree:\s+(\d+)", text)[1]) << 10

    with kmod_nullb.configured(size=64, **attributes) as (name, _), kmod.Client() as client:
        client.delete(client.add(name))  # what remains in the allocator's own lists is there now
        before = free()
        target = client.add(name)
        taken = before - free()
        client.delete(target)
    return taken


def test_shared_tags() -> None:
    """Hardware queues that share their tags hold the requests of one: a table for that many is enough"""
    # The lab has one processor and so one queue besides those that are polled.
    queues = {"hw_queue_depth": 8192, "submit_queues": 1, "poll_queues": 2}
    shared, apart = memory_of_target(**queues, shared_tag_bitmap=1), memory_of_target(**queues)
    print(f"# 3 queues: {shared >> 10} KiB with shared tags, {apart >> 10} KiB with tags of their own")
    # For each of 8,192 requests 2 places of 32 bytes, and 8 of 24 bytes for bios.
    kmod.equal("enough for those", shared > 8192 * (2 * 32 + 8 * 24), True)
    kmod.equal("not for those of each queue", apart - shared > 8192 * (2 * 32 + 8 * 24), True)


def test_frozen_queue() -> None:
    """A queue that is frozen for another scheduler: what waits is queued and not issued, and nothing is lost"""
    name = kmod.scsi_debug(dev_size_mb=16, ndelay=600_000_000)
    scheduler = pathlib.Path(f"/sys/block/{name}/queue/scheduler")
    scheduler.write_text("none", encoding="ascii")
    with kmod.counted(name) as (client, target):
        threads = [kmod_nullb.read_in_background(name, 0)]
        kmod.wait_for("a read in flight", lambda: client.counters(target).flow["read"]["in-flight"] == 1)
        switch = threading.Thread(target=lambda: scheduler.write_text("mq-deadline", encoding="ascii"))
        switch.start()  # waits until the queue is empty, and lets nobody in
        time.sleep(0.1)
        threads.append(kmod_nullb.read_in_background(name, 512))
        time.sleep(0.1)
        middle = client.counters(target).flow["read"]
        for thread in (*threads, switch):
            thread.join()
        end = client.counters(target).flow["read"]
    kmod.run("modprobe -r scsi_debug")
    names = ("queued", "issued", "in-flight", "completed")
    kmod.equal("while it is frozen", [middle[n] for n in names], [2, 1, 1, 0])
    kmod.equal("then", [end[n] for n in names], [2, 2, 0, 2])
    waited = end["q2c-sum-ns"] - end["d2c-sum-ns"]
    kmod.equal(f"the wait is in q2c, not in d2c ({waited} ns)", 300_000_000 < waited < 600_000_000, True)


def test_deep_scheduler() -> None:
    """nr_requests raised while a disk is counted: every request that a scheduler holds is counted all the same"""
    queue = pathlib.Path("/sys/block/sda/queue")
    kmod.run("modprobe -a bfq kyber-iosched", check=False)
    before = {name: (queue / name).read_text(encoding="ascii").strip() for name in ("scheduler", "nr_requests")}
    offered = before["scheduler"].replace("[", "").replace("]", "").split()
    for scheduler in [name for name in ("mq-deadline", "bfq", "kyber", "none") if name in offered]:
        with kmod.Client() as client:
            (queue / "scheduler").write_text(scheduler, encoding="ascii")
            target = client.add("sda")
            if scheduler != "none":
                (queue / "nr_requests").write_text("2048", encoding="ascii")
            witness = kmod.diskstats("sda")["reads"]
            kmod.run(
                "fio --name=deep --filename=/dev/sda --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=1900"
                " --io_size=16m --size=4g --minimal"
            )
            counters = client.counters(target)
            flow = counters.flow["read"]
            witness = kmod.diskstats("sda")["reads"] - witness
            client.delete(target)
        timed, inserted = counters.sum("i2d", "read"), flow["inserted"]
        print(f"# {scheduler}: {witness} reads, {inserted} of them inserted, the time of {timed} is known")
        kmod.equal(f"{scheduler}: reads", [flow["issued"], flow["completed"], flow["unmatched"]], [witness, witness, 0])
        kmod.equal(f"{scheduler}: times from insert to issue", timed, inserted)
    (queue / "scheduler").write_text(re.search(r"\[(.*)\]", before["scheduler"])[1], encoding="ascii")
    (queue / "nr_requests").write_text(before["nr_requests"], encoding="ascii")


def test_removed_while_open() -> None:
    """A disk whose driver has freed all of it while a file is still open is refused, and nothing of it is read"""
    configfs = pathlib.Path("/sys/kernel/config")
    kmod.run(f"modprobe null_blk nr_devices=0; mount -t configfs none {configfs}")
    disk = configfs / "nullb/gone"
    disk.mkdir()
    (disk / "memory_backed").write_text("0", encoding="ascii")
    before = set(os.listdir("/sys/block"))
    (disk / "power").write_text("1", encoding="ascii")
    (name,) = set(os.listdir("/sys/block")) - before
    with open(f"/dev/{name}", "rb", buffering=0) as file, kmod.Client() as client:
        disk.rmdir()
        try:
            client.ask("target-add", fd=file.fileno())
            raise AssertionError(f"{name} was added")
        except kmod.Refused as refusal:
            kmod.equal("refused", (refusal.errno, refusal.text), (errno.ENODEV, f"{name} is being removed"))
    kmod.run(f"umount {configfs}; modprobe -r null_blk")


def test_slow_to_open() -> None:
    """While a disk that is to be added keeps who opens it waiting, other targets are read as quickly as ever"""
    name = kmod.scsi_debug(dev_size_mb=16, ndelay=600_000_000)
    took: dict[str, float] = {}

    def timed(what: str, do: Callable[[], object]) -> None:
        begin = time.monotonic()
        do()
        took[what] = time.monotonic() - begin

    def add() -> None:
        with kmod.Client() as client:
            client.delete(client.add(name))

    with open(f"/dev/{name}", "rb") as disk, kmod.counted("sda") as (client, target):
        reread = threading.Thread(target=fcntl.ioctl, args=(disk, BLKRRPART))  # keeps it from being opened
        reread.start()
        time.sleep(0.1)
        adding = threading.Thread(target=timed, args=("adding", add))
        adding.start()
        time.sleep(0.1)
        timed("reading", lambda: client.counters(target))
        for thread in (reread, adding):
            thread.join()
    kmod.run("modprobe -r scsi_debug")
    kmod.equal(f"{took}", took["adding"] > 0.3 and took["reading"] < 0.1, True)


def test_partitions() -> None:
    """Reads of partitions are counted once for the disk, at their position on the disk"""
    name = kmod.scsi_debug(dev_size_mb=64, delay=0, num_parts=2)
    starts = []
    for part in (f"{name}1", f"{name}2"):
        start = pathlib.Path(f"/sys/block/{name}/{part}/start")
        kmod.wait_for(part, start.exists)
        kmod.wait_for(f"/dev/{part}", pathlib.Path(f"/dev/{part}").exists)
        starts.append(int(start.read_text(encoding="ascii")))
    with kmod.counted(name) as (client, target):
        first, second, whole = kmod.Disk(f"{name}1"), kmod.Disk(f"{name}2"), kmod.Disk(name)
        client.ask("target-reset", id=target["id"])
        for disk, sector in ((first, 0), (whole, starts[0] + 8), (first, 16), (second, 0), (whole, starts[1] + 8)):
            disk.read(sector, 8)
        for disk in (first, second, whole):
            disk.close()
        counters = client.counters(target)
    kmod.run("modprobe -r scsi_debug")
    flow = counters.flow["read"]
    names = ("queued", "issued", "completed", "sequential-queued", "sequential")
    kmod.equal("counted", [flow[n] for n in names], [5, 5, 5, 3, 3])
    kmod.equal("from one to the other", flow["seek-queued-forward-sectors"], starts[1] - starts[0] - 24)
    kmod.equal("at issue", flow["seek-forward-sectors"], starts[1] - starts[0] - 24)


def test_members_that_are_partitions() -> None:
    """Bios that md passes on to a partition are queued to its disk once, at their position on the disk"""
    name = kmod.scsi_debug(dev_size_mb=64, delay=0, num_parts=2)
    parts = [f"{name}1", f"{name}2"]
    for part in parts:
        kmod.wait_for(f"/dev/{part}", pathlib.Path(f"/dev/{part}").exists)
    first = int(pathlib.Path(f"/sys/block/{name}/{parts[0]}/start").read_text(encoding="ascii"))
    members = " ".join(f"/dev/{part}" for part in parts)
    kmod.run(f"modprobe raid0; mdadm --build /dev/md9 --run --level=0 --raid-devices=2 --chunk=64 {members}")
    try:
        # Without statistics md passes the very bio on.
        pathlib.Path("/sys/block/md9/queue/iostats").write_text("0", encoding="ascii")
        array = kmod.Disk("md9")
        with kmod.counted(name) as (client, target):
            direct = kmod.Disk(name)
            client.ask("target-reset", id=target["id"])
            for i in range(10):
                array.read(256 * i, 128)  # the chunks of the first member
            direct.read(first + 1280, 8)
            counters = client.counters(target)
        direct.close()
        array.close()
    finally:
        kmod.run("mdadm --stop /dev/md9; modprobe -r scsi_debug")
    flow = counters.flow["read"]
    names = ("queued", "bytes-queued", "sequential-queued", "completed")
    kmod.equal("counted", [flow[n] for n in names], [11, 10 * 65536 + 4096, 10, 11])


@contextlib.contextmanager
def dm_disk(table: str) -> Iterator[str]:
    """A dm disk by its table."""
    kmod.run(f"printf %s '{table}' | dmsetup create --noudevsync edges")
    try:
        yield kmod.run("dmsetup info --columns --noheadings --options blkdevname edges").strip()
    finally:
        kmod.run("dmsetup remove --noudevsync --retry edges")


def concatenated(disks: list[str]) -> str:
    """Table of a dm disk that is these disks, one behind the other."""
    lines = (f"{i * SECTORS} {SECTORS} linear /dev/{disk} 0" for i, disk in enumerate(disks))
    return "\n".join(lines)


def test_suspended_disk() -> None:
    """A dm disk that is suspended: bios wait in it, and the wait is in its q2c and in nobody else's"""
    lower = kmod.null_blk(nr_devices=1, gb=1)[0]
    with dm_disk(concatenated([lower])) as name, kmod.Client() as client:
        targets = [client.add(disk) for disk in (name, lower)]
        kmod.run("dmsetup suspend --nolockfs edges")
        thread = kmod_nullb.read_in_background(name, 0)
        time.sleep(0.5)
        middle = [client.counters(target).flow["read"] for target in targets]
        kmod.run("dmsetup resume --noudevsync edges")
        thread.join()
        end = [client.counters(target).flow["read"] for target in targets]
        for target in targets:
            client.delete(target)
    kmod.equal("queued while it is suspended", [flow["queued"] for flow in middle], [1, 0])
    kmod.equal("queued then", [flow["queued"] for flow in end], [1, 1])
    kmod.equal("completed below", end[1]["completed"], 1)
    kmod.equal("the wait", end[0]["q2c-sum-ns"] >= 500_000_000 and end[1]["q2c-sum-ns"] < 100_000_000, True)


def test_disks_upon_disks() -> None:
    """dm over two disks, and md over two, all counted at once: what is below sums to what is above, q2c too"""
    disks = kmod.null_blk(nr_devices=4, gb=1, irqmode=2, completion_nsec=100000)
    members = " ".join(f"/dev/{disk}" for disk in disks[2:])
    kmod.run(f"modprobe raid0; mdadm --build /dev/md9 --run --level=0 --raid-devices=2 --chunk=64 {members}")
    try:
        with dm_disk(concatenated(disks[:2])) as name, kmod.Client() as client:
            kmod.Disk("md9").close()  # the first to open it reads its partition table
            targets = {disk: client.add(disk) for disk in (*disks, name, "md9")}
            for above in (name, "md9"):
                disk = kmod.Disk(above)
                for i in range(8):  # every other one lies on both members
                    disk.read(
                        SECTORS - 64 + 64 * (i % 2) - 64 * (i // 2) if above == name else 128 * i + 64 * (i % 2), 128
                    )
                disk.close()
            counters = {disk: client.counters(target) for disk, target in targets.items()}
            for target in targets.values():
                client.delete(target)
    finally:
        kmod.run("mdadm --stop /dev/md9")
    for above, below in ((name, disks[:2]), ("md9", disks[2:])):
        flow = counters[above].flow["read"]
        lower = [counters[disk].flow["read"] for disk in below]
        kmod.equal(f"{above}: bytes", flow["bytes-queued"], 8 * 128 * 512)
        kmod.equal(f"{above}: bytes below", sum(one["bytes-completed"] for one in lower), flow["bytes-queued"])
        kmod.equal(f"{above}: every member was read", all(one["completed"] for one in lower), True)
        known = counters[above].sum("q2c", "read")
        print(f"# {above}: {flow['queued']} bios, {known} with a time, {sum(one['queued'] for one in lower)} below")
        kmod.equal(f"{above}: each bio has a time, or went on to a member", 0 < known <= flow["queued"], True)
        kmod.equal(f"{above}: 100 us each", flow["q2c-sum-ns"] >= known * 100_000, True)
        kmod.equal(f"{above}: all times below are known", [one["q2c-unknown"] for one in lower], [0, 0])


@contextlib.contextmanager
def module_without(tracepoint: str) -> Iterator[None]:
    """In place of the module a copy of it that looks for a tracepoint of a name that no kernel has: it finds none."""
    code = pathlib.Path(os.environ["RAIDTRACE_KO"]).read_bytes()
    name = tracepoint.encode() + b"\0"
    kmod.equal(f"{tracepoint} is in the module", code.count(b"\0" + name), 1)
    other = pathlib.Path(os.environ["TMPDIR"], "raidtrace.ko")
    other.write_bytes(code.replace(b"\0" + name, b"\0" + b"no" + name[2:]))
    kmod.run(f"rmmod raidtrace; insmod {other}")
    try:
        yield
    finally:
        kmod.run(f"rmmod raidtrace; insmod {os.environ['RAIDTRACE_KO']}")
        other.unlink()


def test_missing_tracepoints() -> None:
    """Without a tracepoint its counter is absent and reported as unavailable; without an essential one nothing is counted"""
    cases = {"block_split": "splits", "block_rq_insert": "inserted", "block_plug": "plugs"}
    with kmod.Client() as client:
        always = client.ask("info-get")[0].get("unavailable", [])
    for tracepoint, counter in cases.items():
        with module_without(tracepoint), kmod.Client() as client:
            missing = client.ask("info-get")[0]["unavailable"]
            kmod.equal("unavailable", sorted(missing), sorted([*always, "no" + tracepoint[2:]]))
            target = client.add("sda")
            kmod.reads("sda", [i * 4096 for i in range(10)], 512)
            counters = client.counters(target)
            client.delete(target)
            kmod.equal(
                f"{counter} is not in the reply", counter in counters.flow["read"] or counter in counters.reply, False
            )
            kmod.equal("reads are counted", counters.flow["read"]["issued"], 20)
    for tracepoint in ("block_bio_queue", "block_rq_issue", "block_rq_requeue", "block_rq_complete"):
        with module_without(tracepoint), kmod.Client() as client:
            try:
                client.add("sda")
                raise AssertionError(f"counts without {tracepoint}")
            except kmod.Refused as refusal:
                text = f"this kernel lacks the tracepoint no{tracepoint[2:]}, which raidtrace needs"
                kmod.equal(tracepoint, (refusal.errno, refusal.text), (errno.EOPNOTSUPP, text))
            kmod.equal("nothing is left", client.ask("target-get", dump=True), [])


def test_overtaken_dump() -> None:
    """A dump of targets during which one is deleted or added is marked as interrupted; others are not"""
    names = kmod.null_blk(nr_devices=64, gb=1, hw_queue_depth=16)
    with kmod.Client() as client:
        targets = [client.add(name, groups=("flow",)) for name in names[:60]]
        for target in targets:  # so that some pieces are left when the first was read
            client.set_journal(target, [(64 * number, 8) for number in range(8)])

        def interrupted(between: Callable[[], object]) -> bool:
            with kmod.Client() as other:
                return any(flags & kmod.NLM_F_DUMP_INTR for flags in other.dump_in_pieces("target-get", between))

        kmod.equal("left alone", interrupted(lambda: None), False)
        kmod.equal("one deleted before it was sent", interrupted(lambda: client.delete(targets[-1])), True)
        kmod.equal("one deleted after it was sent", interrupted(lambda: client.delete(targets[0])), True)
        kmod.equal("one added", interrupted(lambda: client.add(names[60])), True)
        kmod.equal("left alone again", interrupted(lambda: None), False)
        for target in client.ask("target-get", dump=True):
            client.delete(target)
    kmod.run("modprobe -r null_blk")


# No invariant knows the exact value of these, or any value of FREE. Other witnesses check them: ftrace, diskstats, the log.
BY_BOUNDS = {
    "seek-forward-sectors", "seek-backward-sectors", "seek-queued-forward-sectors", "seek-queued-backward-sectors",
    "d2c-sum-ns", "i2d-sum-ns", "q2c-sum-ns", "in-flight-max", "stream", "stream-queued", "ahead-queued",
    "bytes-ahead-queued", "q2c", "i2d", "seek-d2c", "seek-d2c-ns", "held-ns", "backlog-ns", "waiting-sum-ns",
}  # fmt: skip
FREE = {
    "splits", "back-merges", "front-merges", "request-merges", "inserted", "plugs", "partial",
    "errors", "unmatched", "unissued", "refused", "requeued-unissued", "bytes-completed", "q2c-unknown", "streams-alive",
    "streams-alive-queued", "streams-forgotten", "streams-forgotten-queued",
    "ra-sync-sectors", "ra-async-sectors", "ra-sync", "ra-async", "readahead-sectors", "resets",
    "id", "pid", "index", "snapshot", "waiting-unknown",
}  # fmt: skip


def falsified(reply: dict[str, Any], by: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """The snapshot with one number wrong, one at a time, and the number's name."""

    def places(tree: Any, name: str) -> Iterator[tuple[str, Any, Any]]:
        pairs = tree.items() if isinstance(tree, dict) else enumerate(tree)
        for key, value in pairs:
            known = key if isinstance(key, str) else name
            if isinstance(tree, dict) and "kind" in tree:
                known = tree["kind"]
            if key in ("first-bin", "kind") or isinstance(value, (bool, str)):
                continue
            if isinstance(value, int):
                yield known, tree, key
            elif isinstance(value, (dict, list)):
                yield from places(value, known)

    wrong = copy.deepcopy(reply)
    for name, tree, key in list(places(wrong, "")):
        tree[key] += by
        yield name, wrong
        tree[key] -= by


def test_checker() -> None:
    """The checker of invariants reports each counter that it knows when it is wrong"""
    with kmod.counted("sda", groups=kmod.GROUPS) as (client, target):
        kmod.run("echo 3 >/proc/sys/vm/drop_caches; dd if=/dev/sda of=/dev/null bs=1M count=2 status=none")
        kmod.run("dd if=/dev/zero of=/dev/sda bs=64k count=9 seek=9 conv=fsync status=none")
        kmod.run("dd if=/dev/sda of=/dev/null bs=4k count=9 skip=999 iflag=direct status=none")
        snapshot = client.counters(target)
    tried = 0
    for by, known in ((1, BY_BOUNDS | FREE), (1 << 50, FREE)):
        unreported = set()
        for name, wrong in falsified(snapshot.reply, by):
            tried += 1
            if not Counters(wrong).violations():
                unreported.add(name)
        kmod.equal(f"not reported when wrong by {by}", unreported - known, set())
    print(f"# {tried} wrong numbers", flush=True)
    kmod.equal("there were some", tried > 500, True)


if __name__ == "__main__":
    sys.exit(kmod.main())
