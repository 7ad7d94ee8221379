#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""In a guest of lab-multipath.py: dm-multipath over a disk of null_blk. Arguments: the modules to load."""

import sys

import kmod_client as kmod

SECTORS = 128 * 2048
COUNTERS = ("issued", "completed", "unmatched", "unissued", "partial", "errors")


def test_multipath() -> None:
    """Requests of dm-multipath count once, as diskstats counts them, above and below"""
    lower = kmod.null_blk(nr_devices=1, gb=1)[0]
    kmod.run(f"modprobe dm-mod; {'; '.join(f'insmod {module}' for module in MODULES)}")
    table = f"0 {SECTORS} multipath 0 0 1 1 round-robin 0 1 1 /dev/{lower} 1000"
    kmod.run(f"echo '{table}' | dmsetup create --noudevsync paths")
    name = kmod.run("dmsetup info --columns --noheadings --options blkdevname paths").strip()
    try:
        with kmod.counted(name) as (client, target), kmod.counted(lower) as (_, path):
            disk, before = kmod.Disk(name), kmod.diskstats(name)
            for one in (target, path):
                client.ask("target-reset", id=one["id"])
            for i in range(1000):
                disk.read(64 * i, 8)
            for i in range(500):
                disk.write(64 * i, 8)
            disk.close()
            after, counters = kmod.diskstats(name), [client.counters(one) for one in (target, path)]
    finally:
        kmod.run("dmsetup remove --noudevsync --retry paths")
    kmod.equal("diskstats", [after[one] - before[one] for one in ("reads", "writes")], [1000, 500])
    for which, counted in zip(("above", "below"), counters, strict=True):
        for direction, number in (("read", 1000), ("write", 500), ("flush", 0)):
            found = [counted.flow[direction][one] for one in COUNTERS]
            kmod.equal(f"{which}, {direction}: {', '.join(COUNTERS)}", found, [number, number, 0, 0, 0, 0])


if __name__ == "__main__":
    MODULES = sys.argv[1:]
    sys.exit(kmod.main())
