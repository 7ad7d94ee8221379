# SPDX-License-Identifier: GPL-2.0-or-later
"""The samples of a recording: disk and phase of each, its counters and histograms, and sums of them.

This is for recordings with too many counters for objects: an hour of four disks has ten million rows. The histograms
are read once. Only the required values of each sample are kept, in arrays indexed by the number of the sample.
"""

import array
import collections
import contextlib
import dataclasses
import functools
import itertools
import json
import pathlib
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from raidtrace.quantity.bins import DEPTH_OPEN, KINDS, NUMBERS, SEEK_ZERO
from raidtrace.recording import columns, database
from raidtrace.recording.columns import RecordingError

if TYPE_CHECKING:
    Ints = array.array[int]
DEPTH_SUM = "depth_sum_ns"  # column of flow for the directions read, write and all only
Sample = tuple[int, int, int, int, int]  # number, target, phase, start_ns, end_ns
# columns that series need
FLOW = ("bytes_queued", "bytes_completed", "issued", "sequential", "completed", "d2c_sum_ns", DEPTH_SUM)
Window = tuple[float | None, float | None]  # s since the recording began, from and to; None: its start or end

# All characters that raidctl writes in the histograms of a sample: neither signs nor fractions.
_WRITTEN = b'abcdefghijklmnopqrstuvwxyz0123456789_{}":,'
_LITERALS = (b":t", b":f")
INT64_END = 1 << 63
DIRECTIONS = ("read", "write", "discard", "write_zeroes", "flush", "other", "passthrough", "all")
_Sums = dict[tuple[str, str], dict[int, dict[int, int]]]


def _refuse(_: str) -> None:
    raise RecordingError("the file contains counts in histograms that raidctl does not write")


_DECODER = json.JSONDecoder(parse_float=_refuse, parse_constant=_refuse)


@dataclasses.dataclass(frozen=True)
class Point:
    """Requests in flight in one sample: mean weighted by time, and the highest depth at which time was spent."""

    start_ns: int
    end_ns: int
    mean: float
    highest: int


def _by_kind() -> dict[str, dict[str, int]]:
    return collections.defaultdict(lambda: collections.defaultdict(int))


def _by_direction() -> dict[str, dict[str, dict[str, int]]]:
    return collections.defaultdict(_by_kind)


class _BinNumbers(dict[str, int]):
    """The number of a bin by its name in JSON. Raises RecordingError for a name that raidctl does not write."""

    def __missing__(self, name: str) -> int:
        if not (name.isdigit() and len(name) <= len(str(columns.MAX_BIN)) and int(name) < columns.MAX_BIN):
            raise RecordingError("the file contains bins that raidctl does not write")
        return self.setdefault(name, int(name))


