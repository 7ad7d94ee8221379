# SPDX-License-Identifier: GPL-2.0-or-later
"""Read a recording (one SQLite file, Documentation/recording.rst) into plain values.

All times are CLOCK_MONOTONIC nanoseconds, all sectors 512 bytes.
"""

import collections
import dataclasses
import pathlib
import sqlite3
from collections.abc import Iterable, Mapping

APPLICATION_ID = 0x52544442
USER_VERSIONS = (1, 2)  # 2 has more tables and columns, nothing that 1 has means something else
SECTOR_BYTES = 512
EXACT_SIZE_BINS = 257  # bins 0..256 of the size histogram are that many sectors each, exactly
EXACT_DEPTH_BINS = 256  # bins 0..255 of the depth histograms are that depth each, exactly
SEEK_NONE_BIN = 64  # seek histogram: distance 0
DATA = ("read", "write", "discard", "other")  # directions that have a place on the disk
LEVELS = ("in_flight", "in_flight_max")  # columns of flow that are not differences


class RecordingError(Exception):
    """The file cannot be used; the text says which, why and what to do."""


@dataclasses.dataclass(frozen=True)
class Phase:
    """One stretch of the recorded command."""

    phase: int
    name: str
    start_ns: int
    end_ns: int | None  # None: it ran when the recorder died


@dataclasses.dataclass(frozen=True)
class Target:
    """The recorded disk. Sizes in sectors; max_sectors is the largest request the block layer builds."""

    target: int
    disk: str
    driver: str
    max_sectors: int
    attached_ns: int


@dataclasses.dataclass(frozen=True)
class Point:
    """Reads in flight over one sample: mean weighted by time, and the highest depth that lasted."""

    start_ns: int
    end_ns: int
    mean: float
    highest: int


@dataclasses.dataclass(frozen=True)
class Counters:
    """Sums over (start_ns, end_ns]. flow: direction -> counter; bins: (direction, kind) -> bin -> count.

    unknown: counters that are NULL in the recording, because they were not counted.
    """

    start_ns: int
    end_ns: int
    flow: Mapping[str, Mapping[str, int]]
    bins: Mapping[tuple[str, str], Mapping[int, int]]
    unknown: frozenset[str] = frozenset()

    def count(self, direction: str, counter: str) -> int:
        """One counter; a direction without rows had no event. What was not counted raises RecordingError."""
        if counter in self.unknown:
            raise RecordingError(f"the counter {counter} is not available in this recording")
        return self.flow.get(direction, {}).get(counter, 0)

    def histogram(self, direction: str, kind: str) -> Mapping[int, int]:
        """One histogram, empty if nothing was counted."""
        return self.bins.get((direction, kind), {})

    def seconds(self) -> float:
        """Length in seconds."""
        return (self.end_ns - self.start_ns) / 1e9

    def inflight_mean(self, direction: str) -> float | None:
        """Requests in flight, mean over time. None: nothing recorded, or a depth beyond the exact bins."""
        return mean_depth(self.histogram(direction, "depth_time"))

    def inflight_max(self, direction: str) -> int:
        """Most requests in flight: the deepest that lasted, or that an issue (not counting itself) found, plus one."""
        lasted = max((bin for bin, time in self.histogram(direction, "depth_time").items() if time), default=0)
        found = max((bin + 1 for bin, count in self.histogram(direction, "depth_issue").items() if count), default=0)
        return max(lasted, found)

    def size_mode(self, direction: str) -> tuple[int, float] | None:
        """Most frequent request size in sectors and its share. None: no request, or not an exact bin."""
        sizes = self.histogram(direction, "size")
        if not sizes:
            return None
        sectors = max(sizes, key=lambda bin: (sizes[bin], bin))
        return (sectors, sizes[sectors] / sum(sizes.values())) if sectors < EXACT_SIZE_BINS else None

    def seeks(self) -> int:
        """Issued data requests that do not begin where the one before on the disk ended."""
        return self._distances() - self.sequential()

    def sequential(self) -> int:
        """Issued data requests that begin where the one before on the disk ended."""
        return sum(self.histogram(direction, "seek").get(SEEK_NONE_BIN, 0) for direction in DATA)

    def sequential_share(self) -> float | None:
        """Sequential part of the issued data requests. None: no request."""
        distances = self._distances()
        return self.sequential() / distances if distances else None

    def _distances(self) -> int:
        return sum(sum(self.histogram(direction, "seek").values()) for direction in DATA)


