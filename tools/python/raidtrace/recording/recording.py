# SPDX-License-Identifier: GPL-2.0-or-later
"""Read a recording (one SQLite file, Documentation/recording.rst) into plain values.

All times are CLOCK_MONOTONIC nanoseconds, all sectors 512 bytes.
"""

import collections
import contextlib
import dataclasses
import pathlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from raidtrace.quantity.shown import visible
from raidtrace.recording import columns, database
from raidtrace.recording.counters import DEPTH_SUM
from raidtrace.recording.counters import LEVELS as LEVELS
from raidtrace.recording.counters import SECTOR_BYTES as SECTOR_BYTES  # noqa: F401
from raidtrace.recording.counters import Counters as Counters
from raidtrace.recording.counters import RecordingError as RecordingError
from raidtrace.recording.counters import add as add
from raidtrace.recording.counters import mean_depth as mean_depth

APPLICATION_ID = 0x52544442
USER_VERSIONS = (1, 2)  # 2 has more tables and columns, nothing that 1 has means something else
STREAMS_ALIVE = ("streams_alive", "streams_alive_queued")  # columns of sample that are not differences
PLACE = ("sample", "target", "phase", "start_ns", "end_ns", "histograms")  # columns of sample that are no counters


@dataclasses.dataclass(frozen=True)
class Phase:
    """One stretch of the recorded command."""

    phase: int
    name: str
    start_ns: int
    end_ns: int | None  # None: it ran when the recorder died


@dataclasses.dataclass(frozen=True)
class Target:
    """A recorded disk. Sizes in sectors; max_sectors is the largest request the block layer builds.

    What is None was not recorded. bio_based: md or dm, which has bios and no requests. groups: of counters, separated by
    blanks; what belongs to another group is not available. below: the recorded disks that it is made of.
    """

    target: int
    disk: str
    driver: str | None
    max_sectors: int | None
    attached_ns: int
    pci: str | None = None
    hctl: str | None = None
    unit_3ware: int | None = None
    bio_based: int | None = None
    rotational: int | None = None
    capacity_sectors: int | None = None
    max_hw_sectors: int | None = None
    max_segments: int | None = None
    nr_requests: int | None = None
    nr_hw_queues: int | None = None
    nr_tags: int | None = None
    groups: str | None = None
    streams: int | None = None
    place_sectors: int | None = None
    below: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Setting:
    """A setting and its value from time_ns on. disk: empty for one of the machine."""

    time_ns: int
    disk: str
    name: str
    value: str


@dataclasses.dataclass(frozen=True)
class HostRow:
    """By how much something of the machine grew in (start_ns, end_ns], see Documentation/recording.rst."""

    start_ns: int
    end_ns: int
    source: str
    subject: str
    name: str
    unit: str
    value: int


@dataclasses.dataclass(frozen=True)
class Disturbance:
    """What disturbed the recording, and for how long."""

    kind: str
    subject: str
    start_ns: int
    end_ns: int
    unit: str
    value: int
    text: str


@dataclasses.dataclass(frozen=True)
class Point:
    """Reads in flight over one sample: mean weighted by time, and the highest depth that lasted."""

    start_ns: int
    end_ns: int
    mean: float
    highest: int


@dataclasses.dataclass(frozen=True)
class Recording:
    """A whole recording, seen from one of its disks; of() sees it from another."""

    path: pathlib.Path
    meta: Mapping[str, str]
    target: Target
    phases: tuple[Phase, ...]
    settings: tuple[Setting, ...]  # of all disks and of the machine, in order of time
    output: str  # everything the command wrote, both streams in order of time
    samples: tuple[tuple[int, int, Counters], ...]  # of this disk: sample, phase, counters
    targets: tuple[Target, ...] = ()  # all that were recorded
    host: tuple[HostRow, ...] = ()
    disturbances: tuple[Disturbance, ...] = ()
    streams: Mapping[str, str] = dataclasses.field(
        default_factory=dict
    )  # the output by stream: stdout, stderr, blktrace
    all_samples: Mapping[str, tuple[tuple[int, int, Counters], ...]] = dataclasses.field(
        default_factory=dict
    )  # disk -> samples

    def of(self, disk: str) -> "Recording":
        """The same recording, seen from another disk."""
        for target in self.targets:
            if target.disk == disk:
                return dataclasses.replace(self, target=target, samples=self.all_samples[disk])
        known = ", ".join(target.disk for target in self.targets)
        raise RecordingError(f"{self.path}: {disk} was not recorded; there are: {known}")

    def below(self) -> "tuple[Recording, ...]":
        """Seen from each recorded disk that this one is made of: of an md, its members."""
        return tuple(self.of(disk) for disk in self.target.below)

    def setting(self, name: str, disk: str | None = None) -> str | None:
        """The last value of a setting of this disk, of another one, or with an empty name of the machine."""
        wanted = self.target.disk if disk is None else disk
        found = [setting.value for setting in self.settings if (setting.disk, setting.name) == (wanted, name)]
        return found[-1] if found else None

    def counters(self, phase: str | None = None) -> Counters:
        """Sums over one phase by name, or over everything."""
        numbers = {p.phase for p in self.phases if phase in (None, p.name)}
        chosen = [c for _, number, c in self.samples if number in numbers or phase is None]
        if not chosen:
            names = ", ".join(p.name for p in self.phases)
            raise RecordingError(f"{self.path}: no sample of phase {phase}; it has: {names or 'none'}")
        return add(chosen)

    def series(self, phase: str, direction: str = "read") -> list[Point]:
        """In-flight requests over the samples of one phase."""
        numbers = {p.phase for p in self.phases if p.name == phase}
        points = []
        for _, number, counters in self.samples:
            depths = counters.histogram(direction, "depth_time")
            mean = mean_depth(depths, counters.flow.get(direction, {}).get(DEPTH_SUM))
            if number in numbers and mean is not None:
                points.append(Point(counters.start_ns, counters.end_ns, mean, max(depths)))
        return points


