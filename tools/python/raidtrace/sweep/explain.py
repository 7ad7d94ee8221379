# SPDX-License-Identifier: GPL-2.0-or-later
"""The explanation of a sweep: the effect of readahead on the throughput in all cells, the knee, and what changed with
it."""

import collections
import contextlib
import dataclasses
import pathlib
import statistics
from collections.abc import Mapping, Sequence
from typing import TypeVar

from raidtrace.explain import pair
from raidtrace.explain import runs as explain_runs
from raidtrace.explain.evidence import Chain, Explanation, Limit, Link, Source, Subject, Value, Verdict, by_effect
from raidtrace.quantity import trials
from raidtrace.quantity.shown import UserError
from raidtrace.recording import observation
from raidtrace.recording import quantities as q
from raidtrace.recording.quantities import Reading
from raidtrace.recording.work import SAME_FACTOR
from raidtrace.sweep.index import DONE, NAME, Index

SETTING = "readahead_sectors"
STRONG = 0.8  # least rank correlation of two quantities that change together
Step = TypeVar("Step", Link, Limit)
BESIDES = ("data_size", "dirty_bytes", "dirty_background_bytes")


@dataclasses.dataclass(frozen=True)
class Cell:
    """A finished cell: its axes, counters of its recording by phase, rates that its program printed, and
    the recording."""

    name: str
    axes: Mapping[str, object]
    counted: Mapping[str, Mapping[str, float]]
    rates: Mapping[str, float]
    recording: pathlib.Path | None
    simulated: bool

    def readahead(self) -> float | None:
        """The readahead in sectors. None: the plan does not set it."""
        value = self.axes.get(SETTING)
        return float(str(value)) if value is not None else None

    def quantity(self, phase: str, counter: str) -> float | None:
        """A counted quantity of a phase. If a program names no phases, its phase is run."""
        return self.counted.get(phase, self.counted.get("run", {})).get(counter)


@dataclasses.dataclass(frozen=True)
class Curve:
    """One phase of the cells that differ only in readahead and trial."""

    about: tuple[tuple[str, str], ...]
    phase: str
    cells: tuple[Cell, ...]

    def points(self, counter: str = "") -> list[tuple[float, float]]:
        """(readahead, rate) of all cells, or (readahead, counted quantity)."""
        pairs = []
        for cell in self.cells:
            sectors = cell.readahead()
            value = cell.quantity(self.phase, counter) if counter else cell.rates.get(self.phase)
            if sectors is not None and value is not None:
                pairs.append((sectors, value))
        return sorted(pairs)

    def medians(self) -> list[tuple[float, float]]:
        """(readahead, median rate), one point for each readahead."""
        groups: dict[float, list[float]] = collections.defaultdict(list)
        for x, y in self.points():
            groups[x].append(y)
        return [(x, statistics.median(ys)) for x, ys in sorted(groups.items())]

    def source(self, readahead: float | None = None, *counters: str) -> Source:
        """The source of a number of the curve: the cell with that readahead, or the first with the least."""
        ordered = sorted((cell.readahead() or 0.0, at, cell.name) for at, cell in enumerate(self.cells)
                         if readahead in (None, cell.readahead()))  # fmt: skip
        return Source("A", "", self.phase, counters or ("figure", SETTING), ordered[0][2] if ordered else "")


def cells(path: pathlib.Path) -> list[Cell]:
    """The finished cells of a sweep. path: its directory or its index."""
    file = path / NAME if path.is_dir() else path
    rates: dict[int, dict[str, float]] = collections.defaultdict(dict)
    counted: dict[int, dict[str, dict[str, float]]] = collections.defaultdict(dict)
    with contextlib.closing(Index(file)) as index:
        for cell, phase, value, unit, _, place in index.figures():
            if value is not None and place == "{}" and unit == "KiB/s":
                rates[cell][phase] = value
        for row in index.queues():
            if row["direction"] == _direction(str(row["phase"])):
                counted[int(str(row["cell"]))].setdefault(str(row["phase"]), {}).update(_counted(row))
        about = index.about()
        return [Cell(one.name, index.axes(one.cell), counted[one.cell], rates[one.cell],
                     recording if (recording := file.parent / one.directory / "run.rtdb").is_file() else None,
                     about[one.cell][2]) for one in index.entries() if one.state == DONE]  # fmt: skip


