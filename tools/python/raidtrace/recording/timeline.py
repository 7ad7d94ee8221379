# SPDX-License-Identifier: GPL-2.0-or-later
"""What sums of a phase cannot tell: when the disk was idle or silent, which request took longest and when, what changed."""

import dataclasses
import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence

from raidtrace.quantity import bins
from raidtrace.recording.sample_rows import SampleRows

Row = tuple[int, int, int, int, int, int, int, int]  # of Timeline.samples
START, END, BUSY, READ, WRITTEN, SEEKS, READS, WRITES = range(8)  # its columns
WAYS = ("read", "write")
BEGUN = 0.01  # part of its bytes from which on a direction has begun, and up to which it has not ended
LEAST_ROWS, LEAST_REQUESTS = 6, 12  # samples and requests, from which on evenness says something
SHORT = 0.1  # part of a phase up to which a sample is short


@dataclasses.dataclass(frozen=True)
class Longest:
    """The longest time from issue to completion: ns, from and less than; end of the sample that it ended in, None: not looked
    for in so long a recording."""

    low_ns: int
    high_ns: int
    time_ns: int | None


@dataclasses.dataclass(frozen=True)
class Change:
    """A setting that changed; time_ns: when the recorder read the new value, up to a second after the change."""

    time_ns: int
    name: str
    before: str
    after: str


@dataclasses.dataclass(frozen=True)
class Even:
    """How even a rate is: the number of requests, requests and MiB a second, and the most that its sum leaves a straight line,
    once by requests and once by bytes, both in requests."""

    number: int
    iops: float
    mib_per_s: float
    requests: float
    bytes: float


@dataclasses.dataclass(frozen=True)
class Timeline:
    """samples: a row each, in order of time, of ns, ns, ns with anything in flight (-1: not counted), bytes, bytes, seeks, and
    requests read and written.
    longest: by direction. streams: of bios that were remembered and had been continued, where a sample ended, at most; None:
    not counted. table: streams that are remembered. interval: ns between the recorder's samples, at most; None: not recorded.
    computed: from, to, and ns of a processor that the command used between them.
    """

    samples: Sequence[Row]
    longest: Mapping[str, Longest]
    streams: int | None
    table: int | None
    changes: tuple[Change, ...]
    interval: int | None = None
    computed: tuple[tuple[int, int, int], ...] = ()

    def idle_ends(self, direction: str) -> tuple[int, int]:
        """Ns with nothing in flight before a direction began, and after it ended, by samples. Few bytes, as of a program's
        start or of other programs, do not count as the begin. Where in a sample the disk was idle is not known: of the first
        and the last, where they are short, what counts is more than the samples between have, for a disk that waits between
        requests does so there, too. But the recorder leaves a disk out that does nothing: of a sample longer than the interval
        what is before its last interval is idle."""
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
        """Ns of a processor that the command used between two times: of what was counted over an edge at least that which one
        thread cannot have used on the other side of it."""
        beyond = ((max(min(end, since) - start, 0) + max(end - max(start, until), 0), used)
                  for start, end, used in self.computed)  # fmt: skip
        return sum(max(used - outside, 0) for outside, used in beyond)

    def meanwhile(self, direction: str) -> float:
        """Part of the other direction's bytes that were completed while this one was at work, by samples."""
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
        """Without the first fifth of the samples, in which a limit may let a burst through, and the last. unit: bytes that
        count as one request. both: of both directions together, while `direction` moves. None: too few samples or requests.
        """
        directions = WAYS if both else (direction,)
        mine = READS if direction == "read" else WRITES
        used = [at for at, sample in enumerate(self.samples) if sample[mine]]
        rows = self.samples[used[0] : used[-1] + 1] if used else ()
        rows = rows[len(rows) // 5 : -1]
        counts = [sum(row[READS if one == "read" else WRITES] for one in directions) for row in rows]
        octets = [sum(row[READ if one == "read" else WRITTEN] for one in directions) for row in rows]
        ends = [row[END] for row in rows]
        number = sum(counts[1:])
        if len(rows) < LEAST_ROWS or number < LEAST_REQUESTS or not unit:
            return None
        seconds = (ends[-1] - ends[0]) / 1e9
        rate = sum(octets[1:]) / seconds / (1 << 20)
        return Even(number, number / seconds, rate, _spread(ends, counts), _spread(ends, octets) / unit)

    def silence(self) -> tuple[int, int]:
        """The longest stretch, in ns, with something in flight all the time and nothing completed, and when it ended."""
        best, run = (0, 0), 0
        for start, end, busy, read, written, *_ in self.samples:
            whole = busy >= 0.99 * (end - start) and not read and not written
            run = run + end - start if whole else 0
            best = max(best, (run, end))
        return best

    def rates(self, since: int, until: int, direction: str) -> float | None:
        """MiB/s of a direction between two times, by whole samples. None: there is none."""
        chosen = [sample for sample in self.samples if sample[START] >= since and sample[END] <= until]
        length = sum(sample[END] - sample[START] for sample in chosen)
        moved = sum(sample[READ if direction == "read" else WRITTEN] for sample in chosen)
        return moved / (1 << 20) / (length / 1e9) if length > 0 else None


def _spread(ends: Sequence[int], growth: Sequence[int]) -> float:
    """The distance of a sum from the line through its first and last value, largest less smallest. growth: up to each end."""
    begin, end, total = ends[0], ends[-1], sum(growth[1:])
    sums = itertools.accumulate(growth[1:], initial=0)
    off = [done - total * (at - begin) / (end - begin) for done, at in zip(sums, ends, strict=True)]
    return max(off) - min(off)


def build(rows: SampleRows, target: int, phases: Collection[int], changes: Iterable[Change]) -> Timeline:
    """Of the phases of one disk that have a name in common."""
    mine = rows.of(target, phases)
    none = rows.filled(0)
    read, written = (rows.flow(direction, "bytes_completed") or none for direction in WAYS)
    reads, writes = (rows.flow(direction, "completed") or none for direction in WAYS)
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
    for direction in (*WAYS, "flush"):
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
