# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording's numbers are checked against each other when it is read; explain reports a contradiction."""

import json
import sqlite3

import long_recording
import pytest
from conftest import changed, unpacked

from raidtrace.cli import compare, explain
from raidtrace.recording import invariants


@pytest.fixture
def broken(recorded, tmp_path):
    first = "SELECT min(sample) FROM sample WHERE start_ns > 0"
    wrong = f"UPDATE sample SET end_ns = start_ns - 1 WHERE sample = ({first})"
    return changed(tmp_path / "broken.rtdb", wrong, of=recorded)


def notes(capsys, *words):
    assert explain.main([*map(str, words), "--json"]) == 0
    return [note for note in json.loads(capsys.readouterr().out)["notes"] if "invariant" in note]


def invariant_of(path, phase=None):
    return invariants.load(path, phase).meta.get("invariants")


def test_what_the_recorder_wrote_is_checked_anew_where_it_says_that_they_hold(recorded, broken):
    assert invariant_of(recorded) != invariant_of(broken) and invariant_of(broken).startswith("a counter of sample")
    for word, result in (("a counter is wrong", "a counter is wrong"), (None, invariant_of(broken))):
        changed(broken, "DELETE FROM meta WHERE key = 'invariants'")
        if word:
            changed(broken, ("INSERT INTO meta VALUES('invariants', ?)", (word,)))
        assert invariant_of(broken) == result


BALANCED = """INSERT INTO target(target, disk, attached_ns, unit_3ware, nr_tags, nr_hw_queues, groups)
    VALUES(1, 'sda', 0, 1, 32, 1, 'flow');"""
QUEUES = (  # of the first phase
    "UPDATE target SET groups='flow hwq'; INSERT INTO hwq VALUES(1,0,61,30,0,30,0,0,1,1), (1,1,40,0,40,0,0,0,0,1), "
)
# Statements, and the invariant that they break. A disk with 32 tags, of which one is in use at the end of each of two phases.
JUDGED = (
    ("", "hold"),
    ("UPDATE target SET groups='flow depth', bio_based=1; DELETE FROM flow", "hold"),
    ("UPDATE target SET groups='flow depth'; DELETE FROM flow", "depth_time histogram sums to 0"),
    ("UPDATE target SET groups='flow size'", "sda: read: size histogram sums to 0 instead of 101"),
    ("UPDATE flow SET completed=completed+1, issued=issued-1 WHERE sample=2", "sda: read: "),
    ("UPDATE flow SET in_flight=3 WHERE sample=1 AND direction IN ('read', 'all')", "sda: read: "),
    ("UPDATE flow SET issued=issued+100 WHERE sample=1", "requests were issued"),
    ("UPDATE flow SET completed=completed+40 WHERE sample=1",
     "40 more requests ended than were issued, but the disk has only 32 tags"),
    ("UPDATE sample SET end_ns=start_ns-1 WHERE sample=1", "negative"),
    ("UPDATE flow SET in_flight=32, completed=completed-iif(direction='read', 31, 0) WHERE sample=2", "hold"),
    ("UPDATE flow SET in_flight=33, completed=completed-iif(direction='read', 32, 0) WHERE sample=2",
     "33 requests are in flight, but the disk has only 32 tags"),
    ("UPDATE flow SET unmatched=32 WHERE sample=1 AND direction='read'", "hold"),
    ("UPDATE flow SET unmatched=33 WHERE sample=1 AND direction='read'",
     "sda: the issue of 33 of 233 reads and writes was not counted (at most 32 were in flight when counting began)"),
    ("UPDATE flow SET unmatched=1 WHERE sample=2 AND direction='read';"
     "UPDATE sample SET start_ns=start_ns+1000000000, end_ns=end_ns+1000000000 WHERE sample=2",
     "sda: the issue of 1 of 201 reads and writes was not counted (at most 0 were"),
    ("INSERT INTO setting(time_ns, target, name, value) VALUES(5, 1, 'in_flight_at_attach', '3');"
     "UPDATE flow SET unmatched=3 WHERE sample=1 AND direction='read'", "hold"),
    ("INSERT INTO setting(time_ns, target, name, value) VALUES(5, 1, 'in_flight_at_attach', '3');"
     "UPDATE flow SET unmatched=4 WHERE sample=1 AND direction='read'", "the issue of 4 of 204 reads"),
    (QUEUES + "(2,1,100,100,0,0,0,0,1,1)", "hold"),
    (QUEUES + "(2,1,99,100,0,0,0,0,1,1)", "sda: hardware queues: 99 requests issued, but 100 in all directions"),
    (QUEUES + "(2,1,100,90,4,5,0,0,1,1)", "sda: hardware queues: 99 requests completed, but 100 in all"),
    (QUEUES + "(2,1,100,100,0,0,1,0,1,1)", "sda: hardware queues: 1 requests returned, but 0 in all"),
    (QUEUES + "(2,1,100,100,0,0,1,0,1,1); UPDATE target SET groups='flow'", "hold"),
)  # fmt: skip


