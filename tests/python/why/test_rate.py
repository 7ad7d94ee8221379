# SPDX-License-Identifier: GPL-2.0-or-later
"""The rate of a disk whatever is requested: when several rates are one, and the sentence on a command that reaches it."""

import dataclasses
import itertools
import json
import pathlib
from typing import Any

import pytest
from conftest import Without, fits

from raidtrace.cli import why as cli
from raidtrace.quantity.shown import UserError
from raidtrace.why import changes, experiment, rate, verdict
from raidtrace.why.changes import Change, Kind
from raidtrace.why.figures import MIB, Run
from raidtrace.why.rate import SMALL, Rates

DEEP = changes.setting("nr_requests", "1024")
DEEPER = changes.setting("queue_depth", "32")


def test_a_limit_of_requests_and_one_of_bytes() -> None:
    """3,000 requests of any size up to 125 MiB/s, as a volume has both."""
    measured = {one: min(3000.0, 125 * MIB / one.octets) for one in rate.READERS}
    assert rate.judge(measured.get) == Rates((3000.0, 3000.0), (125.0 * MIB, 125.0 * MIB))


def test_a_disk_with_heads_has_neither() -> None:
    """Forward it is faster than at random places, and more in flight helps."""
    measured = {one: 8000.0 if one.pattern == "forward" else 100.0 + one.depth for one in rate.READERS}
    assert rate.judge(measured.get) == Rates()


@pytest.mark.parametrize("other, same", [(1.05, True), (1.07, False), (0.95, True), (0.93, False)])
def test_how_equal_rates_must_be(other: float, same: bool) -> None:
    for reads in SMALL:
        measured = {one: 100.0 for one in SMALL} | {reads: 100.0 * other}
        assert (rate.judge(measured.get).requests is not None) == same


def test_no_more_is_measured_once_two_rates_differ() -> None:
    calls: list[rate.Reads] = []
    assert rate.judge(lambda one: calls.append(one) or float(len(calls))) == Rates()
    assert calls == [*SMALL[:2], *rate.LARGE[:1], rate.LARGE[1]]


def test_a_rate_that_was_not_measured_is_not_the_same() -> None:
    measured = {one: 100.0 for one in SMALL}
    assert rate.judge(measured.get).requests and not rate.judge(measured.get).octets
    del measured[SMALL[1]]
    assert rate.judge(measured.get) == Rates()


@pytest.mark.parametrize("text, result", [("99.5 0.49\n", 99.5), ("99.5 0.51\n", None), ("0.000 0.01\n", None)])
def test_a_reader_that_its_processor_limits_tells_nothing(text: str, result: float | None) -> None:
    assert rate.read(text) == result
    with pytest.raises(ValueError):
        rate.read("Traceback\n")


def test_places() -> None:
    """At random, within the disk; forward with a gap, and at the end again from the first."""

    def first(count: int, size: int, *words: object) -> list[int]:
        return list(itertools.islice(rate.places(rate.Reads(*words), size), count))  # type: ignore[arg-type]

    assert set(first(200, 8 * 4096, 4096, 1, "random")) == {4096 * at for at in range(8)}
    for pattern, step in (("forward", 20), ("along", 10)):
        there = first(9, 85, 10, 1, pattern)
        assert [(after - before) % 80 for before, after in itertools.pairwise(there)] == [step] * 8
    assert set(first(200, 1000, 10, 1, "random", 7, 300, 45)) == {300, 310, 320, 330}
    assert first(9, 1000, 10, 1, "random", 7) != first(9, 1000, 10, 1, "random", 8)
    with pytest.raises(OSError, match="too few"):
        rate.places(rate.Reads(10, 1, "random", 7, 300, 39), 1000)


