# SPDX-License-Identifier: GPL-2.0-or-later
"""What was counted in one phase of one disk, as sums: hours of samples do not become objects.

Phases of one name are one observation. Units are those of Documentation/counters.rst and recording.rst; what was not
counted is None or missing from a mapping, never 0.
"""

import bisect
import collections
import dataclasses
import functools
import json
import pathlib
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from raidtrace.recording import invariants, spans, timeline
from raidtrace.recording.columns import RecordingError
from raidtrace.recording.figures import Figures
from raidtrace.recording.sample_rows import SampleRows, Window, opened
from raidtrace.recording.spans import OUTSIDE, Recorded, Span, Submitter, Target, merged
from raidtrace.recording.timeline import Change, Timeline

HAPPEN = ("controller_events", "md_degraded")  # events of an array: as they were when a phase ended
KERNEL_THREADS = ("kworker", "jbd2", "xfsaild", "ext4lazyinit", "md", "kswapd", "flush")


@dataclasses.dataclass(frozen=True)
class Charged:
    """What was charged to a cgroup; by_kernel: bios of it that kernel threads queued."""

    cgroup: str
    bios: int
    bytes: int
    by_kernel: int


@dataclasses.dataclass(frozen=True)
class Disk(Target):
    """A recorded disk and its place in a stack. parent: number of the md or dm disk that it is a part of. members: number of
    its own parts."""

    parent: int | None = None
    members: int = 0

    @property
    def name(self) -> str:
        return self.disk


@dataclasses.dataclass(frozen=True)
class Observation:
    """All phases of one name, of one disk.

    span: the sum of their samples. spans: start and end of each phase. settings: of the disk, machine: of the machine, as they
    were when the phase began (those of HAPPEN when it ended); changed: names of settings that changed in it, which timeline has
    with their values. host: (source, name) -> growth. over_time: a row for each sample that lasted and in which anything was in
    flight, in order of time: ns with anything in flight, bytes, seeks. others: processes of the host that are neither of the
    command nor of the kernel. by_command: bytes read and written by the command (kernel's account). charged: bios by cgroup,
    where a cgroup has a limit.
    """

    disk: Disk
    phase: str
    spans: tuple[tuple[int, int], ...]
    span: Span
    settings: Mapping[str, str]
    machine: Mapping[str, str]
    changed: tuple[str, ...]
    host: Mapping[tuple[str, str], int]
    over_time: Sequence[tuple[int, int, int]] = dataclasses.field(compare=False)
    timeline: Timeline = dataclasses.field(compare=False)
    others: frozenset[int] = frozenset()
    by_command: Mapping[str, int] = dataclasses.field(default_factory=dict)
    program: str = ""
    charged: tuple[Charged, ...] = ()

    def seconds(self) -> float:
        """Length of the phase."""
        return sum(end - start for start, end in self.spans) / 1e9

    def of(self, direction: str) -> Figures:
        """The quantities of a direction."""
        return Figures(self.span, direction)

    def count(self, direction: str, counter: str) -> int | None:
        """One counter of a direction; 0 where the direction had no event, None where it was not counted."""
        return self.of(direction).known(counter)

    def histogram(self, direction: str, kind: str) -> Mapping[int, int]:
        """One histogram, empty if nothing was counted."""
        return self.span.histogram(direction, kind)

    @property
    def origin(self) -> Mapping[str, Mapping[str, int]] | None:
        """Class -> counter -> number. None: not counted."""
        return self.span.origin if "origin" in self.span.groups else None

    @functools.cached_property
    def submitters(self) -> tuple[Submitter, ...] | None:
        """Processes, those with most seeks first. None: not counted."""
        if "submitter" not in self.span.groups:
            return None
        return tuple(sorted(self.span.processes(), key=lambda one: (-one.seeks, -one.bytes)))

    def setting(self, name: str) -> int | None:
        """A setting that is a number."""
        try:
            return int(self.settings[name])
        except (KeyError, ValueError):
            return None


