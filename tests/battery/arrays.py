# SPDX-License-Identifier: GPL-2.0-or-later
"""Families with one cause: the queue, the array, an event; or with two causes at once."""

from __future__ import annotations

import random

from scenario import (
    CEILINGS,
    MNT,
    NO_SEEK,
    RAID0,
    RAID5,
    RAID5_NEW,
    SLOW,
    Run,
    Scenario,
    ahead,
    ceilings,
    family,
    files,
    load,
)


def faulty(place: Run, command: str, sets: dict[str, int], settings: dict[str, int], profile: str, **more: str) -> Run:
    """A run in a guest of its own, because a fault strikes once."""
    return Run(command, settings, profile=profile, kernel=place.kernel, sets=sets, alone=True, **more)


@family
def short_queue(rng: random.Random, place: Run) -> Scenario:
    base = place.but({**ahead(16384), "queue_depth": rng.choice((1, 2))}, command=load(mib=128))
    return Scenario(base, {"queue depth": base.but({"queue_depth": 254})})


@family
def short_queue_that_is_enough(rng: random.Random, place: Run) -> Scenario:
    base = place.but({**ahead(16384), "queue_depth": rng.choice((24, 32, 64))}, command=load(mib=192))
    return Scenario(base, {"queue depth": base.but({"queue_depth": 254}), **ceilings(base)})


@family
def few_requests(rng: random.Random, place: Run) -> Scenario:
    base = place.but({**ahead(16384), "nr_requests": 4}, command=load(mib=128))
    return Scenario(base, {"request slots": base.but({"nr_requests": 256})})


@family
def scheduler(rng: random.Random, place: Run) -> Scenario:
    command = dict(streams=8, io=65536, mib=3, direct=1, pattern="random")
    base = place.but({**ahead(256), "scheduler": "bfq"}, command=load(**command))
    order = {key: value for key, value in command.items() if key != "pattern"}
    deeper = base.but(command=load(**{**command, "mib": 1}, depth=8))
    in_order = base.but(command=load(**order))
    return Scenario(base, {"scheduler": base.but({"scheduler": "none"}), "seeks": in_order, "direct": deeper})


@family
def small_requests(rng: random.Random, place: Run) -> Scenario:
    base = place.but({**ahead(rng.choice((4096, 16384))), "max_sectors_kb": rng.choice((4, 8))}, command=load(mib=48))
    return Scenario(base, {"request size": base.but({"max_sectors_kb": 128}), **ceilings(base)})


@family
def misaligned(rng: random.Random, place: Run) -> Scenario:
    command = dict(io=65536, mib=96, direct=1, depth=rng.choice((4, 8)))
    base = Run(load(**command, offset=rng.choice((4096, 16384, 32768))), ahead(256), profile=RAID0, kernel=place.kernel)
    deeper = base.but(command=load(**{**command, "depth": 48}, offset=4096))
    return Scenario(base, {"alignment": base.but(command=load(**command)), "direct": deeper})


@family
def mostly_cached(rng: random.Random, place: Run) -> Scenario:
    command = f"for i in 1 2 3 4; do cat {MNT}/f1 >/dev/null; done"
    base = place.but(ahead(256), prepare=files("xfs", 1, 48), command=command)
    return Scenario(base, {"readahead": base.but(ahead(8192))})


@family
def slow_drive(rng: random.Random, place: Run) -> Scenario:
    base = Run(load(mib=256), ahead(16384), profile=SLOW, kernel=place.kernel)
    return Scenario(base, {"slow part": base.but(profile=RAID0)})


@family
def slow_drive_below_xfs(rng: random.Random, place: Run) -> Scenario:
    base = Run(f"cat {MNT}/f1 >/dev/null", ahead(16384), files("xfs", 1, 256), profile=SLOW, kernel=place.kernel)
    return Scenario(base, {"slow part": base.but(profile=RAID0)})


@family
def slow_drive_direct(rng: random.Random, place: Run) -> Scenario:
    command = dict(mib=256, io=65536, direct=1)
    base = Run(load(**command, depth=rng.choice((8, 16))), ahead(256), profile=SLOW, kernel=place.kernel)
    return Scenario(base, {"slow part": base.but(profile=RAID0), "direct": base.but(command=load(**command, depth=64))})


@family
def degraded(rng: random.Random, place: Run) -> Scenario:
    sets = {"array.drives": 3, "fault.remove_member": 2, "fault.remove_ms": 20}
    command = load(mib=4, io=65536, direct=1, streams=8, pattern="random")
    base = faulty(place, command, sets, ahead(256), RAID5)
    return Scenario(base, {"degraded": base.but(sets={"array.drives": 3}), "seeks": base.physics(NO_SEEK)})


@family
def rebuild(rng: random.Random, place: Run) -> Scenario:
    sets = {"fault.remove_member": 2, "fault.remove_ms": 20, "fault.replace_ms": 30}
    base = faulty(place, "sleep 1; " + load(mib=256, io=1 << 20, direct=1), sets, ahead(256), RAID5_NEW)
    return Scenario(base, {"degraded": base.but(sets={}), "rebuild": base.but(sets={})}, paced=1)


@family
def lost_command(rng: random.Random, place: Run) -> Scenario:
    settings = ahead(rng.choice((256, 4096)))
    sets = {"fault.lose_command": rng.randrange(150, 500)}
    base = faulty(place, load(mib=96), sets, settings, RAID0, interval="200ms")
    return Scenario(base, {"reset": base.but(sets={})})


