# SPDX-License-Identifier: GPL-2.0-or-later
"""The verdict on made-up tables: other causes, latency, and the model."""

import dataclasses

import pytest
from conftest import Without, fits

from raidtrace.quantity import units
from raidtrace.why import chance, changes, experiment, verdict
from raidtrace.why.changes import Change, Kind
from raidtrace.why.figures import Run

DEEP = changes.setting("queue_depth", "32")
FREE = Change("array free of its limits", "disk", Kind.FREE)
SEEKS = Change("seeks free", "seeks", Kind.LAB)
SLEEP = Change("without its sleeps", "program sleeps", Kind.PROGRAM, program="sleep")
GROUP = changes.group({"queue_depth": "32", "read_ahead_kb": "2048"})


def row(change: Change, factor: float, **more: object) -> experiment.Tried:
    """A change with its factor, in three pairs that agree; p99_ms is of each."""
    result = experiment.Tried(
        change, [(factor, 1.0)] * 3, effect=chance.Effect(factor, factor, factor, 3, 0.0), shown=True
    )
    return dataclasses.replace(result, **more)  # type: ignore[arg-type]


def sentence_of(*rows: experiment.Tried) -> verdict.Answer:
    """The verdict on a command that takes 9 s unchanged."""
    return verdict.judge(
        experiment.Table(Run(read_back={"queue_depth": "2"}), [9.0], "seconds", 0.0, list(rows)), "sdx"
    )


@pytest.mark.parametrize("after, message", [(1.58, True), (1.62, False), (2.48, False), (2.52, True)])
def test_what_the_best_does_to_latency_is_reported_where_it_is_a_fifth_less_or_a_quarter_more(
    after: float, message: bool
) -> None:
    """In each of three pairs or more, and beyond the noise of the command as it is."""

    def sentence(pairs: list[tuple[float, float]], late: float = 0.0) -> str:
        rows = [row(DEEP, 3.0, p99_ms=pairs)]
        table = experiment.Table(Run(read_back={"queue_depth": "2"}), [9.0], "seconds", 0.0, rows, late=late)
        return verdict.judge(table, "sdx").sentence

    text = "The p99 latency of a request goes from 2"
    assert (text in sentence([(2.0, after)] * 3)) == message
    for chance_alone in ([(2.0, after)] * 2, [(2.0, after), (2.0, after), (2.0, 2.0)], []):
        assert "latency" not in sentence(chance_alone)
    assert "latency" not in sentence([(2.0, after)] * 3, 0.3)


@pytest.mark.parametrize("pairs, late, message", [
    ([(2.0, 0.9)] * 3, 0.0, True), ([(2.0, 0.9)] * 2, 0.0, False), ([(2.0, 0.9)] * 2 + [(1.0, 0.9)], 0.0, False),
    ([(2.0, 0.9)] * 3, 0.28, True), ([(2.0, 0.9)] * 3, 0.29, False),
])  # fmt: skip
def test_a_tip_on_latency_is_no_chance(pairs: list[tuple[float, float]], late: float, message: bool) -> None:
    rows = [row(DEEP, 1.0, p99_ms=pairs)]
    table = experiment.Table(Run(read_back={"queue_depth": "2"}), [9.0], "seconds", 0.0, rows, late=late)
    sentence = verdict.judge(table, "sdx").sentence
    assert ("For latency: queue_depth 32, p99 2 to 0.9 ms (3 of 3 pairs)" in sentence) == message


NONE, SLOTS, REQUESTS = changes.setting("scheduler", "none"), changes.setting("nr_requests", "256"), "max_sectors_kb"
# a smaller step of the setting, a group that has it, and what failed are no other cause
SAME = [
    row(DEEP, 3.0),
    row(changes.setting("queue_depth", "8"), 2.0),
    row(GROUP, 2.9),
    row(NONE, 2.5, wrong="x"),
    row(FREE, 2.8),
]
MOVED = row(changes.setting(REQUESTS, "1280"), 2.9, moved=("queue_depth 2 -> 32",))
TRIED = [row(DEEP, 1.01), row(SLEEP, 1.02), row(NONE, 1.0, wrong="x"), row(SEEKS, 1.0)]
OTHERS = [row(DEEP, 3.0), row(changes.ALONE, 1.04), row(NONE, 1.0)]
QUICK = row(SLOTS, 1.1, p99_ms=[(2.0, 0.9)] * 3)


