# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording of any length and any number of disks: exact sums of each phase and disk, and series over time.

All times are CLOCK_MONOTONIC nanoseconds, all sectors 512 bytes.
"""

import dataclasses
import pathlib
from collections.abc import Iterable, Mapping
from typing import Any

from raidtrace.recording import recording
from raidtrace.recording.counters import DEPTH_SUM, Counters
from raidtrace.recording.recording import Phase, Recording, Target
from raidtrace.recording.sample_rows import SampleRows, opened
from raidtrace.recording.series import DIRECTIONS, Series, build

# direction and kind of the histograms that sums are made of
KINDS = [(direction, kind) for kind in ("depth_time", "size", "place", "d2c", "i2d", "q2c") for direction in DIRECTIONS]
KINDS += [("all", "blame")]
OLD_GROUPS = frozenset(("flow", "size", "seek", "depth"))  # what version 1 has


@dataclasses.dataclass(frozen=True)
class Span:
    """One phase of one disk, summed."""

    target: Target
    phase: Phase
    counters: Counters


@dataclasses.dataclass(frozen=True)
class Overview:
    """A recording whose samples are whole phases: each phase of a disk is one. series: of each disk that has samples."""

    recording: Recording
    series: tuple[Series, ...]
    samples: int  # that the recording has itself

    def simulated(self) -> bool:
        """Whether all times are a model's."""
        return self.recording.meta.get("simulated") == "yes"

    def spans(self) -> list[Span]:
        """All phases of all disks, by time and then in the order of the disks."""
        numbers = {phase.phase: phase for phase in self.recording.phases}
        found = [
            Span(target, numbers[phase], sums)
            for target in self.recording.targets
            for _, phase, sums in self.recording.all_samples[target.disk]
            if phase in numbers
        ]
        return sorted(found, key=lambda span: span.phase.phase)

    def series_of(self, target: Target) -> Series | None:
        """What a disk did over time. None: no sample of it was taken."""
        return next((one for one in self.series if one.target == target.target), None)

    def begin_ns(self) -> int:
        """Where the first sample begins."""
        return min((int(one.edges[0]) for one in self.series), default=0)

    def end_ns(self) -> int:
        """Where the last sample ends."""
        return max((int(one.edges[-1]) for one in self.series), default=0)

    def readahead(self, target: Target) -> list[tuple[int, int]]:
        """(time_ns, sectors) of the readahead and of each change of it."""
        found: list[tuple[int, int]] = []
        for one in self.recording.settings:
            if one.disk == target.disk and one.name == "readahead_sectors" and one.value.isdigit():
                if not found or found[-1][1] != int(one.value):
                    found.append((one.time_ns, int(one.value)))
        return found


def groups(target: Target) -> frozenset[str]:
    """Groups of counters that were counted."""
    return OLD_GROUPS if target.groups is None else frozenset(str(target.groups).split())


def load(path: pathlib.Path) -> Overview:
    """Read a recording. RecordingError says why it cannot be read."""
    with opened(path, series=True) as rows:
        return read(path, rows)


def read(path: pathlib.Path, rows: SampleRows) -> Overview:
    """Read a recording that is open."""
    found = recording.read(path, rows.db, lambda _: _sums(rows))
    over_time = [
        build(rows, target.target, bool(target.bio_based), "place" in groups(target)) for target in found.targets
    ]
    return Overview(found, tuple(one for one in over_time if one), len(rows.samples))


def _sums(rows: SampleRows) -> Iterable[tuple[int, tuple[int, int, Counters]]]:
    """(target, (number, phase, counters)): each phase of a disk as one sample."""
    tables = {table: rows.sums(table, key) for table, key in (
        ("flow", "direction"), ("origin", "class"), ("submitter", "pid, comm"))}  # fmt: skip
    plain = rows.plain
    every = rows.group_sums()  # after the tables: another process makes them meanwhile, if the recording is long
    histograms = {key: every.get(key, {}) for key in KINDS}
    for group, (target, phase) in enumerate(rows.groups):
        mine = rows.of(target, [phase])
        of = {table: sums.get((target, phase), {}) for table, sums in tables.items()}
        flow = {direction: sums for direction, sums in of["flow"].items() if direction != "all"}
        yield target, (group, phase, Counters(
            mine[0][3], max(sample[4] for sample in mine), _known(flow),
            {key: by[group] for key, by in histograms.items() if group in by},
            frozenset(name for sums in flow.values() for name, value in sums.items() if value is None and name != DEPTH_SUM),
            plain.get((target, phase), {}), _known(of["origin"]),
            {(pid, comm or ""): sums for (pid, comm), sums in _known(of["submitter"]).items()},
        ))  # fmt: skip


def _known(rows: Mapping[Any, Mapping[str, int | None]]) -> dict[Any, dict[str, int]]:
    return {key: {name: value for name, value in sums.items() if value is not None} for key, sums in rows.items()}
