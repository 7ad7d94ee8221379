#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""Replies with the changes alone: merged into the reader's snapshot they must equal a whole reply, whatever others read.
"""

import contextlib
import copy
import os
import pathlib
import random
import re
import struct
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import kmod_client as kmod

Reply = dict[str, Any]
ROWS = (("flow", "direction"), ("origin", "class"), ("submitter", "index"), ("hwq", "index"))


def ask(client: kmod.Client, target: Reply, base: int | None = None) -> Reply:
    """A snapshot, of what changed since the one numbered `base` if that is given."""
    number = kmod.attribute_number("counters", "snapshot")
    raw = b"" if base is None else struct.pack("=HHQ", 12, number, base)
    return client.ask("counters-get", raw=raw, id=target["id"])[0]


def merged(before: Reply, part: Reply) -> Reply:
    """The snapshot that a partial reply makes of the one before."""
    kmod.equal("is partial", part.get("partial"), True)
    whole = copy.deepcopy(before) | {name: value for name, value in part.items() if not isinstance(value, list)}
    del whole["partial"]
    for name, key in ROWS:
        rows = {row[key]: row for row in whole.get(name, ())} | {row[key]: row for row in part.get(name, ())}
        whole[name] = list(rows.values())
    for piece in part.get("histogram", ()):
        pieces = [
            one for one in whole["histogram"] if (one["kind"], one["direction"]) == (piece["kind"], piece["direction"])
        ]
        if not pieces:
            pieces = [{"kind": piece["kind"], "direction": piece["direction"], "first-bin": 0, "counts": []}]
            whole["histogram"] += pieces
        bins = dict(enumerate(pieces[0]["counts"], pieces[0]["first-bin"]))
        bins |= dict(enumerate(piece["counts"], piece["first-bin"]))
        pieces[0] |= {"first-bin": 0, "counts": [bins.get(number, 0) for number in range(max(bins) + 1)]}
    return whole


def depth_ns(reply: Reply, direction: str) -> Any:
    """depth-sum-ns of a direction, or of all."""
    return next(one["depth-sum-ns"] for one in reply["flow"] if one["direction"] == direction)


def canonical(reply: Reply) -> Reply:
    """Without its number and moment, nothing being in flight; rows and bins by their names."""
    varying = ("snapshot", "now-ns")
    parts: Reply = {name: value for name, value in reply.items() if name not in varying and not isinstance(value, list)}
    parts["groups"] = reply["groups"]
    for name, key in ROWS:
        parts[name] = {row[key]: row for row in reply.get(name, ())}
    for one in reply.get("histogram", ()):
        bins = {one["first-bin"] + at: count for at, count in enumerate(one["counts"]) if count}
        if one["kind"] == "depth-time":
            bins[0] -= reply["now-ns"]
        if bins:
            parts[f"{one['kind']} {one['direction']}"] = bins
    return parts


def same(what: str, one: Reply, other: Reply) -> None:
    """Part by part, so that what differs can be read."""
    left, right = canonical(one), canonical(other)
    kmod.equal(f"{what}: parts", sorted(left), sorted(right))
    for name, value in left.items():
        kmod.equal(f"{what}: {name}", value, right[name])


def some_io(disk: kmod.Disk, chance: random.Random) -> None:
    """Up to four requests, here and there, small and large; sometimes none."""
    for _ in range(chance.randrange(5)):
        sector, length = chance.randrange(1 << 14), 8 << chance.randrange(6)
        if chance.random() < 0.5:
            disk.read(sector, length)
        else:
            disk.write(sector, length)


def test_equals_the_whole() -> None:
    """Two readers, one often and one seldom, each with its own snapshot: both equal the whole reply"""
    chance = random.Random(5)
    with kmod.Client() as client:
        target, disk = client.add("sda", groups=kmod.GROUPS), kmod.Disk("sda")
        often = seldom = ask(client, target)
        compared, shorter = 0, 0
        for number in range(60):
            some_io(disk, chance)
            part = ask(client, target, often["snapshot"])
            often = merged(often, part)
            whole = ask(client, target)
            same(f"snapshot {number}", often, whole)
            shorter += sum(map(len, (part.get("histogram", ()), part["flow"] if "flow" in part else ()))) < 30
            compared += len(canonical(whole))
            if number % 7 == 6:
                seldom = merged(seldom, ask(client, target, seldom["snapshot"]))
                same(f"seldom, {number}", seldom, ask(client, target))
        print(f"# {compared} parts of snapshots compared", flush=True)
        kmod.equal("most are short", shorter > 30, True)
        disk.close()
        client.delete(target)


def test_tells_what_changed_alone() -> None:
    """Nothing happened: no flow, no class, no process, and of histograms the time at the present depths alone"""
    with kmod.Client() as client:
        target, disk = client.add("sda", groups=kmod.GROUPS), kmod.Disk("sda")
        disk.read(0, 8)
        before = ask(client, target)
        part = ask(client, target, before["snapshot"])
        for name, _ in ROWS:
            kmod.equal(name, part.get(name), None)
        kmod.equal("histograms", {one["kind"] for one in part["histogram"]}, {"depth-time"})
        disk.write(8, 8)
        part = ask(client, target, before["snapshot"])
        directions = {one["direction"] for one in part["flow"]}  # and some that are next to a change
        kmod.equal("directions", (directions >= {"write", "all"}, "flush" in directions), (True, False))
        kmod.equal("sizes", [(one["direction"], one["counts"][8 - one["first-bin"]]) for one in part["histogram"]
                             if one["kind"] == "size" and one["first-bin"] <= 8], [("write", 1)])  # fmt: skip
        disk.close()
        client.delete(target)


def test_requests_that_are_held() -> None:
    """While a write is in flight without an event, its depth over time grows in partial replies as in whole ones"""
    name = kmod.scsi_debug(dev_size_mb=16, ndelay=900_000_000)
    with kmod.Client() as client:
        target, disk = client.add(name, groups=kmod.GROUPS), kmod.Disk(name)
        client.ask("target-reset", id=target["id"])
        thread = threading.Thread(target=disk.write, args=(0, 8))
        thread.start()
        kmod.wait_for("the write in flight", lambda: kmod.diskstats(name)["in_flight"] == 1)
        first = ask(client, target)
        time.sleep(0.3)
        part = ask(client, target, first["snapshot"])
        later = merged(first, part)
        thread.join()
        whole = ask(client, target)
        same("at its end", merged(later, ask(client, target, later["snapshot"])), whole)
        disk.close()
        client.delete(target)
    kmod.run("modprobe -r scsi_debug")
    spent = later["now-ns"] - first["now-ns"]
    for direction, requests in (("write", 1), ("all", 1), ("read", 0)):
        grown = depth_ns(later, direction) - depth_ns(first, direction)
        kmod.equal(f"{direction}: time at depth 1", grown, requests * spent)
    kmod.equal("rows of directions", {one["direction"] for one in part["flow"]}, {"write", "all"})


def test_is_whole_when_in_doubt() -> None:
    """A snapshot that the module does not know, or that was before a reset, gives a whole reply"""
    with kmod.Client() as client:
        target, disk = client.add("sda"), kmod.Disk("sda")
        disk.read(0, 8)
        first = ask(client, target)
        for base in (0, first["snapshot"] + 100, (1 << 64) - 1):
            kmod.equal(f"since {base}", ask(client, target, base).get("partial"), None)
        last = ask(client, target)
        client.ask("target-reset", id=target["id"])
        after = ask(client, target, last["snapshot"])
        kmod.equal("after a reset", (after.get("partial"), after["resets"]), (None, 1))
        kmod.equal("then", ask(client, target, after["snapshot"]).get("partial"), True)
        disk.write(0, 8)
        same("again", merged(after, ask(client, target, after["snapshot"])), ask(client, target))
        disk.close()
        client.delete(target)


@contextlib.contextmanager
def large_allocations() -> Iterator[list[int]]:
    """Sizes of the kernel's allocations of more than 12 KiB by this process in a with block."""
    tracing, sizes = pathlib.Path("/run/lab/tracing"), []
    tracing.mkdir(exist_ok=True)
    if not (tracing / "trace").exists():
        kmod.run(f"mount -t tracefs tracefs {tracing}")
    event = tracing / "events/kmem/kmalloc"
    (event / "filter").write_text("bytes_req > 12288", encoding="ascii")
    (tracing / "trace").write_text("", encoding="ascii")
    (event / "enable").write_text("1", encoding="ascii")
    try:
        yield sizes
    finally:
        (event / "enable").write_text("0", encoding="ascii")
        for line in (tracing / "trace").read_text(encoding="ascii").splitlines():
            if re.search(rf"-{os.getpid()} ", line):
                sizes.append(int(re.search(r"bytes_req=(\d+)", line)[1]))


def test_large_reply() -> None:
    """A whole reply of many pages needs no large piece of memory, and is the sum of the partial ones"""
    chance = random.Random(8)
    name = kmod.null_blk(nr_devices=1, gb=1, irqmode=2, completion_nsec=10000)[0]
    with kmod.Client() as client:
        target, disk = client.add(name, groups=kmod.GROUPS), kmod.Disk(name)
        first = ask(client, target)
        for number in range(1000):
            move = disk.read if number % 2 else disk.write
            move(8 * chance.randrange(1 << 17), 8 * chance.randrange(1, 64))
        part = ask(client, target, first["snapshot"])
        with large_allocations() as sizes:
            whole = ask(client, target)
        same("partial", merged(first, part), whole)
        disk.close()
        client.delete(target)
    kmod.run("modprobe -r null_blk")
    length = sum(8 * len(one["counts"]) for one in whole["histogram"])
    print(f"# {length} bytes of histograms")
    kmod.equal("more than a piece", length > 8192, True)
    kmod.equal("large allocations", sizes, [])


if __name__ == "__main__":
    sys.exit(kmod.main())
