# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording of any length and any number of disks: exact sums of each phase and disk, and series over time.

All times are CLOCK_MONOTONIC nanoseconds, all sectors 512 bytes.
"""

import dataclasses
import pathlib
import sqlite3
from collections.abc import Mapping, Sequence

from raidtrace import recording, series
from raidtrace.recording import Counters, Phase, RecordingError
from raidtrace.sample_rows import SampleRows

LATENCY_SAMPLES = 50_000  # beyond so many, latency histograms are left out: to read them takes longer than all the rest
OUTPUT_CHARACTERS = 20_000
OLD_GROUPS = frozenset(("flow", "size", "seek", "depth"))  # what version 1 has


@dataclasses.dataclass(frozen=True)
class Disk:
    """A recorded disk; None: not known, as of an imported trace."""

    target: int
    disk: str
    driver: str | None
    bio_based: bool
    capacity_sectors: int | None
    max_sectors: int | None
    place_sectors: int | None
    groups: frozenset[str]


@dataclasses.dataclass(frozen=True)
class Submitter:
    """What a process queued in a phase. comm None: all that found the table full."""

    pid: int | None
    comm: str | None
    queued: int
    bytes_queued: int
    seeks_queued: int


@dataclasses.dataclass(frozen=True)
class Span:
    """One phase of one disk. classes: class -> counter -> sum; empty when not counted."""

    disk: Disk
    phase: Phase
    counters: Counters
    classes: Mapping[str, Mapping[str, int]]
    submitters: Sequence[Submitter]


@dataclasses.dataclass(frozen=True)
class Overview:
    """A recording of any number of disks. settings: (time_ns, target, name, value); disturbances: (kind, text)."""

    path: pathlib.Path
    meta: Mapping[str, str]
    disks: tuple[Disk, ...]
    phases: tuple[Phase, ...]
    settings: tuple[tuple[int, int, str, str], ...]
    disturbances: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    output: str
    spans: tuple[Span, ...]
    series: tuple[series.Series, ...]

    def series_of(self, disk: Disk) -> series.Series | None:
        """What a disk did over time. None: no sample of it was taken."""
        return next((one for one in self.series if one.target == disk.target), None)

    def begin_ns(self) -> int:
        """Where the first sample begins."""
        return min((int(one.edges[0]) for one in self.series), default=0)

    def end_ns(self) -> int:
        """Where the last sample ends."""
        return max((int(one.edges[-1]) for one in self.series), default=0)

    def readahead(self, disk: Disk) -> list[tuple[int, int]]:
        """(time_ns, sectors) of the readahead and of each change of it."""
        found: list[tuple[int, int]] = []
        for time, target, name, value in self.settings:
            if target == disk.target and name == "readahead_sectors" and value.isdigit():
                if not found or found[-1][1] != int(value):
                    found.append((time, int(value)))
        return found


def load(path: pathlib.Path) -> Overview:
    """Read a recording. RecordingError says why it cannot be read."""
    if not path.is_file():
        raise RecordingError(f"{path}: no such recording")
    try:
        database = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            recording.check_format(path, database)
            database.execute("PRAGMA cache_size=-65536")
            return _overview(path, SampleRows(database))
        finally:
            database.close()
    except (sqlite3.DatabaseError, OverflowError, ValueError, TypeError) as error:
        raise RecordingError(f"{path}: not a readable recording: {error}") from error
    except RecordingError as error:
        raise RecordingError(str(error) if str(path) in str(error) else f"{path}: {error}") from error


def _overview(path: pathlib.Path, rows: SampleRows) -> Overview:
    disks = _disks(rows)
    phases = tuple(Phase(*row) for row in rows.rows("phase", "phase, name, start_ns, end_ns", "phase"))  # type: ignore[arg-type]
    settings = tuple(
        (int(str(time)), int(str(target)), str(name), str(value))
        for time, target, name, value in rows.rows("setting", "time_ns, target, name, value", "time_ns, rowid")
    )
    over_time = [series.build(rows, disk.target, disk.bio_based, "place" in disk.groups) for disk in disks]
    text = "".join(str(text) for (text,) in rows.rows("output", "text", "time_ns, rowid"))
    return Overview(
        path,
        {str(key): str(value) for key, value in rows.rows("meta", "key, value", "key")},
        tuple(disks),
        phases,
        settings,
        tuple((str(kind), str(said)) for kind, said in rows.rows("disturbance", "kind, text", "disturbance")),
        tuple(str(text) for (text,) in rows.rows("note", "text", "time_ns")),
        text if len(text) <= OUTPUT_CHARACTERS else text[:OUTPUT_CHARACTERS] + "\n... (cut)",
        tuple(_spans(rows, disks, phases)),
        tuple(one for one in over_time if one),
    )


def _disks(rows: SampleRows) -> list[Disk]:
    names = ["target", "disk", "driver", "bio_based", "capacity_sectors", "max_sectors"]
    have = set(rows.columns("target"))
    chosen = [*names, *(name if name in have else f"NULL AS {name}" for name in ("place_sectors", "groups"))]
    return [
        Disk(target, str(disk), driver, bool(bio), capacity, largest, place,
             OLD_GROUPS if groups is None else frozenset(str(groups).split()))
        for target, disk, driver, bio, capacity, largest, place, groups in rows.db.execute(
            f"SELECT {', '.join(chosen)} FROM target ORDER BY target")
    ]  # fmt: skip


def _kinds(rows: SampleRows) -> list[tuple[str, str]]:
    """Direction and kind of the histograms that sums are made of."""
    directions = [d for (d,) in rows.db.execute("SELECT DISTINCT direction FROM flow") if d in recording.DATA]
    kinds = ["depth_time", "size", "seek", "place"]
    kinds += ["d2c", "i2d", "q2c"] if len(rows.samples) <= LATENCY_SAMPLES else []
    found = [(d, kind) for kind in kinds for d in (series.DIRECTIONS if kind in ("depth_time", "place") else directions)]
    return [*found, ("all", "blame"), ("all", "ra_sync"), ("all", "ra_async")]


def _spans(rows: SampleRows, disks: Sequence[Disk], phases: Sequence[Phase]) -> list[Span]:
    histograms = {key: rows.by_group(rows.histogram(*key)) for key in _kinds(rows)}
    flows, origins = rows.sums("flow", "direction"), rows.sums("origin", "class")
    submitters = rows.sums("submitter", "pid, comm")
    group_of_pair = {(int(target), int(phase)): at for at, (target, phase) in enumerate(rows.groups.tolist())}
    spans = []
    for phase in phases:
        for disk in disks:
            group = group_of_pair.get((disk.target, phase.phase))
            if group is None:
                continue
            mine = rows.samples[(rows.samples[:, 1] == disk.target) & (rows.samples[:, 2] == phase.phase)]
            flow = flows.get((disk.target, phase.phase), {})
            sums = {str(d): {n: v for n, v in c.items() if v is not None} for d, c in flow.items() if d != "all"}
            unknown = frozenset(n for d, c in flow.items() if d != "all" for n, v in c.items() if v is None)
            found = {key: by[group] for key, by in histograms.items() if group in by}
            counters = Counters(int(mine[:, 3].min()), int(mine[:, 4].max()), sums, found, unknown)
            classes = {str(c): {n: v or 0 for n, v in s.items()}
                       for c, s in origins.get((disk.target, phase.phase), {}).items()}  # fmt: skip
            who = [_submitter(key, sums) for key, sums in submitters.get((disk.target, phase.phase), {}).items()]
            spans.append(Span(disk, phase, counters, classes, tuple(sorted(who, key=lambda one: -one.bytes_queued))))
    return spans


def _submitter(key: object, sums: Mapping[str, int | None]) -> Submitter:
    assert isinstance(key, tuple)
    pid, comm = key
    return Submitter(pid, None if comm is None else str(comm), *(sums.get(name) or 0 for name in (
        "queued", "bytes_queued", "seeks_queued")))  # fmt: skip
