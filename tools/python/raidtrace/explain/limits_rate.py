# SPDX-License-Identifier: GPL-2.0-or-later
"""Limits that do not depend on the load: the limit of a volume, and bytes that the program did not request."""

import dataclasses
import shlex
from collections.abc import Iterator, Sequence

from raidtrace.explain import constants as k
from raidtrace.explain import gain
from raidtrace.explain.case import DISK, EMPTY, Case, inferred, open_question, rule, ruled_out, unknown
from raidtrace.explain.evidence import Limit, Verdict
from raidtrace.explain.gain import even, local, straight, tolerance
from raidtrace.explain.limits_device import ceiling_near, cheaper, fastest_ms, flat, of_one_size, waits_ms
from raidtrace.explain.steps import ahead
from raidtrace.quantity import units
from raidtrace.recording import quantities as q
from raidtrace.recording.observation import LIMIT_FILES, Charged, Even

# A mapping with no more page faults for each piece is read randomly. Some faults are of the program and its libraries.


def _kind(case: Case, mine: Even) -> str:
    """The unit of the limit, "IOPS" or "bandwidth", if request sizes show it. Otherwise empty."""
    if min(mine.requests, mine.bytes) <= k.EVEN_REQUESTS and max(mine.requests, mine.bytes) > tolerance(mine):
        return "IOPS" if mine.requests <= k.EVEN_REQUESTS else "bandwidth"
    for other in case.siblings:
        there, _ = even(case, other)
        if there is None or not straight(there):
            continue
        sizes = [one.mib_per_s / one.iops for one in (mine, there)]
        if max(sizes) < k.TWICE * min(sizes):
            continue
        if q.agree(there.iops, mine.iops):
            return "IOPS"
        if q.agree(there.mib_per_s, mine.mib_per_s):
            return "bandwidth"
    return ""


TITLE = {"IOPS": "IOPS cap", "bandwidth": "Bandwidth cap", "": "Throttling"}
REMEDY = {
    "IOPS": "neither readahead nor depth helps. Use larger requests, or raise the IOPS limit of the volume",
    "bandwidth": "neither readahead, depth nor request size helps. Transfer less, or raise the bandwidth limit of the volume",
    "": "neither readahead nor depth helps. If the limit counts requests, use larger ones; if it counts bytes, only a higher "
    "limit of the volume helps. A run with another request size shows which",
}
NAMED = {"IOPS": "an IOPS limit", "bandwidth": "a bandwidth limit", "": "an IOPS or bandwidth limit"}


@rule("throttled", "Throttling", DISK)
def throttled(case: Case) -> Limit:
    """A limit of IOPS or bandwidth (cloud volume, QoS of a virtual machine).

    A token bucket lets requests through at even intervals. So the sum of completions is a straight line, while requests
    take longer than the fastest one did."""
    (rate, both) = even(case, case.phase)
    if case.rotates():
        return unknown("the rate of a rotating disk can be as even as a limit")
    times = waits_ms(case)
    if rate is None or times is None:
        return unknown("too few samples, or requests of too many sizes, to judge how even the rate is")
    values = (
        case.value("iops", rate.iops, "reqs./s", "completed"),
        case.value("uneven", min(rate.requests, rate.bytes), "reqs.", "completed", "bytes-completed"),
        case.value("fastest", times[0], "ms", "d2c"),
        case.value("median", times[1], "ms", "d2c"),
    )
    of = "reads and writes" if both else f"{case.direction}s"
    text = f"{rate.iops:,.0f} {of} a second, {rate.mib_per_s:,.1f} MiB/s"
    if not straight(rate):
        return ruled_out(f"{text}, not at even intervals", *values)
    if times[1] < k.SLOWER * times[0]:
        text = f"{text}: {case.direction}s take {times[1]:.3g} ms, as long as the fastest: none waits for a limit"
        return ruled_out(text, *values)
    if local(case, rate):
        return open_question(
            f"{text} at even intervals: this may be a limit, or the rate of the disk or its link", *values
        )
    delayed = (times[1] - times[0]) / 1e3 * rate.iops
    if case.waits_for_host() and not (gain.alone(case) and delayed >= k.WORTH):
        return open_question(f"{text} at even intervals: this may be a limit, or the pace of the program", *values)
    kind = _kind(case, rate)
    text = (
        f"{text} at even intervals; {_slower(case, *times)}: "
        f"{NAMED[kind]}, of the volume or of a part of the disk, delays all but the fastest"
    )
    remedy = ". ".join(filter(None, (REMEDY[kind], cheaper(case))))
    return inferred(text, remedy, *values, gain=gain.twice_the_limit(case, rate.iops, times[0]), title=TITLE[kind])


