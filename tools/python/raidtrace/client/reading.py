# SPDX-License-Identifier: GPL-2.0-or-later
"""One reading of the counters of a disk, and the difference of two. Names, units and meaning: Documentation/counters.rst."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from raidtrace.quantity import bins
from raidtrace.quantity.table import Histogram, Table, grown, kind_of

# Numbers of the present: a difference has those of the later reading. All other numbers are counted.
_PRESENT = {"id", "since-ns", "now-ns", "snapshot", "resets", "readahead-sectors", "streams-alive", "streams-alive-queued",
            "in-flight", "pid", "comm", "cgroup"}  # fmt: skip
_SINCE_RESET = {"in-flight-max", "carried"}  # a difference does not have them
_KEYS = {"flow": "direction", "origin": "class", "submitter": "index", "hwq": "index"}  # table -> attribute of its rows

Row = dict[str, Any]


class Counters:
    """One reading, or the difference of two: later - earlier.

    disk: numbers of the whole disk. flow, origin, hwq: numbers by direction, class, number of the hardware queue.
    submitter: by row of the table, with pid, comm and cgroup; a row without pid has all processes that have no row any more.
    groups: the groups of this reading. gone: whether the disk was removed. span_ns: time since attach or the last reset; of
    a difference, between its readings. A number is missing if the kernel or the module does not have it, or the caller
    may not read it.
    """

    def __init__(self, reply: Mapping[str, Any]) -> None:
        self.flow: dict[str, Row] = _by(_KEYS["flow"], reply.get("flow", []))
        self.origin: dict[str, Row] = _by(_KEYS["origin"], reply.get("origin", []))
        self.hwq: dict[int, Row] = _by(_KEYS["hwq"], reply.get("hwq", []))
        self.submitter: dict[int, Row] = _by(_KEYS["submitter"], reply.get("submitter", []))
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
        row = kind_of(kind)
        if row.group not in self.groups:
            raise LookupError(f"{kind} belongs to the group {row.group}: not counted, or CAP_PERFMON is missing")
        if not self._has(direction, row):
            raise LookupError(f"this disk has no histogram {kind} of direction {direction}")
        return Histogram.of(kind, self._counts.get((direction, kind), {}))

    def to_pandas(self, rows: str = "flow") -> Any:
        """The rows of `flow`, `origin`, `submitter` or `hwq` as a pandas.DataFrame with a column for each number.

        Raises ValueError for another name, and ModuleNotFoundError, with the command that installs pandas."""
        if rows not in _KEYS:
            raise ValueError(f"{rows}: not one of {', '.join(_KEYS)}")
        table: dict[Any, Row] = getattr(self, rows)
        names = dict.fromkeys(name for row in table.values() for name in row)
        values = [(key, *(row.get(name) for name in names)) for key, row in table.items()]
        return Table((_KEYS[rows], *names), values).to_pandas()

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
        result._counts = {key: grown(row, earlier._counts.get(key, {})) for key, row in self._counts.items()}
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
