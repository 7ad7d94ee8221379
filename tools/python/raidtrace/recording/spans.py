# SPDX-License-Identifier: GPL-2.0-or-later
"""The model of a recording: facts, disks, phases, settings, disturbances, and one span for each phase of each disk.

All times are CLOCK_MONOTONIC in ns. A sector has 512 bytes.
"""

import collections
import contextlib
import dataclasses
import functools
import pathlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from raidtrace.quantity.bins import CLASSES, KINDS
from raidtrace.recording import columns, database
from raidtrace.recording.columns import ALIVE, LEVELS, RecordingError
from raidtrace.recording.sample_rows import DIRECTIONS, SampleRows

if TYPE_CHECKING:
    from raidtrace.recording.series import Series

# The name of a counter of the table host; of a look into the kernel with the function there.
HOST_NAME = "host.name || CASE WHEN source = 'look' AND subject <> '' THEN ' ' || subject ELSE '' END"
OUTSIDE = "outside"  # the phase before, between and after the named phases
GROUPS = ("flow", "size", "seek", "stream", "depth", "latency", "place", "plug", "origin", "blame", "submitter",
          "readahead", "hwq")  # fmt: skip
FIRST_GROUPS = frozenset(("flow", "size", "seek", "depth", "latency"))  # of a recording that does not name its groups
DATA, COUNTED = DIRECTIONS[:2], DIRECTIONS[:-1]
NEVER = frozenset(("issued", "completed", "in_flight"))  # counters of requests; a disk that gets only bios lacks them
# The only tracepoint of a counter, which is 0 in the module's rows if the kernel lacks it.
TRACEPOINTS = {"block_split": "splits", "block_bio_backmerge": "back_merges", "block_bio_frontmerge": "front_merges",
               "block_rq_merge": "request_merges"}  # fmt: skip
Bins = Mapping[int, int]


@dataclasses.dataclass(frozen=True)
class Target:
    """A recorded disk: the columns of the table target. None: not recorded. bio_based: md or dm, which has
    no requests."""

    target: int
    disk: str
    driver: str | None = None
    pci: str | None = None
    hctl: str | None = None
    unit_3ware: int | None = None
    bio_based: int | None = None
    rotational: int | None = None
    capacity_sectors: int | None = None
    max_sectors: int | None = None
    max_hw_sectors: int | None = None
    max_segments: int | None = None
    nr_requests: int | None = None
    nr_hw_queues: int | None = None
    nr_tags: int | None = None
    attached_ns: int | None = None
    groups: str | None = None
    streams: int | None = None
    place_sectors: int | None = None


@dataclasses.dataclass(frozen=True)
class Setting:
    """The value of a setting from time_ns on. target 0: a setting of the machine."""

    time_ns: int
    target: int
    name: str
    value: str


@dataclasses.dataclass(frozen=True)
class Phase:
    """A part of the recorded command. end_ns None: the recorder was killed in this phase, or still runs."""

    phase: int
    name: str
    start_ns: int
    end_ns: int | None


@dataclasses.dataclass(frozen=True)
class Disturbance:
    """A load or an event that is not part of the command. start_ns, end_ns: its first and last observation."""

    kind: str
    subject: str
    start_ns: int
    end_ns: int
    unit: str
    value: int
    text: str


@dataclasses.dataclass(frozen=True)
class Submitter:
    """The bios that a process queued. comm None: the sum of all processes without a row in the module's table.

    The properties raise KeyError if the file lacks the counter."""

    pid: int | None
    comm: str | None
    cgroup: str
    counts: Mapping[str, int]

    @property
    def bios(self) -> int:
        return self.counts["queued"]

    @property
    def bytes(self) -> int:
        return self.counts["bytes_queued"]

    @property
    def seeks(self) -> int:
        return self.counts["seeks_queued"]


