# SPDX-License-Identifier: GPL-2.0-or-later
"""The results of a sweep: figures summarized over trials, next to published ones, as text and as CSV."""

import collections
import csv
import dataclasses
import json
import pathlib
import statistics
from collections.abc import Iterable, Mapping, Sequence

from raidtrace.benchmark import terms
from raidtrace.explain import breakdown as explain_breakdown
from raidtrace.published import tables as published
from raidtrace.quantity import shown, terminal, trials
from raidtrace.quantity.units import ratio
from raidtrace.recording import breakdown
from raidtrace.sweep import plan
from raidtrace.sweep.index import DONE, SHARES, Index

HEADER = ("trials", "median", "unit", "spread_percent", "interval_low", "interval_high", "cpu_percent", "outliers", "drift",
          "steady", "published_low", "published_middle", "published_high", "ratio", "note", "label", "simulated")  # fmt: skip
NOT_SAME, NOT_STEADY = "not the same test", "not steady"
BAR = 10  # characters for the whole time
FOOTNOTE = (f"{NOT_STEADY}: in ten equal intervals, the rate drifts by over {trials.SLOPE_PERCENT:.0f} % of its mean or "
            f"differs by over {trials.EXCURSION_PERCENT:.0f} %.")  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Line:
    """One figure of the cells that differ only in the trial. cpu_percent: median. steady None: not known. states: mean
    shares of the time of the measured disk (Breakdown.states); empty: not known."""

    axes: Mapping[str, plan.Value]
    benchmark: str
    phase: str
    place: str
    unit: str
    summary: trials.Summary
    cpu_percent: float | None
    steady: bool | None
    published: published.Range | None
    label: str
    simulated: bool
    cells: tuple[str, ...]
    states: Mapping[str, float] = dataclasses.field(default_factory=dict)


def lines(index: Index, table: str) -> list[Line]:
    """All figures, in the order of the cells. table: of published figures, or empty."""
    entries = {entry.cell: entry for entry in index.entries() if entry.state == DONE}
    about = index.about()
    steady, times, terms_of = _steady(index), _states(index), index.terms()
    groups: dict[tuple[str, str, str, str], list[tuple[int, float, float | None]]] = collections.defaultdict(list)
    axes: dict[int, dict[str, plan.Value]] = {cell: index.axes(cell) for cell in entries}
    for cell, phase, value, unit, cpu, place in index.figures():
        if value is not None:
            key = json.dumps(sorted(axes[cell].items()))
            groups[key, phase, unit, place].append((cell, value, cpu))
    lines = []
    for (_, phase, unit, place), values in groups.items():
        first = values[0][0]
        cpus = [cpu for _, _, cpu in values if cpu is not None]
        # if a program names no phases, its phase is run
        known = [steady.get((cell, phase), steady.get((cell, "run"))) for cell, _, _ in values]
        states = [state for state in known if state is not None]
        ours = terms_of.get(first, terms.NONE)
        whole = "file_kib" not in json.loads(place)  # there is no published table of a surface
        reference = published.find(table, axes[first], about[first][0], phase, ours) if table and whole else None
        lines.append(
            Line(axes[first], about[first][0], phase, place, unit, _summary([entries[cell].trial for cell, _, _ in values],
                                                                            [value for _, value, _ in values]),
                 statistics.median(cpus) if cpus else None, all(states) if states else None,
                 reference if reference and reference.unit == unit else None, about[first][1], bool(about[first][2]),
                 tuple(entries[cell].name for cell, _, _ in values),
                 _mean([times.get((cell, phase), times.get((cell, "run"), {})) for cell, _, _ in values]))
        )  # fmt: skip
    return lines


def _summary(numbers: Sequence[int], values: Sequence[float]) -> trials.Summary:
    """Statistics of trials in the order of their runs. Outliers have the numbers of their trials, which differ from
    positions if the order is random or a trial failed."""
    summary = trials.summarise(values)
    return dataclasses.replace(summary, outliers=tuple(sorted(numbers[at - 1] for at in summary.outliers)))


def _steady(index: Index) -> dict[tuple[int, str], bool]:
    """Whether each phase of the measured disk was in a steady state, in the direction that moved more."""
    states: dict[tuple[int, str], tuple[int, bool]] = {}
    disks: dict[int, str] = {}
    for row in index.queues():
        if row["slope_percent"] is None:
            continue
        cell, phase, disk = int(str(row["cell"])), str(row["phase"]), str(row["disk"])
        md = disk.startswith("md")
        if disks.setdefault(cell, disk) != disk and not md:
            continue
        disks[cell] = disk
        moved = int(str(row["bytes_queued"] or 0))
        state = trials.steady(float(str(row["slope_percent"])), float(str(row["excursion_percent"])))
        if moved > states.get((cell, phase), (-1, True))[0]:
            states[cell, phase] = (moved, state)
    return {key: state for key, (_, state) in states.items()}


