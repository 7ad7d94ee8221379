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
import statistics
import types

import jsonschema
import pytest
from conftest import TOP
from made_phase import span_of, time_bin
from simulated_queue import Disk, depth_times
from simulated_sizes import Disk as SizedDisk
from simulated_sizes import depth_times as depth_times_of

from raidtrace.explain import breakdown as shown
from raidtrace.quantity import bins
from raidtrace.recording import breakdown
from raidtrace.recording.breakdown import Interval, More
from raidtrace.recording.spans import Submitter

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
            sums = made.setdefault((direction, "depth_d2c_ns"), {})
            sums[row(found)] = sums.get(row(found), 0) + int(ms * MS) * count
            kept[found + 1] = kept.get(found + 1, 0) + count * int(ms * MS) // (found + 1)
        made[direction, "q2c"] = {200: number * per}
    made["all", "depth_time"] = kept if times is None else times
    length = sum(made["all", "depth_time"].values())
    return span_of(flow, made | dict(more), 0, length)


def reads(of, **more):
    return breakdown.of(requests({"read": of}, **more))


def before_abi_6(span):
    """The span without exact sums of rows."""
    return dataclasses.replace(
        span, bins={key: value for key, value in span.bins.items() if not key[1].endswith("_ns")}
    )


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
        "1.00 in flight at a time", "3.00 bios wait, disk busy", "disk idle", "nothing is asked of the disk",
    ]  # fmt: skip
    document = breakdown.document(one)
    assert {state: document[f"{state}_share"] for state in one.states} == one.states and document["waiting_mean"] == 1.5
    assert [max(map(len, shown.text([one], width))) <= width for width in (40, 60, 80)] == [True] * 3


