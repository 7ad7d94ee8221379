# SPDX-License-Identifier: GPL-2.0-or-later
"""One command under several draws of chance: means, how sure a ratio is, and when enough draws have been seen."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from raidlab.verbs.measures import Span, Value

# Student's t, two-sided 95 %, 1 to 30 degrees of freedom.
_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110,
      2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042)  # fmt: skip
# What is wanted holds in at most _FEW of all draws, or in at least 1 - _FEW: told apart with an error of at most _ERROR.
_FEW = 0.25
_ERROR = 0.05


@dataclass(frozen=True)
class Draws:
    """One phase of one disk under each draw; a value is the mean over them."""

    spans: tuple[Span, ...]

    @property
    def phase(self) -> str:
        return self.spans[0].phase

    @property
    def disk(self) -> str:
        return self.spans[0].disk

    def values(self, direction: str, name: str) -> list[Value]:
        """One of each draw."""
        return [span.value(direction, name) for span in self.spans]

    def value(self, direction: str, name: str) -> Value:
        """Their mean."""
        return mean(self.values(direction, name))


def mean(values: list[Value]) -> Value:
    """Geometric, as a ratio is what one asks for; arithmetic if a value is 0, None if one is not known."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    if len(set(known)) == 1:
        return known[0]
    return statistics.geometric_mean(known) if min(known) > 0 else statistics.mean(known)


def student(freedom: int) -> float:
    """The quantile that 95 % lie within, on both sides."""
    return _T[min(freedom, len(_T)) - 1]


def interval(before: list[Value], after: list[Value]) -> tuple[float, float] | None:
    """Where the ratio after/before of the geometric means lies, at 95 %: Welch's t of the logarithms. None if there are not
    two draws of each, or one has no logarithm."""
    logs = [[math.log(value) for value in values if value] for values in (before, after)]
    if min(map(len, logs)) < 2 or len(logs[0]) < len(before) or len(logs[1]) < len(after):
        return None
    ratio = statistics.mean(logs[1]) - statistics.mean(logs[0])
    parts = [statistics.variance(values) / len(values) for values in logs]
    error = math.sqrt(sum(parts))
    if not error:
        exact = (after[0] or 0) / (before[0] or 1)
        return exact, exact
    freedom = sum(parts) ** 2 / sum(part**2 / (len(values) - 1) for part, values in zip(parts, logs))
    reach = student(int(freedom)) * error
    return math.exp(ratio - reach), math.exp(ratio + reach)


def is_chance(between: tuple[float, float] | None) -> bool:
    """Whether an interval has 1 in it: the two cannot be told apart."""
    return between is not None and between[0] <= 1 <= between[1]


def decided(holds: list[bool]) -> bool | None:
    """Wald's sequential test: whether what these draws say holds; None while more are needed."""
    step = math.log((1 - _FEW) / _FEW)
    score = sum(step if one else -step for one in holds)
    if abs(score) < math.log((1 - _ERROR) / _ERROR):
        return None
    return score > 0
