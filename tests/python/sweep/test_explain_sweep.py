# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl explain and compare of sweeps: knee, regions, rank correlation, and what changed together is no cause."""

import subprocess

import pytest
from conftest import TOP
from made_sweep import CURVE, MATRIX, made

from raidtrace.compare import sides as compare_sides
from raidtrace.explain.evidence import Verdict
from raidtrace.sweep import explain as explain_sweep


def chain(directory):
    explained = explain_sweep.explain(directory)
    assert explained.subjects[0].simulated and explained.notes[0].startswith("Simulated")
    (the_chain,) = explained.chains
    return the_chain


WITHOUT_ORDER = {256: 200e3, 1024: 120e3, 4096: 210e3, 16384: 130e3}
# arguments of made(), the story, the verdict on the correlation, the knee, words of the summary
CURVES = {
    "rates rise with what is in flight": ({}, Verdict.SHOWN, Verdict.SHOWN, 4096, ""),
    "no more is in flight": (
        {"depths": dict.fromkeys(CURVE, 2.0)}, Verdict.NOT_SHOWN, Verdict.SHOWN, 4096, "do not explain it"),
    "less is in flight": (
        {"depths": {256: 9.0, 1024: 7.0, 4096: 5.0, 16384: 3.0}}, Verdict.NOT_SHOWN, Verdict.SHOWN, 4096, "do not explain it"),
    "a flat curve": ({"rates": dict.fromkeys(CURVE, 100e3)}, Verdict.CONTRADICTED, Verdict.NOT_SHOWN, 256, ""),
    "rates without order": (
        {"rates": WITHOUT_ORDER, "trials": 1}, Verdict.NOT_SHOWN, Verdict.NOT_SHOWN, 256, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", CURVES)
def test_a_curve_is_an_effect_where_more_in_flight_explains_it(tmp_path, name):
    knobs, story, correlation, knee, words = CURVES[name]
    the_chain = chain(made(tmp_path, **knobs))
    assert (the_chain.story, the_chain.link("correlation").verdict) == (story, correlation)
    assert the_chain.link("knee").values[0].value == knee and words in " ".join(the_chain.summary)


def test_the_trend_and_the_correlation_have_their_numbers(tmp_path):
    the_chain = chain(made(tmp_path))
    assert "rising from 256 to 4096, flat from 4096 to 16384" in the_chain.link("trend").statement
    link = the_chain.link("correlation")
    rho, (low, high) = link.values[0].value, link.values[0].predicted
    assert 0.9 < rho <= 1 and 0 < low <= rho <= high


def test_what_the_plan_changed_with_readahead_is_named_and_neither_is_the_cause(tmp_path):
    pairs = [(256, 31), (1024, 64), (4096, 128), (16384, 254)]
    text = "".join(MATRIX.format(readahead=f"[{s}]", more=f"queue_depth = {d}") for s, d in pairs)
    explanation = explain_sweep.explain(made(tmp_path, matrices=text))
    assert explain_sweep.bound(explain_sweep.cells(tmp_path)) == ["queue_depth"]
    (only,) = explanation.chains
    assert only.story is Verdict.NOT_SHOWN and "queue_depth changed together with readahead" in " ".join(only.summary)
    assert only.link("together").verdict is Verdict.CONTRADICTED


def test_few_runs_are_decided_by_the_chain_of_their_recordings(tmp_path):
    rates = {256: 90e3, 16384: 400e3}
    without = chain(made(tmp_path / "a", rates=rates, trials=1))
    assert without.story is Verdict.NOT_SHOWN and "too few runs" in " ".join(without.summary)
    the_chain = chain(made(tmp_path / "b", rates=rates, trials=1, recordings=True))
    assert the_chain.story is Verdict.SHOWN
    assert "the counters confirm each step from readahead to the rate" in " ".join(the_chain.summary)
    largest = "The largest readahead, 16384 sectors (8 MiB), is the fastest. A larger one may be faster still"
    assert largest in the_chain.summary[1]
    assert {"rates", "knee", "depth", "difference"} <= {link.key for link in the_chain.links}


def test_two_sweeps_are_compared_trial_by_trial(tmp_path):
    a, b = made(tmp_path / "a"), made(tmp_path / "b", rates={**CURVE, 256: 180e3, 16384: 405.2e3})
    rows, left, differs = compare_sides.pair(compare_sides.read(a), compare_sides.read(b))
    result = {dict(row.key)["readahead_sectors"]: row for row in rows}
    assert result["256"].ratio() == pytest.approx(2.0) and result["256"].exceeds()
    assert not result["16384"].exceeds()  # 0.05 % more, where trials differ by 0.2 %
    assert len(result["256"].a.values) == 3 and not left and not differs


def test_an_axis_with_one_value_on_each_side_is_left_out_of_the_rows(tmp_path):
    a = made(tmp_path / "a")
    text = MATRIX.format(readahead=list(CURVE), more="").replace("9500s-12-raid0", "9500s-12-raid5")
    rows, left, differs = compare_sides.pair(
        compare_sides.read(a), compare_sides.read(made(tmp_path / "b", matrices=text))
    )
    assert len(rows) == 4 and not left
    assert differs == ["array is 9500s-12-raid0 in A and 9500s-12-raid5 in B."]


def test_a_sweep_next_to_the_published(tmp_path):
    side = compare_sides.read(made(tmp_path, rates={256: 115.6 * 1024, 16384: 400e3}))
    ours, theirs = compare_sides.against(side, "amcc")
    (key,) = ours
    assert dict(key)["readahead_sectors"] == "256"  # the white paper's bare disk was read untuned alone
    assert theirs[key].middle() == pytest.approx(115.613 * 1024)


@pytest.mark.slow
def test_a_phase_of_a_sweep_alone_and_what_a_sweep_does_not_take(tmp_path):
    directory = made(tmp_path)
    program = TOP / "tools" / "bin" / "raidctl-explain"

    def run(*words):
        return subprocess.run([program, *words], capture_output=True, text=True)

    assert run(directory, "--phase", "read").returncode == 0
    other = run(directory, "--phase", "seeks")
    assert other.returncode == 1 and "no phase seeks; its phases: read" in other.stderr
    assert [run(directory, directory).returncode, run(directory, "--disk", "sda").returncode] == [2, 2]
