# SPDX-License-Identifier: GPL-2.0-or-later
"""Published figures next to those of the lab: errors, medians, ratios, and the CSV and JSON that are committed."""

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


# Documentation/reproduction.rst: every number and every sentence with a number in it is made from results.

TITLE = """\
.. SPDX-License-Identifier: GPL-2.0-or-later
.. Made by "make reproduce"; do not edit.

==================================
The white paper of 2004, simulated
==================================

For everybody who wants to know how accurate the simulated controller of the lab is. After this page you know the error of
each figure. AMCC/3ware measured a 9500S-12 with twelve WD740GD under Linux 2.6.5: 28 tests of 20 GiB each, 204 values
("Benchmarking the 3ware 9000 Controller Using Linux Kernel 2.6", v1.1). ``make reproduce`` runs the same 28 tests in the
lab, with Linux {kernel} and the simulated controller (:doc:`devices`). It writes this page and ``reproduction.csv``, which
has a row for each published figure: the median of the trials of one test. *Held-out* figures were not used to fit the model.
"""

HOW = """\
How it was run
==============

As in the paper: 512 MiB of memory, 20 GiB of data, ``blockdev --setra`` 256 (untuned) and 16384 (tuned), default options
of mkfs, ``sync`` before, nothing else running. Programs are those of Debian 12. Each test ran once, with seed 0 (:doc:`lab`).
``--seeds N`` of ``tools/paper-2004/reproduce`` runs more seeds, and adds the spread of each figure.

Differences from the paper:

- Linux {kernel} replaces 2.6.5, and the ext4 driver drives ext3. Memory thresholds of write-back are those of 2.6.5 (40 and
  10 %). Every read writes the access time (``strictatime``), as in 2004.
- bonnie++ 2.00a replaces 1.02c. A library combines its calls of 8 KiB into calls of 1 MiB (``bonnie-batch.c``). The host
  needs an eighth of the time, and the guest's figures stay the same.
- bonnie++'s seek test ({seeks} seeks in {seekers} processes) is a separate run, with the method of 1.02c (``bonnie-seeks.c``)
  and the default scheduler of 2.6.5 (``tools/paper-2004/anticipatory``).
- fio repeats iozone's pattern. Its records are {record} KiB instead of 64, to save host time.
- **Processor time is free.** Copying, file system and driver take no simulated time. So figures that the paper's two Xeons
  limited are not reproduced.

:doc:`reproduction-misses` has the figures that miss, and their causes.

Two details of the setup are assumptions, because the paper does not state them. Their effect is shown below:

- File systems are on a partition that begins at sector 63, as fdisk made it in 2004. It makes no difference.
- A stream of 20 GiB displaced everything else from 2.6.5's page cache. Therefore the *indirect blocks* (the positions of a
  file's data) on ext2 and ext3 are dropped every 10 s. The kernel of today keeps them in such a run, because they were used
  twice.
"""


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


