# SPDX-License-Identifier: GPL-2.0-or-later
"""Which changes are tried first: those against the causes that explain infers from the recording of the command as it is."""

import pathlib
from collections.abc import Sequence

from raidtrace.explain import runs
from raidtrace.recording.columns import RecordingError
from raidtrace.why.changes import Change

# key of a limit of explain -> causes of changes (changes.py)
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


def inferred(recording: str) -> tuple[str, ...]:
    """Keys of the limits that explain infers of the phase that took most of the time. Empty: none, or it cannot be read."""
    try:
        chains = runs.one(pathlib.Path(recording)).chains if recording else ()
    except (OSError, RecordingError):
        return ()
    return chains[0].limited_by() if chains else ()


def first(candidates: Sequence[Change], limits: Sequence[str]) -> list[Change]:
    """The same changes, those against the limits first, in the order of the limits; the others stay in theirs."""
    causes = [cause for limit in limits for cause in CHANGES.get(limit, ())]
    return sorted(candidates, key=lambda change: causes.index(change.cause) if change.cause in causes else len(causes))
