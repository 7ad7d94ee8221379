# SPDX-License-Identifier: GPL-2.0-or-later
"""The document of raidctl report --json. Names contain units; a value that is not available is null.
raidctl.schema.json describes each member."""

import dataclasses
import pathlib
from collections.abc import Sequence
from typing import Any

from raidtrace.quantity.bins import CLASSES, KINDS
from raidtrace.quantity.shown import Json
from raidtrace.recording import breakdown, columns, invariants, spans
from raidtrace.recording.columns import Column
from raidtrace.recording.figures import QUANTITIES, Figures, Range, given, readahead
from raidtrace.recording.sample_rows import DIRECTIONS, opened
from raidtrace.recording.spans import COUNTED, DATA, GROUPS, Bins, Recorded, Span, Target

FLAGS = ("unit_3ware", "bio_based", "rotational")
NAMES = ("disk", "driver", "pci", "hctl")
# columns of the table target, in the order of the members; gone applies only to a disk that is attached now
TARGET = (*NAMES, "gone", *FLAGS, "capacity_sectors", "max_sectors", "max_hw_sectors", "max_segments", "nr_requests",
          "nr_hw_queues", "nr_tags", "attached_ns")  # fmt: skip


def load(path: pathlib.Path, phase: str | None = None) -> Any:
    """The document of a recording. Raises RecordingError: it cannot be read, or has no phase of that name."""
    with opened(path) as rows, spans.raw_texts(rows):
        return recording(invariants.read(path, rows, phase))


def recording(recorded: Recorded) -> Json:
    return {
        "recording": str(recorded.path) or None,
        "meta": {name: value or None for name, value in recorded.meta.items()},
        "targets": [target(row) for row in recorded.targets],
        "settings": [dataclasses.asdict(one) for one in recorded.settings],
        "notes": list(recorded.notes),
        "stack": [{"disk": recorded.disk(disk), "parent": recorded.disk(parent)} for disk, parent in recorded.stack],
        "disturbances": [
            {
                name: value if isinstance(value, int) else value or None
                for name, value in dataclasses.asdict(one).items()
            }
            for one in recorded.disturbances
        ],
        "host": [
            {"phase_number": number, "source": source or None, "name": name or None, "value": value}
            for number, values in recorded.host.items()
            for (source, name), value in values.items()
        ],
        "spans": [span_of(recorded, span) | _members(recorded, span) for span in recorded.spans],
    }


def target(target: Target) -> dict[str, Json]:
    """The JSON object of a disk. An imported trace has only its name and its time."""
    named = target.unit_3ware is None
    object_: dict[str, Json] = {"target": target.target}
    for name in TARGET:
        value = getattr(target, name, None)
        if name in FLAGS or name == "gone":
            object_[name] = None if named else bool(value)
        elif name in NAMES:
            object_[name] = value or None if not named or name == "disk" else None
        elif name == "attached_ns" or not named:
            object_[name] = value or 0
        else:
            object_[name] = (value or None) if name == "capacity_sectors" else None
    return object_


def span_of(recorded: Recorded, span: Span) -> dict[str, Json]:
    """The JSON object of a span, without the members of its disk."""
    added, times = recorded.added, breakdown.of(span, around=breakdown.around(recorded, span))
    return {
        "disk": span.disk or None,
        "phase": span.phase or None,
        "phase_number": span.number,
        "start_ns": span.start_ns,
        "end_ns": span.end_ns,
        "seconds": float(span.length()) / 1e9,
        "directions": {direction: _direction(span, direction, added) for direction in shown(span)},
        "groups": [name for name in GROUPS if span.counts(name)],
        "histograms_not_counted": [name for name in KINDS if not span.counts_kind(name)],
        "disk_counters": {name: value if span.groups else None for name, value in span.plain.items()},
        "origin": _origin(span, _names("origin", added)),
        "submitters": _submitters(span),
        "hwqs": _hwqs(span),
        "breakdown": breakdown.document(times) if times else None,
    }


