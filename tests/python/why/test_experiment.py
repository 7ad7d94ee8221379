# SPDX-License-Identifier: GPL-2.0-or-later
"""An experiment on made-up machines: each is a function from settings to seconds, so the right answer is known."""

import dataclasses
import json
import math
import pathlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from conftest import Without, fits

from raidtrace.explain import runs
from raidtrace.quantity.shown import UserError
from raidtrace.why import changes, experiment, mapping, rate, verdict
from raidtrace.why.changes import Change, Kind
from raidtrace.why.figures import Run

NOW = {"scheduler": "mq-deadline", "queue_depth": "254", "nr_requests": "256", "max_sectors_kb": "128", "nomerges": "0",
       "read_ahead_kb": "128"}  # fmt: skip
Seconds = Callable[[Mapping[str, str], Change], float]


@dataclasses.dataclass
class Made(experiment.Place):
    """A Place with runs that take the time of `seconds`. wrong: change -> the fault of its run."""

    seconds: Seconds
    now: Mapping[str, str] = dataclasses.field(default_factory=lambda: dict(NOW))
    noise: float = 0.0
    observed: frozenset[str] = frozenset()
    extra: Sequence[Change] = ()
    physics: Sequence[Change] = ()
    free: Change | None = None
    wrong: Callable[[Change, Run], Run] = lambda _change, run: run
    most_runs: int = dataclasses.field(default=60, kw_only=True)
    each: int = dataclasses.field(default=2, kw_only=True)
    most_pairs: int = 3
    looks: int = 1
    tried: list[str] = dataclasses.field(default_factory=list)
    stack: mapping.Layer = mapping.Layer()
    source: random.Random = dataclasses.field(default_factory=lambda: random.Random(1))

    def run(self, change: Change) -> Run:
        self.runs += 1
        self.tried.append(change.name)
        values = {**self.now, **dict(change.settings)}
        took = self.seconds(values, change) * math.exp(self.source.gauss(0, self.noise))
        limits = {"scheduler": ("none", "mq-deadline", "bfq"), "max_sectors_kb": ("128",)}
        return self.wrong(change, Run(took, 1 << 28, read_back=values, read_after=values, limits=limits, observed=self.observed,
                                      p99_ms={"read": 2.0, "write": None}))  # fmt: skip

    def baselines(self) -> Iterator[Run]:
        for _ in range(3):
            yield self.run(changes.BASELINE)

    def pairs(self, planned: Sequence[tuple[Change, int]], cap_s: float) -> Iterator[tuple[Run, Run]]:
        for change, _ in planned:
            yield self.run(changes.BASELINE), self.run(change)

    def bound(self) -> Change | None:
        return self.free

    def others(self, observed: frozenset[str]) -> list[Change]:
        return [*self.extra, *changes.program(observed)]

    def last(self) -> list[Change]:
        return list(self.physics)

    def rates(self) -> rate.Rates:
        self.tried.append("rates")
        return rate.Rates((100.0, 101.0))

    def layer(self) -> mapping.Layer:
        self.tried.append("layer")
        return self.stack


def outcome(place: Made) -> tuple[experiment.Table, verdict.Answer]:
    """The whole experiment."""
    table = experiment.Experiment(place, "seconds", lambda *_: None).run()
    lines = verdict.lines(table, verdict.judge(table, "sdx"), True)
    assert max(map(len, lines)) <= 80, "\n".join(lines)
    return table, verdict.judge(table, "sdx")


def ahead(values: Mapping[str, str], _change: Change) -> float:
    """Readahead helps up to 2 MiB, and costs a little beyond."""
    kb = int(values["read_ahead_kb"])
    return 10 / (1 + min(kb, 2048) / 512) * (1.04 if kb > 2048 else 1)


def ladder(slower: float) -> Made:
    """A depth of 32 is fastest, 8 a little slower, and 2 stands."""

    def depth(values: Mapping[str, str], _change: Change) -> float:
        return {"2": 5.0, "8": slower}.get(values["queue_depth"], 1.0)

    return Made(depth, {**NOW, "queue_depth": "2", "read_ahead_kb": "8192"})


def loaded(values: Mapping[str, str], change: Change) -> float:
    return 1.0 if change.alone else 2.0 if values["scheduler"] == "bfq" else 4.0


