# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios: a run with a cause that is known by construction, and for each cause a run without it.

The truth is measured, not claimed: a scenario is run again with each cause that it may have taken away, one at a time, and a
cause is true where that is faster by GAIN or more. A seed selects the parameters.
"""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Callable, Mapping

GAIN = 1.15  # what taking a cause away must gain at least for it to be one
MNT = "/run/lab/mnt"
WIDE = 4096  # sectors of readahead that one stream or some need; more thrashes in a small guest
NO_SEEK = {
    "drive.seek_track_us": 0,
    "drive.seek_average_us": 0,
    "drive.seek_full_us": 0,
    "drive.write_settle_us": 0,
    "drive.rpm": 30000,
}
FAST_CONTROLLER = {
    "controller.command_us": 2,
    "controller.part_us": 68,
    "controller.read_kib_s": 4425000,
    "controller.write_kib_s": 2150000,
    "controller.parity_kib_s": 4000000,
}
FAST_DRIVES = {
    "drive.media_outer_kib_s": 703120,
    "drive.media_inner_kib_s": 527340,
    "drive.interface_kib_s": 1464840,
    "drive.command_us": 10,
}
RAID0, RAID5, RAID5_NEW, SLOW = "9500s-12-raid0", "9500s-12-raid5", "9650se-8-raid5", "slow-drive"
CEILINGS = ("controller", "drives", "device")
DISKS = {
    "nvme-970pro": "nvme0n1",
    "nvme-4": "nvme0n1",
    "nvme-azure": "nvme0n1",
    "virtio-capped": "vda",
}  # the other profiles' disk is sda
TWICE = {"queue depth": "queue_depth", "request slots": "nr_requests", "request size": "max_sectors_kb"}  # settings
WORDS = {"program": ("sleep", 0.5), "processor": ("spin", 0.5), "seeks": ("io", 2), "sync": ("sync", 2)}  # of load.py
PROFILES = (RAID0, RAID0, RAID5, RAID5_NEW)
KERNELS = ("6.1", "6.12", "7.2")


@dataclasses.dataclass(frozen=True)
class Run:
    """One recording. other: a concurrent load. sets: keys of the profile; alone: it has a guest of its own, as the fault
    strikes once; interval: of its samples. variant: of the kernel. limit: io.max of a cgroup that the command is in, or
    below it, in within."""

    command: str
    settings: Mapping[str, str | int] = dataclasses.field(default_factory=dict)
    prepare: str = ""
    other: str = ""
    warm: str = ""
    profile: str = ""
    kernel: str = ""
    sets: Mapping[str, str | int] = dataclasses.field(default_factory=dict)
    real_time: bool = False
    alone: bool = False
    interval: str = "20ms"
    variant: str = ""
    limit: str = ""
    within: str = ""

    def but(self, settings: Mapping[str, str | int] | None = None, **more: object) -> Run:
        """The same with something changed; settings are added."""
        return dataclasses.replace(self, settings={**self.settings, **(settings or {})}, **more)  # type: ignore[arg-type]

    def disk(self) -> str:
        """Name of the disk, as the guest has it."""
        return DISKS.get(self.profile, "sda")

    def physics(self, sets: Mapping[str, str | int]) -> Run:
        """The same where controller or drives are otherwise."""
        return dataclasses.replace(self, sets={**self.sets, **sets})


@dataclasses.dataclass(frozen=True)
class Scenario:
    """reliefs: cause -> the run without it, what is meant first. none: nothing may be named but ceilings of the array.
    paced: seconds at the begin and end of the run without requests, by intent. remedies: cause -> the run with the change
    that explain gives a figure for, where changed() does not make it of the first run."""

    base: Run
    reliefs: Mapping[str, Run]
    paced: float = 0.0
    direction: str = "read"
    remedies: Mapping[str, Run] = dataclasses.field(default_factory=dict)

    def changes(self) -> dict[str, Run]:
        """Cause -> the run with the change that a figure of this cause is for."""
        made = {cause: changed(self.base, cause) for cause in self.reliefs}
        return {**{cause: run for cause, run in made.items() if run}, **self.remedies}


def changed(run: Run, cause: str) -> Run | None:
    """The run with twice, or half, of what a cause is about. None: there is no such change of this cause or this command."""
    ahead_of = int(run.settings.get("readahead_sectors", 0))
    if cause in ("readahead", "read amplification") and ahead_of:
        return run.but(ahead(2 * ahead_of if cause == "readahead" else ahead_of // 2))
    if cause in TWICE and TWICE[cause] in run.settings:
        return run.but({TWICE[cause]: 2 * int(run.settings[TWICE[cause]])})
    if cause == "io.max" and run.limit:
        return run.but(limit=re.sub(r"\d+", lambda number: str(2 * int(number[0])), run.limit))
    if cause == "direct" and "{load}" in run.command:
        deep = re.search(r"depth=(\d+)", run.command)
        return run.but(command=f"{run.command} depth={2 * int(deep[1]) if deep else 2}")
    if cause in WORDS and (word := re.search(rf"\b{WORDS[cause][0]}=([\d.]+)", run.command)):
        value = float(word[1]) * WORDS[cause][1]
        return run.but(command=run.command.replace(word[0], f"{WORDS[cause][0]}={value:.10g}"))
    return None


Make = Callable[[random.Random, Run], Scenario]
FAMILIES: dict[str, Make] = {}


def family(make: Make) -> Make:
    """Put it in the table, by its name."""
    FAMILIES[make.__name__] = make
    return make


def load(**options: object) -> str:
    """load.py with these options; the runner puts its path in."""
    return "{load} " + " ".join(f"{key}={value}" for key, value in options.items())


def ahead(sectors: int) -> dict[str, str | int]:
    return {"readahead_sectors": sectors}


def place_of(seed: int, only: str = "") -> Run:
    """The array and kernel of a seed, without a command: one guest has most of a seed's families. only: the profile instead of
    that of the seed."""
    rng = random.Random(seed)
    run = Run("", profile=rng.choice(PROFILES), kernel=rng.choice(KERNELS))
    return dataclasses.replace(run, profile=only) if only else run


def ceilings(run: Run) -> dict[str, Run]:
    return {
        "controller": run.physics(FAST_CONTROLLER),
        "drives": run.physics(FAST_DRIVES),
        "device": run.physics({**FAST_CONTROLLER, **FAST_DRIVES}),
    }


def files(kind: str, number: int, mib: int, size: str = "6G") -> str:
    """Make a file system with so many files and mount it."""
    make = {
        "xfs": "mkfs.xfs -q -f -K -d size=6g /dev/sda",
        "ext2": f"mkfs.ext2 -q -F -E lazy_itable_init=0,nodiscard /dev/sda {size}",
        "ext4": f"mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0,nodiscard /dev/sda {size}",
        "ext4-lazy": "mkfs.ext4 -q -F -E nodiscard /dev/sda",
    }[kind]
    return (
        f"{make} && mount -t {kind.partition('-')[0]} /dev/sda {MNT} && for i in $(seq {number}); do "
        f"dd if=/dev/zero of={MNT}/f$i bs=64k count={mib * 16} 2>/dev/null; done; sync; sleep 60"
    )
