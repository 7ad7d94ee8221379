# SPDX-License-Identifier: GPL-2.0-or-later
"""Rates that the load does not decide: the limit of a volume, and bytes that nobody requested."""

from raidtrace.explain import gain
from raidtrace.explain.case import Case, inferred, open_question, ruled_out, unknown
from raidtrace.explain.even import EVEN, even, local, straight, tolerance
from raidtrace.explain.evidence import Limit
from raidtrace.explain.limits_device import WAITED, cheaper, fastest_ms, waits_ms
from raidtrace.quantity import size
from raidtrace.recording import quantities as q
from raidtrace.recording.timeline import Even

IDLE = 0.15  # part of the time without work, from which on the rate may be the program's
HELD = 0.13  # part of the time between two requests that the limit added: without it the rate is 15 % higher
OTHER = 1.5  # times the size of the requests of another phase, from which on it tells the kinds of limits apart
LEAST_JUMPS = 8  # pieces that were read, from which on their mean says something
FAULTS = (
    4  # faults for each place up to which a mapping is read out of order; the program and its libraries have some, too
)
PAGE = 4096  # bytes of a page that is touched, x86
AMPLIFIED = 4.0  # bytes read for each requested byte, from which on that is a cause
DEARER = 1.15  # times the fastest request that the window of a place takes, from which on a smaller one is faster
SLOWER = 2.0  # times that request, from which on a place that is not read with several at once counts as slow
AHEAD = 0.5  # part of the bytes that were read ahead


def _kind(case: Case, mine: Even) -> str:
    """What the limit counts, "IOPS" or "bandwidth", where sizes tell; else empty."""
    if min(mine.requests, mine.bytes) <= EVEN and max(mine.requests, mine.bytes) > tolerance(mine):
        return "IOPS" if mine.requests <= EVEN else "bandwidth"
    for other in case.siblings:
        there, _ = even(case, other)
        if there is None or not straight(there):
            continue
        sizes = [one.mib_per_s / one.iops for one in (mine, there)]
        if max(sizes) < OTHER * min(sizes):
            continue
        if q.agree(there.iops, mine.iops):
            return "IOPS"
        if q.agree(there.mib_per_s, mine.mib_per_s):
            return "bandwidth"
    return ""


TITLE = {"IOPS": "IOPS cap", "bandwidth": "Bandwidth cap", "": "Throttling"}
REMEDY = {
    "IOPS": "neither more readahead nor depth helps. Larger requests move more, or the volume needs a higher limit of IOPS",
    "bandwidth": "neither more readahead, depth nor size of requests helps: ask for less, or raise the volume's limit of "
    "bandwidth",
    "": "neither more readahead nor depth helps. If the limit counts requests, larger ones move more; if it counts bytes, "
    "only a higher limit of the volume does. A run with requests of another size tells which",
}


def throttled(case: Case) -> Limit:
    """A limit of IOPS or of bandwidth (cloud volume, QoS of a virtual machine): a token bucket lets requests through at even
    intervals, so that the sum of completions is a straight line while requests take longer than the fastest did."""
    key, title, (rate, both) = "throttled", "Throttling", even(case, case.phase)
    if case.rotates():
        return ruled_out(key, title, "the disk rotates: a request a turn, or the platter, is as even as a limit")
    times = waits_ms(case)
    if rate is None or times is None:
        return unknown(key, title, "too few samples, or requests of too many sizes, to judge how even the rate is")
    values = (
        case.value("iops", rate.iops, "reqs./s", "completed"),
        case.value("uneven", min(rate.requests, rate.bytes), "reqs.", "completed", "bytes-completed"),
        case.value("fastest", times[0], "ms", "d2c"),
        case.value("median", times[1], "ms", "d2c"),
    )
    of = "reads and writes" if both else f"{case.direction}s"
    text = f"{rate.iops:,.0f} {of} a second, {rate.mib_per_s:,.1f} MiB/s"
    if not straight(rate):
        return ruled_out(key, title, f"{text}, not at even intervals", *values)
    if times[1] < WAITED * times[0]:
        text = f"{text}: {case.direction}s take {times[1]:.3g} ms, as the fastest did: none waits for a limit"
        return ruled_out(key, title, text, *values)
    if local(case, rate):
        return open_question(
            key, title, f"{text} at even intervals: a limit, or the rate of the disk and its link", *values
        )
    delayed = (times[1] - times[0]) / 1e3 * rate.iops
    if (case.idle() or 0.0) >= IDLE and not (gain.alone(case) and delayed >= HELD):
        return open_question(key, title, f"{text} at even intervals: a limit, or the pace of the program", *values)
    kind = _kind(case, rate)
    text = (
        f"{text} at even intervals, while half of them take {times[1]:.3g} ms or more and the fastest took {times[0]:.3g} ms: "
        f"a limit of {kind or 'IOPS or bandwidth'}, of the volume or of a part of the disk, holds them back"
    )
    gained, change = gain.twice_the_limit(case, rate.iops, times[0])
    remedy = ". ".join(filter(None, (REMEDY[kind], cheaper(case))))
    return inferred(key, TITLE[kind], text, remedy, *values, gain=gained, gain_of=change)


