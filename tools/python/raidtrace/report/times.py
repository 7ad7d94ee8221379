# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the time of each phase went, on the page: a bar and the sentences of the text for each phase and disk, and charts
of the rate by depth and the time by size and distance.

Bars and points are SVG that stretches with the page. All words are HTML. A chart is a table with a point in each row, so it
needs no other text for screen readers.
"""

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import markupsafe

from raidtrace.explain import breakdown
from raidtrace.quantity import units
from raidtrace.recording.breakdown import Breakdown, Interval, Row, Way, differ
from raidtrace.report.multiples import DECADES
from raidtrace.report.rows import printable

SHOWN = 4  # rows before the others are folded
HIGH = 8.0  # of a bar that is 100 wide


@dataclasses.dataclass(frozen=True)
class Mark:
    """A row of a chart: its name, the point with its interval, and the value. interval: as text, if the value is the mean."""

    name: str
    svg: markupsafe.Markup
    value: str
    interval: str


@dataclasses.dataclass(frozen=True)
class Chart:
    """The rates or times of a direction. of: what the rows differ in. unit: of the values. low, top: ends of the scale."""

    caption: str
    direction: str
    of: str
    unit: str
    low: str
    top: str
    marks: Sequence[Mark]


@dataclasses.dataclass(frozen=True)
class TimeRow:
    """One phase of one disk. name: both, and the length. rates: of each direction. shares: of the states, as text; empty:
    not available. bar: their picture; label: the same for screen readers. sentences: the other figures, without those of
    the charts."""

    name: str
    rates: str
    shares: Sequence[tuple[str, str]]
    bar: markupsafe.Markup
    label: str
    sentences: Sequence[str]
    charts: Sequence[Chart]


def build(some: Iterable[Breakdown]) -> list[TimeRow]:
    """The rows of all breakdowns, in their order."""
    return [_row(one) for one in some]


def _row(one: Breakdown) -> TimeRow:
    name, some = printable(breakdown.name(one), 200), [*breakdown.states(one)]
    named = [(state, f"{state} {text}{', ' if remark else ''}{remark}") for state, text, _, remark in some]
    label = f"Share of the time of {name}: {'; '.join(text for _, text in named)}"
    sentences = [
        printable(f"{label}{'' if label.endswith(' takes') or not label else ':'} {text}".strip())
        for label, text in breakdown.rows(one)
    ]
    return TimeRow(name, printable(breakdown.rates(one), 400), named, _svg(one.states), label,
                   [f"{text[:1].upper()}{text[1:]}" for text in sentences], [*charts(one)])  # fmt: skip


def _svg(states: Mapping[str, float]) -> markupsafe.Markup:
    """The bar. Empty: the shares are not known."""
    if not states:
        return markupsafe.Markup("")
    parts, at = [], 0.0
    for state, share in states.items():
        if share > 0:
            parts.append(
                f'<rect class="{state}" x="{round(at, 2):g}" width="{round(100 * share, 2):g}" height="{HIGH:g}"/>'
            )
        at += 100 * share
    return markupsafe.Markup(
        f'<svg viewBox="0 0 100 {HIGH:g}" preserveAspectRatio="none" aria-hidden="true">{"".join(parts)}</svg>'
    )


def charts(one: Breakdown) -> Iterator[Chart]:
    """The charts of each direction: the rates at two depths or more, and the times by size and distance that differ."""
    for way in breakdown.answered(one):
        if len(way.levels) > 1:
            rates = [(breakdown.at(level), None, level.per_s, breakdown.span(level.per_s)) for level in way.levels]
            names = breakdown.NAMES[way.direction][1]
            yield _chart(way, f"Rate of {names} by depth", "in flight", f"{names} a second", breakdown.number, rates)
        for rows, of, name in ((way.sizes, "size", breakdown.size), (way.distances, "distance", _distance)):
            if differ(rows):
                caption = f"Time of {breakdown.NAMES[way.direction][0]} by {of}, {breakdown.where(one)}"
                times = [(name(row), row.mean_ns, row.d2c_ns, units.ns(row.mean_ns)) for row in rows]
                yield _chart(way, printable(caption, 100), of, "mean d2c", units.ns, times)


def _distance(row: Row) -> str:
    return " ".join(breakdown.place(row)).strip()


_Values = Sequence[tuple[str, float | None, Interval, str]]  # of each row: name, mean, interval, text


def _chart(way: Way, caption: str, of: str, unit: str, text: Callable[[float], str], values: _Values) -> Chart:
    """A chart of some values. Its scale begins at 0, or is logarithmic if they differ much."""
    top = max(end for _, _, part, _ in values for end in (part.low, part.high) if not math.isinf(end))
    points = [part.low if mean is None else mean for _, mean, part, _ in values]
    low, least = 0.0, min(points)
    if least and max(points) >= DECADES * least:
        low, top = (10.0 ** end(math.log10(value)) for end, value in ((math.floor, least), (math.ceil, top)))

    def x(value: float) -> float:
        share = math.log(max(value, low) / low) / math.log(top / low) if low else value / top
        return round(100 * min(share, 1.0), 1)

    lines = [low * 10**at for at in range(round(math.log10(top / low)) + 1)] if low else [0.0, top / 2, top]
    grid = "".join(f"M{x(value):g} 0V{HIGH:g}" for value in lines)
    marks = []
    for name, mean, part, value in values:
        of_line = "interval" if mean is None else "whisker"
        paths = f'<path class="grid" d="{grid}"/><path class="{of_line}" d="M{x(part.low):g} {HIGH / 2:g}H{x(part.high):g}"/>'
        paths += "" if mean is None else f'<path class="mean" d="M{x(mean):g} {HIGH / 2:g}h0"/>'
        svg = markupsafe.Markup(
            f'<svg viewBox="0 0 100 {HIGH:g}" preserveAspectRatio="none" aria-hidden="true">{paths}</svg>'
        )
        ends = "" if mean is None else f"{text(part.low)} to {text(part.high)}"
        marks.append(Mark(name, svg, value, ends))
    scale = ", logarithmic" if low else ""
    return Chart(f"{caption}{scale}", way.direction, of, unit, text(low) if low else "0", text(top), marks)
