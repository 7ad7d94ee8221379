# SPDX-License-Identifier: GPL-2.0-or-later
"""Published figures in one unit."""

import pytest

from raidtrace.published import tables as published


@pytest.mark.parametrize(
    ("tool", "filesystem", "setra", "metric", "kib_per_s"),
    [
        ("bonnie++", "xfs", 256, "read", 88178),
        ("bonnie++", "xfs", 16384, "read", 410799),
        ("bonnie++", "ext2", 16384, "rewrite", 106594),
        ("dd", "", 256, "read", 115.613 * 1024),  # printed as MB/s, but 20480 MiB in 177.143 s
        ("dd", "", 16384, "read", None),
        ("bonnie++", "xfs", 256, "seeks", None),  # published, but no rate of bytes
    ],
)
def test_units_are_normalised(tool, filesystem, setra, metric, kib_per_s):
    assert published.quoted("raid0", tool, filesystem, setra, metric) == pytest.approx(kib_per_s)


def test_dd_is_mebibytes_whatever_the_paper_prints():
    assert published.quoted("raid0", "dd", "", 256, "read") == pytest.approx(20480 * 1024 / 177.143, rel=1e-5)


def test_arrays_are_kept_apart():
    assert published.quoted("raid5", "bonnie++", "xfs", 256, "read") == 86393