class _Histograms:
    """All histograms of a recording, read in one pass.

    sums: (direction, kind) -> index of the pair of target and phase -> bin -> count. The others are indexed by the
    number of the sample: idle: ns without a request in flight, -1: not counted. seeks: requests of all directions that
    are seeks. longest: direction -> highest bin of d2c, -1: nothing completed. Only with `series`: depth: direction ->
    counted ns, the same weighted by depth, and the highest depth. place: direction -> sample, bin and count of each bin
    that is not empty.
    """

    def __init__(self, rows: "SampleRows", series: bool) -> None:
        self.series = series
        self.idle, self.seeks = rows.filled(-1), rows.filled(0)
        self.depth: dict[str, tuple[Ints, Ints, Ints]] = {}
        self.longest: dict[str, Ints] = {}
        self.place: dict[str, tuple[Ints, Ints, Ints]] = {}
        self._rows = rows
        self._number = _BinNumbers()
        groups: dict[int, dict[str, dict[str, dict[str, int]]]] = collections.defaultdict(_by_direction)
        for sample, text in rows.histogram_texts():
            group = rows.group_of[sample] if 0 <= sample < rows.size else -1
            if group < 0:
                raise RecordingError("the file contains histograms of samples that do not exist")
            if text.translate(None, _WRITTEN) or any(literal in text for literal in _LITERALS):
                _refuse("")
            by_direction = groups[group]
            for direction, kinds in _DECODER.decode(text.decode("ascii")).items():
                sums = by_direction[direction]
                for kind, bins in kinds.items():
                    here = sums[kind]
                    try:
                        for name, count in bins.items():
                            here[name] += count
                    except TypeError:
                        _refuse("")
                self._keep(sample, direction, kinds)
        self.sums: _Sums = {}
        for group, by_direction in groups.items():
            for direction, by_kind in by_direction.items():
                for kind, named in by_kind.items():
                    self.sums.setdefault((direction, kind), {})[group] = self._numbered(direction, kind, named)

    def _numbered(self, direction: str, kind: str, named: Mapping[str, int]) -> dict[int, int]:
        by_number: dict[int, int] = {}
        for name, count in named.items():
            by_number[self._number[name]] = by_number.get(self._number[name], 0) + count
        if direction not in DIRECTIONS or kind not in KINDS or max(by_number, default=0) >= NUMBERS[KINDS[kind].cut]:
            raise RecordingError("the file contains histograms that raidctl does not write")
        if not {*map(type, by_number.values())} <= {int} or max(by_number.values(), default=0) >= INT64_END:
            _refuse("")
        return {at: by_number[at] for at in sorted(by_number) if by_number[at]}

    def _keep(self, sample: int, direction: str, kinds: Mapping[str, Mapping[str, int]]) -> None:
        number = self._number
        if direction == "all":
            if depths := kinds.get("depth_time"):
                self.idle[sample] = depths.get("0", 0)
        elif bins := kinds.get("seek"):
            self.seeks[sample] += sum(bins.values()) - bins.get(str(SEEK_ZERO), 0)
        if bins := kinds.get("d2c"):
            if direction not in self.longest:
                self.longest[direction] = self._rows.filled(-1)
            self.longest[direction][sample] = max((number[name] for name, count in bins.items() if count), default=-1)
        if not self.series:
            return
        if depths := kinds.get("depth_time"):
            if direction not in self.depth:
                self.depth[direction] = (self._rows.filled(0), self._rows.filled(0), self._rows.filled(0))
            time, weighted, deepest = self.depth[direction]
            time[sample] = sum(depths.values())
            weighted[sample] = sum(number[name] * count for name, count in depths.items())
            deepest[sample] = max(number[name] for name in depths)
        if bins := kinds.get("place"):
            if direction not in self.place:
                self.place[direction] = (array.array("q"), array.array("q"), array.array("q"))
            samples, places, counts = self.place[direction]
            samples.extend([sample] * len(bins))
            places.extend(number[name] for name in bins)
            counts.extend(bins.values())


