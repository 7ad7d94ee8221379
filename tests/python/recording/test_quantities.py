# SPDX-License-Identifier: GPL-2.0-or-later
"""The quantities of a direction: each number here was computed by hand."""

import dataclasses
import types

import pytest

from raidtrace.quantity import bins
from raidtrace.recording import columns, document
from raidtrace.recording import quantities as q
from raidtrace.recording.figures import QUANTITIES, Figures, Range, mode, percentile
from raidtrace.recording.spans import Span
from raidtrace.report import tables

SECOND = 10**9
# 1000 reads of 128 KiB but 10 of 4 KiB, 900 of them sequential, 2 s long.
FLOW = {"issued": 1000, "completed": 1000, "bytes_issued": 990 * 131072 + 10 * 4096, "sequential": 900,
        "bytes_completed": 990 * 131072 + 10 * 4096, "seek_forward_sectors": 99 * 2048, "d2c_sum_ns": 2500 * 10**6,
        "depth_sum_ns": 21 * SECOND}  # fmt: skip
BINS = {
    ("read", "size"): {8: 10, 256: 990}, ("read", "seek"): {64: 900, 76: 99}, ("read", "d2c"): {291: 1000},
    ("read", "depth_time"): {0: SECOND // 2, 1: SECOND, 40: SECOND // 2},
}  # fmt: skip
SPAN = Span(1, "read", 1, "sda", 0, 2 * SECOND, {"read": FLOW}, frozenset(), BINS, frozenset(),
            dict.fromkeys(columns.COUNTERS["sample"]), {}, ())  # fmt: skip


def of(*unknown, **changes):
    """Figures of these reads, of which some counters are not known, or others."""
    flow, histograms = dict(FLOW), dict(BINS)
    for name, value in changes.items():
        if name in bins.KINDS:
            histograms["read", name] = value
        else:
            flow[name] = value
    return Figures(dataclasses.replace(SPAN, flow={"read": flow}, bins=histograms, unknown=frozenset(unknown)), "read")


def values(figures):
    return {quantity.name: quantity.of(figures) for quantity in QUANTITIES if quantity.member}


NUMBERS = {
    "requests": 1000, "bytes": 129802240, "mib_per_s": pytest.approx(129802240 / 2 / (1 << 20)), "iops": 500,
    "in_flight_mean": 10.5, "in_flight_max": 40, "in_flight_is_lower_bound": False, "request_sectors_mode": Range(256, 257),
    "request_mode_count": 990, "request_bytes_mean": 129802.24, "sequential": 900, "sequential_share": 0.9, "seeks": 99,
    "seek_sectors_mean": 2048, "d2c_mean_ns": 2500000, "d2c_p50_ns": Range(2490368, 2621440),
    "d2c_p99_ns": Range(2490368, 2621440), "d2c_p999_ns": Range(2490368, 2621440),
    "d2c_max_ns": Range(2490368, 2621440),
}  # fmt: skip


def test_each_number():
    result = values(of())
    assert {name: result[name] for name in NUMBERS} == NUMBERS


@pytest.mark.parametrize(("unknown", "lacks"), [
    ("issued", "requests bytes request_mode_count sequential sequential_share seeks"), ("bytes_completed", "mib_per_s"),
    ("completed", "iops"), ("sequential", "sequential sequential_share seeks"), ("d2c_sum_ns", "d2c_mean_ns"),
])  # fmt: skip
def test_what_was_not_counted_is_none_and_the_rest_is_there(unknown, lacks):
    result, before = values(of(unknown)), values(of())
    assert {name for name in NUMBERS if result[name] is None} == set(lacks.split())
    assert all(result[name] == before[name] for name in NUMBERS.keys() - set(lacks.split()))
    needs = {quantity.name: quantity.needs for quantity in QUANTITIES}
    assert all(unknown in needs[name] for name in lacks.split())


@pytest.mark.parametrize(("name", "counts", "number"), [
    ("bytes", {}, 129802240), ("in_flight_mean", {}, 10.5), ("in_flight_max", {}, 40), ("request_sectors_mode", {}, 256),
    ("d2c_p50_ns", {}, 2621440), ("stream_share", {"stream": 250}, 0.25), ("splits", {"splits": 7}, 7),
    ("i2d_mean_ns", {"i2d": {20: 4}, "i2d_sum_ns": 100}, 25), ("i2d_p99_ns", {"i2d": {20: 98, 21: 2}}, 22),
    ("stream_queued_share", {"queued": 0}, None), ("sequential_queued_share", {"queued": 8, "sequential_queued": 2}, 0.25),
    ("in_flight_mean", {"depth_time": {0: SECOND, bins.DEPTH_OPEN: SECOND}}, 10.5),
    ("in_flight_max", {"depth_time": {0: SECOND, bins.DEPTH_OPEN: SECOND}}, None),
])  # fmt: skip
def test_one_number_of_each_kind(name, counts, number):
    quantity = next(one for one in QUANTITIES if one.name == name)
    assert quantity.number(of(**{"queued": 0, "i2d_sum_ns": 0} | counts)) == number
    for need in quantity.needs:
        assert quantity.number(of(bins.KINDS[need].needs if need in bins.KINDS else need, **counts)) is None
    if name == "in_flight_mean" and counts:  # without the counter there is a bound, which is no number to compare
        assert quantity.number(of("depth_sum_ns", **counts)) is None


def test_classes_of_a_disk_without_requests_have_bios_alone():
    classes = {"direct": {"queued": 64, "bytes_queued": 512, "seeks_queued": 1, "issued": 0, "bytes_issued": 0, "seeks": 0,
                          "seek_sectors": 0}}  # fmt: skip
    for unknown, issued, text in ((frozenset(), 0, "0"), (frozenset({"issued"}), None, "n/a")):
        span = dataclasses.replace(SPAN, origin=classes, unknown=unknown, groups=frozenset({"origin"}))
        result = document._origin(span, document._names("origin", ()))["direct"]
        assert (result["queued"], result["issued"], result["seeks"]) == (64, issued, issued)
        (row,) = next(table for table in tables.of_span(span) if table.id == "classes").rows
        assert row.cells[1].text == "64" and row.cells[4].text == row.cells[6].text == text


def test_without_a_request_there_is_no_mean():
    result = values(Figures(dataclasses.replace(SPAN, flow={}, bins={}), "read"))
    zero = {"requests": 0, "bytes": 0, "mib_per_s": 0.0, "iops": 0.0, "in_flight_is_lower_bound": False,
            "request_mode_count": 0, "sequential": 0, "seeks": 0}  # fmt: skip
    assert {name: value for name, value in result.items() if value is not None and (value or name in zero)} == zero


def test_a_request_that_is_issued_again_is_no_other():
    assert of(issued=1005, reissued=5, stream=500).requests() == 1000
    assert of(issued=1005, reissued=5, stream=500).share("stream", "issued") == 0.5
    flow = {"read": {"issued": 1005, "reissued": 5}, "write": {"issued": 200}, "flush": {"issued": 100}}
    span = dataclasses.replace(SPAN, flow=flow)
    phase = types.SimpleNamespace(span=span, of=lambda direction: Figures(span, direction))
    assert q.positioned(phase) == 1200, "flushes have no position"
    assert q.requests(phase) == 1300
    flow["read"]["bytes_issued"] = 1000 * 131072
    assert q.size_mean(phase, "read") == 256


def test_beyond_the_open_bin_the_counter_has_the_mean_and_without_it_there_is_a_bound():
    deep = {1: SECOND, bins.DEPTH_OPEN: SECOND}
    known, bound = of(depth_time=deep), of("depth_sum_ns", depth_time=deep)
    assert (known.depth(), known.depth_is_bound()) == (10.5, False)
    assert (bound.depth(), bound.depth_is_bound()) == (128.5, True)


def test_of_several_modes_the_lowest():
    assert mode({300: 5, 8: 5, 16: 4}, "size") == (Range(8, 9), 5) and mode({}, "size") is None


@pytest.mark.parametrize(("share", "at"), [(0.0, 1), (0.25, 1), (0.26, 2), (0.5, 2), (0.51, 3), (1.0, 4)])
def test_a_percentile_is_the_smallest_value_that_as_many_do_not_exceed(share, at):
    assert percentile({1: 1, 2: 1, 3: 1, 4: 1}, "depth_issue", share) == Range(at, at + 1)
    assert percentile({}, "d2c", share) is None


def test_a_bin_without_an_end_has_none():
    assert percentile({bins.DEPTH_OPEN: 1}, "depth_issue", 0.5) == Range(bins.DEPTH_OPEN, None)


@pytest.mark.parametrize(("part", "text"), [(1.0, "100.0%"), (0.99999, "99.9%"), (0.9994, "99.9%"), (0.5, "50.0%"),
                                            (0.0, "0.0%"), (0.00001, "<0.1%"), (0.0006, "0.1%"), (1.02, "102.0%")])  # fmt: skip
def test_all_and_none_are_reported_of_nothing_else(part: float, text: str) -> None:
    assert q.percent(part) == text
