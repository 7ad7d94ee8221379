# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of the HTML report: what each phase of each disk came to."""

import collections
import dataclasses
from collections.abc import Callable, Sequence

from raidtrace.quantity.units import SECTOR_BYTES, ratio
from raidtrace.recording.figures import MIB, Figures, Number
from raidtrace.recording.spans import Recorded, Span, Submitter
from raidtrace.report.text import Cell, number, printable, row_id

PROCESSES = 10  # of each phase and disk


@dataclasses.dataclass(frozen=True)
class Column:
    """A column: heading, unit, and the definition of its number (by names of counters.rst). narrow: the words before the number
    where the window is too narrow for a table. of: its number of one direction of a span, printed with `digits` after the
    point."""

    name: str
    unit: str = ""
    meaning: str = ""
    numeric: bool = True
    narrow: str = ""
    of: Callable[[Figures], Number] | None = None
    digits: int = 0


def numbers(columns: Sequence[Column], figures: Figures) -> tuple[Cell, ...]:
    """The cells of those columns that have a number."""
    return tuple(number(one.of(figures), one.digits) for one in columns if one.of)


def depth(figures: Figures) -> float | None:
    """Mean number in flight. None, too: only a bound is known."""
    return None if figures.depth_is_bound() else figures.depth()


def time_ms(share: float) -> Callable[[Figures], Number]:
    """Upper bound in ms of the bin of a percentile of d2c."""

    def of(figures: Figures) -> float | None:
        found = figures.d2c(share)
        return None if found is None else (found.low if found.high is None else found.high) / 1e6

    return of


@dataclasses.dataclass(frozen=True)
class Row:
    """id: what sentences link to."""

    id: str
    cells: tuple[Cell, ...]


