# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of the HTML report: what each phase of each disk came to."""

import dataclasses
from collections.abc import Mapping

from raidtrace.quantity import bins
from raidtrace.recording.overview import Overview, Span
from raidtrace.report.text import NOT_AVAILABLE, Cell, number, printable, rate_mib, row_id

PROCESSES = 10  # of each phase and disk


@dataclasses.dataclass(frozen=True)
class Column:
    """A column: heading, unit, and what the number is (a name of counters.rst). narrow: what stands before the number where
    the window is too narrow for a table."""

    name: str
    unit: str = ""
    meaning: str = ""
    numeric: bool = True
    narrow: str = ""


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


PHASES = (
    Column("disk", numeric=False),
    Column("phase", numeric=False),
    Column("direction", numeric=False),
    Column("length", "s", "from the begin of the phase to its end"),
    Column("requests", "", "issued"),
    Column("throughput", "MiB/s", "bytes-completed (of a disk without requests bytes-queued) by the length"),
    Column("in flight", "requests", "mean of the histogram depth-time, weighted by its times"),
    Column("highest", "requests", "highest depth at which any time was spent"),
    Column("request", "KiB", "most frequent size of the histogram size"),
    Column("mean request", "KiB", "bytes-issued by issued"),
    Column("sequential", "%", "sequential by issued"),
    Column("bios", "", "queued"),
    Column("merges", "", "back-merges, front-merges and request-merges"),
    Column("splits", "", "splits"),
    Column("d2c mean", "ms", "d2c-sum-ns by completed"),
    Column("d2c p99", "ms", "upper bound of the bin of the histogram d2c that 99 of 100 do not exceed"),
)


def directions(span: Span) -> list[str]:
    """Directions in which anything happened."""
    return sorted(d for d, flow in span.counters.flow.items() if flow.get("queued") or flow.get("issued"))


def phases(overview: Overview, letter: str) -> Table:
    """Every phase of every disk, a row for each direction that anything happened in. The first row has the id to link to."""
    rows = []
    for span in overview.spans():
        ident = row_id(letter, span.target.disk, span.phase.phase)
        for at, direction in enumerate(directions(span)):
            rows.append(Row(f"{ident}.{direction}" if at else ident, _phase(span, direction)))
    return Table(f"phases-{letter}", "Each phase of each disk", PHASES, tuple(rows))


def _phase(span: Span, direction: str) -> tuple[Cell, ...]:
    c = span.counters

    def count(*names: str) -> int | None:
        return None if c.unknown & set(names) else sum(c.count(direction, name) for name in names)

    issued, mode = count("issued"), c.size_mode(direction)
    size, sequential, wait, completed = (
        count("bytes_issued"),
        count("sequential"),
        count("d2c_sum_ns"),
        count("completed"),
    )
    depth = c.histogram(direction, "depth_time")
    requests = not span.target.bio_based
    return (
        Cell(printable(span.target.disk, 40)),
        Cell(printable(span.phase.name, 60)),
        Cell(direction),
        number(c.seconds(), 3),
        number(issued if requests else None),
        number(rate_mib(span, direction), 2),
        number(c.inflight_mean(direction), 2),
        number(max(depth), 0) if depth else Cell(NOT_AVAILABLE),
        number(mode[0] / 2 if mode else None, 1),
        number(size / issued / 1024 if size is not None and issued and requests else None, 1),
        number(100 * sequential / issued if sequential is not None and issued and requests else None, 2),
        number(count("queued")),
        number(count("back_merges", "front_merges", "request_merges")),
        number(count("splits")),
        number(wait / completed / 1e6 if wait is not None and completed and requests else None, 3),
        number(percentile(c.histogram(direction, "d2c"), 0.99), 3),
    )


def percentile(histogram: Mapping[int, int], share: float) -> float | None:
    """Upper bound in ms of the bin of a latency histogram that `share` of all do not exceed. None: empty."""
    total, passed = sum(histogram.values()), 0
    for index in sorted(histogram):
        passed += histogram[index]
        if passed >= share * total:
            return bins.time(index)[1] / 1e6
    return None


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


def classes(overview: Overview, letter: str) -> Table:
    """What requests were for."""
    rows = []
    for span in overview.spans():
        for name, sums in sorted(span.counters.origins.items()):
            seeks = sums.get("seeks")
            away = sums.get("seek_sectors", 0) / seeks / 2048 if seeks else None
            cells = (number(sums.get("queued")), _mib(sums.get("bytes_queued")), number(sums.get("issued")),
                     _mib(sums.get("bytes_issued")), number(seeks), number(away, 1))  # fmt: skip
            ident = f"{row_id(letter, span.target.disk, span.phase.phase)}-class-{name}"
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


def submitters(overview: Overview, letter: str) -> Table:
    """Who queued."""
    rows = []
    for span in overview.spans():
        found = sorted(span.counters.submitters.items(), key=lambda one: -one[1].get("bytes_queued", 0))
        for at, ((pid, comm), sums) in enumerate(found[:PROCESSES]):
            who = printable(comm, 40) if pid is not None else "all others"
            cells = (
                number(pid),
                number(sums.get("queued")),
                _mib(sums.get("bytes_queued")),
                number(sums.get("seeks_queued")),
            )
            ident = f"{row_id(letter, span.target.disk, span.phase.phase)}-process-{at}"
            rows.append(Row(ident, (*_where(span), Cell(who), *cells)))
    return Table(
        f"submitters-{letter}", f"Who queued: the {PROCESSES} processes with most bytes", SUBMITTERS, tuple(rows)
    )


FACTS = (Column("about", numeric=False), Column("what", numeric=False), Column("value", numeric=False))


def facts(overview: Overview, letter: str) -> Table:
    """What the recording says of itself, settings as they were at the begin, and disturbances."""
    found = [("recording", key, value) for key, value in sorted(overview.recording.meta.items())]
    seen: set[tuple[str, str]] = set()
    for setting in overview.recording.settings:
        if (setting.disk, setting.name) not in seen and setting.value:
            seen.add((setting.disk, setting.name))
            found.append((setting.disk or "machine", setting.name, setting.value))
    found += [("disturbance", one.kind, one.text) for one in overview.recording.disturbances]
    rows = [
        Row(f"fact-{letter}-{at}", tuple(Cell(printable(text, 400)) for text in one)) for at, one in enumerate(found)
    ]
    return Table(f"facts-{letter}", "What was recorded, and with which settings", FACTS, tuple(rows))


def _where(span: Span) -> tuple[Cell, Cell]:
    return Cell(printable(span.target.disk, 40)), Cell(printable(span.phase.name, 60))


def _mib(value: int | None) -> Cell:
    return number(None if value is None else value / (1 << 20), 1)


def tables(overview: Overview, letter: str) -> list[Table]:
    """All tables of a recording."""
    return [table for make in (phases, classes, submitters, facts) if (table := make(overview, letter)).rows]
