# SPDX-License-Identifier: GPL-2.0-or-later
"""The first screen of the page: what it comes to and what to do, a row a phase, one picture over time."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from raidtrace.explain.evidence import Explanation, Verdict
from raidtrace.plot import overview as plot_overview
from raidtrace.plot import style as plot_style
from raidtrace.quantity.units import ratio
from raidtrace.recording.figures import Figures
from raidtrace.recording.series import Floats
from raidtrace.recording.spans import Recorded, Span, Target
from raidtrace.report import tables as report_tables
from raidtrace.report.page import Live
from raidtrace.report.tables import Column, Row, Table
from raidtrace.report.text import NOT_AVAILABLE, Cell, number, printable, row_id

Limits = Mapping[tuple[str, str, str], str]  # disk, phase, direction -> what limits it

COLUMNS = (
    Column("phase", numeric=False),
    Column("direction", numeric=False),
    Column("throughput", "MiB/s", "bytes-completed (of a disk without requests bytes-queued) by the length", narrow="MiB/s",
           of=Figures.throughput, digits=1),
    Column("in flight", "mean", "mean of the histogram depth-time, weighted by its times", narrow="in flight",
           of=report_tables.depth, digits=2),
    Column("size", "KiB", "most frequent size of the histogram size, the lowest of several", narrow="KiB"),
    Column("sequential", "%", "sequential by issued", narrow="% sequential", of=lambda f: ratio(f.sequential_share(), 0.01),
           digits=1),
    Column("p50", "ms", "upper bound of the bin of the histogram d2c that half do not exceed", narrow="ms, p50"),
    Column("p99", "ms", "the same of 99 in 100", narrow="ms, p99"),
    Column("max", "ms", "the same of all", narrow="ms, max"),
    Column("limit", meaning="the first limit that explain infers", numeric=False, narrow="limit"),
)  # fmt: skip


def limits_of(found: Explanation) -> Limits:
    """What limits each phase of one recording: the first limit that is inferred."""
    return {
        (chain.disk, chain.phase, chain.direction): next(
            (limit.title for limit in chain.limits if limit.verdict is Verdict.INFERRED), "not shown"
        )
        for chain in found.chains
    }


def table(named: Sequence[tuple[str, Recorded, Limits]]) -> Table:
    """A row, in order of time, for each phase, disk and direction that moved data; of each recording after the other."""
    rows = []
    for letter, one, limits in named:
        for span in one.spans:
            for direction in ("read", "write"):
                if span.count(direction, "bytes_queued" if span.bio_based else "bytes_issued"):
                    name = _name(span, letter if len(named) > 1 else "", len(one.targets) > 1)
                    limit = limits.get((span.disk, span.phase, direction), "-")
                    ident = f"glance-{row_id(letter, span.disk, span.number)}.{direction}"
                    rows.append(
                        Row(ident, (Cell(name), Cell(direction), *_numbers(Figures(span, direction)), Cell(limit)))
                    )
    return Table("glance", "Each phase, in order of time", COLUMNS, tuple(rows))


def _name(span: Span, letter: str, several: bool) -> str:
    parts = (letter, printable(span.phase, 40), printable(span.disk, 40) if several else "")
    return " ".join(part for part in parts if part)


def _numbers(figures: Figures) -> tuple[Cell, ...]:
    rate, in_flight, sequential = report_tables.numbers(COLUMNS, figures)
    sectors = figures.exact_size_mode()
    times = (report_tables.time_ms(share)(figures) for share in (0.5, 0.99, 1.0))
    return (
        rate, in_flight, number(ratio(sectors, 2), 1 if sectors and sectors % 2 else 0), sequential,
        *(Cell(NOT_AVAILABLE) if time is None else Cell(_ms(time), time) for time in times),
    )  # fmt: skip


def _ms(time: float) -> str:
    return f"{time:,.{3 if time < 1 else 2 if time < 10 else 1 if time < 100 else 0}f}"


def live(named: Sequence[tuple[str, Recorded]]) -> Live | None:
    """The picture over time, still for print and as numbers for a screen, of that disk that moved most. None: nothing moved."""
    disks = sorted(named[0][1].targets, key=lambda disk: -_moved(named[0][1], disk))
    groups = [group for disk in disks if (group := _group(named, disk))]
    if not groups:
        return None
    of = f"{printable(disks[0].disk, 40)}{' of A, dashed of B' if len(named) > 1 else ''}"
    figure = plot_overview.over_time(_pairs(named, disks[0]))
    simulated = all(one.simulated() for _, one in named)
    data = {
        "panels": plot_overview.PANELS, "groups": groups, "axis": f"{'simulated ' if simulated else ''}seconds since it began",
        "styles": {way: [plot_style.OF[way].line, dashes] for way, dashes in plot_overview.DASHES.items()},
        "names": [letter for letter, _ in named] if len(named) > 1 else [""],
    }  # fmt: skip
    return Live.of("over-time", f"Throughput, in flight and latency over time, {of}", figure, data)


def _pairs(named: Sequence[tuple[str, Recorded]], disk: Target) -> list[tuple[Recorded, Target]]:
    """A disk in each recording: that of the same name, or the only one."""
    found = [(named[0][1], disk)]
    for _, one in named[1:]:
        same = [other for other in one.targets if other.disk == disk.disk]
        only = one.targets if len(one.targets) == len(named[0][1].targets) == 1 else ()
        found += [(one, other) for other in (*same, *only)][:1]
    return found


def _moved(one: Recorded, disk: Target) -> int:
    series = one.series_of(disk.target)
    return sum(int(moved.sum()) for moved in series.moved.values()) if series else 0


def _group(named: Sequence[tuple[str, Recorded]], disk: Target) -> dict[str, Any] | None:
    """Of one disk, of each recording: times, and lines by panel."""
    pairs = _pairs(named, disk)
    tables: list[dict[str, Any]] = []
    for at, (one, target) in enumerate(pairs):
        series = one.series_of(target.target)
        if series is None or not _moved(one, target):
            continue
        panels: list[list[dict[str, Any]]] = [
            [
                {"way": direction, "y": _rounded(numbers)}
                for _, direction, _, numbers in plot_overview.lines([(one, target)], panel)
            ]
            for panel in plot_overview.PANELS
        ]
        x = [round((int(edge) - one.begin_ns()) / 1e9, 4) for edge in series.edges]
        tables.append({"of": at, "x": x, "panels": panels})
    if not tables:
        return None
    begin = named[0][1].begin_ns()
    phases = [
        [printable(phase.name, 40), round((phase.start_ns - begin) / 1e9, 4),
         round(((phase.end_ns or named[0][1].end_ns()) - begin) / 1e9, 4)]
        for phase in named[0][1].phases if phase.name != "outside" and len(named) == 1
    ]  # fmt: skip
    return {"disk": printable(disk.disk, 40), "phases": phases, "tables": tables}


def _rounded(numbers: Floats) -> list[float | None]:
    """Four digits are more than a picture shows."""
    return [None if math.isnan(value) else float(f"{value:.4g}") for value in numbers.tolist()]
