# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl lab ab --workload: compare two kernels with a set of workloads, and print a verdict on each.

The measure is the time of the command. A workload is identical if the controller received the same commands at the same
times with the first seed; it needs no other seed. The others run with more seeds. A difference is significant at 95 %, and
must be significant again, in the same direction, with as many new seeds. Random differences pass both in one of 800
workloads. The command must do the same work on both kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from raidlab.base.failure import LabError
from raidlab.verbs import measures
from raidlab.verbs.measures import Recorded, Sample
from raidlab.verbs.workloads import Workload

from raidtrace.recording import work
from raidtrace.recording.work import Kind

IDENTICAL, EQUAL, CHANCE, FASTER, SLOWER = "identical", "equal", "chance", "faster", "slower"
OTHER = "other work"  # the calls of the command differ, or were not recorded, so no kernel is faster
_EQUAL = 0.005  # equal if the whole interval is nearer to 1 than this
_MOVED = 0.01  # a ratio that changed less is not named as mechanism
# Quantities that the kernel determines. The time of a request depends on these, and on the other requests in the queue.
_MECHANISMS = (
    ("request_bytes_mean", "size", 1 / 1024, "{:.0f}", " KiB"),
    ("in_flight_mean", "in flight", 1.0, "{:.2f}", ""),
    ("bytes", "moved", 1 / 2**20, "{:.0f}", " MiB"),
    ("sequential_share", "sequential", 100.0, "{:.0f}", " %"),
    ("back_merges", "merges", 1.0, "{:.0f}", ""),
    ("splits", "splits", 1.0, "{:.0f}", ""),
)
_MEANS = ("mib_per_s", "requests", *(row[0] for row in _MECHANISMS), "d2c_mean_ms")
_EFFECT = ("d2c_mean_ms", "only the time of a request", 1.0, "{:.2f}", " ms")

Runs = Callable[[Iterable[tuple[Workload, int, int]]], list[Recorded]]  # arguments: workload, kernel (0 or 1), seed


@dataclass(frozen=True)
class Decided:
    """The verdict on one workload. `seconds` are the means of both kernels. `speed` is the ratio of the second kernel's
    speed, `between` its interval at 95 % (None with one seed), `seeds` their number. `mechanism` has the other changes, the
    largest first. `spread` is the ratio of the first kernel's slowest to its fastest run. `means` are those of both kernels
    by name, in the direction that moved more bytes."""

    workload: Workload
    seconds: tuple[float, float]
    speed: float
    between: tuple[float, float] | None
    seeds: int
    verdict: str
    mechanism: tuple[str, ...]
    spread: float
    means: dict[str, tuple[measures.Value, measures.Value]]


def judged(workloads: Iterable[Workload], seeds: int, run: Runs) -> list[Decided]:
    """Run each kernel with `seeds` (2 or more) seeds to detect a difference, and with as many again to confirm it."""
    every = list(workloads)
    runs_of: dict[str, list[list[Recorded]]] = {one.name: [[], []] for one in every}

    def run_with(some: list[Workload], which: range) -> None:
        jobs = [(one, kernel, seed) for one in some for seed in which for kernel in (0, 1)]
        for (one, kernel, _), got in zip(jobs, run(jobs)):
            if not any(direction["requests"] for span in got.spans for direction in span.directions.values()):
                todo = f"Its output: {got.directory}. A workload uses $DISK, the first disk of the profile."
                raise LabError(f"workload {one.name}", "no request reached a disk", todo)
            runs_of[one.name][kernel].append(got)

    run_with(every, range(1))
    unlike = [one for one in every if runs_of[one.name][0][0].truth != runs_of[one.name][1][0].truth]
    run_with(unlike, range(1, seeds))
    shown = [one for one in unlike if not measures.is_chance(_between(runs_of[one.name]))]
    run_with(shown, range(seeds, 2 * seeds))
    return [_verdict(one, runs_of[one.name], seeds) for one in every]


def _verdict(workload: Workload, runs: list[list[Recorded]], seeds: int) -> Decided:
    a, b = (measures.mean(_seconds(side)) for side in runs)
    speed = (a or 0.0) / (b or 1.0)
    between = _between(runs)
    if len(runs[0]) == 1:
        kind = IDENTICAL
    elif between and 1 - _EQUAL < between[0] and between[1] < 1 + _EQUAL:
        kind = EQUAL
    elif len(runs[0]) <= seeds or not _confirmed(runs, seeds):
        kind = CHANCE
    elif work.compare(*(side[0].spans[0].work for side in runs)).kind is not Kind.SAME:
        kind = OTHER
    else:
        kind = FASTER if speed > 1 else SLOWER
    sides = _Sides.of(runs)
    mechanism = _mechanism(sides) if kind in (FASTER, SLOWER) else ()
    known = [value for value in _seconds(runs[0]) if value]
    spread = max(known) / min(known) if known else 1.0
    return Decided(workload, (a or 0.0, b or 0.0), speed, between, len(runs[0]), kind, mechanism, spread, sides.means())


def _confirmed(runs: list[list[Recorded]], seeds: int) -> bool:
    """Whether the new seeds confirm the result of the first ones."""
    first, fresh = _between([side[:seeds] for side in runs]), _between([side[seeds:] for side in runs])
    if not first or not fresh or measures.is_chance(fresh):
        return False
    return (first[0] > 1) == (fresh[0] > 1)


def _between(runs: list[list[Recorded]]) -> tuple[float, float] | None:
    """The interval of the second kernel's speed relative to the first."""
    a, b = (_seconds(side) for side in runs)
    return measures.interval(b, a)


def _seconds(side: list[Recorded]) -> list[measures.Value]:
    return [one.spans[0].seconds for one in side]


@dataclass(frozen=True)
class _Sides:
    """The runs of both kernels on the first disk, and the direction that moved more bytes."""

    a: Sample
    b: Sample
    direction: str

    @staticmethod
    def of(runs: list[list[Recorded]]) -> _Sides:
        a, b = (Sample(tuple(one.spans[0] for one in side)) for side in runs)
        direction = max(measures.DIRECTIONS, key=lambda one: max(side.value(one, "bytes") or 0.0 for side in (a, b)))
        return _Sides(a, b, direction)

    def means(self) -> dict[str, tuple[measures.Value, measures.Value]]:
        return {name: (self.a.value(self.direction, name), self.b.value(self.direction, name)) for name in _MEANS}


def _mechanism(sides: _Sides) -> tuple[str, ...]:
    """Significant changes, the largest first. If there are none: only the time of a request changed."""
    a, b, direction = sides.a, sides.b, sides.direction
    changed: list[tuple[float, str]] = []
    for what in (*_MECHANISMS, _EFFECT):
        name, label, factor, form, unit = what
        if what == _EFFECT and changed:
            break
        before, after = a.value(direction, name), b.value(direction, name)
        if before is None or after is None or before == after:
            continue
        moved = math.log(after / before) if before and after else math.inf
        if abs(moved) < _MOVED or measures.is_chance(
            measures.interval(a.values(direction, name), b.values(direction, name))
        ):
            continue
        changed.append((abs(moved), f"{label} {form.format(before * factor)} -> {form.format(after * factor)}{unit}"))
    return tuple(text for _, text in sorted(changed, reverse=True))
