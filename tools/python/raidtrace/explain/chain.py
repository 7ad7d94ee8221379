# SPDX-License-Identifier: GPL-2.0-or-later
"""The chain of one phase of one disk: its links, its limits, and whether readahead explains the throughput."""

import dataclasses
from collections.abc import Mapping, Sequence

from raidtrace.explain import constants as k
from raidtrace.explain import limits as holding
from raidtrace.explain import steps
from raidtrace.explain.case import Case, trimmed
from raidtrace.explain.evidence import Chain, Limit, Link, Verdict, lower_initial
from raidtrace.quantity import units
from raidtrace.recording import observation
from raidtrace.recording import quantities as q
from raidtrace.recording.observation import Observation
from raidtrace.recording.quantities import Reading

# No setting changes these limits, so no experiment tries one.
NO_SETTING = ("throttled", "device", "controller", "drives", "reset")
NEED_EVIDENCE = ("throttled", "read amplification", "processor")  # causes with their evidence in the summary
READAHEAD_LINKS = ("window", "depth", "throughput")  # if one of these is not available, readahead explains nothing


def links(readings: Sequence[Reading], direction: str) -> tuple[Link, ...]:
    """All links of one reading, or of two readings side by side. Only a single reading has a link for the cost of its
    seeks."""
    both = readings
    first = (steps.setting(both), steps.window(both)) if direction == "read" else ()
    requests = () if any(r.phase.disk.bio_based for r in both) else (
        steps.splits(both, direction), steps.size(both, direction), steps.depth(both, direction),
        steps.busy(both),
        steps.throughput(both, direction), steps.seeks(both),
    )  # fmt: skip
    whole = not any(r.above for r in both)  # a member serves only a part of the bytes that a command requests
    spent = (steps.cost(both[0]),) if len(both) == 1 and requests else ()
    last = (steps.blame(both), *spent, *((steps.cache(both, direction),) if whole else ()))
    return (*first, steps.bios(both, direction), *requests, *last)


def title(reading: Reading, direction: str, meta: Mapping[str, str]) -> str:
    """The disk, the phase and the direction of the chain."""
    where = reading.phase.settings.get("fstype") or (reading.above.settings.get("fstype", "") if reading.above else "")
    what = " on ".join(word for word in (observation.program(meta), where.splitlines()[0] if where else "") if word)
    owner = (
        f" of {q.movers(reading.phase, direction) or 'others'}, next to "
        if q.foreign(reading.phase, direction)
        else ", "
        if what
        else ""
    )
    return f"{reading.phase.disk.name}, phase {reading.phase.phase} ({direction}s{owner}{what})"


def single(reading: Reading, direction: str, meta: Mapping[str, str], siblings: Sequence[Observation] = ()) -> Chain:
    """The chain of one direction of a phase of one recording, without the idle time at its ends."""
    part, whole = _part(reading.phase, siblings), Case(reading, direction, meta, siblings)
    phase, lead, tail = trimmed(reading.phase, direction)
    reading = dataclasses.replace(reading, phase=phase)
    of_chain = links((reading,), direction)
    limits = holding.limits(reading, direction, meta, siblings)
    if phase.seconds() <= k.WORTH * whole.phase.seconds():
        limits = holding.of_a_small_part(limits, whole, phase.seconds())
    story = _story(of_chain, limits) if direction == "read" else Verdict.NOT_AVAILABLE
    ahead = _ahead_text(story, of_chain) if steps.predicted(reading, direction) else ""
    ends = [f"{seconds:.2f} s {where}" for seconds, where in ((lead, "before the first request"), (tail, "after the last"))
            if seconds >= k.MIN_EDGE_IDLE_S]  # fmt: skip
    cut = (f"Left out: {' and '.join(ends)}.",) if ends else ()
    sentences = (*summary(reading, direction, ahead, limits), *q.foreign_text(phase, direction), *cut)
    return Chain(title(reading, direction, meta), phase.disk.name, phase.phase, direction, story, of_chain, limits, sentences,
                 part)  # fmt: skip


def _part(phase: Observation, siblings: Sequence[Observation]) -> float | None:
    """The phase's share of the time of all phases of the disk, from 0 to 1. None: they took no time."""
    whole = phase.seconds() + sum(other.seconds() for other in siblings)
    return phase.seconds() / whole if whole else None


