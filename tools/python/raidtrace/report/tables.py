# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of a report, for text and pages: the row of each phase, and all counters of a phase of a disk."""

import collections
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from raidtrace.explain.evidence import Explanation, Verdict
from raidtrace.quantity import units
from raidtrace.quantity.bins import CLASSES, DEPTH_OPEN
from raidtrace.quantity.shown import visible
from raidtrace.quantity.units import SECTOR_BYTES
from raidtrace.recording import columns, figures
from raidtrace.recording.columns import Definition
from raidtrace.recording.figures import Figures, Range, percentile
from raidtrace.recording.spans import COUNTED, DATA, OUTSIDE, Recorded, Span
from raidtrace.report.rows import NOT_AVAILABLE, Cell, Column, Row, Table, name, number, row_id

PROCESSES = 10  # processes of each phase and disk
MANY = 100_000  # MiB/s: above this, which discards reach, no fraction is printed
HWQ_REST = 128  # this row has all hardware queues from this number on
CGROUP = 44  # characters of a path; its end is more important than its start
TIMES = (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0))
QUEUE = ("other", "passthrough")  # directions that are not in the first table
Limits = Mapping[tuple[str, str, str], str]  # disk, phase, direction -> its limit


def shown(unit: str, value: float | None) -> Cell:
    """A cell with a number and its unit, in the format of all verbs."""
    return Cell(units.text(unit, value), value)


def _share(part: float, whole: float) -> Cell:
    return Cell(units.share(part, whole), part / whole if whole > 0 else None)


def _fixed(value: float | None, digits: int, bound: str = "") -> Cell:
    return Cell(NOT_AVAILABLE) if value is None else Cell(f"{bound}{value:.{digits}f}", float(value))


def rate(f: Figures) -> Cell:
    """The rate in MiB/s; of a disk without requests, the rate of its bios. "-": the direction has no bytes,
    as flush."""
    moved = f.direction in DATA or f.moved() != 0
    value = f.throughput() if f.span.length() else None
    return _fixed(value, 1 if (value or 0) < MANY else 0) if moved else Cell("-")


def depth(f: Figures) -> Cell:
    """Mean number of requests in flight over time. ">": a lower bound."""
    return _fixed(f.depth(), 2, ">" if f.depth_is_bound() else "")


def _deepest(f: Figures) -> Cell:
    deepest = f.deepest()
    return Cell(NOT_AVAILABLE) if deepest is None else Cell(f"{deepest}{'+' if deepest >= DEPTH_OPEN else ''}", deepest)


def _end(values: Range) -> int:
    return values.low if values.high is None else values.high


def ms(time: Range | None) -> Cell:
    """A time in ms with as many digits as a bin of 1/16 justifies."""
    if time is None:
        return Cell(NOT_AVAILABLE)
    value = _end(time) / 1e6
    digits = 3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0
    return Cell(f"{'>' if time.high is None else ''}{value:.{digits}f}", value)


def time_of(time: Range | None) -> Cell:
    """A time with its unit."""
    if time is None:
        return Cell(NOT_AVAILABLE)
    return Cell(f"{'>' if time.high is None else ''}{units.ns(_end(time))}", _end(time))


def _kib(f: Figures) -> Cell:
    """KiB of the most frequent size. ">=": the lower end of a bin that covers several sizes."""
    if not f.size_mode:
        return Cell(NOT_AVAILABLE)
    value = f.size_mode[0].low * SECTOR_BYTES / 1024
    return Cell(f"{'' if f.exact_size_mode() is not None else '>='}{value:.4g}", value)


def _mode(f: Figures) -> Cell:
    """The most frequent size, such as "128 KiB", or both ends of a bin that covers several sizes."""
    if not f.size_mode:
        return Cell(NOT_AVAILABLE)
    sizes = f.size_mode[0]
    low = units.octets(float(sizes.low) * SECTOR_BYTES)
    if f.exact_size_mode() is not None:
        return Cell(low, sizes.low)
    return Cell(
        f"{low}..{units.octets(float((1 << 63) - 1 if sizes.high is None else sizes.high) * SECTOR_BYTES)}", sizes.low
    )


def _bytes(f: Figures) -> Cell:
    return shown("bytes", None if f.requests() is None else f.count("bytes_issued"))


