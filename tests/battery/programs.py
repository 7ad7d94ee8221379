# SPDX-License-Identifier: GPL-2.0-or-later
"""Families with the cause in the program, its files, or a concurrent load."""

from __future__ import annotations

import dataclasses
import random

from scenario import MNT, NO_SEEK, RAID0, WIDE, Run, Scenario, ahead, ceilings, family, files, load


def _streams(rng: random.Random, place: Run, number: int, mib: int) -> Scenario:
    base = place.but(ahead(rng.choice((128, 256, 512))), command=load(streams=number, mib=mib))
    wide = base.but(ahead(WIDE))
    return Scenario(base, {"readahead": wide, "streams": wide, "seeks": base.physics(NO_SEEK)})


@family
def one_reader(rng: random.Random, place: Run) -> Scenario:
    base = place.but(ahead(rng.choice((64, 128, 256, 512))), command=load(mib=rng.randrange(64, 160)))
    return Scenario(base, {"readahead": base.but(ahead(16384))})


@family
def one_reader_of_a_file(rng: random.Random, place: Run) -> Scenario:
    settings, prepare = ahead(rng.choice((128, 256))), files(rng.choice(("xfs", "ext4")), 1, 128)
    base = place.but(settings, prepare=prepare, command=f"cat {MNT}/f1 >/dev/null")
    return Scenario(base, {"readahead": base.but(ahead(8192))})


@family
def two_readers(rng: random.Random, place: Run) -> Scenario:
    return _streams(rng, place, 2, 64)


@family
def few_readers(rng: random.Random, place: Run) -> Scenario:
    return _streams(rng, place, rng.choice((3, 4, 6)), 32)


@family
def many_readers(rng: random.Random, place: Run) -> Scenario:
    return _streams(rng, place, rng.choice((8, 12, 14)), 16)


@family
def more_readers_than_streams_are_remembered(rng: random.Random, place: Run) -> Scenario:
    return _streams(rng, place, rng.choice((32, 64)), 4)


@family
def direct_one_at_a_time(rng: random.Random, place: Run) -> Scenario:
    io = rng.choice((16, 64, 128))
    command = dict(io=io << 10, mib=io, direct=1)
    base = place.but(ahead(16384), command=load(**command))
    return Scenario(base, {"direct": base.but(command=load(**command, depth=16))})


@family
def direct_few_at_a_time(rng: random.Random, place: Run) -> Scenario:
    command = dict(io=65536, mib=96, direct=1)
    base = place.but(ahead(16384), command=load(**command, depth=rng.choice((2, 3, 4))))
    return Scenario(base, {"direct": base.but(command=load(**command, depth=32))})


def _random(
    rng: random.Random, place: Run, buffered: bool, depths: tuple[int, ...], sizes: tuple[int, ...], **more: object
) -> Scenario:
    io, depth = rng.choice(sizes) << 10, rng.choice(depths)
    command = {
        "io": io,
        "mib": max(1, 250 * io >> 20),
        "direct": int(not buffered),
        "seed": rng.randrange(1000),
        **more,
    }
    base = place.but(ahead(rng.choice((256, 4096))), command=load(**command, pattern="random", depth=depth))
    in_order = base.but(command=load(**command, depth=depth))
    deeper = base.but(command=load(**{**command, "direct": 1}, pattern="random", depth=max(32, 4 * depth)))
    return Scenario(base, {"seeks": in_order, "direct": deeper})


@family
def random_one_at_a_time(rng: random.Random, place: Run) -> Scenario:
    return _random(rng, place, True, (1,), (4, 8, 16))


@family
def random_direct_one_at_a_time(rng: random.Random, place: Run) -> Scenario:
    return _random(rng, place, False, (1,), (4, 16, 64))


@family
def random_direct_deep(rng: random.Random, place: Run) -> Scenario:
    return _random(rng, place, False, (8, 16, 32), (4, 16, 64))


@family
def random_larger_than_a_request(rng: random.Random, place: Run) -> Scenario:
    scenario = _random(rng, place, True, (1,), (256, 512))
    return dataclasses.replace(scenario, reliefs={**scenario.reliefs, "readahead": scenario.base.but(ahead(16384))})


@family
def random_writes(rng: random.Random, place: Run) -> Scenario:
    scenario = _random(rng, place, False, (4, 8, 16), (4, 16), write=1, mib=24, span=8 << 30)
    base = scenario.base
    more = {"parity": base.but(profile=RAID0), "seeks": base.physics(NO_SEEK), **ceilings(base)}
    return dataclasses.replace(scenario, reliefs={**scenario.reliefs, **more}, direction="write")