@dataclasses.dataclass(frozen=True)
class Span:
    """One disk in one phase: the sum of its samples. A counter in `unknown` was not counted; its count is 0.

    flow: direction -> counter; in_flight and in_flight_max are those at the end. bins: (direction, kind) -> bin ->
    count. hwqs: number of a hardware queue -> counter; in_flight and in_flight_max are those at the end. groups: empty:
    the recording does not name them. plain: counters without a direction; None: not counted.
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
    bio_based: bool = False

    def length(self) -> int:
        """Length of the span in ns."""
        return self.end_ns - self.start_ns

    def counts(self, group: str) -> bool:
        """Whether the counters of a group were counted."""
        return group in (self.groups or FIRST_GROUPS)

    def counts_kind(self, name: str) -> bool:
        """Whether a kind of histogram was counted, so that an empty one means that nothing happened."""
        kind = KINDS[name]
        lacks = self.plain.get(kind.needs) is None if kind.plain else kind.needs in self.unknown
        return self.counts(kind.group) and not (kind.late and not self.groups) and not lacks

    def count(self, direction: str, counter: str) -> int:
        """A counter of a direction. 0: also if it was not counted."""
        return self.flow.get(direction, {}).get(counter, 0)

    def histogram(self, direction: str, kind: str) -> Bins:
        """A histogram. Empty: nothing was counted."""
        return self.bins.get((direction, kind), {})

    def idle(self, direction: str) -> bool:
        """Whether all counters of a direction are 0, except in_flight_max."""
        return not any(value for name, value in self.flow.get(direction, {}).items() if name != "in_flight_max")

    def processes(self) -> list[Submitter]:
        """The submitters, with the rows of the same process and name added up."""
        by_process: dict[tuple[int | None, str | None], collections.Counter[str]] = {}
        for one in self.submitters:
            by_process.setdefault((one.pid, one.comm), collections.Counter()).update(one.counts)
        return [Submitter(*who, "", dict(counts)) for who, counts in by_process.items()]

    def class_unknown(self, counter: str) -> bool:
        """Whether a counter of the classes is not known. A disk without requests only has counters of bios."""
        return "issued" in self.unknown and not counter.endswith("queued")


def merged(spans: Sequence[Span]) -> Span:
    """The sum of the spans of one disk, with the name of the first. Levels (in_flight, streams_alive) are those of the
    last."""
    if len(spans) == 1:
        return spans[0]
    first, last = spans[0], max(spans, key=lambda span: span.end_ns)
    flow = {direction: dict(counts) | {name: last.count(direction, name) for name in LEVELS}
            for direction, counts in _sums(span.flow for span in spans).items()}  # fmt: skip
    lacks = {name for span in spans for name, value in span.plain.items() if value is None}
    plain = _sums({"": {name: value or 0 for name, value in span.plain.items()}} for span in spans).get("", {})
    submitters: dict[tuple[int | None, str | None, str], list[Mapping[str, int]]] = {}
    for span in spans:
        for one in span.submitters:
            submitters.setdefault((one.pid, one.comm, one.cgroup), []).append(one.counts)
    return dataclasses.replace(
        first, start_ns=min(span.start_ns for span in spans), end_ns=last.end_ns, flow=flow,
        unknown=frozenset[str]().union(*(span.unknown for span in spans)), bins=_sums(span.bins for span in spans),
        plain={name: None if name in lacks else value for name, value in plain.items()}
        | {name: last.plain.get(name) for name in ALIVE},
        origin=_sums(span.origin for span in spans),
        submitters=tuple(Submitter(*who, _sums({"": counts} for counts in some)[""]) for who, some in submitters.items()),
        hwqs=_sums(span.hwqs for span in spans),
    )  # fmt: skip


def _sums(tables: Iterable[Mapping[Any, Mapping[Any, int]]]) -> dict[Any, dict[Any, int]]:
    totals: dict[Any, collections.Counter[Any]] = {}
    for table in tables:
        for key, counts in table.items():
            totals.setdefault(key, collections.Counter()).update(counts)
    return {key: dict(counts) for key, counts in totals.items()}


@dataclasses.dataclass(frozen=True)
class Recorded:
    """A whole recording. stack: pairs of a target and its parent, an md or dm disk.

    host: phase -> (source, name) -> growth, for the sources cpu and command. samples: their number. series: of each
    disk; phase_series: of each pair of target and phase; both only if a picture needs them. added: counters of a newer
    raidctl."""

    path: pathlib.Path
    meta: dict[str, str]
    targets: tuple[Target, ...]
    phases: tuple[Phase, ...]
    settings: tuple[Setting, ...]
    spans: tuple[Span, ...]
    notes: tuple[str, ...]
    stack: tuple[tuple[int, int], ...]
    disturbances: tuple[Disturbance, ...]
    host: Mapping[int, Mapping[tuple[str, str], int]]
    output: str = ""
    samples: int = 0
    series: "tuple[Series, ...]" = ()
    phase_series: "Mapping[tuple[int, int], Series]" = dataclasses.field(default_factory=dict)
    added: tuple[columns.Column, ...] = ()

    def fact(self, name: str) -> str:
        """A value of meta. Empty: there is none."""
        return self.meta.get(name, "")

    def simulated(self) -> bool:
        """Whether the disks are models of the lab."""
        return self.fact("simulated") == "yes"

    def setting(self, target: int, name: str, time_ns: int | None = None) -> str | None:
        """The value of a setting at a time, or at the end. None: it was not recorded until then."""
        value = None
        for one in self.settings:  # in order of time
            if (one.target, one.name) == (target, name) and (time_ns is None or one.time_ns <= time_ns):
                value = one.value
        return value

    def disk(self, target: int) -> str:
        return next((one.disk for one in self.targets if one.target == target), "?")

    def members(self, span: Span) -> list[Span]:
        """The spans of the same phase for the members of a disk."""
        mine = {target for target, parent in self.stack if parent == span.target}
        return [other for other in self.spans if other.number == span.number and other.target in mine]

    def whole(self, phase: str | None = None) -> Span:
        """The sum of all spans of the first disk at the top of a stack, or of its phases of one name. Raises
        RecordingError: none."""
        parts = {target for target, _ in self.stack}
        top = next((one for one in self.targets if one.target not in parts), None)
        chosen = [span for span in self.spans if top and span.target == top.target and phase in (None, span.phase)]
        if not chosen:
            names = ", ".join(dict.fromkeys(one.name for one in self.phases))
            raise RecordingError(f"{self.path}: no sample of phase {phase}; its phases: {names or 'none'}")
        return merged(chosen)

    def begin_ns(self) -> int:
        return min((span.start_ns for span in self.spans), default=0)

    def end_ns(self) -> int:
        return max((span.end_ns for span in self.spans), default=0)

    def series_of(self, target: int) -> "Series | None":
        """The series of a disk. None: it has no sample, or no picture needs the series."""
        return next((one for one in self.series if one.target == target), None)


@contextlib.contextmanager
def raw_texts(rows: SampleRows) -> Iterator[sqlite3.Connection]:
    """The connection of rows, which returns texts unchanged from the file. For output that is not a terminal."""
    before, rows.db.text_factory = rows.db.text_factory, database.raw
    try:
        yield rows.db
    finally:
        rows.db.text_factory = before


def read(path: pathlib.Path, rows: SampleRows, sums: bool = True) -> Recorded:
    """Read an open recording. Without `sums` it has no spans and no host counters."""
    return _Reader(path, rows).recorded(sums)


_Row = TypeVar("_Row", Target, Phase, Setting, Disturbance)


def _made(kind: type[_Row], rows: Sequence[Mapping[str, Any]]) -> tuple[_Row, ...]:
    """An object for each row. A column without a field is only exported."""
    names = [field.name for field in dataclasses.fields(kind)]
    return tuple(kind(**{name: row[name] for name in names}) for row in rows)


class _Reader:
    def __init__(self, path: pathlib.Path, rows: SampleRows) -> None:
        self.path, self.rows = path, rows

    def recorded(self, sums: bool) -> Recorded:
        rows = self.rows
        targets = _made(Target, self._table("target", "target"))
        of = {one.target: one for one in targets}
        phases = _made(Phase, self._table("phase", "phase"))
        names = {one.phase: one.name for one in phases}
        groups = sorted((number, target) for target, number in rows.groups)
        spans = (self._span(number, names[number], of[target]) for number, target in groups
                 if number in names and target in of)  # fmt: skip
        host: dict[int, dict[tuple[str, str], int]] = {}
        if sums and "host" in rows.tables:
            query = f"""SELECT phase, source, {HOST_NAME}, sum(value) FROM host JOIN phase ON host.start_ns >= phase.start_ns
                AND (phase.end_ns IS NULL OR host.end_ns <= phase.end_ns) WHERE source IN ('cpu', 'command', 'look')
                GROUP BY 1, 2, 3"""
            for number, source, name, value in rows.execute(query):
                host.setdefault(number, {})[source, name] = value
        return Recorded(
            self.path, {row["key"]: row["value"] for row in self._table("meta", "key")}, targets, phases,
            _made(Setting, self._table("setting", "time_ns, rowid")), tuple(spans) if sums else (),
            tuple(row["text"] for row in self._table("note", "time_ns, rowid")),
            tuple((row["target"], row["parent"]) for row in self._table("stack", "parent, target")),
            _made(Disturbance, self._table("disturbance", "start_ns, disturbance")), host,
            database.output(rows.db)[""], len(rows.samples),
            added=rows.added,
        )  # fmt: skip

    def _table(self, name: str, order: str) -> list[dict[str, Any]]:
        """All rows of a table. A column that the file lacks is None; a table that it lacks is empty."""
        known, names = self.rows.columns(name), list(columns.COLUMNS[name])
        if not known:
            return []
        picked = ", ".join(one if one in known else f"NULL AS {one}" for one in names)
        rows = self.rows.execute(f"SELECT {picked} FROM {name} ORDER BY {order}")
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _span(self, number: int, phase: str, disk: Target) -> Span:
        target = disk.target
        key = (target, number)
        samples = self.rows.of(target, [number])
        flow: dict[str, dict[str, int]] = {}
        unknown = set(self._unavailable) | (NEVER if disk.bio_based else frozenset())
        levels = self._levels.get(key, {})
        for direction, counts in self.rows.sums("flow", "direction").get(key, {}).items():
            if not isinstance(direction, str) or direction not in DIRECTIONS:
                raise RecordingError("the file contains a direction that raidctl does not write")
            known = {name: counts.get(name) for name in self.rows.counters("flow")} | levels[direction]
            lacks = {name for name, value in known.items() if value is None and name != "in_flight_max"}
            if direction == "all":
                lacks &= {"in_flight"}
            elif direction not in DATA:
                lacks -= {"depth_sum_ns"}
            unknown |= lacks
            flow[direction] = {name: value or 0 for name, value in known.items()}
        origin = self.rows.sums("origin", "class").get(key, {})
        if not origin.keys() <= set(CLASSES):
            raise RecordingError("the file contains a class of bios that raidctl does not write")
        plain, alive = self.rows.plain.get(key, {}), self._alive.get(key, {}).get(number, {})
        queues = self.rows.sums("hwq", "hwq").get(key, {})
        group = self.rows.groups.index(key)
        return Span(
            number, phase, target, disk.disk, min(sample[3] for sample in samples), max(sample[4] for sample in samples),
            flow, frozenset(unknown), {kind: by[group] for kind, by in self.rows.group_sums().items() if group in by},
            frozenset((disk.groups or "").split(" ")) & set(GROUPS),
            {name: plain.get(name) for name in self.rows.counters("sample")} | alive,
            {str(name): {counter: value or 0 for counter, value in counts.items()} for name, counts in origin.items()},
            tuple(self._submitters.get(key, ())),
            {at: {name: value or 0 for name, value in (queues[at] | levels).items()}
             for at, levels in self._queues.get(key, {}).items()},
            bool(disk.bio_based),
        )  # fmt: skip

    def _last(
        self, table: str, names: Sequence[str], by: str
    ) -> dict[tuple[int, int], dict[Any, dict[str, int | None]]]:
        """Columns that are levels, from the last sample. With max(sample) SQLite takes the other columns from the same
        row."""
        known = self.rows.columns(table)
        picked = ", ".join(name if name in known else "NULL" for name in names)
        source = "sample" if table == "sample" else f"sample JOIN {table} USING(sample)"
        query = f"SELECT target, phase, {by}, {picked}, max(sample) FROM {source} GROUP BY target, phase, {by}"
        by_span: dict[tuple[int, int], dict[Any, dict[str, int | None]]] = {}
        for target, phase, which, *values, _ in self.rows.execute(query):
            by_span.setdefault((target, phase), {})[which] = dict(zip(names, values, strict=True))
        return by_span

    @functools.cached_property
    def _unavailable(self) -> set[str]:
        """The counters whose tracepoint the kernel lacked."""
        facts = {row["key"]: row["value"] for row in self._table("meta", "key")}
        return {counter for name, counter in TRACEPOINTS.items() if name in facts.get("unavailable", "").split()}

    @functools.cached_property
    def _levels(self) -> dict[tuple[int, int], dict[Any, dict[str, int | None]]]:
        return self._last("flow", LEVELS, "direction")

    @functools.cached_property
    def _alive(self) -> dict[tuple[int, int], dict[Any, dict[str, int | None]]]:
        return self._last("sample", ALIVE, "phase")

    @functools.cached_property
    def _queues(self) -> dict[tuple[int, int], dict[Any, dict[str, int | None]]]:
        return self._last("hwq", LEVELS, "hwq") if self.rows.columns("hwq") else {}

    @functools.cached_property
    def _submitters(self) -> dict[tuple[int, int], list[Submitter]]:
        by_span: dict[tuple[int, int], list[Submitter]] = {}
        known = self.rows.columns("submitter")
        if not known:
            return by_span
        cgroup = "cgroup" if "cgroup" in known else "NULL"
        names = [name for name in self.rows.counters("submitter") if name in known]
        sums = ", ".join(f"sum({name})" for name in names)
        query = (f"SELECT target, phase, pid, comm, {cgroup}, {sums} FROM submitter JOIN sample USING(sample) "
                 f"GROUP BY target, phase, submitter, pid, comm, {cgroup}")  # fmt: skip
        for target, number, pid, comm, path, *counts in self.rows.execute(query):
            numbers = {name: value or 0 for name, value in zip(names, counts, strict=True)}
            by_span.setdefault((target, number), []).append(Submitter(pid, comm, path or "", numbers))
        return by_span