SamplesOf = Callable[[sqlite3.Connection], Iterable[tuple[int, tuple[int, int, Counters]]]]


_DAMAGED = "the recording is damaged or cut short: copy it again from where it was made, or record again"
_UNREADABLE = {
    sqlite3.SQLITE_NOTADB: database.NO_DATABASE,
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: is it yours to read?",
    sqlite3.SQLITE_BUSY: "another program is writing to it: try again",
    sqlite3.SQLITE_IOERR: "the disk that it is on does not read it",
}


@contextlib.contextmanager
def connect(path: pathlib.Path) -> Iterator[sqlite3.Connection]:
    """A recording opened for reading, its rows as mappings. RecordingError: it is none, or cannot be read."""
    if not path.is_file():
        what = "not a recording" if path.exists() else "no such recording"
        raise RecordingError(f"{path}: {what}; name a file that raidctl record made")
    try:
        with contextlib.closing(database.read(path)) as opened:
            opened.row_factory = sqlite3.Row
            opened.text_factory = lambda text: visible(database.decoded(text))  # each is a name or a value of one line
            _check(path, opened)
            yield opened
    except sqlite3.DatabaseError as error:
        code = getattr(
            error, "sqlite_errorcode", None
        )  # SQLite's; what database.py says has none, and is in words already
        words = str(error) if code is None else _UNREADABLE.get(code & 0xFF, _DAMAGED)
        raise RecordingError(f"{path}: {words}") from error


def _check(path: pathlib.Path, db: sqlite3.Connection) -> None:
    kind = db.execute("PRAGMA application_id").fetchone()[0]
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if kind != APPLICATION_ID:
        raise RecordingError(f"{path}: not a recording of raidctl; name a file that raidctl record made")
    if version not in USER_VERSIONS:
        known = " to ".join(map(str, USER_VERSIONS))
        raise RecordingError(f"{path}: a recording of version {version}, this raidctl reads versions {known}; "
                             "use the raidctl that made it")  # fmt: skip
    try:
        columns.check(db)
    except RecordingError as error:
        raise RecordingError(f"{path}: {error}") from error


def output(db: sqlite3.Connection) -> dict[str, str]:
    """What the command wrote, by stream; "" is all of it in order of time. Lines, and whatever bytes they have."""
    found: dict[str, list[bytes]] = {"": [], "stdout": [], "stderr": []}
    if not db.execute("SELECT 1 FROM sqlite_schema WHERE type='table' AND name='output'").fetchone():
        return {stream: "" for stream in found}
    for stream, text in db.execute("SELECT stream, CAST(text AS BLOB) FROM output ORDER BY time_ns, rowid"):
        found[""].append(text or b"")
        found.setdefault(stream or "?", []).append(text or b"")
    return {stream: database.decoded(b"".join(texts)) for stream, texts in found.items()}


def load(path: pathlib.Path, disk: str = "") -> Recording:
    """Read a recording, seen from a disk; empty: the first one that is not part of another, as md is of its members."""
    with connect(path) as db:
        return read(path, db, _samples, disk)


def read(path: pathlib.Path, db: sqlite3.Connection, samples_of: SamplesOf, disk: str = "") -> Recording:
    """Read an open recording. samples_of: what is to be its samples, (target, (sample, phase, counters)) in order of time."""
    targets = _targets(db)
    if not targets:
        raise RecordingError(f"{path}: no disk was recorded")
    names = {target.target: target.disk for target in targets} | {0: ""}
    part = {name for target in targets for name in target.below}
    top = next((target for target in targets if target.disk not in part), targets[0])
    samples: dict[str, list[tuple[int, int, Counters]]] = {target.disk: [] for target in targets}
    for number, sample in samples_of(db):
        samples[names[number]].append(sample)
    streams = output(db)
    found = Recording(
        path,
        dict(db.execute("SELECT key, value FROM meta").fetchall()),
        top,
        tuple(Phase(*row) for row in db.execute("SELECT phase, name, start_ns, end_ns FROM phase ORDER BY phase")),
        tuple(
            Setting(row[0], names.get(row[1], ""), row[2], row[3])
            for row in db.execute("SELECT time_ns, target, name, value FROM setting ORDER BY time_ns, rowid")
        ),
        streams.pop(""),
        tuple(samples[top.disk]),
        targets,
        tuple(HostRow(*row) for row in _rows(db, "host", HostRow)),
        tuple(Disturbance(*row) for row in _rows(db, "disturbance", Disturbance)),
        streams,
        {name: tuple(some) for name, some in samples.items()},
    )
    return found.of(disk) if disk else found


