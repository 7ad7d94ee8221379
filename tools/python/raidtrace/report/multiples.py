# SPDX-License-Identifier: GPL-2.0-or-later
"""Small pictures of each phase: throughput, in flight and latency, each with the same scale for all phases.

A picture begins at the start of its phase, so the same phase of two recordings can be compared. The curves are SVG that
stretches with the page. All words are HTML.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence

import markupsafe
import numpy

from raidtrace.explain.evidence import Explanation
from raidtrace.plot.recording import PANELS, values
from raidtrace.quantity import units
from raidtrace.quantity.shown import visible
from raidtrace.recording.figures import Figures
from raidtrace.recording.series import Floats
from raidtrace.recording.spans import DATA, OUTSIDE, Recorded, Span
from raidtrace.report import tables
from raidtrace.report.rows import NOT_AVAILABLE, Cell, printable

MAX_PHASES = 16  # phases with pictures
WIDE, HIGH, EDGE = 240.0, 64.0, 1.5  # size of a picture, and margin for half of a line's width
DECADES = 30.0  # with a larger ratio between phases, a scale is logarithmic
MAX_DECADES = 1e3  # a smaller value is drawn at the lower edge
NAMES = ("throughput", "in flight", "latency")
UNITS = dict(zip(PANELS, ("MiB/s", "", "ms"), strict=True))


@dataclasses.dataclass(frozen=True)
class Panel:
    """One picture. values: class and mean of each curve, as text. label: the same for screen readers."""

    values: Sequence[tuple[str, str]]
    label: str
    svg: markupsafe.Markup


@dataclasses.dataclass(frozen=True)
class PhasePictures:
    """A row: a phase of the disk. end: seconds at the right end of its pictures. chain: id of the chain of its
    sentence."""

    name: str
    length: str
    sentence: str
    panels: Sequence[Panel]
    end: str
    chain: str


@dataclasses.dataclass(frozen=True)
class Multiples:
    """All rows. scales: name and range of each panel. curves: class and name of each kind of curve. more: phases left
    out."""

    disk: str
    scales: Sequence[tuple[str, str]]
    curves: Sequence[tuple[str, str]]
    phases: Sequence[PhasePictures]
    more: int


@dataclasses.dataclass(frozen=True)
class _Curve:
    """One direction of a phase in one recording. of: its class. edges, values: the steps; NaN: no value. mean: of the
    phase. text: the mean as tables print it."""

    of: str
    name: str
    edges: Floats
    values: Floats
    mean: float | None
    text: str


def build(named: Sequence[tuple[str, Recorded]], explained: Explanation) -> Multiples | None:
    """The phases of the disk that moved most in A, together with those of B. None: nothing moved."""
    first = named[0][1]
    moved: dict[str, int] = {}
    for span in first.spans:
        if span.phase != OUTSIDE:
            moved[span.disk] = moved.get(span.disk, 0) + _moved(span)
    disks = [one.disk for one in first.targets if not one.bio_based and moved.get(one.disk)] or list(moved)
    disk = max(disks, key=lambda one: moved.get(one, 0), default="")
    rows = [row for row in _rows(named, disk) if any(map(_moved, row.values()))]
    if not rows:
        return None
    most = sorted(range(len(rows)), key=lambda at: -sum(map(_moved, rows[at].values())))[:MAX_PHASES]
    kept = [rows[at] for at in sorted(most)]
    curves = [{panel: _curves(named, row, panel) for panel in PANELS} for row in kept]
    scales = {panel: _Scale([curve for of in curves for curve in of[panel]]) for panel in PANELS}
    used = dict.fromkeys((curve.of, curve.name) for of in curves for some in of.values() for curve in some)
    phases = [_phase(row, of, scales, explained, len(named)) for row, of in zip(kept, curves, strict=True)]
    heads = [(title, scales[panel].text(UNITS[panel])) for title, panel in zip(NAMES, PANELS, strict=True)]
    return Multiples(printable(disk, 40), heads, list(used), phases, len(rows) - len(kept))


def _moved(span: Span) -> int:
    return sum(Figures(span, direction).moved() or 0 for direction in DATA)


def _rows(named: Sequence[tuple[str, Recorded]], disk: str) -> list[dict[str, Span]]:
    """Spans by letter of the recording. Among phases with one name, the n-th in A belongs to the n-th in B."""
    rows: dict[tuple[str, int], dict[str, Span]] = {}
    for letter, one in named:
        number: dict[str, int] = {}
        for span in one.spans:
            if span.phase != OUTSIDE and (span.disk == disk or len(one.targets) == len(named[0][1].targets) == 1):
                at = number[span.phase] = number.get(span.phase, -1) + 1
                rows.setdefault((span.phase, at), {})[letter] = span
    return list(rows.values())


def _curves(named: Sequence[tuple[str, Recorded]], row: Mapping[str, Span], panel: str) -> list[_Curve]:
    curves = []
    for letter, one in named:
        span = row.get(letter)
        series = one.phase_series.get((span.target, span.number)) if span else None
        if span is None or series is None:
            continue
        for direction in DATA:
            shown = values(series, panel, direction)
            if shown is not None:
                cell = (tables.rate, tables.depth, _latency)[PANELS.index(panel)](Figures(span, direction))
                of, name = direction, f"{direction}s"
                if len(named) > 1:
                    of, name = f"{direction} {letter.lower()}", f"{letter}, {name}"
                curves.append(_Curve(of, name, (series.edges - span.start_ns) / 1e9, shown, cell.key, cell.text))
    return curves


def _latency(f: Figures) -> Cell:
    mean = units.ratio(f.d2c_mean(), 1e6)
    return Cell(NOT_AVAILABLE) if mean is None else Cell(_digits(mean), mean)


class _Scale:
    """The vertical scale of a panel: from 0, or logarithmic if phases differ much."""

    def __init__(self, curves: Sequence[_Curve]) -> None:
        self.top = max((float(numpy.nanmax(curve.values, initial=0.0)) for curve in curves), default=0.0) or 1.0
        means = [curve.mean for curve in curves if curve.mean]
        self.log = bool(means) and max(means) >= DECADES * min(means)
        self.low = 0.0
        if self.log:
            self.top = 10.0 ** math.ceil(math.log10(self.top))
            self.low = max(10.0 ** math.floor(math.log10(min(means))), self.top / MAX_DECADES)

    def text(self, unit: str) -> str:
        return f"{self.low:g} to {_digits(self.top)} {unit}".strip() + (", logarithmic" if self.log else "")

    def lines(self) -> list[float]:
        """The values of the grid lines."""
        if not self.log:
            return [0.0, self.top / 2]
        return [self.low * 10**at for at in range(round(math.log10(self.top / self.low)))]

    def y(self, value: float) -> float:
        """The vertical coordinate of a value. NaN for NaN."""
        if math.isnan(value):
            return value
        if self.log:
            share = math.log10(max(value, self.low) / self.low) / math.log10(self.top / self.low)
        else:
            share = value / self.top
        return round(HIGH - EDGE - (HIGH - 2 * EDGE) * min(share, 1.0), 1)


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.3g}"


def _phase(row: Mapping[str, Span], curves: Mapping[str, Sequence[_Curve]], scales: Mapping[str, _Scale],
           explained: Explanation, recordings: int) -> PhasePictures:  # fmt: skip
    span = next(iter(row.values()))
    longest = max(one.length() for one in row.values()) / 1e9 or 1.0
    name = printable(span.phase, 40)
    panels = []
    for title, panel in zip(NAMES, PANELS, strict=True):
        unit = UNITS[panel]
        shown = [(curve.of, curve.text) for curve in curves[panel]]
        numbers = ", ".join(
            f"{curve.name} {value} {unit}".strip() for curve, (_, value) in zip(curves[panel], shown, strict=True)
        )
        label = f"{title} of phase {name}: {numbers or 'not counted'}"
        panels.append(Panel(shown, label, _svg(curves[panel], scales[panel], longest)))
    lengths = " and ".join(units.ns(one.length()) for one in row.values())
    alone = f"only in {next(iter(row))}" if len(row) < recordings else ""
    where = (visible(span.disk), visible(span.phase))
    at = next((at for at, one in enumerate(explained.chains, 1) if (one.disk, one.phase) == where), 0)
    sentence = printable(explained.chains[at - 1].summary[0].partition(" Open: ")[0]) if at else ""
    return PhasePictures(name, ", ".join(filter(None, (lengths, alone))), sentence, panels, f"{_digits(longest)} s",
                         f"chain-{at}" if at else "")  # fmt: skip


def _svg(curves: Sequence[_Curve], scale: _Scale, longest: float) -> markupsafe.Markup:
    grid = "".join(f"M0 {scale.y(value):g}H{WIDE:g}" for value in scale.lines())
    paths = [f'<path class="grid" d="{grid}"/>']
    for curve in curves:
        x = numpy.round(curve.edges * WIDE / longest, 1)
        steps: list[str] = []
        before = math.nan
        for at, value in enumerate(curve.values.tolist()):
            y = scale.y(value)
            if y != before and not math.isnan(y):
                steps.append(f"M{x[at]:g} {y:g}" if math.isnan(before) else f"V{y:g}")
            if not math.isnan(y):
                steps.append(f"H{x[at + 1]:g}")
            before = y
        paths.append(f'<path class="{curve.of}" d="{"".join(steps)}"/>')
    return markupsafe.Markup(f'<svg viewBox="0 0 {WIDE:g} {HIGH:g}" preserveAspectRatio="none" aria-hidden="true">'
                             f"{''.join(paths)}</svg>")  # fmt: skip
