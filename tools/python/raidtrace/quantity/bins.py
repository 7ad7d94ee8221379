# SPDX-License-Identifier: GPL-2.0-or-later
"""What bins of histograms span: the same definitions as kmod/histogram.h, which tests compare them with."""

from collections.abc import Mapping

LINEAR_SIZES = 256
LINEAR_TIMES = 16
SUB = 16  # equal bins of an octave
D2C_COLUMNS = 40
PLACE_BINS = 256
DEPTH_OPEN = 256  # holds all depths from here on
CLASSES = ("data", "readahead", "direct", "metadata", "journal", "swap", "mixed", "other")


def size(at: int) -> tuple[int, int]:
    """Sectors, from and less than."""
    if at <= LINEAR_SIZES:
        return at, at + 1
    low, high = _octave(at - LINEAR_SIZES - 1, 8)
    return max(low, LINEAR_SIZES + 1), high


def time(at: int) -> tuple[int, int]:
    """Nanoseconds of d2c, i2d and q2c, from and less than."""
    return (at, at + 1) if at < LINEAR_TIMES else _octave(at - LINEAR_TIMES, 4)


def _octave(at: int, first: int) -> tuple[int, int]:
    octave, part = divmod(at, SUB)
    width = 1 << (octave + first - 4)
    return (1 << (octave + first)) + part * width, (1 << (octave + first)) + (part + 1) * width


def blame(at: int) -> tuple[str, str]:
    """Class the head came from and class it went to, of a bin of blame or blame_distance."""
    return CLASSES[at // len(CLASSES)], CLASSES[at % len(CLASSES)]


def depth_row(row: int) -> int:
    """The least depth of a row of depth-d2c."""
    return 1 << (row - 1) if row else 0


def quantile(histogram: Mapping[int, int], part: float) -> float | None:
    """Middle of the bin of `time` that holds the smallest value which at least `part` of all do not exceed."""
    whole, seen = sum(histogram.values()), 0
    for at in sorted(histogram):
        seen += histogram[at]
        if seen >= part * whole:
            return sum(time(at)) / 2
    return None


def rows(depth_d2c: Mapping[int, int]) -> dict[int, tuple[int, float]]:
    """By least depth at issue: how many requests, and their mean time to completion in ms.

    Columns are octaves of time; a request is taken to be at the middle of its octave, so a mean is right within a third and
    means of rows compare better than that.
    """
    found: dict[int, tuple[int, float]] = {}
    for row in {at // D2C_COLUMNS for at in depth_d2c}:
        cells = {at % D2C_COLUMNS: count for at, count in depth_d2c.items() if at // D2C_COLUMNS == row and count}
        number = sum(cells.values())
        if number:
            mean = sum((1.5 * 2 ** (column - 1) if column else 0.0) * count for column, count in cells.items()) / number
            found[depth_row(row)] = (number, mean / 1e6)
    return found