def _rows(db: sqlite3.Connection, table: str, kind: type) -> list[tuple[Any, ...]]:
    """Rows of a table that version 1 may lack, in order of time, columns as the class has them."""
    if not db.execute("SELECT 1 FROM sqlite_schema WHERE name=?", (table,)).fetchone():
        return []
    names = ", ".join(field.name for field in dataclasses.fields(kind))
    return [tuple(row) for row in db.execute(f"SELECT {names} FROM {table} ORDER BY start_ns, rowid")]


def _targets(db: sqlite3.Connection) -> tuple[Target, ...]:
    rows = db.execute("SELECT * FROM target ORDER BY target").fetchall()
    names = {row["target"]: row["disk"] for row in rows}
    below: dict[int, list[str]] = collections.defaultdict(list)
    if db.execute("SELECT 1 FROM sqlite_schema WHERE name='stack'").fetchone():
        for child, parent in db.execute("SELECT target, parent FROM stack ORDER BY target"):
            below[parent].append(names[child])
    fields = [field.name for field in dataclasses.fields(Target)]
    return tuple(
        Target(**{name: row[name] for name in fields if name in row.keys()}, below=tuple(below[row["target"]]))
        for row in rows
    )


Named = dict[int, dict[Any, dict[str, int]]]  # sample -> key of a row -> counter


def _named(db: sqlite3.Connection, table: str, keys: tuple[str, ...], key: Any) -> Named:
    """The counters of each row of a table, NULLs left out."""
    found: Named = collections.defaultdict(dict)
    if db.execute("SELECT 1 FROM sqlite_schema WHERE name=?", (table,)).fetchone():
        names = ", ".join(columns.known(db, table))
        for row in db.execute(f"SELECT {names} FROM {table}"):
            counts = {name: row[name] for name in row.keys() if name not in keys and row[name] is not None}
            there = found[row["sample"]].setdefault(key(row), {})
            for name, count in counts.items():
                there[name] = there.get(name, 0) + count
    return found


def _samples(db: sqlite3.Connection) -> Iterable[tuple[int, tuple[int, int, Counters]]]:
    """(target, (sample, phase, counters)) in order of time."""
    flow = _named(db, "flow", ("sample", "direction"), lambda row: row["direction"])
    unknown: dict[int, set[str]] = collections.defaultdict(set)
    counters = [name for name in columns.known(db, "flow") if name not in ("sample", "direction")]
    lacks = " OR ".join(f"{name} IS NULL" for name in counters)
    for row in db.execute(f"SELECT * FROM flow WHERE direction != 'all' AND ({lacks})"):
        unknown[row["sample"]].update(name for name in counters if row[name] is None and name != DEPTH_SUM)
    origins = _named(db, "origin", ("sample", "class"), lambda row: row["class"])
    whose = ("sample", "submitter", "pid", "comm", "cgroup")
    submitters = _named(db, "submitter", whose, lambda row: (row["pid"], row["comm"] or ""))
    bins: dict[int, dict[tuple[str, str], dict[int, int]]] = collections.defaultdict(
        lambda: collections.defaultdict(dict)
    )
    for row in db.execute("SELECT sample, direction, kind, bin, count FROM bin"):
        if type(row["count"]) is not int or not 0 <= row["count"] < 1 << 63 or not 0 <= row["bin"] < columns.MOST_BIN:
            raise RecordingError("it has histograms that raidctl does not write")
        bins[row["sample"]][row["direction"], row["kind"]][row["bin"]] = row["count"]
    none: dict[Any, dict[str, int]] = {}
    names = ", ".join(columns.known(db, "sample"))
    for row in db.execute(f"SELECT {names} FROM sample ORDER BY start_ns, sample"):
        number = row["sample"]
        plain = {name: row[name] for name in row.keys() if name not in PLACE and row[name] is not None}
        levels = {name: plain.pop(name) for name in STREAMS_ALIVE if name in plain}
        levels |= {f"{way} {name}": n for way, counts in flow.get(number, none).items()
                   for name, n in counts.items() if name in LEVELS}  # fmt: skip
        yield row["target"], (number, row["phase"], Counters(
            row["start_ns"], row["end_ns"], flow.get(number, none), bins.get(number, {}),
            frozenset(unknown.get(number, ())), plain, origins.get(number, none), submitters.get(number, none), levels,
        ))  # fmt: skip
