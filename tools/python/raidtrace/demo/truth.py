# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare a recording with the commands that the simulated controller received (ground-truth.csv of the lab).

Counts, bytes and request sizes must be equal. The depth over time cannot be equal. raidtrace counts a request from just
before the driver issues it until after the interrupt that reports it; the controller counts it from arrival to
completion. So raidtrace's interval contains the controller's, its depth is never lower, and:

    D  = sum over depths of depth x time: raidtrace's minus the controller's    >= 0
    for every depth d: time at depth >= d by raidtrace                        >= that by the controller
    sum over depths of the difference of time at that depth                   <= 2 D
    if D is 0, the depth at every issue is the depth of the controller at its arrival

The reason: while the depths differ, D grows at least as fast as time passes. Both clocks are the guest's, in ns. A
guest's time only passes when it reads the clock with interrupts enabled. On average, one such read is allowed before a
command reaches the controller, and one after it returns. (Linux 6.1 needs none: D is 0.)
"""

import collections
import csv
import dataclasses
import pathlib
from collections.abc import Iterable, Mapping

from raidtrace.quantity.shown import UserError
from raidtrace.quantity.units import SECTOR_BYTES
from raidtrace.recording.spans import Span

HEADER = "sequence,request_id,opcode,name,unit,lba,sectors,arrival_ns,completion_ns,depth,status".split(",")
DIRECTIONS = {"READ": "read", "WRITE": "write"}
CLOCK_READ_NS = 256  # the cost of a clock read in simulated time
CLOCK_READS = 2  # allowed per command


@dataclasses.dataclass(frozen=True)
class Command:
    """One command in the controller's log. completion_ns None: it did not complete."""

    name: str
    unit: int
    sectors: int
    arrival_ns: int
    completion_ns: int | None
    depth: int


@dataclasses.dataclass(frozen=True)
class Depths:
    """The difference of the depths. D: see the module."""

    apart: float  # share of the time in which the depths differ
    bound: float  # the largest share that D explains
    other_at_issue: int  # issues with another depth than in the log
    mismatches: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Agreement:
    """The result of one comparison. It is positive if there is no mismatch."""

    commands: Mapping[str, int]  # direction -> commands of the controller
    bytes: Mapping[str, int]  # direction -> bytes that the controller's commands name
    added: Mapping[str, int]  # name -> commands that are neither reads nor writes
    depths: Depths
    mismatches: tuple[str, ...]


