# SPDX-License-Identifier: GPL-2.0-or-later
"""A span in memory: the sum of the samples of a disk in a phase."""

import collections

from raidtrace.recording import columns
from raidtrace.recording.spans import GROUPS, Span

FLOW = (*columns.COUNTERS["flow"], "in_flight", "in_flight_max")


def span(flow, bins=None, start=0, end=1000, phase="run", disk="sda", unknown=(), groups=GROUPS, **more):
    """flow: direction -> counter -> number; counters left out are 0. unknown: counters that were not counted."""
    counts = {direction: collections.Counter(dict.fromkeys(FLOW, 0) | dict(some)) for direction, some in flow.items()}
    more = {"plain": dict.fromkeys(columns.COUNTERS["sample"]), "origin": {}, "submitters": ()} | more
    return Span(1, phase, 1, disk, start, end, counts, frozenset(unknown), bins or {}, frozenset(groups), **more)
