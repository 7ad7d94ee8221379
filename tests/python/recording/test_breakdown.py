# SPDX-License-Identifier: GPL-2.0-or-later
"""The breakdown of a phase: two states that add up, the time at the disk, and what more in flight would give."""

import collections
import dataclasses
import functools
import itertools
import json
import math
import random
import re

import jsonschema
import pytest
from conftest import TOP
from made_phase import span_of, time_bin
from simulated_queue import Disk, depth_times

from raidtrace.explain import breakdown as shown
from raidtrace.quantity import bins
from raidtrace.recording import breakdown
from raidtrace.recording.breakdown import Interval, More

MS = 10**6
SECOND = 1000 * MS


def row(found):
    """The row of depth-d2c of requests that found so many in flight."""
    return found.bit_length()


def requests(of, times=None, per=1, more=(), **counters):
    """A span of requests, by direction. of: direction -> (requests that each found in flight, ms) -> number. times: ns by
    depth; those that the requests need if each kept its depth, if None. per: bios of a request."""
    flow, made = {}, {("all", "depth_issue"): {}}
    kept = {}
    for direction, some in of.items():
        number, exact = sum(some.values()), sum(int(ms * MS) * count for (_, ms), count in some.items())
        flow[direction] = {"queued": number * per, "issued": number, "completed": number, "bytes_completed": number << 12,
                           "d2c_sum_ns": exact, "q2c_sum_ns": exact * per} | counters  # fmt: skip
        for (found, ms), count in some.items():
            cell = bins.D2C_COLUMNS * row(found) + int(ms * MS).bit_length()
            for key, at in (((direction, "depth_d2c"), cell), ((direction, "d2c"), time_bin(ms)),
                            (("all", "depth_issue"), min(found, bins.DEPTH_OPEN))):  # fmt: skip
                made.setdefault(key, {})
                made[key][at] = made[key].get(at, 0) + count
            kept[found + 1] = kept.get(found + 1, 0) + count * int(ms * MS) // (found + 1)
        made[direction, "q2c"] = {200: number * per}
    made["all", "depth_time"] = kept if times is None else times
    length = sum(made["all", "depth_time"].values())
    return span_of(flow, made | dict(more), 0, length)


def reads(of, **more):
    return breakdown.of(requests({"read": of}, **more))


# Two states.


def test_the_two_states_add_up_and_the_depth_is_of_the_busy_one():
    one = reads({(0, 1): 1000}, times={0: 25 * SECOND, 1: 50 * SECOND, 3: 25 * SECOND})
    assert (one.busy_share, one.idle_share, one.seconds) == (0.75, 0.25, 100)
    assert one.depth == pytest.approx((50 + 3 * 25) / 75)
    assert not one.depth_is_bound and not one.missing


def with_waits(**waits):
    """A span of 100 s, three quarters busy, and ns with bios waiting."""
    one = requests({"read": {(0, 1): 1000}}, times={0: 25 * SECOND, 1: 75 * SECOND})
    return breakdown.of(dataclasses.replace(one, plain=dict.fromkeys(one.plain) | waits))


def test_the_four_states_add_up_and_each_has_its_part_of_one_bar():
    one = with_waits(held_ns=20 * SECOND, backlog_ns=30 * SECOND, waiting_sum_ns=150 * SECOND)
    assert one.states == pytest.approx({"served": 0.45, "backlog": 0.3, "held": 0.2, "empty": 0.05})
    assert (one.waiting, one.waiting_bios) == (1.5, 3.0)
    lines = shown.text([one], 80)[1:5]
    assert [line[:47].rstrip() for line in lines] == [
        "  served           45.0 %  #########",
        "  backlog          30.0 %           ======",
        "  held             20.0 %                 ----",
        "  empty             5.0 %                     .",
    ]
    assert [line[49:] for line in lines] == [
        "1.00 in flight at a time", "3.00 bios wait, the disk works", "the disk is idle", "nothing is asked of the disk",
    ]  # fmt: skip
    document = breakdown.document(one)
    assert {state: document[f"{state}_share"] for state in one.states} == one.states and document["waiting_mean"] == 1.5
    assert [max(map(len, shown.text([one], width))) <= width for width in (40, 60, 80)] == [True] * 3


