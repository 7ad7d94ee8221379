# SPDX-License-Identifier: GPL-2.0-or-later
"""What was counted in one phase of one disk, as sums that SQLite makes: hours of samples are not brought into memory.

Phases of one name are one observation. Units are those of Documentation/counters.rst and recording.rst; what was not
counted is None or missing from a mapping, never 0.
"""

import bisect
import dataclasses
import pathlib
import sqlite3
from collections.abc import Iterable, Mapping

from raidtrace import recording
from raidtrace.sample_rows import SampleRows

BETWEEN = "outside"
EXACT_SIZES = 257  # bins of size below are that many sectors
SEEK_SAME = 64
HAPPEN = ("controller_events", "md_degraded")  # what happens to an array: as it was when a phase ended
CLASSES = ("data", "readahead", "direct", "metadata", "journal", "swap", "mixed", "other")
BLAME_COLUMNS = 8


@dataclasses.dataclass(frozen=True)
class Slice:
    """One sample, for what is estimated over time. busy_ns: time with anything in flight; None: not counted."""

    start_ns: int
    end_ns: int
    requests: int
    bytes: int
    seeks: int
    seek_sectors: int
    busy_ns: int | None


@dataclasses.dataclass(frozen=True)
class Submitter:
    """A process that queued bios. comm None: all together that found the table full."""

    pid: int | None
    comm: str | None
    bios: int
    bytes: int
    seeks: int


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
    changed: names of settings that changed in it. host: (source, name) -> by how much it grew.
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
    """A whole recording, without its samples. names: of its phases in order of time, each once, BETWEEN left out."""

    path: pathlib.Path
    meta: Mapping[str, str]
    disks: tuple[Disk, ...]
    names: tuple[str, ...]
    observations: tuple[Observation, ...]
    output: str

    def simulated(self) -> bool:
        """Whether the times are a model's."""
        return self.meta.get("simulated") == "yes"

    def find(self, disk: str, phase: str) -> Observation | None:
        """One phase of one disk."""
        return next((o for o in self.observations if (o.disk.name, o.phase) == (disk, phase)), None)

    def parent(self, of: Observation) -> Observation | None:
        """The same phase of the disk that this one is a part of."""
        return next((o for o in self.observations if o.phase == of.phase and o.disk.target == of.disk.parent), None)

    def slices(self, of: Observation) -> list[Slice]:
        """The samples of an observation that lasted, in order of time."""
        with recording.connect(self.path) as db:
            return _slices(db, of)


def load(path: pathlib.Path) -> Observed:
    """Read a recording. RecordingError: it cannot be read, or nothing was recorded."""
    with recording.connect(path) as db:
        meta = dict(db.execute("SELECT key, value FROM meta"))
        disks = _disks(db)
        phases = db.execute("SELECT phase, name, start_ns, end_ns FROM phase ORDER BY start_ns, phase").fetchall()
        names = tuple(dict.fromkeys(name for _, name, _, _ in phases if name != BETWEEN))
        last = db.execute("SELECT max(end_ns) FROM sample").fetchone()[0]
        if last is None or not disks:
            raise recording.RecordingError(f"{path}: holds no sample")
        spans: dict[str, list[tuple[int, int]]] = {name: [] for name in names}
        for _, name, start, end in phases:
            if name in spans and (end or last) > start:
                spans[name].append((start, end if end is not None else last))
        found = _Tables(db, disks, spans).observations()
        output = "".join(text for (text,) in db.execute("SELECT text FROM output ORDER BY time_ns, rowid"))
    return Observed(path, meta, disks, names, tuple(found), output)


def _disks(db: sqlite3.Connection) -> tuple[Disk, ...]:
    parents = dict(db.execute("SELECT target, parent FROM stack")) if _has(db, "stack") else {}
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


def _has(db: sqlite3.Connection, table: str) -> bool:
    return bool(_columns(db, table))


def _columns(db: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]


