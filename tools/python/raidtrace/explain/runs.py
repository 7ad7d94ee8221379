# SPDX-License-Identifier: GPL-2.0-or-later
"""The explanation of one recording, or of a second one compared with the first."""

import dataclasses
import json
import math
import pathlib
from collections.abc import Sequence
from typing import Any

from raidtrace.explain import chain, pair
from raidtrace.explain.evidence import Chain, Explanation, Subject, by_effect, opening
from raidtrace.recording import breakdown, invariants, observation
from raidtrace.recording import quantities as q
from raidtrace.recording import source
from raidtrace.recording.breakdown import MIN_FACTOR, Breakdown
from raidtrace.recording.columns import RecordingError
from raidtrace.recording.observation import Observation, Observed
from raidtrace.recording.quantities import Reading
from raidtrace.recording.sample_rows import Window

MAX_BELOW = 3  # disks below an md or dm disk that are named beside the busiest
SIMULATED = "Simulated: real Linux and drivers, models of the disks, simulated time."
REAL_TIME = "Simulated: real Linux and driver, a model of the controller and drives, in the real time of the host."


def subject(letter: str, observed: Observed) -> Subject:
    """The description of a recording in an explanation."""
    meta = observed.meta
    facts = [(name, meta[key]) for name, key in (("kernel", "kernel"), ("profile", "lab_profile"), ("host", "hostname"))
             if meta.get(key)]  # fmt: skip
    return Subject(letter, str(observed.path), observed.simulated(), tuple(facts))


def notes(subjects: Sequence[Observed]) -> tuple[str, ...]:
    """Notes about the whole explanation. With several recordings, a note about one of them names it."""
    texts = []
    times = {observed.meta.get("lab_time", "simulated") for observed in subjects if observed.simulated()}
    if "simulated" in times:
        texts.append(SIMULATED)
    for observed in subjects:
        name = f"{observed.path}: " if len(subjects) > 1 else ""
        if observed.simulated() and observed.meta.get("lab_time") == "real":
            texts.append(f"{name}{REAL_TIME}")
        ended, kept = observed.meta.get("end", ""), observed.meta.get("invariants", "hold")
        if ended != "complete":
            how = "its recorder still runs, or was killed" if ended == "running" else f"it ended: {ended or 'unknown'}"
            texts.append(f"{name}The recording is not complete: {how}.")
        if observed.whole:
            since, until = observed.whole
            texts.append(f"{name}Only whole samples are used: those from {since:.3f} to {until:.3f} s.")
        if observed.calls:
            since, until = observed.calls
            # Rounded outwards, so that these rows are complete in the window.
            edges = f"--from {math.floor(since * 1000) / 1000:.3f} --to {math.ceil(until * 1000) / 1000:.3f}"
            texts.append(f"{name}The command's read and write calls are not available: the recorder reads their counters once "
                         "a second, and the window begins or ends between two readings. "
                         f"To include them: {edges if until else 'a longer window'}.")  # fmt: skip
        if wrong := invariants.broken(observed.path, kept):
            texts.append(wrong)
        if lost := source.losses(source.read(observed.meta)):
            texts.append(f"{name}Events were lost ({lost}): the number in flight and times may be wrong.")
        if observed.meta.get("disturbance", "").startswith("disturbed"):
            texts.append(f"{name}Other work disturbed the recording. To list it: raidctl report.")
    return tuple(texts)


@dataclasses.dataclass(frozen=True)
class Choice:
    """The part of a recording to explain. None: everything. window: in s since the start of the recording."""

    phase: str | None = None
    disk: str | None = None
    direction: str | None = None
    window: Window | None = None


ALL = Choice()


def chosen(observed: Observed, choice: Choice = ALL) -> list[tuple[Observation, str]]:
    """The chosen phases and directions that moved enough bytes, the command's or larger direction first. Raises
    RecordingError if the recording has no phase or disk with the requested name."""
    disks = [disk.name for disk in observed.disks]
    for name, known, what in ((choice.phase, observed.names, "phase"), (choice.disk, disks, "disk")):
        if name is not None and name not in known:
            raise RecordingError(f"{observed.path}: no {what} {name}; it has: {', '.join(known) or 'none'}")
    return [
        (phase, direction)
        for phase in observed.observations
        if choice.phase in (None, phase.phase) and choice.disk in (None, phase.disk.name)
        for direction in _directions(phase)
        if choice.direction in (None, direction)
    ]


def _directions(phase: Observation) -> list[str]:
    """Directions that moved at least MIN_BYTES, the command's or the larger one first."""
    main = q.direction(phase) or "read"
    order = [main, "write" if main == "read" else "read"]
    return [direction for direction in order if (q.octets(phase, direction) or 0) >= q.MIN_BYTES]


def breakdowns(observed: Observed, choice: Choice, letter: str = "") -> tuple[Breakdown, ...]:
    """Where the time of each chosen phase and disk went. letter: of the recording, if there are two."""
    found = [
        breakdown.of(phase.span, phase.seconds(), _around(observed, phase))
        for phase in observed.observations
        if choice.phase in (None, phase.phase) and choice.disk in (None, phase.disk.name)
    ]
    return tuple(dataclasses.replace(each, subject=letter) for each in found if each)


