# SPDX-License-Identifier: GPL-2.0-or-later
"""The counters of one phase of one disk, as sums, because hours of samples are too many for objects.

Phases of the same name form one observation. Units are those of Documentation/counters.rst and recording.rst. A value
that was not counted is None or missing from a mapping, never 0.
"""

import bisect
import collections
import dataclasses
import functools
import itertools
import json
import pathlib
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence

from raidtrace.quantity import bins
from raidtrace.recording import invariants, spans
from raidtrace.recording.columns import RecordingError
from raidtrace.recording.figures import Figures
from raidtrace.recording.sample_rows import SampleRows, Window, opened
from raidtrace.recording.spans import HOST_NAME, OUTSIDE, Recorded, Span, Submitter, Target, merged

# The order of events in a phase, which its sums lack: idle and silent times, the slowest request, changed settings.

Row = tuple[int, int, int, int, int, int, int, int]  # of Timeline.samples
START, END, BUSY, READ, WRITTEN, SEEKS, READS, WRITES = range(8)  # columns of a row
READ_WRITE = ("read", "write")
BEGUN = 0.01  # of its bytes: above this share a direction has begun, and up to 1 - BEGUN it has not ended
MIN_ROWS, MIN_REQUESTS = 6, 12  # samples and requests: with fewer, evenness is not judged
SHORT = 0.1  # of a phase: a sample up to this length is short


@dataclasses.dataclass(frozen=True)
class Longest:
    """The longest time from issue to completion: from low_ns to less than high_ns. time_ns: end of the sample in which
    this request completed; None: not known."""

    low_ns: int
    high_ns: int
    time_ns: int | None


@dataclasses.dataclass(frozen=True)
class Change:
    """A changed setting. time_ns: the time at which the recorder read the new value, up to a second after
    the change."""

    time_ns: int
    name: str
    before: str
    after: str


@dataclasses.dataclass(frozen=True)
class Even:
    """How even a rate is. number: requests. iops, mib_per_s: the rates. requests, bytes: the largest deviation of the
    sum of requests, or of their bytes, from a straight line, both in requests."""

    number: int
    iops: float
    mib_per_s: float
    requests: float
    bytes: float