def _story(steps: Sequence[Link], limits: Sequence[Limit]) -> Verdict:
    """Whether the counters show readahead as the first limit. The verdicts of the links tell whether it was counted at
    all."""
    first = limits[0] if limits else None
    if first is not None and first.verdict is Verdict.INFERRED:
        return Verdict.INFERRED if first.key == "readahead" else Verdict.NOT_SHOWN
    verdicts = {link.key: link.verdict for link in steps}
    if Verdict.NOT_AVAILABLE in (verdicts.get(key, Verdict.NOT_AVAILABLE) for key in READAHEAD_LINKS):
        return Verdict.NOT_AVAILABLE
    ruled = any(limit.key == "readahead" and limit.verdict is Verdict.CONTRADICTED for limit in limits)
    return Verdict.CONTRADICTED if ruled else Verdict.NOT_SHOWN


def _ahead_text(story: Verdict, steps: Sequence[Link]) -> str:
    """The sentence about the effect of readahead. Empty: the limits already contain it."""
    verdicts = {link.key: link.verdict for link in steps}
    if story is Verdict.NOT_AVAILABLE and verdicts.get("depth") is verdicts.get("throughput") is Verdict.SHOWN:
        return "The number in flight is the one that readahead predicts; the readahead windows were not counted."
    return "The recording does not show the effect of readahead." if story is Verdict.NOT_AVAILABLE else ""


def summary(reading: Reading, direction: str, ahead: str, limits: Sequence[Limit]) -> tuple[str, ...]:
    """The sentences of the summary. ahead: the sentence about the effect of readahead, or an empty text."""
    rate, mean = q.mib_per_s(reading.phase, direction), q.depth_mean(reading.phase, direction)
    if reading.phase.disk.bio_based:
        of = "It receives only bios; requests and their number in flight are counted at the disks below it."
        return (f"{rate or 0:.1f} MiB/s. {of}",)
    mean_text = f" with {mean:.2f} {direction}s in flight" if mean is not None else ""
    reached = f"{_rate(reading, direction, rate or 0.0)}{mean_text}{longest(reading, direction)}"
    inferred = [limit for limit in limits if limit.verdict is Verdict.INFERRED]
    open_ = [limit for limit in limits if limit.verdict is Verdict.NOT_SHOWN]
    failed = [limit.statement for limit in open_ if limit.key == "errors" or limit.remedy]  # whatever they cost
    if inferred:
        first, *others = inferred
        also = f" Also: {', '.join(lower_initial(limit.title) for limit in others)}." if others else ""
        proof = [first.statement] if first.key in NEED_EVIDENCE else []
        lines = [f"Limited by {lower_initial(first.title)}: {reached}.{also}", *_sentences(proof), _remedy(first)]
    else:
        missing = [limit for limit in open_ if limit.key not in ("errors", "degraded")][:2]
        why = "; ".join(f"{lower_initial(limit.title)} ({limit.statement})" for limit in missing)
        lines = [f"The evidence does not show what limits it: {reached}.{f' Open: {why}.' if why else ''}"]
    return tuple(filter(None, (*lines, ahead, *_sentences(failed))))


def _rate(reading: Reading, direction: str, mib_per_s: float) -> str:
    """The rate as text: in requests per second and MiB/s for small requests, else in MiB/s."""
    number, size_of, seconds = (
        reading.phase.count(direction, "completed"),
        q.size_mean(reading.phase, direction),
        reading.phase.seconds(),
    )
    if not number or not size_of or size_of > k.MAX_IOPS_SECTORS or not seconds:
        return f"{mib_per_s:.1f} MiB/s"
    return f"{number / seconds:,.0f} {direction}s a second ({mib_per_s:.1f} MiB/s)"


def longest(reading: Reading, direction: str) -> str:
    """The slowest request of a direction and its time, as a clause; empty: not recorded.

    If no request completed for longer than this, the clause reports that silence instead: a lost command is issued
    again, and its time starts at 0 again."""
    slowest, (silent, ended) = reading.phase.timeline.longest.get(direction), reading.phase.timeline.silence()
    if slowest is None or slowest.time_ns is None or not reading.phase.spans:
        return ""
    begin = reading.phase.begin_ns
    if silent > slowest.high_ns and silent >= k.MIN_SILENT_S * 1e9:
        return f"; no request completed for {silent / 1e9:.2f} s from {max(ended - silent - begin, 0) / 1e9:.2f} s on"
    at = (slowest.time_ns - begin) / 1e9
    least, most = (units.significant(bound / 1e6) for bound in (slowest.low_ns, slowest.high_ns))
    return f"; slowest request {least} to {most} ms, completed {max(at, 0):.2f} s into the phase"


def _remedy(limit: Limit) -> str:
    if not limit.remedy:
        return ""
    expected = "" if limit.gain is None and limit.key in NO_SETTING else f" {limit.expected()}"
    return f"To do: {limit.remedy}.{expected}"


def _sentences(texts: Sequence[str]) -> list[str]:
    return [f"{text[:1].upper()}{text[1:]}." for text in texts]
