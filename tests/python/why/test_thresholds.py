# SPDX-License-Identifier: GPL-2.0-or-later
"""The conditions of an experiment's conclusions, from both sides: members of a group, effects, noise, bounds, confirmation."""

import dataclasses
import math
import pathlib
import types
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from made_phase import span_of
from test_experiment import FREE, NOW, SEEKS, Made, ahead, outcome

from raidtrace.why import chance, changes, experiment, figures, verdict
from raidtrace.why.changes import Change, Kind
from raidtrace.why.figures import Run

META = {"simulated": "yes"}


@pytest.mark.parametrize("lost, member", [(1.09, False), (1.11, True)])
def test_a_member_of_a_group_is_worth_a_tenth(lost: float, member: bool) -> None:
    """Readahead and depth mask each other; without more requests the group loses so much."""

    def both(values: Mapping[str, str], _change: Change) -> float:
        wide = int(values["read_ahead_kb"]) >= 2048 and int(values["queue_depth"]) >= 32
        return (lost if int(values["nr_requests"]) < 256 else 1.0) if wide else 3.0

    place = Made(both, {**NOW, "queue_depth": "2", "nr_requests": "64"})
    table, sentence = outcome(place)
    assert table.together["nr_requests"] == pytest.approx(lost)
    assert ("nr_requests" in sentence.causes) == member and {"readahead", "queue depth"} <= set(sentence.causes)
    smaller = {name for name in place.tried if " and " in name}
    assert smaller == (set() if member else {"readahead 4096 and queue_depth 32"})


def test_a_member_with_a_failed_run_is_not_judged() -> None:
    def broken(change: Change, run: Run) -> Run:
        return dataclasses.replace(run, failure="no end") if change.name == "all raised but readahead" else run

    wide = {"read_ahead_kb": "2048", "queue_depth": "32"}
    both = Made(
        lambda values, _: 1.0 if wide.items() <= values.items() else 3.0, {**NOW, "queue_depth": "2"}, wrong=broken
    )
    table, sentence = outcome(both)
    assert set(table.together) == {"queue_depth"} and set(sentence.causes) == {"readahead", "queue depth"}


@pytest.mark.parametrize("whole, counts", [(2.21, True), (2.19, False)])
def test_a_group_is_a_tenth_faster_than_the_best_of_its_members(whole: float, counts: bool) -> None:
    def both(values: Mapping[str, str], _change: Change) -> float:
        if int(values["read_ahead_kb"]) < 2048:
            return whole
        return 1.0 if int(values["queue_depth"]) >= 32 else whole / 2

    table, _ = outcome(Made(both, {**NOW, "queue_depth": "2"}))
    assert bool(table.together) == counts


@pytest.mark.parametrize("whole, counts", [(1.16, True), (1.14, False)])
def test_a_group_that_gains_less_than_the_noise_is_none(whole: float, counts: bool) -> None:
    """Though no member gains anything: 5 % deviation makes 1.152 the least."""
    wide = {"read_ahead_kb": "2048", "queue_depth": "32"}
    place = Made(lambda values, _: 1.0 if wide.items() <= values.items() else whole, {**NOW, "queue_depth": "2"})
    here = experiment.Experiment(place, "seconds", lambda *_: None)
    here.table = experiment.Table(place.run(changes.BASELINE), [whole], "seconds", 0.05)
    here._together(wide)
    assert bool(here.table.together) == counts


@pytest.mark.parametrize("noise, least", [(0.0, 1.05), (0.017, 1.05), (0.018, 1.0522), (0.05, 1.1519)])
def test_the_least_effect_is_5_percent_or_twice_the_noise_of_a_pair(noise: float, least: float) -> None:
    assert experiment.Table(Run(), [1.0], "seconds", noise).least() == pytest.approx(least, abs=1e-4)


