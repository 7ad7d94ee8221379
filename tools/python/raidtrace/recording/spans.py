# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording as a report has it: facts, disks, settings, what happened besides, and one span per phase and disk."""

import contextlib
import dataclasses
import functools
import pathlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from raidtrace.quantity.bins import CLASSES, KINDS
from raidtrace.recording import columns
from raidtrace.recording.counters import RecordingError
from raidtrace.recording.sample_rows import DIRECTIONS, SampleRows

OUTSIDE = "outside"  # the phase before, between and after those that a program names
GROUPS = (
    "flow",
    "size",
    "seek",
    "stream",
    "depth",
    "latency",
    "place",
    "plug",
    "origin",
    "blame",
    "submitter",
    "readahead",
    "hwq",
)
FIRST_GROUPS = frozenset(("flow", "size", "seek", "depth", "latency"))  # of a recording that does not say
DATA, COUNTED = DIRECTIONS[:2], DIRECTIONS[:-1]
ALIVE = ("streams_alive", "streams_alive_queued")
NEVER = frozenset(("issued", "completed", "in_flight"))  # of a disk that has bios alone
Row = dict[str, Any]
Bins = Mapping[int, int]


@dataclasses.dataclass(frozen=True)
class Submitter:
    """Bios that a process queued. comm None: all processes that found the module's table full, together."""

    pid: int | None
    comm: str | None
    cgroup: str
    counts: Mapping[str, int]


@dataclasses.dataclass(frozen=True)
class Span:
    """One disk in one phase: the sum of its samples. What is in `unknown` was not counted, and its count is 0.

    flow: direction -> counter, and in_flight and in_flight_max at the end of the span. bins: (direction, kind) -> bin -> count.
    hwqs: number of a hardware queue -> counter, and in_flight and in_flight_max at the end of the span.
    groups: empty where the recording does not say. plain: counters without a direction, None: not counted.
    """

    number: int
    phase: str
    target: int
    disk: str
    start_ns: int
    end_ns: int
    flow: Mapping[str, Mapping[str, int]]
    unknown: frozenset[str]
    bins: Mapping[tuple[str, str], Bins]
    groups: frozenset[str]
    plain: Mapping[str, int | None]
    origin: Mapping[str, Mapping[str, int]]
    submitters: tuple[Submitter, ...]
    hwqs: Mapping[int, Mapping[str, int]] = dataclasses.field(default_factory=dict)

    def length(self) -> int:
        """Nanoseconds."""
        return self.end_ns - self.start_ns

    def counts(self, group: str) -> bool:
        """Whether the counters of a group are known."""
        return group in (self.groups or FIRST_GROUPS)

    def counts_kind(self, name: str) -> bool:
        """Whether an empty histogram of a kind says that nothing happened."""
        kind = KINDS[name]
        lacks = self.plain.get(kind.needs) is None if kind.plain else kind.needs in self.unknown
        return self.counts(kind.group) and not (kind.late and not self.groups) and not lacks

    def count(self, direction: str, counter: str) -> int:
        """A counter of a direction; 0, too, where it was not counted."""
        return self.flow.get(direction, {}).get(counter, 0)

    def histogram(self, direction: str, kind: str) -> Bins:
        """Empty where nothing was counted."""
        return self.bins.get((direction, kind), {})

    def idle(self, direction: str) -> bool:
        """Nothing at all happened."""
        return not any(value for name, value in self.flow.get(direction, {}).items() if name != "in_flight_max")

    def class_unknown(self, counter: str) -> bool:
        """Whether a counter of the classes is not known: a disk without requests has bios alone."""
        return "issued" in self.unknown and not counter.endswith("queued")