@dataclasses.dataclass(frozen=True)
class Observed:
    """A whole recording, without its samples. names: of its phases in order of time, each once, OUTSIDE left out. whole: from
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
    """Read a recording, or the part of it in a window. RecordingError: it cannot be read, or nothing was recorded."""
    with opened(path, window) as rows:
        return read(spans.read(path, rows) if window else invariants.read(path, rows), rows, window)


def read(recorded: Recorded, rows: SampleRows, window: Window | None = None) -> Observed:
    """The observations of a recording that is open, by the window that it was opened with."""
    phases = sorted(recorded.phases, key=lambda phase: (phase.start_ns, phase.phase))
    names = tuple(dict.fromkeys(phase.name for phase in phases if phase.name != OUTSIDE))
    if not rows.samples or not recorded.targets:
        raise RecordingError(f"{recorded.path}: contains no sample{' between --from and --to' if window else ''}")
    first, last = rows.samples[0][3], max(sample[4] for sample in rows.samples)
    edges: dict[str, list[tuple[int, int]]] = {name: [] for name in names}
    for phase in phases:
        start, end = phase.start_ns, last if phase.end_ns is None else phase.end_ns
        if window:
            start, end = max(start, first), min(phase.end_ns or last, last)
        if phase.name in edges and end > start:
            edges[phase.name].append((start, end))
    disks = _disks(recorded)
    observations = _Tables(rows, recorded, disks, edges).observations()
    whole = _whole(rows.db, window, first, last) if window else None
    return Observed(recorded.path, recorded.meta, disks, names, tuple(observations), recorded.output, whole)


def _whole(db: sqlite3.Connection, window: Window, first: int, last: int) -> tuple[float, float] | None:
    """first, last: of the samples in the window, ns. Those outside it are behind the views that made it."""
    begin = db.execute("SELECT min(start_ns) FROM main.sample").fetchone()[0]
    edges = [begin + int(edge * 1e9) for edge in window if edge is not None]
    cut = "SELECT 1 FROM main.sample WHERE start_ns < ? AND end_ns > ? LIMIT 1"
    if not any(db.execute(cut, (edge, edge)).fetchone() for edge in edges):
        return None
    return (first - begin) / 1e9, (last - begin) / 1e9


def _disks(recorded: Recorded) -> tuple[Disk, ...]:
    parents = dict(recorded.stack)
    members = collections.Counter(parents.values())
    return tuple(
        Disk(**vars(one), parent=parents.get(one.target), members=members[one.target]) for one in recorded.targets
    )


class _Tables:
    """The observations, from the spans and the rows that only they need."""

    def __init__(self, rows: SampleRows, recorded: Recorded, disks: Iterable[Disk],
                 edges: Mapping[str, list[tuple[int, int]]]):  # fmt: skip
        self._program = program(recorded.meta)
        self._rows, self._db, self._disks, self._spans = rows, rows.db, tuple(disks), edges
        self._recorded = recorded
        self._numbers: dict[str, list[int]] = {}
        for phase in recorded.phases:
            self._numbers.setdefault(phase.name, []).append(phase.phase)

    def observations(self) -> list[Observation]:
        """All that moved or lasted, in the order of phases, disks within."""
        host = self._host()
        observed = []
        for name, edges in self._spans.items():
            for disk in self._disks:
                mine = [span for span in self._recorded.spans if (span.target, span.phase) == (disk.target, name)]
                if not mine:
                    continue
                key, span = (disk.target, name), merged(mine)
                settings, changes = self._settings(disk.target, edges)
                observed.append(Observation(
                    disk, name, tuple(edges), span, settings, self._settings(0, edges)[0],
                    tuple(dict.fromkeys(change.name for change in changes)), host.get(name, {}), self._over_time(*key),
                    timeline.build(self._rows, disk.target, self._numbers[name], changes),
                    self._others, self._asked(edges), self._program, self._charged(span),
                ))  # fmt: skip
        return observed

    def _charged(self, span: Span) -> tuple[Charged, ...]:
        """Bios by cgroup, where a cgroup has a limit."""
        if not any(one.name == "io.max" and one.value for one in self._recorded.settings if one.target == span.target):
            return ()
        sums: dict[str, list[int]] = {}
        for one in span.submitters:
            bios = one.counts["queued"]
            mine = (bios, one.counts["bytes_queued"], bios if (one.comm or "").startswith(KERNEL_THREADS) else 0)
            sums[one.cgroup] = [a + b for a, b in zip(sums.get(one.cgroup, (0, 0, 0)), mine, strict=True)]
        return tuple(Charged(cgroup, *numbers) for cgroup, numbers in sums.items()) if any(sums) else ()

    def _over_time(self, target: int, name: str) -> list[tuple[int, int, int]]:
        rows = self._rows
        moved = [
            counts for direction in rows.directions() if (counts := rows.flow(direction, "bytes_completed")) is not None
        ]
        return [
            (end - start - rows.idle[number], sum(octets[number] for octets in moved), rows.seeks[number])
            for number, _, _, start, end in rows.of(target, self._numbers[name])
            if end > start and rows.idle[number] >= 0 and end - start != rows.idle[number]
        ]

    def _host(self) -> dict[str, dict[tuple[str, str], int]]:
        """What the machine and the command did in each phase; rows of single processes and interrupts are left out."""
        by_phase: dict[str, dict[tuple[str, str], int]] = {}
        if "host" not in self._rows.tables:
            return by_phase
        query = "SELECT end_ns, source, name, value FROM host WHERE source IN ('cpu', 'vmstat', 'command', 'kernel')"
        edges = sorted((start, end, name) for name, spans in self._spans.items() for start, end in spans)
        starts = [start for start, _, _ in edges]
        for end_ns, source, name, value in self._db.execute(query):
            at = bisect.bisect_left(starts, end_ns) - 1
            if at >= 0 and end_ns <= edges[at][1]:
                sums = by_phase.setdefault(edges[at][2], {})
                sums[source, name] = sums.get((source, name), 0) + value
        return by_phase

    @functools.cached_property
    def _command(self) -> list[tuple[int, str, int]]:
        """(time, name, bytes) that the command read and wrote until a time. Empty: the kernel does not count them."""
        if "host" not in self._rows.tables:
            return []
        rows = self._rows.execute("SELECT end_ns, name, value FROM host WHERE source = 'command' AND name <> 'cpu'")
        return [(int(end_ns), str(name), int(value)) for end_ns, name, value in rows]

    def _asked(self, spans: Iterable[tuple[int, int]]) -> dict[str, int]:
        """By the end of the phase, as what was written before is written back later. Nothing where that was looked at long
        before the end, as of a part of a phase."""
        spans = tuple(spans)
        end, length = max((end for _, end in spans), default=0), sum(end - start for start, end in spans)
        looked = [at for at, _, _ in self._command]
        if max(looked, default=0) > end and end - max((at for at in looked if at <= end), default=0) > length / 10:
            return {}
        return {
            direction: sum(
                value for end_ns, name, value in self._command if name == f"{direction}_bytes" and end_ns <= end
            )
            for direction in ("read", "write")
            if self._command
        }

    @functools.cached_property
    def _others(self) -> frozenset[int]:
        """Process numbers of subjects such as "36 dd"; those of the command, recorder and kernel say so behind the name."""
        if "host" not in self._rows.tables:
            return frozenset()
        rows = self._rows.execute("SELECT DISTINCT subject FROM host WHERE source = 'process'")
        subjects = [
            subject
            for (subject,) in rows
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
        for one in self._recorded.settings:
            if one.target != target:
                continue
            time_ns, name, value = one.time_ns, one.name, one.value
            before_end = bool(spans) and name in HAPPEN and time_ns <= spans[-1][1]
            before, latest[name] = latest.get(name), value
            if before not in (None, value) and any(start < time_ns <= end for start, end in spans):
                changes.append(Change(time_ns, name, str(before), value))
            if not spans or time_ns <= spans[0][0] or name not in values or before_end:
                values[name] = value
        return values, changes


def lab_config(meta: Mapping[str, str]) -> dict[str, str]:
    """Keys of the simulated disk, with what was set; empty: not recorded."""
    return dict(pair.split("=", 1) for pair in meta.get("lab_config", "").split(",") if "=" in pair)


def lab_differences(a: Mapping[str, str], b: Mapping[str, str]) -> list[tuple[str, str | None, str | None]]:
    """Keys of the simulated disks of two recordings that differ, with both values, in order; none unless both are recorded."""
    ours, theirs = lab_config(a), lab_config(b)
    names = sorted(ours.keys() | theirs.keys()) if ours and theirs else []
    return [(name, ours.get(name), theirs.get(name)) for name in names if ours.get(name) != theirs.get(name)]
