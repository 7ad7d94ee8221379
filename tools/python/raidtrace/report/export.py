# SPDX-License-Identifier: GPL-2.0-or-later
"""Every table of a recording, as CSV files and as JSON."""

import os
import pathlib
import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

from raidtrace.quantity.bins import CLASSES, KINDS, NUMBERS, depth_row
from raidtrace.quantity.output import row_csv, row_json
from raidtrace.recording import invariants, spans
from raidtrace.recording.columns import DICTIONARY, Column, RecordingError
from raidtrace.recording.sample_rows import SampleRows

# table -> what its rows are sorted by
ORDER = {
    "meta": "key", "target": "target", "setting": "time_ns, rowid", "phase": "phase", "sample": "sample",
    "flow": "sample, direction", "bin": "sample, direction, kind, bin", "stack": "parent, target",
    "note": "time_ns, rowid", "host": "start_ns, rowid", "disturbance": "disturbance", "origin": "sample, class",
    "submitter": "sample, submitter", "hwq": "sample, hwq", "request": "target, number", "output": "rowid",
}  # fmt: skip
PACKED = "histograms"  # column of sample, which bin has as rows
Rows = Iterable[Sequence[object]]


class ExportError(Exception):
    """Nothing was written to a file; the text says why and what to do."""


def header(table: str, added: Sequence[Column]) -> list[str]:
    """Names of the columns that are printed. added: counters of the recording that a newer raidctl has."""
    return [one.name for one in (*DICTIONARY, *added) if one.table == table and one.name != PACKED]


def _described(added: Sequence[Column]) -> list[Column]:
    """The columns of all tables that are exported, those of a table together."""
    tables = dict.fromkeys(one.table for one in DICTIONARY if one.table != "counter")
    return [one for table in tables for one in (*DICTIONARY, *added) if one.table == table and one.name != PACKED]


def _rows(path: pathlib.Path, rows: SampleRows, table: str) -> Iterator[Sequence[object]]:
    """All rows. Columns that the file lacks are empty. The invariants are verified now."""
    if table == "meta":
        with spans.raw_texts(rows):
            meta = invariants.read(path, rows).meta
        yield from meta.items()
        return
    known, names = rows.bin_columns() if table == "bin" else rows.columns(table), header(table, rows.added)
    if not known:
        return
    picked = ", ".join(name if name in known else f"NULL AS {name}" for name in names)
    with spans.raw_texts(rows):
        yield from rows.execute(f"SELECT {picked} FROM {table} ORDER BY {ORDER[table]}")


def _bounds(bins: Rows) -> Iterator[Sequence[object]]:
    """Rows of histogram.csv: bins with their bounds and units."""
    for sample, direction, kind, at, count in bins:
        if kind not in KINDS or not isinstance(at, int) or not 0 <= at < NUMBERS[KINDS[str(kind)].cut]:
            raise RecordingError("it has histograms that raidctl does not write")
        of = KINDS[str(kind)]
        width, (low, high) = of.columns(), of.bounds(at)
        if of.cut == "class":
            bounds: Sequence[object] = (CLASSES[at // width], "class", CLASSES[at % width], None)
        else:
            row = depth_row(at // width) if width else None
            bounds = (row, "requests" if width else None, low, high)
        yield (sample, direction, kind, at, *bounds, of.unit, count, of.counted)


def csv(path: pathlib.Path, rows: SampleRows, directory: pathlib.Path) -> None:
    """One file for each table, and columns.csv with the meaning of each column. ExportError, RecordingError."""
    try:
        directory.mkdir(exist_ok=True)
    except OSError as error:
        raise ExportError(f"{directory}: cannot be made: {error.strerror}; name another directory") from error
    for table in ORDER:
        lines = _rows(path, rows, table)
        _write(directory, *(("histogram", _bounds(lines)) if table == "bin" else (table, lines)), rows.added)
    meanings = ((one.table, one.name, one.unit, one.meaning) for one in _described(rows.added) if one.table != "bin")
    _write(directory, "columns", meanings, ())


def _write(directory: pathlib.Path, table: str, rows: Rows, added: Sequence[Column]) -> None:
    path, head = directory / f"{table}.csv", row_csv(header(table, added))
    with _own(path, head.encode()) as file:
        try:
            file.write(head)
            for row in rows:
                file.write(row_csv(row))
        except OSError as error:
            raise ExportError(f"{path}: {error.strerror}") from error


def _own(path: pathlib.Path, head: bytes) -> IO[str]:
    """A file that is not there, or that an export of the same table made or began. No link is followed."""
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        try:
            fd = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            fd = os.open(path, flags)
        file = open(fd, "w", encoding="utf-8", newline="")
        if not stat.S_ISREG(os.fstat(fd).st_mode) or not head.startswith(os.pread(fd, len(head), 0)):
            file.close()
            raise ExportError(f"{path}: it is there and no export of that table; name another directory")
        os.ftruncate(fd, 0)
    except OSError as error:
        raise ExportError(f"{path}: {error.strerror}; name another directory") from error
    return file


def json(path: pathlib.Path, rows: SampleRows) -> Iterator[str]:
    """What each column means, and every row of every table, in parts of one text."""
    meanings = [{"table": one.table, "column": one.name, "unit": one.unit, "meaning": one.meaning}
                for one in _described(rows.added) if one.kind]  # fmt: skip
    yield '{\n  "columns": [' + ",".join(f"\n    {row_json(one)}" for one in meanings) + '\n  ],\n  "tables": {'
    for at, table in enumerate(ORDER):
        yield f"{',' if at else ''}\n    \"{table}\": ["
        names = header(table, rows.added)
        for number, row in enumerate(_rows(path, rows, table)):
            yield f"{',' if number else ''}\n      {row_json(dict(zip(names, row, strict=True)))}"
        yield "\n    ]"
    yield "\n  }\n}\n"
