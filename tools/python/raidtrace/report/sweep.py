# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML report of a sweep: each figure next to the published one, and pictures of the varied settings."""

import dataclasses
import json
import pathlib
import statistics
from collections.abc import Mapping, Sequence

from raidtrace.explain.evidence import Explanation
from raidtrace.plot import sweep as plot_sweep
from raidtrace.quantity.shown import UserError
from raidtrace.quantity.units import ratio
from raidtrace.recording import database, invariants
from raidtrace.recording import quantities as q
from raidtrace.report import tables as report_tables
from raidtrace.report.page import Part, Picture, cells_of, picture, render, why_part
from raidtrace.report.rows import Cell, Column, Row, Sentence, Table, number, printable, row_id
from raidtrace.sweep import explain as explain_sweep
from raidtrace.sweep import plan
from raidtrace.sweep import table as sweep_table
from raidtrace.sweep.index import NAME, SHARES, Entry, Index
from raidtrace.sweep.table import Line

RATE = "KiB/s"
FIGURES = "figures"  # the table that sentences about all figures link to
KNEE = "A ring marks the knee: the smallest readahead within 5 % of the best."
PUBLISHED = "On the line, both rates are equal; in the band, they differ by at most 20 %."


def page(directory: pathlib.Path) -> str:
    """The page about the sweep in a directory. Raises UserError: no cell has a figure yet."""
    index = Index(directory / NAME)
    try:
        meta = index.meta()
        the_plan = plan.parse(meta["text"], meta["plan"], meta["plan"], json.loads(meta.get("overrides", "{}")))
        lines = sweep_table.lines(index, the_plan.published)
        queues = index.queues()
        largest = _largest(directory, index.entries())
        entries = index.entries()
    finally:
        index.close()
    if not lines:
        raise UserError(f"{directory}: no cell of this sweep has a figure yet")
    table, ids = _table(lines)
    simulated = all(line.simulated for line in lines)
    points = _points(lines, queues, largest)
    pictures = _pictures(lines, points, simulated)
    summary = _summary(the_plan, lines, points, ids, simulated)
    explained = explain_sweep.explain(directory)
    cells = cell_tables(directory, entries, queues, explained)
    figures = {
        (cell, line.phase): ids[id(line)] for line in reversed(lines) if line.place == "{}" for cell in line.cells
    }
    sentences, why = why_part(explained, cells_of(figures, cells.counted, cells.ends))
    summary += sentences
    summary += [
        Sentence(f"Failed: {printable(entry.name, 80)}: {printable(entry.error or '', 300)}")
        for entry in entries
        if entry.error
    ]
    evidence = Part("evidence", "Evidence", (), (), pictures, [table, *cells.tables])
    return render(f"raidtrace: sweep {meta['plan']}", summary, [why, evidence])


def curves(directory: pathlib.Path) -> dict[str, list[plot_sweep.Point]]:
    """Read rates over the readahead of the sweep in a directory, by the other varied settings."""
    index = Index(directory / NAME)
    try:
        lines = sweep_table.lines(index, "")
        points = _points(lines, index.queues(), _largest(directory, index.entries()))
    finally:
        index.close()
    return {name: [point for _, point in some] for name, some in points.items()}


def _largest(directory: pathlib.Path, entries: Sequence[Entry]) -> dict[int, int]:
    """The largest request of the measured disk in sectors, by cell. Cells without a recorded value are left out."""
    by_cell = {}
    for entry in entries:
        path = directory / entry.directory / "run.rtdb"
        if path.is_file():
            with database.connect(path) as db:
                row = db.execute("SELECT max_sectors FROM target ORDER BY target").fetchone()
            if row and row[0]:
                by_cell[entry.cell] = int(row[0])
    return by_cell


def _rate(line: Line) -> tuple[float, float, float]:
    """Median and interval in units of 1000 KiB/s. With one trial, which has no interval, all three are equal."""
    s = line.summary
    return tuple((s.median if one is None else one) / 1000 for one in (s.median, s.low, s.high))  # type: ignore[return-value]


Points = Mapping[str, Sequence[tuple[Line, plot_sweep.Point]]]


