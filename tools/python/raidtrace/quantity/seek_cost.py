# SPDX-License-Identifier: GPL-2.0-or-later
"""What seeks cost: of many samples, how much longer the disk was busy for each seek than its bytes account for.

busy time = bytes x a + seeks x b, by least squares over the samples of a phase, neither negative; b with a bootstrap
interval. Where samples are too alike to tell a from b, the interval holds 0, and nothing is claimed.

Of a long phase neighbouring samples are put together to at most MOST blocks, and these are what the bootstrap draws: what
lasts longer than a sample is then not taken for as many independent observations.
"""

import dataclasses
import functools

import numpy
from numpy.typing import ArrayLike, NDArray

from raidtrace.quantity.trials import CONFIDENCE, SEED

RESAMPLES = 1000
MOST = 1000  # blocks
LEAST_SAMPLES, LEAST_SEEKS = 8, 10
Floats = NDArray[numpy.float64]


@dataclasses.dataclass(frozen=True)
class Cost:
    """ms of a seek, from and to with 95 %; part of the busy time; MiB/s that the bytes alone would take, None: no telling.

    blocks: what the bootstrap drew from, each of up to `merged` samples.
    """

    ms: float
    low_ms: float
    high_ms: float
    share: float
    stream_mib_per_s: float | None
    blocks: int
    merged: int

    def sure(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low_ms > 0


def cost(samples: ArrayLike) -> Cost | None:
    """samples: rows of busy ns, bytes and seeks. None: too few samples or seeks to say anything."""
    blocks, merged = _blocks(numpy.asarray(samples, dtype=numpy.float64).reshape(-1, 3))
    busy, _, seeks = blocks.sum(axis=0).tolist()
    if len(blocks) < LEAST_SAMPLES or seeks < LEAST_SEEKS or not busy:
        return None
    products = _products(blocks)
    (a,), (b,) = (part.tolist() for part in _fits(products.sum(axis=0, keepdims=True)))
    _, drawn = _fits(_draws(len(blocks)) @ products)
    found = numpy.sort(drawn)
    cut = int(RESAMPLES * (1 - CONFIDENCE) / 2)
    rate = 1e9 / a / (1 << 20) if a else None
    low, high = float(found[cut]) / 1e6, float(found[-1 - cut]) / 1e6
    return Cost(b / 1e6, low, high, min(b * seeks / busy, 1.0), rate, len(blocks), merged)


def _blocks(samples: Floats) -> tuple[Floats, int]:
    """Neighbours put together until there are no more than MOST, and how many make one."""
    step = -(-len(samples) // MOST)
    if step <= 1:
        return samples, 1
    return numpy.add.reduceat(samples, numpy.arange(0, len(samples), step)), step


def _products(blocks: Floats) -> Floats:
    """What the normal equations are sums of: bytes^2, bytes x seeks, seeks^2, busy x bytes, busy x seeks."""
    busy, octets, seeks = blocks.T
    return numpy.stack((octets * octets, octets * seeks, seeks * seeks, busy * octets, busy * seeks), axis=1)


@functools.lru_cache(maxsize=8)
def _draws(blocks: int) -> Floats:
    """How often each block is in each resample: with replacement, as many as there are. The same every time."""
    chosen = numpy.random.default_rng(SEED).integers(0, blocks, (RESAMPLES, blocks), dtype=numpy.int64)
    chosen += numpy.arange(RESAMPLES)[:, None] * blocks
    counts = numpy.bincount(chosen.reshape(-1), minlength=RESAMPLES * blocks).reshape(RESAMPLES, blocks)
    return counts.astype(numpy.float64)


def _fits(sums: Floats) -> tuple[Floats, Floats]:
    """ns per byte and ns per seek of each row of sums."""
    bytes2, both, seeks2, busy_bytes, busy_seeks = sums.T
    determinant = bytes2 * seeks2 - both * both
    told = determinant > 1e-9 * bytes2 * seeks2
    zero = numpy.zeros(len(sums))
    a = numpy.divide(busy_bytes * seeks2 - busy_seeks * both, determinant, out=zero - 1, where=told)
    b = numpy.divide(busy_seeks * bytes2 - busy_bytes * both, determinant, out=zero - 1, where=told)
    only_bytes = numpy.divide(busy_bytes, bytes2, out=zero.copy(), where=bytes2 > 0)
    only_seeks = numpy.divide(busy_seeks, seeks2, out=zero.copy(), where=seeks2 > 0)
    fits, seeks_alone = told & (a >= 0) & (b >= 0), told & (a < 0)
    return (numpy.where(fits, a, numpy.where(seeks_alone, 0, only_bytes)),
            numpy.where(fits, b, numpy.where(seeks_alone, only_seeks, 0)))  # fmt: skip
