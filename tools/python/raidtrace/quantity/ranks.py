# SPDX-License-Identifier: GPL-2.0-or-later
"""Rank correlation with a confidence interval, where a curve rises or falls, and where it has its knee. Pure arithmetic."""

import dataclasses
import math
from collections.abc import Sequence

from raidtrace.quantity.trials import bootstrap

WITHIN = 0.05  # of the best: the knee is the smallest setting that comes so near
LEAST = 4  # pairs; of fewer a correlation says nothing
SETTINGS = 3  # that are not the same, for the same
Pairs = Sequence[tuple[float, float]]


@dataclasses.dataclass(frozen=True)
class Correlation:
    """Of pairs: Spearman's rho and Kendall's tau-b, a bootstrap interval of rho, and how many pairs there are."""

    rho: float
    tau: float
    low: float
    high: float
    pairs: int

    def sure(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0


@dataclasses.dataclass(frozen=True)
class Region:
    """A stretch of a curve with one direction: rising, falling or flat."""

    direction: str
    first: float
    last: float


def ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1; equal values share the mean of theirs."""
    order = sorted(range(len(values)), key=lambda at: values[at])
    by_index = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for place in range(at, end + 1):
            by_index[order[place]] = (at + end) / 2 + 1
        at = end + 1
    return by_index


def spearman(pairs: Pairs) -> float | None:
    """Correlation of the ranks. None: one side never changes, or there are fewer than two pairs."""
    if len(pairs) < 2:
        return None
    xs, ys = ranks([x for x, _ in pairs]), ranks([y for _, y in pairs])
    middle = (len(pairs) + 1) / 2
    spread_x, spread_y = (sum((value - middle) ** 2 for value in side) for side in (xs, ys))
    if not spread_x or not spread_y:
        return None
    rho = sum((x - middle) * (y - middle) for x, y in zip(xs, ys, strict=True)) / math.sqrt(spread_x * spread_y)
    return max(-1.0, min(1.0, rho))


def kendall(pairs: Pairs) -> float | None:
    """Tau-b: pairs that agree less those that do not, corrected for ties. None as of spearman()."""
    agree = ties_x = ties_y = whole = 0
    for at, (x, y) in enumerate(pairs):
        for other_x, other_y in pairs[at + 1 :]:
            step_x, step_y = (other_x > x) - (other_x < x), (other_y > y) - (other_y < y)
            agree += step_x * step_y
            ties_x += not step_x
            ties_y += not step_y
            whole += 1
    if whole in (ties_x, ties_y):
        return None
    return agree / math.sqrt((whole - ties_x) * (whole - ties_y))


def correlate(pairs: Pairs) -> Correlation | None:
    """Both, and the interval. None: too few pairs or settings, or one side never changes: two settings have no order but up
    or down, and any difference correlates with them."""
    rho, tau = spearman(pairs), kendall(pairs)
    if rho is None or tau is None or len(pairs) < LEAST or len({x for x, _ in pairs}) < SETTINGS:
        return None
    low, high = bootstrap(pairs, lambda some: spearman(some) or 0.0)  # of a resample that never changes: none
    return Correlation(rho, tau, low, high, len(pairs))


def knee(curve: Pairs) -> tuple[float, float]:
    """Of (setting, throughput), settings rising: the smallest setting within WITHIN of the best, and its throughput."""
    best = max(y for _, y in curve)
    return next((x, y) for x, y in curve if y >= (1 - WITHIN) * best)


def regions(curve: Pairs) -> list[Region]:
    """Stretches of a curve, settings rising; steps of less than WITHIN, as a part, are flat."""
    merged: list[Region] = []
    for (x, y), (next_x, next_y) in zip(curve, curve[1:]):
        grown = next_y / y - 1 if y else math.inf if next_y else 0.0
        direction = "flat" if abs(grown) < WITHIN else "rising" if grown > 0 else "falling"
        if merged and merged[-1].direction == direction:
            merged[-1] = Region(direction, merged[-1].first, next_x)
        else:
            merged.append(Region(direction, x, next_x))
    return merged