def _direction(phase: str) -> str:
    return "write" if phase.startswith("write") else "read"


def _counted(row: Mapping[str, object]) -> dict[str, float]:
    def number(name: str) -> float | None:
        return None if row[name] is None else float(str(row[name]))

    issued, octets, bios = number("issued"), number("bytes_issued"), number("bios")
    quotients = {
        "in flight": number("in_flight_mean"),
        "request size": octets / issued / q.SECTOR if issued and octets is not None else None,
        "bio size": (number("bytes_queued") or 0) / bios / q.SECTOR if bios else None,
        "sequential share": (number("sequential") or 0) / issued if issued else None,
    }
    return {name: value for name, value in quotients.items() if value is not None}


def curves(cells: Sequence[Cell], together: Sequence[str] = ()) -> list[Curve]:
    """The curves of cells, grouped by all axes except readahead and those that changed with it. A curve needs at least
    two settings with a rate."""
    groups: dict[tuple[tuple[str, str], ...], list[Cell]] = collections.defaultdict(list)
    for cell in cells:
        if cell.readahead() is not None:
            key = tuple((name, str(value)) for name, value in cell.axes.items() if name not in (SETTING, *together))
            groups[key].append(cell)
    result = []
    for key, members in groups.items():
        for phase in dict.fromkeys(phase for cell in members for phase in cell.rates):
            curve = Curve(key, phase, tuple(members))
            if len(curve.medians()) >= 2:
                result.append(curve)
    return result


def bound(cells: Sequence[Cell]) -> list[str]:
    """Axes with another value for each readahead, so that either may be the cause."""
    names = dict.fromkeys(name for cell in cells for name in cell.axes if name != SETTING)
    together = []
    for name in names:
        by: dict[float, set[str]] = collections.defaultdict(set)
        for cell in cells:
            sectors = cell.readahead()
            if sectors is not None:
                by[sectors].add(str(cell.axes.get(name)))
        values = [next(iter(one)) for one in by.values() if len(one) == 1]
        if len(by) > 1 and len(values) == len(by) and len(set(values)) > 1:
            together.append(name)
    return together


def chain_of(curve: Curve, together: Sequence[str]) -> Chain:
    title = " ".join(value for name, value in curve.about if name not in BESIDES and value not in ("None", "none"))
    points, medians = curve.points(), curve.medians()
    links = [_setting(curve), _trend(medians), _knee(curve), _correlation(points, curve.source()),
             _together(curve, together)]  # fmt: skip
    causal, limits, between = _ends(curve)
    rates = [y for _, y in medians]
    story, sentences = _story(curve, points, medians, together, between)
    return Chain(f"{title}, phase {curve.phase}", "", curve.phase, _direction(curve.phase),
                 story, (*links, *causal), limits, tuple(sentences),
                 max(rates) / min(rates) if min(rates) > 0 else None)  # fmt: skip


def _setting(curve: Curve) -> Link:
    medians = curve.medians()
    rates = ", ".join(f"{x:g} sectors ({q.kib(x)}): {y / 1024:.1f}" for x, y in medians)
    values = tuple(Value(f"rate-at-{x:g}", y / 1024, "MiB/s", curve.source(x)) for x, y in medians)
    return Link("rates", "Readahead and rate", f"{rates} MiB/s", Verdict.SHOWN, values)


def _trend(medians: Sequence[tuple[float, float]]) -> Link:
    regions = trials.regions(medians)
    trend = ", ".join(f"{region.direction} from {region.first:g} to {region.last:g}" for region in regions)
    return Link(
        "trend", "Monotone regions", f"{trend} sectors; steps below {trials.KNEE_SHARE:.0%} are flat", Verdict.SHOWN
    )


