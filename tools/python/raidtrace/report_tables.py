# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of the HTML report: what each phase of each disk came to."""

import dataclasses
from collections.abc import Mapping, Sequence

from raidtrace import bins
from raidtrace.overview import Overview, Span
from raidtrace.report_text import NOT_AVAILABLE, Cell, number, printable, rate_mib, row_id


@dataclasses.dataclass(frozen=True)
class Column:
    """A column: heading, unit, and what the number is (a name of counters.rst)."""

    name: str
    unit: str = ""
    meaning: str = ""
    numeric: bool = True


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


def phases(overview: Overview, letter: str) -> Table:
    """Every phase of every disk, a row for each direction that anything happened in."""
    rows: list[Row] = []
    for span in overview.spans():
        ident = row_id(letter, span.target.disk, span.phase.phase)
        for direction, flow in sorted(span.counters.flow.items()):
            if flow.get("queued") or flow.get("issued"):
                rows.append(Row(ident if not rows or rows[-1].id.split(".")[0] != ident else f"{ident}.{direction}",
                                _phase(span, direction)))  # fmt: skip
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


def tables(overview: Overview, letter: str) -> Sequence[Table]:
    """All tables of a recording."""
    return [table for table in (phases(overview, letter),) if table.rows]
