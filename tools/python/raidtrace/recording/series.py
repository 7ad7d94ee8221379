# SPDX-License-Identifier: GPL-2.0-or-later
"""The activity of a disk over time, in at most COLUMNS steps for a recording of any length.

A step is one sample if there are at most COLUMNS. Otherwise it consists of consecutive samples of about equal total
length. It keeps the mean over its time, the lowest and highest mean of its samples, and the highest depth at which time
was spent. Bytes and seeks are summed, so only resolution is lost.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import numpy
from numpy.typing import NDArray

from raidtrace.quantity import bins
from raidtrace.recording.sample_rows import Sample, SampleRows

COLUMNS = 600  # a picture of 600 pixels shows no more
DIRECTIONS = ("read", "write")
Ints = NDArray[numpy.int64]
Floats = NDArray[numpy.float64]


@dataclasses.dataclass(frozen=True)
class Depth:
    """Requests in flight in each step: mean over its time, lowest and highest mean of a sample, highest depth.

    open: the steps with time in the open last bin, where the mean is a lower bound.
    """

    mean: Floats
    low: Floats
    high: Floats
    deepest: Ints
    open: NDArray[numpy.bool_]


@dataclasses.dataclass(frozen=True)
class Series:
    """The n steps of one disk. edges: n + 1 times in ns. merged: the most samples in a step.

    depth: by direction, empty: not counted. moved: bytes completed by direction; queued for a disk without requests.
    d2c: by direction, mean ms from issue to completion of the requests that completed in a step, NaN: none. seeks:
    requests that are seeks, None: not counted. place: bytes, n steps x 256 parts of the disk, None: not counted.
    """

    target: int
    edges: Ints
    merged: int
    depth: Mapping[str, Depth]
    moved: Mapping[str, Ints]
    d2c: Mapping[str, Floats]
    seeks: Ints | None
    place: Floats | None

    def seconds(self) -> Floats:
        """Length of each step in s."""
        return numpy.diff(self.edges) / 1e9


class _Steps:
    """The step of each sample of a disk."""

    def __init__(self, rows: SampleRows, samples: Sequence[Sample], columns: int) -> None:
        mine = numpy.array(samples, dtype=numpy.int64)
        self.number, begins, ends = mine[:, 0], mine[:, 3], mine[:, 4]
        span = max(1, int(ends[-1]) - int(begins[0]))
        if len(mine) <= columns:
            self.step: Ints = numpy.arange(len(mine))
        else:
            _, step = numpy.unique((ends - 1 - begins[0]) * columns // span, return_inverse=True)
            self.step = step.reshape(-1).astype(numpy.int64)
        self.count = int(self.step[-1]) + 1
        firsts = numpy.flatnonzero(numpy.diff(self.step, prepend=-1))
        self.edges: Ints = numpy.append(begins[firsts], ends[-1])
        self.merged = int(numpy.bincount(self.step).max())
        self.step_of: Ints = numpy.full(rows.size, -1, dtype=numpy.int64)
        self.step_of[self.number] = self.step

    def sums(self, by_sample: Iterable[int]) -> Ints:
        """The sum of a counter in each step. by_sample: the counter by number of sample."""
        by_sample = numpy.asarray(by_sample)
        return numpy.bincount(self.step, weights=by_sample[self.number], minlength=self.count).astype(numpy.int64)


def build(rows: SampleRows, target: int, bio_based: bool, place: bool, phase: int | None = None,
          columns: int = COLUMNS) -> Series | None:  # fmt: skip
    """The series of a disk, or of one of its phases, in at most `columns` steps. None: it has no sample. place: place
    was counted."""
    samples = rows.of(target, [number for of, number in rows.groups if of == target and phase in (None, number)])
    if not samples:
        return None
    steps = _Steps(rows, samples, columns)
    depth = {} if bio_based else {direction: _depth(rows, steps, direction) for direction in DIRECTIONS}
    moved: dict[str, Ints] = {}
    d2c: dict[str, Floats] = {}
    seeks: Ints | None = None
    for direction in DIRECTIONS:
        octets = rows.flow(direction, "bytes_queued" if bio_based else "bytes_completed")
        if octets is not None:
            moved[direction] = steps.sums(octets)
        took, completed = rows.flow(direction, "d2c_sum_ns"), rows.flow(direction, "completed")
        if took is not None and completed is not None and not bio_based:
            number = steps.sums(completed).astype(numpy.float64)
            d2c[direction] = numpy.divide(
                steps.sums(took) / 1e6, number, out=numpy.full(steps.count, numpy.nan), where=number > 0
            )
        issued, sequential = rows.flow(direction, "issued"), rows.flow(direction, "sequential")
        if issued is not None and sequential is not None and not bio_based:
            seeks_of_direction = steps.sums(numpy.asarray(issued) - numpy.asarray(sequential))
            seeks = seeks_of_direction if seeks is None else seeks + seeks_of_direction
    return Series(
        target, steps.edges, steps.merged, {d: one for d, one in depth.items() if one is not None}, moved, d2c, seeks,
        _place(rows, steps) if place else None,
    )  # fmt: skip


def _depth(rows: SampleRows, steps: _Steps, direction: str) -> Depth | None:
    time, weighted, deepest = (numpy.asarray(part)[steps.number] for part in rows.depth(direction))
    if not time.any():
        return None
    time, weighted = time.astype(numpy.float64), weighted.astype(numpy.float64)
    firsts = numpy.flatnonzero(numpy.diff(steps.step, prepend=-1))
    means = numpy.divide(weighted, time, out=numpy.zeros_like(time), where=time > 0)
    whole = numpy.add.reduceat(time, firsts)
    mean = numpy.divide(numpy.add.reduceat(weighted, firsts), whole, out=numpy.zeros_like(whole), where=whole > 0)
    highest = numpy.maximum.reduceat(deepest, firsts)
    return Depth(mean, numpy.minimum.reduceat(means, firsts), numpy.maximum.reduceat(means, firsts), highest,
                 highest >= bins.DEPTH_OPEN)  # fmt: skip


def _place(rows: SampleRows, steps: _Steps) -> Floats:
    result = numpy.zeros((steps.count, bins.PLACE_BINS))
    for direction in DIRECTIONS:
        samples, places, counts = (numpy.asarray(part) for part in rows.place(direction))
        chosen = (steps.step_of[samples] >= 0) & (places < bins.PLACE_BINS)
        at = steps.step_of[samples[chosen]] * bins.PLACE_BINS + places[chosen]
        result += numpy.bincount(at, weights=counts[chosen], minlength=result.size).reshape(result.shape)
    return result