def test_a_state_of_no_time_has_no_line():
    short = with_waits(held_ns=SECOND // 100, backlog_ns=0, waiting_sum_ns=SECOND // 100)
    assert [state for state, *_ in shown.states(short)] == ["served", "empty"] and short.held_share == 0.0001
    only_held = with_waits(held_ns=SECOND, backlog_ns=0, waiting_sum_ns=2 * SECOND)
    assert [*shown.states(only_held)][1] == ("held", "1.0 %", 0.01, "2.00 bios wait, the disk is idle")


def test_a_recording_before_abi_6_has_two_states():
    before = with_waits()
    assert (before.held_share, before.backlog_share, before.waiting) == (None, None, None)
    assert before.states == {"busy": 0.75, "idle": 0.25} and breakdown.document(before)["empty_share"] is None
    assert [*shown.states(before)] == [
        ("busy", "75.0 %", 0.75, "1.00 in flight at a time"), ("idle", "25.0 %", 0.25, "nothing in flight")
    ]  # fmt: skip


def test_a_disk_without_requests_is_busy_while_it_has_bios():
    flow = {"read": {"queued": 100, "bytes_queued": 100 << 18, "q2c_sum_ns": SECOND}}
    lacks = {"issued", "completed", "d2c_sum_ns"}
    span = span_of(flow, {("read", "q2c"): {200: 100}}, 0, SECOND, unknown=lacks, bio_based=True,
                   plain={"held_ns": SECOND // 4})  # fmt: skip
    one = breakdown.of(span)
    assert one.states == {"busy": 0.25, "empty": 0.75} and set(one.missing) == {"busy_depth"}
    assert [*shown.states(one)][0] == ("busy", "25.0 %", 0.25, "4.00 bios at a time")


def test_an_open_bin_of_depth_gives_a_lower_bound_unless_the_sum_was_counted():
    times = {0: SECOND, bins.DEPTH_OPEN: SECOND}
    flow = {"read": {"issued": 1, "completed": 1}, "all": {"depth_sum_ns": 300 * SECOND}}
    known = breakdown.of(span_of(flow, {("all", "depth_time"): times}, 0, 2 * SECOND))
    lacks = breakdown.of(span_of(flow, {("all", "depth_time"): times}, 0, 2 * SECOND, unknown={"depth_sum_ns"}))
    assert (known.depth, known.depth_is_bound) == (300, False)
    assert (lacks.depth, lacks.depth_is_bound) == (bins.DEPTH_OPEN, True)


def test_a_disk_without_requests_has_the_time_of_its_bios_and_the_reason_for_the_rest():
    flow = {"read": {"queued": 100, "bytes_queued": 100 << 18, "q2c_sum_ns": 100 * 8 * MS}}
    unknown = {"issued", "completed", "in_flight", "d2c_sum_ns", "depth_sum_ns"}
    made = {("read", "q2c"): {200: 100}}
    one = breakdown.of(span_of(flow, made, 0, SECOND, unknown=unknown, bio_based=True))
    (way,) = one.ways
    assert (one.busy_share, one.depth, way.d2c_mean_ns, way.at_disk) == (None, None, None, None)
    assert (one.bios, way.q2c_mean_ns, way.per_s) == (0.8, 8 * MS, 100)
    assert one.missing == dict.fromkeys(("busy_share", "idle_share", "busy_depth"), breakdown.ONLY_BIOS)
    assert way.missing == dict.fromkeys(("d2c_mean_ns", "at_disk_share"), breakdown.ONLY_BIOS)
    assert way.more.verdict is More.NOT_AVAILABLE


@pytest.mark.parametrize(("kinds", "unknown", "lacks"), [
    ({"depth_time"}, {"in_flight"}, {"busy_share", "depth"}),
    ({"q2c"}, {"q2c_sum_ns"}, {"q2c_mean_ns", "at_disk"}),
    ({"d2c", "depth_d2c"}, {"d2c_sum_ns"}, {"d2c_mean_ns", "at_disk", "levels"}),
    ({"depth_d2c"}, {}, {"levels"}),
    ({"depth_issue"}, {}, set()),
    ({"d2c"}, {}, {"at_disk"}),
])  # fmt: skip
def test_a_missing_counter_makes_its_figures_not_available_and_leaves_the_others(kinds, unknown, lacks):
    span = requests({"read": {(0, 1): 1000, (7, 1): 1000}})
    whole = figures(breakdown.of(span))
    kept = {key: value for key, value in span.bins.items() if key[1] not in kinds}
    one = breakdown.of(dataclasses.replace(span, bins=kept, unknown=frozenset(unknown)))
    got = figures(one)
    assert {name for name, value in got.items() if not value} == lacks
    assert {name: value for name, value in got.items() if name not in {*lacks, "levels"}} == {
        name: value for name, value in whole.items() if name not in {*lacks, "levels"}
    }
    assert (one.ways[0].more.verdict is More.NOT_AVAILABLE) == ("levels" in lacks)
    named = {"levels", *(name.replace("at_disk_share", "at_disk").replace("busy_depth", "depth")
                         for name in (*one.missing, *one.ways[0].missing))}  # fmt: skip
    assert lacks <= named
    assert shown.text([one], 80)


def figures(one):
    (way,) = one.ways
    return {"busy_share": one.busy_share, "depth": one.depth, "q2c_mean_ns": way.q2c_mean_ns, "at_disk": way.at_disk,
            "d2c_mean_ns": way.d2c_mean_ns, "levels": way.levels}  # fmt: skip


def test_a_phase_without_requests_has_no_breakdown():
    assert breakdown.of(span_of({"read": {}}, {("all", "depth_time"): {0: SECOND}}, 0, SECOND)) is None


def test_directions_below_a_twentieth_of_the_requests_are_left_out():
    one = breakdown.of(requests({"read": {(0, 1): 95}, "write": {(0, 1): 5}, "flush": {}}))
    less = breakdown.of(requests({"read": {(0, 1): 96}, "write": {(0, 1): 4}}))
    assert [(way.direction, way.request_share) for way in one.ways] == [("read", 0.95), ("write", 0.05)]
    assert [way.direction for way in less.ways] == ["read"]


# The time at the disk.


def test_a_bio_in_each_request_makes_the_share_exact():
    one = reads({(0, 1): 100, (0, 3): 100}, q2c_sum_ns=800 * MS)
    (way,) = one.ways
    assert (way.q2c_mean_ns, way.d2c_mean_ns) == (4 * MS, 2 * MS)
    assert way.at_disk == Interval(0.5, 0.5)


def test_merged_bios_leave_bounds():
    """10 requests of 1 ms and 10 of 3 ms carry 40 bios: the 20 others are at the disk for 1 to 3 ms each."""
    one = reads({(0, 1): 10, (0, 3): 10}, per=2, q2c_sum_ns=200 * MS)
    low, high = (bins.time(time_bin(ms))[end] / MS for ms, end in ((1, 0), (3, 1)))
    share = one.ways[0].at_disk
    assert share.low == pytest.approx((40 + 20 * low) / 200) and share.high == pytest.approx((40 + 20 * high) / 200)
    assert (20 + 40) / 200 > share.low > 0.29 and (40 + 60) / 200 < share.high < 0.53


def test_pieces_of_unknown_bios_leave_bounds():
    """5 of 20 requests of 1 or 3 ms may carry unknown bios alone. Then 5 of the 20 known pieces are second ones."""
    one = reads({(0, 1): 10, (0, 3): 10}, q2c_sum_ns=80 * MS, q2c_unknown=5)
    share = one.ways[0].at_disk
    assert share.low == pytest.approx((10 + 5 * 3 + 5 * 1) / 80, rel=0.07) and share.low < 30 / 80
    assert share.high == pytest.approx((10 * 3 + 5 * 1 + 5 * 3) / 80, rel=0.07) and share.high > 50 / 80


# The rate by depth.


def test_the_mean_of_the_only_row_is_the_exact_one():
    (level,) = reads({(0, 1): 300, (0, 3): 100}).ways[0].levels
    error = 1.96 * (0.75 * MS) ** 0.5 * MS**0.5 / 20  # the variance of 1, 1, 1, 3 is 0.75
    assert level.d2c_ns.low == pytest.approx(1.5 * MS - error, rel=0.01)
    assert level.d2c_ns.high == pytest.approx(1.5 * MS + error, rel=0.01)
    assert level.mean == Interval(1, 1) and (level.low, level.high, level.requests) == (1, 1, 400)
    assert level.per_s.low == pytest.approx(1e9 / level.d2c_ns.high)


def test_rows_of_one_octave_have_the_bounds_of_its_values():
    """Each row has 100 requests between 0.52 and 1.05 ms; d2c tells that half of all took 0.6, half 1.0 ms. The row of the
    lowest depth may have all of the fast ones, but is not slower than the mean; the deepest is not faster."""
    span = requests({"read": {(found, ms): 50 for found in (0, 3, 7) for ms in (0.6, 1.0)}})
    first, middle, second = breakdown.of(span).ways[0].levels
    assert 0.63 * MS < middle.d2c_ns.low <= 0.7 * MS and 0.9 * MS <= middle.d2c_ns.high < 1.0 * MS
    assert 0.53 * MS < first.d2c_ns.low <= 0.6 * MS and 0.8 * MS <= first.d2c_ns.high < 0.88 * MS
    assert 0.72 * MS < second.d2c_ns.low <= 0.8 * MS and 1.0 * MS <= second.d2c_ns.high < 1.1 * MS


def test_the_depth_of_a_row_is_that_of_its_issues():
    """A row covers 4 to 7 found; depth-issue tells 5 and 6."""
    (level,) = reads({(5, 1): 100, (6, 1): 300}).ways[0].levels
    assert (level.low, level.high, level.mean) == (6, 7, Interval(6.75, 6.75))
    span = requests({"read": {(5, 1): 100, (6, 1): 300}})
    kept = {key: value for key, value in span.bins.items() if key[1] != "depth_issue"}
    (level,) = breakdown.of(dataclasses.replace(span, bins=kept)).ways[0].levels
    assert (level.low, level.high, level.mean) == (5, 8, Interval(5, 8))


def test_the_open_row_has_no_highest_depth():
    (level,) = reads({(300, 1): 100}, times={bins.DEPTH_OPEN: SECOND}).ways[0].levels
    assert (level.low, level.high) == (257, None)
    assert level.mean.high == level.per_s.high == float("inf")


def test_fewer_requests_than_a_mean_needs_are_no_level():
    assert len(reads({(0, 1): 19, (7, 1): 1000}).ways[0].levels) == 1
    assert len(reads({(0, 1): 20, (7, 1): 1000}).ways[0].levels) == 2
    assert reads({(0, 1): 19}).ways[0].more.reason == "fewer than 20 requests at each depth"


def test_requests_without_a_time_have_no_rate():
    """In simulated time a device without a model completes at once."""
    one = reads({(0, 0): 30}, d2c_sum_ns=0, q2c_sum_ns=0)
    assert one.ways[0].levels == () and one.ways[0].more.verdict is More.NOT_AVAILABLE


# The gain of more in flight.

DEPTHS = (0, 1, 3, 7, 15)


def test_a_disk_whose_latency_grows_with_the_depth_gains_nothing():
    one = reads({(found, found + 1): 1000 for found in DEPTHS}).ways[0].more
    assert one.verdict is More.NO_HELP
    assert 0.85 < one.gain.low < 1 < one.gain.high < breakdown.MIN_FACTOR
    assert (one.start.low, one.end.low, one.linear) == (1, 16, 16)


def test_a_disk_whose_latency_is_the_same_at_each_depth_gains():
    one = reads({(found, 1.0): 1000 for found in DEPTHS}).ways[0].more
    assert one.verdict is More.HELPS
    assert 14 < one.gain.low < 16 < one.gain.high < 17.1
    assert (one.start.low, one.end.low) == (1, 16)


@pytest.mark.parametrize(("ms", "verdict"), [(4.0, More.HELPS), (8.0, More.NO_HELP)])
def test_without_a_deeper_one_the_usual_depth_is_compared_with_the_nearest_lower(ms, verdict):
    one = reads({(0, 1.0): 100, (3, 4.0): 100, (7, ms): 5000}).ways[0].more
    assert (one.verdict, one.start.low, one.end.low) == (verdict, 4, 8)


def test_a_rise_long_before_the_usual_depth_is_no_help_there():
    """The rate rises from 1 to 4; from 4 to 8 it is open: half of the requests of both may have taken 3, half 4 ms."""
    early = {(0, 1.0): 1000, (3, 2.2): 500, (3, 4.0): 500, (7, 2.2): 2500, (7, 4.0): 2500}
    one = reads(early).ways[0].more
    assert (one.verdict, one.start.low, one.end.low) == (More.NOT_KNOWN, 4, 8)
    flat = {(0, 1.0): 1000, (3, 4.3): 900, (3, 8.2): 100, (7, 8.0): 5000}
    one = reads(flat).ways[0].more
    assert (one.verdict, one.start.low, one.end.low) == (More.NO_HELP, 1, 8)


def test_a_rare_deep_burst_is_no_evidence():
    common, rare = ({(0, 1.0): 1000, (7, 1.0): number} for number in (60, 40))
    assert reads(common).ways[0].more.end.low == 8
    assert reads(rare).ways[0].more.reason == breakdown.RARE


def test_one_depth_is_not_known():
    one = reads({(0, 1.0): 1000}).ways[0].more
    assert (one.verdict, one.reason, one.gain) == (More.NOT_KNOWN, breakdown.ONE_DEPTH, None)


def test_values_of_one_octave_leave_the_gain_open():
    """Both depths have half of their requests at either end of the octave: the counters do not tell whose are whose."""
    wide = {(found, ms): 100 for found in (0, 1) for ms in (0.53, 1.04)}
    one = reads(wide).ways[0].more
    assert one.verdict is More.NOT_KNOWN
    assert one.gain.low < 1 < 2 < one.gain.high


def test_requests_issued_together_leave_the_gain_open():
    """Batches of 8, all in flight until the last ends. A disk that shares its rate among them is a cap, one that serves
    them side by side is not; the counters are the same."""
    together = {(found, 8.0): 1000 for found in range(8)}
    one = reads(together, times={8: 8 * SECOND}).ways[0].more
    assert one.verdict is More.NOT_KNOWN
    assert one.gain.low < 1 and one.gain.high > 1.5
    one = reads(together).ways[0].more  # each kept its depth
    assert one.verdict is More.HELPS


def test_the_time_at_low_depths_is_that_of_all_requests_that_found_them():
    """4 s of request-time at depth 2 are half of that of the requests that found none and one; the rest was at 8."""
    one = reads({(0, 4.0): 999, (1, 4.0): 1000, (7, 4.0): 999}, times={2: 2 * SECOND, 8: SECOND}).ways[0].more
    assert (one.start.low, one.end.low) == (2, 8)
    assert one.gain.low == pytest.approx(7.5 / (2 / 2 + 8 / 2), rel=0.1)


def test_requests_of_an_open_queue_find_one_half_done():
    """A server of 1 ms, arrivals at random times: a request that finds one waits 0.5 ms for it, which is no gain."""
    one = reads({(0, 1.0): 1000, (1, 1.5): 1000}).ways[0].more
    assert one.verdict is More.NOT_KNOWN
    assert one.gain.low < 1.0 < one.gain.high


def test_each_direction_has_its_own_answer():
    span = requests({"read": {(0, 1.0): 1000, (7, 1.0): 1000}, "write": {(0, 4.0): 1000, (7, 32.0): 1000}})
    read, write = breakdown.of(span).ways
    assert (read.more.verdict, write.more.verdict) == (More.HELPS, More.NO_HELP)
    text = "\n".join(shown.text([breakdown.of(span)], 80))
    text = " ".join(text.split())
    assert re.search(
        r"More in flight helps reads: the rate at 8 is 7\.\d+ to 8\.\d+ times that at 1 \(linear: 8\)\. Beyond 8", text
    )
    assert re.search(
        r"More in flight does not help writes: the rate at 8 is 0\.9\d to 1\.0\d times that at 1 \(linear: 8\)", text
    )


# A simulated disk, whose rate at any depth can be measured, as the witness.

DISKS = {
    "side by side": dict(latency=1.0), "side by side, uneven": dict(latency=1.0, spread=0.9),
    "one server": dict(servers=1), "one server, uneven": dict(servers=1, spread=0.9), "four servers": dict(servers=4),
    "four servers and latency": dict(servers=4, service=0.25, latency=0.5),
    "one server and latency": dict(servers=1, service=0.2, latency=1.0),
    "shared server": dict(shared=True, service=0.5), "shared server and latency": dict(shared=True, service=0.1, latency=0.5),
}  # fmt: skip
DECIDED = {
    "one server": More.NO_HELP,
    "one server, uneven": None,
    "shared server": None,
    "side by side, uneven": None,
}  # the others: helps
LENGTH = 2000.0  # ms


def loads(disk, seed):
    """Requests of each kind of load: always as many, with a time to think, at random times, and in batches."""
    chance, cap = random.Random(seed), min(disk.rate(64), 8)
    for closed, think in ((1, 0), (8, 0), (4, 2.0), (16, 4.0), (16, 0.5)):
        yield disk.run((), closed=closed, think=think, until=LENGTH)
    for part in (0.3, 0.7):
        gaps = (chance.expovariate(part * cap) for _ in itertools.count())
        yield disk.run(itertools.takewhile(lambda at: at < LENGTH, itertools.accumulate(gaps)))
    for size in (4, 32):
        every = 1.5 * size / cap
        yield disk.run([at * every for at in range(int(LENGTH / every)) for _ in range(size)])


def counted(done):
    """The span of simulated requests."""
    kinds = {key: collections.Counter() for key in (("read", "d2c"), ("read", "depth_d2c"), ("all", "depth_issue"))}
    for found, start, end in done:
        ns = int((end - start) * MS)
        for counter, at in zip(
            kinds.values(), (time_bin(ns / MS), bins.D2C_COLUMNS * row(found) + ns.bit_length(), found)
        ):
            counter[at] += 1
    whole = sum(int((end - start) * MS) for _, start, end in done)
    times = {depth: int(ms * MS) for depth, ms in depth_times(done).items()}
    flow = {"read": {"issued": len(done), "completed": len(done), "d2c_sum_ns": whole}}
    return span_of(flow, {**kinds, ("all", "depth_time"): times}, 0, sum(times.values()))


@pytest.mark.slow
@pytest.mark.parametrize("kind", DISKS)
def test_the_gain_of_a_simulated_disk_is_in_the_interval_and_no_verdict_is_false(kind):
    disk, verdicts = Disk(1, **DISKS[kind]), set()
    rate = functools.cache(disk.rate)

    def truth(depth):
        low = math.floor(depth)
        return rate(low) + (depth - low) * (rate(low + 1) - rate(low)) if depth > low else rate(low)

    for done in loads(disk, 1):
        span = counted(done)
        one = breakdown.of(span)
        assert one.depth == pytest.approx(
            sum(end - start for _, start, end in done) / (one.seconds * one.busy_share * 1e3), rel=1e-3
        )
        more = one.ways[0].more
        if more.gain is None:
            continue
        start, end = ((level.mean.low + level.mean.high) / 2 for level in (more.start, more.end))
        gain = truth(end) / truth(start)
        assert 0.95 * more.gain.low <= gain <= 1.05 * more.gain.high, (more, gain)
        assert more.verdict is not More.HELPS or gain > 1.1, (more, gain)
        assert more.verdict is not More.NO_HELP or gain < 1.2, (more, gain)
        verdicts.add(more.verdict)
    assert DECIDED.get(kind, More.HELPS) in {*verdicts, None}


# JSON and text.


@pytest.mark.parametrize("span", [
    requests({"read": {(0, 1.0): 1000, (7, 1.0): 1000, (300, 9.0): 1000}, "write": {(0, 4.0): 1000}, "flush": {(0, 1.0): 900}}),
    span_of({"read": {"queued": 9}}, {}, unknown={"issued", "completed", "in_flight"}, bio_based=True),
])  # fmt: skip
def test_json_has_each_member_of_the_schema_and_null_for_the_rest(span):
    schema = json.loads((TOP / "Documentation/raidctl.schema.json").read_text(encoding="utf-8"))
    document = json.loads(json.dumps(breakdown.document(breakdown.of(span)), allow_nan=False))
    jsonschema.validate(document, {"$ref": "#/$defs/breakdown", "$defs": schema["$defs"]})
    for one in (document, *document["directions"].values()):
        null = {re.sub("_(low|high)$", "", name) for name, value in one.items() if value is None} - {"bios_mean"}
        assert {*one["not_available"]} >= null & {
            "busy_share",
            "busy_depth",
            "at_disk_share",
            "q2c_mean_ns",
            "d2c_mean_ns",
        }


def test_a_flush_has_no_share_at_the_disk():
    way = breakdown.of(requests({"flush": {(0, 1.0): 100}})).ways[0]
    assert (way.at_disk, way.more.verdict) == (None, More.NOT_AVAILABLE)
    assert way.missing == {"at_disk_share": "only reads and writes have it"}


@pytest.mark.parametrize(
    ("disk", "place"), [("sda", "all of it at the disk"), ("loop0", "all of it in loop0 and below it")]
)
def test_the_time_of_a_layer_is_not_said_to_be_at_a_disk(disk, place):
    one = dataclasses.replace(breakdown.of(requests({"read": {(0, 1.0): 1000}})), disk=disk)
    way = dataclasses.replace(one.ways[0], at_disk=breakdown.Interval(1.0, 1.0), q2c_mean_ns=1e6)
    assert shown.takes(one, way) == f"1.00 ms, {place}"


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("number", [1, 3, 4, 9])
def test_no_line_is_wider_than_the_terminal(width, number):
    some = {
        "read": {(found, 1.0): 1000 for found in DEPTHS},
        "write": {(2, 3.0): 1000},
        "passthrough": {(0, 1.0): 1000},
    }
    one = breakdown.of(requests(some))
    lines = shown.text([one] * number, width)
    assert max(map(len, lines)) <= width
    assert sum(line.startswith("sda, run") for line in lines) == (number if number <= 3 else 0)
    assert number > 3 or "passthrough takes 1.00 ms" in " ".join(" ".join(lines).split())


@pytest.mark.parametrize(("share", "texts"), [
    (0.97949, ["97.9 %", "2.1 %"]), (0.9795, ["98.0 %", "2.0 %"]), (1.0, ["100.0 %"]), (0.0, ["100.0 %"]),
    (0.99999, ["99.9 %"]), (0.999, ["99.9 %", "0.1 %"]),
])  # fmt: skip
def test_the_shares_of_the_text_add_up(share, texts):
    one = dataclasses.replace(reads({(0, 1): 100}), busy_share=share)
    assert [text for _, text, *_ in shown.states(one)] == texts


@pytest.mark.parametrize(("shares", "marks"), [
    ([1.0], [20]), ([0.999, 0.001], [19, 1]), ([0.5, 0.5], [10, 10]), ([0.325, 0.325, 0.35], [6, 6, 8]),
    ([0.001, 0.001, 0.001, 0.997], [1, 1, 1, 17]),
])  # fmt: skip
def test_the_marks_of_all_states_are_one_bar(shares, marks):
    assert shown.marks(shares, 20) == marks and shown.marks(shares, 0) == [0] * len(shares)
