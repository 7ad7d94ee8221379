# SPDX-License-Identifier: GPL-2.0-or-later
"""Documentation/misconceptions.rst is made of misconceptions.json, and verdicts follow the numbers."""

import copy
import json

import pytest
from conftest import TOP

from raidtrace import misconceptions, misconceptions_run, misconceptions_text

DOCUMENTATION = TOP / "Documentation"
STATE = json.loads((DOCUMENTATION / "misconceptions.json").read_text(encoding="utf-8"))


def test_the_page_is_made_of_the_numbers():
    page = (DOCUMENTATION / "misconceptions.rst").read_text(encoding="utf-8")
    assert page == misconceptions_text.page(STATE), "tools/python/misconceptions --page"


def test_the_runs_are_those_of_the_script():
    assert STATE["script"] == misconceptions_run.digest(), "misconceptions-cell changed: make misconceptions"


def test_each_experiment_has_its_runs_and_its_figure():
    assert [one.number for one in misconceptions.EXPERIMENTS] == list(range(1, 9))
    for one in misconceptions.EXPERIMENTS:
        assert set(one.runs) <= STATE["runs"].keys()
        figure = (DOCUMENTATION / "figures" / f"misconception-{one.number}.svg").read_text(encoding="utf-8")
        assert figure.rstrip().endswith("</svg>")


def judged(number, *changes):
    """The judgement of an experiment when (run, phase, name, value) are other numbers."""
    runs = copy.deepcopy(STATE["runs"])
    for run, phase, name, value in changes:
        runs[run][phase][name] = value
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
        (6, [("two-cpus", "run", "mib_per_s", 3 * STATE["runs"]["one-cpu"]["run"]["mib_per_s"])]),
        (7, [("quota-200", "run", "mib_per_s", STATE["runs"]["two-cpus"]["run"]["mib_per_s"])]),
        (8, [("two-cpus", "run", "direct", 1.0)]),
    ],
)  # fmt: skip
def test_a_verdict_is_computed_and_can_come_out_the_other_way(number, changes):
    assert judged(number).verdict != "not refuted"
    assert judged(number, *changes).verdict == "not refuted"


def test_a_number_that_was_not_counted_is_an_error_and_no_verdict():
    with pytest.raises(KeyError, match="depth was not counted"):
        judged(3, ("direct-one", "run", "depth", None))


def test_what_is_out_of_reach_is_said():
    page = misconceptions_text.page(STATE)
    assert page.count("out of reach") >= 4


def test_a_directory_that_is_not_ours_is_left_alone(tmp_path):
    (tmp_path / "direct-one").mkdir()
    (tmp_path / "direct-one" / "thesis.tex").write_text("mine")
    with pytest.raises(misconceptions_run.RunError, match="not from an earlier run"):
        misconceptions_run.lab_run("direct-one", tmp_path)
    assert (tmp_path / "direct-one" / "thesis.tex").read_text() == "mine"


def test_what_the_runs_count_becomes_the_page(tmp_path, monkeypatch):
    class Loaded:
        meta = {"kernel": STATE["kernel"] + "-lab"}

    monkeypatch.setattr(misconceptions_run, "lab_run", lambda name, out: STATE["runs"][name])
    monkeypatch.setattr(misconceptions_run.observation, "load", lambda path: Loaded)
    said = []
    state = misconceptions_run.run(tmp_path, STATE, False, said.append)
    assert state == STATE and len(said) == len(misconceptions_run.names("lab"))
    misconceptions_run.write(state, tmp_path)
    for name in ("misconceptions.rst", "misconceptions.json"):
        assert (tmp_path / name).read_bytes() == (DOCUMENTATION / name).read_bytes()
    assert len(list((tmp_path / "figures").glob("misconception-*.svg"))) == 8
