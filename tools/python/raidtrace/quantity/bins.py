# SPDX-License-Identifier: GPL-2.0-or-later
"""The bounds of histogram bins, as in kmod/histogram.h. A test compares both."""

import dataclasses
from collections.abc import Mapping

LINEAR_SIZES = 256
LINEAR_TIMES = 16
SUB = 16  # equal bins in each octave
D2C_COLUMNS = 40
PLACE_BINS = 256
DEPTH_OPEN = 256  # this bin holds all depths from here on
CLASSES = ("data", "readahead", "direct", "metadata", "journal", "swap", "mixed", "other")

SEEK_ZERO = 64
# rows of d2c by distance: 0, then forward and backward less than 64 KiB, 1 MiB, 64 MiB, 1 GiB and beyond
_FAR = (1, 128, 2048, 131072, 2097152)
SEEK_ROWS: tuple[tuple[int, int | None], ...] = (
    (0, 1),
    *zip(_FAR, (*_FAR[1:], None), strict=True),
    *((1 - high, 1 - low) for low, high in zip(_FAR, (*_FAR[1:], (1 << 63) + 1), strict=True)),
)
NUMBERS = {"size": 497, "seek": 129, "depth": 257, "time": 576, "depth_d2c": 400, "place": 256, "class": 64,
           "depth_row": 10, "size_row": 16, "seek_row": 11}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of histogram: its group of counters, the units of its values and of its counts, and the kind of its bins.

    needs: the counter of its events; `plain`: this counter has no direction. late: recordings without groups do not
    have it.
    """

    group: str
    unit: str
    counted: str
    cut: str
    needs: str
    plain: bool = False
    late: bool = True

    def columns(self) -> int:
        """Bins in a row. 0: the histogram has one dimension."""
        return {"depth_d2c": D2C_COLUMNS, "class": len(CLASSES)}.get(self.cut, 0)

    def bounds(self, at: int) -> tuple[int, int | None]:
        """The lowest value of a bin, and the lowest value above it. None: the bin has no upper end."""
        last = at == NUMBERS[self.cut] - 1
        if self.cut == "depth_d2c":
            at %= D2C_COLUMNS
            return (1 << at - 1 if at else 0), (1 << at if at < D2C_COLUMNS - 1 else None)
        if self.cut == "class":
            return at % len(CLASSES), at % len(CLASSES) + 1
        if self.cut == "seek":
            return _seek(at), None if at >= NUMBERS["seek"] - 2 else _seek(at + 1)
        if self.cut == "seek_row":
            return SEEK_ROWS[at]
        cuts = {"size": size, "time": time, "depth_row": _octaves, "size_row": _octaves}
        low, high = cuts.get(self.cut, lambda at: (at, at + 1))(at)
        return low, None if last and self.cut != "place" else high


KINDS = {
    "size": Kind("size", "sectors", "requests", "size", "issued", late=False),
    "seek": Kind("seek", "sectors", "requests", "seek", "issued", late=False),
    "depth_time": Kind("depth", "requests", "ns", "depth", "in_flight", late=False),
    "depth_issue": Kind("depth", "requests", "requests", "depth", "in_flight", late=False),
    "d2c": Kind("latency", "ns", "requests", "time", "d2c_sum_ns", late=False),
    "seek_queued": Kind("seek", "sectors", "bios", "seek", "sequential_queued"),
    "i2d": Kind("latency", "ns", "requests", "time", "i2d_sum_ns"),
    "q2c": Kind("latency", "ns", "pieces", "time", "q2c_sum_ns"),
    "depth_d2c": Kind("latency", "ns", "requests", "depth_d2c", "d2c_sum_ns"),
    "place": Kind("place", "1/256 of the disk", "bytes", "place", "issued"),
    "unplug": Kind("plug", "requests", "unplugs", "depth", "unplugs_explicit", plain=True),
    "blame": Kind("blame", "class", "requests", "class", "issued"),
    "blame_distance": Kind("blame", "class", "sectors", "class", "issued"),
    "ra_sync": Kind("readahead", "sectors", "windows", "size", "ra_sync_sectors", plain=True),
    "ra_async": Kind("readahead", "sectors", "windows", "size", "ra_async_sectors", plain=True),
    "depth_d2c_ns": Kind("latency", "requests", "ns", "depth_row", "d2c_sum_ns"),
    "size_d2c": Kind("latency", "sectors", "requests", "size_row", "d2c_sum_ns"),
    "size_d2c_ns": Kind("latency", "sectors", "ns", "size_row", "d2c_sum_ns"),
    "seek_d2c": Kind("latency", "sectors", "requests", "seek_row", "d2c_sum_ns"),
    "seek_d2c_ns": Kind("latency", "sectors", "ns", "seek_row", "d2c_sum_ns"),
}


def _seek(at: int) -> int:
    """The lowest distance of a bin. The n-th bin from the middle covers 2^(n-1) to 2^n - 1."""
    if at == NUMBERS["seek"] - 1:
        return (1 << 63) - 1
    if at > SEEK_ZERO:
        return 1 << (at - SEEK_ZERO - 1)
    return -(1 << 63) if at == 0 else 1 - (1 << 63) if at == 1 else 1 - (1 << (SEEK_ZERO - at))


def _octaves(row: int) -> tuple[int, int]:
    """A row of depths or of sectors."""
    return depth_row(row), 1 << row


def size(at: int) -> tuple[int, int]:
    """The bin of a size in sectors: from, and less than."""
    if at <= LINEAR_SIZES:
        return at, at + 1
    low, high = _octave(at - LINEAR_SIZES - 1, 8)
    return max(low, LINEAR_SIZES + 1), high


def time(at: int) -> tuple[int, int]:
    """The bin of a time (d2c, i2d, q2c) in ns: from, and less than."""
    return (at, at + 1) if at < LINEAR_TIMES else _octave(at - LINEAR_TIMES, 4)


def _octave(at: int, first: int) -> tuple[int, int]:
    octave, part = divmod(at, SUB)
    width = 1 << (octave + first - 4)
    return (1 << (octave + first)) + part * width, (1 << (octave + first)) + (part + 1) * width


def blame(at: int) -> tuple[str, str]:
    """The classes before and after a seek, for a bin of blame or blame_distance."""
    return CLASSES[at // len(CLASSES)], CLASSES[at % len(CLASSES)]


def depth_row(row: int) -> int:
    """The lowest depth of a row of depth-d2c."""
    return 1 << (row - 1) if row else 0


def quantile_bin(histogram: Mapping[int, int], part: float) -> int | None:
    """The least bin that at least `part` of all values do not exceed. None: no value."""
    whole, counted = sum(histogram.values()), 0
    for at in sorted(histogram):
        counted += histogram[at]
        if counted and counted >= part * whole:
            return at
    return None


def quantile(histogram: Mapping[int, int], part: float) -> float | None:
    """A quantile in ns: the middle of its bin. None: no value."""
    at = quantile_bin(histogram, part)
    return None if at is None else sum(time(at)) / 2


def rows(depth_d2c: Mapping[int, int]) -> dict[int, tuple[int, float]]:
    """Number of requests and their mean time to completion in ms, by the lowest depth at issue of each row.

    Columns are octaves of time. Each request counts with the middle of its octave, so a mean is exact within a third.
    The ratio of two rows is more exact.
    """
    by_depth: dict[int, tuple[int, float]] = {}
    for row in {at // D2C_COLUMNS for at in depth_d2c}:
        cells = {at % D2C_COLUMNS: count for at, count in depth_d2c.items() if at // D2C_COLUMNS == row and count}
        number = sum(cells.values())
        if number:
            mean = sum((1.5 * 2 ** (column - 1) if column else 0.0) * count for column, count in cells.items()) / number
            by_depth[depth_row(row)] = (number, mean / 1e6)
    return by_depth
