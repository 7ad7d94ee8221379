# SPDX-License-Identifier: GPL-2.0-or-later
"""Published figures next to those of the lab: errors, medians, ratios, and the CSV and JSON that are committed."""

import csv
import dataclasses
import itertools
import json
import pathlib
import statistics
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence

from paper2004 import amcc, reproduce_plan, reproduce_run
from raidtrace.quantity import trials

AIM = 10.0  # per cent
DOCUMENTATION = pathlib.Path(__file__).resolve().parents[3] / "Documentation"
PAGE = "reproduction.rst"
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
    made = []
    for test in amcc.tests():
        for metric in amcc.metrics(test):
            published = [row.value for row in amcc.trials(test, metric)]
            unit = amcc.trials(test, metric)[0].unit
            run = seeks[test] if metric == "seeks" else reproduce_run.Run(test.name(), test)
            names = (run.drawn(draw).name for draw in itertools.count())
            drawn = tuple(results[name].figures[metric] for name in itertools.takewhile(results.__contains__, names))
            role = (test.array, test.number, metric) in used
            made.append(
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
    return made


def median_error(points: Iterable[Point]) -> float:
    """The median of the absolute errors of the figures that were not fitted, in per cent."""
    return statistics.median(abs(point.error()) for point in points if not point.fitted)


def medians(points: Sequence[Point], by: Callable[[Point], str]) -> dict[str, tuple[int, float]]:
    """By group: the number of figures that were not fitted, and their median error."""
    groups: dict[str, list[Point]] = {}
    for point in points:
        if not point.fitted:
            groups.setdefault(by(point), []).append(point)
    return {name: (len(group), median_error(group)) for name, group in groups.items()}


def ratios(points: Sequence[Point]) -> list[Ratio]:
    """Tuned over untuned, wherever both were published."""
    at = {(p.test.array, p.test.tool, p.test.filesystem, p.metric, p.test.setra_sectors): p for p in points}
    made = []
    for (array, tool, filesystem, metric, setra), tuned in at.items():
        untuned = at.get((array, tool, filesystem, metric, 256))
        if untuned and setra != 256:
            published, simulated = tuned.published / untuned.published, tuned.simulated / untuned.simulated
            made.append(Ratio(array, tool, filesystem, metric, published, simulated, untuned, tuned))
    return made


def write_csv(path: pathlib.Path, points: Sequence[Point]) -> None:
    """One row for each of the 204 published figures."""
    at = {(point.test, point.metric): point for point in points}
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
            chance = point.chance()
            interval = ["" if end is None else f"{end:.2f}" for end in (chance.low, chance.high)]
            writer.writerow((*where, *values, *spread, row.unit, f"{error:.1f}", role, chance.trials, *interval))


def state(results: Mapping[str, reproduce_run.Result]) -> dict[str, object]:
    """The inputs of the committed figures: kernel, digests of all files that determine them, and small runs to compare with."""
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
    """Names of the digests that differ now."""
    now: dict[str, str] = {}
    for array in ("raid0", "raid5"):
        now |= reproduce_run.inputs(f"9500s-12-{array}")
    return sorted(name for name in now.keys() | committed.keys() if now.get(name) != committed.get(name))


# Parts of Documentation/reproduction.rst that are made from results: every number, every sentence with a number in it.


def put(to: pathlib.Path, name: str, lines: Iterable[str]) -> None:
    """Replace the part that `make NAME` writes, between two comments of reproduction.rst. The rest is that of the page in the
    directory, or of the committed one."""
    page = to / PAGE if (to / PAGE).is_file() else DOCUMENTATION / PAGE
    begin, end = f'.. Made by "make {name}"; do not edit.\n', f'.. End of "make {name}".\n'
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"{page}: no lines {begin.strip()!r} and {end.strip()!r}")
    text = "\n".join(lines).rstrip()
    (to / PAGE).write_text(f"{before}{begin}\n{text}\n\n{end}{after}", encoding="utf-8")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A simple table of reStructuredText; columns of numbers are to the right."""
    head, *cells = [[text or r"\ " for text in row] for row in (header, *rows)]
    widths = [max(len(row[at]) for row in [head, *cells]) for at in range(len(header))]
    rule = " ".join("=" * width for width in widths)
    right = [all(row[at][:1] in "+-0123456789\\" for row in cells) for at in range(len(header))]

    def line(row: Sequence[str]) -> str:
        parts = [text.rjust(width) if to else text.ljust(width) for text, width, to in zip(row, widths, right)]
        return " ".join(parts).rstrip()

    return [rule, line(head), rule, *(line(row) for row in cells), rule, ""]


def wrap(text: str) -> list[str]:
    """Lines of a paragraph."""
    return textwrap.wrap(" ".join(text.split()), 120, break_on_hyphens=False, break_long_words=False)


def number(value: float) -> str:
    """Rates without, seeks with one digit."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:,.1f}"


