# SPDX-License-Identifier: GPL-2.0-or-later
"""What the counters of one direction of a span amount to: QUANTITIES has each number once, with its unit and what it needs.

The names are members of raidctl report --json; Documentation/counters.rst defines them.
"""

import dataclasses
import functools
import math
from collections.abc import Callable

from raidtrace.quantity.bins import DEPTH_OPEN, KINDS
from raidtrace.recording.spans import Bins, Span

MIB = 1 << 20


@dataclasses.dataclass(frozen=True)
class Range:
    """The bin that a value lies in. high None: it has no end."""

    low: int
    high: int | None


def mode(histogram: Bins, kind: str) -> tuple[Range, int] | None:
    """The bin with the highest count, the lowest of several, and its count. None: nothing was counted."""
    if not histogram:
        return None
    at = min(histogram, key=lambda at: (-histogram[at], at))
    return Range(*KINDS[kind].bounds(at)), histogram[at]


def percentile(histogram: Bins, kind: str, share: float) -> Range | None:
    """The bin of the smallest value that at least a share of all values do not exceed. None: nothing was counted."""
    rank, below = max(math.ceil(share * float(sum(histogram.values()))), 1), 0
    for at in sorted(histogram):
        below += histogram[at]
        if below >= rank:
            return Range(*KINDS[kind].bounds(at))
    return None


class Figures:
    """One direction of a span. What is None is not known."""

    def __init__(self, span: Span, direction: str) -> None:
        self.span, self.direction = span, direction

    def count(self, counter: str) -> int:
        """A counter; 0, too, where it was not counted."""
        return self.span.count(self.direction, counter)

    def histogram(self, kind: str) -> Bins:
        """Empty where nothing was counted."""
        return self.span.histogram(self.direction, kind)

    def known(self, counter: str) -> int | None:
        """A counter, None where it was not counted."""
        return None if counter in self.span.unknown else self.count(counter)

    @functools.cached_property
    def issued(self) -> int:
        """Requests; what is issued again after a requeue is no other request."""
        return self.count("issued") - self.count("reissued")

    def requests(self) -> int | None:
        """The same where requests are counted."""
        return None if "issued" in self.span.unknown else self.issued

    def mib_per_s(self) -> float | None:
        """Bytes completed by the length of the span."""
        if "bytes_completed" in self.span.unknown:
            return None
        length = self.span.length()
        return float(self.count("bytes_completed")) * float(10**9) / float(length) / MIB if length else 0.0

    @functools.cached_property
    def _depth(self) -> tuple[float | None, int, bool]:
        """Mean, highest, and whether the mean is exact."""
        times = self.histogram("depth_time")
        total = float(sum(times.values()))
        if not total:
            return None, 0, False
        highest = max(times)
        weighted = float(sum(at * count for at, count in times.items()))
        exact = highest < DEPTH_OPEN
        if not exact and "depth_sum_ns" not in self.span.unknown:
            weighted, exact = float(self.count("depth_sum_ns")), True  # beyond the open bin the counter goes on
        return weighted / total, highest, exact

    def depth(self) -> float | None:
        """Requests in flight, mean over time."""
        return self._depth[0]

    def deepest(self) -> int | None:
        """The highest depth at which time was spent."""
        return None if self._depth[0] is None else self._depth[1]

    def depth_is_bound(self) -> bool:
        """The mean is a lower bound: time was spent in the open bin, and its sum was not counted."""
        return self._depth[0] is not None and not self._depth[2]

    @functools.cached_property
    def size_mode(self) -> tuple[Range, int] | None:
        """The most frequent request size in sectors, and how many had it."""
        return mode(self.histogram("size"), "size")

    def size_mode_count(self) -> int | None:
        """Requests of the most frequent size."""
        if "issued" in self.span.unknown or (self.issued > 0 and self.size_mode is None):
            return None
        return self.size_mode[1] if self.size_mode else 0

    def size_mean(self) -> float | None:
        """Bytes of a request."""
        return float(self.count("bytes_issued")) / float(self.issued) if self.issued > 0 else None

    def ordered(self) -> bool:
        """Whether the order of requests was counted."""
        return not self.span.unknown & {"sequential", "issued"}

    def _seeks(self) -> int:
        # The first request after attach has none before it: it is neither in the histogram nor sequential nor a seek.
        return max(sum(self.histogram("seek").values()) - self.count("sequential"), 0)

    def seeks(self) -> int | None:
        """Requests that began elsewhere than the one before ended."""
        return self._seeks() if self.ordered() else None

    def sequential_share(self) -> float | None:
        """Part of the requests that began where the one before ended."""
        return float(self.count("sequential")) / float(self.issued) if self.issued > 0 and self.ordered() else None

    def seek_mean(self) -> float | None:
        """Mean distance of a seek in sectors."""
        distance = float(self.count("seek_forward_sectors")) + float(self.count("seek_backward_sectors"))
        return distance / float(self._seeks()) if self._seeks() else None

    def d2c_mean(self) -> float | None:
        """Nanoseconds from issue to completion."""
        if not self.count("completed") or "d2c_sum_ns" in self.span.unknown:
            return None
        return float(self.count("d2c_sum_ns")) / float(self.count("completed"))

    def d2c(self, share: float) -> Range | None:
        """The bin of a percentile of the time from issue to completion."""
        return percentile(self.histogram("d2c"), "d2c", share)


Number = int | float | bool | None


@dataclasses.dataclass(frozen=True)
class Quantity:
    """A number of one direction of a span. A Range is two members: NAME_low and NAME_high. of_all: of all directions, too."""

    name: str
    unit: str
    needs: tuple[str, ...]  # counters, and kinds of histograms, without which it is not known
    of: Callable[[Figures], Number | Range]
    is_range: bool = False
    of_all: bool = False


QUANTITIES = (
    Quantity("requests", "requests", ("issued",), Figures.requests),
    Quantity("bytes", "bytes", ("issued",), lambda f: None if "issued" in f.span.unknown else f.count("bytes_issued")),
    Quantity("mib_per_s", "MiB/s", ("bytes_completed",), Figures.mib_per_s),
    Quantity("in_flight_mean", "requests", ("depth_time",), Figures.depth, of_all=True),
    Quantity("in_flight_max", "requests", ("depth_time",), Figures.deepest, of_all=True),
    Quantity("in_flight_is_lower_bound", "", (), Figures.depth_is_bound, of_all=True),
    Quantity("request_sectors_mode", "sectors", ("size",), lambda f: f.size_mode and f.size_mode[0], True),
    Quantity("request_mode_count", "requests", ("issued", "size"), Figures.size_mode_count),
    Quantity("request_bytes_mean", "bytes", ("issued",), Figures.size_mean),
    Quantity("sequential", "requests", ("sequential", "issued"),
             lambda f: f.count("sequential") if f.ordered() else None),
    Quantity("sequential_share", "", ("sequential", "issued"), Figures.sequential_share),
    Quantity("seeks", "requests", ("sequential", "issued"), Figures.seeks),
    Quantity("seek_sectors_mean", "sectors", ("seek",), Figures.seek_mean),
    Quantity("d2c_mean_ns", "ns", ("completed", "d2c_sum_ns"), Figures.d2c_mean),
    Quantity("d2c_p50_ns", "ns", ("d2c",), lambda f: f.d2c(0.5), True),
    Quantity("d2c_p99_ns", "ns", ("d2c",), lambda f: f.d2c(0.99), True),
    Quantity("d2c_max_ns", "ns", ("d2c",), lambda f: f.d2c(1.0), True),
)  # fmt: skip
