# SPDX-License-Identifier: GPL-2.0-or-later
"""Samples of a recording as arrays: which disk and phase each belongs to, its counters and histograms, and sums of them.

For recordings too long to make an object of every sample: an hour of four disks has ten million rows.
"""

import contextlib
import functools
import itertools
import json
import pathlib
import sqlite3
import warnings
from collections.abc import Iterator, Mapping, Sequence

import numpy
from numpy.typing import NDArray

from raidtrace.recording import recording
from raidtrace.recording.counters import DEPTH_SUM, EXACT_DEPTH_BINS, LEVELS, SEEK_NONE_BIN, RecordingError

Ints = NDArray[numpy.int64]
Floats = NDArray[numpy.float64]
KEYS = (
    "sample",
    "target",
    "phase",
    "start_ns",
    "end_ns",
    "histograms",
    "direction",
    "class",
    "submitter",
    "pid",
    "comm",
    "cgroup",
)
# what series are made of
FLOW = ("bytes_queued", "bytes_completed", "issued", "sequential", "completed", "d2c_sum_ns", DEPTH_SUM)
CHUNK = 4096  # samples whose histograms are objects at a time
Window = tuple[float | None, float | None]  # s since the recording began, from and to; None: its begin or end
NOT_DIFFERENCES = (*LEVELS, "streams_alive", "streams_alive_queued")


