#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: 6.1
# lab-long: 180 guests
"""Chance told from effect: 20 workloads under other draws, and on an array 2 % slower: lab-chance.py [--draws N] [WORKLOAD...]

A against A: two groups of draws of the same kernel and array must not be told apart at 95 %, but in as many workloads as
chance does that in. Planted: the same array with every time of controller and drive 2 % longer is found slower, but where draws
spread so far that more of them are needed (how many is said), or where the interval shows that the loss does not reach. Prints
a table of them.
"""

from __future__ import annotations

import concurrent.futures
import math
import os
import statistics
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from lab_checks import TOP, check, finish, lab  # noqa: E402

sys.path[:0] = [str(TOP / "tools/lab"), str(TOP / "tools/python")]

from raidlab.verbs import measures  # noqa: E402

from raidtrace.quantity.trials import student_quantile  # noqa: E402

FIO = "fio --name=a --clocksource=clock_gettime --ioengine=psync --output=/dev/null --time_based=0"
BIG, SMALL = "blockdev --setra 16384 /dev/sda", "blockdev --setra 256 /dev/sda"
MAKE = {
    "ext2": "mke2fs -q -t ext2 /dev/sda 4G",
    "ext4": "mke2fs -q -t ext4 -E lazy_itable_init=0,lazy_journal_init=0 /dev/sda 4G",
    "xfs": "mkfs.xfs -q -f /dev/sda",
}


def on(kind: str, before: str, timed: str) -> tuple[str, str]:
    """On a file system: what comes before the clock starts, and what it is about."""
    return f"{MAKE[kind]} && mount /dev/sda /run/lab/mnt && cd /run/lab/mnt && {before}", timed


WRITE = "dd if=/dev/zero of=f bs=64k count=3200 conv=fsync"
AGAIN = "sync; echo 3 >/proc/sys/vm/drop_caches"
# name -> before the clock starts, what is timed
WORKLOADS: dict[str, tuple[str, str]] = {
    "raw read 256": (SMALL, "dd if=/dev/sda of=/dev/null bs=1M count=192"),
    "raw read 16384": (BIG, "dd if=/dev/sda of=/dev/null bs=1M count=384"),
    "raw read direct": (":", "dd if=/dev/sda of=/dev/null bs=256k count=768 iflag=direct"),
    "raw write": (":", "dd if=/dev/zero of=/dev/sda bs=1M count=256 conv=fsync"),
    "raw write direct": (":", "dd if=/dev/zero of=/dev/sda bs=256k count=768 oflag=direct"),
    "raw random read": (":", f"{FIO} --filename=/dev/sda --direct=1 --rw=randread --bs=4k --size=8g --io_size=8m"),
    "raw random mixed": (":", f"{FIO} --filename=/dev/sda --direct=1 --rw=randrw --bs=8k --size=8g --io_size=16m"),
    "raw 4 readers": (BIG, "for i in 0 1 2 3; do dd if=/dev/sda of=/dev/null bs=1M count=64 skip=${i}000 & done; wait"),
    "ext2 write": on("ext2", ":", WRITE),
    "ext2 read 256": on("ext2", f"{SMALL}; {WRITE}; {AGAIN}", "cat f >/dev/null"),
    "ext2 read 16384": on("ext2", f"{BIG}; {WRITE}; {AGAIN}", "cat f >/dev/null"),
    "ext2 rewrite 16384": on("ext2", f"{BIG}; {WRITE}; {AGAIN}", "dd if=f of=f bs=64k conv=notrunc,fsync"),
    "ext4 write": on("ext4", ":", WRITE),
    "ext4 read 16384": on("ext4", f"{BIG}; {WRITE}; {AGAIN}", "cat f >/dev/null"),
    "ext4 small files": on("ext4", ":", "for i in $(seq 400); do head -c 20000 /dev/zero >$i; done; sync"),
    "ext4 fsync": on("ext4", ":", f"{FIO} --filename=g --rw=write --bs=4k --size=1m --fsync=1"),
    "xfs write": on("xfs", ":", WRITE),
    "xfs read 256": on("xfs", f"{SMALL}; {WRITE}; {AGAIN}", "cat f >/dev/null"),
    "xfs read 16384": on("xfs", f"{BIG}; {WRITE}; {AGAIN}", "cat f >/dev/null"),
    "xfs rewrite 16384": on("xfs", f"{BIG}; {WRITE}; {AGAIN}", "dd if=f of=f bs=64k conv=notrunc,fsync"),
}
LOSS = 1.02
DRAWS = 3  # of each group
# of profile 9500s-12-raid0: what takes time, and what is a rate
TIMES = {"controller.part_us": 680, "drive.seek_track_us": 600, "drive.seek_average_us": 4500, "drive.seek_full_us": 10200,
         "drive.write_settle_us": 1400, "drive.command_us": 100}  # fmt: skip
