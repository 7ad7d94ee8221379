# SPDX-License-Identifier: GPL-2.0-or-later
"""What seeks cost: of many samples, how much longer the disk was busy for each seek than its bytes account for.

busy time = bytes x a + seeks x b, by least squares over the samples of a phase, neither negative; b with a bootstrap
interval. Where samples are too alike to tell a from b, the interval holds 0, and nothing is claimed.
"""

import dataclasses
import random
from collections.abc import Sequence

from raidtrace.trials import CONFIDENCE, SEED

RESAMPLES = 400  # of up to MOST samples, which is as fine as 2000 of fewer and takes a tenth of a second
MOST = 400
LEAST_SAMPLES, LEAST_SEEKS = 8, 10
Sample = tuple[float, float, float]  # busy ns, bytes, seeks


@dataclasses.dataclass(frozen=True)
class Cost:
    """ms of a seek, from and to with 95 %; part of the busy time; MiB/s that the bytes alone would take, None: no telling."""

    ms: float
    low_ms: float
    high_ms: float
    share: float
    stream_mib_per_s: float | None

    def sure(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low_ms > 0


def fit(samples: Sequence[Sample]) -> tuple[float, float]:
    """ns per byte and ns per seek."""
    bytes2 = sum(x * x for _, x, _ in samples)
    both = sum(x * y for _, x, y in samples)
    seeks2 = sum(y * y for _, _, y in samples)
    busy_bytes, busy_seeks = sum(t * x for t, x, _ in samples), sum(t * y for t, _, y in samples)
    determinant = bytes2 * seeks2 - both * both
    if determinant > 1e-9 * bytes2 * seeks2:
        a = (busy_bytes * seeks2 - busy_seeks * both) / determinant
        b = (busy_seeks * bytes2 - busy_bytes * both) / determinant
        if a >= 0 and b >= 0:
            return a, b
        if a < 0:
            return 0.0, busy_seeks / seeks2
    return (busy_bytes / bytes2, 0.0) if bytes2 else (0.0, 0.0)


def cost(samples: Sequence[Sample]) -> Cost | None:
    """None: too few samples or seeks to say anything."""
    samples = _fewer(samples)
    seeks, busy = sum(y for _, _, y in samples), sum(t for t, _, _ in samples)
    if len(samples) < LEAST_SAMPLES or seeks < LEAST_SEEKS or not busy:
        return None
    a, b = fit(samples)
    source = random.Random(SEED)
    found = sorted(fit(source.choices(samples, k=len(samples)))[1] for _ in range(RESAMPLES))
    cut = int(RESAMPLES * (1 - CONFIDENCE) / 2)
    rate = 1e9 / a / (1 << 20) if a else None
    return Cost(b / 1e6, found[cut] / 1e6, found[-1 - cut] / 1e6, min(b * seeks / busy, 1.0), rate)


def _fewer(samples: Sequence[Sample]) -> Sequence[Sample]:
    """Neighbours put together until there are no more than MOST."""
    step = -(-len(samples) // MOST)
    if step <= 1:
        return samples
    parts = [samples[at : at + step] for at in range(0, len(samples), step)]
    return [(sum(t for t, _, _ in p), sum(x for _, x, _ in p), sum(y for _, _, y in p)) for p in parts]