def _knee(curve: Curve) -> Link:
    medians = curve.medians()
    x, y = trials.knee(medians)
    best_x, best = max(medians, key=lambda point: point[1])
    text = f"{x:g} sectors ({q.kib(x)}) come within {trials.KNEE_SHARE:.0%} of the best, {best / 1024:.1f} MiB/s at {best_x:g}"
    edge = "" if x != medians[-1][0] else "; this is the largest readahead of the sweep, so the knee may be higher"
    source = curve.source(x)
    values = (Value("knee", x, "sectors", source), Value("rate-at-knee", y / 1024, "MiB/s", source))
    return Link("knee", "Knee", text + edge, Verdict.NOT_SHOWN if edge else Verdict.SHOWN, values)


def _correlation(points: Sequence[tuple[float, float]], source: Source) -> Link:
    result = trials.correlate(points)
    if result is None:
        why = (
            "the rate or the setting never changes"
            if len(points) >= trials.MIN_PAIRS and len({x for x, _ in points}) >= trials.MIN_SETTINGS
            else f"{len(points)} points of {len({x for x, _ in points})} settings are too few"
        )
        return Link("correlation", "Rank correlation", f"none: {why}", Verdict.NOT_AVAILABLE)
    text = (f"of readahead and rate over {result.pairs} runs: Spearman {result.rho:.2f} (95 % from {result.low:.2f} to "
            f"{result.high:.2f}), Kendall {result.tau:.2f}")  # fmt: skip
    values = (
        Value("spearman", result.rho, "", source, (result.low, result.high)),
        Value("kendall", result.tau, "", source),
    )
    return Link("correlation", "Rank correlation", text, Verdict.SHOWN if result.sure() else Verdict.NOT_SHOWN, values)


def _together(curve: Curve, together: Sequence[str]) -> Link:
    changed, values = [], []
    for name in ("in flight", "request size", "bio size", "sequential share"):
        rho = trials.spearman(curve.points(name))
        if rho is not None:
            values.append(Value(f"spearman {name}", rho, "", curve.source(None, name, SETTING)))
            if abs(rho) >= STRONG:
                changed.append(f"{name} ({rho:+.2f})")
    text = f"these changed with readahead: {', '.join(changed)}" if changed else "no counter changed with readahead"
    if together:
        text += f"; the plan also changed {', '.join(together)}: the sweep does not show which change is the cause"
    return Link(
        "together", "Changed together", text, Verdict.CONTRADICTED if together else Verdict.SHOWN, tuple(values)
    )


def _story(curve: Curve, points: Sequence[tuple[float, float]], medians: Sequence[tuple[float, float]],
           together: Sequence[str], between: Verdict) -> tuple[Verdict, list[str]]:  # fmt: skip
    """Whether readahead causes the differences of the rates, and the sentences about it.

    It does if the rates differ, and rate and requests in flight rise with readahead. It also does if each step of the
    chain between the least readahead and the knee is shown, which is the verdict `between`."""
    low, high = min(y for _, y in medians), max(y for _, y in medians)
    x, _ = trials.knee(medians)
    if high < low * SAME_FACTOR:
        return Verdict.CONTRADICTED, [
            f"Readahead does not change the rate: {low / 1024:.1f} to {high / 1024:.1f} MiB/s."
        ]
    rates = (
        f"{low / 1024:.1f} to {high / 1024:.1f} MiB/s; {x:g} sectors ({q.kib(x)}) is the smallest readahead within "
        "5 % of the best."
    )
    if x == medians[-1][0]:
        rates = (f"{low / 1024:.1f} to {high / 1024:.1f} MiB/s. The largest readahead, {x:g} sectors ({q.kib(x)}), "
                 "is the fastest. A larger one may be faster still.")  # fmt: skip
    correlation, depth = trials.correlate(points), trials.spearman(curve.points("in flight"))
    if together:
        return Verdict.NOT_SHOWN, [
            f"{', '.join(together)} changed together with readahead, so the cause is not known.",
            rates,
        ]
    if between is Verdict.INFERRED and (correlation is None or not correlation.sure()):
        less = (
            "the runs are too few for a correlation" if correlation is None else "the correlation alone is not certain"
        )
        text = (
            "Readahead is the cause: up to the knee, the counters confirm each step from readahead to the rate "
            f"({less})."
        )
        return Verdict.SHOWN, [text, rates]
    if correlation is None:
        return Verdict.NOT_SHOWN, ["The sweep has too few runs to show that the rate depends on readahead.", rates]
    if not correlation.sure():
        return Verdict.NOT_SHOWN, ["The runs do not show that the rate depends on readahead.", rates]
    if depth is None or depth < STRONG or correlation.rho < 0:
        return Verdict.NOT_SHOWN, [
            "The rate depends on readahead, but the requests in flight do not explain it.",
            rates,
        ]
    return Verdict.SHOWN, [
        "The rate and the requests in flight rise with readahead. No other setting changed.",
        rates,
    ]


