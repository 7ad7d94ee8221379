# SPDX-License-Identifier: GPL-2.0-or-later
"""The chain of one phase of one disk: its links, what limits it, and whether readahead is the story."""

import dataclasses
from collections.abc import Mapping, Sequence

from raidtrace.explain import limits as holding
from raidtrace.explain import links_disk, links_queue
from raidtrace.explain.case import HARDLY, OUTSIDE, Case, trimmed
from raidtrace.explain.evidence import Chain, Limit, Link, Verdict, lower_initial
from raidtrace.explain.limits_events import SILENT
from raidtrace.quantity import size
from raidtrace.recording import observation
from raidtrace.recording import quantities as q
from raidtrace.recording.observation import Observation
from raidtrace.recording.quantities import Reading

NO_SETTING = ("throttled", "device", "controller", "drives")  # no setting changes these, so no experiment tries one
SURPRISING = ("throttled", "read amplification", "processor")  # causes whose evidence belongs to the first screen
SMALL = 64  # sectors of a request up to which a rate is told by requests a second first
CHAIN = ("window", "depth", "throughput")  # links that readahead's story stands or falls with


def links(readings: Sequence[Reading], direction: str) -> tuple[Link, ...]:
    """All links of one reading, or of two side by side; what its seeks cost is said of one."""
    both = readings
    first = (links_queue.setting(both), links_queue.window(both)) if direction == "read" else ()
    requests = () if any(r.seen.disk.bio_based for r in both) else (
        links_queue.splits(both, direction), links_queue.size(both, direction), links_disk.depth(both, direction),
        links_disk.busy(both),
        links_disk.throughput(both, direction), links_disk.seeks(both),
    )  # fmt: skip
    whole = not any(r.above for r in both)  # what a command asked for is not asked of one member
    spent = (links_disk.cost(both[0]),) if len(both) == 1 and requests else ()
    last = (links_disk.blame(both), *spent, *((links_disk.cache(both, direction),) if whole else ()))
    return (*first, links_queue.bios(both, direction), *requests, *last)


def title(reading: Reading, direction: str, meta: Mapping[str, str]) -> str:
    """What the chain is about."""
    where = reading.seen.settings.get("fstype") or (reading.above.settings.get("fstype", "") if reading.above else "")
    what = " ".join(word for word in (observation.program(meta), where.splitlines()[0] if where else "") if word)
    whose = (
        f" of {q.movers(reading.seen, direction) or 'others'}, beside "
        if q.foreign(reading.seen, direction)
        else ", "
        if what
        else ""
    )
    return f"{reading.seen.disk.name}, phase {reading.seen.phase} ({direction}s{whose}{what})"


def single(reading: Reading, direction: str, meta: Mapping[str, str], beside: Sequence[Observation] = ()) -> Chain:
    """One direction of a phase of one recording, without the idle time at its ends."""
    part, whole = _part(reading.seen, beside), Case(reading, direction, meta, beside)
    seen, lead, tail = trimmed(reading.seen, direction)
    reading = dataclasses.replace(reading, seen=seen)
    found = links((reading,), direction)
    held = holding.limits(reading, direction, meta, beside)
    if seen.seconds() <= HARDLY * whole.seen.seconds():
        held = holding.of_a_small_part(held, whole, seen.seconds())
    story = _story(found, held) if direction == "read" else Verdict.NOT_AVAILABLE
    told = _told(story, found) if links_queue.predicted(reading, direction) else ""
    ends = [f"{seconds:.2f} s {where}" for seconds, where in ((lead, "before the first request"), (tail, "after the last"))
            if seconds >= OUTSIDE]  # fmt: skip
    cut = (f"Left out: {' and '.join(ends)}.",) if ends else ()
    return Chain(title(reading, direction, meta), reading.seen.disk.name, reading.seen.phase, direction, story, found, held,
                 (*summary(reading, direction, told, held), *q.whose(seen, direction), *cut), part)  # fmt: skip


def _part(seen: Observation, beside: Sequence[Observation]) -> float | None:
    """Of the time of all phases of the disk."""
    whole = seen.seconds() + sum(other.seconds() for other in beside)
    return seen.seconds() / whole if whole else None


