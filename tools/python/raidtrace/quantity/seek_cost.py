# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of seeks: how much longer the disk was busy for each seek than its bytes account for, over many samples.

busy time = bytes x a + seeks x b, by least squares over the samples of a phase, neither negative. The interval of b is of the
jackknife: b is fitted again without each sample, and what these fits spread by gives the standard error. Where samples are
too alike to tell a from b, the interval holds 0, and nothing is claimed.

Of a long phase neighbouring samples are put together to at most MOST blocks, and each of these is left out once: what
lasts longer than a sample is then not taken for as many independent observations.
"""

import dataclasses
import math
import statistics
from collections.abc import Sequence

from raidtrace.quantity.trials import CONFIDENCE

MOST = 1000  # blocks
LEAST_SAMPLES, LEAST_SEEKS = 8, 10
Row = tuple[float, float, float]  # busy ns, bytes, seeks
Sums = tuple[float, float, float, float, float]  # bytes^2, bytes x seeks, seeks^2, busy x bytes, busy x seeks


@dataclasses.dataclass(frozen=True)
class Cost:
    """ms of a seek, from and to with 95 %; part of the busy time; MiB/s that the bytes alone would take, None: no telling.

    blocks: what was left out one at a time, each of up to `merged` samples.
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


def cost(samples: Sequence[Row]) -> Cost | None:
    """None: too few samples or seeks to say anything."""
    blocks, merged = _blocks(samples)
    busy, seeks = math.fsum(block[0] for block in blocks), math.fsum(block[2] for block in blocks)
    if len(blocks) < LEAST_SAMPLES or seeks < LEAST_SEEKS or not busy:
        return None
    products = [_products(block) for block in blocks]
    whole = tuple(map(math.fsum, zip(*products, strict=True)))
    a, b = _fit(whole)
    without = [_fit([all_of - one for all_of, one in zip(whole, part, strict=True)])[1] for part in products]
    error = math.sqrt((len(blocks) - 1) * statistics.pvariance(without))
    far = statistics.NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * error
    rate = 1e9 / a / (1 << 20) if a else None
    return Cost(
        b / 1e6, max(b - far, 0.0) / 1e6, (b + far) / 1e6, min(b * seeks / busy, 1.0), rate, len(blocks), merged
    )


def _blocks(samples: Sequence[Row]) -> tuple[Sequence[Row], int]:
    """Neighbours put together until there are no more than MOST, and how many make one."""
    step = -(-len(samples) // MOST)
    if step <= 1:
        return samples, 1
    parts = (samples[at : at + step] for at in range(0, len(samples), step))
    return [
        (sum(row[0] for row in part), sum(row[1] for row in part), sum(row[2] for row in part)) for part in parts
    ], step


def _products(block: Row) -> Sums:
    """The summands of the normal equations."""
    busy, octets, seeks = map(float, block)
    return octets * octets, octets * seeks, seeks * seeks, busy * octets, busy * seeks


def _fit(sums: Sequence[float]) -> tuple[float, float]:
    """ns per byte and ns per seek."""
    bytes2, both, seeks2, busy_bytes, busy_seeks = sums
    determinant = bytes2 * seeks2 - both * both
    solvable = determinant > 1e-9 * bytes2 * seeks2
    a = (busy_bytes * seeks2 - busy_seeks * both) / determinant if solvable else -1.0
    b = (busy_seeks * bytes2 - busy_bytes * both) / determinant if solvable else -1.0
    if solvable and a >= 0 and b >= 0:
        return a, b
    if solvable and a < 0:
        return 0.0, busy_seeks / seeks2 if seeks2 > 0 else 0.0
    return busy_bytes / bytes2 if bytes2 > 0 else 0.0, 0.0
