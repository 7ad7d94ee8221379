# SPDX-License-Identifier: GPL-2.0-or-later
"""Small pictures of each phase: aligned at the beginnings of phases, each quantity on one scale, numbers as in the tables."""

import dataclasses
import re

import long_recording
import numpy
import pytest

from raidtrace.explain import runs as explain_runs
from raidtrace.report import html, multiples, tables

WIDE, HIGH, EDGE = multiples.WIDE, multiples.HIGH, multiples.EDGE


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two recordings of the same phases, 2 and 3 s long each, and what explain says of them."""
    directory = tmp_path_factory.mktemp("two")
    for name, seconds in (("a", 10), ("b", 15)):
        long_recording.write(directory / f"{name}.rtdb", seconds, 10, 1)
    return [html.read(directory / f"{name}.rtdb") for name in "ab"]


@pytest.fixture(scope="module")
def pictures(two):
    (a, of_a), (b, of_b) = two
    return multiples.build([("A", a), ("B", b)], explain_runs.of_two(of_a, of_b))


def ends(svg):
    """From where to where each curve goes, by class."""
    found = {}
    for of, path in re.findall(r'<path class="(?!grid)([^"]+)" d="([^"]+)"', svg):
        found[of] = (float(re.match(r"M([\d.]+)", path)[1]), max(map(float, re.findall(r"H([\d.]+)", path))))
    return found


def test_a_phase_of_b_lies_over_the_same_phase_of_a_from_its_beginning(pictures):
    assert [phase.name for phase in pictures.phases] == [kind[0] for kind in long_recording.KINDS]
    for phase, kind in zip(pictures.phases, long_recording.KINDS, strict=True):
        assert (phase.length, phase.end) == ("2.00 s and 3.00 s", "3 s") and phase.sentence
        for panel in phase.panels:
            curves = ends(panel.svg)
            assert curves[f"{kind[1]} a"] == (0, pytest.approx(WIDE * 2 / 3, abs=0.1))
            assert curves[f"{kind[1]} b"] == (0, WIDE)


def test_numbers_are_those_of_the_table(two, pictures):
    rows = {(row.cells[0].text, row.cells[1].text): row.cells for row in
            tables.phases([("A", two[0][0], None), ("B", two[1][0], None)]).rows}  # fmt: skip
    for phase in pictures.phases:
        for of, text in phase.panels[0].values:
            direction, letter = of.split()
            assert text == rows[f"{letter.upper()} {phase.name}", direction][2].text
        for of, text in phase.panels[1].values:
            direction, letter = of.split()
            assert text == rows[f"{letter.upper()} {phase.name}", direction][4].text
        assert phase.panels[0].values[0][1] in phase.panels[0].label and "MiB/s" in phase.panels[0].label


def test_a_phase_of_one_alone_says_so(two):
    (a, of_a), (b, _) = two
    left = dataclasses.replace(b, spans=tuple(span for span in b.spans if span.phase != "mixed"))
    found = multiples.build([("A", a), ("B", left)], explain_runs.of_one(of_a))
    assert [phase.length.endswith(", only in A") for phase in found.phases] == [False] * 4 + [True]


def test_nothing_is_drawn_where_nothing_moved(two):
    (a, of_a), _ = two
    idle = dataclasses.replace(a, spans=tuple(dataclasses.replace(span, flow={}) for span in a.spans))
    assert multiples.build([("A", idle)], explain_runs.of_one(of_a)) is None


def curve(mean, *values):
    return multiples._Curve(
        "read", "reads", numpy.arange(len(values) + 1.0), numpy.array(values, dtype=float), mean, ""
    )


@pytest.mark.parametrize(("means", "text"), [
    ((100, 50), "0 to 100 MiB/s"), ((100, 2), "1 to 100 MiB/s, logarithmic"), ((900, 0.001), "1 to 1,000 MiB/s, logarithmic"),
    ((), "0 to 1 MiB/s"), ((0,), "0 to 1 MiB/s"),
])  # fmt: skip
def test_a_scale_is_logarithmic_where_phases_differ_much(means, text):
    assert multiples._Scale([curve(mean, mean) for mean in means]).text("MiB/s") == text


def test_heights():
    linear, log = multiples._Scale([curve(10, 10)]), multiples._Scale([curve(1, 1), curve(100, 100)])
    assert [linear.y(value) for value in (0, 5, 10)] == [HIGH - EDGE, HIGH / 2, EDGE]
    assert [log.y(value) for value in (0, 1, 10, 100)] == [HIGH - EDGE, HIGH - EDGE, HIGH / 2, EDGE]


def test_there_is_a_gap_where_nothing_was():
    some = curve(1, 1, numpy.nan, 1, 1)
    svg = multiples._svg([some], multiples._Scale([some]), 4)
    assert re.search(r'class="read" d="([^"]*)"', svg)[1] == "M0 1.5H60M120 1.5H180H240"


def test_the_phases_that_moved_least_are_left_out_and_counted(two, monkeypatch):
    monkeypatch.setattr(multiples, "MOST", 2)
    (a, of_a), _ = two
    found = multiples.build([("A", a)], explain_runs.of_one(of_a))
    assert [phase.name for phase in found.phases] == ["write", "read-4096"] and found.more == 3
