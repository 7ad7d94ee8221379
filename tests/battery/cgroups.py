# SPDX-License-Identifier: GPL-2.0-or-later
"""Families with the cause io.max, and families with a limit that has no effect. They need the lab's variant storage."""

from __future__ import annotations

import random

from scenario import MNT, Run, Scenario, ahead, family, files, load

MIB = 1 << 20


def limited(place: Run, limit: str, **more: object) -> Run:
    """A run in a cgroup with a limit. One kernel, for a variant is built for each."""
    return place.but(kernel="6.12", variant="storage", limit=limit, **more)


def may_be_limited(base: Run, direction: str, **reliefs: Run) -> Scenario:
    """A run with a limit that may have an effect, and the same without it."""
    return Scenario(base, {"io.max": base.but(limit=""), **reliefs}, direction=direction)


def direct(rng: random.Random, place: Run, direction: str, limit: str, mib: int) -> Scenario:
    command = dict(io=rng.choice((4, 16, 64, 256)) << 10, direct=1, pattern=rng.choice(("seq", "random")))
    command |= {"write": int(direction == "write"), "depth": rng.choice((1, 4, 16))}
    mib = min(mib, max(1, 1000 * int(command["io"]) // MIB // int(command["depth"]) * int(command["depth"])))
    base = limited(place.but(ahead(256)), limit, command=load(**command, mib=mib))
    order, deep = {**command, "pattern": "seq"}, {**command, "depth": 32}
    return may_be_limited(
        base, direction, seeks=base.but(command=load(**order, mib=mib)), direct=base.but(command=load(**deep, mib=mib))
    )


def buffered(rng: random.Random, place: Run, limit: str) -> Scenario:
    return may_be_limited(limited(place.but(ahead(rng.choice((256, 4096)))), limit, command=load(mib=32)), "read")


def written_back(rng: random.Random, place: Run, limit: str, mib: int) -> Scenario:
    prepare = files(rng.choice(("ext4", "xfs")), 1, 4)
    command = f"{load(file=MNT + '/g', io=rng.choice((16, 128)) << 10, mib=mib, write=1)}; sync"
    return may_be_limited(limited(place, limit, prepare=prepare, command=f"touch {MNT}/g; {command}"), "write")


@family
def io_max_bytes_direct_reads(rng: random.Random, place: Run) -> Scenario:
    return direct(rng, place, "read", f"rbps={rng.choice((1, 2, 4)) * MIB}", 8)


@family
def io_max_bytes_reads(rng: random.Random, place: Run) -> Scenario:
    return buffered(rng, place, f"rbps={rng.choice((2, 8, 20)) * MIB}")


@family
def io_max_requests_direct_reads(rng: random.Random, place: Run) -> Scenario:
    return direct(rng, place, "read", f"riops={rng.choice((10, 40, 60))}", 8)


@family
def io_max_requests_reads(rng: random.Random, place: Run) -> Scenario:
    return buffered(rng, place, f"riops={rng.choice((20, 100, 200))}")


@family
def io_max_bytes_direct_writes(rng: random.Random, place: Run) -> Scenario:
    return direct(rng, place, "write", f"wbps={rng.choice((1, 2, 4)) * MIB}", 8)


@family
def io_max_bytes_writes(rng: random.Random, place: Run) -> Scenario:
    return written_back(rng, place, f"wbps={rng.choice((2, 4, 8)) * MIB}", 32)


@family
def io_max_requests_direct_writes(rng: random.Random, place: Run) -> Scenario:
    return direct(rng, place, "write", f"wiops={rng.choice((10, 40, 60))}", 8)


@family
def io_max_requests_writes(rng: random.Random, place: Run) -> Scenario:
    return written_back(rng, place, f"wiops={rng.choice((10, 20, 40))}", 32)


@family
def io_max_above(rng: random.Random, place: Run) -> Scenario:
    """The limit is of the cgroup above that of the command."""
    base = place.but(ahead(256), within="/low", command=load(mib=24))
    return may_be_limited(limited(base, f"rbps={rng.choice((4, 12)) * MIB}"), "read")


@family
def io_max_near_what_comes(rng: random.Random, place: Run) -> Scenario:
    """From less than the disk gives to more than that."""
    ahead_of = rng.choice((256, 4096))
    rate = rng.randrange(60, 160) if ahead_of == 256 else rng.randrange(240, 480)
    base = limited(place.but(ahead(ahead_of)), f"rbps={rate * MIB}", command=load(mib=128))
    return may_be_limited(base, "read", readahead=base.but(ahead(16384)))


@family
def io_max_far_away(rng: random.Random, place: Run) -> Scenario:
    """A limit that no one reaches, of a reader that sleeps or waits for readahead."""
    sleep = rng.choice((0.0, 0.005))
    base = limited(place.but(ahead(256)), f"rbps={4000 * MIB} riops=100000", command=load(mib=64, sleep=sleep))
    return may_be_limited(base, "read", readahead=base.but(ahead(16384)), program=base.but(command=load(mib=64)))
