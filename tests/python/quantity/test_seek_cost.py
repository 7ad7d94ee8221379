# SPDX-License-Identifier: GPL-2.0-or-later
"""What a seek costs is found again where samples tell it, and not claimed where they do not."""

import random

import pytest

from raidtrace.quantity import seek_cost


def made(a, b, count=100, noise=0.0, seeks=(0, 20)):
    source = random.Random(3)
    found = []
    for _ in range(count):
        octets, times = source.uniform(1e6, 2e7), source.randint(*seeks)
        found.append(((octets * a + times * b) * (1 + source.uniform(-noise, noise)), octets, times))
    return found


@pytest.mark.parametrize(("a", "b"), [(0.1, 1e4), (2.4, 4e5), (100.0, 1e7), (1.0, 1e6), (50.0, 2e4)])
def test_a_cost_that_is_there_is_found(a, b):
    found = seek_cost.cost(made(a, b))
    assert found.ms == pytest.approx(b / 1e6, rel=1e-3)
    assert found.stream_mib_per_s == pytest.approx(1e9 / a / 2**20, rel=1e-3)
    assert found.sure()


def test_with_noise_the_interval_holds_it():
    found = seek_cost.cost(made(2.4, 4e5, noise=0.02))
    assert found.low_ms <= 0.4 <= found.high_ms


def test_seeks_that_cost_nothing_are_not_charged():
    assert not seek_cost.cost(made(2.4, 0, noise=0.05)).sure()


def test_samples_that_are_all_alike_tell_nothing_of_seeks():
    assert not seek_cost.cost([(1e8, 1e7, 5.0)] * 50).sure()


def test_too_few_say_nothing():
    assert seek_cost.cost(made(2.4, 4e5, count=7)) is None
    assert seek_cost.cost(made(2.4, 4e5, seeks=(0, 0))) is None


def test_many_samples_are_put_together():
    some, many = seek_cost.cost(made(2.4, 4e5, count=400)), seek_cost.cost(made(2.4, 4e5, count=36000))
    assert many.ms == pytest.approx(some.ms, rel=1e-3)
    assert (some.blocks, some.merged, many.blocks, many.merged) == (400, 1, 1000, 36)


def test_samples_that_say_the_same_many_times_make_the_interval_no_narrower():
    few = made(2.4, 4e5, count=500, noise=0.1)
    often = [sample for sample in few for _ in range(20)]
    some, many = seek_cost.cost(few), seek_cost.cost(often)
    assert many.high_ms - many.low_ms > 0.7 * (some.high_ms - some.low_ms)


def test_the_interval_holds_the_cost_as_often_as_it_says():
    def holds(seed):
        source = random.Random(seed)
        samples = []
        for _ in range(60):
            octets, times = source.uniform(1e6, 2e7), source.randint(0, 20)
            samples.append(((octets * 2.4 + times * 4e5) * source.gauss(1, 0.05), octets, times))
        found = seek_cost.cost(samples)
        return found.low_ms <= 0.4 <= found.high_ms

    held = sum(map(holds, range(100)))
    assert 85 <= held <= 99, held


def test_the_same_samples_give_the_same_interval():
    assert seek_cost.cost(made(2.4, 4e5, noise=0.1)) == seek_cost.cost(made(2.4, 4e5, noise=0.1))