def _counter(counter: str) -> Callable[[Figures], Cell]:
    return lambda f: number(f.known(counter))


def _rare(heading: str, unit: str, *counters: str) -> Column:
    return Column(heading, unit, " and ".join(counters), rare=True, of=lambda f: number(sum(map(f.count, counters))))


DIRECTION = Column(
    "direction",
    meaning="what requests do: read, write, discard, write zeroes or flush; other: none of these; passthrough: commands of the "
    "driver or of a program",
    numeric=False,
    of=lambda f: Cell(f.direction),
)
PERCENTILE = "latency that {} do not exceed: upper bound of a bin of the histogram d2c"
RATE = Column("throughput", "MiB/s",
              "bytes-completed divided by the length of the phase; bytes-queued for a disk without requests", head="MiB/s",
              narrow="MiB/s", of=rate)  # fmt: skip
IOPS = Column("IOPS", "1/s", "completed divided by the length of the phase; queued for a disk without requests", narrow="IOPS",
              of=lambda f: shown("IOPS", f.operations()))  # fmt: skip
# The columns of the first table. The phase precedes them, the limit follows.
GLANCE = (
    dataclasses.replace(DIRECTION, head=" "),
    RATE,
    dataclasses.replace(IOPS, spare=1),
    Column("in flight", "mean", "mean of the histogram depth-time, weighted by its times", head="IN\nFLIGHT",
           narrow="in flight", of=depth),
    Column("size", "KiB", "most frequent size of the histogram size; the smallest of several", head="SIZE\nKiB", narrow="KiB",
           spare=2, of=_kib),
    Column("sequential", "%", "sequential divided by issued - reissued", head="SEQU.\n%", narrow="% sequential", spare=2,
           of=lambda f: _fixed(units.ratio(f.sequential_share(), 0.01), 1)),
    Column("p50", "ms", PERCENTILE.format("half of all requests"), head="p50\nms", narrow="ms, p50", spare=2,
           of=lambda f: ms(f.d2c(0.5))),
    Column("p99", "ms", PERCENTILE.format("99 in 100"), head="p99\nms", narrow="ms, p99", spare=2,
           of=lambda f: ms(f.d2c(0.99))),
    Column("p99.9", "ms", PERCENTILE.format("999 in 1000"), head="p99.9\nms", narrow="ms, p99.9", spare=3,
           of=lambda f: ms(f.d2c(0.999))),
    Column("max", "ms", PERCENTILE.format("all"), head="MAX\nms", narrow="ms, max", spare=2, of=lambda f: ms(f.d2c(1.0))),
)  # fmt: skip
PHASE = Column("phase", meaning="a part of the recording: run, or a phase of a benchmark or of raidctl mark", numeric=False,
               head="PHASE")  # fmt: skip
LIMIT = Column("limit", meaning="the first limit that explain infers", numeric=False, head="LIMIT", narrow="limit")


def limits_of(explanation: Explanation) -> Limits:
    """The limit of each phase of one recording: the first inferred one. A chain with a larger effect takes
    precedence."""
    return {
        (chain.disk, chain.phase, chain.direction): chain.limits[0].title
        if chain.limits and chain.limits[0].verdict is Verdict.INFERRED
        else "not shown"
        for chain in reversed(explanation.chains)
    }


def amplified(explanation: Explanation) -> list[str]:
    """A sentence for each phase that reads many times the requested bytes. Empty if the answer already contains it."""
    texts = []
    for chain in explanation.chains if explanation.opening else ():
        for limit in chain.limits:
            ratio = next((value.value for value in limit.values if value.name == "amplification"), None)
            if limit.key == "read amplification" and limit.verdict in (Verdict.INFERRED, Verdict.NOT_SHOWN) and ratio:
                bytes_read = units.significant(ratio)
                texts.append(f"Read amplification, {chain.phase} {chain.disk}: the disk reads {bytes_read} bytes "
                             "for each byte that the program requests.")  # fmt: skip
    return texts


