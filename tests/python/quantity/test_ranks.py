# SPDX-License-Identifier: GPL-2.0-or-later
"""Rank correlation, knee and regions: properties that any correct arithmetic has, and values worked out by hand."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidtrace.quantity import ranks

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=12)
CURVES = st.lists(st.floats(1, 1e6), min_size=2, max_size=12).map(
    lambda ys: [(float(2**at), y) for at, y in enumerate(ys)]
)


@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_ranks_sum_to_those_of_distinct_values(values):
    assert sum(ranks.ranks(values)) == pytest.approx(len(values) * (len(values) + 1) / 2)


@given(PAIRS)
def test_coefficients_lie_between_minus_one_and_one_and_turn_with_the_sign(pairs):
    turned = [(x, -y) for x, y in pairs]
    for of in (ranks.spearman, ranks.kendall):
        found = of(pairs)
        assert found is None or -1 <= found <= 1
        assert of(turned) == (None if found is None else pytest.approx(-found))


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=10, unique=True))
def test_any_rising_function_is_one(xs):
    pairs = [(float(x), float(x) ** 3 + 7) for x in xs]
    assert ranks.spearman(pairs) == pytest.approx(1) and ranks.kendall(pairs) == pytest.approx(1)


def test_by_hand():
    # differences of ranks 1 1 1 1 0: 1 - 6 x 4 / (5 x 24); 2 of 10 pairs disagree
    pairs = [(1, 2), (2, 1), (3, 4), (4, 3), (5, 5)]
    assert ranks.spearman(pairs) == pytest.approx(0.8)
    assert ranks.kendall(pairs) == pytest.approx(0.6)
    # ties: x has one, y none; 4 agree, 1 disagrees, of 6
    assert ranks.kendall([(1, 1), (1, 2), (2, 4), (3, 3)]) == pytest.approx(3 / (5 * 6) ** 0.5)


def test_what_never_changes_has_no_correlation():
    assert ranks.correlate([(float(x), 5.0) for x in range(8)]) is None
    assert ranks.correlate([(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]) is None  # too few


def test_the_interval_tells_chance_from_cause():
    sure = ranks.correlate([(float(x), float(x)) for x in range(12)])
    assert sure.sure() and sure.low > 0.5
    chance = ranks.correlate(list(zip(map(float, range(8)), (3.0, 8.0, 1.0, 6.0, 2.0, 7.0, 4.0, 5.0))))
    assert not chance.sure()
    assert chance == ranks.correlate(list(zip(map(float, range(8)), (3.0, 8.0, 1.0, 6.0, 2.0, 7.0, 4.0, 5.0))))


@given(CURVES)
def test_the_knee_is_the_smallest_setting_near_the_best(curve):
    x, y = ranks.knee(curve)
    best = max(rate for _, rate in curve)
    assert y >= 0.95 * best
    assert all(rate < 0.95 * best for setting, rate in curve if setting < x)


@given(CURVES)
def test_regions_tile_the_curve_and_neighbours_differ(curve):
    found = ranks.regions(curve)
    assert found[0].first == curve[0][0] and found[-1].last == curve[-1][0]
    for before, after in itertools.pairwise(found):
        assert before.last == after.first and before.direction != after.direction


def test_two_settings_have_no_rank_correlation_however_many_runs():
    two = [(256.0, 1.0 + at / 100) for at in range(6)] + [(4096.0, 2.0 + at / 100) for at in range(6)]
    assert ranks.correlate(two) is None
    assert ranks.correlate([*two, (1024.0, 1.5)]) is not None