def late(best: float) -> experiment.Tried:
    """The best change, with a p99 of so many ms instead of 2."""
    return row(DEEP, 3.0, p99_ms=[(2.0, best)] * 3)


SENTENCES: dict[str, tuple[list[experiment.Tried], str]] = {
    "the model gains less": ([row(DEEP, 3.0), row(SEEKS, 2.9)], Without("In the model")),
    "the model gains more": ([row(DEEP, 3.0), row(SEEKS, 3.1)], "In the model, with seeks free: "),
    "the other change": ([*SAME, row(SLOTS, 1.02)], "The other change gave 1.02x."),
    "the other change moved another setting": (
        [*SAME, row(SLOTS, 1.02, moved=("nomerges 1 -> 0",))], "The other change gave 1.02x."),
    "a change that moved the best setting is no other": ([*SAME, row(SLOTS, 1.02), MOVED], "The other change gave 1.02x."),
    "a bound that failed": ([row(DEEP, 3.0), row(SLOTS, 1.0), row(FREE, 9.0, wrong="no end")], Without("bound")),
    "what was tried where nothing helps": ([*TRIED, row(FREE, 4.0)], "none of 2 changes gave more than 1.02x"),
    "half again as good a p99": ([late(1.9), QUICK], "For latency: nr_requests"),
    "nearly as good a p99 by the best": ([late(1.7), QUICK], Without("For latency")),
    "a better p99 by the best": ([late(0.9), QUICK], Without("For latency")),
    "a program is without": ([row(SLEEP, 3.0)], "Program sleeps: without its sleeps it takes 1 s instead of 3 s"),
    "a load is with": ([row(changes.ALONE, 3.0)], "Concurrent load: with no concurrent load it takes 1"),
    "two others that do not help": (OTHERS, "The best of the other 2 changes gave 1.04x."),
    "another that helps is named": (
        [*OTHERS, row(changes.ALONE, 2.0)], "The best of the other 3 changes, no concurrent load, gave 2.00x."),
    "a setting that is the best": ([row(DEEP, 3.0)], Without("The best setting")),
    "a setting behind a program": (
        [row(SLEEP, 3.0), row(DEEP, 2.0)], "The best setting is queue_depth 32: 2.00x. The command below sets it."),
    "each of a group alone": (
        [row(GROUP, 3.4), row(changes.setting("read_ahead_kb", "2048"), 1.2), row(DEEP, 1.1)],
        "Alone: queue depth 1.10x, readahead 1.20x."),
}  # fmt: skip


@pytest.mark.parametrize("name", SENTENCES)
def test_a_sentence_says(name: str) -> None:
    rows, text = SENTENCES[name]
    assert fits(text, sentence_of(*rows).sentence), sentence_of(*rows).sentence


def test_causes() -> None:
    """A change that moved another setting counts as that setting only if it gains more; a bound that failed is none."""
    more = dataclasses.replace(MOVED, effect=chance.Effect(4, 4, 4, 3, 0))
    assert sentence_of(row(DEEP, 3.0), more).causes == ("queue depth",)
    assert sentence_of(MOVED).causes == ("request size",)
    assert sentence_of(*TRIED, row(FREE, 1.0, wrong="no end")).causes == ()


@pytest.mark.parametrize("factor, message", [
    (1.04, "No setting helps: none of 1 changes gave more than 1.04x"),
    (1.2, "No change helps beyond chance (the best of 1 gave 1.20x; a gain below 1.33x may be chance)"),
])  # fmt: skip
def test_what_chance_may_have_gained_is_not_nothing(factor: float, message: str) -> None:
    table = experiment.Table(Run(), [9.0], "seconds", 0.1, [row(DEEP, factor)])
    assert verdict.judge(table, "sdx").sentence.startswith(message)


