# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a recording's numbers agree is found when it is read, and said by explain."""

import json
import sqlite3

import long_recording
import pytest

from raidtrace.cli import explain
from raidtrace.recording import invariants


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    path = tmp_path_factory.mktemp("invariants") / "run.rtdb"
    long_recording.write(path, 10, 10, 1)
    return path


@pytest.fixture
def changed(recorded, tmp_path):
    path = tmp_path / "changed.rtdb"
    path.write_bytes(recorded.read_bytes())
    with sqlite3.connect(path) as db:
        db.execute(
            "UPDATE sample SET end_ns = start_ns - 1 WHERE sample = (SELECT min(sample) FROM sample WHERE start_ns > 0)"
        )
    return path


def notes(capsys, *words):
    assert explain.main([*map(str, words), "--json"]) == 0
    return [note for note in json.loads(capsys.readouterr().out)["notes"] if "invariant" in note]


def test_what_the_recorder_wrote_is_asked_anew_where_it_says_that_they_hold(recorded, changed, tmp_path):
    before, after = (invariants.found(path, "hold") for path in (recorded, changed))
    assert after != before and after.startswith("a counter of sample")
    assert invariants.found(changed, "a counter is wrong") == "a counter is wrong"
    assert invariants.found(changed, None) == after
    assert invariants.found(tmp_path / "none", "hold") == invariants.NOT_CHECKED


def test_explain_says_once_that_they_do_not_hold(changed, capsys):
    (note,) = notes(capsys, changed)
    assert note.startswith(f"{changed}: an invariant of the counters does not hold: a counter of sample")


def test_of_two_each_is_looked_at(recorded, changed, capsys):
    assert any(note.startswith(f"{changed}: ") for note in notes(capsys, recorded, changed))
