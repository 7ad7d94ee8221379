#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: --mem 512M
# lab-kernels: 6.12:sanitize
# lab-kernels-long: 7.2:sanitize-smp
"""Load, attach, detach, unload with I/O running, on a kernel that checks itself: kmod-soak.py [CYCLES [SEED [races]]]

250 cycles by default, 10 with two processors, where one takes twelve times as long (make check-long: 1,000 and 40;
make soak: 5,000 on every kernel); another seed is another load. The first report of KASAN, UBSAN, lockdep, RCU, DEBUG_OBJECTS
or a sleep in the wrong place panics the guest or is in its log, which is a failure (raidctl lab, status 126). Then
malformed messages, disks that come and go, and a scan for memory that nobody can free any more, but not with `races`: a
kernel that looks for these has no kmemleak (tests/vm/kcsan).

With two processors one cycle in five waits for RCU as a kernel does, the others are expedited (sysfs: rcu_expedited): grace
periods are half of a cycle's time, and what the module does comes closer together without them.
"""

from __future__ import annotations

import errno
import functools
import os
import pathlib
import sys
import time
from collections.abc import Callable

import kmod_client as kmod
import kmod_fuzz as fuzz
from kmod_nullb import load

SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 0
RACES = sys.argv[3:] == ["races"]
EXPEDITED = pathlib.Path("/sys/kernel/rcu_expedited")
KO = os.environ["RAIDTRACE_KO"]
CPUS = sorted(os.sched_getaffinity(0))
CYCLES = int(sys.argv[1]) if len(sys.argv) > 1 else 250 if len(CPUS) == 1 else 10
PART = 3 if len(CPUS) > 1 and len(sys.argv) < 2 else 1  # the part of the other tests that runs: a third
TELL = 250 if len(CPUS) == 1 else 10  # cycles
WAIT_S = 60


def cycle(number: int, disks: list[str], done: Callable[[], list[int]]) -> int:
    """One cycle. Returns the number of requests counted. `done`: returns the work of each process of the load."""
    if EXPEDITED.exists():  # with one processor RCU has nobody to wait for
        EXPEDITED.write_text(str(int(number % 5 != 0)), encoding="ascii")
    kmod.insert(KO)
    requests = 0
    with kmod.Client() as client:
        targets = [client.add(name) for name in disks]
        before = done()
        time.sleep(0.001 * (number % 4))
        if number % 4 and len(CPUS) > 1:  # the scheduler chooses: wait until each process has done one
            kmod.wait_for("load of each processor", lambda: all(map(int.__lt__, before, done())), WAIT_S)
        for target in targets:
            if number % 3 == 0:
                client.ask("target-reset", id=target["id"])
                time.sleep(0.001)
            requests += client.counters(target).total("issued")
        if number % 4:  # every fourth time it is unloaded with its targets
            for target in targets:
                client.delete(target)
    kmod.remove("raidtrace")
    return requests


def cycles() -> None:
    """Cycles of load, attach, detach, unload with I/O running"""
    kmod.remove("raidtrace")
    # On two processors two processes for each disk, one on either; else two that share the one there is.
    bound = [cpu for cpu in CPUS for _ in DISKS] if len(CPUS) > 1 else []
    with load(DISKS * max(2, len(CPUS)), seed=SEED, cpus=bound) as done:
        for number in range(5):  # what is allocated once is allocated now
            cycle(number, DISKS, done)
        forget_leaks()
        requests = 0
        before = done()
        for number in range(CYCLES):
            requests += cycle(number, DISKS, done)
            if number % TELL == TELL - 1 or number + 1 == CYCLES:  # what is known when the rest is cut short
                did = [now - then for then, now in zip(before, done())]
                print(f"# {number + 1} cycles, {requests} requests counted, of each process {did}", flush=True)
    kmod.insert(KO)
    kmod.equal("requests were counted", requests > CYCLES, True)
    kmod.equal("each process read and wrote", min(did) > CYCLES // 2, True)


def nonsense() -> None:
    """Malformed messages, several at a time, with I/O"""
    with load(DISKS[:1] * 2):
        errors = fuzz.storm(1000 // PART, 95, [1, 2, 3])
        fuzz.children(
            functools.partial(fuzz.adder, DISKS[0], fuzz.times(40)),
            functools.partial(fuzz.adder, DISKS[1], fuzz.times(40)),
            functools.partial(fuzz.dumper, fuzz.times(60)),
            functools.partial(fuzz.storm, 300 // PART, 96, [1, 2, 3]),
        )
    print("# " + ", ".join(f"{errno.errorcode.get(e, e)} {n}" for e, n in sorted(errors.items())), flush=True)
    kmod.delete_all()


def disks_that_go() -> None:
    """A disk removed while it is read, counted and queried, and added again"""
    hosts = pathlib.Path("/sys/bus/pseudo/drivers/scsi_debug/add_host")
    for _ in range(9 // PART):
        before = set(os.listdir("/sys/block"))
        hosts.write_text("1", encoding="ascii")
        kmod.wait_for(
            "the disk", lambda: bool(set(os.listdir("/sys/block")) - before)
        )  # pylint: disable=cell-var-from-loop
        name = (set(os.listdir("/sys/block")) - before).pop()
        kmod.wait_for("its node", lambda: os.path.exists(f"/dev/{name}"))  # pylint: disable=cell-var-from-loop
        time.sleep(1)
        with kmod.counted(name) as (client, target):
            kmod.reads(name, [i * 8 for i in range(50)])
            hosts.write_text("-1", encoding="ascii")
            kmod.wait_for("its end", lambda: client.counters(target).reply["state"] == "gone")
            kmod.equal("reads", client.counters(target).flow["read"]["completed"] >= 50, True)


def forget_leaks() -> None:
    if kmod.LEAKS.exists():
        kmod.LEAKS.write_text("clear", encoding="ascii")


def leaks() -> None:
    """No memory that nobody can free any more"""
    kmod.run("rmmod raidtrace")
    kmod.no_leaks()
    kmod.run(f"insmod {KO}")


def begin() -> list[str]:
    """Disks of modules that stay loaded to the end: kmemleak and load are to see raidtrace come and go, not them."""
    kmod.run("modprobe scsi_debug dev_size_mb=16 delay=0 add_host=0")
    return kmod.null_blk(nr_devices=2, gb=1, irqmode=2, completion_nsec=100000, hw_queue_depth=32)


if __name__ == "__main__":
    DISKS = begin()
    sys.exit(kmod.main([cycles, nonsense, disks_that_go] + ([] if RACES else [leaks])))
