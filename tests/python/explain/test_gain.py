# SPDX-License-Identifier: GPL-2.0-or-later
"""The gain that a remedy is expected to have: what it is computed from, and where no figure is given."""

import pytest
from made_phase import judged, uneven

from raidtrace.explain.evidence import Verdict
from raidtrace.explain.gain import unbroken

SLOWED = {"driver": "nvme", "d2c": {1.0: 10, 8.0: 990}}  # 250 a second, mean 8 ms
READS = {"driver": "nvme", "direct": 1.0, "ahead": 0.0, "depth": 1.0}
FLASH = {**READS, "seconds": 0.1}  # 0.1 ms each
ALONE = {**READS, "at_issue": {0: 1000}, "idle": 0.5, "d2c": {0.28: 1000}}


def gain(key, direction="read", **knobs):
    """The expected gain of a limit as one number, and its sentence."""
    limit = judged(key, direction=direction, **knobs)
    return limit.figure(), limit.expected()


def test_twice_a_limit_is_twice_as_fast_until_requests_take_what_the_fastest_did():
    twice, sentence = gain("throttled", **SLOWED)
    assert twice == 2.0 and sentence == "Expected with twice the limit: about 2 times as fast."
    least, _ = gain("throttled", driver="nvme", d2c={6.0: 10, 8.0: 990})
    assert least == pytest.approx(8.0 / 6.0, rel=0.06)


def test_a_program_that_pauses_gains_less_of_a_higher_limit():
    """20 a second, each 8 ms instead of 1: of the 50 ms from one to the next 42 stay."""
    result, _ = gain("throttled", **SLOWED, idle=0.8, at_issue={0: 1000}, seconds=50.0, depth=0.8)
    assert 1.1 < result < 1.3


def test_a_disk_at_its_rate_gains_nothing_by_depth():
    result = gain("device", **SLOWED, seconds=0.06)
    assert result == (1.0, "Expected from more in flight or more readahead: no gain.")


def test_twice_in_flight_is_twice_as_fast_where_requests_do_not_wait():
    twice = (2.0, "Expected with twice as many in flight: about 2 times as fast.")
    assert gain("direct", **FLASH, d2c={0.1: 1000}) == twice
    assert (
        gain("direct", **{**FLASH, "driver": "3w-9xxx"}, d2c={0.1: 1000}) == twice
    )  # the drives of a local controller
    assert gain("direct", **{**FLASH, "driver": "qla2xxx"}, d2c={0.1: 1000})[0] is None  # a network
    alone = {**FLASH, "at_issue": {0: 1000}}
    assert gain("direct", **alone, d2c={0.1: 900, 0.08: 100})[0] is None  # the middle one takes 1.2 times the fastest
    assert gain("direct", **alone, d2c={0.1: 900, 0.095: 100})[0] == 2.0


def test_a_volume_may_have_a_limit_that_does_not_show_below_it():
    assert gain("direct", **{**FLASH, "driver": "virtio-pci"}, d2c={0.1: 1000})[0] is None
    assert gain("direct", **{**READS, "seconds": 0.31}, d2c={0.31: 1000})[0] is None  # ms of the fastest
    assert gain("direct", **{**READS, "seconds": 0.28}, d2c={0.28: 1000})[0] == 2.0


def test_larger_pieces_cost_the_same_seek():
    random = {"order": 0.0, "seeks": 1.0, "depth": 2.0, "driver": "ahci", "jump": 1 << 17}
    result, sentence = gain("seeks", **random, sectors=32)
    assert result == pytest.approx(2 / (1 + 16 / 100 / 8)) and "pieces twice as large" in sentence
    assert gain("seeks", **random, sectors=128)[0] and gain("seeks", **random, sectors=130)[0] is None
    array = {**random, "driver": "3w-9xxx"}  # a piece twice as large needs one drive only
    assert gain("seeks", **array, sectors=64)[0] and gain("seeks", **array, sectors=66)[0] is None
    assert gain("seeks", **{**random, "jump": (1 << 17) - 1}, sectors=32)[0] is None  # near places


def test_half_the_flushes_take_half_the_time_but_on_one_disk_with_heads():
    assert gain("sync", "write", driver="nvme", flushes=(130, 5.0))[0] == 2.0
    assert gain("sync", "write", driver="3w-9xxx", flushes=(130, 5.0))[0] == 2.0
    assert gain("sync", "write", driver="ahci", flushes=(130, 5.0))[0] is None


def test_slots_gain_what_waits_for_them_at_most_twice():
    full = {"driver": "nvme", "depth": 4.0, "settings": {"nr_requests": "4"}}
    assert gain("request slots", **full, q2c_ms=99.0)[0] == 2.0
    assert gain("request slots", **full, q2c_ms=25.0)[0] == pytest.approx(25 / 16)
    array = {"driver": "3w-9xxx", "q2c_ms": 99.0, "d2c": {0.1: 1000}}
    assert gain("request slots", **{**full, **array})[0] is None  # twice as many may be all that its drives take
    assert gain("request slots", **{**full, **array, "depth": 2.0, "settings": {"nr_requests": "2"}})[0] == 2.0