def _names(table: str, added: Sequence[Column]) -> tuple[str, ...]:
    return columns.COUNTERS[table] + tuple(one.name for one in added if one.table == table)


def figures(span: Span, direction: str) -> dict[str, int | float | bool | None]:
    """The figures of a direction by name. None: not available."""
    of, members = Figures(span, direction), dict[str, int | float | bool | None]()
    for quantity in QUANTITIES:
        if quantity.member and (direction in COUNTED or quantity.of_all):
            value = quantity.of(of)
            if quantity.end:
                members[f"{quantity.name}_low"] = value.low if isinstance(value, Range) else None
                members[f"{quantity.name}_high"] = value.high if isinstance(value, Range) else None
            else:
                assert not isinstance(value, Range)
                members[quantity.name] = value
    return members


def counters(span: Span, direction: str, added: Sequence[Column] = ()) -> dict[str, int | None]:
    """The counters of a direction by name. None: not counted. added: counters of a newer raidctl."""
    of = Figures(span, direction)
    levels = {name: None if "in_flight" in span.unknown else of.count(name) for name in ("in_flight", "in_flight_max")}
    return {name: of.known(name) for name in _names("flow", added)} | levels


def shown(span: Span) -> list[str]:
    """The directions that are shown: reads, writes, all, and the others with events."""
    return [direction for direction in DIRECTIONS if direction in (*DATA, "all") or not span.idle(direction)]


def _direction(span: Span, direction: str, added: Sequence[Column]) -> dict[str, Json]:
    object_: dict[str, Json] = {**figures(span, direction)}
    if direction in COUNTED:
        object_["flow"] = counters(span, direction, added)
    object_["histograms"] = {kind: _bins(span.histogram(direction, kind), kind)
                             for kind in KINDS if (direction, kind) in span.bins}  # fmt: skip
    return object_


def _bins(histogram: Bins, kind: str) -> list[Json]:
    """The JSON array of the bins that are not empty. A bin without an upper end has null for high."""
    width = KINDS[kind].columns()
    rows: list[Json] = []
    for at, count in histogram.items():
        low, high = KINDS[kind].bounds(at)
        row: dict[str, Json] = {"row": at // width} if width else {}
        rows.append(row | {"low": low, "high": high, "count": count})
    return rows


def _origin(span: Span, names: Sequence[str]) -> Json:
    if "origin" not in span.groups:
        return None
    return {
        name: {
            counter: None if span.class_unknown(counter) else span.origin.get(name, {}).get(counter, 0)
            for counter in names
        }
        for name in CLASSES
    }


def _submitters(span: Span) -> Json:
    if "submitter" not in span.groups:
        return None
    return [
        {"pid": None if one.comm is None else one.pid or 0, "comm": one.comm or None, "cgroup": one.cgroup or None}
        | dict(one.counts)
        for one in span.submitters
    ]


def _hwqs(span: Span) -> Json:
    if "hwq" not in span.groups:
        return None
    return [{"hwq": number} | dict(counts) for number, counts in span.hwqs.items()]


def _members(recorded: Recorded, span: Span) -> dict[str, Json]:
    """The numbers of requests that a disk gave to its members; empty: it has none."""
    members = recorded.members(span)
    if not members:
        return {}
    gave = {direction: given(span, members, direction) for direction in COUNTED}
    return {"members": {
        "directions": {
            direction: {"fan_out": one.fan_out(), "bytes_ratio": one.bytes_ratio(), "split_share": one.split_share()}
            for direction, one in gave.items()
            if one.any()
        },
        "readahead_sectors": readahead(recorded, span),
        "members": [
            {"disk": member.disk or None, "readahead_sectors": readahead(recorded, member),
             "member_share": {direction: member.count(direction, "bytes_queued") / one.bytes
                              for direction, one in gave.items() if one.bytes}}
            for member in members
        ],
    }}  # fmt: skip