def _ends(curve: Curve) -> tuple[tuple[Link, ...], tuple[Limit, ...], Verdict]:
    """The chain between the cell with the least readahead and one at the knee, from their recordings. For md, that of
    the first member, because md has no requests."""
    by = sorted((cell for cell in curve.cells if cell.recording and cell.readahead() is not None),
                key=lambda cell: cell.readahead() or 0)  # fmt: skip
    knee = trials.knee(curve.medians())[0]
    last = next((cell for cell in by if cell.readahead() == knee), None)
    if not by or last is None or last is by[0] or by[0].recording is None or last.recording is None:
        return (), (), Verdict.NOT_AVAILABLE
    a, b = observation.load(by[0].recording), observation.load(last.recording)
    for phase, direction in explain_runs.chosen(a):
        other = b.find(phase.disk.name, phase.phase)
        if (
            other
            and q.direction(other) == direction == q.direction(phase)
            and not phase.disk.bio_based
            and phase.phase in (curve.phase, "run")
        ):
            chain = pair.chain_of(
                Reading("A", phase, a.parent(phase)), Reading("B", other, b.parent(other)), direction, (a.meta, b.meta)
            )
            names = {"A": by[0].name, "B": last.name}
            return (
                tuple(_of_cells(link, names) for link in chain.links),
                tuple(_of_cells(limit, names) for limit in chain.limits),
                chain.story,
            )
    return (), (), Verdict.NOT_AVAILABLE


def _of_cells(step: Step, names: Mapping[str, str]) -> Step:
    """The step with the names of the cells in the sources of its numbers. names: by letter."""
    values = tuple(
        dataclasses.replace(value, source=dataclasses.replace(value.source, cell=names[value.source.subject]))
        for value in step.values
    )
    return dataclasses.replace(step, values=values)


def explain(path: pathlib.Path, phase: str | None = None) -> Explanation:
    """The explanation of a sweep. path: its directory or its index. Raises UserError: no curve has the
    requested phase."""
    finished = cells(path)
    together = bound(finished)
    known = curves(finished, together)
    requested = [curve for curve in known if phase in (None, curve.phase)]
    if known and not requested:
        names = ", ".join(dict.fromkeys(curve.phase for curve in known))
        raise UserError(f"{path}: no phase {phase}; its phases: {names}")
    chains = by_effect(chain_of(curve, together) for curve in requested)
    lines = tuple(map(Chain.text, chains))
    if not chains:
        lines = (
            "No two finished cells of this sweep differ only in readahead, so the effect of readahead is unknown.",
        )
    simulated = any(cell.simulated for cell in finished)
    notes = [explain_runs.SIMULATED] if simulated else []
    if chains:
        notes.append("The steps with A and B compare the cell with the least readahead (A) and one at the knee (B).")
    facts = (("cells", str(len(finished))),)
    return Explanation("sweep", (Subject("A", str(path), simulated, facts),), chains, lines, tuple(notes))
