# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest is made of, before it runs.

What is chance on a real machine is chosen here by a number: the same number, the same run to the last bit. It is random
numbers, the moment of the start (and with it where the platters are), the size of memory and that of the environment (and
with it where a stack begins). None of these is a figure that anybody sets to get a rate, and each changes the rates of some
workloads (Documentation/lab.rst has how much).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from raidlab.userland.root import Root

CONTROL = "/proc/self/cwd"  # as the User Mode Linux process sees its control directory
OWN_ROOT = "root"  # in it: the root that is the guest's own
_START_NS = 20_000_000  # the start is this much later at most: a turn of a disk of 7,200 and more per minute takes less
_MEMORY_PAGES = 50  # and memory this much smaller, 200 KiB: less than the page cache of the smallest guest would notice
_PAGE_KIB = 4
_PAD = 128  # and the environment this much longer, bytes


@dataclass(frozen=True)
class Chance:
    """One draw: `randomness` starts the host's random numbers as the guest sees them, the rest is as said above."""

    seed: int = 0
    randomness: int = 0
    start_ns: int = 0
    less_memory_kib: int = 0
    pad: int = 0


def drawn(seed: int) -> Chance:
    """The draw with this number. That of 0 is the plain run, with nothing moved."""
    if not seed:
        return Chance()
    draw = random.Random(seed)
    return Chance(
        seed,
        draw.getrandbits(63) | 1,
        draw.randrange(_START_NS),
        draw.randrange(_MEMORY_PAGES) * _PAGE_KIB,
        draw.randrange(_PAD),
    )


@dataclass
class Guest:
    """What to boot. Paths are the host's; `modules` are (file, parameters) in the order they are inserted; `kernel` says
    where the kernel comes from, for recordings. Without a `root` the guest has the host's files (hermetic.py). `tools` are
    seen as tools/bin of the checkout (userland/tools.py)."""

    binary: Path
    init: Path
    preload: Path
    out: Path
    command: Sequence[str]
    environment: dict[str, str]
    memory_mib: int
    kernel: str
    modroot: Path | None = None
    add_modules: Callable[[], None] | None = None  # fills modroot, which the guest waits for; None if that was done
    modules: list[tuple[Path, str]] = field(default_factory=list)
    wait_for_disks: bool = False
    interactive: bool = False
    real_time: bool = False
    boot: Sequence[str] = ()
    root: Root | None = None
    tools: Path | None = None
    chance: Chance = field(default_factory=Chance)
