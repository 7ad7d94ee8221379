#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""In a guest of lab-detectors.py: what raidtrace counts of a disk that ends requests without telling, or that grows."""

from __future__ import annotations

import pathlib
import sys

import kmod_client as kmod

UNTOLD = pathlib.Path("/sys/module/raidtrace_odd/parameters/untold")
QUEUES = pathlib.Path("/sys/module/raidtrace_odd/parameters/queues")


def test_untold() -> None:
    """Seven requests that end untold: each is abandoned when the next one has its tag"""
    kmod.wait_for("/dev/odd0", pathlib.Path("/dev/odd0").exists)
    pathlib.Path("/sys/block/odd0/queue/scheduler").write_text("none", encoding="ascii")
    names = ("issued", "completed", "abandoned", "in-flight", "unmatched")
    with kmod.counted("odd0") as (client, target):
        UNTOLD.write_text("7", encoding="ascii")
        flow = client.counters(target).flow["passthrough"]
        kmod.equal("the last may still come", [flow[name] for name in names], [7, 0, 6, 1, 0])
        disk = kmod.Disk("odd0")
        disk.read(0, 8)
        disk.close()
        counters = client.counters(target)
        flow = counters.flow["passthrough"]
        kmod.equal("after a read with the tag", [flow[name] for name in names], [7, 0, 7, 0, 0])
        kmod.equal("the read", [counters.flow["read"][name] for name in names], [1, 1, 0, 0, 0])
        kmod.equal("in flight", counters.flow["all"]["in-flight"], 0)


def test_grown() -> None:
    """Requests of hardware queues that came after the target was added are counted as all others are"""
    names = ("queued", "issued", "completed", "unmatched", "unissued", "abandoned", "in-flight")
    expected = {1: [3, 3, 3, 0, 0, 0, 0], 2: [8, 8, 8, 0, 0, 0, 0], 3: [9, 9, 9, 0, 0, 0, 0]}
    disk = kmod.Disk("odd0")
    with kmod.Client() as client:
        target = client.add("odd0")
        for queues, reads in ((1, 3), (2, 5), (3, 1)):
            QUEUES.write_text(str(queues), encoding="ascii")
            for i in range(reads):
                disk.read(8 * i, 8)
            flow = client.counters(target).flow["read"]
            kmod.equal(f"with {queues} hardware queues", [flow[name] for name in names], expected[queues])
        QUEUES.write_text("1", encoding="ascii")
        for i in range(2):
            disk.read(8 * i, 8)
        flow = client.counters(target).flow["read"]
        kmod.equal("with 1 again", [flow[name] for name in names], [11, 11, 11, 0, 0, 0, 0])
        client.delete(target)
        QUEUES.write_text("3", encoding="ascii")
        target = client.add("odd0")
        disk.read(0, 8)
        flow = client.counters(target).flow["read"]
        kmod.equal("of a target added with 3", [flow[name] for name in names], [1, 1, 1, 0, 0, 0, 0])
        client.delete(target)
        QUEUES.write_text("1", encoding="ascii")
    disk.close()


def test_many_requests() -> None:
    """Requests allowed are made as many as can be, and few again: each request is counted, whatever its tag"""
    queue = pathlib.Path("/sys/block/odd0/queue")
    disk = kmod.Disk("odd0")
    with kmod.Client() as client:
        (queue / "scheduler").write_text("mq-deadline", encoding="ascii")
        target = client.add("odd0")
        for number in ("2048", "4", "2048"):
            (queue / "nr_requests").write_text(number, encoding="ascii")
            kmod.equal("requests allowed", (queue / "nr_requests").read_text(encoding="ascii").strip(), number)
            for i in range(100):
                disk.read(8 * i, 8)
        flow = client.counters(target).flow["read"]
        kmod.equal("reads", [flow[n] for n in ("issued", "completed", "unmatched", "in-flight")], [300, 300, 0, 0])
        client.delete(target)
        (queue / "scheduler").write_text("none", encoding="ascii")
    disk.close()


if __name__ == "__main__":
    sys.exit(kmod.main())
