# SPDX-License-Identifier: GPL-2.0-or-later
"""How many times as fast a change makes a phase, computed from its own recording.

Each function returns (gain, change): the gain as Limit.gain has it, the change in words. A change is a small one, twice or half
of something, so that nothing else becomes the limit first. None: the recording does not give the number.
"""

from raidtrace.explain.case import Case
from raidtrace.explain.even import even, straight
from raidtrace.recording import quantities as q

Gain = tuple[tuple[float, float] | None, str]
NONE: Gain = (None, "")
TWICE = 2.0
SHORT_KIB = 64  # size of a random request up to which the seek takes nearly all of its time
PLATTER_KIB_MS = 100.0  # what a disk with heads transfers in a ms, about
EQUAL = 1.1  # times the fastest request, up to which the median waits for no other
NETWORK_MS = 0.3  # of the fastest request, from which on a disk without heads is no local one
ALONE = 0.95  # part of the requests that are issued with nothing in flight
CALLS = 0.5  # part of the bytes past the page cache, from which on a call of the program is a request


def _figure(gain: float, change: str) -> Gain:
    return (max(gain, 1.0),) * 2, change


def alone(case: Case) -> bool:
    """Whether nearly all requests were issued with nothing in flight: the program waits for each."""
    depths = case.phase.histogram("all", "depth_issue")
    return depths.get(0, 0) >= ALONE * sum(depths.values())


def twice_the_limit(case: Case, iops: float, fast_ms: float) -> Gain:
    """The gain of a volume with twice its limit. The time from one request to the next halves, but a request takes no less
    than the fastest did."""
    mean_ms = q.d2c_mean_ms(case.phase, case.direction)
    if not mean_ms or not iops:
        return NONE
    cycle = 1e3 / iops if alone(case) else mean_ms  # ms from one request of a thread to its next
    least = cycle - max(mean_ms - fast_ms, 0.0)
    return _figure(cycle / max(cycle / TWICE, least), "with twice the limit")


def more_in_flight() -> Gain:
    """Of a disk that gives no more with more in flight."""
    return _figure(1.0, "from more in flight or more readahead")


def twice_in_flight(case: Case, fast_ms: float, middle_ms: float) -> Gain:
    """The gain of one local disk without heads, with requests that do not wait for each other. A volume behind a network takes
    longer for each, and may have a limit that does not show below it."""
    volume = case.virtual() or fast_ms >= NETWORK_MS
    if not case.one_disk() or case.rotates() or volume or middle_ms > EQUAL * fast_ms:
        return NONE
    return _figure(TWICE, "with twice as many in flight")


def larger_pieces(case: Case) -> Gain:
    """The gain of larger random reads: a piece twice as large costs the same seek, and its transfer."""
    size, mean_ms = (q.size_mean(case.phase, case.direction) or 0.0) / 2, q.d2c_mean_ms(case.phase, case.direction)
    if not size or not mean_ms or size > SHORT_KIB:
        return NONE
    return _figure(TWICE / (1 + size / PLATTER_KIB_MS / mean_ms), "in MiB/s, with pieces twice as large")


def half_the_flushes(case: Case) -> Gain:
    """Of a program that waits for each flush of a disk without heads: the writes between two flushes take next to no time."""
    return NONE if case.rotates() else _figure(TWICE, "with half as many flushes")


def more_slots(case: Case, limit: int) -> Gain:
    """Of a queue with too few requests. Those that wait for one are counted by Little's law: rate times the time from queue to
    completion."""
    seconds = case.phase.seconds()
    queued = (case.phase.count(case.direction, "q2c_sum_ns") or 0) / 1e9 / seconds if seconds else 0.0
    if not case.one_disk() or case.rotates() or queued <= limit:
        return NONE
    return _figure(min(queued / limit, TWICE), "with twice as many")


def others_gone(case: Case, part: float, fast_ms: float) -> Gain:
    """Of a disk without heads. part: of its load that is of others. At the limit of a volume their part is free then; on a
    local disk a request takes what the fastest did."""
    mean_ms, rate = q.d2c_mean_ms(case.phase, case.direction), even(case, case.phase)[0]
    if not case.one_disk() or case.rotates() or not mean_ms or part >= 1:
        return NONE
    if case.virtual() or fast_ms >= NETWORK_MS:
        limited = rate is not None and straight(rate)
        return _figure(1 / (1 - part), "without them") if limited else NONE
    held_ms = case.wait_ms("i2d_sum_ns", "issued") or 0.0
    return _figure((mean_ms + held_ms) / fast_ms, "without them")


def no_pauses(case: Case, idle: float, fast_ms: float) -> Gain:
    """Of a program that pauses. What it does without pauses is its rate while the disk was busy, where it waits for each
    request, and where the disk is a local one without heads: the pauses of a volume may hide its limit, those of heads change
    the ways to the next places."""
    most = 1 / (1 - min(idle, 0.999))
    waits = (q.class_share(case.phase, "direct") or 0.0) >= CALLS and alone(case)
    local = not case.rotates() and not case.virtual() and fast_ms < NETWORK_MS
    return ((most if waits and local else 1.0), most), ""