def phases(named: Sequence[tuple[str, Recorded, Limits | None]]) -> Table:
    """The table with a row for each phase, disk and direction with work, in order of time, one recording after the
    other. named: letter, recording and its limits."""
    rows = []
    for letter, one, limits in named:
        for span in one.spans:
            parts = (letter if len(named) > 1 else "", span.phase, span.disk if len(one.targets) > 1 else "")
            for direction in (direction for direction in COUNTED if direction not in QUEUE and worked(span, direction)):
                figures_of = Figures(span, direction)
                cells = [
                    name(" ".join(filter(None, parts))),
                    *(column.of(figures_of) for column in GLANCE if column.of),
                ]
                if limits is not None:
                    cells.append(Cell(limits.get((visible(span.disk), visible(span.phase), direction), "-")))
                rows.append(Row(f"glance-{row_id(letter, span.disk, span.number)}.{direction}", tuple(cells)))
    columns_of = (PHASE, *GLANCE, *([LIMIT] if any(limits is not None for *_, limits in named) else []))
    return Table("glance", "Each phase, in order of time", columns_of, tuple(rows),
                 spared="A wider terminal also shows size, order and latency.")  # fmt: skip


def worked(span: Span, direction: str) -> bool:
    """Whether a direction had work: bytes of reads or writes, or any event of another direction."""
    counters = (
        ("bytes_queued", "bytes_issued", "bytes_completed") if direction in DATA else ("queued", "issued", "completed")
    )
    return any(span.count(direction, counter) for counter in counters)


FLOWS = (
    DIRECTION,
    Column("requests", "", "issued", of=lambda f: number(f.requests())),
    Column("data", "", "bytes-issued", of=_bytes),
    RATE,
    IOPS,
    Column("depth", "requests", "mean of the histogram depth-time, weighted by its times", of=depth),
    Column("max", "requests", "highest depth with a time above 0", of=_deepest),
    Column("mode", "", "most frequent size of the histogram size", of=_mode),
    Column("mean", "", "bytes-issued divided by issued - reissued", of=lambda f: shown("bytes", f.size_mean())),
    Column("sequ.", "", "sequential divided by issued - reissued",
           of=lambda f: _share(f.count("sequential"), f.issued) if f.ordered() else Cell(NOT_AVAILABLE)),
)  # fmt: skip
BIOS = (
    DIRECTION,
    Column("bios", "", "queued", of=_counter("queued")),
    Column("splits", "", "splits", of=_counter("splits")),
    Column("back merges", "", "back-merges", head="merges:\nback", of=_counter("back_merges")),
    Column("front merges", "", "front-merges", head="\nfront", of=_counter("front_merges")),
    Column("request merges", "", "request-merges", head="\nrequest", of=_counter("request_merges")),
    _rare("requeued", "requests", "requeued", "requeued_unissued"),
    _rare("errors", "completions", "errors"),
    _rare("unmatched", "requests", "unmatched"),
    _rare("abandoned", "requests", "abandoned"),
)


def _streams(counter: str, whole: str, forgotten: str) -> Callable[[Figures], Cell]:
    """Share of the requests or bios in streams. ">=": more streams began than the table holds."""

    def of(f: Figures) -> Cell:
        if not {counter, whole}.isdisjoint(f.span.unknown):
            return Cell(NOT_AVAILABLE)
        share = _share(f.count(counter), f.issued if whole == "issued" else f.count(whole))
        bound = ">=" if f.span.plain.get(forgotten) and share.key is not None else ""
        return Cell(f"{bound}{share.text}", share.key)

    return of


ORDER = (
    DIRECTION,
    Column("seeks", "requests", "requests that begin elsewhere than the previous one ended",
           of=lambda f: number(f.seeks())),
    Column("mean seek", "", "seek-forward-sectors plus seek-backward-sectors, divided by seeks",
           of=lambda f: shown("sectors", f.seek_mean() if f.ordered() else None)),
    Column("in streams", "requests", "stream divided by issued - reissued", head="requests\nin streams",
           of=_streams("stream", "issued", "streams_forgotten")),
    Column("bios in streams", "", "stream-queued divided by queued", head="bios\nin streams",
           of=_streams("stream_queued", "queued", "streams_forgotten_queued")),
    Column("sequential", "bios", "sequential-queued divided by queued", head="bios\nsequ.", of=lambda f: shown(
        "share", f.share("sequential_queued", "queued"))),
    Column("read ahead", "bios", "ahead-queued", head="bios\nread ahead", of=_counter("ahead_queued"), rare=True),
    Column("of", "bytes", "bytes-ahead-queued", rare=True, of=lambda f: shown("bytes", f.known("bytes_ahead_queued"))),
)  # fmt: skip
LATENCY = (
    DIRECTION,
    Column("time", meaning="d2c: issue to completion; i2d: insert to issue; q2c: queueing of the bio to completion",
           numeric=False),
    Column("mean", "", "sum of the times divided by their number"),
    *(Column(at, "", f"upper bound of the bin that {100 * share:g} % do not exceed", head=f"{at} <") for at, share in TIMES),
)  # fmt: skip


