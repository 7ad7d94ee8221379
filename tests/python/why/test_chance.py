# SPDX-License-Identifier: GPL-2.0-or-later
"""Chance: Student's tail against a printed table, both sides of every threshold, and how often noise passes for an effect."""

import math
import random

import pytest

from raidtrace.why import chance

# t for a two-sided tail of 5 % and of 1 %, from any printed table
TABLE = {
    1: (12.706, 63.657),
    2: (4.303, 9.925),
    3: (3.182, 5.841),
    4: (2.776, 4.604),
    9: (2.262, 3.250),
    30: (2.042, 2.750),
}


@pytest.mark.parametrize("freedom", TABLE)
def test_student(freedom: int) -> None:
    """Tail and quantile are each other's inverse, and those of the table."""
    for tail, t in zip((0.05, 0.01), TABLE[freedom]):
        assert chance.student_tail(t, freedom) == pytest.approx(tail, rel=2e-3)
        assert chance.student_tail(-t, freedom) == chance.student_tail(t, freedom)
        assert chance.student_quantile(tail, freedom) == pytest.approx(t, rel=1e-3)
    assert chance.student_tail(0, freedom) == 1
    assert chance.student_tail(5, 0) == 1  # one pair tells nothing


def test_effect_of_pairs() -> None:
    """Geometric mean, Student's interval; a single pair has neither interval nor chance."""
    one = chance.effect([2.0], [1.0])
    assert (one.factor, one.low, one.high, one.chance) == (pytest.approx(2), None, None, 1.0)
    two = chance.effect([2.0, 2.0], [1.0, 0.5], looks=1)
    assert two.factor == pytest.approx(math.sqrt(8)) and two.chance == 1.0  # fewer than MIN_PAIRS
    assert two.low is not None and two.high is not None and two.low * two.high == pytest.approx(8)
    three = chance.effect([1, 1, 1], [1 / 2.0, 1 / 2.1, 1 / 2.2], looks=1)
    assert three.chance == pytest.approx(0.00138, rel=0.02)  # t 26.9 of 2 degrees of freedom
    assert chance.effect([1, 1, 1], [1 / 2.0, 1 / 2.1, 1 / 2.2], looks=8).chance == pytest.approx(8 * three.chance)


def test_pairs_that_agree_by_luck_are_no_surer_than_the_baselines() -> None:
    """Without a floor three equal pairs would be certain."""
    assert chance.effect([1, 1, 1], [0.9, 0.9, 0.9], 0.0, 1).chance < 1e-6
    assert chance.effect([1, 1, 1], [0.9, 0.9, 0.9], 0.1, 1).chance > 0.05


def test_holm_on_both_sides() -> None:
    """The k-th smallest is compared with ALPHA over those that are left; behind the first that fails nothing is shown."""
    assert chance.holm([0.016, 0.024, 0.049]) == [True, True, True]
    assert chance.holm([0.049, 0.016, 0.026]) == [False, True, False]
    assert chance.holm([0.017, 0.001, 0.03]) == [True, True, True]
    assert chance.holm([0.0168, 0.02, 0.03]) == [False, False, False]
    assert not chance.holm([])


def test_settled() -> None:
    """Too few pairs never are; an effect beyond chance, none worth acting on, or enough pairs are."""
    result = chance.Effect(1.5, 1.4, 1.6, 3, 0.016)
    assert chance.settled(result, 3) and not chance.settled(result, 4)
    assert not chance.settled(chance.Effect(1.5, 1.4, 1.6, 2, 0.001), 1)
    assert chance.settled(chance.Effect(1.0, 0.97, 1.049, 3, 0.9), 1)
    assert not chance.settled(chance.Effect(1.0, 0.97, 1.051, 3, 0.9), 1)
    assert chance.settled(chance.Effect(1.0, 0.9, 1.2, chance.MAX_PAIRS, 0.9), 1)


def test_smallest_detectable() -> None:
    """Grows with the noise and the candidates, shrinks with the pairs, and never promises what is not worth acting on."""
    assert chance.smallest_detectable(0.0, 10, 3) == pytest.approx(1.05)
    assert chance.smallest_detectable(0.05, 10, 3) == pytest.approx(1.12, abs=0.01)
    assert chance.smallest_detectable(0.05, 5, 3) > chance.smallest_detectable(0.05, 10, 3)
    assert chance.smallest_detectable(0.05, 10, 9) > chance.smallest_detectable(0.05, 10, 3)
    assert chance.noise([1.0]) == 0 and chance.noise([1.0, math.e]) == pytest.approx(math.sqrt(0.5))


def sequential(source: random.Random, gain: float, noise: float) -> chance.Effect:
    """Pairs of noisy runs until chance is settled, as an experiment makes them."""
    before: list[float] = []
    after: list[float] = []
    while True:
        before.append(math.exp(source.gauss(0, noise)))
        after.append(math.exp(source.gauss(-gain, noise)))
        result = chance.effect(before, after)
        if chance.settled(result, 3):
            return result


@pytest.mark.slow
def test_how_often_noise_passes() -> None:
    """Three candidates that do nothing: in at most 5 % of 400 experiments one is shown; +20 % at 5 % noise is detected."""
    source = random.Random(9000)
    wrong = sum(any(chance.holm([sequential(source, 0.0, 0.05).chance for _ in range(3)])) for _ in range(400))
    assert wrong <= 20
    result = sum(chance.holm([sequential(source, math.log(1.2), 0.05).chance, 1.0, 1.0])[0] for _ in range(200))
    assert result >= 180


def test_interval_and_what_can_be_detected_are_those_of_the_tables() -> None:
    """Student's t for a two-sided 5 %: 4.3027 with 2 degrees of freedom, 2.2622 with 9; the normal quantile of 80 %: 0.8416."""
    result = chance.effect([1.0, 1.0, 1.0], [math.exp(-0.1), math.exp(-0.2), math.exp(-0.3)])
    assert result.high is not None and result.low is not None
    assert math.log(result.high / result.factor) == pytest.approx(4.3027 * 0.1 / math.sqrt(3), rel=1e-4)
    assert math.log(result.factor / result.low) == pytest.approx(4.3027 * 0.1 / math.sqrt(3), rel=1e-4)
    least = math.log(chance.smallest_detectable(0.1, 10, 1, 1))
    assert least == pytest.approx((2.2622 + 0.8416) * 0.1 * math.sqrt(2 / 10), rel=1e-3)