@family
def lost_command_of_a_writer(rng: random.Random, place: Run) -> Scenario:
    sets = {"fault.lose_command": rng.randrange(150, 300)}
    base = faulty(place, load(mib=48, write=1, direct=1), sets, {}, RAID0, interval="200ms")
    return Scenario(base, {"reset": base.but(sets={})}, direction="write")


@family
def medium_errors(rng: random.Random, place: Run) -> Scenario:
    lba = 8 * rng.randrange(2000, 5000)
    sets = {"fault.medium_lba": lba, "fault.medium_command": 60, "fault.medium_sectors": 64}
    base = faulty(place, load(mib=32, io=65536, direct=1), sets, ahead(256), RAID0)
    deeper = base.but(command=load(mib=32, io=65536, direct=1, depth=16))
    return Scenario(base, {"errors": base.but(sets={}), "direct": deeper})


@family
def controller_ceiling(rng: random.Random, place: Run) -> Scenario:
    base = place.but(ahead(rng.choice((8192, 16384))), command=load(mib=256))
    return Scenario(base, ceilings(base), remedies=dict.fromkeys(CEILINGS, base.but(ahead(32768))))


@family
def drives_ceiling(rng: random.Random, place: Run) -> Scenario:
    sets = {"array.drives": rng.choice((2, 3))}
    base = Run(load(mib=128), ahead(4096), profile=RAID0, kernel=place.kernel, sets=sets)
    return Scenario(base, ceilings(base), remedies=dict.fromkeys(CEILINGS, base.but(ahead(8192))))


@family
def writes_in_order(rng: random.Random, place: Run) -> Scenario:
    command = dict(mib=192, io=1 << 20, direct=1, write=1)
    base = place.but(command=load(**command, depth=rng.choice((2, 4, 8))))
    deeper = base.but(command=load(**command, depth=32))
    reliefs = {**ceilings(base), "parity": base.but(profile=RAID0), "direct": deeper}
    return Scenario(base, reliefs, direction="write")


@family
def readahead_changed_meanwhile(rng: random.Random, place: Run) -> Scenario:
    command = f"(sleep {rng.choice((0.3, 0.5))}; blockdev --setra 4096 /dev/sda) & {load(mib=256)}; wait"
    base = place.but(ahead(256), command=command)
    at_once = base.but(ahead(4096), command=load(mib=256))
    return Scenario(base, {"readahead": at_once, "changed": at_once})


@family
def idle_before(rng: random.Random, place: Run) -> Scenario:
    lead = rng.choice((0.5, 1.0, 2.0))
    base = place.but(ahead(256), command=load(mib=96, lead=lead))
    return Scenario(base, {"readahead": base.but(ahead(16384))}, paced=lead)


@family
def idle_before_and_after_direct(rng: random.Random, place: Run) -> Scenario:
    command = dict(io=65536, mib=48, direct=1, lead=0.5, tail=rng.choice((0.5, 1.0)))
    base = place.but(ahead(256), command=load(**command))
    return Scenario(base, {"direct": base.but(command=load(**command, depth=16))}, paced=0.5 + float(command["tail"]))


@family
def readahead_and_queue_depth(rng: random.Random, place: Run) -> Scenario:
    base = place.but({**ahead(256), "queue_depth": 1}, command=load(mib=64))
    both = base.but({**ahead(16384), "queue_depth": 254})
    return Scenario(base, {"readahead": both, "queue depth": both})


@family
def page_faults(rng: random.Random, place: Run) -> Scenario:
    code = (
        "import mmap,os;h=os.open('/dev/sda',os.O_RDONLY);m=mmap.mmap(h,96<<20,prot=1);"
        "sum(m[a] for a in range(0,96<<20,4096))"
    )
    base = place.but(ahead(rng.choice((128, 256))), command=f'python3 -c "{code}"')
    return Scenario(base, {"readahead": base.but(ahead(8192))})


@family
def asks_for_more_ahead(rng: random.Random, place: Run) -> Scenario:
    code = (
        "import os;h=os.open('/dev/sda',os.O_RDONLY);os.posix_fadvise(h,0,0,os.POSIX_FADV_SEQUENTIAL);"
        "[os.read(h,131072) for _ in range(768)]"
    )
    base = place.but(ahead(256), command=f'python3 -c "{code}"')
    return Scenario(base, {"readahead": base.but(ahead(16384))})


@family
def buffered_copy(rng: random.Random, place: Run) -> Scenario:
    base = place.but(ahead(256), prepare=files("ext4", 1, 96), command=f"cp {MNT}/f1 {MNT}/g; sync")
    return Scenario(base, {"readahead": base.but(ahead(8192)), **ceilings(base)})


@family
def lazy_inode_tables(rng: random.Random, place: Run) -> Scenario:
    prepare = files("ext4-lazy", 1, 64).replace("; sleep 60", "")
    command = f"sleep 10; for i in 1 2 3; do cat {MNT}/f1 >/dev/null; echo 1 >/proc/sys/vm/drop_caches; done"
    base = place.but(ahead(4096), prepare=prepare, command=command)
    return Scenario(base, {"competing": base.but(prepare=files("ext4", 1, 64))}, paced=10)
