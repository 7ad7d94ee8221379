# SPDX-License-Identifier: GPL-2.0-or-later
"""Statistics: trials, rank correlation and knee, the cost of a seek; against values worked out by hand and properties."""

import itertools
import random
import subprocess

import pytest
from conftest import TOP, compiled
from hypothesis import given
from hypothesis import strategies as st

from raidtrace.quantity import bins, trials

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
    assert trials.outliers([1.0, 100.0, 1.0]) == ()  # three trials are too few for an outlier


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


NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=12)
CURVES = st.lists(st.floats(1, 1e6), min_size=2, max_size=12).map(
    lambda ys: [(float(2**at), y) for at, y in enumerate(ys)]
)


@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_ranks_sum_to_those_of_distinct_values(values):
    assert sum(trials.ranks(values)) == pytest.approx(len(values) * (len(values) + 1) / 2)


@given(PAIRS)
def test_coefficients_lie_between_minus_one_and_one_and_turn_with_the_sign(pairs):
    turned = [(x, -y) for x, y in pairs]
    for of in (trials.spearman, trials.kendall):
        result = of(pairs)
        assert result is None or -1 <= result <= 1
        assert of(turned) == (None if result is None else pytest.approx(-result))


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=10, unique=True))
def test_any_rising_function_is_one(xs):
    pairs = [(float(x), float(x) ** 3 + 7) for x in xs]
    assert trials.spearman(pairs) == pytest.approx(1) and trials.kendall(pairs) == pytest.approx(1)


def test_by_hand():
    # differences of ranks 1 1 1 1 0: 1 - 6 x 4 / (5 x 24); 2 of 10 pairs disagree
    pairs = [(1, 2), (2, 1), (3, 4), (4, 3), (5, 5)]
    assert trials.spearman(pairs) == pytest.approx(0.8)
    assert trials.kendall(pairs) == pytest.approx(0.6)
    # ties: x has one, y none; 4 agree, 1 disagrees, of 6
    assert trials.kendall([(1, 1), (1, 2), (2, 4), (3, 3)]) == pytest.approx(3 / (5 * 6) ** 0.5)


