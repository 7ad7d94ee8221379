# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl compare: where the time of two phases went."""

import json

import pytest
from made_phase import span_of

from raidtrace.compare import spans, times
from raidtrace.compare.spans import Alone, Comparison, Pair
from raidtrace.recording.columns import COUNTERS

SECOND = 10**9


def span(busy_s, idle_s, backlog_s=None, held_s=0.0, **more):
    """A phase of reads, so many seconds busy and idle. backlog_s, held_s: of them with bios waiting; None: not counted."""
    plain = dict.fromkeys(COUNTERS["sample"])
    if backlog_s is not None:
        plain |= {"backlog_ns": int(backlog_s * SECOND), "held_ns": int(held_s * SECOND), "waiting_sum_ns": SECOND}
    end = int((busy_s + idle_s) * SECOND)
    bins = {("all", "depth_time"): {0: int(idle_s * SECOND), 2: int(busy_s * SECOND)}}
    flow = {"read": {"queued": 9, "issued": 9, "completed": 9, "bytes_completed": 9 << 12}}
    return span_of(flow, bins, 0, end, plain=plain, **more)


def text(a, b, other_times=False, width=60):
    return list(times.lines(Comparison("a", "b", [], [Pair(a, b, other_times)]), width))


def test_two_bars_of_one_scale_and_the_states_that_differ():
    lines = text(span(9.0, 1.0, 0.0), span(2.0, 3.0, 1.0, 0.5))
    assert lines == [
        "Time of phase run, sda:",
        "  A  10.0 s         ####################################....",
        "  B  5.00 s         ####====--..........",
        "  # served, = backlog, - held, . empty",
        "  B is 5.00 s shorter: -8.00 s served, +1.50 s empty, +1.00",
        "  s backlog, +500 ms held.",
        "",
    ]


def test_a_recording_that_lacks_the_waits_makes_both_busy_or_idle():
    (a, b) = Pair(span(9.0, 1.0, 2.0), span(9.0, 1.0), False).states()
    assert a == pytest.approx({"busy": 9, "idle": 1}) == b
    assert text(span(9.0, 1.0, 2.0), span(9.0, 1.0))[-2] == "  B takes as long as A, in each state."


def test_the_states_change_although_the_length_does_not():
    assert "B is as long as A: -4.00 s served, +4.00 s held." in text(span(9, 1, 0), span(5, 5, 0, 4), width=79)[-2]


def test_times_of_another_clock_are_not_subtracted():
    lines = text(span(9.0, 1.0, 0.0), span(2.0, 3.0, 1.0), other_times=True)
    assert len(lines) == 5 and not any("shorter" in line for line in lines)


def test_nothing_is_drawn_of_what_was_not_counted():
    uncounted = span_of({"read": {"issued": 1}}, {}, 0, SECOND)
    assert not text(span(9.0, 1.0, 0.0), uncounted)
    assert not [*times.lines(Comparison("a", "b", [], [Alone(span(1, 1), "A")]), 60)]
    assert json.loads(json.dumps(Pair(span(1, 1), uncounted, False).to_json()))["state_seconds"] is None


def test_json_has_the_seconds_of_each_state():
    made = spans.Pair(span(9.0, 1.0, 0.5), span(2.0, 3.0, 1.0), False).to_json()["state_seconds"]
    assert made["a"] == pytest.approx({"served": 8.5, "backlog": 0.5, "held": 0.0, "empty": 1.0})
    assert sum(made["b"].values()) == pytest.approx(5)
