# SPDX-License-Identifier: GPL-2.0-or-later
"""The rows of raidctl top: one for each disk, with the figures of one interval; their order, the selection, the keys."""

import collections
import dataclasses
import enum
import functools
import re
from collections.abc import Callable, Iterable, Mapping

from raidtrace.quantity import units
from raidtrace.recording import breakdown, source
from raidtrace.recording.figures import Figures
from raidtrace.recording.spans import COUNTED, DATA, Recorded, Span, Target
from raidtrace.report import tables
from raidtrace.report.rows import NOT_AVAILABLE, Cell

BOTH = "both"  # reads and writes together
INTERVALS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)  # s, of the keys + and -
LEAST_FULL = 8  # requests of a full bar, at least
REPORT = {column.name: column.of for column in (*tables.ORDER, *tables.GLANCE, *tables.FLOWS) if column.of}


def cell(name: str, figures: Figures) -> Cell:
    """The cell of a column of the report."""
    return REPORT[name](figures)


class State(enum.Enum):
    """Whether a row has an interval, and if not, why not."""

    COUNTED = ""
    FRESH = "the first interval is under way"
    GONE = "gone: the disk was removed"
    DETACHED = "detached: no longer counted"


class Interval:
    """The figures of a disk in one interval."""

    def __init__(self, span: Span) -> None:
        self.span, self.seconds = span, span.length() / 1e9
        self.read, self.write = (Figures(span, direction) for direction in DATA)

    @functools.cached_property
    def both(self) -> Figures:
        """Reads and writes together. Their depths cannot be added."""
        flow: collections.Counter[str] = collections.Counter()
        bins: dict[tuple[str, str], Mapping[int, int]] = {}
        for direction in DATA:
            flow.update(self.span.flow.get(direction, {}))
        for kind in ("size", "seek", "d2c"):
            histogram: collections.Counter[int] = collections.Counter()
            for direction in DATA:
                histogram.update(self.span.histogram(direction, kind))
            bins[BOTH, kind] = histogram
        return Figures(dataclasses.replace(self.span, flow={BOTH: flow}, bins=bins), BOTH)

    @functools.cached_property
    def states(self) -> Mapping[str, float]:
        """State -> share of the interval. Empty: not known."""
        return breakdown.states_of(self.span)

    def rate(self, number: int | None) -> Cell:
        """A number of events as events per second."""
        return tables.shown("IOPS", units.ratio(number, self.seconds))

    def merges(self, figures: Figures) -> Cell:
        counts = [figures.known(name) for name in ("back_merges", "front_merges", "request_merges")]
        return self.rate(None if None in counts else sum(filter(None, counts)))

    def deepest(self) -> int:
        return max(figures.deepest() or 0 for figures in (self.read, self.write))


