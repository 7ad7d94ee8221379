#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""Counters per hardware queue: requests of each, requests in flight, the CPU where they end. One processor has them all.

A guest of the lab has one processor and so one hardware queue of each kind: the other one here is polled. `smp-disk.py` has
two processors. Run inside the lab. Prints a line per test and totals last.
"""

import contextlib
import os
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

import kmod_client as kmod
import kmod_nullb
from kmod_polled import Polled


@contextlib.contextmanager
def two_queues() -> Iterator[tuple[str, list[int]]]:
    """A disk with a hardware queue and a polled one, and the numbers of both."""
    with kmod_nullb.configured(size=64, submit_queues=1, poll_queues=1) as (name, _):
        yield name, sorted(int(path.name) for path in pathlib.Path(f"/sys/block/{name}/mq").iterdir())


def rows(counters: kmod.Counters) -> dict[int, dict[str, Any]]:
    """By number of the queue."""
    return {one["index"]: one for one in counters.reply.get("hwq", ())}


def each_queue_has_its_requests() -> None:
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
    found = rows(counters)
    names = ("issued", "completed-same-cpu", "completed-other-cpu", "completed-other-node", "returned", "carried",
             "in-flight", "in-flight-max")  # fmt: skip
    kmod.equal("queue 0", [found[0][one] for one in names], [30, 30, 0, 0, 0, 0, 0, 1])
    kmod.equal("queue 1", [found[1][one] for one in names], [17, 17, 0, 0, 0, 0, 0, 1])
    kmod.equal("no other queue", set(found), {0, 1})


def queue_has_its_depth() -> None:
    """Eight reads at once: the only queue has the depth of the disk, its highest and over time"""
    name = kmod.null_blk(nr_devices=1, gb=1, irqmode=2, completion_nsec=2000000)[0]
    with kmod.Client() as client:
        target = client.add(name, groups=("flow", "depth", "hwq"))
        disk = kmod.Disk(name)
        disk.read_together([800 * i for i in range(8)])
        disk.close()
        counters = client.counters(target)
        client.delete(target)
    one, every = rows(counters)[0], counters.flow["all"]
    kmod.equal("highest depth", [one["in-flight-max"], every["in-flight-max"]], [8, 8])
    kmod.equal("depth over time", one["depth-sum-ns"], every["depth-sum-ns"])
    kmod.equal("it took its time", one["depth-sum-ns"] > 8 * 2000000, True)


def reset_carries_over() -> None:
    """A read is in flight when the counters are set to zero: it is carried, and ends"""
    name = kmod.null_blk(nr_devices=1, gb=1, irqmode=2, completion_nsec=300000000)[0]
    with kmod.Client() as client:
        target = client.add(name, groups=("flow", "hwq"))
        thread = kmod_nullb.read_in_background(name, 0)
        kmod.wait_for("the read", lambda: client.counters(target).flow["all"]["in-flight"] == 1)
        client.ask("target-reset", id=target["id"])
        during = rows(client.counters(target))[0]
        thread.join()
        after = rows(client.counters(target))[0]
        client.delete(target)
    names = ("issued", "carried", "completed-same-cpu", "in-flight", "in-flight-max")
    kmod.equal("during", [during[one] for one in names], [0, 1, 0, 1, 1])
    kmod.equal("after", [after[one] for one in names], [0, 1, 1, 0, 1])


def off_unless_named() -> None:
    """Without groups named it is not counted and absent; of a disk that is given bios alone it is absent"""
    lower = kmod.null_blk(nr_devices=1, gb=1)[0]
    kmod.run(f"dmsetup create --noudevsync raidtrace-test --table '0 131072 linear /dev/{lower} 0'")
    upper = next(pathlib.Path(f"/sys/block/{lower}/holders").iterdir()).name
    with kmod.Client() as client:
        for disk, groups, counted in ((lower, (), False), (lower, ("hwq",), True), (upper, ("hwq",), True)):
            target = client.add(disk, groups=groups)
            opened = kmod.Disk(disk)
            opened.read(0, 8)
            opened.close()
            counters = client.counters(target)
            kmod.equal(f"{disk} {groups}: counted", "hwq" in target["groups"] and counters.counts("hwq"), counted)
            kmod.equal(f"{disk} {groups}: rows", bool(rows(counters)), counted and disk == lower)
            kmod.equal(f"{disk} {groups}: all else is the default", len(target["groups"]) > 2, not groups)
            client.delete(target)
    kmod.run("dmsetup remove raidtrace-test; modprobe -r null_blk")


TESTS = (each_queue_has_its_requests, queue_has_its_depth, reset_carries_over, off_unless_named)

if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C.UTF-8")
    sys.exit(kmod.main(TESTS))
