# SPDX-License-Identifier: GPL-2.0-or-later
"""Series of a report: one step per sample, or the mean, lowest and highest of several; nothing is lost from sums."""

import lzma

import long_recording
import numpy
import pytest
from conftest import TOP

from raidtrace.recording import invariants, sample_rows, series


@pytest.mark.slow
@pytest.mark.parametrize("seconds, columns, merged", [(50, 600, 1), (130, 600, 3), (50, 7, 72)])
def test_steps_are_the_samples_or_their_mean_lowest_and_highest(tmp_path, seconds, columns, merged):
    """7 columns: a step holds parts of two phases."""
    path = tmp_path / "run.rtdb"
    long_recording.write(path, seconds, 10, 1)
    with sample_rows.opened(path, series=True) as rows:
        found = series.build(rows, 1, False, True, columns=columns)
        points = {
            direction: rows.points(direction, 1, {sample[2] for sample in rows.samples})
            for direction in ("read", "write")
        }
        moved = {direction: rows.flow(direction, "bytes_completed") for direction in points}
        seeks, samples = rows.seeks, rows.samples
        places = sum(count for direction in points for _, _, count in zip(*rows.place(direction)))
    assert found.merged == merged and len(found.edges) <= columns + 1
    for at, (begin, end) in enumerate(zip(found.edges, found.edges[1:])):
        mine = [sample for sample in samples if begin <= sample[3] and sample[4] <= end]
        assert 1 <= len(mine) <= merged
        for direction in points:
            depth, some = found.depth[direction], [
                p for p in points[direction] if begin <= p.start_ns and p.end_ns <= end
            ]
            means = [point.mean for point in some]
            assert depth.mean[at] == pytest.approx(sum(means) / len(means))
            assert (depth.low[at], depth.high[at]) == pytest.approx((min(means), max(means)))
            assert depth.deepest[at] == max(point.highest for point in some)
            assert found.moved[direction][at] == sum(moved[direction][sample[0]] for sample in mine)
        assert found.seeks[at] == sum(seeks[sample[0]] for sample in mine)
    assert found.place.sum() == places


def test_samples_of_unequal_length_weigh_as_long_as_they_are(maker):
    bins = [{("read", "depth_time"): {2: 900}}, {("read", "depth_time"): {8: 100}}]
    path = maker.write([(1, 0, 900, {}, bins[0]), (1, 900, 1000, {}, bins[1])], ((1, "read", 0, 1000),))
    with sample_rows.opened(path, series=True) as rows:
        assert list(series.build(rows, 1, False, False).depth["read"].mean) == [2.0, 8.0]


def test_members_have_their_counters_beside_an_md_disk_that_lacks_them(tmp_path):
    packed = TOP / "tests/compat/1.0.0/md.rtdb.xz"
    (tmp_path / "md.rtdb").write_bytes(lzma.decompress(packed.read_bytes()))
    with sample_rows.opened(tmp_path / "md.rtdb", series=True) as rows:
        assert rows.flow("read", "bytes_completed") is not None
        md, member, _ = invariants.read(tmp_path / "md.rtdb", rows).targets
        found = series.build(rows, member.target, False, False)
        above = series.build(rows, md.target, True, False)
    assert md.bio_based and not member.bio_based
    assert found.moved["read"].sum() > 0 and numpy.nanmax(found.d2c["read"]) > 0
    assert above.moved["read"].sum() > found.moved["read"].sum() and not above.d2c
