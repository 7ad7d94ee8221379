# SPDX-License-Identifier: GPL-2.0-or-later
"""The check that the numbers of a recording agree with each other.

It runs each time a recording is read: the result that the recorder wrote would stay "hold" after a later change of a
number. libraidtrace/counters.c checks a span during the recording."""

import dataclasses
import pathlib
from collections.abc import Mapping

from raidtrace.recording import spans
from raidtrace.recording.columns import RecordingError
from raidtrace.recording.sample_rows import SampleRows, opened
from raidtrace.recording.spans import COUNTED, DATA, NEVER, Recorded, Span

HOLD = "hold"
# Counters of hardware queues, and the counters of directions with the same sum.
HWQ = (
    ("issued", ("issued",), ("issued",)),
    ("completed", ("completed_same_cpu", "completed_other_cpu", "completed_other_node"), ("completed",)),
    ("returned", ("returned",), ("requeued", "abandoned")),
)
_UNCOUNTED = """
SELECT target, SUM(unmatched), SUM(CASE WHEN start_ns < first + 1000000000 THEN unmatched ELSE 0 END),
       SUM(completed + unmatched)
FROM sample JOIN flow USING (sample)
JOIN (SELECT target, MIN(start_ns) AS first FROM sample GROUP BY target) USING (target)
WHERE direction IN ('read', 'write') GROUP BY target HAVING SUM(unmatched) > 0
"""


def load(path: pathlib.Path, phase: str | None = None) -> Recorded:
    """Read a recording, or its phases of one name. Raises RecordingError: it cannot be read, or has no such phase."""
    with opened(path) as rows:
        return read(path, rows, phase)


def read(path: pathlib.Path, rows: SampleRows, phase: str | None = None) -> Recorded:
    """Read an open recording, or its phases of one name. Raises RecordingError: it has no such phase."""
    recorded = judged(spans.read(path, rows), rows)
    return recorded if phase is None else of_phase(recorded, phase)


def of_phase(recorded: Recorded, phase: str) -> Recorded:
    """The recording with the spans of one phase only. Raises RecordingError: it has no phase of this name."""
    chosen = tuple(span for span in recorded.spans if span.phase == phase)
    if not chosen:
        raise RecordingError(f"{recorded.path}: no phase {phase}; to list its phases: raidctl report {recorded.path}")
    return dataclasses.replace(recorded, spans=chosen)


def judged(recorded: Recorded, rows: SampleRows) -> Recorded:
    """The recording with the fact `invariants` as verified now."""
    result = verdict(recorded, rows)
    return recorded if result is None else dataclasses.replace(recorded, meta=recorded.meta | {"invariants": result})


def verdict(recorded: Recorded, rows: SampleRows) -> str | None:
    """HOLD, or the first invariant that does not hold. A failure that the recorder reported is returned unchanged.
    None: there are no spans and the recorder reported nothing."""
    stored = recorded.meta.get("invariants")
    if (stored is not None and stored != HOLD) or (stored is None and not recorded.spans):
        return stored
    negative = rows.execute("SELECT sample FROM sample WHERE end_ns < start_ns LIMIT 1").fetchone()
    if negative:
        return f"a counter of sample {negative[0]} is negative"
    for span in recorded.spans:
        if wrong := _span(recorded, span):
            return f"{span.disk}: {wrong}"
    return _uncounted(recorded, rows) or HOLD


def broken(name: object, result: str | None) -> str:
    """The sentence that an invariant of `name` does not hold. Empty: all hold, or there is no sample."""
    return "" if result in (None, "", HOLD) else f"{name}: an invariant of the counters does not hold: {result}."


def _tags(recorded: Recorded, target: int) -> int:
    """The limit of requests in flight of the disk's driver. 0: not known."""
    targets = [one for one in recorded.targets if one.target == target]
    return (targets[0].nr_tags or 0) * (targets[0].nr_hw_queues or 0) if targets else 0