@dataclasses.dataclass(frozen=True)
class Timeline:
    """The samples of a phase in order of time, and events in them.

    samples: rows of start ns, end ns, busy ns (-1: not counted), bytes read, bytes written, seeks, reads and writes
    completed. longest: the slowest request by direction. streams: the most continued streams of bios at the end of a
    sample; None: not counted. table: size of the table of streams. interval: the longest interval between samples in
    ns; None: not recorded. computed: (start, end, ns of a processor that the command used between them).
    """

    samples: Sequence[Row]
    longest: Mapping[str, Longest]
    streams: int | None
    table: int | None
    changes: tuple[Change, ...]
    interval: int | None = None
    computed: tuple[tuple[int, int, int], ...] = ()

    def idle_ends(self, direction: str) -> tuple[int, int]:
        """Idle ns before a direction began, and after it ended, from the samples. (0, 0): not known. A few bytes, such
        as those of a program's start, do not count as the start. A sample does not show when the disk was idle, so a
        short first or last one counts only as far as it is more idle than those between. The recorder skips
        samples of an idle disk: in a sample longer than the interval, the time before its last interval is idle."""
        samples = self.samples
        moved = self._moved(READ if direction == "read" else WRITTEN)
        if not moved or not moved[-1] or any(sample[BUSY] < 0 for sample in samples):
            return 0, 0
        length = [sample[END] - sample[START] for sample in samples]
        idle = [whole - sample[BUSY] for whole, sample in zip(length, samples, strict=True)]
        short = SHORT * (samples[-1][END] - samples[0][START])
        first = next(at for at, total in enumerate(moved) if total > BEGUN * moved[-1])
        last = next(at for at, total in enumerate(moved) if total >= (1 - BEGUN) * moved[-1])
        between = slice(first + 1, last)
        waits = sum(idle[between]) / max(sum(length[between]), 1)

        def beyond(at: int) -> float:
            return max((idle[at] - waits * length[at]) / (1 - waits), 0.0) if waits < 1 else 0.0

        left_out = length[first] - self.interval if self.interval and samples[first][BUSY] <= self.interval else 0
        lead = sum(idle[:first]) + (beyond(first) if length[first] <= short else min(idle[first], max(left_out, 0)))
        tail = sum(idle[last + 1 :]) + (beyond(last) if last > first and length[last] <= short else 0)
        return int(lead), int(tail)

    def _moved(self, column: int) -> list[int]:
        """Bytes of a direction up to the end of each sample."""
        return list(itertools.accumulate(sample[column] for sample in self.samples))

    def computed_between(self, since: int, until: int) -> int:
        """Lower bound of the processor ns that the command used between two times. In a row across an edge, one thread
        may have used all of the time outside; only the rest counts."""
        beyond = ((max(min(end, since) - start, 0) + max(end - max(start, until), 0), used)
                  for start, end, used in self.computed)  # fmt: skip
        return sum(max(used - outside, 0) for outside, used in beyond)

    def meanwhile(self, direction: str) -> float:
        """Share of the other direction's bytes that completed while this direction was active, from the samples. 1.0:
        not known."""
        ours, theirs = (READ, WRITTEN) if direction == "read" else (WRITTEN, READ)
        moved, whole = self._moved(ours), sum(sample[theirs] for sample in self.samples)
        if not moved or not moved[-1] or not whole:
            return 1.0
        at_work = (
            sample[theirs]
            for total, sample in zip(moved, self.samples, strict=True)
            if total > BEGUN * moved[-1] and total - sample[ours] < (1 - BEGUN) * moved[-1]
        )
        return sum(at_work) / whole

    def even(self, direction: str, unit: float, both: bool = False) -> Even | None:
        """How even the rate of a direction is. None: too few samples or requests. The first fifth of the samples is
        left out, because a limit may allow a burst there, and the last sample. unit: bytes that count as one request.
        both: judge both directions together, while `direction` moves.
        """
        directions = READ_WRITE if both else (direction,)
        mine = READS if direction == "read" else WRITES
        used = [at for at, sample in enumerate(self.samples) if sample[mine]]
        rows = self.samples[used[0] : used[-1] + 1] if used else ()
        rows = rows[len(rows) // 5 : -1]
        counts = [sum(row[READS if one == "read" else WRITES] for one in directions) for row in rows]
        octets = [sum(row[READ if one == "read" else WRITTEN] for one in directions) for row in rows]
        ends = [row[END] for row in rows]
        number = sum(counts[1:])
        if len(rows) < MIN_ROWS or number < MIN_REQUESTS or not unit:
            return None
        seconds = (ends[-1] - ends[0]) / 1e9
        rate = sum(octets[1:]) / seconds / (1 << 20)
        return Even(number, number / seconds, rate, _spread(ends, counts), _spread(ends, octets) / unit)

    def silence(self) -> tuple[int, int]:
        """The longest time in ns with requests in flight and no completion, and its end. (0, 0): none."""
        best, run = (0, 0), 0
        for start, end, busy, read, written, *_ in self.samples:
            whole = busy >= 0.99 * (end - start) and not read and not written
            run = run + end - start if whole else 0
            best = max(best, (run, end))
        return best

    def rates(self, since: int, until: int, direction: str) -> float | None:
        """MiB/s of a direction between two times, from the samples that are complete in it. None: there is none."""
        chosen = [sample for sample in self.samples if sample[START] >= since and sample[END] <= until]
        length = sum(sample[END] - sample[START] for sample in chosen)
        moved = sum(sample[READ if direction == "read" else WRITTEN] for sample in chosen)
        return moved / (1 << 20) / (length / 1e9) if length > 0 else None


def _spread(ends: Sequence[int], growth: Sequence[int]) -> float:
    """The deviation of a sum from the line through its first and last value: largest minus smallest. growth: up to each
    end."""
    begin, end, total = ends[0], ends[-1], sum(growth[1:])
    sums = itertools.accumulate(growth[1:], initial=0)
    off = [done - total * (at - begin) / (end - begin) for done, at in zip(sums, ends, strict=True)]
    return max(off) - min(off)


def build(rows: SampleRows, target: int, phases: Collection[int], changes: Iterable[Change]) -> Timeline:
    """The timeline of all phases of one disk that have the same name."""
    mine = rows.of(target, phases)
    none = rows.filled(0)
    read, written = (rows.flow(direction, "bytes_completed") or none for direction in READ_WRITE)
    reads, writes = (rows.flow(direction, "completed") or none for direction in READ_WRITE)
    idle, seeks = rows.idle, rows.seeks
    table = [
        (start, end, end - start - idle[at] if idle[at] >= 0 else -1, read[at], written[at], seeks[at], reads[at], writes[at])
        for at, _, _, start, end in mine
        if end > start
    ]  # fmt: skip
    ends = {sample[0]: sample[4] for sample in mine}
    return Timeline(table, _longest(rows, ends), _streams(rows, set(ends)), _table(rows, target), tuple(changes),
                    _interval(rows), _computed(rows))  # fmt: skip


def _computed(rows: SampleRows) -> tuple[tuple[int, int, int], ...]:
    if "host" not in rows.tables:
        return ()
    return tuple(rows.execute("SELECT start_ns, end_ns, value FROM host WHERE source = 'command' AND name = 'cpu'"))


def _interval(rows: SampleRows) -> int | None:
    values = rows.execute(
        "SELECT value FROM meta WHERE key = 'interval_ns' UNION ALL SELECT value FROM setting WHERE name = 'interval_ns'"
    )
    return max((int(value) for (value,) in values if str(value).isdigit()), default=None)


def _longest(rows: SampleRows, ends: Mapping[int, int]) -> dict[str, Longest]:
    by_direction = {}
    for direction in (*READ_WRITE, "flush"):
        bins_of = rows.longest(direction)
        number = max(ends, key=bins_of.__getitem__, default=None) if bins_of else None
        if bins_of and number is not None and bins_of[number] >= 0:
            low, high = bins.time(bins_of[number])
            by_direction[direction] = Longest(low, high, ends[number])
    return by_direction


def _streams(rows: SampleRows, numbers: Collection[int]) -> int | None:
    if "streams_alive_queued" not in rows.columns("sample"):
        return None
    samples = rows.execute("SELECT sample, streams_alive_queued FROM sample WHERE streams_alive_queued IS NOT NULL")
    return max((alive for sample, alive in samples if sample in numbers), default=None)


def _table(rows: SampleRows, target: int) -> int | None:
    if "streams" not in rows.columns("target"):
        return None
    row = rows.execute("SELECT streams FROM target WHERE target = ?", (target,)).fetchone()
    return row[0] if row else None


HAPPEN = ("controller_events", "md_degraded")  # events of an array: their last value in a phase counts
KERNEL_THREADS = ("kworker", "jbd2", "xfsaild", "ext4lazyinit", "md", "kswapd", "flush")


@dataclasses.dataclass(frozen=True)
class Charged:
    """The bios that were charged to a cgroup. by_kernel: its bios that kernel threads queued."""

    cgroup: str
    bios: int
    bytes: int
    by_kernel: int


@dataclasses.dataclass(frozen=True)
class Disk(Target):
    """A recorded disk and its place in a stack. parent: number of the md or dm disk that contains it. members: number
    of disks that it contains."""

    parent: int | None = None
    members: int = 0

    @property
    def name(self) -> str:
        return self.disk


@dataclasses.dataclass(frozen=True)
class Observation:
    """All phases of one name, of one disk.

    - span: the sum of their samples. spans: start and end of each phase, within the window. begin_ns: start of the
      first phase, which may be outside the window.
    - settings, machine: settings of the disk and of the machine at the start of the phase (those of HAPPEN: at its
      end). changed: names of settings that changed in it; timeline has their values.
    - host: (source, name) -> growth. over_time: for each sample with requests in flight, in order of time: busy ns,
      bytes, seeks.
    - others: process ids that belong neither to the command nor to the kernel. by_command: bytes that the command read
      and wrote, by the kernel's account. charged: bios by cgroup, if a cgroup has a limit.
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
    begin_ns: int = 0

    def seconds(self) -> float:
        """Length of all phases of this name in s."""
        return sum(end - start for start, end in self.spans) / 1e9

    def of(self, direction: str) -> Figures:
        return Figures(self.span, direction)

    def count(self, direction: str, counter: str) -> int | None:
        """A counter of a direction. 0: the direction had no event. None: not counted."""
        return self.of(direction).known(counter)

    def histogram(self, direction: str, kind: str) -> Mapping[int, int]:
        """A histogram. Empty: nothing was counted."""
        return self.span.histogram(direction, kind)

    @property
    def origin(self) -> Mapping[str, Mapping[str, int]] | None:
        """class -> counter -> number. None: not counted."""
        return self.span.origin if "origin" in self.span.groups else None

    @functools.cached_property
    def submitters(self) -> tuple[Submitter, ...] | None:
        """Processes, those with most seeks first. None: not counted."""
        if "submitter" not in self.span.groups:
            return None
        return tuple(sorted(self.span.processes(), key=lambda one: (-one.seeks, -one.bytes)))

    def setting(self, name: str) -> int | None:
        try:
            return int(self.settings[name])
        except (KeyError, ValueError):
            return None


@dataclasses.dataclass(frozen=True)
class Observed:
    """A whole recording, without its samples. names: of its phases in order of time, each once, without OUTSIDE. whole:
    begin and end of the complete samples in the window, in s since the recording began; None: the window cuts no
    sample. calls: the same for the rows with the command's calls; (0, 0): no row is complete in the window; None: it
    cuts none."""

    path: pathlib.Path
    meta: Mapping[str, str]
    disks: tuple[Disk, ...]
    names: tuple[str, ...]
    observations: tuple[Observation, ...]
    output: str
    whole: tuple[float, float] | None = None
    calls: tuple[float, float] | None = None

    def simulated(self) -> bool:
        return self.meta.get("simulated") == "yes"

    def find(self, disk: str, phase: str) -> Observation | None:
        return next((o for o in self.observations if (o.disk.name, o.phase) == (disk, phase)), None)

    def parent(self, of: Observation) -> Observation | None:
        """The observation of the same phase on the disk above."""
        return next((o for o in self.observations if o.phase == of.phase and o.disk.target == of.disk.parent), None)


def program(meta: Mapping[str, str]) -> str:
    """The name of the recorded program, in a word or two. Empty: not known."""
    try:
        words = json.loads(meta.get("command", ""))
    except ValueError:
        return "imported trace" if "source" in meta else ""
    return str(words[0]).rpartition("/")[2] if words else ""


def load(path: pathlib.Path, window: Window | None = None) -> Observed:
    """Read a recording, or the part of it in a window. Raises RecordingError: it cannot be read, or has no sample."""
    with opened(path, window) as rows:
        return read(spans.read(path, rows) if window else invariants.read(path, rows), rows, window)


def read(recorded: Recorded, rows: SampleRows, window: Window | None = None) -> Observed:
    """The observations of an open recording. window: the window that it was opened with. Raises RecordingError: no
    sample."""
    phases = sorted(recorded.phases, key=lambda phase: (phase.start_ns, phase.phase))
    names = tuple(dict.fromkeys(phase.name for phase in phases if phase.name != OUTSIDE))
    if not rows.samples or not recorded.targets:
        raise RecordingError(f"{recorded.path}: contains no sample{' between --from and --to' if window else ''}")
    first, last = rows.samples[0][3], max(sample[4] for sample in rows.samples)
    edges: dict[str, list[tuple[int, int]]] = {name: [] for name in names}
    begins: dict[str, int] = {}
    for phase in phases:
        start, end = phase.start_ns, last if phase.end_ns is None else phase.end_ns
        if window:
            start, end = max(start, first), min(phase.end_ns or last, last)
        if phase.name in edges and end > start:
            edges[phase.name].append((start, end))
            begins.setdefault(phase.name, phase.start_ns)
    disks = _disks(recorded)
    cut = _cut(rows, first, last) if window else set()
    observations = _Tables(rows, recorded, disks, edges, begins, cut).observations()
    whole = _whole(rows.db, window, first, last) if window else None
    calls = _calls(rows.db, first, last) if cut else None
    return Observed(recorded.path, recorded.meta, disks, names, tuple(observations), recorded.output, whole, calls)


# Settings with limits of cgroups -> the limit of a line, as io.max names it; "": the line names them.
LIMIT_FILES = {
    "io.max": "", "blkio.throttle.read_bps_device": "rbps", "blkio.throttle.write_bps_device": "wbps",
    "blkio.throttle.read_iops_device": "riops", "blkio.throttle.write_iops_device": "wiops",
}  # fmt: skip
LOOKS = "FROM main.host WHERE source IN ('cpu', 'command')"  # an interval without use may lack either row


def _cut(rows: SampleRows, *edges: int) -> set[int]:
    """The edges of a window inside a row of the machine's counters: a part of what the row counts is outside the
    window."""
    query = f"SELECT 1 {LOOKS} AND start_ns < ? AND end_ns > ? LIMIT 1"
    return {edge for edge in edges if "host" in rows.tables and rows.db.execute(query, (edge, edge)).fetchone()}


def _calls(db: sqlite3.Connection, first: int, last: int) -> tuple[float, float]:
    """Start and end of the rows with the command's counters in the window, in s since the recording began. (0, 0):
    none. first, last: start and end of the samples in the window, in ns."""
    begin = db.execute("SELECT min(start_ns) FROM main.sample").fetchone()[0]
    query = f"SELECT min(start_ns), max(end_ns) {LOOKS} AND start_ns >= ? AND end_ns <= ?"
    since, until = db.execute(query, (first, last)).fetchone()
    return (0.0, 0.0) if since is None else ((since - begin) / 1e9, (until - begin) / 1e9)


def _whole(db: sqlite3.Connection, window: Window, first: int, last: int) -> tuple[float, float] | None:
    """Start and end of the samples in the window, in s since the recording began. None: the window cuts no sample.
    first, last: the same in ns. The tables of schema main also have the samples outside the window."""
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
    """Makes the observations from the spans, and from rows that nothing else needs."""

    def __init__(self, rows: SampleRows, recorded: Recorded, disks: Iterable[Disk],
                 edges: Mapping[str, list[tuple[int, int]]], begins: Mapping[str, int], cut: set[int]):  # fmt: skip
        self._begins, self._cut = begins, cut
        self._program = program(recorded.meta)
        self._rows, self._db, self._disks, self._spans = rows, rows.db, tuple(disks), edges
        self._recorded = recorded
        self._numbers: dict[str, list[int]] = {}
        for phase in recorded.phases:
            self._numbers.setdefault(phase.name, []).append(phase.phase)

    def observations(self) -> list[Observation]:
        """All observations with samples, in order of phases, and of disks within a phase."""
        host = self._host()
        observed = []
        for name, edges in self._spans.items():
            for disk in self._disks:
                mine = [span for span in self._recorded.spans if (span.target, span.phase) == (disk.target, name)]
                if not mine:
                    continue
                key, span = (disk.target, name), merged(mine)
                settings, changes = self._settings(disk.target, edges)
                timeline = build(self._rows, disk.target, self._numbers[name], changes)
                observed.append(Observation(
                    disk, name, tuple(edges), span, settings, self._settings(0, edges)[0],
                    tuple(dict.fromkeys(change.name for change in changes)),
                    self._known(host.get(name, {}), edges, timeline), self._over_time(*key), timeline,
                    self._others, self._bytes_of_command(edges), self._program, self._charged(span), self._begins[name],
                ))  # fmt: skip
        return observed

    def _charged(self, span: Span) -> tuple[Charged, ...]:
        """Bios by cgroup, if a cgroup has a limit. Empty: none has."""
        if not any(
            one.name in LIMIT_FILES and one.value for one in self._recorded.settings if one.target == span.target
        ):
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
        """The counters of machine and command in each phase. Rows of single processes and interrupts are left out, and
        looks that may have been before the phase."""
        by_phase: dict[str, dict[tuple[str, str], int]] = {}
        if "host" not in self._rows.tables:
            return by_phase
        query = f"""SELECT start_ns, end_ns, source, {HOST_NAME}, value FROM host
            WHERE source IN ('cpu', 'vmstat', 'command', 'look', 'kernel')"""
        edges = sorted((start, end, name) for name, spans in self._spans.items() for start, end in spans)
        starts = [start for start, _, _ in edges]
        for start_ns, end_ns, source, name, value in self._db.execute(query):
            at = bisect.bisect_left(starts, end_ns) - 1
            inside = at >= 0 and end_ns <= edges[at][1] and (source != "look" or start_ns >= edges[at][0])
            if inside:
                sums = by_phase.setdefault(edges[at][2], {})
                sums[source, name] = sums.get((source, name), 0) + value
        return by_phase

    def _known(self, host: Mapping[tuple[str, str], int], spans: Sequence[tuple[int, int]],
               timeline: Timeline) -> Mapping[tuple[str, str], int]:  # fmt: skip
        """The counters without those of the command, if one of its rows is partly outside the window. A lower
        bound of its processor time is known."""
        if self._cut.isdisjoint(itertools.chain(*spans)):
            return host
        known = {key: value for key, value in host.items() if key[0] != "command"}
        used = sum(timeline.computed_between(*span) for span in spans)
        return known | ({("command", "cpu"): used} if timeline.computed else {})

    @functools.cached_property
    def _command(self) -> list[tuple[int, str, int]]:
        """(time, name, bytes): growth of the command's counters of calls up to a time. Empty: the kernel does not count
        them."""
        if "host" not in self._rows.tables:
            return []
        rows = self._rows.execute("SELECT end_ns, name, value FROM host WHERE source = 'command' AND name <> 'cpu'")
        return [(int(end_ns), str(name), int(value)) for end_ns, name, value in rows]

    def _bytes_of_command(self, spans: Iterable[tuple[int, int]]) -> dict[str, int]:
        """Bytes that the command read and wrote until the end of the phase. Earlier phases count, because the kernel
        writes data back later. Empty: the last reading was long before the end, or there is none."""
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
        """Process ids of subjects such as "36 dd". Subjects of the command, the recorder and the kernel
        have a suffix."""
        if "host" not in self._rows.tables:
            return frozenset()
        rows = self._rows.execute("SELECT DISTINCT subject FROM host WHERE source = 'process'")
        numbers: dict[bool, set[int]] = {True: set(), False: set()}
        for (subject,) in rows:
            number = subject.partition(" ")[0]
            if number.isdigit():
                numbers[subject.endswith((" of the command", " (this recorder)", " of the kernel"))].add(int(number))
        # An orphan may be observed once before it becomes a child of the recorder.
        return frozenset(numbers[False] - numbers[True])

    def _settings(self, target: int, spans: Iterable[tuple[int, int]]) -> tuple[dict[str, str], list[Change]]:
        """The settings at the start of the first span, and the changes in any span."""
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
    """Keys of the simulated disk and their values. Empty: not recorded."""
    return dict(pair.split("=", 1) for pair in meta.get("lab_config", "").split(",") if "=" in pair)


def lab_differences(a: Mapping[str, str], b: Mapping[str, str]) -> list[tuple[str, str | None, str | None]]:
    """Different keys of the simulated disks of two recordings, in order: (key, value of a, value of b). Empty: not both
    are recorded."""
    ours, theirs = lab_config(a), lab_config(b)
    names = sorted(ours.keys() | theirs.keys()) if ours and theirs else []
    return [(name, ours.get(name), theirs.get(name)) for name in names if ours.get(name) != theirs.get(name)]
