# SPDX-License-Identifier: GPL-2.0-or-later
"""The order in which an experiment tries its changes, from the recording of the unchanged command: first those against the
causes that explain infers, then those that could give most. What the recording leaves open could give any factor."""

import math
import pathlib
from collections.abc import Mapping, Sequence

from raidtrace.explain import runs
from raidtrace.recording.breakdown import Breakdown, Gain, Larger, More, without
from raidtrace.recording.columns import RecordingError
from raidtrace.why.changes import Change

# Key of a limit of explain -> causes of changes (changes.py).
CHANGES = {
    "io.max": ("limit of its cgroup",),
    "sync": ("sync",),
    "competing": ("concurrent load",),
    "read amplification": ("readahead of mapped files", "readahead"),
    "queue depth": ("queue depth",),
    "request slots": ("nr_requests",),
    "scheduler": ("scheduler",),
    "direct": ("direct I/O",),
    "program": ("program sleeps",),
    "request size": ("request size",),
    "lost merges": ("lost merges",),
    "no readahead": ("fadvise",),
    "readahead": ("readahead",),
}


def judged(recording: str) -> tuple[tuple[str, ...], Mapping[str, float]]:
    """The keys of the limits that explain infers for the phase with the largest effect, and could_give() of this phase. Both
    are empty if there is no such phase, or the recording cannot be read."""
    try:
        explained = runs.one(pathlib.Path(recording)) if recording else None
    except (OSError, RecordingError):
        return (), {}
    if explained is None or not explained.chains:
        return (), {}
    first = explained.chains[0]
    times = next((one for one in explained.breakdowns if (one.disk, one.phase) == (first.disk, first.phase)), None)
    return first.limited_by(), could_give(times, first.direction) if times else {}


def could_give(times: Breakdown, direction: str) -> dict[str, float]:
    """Cause of a change -> how many times as fast the phase could be at most without it, by the breakdown of its time. A cause
    that the breakdown does not bound is left out."""
    way = next((one for one in times.ways if one.direction == direction), None)
    states = times.states
    gone = states.get("empty", states.get("idle"))
    found: dict[str, float] = {}
    if gone is not None and "held" in states:  # else a part of the time may be held
        found |= dict.fromkeys(("program sleeps", "limit of its cgroup"), without(gone))
        found |= dict.fromkeys(("nr_requests", "scheduler"), without(times.waits_share))
    if way is not None:
        size = _most(way.larger)
        found |= dict.fromkeys(("request size", "lost merges"), size)
        if gone is not None:  # readahead also fills the time in which the program computes
            found |= dict.fromkeys(("readahead", "direct I/O"), max(_most(way.more), size) * without(gone))
    return {cause: factor for cause, factor in found.items() if factor < math.inf}


def _most(change: Gain | Larger) -> float:
    """The highest factor that a change may give; infinite, unless the recording shows that it does not help."""
    return change.gain.high if change.verdict is More.NO_HELP and change.gain else math.inf


def most_likely_first(every: Sequence[Change], limits: Sequence[str], bounds: Mapping[str, float]) -> list[Change]:
    """The changes, sorted: those against the limits first, in the order of the limits; then those that could give most.
    Changes with the same place keep their order. bounds: of could_give()."""
    causes = [cause for limit in limits for cause in CHANGES.get(limit, ())]

    def place(change: Change) -> tuple[int, float]:
        if change.cause in causes:
            return causes.index(change.cause), 0.0
        return len(causes), -bounds.get(change.cause, math.inf)

    return sorted(every, key=place)
