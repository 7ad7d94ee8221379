# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether an effect is more than chance: a paired test of logarithms, repeated while pairs come in.

A pair is an unchanged and a changed run, next to each other. The test is evaluated at most LOOKS times; each evaluation
gets an equal part of the chance of error (Bonferroni). Holm's procedure keeps the chance that any of several changes is
wrong below ALPHA.
"""

import dataclasses
import math
import statistics
from collections.abc import Sequence

from raidtrace.quantity.trials import student_quantile, student_tail

ALPHA = 0.05
MIN_PAIRS, MAX_PAIRS = 3, 10
LOOKS = MAX_PAIRS - MIN_PAIRS + 1
MIN_EFFECT_FACTOR = 1.05  # a smaller effect is not worth a change
MIN_EFFECT = math.log(MIN_EFFECT_FACTOR)
CONFIDENCE = 0.95
POWER = 0.842  # normal quantile of 80 %


@dataclasses.dataclass(frozen=True)
class Effect:
    """The factor by which a change is faster. low, high: its interval, None for a single pair. chance: the probability
    of such an effect without a cause, over all evaluations."""

    factor: float
    low: float | None
    high: float | None
    pairs: int
    chance: float


def effect(before: Sequence[float], after: Sequence[float], floor: float = 0.0, looks: int = LOOKS) -> Effect:
    """The effect in at least one pair of costs. floor: the least standard deviation of a logarithm, from the baselines,
    so that pairs that agree by chance do not count as exact. looks: number of evaluations while pairs come in."""
    ratios = [math.log(a / b) for a, b in zip(before, after)]
    count, mean = len(ratios), statistics.fmean(ratios)
    if count < 2:
        return Effect(math.exp(mean), None, None, count, 1.0)
    error = max(statistics.stdev(ratios), floor, 1e-9) / math.sqrt(count)
    half = student_quantile(1 - CONFIDENCE, count - 1) * error
    chance = min(1.0, looks * student_tail(mean / error, count - 1)) if count >= MIN_PAIRS else 1.0
    return Effect(math.exp(mean), math.exp(mean - half), math.exp(mean + half), count, chance)


def settled(effect: Effect, candidates: int) -> bool:
    """Whether more pairs would not change the verdict: the effect is beyond chance, or too small to matter, or
    MAX_PAIRS is reached."""
    if effect.pairs < MIN_PAIRS:
        return False
    if effect.chance <= ALPHA / candidates or effect.pairs >= MAX_PAIRS:
        return True
    return effect.high is not None and math.log(effect.high) < MIN_EFFECT


def holm(chances: Sequence[float]) -> list[bool]:
    """For each effect, whether it is beyond chance when all are judged together."""
    order = sorted(range(len(chances)), key=lambda at: chances[at])
    shown = [False] * len(chances)
    for rank, at in enumerate(order):
        if chances[at] > ALPHA / (len(chances) - rank):
            break
        shown[at] = True
    return shown


def noise(costs: Sequence[float]) -> float:
    """Standard deviation of the logarithm of the costs of repeated baselines. 0 for one."""
    return statistics.stdev([math.log(cost) for cost in costs]) if len(costs) > 1 else 0.0


def smallest_detectable(deviation: float, pairs: int, candidates: int, looks: int = LOOKS) -> float:
    """The smallest factor that is detected in four of five cases, with so many pairs and candidates."""
    error = deviation * math.sqrt(2 / pairs)
    t = student_quantile(ALPHA / candidates / looks, pairs - 1)
    return math.exp(max((t + POWER) * error, MIN_EFFECT))
