# SPDX-License-Identifier: GPL-2.0-or-later
"""Histograms of a recording: texts as raidctl writes them, and rows as it did before, against the sums of SQL itself."""

import sqlite3
import subprocess

import long_recording
import numpy
import pytest
from conftest import TOP, call, changed, unpacked

from raidtrace.cli import report
from raidtrace.recording import invariants, observation, sample_rows, series
from raidtrace.recording.columns import RecordingError

RAIDCTL = TOP / "tools" / "bin" / "raidctl"


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """A recording in both forms: rows, then texts."""
    paths = [tmp_path_factory.mktemp(name) / "run.rtdb" for name in ("rows", "texts")]
    for path in paths:
        long_recording.write(path, 40, 10, 2)
    long_recording.pack(paths[1])
    return paths


def rows_of(path):
    return sample_rows.SampleRows(sqlite3.connect(path))


def test_sums_depths_and_places_are_those_of_sql(both):
    short, long = map(rows_of, both)
    sums = {}
    for direction, kind, target, phase, place, count in sqlite3.connect(both[0]).execute(
        "SELECT direction, kind, target, phase, bin, sum(count) FROM bin JOIN sample USING(sample) GROUP BY 1, 2, 3, 4, 5"
    ):
        group = long.groups.index((target, phase))
        sums.setdefault((direction, kind), {}).setdefault(group, {})[place] = count
    assert long.group_sums() == short.group_sums() == sums and len(sums) > 20
    for direction in ("read", "write"):
        assert long.depth(direction) == short.depth(direction) and any(long.depth(direction)[0])
        rows = "SELECT sample, bin, count FROM bin WHERE direction = ? AND kind = ? ORDER BY sample, bin"
        place = sqlite3.connect(both[0]).execute(rows, (direction, "place")).fetchall()
        assert long.place(direction) == short.place(direction)
        assert sorted(zip(*long.place(direction), strict=True)) == place and place
        d2c = {sample: at for sample, at, _ in sqlite3.connect(both[0]).execute(rows, (direction, "d2c"))}
        assert long.longest(direction) == short.longest(direction)
        assert {at: most for at, most in enumerate(long.longest(direction)) if most >= 0} == d2c and d2c


def test_idle_time_and_seeks_of_samples_are_those_of_sql(both):
    db = sqlite3.connect(both[1])
    result = rows_of(both[1])
    idle = db.execute(
        "SELECT sample, sum(count * (bin = 0)) FROM bin WHERE kind='depth_time' AND direction='all' GROUP BY 1"
    ).fetchall()
    seeks = dict(db.execute("SELECT sample, sum(count) FROM bin WHERE kind='seek' AND bin != 64 GROUP BY 1"))
    assert [[n, result.idle[n]] for n, _ in idle] == [list(row) for row in idle] and any(time for _, time in idle)
    assert {n: count for n, count in enumerate(result.seeks.tolist()) if count} == seeks and seeks


def test_what_explain_goes_by_is_the_same(both):
    short, long = (observation.load(path).observations for path in both)
    assert long == short and short[0].span.bins
    for ours, theirs in zip(long, short, strict=True):
        assert ours.over_time == theirs.over_time and theirs.over_time


def test_what_seeks_are_charged_by_is_that_of_sql(both):
    result = observation.load(both[1]).find("sda", "random")
    db = sqlite3.connect(both[1])
    rows = db.execute(
        """SELECT s.end_ns - s.start_ns - (SELECT coalesce(sum(count), 0) FROM bin WHERE bin.sample = s.sample
             AND kind = 'depth_time' AND direction = 'all' AND bin = 0) AS busy,
           (SELECT coalesce(sum(bytes_completed), 0) FROM flow WHERE flow.sample = s.sample AND direction != 'all'),
           (SELECT coalesce(sum(count), 0) FROM bin WHERE bin.sample = s.sample AND kind = 'seek' AND bin != 64)
           FROM sample s JOIN phase p USING(phase) WHERE s.target = 1 AND p.name = 'random' AND busy != 0
           ORDER BY s.start_ns"""
    ).fetchall()
    assert result.over_time == rows and len(rows) == 80
    assert rows[0][2] and rows[0][0] < 10**8


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    path = tmp_path_factory.mktemp("packed") / "run.rtdb"
    long_recording.write(path, 4, 10, 2)
    return long_recording.pack(path)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"read"}', '{"read":{"size":{"8":-1}}}', '{"read":{"size":{"8":1.5}}}',
             '{"read":{"size":{"70000":1}}}', '{"read":{"size":{"8":9223372036854775808}}}', '{"read":{"size":{"8":1}}}x',
             '{"read":{"size":{"8":1,}}}', '{"read":{"size":{"":1}}}', "{}}", '{"read":{}', '{"read":{"size":{}}',
             '{"read":{"size":{8:1}}}', '{"read":{"size":{"8":}}}', '{"another":{"size":{"8":1}}}',
             '{"read":{"another":{"8":1}}}', '{"read":{"size":{"497":1}}}', '{"read":{"size":{"8":true}}}',
             '{"read":{"size":{"8":null}}}', '{"read":{"size":{"8":1e5}}}', '{"read":{"size":{"8":1}}} ',
             '{"read":{"size":{"8":"1"}}}', '{"read":7}', pytest.param('{"read":' * 5000, id="nested")],
)  # fmt: skip
def test_a_text_that_raidctl_does_not_write_is_refused(packed, tmp_path, text):
    invariants.load(packed)
    path = tmp_path / "run.rtdb"
    changed(path, ("UPDATE sample SET histograms = ? WHERE sample = 9", (text,)), of=packed)
    with pytest.raises(RecordingError):
        invariants.load(path)
    result = call(report.main, path)
    assert result.returncode == 1 and result.stderr.startswith(f"raidctl: {path}: ")