@pytest.mark.parametrize("factor, shown", [(1.16, True), (1.145, False)])
def test_an_effect_below_the_noise_is_not_shown_however_often_it_came(factor: float, shown: bool) -> None:
    """20 pairs that agree to the last digit, of baselines with 5 % deviation: 1.152 is the least."""
    row = experiment.Tried(changes.setting("queue_depth", "32"), [(factor, 1.0)] * 20)
    here = experiment.Experiment(Made(ahead), "seconds", lambda *_: None)
    here.table = experiment.Table(Run(), [1.0], "seconds", 0.05, [row])
    costs = [cost for cost, _ in row.costs], [cost for _, cost in row.costs]
    row.effect = chance.effect(*costs, here.table.noise, 1)
    here._judge()
    assert row.shown == shown and row.effect.chance < 0.001


def test_the_noise_of_the_baselines_is_that_of_pairs_that_agree_by_luck() -> None:
    """Three pairs of exactly 1.2 are beyond chance where the baselines agree, and are not where these differ by 10 %."""
    place = Made(lambda _values, change: 1.0 if change.settings else 1.2)
    for differ, shown in ((0.0, True), (0.1, False)):
        here = experiment.Experiment(place, "seconds", lambda *_: None)
        here.table = experiment.Table(place.run(changes.BASELINE), [1.2], "seconds", differ)
        here._measure([(changes.setting("queue_depth", "32"), at) for at in range(3)])
        assert (here.table.rows[0].effect.chance < 0.05) == shown  # type: ignore[union-attr]


@pytest.mark.parametrize("best, bound, looked", [
    (3.9, 16.0, True), (4.1, 16.0, False),  # half of the bound's logarithm
    (3.0, None, True),  # nothing bounds it
    (1.04, 1.02, True), (1.06, 1.02, False), (1.0, 1.0, True),  # nothing gains
])  # fmt: skip
def test_what_only_the_lab_can_change_is_looked_at_where_less_is_explained(
    best: float, bound: float | None, looked: bool
) -> None:
    """The best setting's factor, and that of an array without limits."""

    def seconds(values: Mapping[str, str], change: Change) -> float:
        return 16.0 / (bound or 1.0) if change is FREE else 16.0 / best if values["scheduler"] == "none" else 16.0

    place = Made(seconds, physics=(SEEKS,), free=FREE if bound else None)
    outcome(place)
    assert (SEEKS.name in place.tried) == looked


def test_the_three_best_are_confirmed_and_no_more() -> None:
    """The fourth gains, too, and its one pair is not believed."""
    gains = {("queue_depth", "32"): 4.0, ("scheduler", "none"): 3.0, ("scheduler", "bfq"): 2.0}
    gains["nr_requests", "1024"] = 1.5

    def seconds(_values: Mapping[str, str], change: Change) -> float:
        return 12.0 / gains.get(change.settings[0], 1.0) if change.settings else 12.0

    table, sentence = outcome(Made(seconds, {**NOW, "read_ahead_kb": "8192"}))
    pairs = {row.change.settings[0]: len(row.costs) for row in table.rows}
    assert [pairs[name] for name in gains] == [3, 3, 3, 1]
    assert [row.shown for row in table.helpful(Kind.SETTING)] == [True, True, True, False] and sentence.shown


@pytest.mark.parametrize("slower, named", [(1.04, True), (1.06, False)])
def test_a_short_latency_that_costs_time_is_not_recommended(slower: float, named: bool) -> None:
    def shorter(change: Change, run: Run) -> Run:
        deep = dict(change.settings).get("queue_depth") == "32"
        return dataclasses.replace(run, p99_ms={"read": 0.5 if deep else 2.0, "write": None})

    place = Made(lambda values, _: slower if values["queue_depth"] == "32" else 1.0, wrong=shorter)
    assert ("For latency: queue_depth 32" in outcome(place)[1].sentence) == named


def test_a_bound_that_gave_more_is_named_next_to_what_else_can_be_changed() -> None:
    """'The best of the others gave 1.00x' above a line with 9 is no truth."""

    def seconds(values: Mapping[str, str], change: Change) -> float:
        return 1.0 if change is FREE else 3.0 if values["scheduler"] == "none" else 9.0

    _, sentence = outcome(Made(seconds, free=FREE))
    assert "changes gave 1.00x; the bound, array free of its limits, is 9.00x" in sentence.sentence
    _, sentence = outcome(Made(lambda values, _: 3.0 if values["scheduler"] == "none" else 9.0, free=FREE))
    assert "changes gave 1.00x." in sentence.sentence and "bound" not in sentence.sentence