@dataclasses.dataclass(frozen=True)
class Recording:
    """A whole recording of one target."""

    path: pathlib.Path
    meta: Mapping[str, str]
    target: Target
    phases: tuple[Phase, ...]
    settings: tuple[tuple[int, str, str], ...]  # time_ns, name, value
    output: str  # everything the command wrote, both streams in order of time
    samples: tuple[tuple[int, int, Counters], ...]  # sample, phase, counters

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
            mean = mean_depth(depths)
            if number in numbers and mean is not None:
                points.append(Point(counters.start_ns, counters.end_ns, mean, max(depths)))
        return points


def mean_depth(depth_time: Mapping[int, int]) -> float | None:
    """Mean of a time-at-depth histogram. None when empty or when the open last bin holds any time."""
    total = sum(depth_time.values())
    if not total or any(bin >= EXACT_DEPTH_BINS for bin in depth_time):
        return None
    return sum(bin * time for bin, time in depth_time.items()) / total


def add(parts: Iterable[Counters]) -> Counters:
    """Counters of several stretches as one; levels (LEVELS) are left out of the sums."""
    parts = list(parts)
    flow: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    bins: dict[tuple[str, str], collections.Counter[int]] = collections.defaultdict(collections.Counter)
    for part in parts:
        for direction, counts in part.flow.items():
            flow[direction].update({name: n for name, n in counts.items() if name not in LEVELS})
        for key, histogram in part.bins.items():
            bins[key].update(histogram)
    unknown = frozenset[str]().union(*(part.unknown for part in parts))
    return Counters(min(p.start_ns for p in parts), max(p.end_ns for p in parts), dict(flow), dict(bins), unknown)


def load(path: pathlib.Path) -> Recording:
    """Read a recording of exactly one target."""
    if not path.is_file():
        raise RecordingError(f"{path}: no such recording")
    try:
        with sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True) as database:
            return _read(path, database)
    except sqlite3.DatabaseError as error:
        raise RecordingError(f"{path}: not a readable recording: {error}") from error


def check_format(path: pathlib.Path, database: sqlite3.Connection) -> None:
    """RecordingError unless it is a recording of a version that this program reads."""
    kind = database.execute("PRAGMA application_id").fetchone()[0]
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if kind != APPLICATION_ID:
        raise RecordingError(f"{path}: not a recording of raidctl (application id {kind:#x})")
    if version not in USER_VERSIONS:
        known = " and ".join(map(str, USER_VERSIONS))
        raise RecordingError(f"{path}: recording of version {version}, this program reads versions {known}")


def _read(path: pathlib.Path, database: sqlite3.Connection) -> Recording:
    check_format(path, database)
    database.row_factory = sqlite3.Row
    targets = database.execute("SELECT * FROM target").fetchall()
    if len(targets) != 1:
        raise RecordingError(f"{path}: {len(targets)} targets; this program reads recordings of one")
    row = targets[0]
    return Recording(
        path,
        {key: value for key, value in database.execute("SELECT key, value FROM meta")},
        Target(*(row[field.name] for field in dataclasses.fields(Target))),
        tuple(
            Phase(*phase)
            for phase in database.execute("SELECT phase, name, start_ns, end_ns FROM phase ORDER BY phase")
        ),
        tuple(
            (r[0], r[1], r[2])
            for r in database.execute("SELECT time_ns, name, value FROM setting ORDER BY time_ns, name")
        ),
        "".join(text for (text,) in database.execute("SELECT text FROM output ORDER BY time_ns, rowid")),
        tuple(_samples(database)),
    )


def _samples(database: sqlite3.Connection) -> Iterable[tuple[int, int, Counters]]:
    flow: dict[int, dict[str, dict[str, int]]] = collections.defaultdict(dict)
    unknown: dict[int, set[str]] = collections.defaultdict(set)
    for row in database.execute("SELECT * FROM flow"):
        counts = {name: row[name] for name in row.keys()[2:]}
        flow[row["sample"]][row["direction"]] = {name: n for name, n in counts.items() if n is not None}
        if row["direction"] != "all":
            unknown[row["sample"]].update(name for name, n in counts.items() if n is None)
    bins: dict[int, dict[tuple[str, str], dict[int, int]]] = collections.defaultdict(
        lambda: collections.defaultdict(dict)
    )
    for row in database.execute("SELECT sample, direction, kind, bin, count FROM bin"):
        bins[row["sample"]][row["direction"], row["kind"]][row["bin"]] = row["count"]
    for row in database.execute("SELECT sample, phase, start_ns, end_ns FROM sample ORDER BY start_ns, sample"):
        number = row["sample"]
        missing = frozenset(unknown.get(number, ()))
        yield number, row["phase"], Counters(
            row["start_ns"], row["end_ns"], flow.get(number, {}), bins.get(number, {}), missing
        )
