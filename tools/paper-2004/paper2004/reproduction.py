# SPDX-License-Identifier: GPL-2.0-or-later
"""Published figures beside those of the lab: errors, medians, ratios, and the CSV and JSON that are committed."""

import csv
import dataclasses
import itertools
import json
import pathlib
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

from paper2004 import amcc, reproduce_plan, reproduce_run
from raidtrace.quantity import trials

AIM = 10.0  # per cent
HEADER = (
    "array,test,tool,filesystem,setra_sectors,trial,metric,published,published_median,published_low,published_high,"
    "simulated,unit,error_percent,role,draws,simulated_low,simulated_high"
)
# How what ran is called; the paper ran iozone itself.
LABEL = {"iozone": "fio as iozone"}


@dataclasses.dataclass(frozen=True)
class Point:
    """One figure, published (median, least and most of its trials) and simulated, in the published unit. drawn: simulated
    under each draw of chance that was run, the first of them is `simulated`."""

    test: amcc.Test
    metric: str
    published: float
    low: float
    high: float
    simulated: float
    unit: str
    fitted: bool
    drawn: tuple[float, ...]

    def chance(self) -> trials.Summary:
        """The median of the draws, and the interval that holds that of all at 95 %; none of one draw."""
        return trials.summarise(self.drawn)

    def error(self) -> float:
        """Per cent, of the published median."""
        return 100 * (self.simulated / self.published - 1)


@dataclasses.dataclass(frozen=True)
class Ratio:
    """Tuned over untuned of the same figure."""

    array: str
    tool: str
    filesystem: str
    metric: str
    published: float
    simulated: float
    untuned: Point
    tuned: Point

    def error(self) -> float:
        """Per cent, of the published ratio."""
        return 100 * (self.simulated / self.published - 1)


def fitted(array: str) -> dict[str, str]:
    """The fit table of an array's profile: constant -> figure it was fitted on, as "raid0 7 read"."""
    table = reproduce_run.profile_values(f"9500s-12-{array}").get("fit", {})
    return {f"{group}.{name}": figure for group, names in table.items() for name, figure in names.items()}


def fitted_figures() -> set[tuple[str, int, str]]:
    """All published figures that a constant was fitted on."""
    named = (text.split() for array in ("raid0", "raid5") for text in fitted(array).values())
    return {(array, int(number), metric) for array, number, metric in named}


def points(results: Mapping[str, reproduce_run.Result]) -> list[Point]:
    """All figures in the paper's order."""
    used = fitted_figures()
    seeks = reproduce_plan.seeks()
    found = []
    for test in amcc.tests():
        for metric in amcc.metrics(test):
            published = [row.value for row in amcc.trials(test, metric)]
            unit = amcc.trials(test, metric)[0].unit
            run = seeks[test] if metric == "seeks" else reproduce_run.Run(test.name(), test)
            names = (run.drawn(draw).name for draw in itertools.count())
            drawn = tuple(results[name].figures[metric] for name in itertools.takewhile(results.__contains__, names))
            role = (test.array, test.number, metric) in used
            found.append(
                Point(
                    test,
                    metric,
                    statistics.median(published),
                    min(published),
                    max(published),
                    drawn[0],
                    unit,
                    role,
                    drawn,
                )
            )
    return found


def median_error(found: Iterable[Point]) -> float:
    """Of the held-out ones, without sign, per cent."""
    return statistics.median(abs(point.error()) for point in found if not point.fitted)


def medians(found: Sequence[Point], by: Callable[[Point], str]) -> dict[str, tuple[int, float]]:
    """Of each group: how many held-out figures, their median error."""
    groups: dict[str, list[Point]] = {}
    for point in found:
        if not point.fitted:
            groups.setdefault(by(point), []).append(point)
    return {name: (len(group), median_error(group)) for name, group in groups.items()}


def ratios(found: Sequence[Point]) -> list[Ratio]:
    """Tuned over untuned, wherever both were published."""
    at = {(p.test.array, p.test.tool, p.test.filesystem, p.metric, p.test.setra_sectors): p for p in found}
    made = []
    for (array, tool, filesystem, metric, setra), tuned in at.items():
        untuned = at.get((array, tool, filesystem, metric, 256))
        if untuned and setra != 256:
            published, simulated = tuned.published / untuned.published, tuned.simulated / untuned.simulated
            made.append(Ratio(array, tool, filesystem, metric, published, simulated, untuned, tuned))
    return made


def write_csv(path: pathlib.Path, found: Sequence[Point]) -> None:
    """One row for each of the 204 published figures."""
    at = {(point.test, point.metric): point for point in found}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER.split(","))
        for row in amcc.rows():
            point, test = at[row.test, row.metric], row.test
            error = 100 * (point.simulated / row.value - 1)
            where = (test.array, test.number, LABEL.get(test.tool, test.tool), test.filesystem, test.setra_sectors)
            values = (row.trial, row.metric, f"{row.value:g}" if row.value < 1000 else f"{row.value:.2f}")
            spread = (f"{point.published:.2f}", f"{point.low:.2f}", f"{point.high:.2f}", f"{point.simulated:.2f}")
            role = "fitted" if point.fitted else "held out"
            said = point.chance()
            interval = ["" if end is None else f"{end:.2f}" for end in (said.low, said.high)]
            writer.writerow((*where, *values, *spread, row.unit, f"{error:.1f}", role, said.trials, *interval))


def state(results: Mapping[str, reproduce_run.Result]) -> dict[str, object]:
    """What the committed figures are of: kernel, digests of all that decides them, and small runs to compare with."""
    inputs: dict[str, str] = {}
    for array in ("raid0", "raid5"):
        inputs |= reproduce_run.inputs(f"9500s-12-{array}")
    names = [run.name for run in (*reproduce_plan.short(), reproduce_plan.short_seeks())]
    kernel = results[names[0]].kernel
    return {"kernel": kernel, "inputs": inputs, "short": {name: results[name].figures for name in names}}


def write_state(path: pathlib.Path, results: Mapping[str, reproduce_run.Result]) -> None:
    """reproduction.json."""
    path.write_text(json.dumps(state(results), indent=1, sort_keys=True) + "\n", encoding="utf-8")


def changed_inputs(committed: Mapping[str, str]) -> list[str]:
    """What of the digests differs now, by name."""
    now: dict[str, str] = {}
    for array in ("raid0", "raid5"):
        now |= reproduce_run.inputs(f"9500s-12-{array}")
    return sorted(name for name in now.keys() | committed.keys() if now.get(name) != committed.get(name))