def _latency(used: Sequence[Figures]) -> Table:
    rows = []
    for f in used:
        for kind in ("d2c", "i2d", "q2c"):
            times = f.histogram(kind)
            mean = f.d2c_mean() if kind == "d2c" else f.mean_ns(kind) if f.span.counts_kind(kind) else None
            if mean is not None or (kind == "d2c" and times):
                bins = (time_of(percentile(times, kind, share)) for _, share in TIMES)
                rows.append(Row("", (Cell(f.direction), Cell(kind), shown("ns", mean), *bins)))
    return Table("latency", "Latency", LATENCY, tuple(rows))


Sums = tuple[str, Mapping[str, int | None]]  # a name, and counters


def _of(counter: str, unit: str = "count") -> Callable[[Sums], Cell]:
    return lambda one: shown(unit, one[1].get(counter))


CLASS = (
    Column("class", meaning="purpose of the bios, or of the requests whose bios all have this purpose",
           numeric=False, of=lambda one: Cell(one[0])),
    Column("bios", "", "queued", of=_of("queued")),
    Column("data", "of bios", "bytes-queued", of=_of("bytes_queued", "bytes")),
    Column("seeks", "of bios", "seeks-queued", of=_of("seeks_queued")),
    Column("requests", "", "issued", of=_of("issued")),
    Column("data", "of requests", "bytes-issued", of=_of("bytes_issued", "bytes")),
    Column("seeks", "of requests", "seeks: requests that begin elsewhere than the previous one ended", of=_of("seeks")),
    Column("mean seek", "", "seek-sectors divided by seeks", of=lambda one: shown(
        "sectors", units.ratio(one[1].get("seek_sectors"), one[1].get("seeks")))),
)  # fmt: skip
PROCESS = (
    Column("process", meaning="name of the process that queued the bios", numeric=False, of=lambda one: name(one[0])),
    Column(
        "pid",
        meaning="process id",
        of=lambda one: Cell("-" if one[1]["pid"] is None else str(one[1]["pid"]), one[1]["pid"]),
    ),
    Column("bios", "", "queued", of=_of("queued")),
    Column("data", "", "bytes-queued", of=_of("bytes_queued", "bytes")),
    Column(
        "seeks",
        "bios",
        "seeks-queued: bios that begin elsewhere than the previous one ended",
        of=_of("seeks_queued"),
    ),
)
CGROUPS = (
    Column("cgroup", meaning="the cgroup that the bios are charged to", numeric=False, of=lambda one: name(
        f"...{one[0][3 - CGROUP :]}" if len(one[0]) > CGROUP else one[0] or "not known")),
    *PROCESS[2:],
)  # fmt: skip
ENDED = ("completed_same_cpu", "completed_other_cpu", "completed_other_node")


def _completed(*counters: str) -> Callable[[Sums], Cell]:
    def of(one: Sums) -> Cell:
        whole = sum(one[1].get(counter) or 0 for counter in ENDED)
        return number(whole) if counters == ENDED else _share(one[1].get(counters[0]) or 0, whole)

    return of