def test_both_forms_are_the_same_to_sql_report_and_export(tmp_path):
    path = tmp_path / "run.rtdb"
    long_recording.write(path, 4, 10, 2)

    def outputs(path):
        db = sqlite3.connect(path)
        message = [
            subprocess.run([RAIDCTL, *words, path], capture_output=True, check=True).stdout
            for words in (("report", "--json"), ("export", "--json"))
        ]
        return db.execute("SELECT sample, direction, kind, bin, count FROM bin ORDER BY 1, 2, 3, 4").fetchall(), message

    before = outputs(path)
    assert before[0] and outputs(long_recording.pack(path)) == before


@pytest.mark.slow
@pytest.mark.parametrize("seconds, columns, merged", [(50, 600, 1), (130, 600, 3), (50, 7, 72)])
def test_steps_are_the_samples_or_their_mean_lowest_and_highest(tmp_path, seconds, columns, merged):
    path = tmp_path / "run.rtdb"
    long_recording.write(path, seconds, 10, 1)
    with sample_rows.opened(path, series=True) as rows:
        result = series.build(rows, 1, False, True, columns=columns)
        points = {
            direction: rows.points(direction, 1, {sample[2] for sample in rows.samples})
            for direction in ("read", "write")
        }
        moved = {direction: rows.flow(direction, "bytes_completed") for direction in points}
        seeks, samples = rows.seeks, rows.samples
        places = sum(count for direction in points for _, _, count in zip(*rows.place(direction)))
    assert result.merged == merged and len(result.edges) <= columns + 1
    for at, (begin, end) in enumerate(zip(result.edges, result.edges[1:])):
        mine = [sample for sample in samples if begin <= sample[3] and sample[4] <= end]
        assert 1 <= len(mine) <= merged
        for direction in points:
            depth, some = result.depth[direction], [
                p for p in points[direction] if begin <= p.start_ns and p.end_ns <= end
            ]
            means = [point.mean for point in some]
            assert depth.mean[at] == pytest.approx(sum(means) / len(means))
            assert (depth.low[at], depth.high[at]) == pytest.approx((min(means), max(means)))
            assert depth.deepest[at] == max(point.highest for point in some)
            assert result.moved[direction][at] == sum(moved[direction][sample[0]] for sample in mine)
        assert result.seeks[at] == sum(seeks[sample[0]] for sample in mine)
    assert result.place.sum() == places


def test_samples_of_unequal_length_weigh_as_long_as_they_are(maker):
    bins = [{("read", "depth_time"): {2: 900}}, {("read", "depth_time"): {8: 100}}]
    path = maker.write([(1, 0, 900, {}, bins[0]), (1, 900, 1000, {}, bins[1])], ((1, "read", 0, 1000),))
    with sample_rows.opened(path, series=True) as rows:
        assert list(series.build(rows, 1, False, False).depth["read"].mean) == [2.0, 8.0]


def test_members_have_their_counters_next_to_an_md_disk_that_lacks_them(tmp_path):
    path = unpacked("tests/compat/1.0.0/md.rtdb.xz", tmp_path / "md.rtdb")
    with sample_rows.opened(path, series=True) as rows:
        assert rows.flow("read", "bytes_completed") is not None
        md, member, _ = invariants.read(path, rows).targets
        result = series.build(rows, member.target, False, False)
        above = series.build(rows, md.target, True, False)
    assert md.bio_based and not member.bio_based
    assert result.moved["read"].sum() > 0 and numpy.nanmax(result.d2c["read"]) > 0
    assert above.moved["read"].sum() > result.moved["read"].sum() and not above.d2c