def throttled(group: str) -> Made:
    def seconds(values: Mapping[str, str], change: Change) -> float:
        return 1.0 if change.unlimited else 3.0 if int(values["queue_depth"]) > 8 else 4.0

    return Made(seconds, extra=(changes.unlimited({f"{group}/io.max": "rbps=7 wbps=max"}),))


def scheduled(gain: float) -> Made:
    return Made(lambda values, _: 1.0 if values["scheduler"] == "none" else gain)


SEEKS, FREE = Change("seeks free", "seeks", Kind.LAB), Change("array free of its limits", "disk", Kind.FREE)
PHYSICS = Made(lambda _values, change: 1.0 if change in (SEEKS, FREE) else 2.8, physics=(SEEKS,), free=FREE)
SLEEPS = Made(lambda _values, change: 1.0 if change.program == "sleep" else 3.0, observed=frozenset({"sleep"}))
BFQ, DEPTH = "echo bfq >/sys/block/sdx/queue/scheduler", "echo {} >/sys/block/sdx/device/queue_depth"
SETRA = "blockdev --setra 4096 /dev/sdx"
# a machine, the cause, its kind, the printed command, and words of the sentence
ANSWERS: dict[str, tuple[Made, str, Kind | None, tuple[str, ...], tuple[str, ...]]] = {
    "one setting": (Made(ahead), "readahead", Kind.SETTING, (SETRA,), ("4.00x", "3 of 3 pairs", Without("Chance"))),
    "the smallest within 5 % of the best": (ladder(1.049), "queue depth", Kind.SETTING, (DEPTH.format(8),), ()),
    "none smaller within 5 %": (ladder(1.06), "queue depth", Kind.SETTING, (DEPTH.format(32),), ()),
    "no group, though the depth stands narrow, too": (
        Made(ahead, {**NOW, "queue_depth": "16"}), "readahead", Kind.SETTING, (SETRA,), ()),
    "physics, which nobody can type": (
        PHYSICS, "seeks", Kind.LAB, (), ("No setting helps", "Its limit: seeks")),
    "a load, and a setting that helps somewhat": (
        Made(loaded, extra=(changes.ALONE,)), "concurrent load", Kind.LOAD, (BFQ,), ()),
    "a program that sleeps": (SLEEPS, "program sleeps", Kind.PROGRAM, (), ("remove the pauses",)),
    **{
        f"the limit of {group}": (throttled(group), "limit of its cgroup", Kind.LIMIT,
                                  (changes.unlimit(f"{group}/io.max", "rbps=7", "sdx"),), ("with io.max off",))
        for group in ("/cg/a", "/cg/a b")
    },
    "a gain of 5.1 %": (scheduled(1.051), "scheduler", Kind.SETTING, ("echo none >/sys/block/sdx/queue/scheduler",), ()),
    "a gain of 4.9 %": (scheduled(1.049), "", None, (), ()),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answer_is_known(name: str) -> None:
    place, cause, kind, commands, words = ANSWERS[name]
    _, sentence = outcome(place)
    assert (sentence.causes, sentence.kind, sentence.commands) == ((cause,) if cause else (), kind, commands)
    assert sentence.shown == bool(cause) and all(fits(one, sentence.sentence) for one in words), sentence


def test_masked_pair() -> None:
    def both(values: Mapping[str, str], _change: Change) -> float:
        return 1.0 if int(values["read_ahead_kb"]) >= 2048 and int(values["queue_depth"]) >= 32 else 3.4

    table, sentence = outcome(Made(both, {**NOW, "queue_depth": "2"}))
    assert set(sentence.causes) == {"readahead", "queue depth"} and sentence.kind is Kind.GROUP and sentence.shown
    assert len(sentence.commands) == 2 and sentence.factor == pytest.approx(3.4)
    assert table.together == {"read_ahead_kb": pytest.approx(3.4), "queue_depth": pytest.approx(3.4)}
    assert "Alone: readahead 1.00x, queue depth 1.00x" in sentence.sentence


@pytest.mark.parametrize("fault, why", [
    ({"status": 1}, "exit status"), ({"errors": 2}, "failed requests"), ({"requested_bytes": 5}, "requested 5 bytes"),
    ({"failure": "ended after 30 s, three times as long as the unchanged command"}, "ended after"),
    ({"read_back": NOW}, "the kernel refused"),
    ({"read_after": NOW}, "not tested: the command changed queue_depth 32 to 254 itself"),
])  # fmt: skip
def test_a_run_that_fails_is_no_gain(fault: dict[str, object], why: str) -> None:
    def broken(change: Change, run: Run) -> Run:
        hit = any(name == "queue_depth" for name, _ in change.settings)
        return dataclasses.replace(run, seconds=run.seconds / 3627, **fault) if hit else run  # type: ignore[arg-type]

    table, sentence = outcome(Made(lambda *_: 5.0, {**NOW, "queue_depth": "2", "read_ahead_kb": "8192"}, wrong=broken))
    assert (
        sentence.causes == () and sentence.factor == 1.0 and "experiments do not confirm a cause" in sentence.sentence
    )
    row = next(row for row in table.rows if row.change.settings == (("queue_depth", "32"),))
    assert why in row.wrong and row.effect is None and not row.shown


@pytest.mark.parametrize("again, wrong", [(0.09, False), (0.11, True)])
def test_data_that_does_not_stay_in_memory_says_nothing(again: float, wrong: bool) -> None:
    """A file larger than memory is read from the disk again; then the disk may be the cause."""

    def octets(change: Change, run: Run) -> Run:
        return dataclasses.replace(run, disk_bytes={"read": int(1e9 * (again if change.warm else 1))})

    free = Change("data in memory", "disk", Kind.FREE, warm=True)
    table, sentence = outcome(Made(lambda *_: 3.0, free=free, wrong=octets))
    row = table.row(free)
    assert row and bool(row.wrong) == wrong and (sentence.causes == ("not the disk",)) != wrong


@pytest.mark.parametrize("free, gain, read", [
    (1.0, 1.0, True), (2.9, 1.0, False), (1.0, 2.9, False), (1.0, 1.2, True), (0.1, 1.99, True), (0.1, 2.01, False),
])  # fmt: skip
def test_the_rate_of_the_disk_is_measured_where_nothing_else_explains(free: float, gain: float, read: bool) -> None:
    """Not if it is not the disk, nor if a setting doubles the speed or explains more than half of what memory gains."""
    bound = Change("data in memory", "disk", Kind.FREE, warm=True)

    def seconds(values: Mapping[str, str], change: Change) -> float:
        return free if change == bound else 3.0 / gain if values["nr_requests"] == "1024" else 3.0

    place = Made(seconds, free=bound)
    table, _ = outcome(place)
    assert ("rates" in place.tried) == read and (table.rates.requests is not None) == read


@pytest.mark.parametrize("below, rates", [(100.0, True), (300.0, False)])
def test_the_rates_of_a_layer_that_costs_are_not_those_of_the_disk(below: float, rates: bool) -> None:
    place = Made(lambda *_: 3.0, stack=mapping.Layer("dm-0", "dm-crypt", "sda", 4096, 1, False, ((100.0, below),) * 3))
    table, _ = outcome(place)
    assert "layer" in place.tried and ("rates" in place.tried) == rates and table.layer is place.stack


def test_what_a_program_does_not_do_is_not_left_out() -> None:
    place = Made(lambda *_: 1.0, observed=frozenset({"sync"}))
    outcome(place)
    assert "without fsync and O_SYNC" in place.tried and "without its sleeps" not in place.tried


def test_nothing_is_claimed_below_twice_the_noise() -> None:
    """Noise of 10 %: over 200 experiments in which nothing matters, at most 5 % show a cause."""
    shown = 0
    for seed in range(200):
        place = Made(lambda *_: 1.0, noise=0.1, most_pairs=10, looks=8, most_runs=100, source=random.Random(seed))
        shown += outcome(place)[1].shown
    assert shown <= 10


def test_runs_are_limited() -> None:
    """The text lists the changes not tried and the option that ended the search. A gain of one pair is no headline."""
    place = Made(ahead, most_runs=8)
    table, sentence = outcome(place)
    assert place.runs <= 8 and table.unfinished[0].startswith("not tried: readahead 64, ")
    assert table.ended == "--runs 8" and "not every gain is confirmed" in table.unfinished
    last = " ".join(verdict.lines(table, sentence, False)).partition("Not finished")[2]
    assert last.startswith(" (the search ended at --runs 8): not tried: readahead 64, ")
    assert (sentence.causes, sentence.change, sentence.factor) == ((), "", 1.0)
    assert not sentence.commands and not sentence.shown
    assert sentence.sentence.startswith(
        "No change is confirmed to help: readahead 4096 was faster in 1 of 1 pairs (4.00x), but more pairs must confirm this. "
        "To test further: --runs 26."
    )


def test_the_option_that_ends_a_search_is_the_one_that_leaves_less_room() -> None:
    """A run takes 50 s: 7 changes in 750 s, 5 in 11 runs."""
    place = Made(ahead, most_runs=11, budget_s=750.0, wall_s=[50.0])
    assert place.left() == 5 and place.ended(4) == ("--runs 11", "--runs 19")
    place.most_runs = 20
    assert place.left() == 7 and place.ended(4) == ("--budget 750", "--budget 1200")
    place.most_runs = 11
    assert place.has(700.0) and place.ended(4)[0] == "--runs 11"
    assert not place.has(800.0) and place.ended(4)[0] == "--budget 750"


def test_rates_for_which_there_is_no_time_are_reported() -> None:
    class Late(Made):
        def rates(self):
            return rate.Rates() if self.has(math.inf) else super().rates()

    table, _ = outcome(Late(lambda *_: 3.0, budget_s=500.0))
    assert (table.ended, table.unfinished) == ("--budget 500", ["the rates of the disk were not measured"])


def test_baselines_that_differ() -> None:
    """A command that is not the same twice, or fails, cannot be measured, and the text says what to do."""
    good = Run(1.0, 1 << 20)
    with pytest.raises(UserError, match="--metric rate"):
        experiment.baseline_table([good, dataclasses.replace(good, requested_bytes=1 << 24)], "seconds")
    with pytest.raises(UserError, match="exit status 2; it printed: no such file"):
        experiment.baseline_table([dataclasses.replace(good, status=2, stderr="no such file")] * 3, "seconds")
    with pytest.raises(UserError, match="no room"):
        experiment.baseline_table([dataclasses.replace(good, failure="no room")], "seconds")
    assert experiment.baseline_table([good, good], "seconds").noise == 0


@pytest.mark.parametrize("after, again, message", [(0.99, 0.99, True), (1.01, 1.01, False), (0.99, 1.01, False)])
def test_latency(after: float, again: float, message: bool) -> None:
    """A setting that halves the p99 at the same speed is tried again, and named if it does so each time."""
    times: list[Change] = []

    def shorter(change: Change, run: Run) -> Run:
        deep = dict(change.settings).get("queue_depth") == "32"
        times.extend([change] if deep else [])
        late = (after if len(times) == 1 else again) if deep else 2.0
        return dataclasses.replace(run, p99_ms={"read": late, "write": None})

    sentence = outcome(Made(lambda *_: 1.0, wrong=shorter))[1].sentence
    assert ("For latency: queue_depth 32, p99 2 to" in sentence) == message and len(times) == (1 if after > 1 else 3)


def test_of_noise_no_tip_on_latency_is_made() -> None:
    """200 experiments in which the p99 of a run is half or twice as long by chance alone."""
    message = 0
    for seed in range(200):
        source = random.Random(seed)

        def late(_change: Change, run: Run, source: random.Random = source) -> Run:
            return dataclasses.replace(run, p99_ms={"read": 2.0 * math.exp(source.gauss(0, 0.4)), "write": None})

        message += "atency" in outcome(Made(lambda *_: 1.0, wrong=late, most_pairs=10, looks=8))[1].sentence
    assert message <= 4


def test_room_is_kept_for_confirming_the_best() -> None:
    """Where not all fits, the change tried first is confirmed before those without evidence are tried. With nothing to confirm
    the room is used for them."""
    table, judgement = outcome(Made(ahead, most_runs=15))
    assert judgement.change == "readahead 4096" and judgement.shown and len(table.rows[0].costs) == 3
    once = [row.change.name for row in table.rows if len(row.costs) == 1]
    assert once == ["readahead 64", "queue_depth 32", "nr_requests 1024"]
    assert "not tried: scheduler none, " in " ".join(table.unfinished)
    nothing = Made(lambda *_: 1.0, most_runs=15)
    assert len(outcome(nothing)[0].rows) == 6 and nothing.runs == 15


def test_progress() -> None:
    """Reported before each batch: the runs that were made, the most that can be, and the seconds that these take."""
    place, reported = Made(ahead, budget_s=500.0), []
    place.wall_s = [10.0]
    experiment.Experiment(place, "seconds", lambda _what, *rest: reported.append(rest)).run()
    counts = [one[:2] for one in reported]
    assert counts[0] == (3, 60) and counts == sorted(counts) and len(set(counts)) > 2
    seconds = [one[2] for one in reported]
    assert seconds[0] == pytest.approx(480, abs=5) and all(one <= 500 for one in seconds)


def test_a_signal_leaves_the_table_of_the_runs_that_were_made():
    """Before the first change, those of the unchanged command; before the first run, there is nothing."""

    class Stopped(Made):
        def baselines(self):
            for run in super().baselines():
                if self.runs > self.most_runs - 48:
                    raise KeyboardInterrupt
                yield run

        def pairs(self, planned, cap_s):
            for pair in super().pairs(planned, cap_s):
                if self.runs >= self.most_runs - 50:
                    raise KeyboardInterrupt
                yield pair

    table, sentence = outcome(Stopped(ahead))
    assert len(table.rows) == 3  # of a batch of seven, those that were complete
    assert table.stopped and table.rows and table.unfinished[-1].startswith("stopped by a signal")
    assert not any(row.shown for row in table.rows if len(row.costs) < 2) and sentence
    for most, count in ((53, 3), (50, 2), (49, 1)):
        place = Stopped(ahead, most_runs=most)
        table, sentence = outcome(place)
        assert table.stopped and not table.rows and len(table.costs) == count
        assert sentence.sentence.startswith("No change was measured")
        assert table.unfinished == ["stopped by a signal: no change was measured"]
        table.baseline = dataclasses.replace(table.baseline, recording="/a b/run.rtdb")
        lines = verdict.lines(table, sentence, True)
        assert (
            any(line.startswith("Unchanged: ") for line in lines) and lines[-1] == "  raidctl explain '/a b/run.rtdb'"
        )
        with_cause = verdict.lines(table, dataclasses.replace(sentence, causes=("x",)), True)
        assert "raidctl explain" not in "\n".join(with_cause)
        assert not any("times as fast" in line for line in lines) and ("1 run. " in " ".join(lines)) == (count == 1)
    with pytest.raises(KeyboardInterrupt):
        outcome(Stopped(ahead, most_runs=48))


VERDICT = {"sentence": "Readahead: 3.5x.", "commands": ["blockdev --setra 4096 /dev/sda"]}


def made(directory: pathlib.Path, change: str = "as it is, trial 0", **more: object) -> pathlib.Path:
    """A directory as raidctl why leaves it; the recording of one run."""
    run = directory / "run-01"
    run.mkdir()
    (run / runs.CHANGE).write_text(change)
    runs.write_experiment(directory, json.dumps({"format": 1, "verdict": VERDICT, **more}))
    return run / "run.rtdb"


def test_tested(tmp_path: pathlib.Path) -> None:
    path = made(tmp_path)
    assert runs.tested(path) == "Readahead: 3.5x. Type: blockdev --setra 4096 /dev/sda"
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("more", [{"format": 2}, {"verdict": None}, {"verdict": {"sentence": 5}}, {"verdict": []},
                                  {"change": "readahead 4096, trial 0"}])  # fmt: skip
def test_strange_tables_and_changed_runs_say_nothing(tmp_path: pathlib.Path, more: dict[str, Any]) -> None:
    assert runs.tested(made(tmp_path, **more)) == ""


def test_no_table(tmp_path: pathlib.Path) -> None:
    assert runs.tested(tmp_path / "run.rtdb") == ""
    path = made(tmp_path)
    (tmp_path / runs.EXPERIMENT).write_text("{" * 100)
    assert runs.tested(path) == ""
    (tmp_path / runs.EXPERIMENT).write_text(" " * (runs.MAX_BYTES + 1))
    assert runs.tested(path) == ""


def test_control_characters_do_not_reach_a_terminal(tmp_path: pathlib.Path) -> None:
    path = made(tmp_path, verdict={"sentence": "a\x1b[31mb\n", "commands": []})
    assert runs.tested(path) == "a?[31mb?"