def read_log(path: pathlib.Path) -> list[Command]:
    """The commands of the first unit. Raises UserError: this is not such a log."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        if next(rows, None) != HEADER:
            raise UserError(f"{path}: not a command log of the lab; its header must be {','.join(HEADER)}")
        try:
            return _commands(rows)
        except (IndexError, csv.Error):
            raise UserError(f"{path}: line {rows.line_num} is cut short or is not a line of this log") from None


def _commands(rows: Iterable[list[str]]) -> list[Command]:
    return [
        Command(row[3], 0, int(row[6]), int(row[7]), int(row[8]) if row[8] else None, int(row[9]))
        for row in rows
        if row[4] == "0"  # commands to the controller itself have no unit
    ]


def depth_time(commands: Iterable[Command], start_ns: int, end_ns: int) -> dict[int, int]:
    """ns at each depth between two times, from arrivals and completions."""
    steps: collections.Counter[int] = collections.Counter()
    for command in commands:
        begin = max(command.arrival_ns, start_ns)
        finish = min(command.completion_ns or end_ns, end_ns)
        if begin < finish:
            steps[begin] += 1
            steps[finish] -= 1
    times: collections.Counter[int] = collections.Counter()
    depth, since = 0, start_ns
    for moment in sorted(steps):
        times[depth] += moment - since
        depth, since = depth + steps[moment], moment
    times[depth] += end_ns - since
    return {depth: time for depth, time in times.items() if time}


def compare(ours: Span, log: Iterable[Command]) -> Agreement:
    """Compare the counters of a span with the commands that arrived in (start_ns, end_ns]."""
    log = list(log)
    arrived = [command for command in log if ours.start_ns < command.arrival_ns <= ours.end_ns]
    by_direction = {d: [c for c in arrived if DIRECTIONS.get(c.name) == d] for d in ("read", "write")}
    wrong = []
    for direction, commands in by_direction.items():
        wrong += _counts(ours, direction, commands)
    added = collections.Counter(c.name for c in arrived if c.name not in DIRECTIONS)
    others = sum(ours.count(d, "issued") - ours.count(d, "requeued") for d in ours.flow if d not in by_direction)
    if others != added.total():
        wrong.append(f"other commands: raidtrace {others}, controller {dict(added)}")
    depths = _depths(ours, log, arrived)
    return Agreement(
        {direction: len(commands) for direction, commands in by_direction.items()},
        {direction: SECTOR_BYTES * sum(c.sectors for c in commands) for direction, commands in by_direction.items()},
        dict(added),
        depths,
        (*wrong, *depths.mismatches),
    )


def _depths(ours: Span, log: list[Command], arrived: list[Command]) -> Depths:
    """Compare depth over time and depth at issue, for all directions together."""
    times = ours.histogram("all", "depth_time")
    reference = depth_time(log, ours.start_ns, ours.end_ns)
    span = ours.end_ns - ours.start_ns
    late = area(times) - area(reference)
    apart, excess = distance(times, reference)
    at_issue = collections.Counter({depth: n for depth, n in ours.histogram("all", "depth_issue").items() if n})
    wrong_issues = (at_issue - collections.Counter(c.depth for c in arrived)).total()
    allowed = CLOCK_READS * CLOCK_READ_NS * len(arrived)
    wrong = []
    if sum(times.values()) != span:
        wrong.append(f"time at all depths is {sum(times.values())} ns of {span} ns")
    if excess < 0:
        wrong.append(f"for {-excess} ns the controller had more requests in flight than raidtrace counted")
    if apart > 2 * late:
        wrong.append(
            f"the depths differ for {apart} ns, more than twice the {late} ns that raidtrace measured requests longer"
        )
    if late > allowed:
        wrong.append(
            f"raidtrace measured the requests {late} ns longer in all; reading the clock explains at most "
            f"{allowed} ns"
        )
    if late == 0 and wrong_issues:
        wrong.append(f"{wrong_issues} issues have another depth, although raidtrace measured no request longer")
    return Depths(apart / 2 / span, late / span, wrong_issues, tuple(wrong))


def _counts(ours: Span, direction: str, commands: list[Command]) -> list[str]:
    """The exact comparisons of one direction. A requeued request was issued, but did not arrive."""
    wrong = []
    requeued = ours.count(direction, "requeued")
    nr = ours.count(direction, "issued") - requeued
    if nr != len(commands):
        wrong.append(f"{direction}s: raidtrace {nr}, controller {len(commands)}")
    theirs = collections.Counter(c.sectors for c in commands)
    sizes = {size: count for size, count in ours.histogram(direction, "size").items() if count}
    differing = {size for size in sizes.keys() | theirs.keys() if sizes.get(size, 0) != theirs[size]}
    if differing and not requeued:
        shown = ", ".join(
            f"{size} sectors: raidtrace {sizes.get(size, 0)}, controller {theirs[size]}"
            for size in sorted(differing)[:4]
        )
        wrong.append(f"{direction} sizes differ: {shown}")
    octets = SECTOR_BYTES * sum(c.sectors for c in commands)
    if not requeued and ours.count(direction, "bytes_issued") != octets:
        wrong.append(f"{direction} bytes: raidtrace {ours.count(direction, 'bytes_issued')}, controller {octets}")
    errors = ours.count(direction, "errors") + ours.count(direction, "unmatched")
    if errors:
        wrong.append(f"{direction}s: {errors} errors or unmatched completions")
    return wrong


def area(times: Mapping[int, int]) -> int:
    """The sum over depths of depth x time."""
    return sum(depth * time for depth, time in times.items())


def distance(ours: Mapping[int, int], reference: Mapping[int, int]) -> tuple[int, int]:
    """The sum over depths of the difference of time, and the least of (time at depth >= d by ours, minus by the
    reference)."""
    apart = excess = tail = 0
    for depth in sorted(ours.keys() | reference.keys(), reverse=True):
        difference = ours.get(depth, 0) - reference.get(depth, 0)
        apart += abs(difference)
        tail += difference
        if depth > 0:
            excess = min(excess, tail)
    return apart, excess