class _Tables:
    """The sums of all tables by disk and phase."""

    def __init__(self, db: sqlite3.Connection, disks: Iterable[Disk], spans: Mapping[str, list[tuple[int, int]]]):
        self._db, self._disks, self._spans = db, tuple(disks), spans

    def observations(self) -> list[Observation]:
        """All that moved or lasted, in the order of phases, disks within."""
        flow, bins = self._sums("flow", "direction"), self._bins()
        origin = self._sums("origin", "class") if _has(self._db, "origin") else {}
        whole, who = self._disk_counters(), self._submitters()
        host = self._host()
        found = []
        for name, spans in self._spans.items():
            for disk in self._disks:
                key = (disk.target, name)
                if key not in whole:
                    continue
                settings, changed = self._settings(disk.target, spans)
                counted = disk.groups or ()
                found.append(Observation(
                    disk, name, tuple(spans), flow.get(key, {}), bins.get(key, {}),
                    origin.get(key, {}) if "origin" in counted else None,
                    who.get(key, ()) if "submitter" in counted else None,
                    whole[key], settings, self._settings(0, spans)[0], changed, host.get(name, {}),
                ))  # fmt: skip
        return found

    def _sums(self, table: str, by: str) -> dict[tuple[int, str], dict[str, dict[str, int]]]:
        names = [c for c in _columns(self._db, table) if c not in ("sample", by, *recording.LEVELS)]
        query = (f"SELECT s.target, p.name, t.{by}, {', '.join(f'sum(t.{n})' for n in names)} FROM {table} t "
                 f"JOIN sample s USING(sample) JOIN phase p USING(phase) GROUP BY 1, 2, 3")  # fmt: skip
        found: dict[tuple[int, str], dict[str, dict[str, int]]] = {}
        for target, phase, key, *values in self._db.execute(query):
            counts = {name: value for name, value in zip(names, values, strict=True) if value is not None}
            found.setdefault((target, phase), {})[key] = counts
        return found

    def _bins(self) -> dict[tuple[int, str], dict[tuple[str, str], dict[int, int]]]:
        names = dict(self._db.execute("SELECT phase, name FROM phase").fetchall())
        rows = SampleRows(self._db)
        found: dict[tuple[int, str], dict[tuple[str, str], dict[int, int]]] = {}
        for key, by_group in rows.group_sums().items():
            for group, counts in by_group.items():
                target, phase = rows.groups[group].tolist()
                sums = found.setdefault((target, names.get(phase, BETWEEN)), {}).setdefault(key, {})
                for at, count in counts.items():
                    sums[at] = sums.get(at, 0) + count
        return found

    def _disk_counters(self) -> dict[tuple[int, str], dict[str, int]]:
        fixed = (
            "sample",
            "target",
            "phase",
            "start_ns",
            "end_ns",
            "histograms",
            "streams_alive",
            "streams_alive_queued",
        )
        names = [column for column in _columns(self._db, "sample") if column not in fixed]
        sums = "".join(f", sum(s.{name})" for name in names)
        query = f"SELECT s.target, p.name{sums} FROM sample s JOIN phase p USING(phase) GROUP BY 1, 2"
        return {
            (target, phase): {name: value for name, value in zip(names, values, strict=True) if value is not None}
            for target, phase, *values in self._db.execute(query)
        }

    def _submitters(self) -> dict[tuple[int, str], tuple[Submitter, ...]]:
        if not _has(self._db, "submitter"):
            return {}
        query = ("SELECT s.target, p.name, t.pid, t.comm, sum(t.queued), sum(t.bytes_queued), sum(t.seeks_queued) "
                 "FROM submitter t JOIN sample s USING(sample) JOIN phase p USING(phase) GROUP BY 1, 2, 3, 4 "
                 "ORDER BY 7 DESC, 6 DESC")  # fmt: skip
        found: dict[tuple[int, str], tuple[Submitter, ...]] = {}
        for target, phase, *values in self._db.execute(query):
            found[target, phase] = (*found.get((target, phase), ()), Submitter(*values))
        return found

    def _host(self) -> dict[str, dict[tuple[str, str], int]]:
        """What the machine and the command did in each phase; rows of single processes and interrupts are left out."""
        found: dict[str, dict[tuple[str, str], int]] = {}
        if not _has(self._db, "host"):
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

    def _settings(self, target: int, spans: Iterable[tuple[int, int]]) -> tuple[dict[str, str], tuple[str, ...]]:
        """As they were when the first span began, and which changed in any of them."""
        spans = tuple(spans)
        values: dict[str, str] = {}
        changed = []
        query = "SELECT time_ns, name, value FROM setting WHERE target = ? ORDER BY time_ns, rowid"
        for time_ns, name, value in self._db.execute(query, (target,)):
            before_end = bool(spans) and name in HAPPEN and time_ns <= spans[-1][1]
            if not spans or time_ns <= spans[0][0] or name not in values or before_end:
                values[name] = value
            elif value != values[name] and any(start < time_ns < end for start, end in spans):
                changed.append(name)
        return values, tuple(dict.fromkeys(changed))


def _slices(db: sqlite3.Connection, of: Observation) -> list[Slice]:
    where = "s.target = ? AND p.name = ?"
    key = (of.disk.target, of.phase)
    flow = {
        number: (requests, octets, moved)
        for number, requests, octets, moved in db.execute(
            "SELECT f.sample, sum(f.issued), sum(f.bytes_completed), sum(f.seek_forward_sectors + f.seek_backward_sectors) "
            f"FROM flow f JOIN sample s USING(sample) JOIN phase p USING(phase) WHERE {where} AND f.direction != 'all' "
            "GROUP BY 1", key)
    }  # fmt: skip
    seeks = dict(db.execute(
        "SELECT b.sample, sum(b.count) FROM bin b JOIN sample s USING(sample) JOIN phase p USING(phase) "
        f"WHERE {where} AND b.kind = 'seek' AND b.bin != {SEEK_SAME} GROUP BY 1", key))  # fmt: skip
    idle = dict(db.execute(
        "SELECT b.sample, sum(CASE b.bin WHEN 0 THEN b.count ELSE 0 END) FROM bin b JOIN sample s USING(sample) "
        f"JOIN phase p USING(phase) WHERE {where} AND b.kind = 'depth_time' AND b.direction = 'all' GROUP BY 1", key,
    ))  # fmt: skip
    found = []
    query = f"SELECT s.sample, s.start_ns, s.end_ns FROM sample s JOIN phase p USING(phase) WHERE {where} ORDER BY 2, 1"
    for number, start, end in db.execute(query, key):
        if end > start:
            requests, octets, moved = flow.get(number, (0, 0, 0))
            busy = end - start - idle[number] if number in idle else None
            found.append(Slice(start, end, requests or 0, octets or 0, seeks.get(number, 0), moved or 0, busy))
    return found
