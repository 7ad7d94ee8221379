# SPDX-License-Identifier: GPL-2.0-or-later
"""Families on disks of today: NVMe, a cloud's volume, virtio and SATA, with and without limits of their rate."""

from __future__ import annotations

import random

from scenario import MNT, Run, Scenario, ahead, family, files, load

NVME, AZURE, VIRTIO, SATA, SSD = "nvme-970pro", "nvme-azure", "virtio-capped", "sata-hdd-7200", "sata-ssd"
FOUR = "nvme-4"  # of which the first is used
FLASH = (NVME, AZURE, VIRTIO)
KERNELS = ("6.1", "7.2")
UNLIMITED = {"limit.iops": 10_000_000, "limit.bytes_s": 20_000_000_000}
FAST_FLASH = {"flash.read_ns": 4000, "flash.channels": 256, "link.latency_ns": 2000, "link.bytes_s": 20_000_000_000}
FAST_PLATTER = {"drive.media_outer_kib_s": 781_248, "drive.media_inner_kib_s": 371_092,
                "drive.interface_kib_s": 2_148_436, "drive.rpm": 30_000}  # fmt: skip
NO_SEEK = {"drive.seek_track_us": 0, "drive.seek_average_us": 0, "drive.seek_full_us": 0, "drive.rpm": 30_000}


def disk(rng: random.Random, place: Run, *profiles: str, **sets: int) -> Run:
    """A disk and a kernel; the disk of place if it is one of the profiles, or a SATA SSD, or one of four NVMe drives, in the
    place of flash. sets: keys with _ for the dot; limits of a profile are lifted unless they are named."""
    chosen, only = rng.choice(profiles), place.profile
    stands_in = (only == SSD and profiles == FLASH and not sets) or (only == FOUR and NVME in profiles)
    profile = only if only in profiles or stands_in else chosen
    lifted = UNLIMITED if profile in (*FLASH, FOUR) else {}
    named = {key.replace("_", ".", 1): value for key, value in sets.items()}
    return Run("", profile=profile, kernel=rng.choice(KERNELS), sets={**lifted, **named})


def free(run: Run) -> Run:
    """The same without limits."""
    return run.physics(UNLIMITED)


def doubled(run: Run) -> Run:
    """The same with limits twice as high; a burst stays."""
    return run.physics({key: 2 * int(run.sets[key]) for key in UNLIMITED if key in run.sets})


def throttled(base: Run, *, direction: str = "read", **reliefs: Run) -> Scenario:
    """A limit of the disk is a cause; its figure is for a limit twice as high."""
    return Scenario(base, {"throttled": free(base), **reliefs}, 0.0, direction, {"throttled": doubled(base)})


