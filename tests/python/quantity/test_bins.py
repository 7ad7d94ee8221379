# SPDX-License-Identifier: GPL-2.0-or-later
"""The bounds of bins are those of kmod/histogram.h."""

import subprocess

from compiled import compiled
from conftest import TOP
from hypothesis import given
from hypothesis import strategies as st

from raidtrace.quantity import bins

SOURCE = """
#include <stdio.h>
#include <string.h>
#include "account.h"

int main(void)
{
    char kind[16];
    long long value;

    while (scanf("%15s %lld", kind, &value) == 2)
        printf("%u\\n", !strcmp(kind, "size") ? raidtrace_size_bin(value) : !strcmp(kind, "seek") ? raidtrace_seek_bin(value) :
               !strcmp(kind, "time") ? raidtrace_d2c_bin(value) : !strcmp(kind, "depth") ? raidtrace_depth_bin(value) :
               raidtrace_d2c_column(value));
    return 0;
}
"""
CUTS = {"size": "size", "seek": "seek", "d2c": "time", "depth_time": "depth", "depth_d2c": "column"}


def test_bounds_are_those_of_the_module(tmp_path):
    """The lowest and the highest value of each bin fall into it."""
    (tmp_path / "a.c").write_text(SOURCE, encoding="ascii")
    options = [f"-I{TOP / name}" for name in ("kmod", "kmod/include/uapi", "tools/libraidtrace")]
    program = compiled(tmp_path / "a.c", tmp_path / "a", *options)
    calls, due = [], []
    for name, cut in CUTS.items():
        kind = bins.KINDS[name]
        for at in range(kind.columns() or bins.NUMBERS[kind.cut]):
            low, high = kind.bounds(at)
            if (name, at) == ("seek", 128):  # no distance is as far
                continue
            for value in {low, low if high is None else high - 1}:
                calls.append(f"{cut} {value}")
                due.append(at)
    done = subprocess.run([program], input="\n".join(calls), capture_output=True, text=True, check=True)
    assert [int(line) for line in done.stdout.split()] == due and len(due) > 2000
    assert [bins.KINDS[name].bounds(bins.NUMBERS[bins.KINDS[name].cut] - 1)[1] for name in CUTS] == [None] * len(CUTS)


@given(st.integers(0, 800))
def test_bins_follow_each_other_without_a_gap(at):
    for bounds in (bins.size, bins.time):
        assert bounds(at)[1] == bounds(at + 1)[0]


@given(st.dictionaries(st.integers(0, 500), st.integers(1, 1000), min_size=1), st.floats(0.01, 1))
def test_a_quantile_has_its_part_below(histogram, part):
    middle = bins.quantile(histogram, part)
    below = sum(count for at, count in histogram.items() if bins.time(at)[0] <= middle)
    assert below >= part * sum(histogram.values()) * (1 - 1e-9)