@dataclasses.dataclass(frozen=True)
class Recorded:
    """A whole recording. Rows are mappings by the names of their columns; None: not recorded."""

    path: pathlib.Path
    meta: dict[str, str]
    targets: tuple[Row, ...]
    settings: tuple[Row, ...]
    spans: tuple[Span, ...]
    notes: tuple[str, ...]
    stack: tuple[tuple[int, int], ...]  # target, parent
    disturbances: tuple[Row, ...]
    host: Mapping[int, Mapping[tuple[str, str], int]]  # phase -> (source, name), of cpu and command

    def fact(self, name: str) -> str:
        """A value of meta; empty when there is none."""
        return self.meta.get(name, "")

    def setting(self, target: int, name: str, time_ns: int | None = None) -> str | None:
        """What a setting was at a time, or at the end. None: it was not found by then."""
        found = None
        for row in self.settings:  # in order of time
            if (row["target"], row["name"]) == (target, name) and (time_ns is None or row["time_ns"] <= time_ns):
                found = row["value"]
        return found

    def disk(self, target: int) -> str:
        """Name of a disk."""
        return next((row["disk"] for row in self.targets if row["target"] == target), "?")

    def members(self, span: Span) -> list[Span]:
        """Spans of the same phase, of the disks that a disk is made of."""
        mine = {target for target, parent in self.stack if parent == span.target}
        return [other for other in self.spans if other.number == span.number and other.target in mine]


def raw(text: bytes) -> str:
    """A text of a file as it is; bytes that are not UTF-8 are kept as surrogates."""
    return text.decode("utf-8", "surrogateescape")


@contextlib.contextmanager
def reading(rows: SampleRows) -> Iterator[sqlite3.Connection]:
    """The connection of rows, whose texts come as they are in the file."""
    before, rows.db.text_factory = rows.db.text_factory, raw
    try:
        yield rows.db
    finally:
        rows.db.text_factory = before


def read(path: pathlib.Path, rows: SampleRows, phase: str | None = None) -> Recorded:
    """Read an open recording; phase: of phases of that name alone."""
    with reading(rows):
        return _Reader(path, rows).recorded(phase)


def table(rows: SampleRows, name: str, order: str) -> list[Row]:
    """All rows of a table; columns and tables that the file lacks are None and empty."""
    known, names = rows.columns(name), list(columns.COLUMNS[name])
    if not known:
        return []
    picked = ", ".join(one if one in known else f"NULL AS {one}" for one in names)
    return [dict(zip(names, row, strict=True)) for row in rows.execute(f"SELECT {picked} FROM {name} ORDER BY {order}")]