class DiskRow:
    """A disk. errors: its requests that failed since the first interval."""

    def __init__(self, target: Target) -> None:
        self.target, self.state = target, State.FRESH
        self.interval: Interval | None = None
        self.readahead: int | None = None
        self.errors = 0

    def count(self, recorded: Recorded, span: Span | None) -> None:
        """Take the next interval. span: None: there is none, as after a reset."""
        gone = recorded.setting(self.target.target, "gone") is not None
        sectors = recorded.setting(self.target.target, "readahead_sectors")
        self.state = State.GONE if gone else State.COUNTED if span else State.FRESH
        self.interval = Interval(span) if span and not gone else None
        self.readahead = int(sectors) if sectors and not gone else None
        if span:
            self.errors += sum(span.count(direction, "errors") for direction in COUNTED)

    def detached(self) -> None:
        self.state, self.interval, self.readahead = State.DETACHED, None, None

    def cell(self, column: "Column") -> Cell:
        """The value of a column."""
        if column.of_row:
            return column.of_row(self)
        return column.of(self.interval) if self.interval and column.of else Cell(NOT_AVAILABLE)


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of the list. name: in the title, if the list is sorted by it. above, head: the lines of its heading. width:
    0: a bar. of: the cell for an interval; of_row: for a row also without one."""

    name: str
    above: str
    head: str
    width: int
    of: Callable[[Interval], Cell] | None = None
    of_row: Callable[[DiskRow], Cell] | None = None


def _busy(one: Interval) -> Cell:
    busy = breakdown.busy_share(one.span)
    return tables.shown("share", busy)


def _readahead(row: DiskRow) -> Cell:
    kib = None if row.readahead is None else row.readahead / 2
    return Cell(NOT_AVAILABLE) if kib is None else Cell(f"{kib:.0f}", kib)


DISK = Column("disk", "", "disk", 9)
BUSY = Column("busy", "", "time", 12, _busy)
READS = Column("reads in flight", "in flight:", "reads", 0, lambda one: cell("in flight", one.read))
WRITES = Column("writes in flight", "in flight:", "writes", 0, lambda one: cell("in flight", one.write))
COLUMNS = (
    DISK,
    BUSY,
    Column("MiB/s read", "MiB/s", "read", 8, lambda one: cell("throughput", one.read)),
    Column("MiB/s written", "MiB/s", "write", 8, lambda one: cell("throughput", one.write)),
    READS,
    WRITES,
    Column("request size", "size", "KiB", 7, lambda one: cell("size", one.both)),
    Column("sequential", "sequ.", "%", 6, lambda one: cell("sequential", one.both)),
    Column("seeks/s", "", "seeks/s", 9, lambda one: one.rate(one.both.seeks())),
    Column("p99", "p99", "ms", 8, lambda one: cell("p99", one.both)),
    Column("merges/s", "", "merges/s", 10, lambda one: one.merges(one.both)),
    Column("splits/s", "", "splits/s", 10, lambda one: one.rate(one.both.known("splits"))),
    Column("readahead", "readahead", "KiB", 11, of_row=_readahead),
)  # fmt: skip


def details(one: Interval) -> list[tuple[str, str, str]]:
    """Label, value of reads and value of writes of each line of the details."""
    lines: list[tuple[str, Callable[[Figures], tuple[str, ...]]]] = [
        ("in flight", lambda f: _depth(f)),
        ("throughput, IOPS", lambda f: (_with("MiB/s", cell("throughput", f)), _with("IOPS", cell("IOPS", f)))),
        ("size mode, mean", lambda f: (cell("mode", f).text, cell("mean", f).text)),
        ("sequential, seeks/s", lambda f: (cell("sequ.", f).text, one.rate(f.seeks()).text)),
        ("merges/s, splits/s", lambda f: (one.merges(f).text, one.rate(f.known("splits")).text)),
        ("in streams, ahead/s", lambda f: (cell("in streams", f).text, one.rate(f.known("ahead_queued")).text)),
        ("i2d, q2c mean", lambda f: (units.text("ns", f.mean_ns("i2d")), units.text("ns", f.mean_ns("q2c")))),
        ("d2c mean,p99,p99.9", lambda f: (units.text("ns", f.d2c_mean()), *(_below(f, at) for at in (0.99, 0.999)))),
    ]
    return [(label, ", ".join(of(one.read)), ", ".join(of(one.write))) for label, of in lines]


def _with(unit: str, value: Cell) -> str:
    return value.text if value.key is None else f"{value.text} {unit}"


def _depth(figures: Figures) -> tuple[str, ...]:
    if figures.depth() is None:
        return (NOT_AVAILABLE,)
    return f"{cell('in flight', figures).text} mean", f"{cell('max', figures).text} max"


def _below(figures: Figures, share: float) -> str:
    text = tables.time_of(figures.d2c(share)).text
    return text if text == NOT_AVAILABLE or text.startswith(">") else f"<{text}"


def classes(one: Interval) -> str:
    """The seeks of requests per second by class. Empty: none, or not counted."""
    seeks = ((name, counts.get("seeks", 0)) for name, counts in one.span.origin.items())
    return ", ".join(f"{one.rate(number).text} {name}" for name, number in seeks if number)


def bar(mean: float | None, most: int | None, width: int, full: int) -> str:
    """A bar of requests in flight: # up to the mean, - up to the maximum. A small mean gets one mark. Empty: not known."""
    if mean is None:
        return ""
    of_mean = max(round(mean * width / full), 1 if mean > 0 else 0)
    of_most = max(round((most or 0) * width / full), of_mean)
    return f"{'#' * of_mean}{'-' * (of_most - of_mean)}"[:width].ljust(width, ".")


