# SPDX-License-Identifier: GPL-2.0-or-later
"""What was counted in one phase of one disk, as sums: hours of samples do not become objects.

Phases of one name are one observation. Units are those of Documentation/counters.rst and recording.rst; what was not
counted is None or missing from a mapping, never 0.
"""

import bisect
import dataclasses
import functools
import json
import pathlib
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from raidtrace.quantity.shown import visible
from raidtrace.recording import invariants, recording, timeline
from raidtrace.recording.sample_rows import SampleRows, Window, opened
from raidtrace.recording.timeline import Change, Timeline

BETWEEN = "outside"
EXACT_SIZES = 257  # bins of size below are that many sectors
SEEK_SAME = 64
HAPPEN = ("controller_events", "md_degraded")  # what happens to an array: as it was when a phase ended
KERNEL_THREADS = ("kworker", "jbd2", "xfsaild", "ext4lazyinit", "md", "kswapd", "flush")
CLASSES = ("data", "readahead", "direct", "metadata", "journal", "swap", "mixed", "other")
BLAME_COLUMNS = 8
KEYS = {"flow": "direction", "origin": "class", "submitter": "pid, comm"}  # what else than sample and disk rows have


@dataclasses.dataclass(frozen=True)
class Submitter:
    """A process that queued bios. comm None: all together that found the table full."""

    pid: int | None
    comm: str | None
    bios: int
    bytes: int
    seeks: int


@dataclasses.dataclass(frozen=True)
class Charged:
    """What was charged to a cgroup; by_kernel: bios of it that kernel threads queued."""

    cgroup: str
    bios: int
    bytes: int
    by_kernel: int


@dataclasses.dataclass(frozen=True)
class Disk:
    """A recorded disk. Sizes in sectors. parent: number of the md or dm disk that it is a part of."""

    target: int
    name: str
    driver: str | None
    bio_based: bool
    max_sectors: int | None
    nr_tags: int | None
    capacity_sectors: int | None
    groups: tuple[str, ...] | None
    parent: int | None
    members: int = 0


@dataclasses.dataclass(frozen=True)
class Observation:
    """One phase of one disk.

    flow: direction -> counter -> number. bins: (direction, kind) -> bin -> count. origin: class -> counter -> number.
    disk_counters: those of counters.rst without direction. settings: of the disk, machine: of the machine, as they were
    when the phase began (those of HAPPEN when it ended);
    changed: names of settings that changed in it, and timeline has how. host: (source, name) -> by how much it grew.
    over_time: a row for each sample that lasted and in which anything was in flight, in order of time: ns with anything in
    flight, bytes, seeks. others: processes that the recorder saw beside the command, kernel threads left out. charged: to
    whom, where a cgroup has a limit; empty: not counted, or none has.
    """

    disk: Disk
    phase: str
    spans: tuple[tuple[int, int], ...]
    flow: Mapping[str, Mapping[str, int]]
    bins: Mapping[tuple[str, str], Mapping[int, int]]
    origin: Mapping[str, Mapping[str, int]] | None
    submitters: tuple[Submitter, ...] | None
    disk_counters: Mapping[str, int]
    settings: Mapping[str, str]
    machine: Mapping[str, str]
    changed: tuple[str, ...]
    host: Mapping[tuple[str, str], int]
    over_time: Sequence[tuple[int, int, int]] = dataclasses.field(compare=False)
    timeline: Timeline = dataclasses.field(compare=False)
    others: frozenset[int] = frozenset()
    asked: Mapping[str, int] = dataclasses.field(default_factory=dict)
    program: str = ""
    charged: tuple[Charged, ...] = ()

    def seconds(self) -> float:
        """Length of the phase."""
        return sum(end - start for start, end in self.spans) / 1e9

    def count(self, direction: str, counter: str) -> int | None:
        """One counter of a direction; 0 where the direction had no event, None where it was not counted."""
        if direction in self.flow:
            return self.flow[direction].get(counter)
        return 0 if any(counter in counts for counts in self.flow.values()) else None

    def histogram(self, direction: str, kind: str) -> Mapping[int, int]:
        """One histogram, empty if nothing was counted."""
        return self.bins.get((direction, kind), {})

    def setting(self, name: str) -> int | None:
        """A setting that is a number."""
        try:
            return int(self.settings[name])
        except (KeyError, ValueError):
            return None