class SampleRows:
    """The samples of an open recording.

    samples: a row for each, in order of time: number, target, phase, start_ns, end_ns.
    groups: a row for each pair of target and phase that has samples; group_of: index of its pair, by number of sample.
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        self.db = database
        self._histograms: dict[tuple[str, str], tuple[Ints, Ints, Ints]] = {}
        self._every = False
        self._flows: dict[str, dict[str, Ints]] = {}
        self._depths: dict[str, tuple[Floats, Floats, Ints]] = {}
        self._sums: dict[tuple[str, str], dict[tuple[int, int], dict[object, dict[str, int | None]]]] = {}
        self.tables = {str(row[0]) for row in self.execute("SELECT name FROM sqlite_master WHERE type='table'")}
        rows = self.execute("SELECT sample, target, phase, start_ns, end_ns FROM sample ORDER BY start_ns, sample")
        self.samples: Ints = numpy.fromiter(itertools.chain.from_iterable(rows), numpy.int64).reshape(-1, 5)
        numbers = self.samples[:, 0]
        self.size = int(numbers.max()) + 1 if len(numbers) else 1
        if len(numbers) and (numbers.min() < 0 or self.size > 64 * len(numbers) + 1024):
            raise RecordingError("it has numbers of samples that raidctl does not give")
        self.groups, inverse = numpy.unique(self.samples[:, 1:3], axis=0, return_inverse=True)
        self.group_of: Ints = numpy.full(self.size, -1, dtype=numpy.int64)
        self.group_of[numbers] = inverse.reshape(-1)

    def execute(self, query: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        """A query whose rows are tuples, however the connection has them."""
        cursor = self.db.cursor()
        cursor.row_factory = None
        return cursor.execute(query, tuple(values))

    def columns(self, table: str) -> list[str]:
        """Columns of a table; none when this recording lacks it."""
        return [str(row[1]) for row in self.execute(f"PRAGMA table_info({table})")] if table in self.tables else []

    def histogram(self, direction: str, kind: str) -> tuple[Ints, Ints, Ints]:
        """Sample, bin and count of each row of a histogram, by number of sample and by bin. Read once, then remembered."""
        if (direction, kind) in self._histograms:
            return self._histograms[direction, kind]
        if "histograms" in self.columns("sample"):
            return self.every_histogram().get((direction, kind), _table((), (), (), _numbers(())))
        # In this order each sample finds its rows by the table's key, and what else there is is never read. As text, because
        # to make an object of each number takes longer than to write and read it.
        query = ("SELECT sample.sample, count(*), group_concat(bin), group_concat(count) FROM sample CROSS JOIN bin "
                 "ON bin.sample = sample.sample AND direction = ? AND kind = ? GROUP BY sample.sample")  # fmt: skip
        rows = self.execute(query, (direction, kind)).fetchall()
        samples, numbers, places, counts = zip(*rows) if rows else ((), (), (), ())
        self._histograms[direction, kind] = _table(samples, numbers, places, _numbers(counts))
        return self._histograms[direction, kind]

    def group_sums(self) -> dict[tuple[str, str], dict[int, dict[int, int]]]:
        """Sums of all histograms: (direction, kind) -> index of the pair of target and phase -> bin -> count."""
        return {key: self.by_group(found) for key, found in self.every_histogram().items()}

    def every_histogram(self) -> dict[tuple[str, str], tuple[Ints, Ints, Ints]]:
        """All histograms, by direction and kind, in one pass that is remembered."""
        if not self._every:
            self._histograms = self._texts() if "histograms" in self.columns("sample") else self._bins()
            self._every = True
        return self._histograms

    def _texts(self) -> dict[tuple[str, str], tuple[Ints, Ints, Ints]]:
        """Of the texts that raidctl keeps with each sample."""
        rows = self.execute("SELECT sample, histograms FROM sample WHERE histograms IS NOT NULL ORDER BY sample")
        chunks: dict[tuple[str, str], list[tuple[Ints, Ints, Ints]]] = {}
        while chunk := rows.fetchmany(CHUNK):
            parts: dict[tuple[str, str], tuple[list[int], list[int], list[str], list[int]]] = {}
            for sample, text in chunk:
                for direction, kinds in json.loads(text).items():
                    for kind, bins in kinds.items():
                        part = parts.setdefault((direction, kind), ([], [], [], []))
                        part[0].append(sample)
                        part[1].append(len(bins))
                        part[2].extend(bins)
                        part[3].extend(bins.values())
            for key, (samples, numbers, places, counts) in parts.items():
                if not {*map(type, counts)} <= {int}:
                    raise RecordingError("it has counts that are no numbers")
                chunks.setdefault(key, []).append(
                    _table(samples, numbers, places, numpy.array(counts, dtype=numpy.int64))
                )
        return {key: tuple(map(numpy.concatenate, zip(*tables, strict=True))) for key, tables in chunks.items()}  # type: ignore

    def _bins(self) -> dict[tuple[str, str], tuple[Ints, Ints, Ints]]:
        """Of the rows that older recordings have."""
        parts: dict[tuple[str, str], tuple[list[int], list[int], list[str], list[str]]] = {}
        query = ("SELECT sample, count(*), group_concat(bin), group_concat(count), direction, kind FROM bin "
                 "GROUP BY sample, direction, kind")  # fmt: skip
        for sample, number, places, counts, direction, kind in self.execute(query):
            part = parts.setdefault((direction, kind), ([], [], [], []))
            part[0].append(sample)
            part[1].append(number)
            part[2].append(places)
            part[3].append(counts)
        return {key: _table(samples, numbers, places, _numbers(counts))
                for key, (samples, numbers, places, counts) in parts.items()}  # fmt: skip

    def depth(self, direction: str) -> tuple[Floats, Floats, Ints]:
        """By number of sample: time counted (ns), the same weighted by depth, and the highest depth at which there was any."""
        if direction not in self._depths:
            time, weighted, deepest = self._depth_bins(direction)
            # The last bin has no depth of its own: beyond it the counter goes on.
            sums = self.flow(direction, DEPTH_SUM) if (deepest >= EXACT_DEPTH_BINS).any() else None
            if sums is not None:
                weighted = numpy.where(deepest >= EXACT_DEPTH_BINS, sums, weighted)
            self._depths[direction] = (time, weighted, deepest)
        return self._depths[direction]

    def _depth_bins(self, direction: str) -> tuple[Floats, Floats, Ints]:
        samples, depths, times = self.histogram(direction, "depth_time")
        deepest = numpy.zeros(self.size, dtype=numpy.int64)
        if len(samples):
            if samples.max() >= self.size or depths.min() < 0 or times.min() < 0:
                raise RecordingError("it has bins or counts that raidctl does not write")
            last = numpy.append(numpy.flatnonzero(numpy.diff(samples)), len(samples) - 1)
            deepest[samples[last]] = depths[last]  # rows of a sample come in the order of bins, and zeros are left out
        return (
            numpy.bincount(samples, weights=times, minlength=self.size).astype(numpy.float64),
            numpy.bincount(samples, weights=times * depths, minlength=self.size).astype(numpy.float64),
            deepest,
        )

    @functools.cached_property
    def idle(self) -> Ints:
        """By number of sample: time with nothing in flight (ns), -1 where that was not counted."""
        samples, depths, times = self.histogram("all", "depth_time")
        found = numpy.full(self.size, -1, dtype=numpy.int64)
        found[samples] = 0
        found[samples[depths == 0]] = times[depths == 0]
        return found

    @functools.cached_property
    def seeks(self) -> Ints:
        """By number of sample: requests of all directions that are seeks."""
        found = numpy.zeros(self.size, dtype=numpy.int64)
        for direction in self.directions():
            samples, places, counts = self.histogram(direction, "seek")
            numpy.add.at(found, samples[places != SEEK_NONE_BIN], counts[places != SEEK_NONE_BIN])
        return found

    def directions(self) -> list[str]:
        """Directions that anything was counted of, of all together ("all") apart."""
        found = {str(direction) for by in self.sums("flow", "direction").values() for direction in by}
        return sorted(found - {"all"})

    def by_group(self, found: tuple[Ints, Ints, Ints]) -> dict[int, dict[int, int]]:
        """Sums of a histogram for each pair: index of the pair -> bin -> count."""
        samples, bins, counts = found
        if not len(samples):
            return {}
        if bins.min() < 0 or bins.max() >= 1 << 16 or counts.min() < 0:
            raise RecordingError("it has bins or counts that raidctl does not write")
        width = int(bins.max()) + 1
        # counts are below 2^53 in sum: nanoseconds of a hundred days
        sums = numpy.bincount(self.group_of[samples] * width + bins, weights=counts)
        result: dict[int, dict[int, int]] = {}
        for place in numpy.flatnonzero(sums).tolist():
            result.setdefault(place // width, {})[place % width] = int(sums[place])
        return result

    def flow(self, direction: str, column: str) -> Ints | None:
        """A counter of a direction, by number of sample. None: not counted, or no such column."""
        if direction not in self._flows:
            names = [name for name in FLOW if name in self.columns("flow")]
            chosen = ", ".join(f"coalesce({name}, -1)" for name in names)
            rows = self.execute(f"SELECT sample, {chosen} FROM flow WHERE direction = ?", (direction,))
            table = numpy.fromiter(itertools.chain.from_iterable(rows), numpy.int64).reshape(-1, len(names) + 1)
            result = {}
            for at, name in enumerate(names, 1):
                if not (table[:, at] < 0).any():
                    result[name] = numpy.zeros(self.size, dtype=numpy.int64)
                    result[name][table[:, 0]] = table[:, at]
            self._flows[direction] = result
        return self._flows[direction].get(column)

    def sums(self, table: str, key: str) -> dict[tuple[int, int], dict[object, dict[str, int | None]]]:
        """Sums of all counters of a table: (target, phase) -> key -> counter -> sum; None: never counted. Read once."""
        if (table, key) not in self._sums:
            self._sums[table, key] = self._read_sums(table, key)
        return self._sums[table, key]

    def _read_sums(self, table: str, key: str) -> dict[tuple[int, int], dict[object, dict[str, int | None]]]:
        names = [name for name in self.columns(table) if name not in KEYS + NOT_DIFFERENCES]
        result: dict[tuple[int, int], dict[object, dict[str, int | None]]] = {}
        if not names:
            return result
        chosen = ", ".join(f"sum({name})" for name in names)
        keys = key.split(", ")
        query = f"SELECT target, phase, {key}, {chosen} FROM {table} JOIN sample USING(sample) GROUP BY target, phase, {key}"
        for row in self.execute(query):
            which = row[2] if len(keys) == 1 else tuple(row[2 : 2 + len(keys)])
            values: Mapping[str, int | None] = dict(zip(names, row[2 + len(keys) :], strict=True))
            result.setdefault((row[0], row[1]), {})[which] = dict(values)
        return result

    @functools.cached_property
    def plain(self) -> dict[tuple[int, int], dict[str, int]]:
        """Sums of the counters that have no direction: (target, phase) -> counter -> sum, without those never counted."""
        names = [name for name in self.columns("sample") if name not in KEYS + NOT_DIFFERENCES]
        if not names:
            return {}
        chosen = ", ".join(f"sum({name})" for name in names)
        return {
            (row[0], row[1]): {name: value for name, value in zip(names, row[2:], strict=True) if value is not None}
            for row in self.execute(f"SELECT target, phase, {chosen} FROM sample GROUP BY target, phase")
        }


@contextlib.contextmanager
def opened(path: pathlib.Path, window: Window | None = None) -> Iterator[SampleRows]:
    """The samples of a recording, while it is open, or those within a window. RecordingError says why it cannot be read."""
    try:
        with recording.connect(path) as database:
            database.execute("PRAGMA cache_size=-65536")
            if window is not None:
                database.execute("PRAGMA query_only=OFF")  # views of this connection alone
                _narrow(database, window)
                database.execute("PRAGMA query_only=ON")
            yield SampleRows(database)
    except (OverflowError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise RecordingError(f"{path}: not a readable recording: {error}") from error
    except RecordingError as error:
        raise RecordingError(str(error) if str(path) in str(error) else f"{path}: {error}") from error


def _narrow(database: sqlite3.Connection, window: Window) -> None:
    """Hide all samples but those that lie in the window whole, behind views of the names of their tables."""
    begin = database.execute("SELECT min(start_ns) FROM sample").fetchone()[0] or 0
    since, until = (None if edge is None else begin + int(edge * 1e9) for edge in window)
    kind = (
        "view"
        if database.execute("SELECT 1 FROM sqlite_master WHERE name='bin' AND type='view'").fetchone()
        else "table"
    )
    chosen = (
        f"start_ns >= {since if since is not None else begin} AND end_ns <= {until if until is not None else 1 << 62}"
    )
    database.execute(f"CREATE TEMP VIEW sample AS SELECT * FROM main.sample WHERE {chosen}")
    for name in ("flow", "origin", "submitter", *(("bin",) if kind == "table" else ())):
        if database.execute("SELECT 1 FROM main.sqlite_master WHERE name=?", (name,)).fetchone():
            database.execute(
                f"CREATE TEMP VIEW {name} AS SELECT * FROM main.{name} WHERE sample IN (SELECT sample FROM temp.sample)"
            )
    if kind == "view":
        database.execute(
            "CREATE TEMP VIEW bin AS SELECT * FROM main.bin WHERE sample IN (SELECT sample FROM temp.sample)"
        )


def _table(
    samples: Sequence[int], numbers: Sequence[int], places: Sequence[str], counts: Ints
) -> tuple[Ints, Ints, Ints]:
    """Sample, bin and count of each row, of samples that have so many rows, whose bins are lists in text."""
    each = numpy.repeat(numpy.array(samples, dtype=numpy.int64), numpy.array(numbers, dtype=numpy.int64))
    bins = _numbers(places)
    if not len(each) == len(bins) == len(counts):
        raise RecordingError("it has bins or counts that are no numbers")
    return each, bins, counts


def _numbers(texts: Sequence[str]) -> Ints:
    """Numbers separated by commas, in any number of texts."""
    if not texts:
        return numpy.zeros(0, dtype=numpy.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of text that is no number numpy only warns
        try:
            return numpy.fromstring(",".join(texts), dtype=numpy.int64, sep=",")
        except DeprecationWarning as error:
            raise RecordingError("it has bins or counts that are no numbers") from error
