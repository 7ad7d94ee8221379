# SPDX-License-Identifier: GPL-2.0-or-later
"""A part of Documentation/reproduction.rst is made of misconceptions.json, and verdicts follow the numbers."""

import copy
import json

import pytest
from conftest import TOP

from paper2004 import misconceptions, misconceptions_run
from raidtrace.recording import results

DOCUMENTATION = TOP / "Documentation"
STATE = json.loads((DOCUMENTATION / "misconceptions.json").read_text(encoding="utf-8"))


def test_the_page_is_made_of_the_numbers():
    page = (DOCUMENTATION / "reproduction.rst").read_text(encoding="utf-8")
    assert "\n".join(misconceptions_run.page(STATE)) in page, "tools/paper-2004/misconceptions --page"


def test_the_runs_are_those_of_the_script():
    assert STATE["script"] == misconceptions_run.digest(), "misconceptions-cell changed: make misconceptions"


def test_each_experiment_has_its_runs():
    assert [one.number for one in misconceptions.EXPERIMENTS] == list(range(1, 9))
    for one in misconceptions.EXPERIMENTS:
        assert set(one.runs) <= STATE["runs"].keys()


def judged(number, *changes):
    """The judgement of an experiment when (run, phase, name, value) are other numbers, in each round of the run."""
    runs = copy.deepcopy(STATE["runs"])
    for run, phase, name, value in changes:
        for one in {run, *misconceptions.rounds_of(runs, run)}:
            runs[one][phase][name] = value
    return misconceptions.EXPERIMENTS[number - 1].judge(runs)


@pytest.mark.parametrize(
    ("number", "changes"),
    [
        (1, [("tuned", "run", "mib_per_s", STATE["runs"]["default"]["run"]["mib_per_s"])]),
        (2, [("cache-2", "random", "served", STATE["runs"]["cache-2"]["random"]["asked"])]),
        (3, [("direct-one", "run", "depth", 6.0)]),
        (4, [(f"fs-{kind}", phase, f"bios {name}", 0) for kind in misconceptions.FILESYSTEMS for phase in ("write", "read")
             for name in ("metadata", "journal")]),
        (5, [(f"fs-{kind}", "read", "mib_per_s", 400.0) for kind in misconceptions.FILESYSTEMS]),
        (7, [("quota-200", "run", "mib_per_s", 2 * STATE["runs"]["two-cpus"]["run"]["mib_per_s"])]),
        (8, [("two-cpus", "run", "direct", 1.0)]),
    ],
)  # fmt: skip
def test_a_verdict_is_computed_and_can_be_the_opposite(number, changes):
    assert judged(number).verdict != "not refuted"
    assert judged(number, *changes).verdict == "not refuted"


def with_rounds(**rates):
    """Runs of the virtual machine by rates alone: run -> MiB/s of each round."""
    return {
        name: {"run": {"mib_per_s": rate, "depth": 1.0, "idle": 0.5}}
        for run, result in rates.items()
        for name, rate in [(run.replace("_", "-"), sorted(result)[len(result) // 2]),
                           *((f"{run.replace('_', '-')}@{at}", one) for at, one in enumerate(result, 1))]
    }  # fmt: skip


@pytest.mark.parametrize(
    ("least", "verdict"), [([20, 21, 22], "refuted"), ([80, 85, 88], "not refuted"), ([20, 85, 21], "not decided")]
)
def test_rounds_that_disagree_decide_nothing(least, verdict):
    runs = with_rounds(two_cpus=[80, 84, 90], quota_800=[60, 60, 60], quota_200=least)
    result = misconceptions.EXPERIMENTS[6].judge(runs)
    assert result.verdict == verdict
    assert "in 3 rounds" in result.sentences[0]


@pytest.mark.parametrize("two", [[80, 84, 91], [160, 171, 180]])
def test_two_processors_of_one_thread_prove_nothing(two):
    result = misconceptions.EXPERIMENTS[5].judge(with_rounds(one_cpu=[80, 85, 90], two_cpus=two))
    assert result.verdict == "out of reach" and "in 3 rounds" in result.sentences[0]


def test_a_ratio_is_that_of_one_round():
    runs = with_rounds(two_cpus=[100, 40, 100], quota_200=[20, 8, 90], quota_800=[70, 30, 70])
    assert misconceptions.ratios(runs, "quota-200", "two-cpus") == pytest.approx([0.2, 0.2, 0.9])
    assert misconceptions.EXPERIMENTS[6].judge(runs).verdict == "not decided"


def test_rounds_are_in_their_order_and_ten_comes_after_nine():
    runs = {f"direct@{at}": {} for at in (10, 9, 1)} | {"direct": {}, "direct-one": {}}
    assert misconceptions.rounds_of(runs, "direct") == ["direct@1", "direct@9", "direct@10"]
    assert misconceptions.rounds_of(runs, "direct-one") == ["direct-one"]


def test_a_median_of_what_a_round_did_not_count_is_none():
    counted = ((0.1, 1.0), (None, 9.0), (0.3, 2.0))
    rounds = [{"run": {"idle": idle, "depth": depth}} for idle, depth in counted]
    assert misconceptions.medians(rounds) == {"run": {"idle": None, "depth": 2.0}}


def test_each_round_begins_with_another_run_and_has_all():
    requested = misconceptions_run.in_rounds(["a", "b", "c"])
    assert requested[:6] == ["a@1", "b@1", "c@1", "b@2", "c@2", "a@2"]
    assert len(set(requested)) == 3 * misconceptions_run.ROUNDS == len(requested)


def test_a_number_that_was_not_counted_is_an_error_and_no_verdict():
    with pytest.raises(KeyError, match="depth was not counted"):
        judged(3, ("direct-one", "run", "depth", None))


def test_what_is_out_of_reach_is_reported():
    page = misconceptions_run.page(STATE)
    assert "\n".join(page).count("out of reach") >= 3


def test_a_directory_that_is_not_ours_is_left_alone(tmp_path):
    (tmp_path / "direct-one").mkdir()
    (tmp_path / "direct-one" / "thesis.tex").write_text("mine")
    with pytest.raises(results.ResultsError, match="but make misconceptions did not create this directory"):
        misconceptions_run.lab_run("direct-one", tmp_path)
    assert (tmp_path / "direct-one" / "thesis.tex").read_text() == "mine"


@pytest.mark.slow
def test_what_the_runs_count_becomes_the_page(tmp_path, monkeypatch):
    class Loaded:
        meta = {"kernel": STATE["kernel"] + "-lab"}

    monkeypatch.setattr(misconceptions_run, "lab_run", lambda name, out: STATE["runs"][name])
    monkeypatch.setattr(misconceptions_run.observation, "load", lambda path: Loaded)
    messages = []
    state = misconceptions_run.run(tmp_path, STATE, False, messages.append)
    assert state == STATE and len(messages) == len(misconceptions_run.names("lab"))
    misconceptions_run.write(state, tmp_path)
    for name in ("reproduction.rst", "misconceptions.json"):
        assert (tmp_path / name).read_bytes() == (DOCUMENTATION / name).read_bytes()