def _span(recorded: Recorded, span: Span) -> str:
    """The first contradiction in a span. Empty: none."""
    tags = _tags(recorded, span.target)
    before = [other for other in recorded.spans
              if other.target == span.target and other.end_ns == span.start_ns and other is not span]  # fmt: skip
    if before:
        in_flight: Mapping[str, int] = {d: before[-1].count(d, "in_flight") for d in (*COUNTED, "all")}
        wrong = ""
    else:
        in_flight, wrong = _possible_before(span, tags)
    now = span.count("all", "in_flight")
    if wrong or (wrong := _unbalanced(span, in_flight)):
        return wrong
    if tags and "in_flight" not in span.unknown and now > tags:
        return f"{now} requests are in flight, but the disk has only {tags} tags"
    return ""


def _left(span: Span, direction: str) -> int:
    """Number of requests that completed, were requeued or abandoned, or are in flight at the end of the span."""
    return sum(span.count(direction, name) for name in ("completed", "requeued", "abandoned", "in_flight"))


def _possible_before(span: Span, tags: int) -> tuple[Mapping[str, int], str]:
    """The requests in flight at the start of the span, by direction, computed from its counters; and a contradiction or
    ""."""
    if span.unknown & NEVER:
        return {}, ""
    before = {}
    for direction in COUNTED:
        issued, out = span.count(direction, "issued"), _left(span, direction)
        if out < issued:
            return {}, f"{direction}: {issued} requests were issued, but only {out} ended or are in flight"
        before[direction] = out - issued
    whole = before["all"] = sum(before.values())
    if tags and whole > tags:
        return {}, f"{whole} more requests ended than were issued, but the disk has only {tags} tags"
    return before, ""


def _unbalanced(span: Span, before: Mapping[str, int]) -> str:
    """The first wrong sum of a span's counters. Empty: none."""
    for direction in () if span.unknown & NEVER else (*COUNTED, "all"):
        each = COUNTED if direction == "all" else (direction,)
        came = before.get(direction, 0) + sum(span.count(d, "issued") for d in each)
        left = span.count(direction, "in_flight") + sum(_left(span, d) - span.count(d, "in_flight") for d in each)
        if came != left:
            return (f"{direction}: issued + in flight before = {came}, but completed + requeued + abandoned + in "
                    f"flight after = {left}")  # fmt: skip
    for name, of_queue, of_flow in HWQ if "hwq" in span.groups and not span.unknown & NEVER else ():
        queues = sum(counts[one] for counts in span.hwqs.values() for one in of_queue)
        due = sum(span.count(direction, one) for direction in COUNTED for one in of_flow)
        if queues != due:
            return f"hardware queues: {queues} requests {name}, but {due} in all directions"
    sums = []
    if not span.groups or "size" in span.groups:
        sums += [(d, "size", span.count(d, "issued") - span.count(d, "reissued")) for d in DATA]
    if "in_flight" not in span.unknown and (not span.groups or "depth" in span.groups):
        sums += [(d, "depth_time", span.length()) for d in (*DATA, "all")]
    for direction, kind, due in sums:
        whole = sum(span.histogram(direction, kind).values())
        if whole != due:
            return f"{direction}: {kind} histogram sums to {whole} instead of {due}"
    return ""


def _uncounted(recorded: Recorded, rows: SampleRows) -> str:
    """A sentence about reads and writes that completed although their issue was not counted. Empty: not too many.

    Requests that were in flight at attach are allowed. A recorder before 1.1 did not store their number: there,
    requests that completed in the first second are allowed."""
    if "unmatched" not in rows.columns("flow"):
        return ""
    for target, uncounted, early, ended in rows.execute(_UNCOUNTED):
        noted, tags = recorded.setting(target, "in_flight_at_attach"), _tags(recorded, target)
        begun = int(noted) if noted is not None and noted.isdecimal() else min(early, tags) if tags else early
        if uncounted > begun:
            return (f"{recorded.disk(target)}: the issue of {uncounted} of {ended} reads and writes was not counted (at most "
                    f"{begun} were in flight when counting began): rates and requests in flight are too low")  # fmt: skip
    return ""
