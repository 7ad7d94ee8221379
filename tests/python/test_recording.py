# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings are read as they were written, and refused when they are something else."""

import pytest

from raidtrace import recording

TWO = [
    (
        1,
        0,
        400,
        {"read": {"issued": 3, "in_flight": 2, "in_flight_max": 2}},
        {("read", "depth_time"): {0: 100, 2: 300}},
    ),
    (2, 400, 1000, {"read": {"issued": 5, "in_flight": 1, "in_flight_max": 2}}, {("read", "depth_time"): {1: 600}}),
]
PHASES = ((1, "write", 0, 400), (2, "read", 400, 1000))


def test_differences_are_summed_and_levels_are_not(maker):
    counters = recording.load(maker.write(TWO, PHASES)).counters()
    assert counters.count("read", "issued") == 8
    assert counters.count("read", "in_flight") == 0
    assert (counters.start_ns, counters.end_ns) == (0, 1000)
    assert counters.inflight_mean("read") == (300 * 2 + 600) / 1000


def test_a_phase_is_cut_out_by_name(maker):
    recorded = recording.load(maker.write(TWO, PHASES))
    assert recorded.counters("read").count("read", "issued") == 5
    assert [(p.mean, p.highest) for p in recorded.series("write")] == [(1.5, 2)]
    with pytest.raises(recording.RecordingError, match="it has: write, read"):
        recorded.counters("rewrite")


def test_an_open_bin_makes_the_mean_unavailable():
    assert recording.mean_depth({255: 10}) == 255
    assert recording.mean_depth({1: 10, 256: 1}) is None
    assert recording.mean_depth({}) is None


def test_the_maximum_counts_the_arriving_request(maker):
    bins = {("read", "depth_time"): {2: 1000}, ("read", "depth_issue"): {0: 4, 6: 1}}
    counters = recording.load(maker.write([(1, 0, 1000, {}, bins)])).counters()
    assert counters.inflight_max("read") == 7
    assert counters.inflight_max("write") == 0


def test_the_size_mode_is_exact_or_unavailable(maker):
    bins = {("read", "size"): {8: 10, 256: 30}, ("write", "size"): {300: 5}}
    counters = recording.load(maker.write([(1, 0, 1000, {}, bins)])).counters()
    assert counters.size_mode("read") == (256, 0.75)
    assert counters.size_mode("write") is None
    assert counters.size_mode("discard") is None


def test_seeks_are_what_is_not_sequential_in_any_direction(maker):
    bins = {("read", "seek"): {64: 90, 70: 4}, ("write", "seek"): {64: 5, 50: 1}, ("flush", "seek"): {64: 7}}
    counters = recording.load(maker.write([(1, 0, 1000, {}, bins)])).counters()
    assert (counters.sequential(), counters.seeks(), counters.sequential_share()) == (95, 5, 0.95)


def test_no_request_has_no_sequential_share(maker):
    assert recording.load(maker.write([(1, 0, 1000, {}, {})])).counters().sequential_share() is None


@pytest.mark.parametrize(
    ("change", "said"),
    [({"application": 1}, "not a recording"), ({"version": 3}, "version 3"), ({"targets": 2}, "2 targets")],
)
def test_other_files_are_refused_with_a_reason(maker, change, said):
    with pytest.raises(recording.RecordingError, match=said):
        recording.load(maker.write(TWO, PHASES, **change))


def test_what_is_no_database_is_refused(tmp_path):
    with pytest.raises(recording.RecordingError, match="no such recording"):
        recording.load(tmp_path / "none.rtdb")
    (tmp_path / "text.rtdb").write_text("not a database, but long enough to look at" * 40)
    with pytest.raises(recording.RecordingError, match="not a readable recording"):
        recording.load(tmp_path / "text.rtdb")


def test_reading_changes_nothing(maker):
    path = maker.write(TWO, PHASES)
    before = path.read_bytes()
    recording.load(path).counters()
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["run.rtdb"]


def test_a_recording_of_version_1_is_read(maker):
    path = maker.write([(1, 0, 10, {"read": {"issued": 3}}, {})], version=1)
    assert recording.load(path).counters().count("read", "issued") == 3


def test_what_a_sample_does_not_know_is_not_counted(maker):
    path = maker.write(
        [(1, 0, 10, {"read": {"issued": 3, "queued": None}}, {}), (1, 10, 20, {"read": {"issued": 4, "queued": 5}}, {})]
    )
    counters = recording.load(path).counters()
    assert counters.count("read", "issued") == 7
    with pytest.raises(recording.RecordingError, match="queued is not available"):
        counters.count("read", "queued")
