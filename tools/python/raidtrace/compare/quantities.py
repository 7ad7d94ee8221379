# SPDX-License-Identifier: GPL-2.0-or-later
"""What a span amounts to, one number at a time, of what `raidctl report --json` says of it.

Documentation/counters.rst defines each by its name. None: there is nothing to make it of.
"""

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from raidtrace.quantity import size

Json = Mapping[str, Any]
Value = float | None
SECTOR_BYTES = 512


@dataclasses.dataclass(frozen=True)
class Quantity:
    """One number. unit: a key of UNITS; value: of a part of a span; timed: it depends on how fast the machine is, not only on
    what was asked; bin: it is an end of a bin that the true value lies in."""

    name: str
    label: str
    unit: str
    value: Callable[[Json], Any]
    timed: bool = False
    bin: bool = False


def _ns(ns: float) -> str:
    for end, factor, unit in ((999.5, 1, "ns"), (999.5e3, 1e3, "us"), (999.5e6, 1e6, "ms")):
        if ns < end:
            return f"{ns:.0f} ns" if unit == "ns" else f"{size.three(ns / factor)} {unit}"
    return f"{size.three(ns / 1e9)} s"


def _share(share: float) -> str:
    """ "100.0 %" must mean all of it, and "0.0 %" none."""
    percent = 99.9 if share < 1 and 100 * share >= 99.95 else 100 * share
    return "<0.1 %" if 0 < percent < 0.05 else f"{percent:.1f} %"


UNITS: Mapping[str, Callable[[float], str]] = {  # as tools/raidctl/base/units.c prints them
    "count": lambda value: f"{int(value):,}",
    "bytes": size.short,
    "sectors": lambda value: size.short(value * SECTOR_BYTES),
    "MiB/s": lambda value: f"{value:.1f} MiB/s",
    "requests": lambda value: f"{value:.2f}",
    "share": _share,
    "ns": _ns,
}


def text(quantity: Quantity, value: Value) -> str:
    """A value for people, with its unit."""
    return "n/a" if value is None else UNITS[quantity.unit](value)


def events(bins: Iterable[Json]) -> int:
    """How many a histogram has counted."""
    return sum(one["count"] for one in bins)


def _p99(bins: list[Json]) -> Any:
    """Upper end of the bin that 99 in 100 do not exceed."""
    rank, below = max(1, math.ceil(0.99 * events(bins))), 0
    for one in bins:
        below += one["count"]
        if below >= rank:
            return one["high"]
    return None


def _part(part: Value, whole: Value) -> Value:
    return part / whole if part is not None and whole else None


def _flow(name: str) -> Callable[[Json], Any]:
    return lambda d: d["flow"][name]


def _of(name: str, needs: str) -> Callable[[Json], Any]:
    """A number that raidctl made, where it counted what that is of."""
    return lambda d: None if d["flow"][needs] is None else d[name]


def _flow_share(part: str, whole: str) -> Callable[[Json], Any]:
    return lambda d: _part(d["flow"][part], d["flow"][whole])


def _latency(name: str) -> tuple[Callable[[Json], Any], Callable[[Json], Any]]:
    """Mean, and the upper end of 99 in 100, of what has a sum and a histogram."""

    def known(d: Json, of: Callable[[list[Json]], Any]) -> Any:
        return None if d["flow"][f"{name}_sum_ns"] is None else of(d["histograms"].get(name, []))

    return lambda d: known(d, lambda bins: _part(d["flow"][f"{name}_sum_ns"], events(bins))), lambda d: known(d, _p99)


def _depth(name: str, inexact: Callable[[Json], Any]) -> Callable[[Json], Any]:
    return lambda d: None if d["flow"]["in_flight"] is None or inexact(d) else d[name]


def _open_depth(d: Json) -> bool:
    """Whether time was spent beyond the last depth with a bin of its own."""
    return any(one["high"] is None for one in d["histograms"].get("depth_time", ()))


def _count(name: str, label: str) -> Quantity:
    return Quantity(name, label, "count", _flow(name))


