# SPDX-License-Identifier: GPL-2.0-or-later
"""Why readahead made a difference, in sentences with only numbers of counters. Pure functions.

The chain that is tested: a readahead of S sectors, cut into requests of at most M sectors, keeps S/M to 2S/M requests
in flight (the program reads one window, and the kernel has requested the next); more requests in flight keep more drives
busy; the requests themselves do not get larger. Each link is compared with the counts, and a link that does not hold is
reported.
"""

import dataclasses

from raidtrace.recording import quantities as q

RISE = 1.5  # a factor from which a change of a mean is called a rise
SAME = 1.1  # a factor up to which two means are called the same
AGREEMENT = 0.05  # a figure and what predicts it agree within this part


@dataclasses.dataclass(frozen=True)
class ReadPhase:
    """The counters of one workload's read phase. largest_sectors: the largest request the disk takes."""

    workload: str
    setra_sectors: int
    kib_per_s: float
    inflight_mean: float
    request_sectors_mode: int
    request_sectors_mean: float
    largest_sectors: int
    sequential_share: float
    d2c_mean_ms: float

    def predicted(self) -> tuple[float, float]:
        """In-flight reads that the readahead alone predicts, from and to."""
        windows = max(self.setra_sectors / self.largest_sectors, 1.0)
        return windows, 2 * windows

    def as_predicted(self) -> bool:
        """Whether the mean lies where the readahead predicts it."""
        low, high = self.predicted()
        return low * (1 - AGREEMENT) <= self.inflight_mean <= high * (1 + AGREEMENT)


def why(untuned: ReadPhase, tuned: ReadPhase) -> list[str]:
    """Sentences on what the larger readahead changed, supported or not."""
    speed = tuned.kib_per_s / untuned.kib_per_s
    depth = tuned.inflight_mean / untuned.inflight_mean
    rates = f"{untuned.workload}: {untuned.kib_per_s / 1000:.1f} -> {tuned.kib_per_s / 1000:.1f} MB/s, x{speed:.2f}"
    if speed < SAME:
        return [f"{rates}. The larger readahead did not make it faster: {_depths(untuned, tuned)}."]
    sentences = [f"{rates}.", _size(untuned, tuned)]
    rose = depth >= RISE
    grew = tuned.request_sectors_mean / untuned.request_sectors_mean >= SAME
    if not rose:
        sentences.append(f"The reads in flight do not explain the gain: {_depths(untuned, tuned)}.")
    else:
        too = ", too" if grew else ""
        sentences += [f"More reads were in flight{too}: {_depths(untuned, tuned)}.", _prediction(untuned, tuned)]
    return [*sentences, *_balance(untuned, tuned, speed, depth)]


def _depths(untuned: ReadPhase, tuned: ReadPhase) -> str:
    ratio = tuned.inflight_mean / untuned.inflight_mean
    return f"{untuned.inflight_mean:.2f} -> {tuned.inflight_mean:.2f} on average, x{ratio:.1f}"


def _size(untuned: ReadPhase, tuned: ReadPhase) -> str:
    before, after = untuned.request_sectors_mode, tuned.request_sectors_mode
    if before != after:
        return f"The requests changed size, {q.kib(before)} -> {q.kib(after)}: this is a part of the gain."
    mean = tuned.request_sectors_mean / untuned.request_sectors_mean
    if mean >= SAME:
        return f"Most requests are {q.kib(before)} in both, but their mean size grew, x{mean:.2f}: this is a part of the gain."
    return f"The requests did not grow: most are {q.kib(before)} in both runs."


def _prediction(untuned: ReadPhase, tuned: ReadPhase) -> str:
    ranges = [p.predicted() for p in (untuned, tuned)]
    expected = " and ".join(f"{low:g} to {high:g}" for low, high in ranges)
    text = f"A readahead of S sectors in requests of M sectors predicts S/M to 2S/M in flight: {expected}."
    strays = [q.kib(p.setra_sectors) for p in (untuned, tuned) if not p.as_predicted()]
    return f"{text} This does NOT hold at {' and '.join(strays)}." if strays else f"{text} Both runs agree."


def _balance(untuned: ReadPhase, tuned: ReadPhase, speed: float, depth: float) -> list[str]:
    """Little's law: requests in flight = requests a second x time of each."""
    wait = tuned.d2c_mean_ms / untuned.d2c_mean_ms
    size = tuned.request_sectors_mean / untuned.request_sectors_mean
    expected = depth * size / wait
    times = f"{untuned.d2c_mean_ms:.2f} -> {tuned.d2c_mean_ms:.2f} ms from issue to completion, x{wait:.2f}"
    made = f"In flight x size / time = {depth:.1f} x {size:.2f} / {wait:.2f} = {expected:.2f}"
    if abs(expected / speed - 1) <= AGREEMENT:
        return [f"A request took {times}.", f"{made}: the rate grew as much, x{speed:.2f}."]
    return [
        f"A request took {times}.",
        f"{made}, NOT x{speed:.2f} as the rate: the program also waited for other things.",
    ]
