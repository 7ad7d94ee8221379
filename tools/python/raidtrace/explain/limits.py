# SPDX-License-Identifier: GPL-2.0-or-later
"""What holds the throughput of a phase down, each possibility with the numbers for or against it.

The order is that of what is nearer to the cause: a disk that waits for its program is not limited by its ceiling, whatever
else is true of it.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from raidtrace.explain import ceiling
from raidtrace.explain.evidence import Limit, Value, Verdict
from raidtrace.explain.links_disk import depth_verdict
from raidtrace.explain.links_queue import FOLLOWS, in_order, source
from raidtrace.quantity import bins
from raidtrace.recording import quantities as q
from raidtrace.recording.observation import Observation
from raidtrace.recording.quantities import Reading

IDLE = 0.15  # from this part of the time without work on the disk waits for the host
COMPUTES = (
    0.4  # processor time of the command by the time the disk waited: from here on it is computing that it waits for
)
FULL = 0.5  # a queue that is full for this part of the time is a limit
DIRECT = 0.5  # part of the bytes
DRY = 0.1  # part of the time that a queue which ran empty cost
SPREAD = 2.5  # p95 by p50 of the time to completion of equal requests in order: some part of the array is slower
GAIN = 0.2  # what twice the depth adds less than this to is at its ceiling; means of depth-d2c are no better
FLAT_FROM = 32  # requests in flight: an array of fewer drives has all of them at work
DEEP = 8  # requests in flight, from which on a ceiling is looked for
PURE = 0.9  # part of requests that must be alike for SPREAD to mean anything
ENOUGH = 8  # requests in a row of depth-d2c that its mean is taken of


@dataclasses.dataclass(frozen=True)
class Case:
    """A reading with what its recording says beside it. beside: the other phases of the disk."""

    reading: Reading
    way: str
    meta: Mapping[str, str]
    beside: Sequence[Observation] = ()


def limits(
    reading: Reading, way: str, meta: Mapping[str, str], beside: Sequence[Observation] = ()
) -> tuple[Limit, ...]:
    """Those that are shown first, in the order of nearness to the cause; then what is ruled out; then what is not known."""
    case = Case(reading, way, meta, beside)
    found = [make(case) for make in MAKERS]
    order = (Verdict.SHOWN, Verdict.NOT_SHOWN, Verdict.CONTRADICTED, Verdict.NOT_AVAILABLE)
    return tuple(sorted(found, key=lambda limit: order.index(limit.verdict)))


def degraded(case: Case) -> Limit:
    """An array that lacks a drive, where something says so."""
    seen, above = case.reading.seen, case.reading.above
    missing = (above.setting("md_degraded") if above else None) or seen.setting("md_degraded") or 0
    events = seen.settings.get("controller_events", "")
    if missing:
        whose = above.disk.name if above else seen.disk.name
        value = Value("md-degraded", missing, "disks", source(case.reading, "md_degraded"))
        text = f"{whose} lacks {missing} of its disks: what they held is worked out from all others"
        return Limit("degraded", "Degraded array", text, Verdict.SHOWN, (value,))
    if "egraded" in events:
        line = next(line for line in events.splitlines() if "egraded" in line)
        return Limit("degraded", "Degraded array", f'the controller said: "{line}"', Verdict.SHOWN)
    known = above is not None or "md_degraded" in seen.settings or "controller_events" in seen.settings
    return Limit("degraded", "Degraded array", "nothing recorded says that the array lacks a drive",
                 Verdict.CONTRADICTED if known else Verdict.NOT_AVAILABLE)  # fmt: skip


def slow_part(case: Case) -> Limit:
    """A member that is slower than the others: requests alike in size and order take very different times."""
    title, seen = "Slow drive", case.reading.seen
    times = seen.histogram(case.way, "d2c")
    mode, order = q.size_mode(seen, case.way), in_order(case.reading)
    other = q.octets(seen, "write" if case.way == "read" else "read") or 0
    steady = (q.idle_share(seen) or 0.0) < IDLE  # bursts spread the times of any disk
    alike = steady and mode is not None and mode[1] >= PURE and other <= 0.01 * (q.octets(seen, case.way) or 1)
    if case.way != "read" or not times or not alike or order is None or order < PURE:
        return Limit(
            "slow part",
            title,
            "only equal reads in order on a disk that is always busy would show it",
            Verdict.NOT_AVAILABLE,
        )
    middle, high = bins.quantile(times, 0.5) or 1.0, bins.quantile(times, 0.95) or 1.0
    late = sum(count for at, count in times.items() if bins.time(at)[0] >= 2 * middle) / sum(times.values())
    values = (Value("d2c-p95-by-p50", high / middle, "", source(case.reading, "d2c")),
              Value("d2c-late-share", late, "of 1", source(case.reading, "d2c")))  # fmt: skip
    if high / middle >= SPREAD:
        text = (f"{late:.0%} of equal reads in order take twice the {middle / 1e6:.2f} ms of the middle one or more, the "
                f"slowest twentieth {high / middle:.1f} times as long: a part of the array is slower than the rest, and "
                "each window waits for it")  # fmt: skip
        return Limit("slow part", title, text, Verdict.SHOWN, values)
    return Limit("slow part", title, f"equal reads take alike: the slowest twentieth {high / middle:.1f} times the middle one",
                 Verdict.CONTRADICTED, values)  # fmt: skip


def host(case: Case) -> Limit:
    """A disk that waits: for a processor, or for what the program does otherwise."""
    idle, used = q.idle_share(case.reading.seen), q.processors_used(case.reading.seen)
    free = case.meta.get("lab_time") == "simulated"
    title = "Program"
    if idle is None:
        return Limit("program", title, "idle time was not counted", Verdict.NOT_AVAILABLE)
    values = (Value("idle-share", idle, "of 1", source(case.reading, "depth-time")),)
    if idle < IDLE:
        return Limit(
            "program", title, f"the disk waited for the host for {idle:.1%} of the time", Verdict.CONTRADICTED, values
        )
    if used is not None and used >= COMPUTES * idle:
        return Limit("processor", "Processor", f"the disk had nothing to do for {idle:.1%} of the time while the command used "
                     f"{used:.2f} of a processor", Verdict.SHOWN,
                     (*values, Value("processors", used, "CPUs", source(case.reading, "command cpu"))))  # fmt: skip
    why = ("computing takes no time in simulated time, so it waited for something else, as sleep does" if free else
           "its processor time was not counted" if used is None else f"it used {used:.2f} of a processor")  # fmt: skip
    return Limit("program", title, f"the disk had nothing to do for {idle:.1%} of the time: the program did not ask; {why}",
                 Verdict.SHOWN, values)  # fmt: skip


def queue(case: Case) -> Limit:
    """A queue that takes fewer requests than there would be."""
    title, limit, predicted = "Queue depth", case.reading.queue_limit(), case.reading.predicted_depth()
    if limit is None:
        return Limit("queue depth", title, "the limit of the queue was not recorded", Verdict.NOT_AVAILABLE)
    full = q.share_at_least(case.reading.seen, "all", limit)
    if full is None:
        return Limit("queue depth", title, "the depth was not counted", Verdict.NOT_AVAILABLE)
    values = (Value("queue-depth", limit, "reqs.", source(case.reading, "queue_depth", "nr_tags")),
              Value("full-share", full, "of 1", source(case.reading, "depth-time")))  # fmt: skip
    wanted = predicted is None or case.way != "read" or predicted[0] > limit
    if full >= FULL and wanted:
        return Limit("queue depth", title, f"the queue takes {limit} at once and was full for {full:.1%} of the time",
                     Verdict.SHOWN, values)  # fmt: skip
    return Limit("queue depth", title, f"the queue takes {limit} at once and was full for {full:.1%} of the time",
                 Verdict.CONTRADICTED, values)  # fmt: skip


def direct(case: Case) -> Limit:
    """O_DIRECT: no page cache, no readahead; the program alone decides how much is on its way."""
    part = q.class_share(case.reading.seen, "direct")
    if part is None:
        return Limit("direct", "Direct I/O", "classes were not counted", Verdict.NOT_AVAILABLE)
    values = (Value("direct-share", part, "of 1", source(case.reading, "bytes-queued of class direct")),)
    if part < DIRECT:
        return Limit(
            "direct", "Direct I/O", f"{part:.1%} of the bytes went past the page cache", Verdict.CONTRADICTED, values
        )
    mean = q.depth_mean(case.reading.seen, case.way)
    deep = "" if mean is None else f", which keeps {mean:.2f} in flight"
    return Limit("direct", "Direct I/O", f"{part:.1%} of the bytes went past the page cache: nothing reads ahead, the program "
                 f"itself decides how much is on its way{deep}", Verdict.SHOWN, values)  # fmt: skip


def positioning(case: Case) -> Limit:
    """Random access: what is read next lies elsewhere, and nothing can be read ahead."""
    order, found = in_order(case.reading), q.seeks(case.reading.seen)
    title = "Seeks"
    if order is None or found is None or case.way != "read":
        return Limit("seeks", title, "not counted for this direction", Verdict.NOT_AVAILABLE)
    issued = sum(counts.get("issued", 0) for counts in case.reading.seen.flow.values())
    part = found / issued if issued else 0.0
    values = (Value("seek-share", part, "of 1", source(case.reading, "seek", "issued")),)
    if order < FOLLOWS and part >= FOLLOWS:
        wait = q.d2c_mean_ms(case.reading.seen, case.way) or 0.0
        text = (f"{part:.1%} of the requests begin elsewhere; each takes {wait:.2f} ms, most of it to get there, and the next "
                f"place is known to the program alone{_stream(case)}")  # fmt: skip
        return Limit("seeks", title, text, Verdict.SHOWN, values)
    return Limit("seeks", title, f"{part:.1%} of the requests begin elsewhere", Verdict.CONTRADICTED, values)


def _stream(case: Case) -> str:
    """What the same disk gave in order, where another phase of the recording shows it."""
    best = None
    for other in case.beside:
        order = in_order(Reading(case.reading.letter, other, case.reading.above))
        found, rate = q.seeks(other), q.mib_per_s(other, case.way)
        issued = sum(counts.get("issued", 0) for counts in other.flow.values())
        if (
            rate
            and order is not None
            and order >= PURE
            and q.direction(other) == case.way
            and (found or 0) <= 0.01 * issued
        ):
            best = max(best or (0.0, ""), (rate, other.phase))
    here = q.mib_per_s(case.reading.seen, case.way)
    if best is None or not here or here >= best[0]:
        return ""
    return f". In order this disk gave {best[0]:.0f} MiB/s (phase {best[1]}): {1 - here / best[0]:.0%} of the time is the cost"


def run_sectors(reading: Reading) -> float | None:
    """What is read in one piece, on average: bytes by bios that continue no stream."""
    queued, streams = reading.seen.count("read", "queued"), reading.seen.count("read", "stream_queued")
    moved = reading.seen.count("read", "bytes_queued")
    if queued is None or streams is None or moved is None or not queued:
        return None
    return moved / q.SECTOR / max(queued - streams, 1)


def pieces(case: Case) -> Limit:
    """Files, or pieces of them, that end before a window of readahead does."""
    title, run, readahead = "Size of files", run_sectors(case.reading), case.reading.readahead_sectors()
    if run is None or readahead is None or case.way != "read":
        return Limit("pieces", title, "not counted for this direction", Verdict.NOT_AVAILABLE)
    values = (Value("run", run, "sectors", source(case.reading, "bytes-queued", "queued", "stream-queued")),)
    order = in_order(case.reading) or 0.0
    text = f"what lies in one piece is {q.kib(round(run))} on average, readahead {q.kib(readahead)}"
    short = run < readahead and order >= FOLLOWS and depth_verdict(case.reading, case.way) is Verdict.CONTRADICTED
    return Limit("pieces", title, f"{text}: it ends before the window does" if short else text,
                 Verdict.SHOWN if short else Verdict.CONTRADICTED, values)  # fmt: skip


def dry(reading: Reading, way: str) -> tuple[int, float, float] | None:
    """How often the queue ran empty, the ms that a request alone takes, and the part of the time that this cost.

    Each time the disk delivers nothing for as long as one request alone takes, which is the time from the first issue to the
    first completion.
    """
    times = reading.seen.histogram("all", "depth_issue").get(0)
    alone = bins.rows(reading.seen.histogram(way, "depth_d2c")).get(0)
    if times is None or alone is None or not reading.seen.seconds():
        return None
    return times, alone[1], times * alone[1] / 1000 / reading.seen.seconds()


def metadata(reading: Reading) -> int:
    """Bios of metadata and journal."""
    return sum((reading.seen.origin or {}).get(name, {}).get("queued", 0) for name in ("metadata", "journal"))


def filesystem(case: Case) -> Limit:
    """Metadata that must be read before it is known what to read next."""
    title, seen = "File system", case.reading.seen
    found = dry(case.reading, case.way)
    if found is None or seen.origin is None or case.way != "read":
        return Limit("file system", title, "not counted", Verdict.NOT_AVAILABLE)
    times, alone, part = found
    blocks = metadata(case.reading)
    values = (Value("metadata-bios", blocks, "bios", source(case.reading, "queued of class metadata")),
              Value("ran-empty", times, "times", source(case.reading, "depth-issue")),
              Value("dry-share", part, "of 1", source(case.reading, "depth-issue", "depth-d2c")))  # fmt: skip
    if part >= DRY and blocks >= times / 2:
        rate = q.mib_per_s(seen, case.way) or 0.0
        return Limit("file system", title, f"{blocks} blocks of metadata were read on the way, and the queue ran empty {times} "
                     f"times: until such a block is there nobody knows what to read next. Each costs the {alone:.2f} ms that a "
                     f"request alone takes, together {part:.0%} of the time; data alone would have come at about "
                     f"{rate / (1 - min(part, 0.99)):.0f} MiB/s", Verdict.SHOWN, values)  # fmt: skip
    return Limit("file system", title, f"{blocks} blocks of metadata on the way, the queue ran empty {times} times",
                 Verdict.CONTRADICTED, values)  # fmt: skip


def saturated(reading: Reading, way: str) -> tuple[int, float] | None:
    """The depth that half of the requests found or more, as a row of depth-d2c, and what it adds to the throughput of the
    row of half the depth, of 1. None: there are no such rows."""
    rows = bins.rows(reading.seen.histogram(way, "depth_d2c"))
    found = reading.seen.histogram("all", "depth_issue")
    deep = next((at for at in sorted(rows, reverse=True)
                 if 2 * sum(n for depth, n in found.items() if depth >= at) >= sum(found.values())), 0)  # fmt: skip
    shallow = deep // 2
    if deep < DEEP or shallow not in rows or min(rows[deep][0], rows[shallow][0]) < ENOUGH:
        return None
    rate = []
    for row in (shallow, deep):
        met = {depth: n for depth, n in found.items() if row <= depth < 2 * row}
        rate.append((1 + sum(depth * n for depth, n in met.items()) / max(sum(met.values()), 1)) / rows[row][1])
    return deep, rate[1] / rate[0] - 1


def device(case: Case) -> Limit:
    """The disk itself: more in flight does not come faster."""
    title, found, idle = "Array's ceiling", saturated(case.reading, case.way), q.idle_share(case.reading.seen)
    top, rate = ceiling.of(case.meta, case.way), q.mib_per_s(case.reading.seen, case.way) or 0.0
    if idle is None:
        return Limit("device", title, "idle time was not counted", Verdict.NOT_AVAILABLE)
    values = [Value("mib-per-s", rate, "MiB/s", source(case.reading, "bytes-completed"))]
    if found is not None:
        values.append(Value("gain-of-depth", found[1], "of 1", source(case.reading, "depth-d2c")))
    near = top is not None and rate >= 0.85 * min(top.controller, top.drives)
    which = ""
    if top is not None and near:
        which = (
            f"; the profile {top.profile} gives the controller {top.controller:.0f} MiB/s, its drives {top.drives:.0f}"
        )
    flat = found is not None and found[0] >= FLAT_FROM and found[1] < GAIN
    if idle < IDLE and (near or flat):
        key, title = (top.lower(), f"{top.lower().capitalize()} ceiling") if top and near else ("device", title)
        return Limit(key, title, f"{_gain(found)}{rate:.0f} MiB/s is what comes{which}", Verdict.SHOWN, tuple(values))
    if found is None:
        return Limit(
            "device", title, "too few depths were tried to tell what more would bring", Verdict.NOT_SHOWN, tuple(values)
        )
    return Limit(
        "device", title, f"{_gain(found)}{rate:.0f} MiB/s, not yet a ceiling", Verdict.CONTRADICTED, tuple(values)
    )


def _gain(found: tuple[int, float] | None) -> str:
    if found is None:
        return ""
    return f"from {found[0] // 2} to {found[0]} in flight and more the throughput grew by {max(found[1], 0):.0%}: "


def readahead(case: Case) -> Limit:
    """Concurrency that readahead allows, where the disk would take more."""
    mean, predicted = q.depth_mean(case.reading.seen, case.way), case.reading.predicted_depth()
    title = "Readahead"
    if mean is None or predicted is None or case.way != "read":
        return Limit("readahead", title, "nothing is predicted of this direction", Verdict.NOT_AVAILABLE)
    values = (Value("depth-mean", mean, "reqs.", source(case.reading, "depth-time"), predicted),)
    order, passed = in_order(case.reading) or 0.0, q.class_share(case.reading.seen, "direct") or 0.0
    if depth_verdict(case.reading, case.way) is not Verdict.SHOWN or order < FOLLOWS or passed >= DIRECT:
        return Limit(
            "readahead", title, f"{mean:.2f} in flight is not what readahead makes", Verdict.CONTRADICTED, values
        )
    if device(case).verdict is Verdict.SHOWN:
        return Limit("readahead", title, f"{mean:.2f} in flight as readahead makes them, more than the disk can use",
                     Verdict.CONTRADICTED, values)  # fmt: skip
    text = (f"{mean:.2f} in flight is all that readahead asks for; whether more would come faster only a recording with more "
            "readahead can show")  # fmt: skip
    return Limit("readahead", title, text, Verdict.SHOWN, values)


MAKERS: tuple[Callable[[Case], Limit], ...] = (
    degraded, slow_part, host, queue, direct, positioning, pieces, filesystem, readahead, device,
)  # fmt: skip
