# SPDX-License-Identifier: GPL-2.0-or-later
"""Export of every table of a recording, as CSV files and as JSON."""

import heapq
import itertools
import os
import pathlib
import stat
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

from raidtrace.quantity import shown
from raidtrace.quantity.bins import CLASSES, KINDS, NUMBERS, depth_row
from raidtrace.quantity.shown import UserError, row_csv, row_json
from raidtrace.quantity.units import ratio
from raidtrace.recording import database, invariants, results, spans
from raidtrace.recording.columns import DICTIONARY, NO_SECTOR, Column, RecordingError
from raidtrace.recording.sample_rows import Sample, SampleRows, opened
from raidtrace.recording.spans import OUTSIDE, Recorded, Target

# table -> the order of its rows
ORDER = {
    "meta": "key", "target": "target", "setting": "time_ns, rowid", "phase": "phase", "sample": "sample",
    "flow": "sample, direction", "bin": "sample, direction, kind, bin", "stack": "parent, target",
    "note": "time_ns, rowid", "host": "start_ns, rowid", "disturbance": "disturbance", "origin": "sample, class",
    "submitter": "sample, submitter", "hwq": "sample, hwq", "request": "target, number", "output": "rowid",
}  # fmt: skip
PACKED = "histograms"  # column of sample; the table bin has its content as rows
SECTOR = f"NULLIF(sector, {NO_SECTOR})"  # of a request; NULL for a flush also in old recordings
Rows = Iterable[Sequence[object]]


def header(table: str, added: Sequence[Column]) -> list[str]:
    """The names of the exported columns of a table. added: counters of a newer raidctl in the recording."""
    return [one.name for one in (*DICTIONARY, *added) if one.table == table and one.name != PACKED]


def _described(added: Sequence[Column]) -> list[Column]:
    """The exported columns of all tables, sorted by table."""
    tables = dict.fromkeys(one.table for one in DICTIONARY if one.table != "counter")
    return [one for table in tables for one in (*DICTIONARY, *added) if one.table == table and one.name != PACKED]


def _rows(path: pathlib.Path, rows: SampleRows, table: str) -> Iterator[Sequence[object]]:
    """All rows of a table. Columns that the file lacks are NULL. The invariants are verified now."""
    if table == "meta":
        with spans.raw_texts(rows):
            meta = invariants.read(path, rows).meta
        yield from meta.items()
        return
    known, names = rows.bin_columns() if table == "bin" else rows.columns(table), header(table, rows.added)
    if not known:
        return
    stored = {"sector": f"{SECTOR} AS sector"} if table == "request" else {}
    picked = ", ".join(stored.get(name, name) if name in known else f"NULL AS {name}" for name in names)
    with spans.raw_texts(rows):
        yield from rows.execute(f"SELECT {picked} FROM {table} ORDER BY {ORDER[table]}")