@pytest.fixture(name="read")
def _read(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> Callable[..., Run]:
    """A run that left these counters of reads, and its exit status."""
    files = {figures.SETTINGS: "scheduler none\n", figures.AFTER: "", figures.LIMITS: "scheduler none\n",
             figures.REQUESTED: "rchar: 5\nwchar: 6\n"}  # fmt: skip

    def read(counted: dict[str, int], status: int = 0, cap: float = 0.0, **more: Any) -> Run:
        for name, text in (files | {figures.STATUS: f"{status}\n"}).items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        span = span_of({"read": counted}, disk="sdx", **more)
        monkeypatch.setattr(figures.invariants, "load", lambda _: types.SimpleNamespace(spans=(span,), meta=META))
        return figures.read(tmp_path, "sdx", "", cap)

    return read


@pytest.mark.parametrize("status, cap, failure", [
    (124, 6.0, "ended after 6 s, three times as long as the unchanged command"), (124, 0.0, ""), (123, 6.0, ""),
])  # fmt: skip
def test_what_timeout_ended_is_no_result(read: Callable[..., Run], status: int, cap: float, failure: str) -> None:
    """124 is its status; without a cap nothing was ended, and it is the program's own."""
    run = read({"bytes_completed": 1 << 20}, status, cap, end=6 * 10**9)
    assert run.failure == failure and run.status == status and math.isclose(run.seconds, 6.0) and run.simulated


def test_md_and_dm_have_bios_alone(read: Callable[..., Run]) -> None:
    """Their bios are counted, and the time from the queue on; a disk with neither got nothing."""
    flow = {"queued": 8, "bytes_queued": 1 << 20, "q2c_sum_ns": 16 * 10**6, "stream_queued": 5, "completed": 3,
            "bytes_completed": 1 << 19, "d2c_sum_ns": 3 * 10**6}  # fmt: skip
    runs = read(flow, bio_based=True), read(flow), read(flow | {"stream_queued": 4}), read({})
    result = [(run.disk_requests, run.disk_bytes["read"], run.mean_ms, run.in_order, run.idle) for run in runs]
    assert result == [(8, 1 << 20, 2.0, True, False), (3, 1 << 19, 1.0, True, False), (3, 1 << 19, 1.0, False, False),
                      (0, 0, 0.0, False, True)]  # fmt: skip


def test_what_a_command_printed_is_cut(read: Callable[..., Run], tmp_path: pathlib.Path) -> None:
    (tmp_path / figures.STDOUT).write_bytes(bytes(figures.MAX_STDOUT + 1))
    read({})
    assert (tmp_path / figures.STDOUT).stat().st_size == figures.MAX_STDOUT


def test_a_cause_in_the_program_has_a_command_to_type_too() -> None:
    """The command without the calls that the preloaded library leaves out; no command that may lose data is advised."""
    for what, typed in (("direct", True), ("sleep", True), ("fadvise", True), ("mapping", True), ("sync", False)):
        place = Made(lambda _values, change: 1.0 if change.program else 3.0, observed=frozenset({what}))
        table = experiment.Experiment(place, "seconds", lambda *_: None).run()
        text = verdict.judge(table, "sdx", ("prog", "a b"), "/x/why-preload.so")
        expected = (f"env LD_PRELOAD=/x/why-preload.so RAIDTRACE_WHY_OMIT={what} prog 'a b'",) if typed else ()
        assert text.commands == expected, text


def bounded(high: float, factor: float = 1.0, noise: float = 0.0) -> verdict.Answer:
    """Nothing settable, and a bound with this interval."""
    row = experiment.Tried(FREE, [(1.0, 1.0)] * 3, effect=chance.Effect(factor, 0.9, high, 3, 1.0))
    return verdict.judge(experiment.Table(Run(), [1.0], "seconds", noise, [row]), "sdx")


@pytest.mark.parametrize("high, sure", [(1.09, True), (1.11, False)])
def test_that_it_is_not_the_disk_is_shown_where_the_bound_is_below_a_tenth(high: float, sure: bool) -> None:
    text = bounded(high)
    assert text.shown == sure and text.causes == (("not the disk",) if sure else ()) and text.commands == ()
    assert ("The disk may not be the limit, or this is chance: " in text.sentence) != sure, text


@pytest.mark.parametrize("factor, disk", [(1.051, True), (1.049, False)])
def test_a_bound_that_gains_is_the_disk(factor: float, disk: bool) -> None:
    """From the least effect on; what it is there is not shown."""
    for noise in (0.0, 0.5):  # runs that differ are no reason to take a gain for none
        assert ("may not be the limit" not in bounded(2.0, factor, noise).sentence) == disk


def test_the_latency_of_the_best_is_not_reported_twice() -> None:
    def shorter(change: Change, run: Run) -> Run:
        return dataclasses.replace(run, p99_ms={"read": 0.5 if ("scheduler", "none") in change.settings else 2.0})

    place = Made(lambda values, _: 1.0 if values["scheduler"] == "none" else 2.0, wrong=shorter)
    sentence = outcome(place)[1]
    assert "For latency" not in sentence.sentence
    assert "p99 latency of a request goes from 2 to 0.5 ms" in sentence.sentence
    table = experiment.Table(Run(), [2.0], "seconds", 0.0)
    row = experiment.Tried(
        changes.ALONE, [(2.0, 1.0)] * 3, [(2.0, 0.5)] * 3, effect=chance.Effect(2.0, 2.0, 2.0, 3, 0.0)
    )
    assert "For latency" not in verdict.judge(dataclasses.replace(table, rows=[row]), "sdx").sentence


def test_of_pairs_both_must_count_and_a_failed_one_is_not_run_again() -> None:
    """The run as it is may fail, too; what does not count gets no more pairs."""

    def baseline_fails(change: Change, run: Run) -> Run:
        return dataclasses.replace(run, errors=3) if change is changes.BASELINE and place.runs > 3 else run

    place = Made(ahead, wrong=baseline_fails)
    table, sentence = outcome(place)
    assert (
        all(row.wrong == "3 failed requests, but 0 for the unchanged command" for row in table.rows)
        and not sentence.causes
    )
    row = experiment.Tried(changes.setting("queue_depth", "32"), wrong="x")
    here = experiment.Experiment(Made(ahead), "seconds", lambda *_: None)
    here.table = experiment.Table(Run(), [1.0], "seconds", 0.0, [row])
    here._confirm([row])
    assert not row.costs and not here.table.unfinished


def test_two_pairs_are_too_few_to_tell() -> None:
    row = experiment.Tried(
        changes.setting("queue_depth", "32"), [(3.0, 1.0)] * 2, effect=chance.Effect(3, 3, 3, 2, 0.0)
    )
    here = experiment.Experiment(Made(ahead), "seconds", lambda *_: None)
    here.table = experiment.Table(Run(), [1.0], "seconds", 0.0, [row])
    here._judge()
    assert not row.shown


def test_what_is_settled_gets_no_more_pairs() -> None:
    place = Made(lambda values, _: 1.0 if values["queue_depth"] == "32" else 3.0, most_pairs=10)
    table, _ = outcome(place)
    assert {len(row.costs) for row in table.rows if row.change.settings == (("queue_depth", "32"),)} == {3}


@pytest.mark.parametrize("metric, cap", [("seconds", 9.0), ("p99", 4.0)])
def test_the_cap_is_of_the_seconds_that_it_takes(metric: str, cap: float) -> None:
    """Median of the costs, where these are seconds; else what the first run took."""
    events: list[float] = []

    class Caps(Made):
        def pairs(self, expected, cap_s):  # type: ignore[no-untyped-def]
            events.append(cap_s)
            return super().pairs(expected, cap_s)

    here = experiment.Experiment(Caps(ahead), metric, lambda *_: None)
    here.table = experiment.Table(Run(seconds=4.0, requested_bytes=1 << 28), [9.0], metric, 0.0)
    here._measure([(changes.setting("queue_depth", "32"), 0)])
    assert events == [cap]