def below(observed: Observed, phase: Observation) -> str:
    """A sentence about the time of the disks that an md or dm disk consists of: which of several it waits for. Empty: the
    disk has requests, or the time of a disk below it was not counted."""
    disks = [other for other in observed.observations
             if other.phase == phase.phase and other.disk.parent == phase.disk.target]  # fmt: skip
    times = [(one.busy_share, disk.disk.name) for disk in disks
             if (one := breakdown.of(disk.span, disk.seconds())) and one.busy_share is not None]  # fmt: skip
    if not phase.disk.bio_based or not times or len(times) < len(disks):
        return ""
    (most, first), *others = sorted(times, reverse=True)
    rest = [f"{name} for {q.percent(share)}" for share, name in others[:MAX_BELOW]]
    rest += [f"{len(others) - MAX_BELOW} more for less"] if len(others) > MAX_BELOW else []
    text = (
        f"Of the disks below it, {first} is busy for {q.percent(most)} of the time{''.join(f', {one}' for one in rest)}"
    )
    if others and most > MIN_FACTOR * max(share for share, _ in others):
        text = f"{text}: {phase.disk.name} waits for {first}"
    return f"{text}."


def _around(observed: Observed, phase: Observation) -> breakdown.Around:
    others = [other.span for other in observed.observations if other.phase == phase.phase and other.disk != phase.disk
              and other.disk.target != phase.disk.parent and other.disk.parent != phase.disk.target]  # fmt: skip
    return breakdown.Around(phase.host, observed.meta.get("host_available", "").split(), others)


def one(path: pathlib.Path, choice: Choice = ALL) -> Explanation:
    return of_one(observation.load(path, choice.window), choice)


def of_one(observed: Observed, choice: Choice = ALL) -> Explanation:
    """The explanation of a loaded recording."""
    chains: list[Chain] = []
    # The disks at the top of a stack come first: md and dm have no requests that could show a cause.
    for phase, direction in sorted(chosen(observed, choice), key=lambda one: bool(one[0].disk.bio_based)):
        reading = Reading("A", phase, observed.parent(phase))
        siblings = [o for o in observed.observations if o.disk == phase.disk and o.phase != phase.phase]
        made = chain.single(reading, direction, observed.meta, siblings)
        if sentence := below(observed, phase):
            made = dataclasses.replace(made, summary=(*made.summary, sentence))
        chains.append(made)
    ordered = by_effect(chains)
    lines = tuple(map(Chain.text, ordered))
    if not chains:
        lines = ("No phase moved enough data to explain its throughput.",)
    rows = opening(observed.names, ordered)
    return Explanation(
        "recording", (subject("A", observed),), ordered, lines, notes((observed,)), tested(observed.path), rows,
        breakdowns(observed, choice),
    )  # fmt: skip


def two(first: pathlib.Path, second: pathlib.Path, choice: Choice = ALL) -> Explanation:
    """The explanation of a second recording compared with the first. Phases and disks are matched by name."""
    return of_two(observation.load(first, choice.window), observation.load(second, choice.window), choice)


def of_two(a: Observed, b: Observed, choice: Choice = ALL) -> Explanation:
    """The explanation of a second loaded recording compared with the first."""
    theirs = {(phase.disk.name, phase.phase, direction): phase for phase, direction in chosen(b, choice)}
    chains, alone = [], []
    for phase, direction in chosen(a, choice):
        other = theirs.get((phase.disk.name, phase.phase, direction))
        if other is None:
            alone.append(f"{phase.disk.name} {phase.phase} ({direction}s)")
            continue
        readings = Reading("A", phase, a.parent(phase)), Reading("B", other, b.parent(other))
        chains.append(pair.chain_of(*readings, direction, (a.meta, b.meta)))
    ordered = by_effect(chains)
    lines = tuple(map(Chain.text, ordered))
    if not chains:
        lines = ("The recordings have no phase with the same name, disk and direction that moved enough data.",)
    left = (f"Only in A: {', '.join(alone)}.",) if alone else ()
    times = (*breakdowns(a, choice, "A"), *breakdowns(b, choice, "B"))
    return Explanation(
        "pair", (subject("A", a), subject("B", b)), ordered, lines, (*notes((a, b)), *left), breakdowns=times
    )


# The table of an experiment of raidctl why, which explain reports as tested. It is a file in the directory of the
# experiment; the recordings are in directories below.

EXPERIMENT, CHANGE = "why.json", "change"
AS_IT_IS = "as it is"
FORMAT = 1
MAX_BYTES = 1 << 22  # a table has some tens of rows


def write_experiment(directory: pathlib.Path, text: str) -> None:
    """Write the table of an experiment. The file is replaced in one step, so a reader gets the old one or
    the new one."""
    new = directory / f".{EXPERIMENT}.new"
    new.write_text(text + "\n", encoding="utf-8")
    new.replace(directory / EXPERIMENT)


def experiment_of(recording: pathlib.Path) -> dict[str, Any] | None:
    """The table of the experiment that has this recording as its baseline. None: there is none, or it is unreadable.
    Runs with a change have no such table, because its results do not apply to them."""
    path = recording.parent.parent / EXPERIMENT
    try:
        change = (recording.parent / CHANGE).read_text(encoding="utf-8")
        if not change.startswith(AS_IT_IS) or path.stat().st_size > MAX_BYTES:
            return None
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) and document.get("format") == FORMAT else None


def tested(recording: pathlib.Path) -> str:
    """The verdict of the experiment as a sentence, with the commands to type. Empty: there is none."""
    verdict = (experiment_of(recording) or {}).get("verdict")
    if not isinstance(verdict, dict) or not isinstance(verdict.get("sentence"), str):
        return ""
    commands = [word for word in verdict.get("commands", ()) if isinstance(word, str)]
    text = verdict["sentence"] + (f" Type: {'; '.join(commands)}" if commands else "")
    return "".join(letter if letter.isprintable() else "?" for letter in text)
