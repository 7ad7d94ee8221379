# SPDX-License-Identifier: GPL-2.0-or-later
"""Quantities as a report writes them, and the first sentences of it. Every number says which row of which table it is from."""

import dataclasses

from raidtrace.quantity import shown, units
from raidtrace.recording.figures import Figures
from raidtrace.recording.spans import DATA, OUTSIDE, Recorded, Span

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


def opening(recorded: Recorded, letter: str, several: bool) -> list[Sentence]:
    """What was recorded, and for each disk its busiest phase."""
    time = "real time" if recorded.fact("lab_time") == "real" else "simulated time"
    simulated = f"Simulated: models of the disks, in {time}. " if recorded.simulated() else ""
    seconds = (recorded.end_ns() - recorded.begin_ns()) / 1e9
    names = ", ".join(printable(target.disk, 40) for target in recorded.targets)
    phases = [phase.name for phase in recorded.phases if phase.name != OUTSIDE]
    what = f"Recording {letter}: " if several else ""
    text = (
        f"{what}{simulated}{seconds:,.1f} s of {names} in {len(phases)} phase{units.plural(len(phases))} were recorded."
    )
    counts = (flow for span in recorded.spans for flow in span.flow.values())
    moved = any(flow["queued"] or flow["issued"] for flow in counts)  # or there is no table of phases
    sentences = [Sentence(text, f"phases-{letter}" if moved else "")]
    for target in recorded.targets:
        spans = [span for span in recorded.spans if span.target == target.target and _bytes(span)]
        if spans:
            sentences.append(_busiest(max(spans, key=_bytes), letter, what))
    return sentences


def _bytes(span: Span) -> int:
    return sum(Figures(span, direction).moved() or 0 for direction in span.flow)


def _busiest(span: Span, letter: str, what: str) -> Sentence:
    both = [Figures(span, direction) for direction in DATA]
    figures = max(both, key=lambda one: one.throughput() or 0.0)
    sectors, mode, sequential = figures.exact_size_mode(), figures.size_mode, figures.sequential_share()
    said = [f"{what}{printable(span.disk, 40)} moved most in phase {printable(span.phase, 40)}: "
            f"{figures.direction}s at {figures.throughput() or 0:,.2f} MiB/s"]  # fmt: skip
    if figures.depth() is not None and not figures.depth_is_bound():
        said.append(f"{figures.depth():.2f} in flight on average")
    if sectors is not None and mode is not None:
        share = 100 * mode[1] / sum(figures.histogram("size").values())
        said.append(f"most requests of {units.octets(sectors * units.SECTOR_BYTES)} ({share:.0f} %)")
    if sequential is not None:
        said.append(f"{100 * sequential:.1f} % of all sequential")
    return Sentence(", ".join(said) + ".", row_id(letter, span.disk, span.number))
