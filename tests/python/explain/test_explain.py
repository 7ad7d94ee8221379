# SPDX-License-Identifier: GPL-2.0-or-later
"""The explanation follows the figures, also where they contradict the expected story."""

import dataclasses

from raidtrace.explain import readahead as explain

UNTUNED = explain.ReadPhase("bonnie++ xfs", 256, 92000.0, 1.9, 256, 255.0, 256, 0.999, 2.6)
TUNED = explain.ReadPhase("bonnie++ xfs", 16384, 414000.0, 76.0, 256, 255.0, 256, 0.999, 23.1)


def why(untuned=None, tuned=None):
    low = dataclasses.replace(UNTUNED, **(untuned or {}))
    high = dataclasses.replace(TUNED, **(tuned or {}))
    return " ".join(explain.why(low, high))


def test_the_published_story_with_its_numbers():
    text = why()
    assert "92.0 -> 414.0 MB/s, x4.50" in text
    assert "did not grow: most are 128 KiB in both" in text
    assert "More reads were in flight: 1.90 -> 76.00 on average, x40.0" in text
    assert "1 to 2 and 64 to 128. Both runs agree." in text
    assert "= 4.50: the rate grew as much, x4.50." in text


def test_larger_requests_are_part_of_it():
    text = why({"request_sectors_mode": 64, "request_sectors_mean": 64.0})
    assert "changed size, 32 KiB -> 128 KiB" in text
    assert "More reads were in flight, too: " in text
    assert "did not grow" not in text


def test_a_grown_mean_is_observed_behind_an_equal_mode():
    assert "their mean size grew, x1.25" in why({"request_sectors_mean": 204.0})


def test_concurrency_that_did_not_rise_explains_nothing():
    text = why(tuned={"inflight_mean": 2.0, "d2c_mean_ms": 0.6})
    assert "The reads in flight do not explain the gain" in text
    assert "More reads" not in text


def test_a_missed_prediction_is_reported():
    assert "does NOT hold at 8 MiB" in why(tuned={"inflight_mean": 30.0, "d2c_mean_ms": 9.1})
    assert "does NOT hold at 128 KiB and 8 MiB" in why({"inflight_mean": 0.7}, {"inflight_mean": 140.0})


def test_a_prediction_is_kept_to_five_percent():
    assert dataclasses.replace(UNTUNED, inflight_mean=2.09).as_predicted()
    assert not dataclasses.replace(UNTUNED, inflight_mean=2.11).as_predicted()
    assert not dataclasses.replace(UNTUNED, inflight_mean=0.94).as_predicted()


def test_no_speed_up_claims_none():
    text = why(tuned={"kib_per_s": 93000.0})
    assert "did not make it faster" in text
    assert "More reads" not in text


def test_a_balance_that_does_not_close_is_reported():
    assert "NOT x4.50 as the rate" in why(tuned={"d2c_mean_ms": 50.0})


def test_readahead_smaller_than_a_request_predicts_one_to_two():
    assert dataclasses.replace(UNTUNED, setra_sectors=64).predicted() == (1.0, 2.0)