def _states(index: Index) -> dict[tuple[int, str], dict[str, float]]:
    """The states of the time of each phase of the measured disk, which is the first one, or the md."""
    found: dict[tuple[int, str], dict[str, float]] = {}
    for row in index.queues():
        key, md = (int(str(row["cell"])), str(row["phase"])), str(row["disk"]).startswith("md")
        busy, held, backlog = (None if row[name] is None else float(str(row[name])) for name in SHARES)
        if key not in found or md:
            found[key] = breakdown.states(busy, held, backlog, md)
    return found


def _mean(trials_of: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each state; empty if a trial lacks one."""
    if any(one.keys() != trials_of[0].keys() for one in trials_of):
        return {}
    return {state: statistics.fmean(one[state] for one in trials_of) for state in trials_of[0]}


def varying(lines: Sequence[Line]) -> list[str]:
    """The axes in which lines differ, in the order of the plan."""
    names = dict.fromkeys(name for line in lines for name in line.axes)
    return [name for name in names if len({line.axes.get(name) for line in lines}) > 1]


def write_csv(path: pathlib.Path, lines: Sequence[Line], names: Sequence[str]) -> None:
    """Write tidy CSV (RFC 4180): a column for each axis, a line for each figure. Empty: not known or not published."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(shown.cells([*names, "benchmark", "phase", "file_and_record", *HEADER]))
        for line in lines:
            s, p = line.summary, line.published
            writer.writerow(shown.cells(
                [*("" if line.axes.get(name) is None else line.axes[name] for name in names), line.benchmark, line.phase,
                 _place(line.place), s.trials, _number(s.median), line.unit, _number(s.spread_percent), _number(s.low),
                 _number(s.high), _number(line.cpu_percent), " ".join(map(str, s.outliers)), s.drift,
                 "" if line.steady is None else "yes" if line.steady else "no",
                 *_published_cells(s, p),
                 line.label, "yes" if line.simulated else "no"]
            ))  # fmt: skip


def _published_cells(s: trials.Summary, p: published.Range | None) -> list[str]:
    if not p:
        return [""] * 5
    ratio = f"{s.median / p.middle:.4f}" if p.same_test() else ""
    return [_number(p.low), _number(p.middle), _number(p.high), ratio, p.difference()]


def text(lines: Sequence[Line], names: Sequence[str]) -> list[str]:
    """The lines of a table for a terminal: rates in MB/s as published (KiB/s / 1000), and a footnote."""
    shown = [name for name in names if name not in ("dirty_bytes", "dirty_background_bytes", "trials")]
    rows = [[*map(_short, shown), "phase", "", "median", "spread", "published", "ratio", "time", ""]]
    for line in lines:
        if line.unit not in ("KiB/s", "1/s") or line.place != "{}":
            continue
        s, p = line.summary, line.published
        scale, unit = (1000.0, "MB/s") if line.unit == "KiB/s" else (1.0, "1/s")
        marks = [line.label] if line.label else []
        marks += [NOT_STEADY] if line.steady is False else []
        marks += [f"outlier: trial {at}" for at in s.outliers] + ([f"{s.drift} from trial to trial"] if s.drift else [])
        marks += [p.note] if p and p.note else []
        marks += [NOT_SAME] if p and not p.same_test() else []
        rows.append(
            [*("-" if line.axes.get(name) is None else str(line.axes[name]) for name in shown), line.phase, unit,
             f"{s.median / scale:.1f}", "-" if s.spread_percent is None else f"{s.spread_percent:.1f}%",
             _published(p, scale), f"{s.median / p.middle:.2f}" if p and p.same_test() else "-",
             explain_breakdown.drawn(line.states, BAR), ", ".join(marks)]
        )  # fmt: skip
    unsteady = any(NOT_STEADY in row[-1] for row in rows)
    known = any(row[-2] for row in rows[1:])
    table = terminal.table(rows if known else [[*row[:-2], row[-1]] for row in rows],
                           left=(*range(len(shown) + 1), *range(len(rows[0]) - 2, len(rows[0]))))  # fmt: skip
    return table + [explain_breakdown.LEGEND] * known + [FOOTNOTE] * unsteady


def unlike_published(lines: Iterable[Line]) -> list[str]:
    """The terms in which tests differ from the published ones, each with its phases."""
    by: dict[str, dict[str, None]] = {}
    for line in lines:
        if line.published and line.published.differs:
            terms_text = ", ".join(one.instead() for one in line.published.differs)
            marked = line.phase if line.published.same_test() else f"{line.phase} ({NOT_SAME})"
            by.setdefault(f"{line.benchmark}: {terms_text}", {})[marked] = None
    return [f"{terms_text}: {', '.join(phases)}" for terms_text, phases in by.items()]


def surfaces(lines: Iterable[Line]) -> int:
    """The number of figures in surfaces, which only the CSV contains."""
    return sum(line.place != "{}" for line in lines)


def _published(p: published.Range | None, scale: float) -> str:
    if not p:
        return "-"
    if p.low == p.high:
        return f"{p.middle / scale:.1f}"
    return f"{p.low / scale:.1f}-{p.high / scale:.1f}"


def _short(name: str) -> str:
    return {"readahead_sectors": "setra", "filesystem": "fs", "md_chunk_kib": "chunk KiB", "fs_block_kib": "block KiB",
            "md_level": "md", "md_members": "disks", "data_size": "data", "queue_depth": "depth",
            "max_sectors_kib": "max KiB"}.get(name, name)  # fmt: skip


def _place(place: str) -> str:
    return " ".join(f"{key}={value}" for key, value in json.loads(place).items())


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}" if abs(value) < 1000 else f"{value:.1f}"


