# SPDX-License-Identifier: GPL-2.0-or-later
"""What is chance on a real machine, and here is chosen by a number: the same number, the same run to the last bit.

Random numbers, the moment of the start (and with it where the platters are), the size of memory and that of the
environment (and with it where a stack begins). None of these is a figure that anybody sets to get a rate, and each
changes the rates of some workloads (Documentation/lab.rst has how much).
"""

from __future__ import annotations

import random
from dataclasses import dataclass

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