_I2D, _Q2C = _latency("i2d"), _latency("q2c")
OF_DIRECTION = (  # of a direction of a span, and its seconds
    Quantity("requests", "requests", "count", _of("requests", "issued")),
    Quantity("bytes", "data", "bytes", _flow("bytes_issued")),
    Quantity("mib_per_s", "throughput", "MiB/s", lambda d: d["mib_per_s"] if d["seconds"] else None, timed=True),
    Quantity("in_flight_mean", "in flight, mean", "requests",
             _depth("in_flight_mean", lambda d: d["in_flight_is_lower_bound"]), timed=True),
    Quantity("highest_depth", "in flight, max", "count", _depth("in_flight_max", _open_depth), timed=True),
    Quantity("request_sectors_mode", "request size, mode", "sectors", _of("request_sectors_mode_low", "issued"), bin=True),
    Quantity("request_bytes_mean", "request size, mean", "bytes", _of("request_bytes_mean", "issued")),
    Quantity("sequential_share", "sequential", "share", _of("sequential_share", "issued")),
    Quantity("seeks", "seeks", "count", _of("seeks", "issued")),
    Quantity("seek_sectors_mean", "seek, mean distance", "sectors", _of("seek_sectors_mean", "issued")),
    Quantity("d2c_mean_ns", "d2c, mean", "ns", _of("d2c_mean_ns", "d2c_sum_ns"), timed=True),
    Quantity("d2c_p50_ns", "d2c, p50", "ns", _of("d2c_p50_ns_high", "d2c_sum_ns"), timed=True, bin=True),
    Quantity("d2c_p99_ns", "d2c, p99", "ns", _of("d2c_p99_ns_high", "d2c_sum_ns"), timed=True, bin=True),
    Quantity("d2c_max_ns", "d2c, max", "ns", _of("d2c_max_ns_high", "d2c_sum_ns"), timed=True, bin=True),
    Quantity("stream_share", "in streams, requests", "share", _flow_share("stream", "issued")),
    Quantity("i2d_mean_ns", "i2d, mean", "ns", _I2D[0], timed=True),
    Quantity("i2d_p99_ns", "i2d, p99", "ns", _I2D[1], timed=True, bin=True),
    Quantity("q2c_mean_ns", "q2c, mean", "ns", _Q2C[0], timed=True),
    Quantity("q2c_p99_ns", "q2c, p99", "ns", _Q2C[1], timed=True, bin=True),
    _count("queued", "bios"),
    Quantity("stream_queued_share", "in streams, bios", "share", _flow_share("stream_queued", "queued")),
    Quantity("sequential_queued_share", "sequential bios", "share", _flow_share("sequential_queued", "queued")),
    _count("ahead_queued", "bios read ahead"),
    Quantity("bytes_ahead_queued", "  of", "bytes", _flow("bytes_ahead_queued")),
    _count("splits", "splits"),
    _count("back_merges", "back merges"),
    _count("front_merges", "front merges"),
    _count("request_merges", "request merges"),
    _count("requeued", "requeued"),
    _count("errors", "errors"),
)  # fmt: skip


def _disk(name: str, label: str, group: str, unit: str = "count") -> Quantity:
    return Quantity(name, label, unit, lambda span: span["disk_counters"][name] if group in span["groups"] else None)


def all_bins(span: Json, kind: str) -> Any:
    """A histogram that has no direction. None: it is not counted."""
    return None if kind in span["histograms_not_counted"] else span["directions"]["all"]["histograms"].get(kind, [])


def _windows(name: str, label: str) -> Quantity:
    return Quantity(name, label, "count", lambda span: None if (bins := all_bins(span, name)) is None else events(bins))


def _per_unplug(span: Json) -> Value:
    bins = span["directions"]["all"]["histograms"].get("unplug", [])
    return _part(sum(one["low"] * one["count"] for one in bins), events(bins))


OF_DISK = (  # of a span
    _disk("plugs", "plugs", "plug"),
    _disk("unplugs_explicit", "unplugs, done", "plug"),
    _disk("unplugs_schedule", "unplugs, slept", "plug"),
    Quantity("requests_per_unplug", "requests per unplug", "requests", _per_unplug),
    _disk("tag_waits", "waits for tags", "plug"),
    _windows("ra_sync", "windows, page missing"),
    _disk("ra_sync_sectors", "  of", "readahead", "sectors"),
    _windows("ra_async", "windows, page marked"),
    _disk("ra_async_sectors", "  of", "readahead", "sectors"),
    _disk("streams_alive", "streams of requests", "stream"),
    _disk("streams_alive_queued", "streams of bios", "stream"),
    _disk("streams_forgotten", "streams forgotten", "stream"),
    _disk("streams_forgotten_queued", "  of bios", "stream"),
)


def _member(name: str, label: str, unit: str = "count") -> Quantity:
    return Quantity(name, label, unit, lambda row: row[name])


OF_SUBMITTER = (_member("queued", "bios"), _member("bytes_queued", "data of bios", "bytes"),
                _member("seeks_queued", "seeks of bios"))  # fmt: skip
OF_CLASS = (
    *OF_SUBMITTER,
    _member("issued", "requests"),
    _member("bytes_issued", "data of requests", "bytes"),
    _member("seeks", "seeks of requests"),
    _member("seek_sectors", "distance of seeks", "sectors"),
)
SEEKS = _member("seeks", "seeks")
LENGTH = Quantity("length", "length", "ns", lambda span: span["end_ns"] - span["start_ns"], timed=True)