class SampleRows:
    """The samples of an open recording.

    samples: in order of time. groups: each pair of target and phase with samples, sorted. group_of: index of the pair,
    by the number of the sample. series: depth() and place() will be called; without it they read the histograms a
    second time.
    """

    def __init__(self, database: sqlite3.Connection, series: bool = False) -> None:
        self.db = database
        self._series = series
        self._flows: dict[str, dict[str, Ints]] = {}
        self._sums: dict[tuple[str, str], dict[tuple[int, int], dict[object, dict[str, int | None]]]] = {}
        self.added = columns.added(database)
        self.tables = {str(row[0]) for row in self.execute("SELECT name FROM sqlite_master WHERE type='table'")}
        query = "SELECT sample, target, phase, start_ns, end_ns FROM sample ORDER BY start_ns, sample"
        self.samples: list[Sample] = self.execute(query).fetchall()
        numbers = [sample[0] for sample in self.samples]
        self.size = max(numbers, default=0) + 1
        if numbers and (min(numbers) < 0 or self.size > 64 * len(numbers) + 1024):
            raise RecordingError("the file contains sample numbers that raidctl does not write")
        self._by_group: dict[tuple[int, int], list[Sample]] = collections.defaultdict(list)
        for sample in self.samples:
            self._by_group[sample[1:3]].append(sample)
        self.groups = sorted(self._by_group)
        self.group_of = self.filled(-1)
        for index, group in enumerate(self.groups):
            for sample in self._by_group[group]:
                self.group_of[sample[0]] = index

    def filled(self, value: int) -> "Ints":
        """An array with one element for each number of a sample, all set to `value`."""
        return array.array("q", [value]) * self.size

    def of(self, target: int, phases: Collection[int]) -> list[Sample]:
        """The samples of a disk in some phases, in order of time."""
        chosen = [self._by_group[target, phase] for phase in phases if (target, phase) in self._by_group]
        if len(chosen) == 1:
            return chosen[0]
        return sorted(itertools.chain.from_iterable(chosen), key=lambda sample: (sample[3], sample[0]))

    def execute(self, query: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        """Run a query. Its rows are tuples, whatever row factory the connection has."""
        cursor = self.db.cursor()
        cursor.row_factory = None
        return cursor.execute(query, tuple(values))

    def columns(self, table: str) -> list[str]:
        """The columns of a table. Empty: this recording lacks the table."""
        return columns.known(self.db, table, self.added) if table in self.tables else []

    def counters(self, table: str) -> tuple[str, ...]:
        """The counters of a table, including those of a newer raidctl."""
        return columns.COUNTERS[table] + tuple(one.name for one in self.added if one.table == table)

    def bin_columns(self) -> list[str]:
        """The columns of bin, which is a view, or a table in older recordings."""
        return columns.known(self.db, "bin")

    def histogram_texts(self) -> Iterator[tuple[int, bytes]]:
        """The histograms of each sample as JSON: direction -> kind -> bin -> count."""
        if "histograms" in self.columns("sample"):
            yield from self.execute(
                "SELECT sample, CAST(histograms AS BLOB) FROM sample WHERE histograms IS NOT NULL ORDER BY sample"
            )
            return
        # The rows of older recordings are read in the order of their key.
        query = (
            "SELECT sample, direction, kind, json_group_object(bin, count) FROM bin GROUP BY sample, direction, kind"
        )
        for sample, direction, kind, bins in self.execute(query):
            yield sample, f'{{"{direction}":{{"{kind}":{bins}}}}}'.encode()

    @functools.cached_property
    def _all(self) -> _Histograms:
        return _Histograms(self, self._series)

    @functools.cached_property
    def _histograms(self) -> _Histograms:
        return self._all if self._all.series else _Histograms(self, True)

    def group_sums(self) -> dict[tuple[str, str], dict[int, dict[int, int]]]:
        """The sums of all histograms: (direction, kind) -> index of the pair of target and phase -> bin -> count."""
        return self._all.sums

    def depth(self, direction: str) -> tuple["Ints", "Ints", "Ints"]:
        """By number of sample: counted ns, the same weighted by depth, and the highest depth at which time
        was spent."""
        if direction not in self._histograms.depth:
            return self.filled(0), self.filled(0), self.filled(0)
        time, weighted, deepest = self._histograms.depth[direction]
        # The open last bin has no depth of its own. For deeper queues the sum is in a counter.
        sums = self.flow(direction, DEPTH_SUM) if max(deepest) >= DEPTH_OPEN else None
        if sums is not None:
            pairs = zip(weighted, sums, deepest, strict=True)
            weighted = array.array("q", (own if most < DEPTH_OPEN else counted for own, counted, most in pairs))
        return time, weighted, deepest

    def points(self, direction: str, target: int, phases: Collection[int]) -> list[Point]:
        """Requests in flight in each sample of some phases of a disk. Samples without counted time are left out."""
        time, weighted, deepest = self.depth(direction)
        return [Point(start, end, weighted[at] / time[at], deepest[at])
                for at, _, _, start, end in self.of(target, phases) if time[at]]  # fmt: skip

    @property
    def idle(self) -> "Ints":
        """By number of sample: ns without a request in flight, -1: not counted."""
        return self._all.idle

    @property
    def seeks(self) -> "Ints":
        """By number of sample: requests of all directions that are seeks."""
        return self._all.seeks

    def longest(self, direction: str) -> "Ints | None":
        """By number of sample: the highest bin of the time from issue to completion, -1: none. None: not counted."""
        return self._all.longest.get(direction)

    def place(self, direction: str) -> tuple["Ints", "Ints", "Ints"]:
        """Sample, part of the disk and bytes, of each bin that is not empty."""
        return self._histograms.place.get(direction) or (array.array("q"), array.array("q"), array.array("q"))

    def directions(self) -> list[str]:
        """The directions with rows in flow, without "all"."""
        names = {str(direction) for by in self.sums("flow", "direction").values() for direction in by}
        return sorted(names - {"all"})

    def flow(self, direction: str, column: str) -> "Ints | None":
        """A counter of a direction, by number of sample. 0 for a disk without it (md has no requests). None: no disk
        has it."""
        if direction not in self._flows:
            names = [name for name in FLOW if name in self.columns("flow")]
            counters = {name: self.filled(0) for name in names}
            known = set()
            for sample, *counts in self.execute(
                f"SELECT sample, {', '.join(names)} FROM flow WHERE direction = ?", (direction,)
            ):
                for name, count in zip(names, counts, strict=True):
                    if count is not None:
                        known.add(name)
                        counters[name][sample] = count
            self._flows[direction] = {name: by for name, by in counters.items() if name in known}
        return self._flows[direction].get(column)

    def sums(self, table: str, key: str) -> dict[tuple[int, int], dict[object, dict[str, int | None]]]:
        """The sums of all counters of a table: (target, phase) -> key -> counter -> sum; None: never
        counted. Cached."""
        if (table, key) not in self._sums:
            self._sums[table, key] = self._read_sums(table, key)
        return self._sums[table, key]

    def _read_sums(self, table: str, key: str) -> dict[tuple[int, int], dict[object, dict[str, int | None]]]:
        names = [name for name in self.columns(table) if name not in columns.PLAIN]
        result: dict[tuple[int, int], dict[object, dict[str, int | None]]] = {}
        if not names:
            return result
        source = table if table == "sample" else f"{table} JOIN sample USING(sample)"
        chosen = ", ".join(f"sum({name})" for name in names)
        query = f"SELECT target, phase, {key}, {chosen} FROM {source} GROUP BY target, phase, {key}"
        for target, phase, which, *sums in self.execute(query):
            result.setdefault((target, phase), {})[which] = dict(zip(names, sums, strict=True))
        return result

    @functools.cached_property
    def plain(self) -> dict[tuple[int, int], dict[str, int]]:
        """The sums of counters without a direction: (target, phase) -> counter -> sum. Counters that were never counted
        are left out."""
        sums = self.sums("sample", "phase")
        return {(target, phase): {name: value for name, value in by[phase].items() if value is not None}
                for (target, phase), by in sums.items()}  # fmt: skip


@contextlib.contextmanager
def opened(path: pathlib.Path, window: Window | None = None, series: bool = False) -> Iterator[SampleRows]:
    """The samples of a recording, or those within a window, while it is open. Raises RecordingError: it
    cannot be read."""
    try:
        with database.connect(path) as db:
            if window is not None:
                db.execute("PRAGMA query_only=OFF")  # for temporary views of this connection
                _narrow(db, window)
                db.execute("PRAGMA query_only=ON")
            yield SampleRows(db, series)
    except (OverflowError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise RecordingError(f"{path}: not a readable recording: {error}") from error
    except RecordingError as error:
        raise RecordingError(str(error) if str(path) in str(error) else f"{path}: {error}") from error


def _narrow(database: sqlite3.Connection, window: Window) -> None:
    """Hide all samples that are not complete in the window, by temporary views with the names of the tables."""
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
    for name in ("flow", "origin", "submitter", "hwq", *(("bin",) if kind == "table" else ())):
        if database.execute("SELECT 1 FROM main.sqlite_master WHERE name=?", (name,)).fetchone():
            database.execute(
                f"CREATE TEMP VIEW {name} AS SELECT * FROM main.{name} WHERE sample IN (SELECT sample FROM temp.sample)"
            )
    if kind == "view":
        database.execute(
            "CREATE TEMP VIEW bin AS SELECT * FROM main.bin WHERE sample IN (SELECT sample FROM temp.sample)"
        )