@family
def iops_limit(rng: random.Random, on: Run) -> Scenario:
    iops, depth, io = rng.choice((60, 300, 1000, 3000)), rng.choice((1, 1, 4, 16, 32)), rng.choice((4096, 16384))
    place = disk(rng, on, *FLASH, limit_iops=iops, limit_burst_ios=rng.choice((1, 1, iops // 4)))
    command = dict(io=io, mib=max(1, int(iops * 1.5) * io >> 20), direct=1, pattern="random")
    base = place.but(ahead(256), command=load(**command, depth=depth))
    return throttled(base, direct=base.but(command=load(**command, depth=8 * depth)))


@family
def iops_limit_of_writes(rng: random.Random, on: Run) -> Scenario:
    iops, depth = rng.choice((100, 500, 2000)), rng.choice((1, 4, 16))
    place = disk(rng, on, *FLASH, limit_iops=iops)
    command = dict(io=4096, mib=max(1, int(iops * 1.5) >> 8), direct=1, write=1, pattern="random", span=1 << 28)
    base = place.but(command=load(**command, depth=depth))
    deeper = base.but(command=load(**command, depth=8 * depth))
    return throttled(base, direction="write", direct=deeper)


@family
def iops_limit_of_reads_in_order(rng: random.Random, on: Run) -> Scenario:
    iops = rng.choice((60, 200))
    place = disk(rng, on, AZURE, VIRTIO, limit_iops=iops)
    base = place.but(ahead(rng.choice((256, 512))), command=load(mib=max(8, iops // 4)))
    return Scenario(base, {"throttled": free(base), "readahead": base.but(ahead(16384)),
                           "request size": base.but(ahead(16384))}, remedies={"throttled": doubled(base)})  # fmt: skip


@family
def bandwidth_limit(rng: random.Random, on: Run) -> Scenario:
    mb = rng.choice((5, 20, 60, 125))
    place = disk(rng, on, *FLASH, limit_bytes_s=mb * 1_000_000)
    base = place.but(ahead(rng.choice((256, 1024, 8192))), command=load(mib=max(8, mb * 2)))
    return throttled(base, readahead=base.but(ahead(16384)))


@family
def bandwidth_limit_direct(rng: random.Random, on: Run) -> Scenario:
    mb, io, depth = rng.choice((10, 50, 200)), rng.choice((16384, 65536, 262144)), rng.choice((1, 2, 8, 32))
    place = disk(rng, on, *FLASH, limit_bytes_s=mb * 1_000_000)
    command = dict(io=io, mib=max(8, mb), direct=1, pattern=rng.choice(("random", "seq")))
    base = place.but(ahead(256), command=load(**command, depth=depth))
    return throttled(base, direct=base.but(command=load(**command, depth=8 * depth)))


@family
def bandwidth_limit_of_writes(rng: random.Random, on: Run) -> Scenario:
    mb, depth = rng.choice((10, 50, 200)), rng.choice((1, 4, 16))
    place = disk(rng, on, *FLASH, limit_bytes_s=mb * 1_000_000)
    command = dict(io=1 << rng.choice((16, 18, 20)), mib=max(8, mb), direct=1, write=1)
    base = place.but(command=load(**command, depth=depth))
    deeper = base.but(command=load(**command, depth=4 * depth))
    return throttled(base, direction="write", direct=deeper)


@family
def readers_share_a_limit(rng: random.Random, on: Run) -> Scenario:
    place, number = disk(rng, on, AZURE, VIRTIO, limit_bytes_s=rng.choice((30, 90)) * 1_000_000), rng.choice((3, 8))
    base = place.but(ahead(rng.choice((256, 2048))), command=load(streams=number, mib=96 // number))
    return throttled(base, readahead=base.but(ahead(8192)))


@family
def copy_within_a_limit(rng: random.Random, on: Run) -> Scenario:
    """Reads and writes of one command share the limit."""
    place = disk(rng, on, AZURE, VIRTIO, limit_bytes_s=rng.choice((20, 60)) * 1_000_000)
    base = place.but(ahead(256), prepare=files("ext4", 1, 48), command=f"cp {MNT}/f1 {MNT}/g; sync")
    return throttled(base, readahead=base.but(ahead(8192)))


@family
def buffered_writes_to_a_limit(rng: random.Random, on: Run) -> Scenario:
    place = disk(rng, on, AZURE, VIRTIO, limit_bytes_s=rng.choice((20, 60)) * 1_000_000)
    command = f"dd if=/dev/zero of={MNT}/w bs=1M count=64 2>/dev/null; sync"
    base = place.but(prepare=files(rng.choice(("ext4", "xfs")), 1, 1), command=command)
    return throttled(base, direction="write")


@family
def both_limits_of_a_volume(rng: random.Random, on: Run) -> Scenario:
    io, depth = rng.choice((4096, 16384, 131072)), rng.choice((1, 4, 32))
    place = disk(rng, on, VIRTIO, limit_iops=3000, limit_bytes_s=131_072_000)
    command = dict(io=io, mib=4 if io == 4096 else 32, direct=1, pattern="random")
    base = place.but(ahead(256), command=load(**command, depth=depth))
    return throttled(base, direct=base.but(command=load(**command, depth=8 * depth)))


@family
def flash_one_at_a_time(rng: random.Random, on: Run) -> Scenario:
    io = rng.choice((4096, 16384, 65536))
    command = dict(io=io, mib=max(2, 500 * io >> 20), direct=1, pattern=rng.choice(("random", "seq")))
    place, depth = disk(rng, on, *FLASH), rng.choice((1, 2))
    base = place.but(ahead(256), command=load(**command, depth=depth))
    return Scenario(base, {"direct": base.but(command=load(**command, depth=16))})


@family
def flash_deep(rng: random.Random, on: Run) -> Scenario:
    io = rng.choice((4096, 16384))
    command = dict(io=io, mib=max(16, rng.choice((8000, 30_000)) * io >> 20), direct=1, pattern="random")
    base = disk(rng, on, NVME).but(ahead(256), command=load(**command, depth=rng.choice((32, 64, 128))))
    deeper = base.but(command=load(**command, depth=256))
    return Scenario(base, {"direct": deeper, "device": base.physics(FAST_FLASH)}, remedies={"device": deeper})


@family
def flash_writes_deep(rng: random.Random, on: Run) -> Scenario:
    command = dict(io=rng.choice((4096, 65536)), mib=128, direct=1, write=1, pattern="random", span=1 << 30)
    base = disk(rng, on, NVME).but(command=load(**command, depth=rng.choice((16, 64))))
    faster = base.physics({**FAST_FLASH, "flash.program_ns": 10_000})
    deeper = base.but(command=load(**command, depth=256))
    return Scenario(base, {"device": faster, "direct": deeper}, direction="write", remedies={"device": deeper})


@family
def flash_at_the_rate_of_its_link(rng: random.Random, on: Run) -> Scenario:
    base = disk(rng, on, NVME).but(ahead(rng.choice((4096, 16384))), command=load(mib=1024, io=1 << 20))
    more = base.but(ahead(32768))
    return Scenario(base, {"readahead": more, "device": base.physics(FAST_FLASH)}, remedies={"device": more})


@family
def flash_small_readahead(rng: random.Random, on: Run) -> Scenario:
    base = disk(rng, on, *FLASH).but(ahead(rng.choice((32, 64, 128, 256))), command=load(mib=96))
    return Scenario(base, {"readahead": base.but(ahead(8192))})


@family
def file_on_flash(rng: random.Random, on: Run) -> Scenario:
    place = disk(rng, on, *FLASH)
    base = place.but(ahead(rng.choice((64, 256))), prepare=files(rng.choice(("xfs", "ext4")), 1, 96),
                     command=f"cat {MNT}/f1 >/dev/null")  # fmt: skip
    return Scenario(base, {"readahead": base.but(ahead(8192))})


@family
def mapped_reads(rng: random.Random, on: Run) -> Scenario:
    """Pages of a mapping in random order: readahead fetches around each fault."""
    sectors = rng.choice((256, 2048, 16384, 131072))
    place = disk(rng, on, *FLASH, **({"limit_bytes_s": 460_000_000} if rng.random() < 0.5 else {}))
    command = dict(io=4096, mib=2 if sectors <= 2048 else 1, pattern="random", map=1, span=1 << 30)
    base = place.but(ahead(sectors), command=load(**command))
    random_order = base.but(command=load(**command, advise="random"))
    limited = "limit.bytes_s" in place.sets and place.sets["limit.bytes_s"] != UNLIMITED["limit.bytes_s"]
    reliefs = {"read amplification": random_order, **({"throttled": free(base)} if limited else {})}
    return Scenario(base, reliefs, remedies={"throttled": doubled(base)} if limited else {})


@family
def mapped_reads_in_order(rng: random.Random, on: Run) -> Scenario:
    base = disk(rng, on, *FLASH).but(ahead(rng.choice((64, 128, 256))), command=load(mib=64, map=1, io=65536))
    return Scenario(base, {"readahead": base.but(ahead(8192))})


@family
def flash_program_sleeps(rng: random.Random, on: Run) -> Scenario:
    command = dict(io=rng.choice((4096, 65536)), mib=2, direct=rng.randrange(2), pattern=rng.choice(("random", "seq")))
    base = disk(rng, on, *FLASH).but(ahead(256), command=load(**command, sleep=rng.choice((0.001, 0.003, 0.01))))
    return Scenario(base, {"program": base.but(command=load(**command))})


@family
def paced_below_a_limit(rng: random.Random, on: Run) -> Scenario:
    """A program that asks for a part of what the volume would give."""
    place = disk(rng, on, VIRTIO, AZURE, limit_bytes_s=50_000_000)
    part = rng.choice((0.3, 0.6))
    command = dict(io=1 << 18, mib=32, direct=1)
    base = place.but(command=load(**command, sleep=round((1 << 18) / 50e6 * (1 / part - 1), 5)))
    return Scenario(base, {"program": base.but(command=load(**command)), "throttled": free(base)},
                    remedies={"throttled": doubled(base)})  # fmt: skip


@family
def flash_few_requests(rng: random.Random, on: Run) -> Scenario:
    """Slots that many threads wait for."""
    place = disk(rng, on, NVME, AZURE)
    command = dict(io=4096, mib=12, direct=1, pattern="random", depth=rng.choice((16, 32)))
    base = place.but({"nr_requests": 4, "scheduler": "none"}, command=load(**command))
    return Scenario(base, {"request slots": base.but({"nr_requests": 256})})


@family
def fsync_on_a_volume(rng: random.Random, on: Run) -> Scenario:
    command = f"{load(file=MNT + '/f1', io=rng.choice((4, 16)) << 10, mib=1, write=1)}"
    base = disk(rng, on, VIRTIO, volume_flush_ns=rng.choice((1_000_000, 4_000_000))).but(
        prepare=files(rng.choice(("ext4", "xfs")), 1, 4), command=command + " sync=1")  # fmt: skip
    return Scenario(base, {"sync": base.but(command=command)}, direction="write")


@family
def flash_beside_random_reads(rng: random.Random, on: Run) -> Scenario:
    other = "exec " + load(io=4096, mib=400, direct=1, pattern="random", depth=rng.choice((32, 64)), offset=20 << 30)
    command = dict(io=4096, mib=16, direct=1, pattern="random", lead=0.1)
    base = disk(rng, on, NVME).but(ahead(256), other=other, command=load(**command, depth=8))
    return Scenario(
        base, {"competing": base.but(other=""), "direct": base.but(command=load(**command, depth=64))}, paced=0.1
    )


@family
def volume_beside_a_reader(rng: random.Random, on: Run) -> Scenario:
    place = disk(rng, on, VIRTIO, AZURE, limit_bytes_s=rng.choice((50, 125)) * 1_000_000)
    other = "exec " + load(io=1 << 20, mib=4096, direct=1, depth=4, offset=20 << 30)
    base = place.but(ahead(rng.choice((256, 2048))), other=other, command=f"sleep 0.1; {load(mib=24)}")
    reliefs = {"competing": base.but(other=""), "throttled": free(base)}
    return Scenario(base, reliefs, paced=0.1, remedies={"throttled": doubled(base)})


@family
def platter(rng: random.Random, on: Run) -> Scenario:
    base = disk(rng, on, SATA).but(ahead(rng.choice((256, 4096, 16384))), command=load(mib=192))
    more = base.but(ahead(16384))
    return Scenario(base, {"readahead": more, "device": base.physics(FAST_PLATTER)}, remedies={"device": more})


@family
def platter_file(rng: random.Random, on: Run) -> Scenario:
    base = disk(rng, on, SATA).but(ahead(rng.choice((256, 1024))), prepare=files(rng.choice(("ext4", "xfs")), 1, 128),
                                   command=f"cat {MNT}/f1 >/dev/null")  # fmt: skip
    more = base.but(ahead(16384))
    return Scenario(base, {"readahead": more, "device": base.physics(FAST_PLATTER)}, remedies={"device": more})


@family
def platter_direct(rng: random.Random, on: Run) -> Scenario:
    io = rng.choice((65536, 262144, 1 << 20))
    command = dict(io=io, mib=96, direct=1)
    base = disk(rng, on, SATA).but(command=load(**command, depth=rng.choice((1, 2, 8))))
    deeper = base.but(command=load(**command, depth=32))
    return Scenario(base, {"direct": deeper, "device": base.physics(FAST_PLATTER)}, remedies={"device": deeper})


@family
def sata_random(rng: random.Random, on: Run) -> Scenario:
    command = dict(io=rng.choice((4096, 16384)), mib=2, direct=1)
    place, depth = disk(rng, on, SATA), rng.choice((1, 4, 16))
    base = place.but(ahead(256), command=load(**command, pattern="random", depth=depth))
    return Scenario(base, {"seeks": base.but(command=load(**command)),
                           "direct": base.but(command=load(**command, pattern="random", depth=32)),
                           "device": base.physics(NO_SEEK)})  # fmt: skip


@family
def sata_two_readers(rng: random.Random, on: Run) -> Scenario:
    number = rng.choice((2, 4, 8))
    base = disk(rng, on, SATA).but(ahead(rng.choice((128, 256, 1024))), command=load(streams=number, mib=96 // number))
    return Scenario(base, {"readahead": base.but(ahead(4096)), "seeks": base.physics(NO_SEEK),
                           "streams": base.but(ahead(4096))})  # fmt: skip


@family
def sata_program_sleeps(rng: random.Random, on: Run) -> Scenario:
    command = dict(io=1 << 18, mib=48)
    base = disk(rng, on, SATA).but(ahead(2048), command=load(**command, sleep=rng.choice((0.002, 0.005))))
    return Scenario(base, {"program": base.but(command=load(**command))})


@family
def sata_fsync(rng: random.Random, on: Run) -> Scenario:
    command = f"{load(file=MNT + '/f1', io=16 << 10, mib=1, write=1)}"
    base = disk(rng, on, SATA).but(prepare=files(rng.choice(("ext4", "xfs")), 1, 4), command=command + " sync=1")
    return Scenario(base, {"sync": base.but(command=command)}, direction="write")


@family
def sata_mapped_reads(rng: random.Random, on: Run) -> Scenario:
    command = dict(io=4096, mib=1, pattern="random", map=1, span=1 << 30)
    base = disk(rng, on, SATA).but(ahead(rng.choice((256, 8192, 65536))), command=load(**command))
    return Scenario(base, {"read amplification": base.but(command=load(**command, advise="random")),
                           "seeks": base.physics(NO_SEEK)})  # fmt: skip


@family
def discards_beside_reads(rng: random.Random, on: Run) -> Scenario:
    """A file system that is trimmed while a program reads."""
    other = "while :; do blkdiscard -f -o 68719476736 -l 1073741824 /dev/sda; sleep 0.002; done"
    command = dict(io=4096, mib=4, direct=1, pattern="random", lead=0.1)
    base = disk(rng, on, NVME, VIRTIO).but(ahead(256), other=other, command=load(**command, depth=rng.choice((1, 8))))
    return Scenario(base, {"discard": base.but(other=""), "competing": base.but(other=""),
                           "direct": base.but(command=load(**command, depth=64))}, paced=0.1)  # fmt: skip


@family
def mixed_at_an_iops_limit(rng: random.Random, on: Run) -> Scenario:
    """Reads and writes of one command, at random places, share a limit of IOPS."""
    iops, depth = rng.choice((300, 1000, 3000)), rng.choice((1, 4, 16))
    place = disk(rng, on, AZURE, VIRTIO, limit_iops=iops)
    command = dict(io=4096, mib=max(1, iops >> 8), direct=1, pattern="random", span=1 << 30, depth=depth)
    both, deeper = (
        f"{load(**how)} & {load(**how, write=1, offset=8 << 30)}; wait"
        for how in (command, {**command, "depth": 8 * depth})
    )
    base = place.but(ahead(256), command=both)
    return throttled(base, direct=base.but(command=deeper))


@family
def flash_beside_a_writer(rng: random.Random, on: Run) -> Scenario:
    other = "exec " + load(io=65536, mib=4096, direct=1, write=1, depth=rng.choice((16, 32)), offset=20 << 30)
    command = dict(io=4096, mib=8, direct=1, pattern="random", lead=0.1)
    base = disk(rng, on, NVME).but(ahead(256), other=other, command=load(**command, depth=rng.choice((1, 4))))
    return Scenario(base, {"competing": base.but(other=""), "direct": base.but(command=load(**command, depth=64))},
                    paced=0.1)  # fmt: skip


@family
def flash_program_sleeps_between_writes(rng: random.Random, on: Run) -> Scenario:
    command = dict(
        io=rng.choice((4096, 65536)), mib=2, direct=1, write=1, span=1 << 28, pattern=rng.choice(("random", "seq"))
    )
    base = disk(rng, on, *FLASH).but(command=load(**command, sleep=rng.choice((0.002, 0.01))))
    return Scenario(base, {"program": base.but(command=load(**command))}, direction="write")


@family
def small_files_on_flash(rng: random.Random, on: Run) -> Scenario:
    """Files that end before a window of readahead does."""
    kind = rng.choice(("xfs", "ext4"))
    place = disk(rng, on, *FLASH).but(ahead(rng.choice((4096, 8192))))
    base = place.but(prepare=files(kind, 96, 1), command=f"cat {MNT}/f* >/dev/null")
    one = base.but(prepare=files(kind, 1, 96))
    return Scenario(base, {"pieces": one, "file system": one})


def sata_beside(rng: random.Random, on: Run, reads_mib: int, **of_other: object) -> Scenario:
    """Reads in order on a platter, next to another load."""
    other = "exec " + load(**of_other)
    base = disk(rng, on, SATA).but(
        ahead(rng.choice((256, 2048))), other=other, command=f"sleep 0.1; {load(mib=reads_mib)}"
    )
    return Scenario(base, {"competing": base.but(other=""), "seeks": base.physics(NO_SEEK)}, paced=0.1)


@family
def sata_beside_a_reader(rng: random.Random, on: Run) -> Scenario:
    return sata_beside(rng, on, 192, io=1 << 20, mib=4096, direct=1, depth=rng.choice((1, 4)), offset=400 << 30)


@family
def sata_beside_a_writer(rng: random.Random, on: Run) -> Scenario:
    return sata_beside(rng, on, 96, io=16384, mib=4096, direct=1, write=1, pattern="random", depth=8, offset=400 << 30)


@family
def sata_beside_random_reads(rng: random.Random, on: Run) -> Scenario:
    depth = rng.choice((1, 4))
    return sata_beside(rng, on, 96, io=4096, mib=400, direct=1, pattern="random", depth=depth, offset=100 << 30)
