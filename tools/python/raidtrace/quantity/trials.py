# SPDX-License-Identifier: GPL-2.0-or-later
"""Statistics of repeated trials: median, spread, an interval, outliers, and whether a run was in a steady state.

No trial is left out: an outlier is reported, but still counts.
"""

import dataclasses
import math
import random
import statistics
from collections.abc import Callable, Sequence
from typing import TypeVar

RESAMPLES = 2000
SEED = 9000  # fixed, so that the same trials always give the same interval
CONFIDENCE = 0.95
MAX_Z_SCORE = 3.5  # of an outlier: distance from the median in units of 1.4826 x median absolute deviation
MIN_FOR_OUTLIERS = 4
SLOPE_PERCENT, EXCURSION_PERCENT = 10.0, 20.0  # limits of a steady state, in per cent of the mean
WINDOWS = 10
T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Summary:
    """The trials of one figure. spread_percent: (largest - smallest) / median. low, high: bootstrap interval of the
    median, None for a single trial. outliers: trial numbers from 1. drift: "rising" or "falling" if each trial is
    above, or below, the previous one.
    """

    trials: int
    median: float
    spread_percent: float | None
    low: float | None
    high: float | None
    outliers: tuple[int, ...]
    drift: str


def summarise(values: Sequence[float]) -> Summary:
    """The statistics of at least one trial. values: in the order of the trials."""
    median = statistics.median(values)
    spread = 100 * (max(values) - min(values)) / median if median and len(values) > 1 else None
    low, high = interval(values) if len(values) > 1 else (None, None)
    return Summary(len(values), median, spread, low, high, outliers(values), drift(values))


def bootstrap(values: Sequence[T], of: Callable[[Sequence[T]], float]) -> tuple[float, float]:
    """The percentile bootstrap interval of a statistic. The same values always give the same interval."""
    source = random.Random(SEED)
    resampled = sorted(of(source.choices(values, k=len(values))) for _ in range(RESAMPLES))
    cut = int(RESAMPLES * (1 - CONFIDENCE) / 2)
    return resampled[cut], resampled[-1 - cut]


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The bootstrap interval of the median."""
    return bootstrap(values, statistics.median)


def outliers(values: Sequence[float]) -> tuple[int, ...]:
    """The numbers of trials far from the others. Fewer than four trials have no outliers. If most are equal, any other
    one is an outlier."""
    if len(values) < MIN_FOR_OUTLIERS:
        return ()
    median = statistics.median(values)
    scale = 1.4826 * statistics.median(abs(value - median) for value in values)
    return tuple(at for at, value in enumerate(values, 1) if abs(value - median) > MAX_Z_SCORE * scale)


def drift(values: Sequence[float]) -> str:
    """ "rising" or "falling" if at least four trials all go in one direction; else empty."""
    steps = [b - a for a, b in zip(values, values[1:])]
    if len(values) < 4 or not all(steps):
        return ""
    return "rising" if min(steps) > 0 else "falling" if max(steps) < 0 else ""


def steadiness(rates: Sequence[float]) -> tuple[float, float] | None:
    """The steadiness of rates in equal windows, in per cent of the mean: the change along the fitted line, and the
    largest minus the smallest rate. None: fewer than three windows, or nothing moved."""
    count, mean = len(rates), statistics.fmean(rates) if rates else 0.0
    if count < 3 or not mean:
        return None
    middle = (count - 1) / 2
    slope = sum((at - middle) * (rate - mean) for at, rate in enumerate(rates)) / sum(
        (at - middle) ** 2 for at in range(count)
    )
    return 100 * slope * (count - 1) / mean, 100 * (max(rates) - min(rates)) / mean


def steady(slope_percent: float, excursion_percent: float) -> bool:
    """Whether a phase was in a steady state."""
    return abs(slope_percent) <= SLOPE_PERCENT and excursion_percent <= EXCURSION_PERCENT


def windows(samples: Sequence[tuple[int, int, int]]) -> list[float]:
    """Rates per second in WINDOWS equal windows. samples: (start_ns, end_ns, amount), with the amount evenly
    distributed in each. Empty: too few samples."""
    if len(samples) < WINDOWS:
        return []
    begin, end = samples[0][0], max(sample[1] for sample in samples)
    length = (end - begin) / WINDOWS
    if length <= 0:
        return []
    sums = [0.0] * WINDOWS
    for start, stop, amount in samples:
        if stop <= start:
            sums[min(int((start - begin) / length), WINDOWS - 1)] += amount
            continue
        first, last = int((start - begin) / length), min(int((stop - begin) / length), WINDOWS - 1)
        for at in range(first, last + 1):
            shared = min(stop, begin + (at + 1) * length) - max(start, begin + at * length)
            sums[at] += amount * max(shared, 0.0) / (stop - start)
    return [total / (length / 1e9) for total in sums]


def student_tail(t: float, freedom: int) -> float:
    """The two-sided tail of Student's distribution for an integer number of degrees of freedom. It is the finite series
    of Abramowitz and Stegun 26.7.3 and 26.7.4."""
    if freedom < 1:
        return 1.0
    angle = math.atan2(abs(t), math.sqrt(freedom))
    cosine, sine = math.cos(angle), math.sin(angle)
    if freedom % 2:
        total, term = 0.0, cosine
        for step in range(1, (freedom - 1) // 2 + 1):
            total += term
            term *= cosine * cosine * 2 * step / (2 * step + 1)
        inside = 2 / math.pi * (angle + sine * total)
    else:
        total, term = 0.0, 1.0
        for step in range(1, freedom // 2 + 1):
            total += term
            term *= cosine * cosine * (2 * step - 1) / (2 * step)
        inside = sine * total
    return max(0.0, 1.0 - inside)


def student_quantile(tail: float, freedom: int) -> float:
    """The value of Student's t with this two-sided tail."""
    low, high = 0.0, 1.0
    while student_tail(high, freedom) > tail:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_tail(middle, freedom) > tail else (low, middle)
    return high


