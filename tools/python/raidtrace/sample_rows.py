# SPDX-License-Identifier: GPL-2.0-or-later
"""Samples of a recording as arrays: which disk and phase each belongs to, its counters and histograms, and sums of them.

For recordings too long to make an object of every sample: an hour of four disks has ten million rows.
"""

import sqlite3
from collections.abc import Mapping, Sequence

import numpy
from numpy.typing import NDArray

from raidtrace.counters import LEVELS, RecordingError

Ints = NDArray[numpy.int64]
KEYS = ("sample", "target", "phase", "start_ns", "end_ns", "direction", "class", "submitter", "pid", "comm")
NOT_DIFFERENCES = (*LEVELS, "streams_alive", "streams_alive_queued")


class SampleRows:
    """The samples of an open recording.

    samples: a row for each, in order of time: number, target, phase, start_ns, end_ns.
    groups: a row for each pair of target and phase that has samples; group_of: index of its pair, by number of sample.
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        self.db = database
        self.tables = {str(row[0]) for row in self.execute("SELECT name FROM sqlite_master WHERE type='table'")}
        rows = self.execute("SELECT sample, target, phase, start_ns, end_ns FROM sample ORDER BY start_ns, sample")
        self.samples: Ints = numpy.array(rows.fetchall(), dtype=numpy.int64).reshape(-1, 5)
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
        """Sample, bin and count of each row of a histogram, by sample and bin."""
        # in this order each sample finds its rows by the table's key, and what else there is is never read
        query = ("SELECT sample.sample, bin, count FROM sample CROSS JOIN bin ON bin.sample = sample.sample "
                 "AND direction = ? AND kind = ?")  # fmt: skip
        found = numpy.fromiter(self.execute(query, (direction, kind)), dtype=numpy.dtype("i8,i8,i8"))
        return found["f0"], found["f1"], found["f2"]

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

    def flow(self, direction: str, columns: Sequence[str]) -> dict[str, Ints] | None:
        """Counters of a direction, an array by number of sample each. None: not counted, or no such column."""
        if not set(columns) <= set(self.columns("flow")):
            return None
        known = " OR ".join(f"{column} IS NOT NULL" for column in columns)
        if not self.execute(f"SELECT EXISTS(SELECT 1 FROM flow WHERE direction != 'all' AND ({known}))").fetchone()[0]:
            return None
        result = {column: numpy.zeros(self.size, dtype=numpy.int64) for column in columns}
        chosen = ", ".join(f"coalesce({column}, 0)" for column in columns)
        rows = self.execute(f"SELECT sample, {chosen} FROM flow WHERE direction = ?", (direction,))
        table = numpy.fromiter(rows, dtype=numpy.dtype(",".join(["i8"] * (len(columns) + 1))))
        for at, column in enumerate(columns, 1):
            result[column][table["f0"]] = table[f"f{at}"]
        return result

    def sums(self, table: str, key: str) -> dict[tuple[int, int], dict[object, dict[str, int | None]]]:
        """Sums of all counters of a table: (target, phase) -> key -> counter -> sum; None: never counted."""
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
