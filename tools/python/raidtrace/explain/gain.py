# SPDX-License-Identifier: GPL-2.0-or-later
"""How many times as fast a change makes a phase, computed from its own recording.

Each function returns (gain, change): the gain as Limit.gain has it, the change in words. A change is a small one, twice or half
of something, so that nothing else becomes the limit first. NO_GAIN: the recording does not give the number.
"""

import collections
import math

from raidtrace.explain.case import Case
from raidtrace.explain.evidence import NO_GAIN, Gain
from raidtrace.quantity import bins
from raidtrace.recording import quantities as q
from raidtrace.recording.observation import Even, Observation

# How even the rate of a phase is: requests that are served at a fixed rate complete along a straight line.

EVEN_REQUESTS = 2.0  # requests by which a sum of completions may leave a straight line
EVEN_SHARE = 0.005  # of all requests, where that is more: timers of a busy host are late
MIN_LINK_MIB_S = 2000.0  # from this rate on it may be that of a link (PCIe)
MIN_FLASH_IOPS = 50_000.0  # from this rate on it may be that of the flash and its controller
MIN_OTHER_SHARE = 0.05  # of the bytes: from here on a limit is judged by both directions together


def even(case: Case, phase: Observation) -> tuple[Even | None, bool]:
    """How even the rate of a phase is; of both directions together where the other one moves a part worth naming."""
    moved = {direction: q.octets(phase, direction) or 0 for direction in ("read", "write")}
    both = min(moved.values()) >= MIN_OTHER_SHARE * sum(moved.values())
    directions = ("read", "write") if both else (case.direction,)
    sizes: collections.Counter[int] = collections.Counter()
    for direction in directions:
        sizes.update(phase.histogram(direction, "size"))
    sectors = {at: bins.size(at)[0] for at in sizes}
    whole = sum(count * sectors[at] for at, count in sizes.items())
    unit = sum(count * sectors[at] ** 2 for at, count in sizes.items()) / whole * q.SECTOR if whole else 0.0
    return phase.timeline.even(case.direction, unit, both), both


def tolerance(rate: Even) -> float:
    """Requests by which the sum of completions may leave a straight line."""
    return max(EVEN_REQUESTS, EVEN_SHARE * rate.number)


def straight(rate: Even, times: float = 1.0) -> bool:
    """Whether completions, by requests or by bytes, stay within so many tolerances of a straight line."""
    return min(rate.requests, rate.bytes) <= times * tolerance(rate)


def local(case: Case, rate: Even) -> bool:
    """Whether a rate may be that of a local disk and its link, and no limit of a volume: of a SATA disk, or a high one."""
    return case.sata() or rate.mib_per_s >= MIN_LINK_MIB_S or rate.iops >= MIN_FLASH_IOPS


TWICE = 2.0
MAX_SEEK_KIB = 64  # size of a random request up to which the seek takes nearly all of its time
PLATTER_KIB_MS = 100.0  # what a disk with heads transfers in a ms, about
MAX_EQUAL_FACTOR = 1.1  # two times, or gains, that differ less are equal
MIN_NETWORK_MS = 0.3  # of the fastest request: a slower disk without heads is no local one
MIN_ONE_SIZE_SHARE = 0.95  # of the requests: then the fastest is the same request as the others
MIN_ALONE_SHARE = 0.95  # of the requests that are issued with nothing in flight
LONG_IDLE_SHARE = 0.75  # of the time: from here on pauses decide, even if the disk works during them
MAX_PIECE_KIB = 32  # of an array: twice this size is still within the stripe of one drive
MIN_FAR_KIB = 1 << 16  # mean distance of random places from which on larger pieces are no closer
MAX_FEW_SLOTS = 2  # of an array: twice as many requests still go to different drives
WINDOW_DELAY = 1 / 7  # of the time of a request: the next of its window ends so much later; 9500S and 9650SE of the lab
MIN_WHOLE_SHARE = 0.98  # of the largest request: from this mean size on all of a window are as large
MAX_ROOM_DEPTH = 4.2  # requests in flight up to which the drives of an array have room for twice as many
MAX_WRITE_SHARE = 0.1  # writes by reads in flight: fewer are ignored