def test_a_reader_measures(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests a second of what was completed after the warm part, from the first to the last."""
    monkeypatch.setattr(rate, "WARM_UP_S", 0.01)
    monkeypatch.setattr(rate, "MIN_S", 0.05)
    monkeypatch.setattr(rate, "MAX_RATE", 1e9)
    path = tmp_path / "disk"
    path.write_bytes(bytes(1 << 20))
    try:
        result, busy = rate.measure(str(path), rate.Reads(4096, 2, "random"))
    except OSError as error:
        pytest.skip(f"no O_DIRECT here: {error}")
    assert result > 0 and busy > 0
    monkeypatch.setattr(rate, "MAX_RATE", 100)
    with pytest.raises(OSError, match="faster than raidctl can read"):
        rate.measure(str(path), rate.Reads(4096, 2, "random"))
    path.write_bytes(bytes(8192))
    with pytest.raises(OSError, match="too few"):
        rate.measure(str(path), rate.Reads(4096, 2, "random"))


def cause_and_sentence(run: Run, rates: Rates, *more: tuple[Change, float]) -> verdict.Answer:
    """The verdict on a table in which nothing helps, except `more`."""
    rows = [experiment.Tried(change, [(factor, 1.0)], effect=experiment.chance.Effect(factor, factor, factor, 3, 0.0),
                             shown=factor > 1) for change, factor in ((DEEP, 1.0), *more)]  # fmt: skip
    return verdict.judge(experiment.Table(run, [1.0], "seconds", 0.0, rows, rates=rates), "sdx")


BOTH = Rates((2990.0, 3010.0), (125.0 * MIB, 126.0 * MIB))


SECOND = Run(seconds=1.0, disk_requests=2995, disk_bytes={"read": 1})
WITH_ALONE = dataclasses.replace(BOTH, alone_ms=0.5)  # one in flight may by chance complete as many as a limit allows
IOPS, BANDWIDTH = ("IOPS limit",), ("bandwidth limit",)

# how the run differs, the rates of the disk, the cause, and words of the sentence
LIMITS: dict[str, tuple[dict[str, Any], Rates, tuple[str, ...], str]] = {
    "requests below the rate": ({"seconds": 2.0, "disk_requests": 5680}, BOTH, (), "experiments do not confirm a cause"),
    "requests at the rate": ({"seconds": 2.0, "disk_requests": 5682}, BOTH, IOPS, "the IOPS limit is reached"),
    "both at their rates": (
        {"seconds": 2.0, "disk_requests": 5750, "disk_bytes": {"read": 238 * MIB}}, BOTH, IOPS, "the IOPS limit is reached"),
    "bytes at the rate": ({"seconds": 2.0, "disk_requests": 100, "disk_bytes": {"read": 238 * MIB}}, BOTH, BANDWIDTH,
                          "the bandwidth limit is reached"),
    "bytes below the rate": (
        {"seconds": 2.0, "disk_requests": 100, "disk_bytes": {"read": 237 * MIB}}, BOTH, (),
        "experiments do not confirm a cause"),
    # a short command at a limit may be a little faster; from 6 % above the fastest reader on it is none
    "a little faster than a limit": ({"disk_requests": 3190}, BOTH, IOPS, Without("this is a burst")),
    "a burst": ({"disk_requests": 3192}, BOTH, (), "this is a burst, so the IOPS limit is not reached yet"),
    "requests that wait": ({"mean_ms": 0.56}, WITH_ALONE, IOPS, Without("no request waits for this limit")),
    "requests that do not wait": ({"mean_ms": 0.54}, WITH_ALONE, (), "no request waits for this limit"),
    "requests of which it is not known whether they wait": ({"mean_ms": 0.54}, BOTH, IOPS, "the IOPS limit is reached"),
    "near a limit": ({"disk_requests": 2393}, BOTH, (), "80% of the IOPS limit"),
    "not near a limit": ({"disk_requests": 2391}, BOTH, (), Without("of the IOPS limit")),
}  # fmt: skip


@pytest.mark.parametrize("name", LIMITS)
def test_a_command_that_reaches_a_rate_is_limited_by_it(name: str) -> None:
    other, rates, causes, words = LIMITS[name]
    result = cause_and_sentence(dataclasses.replace(SECOND, **other), rates)
    assert result.causes == causes and fits(words, result.sentence), result
    assert result.shown == bool(causes) == ("no setting helps" in result.sentence)


def test_sentences() -> None:
    run = Run(seconds=1.0, disk_requests=2999, disk_bytes={"read": 1})
    sentence = cause_and_sentence(run, BOTH).sentence
    assert "The disk completes 2,990 to 3,010 reads a second of 4 or 16 KiB, at random places or sequential" in sentence
    assert "with 8 or 32 in flight; the command 2,999: the IOPS limit is reached." in sentence
    assert "The disk completes 100 reads a second" in cause_and_sentence(run, Rates((99.96, 100.0))).sentence
    assert cause_and_sentence(run, BOTH).commands == () and cause_and_sentence(run, Rates()).causes == ()


def test_a_limit_comes_before_a_small_gain() -> None:
    gain = 1.1
    run = Run(seconds=1.0, disk_requests=3000, disk_bytes={"read": 1}, read_back={"read_ahead_kb": "128"})
    result = cause_and_sentence(run, BOTH, (changes.setting("read_ahead_kb", "1024"), gain))
    assert result.causes == ("IOPS limit", "readahead")
    assert result.sentence.startswith("IOPS limit: the disk completes 2,990")
    assert "the IOPS limit is reached" in result.sentence and f"({gain:.2f}x" in result.sentence
    assert result.factor == gain and result.commands == ("blockdev --setra 2048 /dev/sdx",)
    slower = dataclasses.replace(run, disk_requests=2400)
    assert cause_and_sentence(slower, BOTH, (DEEPER, gain)).causes == ("queue depth",)
    assert cause_and_sentence(run, BOTH, (Change("limit 10 x as fast", "limit", Kind.LAB), 9.0)).causes == ("limit",)


def test_json_has_all_that_the_sentence_is_of() -> None:
    rates = dataclasses.replace(BOTH, alone_ms=0.5)
    table = experiment.Table(Run(seconds=1.0), [1.0], "seconds", 0.0, rates=rates)
    assert json.loads(verdict.as_json(table, verdict.judge(table, "sdx"), {}))["rates"] == {
        "requests_per_s": [2990.0, 3010.0], "bytes_per_s": [125.0 * MIB, 126.0 * MIB], "alone_ms": 0.5}  # fmt: skip


def test_the_rate_of_a_disk_with_a_load_is_that_of_both() -> None:
    assert "the command and its load 2,995" in cause_and_sentence(SECOND, BOTH, (changes.ALONE, 1.0)).sentence


def test_nothing_was_tried() -> None:
    table = experiment.Table(Run(seconds=1.0), [1.0], "seconds", 0.0, [])
    assert verdict.judge(table, "sdx").sentence.startswith("No change was measured.")


def test_runs_that_differ_by_a_burst() -> None:
    first, late = Run(seconds=0.05, requested_bytes=1), Run(failure="ended after 0.15 s", status=124)
    with pytest.raises(UserError, match="differ too much: the first took 0.05 s"):
        experiment.baseline_table([first, late], "seconds")


@pytest.mark.parametrize(("words", "message"), [
    (["--runs", "4"], "give a whole number of at least 5"), (["--runs", "x"], "give a whole number of at least 5"),
    (["--budget", "-5"], "not a time; give one such as"), (["--budget", "inf"], "not a time; give one such as"),
    (["--budget", "5q"], "not a time; give one such as"),
])  # fmt: skip
def test_numbers_that_allow_no_run_are_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        cli.parser().parse_args(words)
    assert message in capsys.readouterr().err
    assert cli.parser().parse_args(["--runs", "5", "--budget", "1"]).runs == 5


def test_a_budget_has_a_unit(capsys: pytest.CaptureFixture[str]) -> None:
    assert [cli.parser().parse_args(["-t", text]).budget for text in ("90", "90s", "3min", "2m", "1.5h")] == [
        90, 90, 180, 120, 5400]  # fmt: skip
    with pytest.raises(SystemExit):
        cli.parser().parse_args(["-t", "3ms"])
    assert "3ms: not a time; give one such as 300, 300s, 5min or 1h" in capsys.readouterr().err