@family
def strided(rng: random.Random, place: Run) -> Scenario:
    command = dict(
        io=1 << rng.choice((12, 14, 16)),
        mib=4,
        pattern="stride",
        stride=rng.choice((1, 4)) << 20,
        direct=rng.randrange(2),
    )
    base = place.but(ahead(rng.choice((256, 4096))), command=load(**command))
    in_order = base.but(command=load(**{**command, "pattern": "seq"}))
    return Scenario(base, {"seeks": in_order, "direct": base.but(command=load(**{**command, "direct": 1}, depth=16))})


@family
def backward(rng: random.Random, place: Run) -> Scenario:
    command = dict(io=rng.choice((16, 64, 128)) << 10, mib=12, direct=rng.randrange(2))
    base = place.but(ahead(4096), command=load(**command, pattern="backward"))
    deeper = base.but(command=load(**{**command, "direct": 1}, pattern="backward", depth=16))
    return Scenario(base, {"seeks": base.but(command=load(**command)), "direct": deeper})


@family
def metadata_on_the_way(rng: random.Random, place: Run) -> Scenario:
    base = place.but(ahead(16384), prepare=files("ext2", 1, 256), command=f"cat {MNT}/f1 >/dev/null")
    return Scenario(base, {"file system": base.but(prepare=files("xfs", 1, 256))})


@family
def small_files(rng: random.Random, place: Run) -> Scenario:
    mib = rng.choice((1, 2))
    base = place.but(ahead(16384), prepare=files("ext2", 48 // mib, mib), command=f"cat {MNT}/f* >/dev/null")
    one = base.but(prepare=files("ext2", 1, 48))
    return Scenario(base, {"pieces": one, "file system": one})


@family
def fsync_each(rng: random.Random, place: Run) -> Scenario:
    command = f"{load(file=MNT + '/f1', io=rng.choice((16, 64)) << 10, mib=2, write=1)}"
    base = place.but(prepare=files(rng.choice(("ext4", "xfs")), 1, 4), command=command + " sync=1")
    reported = base.physics({"controller.write_cache_reported": 1})
    return Scenario(reported, {"sync": base.but(command=command)}, direction="write")


@family
def reads_beside_a_writer(rng: random.Random, place: Run) -> Scenario:
    other = f"dd if=/dev/zero of={MNT}/w bs=1M count=3000 2>/dev/null"
    command = f"sleep 0.3; cat {MNT}/f1 >/dev/null"
    base = place.but(ahead(rng.choice((4096, 16384))), prepare=files("ext4", 1, 128), other=other, command=command)
    return Scenario(base, {"competing": base.but(other="")}, paced=0.3)


@family
def reads_beside_random_reads(rng: random.Random, place: Run) -> Scenario:
    other = "exec " + load(io=4096, mib=64, direct=1, pattern="random", depth=rng.choice((4, 8, 16)), offset=100 << 30)
    base = place.but(ahead(rng.choice((1024, 4096))), other=other, command=f"sleep 0.1; {load(mib=96)}")
    return Scenario(base, {"competing": base.but(other="")}, paced=0.1)


@family
def reads_beside_a_reader(rng: random.Random, place: Run) -> Scenario:
    other = "exec " + load(io=1 << 20, mib=4096, direct=1, depth=rng.choice((4, 8)), offset=200 << 30)
    base = place.but(ahead(4096), other=other, command=f"sleep 0.1; {load(mib=96)}")
    return Scenario(base, {"competing": base.but(other="")}, paced=0.1)


@family
def sleeps_between_reads(rng: random.Random, place: Run) -> Scenario:
    command = dict(io=1 << 18, mib=64)
    base = place.but(ahead(rng.choice((4096, 16384))), command=load(**command, sleep=rng.choice((0.003, 0.005, 0.01))))
    return Scenario(base, {"program": base.but(command=load(**command))})


@family
def sleeps_between_random_reads(rng: random.Random, place: Run) -> Scenario:
    command = dict(io=16384, mib=2, pattern="random", direct=rng.randrange(2))
    base = place.but(ahead(256), command=load(**command, sleep=rng.choice((0.02, 0.05))))
    return Scenario(base, {"program": base.but(command=load(**command))})


@family
def sleeps_between_writes(rng: random.Random, place: Run) -> Scenario:
    command = dict(io=1 << 17, mib=16, direct=1, write=1)
    base = place.but(command=load(**command, sleep=rng.choice((0.005, 0.01))))
    return Scenario(base, {"program": base.but(command=load(**command))}, direction="write")


@family
def computes_between_reads(rng: random.Random, place: Run) -> Scenario:
    command = dict(io=1 << 18, mib=24)
    base = Run(load(**command, spin=0.03), ahead(16384), profile=RAID0, kernel="6.1", real_time=True)
    return Scenario(base, {"processor": base.but(command=load(**command))})