def test_what_never_changes_has_no_correlation():
    assert trials.correlate([(float(x), 5.0) for x in range(8)]) is None
    assert trials.correlate([(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]) is None  # too few
    two = [(256.0, 1.0 + at / 100) for at in range(6)] + [(4096.0, 2.0 + at / 100) for at in range(6)]
    assert trials.correlate(two) is None  # of two settings, however many runs
    assert trials.correlate([*two, (1024.0, 1.5)])


def test_the_interval_tells_chance_from_cause():
    sure = trials.correlate([(float(x), float(x)) for x in range(12)])
    assert sure.sure() and sure.low > 0.5
    chance = trials.correlate(list(zip(map(float, range(8)), (3.0, 8.0, 1.0, 6.0, 2.0, 7.0, 4.0, 5.0))))
    assert not chance.sure()
    assert chance == trials.correlate(list(zip(map(float, range(8)), (3.0, 8.0, 1.0, 6.0, 2.0, 7.0, 4.0, 5.0))))


@given(CURVES)
def test_the_knee_is_the_smallest_setting_near_the_best(curve):
    x, y = trials.knee(curve)
    best = max(rate for _, rate in curve)
    assert y >= 0.95 * best
    assert all(rate < 0.95 * best for setting, rate in curve if setting < x)


@given(CURVES)
def test_regions_tile_the_curve_and_neighbours_differ(curve):
    result = trials.regions(curve)
    assert result[0].first == curve[0][0] and result[-1].last == curve[-1][0]
    for before, after in itertools.pairwise(result):
        assert before.last == after.first and before.direction != after.direction


def made(a, b, count=100, noise=0.0, seeks=(0, 20)):
    source = random.Random(3)
    result = []
    for _ in range(count):
        octets, times = source.uniform(1e6, 2e7), source.randint(*seeks)
        result.append(((octets * a + times * b) * (1 + source.uniform(-noise, noise)), octets, times))
    return result


@pytest.mark.parametrize(("a", "b"), [(0.1, 1e4), (2.4, 4e5), (100.0, 1e7), (1.0, 1e6), (50.0, 2e4)])
def test_a_cost_that_is_there_is_detected(a, b):
    result = trials.seek_cost(made(a, b))
    assert result.ms == pytest.approx(b / 1e6, rel=1e-3)
    assert result.stream_mib_per_s == pytest.approx(1e9 / a / 2**20, rel=1e-3)
    assert result.sure()


@pytest.mark.parametrize("samples", [made(2.4, 0, noise=0.05), [(1e8, 1e7, 5.0)] * 50])
def test_seeks_that_cost_nothing_and_samples_that_are_all_alike_are_not_charged(samples):
    assert not trials.seek_cost(samples).sure()


def seeking(*ms, seeks=3.0):
    """Four samples of bytes alone, 2 ns each, and others of seeks alone. So b is the sum of their times by that of their
    seeks."""
    return [*((2e6 * size, 1e6 * size, 0.0) for size in (1, 2, 3, 4)), *((one * 1e6, 0.0, seeks) for one in ms)]


def alternating(first, second, count=4):
    return [first, second] * count


@pytest.mark.parametrize(("samples", "ms", "squares", "share", "ns_per_byte"), [
    # without one of the eight: 84/9 and 96/9, six times 10
    (seeking(30, 30, 36, 24), 10.0, 2 * (2 / 3) ** 2, 120 / 140, 2.0),
    (seeking(0, 60, 0, 60), 10.0, 4 * (10 / 3) ** 2, 120 / 140, 2.0),
    (seeking(30, 30, 30, 30, seeks=2.5), 12.0, 0.0, 120 / 140, 2.0),
    # a would be -9 ns: the seeks alone, (4 x 20 x 4 + 4 x 1 x 2) / (4 x 4 x 4 + 4 x 2 x 2), are more than the busy time
    (alternating((20e6, 0.0, 4.0), (1e6, 1e6, 2.0)), 4.1, 8 * ((326 / 76 - 248 / 64) / 2) ** 2, 1.0, None),
    # b would be -3 ms: the bytes alone, (10 + 1) x 4 / (4 x 4 + 4 x 4)
    (alternating((10e6, 4e6, 0.0), (1e6, 4e6, 3.0)), 0.0, 0.0, 0.0, 1.375),
    (alternating((1e6, 0.0, 2.0), (1e6, 0.0, 2.0)), 0.0, 0.0, 0.0, None),
    # bytes and seeks are alike but for 0.01 % and 0.001 %
    (alternating((3e9, 1.0001e9, 1e3), (3e9, 0.9999e9, 1e3)), 3.0, 0.0, 1.0, None),
    (alternating((3e9, 1.00001e9, 1e3), (3e9, 0.99999e9, 1e3)), 0.0, 0.0, 0.0, 3.0),
])  # fmt: skip
def test_the_cost_of_seeks_by_hand(samples, ms, squares, share, ns_per_byte):
    result = trials.seek_cost(samples)
    far = 1.959964 * (7 * squares / 8) ** 0.5
    found = (result.ms, result.low_ms, result.high_ms, result.share, result.stream_mib_per_s or 0.0)
    rate = 1e9 / ns_per_byte / 2**20 if ns_per_byte else 0.0
    assert found == pytest.approx((ms, max(ms - far, 0.0), ms + far, share, rate), rel=1e-6)
    assert (result.blocks, result.merged, result.sure()) == (8, 1, ms > far)


def test_too_few_say_nothing():
    assert trials.seek_cost(made(2.4, 4e5, count=7)) is None
    assert trials.seek_cost(made(2.4, 4e5, seeks=(0, 0))) is None
    assert trials.seek_cost(seeking(30, 30, 30, 30, seeks=2.49)) is None  # 9.96 seeks
    assert trials.seek_cost(alternating((0.0, 1e6, 2.0), (0.0, 2e6, 1.0))) is None


@pytest.mark.parametrize(
    ("count", "blocks", "merged"), [(1000, 1000, 1), (1001, 501, 2), (2000, 1000, 2), (2001, 667, 3)]
)
def test_no_sample_is_lost_in_a_block(count, blocks, merged):
    samples = made(2.4, 4e5, count=count)
    result = trials.seek_cost(samples)
    assert (result.blocks, result.merged) == (blocks, merged)
    assert result.share == pytest.approx(4e5 * sum(row[2] for row in samples) / sum(row[0] for row in samples))


def test_many_samples_are_put_together():
    some, many = trials.seek_cost(made(2.4, 4e5, count=400)), trials.seek_cost(made(2.4, 4e5, count=36000))
    assert many.ms == pytest.approx(some.ms, rel=1e-3)
    assert (some.blocks, some.merged, many.blocks, many.merged) == (400, 1, 1000, 36)


def test_samples_that_say_the_same_many_times_make_the_interval_no_narrower():
    few = made(2.4, 4e5, count=500, noise=0.1)
    often = [sample for sample in few for _ in range(20)]
    some, many = trials.seek_cost(few), trials.seek_cost(often)
    assert many.high_ms - many.low_ms > 0.7 * (some.high_ms - some.low_ms)


def test_the_interval_holds_the_cost_as_often_as_it_says():
    def holds(seed):
        source = random.Random(seed)
        samples = []
        for _ in range(60):
            octets, times = source.uniform(1e6, 2e7), source.randint(0, 20)
            samples.append(((octets * 2.4 + times * 4e5) * source.gauss(1, 0.05), octets, times))
        result = trials.seek_cost(samples)
        return result.low_ms <= 0.4 <= result.high_ms

    kept = sum(map(holds, range(100)))
    assert 85 <= kept <= 99, kept


def test_the_same_samples_give_the_same_interval():
    assert trials.seek_cost(made(2.4, 4e5, noise=0.1)) == trials.seek_cost(made(2.4, 4e5, noise=0.1))


SOURCE = """
#include <stdio.h>
#include <string.h>
#include "account.h"

int main(void)
{
    char kind[16];
    long long value;

    while (scanf("%15s %lld", kind, &value) == 2)
        printf("%u\\n", !strcmp(kind, "size") ? raidtrace_size_bin(value) : !strcmp(kind, "seek") ? raidtrace_seek_bin(value) :
               !strcmp(kind, "size_row") ? raidtrace_size_row(value) :
               !strcmp(kind, "seek_row") ? raidtrace_seek_row(raidtrace_seek_bin(value)) :
               !strcmp(kind, "depth_row") ? raidtrace_depth_row(raidtrace_depth_bin(value)) :
               !strcmp(kind, "time") ? raidtrace_d2c_bin(value) : !strcmp(kind, "depth") ? raidtrace_depth_bin(value) :
               raidtrace_d2c_column(raidtrace_d2c_bin(value)));
    return 0;
}
"""
CUTS = {"size": "size", "seek": "seek", "d2c": "time", "depth_time": "depth", "depth_d2c": "column",
        "depth_d2c_ns": "depth_row", "size_d2c": "size_row", "seek_d2c": "seek_row"}  # fmt: skip


def test_bounds_are_those_of_the_module(tmp_path):
    """The lowest and the highest value of each bin fall into it."""
    (tmp_path / "a.c").write_text(SOURCE, encoding="ascii")
    options = [f"-I{TOP / name}" for name in ("kmod", "kmod/include/uapi", "tools/libraidtrace")]
    program = compiled(tmp_path / "a.c", tmp_path / "a", *options)
    calls, due = [], []
    for name, cut in CUTS.items():
        kind = bins.KINDS[name]
        for at in range(kind.columns() or bins.NUMBERS[kind.cut]):
            low, high = kind.bounds(at)
            if (name, at) == ("seek", 128):  # no distance is as far
                continue
            for value in {low, low if high is None else high - 1}:
                calls.append(f"{cut} {value}")
                due.append(at)
    done = subprocess.run([program], input="\n".join(calls), capture_output=True, text=True, check=True)
    assert [int(line) for line in done.stdout.split()] == due and len(due) > 2000
    last = [bins.KINDS[name].bounds(bins.NUMBERS[bins.KINDS[name].cut] - 1)[1] for name in CUTS if name != "seek_d2c"]
    assert last == [None] * (len(CUTS) - 1)


@given(st.integers(0, 800))
def test_bins_follow_each_other_without_a_gap(at):
    for bounds in (bins.size, bins.time):
        assert bounds(at)[1] == bounds(at + 1)[0]


@given(st.dictionaries(st.integers(0, 500), st.integers(1, 1000), min_size=1), st.floats(0.01, 1))
def test_a_quantile_has_its_part_below(histogram, part):
    middle = bins.quantile(histogram, part)
    below = sum(count for at, count in histogram.items() if bins.time(at)[0] <= middle)
    assert below >= part * sum(histogram.values()) * (1 - 1e-9)
