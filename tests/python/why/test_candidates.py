# SPDX-License-Identifier: GPL-2.0-or-later
"""The order of the changes of an experiment."""

import pathlib
from typing import Any

import pytest
from made_phase import phase

from raidtrace.explain import limits
from raidtrace.recording.breakdown import Breakdown, Gain, Interval, Larger, More, Order, Way
from raidtrace.recording.quantities import Reading
from raidtrace.why import candidates, changes


def test_the_names_on_both_sides_exist() -> None:
    """A key that explain renames, or a cause that changes renames, would put nothing first."""
    keys = {
        limit.key
        for direction in ("read", "write")
        for limit in limits.limits(Reading("A", phase(direction=direction)), direction, {})
    }
    few = limits.limits(Reading("A", phase(settings={"nr_requests": "4"})), "read", {})
    assert set(candidates.CHANGES) <= keys | {limit.key for limit in few}
    causes = set(changes.CAUSES.values()) | {cause for cause, _, _ in changes.PROGRAM.values()}
    causes |= {changes.ALONE.cause, changes.unlimited({"/x/io.max": "rbps=1"}).cause}
    assert {cause for named in candidates.CHANGES.values() for cause in named} <= causes


def test_changes_against_the_causes_come_first_and_the_others_stay() -> None:
    up, depth, slots = (changes.setting(*text) for text in (
        ("read_ahead_kb", "8192"), ("queue_depth", "32"), ("nr_requests", "256")))  # fmt: skip
    direct, *_ = changes.program(frozenset({"direct"}))
    expected = [direct, up, depth, slots]
    assert candidates.most_likely_first(expected, (), {}) == expected
    assert candidates.most_likely_first(expected, ("request slots", "readahead"), {}) == [slots, up, direct, depth]
    assert candidates.most_likely_first(expected, ("device", "queue depth"), {}) == [depth, direct, up, slots]


def test_a_recording_that_cannot_be_read_puts_nothing_first(tmp_path: pathlib.Path) -> None:
    broken = tmp_path / "broken.rtdb"
    broken.write_text("no recording", encoding="utf-8")
    for path in ("", str(broken), str(tmp_path / "none")):
        assert candidates.judged(path) == ((), {})


def test_what_could_give_most_comes_before_what_could_give_little() -> None:
    up, depth, slots = (changes.setting(*text) for text in (
        ("read_ahead_kb", "8192"), ("queue_depth", "32"), ("nr_requests", "256")))  # fmt: skip
    bounds = {"readahead": 1.1, "nr_requests": 3.0}  # nothing bounds the queue depth
    assert candidates.most_likely_first([up, depth, slots], (), bounds) == [depth, slots, up]
    assert candidates.most_likely_first([up, depth, slots], ("readahead",), bounds) == [up, depth, slots]


def times(busy: float, held: float | None = None, backlog: float | None = None, **way: Any) -> dict[str, float]:
    """could_give() of a phase of reads with these shares. way: members of its direction."""
    made = {"more": Gain(More.NOT_KNOWN), "larger": Larger(More.NOT_KNOWN), "order": Order(More.NOT_KNOWN)} | way
    read = Way("read", 1.0, 1.0, 4096.0, 1.0, None, None, None, (), sizes=(), distances=(), missing={}, **made)
    return candidates.could_give(
        Breakdown("sda", "run", 1.0, False, busy, held, backlog, None, None, False, None, (read,), {}), "read"
    )


def test_a_state_bounds_the_changes_that_end_it() -> None:
    found = times(0.75, 0.05, 0.25)  # empty for a fifth of the time; bios wait for three tenths
    assert found == pytest.approx(
        {"program sleeps": 1.25, "limit of its cgroup": 1.25, "nr_requests": 1 / 0.7, "scheduler": 1 / 0.7}
    )
    assert not times(0.75)  # without the waits, idle time may be held


def test_readahead_is_bounded_only_if_neither_depth_nor_size_helps() -> None:
    flat = {
        "more": Gain(More.NO_HELP, gain=Interval(0.9, 1.1)),
        "larger": Larger(More.NO_HELP, gain=Interval(0.9, 1.05)),
    }
    found = times(0.8, 0.0, 0.0, **flat)
    assert found["readahead"] == found["direct I/O"] == pytest.approx(1.1 / 0.8)
    assert found["request size"] == found["lost merges"] == 1.05
    deep = times(0.8, 0.0, 0.0, **flat | {"more": Gain(More.HELPS, gain=Interval(2.0, 3.0))})
    assert "readahead" not in deep and deep["request size"] == 1.05
