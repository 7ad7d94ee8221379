# SPDX-License-Identifier: GPL-2.0-or-later
"""The bounds of bins are those of kmod/histogram.h, which raidctl export writes out."""

import csv
import subprocess

import pytest
from conftest import TOP, Maker
from hypothesis import given
from hypothesis import strategies as st

from raidtrace.quantity import bins

RAIDCTL = TOP / "tools" / "bin" / "raidctl"
SIZES = (0, 1, 255, 256, 257, 258, 272, 273, 300, 336, 353, 400)
TIMES = (0, 15, 16, 17, 31, 32, 47, 48, 200, 300, 400)


@pytest.mark.skipif(not RAIDCTL.exists(), reason="raidctl is not built")
def test_bounds_are_those_of_the_module(tmp_path):
    kinds = {("read", "size"): dict.fromkeys(SIZES, 1), ("read", "d2c"): dict.fromkeys(TIMES, 1)}
    path = Maker(tmp_path).write([(1, 0, 1000, {"read": {"issued": 1}}, kinds)])
    subprocess.run([RAIDCTL, "export", "--csv", tmp_path / "csv", path], check=True, capture_output=True)
    with (tmp_path / "csv" / "histogram.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = {"size": [], "d2c": []}
    for row in rows:
        if row["kind"] in found:
            found[row["kind"]].append((int(row["low"]), int(row["high"])))
    assert found["size"] == [bins.size(at) for at in SIZES]
    assert found["d2c"] == [bins.time(at) for at in TIMES]


@given(st.integers(0, 800))
def test_bins_follow_each_other_without_a_gap(at):
    for bounds in (bins.size, bins.time):
        assert bounds(at)[1] == bounds(at + 1)[0]


@given(st.dictionaries(st.integers(0, 500), st.integers(1, 1000), min_size=1), st.floats(0.01, 1))
def test_a_quantile_has_its_part_below(histogram, part):
    middle = bins.quantile(histogram, part)
    below = sum(count for at, count in histogram.items() if bins.time(at)[0] <= middle)
    assert below >= part * sum(histogram.values()) * (1 - 1e-9)
