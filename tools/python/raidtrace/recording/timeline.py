# SPDX-License-Identifier: GPL-2.0-or-later
"""What sums of a phase cannot tell: when the disk was idle or silent, which request took longest and when, what changed."""

import dataclasses
from collections.abc import Collection, Iterable, Mapping

import numpy
from numpy.typing import NDArray

from raidtrace.quantity import bins
from raidtrace.recording.sample_rows import SampleRows

START, END, BUSY, READ, WRITTEN, SEEKS = range(6)  # columns of Timeline.samples
WAYS = ("read", "write")
BEGUN = 0.01  # part of its bytes from which on a direction has begun, and up to which it has not ended
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
    """A setting that was found to be another; time_ns: when it was found, which is up to a second late."""

    time_ns: int
    name: str
    before: str
    after: str


@dataclasses.dataclass(frozen=True)
class Timeline:
    """samples: a row each, in order of time, of ns, ns, ns with anything in flight (-1: not counted), bytes, bytes, requests.
    longest: by direction. streams: of bios that were remembered and had been continued, where a sample ended, at most; None:
    not counted. table: streams that are remembered. interval: ns between the recorder's samples, at most; None: not recorded.
    computed: from, to, and ns of a processor that the command used between them.
    """

    samples: NDArray[numpy.float64]
    longest: Mapping[str, Longest]
    streams: int | None
    table: int | None
    changes: tuple[Change, ...]
    interval: int | None = None
    computed: tuple[tuple[int, int, int], ...] = ()

    def idle_ends(self, way: str) -> tuple[int, int]:
        """Ns with nothing in flight before a direction began, and after it ended, by samples: a program that starts or that
        others beside it move a little does not count as begun. Where in a sample the disk was idle is not known: of the first
        and the last, where they are short, what counts is more than the samples between have, for a disk that waits between
        requests does so there, too. But the recorder leaves a disk out that does nothing: of a sample longer than the interval
        what is before its last interval is idle."""
        start, end, busy = (self.samples[:, column] for column in (START, END, BUSY))
        moved = numpy.cumsum(self.samples[:, READ if way == "read" else WRITTEN])
        if not len(moved) or not moved[-1] or (busy < 0).any():
            return 0, 0
        idle, short = end - start - busy, SHORT * (end[-1] - start[0])
        first = int(numpy.argmax(moved > BEGUN * moved[-1]))
        last = int(numpy.argmax(moved >= (1 - BEGUN) * moved[-1]))
        length, between = end - start, slice(first + 1, last)
        waits = float(idle[between].sum() / max(length[between].sum(), 1))

        def beyond(at: int) -> float:
            return max(float(idle[at] - waits * length[at]) / (1 - waits), 0.0) if waits < 1 else 0.0

        left_out = length[first] - self.interval if self.interval and busy[first] <= self.interval else 0
        lead = idle[:first].sum() + (beyond(first) if length[first] <= short else min(idle[first], max(left_out, 0)))
        tail = idle[last + 1 :].sum() + (beyond(last) if last > first and length[last] <= short else 0)
        return int(lead), int(tail)

    def computed_between(self, since: int, until: int) -> int:
        """Ns of a processor that the command used between two times: of what was counted over an edge at least that which one
        thread cannot have used on the other side of it."""
        beyond = ((max(min(end, since) - start, 0) + max(end - max(start, until), 0), used)
                  for start, end, used in self.computed)  # fmt: skip
        return sum(max(used - outside, 0) for outside, used in beyond)

    def meanwhile(self, way: str) -> float:
        """Part of the other direction's bytes that were completed while this one was at work, by samples."""
        ours, theirs = (self.samples[:, column] for column in ((READ, WRITTEN) if way == "read" else (WRITTEN, READ)))
        moved, whole = numpy.cumsum(ours), theirs.sum()
        if not len(moved) or not moved[-1] or not whole:
            return 1.0
        at_work = (moved > BEGUN * moved[-1]) & (moved - ours < (1 - BEGUN) * moved[-1])
        return float(theirs[at_work].sum() / whole)

    def silence(self) -> tuple[int, int]:
        """The longest stretch, in ns, with something in flight all the time and nothing completed, and when it ended."""
        best, run = (0, 0), 0.0
        for start, end, busy, read, written, _ in self.samples.tolist():
            whole = busy >= 0.99 * (end - start) and not read and not written
            run = run + end - start if whole else 0.0
            best = max(best, (int(run), int(end)))
        return best

    def rates(self, since: int, until: int, way: str) -> float | None:
        """MiB/s of a direction between two times, by whole samples. None: there is none."""
        chosen = self.samples[(self.samples[:, START] >= since) & (self.samples[:, END] <= until)]
        length = (chosen[:, END] - chosen[:, START]).sum()
        moved = chosen[:, READ if way == "read" else WRITTEN].sum()
        return float(moved / (1 << 20) / (length / 1e9)) if length > 0 else None