def test_a_state_of_no_time_has_no_line():
    short = with_waits(held_ns=SECOND // 100, backlog_ns=0, waiting_sum_ns=SECOND // 100)
    assert [state for state, *_ in shown.states(short)] == ["served", "empty"] and short.held_share == 0.0001
    only_held = with_waits(held_ns=SECOND, backlog_ns=0, waiting_sum_ns=2 * SECOND)
    assert [*shown.states(only_held)][1] == ("held", "1.0 %", 0.01, "2.00 bios wait, disk idle")


def test_a_phase_without_a_state_is_faster_by_at_most_its_share_of_the_time():
    one = with_waits(held_ns=20 * SECOND, backlog_ns=0, waiting_sum_ns=20 * SECOND)  # 5 s empty, 75 s served
    assert (one.without("held"), one.without("empty")) == pytest.approx((100 / 80, 100 / 95))
    assert next(shown.answers(one)) == "Without the time held: at most 1.25 times as fast"
    assert not [line for line in shown.answers(one) if "empty" in line], "less than what needs a cause"
    for idle, number in ((0.15 / 1.15 + 1e-9, 1), (0.15 / 1.15 - 1e-9, 0)):
        edge = dataclasses.replace(with_waits(), busy_share=1 - idle)
        assert len([line for line in shown.answers(edge) if "idle" in line]) == number
    assert with_waits().without("held") is None
    assert next(shown.answers(with_waits())) == "Without the time idle: at most 1.33 times as fast"
    assert dataclasses.replace(with_waits(), busy_share=0.0).without("idle") == math.inf


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


# The processes, the scheduler, and the empty time.


def submitter(comm, pid, ns):
    return Submitter(pid, comm, "", {"queued": 1, "completed": 1, "d2c_sum_ns": ns})


def test_the_disk_is_used_by_processes_in_proportion_to_the_time_of_their_requests():
    rows = [
        ("fio", 1, 400),
        ("fio", 2, 160),
        ("few", 6, 40),
        ("kworker/0:1", 3, 100),
        ("kworker/1:0", 4, 200),
        ("cat", 5, 0),
        (None, None, 100),
    ]
    span = dataclasses.replace(requests({"read": {(0, 1): 100}}), submitters=tuple(submitter(*row) for row in rows))
    one = breakdown.of(span)
    assert [(user.comm, user.processes, user.share) for user in one.users] == [
        ("fio", 2, 0.56), ("kworker", 2, 0.3), (None, 1, 0.1), ("few", 1, 0.04)
    ]  # fmt: skip
    line = "  disk used by    fio (2 processes) 56.0 %, kworker (2 processes) 30.0 %, not known whose 10.0 %"
    assert line in shown.text([one], 120)
    assert breakdown.document(one)["users"][0] == {"comm": "fio", "processes": 2, "slot_share": 0.56}
    old = dataclasses.replace(span, submitters=(Submitter(1, "fio", "", {"queued": 1}),))
    assert breakdown.of(old).users == ()


@pytest.mark.parametrize(("more", "bounds"), [
    ({}, (0.4, 0.4)), ({"back_merges": 1}, (0.4, 1.0)), ({"request_merges": 1}, (0.4, 1.0)), ({"splits": 1}, None),
])  # fmt: skip
def test_bios_wait_in_the_scheduler_and_before_it(more, bounds):
    span = requests({"read": {(0, 1): 100}}, i2d_sum_ns=40 * MS, **more)
    plain = {"held_ns": 10 * MS, "backlog_ns": 0, "waiting_sum_ns": 100 * MS}
    one = breakdown.of(dataclasses.replace(span, plain=plain))
    assert one.in_scheduler == (Interval(*bounds) if bounds else None)
    text = " ".join(" ".join(shown.text([one], 80)).split())
    assert re.findall("bios wait (.*) in the scheduler, else in the plug", text) == {
        None: [], 0.4: ["40.0 %"], 1.0: ["40.0 to 100.0 %"]}[bounds and bounds[1]]  # fmt: skip
    assert breakdown.of(dataclasses.replace(span, plain=plain | {"waiting_sum_ns": None})).in_scheduler is None


def test_bounds_of_nothing_and_all_are_only_in_the_long_text():
    one = with_waits(held_ns=SECOND, backlog_ns=9 * SECOND, waiting_sum_ns=10 * SECOND)
    for low, high, number in ((0, 1, 0), (0, 0.9, 1), (0.1, 1, 1), (1, 1, 1)):
        some = dict(shown.rows(dataclasses.replace(one, in_scheduler=Interval(low, high))))
        assert ("bios wait" in some) == number, (low, high)
    assert some["bios wait"] == "all in the scheduler"
    open_part = dataclasses.replace(one, in_scheduler=Interval(0, 1))
    assert dict(shown.rows(open_part, True))["bios wait"].startswith(
        "0.0 to 100.0 % in the scheduler, else in the plug"
    )


def machine(cpu=None, idle=0, busy=0, others=(), available=("cpu", "command-cpu")):
    host = {("cpu", "idle"): idle, ("cpu", "user"): busy, ("command", "cpu"): cpu or 0}
    host = {name: value for name, value in host.items() if value}
    return breakdown.Around(host, available, others)


def half_empty(*about):
    span = requests({"read": {(0, 1): 1000}}, times={0: 5 * SECOND, 1: 5 * SECOND})
    return breakdown.of(dataclasses.replace(span, plain={"held_ns": SECOND, "backlog_ns": 0}), around=machine(*about))


def test_the_empty_time_is_of_a_program_that_computes_waits_or_sleeps():
    """10 s of 4 processors: 4 s empty, 1 s held, 5 s served."""
    one = half_empty(3 * SECOND, 36 * SECOND, 4 * SECOND)
    assert one.states["empty"] == pytest.approx(0.4)
    expected = {"computing": (0, 0.3), "runnable": (0, 0.1), "other_disk": (0, 0), "asleep": (0, 0.4)}
    assert {name: (part.low, part.high) for name, part in one.empty.items()} == pytest.approx(
        {name: pytest.approx(pair) for name, pair in expected.items()}
    )
    least = half_empty(SECOND, 40 * SECOND, 0).empty["asleep"]
    assert (least.low, least.high) == pytest.approx((0.3, 0.4))
    text = " ".join(" ".join(shown.text([half_empty(SECOND, 40 * SECOND, 0)], 80)).split())
    assert "empty the command computes at most 10.0 %, sleeps or is throttled 30.0 to 40.0 % of all time" in text
    assert half_empty(None, 0, 0).empty["asleep"] == Interval(pytest.approx(0.4), pytest.approx(0.4)), "simulated time"
    assert half_empty(None, 40 * SECOND, 0).empty == {} == half_empty(SECOND, 1, 1, (), ("cpu",)).empty


def test_a_part_of_the_empty_time_that_can_be_nothing_or_all_of_it_has_no_number():
    one = half_empty(SECOND, 0, 40 * SECOND)  # 4 s empty; all processors are busy
    assert dict(shown.rows(one))["empty"] == (
        "the command computes at most 10.0 % of all time, else waits for a processor, sleeps or is throttled"
    )
    assert dict(shown.rows(one, True))["empty"] == (
        "the command computes at most 10.0 %, waits for a processor at most 40.0 %, sleeps or is throttled at most 40.0 % "
        "of all time"
    )
    nothing = half_empty(9 * SECOND, 0, 40 * SECOND)
    assert dict(shown.rows(nothing))["empty"] == (
        "the command computes, waits for a processor, sleeps or is throttled: not known"
    )


def test_looks_at_the_command_are_shown_next_to_the_empty_time():
    host = {("look", "all"): 40, ("look", "running"): 1, ("look", "sleep"): 30, ("look", "pipe"): 3,
            ("look", "kernel submit_bio_wait"): 5, ("look", "kernel x"): 1}  # fmt: skip
    span = requests({"read": {(0, 1): 1000}}, times={0: 5 * SECOND, 1: 5 * SECOND})
    one = breakdown.of(span, around=breakdown.Around(host, (), ()))
    assert dict(shown.rows(one))["command"] == (
        "of 40 looks, sleeps in 30, in the kernel in 6, waits at a pipe in 3 (kernel: submit_bio_wait)"
    )
    document = breakdown.document(one)
    assert document["looks"] == {"all": 40, "running": 1, "sleep": 30, "pipe": 3, "kernel": 6}
    assert document["kernel_functions"] == {"submit_bio_wait": 5, "x": 1}
    assert breakdown.document(half_empty(1))["looks"] is None and "command" not in dict(shown.rows(half_empty(1)))


def test_a_program_on_all_processors_computes_while_the_disk_is_empty():
    """38 s of 4 processors in 10 s: at most 6 s were without it, so 3.5 s of the 4 s empty are computed."""
    part = half_empty(38 * SECOND, 2 * SECOND, 38 * SECOND).empty["computing"]
    assert (part.low, part.high) == pytest.approx((0.35, 0.4))


def test_another_disk_can_be_waited_for_at_most_while_it_is_busy():
    other = requests({"read": {(0, 1): 1000}}, times={0: 9 * SECOND, 1: SECOND})
    one = half_empty(1, 40 * SECOND, 0, (other,))
    assert one.empty["other_disk"].high == pytest.approx(0.1) and one.empty["asleep"].low == pytest.approx(0.3)
    bios = dataclasses.replace(other, bins={})
    assert half_empty(1, 40 * SECOND, 0, (bios,)).empty["asleep"].low == 0


def test_only_disks_that_are_neither_above_nor_below_are_other_ones():
    spans = [dataclasses.replace(requests({"read": {(0, 1): 1}}), target=target, number=number)
             for target, number in ((1, 1), (2, 1), (3, 1), (4, 1), (2, 2))]  # fmt: skip
    recorded = types.SimpleNamespace(
        stack=((1, 3), (3, 4)),
        spans=spans,
        host={1: {("cpu", "idle"): 5}},
        fact={"host_available": "cpu command-cpu"}.get,
    )
    found = breakdown.around(recorded, spans[0])
    assert [span.target for span in found.others] == [2, 4] and [*found.available] == ["cpu", "command-cpu"]
    assert found.host == {("cpu", "idle"): 5} and breakdown.around(recorded, spans[4]).host == {}
    assert [span.target for span in breakdown.around(recorded, spans[2]).others] == [2]


@pytest.mark.parametrize("seed", range(40))
def test_the_parts_of_the_empty_time_hold_for_any_order_of_events(seed):
    """Threads of a command compute, wait and sleep at random times, next to a disk and another one, in steps of 1 ms."""
    chance, processors, threads = random.Random(seed), 2, random.Random(seed).randint(1, 4)
    weights = [chance.random() for _ in range(3)]
    counts, used, idle, other, times = collections.Counter(), 0, 0, 0, collections.Counter()
    for _ in range(1000):
        busy, elsewhere = chance.random() < 0.4, chance.random() < 0.3
        want = sum(chance.choices((0, 1, 2), weights)[0] == 1 for _ in range(threads))
        foreign = chance.randint(0, processors)
        on = min(want, processors - foreign)
        used, idle, other = used + on, idle + processors - foreign - on, other + elsewhere
        times[int(busy)] += MS
        if not busy:
            counts["computing" if on else "runnable" if want else "other_disk" if elsewhere else "asleep"] += 1
    disk = requests({"read": {(0, 1): 400}}, times=dict(times))
    others = (requests({"read": {(0, 1): 400}}, times={0: (1000 - other) * MS, 1: other * MS}),)
    about = machine(used * MS + 1, idle * MS, (1000 * processors - idle) * MS, others)
    found = breakdown.of(dataclasses.replace(disk, plain={"held_ns": 0, "backlog_ns": 0}), around=about).empty
    assert sum(counts.values()) * MS == times[0]
    for name, part in found.items():
        assert part.low - 1e-9 <= counts[name] / 1000 <= part.high + 1e-9, (name, part, counts)


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


def test_each_row_of_depth_has_its_own_mean():
    """Rows of one octave of time, which the matrix cannot tell apart; their sums can."""
    times = {0: [0.6] * 300, 3: [0.8] * 50 + [0.9] * 50, 7: [1.0] * 100, 8: [0.7] * 200 + [0.9] * 100}
    some = {(found, ms): values.count(ms) for found, values in times.items() for ms in values}
    levels = breakdown.of(requests({"read": some})).ways[0].levels
    assert [(level.low, level.requests) for level in levels] == [(1, 300), (4, 100), (8, 100), (9, 300)]
    for level, values in zip(levels, times.values(), strict=True):
        mean = statistics.fmean(values) * MS
        assert level.d2c_ns.low <= mean <= level.d2c_ns.high < 1.04 * mean
        assert level.per_s.low <= level.low / mean * 1e9 * (1 + 1e-9) and level.low / mean * 1e9 <= level.per_s.high


def test_before_abi_6_a_row_has_the_bounds_of_its_octave_and_of_the_sum_of_all():
    """Each row has 100 requests between 0.52 and 1.05 ms, the longest of the bin to 1.02 ms."""
    span = before_abi_6(requests({"read": {(found, ms): 50 for found in (0, 3, 7) for ms in (0.6, 1.0)}}))
    levels = breakdown.of(span).ways[0].levels
    assert len(levels) == 3 and len({level.d2c_ns for level in levels}) == 1
    assert 0.5 * MS < levels[0].d2c_ns.low <= 0.6 * MS and 1.0 * MS <= levels[0].d2c_ns.high < 1.1 * MS
    (level,) = breakdown.of(before_abi_6(requests({"read": {(0, 0.6): 500, (0, 1.0): 500}}))).ways[0].levels
    assert level.d2c_ns.low < 0.8 * MS < level.d2c_ns.high < 0.83 * MS


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
    assert 0.85 < one.gain.low < 1 <= one.gain.high < 1.01
    assert (one.start.low, one.end.low, one.linear) == (1, 16, 16)


def test_a_disk_whose_latency_is_the_same_at_each_depth_gains():
    one = reads({(found, 1.0): 1000 for found in DEPTHS}).ways[0].more
    assert one.verdict is More.HELPS
    assert 15 < one.gain.low < 16 <= one.gain.high < 16.1
    assert (one.start.low, one.end.low) == (1, 16)


@pytest.mark.parametrize(("ms", "verdict"), [(4.0, More.HELPS), (8.0, More.NO_HELP)])
def test_without_a_deeper_one_the_usual_depth_is_compared_with_the_nearest_lower(ms, verdict):
    one = reads({(0, 1.0): 100, (3, 4.0): 100, (7, ms): 5000}).ways[0].more
    assert (one.verdict, one.start.low, one.end.low) == (verdict, 4, 8)


def test_a_rise_long_before_the_usual_depth_is_no_help_there():
    """The rate rises by 1.29 from 1 to 4, and by 1.17 from 4 to 8, where half a request leaves it open."""
    one = reads({(0, 1.0): 1000, (3, 3.1): 1000, (7, 5.3): 5000}).ways[0].more
    assert (one.verdict, one.start.low, one.end.low) == (More.NOT_KNOWN, 4, 8)
    one = reads({(0, 1.0): 1000, (3, 4.4): 1000, (7, 8.0): 5000}).ways[0].more
    assert (one.verdict, one.start.low, one.end.low) == (More.NO_HELP, 1, 8)


def test_a_rare_deep_burst_is_no_evidence():
    common, rare = ({(0, 1.0): 1000, (7, 1.0): number} for number in (60, 40))
    assert reads(common).ways[0].more.end.low == 8
    assert reads(rare).ways[0].more.reason == breakdown.RARE


def test_one_depth_is_not_known():
    one = reads({(0, 1.0): 1000}).ways[0].more
    assert (one.verdict, one.reason, one.gain) == (More.NOT_KNOWN, breakdown.ONE_DEPTH, None)


def test_before_abi_6_values_of_one_octave_leave_the_gain_open():
    """Both depths have half of their requests at either end of the octave: the counters do not tell whose are whose."""
    wide = {(found, ms): 100 for found in (0, 1) for ms in (0.53, 1.04)}
    one = breakdown.of(before_abi_6(requests({"read": wide}))).ways[0].more
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
    assert one.gain.low <= 1.0 < one.gain.high


BOTH = (
    8 * (1 + 4) / (1 + 32)
)  # gain of 1,000 reads of 1 ms and 1,000 writes of 4 ms, or of 1 and 32 ms with 8 in flight


def test_each_direction_has_its_own_answer_within_that_of_both():
    span = requests({"read": {(0, 1.0): 1000, (7, 1.0): 1000}, "write": {(0, 4.0): 1000, (7, 32.0): 1000}})
    read, write = breakdown.of(span).ways
    assert (read.more.verdict, write.more.verdict) == (More.HELPS, More.NOT_KNOWN)
    assert (read.more.gain.low, write.more.gain.high) == pytest.approx((BOTH, BOTH), rel=1e-3)
    lacks = "larger requests, order (the recording lacks sums by size and distance)"
    helps = "More in flight helps reads: 8 give 1.21 to 8.00 times the rate of 1"
    assert [*shown.answers(breakdown.of(span))] == [
        helps, f"Not known: more than 8 in flight of reads, more in flight of writes; {lacks}. To measure: raidctl why"
    ]  # fmt: skip
    assert [*shown.answers(breakdown.of(span), True)] == [
        f"{helps} (linear: 8)",
        "More in flight, writes: not known, 8 give 0.94 to 1.21 times the rate of 1 (linear: 8): raidctl why",
        f"Not known: more than 8 in flight of reads (not observed); {lacks}. To measure: raidctl why",
    ]


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
    kinds["read", "depth_d2c_ns"] = sums = collections.Counter()
    for found, start, end in done:
        ns = int((end - start) * MS)
        for counter, at in zip(
            kinds.values(), (time_bin(ns / MS), bins.D2C_COLUMNS * row(found) + ns.bit_length(), found)
        ):
            counter[at] += 1
        sums[row(found)] += ns
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


# The time by size and distance. The witness is a disk whose time for each size and distance is known.

FAR = 1 << 20  # sectors


def served(done, **more):
    """The span of served requests, with each counter added up request by request."""
    kinds = collections.defaultdict(collections.Counter)
    for sectors, distance, found, start, end in done:
        ns = end - start
        size, seek = sectors.bit_length(), distance_row(distance)
        kinds["size"][sectors if sectors <= 256 else big_bin(sectors)] += 1
        kinds["d2c"][time_bin(ns / MS)] += 1
        kinds["depth_d2c"][bins.D2C_COLUMNS * row(found) + ns.bit_length()] += 1
        for kind, at in (("depth_d2c", row(found)), ("size_d2c", size), ("seek_d2c", seek)):
            kinds[f"{kind}_ns"][at] += ns
            if kind != "depth_d2c":
                kinds[kind][at] += 1
    octets = 512 * sum(sectors for sectors, *_ in done)
    flow = {"read": {"queued": len(done), "issued": len(done), "completed": len(done), "bytes_issued": octets,
                     "bytes_completed": octets, "d2c_sum_ns": sum(end - start for *_, start, end in done)}}  # fmt: skip
    times = depth_times_of(done)
    issued = collections.Counter(found for _, _, found, _, _ in done)
    made = {("read", kind): dict(counter) for kind, counter in kinds.items()}
    return span_of(
        flow,
        made | {("all", "depth_time"): times, ("all", "depth_issue"): dict(issued)},
        0,
        sum(times.values()),
        **more,
    )


def distance_row(distance):
    """0, then forward and backward up to 64 KiB, 1 MiB, 64 MiB, 1 GiB and beyond, in sectors."""
    if not distance:
        return 0
    return 1 + sum(abs(distance) >= far for far in (128, 2048, 131072, 2097152)) + (5 if distance < 0 else 0)


def big_bin(sectors):
    """The bin of a size above 256: 16 for each power of two."""
    octave = sectors.bit_length() - 1
    return 257 + 16 * (octave - 8) + ((sectors >> (octave - 4)) & 15)


def mixed(number, *some, seed=1):
    """Requests in random order: of each (share, sectors, distance)."""
    made = [(sectors, distance) for share, sectors, distance in some for _ in range(round(number * share))]
    random.Random(seed).shuffle(made)
    return made


def way_of(disk, requests, depth=1):
    (way,) = breakdown.of(served(disk.run(requests, depth))).ways
    return way


def test_each_row_of_size_and_distance_has_the_mean_of_its_requests():
    done = SizedDisk(1, seek=8 * MS).run(
        mixed(4000, (0.5, 8, 0), (0.2, 128, 0), (0.1, 1024, 100), (0.1, 8, FAR), (0.1, 8, -FAR)), 1
    )
    (way,) = breakdown.of(served(done)).ways
    for rows, of, bytes_of in ((way.sizes, lambda one: one[0].bit_length(), True),
                               (way.distances, lambda one: distance_row(one[1]), False)):  # fmt: skip
        groups = collections.defaultdict(list)
        for one in done:
            groups[of(one)].append(one)
        assert len(rows) == len(groups) == (3 if bytes_of else 4)
        for found, (at, some) in zip(rows, sorted(groups.items()), strict=True):
            mean = statistics.fmean(end - start for *_, start, end in some)
            assert found.requests == len(some)
            assert found.mean_ns == pytest.approx(mean) and found.d2c_ns.low <= mean <= found.d2c_ns.high
            assert (found.bytes == 512 * some[0][0]) if bytes_of else (found.bytes is None)
            assert bytes_of or found.low == 512 * bins.SEEK_ROWS[at][0]
    assert way.order.share == pytest.approx(0.7)


def test_larger_requests_help_where_most_of_the_time_is_fixed():
    disk = SizedDisk(1, fixed=500_000, per_mib=160_000)
    larger = way_of(disk, mixed(3000, (0.99, 8, 0), (0.01, 128, 0))).larger
    truth = 16 * disk.alone(8, 0) / disk.alone(128, 0)
    assert (larger.verdict, larger.start, larger.end, larger.linear) == (More.HELPS, 4096, 65536, 16)
    assert truth / 1.3 < larger.gain.low <= truth <= larger.gain.high < 1.3 * truth and not larger.fitted


def test_larger_requests_do_not_help_where_the_time_is_of_the_bytes():
    disk = SizedDisk(1, fixed=0, per_mib=8 * MS)
    larger = way_of(disk, mixed(3000, (0.7, 128, 0), (0.3, 1024, 0))).larger
    assert larger.verdict is More.NO_HELP and larger.gain.low <= 1 <= larger.gain.high < breakdown.MIN_FACTOR


def test_a_line_through_three_sizes_tells_the_gain_of_twice_the_largest():
    disk = SizedDisk(1, fixed=2 * MS, per_mib=8 * MS, spread=0.02)
    way = way_of(disk, mixed(4000, (0.2, 8, 0), (0.2, 64, 0), (0.6, 256, 0)))
    larger, truth = way.larger, 2 * disk.alone(256, 0) / disk.alone(512, 0)
    assert (larger.verdict, larger.end, larger.fitted) == (More.HELPS, 512 * 512, True)
    assert larger.gain.low <= truth <= larger.gain.high < 1.1 * truth
    assert larger.fixed_ns.low <= disk.fixed <= larger.fixed_ns.high < 1.1 * disk.fixed
    assert larger.per_mib_ns.low <= disk.per_mib <= larger.per_mib_ns.high < 1.2 * disk.per_mib


def test_no_line_is_drawn_through_two_sizes_or_through_times_that_are_on_none():
    disk = SizedDisk(1, fixed=2 * MS, per_mib=8 * MS)
    larger = way_of(disk, mixed(3000, (0.3, 8, 0), (0.7, 256, 0))).larger
    assert (larger.verdict, larger.reason, larger.gain) == (More.NOT_KNOWN, breakdown.LARGEST, None)
    disk.alone = lambda sectors, _: {8: 1, 64: 9, 256: 10}[sectors] * MS
    assert way_of(disk, mixed(4000, (0.2, 8, 0), (0.2, 64, 0), (0.6, 256, 0))).larger.gain is None
    larger = way_of(disk, mixed(3000, (1, 8, 0))).larger
    assert (larger.verdict, larger.reason) == (More.NOT_KNOWN, breakdown.ONE_SIZE)


def test_order_helps_where_a_seek_takes_time():
    disk = SizedDisk(1, fixed=100_000, per_mib=1 * MS, seek=8 * MS)
    order = way_of(disk, mixed(3000, (0.3, 8, 0), (0.4, 8, FAR), (0.3, 8, -FAR))).order
    truth = (0.3 * disk.alone(8, 0) + 0.7 * disk.alone(8, 1)) / disk.alone(8, 0)
    assert order.verdict is More.HELPS and order.gain.low <= truth <= order.gain.high < 1.6 * truth
    flash = way_of(SizedDisk(1), mixed(3000, (0.3, 8, 0), (0.7, 8, FAR))).order
    assert flash.verdict is More.NO_HELP and flash.gain.low <= 1 <= flash.gain.high
    none = way_of(disk, mixed(3000, (1, 8, FAR))).order
    assert (none.verdict, none.share, none.reason) == (More.NOT_KNOWN, 0, breakdown.NO_ORDER)


KINDS = {
    "flash": dict(), "flash, uneven": dict(spread=0.9), "four servers": dict(servers=4), "wide": dict(servers=64),
    "turning": dict(seek=8 * MS, fixed=50_000, per_mib=10 * MS), "slow start": dict(fixed=2 * MS, spread=0.3),
}  # fmt: skip
LOADS = {
    "two sizes": ((0.6, 8, 0), (0.4, 256, 0)), "three sizes": ((0.3, 8, 0), (0.3, 64, 0), (0.4, 512, 0)),
    "small ones far away": ((0.9, 512, 0), (0.1, 8, FAR)), "large ones far away": ((0.8, 8, 0), (0.2, 512, -FAR)),
    "few small ones far away": ((0.95, 512, 0), (0.02, 8, FAR), (0.03, 8, 0)), "random": ((0.5, 8, FAR), (0.5, 64, -FAR)),
    "large ones, half of them in order": ((0.75, 8, FAR), (0.125, 512, FAR), (0.125, 512, 0)),
    "one size, few seeks": ((0.95, 256, 0), (0.05, 256, FAR)), "one size, half": ((0.5, 8, 0), (0.5, 8, 100)),
}  # fmt: skip


@pytest.mark.parametrize("depth", [1, 2, 16])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("load", LOADS)
def test_no_gain_of_size_or_order_is_false(kind, load, depth):
    """The truth is of one request at a time, which the bounds hold for at any depth."""
    disk = SizedDisk(1, **KINDS[kind])
    way = way_of(disk, mixed(2000, *LOADS[load]), depth)
    usual_distance = 0 if sum(share for share, _, distance in LOADS[load] if not distance) > 0.5 else 1
    if way.larger.gain:
        start, end = (int(size / 512) for size in (way.larger.start, way.larger.end))
        truth = end / start * disk.alone(start, usual_distance) / disk.alone(end, usual_distance)
        assert way.larger.gain.low <= 1.02 * truth and truth <= 1.02 * way.larger.gain.high, (way.larger, truth)
    if way.order.gain:
        usual = max(way.sizes, key=lambda one: one.requests).bytes / 512
        mine = [(share, distance) for share, sectors, distance in LOADS[load] if sectors == usual]
        now = sum(share * disk.alone(usual, distance) for share, distance in mine) / sum(share for share, _ in mine)
        truth = now / disk.alone(usual, 0)
        assert way.order.gain.low <= 1.02 * truth and truth <= 1.02 * way.order.gain.high, (way.order, truth)


def test_before_abi_6_size_and_order_are_not_available():
    span = before_abi_6(served(SizedDisk(1).run(mixed(1000, (0.5, 8, 0), (0.5, 64, FAR)), 1)))
    (way,) = breakdown.of(span).ways
    assert (way.sizes, way.distances, way.order.share) == ((), (), None)
    assert {way.larger.verdict, way.order.verdict} == {More.NOT_AVAILABLE}
    text = " ".join(" ".join(shown.text([breakdown.of(span)], 80)).split())
    assert "larger requests, order (the recording lacks sums by size and distance)" in text


def test_what_is_not_known_is_one_sentence_by_reason_and_of_both_directions_once():
    span = requests({"read": {(0, 1.0): 1000}, "write": {(0, 4.0): 1000, (7, 32.0): 1000}})
    lacks = "larger requests, order (the recording lacks sums by size and distance). To measure: raidctl why"
    (line,) = [line for line in shown.answers(breakdown.of(span)) if line.startswith("Not known")]
    assert line == f"Not known: more in flight of reads; {lacks}"
    (line,) = [line for line in shown.answers(breakdown.of(span), True) if line.startswith("Not known")]
    assert line == f"Not known: more in flight of reads (only one depth observed); {lacks}"


def test_of_a_flush_no_gain_is_missing():
    one = breakdown.of(requests({"flush": {(0, 1.0): 100}}))
    assert [*shown.answers(one)] == []
    assert [*shown.answers(one, True)] == [
        "Not known: more in flight, larger requests, order (only reads and writes have it)"
    ]


def test_the_text_has_the_time_of_each_size_and_distance():
    disk = SizedDisk(1, fixed=100_000, per_mib=0, seek=8 * MS, spread=0)
    one = breakdown.of(served(disk.run(mixed(2000, (0.5, 8, 0), (0.2, 128, 0), (0.15, 8, FAR), (0.15, 8, -100)), 1)))
    text = " ".join(" ".join(shown.text([one], 80)).split())
    assert re.search(r"time by size 4 KiB: 3.10 ms; 64 KiB: 100 us", text), text
    assert "time by place in order: 100 us; ahead below 1 GiB: 8.10 ms; back below 64 KiB: 8.10 ms" in text, text
    text = " ".join(" ".join(shown.text([one], 80, True)).split())
    assert re.search(r"in order: 100 us \((\d|\.)+ us to (\d|\.)+ us\); ahead below 1 GiB: 8.10 ms \(", text), text
    assert "70.0 % in order" in text and "Order helps: all in order, the rate is" in text
    assert max(map(len, shown.text([one], 60))) <= 60


def test_distances_of_one_side_stand_together():
    mib = 1 << 20
    bounds = ((0, 512), (mib, 64 * mib), (1024 * mib, None), (512 - 64 * mib, 512 - mib))
    some = [breakdown.Row(low, high, 100, None, ns * MS, Interval(ns * MS, ns * MS), None)
            for ns, (low, high) in enumerate(bounds, 1)]  # fmt: skip
    one = reads({(0, 1): 1000})
    one = dataclasses.replace(one, ways=(dataclasses.replace(one.ways[0], distances=tuple(some)),))
    assert dict(shown.series(one))["time by place"] == (
        "in order: 1.00 ms; ahead below 64 MiB: 2.00 ms, from 1 GiB: 3.00 ms; back below 64 MiB: 4.00 ms"
    )


@pytest.mark.parametrize(("times", "differ"), [
    ([(10, 9, 11), (20, 19, 21)], True), ([(10, 9, 11), (20, 10.9, 29)], False), ([(100, 99, 101), (114, 113, 115)], False),
    ([(100, 99, 101), (115, 114, 116)], True), ([(10, 9, 11)], False), ([], False),
    ([(20, 15, 25), (10, 9, 11), (24, 1, 47)], True), ([(20, 9, 31), (22, 10, 34), (12, 1, 23)], False),
])  # fmt: skip
def test_times_by_size_and_place_are_in_the_short_text_only_if_they_differ(times, differ):
    some = tuple(breakdown.Row(at << 12, (at + 1) << 12, 100, 4096.0 * at, ns, Interval(low, high), None)
                 for at, (ns, low, high) in enumerate(times, 1))  # fmt: skip
    assert breakdown.differ(some) == differ
    one = reads({(0, 1): 1000})
    one = dataclasses.replace(one, ways=(dataclasses.replace(one.ways[0], sizes=some, distances=some),))
    for verbose, number in ((False, 2 * differ), (True, 2 * bool(some))):
        text = "\n".join(shown.text([one], 80, verbose))
        assert len(re.findall("time by (size|place)", text)) == number, (verbose, text)


def test_depths_of_a_twentieth_of_the_requests_are_usual():
    one = reads({(0, 1.0): 50, (1, 1.0): 49, (7, 1.0): 901})
    assert [level.low for level in breakdown.usual(one.ways[0].levels)] == [1, 8]
    assert dict(shown.series(one))["rate at depth"].count(":") == 2
    assert dict(shown.series(one, True))["rate at depth"].count(":") == 3
    alone = reads({(0, 1.0): 49, (1, 1.0): 49, (7, 1.0): 902})
    assert [*shown.series(alone)] == []


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