def number(value: float) -> str:
    """Rates without, seeks with one digit."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:,.1f}"


def percent(value: float) -> str:
    """With its sign."""
    return f"{value:+.1f} %"


def heading(text: str) -> list[str]:
    """A section."""
    return [text, "=" * len(text), ""]


def setra(test: amcc.Test) -> str:
    """The name that people use."""
    return "tuned" if test.setra_sectors != 256 else "untuned"


def _result(points: Sequence[Point]) -> list[str]:
    errors = [abs(point.error()) for point in points if not point.fitted]
    near = {limit: sum(error <= limit for error in errors) for limit in (5, 10, 20)}
    compared = ratios(points)
    met = [ratio for ratio in compared if abs(ratio.error()) <= AIM]
    reads = [ratio for ratio in compared if ratio.metric in ("read", "reread")]
    median = median_error(points)
    lines = heading("Result")
    lines += [
        f"**Median error of the {len(errors)} held-out figures: {median:.1f} %** (aim: {AIM:.0f} %, "
        f"{'met' if median <= AIM else 'missed'}). Within 5 %: {near[5]}, within 10 %: {near[10]}, within 20 %: {near[20]}; "
        f"the worst is off by {max(errors):.0f} %.",
        f"{len(points) - len(errors)} more were used to fit the model. An error compares the simulated value with the median "
        "of the published trials.",
        "",
        f"Of the {len(compared)} published ratios of tuned to untuned, {len(met)} are reproduced within {AIM:.0f} %. Of the "
        f"{len(reads)} ratios of reads and rereads, {sum(abs(r.error()) <= AIM for r in reads)} are. The median error of all "
        f"{len(compared)} is {statistics.median(abs(r.error()) for r in compared):.1f} %. dd ran untuned only, so the rows of "
        "readahead do not count it.",
        "",
    ]
    groups: list[tuple[str, dict[str, tuple[int, float]]]] = [
        ("array", medians(points, lambda p: p.test.array)),
        ("metric", medians(points, lambda p: p.metric)),
        ("tool", medians(points, lambda p: LABEL.get(p.test.tool, p.test.tool))),
        ("file system", medians(points, lambda p: p.test.filesystem or "bare disk")),
        ("readahead", medians(points, lambda p: "-" if p.test.tool == "dd" else setra(p.test))),
    ]
    rows = [(kind, name, str(n), f"{error:.1f} %") for kind, names in groups for name, (n, error) in names.items()]
    return lines + table(("by", "", "held out", "median error"), [row for row in rows if row[1] != "-"])


def _fitted() -> list[str]:
    lines = heading("Fitted constants")
    rows = []
    for array in ("raid0", "raid5"):
        values = reproduce_run.profile_values(f"9500s-12-{array}")
        for constant, text in fitted(array).items():
            group, name = constant.split(".")
            which, test, metric = text.split()
            title = reproduce_plan.find(which, int(test)).title()
            rows.append((f"9500s-12-{array}", f"``{constant}``", f"{values[group][name]:,}", f"{title}, {metric}"))
    lines += table(("profile", "constant", "value", "fitted to"), rows)
    lines += [
        f"{len({row[1] for row in rows})} constants are fitted to {len(fitted_figures())} figures; RAID 5 has those of "
        "RAID 0, and one more for parity. ``tools/paper-2004/fit`` finds them again.",
        "All others are from the drive's data sheet, from the paper, or assumed. The profile names the source of each.",
        "",
    ]
    return lines


def _figures(points: Sequence[Point]) -> list[str]:
    lines = heading("Figure by figure")
    lines += [
        "Published: median of the trials, with the lowest and the highest in brackets. Rates are in KiB/s, of dd in MiB/s, "
        "seeks per second.",
        "",
    ]
    for array in ("raid0", "raid5"):
        rows = []
        for point in (p for p in points if p.test.array == array):
            test = point.test
            spread = f"[{number(point.low)} - {number(point.high)}]" if point.low != point.high else ""
            rows.append(
                (
                    str(test.number), LABEL.get(test.tool, test.tool), test.filesystem or "bare disk",
                    "" if test.tool == "dd" else setra(test), point.metric, number(point.published), spread,
                    number(point.simulated), percent(point.error()), "fitted" if point.fitted else "",
                )
            )  # fmt: skip
        header = ("test", "tool", "on", "readahead", "metric", "published", "trials", "simulated", "error", "role")
        lines += [f"**{array.upper().replace('RAID', 'RAID ')}**", "", *table(header, rows)]
    return lines


def _chance(points: Sequence[Point]) -> list[str]:
    most = max(point.chance().trials for point in points)
    if most == 1:
        return []
    lines = heading("Effect of chance")
    lines += [f"With {most} seeds; in brackets the 95 % interval of the median.", ""]
    rows = []
    for point in points:
        chance, test = point.chance(), point.test
        if chance.low is not None and chance.high is not None:
            rows.append((test.array, test.title(), point.metric, number(min(point.drawn)), number(chance.median),
                         number(max(point.drawn)), f"[{number(chance.low)} - {number(chance.high)}]"))  # fmt: skip
    return lines + table(("array", "test", "metric", "least", "median", "most", "interval"), rows)


def _ratios(points: Sequence[Point]) -> list[str]:
    lines = heading("Tuned over untuned")
    rows = [
        (r.array, LABEL.get(r.tool, r.tool), r.filesystem, r.metric, f"{r.published:.2f}",
         f"{r.simulated:.2f}", percent(r.error()))
        for r in ratios(points)
    ]  # fmt: skip
    return lines + table(("array", "tool", "on", "metric", "published", "simulated", "error"), rows)


def _experiments(results: Mapping[str, reproduce_run.Result]) -> list[str]:
    lines = heading("Effect of single changes")
    lines += [
        "Each experiment runs a test twice, the second time with one change. Tests are smaller, so that an experiment takes a",
        "minute. ext2 and ext3 are on a partition of 32 GiB, because mkfs takes long for the whole disk. The published figure",
        "is of 20 GiB.",
        "",
    ]
    for experiment in reproduce_plan.experiments():
        test = experiment.base.test
        base, changed = results[experiment.base.name].figures, results[experiment.changed.name].figures
        lines += [f"{test.title()}, {experiment.base.mib} MiB: {experiment.what}", ""]
        rows = [
            (metric, number(amcc.published(test, metric)), number(base[metric]), number(changed[metric]),
             percent(100 * (changed[metric] / base[metric] - 1)))
            for metric in experiment.metrics
        ]  # fmt: skip
        lines += table(("metric", "published", "unchanged", "changed", "difference"), rows)
    return lines


def page(results: Mapping[str, reproduce_run.Result]) -> str:
    """The whole document."""
    all_points = points(results)
    kernel = next(iter(results.values())).kernel
    lines = [TITLE.format(kernel=kernel)]
    lines += _result(all_points)
    lines += [HOW.format(kernel=kernel, seeks=amcc.SEEKS, seekers=amcc.SEEKERS, record=amcc.RECORD_KIB)]
    lines += _chance(all_points) + _fitted() + _experiments(results) + _ratios(all_points) + _figures(all_points)
    return "\n".join(lines).rstrip() + "\n"