@pytest.mark.parametrize(("statements", "result"), JUDGED)
def test_numbers_agree_or_the_first_that_does_not_is_named(tmp_path, statements, result):
    path = tmp_path / "run.rtdb"
    with sqlite3.connect(path) as db:
        db.executescript("PRAGMA application_id=0x52544442; PRAGMA user_version=2;" + long_recording.SCHEMA + BALANCED)
        for number, issued in ((1, 101), (2, 100)):
            db.execute(
                "INSERT INTO phase(phase, name, start_ns, end_ns) VALUES(?, ?, ?, ?)",
                (number, f"p{number}", number * 100, number * 100 + 100),
            )
            db.execute("INSERT INTO sample(sample, target, phase, start_ns, end_ns) VALUES(?, 1, ?, ?, ?)",
                       (number, number, number * 100, number * 100 + 100))  # fmt: skip
            names = [row[1] for row in db.execute("PRAGMA table_info(flow)")][2:]
            counts = dict.fromkeys(names, 0) | {"issued": issued, "completed": 100, "in_flight": 1}
            for direction, of in (
                ("read", counts),
                ("all", dict.fromkeys(names) | {"depth_sum_ns": 0, "in_flight": 1, "in_flight_max": 1}),
            ):
                marks = ", ".join("?" * len(of))
                db.execute(
                    f"INSERT INTO flow(sample, direction, {', '.join(of)}) VALUES({number}, '{direction}', {marks})",
                    tuple(of.values()),
                )
        db.executescript(statements)
    assert result in invariant_of(path)


def test_explain_says_once_that_they_do_not_hold(broken, capsys):
    (note,) = notes(capsys, broken)
    assert note.startswith(f"{broken}: an invariant of the counters does not hold: a counter of sample")


def test_of_two_each_is_looked_at(recorded, broken, capsys):
    assert any(note.startswith(f"{broken}: ") for note in notes(capsys, recorded, broken))


@pytest.fixture
def sound(tmp_path):
    """A recording of a real guest; its 3ware unit has 254 tags."""
    return unpacked("tests/compat/0.1.0/recording.rtdb.xz", tmp_path / "sound.rtdb")


@pytest.fixture
def uncounted(sound, tmp_path):
    """More requests than tags completed without a counted issue."""
    last = "WHERE sample = (SELECT max(sample) FROM flow) AND direction = 'read'"
    return changed(tmp_path / "uncounted.rtdb", f"UPDATE flow SET unmatched = 255 {last}", of=sound)


def test_requests_that_were_not_counted_are_reported_by_every_verb(sound, uncounted, capsys):
    sentence = "the issue of 255 of "
    assert invariant_of(sound) == "hold"
    assert sentence in invariant_of(uncounted)
    (note,) = notes(capsys, uncounted)
    assert sentence in note
    assert compare.main([str(sound), str(uncounted), "--json"]) == 0
    assert [note[:2] for note in json.loads(capsys.readouterr().out)["notes"] if sentence in note] == ["B:"]
    for pair, values in (((sound, uncounted), 1), ((uncounted, uncounted), 2)):
        assert compare.main([*map(str, pair), "--json"]) == 0
        (result,) = [one for one in json.loads(capsys.readouterr().out)["differences"] if one["what"] == "invariants"]
        assert sum(sentence in result[side] for side in "ab") == values


def test_a_recording_without_phases_is_compared(sound, tmp_path, capsys):
    path = changed(tmp_path / "empty.rtdb", "DELETE FROM phase", of=sound)
    for pair in ((sound, path), (path, sound)):
        assert compare.main([*map(str, pair)]) == 0
    assert "only A: run counted: throughput read" in capsys.readouterr().out
