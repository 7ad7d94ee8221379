#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""Random histories of a disk, each compared with the controller's log: lab-farm.py [--seeds A-B | --seconds S] [--jobs N]

A seed selects a kernel, an array, faults of the controller, and in the guest settings, load, and the times at which disks are
attached, read, reset, detached, recorded and recorders killed (farm_guest.py). The counters must follow from the log
(farm_witness.py). `make check` has a few seeds; `make farm SECONDS=3600` goes on from a seed that nobody had. One that fails
is kept in check-out/farm/ and comes again with --seeds.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import itertools
import os
import random
import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.dont_write_bytecode = True
from lab_checks import KERNELS, TOP, check, finish, lab, offered  # noqa: E402

GUEST = Path(__file__).resolve().parent / "farm_guest.py"
OUT = TOP / "check-out" / "farm"
PROFILES = ("9500s-12-raid0", "9500s-12-raid5", "9650se-8-raid5", "jbod-4", "slow-drive", "nvme-970pro", "nvme-azure",
            "sata-hdd-7200", "sata-ssd", "virtio-capped")  # fmt: skip
# Faults that a device has, by the beginning of its profile's name. A virtio device never ends a command that is lost, and
# Linux 6.1 warns when its nvme driver removes a drive that has gone.
FAULTS = {
    "nvme": ("lose", "reset", "medium", "slow"),
    "sata": ("lose", "reset", "medium", "slow", "gone"),
    "virtio": ("medium", "slow"),
}
SEEDS = range(1, 9)  # of make check
TOTALS = re.compile(r"(\d+) windows, (\d+) requests, (\d+) requeued, (\d+) wrong")


def faults(chance: random.Random, profile: str) -> list[str]:
    """None for half of the seeds, else one or two, struck by a command or at a time."""
    kind_of = profile.partition("-")[0]
    kinds = {
        "lose": [],
        "reset": [],
        "full": [f"full_for_ms={chance.randrange(1, 3000)}"],
        "medium": [f"medium_sectors={chance.choice((1, 8, 300))}"],
        "slow": ["slow_member=2", f"slow_factor={chance.choice((3, 30))}"],
        "gone": [],
        "power": [],
    }
    if kind_of in FAULTS:
        kinds = {kind: more for kind, more in kinds.items() if kind in FAULTS[kind_of]} | {"slow": ["slow_factor=3"]}
    settings = []
    for kind in chance.sample(sorted(kinds), chance.choice((0, 0, 1, 2))):
        when = chance.choice((f"command={chance.randrange(1, 3000)}", f"ms={chance.randrange(100, 4000)}"))
        if kind == "gone" and when.startswith("ms="):  # after Linux has found the disk
            when = f"ms={1000 + int(when[3:])}"
        settings += [f"fault.{kind}_{when}", *(f"fault.{more}" for more in kinds[kind])]
    return settings


def history(seed: int) -> tuple[str, str]:
    """Run one. Returns its totals, and complaints, empty if there are none."""
    chance = random.Random(seed)
    kernel, profile = chance.choice(KERNELS), chance.choice(PROFILES)
    struck = faults(chance, profile)
    out = OUT / str(seed)
    words = ["--kernel", kernel, "--profile", profile,
             *(word for one in struck for word in ("--set", one))]  # fmt: skip
    done = lab("run", "-q", "--seed", str(seed), "--out", str(out), *words, "--",
               "python3", str(GUEST), str(seed), str(int(bool(struck))))  # fmt: skip
    lines = done.stdout.rstrip().splitlines()
    totals = TOTALS.fullmatch(lines[-1]) if lines else None
    if done.returncode == 0 and totals and totals[4] == "0":
        shutil.rmtree(out, ignore_errors=True)
        return lines[-1], ""
    output = f"exit status {done.returncode}\n{done.stdout}{done.stderr[-4000:]}"
    return "", f"{' '.join(words)}\n{output}again: {sys.argv[0]} --seeds {seed}"


def selected(options: argparse.Namespace) -> Iterator[int]:
    """Seeds, until time is over."""
    if not options.seconds:
        first, _, last = options.seeds.partition("-")
        return iter(range(int(first), int(last or first) + 1) if first else SEEDS)
    end = time.monotonic() + options.seconds
    begin = int(time.time()) << 8
    return itertools.takewhile(lambda _: time.monotonic() < end, itertools.count(begin))


def main() -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--seeds", default="", help="A or A-B")
    parser.add_argument("--seconds", type=int, default=0, help="go on for so long, from a seed of now")
    parser.add_argument("--jobs", type=int, default=2, help="guests at once")
    options = parser.parse_args()
    os.environ.pop("LAB_KERNEL", None)
    for kernel in KERNELS:
        offered("farm", kernel)
    OUT.mkdir(parents=True, exist_ok=True)
    seeds = selected(options)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(history, seed): seed for seed in itertools.islice(seeds, options.jobs)}
        while running:
            done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                seed = running.pop(future)
                saw, wrong = future.result()
                check(f"seed {seed}: {saw}", not wrong, wrong)
                running |= {pool.submit(history, more): more for more in itertools.islice(seeds, 1)}
    finish()


main()