@pytest.mark.parametrize("costs, doubt", [
    ([9.0, 9.5, 10.9], "but this may be chance, because the runs of the unchanged command differ by 21.1 %"),
    ([9.0, 9.05], "but more pairs must confirm this"), ([9.0], "but this may be chance"),
    ([9.0, 9.0 * 1.101], "but this may be chance, because the runs of the unchanged command differ by 10.1 %"),
    ([9.0, 9.0 * 1.099], "but more pairs must confirm this"),
])  # fmt: skip
def test_a_gain_that_is_not_shown_is_no_headline(costs: list[float], doubt: str) -> None:
    """Neither of a setting nor of the model; the verdict names the test that would show it."""
    once = [row(change, 1.3, costs=[(1.3, 1.0)], shown=False) for change in (DEEP, SEEKS)]
    table = experiment.Table(Run(read_back={"queue_depth": "2"}), costs, "seconds", 0.08, once)
    result = verdict.judge(table, "sdx")
    assert (result.causes, result.change, result.commands, result.shown) == ((), "", (), False)
    assert result.sentence == (
        f"No change is confirmed to help: queue_depth 32 was faster in 1 of 1 pairs (1.30x), {doubt}. "
        "A longer command or a quieter machine gives a clear result. In the model, with seeks free: 1.30x."
    )
    again = verdict.judge(dataclasses.replace(table, more="--budget 900"), "sdx").sentence
    assert "To test further: --budget 900." in again and "settles" not in again


def test_a_smaller_gain_that_is_shown_comes_before_a_larger_one_of_chance() -> None:
    result = sentence_of(
        row(changes.setting("nr_requests", "256"), 3.0, costs=[(3.0, 1.0)], shown=False), row(DEEP, 2.0)
    )
    assert (result.causes, result.factor, result.shown) == (("queue depth",), 2.0, True)
    assert "The other change gave 3.00x" in result.sentence


def test_the_table_has_80_columns_also_with_a_short_latency() -> None:
    wide = dataclasses.replace(DEEP, name="a name that is longer than its column has room")
    row_of = row(wide, 9.87, p99_ms=[(0.0647, 0.0492)], shown=False)
    table = experiment.Table(Run(read_back={"queue_depth": "2"}), [9.0], "seconds", 0.0, [row_of])
    lines = verdict.lines(table, verdict.judge(table, "sdx"), False)
    (line,) = [line for line in lines if line.startswith("a name that is longer")]
    assert line.endswith("… 9.87 (9.87-9.87)  0.0647 -> 0.0492  faster, not sure") and len(line) == 80, line


@pytest.mark.parametrize(("metric", "words", "head"), [
    ("seconds", ("faster", "slower"), "times as fast"),
    ("rate", ("faster", "slower"), "times as fast"),
    ("p99", ("better", "worse"), "cost divided by"),
    ("1 / mib_per_s", ("better", "worse"), "cost divided by"),
])  # fmt: skip
def test_only_the_time_of_the_work_makes_a_command_faster(metric: str, words: tuple[str, str], head: str) -> None:
    rows = [row(DEEP, 2.0), row(DEEP, 0.5)]
    table = experiment.Table(Run(read_back={"queue_depth": "2"}), [9.0], metric, 0.0, rows)
    assert tuple(verdict.word(one, table) for one in rows) == words
    assert any(head in line for line in verdict.lines(table, verdict.judge(table, "sdx"), False))


def test_a_p99_that_is_compared_is_not_reported_twice() -> None:
    table = experiment.Table(
        Run(read_back={"queue_depth": "2"}), [9.0], "p99", 0.0, [row(DEEP, 3.0, p99_ms=[(9.0, 3.0)] * 3)]
    )
    sentence = verdict.judge(table, "sdx").sentence
    assert "its p99 latency is 1 ms instead of 3 ms (3.00x" in sentence and "goes from" not in sentence


def test_a_setting_is_typed_though_the_program_is_known() -> None:
    table = experiment.Table(Run(read_back={"queue_depth": "2"}), [9.0], "seconds", 0.0, [row(DEEP, 3.0)])
    assert verdict.judge(table, "sdx", ("prog",), "x.so").commands == ("echo 32 >/sys/block/sdx/device/queue_depth",)


def test_numbers_have_three_digits_and_no_exponent():
    text = [units.significant(value) for value in (0.0647, 9.96, 117.0, 999.4, 999.6, 1040.0, 12345.6)]
    assert text == ["0.0647", "9.96", "117", "999", "1000", "1040", "12346"]