@dataclasses.dataclass(frozen=True)
class Table:
    """id, caption, and what is in it."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


def _merges(f: Figures) -> int | None:
    counts = [f.known(name) for name in ("back_merges", "front_merges", "request_merges")]
    return None if None in counts else sum(filter(None, counts))


LENGTH = Column("length", "s", "from the begin of the phase to its end", of=lambda f: f.span.length() / 1e9, digits=3)
REQUESTS = Column("requests", "", "issued", of=Figures.requests)
IN_FLIGHT = Column(
    "in flight", "requests", "mean of the histogram depth-time, weighted by its times", of=depth, digits=2
)
MEAN_REQUEST = Column(
    "mean request", "KiB", "bytes-issued by issued", of=lambda f: ratio(f.size_mean(), 1024), digits=1
)
SEQUENTIAL = Column("sequential", "%", "sequential by issued", of=lambda f: ratio(f.sequential_share(), 0.01), digits=2)
BIOS = Column("bios", "", "queued", of=lambda f: f.known("queued"))
SPLITS = Column("splits", "", "splits", of=lambda f: f.known("splits"))
PHASES = (
    Column("disk", numeric=False),
    Column("phase", numeric=False),
    Column("direction", numeric=False),
    LENGTH,
    REQUESTS,
    Column("throughput", "MiB/s", "bytes-completed (of a disk without requests bytes-queued) by the length",
           of=Figures.throughput, digits=2),
    IN_FLIGHT,
    Column("highest", "requests", "highest depth at which any time was spent", of=Figures.deepest),
    Column("request", "KiB", "most frequent size of the histogram size",
           of=lambda f: ratio(f.exact_size_mode(), 2), digits=1),
    MEAN_REQUEST,
    SEQUENTIAL,
    BIOS,
    Column("merges", "", "back-merges, front-merges and request-merges", of=_merges),
    SPLITS,
    Column("d2c mean", "ms", "d2c-sum-ns by completed", of=lambda f: ratio(f.d2c_mean(), 1e6), digits=3),
    Column("d2c p99", "ms", "upper bound of the bin of the histogram d2c that 99 of 100 do not exceed", of=time_ms(0.99),
           digits=3),
)  # fmt: skip


def directions(span: Span) -> list[str]:
    """Directions in which anything happened."""
    return sorted(d for d in span.flow if span.count(d, "queued") or span.count(d, "issued"))


def phases(recorded: Recorded, letter: str) -> Table:
    """Every phase of every disk, a row for each direction that anything happened in. The first row has the id to link to."""
    rows = []
    for span in recorded.spans:
        ident = row_id(letter, span.disk, span.number)
        for at, direction in enumerate(directions(span)):
            cells = (*_where(span), Cell(direction), *numbers(PHASES, Figures(span, direction)))
            rows.append(Row(f"{ident}.{direction}" if at else ident, cells))
    return Table(f"phases-{letter}", "Each phase of each disk", PHASES, tuple(rows))


CLASSES = (
    Column("disk", numeric=False),
    Column("phase", numeric=False),
    Column("class", meaning="what bios were for, or requests if all their bios were", numeric=False),
    Column("bios", "", "queued"),
    Column("queued", "MiB", "bytes-queued"),
    Column("requests", "", "issued"),
    Column("issued", "MiB", "bytes-issued"),
    Column("seeks", "", "seeks: requests that began elsewhere than where the one before ended"),
    Column("mean seek", "MiB", "seek-sectors by seeks"),
)


def classes(recorded: Recorded, letter: str) -> Table:
    """What requests were for."""
    rows = []
    for span in recorded.spans:
        for name, sums in sorted(span.origin.items() if "origin" in span.groups else ()):
            known = {counter: None if span.class_unknown(counter) else value for counter, value in sums.items()}
            away = ratio(known["seek_sectors"], known["seeks"], MIB / SECTOR_BYTES)
            cells = (number(known["queued"]), _mib(known["bytes_queued"]), number(known["issued"]),
                     _mib(known["bytes_issued"]), number(known["seeks"]), number(away, 1))  # fmt: skip
            ident = f"{row_id(letter, span.disk, span.number)}-class-{name}"
            rows.append(Row(ident, (*_where(span), Cell(printable(name, 40)), *cells)))
    return Table(f"classes-{letter}", "What requests were for", CLASSES, tuple(rows))


SUBMITTERS = (
    Column("disk", numeric=False),
    Column("phase", numeric=False),
    Column("process", numeric=False),
    Column("number", meaning="process id"),
    Column("bios", "", "queued"),
    Column("queued", "MiB", "bytes-queued"),
    Column("seeks", "bios", "seeks-queued: bios that began elsewhere than where the one before ended"),
)


def submitters(recorded: Recorded, letter: str) -> Table:
    """Who queued."""
    rows = []
    for span in recorded.spans:
        found = sorted(processes(span), key=lambda one: -one.counts["bytes_queued"])
        for at, one in enumerate(found[:PROCESSES]):
            who = printable(one.comm or "", 40) if one.pid is not None else "all others"
            counts = one.counts
            cells = (
                number(one.pid),
                number(counts["queued"]),
                _mib(counts["bytes_queued"]),
                number(counts["seeks_queued"]),
            )
            ident = f"{row_id(letter, span.disk, span.number)}-process-{at}"
            rows.append(Row(ident, (*_where(span), Cell(who), *cells)))
    return Table(
        f"submitters-{letter}", f"Who queued: the {PROCESSES} processes with most bytes", SUBMITTERS, tuple(rows)
    )


FACTS = (Column("about", numeric=False), Column("what", numeric=False), Column("value", numeric=False))


def facts(recorded: Recorded, letter: str) -> Table:
    """What the recording says of itself, settings as they were at the begin, and disturbances."""
    found = [("recording", key, value) for key, value in sorted(recorded.meta.items())]
    seen: set[tuple[int, str]] = set()
    for setting in recorded.settings:
        if (setting.target, setting.name) not in seen and setting.value:
            seen.add((setting.target, setting.name))
            found.append((recorded.disk(setting.target) if setting.target else "machine", setting.name, setting.value))
    found += [("disturbance", one.kind, one.text) for one in recorded.disturbances]
    rows = [
        Row(f"fact-{letter}-{at}", tuple(Cell(printable(text, 400)) for text in one)) for at, one in enumerate(found)
    ]
    return Table(f"facts-{letter}", "What was recorded, and with which settings", FACTS, tuple(rows))


def processes(span: Span) -> list[Submitter]:
    """Submitters, those of one process and name together."""
    found: dict[tuple[int | None, str | None], collections.Counter[str]] = {}
    for one in span.submitters:
        found.setdefault((one.pid, one.comm), collections.Counter()).update(one.counts)
    return [Submitter(*who, "", counts) for who, counts in found.items()]


def _where(span: Span) -> tuple[Cell, Cell]:
    return Cell(printable(span.disk, 40)), Cell(printable(span.phase, 60))


def _mib(value: int | None) -> Cell:
    return number(ratio(value, MIB), 1)


def tables(recorded: Recorded, letter: str) -> list[Table]:
    """All tables of a recording."""
    return [table for make in (phases, classes, submitters, facts) if (table := make(recorded, letter)).rows]