def _story(found: Sequence[Link], held: Sequence[Limit]) -> Verdict:
    """Whether readahead is what the counts say first; what they say of its chain is in the links."""
    first = held[0] if held else None
    if first is not None and first.verdict is Verdict.INFERRED:
        return Verdict.INFERRED if first.key == "readahead" else Verdict.NOT_SHOWN
    verdicts = {link.key: link.verdict for link in found}
    if Verdict.NOT_AVAILABLE in (verdicts.get(key, Verdict.NOT_AVAILABLE) for key in CHAIN):
        return Verdict.NOT_AVAILABLE
    ruled = any(limit.key == "readahead" and limit.verdict is Verdict.CONTRADICTED for limit in held)
    return Verdict.CONTRADICTED if ruled else Verdict.NOT_SHOWN


def _told(story: Verdict, found: Sequence[Link]) -> str:
    """The sentence on readahead's part; empty where the limit says it."""
    verdicts = {link.key: link.verdict for link in found}
    if story is Verdict.NOT_AVAILABLE and verdicts.get("depth") is verdicts.get("throughput") is Verdict.SHOWN:
        return "What is in flight is what readahead predicts; the windows that were read ahead were not counted."
    return "What readahead has to do with it was not recorded." if story is Verdict.NOT_AVAILABLE else ""


def summary(reading: Reading, direction: str, told: str, held: Sequence[Limit]) -> tuple[str, ...]:
    """What it comes to, in plain words. told: readahead's part, of what was read ahead."""
    rate, mean = q.mib_per_s(reading.seen, direction), q.depth_mean(reading.seen, direction)
    if reading.seen.disk.bio_based:
        return (
            f"{rate or 0:.1f} MiB/s. It has no requests of its own: what is in flight is that of the disks it is made of.",
        )
    reached = (
        _rate(reading, direction, rate or 0.0)
        + (f" with {mean:.2f} {direction}s in flight" if mean is not None else "")
        + longest(reading, direction)
    )
    inferred = [limit for limit in held if limit.verdict is Verdict.INFERRED]
    open_ = [limit for limit in held if limit.verdict is Verdict.NOT_SHOWN]
    failed = [limit.statement for limit in open_ if limit.key == "errors" or limit.remedy]  # said whatever it costs
    if not inferred:
        missing = [limit for limit in open_ if limit.key not in ("errors", "degraded")]
        why = (
            f" Open: {'; '.join(f'{lower_initial(limit.title)} ({limit.statement})' for limit in missing[:2])}."
            if missing
            else ""
        )
        return tuple(
            text
            for text in (f"The evidence does not show what limits it: {reached}.{why}", told, *_sentences(failed))
            if text
        )
    first, others = inferred[0], inferred[1:]
    proof = [first.statement] if first.key in SURPRISING else []
    also = f" Also: {', '.join(lower_initial(limit.title) for limit in others)}." if others else ""
    return tuple(
        text
        for text in (
            f"Limited by {lower_initial(first.title)}: {reached}.{also}",
            *_sentences(proof),
            _remedy(first),
            told,
            *_sentences(failed),
        )
        if text
    )


def _rate(reading: Reading, direction: str, mib_per_s: float) -> str:
    """Small requests count by their number."""
    number, size_of, seconds = (
        reading.seen.count(direction, "completed"),
        q.size_mean(reading.seen, direction),
        reading.seen.seconds(),
    )
    if not number or not size_of or size_of > SMALL or not seconds:
        return f"{mib_per_s:.1f} MiB/s"
    return f"{number / seconds:,.0f} {direction}s a second ({mib_per_s:.1f} MiB/s)"


def longest(reading: Reading, direction: str) -> str:
    """The longest time to completion of the direction, and when; or how long none was completed, where that is more: a
    command that was lost is issued again, and its time begins anew."""
    found, (silent, ended) = reading.seen.timeline.longest.get(direction), reading.seen.timeline.silence()
    if found is None or found.time_ns is None or not reading.seen.spans:
        return ""
    begin = reading.seen.spans[0][0]
    if silent > found.high_ns and silent >= SILENT * 1e9:
        return f"; no request completed for {silent / 1e9:.2f} s from {max(ended - silent - begin, 0) / 1e9:.2f} s on"
    at = (found.time_ns - begin) / 1e9
    least, most = (size.significant(bound / 1e6) for bound in (found.low_ns, found.high_ns))
    return f"; slowest request {least} to {most} ms, completed {max(at, 0):.2f} s into the phase"


def _remedy(limit: Limit) -> str:
    if not limit.remedy:
        return ""
    said = "" if limit.gain is None and limit.key in NO_SETTING else f" {limit.expected()}"
    return f"To do: {limit.remedy}.{said}"


def _sentences(texts: Sequence[str]) -> list[str]:
    return [f"{text[:1].upper()}{text[1:]}." for text in texts]
