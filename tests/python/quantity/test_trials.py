# SPDX-License-Identifier: GPL-2.0-or-later
"""Statistics of trials, against values worked out by hand and properties that must hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidtrace.quantity import trials

POSITIVE = st.floats(min_value=1, max_value=1e9)


def test_summary_by_hand():
    s = trials.summarise([100.0, 104.0, 102.0])
    assert (s.trials, s.median, s.outliers, s.drift) == (3, 102.0, (), "")
    assert s.spread_percent == pytest.approx(100 * 4 / 102) and 100 <= s.low <= 102 <= s.high <= 104
    one = trials.summarise([5.0])
    assert (one.median, one.spread_percent, one.low, one.high) == (5.0, None, None, None)


def test_the_interval_leaves_the_tails_out():
    low, high = trials.interval([float(value) for value in range(1, 101)])
    assert 37 < low < 46 and 55 < high < 64  # the order statistics of 100 give about 40 and 61


def test_outliers_are_named_and_still_count():
    values = [100.0, 101.0, 99.0, 100.5, 10.0]
    s = trials.summarise(values)
    assert s.outliers == (5,) and s.trials == 5
    assert trials.outliers([100.0, 100.0, 100.0, 100.1]) == (4,)
    assert trials.outliers([1.0, 100.0, 1.0]) == ()  # of three none can be told


def test_drift():
    assert trials.drift([1.0, 2.0, 3.0, 4.0]) == "rising" and trials.drift([4.0, 3.0, 2.0, 1.0]) == "falling"
    assert trials.drift([1.0, 2.0, 3.0]) == "" and trials.drift([1.0, 2.0, 2.0, 3.0]) == ""


def test_steadiness_by_hand():
    assert trials.steadiness([100.0] * 10) == (0.0, 0.0)
    slope, excursion = trials.steadiness([95.0, 100.0, 105.0])
    assert (slope, excursion) == (pytest.approx(10.0), pytest.approx(10.0)) and trials.steady(slope, excursion)
    assert not trials.steady(*trials.steadiness([80.0, 100.0, 120.0]))
    assert not trials.steady(*trials.steadiness([100.0, 150.0, 100.0, 50.0, 100.0]))
    assert trials.steadiness([1.0, 2.0]) is None and trials.steadiness([0.0] * 5) is None


@pytest.mark.slow
@given(st.lists(POSITIVE, min_size=2, max_size=9))
def test_the_interval_holds_the_median_and_is_the_same_each_time(values):
    low, high = trials.interval(values)
    assert min(values) <= low <= trials.summarise(values).median <= high <= max(values)
    assert (low, high) == trials.interval(values)


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(1, 10**9), st.integers(0, 10**9)), min_size=10, max_size=60))
def test_windows_lose_nothing(parts):
    samples, at = [], 0
    for length, amount in parts:
        samples.append((at, at + length, amount))
        at += length
    rates = trials.windows(samples)
    assert len(rates) == 10
    assert sum(rates) * (at / 10) / 1e9 == pytest.approx(sum(amount for _, amount in parts), rel=1e-6, abs=1e-3)


def test_too_few_samples_have_no_windows():
    assert trials.windows([(0, 1, 1)] * 9) == [] and trials.windows([(0, 0, 1)] * 10) == []