def test_without_pauses_a_program_that_waits_for_each_request_takes_the_time_of_the_disk():
    assert gain("program", **ALONE) == (pytest.approx(2.0), "Expected: about 2 times as fast.")
    bound = "Without that time it is at most about 2 times as fast."
    assert gain("program", **{**ALONE, "at_issue": {0: 940, 1: 60}}) == (None, bound)
    assert gain("program", **{**ALONE, "direct": 0.49}) == (None, bound)


def test_half_the_pauses_where_their_end_may_bring_another_limit():
    half = (pytest.approx(1 / 0.75), "Expected with pauses half as long: about 1.3 times as fast.")
    for other in ({"driver": "virtio-pci"}, {"d2c": {0.31: 1000}}, {"settings": {"model": "QEMU NVMe Ctrl"}},
                  {"driver": "3w-9xxx", "seeks": 0.0}, {"driver": "3w-9xxx", "seeks": 1.0}):  # fmt: skip
        assert gain("program", **{**ALONE, **other}) == half
    ahead = {**ALONE, "driver": "3w-9xxx", "direct": 0.0, "ahead": 1.0}  # the disk may work during the pauses
    assert gain("program", **{**ahead, "idle": 0.74})[0] is None
    assert gain("program", **{**ahead, "idle": 0.76})[0] == pytest.approx((2 / 0.62) ** 0.5)  # from 1.6 to 2


def test_twice_the_readahead_of_an_array_has_requests_that_come_one_after_the_other():
    """One request a window: two of them take an eighth longer than one. Two a window, as of POSIX_FADV_SEQUENTIAL: likewise."""
    ahead = {"driver": "3w-9xxx", "depth": 2.0, "settings": {"read_ahead_kb": "128", "max_sectors_kb": "128"}}
    assert gain("readahead", **ahead) == (
        pytest.approx(1.75),
        "Expected with twice the readahead: about 1.8 times as fast.",
    )
    assert gain("readahead", **{**ahead, "depth": 4.0})[0] == pytest.approx(1.6)
    for other in ({"driver": "nvme"}, {"streams": 2}, {"sectors": 250}, {"other": (1000, 0.8)}):
        limit = judged("readahead", **{**ahead, **other})
        assert limit.verdict is Verdict.INFERRED and limit.figure() is None, other


def test_a_scheduler_that_holds_back_costs_the_time_before_the_issue():
    kept = {"depth": 4.0, "i2d_ms": 9.0, "settings": {"scheduler": "bfq"}}
    assert gain("scheduler", **kept, driver="3w-9xxx")[0] == pytest.approx(25 / 16)  # 9 and 16 ms
    assert gain("scheduler", **kept, driver="ahci")[0] is None  # heads profit by order


def test_computing_is_a_bound_because_a_program_that_starts_computes():
    used = {**ALONE, "idle": 0.9, "cpu": 0.8}
    assert gain("processor", **used) == (None, "Without that time it is at most about 10 times as fast.")


def test_without_a_silence_the_rest_of_the_time_stays():
    """The silence may have been two intervals longer than the samples show; the figure differs by a tenth at most."""
    assert unbroken(100.0, 50.0, 2.0) == ((2.0, 2.0), "")
    (least, most), _ = unbroken(100.0, 50.0, 2.5)
    assert least == 2.0 and most == pytest.approx(100 / 45)
    assert unbroken(74.6, 74.2, 0.2) == (None, "")


def test_a_volume_has_the_part_of_the_others_to_give():
    others = {"submitters": [(7, "dd", 250, 0, 0), (9, "rsync", 750, 0, 0)], "others": (9,), "d2c": {1.0: 10, 8.0: 990}}
    assert gain("competing", **others, driver="virtio-pci") == (4.0, "Expected without them: about 4 times as fast.")
    assert gain("competing", **others, driver="virtio-pci", samples=uneven(9))[0] is None
    assert gain("competing", **others, driver="ahci")[0] is None
    assert gain("competing", **others, driver="3w-9xxx")[0] is None


def test_on_a_local_disk_a_request_takes_what_the_fastest_did():
    """Mean 0.2 ms after 0.1 ms of waiting, the fastest 0.1 ms."""
    local = {"driver": "nvme", "submitters": [(7, "dd", 250, 0, 0), (9, "rsync", 750, 0, 0)], "others": (9,)}
    result, _ = gain("competing", **local, seconds=0.1, depth=2.0, i2d_ms=0.1, d2c={0.1: 10, 0.2: 990})
    assert result == pytest.approx(3.0, rel=0.06)