HWQ = (
    Column("hardware queue", meaning="number of the queue of the driver", numeric=False, of=lambda one: Cell(one[0])),
    Column("issued", "requests", "issued", of=_of("issued")),
    Column("completed", "requests", "requests that ended", of=_completed(*ENDED)),
    Column("max depth", "requests", "in-flight-max: since attach or reset", of=_of("in_flight_max")),
    Column("same CPU", "", "completed-same-cpu divided by completed", of=_completed("completed_same_cpu")),
    Column("other CPU", "", "completed-other-cpu divided by completed", of=_completed("completed_other_cpu")),
    Column("other node", "", "completed-other-node divided by completed", of=_completed("completed_other_node")),
)
BLAME = (
    Column("seeks from class", meaning="class of the request before the seek", numeric=False),
    Column("to class", meaning="class of the request after the seek", numeric=False),
    Column("seeks", "", "blame"),
)
PLUGS = (
    Column("plugs", "", "plugs", of=lambda span: number(span.plain.get("plugs"))),
    Column("unplugs: done", "", "unplugs-explicit", of=lambda span: number(span.plain.get("unplugs_explicit"))),
    Column("slept", "", "unplugs-schedule", of=lambda span: number(span.plain.get("unplugs_schedule"))),
    Column("requests each", "", "mean of the histogram unplug", of=lambda span: _fixed(figures.per_unplug(span), 1)),
    Column("waits for tags", "", "tag-waits", of=lambda span: number(span.plain.get("tag_waits"))),
)
READAHEAD = (
    Column("readahead", meaning="reason for the read of the window", numeric=False),
    Column("windows", "", "ra-sync, ra-async"),
    Column("mean", "", "ra-sync-sectors or ra-async-sectors, divided by the number of windows"),
)


def busy(span: Span) -> list[Figures]:
    """The figures of each direction with an event."""
    return [Figures(span, direction) for direction in COUNTED if not span.idle(direction)]


def of_span(span: Span, added: Sequence[columns.Column] = ()) -> Iterator[Table]:
    """All tables with a row for a phase of a disk, in the order of a report. The first has a row for each direction
    with an event. Outside the named phases, it is the only one."""
    made = [Table.of("phases", "Each phase of each disk", FLOWS, busy(span))]
    if span.phase != OUTSIDE:
        made += [*_counters(span, busy(span)), _added(span, added)]
    yield from (table for table in made if table.rows)


def _counters(span: Span, used: Sequence[Figures]) -> Iterator[Table]:
    data = [f for f in used if f.direction in DATA]
    yield _latency(used)
    yield Table.of("bios", "Bios, splits and merges", BIOS, [f for f in used if f.count("queued") or f.count("issued")])
    yield Table.of("order", "Order: seeks and streams", ORDER, [f for f in data if f.count("queued") or f.issued])
    yield Table.of("classes", "Requests by purpose", CLASS, _classes(span))
    yield _blame(span)
    sums = sorted(span.processes(), key=lambda one: -one.counts["bytes_queued"])
    others = "all others" if len(sums) > 1 else "all processes"
    subjects: list[Sums] = [(others if one.comm is None else one.comm,
                             one.counts | {"pid": None if one.comm is None else one.pid or 0}) for one in sums]  # fmt: skip
    yield Table.of("submitters", f"Processes: the {PROCESSES} that queued most bytes", PROCESS, subjects[:PROCESSES],
                   left_out=max(len(subjects) - PROCESSES, 0))  # fmt: skip
    yield Table.of("cgroups", "Cgroups", CGROUPS, _cgroups(span))
    yield Table.of("hwqs", "Hardware queues", HWQ,
                   [(f"from {at}" if at == HWQ_REST else str(at), counts) for at, counts in span.hwqs.items()])  # fmt: skip
    yield Table.of("plugs", "Plugs: requests that tasks hold back", PLUGS, [span] if "plug" in span.groups else [])
    windows = []
    for kind, why in (("ra_sync", "a page was missing"), ("ra_async", "a marked page was met")):
        count, sectors = sum(span.histogram("all", kind).values()), span.plain.get(f"{kind}_sectors")
        if count and sectors is not None:
            windows.append(Row("", (Cell(why), number(count), shown("sectors", sectors / count))))
    yield Table("readahead", "Windows of readahead", READAHEAD, tuple(windows))


def _classes(span: Span) -> Iterator[Sums]:
    """Classes with a bio or a request. For a disk without requests, counters of requests are None."""
    for one in CLASSES:
        of = span.origin.get(one, {})
        if of.get("queued") or of.get("issued"):
            yield one, {counter: None if span.class_unknown(counter) else value for counter, value in of.items()}