@dataclasses.dataclass(frozen=True)
class Observed:
    """A whole recording, without its samples. names: of its phases in order of time, each once, BETWEEN left out. whole: from
    and to, s since it began, of the samples that lie whole in a window that cut others; None: it cut none."""

    path: pathlib.Path
    meta: Mapping[str, str]
    disks: tuple[Disk, ...]
    names: tuple[str, ...]
    observations: tuple[Observation, ...]
    output: str
    whole: tuple[float, float] | None = None

    def simulated(self) -> bool:
        """Whether the controller is a model."""
        return self.meta.get("simulated") == "yes"

    def find(self, disk: str, phase: str) -> Observation | None:
        """One phase of one disk."""
        return next((o for o in self.observations if (o.disk.name, o.phase) == (disk, phase)), None)

    def parent(self, of: Observation) -> Observation | None:
        """The same phase of the disk that this one is a part of."""
        return next((o for o in self.observations if o.phase == of.phase and o.disk.target == of.disk.parent), None)


def program(meta: Mapping[str, str]) -> str:
    """What ran, in a word or two."""
    try:
        words = json.loads(meta.get("command", ""))
    except ValueError:
        return "imported trace" if "source" in meta else ""
    return str(words[0]).rpartition("/")[2] if words else ""


def load(path: pathlib.Path, window: Window | None = None) -> Observed:
    """Read a recording, or what lies in a window of it. RecordingError: it cannot be read, or nothing was recorded."""
    with opened(path, window) as rows:
        return read(path, rows, window)


def read(path: pathlib.Path, rows: SampleRows, window: Window | None = None, invariant: str | None = None) -> Observed:
    """Read a recording that is open, by the window that it was opened with. invariant: what was found of its counters; None:
    it is found here, except in a window."""
    db = rows.db
    meta = dict(db.execute("SELECT key, value FROM meta").fetchall())
    if invariant is None and window is None:
        invariant = invariants.read(path, rows).meta.get("invariants")
    if invariant is not None:
        meta["invariants"] = visible(invariant)
    disks = _disks(db)
    phases = db.execute("SELECT phase, name, start_ns, end_ns FROM phase ORDER BY start_ns, phase").fetchall()
    names = tuple(dict.fromkeys(name for _, name, _, _ in phases if name != BETWEEN))
    if not rows.samples or not disks:
        raise recording.RecordingError(f"{path}: holds no sample{' between --from and --to' if window else ''}")
    first, last = rows.samples[0][3], max(sample[4] for sample in rows.samples)
    spans: dict[str, list[tuple[int, int]]] = {name: [] for name in names}
    for _, name, start, end in phases:
        start, end = (
            (max(start, first), min(end or last, last)) if window else (start, end if end is not None else last)
        )
        if name in spans and end > start:
            spans[name].append((start, end))
    found = _Tables(rows, disks, spans, program(meta)).observations()
    whole = _whole(db, window, first, last) if window else None
    return Observed(path, meta, disks, names, tuple(found), recording.output(db)[""], whole)


def _whole(db: sqlite3.Connection, window: Window, first: int, last: int) -> tuple[float, float] | None:
    """first, last: of the samples in the window, ns. Those outside it are behind the views that made it."""
    begin = db.execute("SELECT min(start_ns) FROM main.sample").fetchone()[0]
    edges = [begin + int(edge * 1e9) for edge in window if edge is not None]
    cut = "SELECT 1 FROM main.sample WHERE start_ns < ? AND end_ns > ? LIMIT 1"
    if not any(db.execute(cut, (edge, edge)).fetchone() for edge in edges):
        return None
    return (first - begin) / 1e9, (last - begin) / 1e9


def _disks(db: sqlite3.Connection) -> tuple[Disk, ...]:
    has_stack = db.execute("SELECT 1 FROM sqlite_master WHERE type='table' AND name='stack'").fetchone()
    parents = dict(db.execute("SELECT target, parent FROM stack").fetchall()) if has_stack else {}
    rows = []
    for row in db.execute("SELECT * FROM target ORDER BY target"):
        groups = row["groups"].split() if "groups" in row.keys() and row["groups"] is not None else None
        number = row["target"]
        rows.append(Disk(
            number, row["disk"], row["driver"], bool(row["bio_based"]), row["max_sectors"], row["nr_tags"],
            row["capacity_sectors"], tuple(groups) if groups is not None else None, parents.get(number),
            sum(parent == number for parent in parents.values()),
        ))  # fmt: skip
    return tuple(rows)