def requested_bytes(case: Case) -> int | None:
    """Bytes that the command read by calls, and pages of mappings that it waited for. None: not recorded."""
    host = case.phase.host
    if ("command", "rchar") not in host and ("command", "major_faults") not in host:
        return None
    return host.get(("command", "rchar"), 0) + PAGE * host.get(("command", "major_faults"), 0)


def amplification(case: Case) -> Limit:
    """Readahead that fetches far more than the program uses."""
    key, title, used = "read amplification", "Amplification", requested_bytes(case)
    fetched, ahead = q.octets(case.phase, "read"), q.share(case.phase, "read", "bytes_ahead_queued", "bytes_queued")
    count, streams = case.phase.count("read", "queued"), case.phase.count("read", "stream_queued")
    if case.direction != "read" or not used or not fetched or None in (ahead, count, streams):
        return unknown(key, title, "the bytes that the program asked for were not recorded")
    ratio = fetched / used
    values = (
        case.value("amplification", ratio, "bytes/byte", "bytes-completed", "rchar", "major_faults"),
        case.value("asked-with-faults", used, "bytes", "rchar", "major_faults"),
    )
    text = (
        f"read {size.significant(ratio)} bytes for each byte asked for by calls and page faults ({size.short(fetched)} for "
        f"{size.short(used)})"
    )
    if ratio < AMPLIFIED or (ahead or 0.0) < AHEAD or q.foreign(case.phase, "read"):
        return ruled_out(key, title, text, *values)
    jumps, faults = (count or 0) - (streams or 0), case.phase.host.get(("command", "major_faults"), 0)
    if jumps < LEAST_JUMPS or (FAULTS * jumps < faults and faults * PAGE > used / 2):
        return open_question(
            key, title, f"{text}; but pages of a mapping that were used without waiting are not counted", *values
        )
    window, largest = case.reading.readahead_sectors() or 0, case.reading.largest_sectors() or 0
    text = f"{text}: readahead is {q.kib(window)}, and the program uses {size.short(used / jumps)} of each place that it reads"
    place_ms = case.phase.seconds() * 1e3 / jumps
    least = (
        None if case.rotates() else fastest_ms(case.phase.histogram("read", "d2c"))
    )  # heads: it tells nothing of a place
    # One request a place may take no longer than a smaller one would, unless there were faster ones.
    slower = least is not None and place_ms >= SLOWER * least
    if (
        (case.idle() or 0.0) >= IDLE
        or not largest
        or window < 2 * largest
        or ((case.depth() or 0.0) < 2 and not slower)
    ):
        return open_question(
            key, title, f"{text}. Whether less would come faster only a smaller readahead tells", *values
        )
    if least and place_ms < DEARER * least:
        text = (
            f"{text}. A place takes {place_ms:.3g} ms, the fastest request {least:.3g} ms: less would hardly be faster"
        )
        return ruled_out(key, title, text, *values)
    optimal = case.phase.setting("optimal_io_size") or 0
    origin = " (twice optimal_io_size, as the kernel sets it)" if optimal and window * q.SECTOR == 2 * optimal else ""
    mapped = "madvise(MADV_RANDOM) in the program, or " if faults * PAGE > used / 2 else ""
    return inferred(key, title, f"{text}{origin}", f"{mapped}blockdev --setra 32 /dev/{case.phase.disk.name}", *values)
