# SPDX-License-Identifier: GPL-2.0-or-later
"""Series of a report: one step per sample, or the mean, lowest and highest of several; nothing is lost from sums."""

import long_recording
import pytest

from raidtrace.recording import overview, recording, series


@pytest.mark.slow
@pytest.mark.parametrize("seconds, columns, merged", [(50, 600, 1), (130, 600, 3), (50, 7, 72)])
def test_steps_are_the_samples_or_their_mean_lowest_and_highest(tmp_path, monkeypatch, seconds, columns, merged):
    monkeypatch.setattr(series, "COLUMNS", columns)  # 7: a step holds parts of two phases
    path = tmp_path / "run.rtdb"
    long_recording.write(path, seconds, 10, 1)
    found = overview.load(path).series[0]
    samples = [counters for _, _, counters in recording.load(path).samples]
    assert found.merged == merged and len(found.edges) <= series.COLUMNS + 1
    for at, (begin, end) in enumerate(zip(found.edges, found.edges[1:])):
        mine = [one for one in samples if begin <= one.start_ns and one.end_ns <= end]
        assert 1 <= len(mine) <= merged
        for direction in ("read", "write"):
            depth, means = found.depth[direction], [one.inflight_mean(direction) for one in mine]
            assert depth.mean[at] == pytest.approx(sum(means) / len(means))
            assert (depth.low[at], depth.high[at]) == pytest.approx((min(means), max(means)))
            assert depth.deepest[at] == max(max(one.histogram(direction, "depth_time")) for one in mine)
            assert found.moved[direction][at] == sum(one.count(direction, "bytes_completed") for one in mine)
        assert found.seeks[at] == sum(one.seeks() for one in mine)
    assert found.place.sum() == sum(one.count(d, "bytes_issued") for one in samples for d in ("read", "write"))


def test_samples_of_unequal_length_weigh_as_long_as_they_are(maker):
    bins = [{("read", "depth_time"): {2: 900}}, {("read", "depth_time"): {8: 100}}]
    path = maker.write(
        [(1, 0, 900, {"read": {"issued": 1}}, bins[0]), (1, 900, 1000, {"read": {"issued": 1}}, bins[1])]
    )
    assert overview.load(path).spans()[0].counters.inflight_mean("read") == pytest.approx(2.6)
    assert list(overview.load(path).series[0].depth["read"].mean) == [2.0, 8.0]
