# SPDX-License-Identifier: GPL-2.0-or-later
"""One reading of the counters of a disk, and the difference of two. Names, units and meaning: Documentation/counters.rst."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from raidtrace.quantity import bins

# Numbers of the present: a difference has those of the later reading. All other numbers are counted.
_PRESENT = {"id", "since-ns", "now-ns", "snapshot", "resets", "readahead-sectors", "streams-alive", "streams-alive-queued",
            "in-flight", "pid", "comm", "cgroup"}  # fmt: skip
_SINCE_RESET = {"in-flight-max", "carried"}  # a difference does not have them


Row = dict[str, Any]


def _kind(name: str) -> bins.Kind:
    return bins.KINDS[name.replace("-", "_")]


@dataclasses.dataclass(frozen=True)
class Histogram:
    """Counts by value. `unit`: of the values; `counted`: what the counts are of; `counts`: by number of the bin, none is 0."""

    kind: str
    unit: str
    counted: str
    counts: Mapping[int, int]

    def bounds(self, at: int) -> tuple[int, int | None]:
        """The lowest value of a bin in units, and the lowest value above it. None: the bin has no upper end."""
        return _kind(self.kind).bounds(at)

    def bins(self) -> list[tuple[int, int | None, int]]:
        """Bins that have counts, from the lowest value: bounds in units, and count."""
        return [(*self.bounds(at), self.counts[at]) for at in sorted(self.counts)]

    def total(self) -> int:
        """Sum of the counts."""
        return sum(self.counts.values())

    def quantile(self, part: float) -> tuple[int, int | None] | None:
        """Bounds in units of the bin that holds a quantile: the least bin that at least `part` of the counts do not exceed.

        None: nothing was counted. Raises ValueError for a `part` beyond 0 to 1, and for histograms of two dimensions.
        """
        if not 0 <= part <= 1:
            raise ValueError(f"{part} is not a part of 1")
        if _kind(self.kind).columns():
            raise ValueError(f"{self.kind} has two dimensions, and no quantiles")
        whole, so_far = self.total(), 0
        for at in sorted(self.counts):
            so_far += self.counts[at]
            if so_far >= part * whole:
                return self.bounds(at)
        return None

    def __sub__(self, earlier: Histogram) -> Histogram:
        """The counts between two readings."""
        return dataclasses.replace(self, counts=_bins_grown(self.counts, earlier.counts))


class Counters:
    """One reading, or the difference of two: later - earlier.

    disk: numbers of the whole disk. flow, origin, hwq: numbers by direction, class, number of the hardware queue.
    submitter: by row of the table, with pid, comm and cgroup; a row without pid has all processes that have no row any more.
    groups: the groups of this reading. gone: whether the disk was removed. span_ns: time since attach or the last reset; of
    a difference, between its readings. A number is missing if the kernel or the module does not have it, or the caller
    may not read it.
    """

    def __init__(self, reply: Mapping[str, Any]) -> None:
        self.flow: dict[str, Row] = _by("direction", reply.get("flow", []))
        self.origin: dict[str, Row] = _by("class", reply.get("origin", []))
        self.hwq: dict[int, Row] = _by("index", reply.get("hwq", []))
        self.submitter: dict[int, Row] = _by("index", reply.get("submitter", []))
        self.disk: Row = {name: value for name, value in reply.items() if isinstance(value, int)}
        self.groups: frozenset[str] = frozenset(reply["groups"])
        self.gone: bool = reply["state"] == "gone"
        self.span_ns: int = reply["now-ns"] - reply["since-ns"]
        self._counts: dict[tuple[str, str], dict[int, int]] = {
            (one["direction"], one["kind"]): {at: n for at, n in enumerate(one["counts"], one["first-bin"]) if n}
            for one in reply.get("histogram", [])
        }

    def histogram(self, direction: str, kind: str) -> Histogram:
        """A histogram, without bins if nothing was counted. Kinds without a direction are of direction `all`.

        Raises LookupError, with the reason, when this reading does not have it.
        """
        row = _kind(kind)
        if row.group not in self.groups:
            raise LookupError(f"{kind} belongs to the group {row.group}: not counted, or CAP_PERFMON is missing")
        if not self._has(direction, row):
            raise LookupError(f"this disk has no histogram {kind} of direction {direction}")
        return Histogram(kind, row.unit, row.counted, self._counts.get((direction, kind), {}))

    def _has(self, direction: str, row: bins.Kind) -> bool:
        if row.needs.replace("_", "-") not in (self.disk if row.plain else self.flow["read"]):
            return False
        if row.group in ("plug", "blame", "readahead"):
            return direction == "all"
        if row.group == "depth":
            return direction in ("read", "write", "all")
        return direction in (
            ("read", "write") if row.cut in ("seek", "depth_d2c", "place") else set(self.flow) - {"all"}
        )

    def __sub__(self, earlier: Counters) -> Counters:
        """The counts between two readings of a target. Raises ValueError unless the counters of `earlier` went on."""
        same = all(self.disk[name] == earlier.disk[name] for name in ("id", "resets"))
        if not same or self.span_ns < earlier.span_ns:
            raise ValueError("not two readings of one target in their order, or the counters were reset between them")
        result = object.__new__(Counters)
        result.flow = {key: _grown(row, earlier.flow[key]) for key, row in self.flow.items()}
        result.origin = {key: _grown(row, earlier.origin.get(key, {})) for key, row in self.origin.items()}
        result.hwq = {key: _grown(row, earlier.hwq.get(key, {})) for key, row in self.hwq.items()}
        result.submitter = _submitted(self.submitter, earlier.submitter)
        result.disk = _grown(self.disk, earlier.disk)
        result.groups, result.gone = self.groups & earlier.groups, self.gone
        result.span_ns = self.span_ns - earlier.span_ns
        result._counts = {key: _bins_grown(row, earlier._counts.get(key, {})) for key, row in self._counts.items()}
        return result


def _by(key: str, rows: list[Row]) -> dict[Any, Row]:
    """Rows by the value of an attribute, which they then do not have."""
    return {row[key]: {name: value for name, value in row.items() if name != key} for row in rows}


def _grown(now: Row, before: Row) -> Row:
    return {
        name: value if name in _PRESENT else value - before.get(name, 0)
        for name, value in now.items()
        if name not in _SINCE_RESET
    }


def _bins_grown(now: Mapping[int, int], before: Mapping[int, int]) -> dict[int, int]:
    return {at: count - before.get(at, 0) for at, count in now.items() if count != before.get(at, 0)}


def _submitted(now: dict[int, Row], before: dict[int, Row]) -> dict[int, Row]:
    """The counts of processes. Those of a process that lost its row were added to the row of the rest, which has no pid."""
    process = {"pid", "comm", "cgroup"}
    rest = next((at for at, row in now.items() if "pid" not in row), -1)
    began = {at: dict(row) for at, row in before.items()}
    for at, row in before.items():
        follows = now.get(at, {})
        if any(
            value != follows.get(name) if name in process else value > follows.get(name, 0)
            for name, value in row.items()
        ):
            del began[at]
            of_rest = began.setdefault(rest, {})
            of_rest.update({name: of_rest.get(name, 0) + value for name, value in row.items() if name not in process})
    return {at: _grown(row, began.get(at, {})) for at, row in now.items()}
