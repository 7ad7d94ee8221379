# SPDX-License-Identifier: GPL-2.0-or-later
"""Explain one recording, or one against another."""

import pathlib
from collections.abc import Sequence

from raidtrace.explain import chain, pair
from raidtrace.explain.evidence import Chain, Explanation, Subject, by_effect, told
from raidtrace.recording import observation
from raidtrace.recording import quantities as q
from raidtrace.recording import recording
from raidtrace.recording.observation import Observation, Observed
from raidtrace.recording.quantities import Reading

SIMULATED = "Simulated: real Linux and driver, a model of controller and drives, simulated time."
REAL_TIME = "real Linux and driver and a model of controller and drives, in real time of the machine that it ran on."


def subject(letter: str, observed: Observed) -> Subject:
    """A recording as it is named in an explanation."""
    meta = observed.meta
    facts = [(name, meta[key]) for name, key in (("kernel", "kernel"), ("profile", "lab_profile"), ("host", "hostname"))
             if meta.get(key)]  # fmt: skip
    facts += [("disturbed by", meta["disturbance"])] if meta.get("disturbance", "").startswith("disturbed") else []
    return Subject(letter, str(observed.path), observed.simulated(), tuple(facts))


def notes(subjects: Sequence[Observed]) -> tuple[str, ...]:
    """What holds for all that is said."""
    found = []
    times = {observed.meta.get("lab_time", "simulated") for observed in subjects if observed.simulated()}
    if "simulated" in times:
        found.append(SIMULATED)
    for observed in subjects:
        if observed.simulated() and observed.meta.get("lab_time") == "real":
            found.append(f"{observed.path}: {REAL_TIME}")
        ended, kept = observed.meta.get("end", ""), observed.meta.get("invariants", "hold")
        if ended != "complete":
            found.append(f"{observed.path}: the recording ended: {ended or 'not known'}.")
        if kept != "hold":
            found.append(f"{observed.path}: an invariant of the counters does not hold: {kept}.")
        if observed.meta.get("disturbance", "quiet").startswith("disturbed"):
            found.append(f"{observed.path}: the machine was not quiet: raidctl report names what disturbed it.")
    return tuple(found)


def chosen(observed: Observed, phase: str | None, disk: str | None) -> list[Observation]:
    """Phases of disks that moved enough to say something. RecordingError: none of the name asked for."""
    for name, known, what in ((phase, observed.names, "phase"), (disk, [d.name for d in observed.disks], "disk")):
        if name is not None and name not in known:
            raise recording.RecordingError(f"{observed.path}: no {what} {name}; it has: {', '.join(known) or 'none'}")
    return [
        seen
        for seen in observed.observations
        if phase in (None, seen.phase) and disk in (None, seen.disk.name) and _moved(seen) >= chain.LEAST_BYTES
    ]


def _moved(seen: Observation) -> int:
    way = q.direction(seen)
    return (q.octets(seen, way) or 0) if way else 0


def one(path: pathlib.Path, phase: str | None = None, disk: str | None = None) -> Explanation:
    """Explain one recording."""
    return of_one(observation.load(path), phase, disk)


def of_one(observed: Observed, phase: str | None = None, disk: str | None = None) -> Explanation:
    """Explain one recording that was read."""
    chains: list[Chain] = []
    for seen in chosen(observed, phase, disk):
        way = q.direction(seen)
        if way:
            reading = Reading("A", seen, observed.parent(seen))
            beside = [o for o in observed.observations if o.disk == seen.disk and o.phase != seen.phase]
            chains.append(chain.single(reading, way, observed.meta, beside))
    ordered = by_effect(chains)
    said = told(ordered)
    if not chains:
        said = ("No phase moved enough data to say anything about its throughput.",)
    return Explanation("recording", (subject("A", observed),), ordered, said, notes((observed,)))


def two(first: pathlib.Path, second: pathlib.Path, phase: str | None = None, disk: str | None = None) -> Explanation:
    """Explain the second recording against the first: phases of the same name of disks of the same name."""
    return of_two(observation.load(first), observation.load(second), phase, disk)


def of_two(a: Observed, b: Observed, phase: str | None = None, disk: str | None = None) -> Explanation:
    """Explain the second of two recordings that were read against the first."""
    theirs = {(seen.disk.name, seen.phase): seen for seen in chosen(b, phase, disk)}
    chains, alone = [], []
    for seen in chosen(a, phase, disk):
        other, way = theirs.get((seen.disk.name, seen.phase)), q.direction(seen)
        if other is None or way is None or q.direction(other) != way:
            alone.append(f"{seen.disk.name} {seen.phase}")
            continue
        readings = Reading("A", seen, a.parent(seen)), Reading("B", other, b.parent(other))
        chains.append(pair.chain_of(*readings, way, (a.meta, b.meta)))
    ordered = by_effect(chains)
    said = told(ordered)
    if not chains:
        said = ("The two have no phase of one name, disk and direction that moved enough data to compare.",)
    left = (f"Only in A, or the other way round in B: {', '.join(alone)}.",) if alone else ()
    return Explanation("pair", (subject("A", a), subject("B", b)), ordered, said, (*notes((a, b)), *left))