class _Tables:
    """The sums of all tables by disk and name of phase."""

    def __init__(self, rows: SampleRows, disks: Iterable[Disk], spans: Mapping[str, list[tuple[int, int]]],
                 command: str):  # fmt: skip
        self._program = command
        self._rows, self._db, self._disks, self._spans = rows, rows.db, tuple(disks), spans
        self._numbers: dict[str, list[int]] = {}
        for number, name in rows.execute("SELECT phase, name FROM phase"):
            self._numbers.setdefault(name, []).append(number)

    def observations(self) -> list[Observation]:
        """All that moved or lasted, in the order of phases, disks within."""
        host = self._host()
        for table, by in KEYS.items():
            self._rows.sums(table, by)
        bins = self._bins()  # after the tables: another process makes them meanwhile, if the recording is long
        counted = set(self._rows.groups)
        found = []
        for name, spans in self._spans.items():
            for disk in self._disks:
                if not any((disk.target, number) in counted for number in self._numbers[name]):
                    continue
                key, groups = (disk.target, name), disk.groups or ()
                settings, changes = self._settings(disk.target, spans)
                found.append(Observation(
                    disk, name, tuple(spans), self._sums("flow", *key), bins.get(key, {}),
                    self._sums("origin", *key) if "origin" in groups else None,
                    self._submitters(*key) if "submitter" in groups else None,
                    self._plain(*key), settings, self._settings(0, spans)[0],
                    tuple(dict.fromkeys(change.name for change in changes)), host.get(name, {}), self._over_time(*key),
                    timeline.build(self._rows, disk.target, self._numbers[name], changes),
                    self._others, self._asked(spans), self._program, self._charged(*key),
                ))  # fmt: skip
        return found

    def _sums(self, table: str, target: int, name: str) -> dict[Any, dict[str, int]]:
        sums = self._rows.sums(table, KEYS[table])
        found: dict[Any, dict[str, int]] = {}
        for number in self._numbers[name]:
            for key, counts in sums.get((target, number), {}).items():
                _add(found.setdefault(key, {}), counts)
        return found

    def _plain(self, target: int, name: str) -> dict[str, int]:
        found: dict[str, int] = {}
        for number in self._numbers[name]:
            _add(found, self._rows.plain.get((target, number), {}))
        return found

    def _bins(self) -> dict[tuple[int, str], dict[tuple[str, str], dict[int, int]]]:
        names = {number: name for name, numbers in self._numbers.items() for number in numbers}
        found: dict[tuple[int, str], dict[tuple[str, str], dict[int, int]]] = {}
        for key, by_group in self._rows.group_sums().items():
            for group, counts in by_group.items():
                target, phase = self._rows.groups[group]
                sums = found.setdefault((target, names.get(phase, BETWEEN)), {}).setdefault(key, {})
                for at, count in counts.items():
                    sums[at] = sums.get(at, 0) + count
        return found

    def _submitters(self, target: int, name: str) -> tuple[Submitter, ...]:
        sums = self._sums("submitter", target, name)
        found = [
            Submitter(*who, *(counts.get(counter, 0) for counter in ("queued", "bytes_queued", "seeks_queued")))
            for who, counts in sums.items()
        ]
        return tuple(sorted(found, key=lambda one: (-one.seeks, -one.bytes)))

    def _charged(self, target: int, name: str) -> tuple[Charged, ...]:
        """Nothing is read where no limit was recorded."""
        limited = "SELECT 1 FROM setting WHERE name = 'io.max' AND value <> '' AND target = ?"
        if "cgroup" not in self._rows.columns("submitter") or not self._rows.execute(limited, (target,)).fetchone():
            return ()
        found: dict[str, list[int]] = {}
        sums = self._rows.sums("submitter", "cgroup, comm")
        for number in self._numbers[name]:
            rows: Mapping[Any, Mapping[str, int | None]] = sums.get((target, number), {})
            for (cgroup, comm), counts in rows.items():
                bios, octets = counts.get("queued") or 0, counts.get("bytes_queued") or 0
                by_kernel = bios if (comm or "").startswith(KERNEL_THREADS) else 0
                mine = found.setdefault(cgroup or "", [0, 0, 0])
                found[cgroup or ""] = [a + b for a, b in zip(mine, (bios, octets, by_kernel), strict=True)]
        return tuple(Charged(cgroup, *numbers) for cgroup, numbers in found.items()) if any(found) else ()

    def _over_time(self, target: int, name: str) -> list[tuple[int, int, int]]:
        rows = self._rows
        moved = [found for way in rows.directions() if (found := rows.flow(way, "bytes_completed")) is not None]
        return [
            (end - start - rows.idle[number], sum(octets[number] for octets in moved), rows.seeks[number])
            for number, _, _, start, end in rows.of(target, self._numbers[name])
            if end > start and rows.idle[number] >= 0 and end - start != rows.idle[number]
        ]

    def _host(self) -> dict[str, dict[tuple[str, str], int]]:
        """What the machine and the command did in each phase; rows of single processes and interrupts are left out."""
        found: dict[str, dict[tuple[str, str], int]] = {}
        if "host" not in self._rows.tables:
            return found
        query = "SELECT end_ns, source, name, value FROM host WHERE source IN ('cpu', 'vmstat', 'command')"
        edges = sorted((start, end, name) for name, spans in self._spans.items() for start, end in spans)
        starts = [start for start, _, _ in edges]
        for end_ns, source, name, value in self._db.execute(query):
            at = bisect.bisect_left(starts, end_ns) - 1
            if at >= 0 and end_ns <= edges[at][1]:
                sums = found.setdefault(edges[at][2], {})
                sums[source, name] = sums.get((source, name), 0) + value
        return found

    @functools.cached_property
    def _command(self) -> list[tuple[int, str, int]]:
        """When the command had read and written how much more; nothing where the kernel does not count that."""
        if "host" not in self._rows.tables:
            return []
        found = self._rows.execute("SELECT end_ns, name, value FROM host WHERE source = 'command' AND name <> 'cpu'")
        return [(int(end_ns), str(name), int(value)) for end_ns, name, value in found]

    def _asked(self, spans: Iterable[tuple[int, int]]) -> dict[str, int]:
        """By the end of the phase, as what was written before is written back later. Nothing where that was looked at long
        before the end, as of a part of a phase."""
        spans = tuple(spans)
        end, length = max((end for _, end in spans), default=0), sum(end - start for start, end in spans)
        looked = [at for at, _, _ in self._command]
        if max(looked, default=0) > end and end - max((at for at in looked if at <= end), default=0) > length / 10:
            return {}
        return {
            way: sum(value for end_ns, name, value in self._command if name == f"{way}_bytes" and end_ns <= end)
            for way in ("read", "write")
            if self._command
        }

    @functools.cached_property
    def _others(self) -> frozenset[int]:
        """Process numbers of subjects such as "36 dd"; those of the command, recorder and kernel say so behind the name."""
        if "host" not in self._rows.tables:
            return frozenset()
        found = self._rows.execute("SELECT DISTINCT subject FROM host WHERE source = 'process'")
        subjects = [
            subject
            for (subject,) in found
            if not subject.endswith((" of the command", " (this recorder)", " of the kernel"))
        ]
        return frozenset(
            int(number) for number, _, _ in (subject.partition(" ") for subject in subjects) if number.isdigit()
        )

    def _settings(self, target: int, spans: Iterable[tuple[int, int]]) -> tuple[dict[str, str], list[Change]]:
        """As they were when the first span began, and what changed in any of them."""
        spans = tuple(spans)
        values: dict[str, str] = {}
        latest: dict[str, str] = {}
        changes = []
        query = "SELECT time_ns, name, value FROM setting WHERE target = ? ORDER BY time_ns, rowid"
        for time_ns, name, value in self._db.execute(query, (target,)):
            before_end = bool(spans) and name in HAPPEN and time_ns <= spans[-1][1]
            before, latest[name] = latest.get(name), value
            if before not in (None, value) and any(start < time_ns <= end for start, end in spans):
                changes.append(Change(time_ns, name, str(before), value))
            if not spans or time_ns <= spans[0][0] or name not in values or before_end:
                values[name] = value
        return values, changes


def _add(to: dict[str, int], counts: Mapping[str, int | None]) -> None:
    """What was counted once more; what was not counted is left out."""
    for name, value in counts.items():
        if value is not None:
            to[name] = to.get(name, 0) + value
