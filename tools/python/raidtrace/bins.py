# SPDX-License-Identifier: GPL-2.0-or-later
"""What a bin of a recording's histograms spans, as kmod/histogram.h defines it (a test compares the two)."""

CLASSES = ("data", "readahead", "direct", "metadata", "journal", "swap", "mixed", "other")
PLACE_BINS = 256
DEPTH_OPEN = 256  # holds all depths from here on
SEEK_NONE = 64  # distance 0
SUB_BITS = 4
SUB_BINS = 1 << SUB_BITS
SIZE_LINEAR = 256
SIZE_FIRST_OCTAVE = 8


def _octave(index: int, first: int) -> tuple[int, int]:
    """Log-linear: 16 equal bins in each octave from 2^first on."""
    exponent, sub = first + index // SUB_BINS, index % SUB_BINS
    width = 1 << (exponent - SUB_BITS)
    low = (1 << exponent) + sub * width
    return low, low + width


def size(index: int) -> tuple[int, int]:
    """Sectors of a bin of size, ra_sync or ra_async: from, and up to but not including."""
    return (index, index + 1) if index <= SIZE_LINEAR else _octave(index - SIZE_LINEAR - 1, SIZE_FIRST_OCTAVE)


def latency(index: int) -> tuple[int, int]:
    """Nanoseconds of a bin of d2c, i2d or q2c: from, and up to but not including."""
    return (index, index + 1) if index < SUB_BINS else _octave(index - SUB_BINS, SUB_BITS)


def blame(index: int) -> tuple[str, str]:
    """Class the head came from and class it went to, of a bin of blame or blame_distance."""
    return CLASSES[index // len(CLASSES)], CLASSES[index % len(CLASSES)]