def _figure(gain: float, change: str) -> Gain:
    return (max(gain, 1.0),) * 2, change


def at_most(part: float) -> Gain:
    """The bound of a gain without a cause that took this part of the time, of 1."""
    return (1.0, 1 / (1 - min(part, 0.999))), ""


def found_idle(case: Case) -> float:
    """Part of the requests, of 1, that were issued with nothing in flight."""
    depths = case.phase.histogram("all", "depth_issue")
    return depths.get(0, 0) / max(sum(depths.values()), 1)


def alone(case: Case) -> bool:
    """Whether nearly all requests were issued with nothing in flight: the program waits for each."""
    return found_idle(case) >= MIN_ALONE_SHARE


def twice_the_limit(case: Case, iops: float, fast_ms: float) -> Gain:
    """The gain of a volume with twice its limit. The time from one request to the next halves, but a request takes no less
    than the fastest did."""
    mean_ms = q.d2c_mean_ms(case.phase, case.direction)
    if not mean_ms or not iops:
        return NO_GAIN
    cycle = 1e3 / iops if alone(case) else mean_ms  # ms from one request of a thread to its next
    least = cycle - max(mean_ms - fast_ms, 0.0)
    return _figure(cycle / max(cycle / TWICE, least), "with twice the limit")


# Gains on a disk whose rate does not grow with more requests in flight.
MORE_IN_FLIGHT = _figure(1.0, "from a higher depth or more readahead")


def twice_io_max(idle: float) -> Gain:
    """The gain of a limit of the kernel (io.max) twice as high, where the disk is idle for this part of the time: the rate
    doubles, or the disk is busy all the time."""
    return _figure(min(TWICE, 1 / max(1 - idle, 1e-3)), "with twice the limit")


def _unhindered(case: Case, fast_ms: float, middle_ms: float) -> bool:
    """Whether the median request of a local disk without heads, or of a local array, takes as long as the fastest: as many
    again would not wait either. A volume behind a network may have a limit that does not show below it."""
    local = case.one_disk() and not case.rotates() and not case.virtual() and fast_ms < MIN_NETWORK_MS
    array = case.local_array() and (case.depth() or 0.0) <= MAX_ROOM_DEPTH
    return (local or array) and middle_ms <= MAX_EQUAL_FACTOR * fast_ms


def twice_in_flight(case: Case, fast_ms: float, middle_ms: float) -> Gain:
    """The gain of twice as many requests in flight, where they do not wait for each other."""
    return _figure(TWICE, "with twice as many in flight") if _unhindered(case, fast_ms, middle_ms) else NO_GAIN


def twice_the_readahead(case: Case) -> Gain:
    """The gain on a local array that one reader reads in windows of few whole requests, two windows at a time. The requests
    of a window are issued together and come one after the other, so that a window of n takes 1 + (n - 1) * LATER times as
    long as one request does, and half of it is the time from window to window."""
    window, largest, depth = (
        case.reading.readahead_sectors() or 0,
        case.reading.largest_sectors() or 0,
        case.depth() or 0.0,
    )
    whole = largest > 0 and (q.size_mean(case.phase, "read") or 0.0) >= MIN_WHOLE_SHARE * largest
    others = case.area("write") >= MAX_WRITE_SHARE * case.area("read")
    if (
        not case.local_array()
        or not whole
        or window < largest
        or depth > MAX_ROOM_DEPTH
        or case.streams() > 1
        or others
    ):
        return NO_GAIN
    number = max(depth / 2, 1.0)
    return _figure(
        TWICE * (1 + (number - 1) * WINDOW_DELAY) / (1 + (2 * number - 1) * WINDOW_DELAY), "with twice the readahead"
    )


def larger_pieces(case: Case) -> Gain:
    """The gain of larger random reads: a piece twice as large costs the same seek, and its transfer. On an array it must not
    need a second drive that works for another read, and near places may be in a cache."""
    size, mean_ms = (q.size_mean(case.phase, case.direction) or 0.0) / 2, q.d2c_mean_ms(case.phase, case.direction)
    far_kib = q.seek_sectors(case.phase) / 2 / max(q.seeks(case.phase) or 0, 1)
    if (
        not size
        or not mean_ms
        or size > (MAX_SEEK_KIB if case.one_disk() or alone(case) else MAX_PIECE_KIB)
        or far_kib < MIN_FAR_KIB
    ):
        return NO_GAIN
    return _figure(TWICE / (1 + size / PLATTER_KIB_MS / mean_ms), "in MiB/s, with pieces twice as large")