def _slower(case: Case, few_ms: float, many_ms: float) -> str:
    """The times of waits_ms() in words: of requests of one size, or at a low and a high depth."""
    if of_one_size(case):
        return f"the median is {many_ms:.3g} ms, and the fastest took {few_ms:.3g} ms"
    return f"a request takes about {few_ms:.2g} ms with few in flight, and about {many_ms:.2g} ms with more"


def requested_bytes(case: Case) -> int | None:
    """Bytes of the command's read calls, and of the pages of mappings that it waited for. None: not recorded."""
    host = case.phase.host
    if ("command", "rchar") not in host and ("command", "major_faults") not in host:
        return None
    return host.get(("command", "rchar"), 0) + k.PAGE_BYTES * host.get(("command", "major_faults"), 0)


@rule("read amplification", "Amplification", DISK)
def amplification(case: Case) -> Limit:
    """Readahead that fetches far more than the program uses."""
    used = requested_bytes(case)
    fetched, by_readahead = q.octets(case.phase, "read"), ahead(case.reading)
    count, streams = case.phase.count("read", "queued"), case.phase.count("read", "stream_queued")
    if case.direction != "read" or not used or not fetched or None in (by_readahead, count, streams):
        return unknown("the bytes that the program requested are not available")
    ratio = fetched / used
    values = (
        case.value("amplification", ratio, "bytes/byte", "bytes-completed", "rchar", "major_faults"),
        case.value("asked-with-faults", used, "bytes", "rchar", "major_faults"),
    )
    text = (
        f"read {units.significant(ratio)} bytes for each byte requested by calls and page faults "
        f"({units.octets(fetched)} for {units.octets(used)})"
    )
    if case.by_kernel() > k.HALF:
        return unknown("kernel threads queue the reads, one layer above the disk, whose callers are not known")
    if ratio < k.SEVERAL or not case.reads_ahead() or q.foreign(case.phase, "read"):
        return ruled_out(text, *values)
    jumps, faults = (count or 0) - (streams or 0), case.phase.host.get(("command", "major_faults"), 0)
    if jumps < k.NUMBER or (k.SEVERAL * jumps < faults and faults * k.PAGE_BYTES > used / 2):
        return open_question(f"{text}; but pages of a mapping that were used without waiting are not counted", *values)
    window, largest = case.reading.readahead_sectors() or 0, case.reading.largest_sectors() or 0
    each = units.octets(used / jumps)
    text = f"{text}: readahead is {q.kib(window)}, and the program uses {each} at each place"
    place_ms = case.phase.seconds() * 1e3 / jumps
    least = (
        None if case.rotates() else fastest_ms(case.phase.histogram("read", "d2c"))
    )  # a disk with heads: the fastest request says nothing of a seek
    # With one request per piece, a smaller request may take as long, unless other requests were faster.
    slower = least is not None and place_ms >= k.TWICE * least
    if case.waits_for_host() or not largest or window < 2 * largest or ((case.depth() or 0.0) < 2 and not slower):
        return open_question(f"{text}. Only an experiment can show whether a smaller readahead is faster", *values)
    if least and place_ms < k.MIN_FACTOR * least:
        text = (
            f"{text}. A piece takes {place_ms:.3g} ms, the fastest request {least:.3g} ms: a smaller readahead "
            "would hardly be faster"
        )
        return ruled_out(text, *values)
    optimal = case.phase.setting("optimal_io_size") or 0
    origin = (
        "; the kernel set this readahead to twice optimal_io_size"
        if optimal and window * q.SECTOR == 2 * optimal
        else ""
    )
    mapped = "madvise(MADV_RANDOM) in the program, or " if faults * k.PAGE_BYTES > used / 2 else ""
    return inferred(f"{text}{origin}", f"{mapped}blockdev --setra 32 /dev/{case.phase.disk.name}", *values)


