# SPDX-License-Identifier: GPL-2.0-or-later
"""How even the rate of a phase is: what is served at a fixed rate completes along a straight line."""

import collections

from raidtrace.explain.case import Case
from raidtrace.quantity import bins
from raidtrace.recording import quantities as q
from raidtrace.recording.observation import Observation
from raidtrace.recording.timeline import Even

EVEN = 2.0  # requests by which a sum of completions may leave a straight line
EVEN_PART = 0.005  # part of all requests by which it may, where that is more: timers of a busy host are late
LINK_MIB_S = 2000.0  # from this rate on it may be that of a link (PCIe)
FLASH_IOPS = 50_000.0  # from this rate on it may be that of the flash and its controller
BOTH = 0.05  # part of the bytes that the other direction moves, from which on a limit is judged by both together


def even(case: Case, phase: Observation) -> tuple[Even | None, bool]:
    """How even the rate of a phase is; of both directions together where the other one moves a part worth naming."""
    moved = {direction: q.octets(phase, direction) or 0 for direction in ("read", "write")}
    both = min(moved.values()) >= BOTH * sum(moved.values())
    ways = ("read", "write") if both else (case.direction,)
    sizes: collections.Counter[int] = collections.Counter()
    for direction in ways:
        sizes.update(phase.histogram(direction, "size"))
    sectors = {at: bins.size(at)[0] for at in sizes}
    whole = sum(count * sectors[at] for at, count in sizes.items())
    unit = sum(count * sectors[at] ** 2 for at, count in sizes.items()) / whole * q.SECTOR if whole else 0.0
    return phase.timeline.even(case.direction, unit, both), both


def tolerance(rate: Even) -> float:
    """Requests by which the sum of completions may leave a straight line."""
    return max(EVEN, EVEN_PART * rate.number)


def straight(rate: Even, times: float = 1.0) -> bool:
    """Whether completions, by requests or by bytes, stay within so many tolerances of a straight line."""
    return min(rate.requests, rate.bytes) <= times * tolerance(rate)


def local(case: Case, rate: Even) -> bool:
    """Whether a rate may be that of a local disk and its link, and no limit of a volume: of a SATA disk, or a high one."""
    return case.sata() or rate.mib_per_s >= LINK_MIB_S or rate.iops >= FLASH_IOPS