def half_the_flushes(case: Case) -> Gain:
    """The gain of a program that waits for each flush: the writes between two flushes take next to no time. On one disk
    with heads they take turns of the platter that depend on their places."""
    heads = case.one_disk() and case.rotates()
    return NO_GAIN if heads else _figure(TWICE, "with half as many fsync calls, each with twice the data")


def more_slots(case: Case, limit: int, waits: tuple[float, float] | None) -> Gain:
    """The gain of a queue with more requests. Those that wait for one are counted by Little's law: rate times the time from
    queue to completion. waits: ms of the fastest request and of the median."""
    seconds = case.phase.seconds()
    queued = (case.phase.count(case.direction, "q2c_sum_ns") or 0) / 1e9 / seconds if seconds else 0.0
    flash = case.one_disk() and not case.rotates()
    array = limit <= MAX_FEW_SLOTS and waits is not None and _unhindered(case, *waits)
    if not (flash or array) or queued <= limit:
        return NO_GAIN
    return _figure(min(queued / limit, TWICE), "with twice as many")


def not_held_back(case: Case, held_ms: float, served_ms: float) -> Gain:
    """The gain without a scheduler that delays requests by more than the disk then takes, on drives that work at once."""
    local = not case.virtual() and not case.rotates() if case.one_disk() else case.local_array()
    return _figure((held_ms + served_ms) / served_ms, "") if local else NO_GAIN


def others_gone(case: Case, part: float, fast_ms: float) -> Gain:
    """The gain without the load of others, on a disk without heads. part: their share of the load. At the limit of a volume
    their part is free then; on a local disk a request takes what the fastest did."""
    mean_ms, rate = q.d2c_mean_ms(case.phase, case.direction), even(case, case.phase)[0]
    if not case.one_disk() or case.rotates() or not mean_ms or part >= 1:
        return NO_GAIN
    if case.virtual() or fast_ms >= MIN_NETWORK_MS:
        limited = rate is not None and straight(rate)
        return _figure(1 / (1 - part), "without them") if limited else NO_GAIN
    sizes = case.phase.histogram(case.direction, "size")
    # With other sizes, the fastest requests may all belong to one process.
    if max(sizes.values(), default=0) < MIN_ONE_SIZE_SHARE * sum(sizes.values()):
        return NO_GAIN
    held_ms = case.wait_ms("i2d_sum_ns", "issued") or 0.0
    return _figure((mean_ms + held_ms) / fast_ms, "without them")


def unbroken(length: float, silent: float, interval: float) -> Gain:
    """The gain of a phase without its silence, all in s. The silence is known by the sample, so that it may have been two
    intervals longer. NO_GAIN: the rest is too short to tell."""
    rest = length - silent
    if rest <= 2 * interval:
        return NO_GAIN
    least, most = length / rest, length / (rest - 2 * interval)
    return _figure(least, "") if most <= MAX_EQUAL_FACTOR * least else ((least, most), "")


def no_pauses(case: Case, idle: float, fast_ms: float) -> Gain:
    """The gain of a program without its pauses, or computing. Without pauses its rate is that while the disk was busy,
    where it waits for each request, and where the disk is a local one without heads. Elsewhere a limit, or other seeks, may
    come first, and the figure is of pauses half as long. The disk's time is in addition to them where it does not work
    during them; where that is not known, the figure is in the middle of both, no more than an eighth from either."""
    calls, waits = case.direct(), alone(case)
    if calls and waits and not case.rotates() and not case.virtual() and fast_ms < MIN_NETWORK_MS:
        return _figure(1 / (1 - min(idle, 0.999)), "")
    least = 1 / (1 - idle / 2)
    if calls and waits and not case.reads_ahead():
        return _figure(least, "with pauses half as long")
    if idle >= LONG_IDLE_SHARE:
        return _figure(math.sqrt(TWICE * least), "with pauses half as long")
    return at_most(idle)
