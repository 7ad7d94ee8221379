# SPDX-License-Identifier: GPL-2.0-or-later
"""The names under which `raidctl lab ab` and `expect` know the numbers of a recording.

They are read from the document of a recording; Documentation/counters.rst defines what they count.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

_SECTOR_BYTES = 512
_NS_PER_MS = 1e6
OUTSIDE = "outside"  # the phase that raidctl gives to what happens around the command

Value = float | None
Reader = Callable[[dict[str, Any]], Value]


@dataclass(frozen=True)
class Measure:
    """One number of one direction of a span; `read` takes it from the report's object for the direction. What is `timed`
    follows from times, and so says nothing in a virtual machine, where they are the emulation's."""

    name: str
    unit: str
    meaning: str
    read: Reader
    timed: bool = False


def _number(value: Any) -> Value:
    return None if value is None else float(value)


def _key(name: str) -> Reader:
    return lambda direction: _number(direction[name])


def _flow(name: str) -> Reader:
    return lambda direction: _number(direction["flow"][name])


def _scaled(name: str, factor: float) -> Reader:
    return lambda direction: None if direction[name] is None else direction[name] * factor


def _idle(direction: dict[str, Any]) -> Value:
    """Share of the time at depth 0."""
    bins = direction["histograms"].get("depth_time", [])
    total = sum(row["count"] for row in bins)
    return sum(row["count"] for row in bins if row["low"] == 0) / total if total else None


_MEASURES = (
    Measure("mib_per_s", "MiB/s", "bytes completed, by the length of the phase", _key("mib_per_s"), True),
    Measure("requests", "", "requests issued", _key("requests")),
    Measure("bytes", "bytes", "bytes issued", _key("bytes")),
    Measure("in_flight_mean", "requests", "in flight, mean over time", _key("in_flight_mean"), True),
    Measure("in_flight_max", "requests", "in flight, most at once", _key("in_flight_max")),
    Measure("idle_share", "of 1", "share of the time with none in flight", _idle, True),
    Measure("request_bytes_mean", "bytes", "size of a request, mean", _key("request_bytes_mean")),
    Measure("request_bytes_mode", "bytes", "size of a request, most frequent",
            _scaled("request_sectors_mode_low", _SECTOR_BYTES)),
    Measure("sequential_share", "of 1", "share of requests that begin where the one before ended",
            _key("sequential_share")),
    Measure("seeks", "", "requests that begin elsewhere", _key("seeks")),
    Measure("d2c_mean_ms", "ms", "from issue to completion, mean", _scaled("d2c_mean_ns", 1 / _NS_PER_MS), True),
    Measure("d2c_p99_ms", "ms", "99 of 100 requests take less", _scaled("d2c_p99_ns_high", 1 / _NS_PER_MS),
            True),
    Measure("back_merges", "", "bios appended to a waiting request", _flow("back_merges")),
    Measure("front_merges", "", "bios put before a waiting request", _flow("front_merges")),
    Measure("splits", "", "bios that had to be split", _flow("splits")),
    Measure("requeued", "", "requests given back by the driver", _flow("requeued")),
    Measure("errors", "", "requests that failed", _flow("errors")),
)  # fmt: skip
MEASURES = {measure.name: measure for measure in _MEASURES}
DIRECTIONS = ("read", "write")
_SPELLINGS = {"inflight_reads_mean": "read_in_flight_mean", "inflight_writes_mean": "write_in_flight_mean"}


@dataclass(frozen=True)
class Span:
    """One phase of one disk."""

    phase: str
    disk: str
    seconds: float
    directions: dict[str, dict[str, Any]]

    def main_direction(self) -> str:
        """The one that moved more bytes, reads if both moved as many."""
        return max(DIRECTIONS, key=lambda name: float(self.directions[name]["bytes"]))

    def value(self, direction: str, name: str) -> Value:
        return MEASURES[name].read(self.directions[direction])

    def named(self, name: str) -> Value:
        """What a name in an expression stands for. KeyError if it is not known."""
        name = _SPELLINGS.get(name, name)
        if name == "seconds":
            return self.seconds
        for direction in DIRECTIONS:
            if name.startswith(f"{direction}_") and name not in MEASURES:
                return self.value(direction, name.removeprefix(f"{direction}_"))
        return self.value(self.main_direction(), name)


def _plain(name: str) -> str:
    """The name without a direction."""
    name = _SPELLINGS.get(name, name)
    parts = [name.removeprefix(f"{direction}_") for direction in DIRECTIONS if name.startswith(f"{direction}_")]
    return next((part for part in parts if name not in MEASURES), name)


def is_known(name: str) -> bool:
    """Whether a name may stand in an expression."""
    return name == "seconds" or _plain(name) in MEASURES


def unknown(name: str) -> str:
    """Why a name may not stand in an expression; "" for one that may."""
    if is_known(name):
        return ""
    close = difflib.get_close_matches(name, names(), 1)
    hint = f" Did you mean {close[0]}?" if close else ""
    return f"{name} is no measure.{hint} Known are: {', '.join(names())}; all but seconds also with read_ or write_ before them"


def is_timed(name: str) -> bool:
    """Whether a known name follows from times."""
    return name == "seconds" or MEASURES[_plain(name)].timed


def names() -> list[str]:
    """Every name, without those that only add a direction."""
    return ["seconds", *MEASURES, *_SPELLINGS]


def spans(rows: Iterable[dict[str, Any]]) -> list[Span]:
    """All phases and disks of a recording's document, without what lies outside of the command."""
    return [
        Span(row["phase"], row["disk"], row["seconds"], row["directions"]) for row in rows if row["phase"] != OUTSIDE
    ]
