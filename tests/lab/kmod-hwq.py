#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""Counters per hardware queue: requests of each, requests in flight, the CPU where they end. One processor has them all.

A guest of the lab has one processor and so one hardware queue of each kind: the other one here is polled. `smp-disk.py` has
two processors.
"""

import contextlib
import ctypes
import mmap
import os
import pathlib
import struct
import sys
from collections.abc import Iterator
from typing import Any

import kmod_client as kmod
import kmod_nullb

# Reads by a polled hardware queue: of synchronous calls no kernel from 6.1 on polls for the end, io_uring does.

SETUP, ENTER = 425, 426  # system calls
IOPOLL, GETEVENTS, OP_READ = 1, 1, 22
SQ_RING, CQ_RING, SQES = 0, 0x8000000, 0x10000000
LIBC = ctypes.CDLL(None, use_errno=True)


def _call(*arguments: object) -> int:
    result = LIBC.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"system call {arguments[0]}")
    return int(result)


class Polled:
    """A ring for one read at a time."""

    def __init__(self) -> None:
        parameters = ctypes.create_string_buffer(struct.pack("10I", 0, 0, IOPOLL, *[0] * 7), 120)
        self.ring = _call(SETUP, 1, parameters)
        self.sq, self.cq = struct.unpack_from("7I", parameters, 40), struct.unpack_from("6I", parameters, 80)
        self.submissions = mmap.mmap(self.ring, self.sq[6] + 4, offset=SQ_RING)
        self.completions = mmap.mmap(self.ring, self.cq[5] + 32, offset=CQ_RING)
        self.entries = mmap.mmap(self.ring, 64, offset=SQES)

    def read(self, descriptor: int, buffer: mmap.mmap, sector: int, sectors: int) -> None:
        """Direct read; raises OSError."""
        address = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
        size = sectors << 9
        self.entries[:] = struct.pack("=BBHiQQIIQ24x", OP_READ, 0, 0, descriptor, sector << 9, address, size, 0, 1)
        tail = struct.unpack_from("I", self.submissions, self.sq[1])[0]
        struct.pack_into("I", self.submissions, self.sq[6], 0)
        struct.pack_into("I", self.submissions, self.sq[1], tail + 1)
        _call(ENTER, self.ring, 1, 1, GETEVENTS, None, 0)
        head, mask = (struct.unpack_from("I", self.completions, self.cq[at])[0] for at in (0, 2))
        result = struct.unpack_from("=QiI", self.completions, self.cq[5] + 16 * (head & mask))[1]
        struct.pack_into("I", self.completions, self.cq[0], head + 1)
        if result != size:
            raise OSError(-result, f"a polled read of {sectors} sectors")

    def close(self) -> None:
        """Give the ring back."""
        for one in (self.submissions, self.completions, self.entries):
            one.close()
        os.close(self.ring)


@contextlib.contextmanager
def two_queues() -> Iterator[tuple[str, list[int]]]:
    """A disk with a hardware queue and a polled one, and the numbers of both."""
    with kmod_nullb.configured(size=64, submit_queues=1, poll_queues=1) as (name, _):
        yield name, sorted(int(path.name) for path in pathlib.Path(f"/sys/block/{name}/mq").iterdir())


def rows(counters: kmod.Counters) -> dict[int, dict[str, Any]]:
    """By number of the queue."""
    return {one["index"]: one for one in counters.reply.get("hwq", ())}


def test_each_queue_has_its_requests() -> None:
    """Reads and polled reads: each hardware queue counts its own, all of them end where they were issued"""
    with two_queues() as (name, numbers), kmod.Client() as client:
        kmod.equal("hardware queues", numbers, [0, 1])
        target = client.add(name, groups=kmod.GROUPS)
        disk, polled = kmod.Disk(name), Polled()
        for i in range(30):
            disk.read(8 * i, 8)
        for i in range(17):
            polled.read(disk.descriptor, disk.buffer, 8 * i, 8)
        polled.close()
        disk.close()
        counters = client.counters(target)
        client.delete(target)
    queues = rows(counters)
    names = ("issued", "completed-same-cpu", "completed-other-cpu", "completed-other-node", "returned", "carried",
             "in-flight", "in-flight-max")  # fmt: skip
    kmod.equal("queue 0", [queues[0][one] for one in names], [30, 30, 0, 0, 0, 0, 0, 1])
    kmod.equal("queue 1", [queues[1][one] for one in names], [17, 17, 0, 0, 0, 0, 0, 1])
    kmod.equal("no other queue", set(queues), {0, 1})


def test_queue_has_its_depth() -> None:
    """Eight reads at once: the only queue has the depth of the disk, its highest and over time"""
    name = kmod.null_blk(nr_devices=1, gb=1, irqmode=2, completion_nsec=2000000)[0]
    with kmod.counted(name, groups=("flow", "depth", "hwq")) as (client, target):
        disk = kmod.Disk(name)
        disk.read_together([800 * i for i in range(8)])
        disk.close()
        counters = client.counters(target)
    one, every = rows(counters)[0], counters.flow["all"]
    kmod.equal("highest depth", [one["in-flight-max"], every["in-flight-max"]], [8, 8])
    kmod.equal("depth over time", one["depth-sum-ns"], every["depth-sum-ns"])
    kmod.equal("it took its time", one["depth-sum-ns"] > 8 * 2000000, True)


def test_reset_carries_over() -> None:
    """A read is in flight when the counters are set to zero: it is carried, and ends"""
    name = kmod.null_blk(nr_devices=1, gb=1, irqmode=2, completion_nsec=300000000)[0]
    with kmod.counted(name, groups=("flow", "hwq")) as (client, target):
        thread = kmod_nullb.read_in_background(name, 0)
        kmod.wait_for("the read", lambda: client.counters(target).flow["all"]["in-flight"] == 1)
        client.ask("target-reset", id=target["id"])
        during = rows(client.counters(target))[0]
        thread.join()
        after = rows(client.counters(target))[0]
    names = ("issued", "carried", "completed-same-cpu", "in-flight", "in-flight-max")
    kmod.equal("during", [during[one] for one in names], [0, 1, 0, 1, 1])
    kmod.equal("after", [after[one] for one in names], [0, 1, 1, 0, 1])


def test_off_unless_named() -> None:
    """The group is absent unless it is named, and on a disk that receives only bios"""
    with kmod.mapped_disk() as (lower, upper):
        for disk, groups, expected in ((lower, (), False), (lower, ("hwq",), True), (upper, ("hwq",), True)):
            with kmod.counted(disk, groups) as (client, target):
                opened = kmod.Disk(disk)
                opened.read(0, 8)
                opened.close()
                counters = client.counters(target)
            kmod.equal(f"{disk} {groups}: counted", "hwq" in target["groups"] and counters.counts("hwq"), expected)
            kmod.equal(f"{disk} {groups}: rows", bool(rows(counters)), expected and disk == lower)
            kmod.equal(f"{disk} {groups}: all else is the default", len(target["groups"]) > 2, not groups)


if __name__ == "__main__":
    sys.exit(kmod.main())
