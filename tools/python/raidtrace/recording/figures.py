# SPDX-License-Identifier: GPL-2.0-or-later
"""The quantities derived from the counters of a span: name, unit, formula, required counters, and format.

Each is defined once. JSON, text, HTML, compare and explain use these definitions. Names are members of raidctl report
--json; Documentation/counters.rst defines them.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence

from raidtrace.quantity.bins import CLASSES, DEPTH_OPEN, KINDS, quantile_bin
from raidtrace.quantity.units import ratio
from raidtrace.recording.spans import Bins, Recorded, Span

MIB = 1 << 20
Number = int | float | None


@dataclasses.dataclass(frozen=True)
class Range:
    """The bin of a value. high None: the bin has no upper end."""

    low: int
    high: int | None


def mode(histogram: Bins, kind: str) -> tuple[Range, int] | None:
    """The bin with the highest count (the lowest of several), and its count. None: nothing was counted."""
    if not histogram:
        return None
    at = min(histogram, key=lambda at: (-histogram[at], at))
    return Range(*KINDS[kind].bounds(at)), histogram[at]


def percentile(histogram: Bins, kind: str, share: float) -> Range | None:
    """The bin of a percentile: at least `share` of all values are in it or below. None: nothing was counted."""
    at = quantile_bin(histogram, share)
    return None if at is None else Range(*KINDS[kind].bounds(at))


class Figures:
    """The figures of one direction of a span. None: not known."""

    def __init__(self, span: Span, direction: str) -> None:
        self.span, self.direction = span, direction

    def count(self, counter: str) -> int:
        """A counter. 0: also if it was not counted."""
        return self.span.count(self.direction, counter)

    def histogram(self, kind: str) -> Bins:
        """A histogram. Empty: nothing was counted."""
        return self.span.histogram(self.direction, kind)

    def known(self, counter: str) -> int | None:
        """A counter. None: it was not counted."""
        return None if counter in self.span.unknown else self.count(counter)

    @functools.cached_property
    def issued(self) -> int:
        """Number of requests. A request that is issued again after a requeue counts once."""
        return self.count("issued") - self.count("reissued")

    def requests(self) -> int | None:
        """Number of requests. None: not counted."""
        return None if "issued" in self.span.unknown else self.issued

    def mib_per_s(self) -> float | None:
        """Bytes completed by the length of the span, in MiB/s. None: not counted."""
        return self._rate("bytes_completed")

    def moved(self) -> int | None:
        """Bytes completed; for a disk without requests, bytes of its bios. None: not counted."""
        return self.known("bytes_queued" if self.span.bio_based else "bytes_completed")

    def throughput(self) -> float | None:
        """moved() by the length of the span, in MiB/s. None: not counted."""
        return self._rate("bytes_queued" if self.span.bio_based else "bytes_completed")

    def _rate(self, counter: str, unit: int = MIB) -> float | None:
        if counter in self.span.unknown:
            return None
        length = self.span.length()
        return float(self.count(counter)) * float(10**9) / float(length) / unit if length else 0.0

    def iops(self) -> float | None:
        """Requests completed per second, over the length of the span. None: not counted."""
        return self._rate("completed", 1)

    def operations(self) -> float | None:
        """Requests completed per second; for a disk without requests, bios queued per second. None: not counted."""
        return self._rate("queued", 1) if self.span.bio_based else self.iops()

    @functools.cached_property
    def _depth(self) -> tuple[float | None, int, bool]:
        """Mean depth, highest depth, and whether the mean is exact. (None, 0, False): no time was counted."""
        times = self.histogram("depth_time")
        total = float(sum(times.values()))
        if not total:
            return None, 0, False
        highest = max(times)
        weighted = float(sum(at * count for at, count in times.items()))
        exact = highest < DEPTH_OPEN
        if not exact and "depth_sum_ns" not in self.span.unknown:
            weighted, exact = float(self.count("depth_sum_ns")), True  # includes the open bin
        return weighted / total, highest, exact

    def depth(self) -> float | None:
        """Mean number of requests in flight over time. None: not counted."""
        return self._depth[0]

    def deepest(self) -> int | None:
        """The highest depth at which time was spent. None: not counted."""
        return None if self._depth[0] is None else self._depth[1]

    def depth_is_bound(self) -> bool:
        """Whether the mean depth is only a lower bound: time was spent in the open bin, and the sum was not counted."""
        return self._depth[0] is not None and not self._depth[2]

    @functools.cached_property
    def size_mode(self) -> tuple[Range, int] | None:
        """The most frequent request size in sectors, and the number of such requests. None: nothing was counted."""
        return mode(self.histogram("size"), "size")

    def exact_size_mode(self) -> int | None:
        """The most frequent request size in sectors. None: nothing was counted, or the bin covers several sizes."""
        mode = self.size_mode
        return mode[0].low if mode and mode[0].high == mode[0].low + 1 else None

    def size_mode_count(self) -> int | None:
        """Number of requests of the most frequent size. None: not counted."""
        if "issued" in self.span.unknown or (self.issued > 0 and self.size_mode is None):
            return None
        return self.size_mode[1] if self.size_mode else 0

    def size_mean(self) -> float | None:
        """Mean size of a request in bytes. None: there is no request."""
        return float(self.count("bytes_issued")) / float(self.issued) if self.issued > 0 else None

    def ordered(self) -> bool:
        """Whether sequential requests were counted."""
        return not self.span.unknown & {"sequential", "issued"}

    def _seeks(self) -> int:
        # The first request after attach has no predecessor. It is not in the histogram, and neither sequential nor a
        # seek.
        return max(sum(self.histogram("seek").values()) - self.count("sequential"), 0)

    def seeks(self) -> int | None:
        """Number of requests that begin elsewhere than the previous one ended. None: not counted."""
        return self._seeks() if self.ordered() else None

    def sequential_share(self) -> float | None:
        """Share of the requests that are sequential, from 0 to 1. None: not counted, or no request."""
        return float(self.count("sequential")) / float(self.issued) if self.issued > 0 and self.ordered() else None

    def seek_mean(self) -> float | None:
        """Mean distance of a seek in sectors. None: there is no seek."""
        distance = float(self.count("seek_forward_sectors")) + float(self.count("seek_backward_sectors"))
        return distance / float(self._seeks()) if self._seeks() else None

    def d2c_mean(self) -> float | None:
        """Mean time from issue to completion in ns. None: not counted, or no completion."""
        if not self.count("completed") or "d2c_sum_ns" in self.span.unknown:
            return None
        return float(self.count("d2c_sum_ns")) / float(self.count("completed"))

    def mean_ns(self, kind: str) -> float | None:
        """Mean of a time (i2d, q2c) in ns, over the events of its histogram. None: not counted."""
        return ratio(self.known(f"{kind}_sum_ns"), sum(self.histogram(kind).values()))

    def p99(self, kind: str) -> Range | None:
        """The bin of the 99th percentile of a time. None: not counted."""
        return None if f"{kind}_sum_ns" in self.span.unknown else percentile(self.histogram(kind), kind, 0.99)

    def share(self, part: str, whole: str) -> float | None:
        """One counter divided by another. "issued" stands for the number of requests, each counted once."""
        return ratio(self.known(part), self.requests() if whole == "issued" else self.known(whole))

    def d2c(self, share: float) -> Range | None:
        """The bin of a percentile of the time from issue to completion. share: 0.5 is the median."""
        return percentile(self.histogram("d2c"), "d2c", share)


@dataclasses.dataclass(frozen=True)
class Quantity:
    """A number of one direction of a span.

    label: its name in a table. unit: of the number in JSON. shown: the printed unit, a key of units.PRINT. needs: the
    counters and histograms without which it is not known. of: the function that computes it. end: "low" or "high": the
    end of a Range that is printed as one number. JSON has both, NAME_low and NAME_high. timed: it depends on the time
    that requests took. of_all: JSON also has it for all directions. member: JSON has it. exact: whether the value is
    more than a bound.
    """

    name: str
    label: str
    unit: str
    shown: str
    needs: tuple[str, ...]
    of: Callable[[Figures], Number | bool | Range]
    end: str = ""
    timed: bool = False
    of_all: bool = False
    member: bool = True
    exact: Callable[[Figures], bool] | None = None

    def number(self, figures: Figures) -> Number:
        """The value as one number. None: not known, or not exact."""
        unknown = figures.span.unknown
        if any((KINDS[need].needs if need in KINDS else need) in unknown for need in self.needs):
            return None
        value = self.of(figures)
        if isinstance(value, Range):
            return value.low if self.end == "low" else value.high
        return value if self.exact is None or self.exact(figures) else None


def _size_mode(figures: Figures) -> Range | None:
    return figures.size_mode[0] if figures.size_mode else None


def _sequential(figures: Figures) -> int | None:
    return figures.count("sequential") if figures.ordered() else None


def _bytes(figures: Figures) -> int | None:
    return None if "issued" in figures.span.unknown else figures.count("bytes_issued")


def _times(kind: str) -> "tuple[Quantity, ...]":
    return (
        Quantity(f"{kind}_mean_ns", f"{kind}, mean", "ns", "ns", (f"{kind}_sum_ns",), lambda f: f.mean_ns(kind), timed=True,
                 member=False),
        Quantity(f"{kind}_p99_ns", f"{kind}, p99", "ns", "ns", (f"{kind}_sum_ns",), lambda f: f.p99(kind), "high", True,
                 member=False),
    )  # fmt: skip


def _share(name: str, label: str, part: str, whole: str) -> Quantity:
    return Quantity(name, label, "", "share", (part, whole), lambda f: f.share(part, whole), member=False)


def _counter(name: str, label: str, unit: str, shown: str = "count") -> Quantity:
    return Quantity(name, label, unit, shown, (name,), lambda f: f.known(name), member=False)


QUANTITIES = (
    Quantity("requests", "requests", "requests", "count", ("issued",), Figures.requests),
    Quantity("bytes", "data", "bytes", "bytes", ("issued", "bytes_issued"), _bytes),
    Quantity("mib_per_s", "throughput", "MiB/s", "MiB/s", ("bytes_completed",), Figures.mib_per_s, timed=True),
    Quantity("iops", "IOPS", "requests/s", "IOPS", ("completed",), Figures.iops, timed=True),
    Quantity("in_flight_mean", "in flight, mean", "requests", "depth", ("depth_time",), Figures.depth, timed=True,
             of_all=True, exact=lambda f: not f.depth_is_bound()),
    Quantity("in_flight_max", "in flight, max", "requests", "count", ("depth_time",), Figures.deepest, timed=True,
             of_all=True, exact=lambda f: (f.deepest() or 0) < DEPTH_OPEN),
    Quantity("in_flight_is_lower_bound", "", "", "", (), Figures.depth_is_bound, of_all=True),
    Quantity("request_sectors_mode", "request size, mode", "sectors", "sectors", ("size",), _size_mode, "low"),
    Quantity("request_mode_count", "", "requests", "count", ("issued", "size"), Figures.size_mode_count),
    Quantity("request_bytes_mean", "request size, mean", "bytes", "bytes", ("issued",), Figures.size_mean),
    Quantity("sequential", "", "requests", "count", ("sequential", "issued"), _sequential),
    Quantity("sequential_share", "sequential", "", "share", ("sequential", "issued"), Figures.sequential_share),
    Quantity("seeks", "seeks", "requests", "count", ("sequential", "issued"), Figures.seeks),
    Quantity("seek_sectors_mean", "seek, mean distance", "sectors", "sectors", ("seek",), Figures.seek_mean),
    Quantity("d2c_mean_ns", "d2c, mean", "ns", "ns", ("completed", "d2c_sum_ns"), Figures.d2c_mean, timed=True),
    Quantity("d2c_p50_ns", "d2c, p50", "ns", "ns", ("d2c",), lambda f: f.d2c(0.5), "high", True),
    Quantity("d2c_p99_ns", "d2c, p99", "ns", "ns", ("d2c",), lambda f: f.d2c(0.99), "high", True),
    Quantity("d2c_p999_ns", "d2c, p99.9", "ns", "ns", ("d2c",), lambda f: f.d2c(0.999), "high", True),
    Quantity("d2c_max_ns", "d2c, max", "ns", "ns", ("d2c",), lambda f: f.d2c(1.0), "high", True),
    _share("stream_share", "in streams, requests", "stream", "issued"),
    *_times("i2d"),
    *_times("q2c"),
    _counter("queued", "bios", "bios"),
    _share("stream_queued_share", "in streams, bios", "stream_queued", "queued"),
    _share("sequential_queued_share", "sequential bios", "sequential_queued", "queued"),
    _counter("ahead_queued", "bios read ahead", "bios"),
    _counter("bytes_ahead_queued", "  of", "bytes", "bytes"),
    _counter("splits", "splits", "bios"),
    _counter("back_merges", "back merges", "bios"),
    _counter("front_merges", "front merges", "bios"),
    _counter("request_merges", "request merges", "requests"),
    _counter("requeued", "requeued", "requests"),
    _counter("errors", "errors", "completions"),
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class SpanQuantity:
    """A number of a span without a direction. of: the function that computes it; it returns None if not counted."""

    name: str
    label: str
    shown: str
    of: Callable[[Span], Number]
    timed: bool = False
    end: str = ""


def _plain(name: str, label: str, group: str, shown: str = "count") -> SpanQuantity:
    return SpanQuantity(name, label, shown, lambda span: span.plain.get(name) if group in span.groups else None)


def _windows(name: str, label: str) -> SpanQuantity:
    return SpanQuantity(name, label, "count",
                        lambda span: sum(span.histogram("all", name).values()) if span.counts_kind(name) else None)  # fmt: skip


def per_unplug(span: Span) -> Number:
    bins = span.histogram("all", "unplug")
    return ratio(sum(at * count for at, count in bins.items()), sum(bins.values()))


LENGTH = SpanQuantity("length", "length", "ns", Span.length, timed=True)
OF_DISK = (
    _plain("plugs", "plugs", "plug"),
    _plain("unplugs_explicit", "unplugs, done", "plug"),
    _plain("unplugs_schedule", "unplugs, slept", "plug"),
    SpanQuantity("requests_per_unplug", "requests per unplug", "depth", per_unplug),
    _plain("tag_waits", "waits for tags", "plug"),
    _windows("ra_sync", "windows, page missing"),
    _plain("ra_sync_sectors", "  of", "readahead", "sectors"),
    _windows("ra_async", "windows, page marked"),
    _plain("ra_async_sectors", "  of", "readahead", "sectors"),
    _plain("streams_alive", "streams of requests", "stream"),
    _plain("streams_alive_queued", "streams of bios", "stream"),
    _plain("streams_forgotten", "streams forgotten", "stream"),
    _plain("streams_forgotten_queued", "  of bios", "stream"),
)


@dataclasses.dataclass(frozen=True)
class RowQuantity:
    """A counter of a class of bios, or of a process."""

    name: str
    label: str
    shown: str = "count"
    timed: bool = False
    end: str = ""


OF_SUBMITTER = (RowQuantity("queued", "bios"), RowQuantity("bytes_queued", "data of bios", "bytes"),
                RowQuantity("seeks_queued", "seeks of bios"))  # fmt: skip
OF_CLASS = (
    *OF_SUBMITTER,
    RowQuantity("issued", "requests"),
    RowQuantity("bytes_issued", "data of requests", "bytes"),
    RowQuantity("seeks", "seeks of requests"),
    RowQuantity("seek_sectors", "distance of seeks", "sectors"),
)
SEEKS = RowQuantity("seeks", "seeks")


def blame(span: Span) -> Mapping[tuple[str, str], int] | None:
    """Number of seeks by (class before, class after). None: not counted."""
    if not span.counts_kind("blame"):
        return None
    width = len(CLASSES)
    return {(CLASSES[at // width], CLASSES[at % width]): count for at, count in span.histogram("all", "blame").items()}


# The bios and bytes that a stacked disk gives to its members.


@dataclasses.dataclass(frozen=True)
class Given:
    """Bios, bytes and splits of a disk in one direction, and bios and bytes of all its members."""

    own_bios: int
    own_bytes: int
    splits: int
    bios: int
    bytes: int

    def any(self) -> bool:
        return bool(self.own_bios or self.bios)

    def fan_out(self) -> float | None:
        """Bios of the members for each bio of the disk. None: it has none."""
        return self.bios / self.own_bios if self.own_bios else None

    def bytes_ratio(self) -> float | None:
        """Bytes of the members for each byte of the disk. None: it has none."""
        return self.bytes / self.own_bytes if self.own_bytes else None

    def split_share(self) -> float | None:
        """Splits for each bio of the disk. None: it has none."""
        return self.splits / self.own_bios if self.own_bios else None


def given(span: Span, members: Sequence[Span], direction: str) -> Given:
    return Given(
        span.count(direction, "queued"), span.count(direction, "bytes_queued"), span.count(direction, "splits"),
        sum(member.count(direction, "queued") for member in members),
        sum(member.count(direction, "bytes_queued") for member in members),
    )  # fmt: skip


def readahead(recorded: Recorded, span: Span) -> int | None:
    """Sectors of readahead at the start of a span. None: not known."""
    text = recorded.setting(span.target, "readahead_sectors", span.start_ns)
    return int(text) if text is not None and text.isdecimal() and text.isascii() else None