class _Reader:
    def __init__(self, path: pathlib.Path, rows: SampleRows) -> None:
        self.path, self.rows = path, rows

    def recorded(self, phase: str | None) -> Recorded:
        rows = self.rows
        targets = tuple(table(rows, "target", "target"))
        names = {row["target"]: row["disk"] for row in targets}
        phases = {number: name for number, name in rows.execute("SELECT phase, name FROM phase")}
        groups = sorted((number, target) for target, number in rows.groups)
        spans = tuple(
            self._span(number, phases[number], next(row for row in targets if row["target"] == target))
            for number, target in groups
            if number in phases and target in names and phase in (None, phases[number])
        )
        host: dict[int, dict[tuple[str, str], int]] = {}
        if "host" in rows.tables:
            query = """SELECT phase, source, host.name, sum(value) FROM host JOIN phase ON host.start_ns >= phase.start_ns
                AND (phase.end_ns IS NULL OR host.end_ns <= phase.end_ns) WHERE source IN ('cpu', 'command')
                GROUP BY phase, source, host.name"""
            for number, source, name, value in rows.execute(query):
                host.setdefault(number, {})[source, name] = value
        return Recorded(
            self.path, {row["key"]: row["value"] for row in table(rows, "meta", "key")}, targets,
            tuple(table(rows, "setting", "time_ns, rowid")), spans,
            tuple(row["text"] for row in table(rows, "note", "time_ns, rowid")),
            tuple((row["target"], row["parent"]) for row in table(rows, "stack", "parent, target")),
            tuple(table(rows, "disturbance", "start_ns, disturbance")), host,
        )  # fmt: skip

    def _span(self, number: int, phase: str, disk: Row) -> Span:
        target = disk["target"]
        key = (target, number)
        samples = self.rows.of(target, [number])
        flow: dict[str, dict[str, int]] = {}
        unknown = set(NEVER) if disk["bio_based"] else set()
        levels = self._levels.get(key, {})
        for direction, counts in self.rows.sums("flow", "direction").get(key, {}).items():
            if not isinstance(direction, str) or direction not in DIRECTIONS:
                raise RecordingError("it has a direction that raidctl does not write")
            known = {name: counts.get(name) for name in columns.COUNTERS["flow"]} | levels[direction]
            lacks = {name for name, value in known.items() if value is None and name != "in_flight_max"}
            if direction == "all":
                lacks &= {"in_flight"}
            elif direction not in DATA:
                lacks -= {"depth_sum_ns"}
            unknown |= lacks
            flow[direction] = {name: value or 0 for name, value in known.items()}
        origin = self.rows.sums("origin", "class").get(key, {})
        if not origin.keys() <= set(CLASSES):
            raise RecordingError("it has a class of bios that raidctl does not write")
        plain = self.rows.plain.get(key, {})
        group = self.rows.groups.index(key)
        return Span(
            number, phase, target, disk["disk"], min(sample[3] for sample in samples), max(sample[4] for sample in samples),
            flow, frozenset(unknown), {kind: by[group] for kind, by in self.rows.group_sums().items() if group in by},
            frozenset((disk["groups"] or "").split(" ")) & set(GROUPS),
            {name: plain.get(name) for name in columns.COUNTERS["sample"]} | self._alive.get(key, {}),
            {str(name): {counter: value or 0 for counter, value in counts.items()} for name, counts in origin.items()},
            tuple(self._submitters.get(key, ())),
            self._hwqs.get(key, {}),
        )  # fmt: skip

    def _last(self, table_of: str, names: Sequence[str], by: str = "") -> Iterator[tuple[Any, ...]]:
        """Columns that are no differences, of the last sample: with max(sample) SQLite takes the others of that row."""
        known = self.rows.columns(table_of)
        picked = ", ".join(name if name in known else "NULL" for name in names)
        source = "sample" if table_of == "sample" else f"sample JOIN {table_of} USING(sample)"
        return self.rows.execute(
            f"SELECT target, phase{by}, {picked}, max(sample) FROM {source} GROUP BY target, phase{by}"
        )

    @functools.cached_property
    def _levels(self) -> dict[tuple[int, int], dict[str, dict[str, int | None]]]:
        found: dict[tuple[int, int], dict[str, dict[str, int | None]]] = {}
        for target, number, direction, now, most, _ in self._last(
            "flow", ("in_flight", "in_flight_max"), ", direction"
        ):
            found.setdefault((target, number), {})[direction] = {"in_flight": now, "in_flight_max": most}
        return found

    @functools.cached_property
    def _alive(self) -> dict[tuple[int, int], dict[str, int | None]]:
        return {(row[0], row[1]): dict(zip(ALIVE, row[2:4], strict=True)) for row in self._last("sample", ALIVE)}

    @functools.cached_property
    def _hwqs(self) -> dict[tuple[int, int], dict[int, dict[str, int]]]:
        found: dict[tuple[int, int], dict[int, dict[str, int]]] = {}
        if not self.rows.columns("hwq"):
            return found
        sums = self.rows.sums("hwq", "hwq")
        for target, phase, number, now, most, _ in self._last("hwq", ("in_flight", "in_flight_max"), ", hwq"):
            counts = {name: value or 0 for name, value in sums[target, phase][number].items()}
            levels = {"in_flight": now or 0, "in_flight_max": most or 0}
            found.setdefault((target, phase), {})[number] = counts | levels
        return found

    @functools.cached_property
    def _submitters(self) -> dict[tuple[int, int], list[Submitter]]:
        found: dict[tuple[int, int], list[Submitter]] = {}
        known = self.rows.columns("submitter")
        if not known:
            return found
        cgroup = "cgroup" if "cgroup" in known else "NULL"
        names = columns.COUNTERS["submitter"]
        sums = ", ".join(f"sum({name})" for name in names)
        query = (f"SELECT target, phase, pid, comm, {cgroup}, {sums} FROM submitter JOIN sample USING(sample) "
                 f"GROUP BY target, phase, submitter, pid, comm, {cgroup}")  # fmt: skip
        for target, number, pid, comm, path, *counts in self.rows.execute(query):
            numbers = {name: value or 0 for name, value in zip(names, counts, strict=True)}
            found.setdefault((target, number), []).append(Submitter(pid, comm, path or "", numbers))
        return found
