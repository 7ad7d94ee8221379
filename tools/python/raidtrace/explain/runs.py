# SPDX-License-Identifier: GPL-2.0-or-later
"""Explain one recording, or one against another."""

import dataclasses
import pathlib
from collections.abc import Sequence

from raidtrace.explain import chain, pair
from raidtrace.explain.evidence import Chain, Explanation, Subject, by_effect, opening, told
from raidtrace.recording import invariants, observation
from raidtrace.recording import quantities as q
from raidtrace.recording.columns import RecordingError
from raidtrace.recording.observation import Observation, Observed
from raidtrace.recording.quantities import Reading
from raidtrace.recording.sample_rows import Window

SIMULATED = "Simulated: real Linux and drivers, models of the disks, simulated time."
REAL_TIME = "Simulated: real Linux and driver, a model of the controller and drives, in the real time of the host."


def subject(letter: str, observed: Observed) -> Subject:
    """A recording as it is named in an explanation."""
    meta = observed.meta
    facts = [(name, meta[key]) for name, key in (("kernel", "kernel"), ("profile", "lab_profile"), ("host", "hostname"))
             if meta.get(key)]  # fmt: skip
    return Subject(letter, str(observed.path), observed.simulated(), tuple(facts))


def notes(subjects: Sequence[Observed]) -> tuple[str, ...]:
    """What holds for the whole explanation. Where there are several recordings, each note names its own."""
    found = []
    times = {observed.meta.get("lab_time", "simulated") for observed in subjects if observed.simulated()}
    if "simulated" in times:
        found.append(SIMULATED)
    for observed in subjects:
        name = f"{observed.path}: " if len(subjects) > 1 else ""
        if observed.simulated() and observed.meta.get("lab_time") == "real":
            found.append(f"{name}{REAL_TIME}")
        ended, kept = observed.meta.get("end", ""), observed.meta.get("invariants", "hold")
        if ended != "complete":
            how = "its recorder still runs, or was killed" if ended == "running" else f"it ended: {ended or 'unknown'}"
            found.append(f"{name}The recording is not complete: {how}.")
        if observed.whole:
            since, until = observed.whole
            found.append(f"{name}Only whole samples are used: those from {since:.3f} to {until:.3f} s.")
        if wrong := invariants.broken(observed.path, kept):
            found.append(wrong)
        if observed.meta.get("disturbance", "").startswith("disturbed"):
            found.append(f"{name}Other work disturbed the recording. To list it: raidctl report.")
    return tuple(found)


@dataclasses.dataclass(frozen=True)
class Choice:
    """What of a recording is explained; None: all of it. window: s since it began."""

    phase: str | None = None
    disk: str | None = None
    direction: str | None = None
    window: Window | None = None


ALL = Choice()


def chosen(observed: Observed, choice: Choice = ALL) -> list[tuple[Observation, str]]:
    """Phases of disks with each direction that moved enough to say something, that which moved more first. RecordingError:
    none of the name asked for."""
    disks = [disk.name for disk in observed.disks]
    for name, known, what in ((choice.phase, observed.names, "phase"), (choice.disk, disks, "disk")):
        if name is not None and name not in known:
            raise RecordingError(f"{observed.path}: no {what} {name}; it has: {', '.join(known) or 'none'}")
    return [
        (seen, direction)
        for seen in observed.observations
        if choice.phase in (None, seen.phase) and choice.disk in (None, seen.disk.name)
        for direction in _ways(seen)
        if choice.direction in (None, direction)
    ]


def _ways(seen: Observation) -> list[str]:
    """Directions that moved enough, the command's or the larger first."""
    main = q.direction(seen) or "read"
    order = [main, "write" if main == "read" else "read"]
    return [direction for direction in order if (q.octets(seen, direction) or 0) >= q.LEAST_BYTES]


def one(path: pathlib.Path, choice: Choice = ALL) -> Explanation:
    """Explain one recording."""
    return of_one(observation.load(path, choice.window), choice)


def of_one(observed: Observed, choice: Choice = ALL) -> Explanation:
    """Explain one recording that was read."""
    chains: list[Chain] = []
    # Of a stack the disks come first: md and dm have no requests of which a cause could be told.
    for seen, direction in sorted(chosen(observed, choice), key=lambda one: bool(one[0].disk.bio_based)):
        reading = Reading("A", seen, observed.parent(seen))
        beside = [o for o in observed.observations if o.disk == seen.disk and o.phase != seen.phase]
        chains.append(chain.single(reading, direction, observed.meta, beside))
    ordered = by_effect(chains)
    said = told(ordered)
    if not chains:
        said = ("No phase moved enough data to say anything about its throughput.",)
    rows = opening(observed.names, ordered)
    return Explanation("recording", (subject("A", observed),), ordered, said, notes((observed,)), opening=rows)


def two(first: pathlib.Path, second: pathlib.Path, choice: Choice = ALL) -> Explanation:
    """Explain the second recording against the first: phases of the same name of disks of the same name."""
    return of_two(observation.load(first, choice.window), observation.load(second, choice.window), choice)


def of_two(a: Observed, b: Observed, choice: Choice = ALL) -> Explanation:
    """Explain the second of two recordings that were read against the first."""
    theirs = {(seen.disk.name, seen.phase, direction): seen for seen, direction in chosen(b, choice)}
    chains, alone = [], []
    for seen, direction in chosen(a, choice):
        other = theirs.get((seen.disk.name, seen.phase, direction))
        if other is None:
            alone.append(f"{seen.disk.name} {seen.phase} ({direction}s)")
            continue
        readings = Reading("A", seen, a.parent(seen)), Reading("B", other, b.parent(other))
        chains.append(pair.chain_of(*readings, direction, (a.meta, b.meta)))
    ordered = by_effect(chains)
    said = told(ordered)
    if not chains:
        said = ("The two have no phase of one name, disk and direction that moved enough data to compare.",)
    left = (f"Only in A: {', '.join(alone)}.",) if alone else ()
    return Explanation("pair", (subject("A", a), subject("B", b)), ordered, said, (*notes((a, b)), *left))