# The requests of software RAID in a sweep: the queue of each md next to those of its members.

STACK_HEADER = ("cell", "phase", "direction", "md_bios", "md_kib_per_bio", "md_splits", "fan_out", "member_requests",
                "member_kib_per_request", "member_merged_percent", "member_sequential_percent", "member_in_flight",
                "md_readahead_kib", "member_readahead_kib")  # fmt: skip
Row = Mapping[str, object]


@dataclasses.dataclass(frozen=True)
class Stack:
    """A phase and direction of a cell with md. None: not counted, or nothing to divide by.

    fan_out: bios of the members for each bio of the md. merged_percent: of the members' bios, those merged into a
    request. in_flight: mean over time and members. readahead_kib: of the md, which is the effective one;
    member_readahead_kib: of a member.
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
    """All stacks, in the order of cells, and of phases by name."""
    names = {entry.cell: entry.name for entry in index.entries() if entry.state == DONE}
    groups: dict[tuple[int, str, str], list[Row]] = {}
    for row in index.queues():
        groups.setdefault((int(str(row["cell"])), str(row["phase"]), str(row["direction"])), []).append(row)
    stacks = []
    for (cell, phase, direction), rows in groups.items():
        tops = [row for row in rows if str(row["disk"]).startswith("md")]
        members = [row for row in rows if row not in tops]
        if cell in names and len(tops) == 1 and members and tops[0]["bios"]:
            stacks.append(_stack(names[cell], phase, direction, tops[0], members))
    return stacks


def _stack(cell: str, phase: str, direction: str, top: Row, members: Sequence[Row]) -> Stack:
    bios, member_bios, requests = int(str(top["bios"])), _sum(members, "bios"), _sum(members, "issued")
    depths = [float(str(row["in_flight_mean"])) for row in members if row["in_flight_mean"] is not None]
    readahead, below = top["readahead_sectors"], members[0]["readahead_sectors"]
    return Stack(
        cell, phase, direction, bios, ratio(_sum([top], "bytes_queued"), bios * 1024), _sum([top], "splits"),
        ratio(member_bios, bios), requests, ratio(_sum(members, "bytes_issued"), requests and requests * 1024),
        _percent(_sum(members, "back_merges"), member_bios), _percent(_sum(members, "sequential"), requests),
        sum(depths) / len(depths) if len(depths) == len(members) else None,
        None if readahead is None else int(str(readahead)) / 2, None if below is None else int(str(below)) / 2,
    )  # fmt: skip


def _sum(rows: Sequence[Row], name: str) -> int | None:
    values = [row[name] for row in rows]
    return None if None in values else sum(int(str(value)) for value in values)


def _percent(value: int | None, of: int | None) -> float | None:
    share = ratio(value, of)
    return None if share is None else 100 * share


def _stack_value(value: object) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def write_stack_csv(path: pathlib.Path, stacks: Sequence[Stack]) -> None:
    """Write tidy CSV (RFC 4180). Empty: not known."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(STACK_HEADER)
        writer.writerows(shown.cells(map(_stack_value, dataclasses.astuple(stack))) for stack in stacks)


def stack_text(stacks: Sequence[Stack]) -> list[str]:
    """The lines of a table for a terminal, with the direction of each phase that moved more."""
    rows = [["cell", "phase", "md bios", "KiB", "splits", "fan-out", "requests", "KiB", "merged", "sequential", "in flight",
             "readahead KiB"]]  # fmt: skip
    for stack in stacks:
        other = [s for s in stacks if (s.cell, s.phase) == (stack.cell, stack.phase) and s is not stack]
        if any(s.bios * (s.kib_per_bio or 0) > stack.bios * (stack.kib_per_bio or 0) for s in other):
            continue
        rows.append(
            [stack.cell, f"{stack.phase} {stack.direction}" if stack.phase != stack.direction else stack.phase,
             str(stack.bios), _value(stack.kib_per_bio), "n/a" if stack.splits is None else str(stack.splits),
             _value(stack.fan_out), "n/a" if stack.requests is None else str(stack.requests),
             _value(stack.kib_per_request), _value(stack.merged_percent, "%"), _value(stack.sequential_percent, "%"),
             _value(stack.in_flight), f"{_value(stack.readahead_kib)} ({_value(stack.member_readahead_kib)})"]
        )  # fmt: skip
    return terminal.table(rows, left=(0, 1))


def _value(value: float | None, unit: str = "") -> str:
    return "n/a" if value is None else f"{value:.0f}{unit}" if abs(value) >= 100 or unit else f"{value:.1f}"
