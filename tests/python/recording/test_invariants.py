# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a recording's numbers agree is found when it is read, and said by explain."""

import json
import lzma
import sqlite3

import long_recording
import pytest
from conftest import TOP

from raidtrace.cli import compare, explain
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


@pytest.fixture
def sound(tmp_path):
    """A recording of a real guest, whose 3ware unit has 254 tags."""
    path = tmp_path / "sound.rtdb"
    path.write_bytes(lzma.decompress((TOP / "tests/compat/0.1.0/recording.rtdb.xz").read_bytes()))
    return path


@pytest.fixture
def uncounted(sound, tmp_path):
    """More requests than tags, whose issue was not counted."""
    path = tmp_path / "uncounted.rtdb"
    path.write_bytes(sound.read_bytes())
    with sqlite3.connect(path) as db:
        db.execute(
            "UPDATE flow SET unmatched = 255 WHERE sample = (SELECT max(sample) FROM flow) AND direction = 'read'"
        )
    return path


def test_requests_that_were_not_counted_are_reported_by_every_verb(sound, uncounted, capsys):
    sentence = "the issue of 255 of "
    assert invariants.found(sound, "hold") == "hold"
    assert sentence in (invariants.found(uncounted, "hold") or "")
    (note,) = notes(capsys, uncounted)
    assert sentence in note
    assert compare.main([str(sound), str(uncounted), "--json"]) == 0
    assert [note[:2] for note in json.loads(capsys.readouterr().out)["notes"] if sentence in note] == ["B:"]
    for pair, values in (((sound, uncounted), 1), ((uncounted, uncounted), 2)):
        assert compare.main([*map(str, pair), "--all", "--json"]) == 0
        (found,) = [one for one in json.loads(capsys.readouterr().out)["differences"] if one["what"] == "invariants"]
        assert sum(sentence in found[side] for side in "ab") == values


def test_a_recording_without_phases_is_compared(sound, tmp_path, capsys):
    path = tmp_path / "empty.rtdb"
    path.write_bytes(sound.read_bytes())
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM phase")
    for pair in ((sound, path), (path, sound)):
        assert compare.main([*map(str, pair)]) == 0
    assert "only A: run counted: throughput read" in capsys.readouterr().out