@rule("rereads", "Re-reads", DISK)
def rereads(case: Case) -> Limit:
    """Pages that were in memory, were evicted, and are read again: the memory of the machine or of a cgroup is too small."""
    pages, read = (case.phase.host.get(("vmstat", name)) for name in ("workingset_refault_file", "pgpgin"))
    mine = q.octets(case.phase, "read")
    if case.direction != "read" or pages is None or not read or not mine:
        return unknown("pages that were read again were not counted")
    whole = read * k.KIB
    part = min(pages * k.PAGE_BYTES / whole, 1.0)
    value = case.value("read-again", part, "of 1", "vmstat workingset_refault_file", "vmstat pgpgin")
    text = f"{q.percent(part)} of the bytes that the machine read had been in memory and were evicted not long before"
    if part < k.WORTH:
        return ruled_out(text, value)
    if part < k.HALF:
        return open_question(f"{text}; pages that were evicted longer ago are not counted", value)
    if case.reads_ahead():  # a readahead that fetches more than is used evicts what is used
        return open_question(f"{text}; but most bytes were read ahead, and readahead itself may evict pages", value)
    if mine < k.HALF * whole:
        return open_question(f"{text}; but this disk read only {units.octets(mine)} of {units.octets(whole)}", value)
    return inferred(
        f"{text}: the page cache, or the memory that a cgroup allows (memory.max), is too small for the data",
        "raise memory.max of the program's cgroup, add memory, or let the program use less data at a time",
        value,
        share=part * case.share_of(DISK),
    )


# io.max: the rate of a disk that a cgroup is allowed, and whether the load reached it.
#
# The kernel delays a bio before it is queued, so it is not in flight. The disk is idle, as if the program did not
# submit. The kernel counts the bytes of a bio once. It counts a bio once for each request that it is split into, for
# its cgroup and all cgroups above it (block/blk-throttle.c). A kernel thread queues the delayed bios.

IO_MAX = "io.max"
LIMIT_NAMES = {"read": ("rbps", "riops"), "write": ("wbps", "wiops")}


@dataclasses.dataclass(frozen=True)
class Allowed:
    """A limit of a cgroup. name: its name in io.max. rate: bytes or bios per second. file: of version 1, where a limit has a
    file; "": io.max."""

    path: str
    name: str
    rate: int
    file: str = ""

    def holds(self, cgroup: str) -> bool:
        """Whether the limit applies to a cgroup, which is its own or, in version 2, below it. Only the end of a long path is
        known."""
        if cgroup.startswith("..."):
            return self.path.endswith(cgroup[3:])
        return cgroup == self.path or (not self.file and cgroup.startswith(f"{self.path}/"))

    def text(self, rate: float) -> str:
        """The text of a rate in the unit of the limit."""
        return f"{units.octets(rate)}/s" if self.name.endswith("bps") else f"{units.three(rate)} a second"


@dataclasses.dataclass(frozen=True)
class Reached:
    """The used part of a limit, from 0 to 1. least and most differ because a cgroup's directions are
    counted together."""

    allowed: Allowed
    least: float
    most: float
    bios: int
    by_kernel: int


def allowed(file: str, text: str) -> Iterator[Allowed]:
    """The limits in the text of a setting, a file of LIMIT_FILES. A path may contain blanks."""
    for line in text.splitlines():
        if one := LIMIT_FILES[file]:
            path, _, number = line.rpartition(" ")
            if number.isdigit() and int(number):
                yield Allowed(path, one, int(number), file)
            continue
        words = line.rsplit(" ", 4)
        for name, _, number in (word.partition("=") for word in words[1:]):
            if number.isdigit() and int(number):
                yield Allowed(words[0], name, int(number))


