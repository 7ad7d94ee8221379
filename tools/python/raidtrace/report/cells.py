# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables that a sweep's chains are made of: what was counted in every cell, and each phase of the cells at their ends."""

import dataclasses
import pathlib
from collections.abc import Mapping, Sequence

from raidtrace.explain.evidence import Explanation
from raidtrace.quantity.units import ratio
from raidtrace.recording import invariants
from raidtrace.report import tables as report_tables
from raidtrace.report.rows import Cell, Column, Row, Table, number, printable, row_id
from raidtrace.sweep.index import Entry

COUNTED = (
    *(Column(heading, numeric=False) for heading in ("cell", "disk", "phase", "direction")),
    Column("length", "s", "from the begin of the phase to its end"),
    Column("readahead", "sectors", "of the disk"),
    Column("bios", "", "queued"),
    Column("mean bio", "KiB", "bytes-queued by queued"),
    Column("splits", "", "splits"),
    Column("requests", "", "issued"),
    Column("mean request", "KiB", "bytes-issued by issued"),
    Column("sequential", "%", "sequential by issued"),
    Column("in flight", "requests", "mean of the histogram depth-time, weighted by its times"),
)


@dataclasses.dataclass(frozen=True)
class Tables:
    """The tables, and ids of their rows: of every cell by cell, disk and phase; of the ends likewise."""

    tables: tuple[Table, ...]
    counted: Mapping[tuple[str, str, str], str]
    ends: Mapping[tuple[str, str, str], str]


def tables(directory: pathlib.Path, entries: Sequence[Entry], queues: Sequence[Mapping[str, object]],
           found: Explanation) -> Tables:  # fmt: skip
    """entries, queues: of the sweep's index. found: what is explained, whose numbers name cells."""
    names = {entry.cell: entry.name for entry in entries}
    made, counted = _counted(queues, names)
    values = [value for chain in found.chains for link in chain.links for value in link.values]
    values += [value for chain in found.chains for limit in chain.limits for value in limit.values]
    wanted = {value.source.cell for value in values if value.source.disk}
    of_ends: list[Table] = []
    ends: dict[tuple[str, str, str], str] = {}
    for entry in entries:
        path = directory / entry.directory / "run.rtdb"
        if entry.name in wanted and path.is_file():
            seen, letter = invariants.load(path), f"cell-{entry.cell}"
            table = report_tables.of_recording(seen, letter)[0]
            of_ends.append(dataclasses.replace(table, caption=f"{table.caption}, cell {printable(entry.name, 80)}"))
            for span in seen.spans:
                if report_tables.busy(span):
                    ends.setdefault((entry.name, span.disk, span.phase), row_id(letter, span.disk, span.number))
    return Tables((*([made] if made.rows else []), *of_ends), counted, ends)


def _counted(
    queues: Sequence[Mapping[str, object]], names: Mapping[int, str]
) -> tuple[Table, dict[tuple[str, str, str], str]]:
    """The first row of a phase is that of the direction which moved more."""
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
        )  # fmt: skip
        rows.append(Row(ids[id(row)], (*(Cell(printable(text, 80)) for text in texts), *cells)))
    return Table("counted", "What was counted in each cell", COUNTED, tuple(rows)), of


def _float(row: Mapping[str, object], name: str) -> float | None:
    return None if row[name] is None else float(str(row[name]))