def _blame(span: Span) -> Table:
    pairs = sorted((figures.blame(span) or {}).items(), key=lambda one: -one[1])
    rows = tuple(Row("", (Cell(cause), Cell(to), number(seeks))) for (cause, to), seeks in pairs)
    return Table("blame", "Seeks from one class to another", BLAME, rows)


def _cgroups(span: Span) -> Iterable[Sums]:
    """Sums by cgroup. Empty if all are the root, or not known."""
    sums: dict[str, collections.Counter[str]] = {}
    for one in span.submitters:
        sums.setdefault(one.cgroup, collections.Counter()).update(one.counts)
    return list(sums.items()) if sums.keys() - {"", "/"} else ()


VALUE = Column("value", meaning="value of the counter, fact or setting")
ADDED = (
    Column("further counters", meaning="counter that only a newer raidctl knows", numeric=False),
    Column("subject", meaning="direction, class, process or queue of the counter", numeric=False),
    VALUE,
    Column("unit", meaning="unit of the counter", numeric=False),
)


def _added(span: Span, added: Sequence[columns.Column]) -> Table:
    """The table of a newer raidctl's counters: a row for each that is known and not 0."""
    by: dict[str, list[tuple[str, Mapping[str, int | None]]]] = {
        "sample": [("disk", span.plain)],
        "flow": [(direction, counts) for direction, counts in span.flow.items() if direction in COUNTED],
        "origin": list(span.origin.items()),
        "submitter": [(one.comm or "all others", one.counts) for one in span.processes()],
        "hwq": [(f"queue {at}", counts) for at, counts in span.hwqs.items()],
    }
    rows = [
        Row("", (name(one.name), name(subject), number(counts.get(one.name)), Cell(one.unit)))
        for one in added
        for subject, counts in by[one.table]
        if counts.get(one.name)
    ]
    return Table("added", "Further counters", ADDED, tuple(rows))


LAYER = Column("layer", meaning="a disk that consists of others; these follow, indented", numeric=False)
LAYERS = (
    LAYER,
    DIRECTION,
    Column("data", "", "bytes-queued"),
    Column("share", "", "bytes-queued divided by bytes-queued of all members"),
    Column("q2c mean", "", "q2c-sum-ns divided by the number of times in the histogram q2c"),
    Column("q2c p99", "", "time that 99 in 100 do not exceed: upper bound of a bin of the histogram q2c"),
    Column("d2c mean", "", "d2c-sum-ns divided by completed"),
    Column("d2c p99", "", PERCENTILE.format("99 in 100")),
    Column(
        "readahead", "", "readahead of the disk at the beginning of the phase; the kernel uses that of the upper layer"
    ),
)
GIVEN = (
    LAYER,
    DIRECTION,
    Column("bios x", "", "bios of the members for each bio of the disk", head="to members: bios x"),
    Column("bytes x", "", "bytes of the members for each byte of the disk: amplification"),
    Column("splits", "per bio", "splits divided by bios", head="splits per bio"),
)


def of_stack(recorded: Recorded, phase: int) -> Iterator[Table]:
    """The tables of the layers of a phase: each stacked disk with its members, and the bios that it gives them."""
    layers, gave = [], []
    for span in (span for span in recorded.spans if span.number == phase):
        parts = recorded.members(span)
        for direction in COUNTED if parts else ():
            given = figures.given(span, parts, direction)
            if given.any():
                factors = (given.fan_out(), given.bytes_ratio(), given.split_share())
                gave.append(Row("", (name(span.disk), Cell(direction), *(_fixed(one, 3) for one in factors))))
                layers += [
                    _layer(recorded, one, direction, given.bytes if one is not span else 0) for one in (span, *parts)
                ]
    for table in (Table("layers", "Layers", LAYERS, tuple(layers)),
                  Table("given", "Bios that a disk gives to its members", GIVEN, tuple(gave))):  # fmt: skip
        if table.rows:
            yield table


