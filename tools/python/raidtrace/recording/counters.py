# SPDX-License-Identifier: GPL-2.0-or-later
"""What was counted of a disk over some time, and what can be said of it."""

import collections
import dataclasses
from collections.abc import Iterable, Mapping

SECTOR_BYTES = 512
EXACT_SIZE_BINS = 257  # bins 0..256 of the size histogram are that many sectors each, exactly
DEPTH_SUM = "depth_sum_ns"  # column of flow that other directions than read, write and all never have
EXACT_DEPTH_BINS = 256  # bins 0..255 of the depth histograms are that depth each, exactly
SEEK_NONE_BIN = 64  # seek histogram: distance 0
DATA = ("read", "write", "discard", "write_zeroes", "other")  # directions that have a place on the disk
LEVELS = ("in_flight", "in_flight_max")  # columns of flow that are not differences


class RecordingError(Exception):
    """The file cannot be used; the text says which, why and what to do."""


@dataclasses.dataclass(frozen=True)
class Counters:
    """Sums over (start_ns, end_ns]. flow: direction -> counter; bins: (direction, kind) -> bin -> count.

    unknown: counters that are NULL in the recording, because they were not counted. plain: counters without a direction.
    origins: class -> counter. submitters: (pid, comm) -> counter; pid None: those that found the table full. levels: of the
    last sample, streams_alive and streams_alive_queued, and in_flight and in_flight_max by direction ("read in_flight").
    """

    start_ns: int
    end_ns: int
    flow: Mapping[str, Mapping[str, int]]
    bins: Mapping[tuple[str, str], Mapping[int, int]]
    unknown: frozenset[str] = frozenset()
    plain: Mapping[str, int] = dataclasses.field(default_factory=dict)
    origins: Mapping[str, Mapping[str, int]] = dataclasses.field(default_factory=dict)
    submitters: Mapping[tuple[int | None, str], Mapping[str, int]] = dataclasses.field(default_factory=dict)
    levels: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def count(self, direction: str, counter: str) -> int:
        """One counter; a direction without rows had no event. What was not counted raises RecordingError."""
        if counter in self.unknown:
            raise RecordingError(f"the counter {counter} is not available in this recording")
        return self.flow.get(direction, {}).get(counter, 0)

    def plain_count(self, counter: str) -> int:
        """A counter without direction. What was not counted raises RecordingError."""
        if counter not in self.plain:
            raise RecordingError(f"the counter {counter} is not available in this recording")
        return self.plain[counter]

    def histogram(self, direction: str, kind: str) -> Mapping[int, int]:
        """One histogram, empty if nothing was counted."""
        return self.bins.get((direction, kind), {})

    def seconds(self) -> float:
        """Length in seconds."""
        return (self.end_ns - self.start_ns) / 1e9

    def inflight_mean(self, direction: str) -> float | None:
        """Requests in flight, mean over time. None: nothing recorded; of older recordings, a depth beyond the exact bins."""
        return mean_depth(self.histogram(direction, "depth_time"), self.flow.get(direction, {}).get(DEPTH_SUM))

    def inflight_max(self, direction: str) -> int:
        """Most requests in flight: the deepest that lasted, or that an issue (not counting itself) found, plus one."""
        lasted = max((bin for bin, time in self.histogram(direction, "depth_time").items() if time), default=0)
        found = max((bin + 1 for bin, count in self.histogram(direction, "depth_issue").items() if count), default=0)
        return max(lasted, found)

    def size_mode(self, direction: str) -> tuple[int, float] | None:
        """Most frequent request size in sectors, the lowest of several, and its share. None: no request, or not an exact
        bin."""
        sizes = self.histogram(direction, "size")
        if not sizes:
            return None
        sectors = min(sizes, key=lambda bin: (-sizes[bin], bin))
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


def mean_depth(depth_time: Mapping[int, int], depth_sum_ns: int | None = None) -> float | None:
    """Mean of a time-at-depth histogram. None when empty. The open last bin has no depth: then by `depth_sum_ns`, the counter,
    and None without it."""
    total = sum(depth_time.values())
    if not total:
        return None
    if any(bin >= EXACT_DEPTH_BINS for bin in depth_time):
        return None if depth_sum_ns is None else depth_sum_ns / total
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
    plain: collections.Counter[str] = collections.Counter()
    origins: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    submitters: dict[tuple[int | None, str], collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for part in parts:
        plain.update(part.plain)
        for name, counts in part.origins.items():
            origins[name].update(counts)
        for who, counts in part.submitters.items():
            submitters[who].update(counts)
    # a counter that one part lacks is not that of all together
    known = frozenset.intersection(*(frozenset(part.plain) for part in parts)) if parts else frozenset()
    last = max(parts, key=lambda part: part.end_ns)
    return Counters(
        min(p.start_ns for p in parts), last.end_ns, dict(flow), dict(bins), unknown,
        {name: n for name, n in plain.items() if name in known}, dict(origins), dict(submitters), last.levels,
    )  # fmt: skip