def build(rows: SampleRows, target: int, phases: Collection[int], changes: Iterable[Change]) -> Timeline:
    """Of the phases of one disk that have a name in common."""
    mine = rows.samples[(rows.samples[:, 1] == target) & numpy.isin(rows.samples[:, 2], list(phases))]
    numbers, length = mine[:, 0], mine[:, 4] - mine[:, 3]
    busy = numpy.where(rows.idle[numbers] < 0, -1, length - rows.idle[numbers])
    columns = [mine[:, 3], mine[:, 4], busy]
    for way in WAYS:
        octets = rows.flow(way, "bytes_completed")
        columns.append(octets[numbers] if octets is not None else numpy.zeros(len(mine), dtype=numpy.int64))
    columns.append(rows.seeks[numbers])
    table = numpy.stack(columns, axis=1).astype(numpy.float64)[length > 0]
    ends = dict(zip(numbers.tolist(), mine[:, 4].tolist(), strict=True))
    return Timeline(table, _longest(rows, ends), _streams(rows, set(ends)), _table(rows, target), tuple(changes),
                    _interval(rows), _computed(rows))  # fmt: skip


def _computed(rows: SampleRows) -> tuple[tuple[int, int, int], ...]:
    if "host" not in rows.tables:
        return ()
    return tuple(rows.execute("SELECT start_ns, end_ns, value FROM host WHERE source = 'command' AND name = 'cpu'"))


def _interval(rows: SampleRows) -> int | None:
    found = rows.execute(
        "SELECT value FROM meta WHERE key = 'interval_ns' UNION ALL SELECT value FROM setting WHERE name = 'interval_ns'"
    )
    return max((int(value) for (value,) in found if str(value).isdigit()), default=None)


def _longest(rows: SampleRows, ends: Mapping[int, int]) -> dict[str, Longest]:
    found = {}
    for way in (*WAYS, "flush"):
        samples, places, counts = rows.histogram(way, "d2c")
        mine = numpy.isin(samples, list(ends)) & (counts > 0)
        if mine.any():
            at = int(numpy.argmax(numpy.where(mine, places, -1)))
            low, high = bins.time(int(places[at]))
            found[way] = Longest(low, high, ends[int(samples[at])])
    return found


def _streams(rows: SampleRows, numbers: Collection[int]) -> int | None:
    if "streams_alive_queued" not in rows.columns("sample"):
        return None
    found = rows.execute("SELECT sample, streams_alive_queued FROM sample WHERE streams_alive_queued IS NOT NULL")
    return max((alive for sample, alive in found if sample in numbers), default=None)


def _table(rows: SampleRows, target: int) -> int | None:
    if "streams" not in rows.columns("target"):
        return None
    row = rows.execute("SELECT streams FROM target WHERE target = ?", (target,)).fetchone()
    return row[0] if row else None