@rule(IO_MAX, IO_MAX, EMPTY)
def io_max(case: Case) -> Limit:
    """A limit that a cgroup of the submitters reaches."""
    settings = [(name, case.phase.settings[name]) for name in LIMIT_FILES if name in case.phase.settings]
    settings += [(change.name, change.after) for change in case.phase.timeline.changes if change.name in LIMIT_FILES]
    if not settings:
        return unknown("limits of cgroups were not recorded")
    every = dict.fromkeys(
        one
        for name, text in settings
        for one in allowed(name, text or "")
        if one.name in LIMIT_NAMES.get(case.direction, ())
    )
    if not every:
        return ruled_out(f"no cgroup has a limit of {case.direction}s")
    idle, names = case.idle(), ", ".join(dict.fromkeys(one.path for one in every))
    if not (charged := case.phase.charged) or idle is None:
        lacks = "idle time was" if charged else "the submitters (group submitter, needs cgroups in the kernel) were"
        return open_question(f"{names} have a limit, but {lacks} not counted")
    near = [one for one in (_reached(case, limit, case.phase.charged) for limit in every) if one]
    if not near:
        return ruled_out(f"{names} have a limit, but queued less than half of the bytes")
    best = max(near, key=lambda one: (one.least, one.most))
    value = case.value("of-limit", best.least, "of 1", IO_MAX, "bytes-queued", "queued", "splits")
    reach = " to ".join(dict.fromkeys((f"{best.least:.0%}", f"{best.most:.0%}")))
    file = best.allowed.file or best.allowed.name
    allows = f"{file} of {best.allowed.path} allows {best.allowed.text(best.allowed.rate)}"
    text = f"{allows}; the rate reached {reach} of this"
    if best.most < k.NEARLY_ALL and best.by_kernel and _asks_itself(case):
        return open_question(f"{text}; but {best.by_kernel} bios were delayed", value)
    if best.most < k.NEARLY_ALL:
        return ruled_out(text, value)
    stuck = case.stuck()
    if stuck is not None:
        text = f"{text}, and {stuck}"
    elif best.least < k.NEARLY_ALL:
        return open_question(f"{text}; only the sum of the cgroup's reads and writes is counted", value)
    by_thread = best.by_kernel / max(best.bios, 1)
    if ceiling_near(case) or (
        not case.waits_for_host() and not stuck and (flat(case) or by_thread < k.HALF or not _asks_itself(case))
    ):
        text = f"{text}, but the disk was idle for only {q.percent(idle)} of the time"
        return open_question(f"{text}: only an experiment can show whether a higher limit is faster", value)
    text = (
        f"{text}: the disk was idle for {q.percent(idle)} of the time; kernel threads queued "
        f"{q.percent(by_thread)} of its bios"
    )
    return inferred(
        text,
        _remedy(case, best.allowed),
        value,
        share=idle,
        gain=gain.twice_io_max(idle),
        title="blkio.throttle" if best.allowed.file else "",
    )


def reached(limit: Limit) -> bool:
    """Whether the rate is near the limit of io.max. If it is, removing another cause would not raise the rate."""
    near = any((value.value or 0.0) >= k.NEARLY_ALL for value in limit.values)
    return limit.key == IO_MAX and (near or limit.verdict is Verdict.INFERRED)


def _asks_itself(case: Case) -> bool:
    """Whether kernel threads queue only delayed bios of this direction, because nothing is written back."""
    return case.direction == "read" or case.direct()


def _reached(case: Case, limit: Allowed, charged: Sequence[Charged]) -> Reached | None:
    """The used part of one limit. None: its cgroup and those below it queued less than HALF of the bytes,
    or the phase took no time."""
    below = [one for one in charged if limit.holds(one.cgroup)]
    octets, whole = sum(one.bytes for one in below), sum(one.bytes for one in charged)
    length = case.phase.seconds()
    if not octets or octets < k.HALF * whole or not length:
        return None
    bios, splits = sum(one.bios for one in below), case.phase.count(case.direction, "splits") or 0
    mine, every, moved = float(octets), float(whole), float(case.phase.count(case.direction, "bytes_queued") or 0)
    if limit.name.endswith("iops"):  # a bio counts once for each part of a split, and large bios are split
        mine, every = bios + splits * octets / whole, sum(one.bios for one in charged) + float(splits)
        moved = float((case.phase.count(case.direction, "queued") or 0) + splits)
    most, least = min(moved, mine), max(moved - (every - mine), 0.0)
    by = length * limit.rate  # a large bio that was delayed before the phase began exceeds it
    return Reached(
        limit, min(least / by, most / by, 1.0), min(most / by, 1.0), bios, sum(one.by_kernel for one in below)
    )


def _remedy(case: Case, limit: Allowed) -> str:
    lifted = "0" if limit.file else f"{limit.name}=max"
    where = f"/sys/fs/cgroup/blkio{limit.path}/{limit.file}" if limit.file else f"/sys/fs/cgroup{limit.path}/io.max"
    return f'echo "$(cat /sys/block/{case.phase.disk.name}/dev) {lifted}" >{shlex.quote(where.replace("//", "/"))}'
