# SPDX-License-Identifier: GPL-2.0-or-later
"""The factor by which a change makes a phase faster, computed from the recording of this phase.

Each function returns (gain, change): the gain as in Limit.gain, and the change in words. The change is small (twice or
half of something), so that no other limit is reached first. NO_GAIN: the recording does not give the number.
"""

import collections
import math

from raidtrace.explain import constants as k
from raidtrace.explain.case import Case
from raidtrace.explain.evidence import NO_GAIN, Gain
from raidtrace.quantity import bins
from raidtrace.recording import quantities as q
from raidtrace.recording.observation import Even, Observation

# How even the rate of a phase is: with a fixed rate, the sum of completions is a straight line.


def even(case: Case, phase: Observation) -> tuple[Even | None, bool]:
    """How even the rate of a phase is (None: not known), and whether this counts both directions. Both count if each
    moved at least FEW of the bytes."""
    moved = {direction: q.octets(phase, direction) or 0 for direction in ("read", "write")}
    both = min(moved.values()) >= k.FEW * sum(moved.values())
    directions = ("read", "write") if both else (case.direction,)
    sizes: collections.Counter[int] = collections.Counter()
    for direction in directions:
        sizes.update(phase.histogram(direction, "size"))
    sectors = {at: bins.size(at)[0] for at in sizes}
    whole = sum(count * sectors[at] for at, count in sizes.items())
    unit = sum(count * sectors[at] ** 2 for at, count in sizes.items()) / whole * q.SECTOR if whole else 0.0
    return phase.timeline.even(case.direction, unit, both), both


def tolerance(rate: Even) -> float:
    """Requests by which the sum of completions may deviate from a straight line."""
    return max(k.EVEN_REQUESTS, k.EVEN_SHARE * rate.number)


def straight(rate: Even, times: float = 1.0) -> bool:
    """Whether completions, in requests or in bytes, stay within `times` tolerances of a straight line."""
    return min(rate.requests, rate.bytes) <= times * tolerance(rate)


def local(case: Case, rate: Even) -> bool:
    """Whether a local disk or its link may cause this rate, instead of the limit of a volume: for a SATA disk, or a
    high rate."""
    return case.sata() or rate.mib_per_s >= k.MIN_LINK_MIB_S or rate.iops >= k.MIN_FLASH_IOPS


def _figure(gain: float, change: str) -> Gain:
    return (max(gain, 1.0),) * 2, change


def at_most(part: float) -> Gain:
    """The upper bound of the gain if a cause is removed that took this share of the time, from 0 to 1."""
    return (1.0, 1 / (1 - min(part, 0.999))), ""


def found_idle(case: Case) -> float:
    """Share of the requests, from 0 to 1, that were issued while none was in flight."""
    depths = case.phase.histogram("all", "depth_issue")
    return depths.get(0, 0) / max(sum(depths.values()), 1)


def alone(case: Case) -> bool:
    """Whether nearly all requests were issued while none was in flight: the program waits for each."""
    return found_idle(case) >= k.CERTAIN


def twice_the_limit(case: Case, iops: float, fast_ms: float) -> Gain:
    """The gain if the limit of a volume is doubled. The time between two requests halves, but a request never takes
    less than the fastest one did. fast_ms: time of the fastest request."""
    mean_ms = q.d2c_mean_ms(case.phase, case.direction)
    if not mean_ms or not iops:
        return NO_GAIN
    cycle = 1e3 / iops if alone(case) else mean_ms  # ms between two requests of a thread
    least = cycle - max(mean_ms - fast_ms, 0.0)
    return _figure(cycle / max(cycle / k.TWICE, least), "with twice the limit")


# The gain on a disk where a higher depth does not raise the rate.
MORE_IN_FLIGHT = _figure(1.0, "from a higher depth or more readahead")


def twice_io_max(idle: float) -> Gain:
    """The gain if a limit of the kernel (io.max) is doubled: the rate doubles, or the disk is always busy. idle: the
    share of the time that the disk is idle."""
    return _figure(min(k.TWICE, 1 / max(1 - idle, 1e-3)), "with twice the limit")


def _unhindered(case: Case, fast_ms: float, middle_ms: float) -> bool:
    """Whether the median request takes as long as the fastest, so that twice as many requests would not wait.

    True only of a local disk without heads, or a local array. A volume behind a network may have a limit that only
    appears at a higher rate."""
    local = case.one_disk() and not case.rotates() and not case.virtual() and fast_ms < k.MIN_NETWORK_MS
    array = case.local_array() and (case.depth() or 0.0) <= k.SEVERAL * (1 + k.FEW)
    return (local or array) and middle_ms <= (1 + 2 * k.FEW) * fast_ms


def twice_in_flight(case: Case, fast_ms: float, middle_ms: float) -> Gain:
    """The gain of twice as many requests in flight, if they do not wait for each other."""
    return _figure(k.TWICE, "with twice as many in flight") if _unhindered(case, fast_ms, middle_ms) else NO_GAIN