def _layer(recorded: Recorded, span: Span, direction: str, whole: int) -> Row:
    """The row of a disk. whole: bytes of all members; 0 for the stacked disk itself."""
    f, ahead = Figures(span, direction), figures.readahead(recorded, span)
    return Row("", (
        name(span.disk if not whole else f"  {span.disk}"), Cell(direction), shown("bytes", f.known("bytes_queued")),
        _share(f.count("bytes_queued"), whole) if whole else Cell("-"), shown("ns", f.mean_ns("q2c")), time_of(f.p99("q2c")),
        shown("ns", f.d2c_mean()), time_of(f.d2c(0.99)), shown("sectors", ahead),
    ))  # fmt: skip


FACTS = (
    Column("about", meaning="recording, machine, a disk, or a disturbance", numeric=False),
    Column("what", meaning="name of the fact or setting", numeric=False),
    dataclasses.replace(VALUE, numeric=False),
)


def facts(recorded: Recorded, letter: str) -> Table:
    """The table of facts of the recording, settings at the start, and disturbances."""
    listed = [("recording", key, value) for key, value in sorted(recorded.meta.items())]
    known: set[tuple[int, str]] = set()
    for setting in recorded.settings:
        if (setting.target, setting.name) not in known and setting.value:
            known.add((setting.target, setting.name))
            listed.append((recorded.disk(setting.target) if setting.target else "machine", setting.name, setting.value))
    listed += [("disturbance", one.kind, one.text) for one in recorded.disturbances]
    rows = tuple(Row(f"fact-{letter}-{at}", tuple(map(name, one))) for at, one in enumerate(listed))
    return Table(f"facts-{letter}", "Recording and settings", FACTS, rows)


DISK = Column("disk", meaning="name of the disk", numeric=False)
SPAN = dataclasses.replace(PHASE, head="")
HEADINGS = (
    PHASE, *GLANCE, LIMIT, *FLOWS, *BIOS, *ORDER, *LATENCY, *CLASS, *PROCESS, *CGROUPS, *HWQ, *BLAME, *PLUGS, *READAHEAD,
    *ADDED, *LAYERS, *GIVEN, *FACTS, DISK,
)  # fmt: skip


def definitions_of_headings() -> list[Definition]:
    """The definitions of the headings of all tables, by name and by text."""
    definitions = []
    for column in dict.fromkeys(HEADINGS):
        heading = " ".join((column.head or column.name).split())
        for one in dict.fromkeys(filter(None, (column.name, heading))):
            definitions.append(Definition(one, (), column.unit, column.meaning))
    return definitions


def of_recording(recorded: Recorded, letter: str) -> list[Table]:
    """The tables of all phases, and the facts. Tables of one kind become one, with disk and phase before each row."""
    by_table: dict[str, list[tuple[tuple[Cell, ...], str, Table]]] = {}
    for span in recorded.spans:
        where = (name(span.disk), name(span.phase))
        for table in of_span(span, recorded.added):
            by_table.setdefault(table.id, []).append((where, row_id(letter, span.disk, span.number), table))
    for phase in dict.fromkeys(span.number for span in recorded.spans):
        phase_name = next(span.phase for span in recorded.spans if span.number == phase)
        for table in of_stack(recorded, phase):
            by_table.setdefault(table.id, []).append(((name(phase_name),), row_id(letter, "stack", phase), table))
    made = [_joined(ident, letter, some) for ident, some in by_table.items()]
    return [*made, *(table for table in (facts(recorded, letter),) if table.rows)]


def _joined(ident: str, letter: str, some: Sequence[tuple[tuple[Cell, ...], str, Table]]) -> Table:
    """One table of several of the same kind. A rare column that is missing in one of them becomes 0 there."""
    used = dict.fromkeys(column for *_, table in some for column in table.columns)
    order = sorted(used, key=lambda one: next(table.columns.index(one) for *_, table in some if one in table.columns))
    where = (DISK, SPAN)[-len(some[0][0]) :]
    rows = []
    for before, anchor, table in some:
        for at, row in enumerate(table.rows):
            cells = dict(zip(table.columns, row.cells, strict=True))
            suffix = f"-{ident}-{at}" if ident != "phases" else f".{row.cells[0].text}" if at else ""
            rows.append(Row(f"{anchor}{suffix}", (*before, *(cells.get(one, Cell("0", 0)) for one in order))))
    return Table(
        f"{ident}-{letter}", some[0][2].caption, (*where, *order), tuple(rows), sum(one.left_out for *_, one in some)
    )