def chance(a: Sequence[float], b: Sequence[float]) -> float | None:
    """The probability of such a difference of means between trials of the same thing: Student's test of two samples
    with equal variance. None: one trial each."""
    freedom = len(a) + len(b) - 2
    if freedom < 1:
        return None
    middles = [statistics.fmean(side) for side in (a, b)]
    squares = sum((value - middle) ** 2 for side, middle in zip((a, b), middles) for value in side)
    error = math.sqrt(squares / freedom * (1 / len(a) + 1 / len(b)))
    difference = middles[1] - middles[0]
    return student_tail(difference / error, freedom) if error else float(not difference)


# Rank correlation with a confidence interval, and the rising, falling and flat regions of a curve, and its knee.

KNEE_SHARE = 0.05  # of the best: the knee is the smallest setting with a throughput so near to it
MIN_PAIRS = 4  # with fewer pairs there is no correlation
MIN_SETTINGS = 3  # with fewer distinct settings there is none
Pairs = Sequence[tuple[float, float]]


@dataclasses.dataclass(frozen=True)
class Correlation:
    """The correlation of pairs: Spearman's rho, Kendall's tau-b, a bootstrap interval of rho, and the
    number of pairs."""

    rho: float
    tau: float
    low: float
    high: float
    pairs: int

    def sure(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0 or self.high < 0


@dataclasses.dataclass(frozen=True)
class Region:
    """A region of a curve with one direction: rising, falling or flat."""

    direction: str
    first: float
    last: float


def ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1. Equal values have the mean of their ranks."""
    order = sorted(range(len(values)), key=lambda at: values[at])
    by_index = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for place in range(at, end + 1):
            by_index[order[place]] = (at + end) / 2 + 1
        at = end + 1
    return by_index


def spearman(pairs: Pairs) -> float | None:
    """The correlation of the ranks. None: one side is constant, or there are fewer than two pairs."""
    if len(pairs) < 2:
        return None
    xs, ys = ranks([x for x, _ in pairs]), ranks([y for _, y in pairs])
    middle = (len(pairs) + 1) / 2
    spread_x, spread_y = (sum((value - middle) ** 2 for value in side) for side in (xs, ys))
    if not spread_x or not spread_y:
        return None
    rho = sum((x - middle) * (y - middle) for x, y in zip(xs, ys, strict=True)) / math.sqrt(spread_x * spread_y)
    return max(-1.0, min(1.0, rho))


def kendall(pairs: Pairs) -> float | None:
    """Tau-b: pairs in agreement minus those in disagreement, corrected for ties. None: one side is constant."""
    agree = ties_x = ties_y = whole = 0
    for at, (x, y) in enumerate(pairs):
        for other_x, other_y in pairs[at + 1 :]:
            step_x, step_y = (other_x > x) - (other_x < x), (other_y > y) - (other_y < y)
            agree += step_x * step_y
            ties_x += not step_x
            ties_y += not step_y
            whole += 1
    if whole in (ties_x, ties_y):
        return None
    return agree / math.sqrt((whole - ties_x) * (whole - ties_y))


def correlate(pairs: Pairs) -> Correlation | None:
    """Both correlations, and the interval. None: too few pairs or distinct settings, or one side is constant. With two
    settings, any difference would be a correlation."""
    rho, tau = spearman(pairs), kendall(pairs)
    if rho is None or tau is None or len(pairs) < MIN_PAIRS or len({x for x, _ in pairs}) < MIN_SETTINGS:
        return None
    low, high = bootstrap(pairs, lambda some: spearman(some) or 0.0)  # 0 for a resample with a constant side
    return Correlation(rho, tau, low, high, len(pairs))


def knee(curve: Pairs) -> tuple[float, float]:
    """The smallest setting within KNEE_SHARE of the best throughput, and its throughput. curve: (setting, throughput),
    in order of the setting."""
    best = max(y for _, y in curve)
    return next((x, y) for x, y in curve if y >= (1 - KNEE_SHARE) * best)


def regions(curve: Pairs) -> list[Region]:
    """The regions of a curve, in order of the setting. Steps below KNEE_SHARE count as flat."""
    merged: list[Region] = []
    for (x, y), (next_x, next_y) in zip(curve, curve[1:]):
        grown = next_y / y - 1 if y else math.inf if next_y else 0.0
        direction = "flat" if abs(grown) < KNEE_SHARE else "rising" if grown > 0 else "falling"
        if merged and merged[-1].direction == direction:
            merged[-1] = Region(direction, merged[-1].first, next_x)
        else:
            merged.append(Region(direction, x, next_x))
    return merged


# The cost of seeks: the time that a disk is busy for each seek in addition to the time for the bytes.
#
# busy time = bytes x a + seeks x b, by least squares over the samples of a phase, neither negative. The interval of b
# is from the jackknife: b is fitted again without each sample, and the spread of these fits gives the standard error.
# If samples are too similar to distinguish a from b, the interval contains 0, and no cost is reported.
#
# Adjacent samples of a long phase are combined to at most MAX_BLOCKS blocks, and each block is left out once. So an
# effect that lasts longer than a sample does not count as many independent observations.

MAX_BLOCKS = 1000
MIN_SAMPLES, MIN_SEEKS = 8, 10
BusyRow = tuple[float, float, float]  # busy ns, bytes, seeks
Sums = tuple[float, float, float, float, float]  # bytes^2, bytes x seeks, seeks^2, busy x bytes, busy x seeks


@dataclasses.dataclass(frozen=True)
class SeekCost:
    """The cost of a seek in ms with its 95 % interval, its share of the busy time, and the MiB/s of the bytes alone
    (None: not known).

    blocks: the units of the jackknife, each of up to `merged` samples.
    """

    ms: float
    low_ms: float
    high_ms: float
    share: float
    stream_mib_per_s: float | None
    blocks: int
    merged: int

    def sure(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low_ms > 0


def seek_cost(samples: Sequence[BusyRow]) -> SeekCost | None:
    """The cost of seeks. None: too few samples or seeks."""
    blocks, merged = _blocks(samples)
    busy, seeks = math.fsum(block[0] for block in blocks), math.fsum(block[2] for block in blocks)
    if len(blocks) < MIN_SAMPLES or seeks < MIN_SEEKS or not busy:
        return None
    products = [_products(block) for block in blocks]
    whole = tuple(map(math.fsum, zip(*products, strict=True)))
    a, b = _fit(whole)
    without = [_fit([all_of - one for all_of, one in zip(whole, part, strict=True)])[1] for part in products]
    error = math.sqrt((len(blocks) - 1) * statistics.pvariance(without))
    far = statistics.NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * error
    rate = 1e9 / a / (1 << 20) if a else None
    return SeekCost(
        b / 1e6, max(b - far, 0.0) / 1e6, (b + far) / 1e6, min(b * seeks / busy, 1.0), rate, len(blocks), merged
    )


def _blocks(samples: Sequence[BusyRow]) -> tuple[Sequence[BusyRow], int]:
    """Adjacent samples combined to at most MAX_BLOCKS blocks, and the number of samples in a block."""
    step = -(-len(samples) // MAX_BLOCKS)
    if step <= 1:
        return samples, 1
    parts = (samples[at : at + step] for at in range(0, len(samples), step))
    return [
        (sum(row[0] for row in part), sum(row[1] for row in part), sum(row[2] for row in part)) for part in parts
    ], step


def _products(block: BusyRow) -> Sums:
    """The summands of the normal equations."""
    busy, octets, seeks = map(float, block)
    return octets * octets, octets * seeks, seeks * seeks, busy * octets, busy * seeks


def _fit(sums: Sequence[float]) -> tuple[float, float]:
    """The fit: ns per byte and ns per seek."""
    bytes2, both, seeks2, busy_bytes, busy_seeks = sums
    determinant = bytes2 * seeks2 - both * both
    if determinant > 1e-9 * bytes2 * seeks2:
        a = (busy_bytes * seeks2 - busy_seeks * both) / determinant
        b = (busy_seeks * bytes2 - busy_bytes * both) / determinant
        if a < 0:
            return 0.0, busy_seeks / seeks2
        if b >= 0:
            return a, b
    return busy_bytes / bytes2 if bytes2 > 0 else 0.0, 0.0