class Top:
    """All rows. picked: number of the target whose details are shown."""

    def __init__(self) -> None:
        self.rows: list[DiskRow] = []
        self.sort, self.picked = 0, 0
        self.source = ""
        self.simulated = False
        self.losses = ""

    def take(self, recorded: Recorded) -> None:
        """Take the next sample of all disks."""
        self.source, self.simulated = recorded.fact("counted_by"), recorded.simulated()
        self.losses = source.losses(source.read(recorded.meta))
        spans = {span.target: span for span in recorded.spans}
        by = {(row.target.target, row.target.attached_ns): row for row in self.rows}
        targets = {(one.target, one.attached_ns): one for one in recorded.targets}
        for key, row in by.items():
            if key not in targets:
                row.detached()
        for key, target in targets.items():
            row = by.get(key) or self._added(target)
            row.count(recorded, spans.get(target.target))
        if not self.picked:
            named = (one.target for one in recorded.targets if one.disk == recorded.fact("picked"))
            self.picked = next(named, 0)
        self.sorted()

    def _added(self, target: Target) -> DiskRow:
        """A new row. It replaces that of a disk of the same name that was detached."""
        for old in [row for row in self.rows if row.state is State.DETACHED and row.target.disk == target.disk]:
            self.picked = target.target if self.picked == old.target.target else self.picked
            self.rows.remove(old)
        row = DiskRow(target)
        self.rows.append(row)
        return row

    def sorted(self) -> None:
        """Sort the rows: highest value first, unknown ones last, then by name, with numbers as numbers."""
        column = COLUMNS[self.sort]

        def key(row: DiskRow) -> tuple[bool, float, list[tuple[int, str]], int]:
            value = None if column is DISK else row.cell(column).key
            return value is None and column is not DISK, -(value or 0), _natural(row.target.disk), row.target.target

        self.rows.sort(key=key)

    def chosen(self) -> DiskRow | None:
        """The row whose details are shown. None: there is no row."""
        picked = (row for row in self.rows if row.target.target == self.picked)
        return next(picked, self.rows[0] if self.rows else None)

    def pick(self, step: int) -> None:
        """Move the selection by some rows."""
        if row := self.chosen():
            at = min(max(self.rows.index(row) + step, 0), len(self.rows) - 1)
            self.picked = self.rows[at].target.target

    def full(self) -> int:
        """The number of requests of a full bar."""
        deepest = max((row.interval.deepest() for row in self.rows if row.interval), default=0)
        full = LEAST_FULL
        while full < deepest:
            full *= 2
        return full


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(digits or -1), word) for word, digits in re.findall(r"(\D+)|(\d+)", name)]


@dataclasses.dataclass
class Keys:
    """The state of the dialogue. interval: in s."""

    interval: float
    frozen: bool = False
    help: bool = False
    message: str = ""

    def press(self, top: Top, key: str) -> bool:
        """Handle a key: a character, or UP or DOWN. Returns whether the program goes on."""
        if self.help:
            self.help = False
            return True
        self.message = ""
        if key in ("k", "UP", "j", "DOWN"):
            top.pick(-1 if key in ("k", "UP") else 1)
        elif key == "s":
            top.sort = (top.sort + 1) % len(COLUMNS)
            top.sorted()
        elif key in ("f", " "):
            self.frozen = not self.frozen
        elif key in ("+", "="):
            self._interval((one for one in INTERVALS if one > self.interval), "longest")
        elif key == "-":
            self._interval((one for one in reversed(INTERVALS) if one < self.interval), "shortest")
        elif key in ("?", "h"):
            self.help = True
        return key != "q"

    def _interval(self, others: Iterable[float], last: str) -> None:
        one = next(iter(others), None)
        if one is None:
            self.message = f"this is the {last} interval"
        else:
            self.interval = one


HELP = """raidctl top: the requests of the attached disks, live

up down k j  pick a disk; its details are shown below the list
s            sort by the next column; the column is marked with *
f or space   freeze the display; the next interval includes that time
+ -          longer or shorter interval
q or Ctrl-C  quit

time         share: # served, requests in flight; = backlog, bios wait, too;
             - held: bios wait, no request in flight; . empty: neither
in flight    requests with the driver: mean over the interval, by time;
             in a bar # is the mean, - the maximum
size         most frequent size of a request; >=: the low end of a range
sequ.        share of requests that begin where the previous one ended
p99          99 % of the requests took at most this from issue to completion
n/a          not counted for this disk, or there was no request
in streams   share of requests that continue one of the last streams
i2d, q2c     from insert to issue, from queue to completion
d2c          from issue to completion
LOST         events by kind that BPF programs did not deliver since the start

any key goes back"""
