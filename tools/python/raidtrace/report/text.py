# SPDX-License-Identifier: GPL-2.0-or-later
"""Quantities as a report writes them, and the first sentences of it. Every number says which row of which table it is from."""

import dataclasses

from raidtrace.quantity import shown
from raidtrace.recording import quantities as q
from raidtrace.recording.overview import Overview, Span

NOT_AVAILABLE = "n/a"
LONGEST = 4000


@dataclasses.dataclass(frozen=True)
class Cell:
    """A cell of a table. key: what it is sorted by; None for text, and for what is not available."""

    text: str
    key: float | None = None


@dataclasses.dataclass(frozen=True)
class Sentence:
    """A sentence of the summary. row: id of the row of a table that its numbers are from, empty when there is none."""

    text: str
    row: str = ""


def printable(text: str, longest: int = LONGEST) -> str:
    """Text of unknown origin: what would not be seen, or would turn the order of what follows, is shown as its number."""
    return shown.lines(text[:longest]) + ("" if len(text) <= longest else " ...")


def number(value: float | None, digits: int = 0) -> Cell:
    """A number with digits grouped; None: not available."""
    return Cell(NOT_AVAILABLE) if value is None else Cell(f"{value:,.{digits}f}", float(value))


def row_id(letter: str, disk: str, phase: int | str) -> str:
    """Id of the row of a phase of a disk in the recording with that letter."""
    safe = "".join(c if c.isalnum() and c.isascii() else f"_{ord(c):x}_" for c in f"{disk}-{phase}")
    return f"row-{letter}-{safe}"


def rate_mib(span: Span, direction: str) -> float | None:
    """MiB/s completed or, of a disk without requests, queued. None: not counted, or a span without length."""
    counter = "bytes_queued" if span.target.bio_based else "bytes_completed"
    if counter in span.counters.unknown or span.counters.seconds() <= 0:
        return None
    return span.counters.count(direction, counter) / span.counters.seconds() / (1 << 20)


def opening(overview: Overview, letter: str, several: bool) -> list[Sentence]:
    """What was recorded, and for each disk its busiest phase."""
    time = "real time" if overview.recording.meta.get("lab_time") == "real" else "simulated time"
    simulated = f"Simulated: a model array in {time}. " if overview.simulated() else ""
    seconds = (overview.end_ns() - overview.begin_ns()) / 1e9
    names = ", ".join(printable(target.disk, 40) for target in overview.recording.targets)
    phases = [phase.name for phase in overview.recording.phases if phase.name != "outside"]
    what = f"Recording {letter}: " if several else ""
    text = f"{what}{simulated}{seconds:,.1f} s of {names} in {len(phases)} phases were recorded."
    counts = (flow for span in overview.spans() for flow in span.counters.flow.values())
    moved = any(flow.get("queued") or flow.get("issued") for flow in counts)  # or there is no table of phases
    sentences = [Sentence(text, f"phases-{letter}" if moved else "")]
    for target in overview.recording.targets:
        spans = [span for span in overview.spans() if span.target == target and _bytes(span)]
        if spans:
            sentences.append(_busiest(max(spans, key=_bytes), letter, what))
    return sentences


def _bytes(span: Span) -> int:
    counter = "bytes_queued" if span.target.bio_based else "bytes_completed"
    return sum(flow.get(counter, 0) for flow in span.counters.flow.values())


def _busiest(span: Span, letter: str, what: str) -> Sentence:
    counters = span.counters
    direction = max(("read", "write"), key=lambda one: rate_mib(span, one) or 0.0)
    rate, depth, mode = rate_mib(span, direction), counters.inflight_mean(direction), counters.size_mode(direction)
    said = [f"{what}{printable(span.target.disk, 40)} moved most in phase {printable(span.phase.name, 40)}: "
            f"{direction}s at {rate or 0:,.2f} MiB/s"]  # fmt: skip
    if depth is not None:
        said.append(f"{depth:.2f} in flight on average")
    if mode is not None:
        said.append(f"most requests of {q.kib(mode[0])} ({100 * mode[1]:.0f} %)")
    issued, unknown = counters.flow.get(direction, {}).get("issued"), counters.unknown
    if issued and "sequential" not in unknown:
        said.append(f"{100 * counters.count(direction, 'sequential') / issued:.1f} % of all sequential")
    return Sentence(", ".join(said) + ".", row_id(letter, span.target.disk, span.phase.phase))