RATES = {"controller.read_kib_s": 442500, "controller.write_kib_s": 215000, "drive.media_outer_kib_s": 70312,
         "drive.media_inner_kib_s": 52734, "drive.interface_kib_s": 146484, "drive.rpm": 10000}  # fmt: skip
SLOWER = [f"{key}={round(value * LOSS)}" for key, value in TIMES.items()]
SLOWER += [f"{key}={round(value / LOSS)}" for key, value in RATES.items()]


def seconds(name: str, seed: int, slower: bool, directory: Path) -> float:
    """Simulated time of one run."""
    before, timed = WORKLOADS[name]
    begin, end = "a=$(date +%s%N)", "b=$(date +%s%N)"
    script = f"{{ {before}; }} >/dev/null 2>&1; {begin}; {{ {timed}; }} >/dev/null 2>&1; {end}; echo $((b - a))"
    words = [word for pair in SLOWER for word in ("--set", pair)] if slower else []
    out = directory / f"{name}-{seed}"
    done = lab("run", "-q", "--kernel", "6.1", "--mem", "48M", "--no-raidtrace", "--seed", str(seed), "--out", str(out), *words,
               "--", "sh", "-c", script, LAB_ROOT="")  # fmt: skip
    if done.returncode or not done.stdout.strip().isdigit():
        raise RuntimeError(f"{name}, seed {seed}: {done.returncode} {done.stdout}{done.stderr}")
    (out / "ground-truth.csv").unlink()
    return int(done.stdout) / 1e9


def needed(draws: list[float]) -> int:
    """Of how many draws each a loss as planted is found nine times in ten, by their spread."""
    spread = statistics.stdev([math.log(one) for one in draws])
    for count in range(2, 1000):
        student = student_quantile(0.05, 2 * count - 2)
        if (student + 1.28) * spread * math.sqrt(2 / count) <= math.log(LOSS):
            return count
    return 1000


def main() -> None:
    words = sys.argv[1:]
    count = int(words.pop(1)) if words[:1] == ["--draws"] else DRAWS
    words = words[1:] if words[:1] == ["--draws"] else words
    names = words or list(WORKLOADS)
    groups = [
        (False, range(1, count + 1)),
        (False, range(count + 1, 2 * count + 1)),
        (True, range(2 * count + 1, 3 * count + 1)),
    ]
    apart, missed = [], []
    print(f"{'workload':20} {'least':>7} {'median':>7} {'most':>7}  A against A     2 % slower      draws")
    with tempfile.TemporaryDirectory(prefix="lc-", dir="/var/tmp") as place:
        with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
            for name in names:
                runs = [
                    pool.map(seconds, [name] * count, many, [slow] * count, [Path(place)] * count)
                    for slow, many in groups
                ]
                found = [list(run) for run in runs]
                same, slower = measures.interval(found[0], found[1]), measures.interval(found[0] + found[1], found[2])
                both, enough = found[0] + found[1], needed(found[0] + found[1])
                if not measures.is_chance(same):
                    apart.append(name)
                # What excludes the loss too is not missed: it does not reach a workload that waits for something else.
                if enough <= count and slower[0] <= 1 and slower[1] >= LOSS:
                    missed.append(name)
                middle = statistics.median(both)
                one, other = ("{:.3f}-{:.3f}".format(*ends) for ends in (same, slower))
                spread = f"{min(both) / middle:7.3f} {middle:6.2f}s {max(both) / middle:7.3f}"
                print(f"{name:20} {spread}  {one:15} {other:15} {enough}", flush=True)
    # Of 20 true "equal" at 95 %, four or more are told apart in 2 of 100.
    check(
        "A is told from A in no more workloads than chance does that in",
        len(apart) <= max(1, 3 * len(names) // 20),
        apart,
    )
    check(f"a loss of 2 % is found wherever {count} draws are enough by their spread", not missed, missed)
    finish()


main()