def percent(value: float) -> str:
    """With its sign."""
    return f"{value:+.1f} %"


def heading(text: str) -> list[str]:
    """A section."""
    return [text, "=" * len(text), ""]


def _result(points: Sequence[Point]) -> list[str]:
    errors = [abs(point.error()) for point in points if not point.fitted]
    near = {limit: sum(error <= limit for error in errors) for limit in (5, 10, 20)}
    compared = ratios(points)
    met = [ratio for ratio in compared if abs(ratio.error()) <= AIM]
    reads = [ratio for ratio in compared if ratio.metric in ("read", "reread")]
    median = median_error(points)
    lines = heading("Result")
    lines += [
        *wrap(
            f"**Median error of the {len(errors)} held-out figures: {median:.1f} %** (aim: {AIM:.0f} %, "
            f"{'met' if median <= AIM else 'missed'}). Within 5 %: {near[5]}, within 10 %: {near[10]}, within 20 %: "
            f"{near[20]}; the worst is off by {max(errors):.0f} %. "
            f"{len(points) - len(errors)} more were used to fit the model. An error compares the simulated value with the "
            "median of the published trials."
        ),
        "",
        *wrap(
            f"Of the {len(compared)} published ratios of tuned to untuned, {len(met)} are reproduced within {AIM:.0f} %. Of "
            f"the {len(reads)} ratios of reads and rereads, {sum(abs(r.error()) <= AIM for r in reads)} are. The median error "
            f"of all {len(compared)} is {statistics.median(abs(r.error()) for r in compared):.1f} %."
        ),
        "",
    ]
    groups: list[tuple[str, dict[str, tuple[int, float]]]] = [
        ("array", medians(points, lambda p: p.test.array)),
        ("metric", medians(points, lambda p: p.metric)),
        ("tool", medians(points, lambda p: LABEL.get(p.test.tool, p.test.tool))),
        ("file system", medians(points, lambda p: p.test.filesystem or "bare disk")),
    ]
    rows = [(kind, name, str(n), f"{error:.1f} %") for kind, names in groups for name, (n, error) in names.items()]
    return lines + table(("by", "", "held out", "median error"), [row for row in rows if row[1] != "-"])


def _fitted() -> list[str]:
    lines = heading("Fitted constants")
    rows: dict[str, tuple[str, ...]] = {}
    for array in ("raid0", "raid5"):
        values = reproduce_run.profile_values(f"9500s-12-{array}")
        for constant, text in fitted(array).items():
            group, name = constant.split(".")
            which, test, metric = text.split()
            title = reproduce_plan.find(which, int(test)).title()
            rows[constant] = (f"``{constant}``", f"{values[group][name]:,}", f"{title}, {metric}")
    lines += table(("constant", "value", "fitted to"), rows.values())
    lines += [
        f"{len(rows)} constants are fitted to {len(fitted_figures())} figures; RAID 5 has those of RAID 0, and one for parity.",
        "``tools/paper-2004/fit`` finds them again.",
        "",
    ]
    return lines


def _experiments(results: Mapping[str, reproduce_run.Result]) -> list[str]:
    lines = heading("Effect of single changes")
    lines += [
        "Each experiment runs a smaller test twice, the second time with one change.",
        "",
    ]
    arms = {one.name for one in reproduce_plan.arms()}
    rows: list[tuple[str, ...]] = []
    seek: list[float] = []
    for experiment in reproduce_plan.experiments():
        test = experiment.base.test
        base, changed = results[experiment.base.name].figures, results[experiment.changed.name].figures
        differences = {metric: 100 * (changed[metric] / base[metric] - 1) for metric in experiment.metrics}
        if experiment.name in arms:
            seek += differences.values()
            continue
        title = f"{test.title()}, {experiment.base.mib} MiB: {experiment.what}"
        for metric in experiment.metrics:
            rows.append((title, metric, number(base[metric]), number(changed[metric]), percent(differences[metric])))
            title = ""
    lines += table(("test and change", "metric", "unchanged", "changed", "difference"), rows)
    lines += [
        "Half and double of ``drive.seek_track_us`` and ``drive.seek_full_us``, which no source gives, change write, rewrite",
        f"and read of xfs by {min(seek):+.1f} to {max(seek):+.1f} %.",
        "",
    ]
    return lines


def page(results: Mapping[str, reproduce_run.Result]) -> list[str]:
    """The part that is made from results."""
    return [*_result(points(results)), *_fitted(), *_experiments(results)]
