# SPDX-License-Identifier: GPL-2.0-or-later
"""bin-sums, which sums the histograms of long recordings, against the same made of every row in Python."""

import sqlite3
import subprocess

import long_recording
import numpy
import pytest
from conftest import TOP

from raidtrace.recording import bin_sums, observation, overview, recording, sample_rows
from raidtrace.report import html as report_html

RAIDCTL = TOP / "tools" / "bin" / "raidctl"


@pytest.fixture(params=[False, True], ids=["rows", "text"])
def both(tmp_path, monkeypatch, request):
    """A recording, of either form, and how to look at it in the way of short ones (False) and of long ones (True)."""
    path = tmp_path / "run.rtdb"
    long_recording.write(path, 40, 10, 2)
    if request.param:
        long_recording.pack(path)

    def look(long):
        monkeypatch.setattr(sample_rows, "LONG", 0 if long else 1 << 40)
        return path

    return look


def rows_of(path):
    return sample_rows.SampleRows(sqlite3.connect(path), path)


def test_sums_depths_and_places_are_those_of_the_rows(both):
    short = rows_of(both(False))
    want, depths = short.group_sums(), {d: short.depth(d) for d in ("read", "write")}
    places = {d: short.histogram(d, "place") for d in ("read", "write")}
    assert short.long is None
    long = rows_of(both(True))
    assert long.long is not None and long.group_sums() == want and len(want) > 20
    for direction in ("read", "write"):
        assert all((a == b).all() for a, b in zip(long.depth(direction), depths[direction], strict=True))
        assert all((a == b).all() for a, b in zip(long.histogram(direction, "place"), places[direction], strict=True))


def test_idle_time_and_seeks_of_samples_are_those_of_sql(both):
    db = sqlite3.connect(both(True))
    found = rows_of(both(True)).long.samples
    idle = dict(db.execute("SELECT sample, sum(count * (bin = 0)) FROM bin WHERE kind='depth_time' AND direction='all' "
                           "GROUP BY 1"))  # fmt: skip
    seeks = dict(db.execute("SELECT sample, sum(count) FROM bin WHERE kind='seek' AND bin != 64 GROUP BY 1"))
    assert {row[0]: row[7] for row in found.tolist()} == idle and any(idle.values())
    assert {row[0]: row[8] for row in found.tolist() if row[8]} == seeks and seeks


@pytest.mark.slow
def test_a_page_is_the_same_to_the_byte_and_has_the_chain(both):
    page = report_html.page([both(False)])
    assert report_html.page([both(True)]) == page and 'id="chain-1"' in page


def test_what_explain_goes_by_is_the_same(both):
    short, long = (observation.load(both(is_long)).observations for is_long in (False, True))
    assert long == short and short[0].bins
    for ours, theirs in zip(long, short, strict=True):
        assert (ours.over_time == theirs.over_time).all() and len(theirs.over_time)


def test_what_seeks_are_charged_by_is_that_of_sql(both):
    found = observation.load(both(True)).find("sda", "random")
    db = sqlite3.connect(both(True))
    rows = db.execute(
        """SELECT s.end_ns - s.start_ns - (SELECT coalesce(sum(count), 0) FROM bin WHERE bin.sample = s.sample
             AND kind = 'depth_time' AND direction = 'all' AND bin = 0) AS busy,
           (SELECT coalesce(sum(bytes_completed), 0) FROM flow WHERE flow.sample = s.sample AND direction != 'all'),
           (SELECT coalesce(sum(count), 0) FROM bin WHERE bin.sample = s.sample AND kind = 'seek' AND bin != 64)
           FROM sample s JOIN phase p USING(phase) WHERE s.target = 1 AND p.name = 'random' AND busy != 0
           ORDER BY s.start_ns"""
    ).fetchall()
    assert found.over_time.tolist() == [list(map(float, row)) for row in rows] and len(rows) == 80
    assert rows[0][2] and rows[0][0] < 10**8


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.rtdb"
    long_recording.write(path, 4, 10, 2)
    return path


@pytest.mark.parametrize(
    "damage",
    ["UPDATE bin SET count = -1", "UPDATE bin SET count = 'x'", "UPDATE bin SET bin = 70000 WHERE bin = 64",
     "INSERT INTO bin VALUES(1, 'read', 'UP', 1, 1)", "UPDATE bin SET count = 9223372036854775807",
     "INSERT INTO bin VALUES(0, 'read', 'size', 8, 1)"],
)  # fmt: skip
def test_what_raidctl_does_not_write_is_left_to_the_other_way(rows, damage):
    with sqlite3.connect(rows) as db:
        db.execute(damage)
    assert bin_sums.read(rows, 80) is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"read"}', '{"read":{"size":{"8":-1}}}', '{"read":{"size":{"8":1.5}}}', '{"read":{"UP":{"8":1}}}',
             '{"read":{"size":{"70000":1}}}', '{"read":{"size":{"8":9223372036854775808}}}', '{"read":{"size":{"8":1}}}x',
             '{"read":{"size":{"8":1,}}}', '{"read":{"size":{"":1}}}'],
)  # fmt: skip
def test_a_text_that_raidctl_does_not_write_is_left_to_the_other_way_and_refused_by_report(rows, text):
    long_recording.pack(rows)
    assert bin_sums.read(rows, 80) is not None
    with sqlite3.connect(rows) as db:
        db.execute("UPDATE sample SET histograms = ? WHERE sample = 9", (text,))
    assert bin_sums.read(rows, 80) is None
    found = subprocess.run([RAIDCTL, "report", rows], capture_output=True, text=True)
    assert found.returncode == 1 and "the file is damaged or cut short" in found.stderr


def test_both_forms_are_the_same_to_sql_report_and_export(rows):
    def seen(path):
        db = sqlite3.connect(path)
        told = [
            subprocess.run([RAIDCTL, *words, path], capture_output=True, check=True).stdout
            for words in (("report", "--json"), ("export", "--json"))
        ]
        return db.execute("SELECT sample, direction, kind, bin, count FROM bin ORDER BY 1, 2, 3, 4").fetchall(), told

    before = seen(rows)
    assert before[0] and seen(long_recording.pack(rows)) == before


def test_samples_that_came_after_are_left_out(both):
    found = bin_sums.read(both(True), 100)
    assert found is not None and int(found.samples[:, 0].max()) == 100
    assert numpy.isin(found.places["read", "place"][0], numpy.arange(101)).all()


def test_without_the_program_the_page_is_made_of_the_rows(both, monkeypatch, tmp_path):
    want = overview.load(both(False)).spans()
    monkeypatch.setattr(bin_sums, "PROGRAM", tmp_path / "none")
    assert overview.load(both(True)).spans() == want


def test_no_recording_is_an_error_and_no_crash(tmp_path):
    (tmp_path / "not").write_text("no")
    assert bin_sums.read(tmp_path / "not", 1) is None and bin_sums.read(tmp_path / "none", 1) is None
    with pytest.raises(recording.RecordingError):
        overview.load(tmp_path / "not")