def twice_the_readahead(case: Case) -> Gain:
    """The gain of twice the readahead on a local array with one reader, two windows in flight, and requests of full
    size.

    The requests of a window are issued together and complete one after the other. So a window of n requests takes 1 +
    (n - 1) * WINDOW_DELAY times as long as one request. A new window starts every half of this time.
    """
    window, largest, depth = (
        case.reading.readahead_sectors() or 0,
        case.reading.largest_sectors() or 0,
        case.depth() or 0.0,
    )
    whole = largest > 0 and (q.size_mean(case.phase, "read") or 0.0) >= k.CERTAIN * largest
    others = case.area("write") >= k.MATTERS * case.area("read")
    if (
        not case.local_array()
        or not whole
        or window < largest
        or depth > k.SEVERAL * (1 + k.FEW)
        or case.streams() > 1
        or others
    ):
        return NO_GAIN
    number = max(depth / 2, 1.0)
    return _figure(
        k.TWICE * (1 + (number - 1) * k.WINDOW_DELAY) / (1 + (2 * number - 1) * k.WINDOW_DELAY),
        "with only twice the readahead",
    )


def larger_pieces(case: Case) -> Gain:
    """The gain in MiB/s of random requests twice as large: each costs the same seek, and a longer transfer.

    On an array a larger piece must not need a second drive, which works for another read. Places close to each other
    are left out, because they may be cached."""
    size, mean_ms = (q.size_mean(case.phase, case.direction) or 0.0) / 2, q.d2c_mean_ms(case.phase, case.direction)
    far_kib = q.seek_sectors(case.phase) / 2 / max(q.seeks(case.phase) or 0, 1)
    if (
        not size
        or not mean_ms
        or size > (k.MAX_SEEK_KIB if case.one_disk() or alone(case) else k.MAX_PIECE_KIB)
        or far_kib < k.MIN_FAR_KIB
    ):
        return NO_GAIN
    return _figure(k.TWICE / (1 + size / k.PLATTER_KIB_MS / mean_ms), "in MiB/s, with pieces twice as large")


def half_the_flushes(case: Case) -> Gain:
    """The gain of half as many flushes, for a program that waits for each one. Writes between flushes take hardly any
    time. NO_GAIN for one disk with heads: there a write takes turns of the platter that depend on its place.
    """
    heads = case.one_disk() and case.rotates()
    return (
        NO_GAIN if heads else _figure(k.TWICE, "with half as many flushes, if a write of twice the size takes as long")
    )


def more_slots(case: Case, limit: int, waits: tuple[float, float] | None) -> Gain:
    """The gain of a queue with more requests. Little's law gives the number of waiting requests: rate times the time
    from queue to completion. waits: ms of the fastest and of the median request."""
    seconds = case.phase.seconds()
    queued = (case.phase.count(case.direction, "q2c_sum_ns") or 0) / 1e9 / seconds if seconds else 0.0
    flash = case.one_disk() and not case.rotates()
    array = limit <= k.TWICE and waits is not None and _unhindered(case, *waits)
    if not (flash or array) or queued <= limit:
        return NO_GAIN
    return _figure(min(queued / limit, k.TWICE), "with twice as many")


def not_held_back(case: Case, held_ms: float, served_ms: float) -> Gain:
    """The gain without the delay of a scheduler, on flash or a local array. held_ms: delay by the scheduler. served_ms:
    time from issue to completion."""
    local = not case.virtual() and not case.rotates() if case.one_disk() else case.local_array()
    return _figure((held_ms + served_ms) / served_ms, "") if local else NO_GAIN


def others_gone(case: Case, part: float, fast_ms: float) -> Gain:
    """The gain without the load of others, on one disk without heads. part: their share of the load, from 0 to 1.

    At the limit of a volume, their share becomes available. On a local disk each request then takes as long as the
    fastest."""
    mean_ms, rate = q.d2c_mean_ms(case.phase, case.direction), even(case, case.phase)[0]
    if not case.one_disk() or case.rotates() or not mean_ms or part >= 1:
        return NO_GAIN
    if case.virtual() or fast_ms >= k.MIN_NETWORK_MS:
        limited = rate is not None and straight(rate)
        return _figure(1 / (1 - part), "without them") if limited else NO_GAIN
    sizes = case.phase.histogram(case.direction, "size")
    # With other sizes, the fastest requests may all belong to one process.
    if max(sizes.values(), default=0) < k.CERTAIN * sum(sizes.values()):
        return NO_GAIN
    return _figure((mean_ms + case.before_issue_ms()) / fast_ms, "without them")


def unbroken(length: float, silent: float, interval: float) -> Gain:
    """The gain of a phase without its silence; length, silence and interval in s. Samples give the silence, so it may
    be up to two intervals longer. NO_GAIN: the rest of the phase is too short."""
    rest = length - silent
    if rest <= 2 * interval:
        return NO_GAIN
    least, most = length / rest, length / (rest - 2 * interval)
    return _figure(least, "") if most <= (1 + 2 * k.FEW) * least else ((least, most), "")


def no_pauses(case: Case, idle: float, fast_ms: float) -> Gain:
    """The gain of a program without its pauses or its computing. idle: their share of the time.

    - A program that waits for each direct request, on a local disk without heads, reaches the rate of the busy time.
    - Elsewhere a limit or other seeks may come first. The figure is then for pauses half as long.
    - If the disk works during the pauses (readahead), both may overlap. For long pauses the figure is the geometric
      mean of both cases, at most an eighth away from either. For shorter pauses only an upper bound is returned.
    """
    calls, waits = case.direct(), alone(case)
    if calls and waits and not case.rotates() and not case.virtual() and fast_ms < k.MIN_NETWORK_MS:
        return _figure(1 / (1 - min(idle, 0.999)), "")
    least = 1 / (1 - idle / 2)
    if calls and waits and not case.reads_ahead():
        return _figure(least, "with pauses half as long")
    if idle >= k.MOST:
        return _figure(math.sqrt(k.TWICE * least), "with pauses half as long")
    return at_most(idle)
