# SPDX-License-Identifier: GPL-2.0-or-later
"""What software RAID made of the data of a sweep: the queue of each md beside those of its members."""

import csv
import dataclasses
import pathlib
from collections.abc import Mapping, Sequence

from raidtrace.quantity import shown, terminal
from raidtrace.quantity.units import ratio
from raidtrace.sweep.index import DONE, Index

HEADER = ("cell", "phase", "direction", "md_bios", "md_kib_per_bio", "md_splits", "fan_out", "member_requests",
          "member_kib_per_request", "member_merged_percent", "member_sequential_percent", "member_in_flight",
          "md_readahead_kib", "member_readahead_kib")  # fmt: skip
Row = Mapping[str, object]


@dataclasses.dataclass(frozen=True)
class Stack:
    """A phase and direction of a cell with md. None: it was not counted, or there is nothing to divide by.

    fan_out: bios of the members for each of the md. merged: part of the members' bios that were merged into a request.
    in_flight: requests in a member's queue, mean over time and members. readahead: of the md, which counts; of a member.
    """

    cell: str
    phase: str
    direction: str
    bios: int
    kib_per_bio: float | None
    splits: int | None
    fan_out: float | None
    requests: int | None
    kib_per_request: float | None
    merged_percent: float | None
    sequential_percent: float | None
    in_flight: float | None
    readahead_kib: float | None
    member_readahead_kib: float | None


def stacks(index: Index) -> list[Stack]:
    """All of them, in the order of cells and of phases by name."""
    names = {entry.cell: entry.name for entry in index.entries() if entry.state == DONE}
    groups: dict[tuple[int, str, str], list[Row]] = {}
    for row in index.queues():
        groups.setdefault((int(str(row["cell"])), str(row["phase"]), str(row["direction"])), []).append(row)
    found = []
    for (cell, phase, direction), rows in groups.items():
        tops = [row for row in rows if str(row["disk"]).startswith("md")]
        members = [row for row in rows if row not in tops]
        if cell in names and len(tops) == 1 and members and tops[0]["bios"]:
            found.append(_stack(names[cell], phase, direction, tops[0], members))
    return found


def _stack(cell: str, phase: str, direction: str, top: Row, members: Sequence[Row]) -> Stack:
    bios, member_bios, requests = int(str(top["bios"])), _sum(members, "bios"), _sum(members, "issued")
    depths = [float(str(row["in_flight_mean"])) for row in members if row["in_flight_mean"] is not None]
    readahead, below = top["readahead_sectors"], members[0]["readahead_sectors"]
    return Stack(
        cell,
        phase,
        direction,
        bios,
        ratio(_sum([top], "bytes_queued"), bios * 1024),
        _sum([top], "splits"),
        ratio(member_bios, bios),
        requests,
        ratio(_sum(members, "bytes_issued"), requests and requests * 1024),
        _percent(_sum(members, "back_merges"), member_bios),
        _percent(_sum(members, "sequential"), requests),
        sum(depths) / len(depths) if len(depths) == len(members) else None,
        None if readahead is None else int(str(readahead)) / 2,
        None if below is None else int(str(below)) / 2,
    )


def _sum(rows: Sequence[Row], name: str) -> int | None:
    values = [row[name] for row in rows]
    return None if None in values else sum(int(str(value)) for value in values)


def _percent(value: int | None, of: int | None) -> float | None:
    share = ratio(value, of)
    return None if share is None else 100 * share


def _shown(value: object) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def write_csv(path: pathlib.Path, found: Sequence[Stack]) -> None:
    """Tidy CSV, RFC 4180; empty is not known."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(HEADER)
        writer.writerows(shown.cells(map(_shown, dataclasses.astuple(stack))) for stack in found)


def text(found: Sequence[Stack]) -> list[str]:
    """A table for people: of each phase the direction that moved more."""
    rows = [["cell", "phase", "md bios", "KiB", "splits", "fan-out", "requests", "KiB", "merged", "sequential", "in flight",
             "readahead KiB"]]  # fmt: skip
    for stack in found:
        other = [s for s in found if (s.cell, s.phase) == (stack.cell, stack.phase) and s is not stack]
        if any(s.bios * (s.kib_per_bio or 0) > stack.bios * (stack.kib_per_bio or 0) for s in other):
            continue
        rows.append(
            [stack.cell, f"{stack.phase} {stack.direction}" if stack.phase != stack.direction else stack.phase,
             str(stack.bios), _number(stack.kib_per_bio), "n/a" if stack.splits is None else str(stack.splits),
             _number(stack.fan_out), "n/a" if stack.requests is None else str(stack.requests),
             _number(stack.kib_per_request), _number(stack.merged_percent, "%"), _number(stack.sequential_percent, "%"),
             _number(stack.in_flight), f"{_number(stack.readahead_kib)} ({_number(stack.member_readahead_kib)})"]
        )  # fmt: skip
    return terminal.table(rows, left=(0, 1))


def _number(value: float | None, unit: str = "") -> str:
    return "n/a" if value is None else f"{value:.0f}{unit}" if abs(value) >= 100 or unit else f"{value:.1f}"
