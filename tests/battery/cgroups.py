# SPDX-License-Identifier: GPL-2.0-or-later
"""Families whose cause is io.max, and such in which a limit is there and is none. They need the lab's variant storage."""

from __future__ import annotations

import random

from scenario import MNT, Run, Scenario, ahead, family, files, load

MIB = 1 << 20


def limited(place: Run, limit: str, **more: object) -> Run:
    """A run in a cgroup with a limit. One kernel, for a variant is built for each."""
    return place.but(kernel="6.12", variant="storage", limit=limit, **more)


def held(base: Run, direction: str, **reliefs: Run) -> Scenario:
    """A run that may be held, and the same without the limit."""
    return Scenario(base, {"io.max": base.but(limit=""), **reliefs}, direction=direction)


def direct(draw: random.Random, place: Run, direction: str, limit: str, mib: int) -> Scenario:
    command = {"io": draw.choice((4, 16, 64, 256)) << 10, "direct": 1, "pattern": draw.choice(("seq", "random"))}
    command |= {"write": int(direction == "write"), "depth": draw.choice((1, 4, 16))}
    mib = min(mib, max(1, 1000 * int(command["io"]) // MIB // int(command["depth"]) * int(command["depth"])))
    base = limited(place.but(ahead(256)), limit, command=load(**command, mib=mib))
    order, deep = {**command, "pattern": "seq"}, {**command, "depth": 32}
    return held(
        base, direction, seeks=base.but(command=load(**order, mib=mib)), direct=base.but(command=load(**deep, mib=mib))
    )


def buffered(draw: random.Random, place: Run, limit: str) -> Scenario:
    return held(limited(place.but(ahead(draw.choice((256, 4096)))), limit, command=load(mib=32)), "read")


def written_back(draw: random.Random, place: Run, limit: str, mib: int) -> Scenario:
    prepare = files(draw.choice(("ext4", "xfs")), 1, 4)
    command = f"{load(file=MNT + '/g', io=draw.choice((16, 128)) << 10, mib=mib, write=1)}; sync"
    return held(limited(place, limit, prepare=prepare, command=f"touch {MNT}/g; {command}"), "write")


@family
def io_max_bytes_direct_reads(draw: random.Random, place: Run) -> Scenario:
    return direct(draw, place, "read", f"rbps={draw.choice((1, 2, 4)) * MIB}", 8)


@family
def io_max_bytes_reads(draw: random.Random, place: Run) -> Scenario:
    return buffered(draw, place, f"rbps={draw.choice((2, 8, 20)) * MIB}")


@family
def io_max_requests_direct_reads(draw: random.Random, place: Run) -> Scenario:
    return direct(draw, place, "read", f"riops={draw.choice((10, 40, 60))}", 8)


@family
def io_max_requests_reads(draw: random.Random, place: Run) -> Scenario:
    return buffered(draw, place, f"riops={draw.choice((20, 100, 200))}")


@family
def io_max_bytes_direct_writes(draw: random.Random, place: Run) -> Scenario:
    return direct(draw, place, "write", f"wbps={draw.choice((1, 2, 4)) * MIB}", 8)


@family
def io_max_bytes_writes(draw: random.Random, place: Run) -> Scenario:
    return written_back(draw, place, f"wbps={draw.choice((2, 4, 8)) * MIB}", 32)


@family
def io_max_requests_direct_writes(draw: random.Random, place: Run) -> Scenario:
    return direct(draw, place, "write", f"wiops={draw.choice((10, 40, 60))}", 8)


@family
def io_max_requests_writes(draw: random.Random, place: Run) -> Scenario:
    return written_back(draw, place, f"wiops={draw.choice((10, 20, 40))}", 32)


@family
def io_max_above(draw: random.Random, place: Run) -> Scenario:
    """The limit is of the cgroup above that of the command."""
    base = place.but(ahead(256), within="/low", command=load(mib=24))
    return held(limited(base, f"rbps={draw.choice((4, 12)) * MIB}"), "read")


@family
def io_max_near_what_comes(draw: random.Random, place: Run) -> Scenario:
    """From less than the disk gives to more than that."""
    ahead_of = draw.choice((256, 4096))
    rate = draw.randrange(60, 160) if ahead_of == 256 else draw.randrange(240, 480)
    base = limited(place.but(ahead(ahead_of)), f"rbps={rate * MIB}", command=load(mib=128))
    return held(base, "read", readahead=base.but(ahead(16384)))


@family
def io_max_far_away(draw: random.Random, place: Run) -> Scenario:
    """A limit that no one reaches, of a reader that sleeps or waits for readahead."""
    sleep = draw.choice((0.0, 0.005))
    base = limited(place.but(ahead(256)), f"rbps={4000 * MIB} riops=100000", command=load(mib=64, sleep=sleep))
    return held(base, "read", readahead=base.but(ahead(16384)), program=base.but(command=load(mib=64)))