def _bounds(bins: Rows) -> Iterator[Sequence[object]]:
    """The rows of histogram.csv: bins with their bounds and units. Raises RecordingError."""
    for sample, direction, kind, at, count in bins:
        if kind not in KINDS or not isinstance(at, int) or not 0 <= at < NUMBERS[KINDS[str(kind)].cut]:
            raise RecordingError("the file contains histograms that raidctl does not write")
        of = KINDS[str(kind)]
        width, (low, high) = of.columns(), of.bounds(at)
        if of.cut == "class":
            bounds: Sequence[object] = (CLASSES[at // width], "class", CLASSES[at % width], None)
        else:
            row = depth_row(at // width) if width else None
            bounds = (row, "requests" if width else None, low, high)
        yield (sample, direction, kind, at, *bounds, of.unit, count, of.counted)


def tables() -> list[str]:
    """The names of the exported tables."""
    return ["histogram" if name == "bin" else name for name in ORDER]


def table(path: pathlib.Path, rows: SampleRows, name: str) -> tuple[list[str], Rows]:
    """The columns and the rows of one of tables(). Raises RecordingError."""
    if name == "histogram":
        return header(name, rows.added), _bounds(_rows(path, rows, "bin"))
    return header(name, rows.added), _rows(path, rows, name)


def csv(path: pathlib.Path, rows: SampleRows, directory: pathlib.Path) -> None:
    """Write one file for each table, and columns.csv with the meaning of each column. Raises UserError,
    RecordingError."""
    try:
        directory.mkdir(exist_ok=True)
    except OSError as error:
        raise UserError(f"{directory}: cannot be created: {error.strerror}; name another directory") from error
    for name in tables():
        _write(directory, name, *table(path, rows, name))
    meanings = ((one.table, one.name, one.unit, one.meaning) for one in _described(rows.added) if one.table != "bin")
    _write(directory, "columns", header("columns", ()), meanings)


def _write(directory: pathlib.Path, name: str, names: Sequence[str], rows: Rows) -> None:
    path, head = directory / f"{name}.csv", row_csv(names)
    with _own(path, head.encode()) as file:
        try:
            file.write(head)
            for row in rows:
                file.write(row_csv(row))
        except OSError as error:
            raise UserError(f"{path}: {error.strerror}") from error


def _own(path: pathlib.Path, head: bytes) -> IO[str]:
    """Open a CSV file for writing: a new file, or one that starts like an export of this table. Raises UserError for
    any other file, and for a symbolic link."""
    flags = (database.READ_ONLY ^ os.O_RDONLY) | database.NOFOLLOW | os.O_RDWR
    try:
        try:
            fd = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            fd = os.open(path, flags)
        file = open(fd, "w", encoding="utf-8", newline="")
        if not stat.S_ISREG(os.fstat(fd).st_mode) or not head.startswith(os.read(fd, len(head))):
            file.close()
            raise UserError(f"{path}: exists, but is not an export of this table; name another directory")
        os.lseek(fd, 0, os.SEEK_SET)
        os.ftruncate(fd, 0)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; name another directory") from error
    return file


def json(path: pathlib.Path, rows: SampleRows) -> Iterator[str]:
    """The export as JSON, in parts of one text: the meaning of each column, and every row of every table."""
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


OF_CLASSES = ("row", "low")  # columns of histogram that have a number, or the name of a class
NUMBERED = {*OF_CLASSES, "sample", "bin", "high", "count"}  # columns with numbers of a table that only an export has
MAKER, BATCH = "raidctl export --parquet", 1 << 16  # rows that are in memory at a time


def parquet(path: pathlib.Path, rows: SampleRows, directory: pathlib.Path) -> None:
    """Write each table as TABLE.parquet, with unit and meaning of each column. A column has one type, so names of classes
    in histograms have columns of their own. Raises ResultsError, RecordingError."""
    import pyarrow.parquet

    results.without(directory, MAKER, [f"{name}.parquet" for name in tables()])
    described = {(one.table, one.name): one for one in (*DICTIONARY, *rows.added)}
    for name in tables():
        names, content = table(path, rows, name)
        if name == "histogram":
            names, content = [*names, *(f"{one}_class" for one in OF_CLASSES)], map(_one_type, content)
        schema = pyarrow.schema([_field(described.get((name, one)), one) for one in names])
        content = iter(content)
        with pyarrow.parquet.ParquetWriter(directory / f"{name}.parquet", schema) as file:
            while batch := list(itertools.islice(content, BATCH)):
                columns = [
                    [shown.whole(one) if isinstance(one, str) else one for one in column]
                    for column in zip(*batch, strict=True)
                ]
                file.write_table(pyarrow.Table.from_arrays([*map(pyarrow.array, columns, schema.types)], schema=schema))


def _field(column: Column | None, name: str) -> Any:
    """The field of a column. None: the name of a class."""
    import pyarrow

    number = column and (column.kind == "integer" or (not column.kind and name in NUMBERED))
    about = {"unit": column.unit, "meaning": column.meaning} if column else {"meaning": "name of a class of bios"}
    return pyarrow.field(name, pyarrow.int64() if number else pyarrow.string(), metadata=about)


def _one_type(row: Sequence[object]) -> Sequence[object]:
    """A row of histogram with names of classes at its end, and NULL in the columns that otherwise have them."""
    classes = [row[at] if isinstance(row[at], str) else None for at in (4, 6)]
    return [None if at in (4, 6) and isinstance(value, str) else value for at, value in enumerate(row)] + classes


# A recording as a trace of Perfetto (TrackEvent): phases and requests as slices, the activity of a disk as counters.
#
# This encodes the few required messages itself. The field numbers are those of Perfetto's trace_packet.proto,
# track_descriptor.proto, counter_descriptor.proto and track_event.proto. Timestamps are CLOCK_MONOTONIC in ns.

MAX_NAME = 200  # characters of a name
DIRECTIONS = ("read", "write")
SEQUENCE = 1  # all packets belong to one sequence
CLEARED = 1  # sequence_flags of the first packet: it refers to no earlier one
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4  # TrackEvent.type
VARINT, DOUBLE, BYTES = 0, 1, 2  # wire types of fields


def _varint(value: int) -> bytes:
    """The varint of a number, which must not be negative."""
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3 | VARINT) + _varint(value)


def _double(field: int, value: float) -> bytes:
    return _varint(field << 3 | DOUBLE) + struct.pack("<d", value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | BYTES) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    """A text field with valid UTF-8. A name may contain anything, so control characters are made visible."""
    return _bytes(field, shown.visible(value[:MAX_NAME]).encode("utf-8"))


def _packet(*fields: bytes) -> bytes:
    return _bytes(1, b"".join(fields) + _number(10, SEQUENCE))


def _track(uuid: int, name: str, parent: int, unit: str | None = None) -> bytes:
    """A track. With a unit, it is a counter."""
    words = [_number(1, uuid), _text(2, name), _number(5, parent) if parent else b""]
    if unit is not None:
        words.append(_bytes(8, _text(6, unit)))
    return _packet(_bytes(60, b"".join(words)))


def _event(time_ns: int, kind: int, track: int, more: bytes = b"") -> bytes:
    return _packet(_number(8, time_ns), _bytes(11, _number(9, kind) + _number(11, track) + more))


HEAD = _packet(_number(13, CLEARED))  # the first bytes of a trace of raidctl


def perfetto(to: pathlib.Path, path: pathlib.Path) -> int:
    """Write the trace of the recording at `path` completely or not at all. Returns its size in bytes.

    An existing file is replaced only if it is such a trace. Raises ResultsError, RecordingError."""
    return results.replace(to, trace(path), HEAD, len(HEAD), "trace of raidctl", "--perfetto")


def trace(path: pathlib.Path) -> Iterator[bytes]:
    """The trace, packet by packet. Raises RecordingError: the recording cannot be read, or has no sample."""
    with opened(path, series=True) as rows:
        if not rows.samples:
            raise RecordingError(f"{path}: contains no sample")
        recorded = spans.read(path, rows, sums=False)
        uuids = itertools.count(1)
        yield HEAD
        yield from _phases(recorded, rows, next(uuids))
        yield from _settings(recorded, rows, next(uuids))
        for disk in recorded.targets:
            yield from _disk(rows, disk, uuids)


def _phases(recorded: Recorded, rows: SampleRows, track: int) -> Iterator[bytes]:
    last = max(sample[4] for sample in rows.samples)
    yield _track(track, "phases", 0)
    for phase in recorded.phases:
        if phase.name == OUTSIDE:
            continue
        yield _event(phase.start_ns, BEGIN, track, _text(23, phase.name))
        yield _event(phase.end_ns if phase.end_ns is not None else last, END, track)


def _settings(recorded: Recorded, rows: SampleRows, track: int) -> Iterator[bytes]:
    """The settings that changed during the recording. Texts of several lines, which come from a driver, are
    left out."""
    first, values = rows.samples[0][3], dict[tuple[str, str], str]()
    changed = []
    for one in recorded.settings:
        disk = recorded.disk(one.target) if one.target else ""
        before = values.get((disk, one.name))
        values[disk, one.name] = one.value
        if before not in (None, one.value) and one.time_ns > first and "\n" not in one.value:
            changed.append((one.time_ns, f"{disk} {one.name}: {before} -> {one.value}".strip()))
    if changed:
        yield _track(track, "settings", 0)
        for time_ns, text in changed:
            yield _event(time_ns, INSTANT, track, _text(23, text))


def _disk(rows: SampleRows, disk: Target, uuids: Iterator[int]) -> Iterator[bytes]:
    """The counters of a disk, below a track of the disk."""
    mine = [sample for sample in rows.samples if sample[1] == disk.target and sample[4] > sample[3]]
    if not mine:
        return
    parent = next(uuids)
    yield _track(parent, disk.disk, 0)
    for name, unit, values in _counters(rows, disk, mine):
        track = next(uuids)
        yield _track(track, f"{disk.disk} {name}", parent, unit)
        yield from _values(track, [sample[3] for sample in mine], values)
    yield from _requests(rows, disk, parent, uuids)


def _requests(rows: SampleRows, disk: Target, parent: int, uuids: Iterator[int]) -> Iterator[bytes]:
    """Requests that were recorded one by one, as slices from issue to completion, on one track for each request in
    flight."""
    if not rows.db.execute("SELECT 1 FROM sqlite_master WHERE name='request'").fetchone():
        return
    free: list[tuple[int, int]] = []  # end of a track's last request, and the track
    kept = rows.db.execute(
        f"SELECT issued_ns, completed_ns, direction, bytes, {SECTOR}, class, comm, error"
        " FROM request WHERE target=?"
        " ORDER BY issued_ns, number",
        (disk.target,),
    )
    for issued, completed, direction, size, sector, kind, comm, error in kept:
        if free and free[0][0] <= issued:
            track = heapq.heappop(free)[1]
        else:
            track = next(uuids)
            yield _track(track, f"{disk.disk} in flight {len(free) + 1}", parent)
        heapq.heappush(free, (completed, track))
        who = f", {comm}" if comm else ""
        place = "" if sector is None else f" at sector {sector}"
        label = f"{direction} {size / 1024:g} KiB{place}, {kind}{who}{', failed' if error else ''}"
        yield _event(issued, BEGIN, track, _text(23, label))
        yield _event(completed, END, track)


def _values(track: int, starts: Iterable[int], values: Iterable[float | None]) -> Iterator[bytes]:
    """The events of a counter. A value holds until the next event, so missing and repeated values are left out."""
    before = None
    for start, value in zip(starts, values, strict=True):
        if value is not None and value != before:
            before = value
            yield _event(start, COUNTER, track, _double(44, value))


def _counters(
    rows: SampleRows, disk: Target, mine: Sequence[Sample]
) -> Iterable[tuple[str, str, Iterable[float | None]]]:
    """Name, unit and values of each counter, a value for each sample. None: not available."""
    numbers = [sample[0] for sample in mine]
    for direction in DIRECTIONS:
        moved = rows.flow(direction, "bytes_queued" if disk.bio_based else "bytes_completed")
        if moved is None or not any(moved[number] for number in numbers):
            continue
        yield f"{direction} throughput", "MiB/s", [
            moved[at] / ((end - begin) / 1e9) / (1 << 20) for at, _, _, begin, end in mine
        ]
        if disk.bio_based:
            continue
        time, weighted, _ = rows.depth(direction)
        if any(time[number] for number in numbers):
            yield f"{direction}s in flight, mean", "requests", [ratio(weighted[at], time[at]) for at in numbers]
        took, completed = rows.flow(direction, "d2c_sum_ns"), rows.flow(direction, "completed")
        if took is not None and completed is not None:
            yield f"{direction} latency (d2c), mean", "ms", [ratio(took[at] / 1e6, completed[at]) for at in numbers]