def _name(line: Line, lines: Sequence[Line], without: Sequence[str] = ()) -> str:
    """The benchmark, and the values of the axes in which its lines differ."""
    alike = [other for other in lines if other.benchmark == line.benchmark]
    axes = [name for name in sweep_table.varying(alike) if name not in (*without, "workload")]
    return ", ".join(
        [line.label or line.benchmark, *(str(line.axes[name]) for name in axes if line.axes.get(name) is not None)]
    )


def _points(lines: Sequence[Line], queues: Sequence[Mapping[str, object]], largest: Mapping[int, int]) -> Points:
    """Read rates over the readahead, by the other varied settings. Series with a single readahead are left out."""
    depths: dict[tuple[int, str], tuple[float, float]] = {}
    for row in queues:
        if row["direction"] == "read" and row["in_flight_mean"] is not None:
            key = (int(str(row["cell"])), str(row["phase"]))
            moved = float(str(row["bytes_issued"] or 0))
            if moved > depths.get(key, (0.0, -1.0))[1]:
                depths[key] = (float(str(row["in_flight_mean"])), moved)
    series: dict[str, list[tuple[Line, plot_sweep.Point]]] = {}
    for line in lines:
        ahead = line.axes.get("readahead_sectors")
        if line.unit != RATE or line.phase != "read" or not isinstance(ahead, int) or line.place != "{}":
            continue
        cells = [int(name.split("-")[0]) for name in line.cells]
        depths_of_cells = [depths.get((cell, line.phase), depths.get((cell, "run"))) for cell in cells]
        known = sorted(one[0] for one in depths_of_cells if one)
        point = plot_sweep.Point(ahead, *_rate(line), known[len(known) // 2] if known else None,
                                 largest.get(cells[0]))  # fmt: skip
        series.setdefault(_name(line, lines, ("readahead_sectors",)), []).append((line, point))
    return {name: points for name, points in series.items() if len({p.readahead_sectors for _, p in points}) > 1}


def _pictures(lines: Sequence[Line], points: Points, simulated: bool) -> list[Picture]:
    pictures: list[Picture] = []
    if points:
        curves_shown = [(name, [point for _, point in some]) for name, some in list(points.items())[:6]]
        pictures += picture(
            "sweep", "Reading, over the readahead", KNEE, "the sweep", plot_sweep.readahead(curves_shown, simulated)
        )
    bars = _bars(lines)
    if len({bar.name for bar in bars}) > 1:
        pictures += picture("filesystems", "File systems", "Median, with its interval.", "the sweep",
                            plot_sweep.bars(bars, simulated))  # fmt: skip
    for at, (title, rates) in enumerate(_surfaces(lines).items()):
        pictures += picture(f"surface-{at}", f"Surface: {title}", "Darker is more.", "the sweep",
                            plot_sweep.surface(rates, simulated))  # fmt: skip
    pairs = []
    for line in lines:
        if line.unit == RATE and line.published and line.published.same_test() and line.summary.median:
            published, got = line.published.middle / 1000, line.summary.median / 1000
            pairs.append(plot_sweep.Pair(line.label or line.benchmark, published, got))
    if pairs:
        pictures += picture(
            "published", "Published and measured", PUBLISHED, "the sweep", plot_sweep.scatter(pairs, simulated)
        )
    return pictures


def _bars(lines: Sequence[Line]) -> list[plot_sweep.Bar]:
    """The rates of each phase by file system, at the largest readahead."""
    rates = [
        line
        for line in lines
        if line.unit == RATE and line.place == "{}" and line.axes.get("filesystem") not in (None, "none")
    ]
    ahead = [int(str(line.axes.get("readahead_sectors") or 0)) for line in rates]
    most = max(ahead, default=0)
    bars = []
    for line, one in zip(rates, ahead, strict=True):
        if one == most:
            bars.append(plot_sweep.Bar(line.phase, str(line.axes["filesystem"]), *_rate(line)))
    unique = {(bar.group, bar.name): bar for bar in bars}
    return list(unique.values()) if len(unique) == len(bars) else []


def _surfaces(lines: Sequence[Line]) -> dict[str, dict[tuple[int, int], float]]:
    surfaces: dict[str, dict[tuple[int, int], float]] = {}
    for line in lines:
        place = json.loads(line.place)
        if "file_kib" in place and line.unit == RATE:
            key = (int(place["file_kib"]), int(place["record_kib"]))
            surfaces.setdefault(printable(f"{_name(line, lines)}, {line.phase}", 100), {})[key] = line.summary.median
    return {title: rates for title, rates in surfaces.items() if len(rates) > 1}


def _table(lines: Sequence[Line]) -> tuple[Table, dict[int, str]]:
    names = sweep_table.varying(lines)
    columns = [Column("benchmark", numeric=False), Column("phase", numeric=False)]
    columns += [Column(name, numeric=all(isinstance(line.axes.get(name), int) for line in lines)) for name in names]
    columns += [Column("trials"), Column("median", "", "median of the trials"), Column("unit", numeric=False),
                Column("low", "", "95 % bootstrap interval of the median"),
                Column("high", "", "95 % bootstrap interval of the median"),
                Column("published", "", "median of the published figures"),
                Column("ratio", "", "median divided by published, if both are of the same test"),
                Column("not as published", numeric=False)]  # fmt: skip
    rows = []
    for at, line in enumerate(lines):
        s, place = line.summary, ", ".join(f"{k} {v}" for k, v in json.loads(line.place).items())
        axes = [number(value) if isinstance(value := line.axes.get(name), int) else Cell(printable(str(value or "-"), 60))
                for name in names]  # fmt: skip
        middle = line.published.middle if line.published else None
        cells = [Cell(printable(line.label or line.benchmark, 60)), Cell(printable(f"{line.phase} {place}".strip(), 80)), *axes,
                 number(s.trials), number(s.median, 1), Cell(line.unit), number(s.low, 1), number(s.high, 1), number(middle, 1),
                 number(s.median / middle if middle and line.published and line.published.same_test() else None, 3),
                 Cell(printable(line.published.difference(), 300) if line.published else "")]  # fmt: skip
        rows.append(Row(f"figure-{at}", tuple(cells)))
    return Table(FIGURES, "Every figure", tuple(columns), tuple(rows)), {
        id(line): f"figure-{at}" for at, line in enumerate(lines)
    }


def _summary(
    the_plan: plan.Plan, lines: Sequence[Line], points: Points, ids: Mapping[int, str], simulated: bool
) -> list[Sentence]:
    what = "Simulated: real Linux and driver, a model array, simulated time. " if simulated else ""
    sentences = [Sentence(f"{what}{printable(the_plan.title, 300)}: {len(lines)} figures.", FIGURES)]
    for name, some in points.items():
        by = {id(point): line for line, point in some}
        all_points = [point for _, point in some]
        least = min(all_points, key=lambda p: p.readahead_sectors)
        at = plot_sweep.knee(all_points)
        text = f"{printable(name, 100)}: reading rises from {least.rate:.1f} to {at.rate:.1f} MB/s at a readahead of " \
               f"{q.kib(at.readahead_sectors)}, the smallest within 5 % of the best"  # fmt: skip
        if at is least:
            smallest = q.kib(least.readahead_sectors)
            text = f"{printable(name, 100)}: no readahead reads more than 5 % faster than the smallest, {smallest}"
        elif at.readahead_sectors == max(point.readahead_sectors for point in all_points):
            text += ", which is the largest readahead of the sweep"
        if at.depth and least.depth and at is not least:
            text += f"; reads in flight from {least.depth:.2f} to {at.depth:.2f}"
        sentences.append(Sentence(f"{text}.", ids[id(by[id(at)])]))
    pairs = [(line.summary.median, line.published) for line in lines if line.published and line.published.middle]
    errors = [abs(median / published.middle - 1) for median, published in pairs if published.same_test()]
    if pairs:
        other = len(pairs) - len(errors)
        text = f"{len(pairs)} figures have a published counterpart"
        text += f", {other} of them from a different test" if other else ""
        text += f"; the median difference is {100 * statistics.median(errors):.1f} %" if errors else ""
        sentences.append(Sentence(f"{text}.", FIGURES))
        sentences += [
            Sentence(f"Differs from the publication: {printable(one, 300)}.", FIGURES)
            for one in sweep_table.unlike_published(lines)
        ]
    return sentences


# The tables behind the chains of a sweep: the counters of every cell, and each phase of the cells with recordings.

CELL_COLUMNS = (
    *(Column(heading, numeric=False) for heading in ("cell", "disk", "phase", "direction")),
    Column("length", "s", "from the beginning of the phase to its end"),
    Column("readahead", "sectors", "of the disk"),
    Column("bios", "", "queued"),
    Column("mean bio", "KiB", "bytes-queued divided by queued"),
    Column("splits", "", "splits"),
    Column("requests", "", "issued"),
    Column("mean request", "KiB", "bytes-issued divided by issued"),
    Column("sequential", "%", "sequential divided by issued"),
    Column("in flight", "requests", "mean of the histogram depth-time, weighted by its times"),
    Column("busy", "%", "of the time of the disk: requests in flight; of md, bios"),
    Column("held", "%", "of the time of the disk: bios wait, no request in flight"),
    Column("backlog", "%", "of the time of the disk: bios wait, and requests are in flight"),
)


@dataclasses.dataclass(frozen=True)
class Tables:
    """The tables, and ids of their rows by cell, disk and phase: counted for every cell, ends for the cells with
    recordings."""

    tables: tuple[Table, ...]
    counted: Mapping[tuple[str, str, str], str]
    ends: Mapping[tuple[str, str, str], str]


def cell_tables(directory: pathlib.Path, entries: Sequence[Entry], queues: Sequence[Mapping[str, object]],
                explanation: Explanation) -> Tables:  # fmt: skip
    """The tables of a sweep. entries, queues: from its index. explanation: names the cells with recordings that are
    needed."""
    names = {entry.cell: entry.name for entry in entries}
    made, counted = _of_counters(queues, names)
    values = [value for chain in explanation.chains for link in chain.links for value in link.values]
    values += [value for chain in explanation.chains for limit in chain.limits for value in limit.values]
    named = {value.source.cell for value in values if value.source.disk}
    of_ends: list[Table] = []
    ends: dict[tuple[str, str, str], str] = {}
    for entry in entries:
        path = directory / entry.directory / "run.rtdb"
        if entry.name in named and path.is_file():
            recorded, letter = invariants.load(path), f"cell-{entry.cell}"
            table = report_tables.of_recording(recorded, letter)[0]
            of_ends.append(dataclasses.replace(table, caption=f"{table.caption}, cell {printable(entry.name, 80)}"))
            for span in recorded.spans:
                if report_tables.busy(span):
                    ends.setdefault((entry.name, span.disk, span.phase), row_id(letter, span.disk, span.number))
    return Tables((*([made] if made.rows else []), *of_ends), counted, ends)


def _of_counters(
    queues: Sequence[Mapping[str, object]], names: Mapping[int, str]
) -> tuple[Table, dict[tuple[str, str, str], str]]:
    """The table of counters, and the id of a row by cell, disk and phase: that of the direction with more bytes."""
    moved = sorted(queues, key=lambda row: -(_float(row, "bytes_queued") or 0))
    rows, ids = [], {id(row): f"counted-{at}" for at, row in enumerate(queues)}
    of: dict[tuple[str, str, str], str] = {}
    for row in moved:
        of.setdefault((names[int(str(row["cell"]))], str(row["disk"]), str(row["phase"])), ids[id(row)])
    for row in queues:
        texts = (names[int(str(row["cell"]))], str(row["disk"]), str(row["phase"]), str(row["direction"]))
        bios, issued = _float(row, "bios"), _float(row, "issued")
        cells = (
            number(_float(row, "seconds"), 3), number(_float(row, "readahead_sectors")), number(bios),
            number(ratio(_float(row, "bytes_queued"), bios, 1024), 1), number(_float(row, "splits")), number(issued),
            number(ratio(_float(row, "bytes_issued"), issued, 1024), 1),
            number(ratio(_float(row, "sequential"), issued, 0.01), 2), number(_float(row, "in_flight_mean"), 2),
            *(number(ratio(_float(row, name), 0.01), 1) for name in SHARES),
        )  # fmt: skip
        rows.append(Row(ids[id(row)], (*(Cell(printable(text, 80)) for text in texts), *cells)))
    return Table("counted", "Counters of each cell", CELL_COLUMNS, tuple(rows)), of


def _float(row: Mapping[str, object], name: str) -> float | None:
    return None if row[name] is None else float(str(row[name]))
