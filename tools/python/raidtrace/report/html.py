# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML report of one recording or two: the summary, the explanation, then the evidence."""

import dataclasses
import math
import pathlib
from collections.abc import Sequence
from typing import Any

from raidtrace.explain import runs as explain_runs
from raidtrace.explain.evidence import Explanation
from raidtrace.plot import recording as plot_recording
from raidtrace.plot import style as plot_style
from raidtrace.quantity import units
from raidtrace.quantity.shown import UserError
from raidtrace.recording import invariants, observation, sample_rows, series
from raidtrace.recording.observation import Observed
from raidtrace.recording.series import Floats
from raidtrace.recording.spans import OUTSIDE, Recorded, Target
from raidtrace.report import multiples as report_multiples
from raidtrace.report import tables as report_tables
from raidtrace.report import times as report_times
from raidtrace.report.page import Glance, Live, Part, Picture, Text, picture, render, rows_of, why_part
from raidtrace.report.rows import Sentence, printable, row_id

MEAN = "Latency is the mean of the requests that completed in a step."
PHASE_STEPS = 120  # steps of a small picture
LBA = "Darker: more data. Below: requests that began elsewhere than the previous one ended."
SHARES = "The phases that moved most data, each in the direction that moved more; all disks together."
BLAME = "Requests that began elsewhere than the previous one ended, by the purpose of both. Darker: more requests."


def page(paths: Sequence[pathlib.Path]) -> str:
    """The page about one recording, or about two side by side. Raises UserError for another number."""
    if not 1 <= len(paths) <= 2:
        raise UserError("name one recording, or two to compare")
    pairs = [read(path) for path in paths]
    named = [(letter, one) for letter, (one, _) in zip("AB", pairs)]
    rows = rows_of([(letter, _ids(one, letter)) for letter, one in named])
    sides = [observed for _, observed in pairs]
    explained = explain_runs.of_one(sides[0]) if len(sides) == 1 else explain_runs.of_two(sides[0], sides[1])
    sentences, why = why_part(explained, rows)
    alone = [explained] if len(sides) == 1 else [explain_runs.of_one(one) for one in sides]
    multiples = report_multiples.build(named, explained)
    there = {phase.chain for phase in multiples.phases} if multiples else set()  # shown next to pictures
    glance = Glance(
        report_times.build(explained.breakdowns),
        [*_answer(explained), *report_tables.amplified(explained)],
        why.chains[0].id if why.chains else "",
        report_tables.phases([(*one, report_tables.limits_of(each)) for one, each in zip(named, alone, strict=True)]),
        multiples,
        live(pairs[0][0]) if len(pairs) == 1 else None,
    )
    summary = [
        *(_opening(one, letter, len(named) > 1) for letter, one in named),
        *(one for one in sentences[len(why.chains) == 1 :] if one.row not in there),
    ]
    parts = [why]
    names = _names(paths)
    for (letter, one), name in zip(named, names, strict=True):
        parts.append(_recording(one, letter, name, len(named) > 1))
    return render(f"raidtrace: {' and '.join(names)}", summary, parts, glance)


def read(path: pathlib.Path) -> tuple[Recorded, Observed]:
    """The recording for pictures and tables, and the observations for explain, read once."""
    with sample_rows.opened(path, series=True) as rows:
        one = invariants.read(path, rows)
        observed = observation.read(one, rows)
        over_time = (series.build(rows, disk.target, bool(disk.bio_based), "place" in (disk.groups or "").split())
                     for disk in one.targets)  # fmt: skip
        of_phases = ((span, series.build(rows, span.target, span.bio_based, False, span.number, PHASE_STEPS))
                     for span in one.spans)  # fmt: skip
        small = {(span.target, span.number): steps for span, steps in of_phases if steps}
        return dataclasses.replace(one, series=tuple(filter(None, over_time)), phase_series=small), observed


def _answer(explanation: Explanation) -> list[str]:
    """The sentences of the answer: one for each of several phases; else those of the chain with the largest effect."""
    if not explanation.chains:
        return [printable(text) for text in explanation.summary]
    tested = [f"Tested by experiment (raidctl why): {printable(explanation.tested)}"] if explanation.tested else []
    if explanation.opening:
        return [*tested, *(f"{printable(name, 200)}: {printable(text)}" for name, text in explanation.opening)]
    first = explanation.chains[0]
    title = f"{printable(first.title, 200)}: " if len(explanation.chains) > 1 else ""
    return [*tested, *(f"{'' if at else title}{printable(text)}" for at, text in enumerate(first.summary))]


def _names(paths: Sequence[pathlib.Path]) -> list[str]:
    """The names of the recordings on the page. If names are equal, or the default, the directory is added."""
    short = [path.name for path in paths]
    alike = len(set(short)) < len(short)
    return [
        printable(f"{path.resolve().parent.name}/{name}" if alike or name == "run.rtdb" else name, 80)
        for path, name in zip(paths, short, strict=True)
    ]


def _ids(one: Recorded, letter: str) -> list[tuple[str, str, str]]:
    return [
        (span.disk, span.phase, row_id(letter, span.disk, span.number))
        for span in one.spans
        if report_tables.busy(span)
    ]


def _recording(one: Recorded, letter: str, name: str, several: bool) -> Part:
    of = f"recording {name}"
    pictures: list[Picture] = []
    for target in one.targets if several else ():  # a single recording has this picture on the first screen
        title = f"Throughput, in flight and latency of {printable(target.disk, 40)}"
        pictures += picture(f"{letter}-time{target.target}", title, MEAN, of, plot_recording.overview(one, target))
    in_flight = plot_recording.in_flight(one, one.targets)
    pictures += picture(f"{letter}-depth", "Requests in flight over time", _steps(one), of, in_flight)
    pictures += picture(
        f"{letter}-depths", "Share of time by requests in flight", SHARES, of, plot_recording.shares_of_depth(one)
    )
    pictures += picture(f"{letter}-sizes", "Share of requests by size", SHARES, of, plot_recording.shares_of_size(one))
    for target in one.targets:
        disk = printable(target.disk, 40)
        pictures += picture(f"{letter}-lba{target.target}", f"Positions on {disk} over time", LBA, of,
                            plot_recording.place_map(one, target))  # fmt: skip
        pictures += picture(f"{letter}-blame{target.target}", f"Seeks of {disk} by purpose", BLAME, of,
                            plot_recording.seek_matrix(one, target))  # fmt: skip
    texts = [Text("Output of the command", printable(one.output, 20_000))] if one.output else []
    title = f"Recording {letter}: {name}" if several else "Evidence"
    return Part(f"recording-{letter}", title, (), (), pictures, report_tables.of_recording(one, letter), texts,
                f", recording {letter}" if several else "")  # fmt: skip


def _steps(one: Recorded) -> str:
    merged = max((disk.merged for disk in one.series), default=1)
    if merged == 1:
        return "Each step is one sample."
    return (f"Each step is up to {merged} samples: the thick line is their mean weighted by time, the band reaches from the "
            "lowest to the highest mean of a sample, the thin line is the highest depth.")  # fmt: skip


def _opening(recorded: Recorded, letter: str, several: bool) -> Sentence:
    time = "real time" if recorded.fact("lab_time") == "real" else "simulated time"
    simulated = f"Simulated: models of the disks, in {time}. " if recorded.simulated() else ""
    seconds = (recorded.end_ns() - recorded.begin_ns()) / 1e9
    disks = ", ".join(printable(target.disk, 40) for target in recorded.targets)
    number = sum(phase.name != OUTSIDE for phase in recorded.phases)
    text = f"{simulated}{seconds:,.1f} s of {disks} in {number} phase{units.plural(number)} were recorded."
    counts = (flow for span in recorded.spans for flow in span.flow.values())
    moved = any(flow["queued"] or flow["issued"] for flow in counts)  # otherwise there is no table of phases
    return Sentence(f"Recording {letter}: {text}" if several else text, f"phases-{letter}" if moved else "")


def live(one: Recorded) -> Live | None:
    """The picture over time of the disk that moved most, as a still picture and as numbers for a script. None: nothing
    moved."""
    disks = sorted((disk for disk in one.targets if _moved(one, disk)), key=lambda disk: -_moved(one, disk))
    if not disks:
        return None
    data = {
        "panels": plot_recording.PANELS, "groups": [_group(one, disk) for disk in disks],
        "axis": f"{'simulated ' if one.simulated() else ''}seconds since it began",
        "styles": {direction: [plot_style.OF[direction].line, dash] for direction, dash in plot_recording.DASHES.items()},
    }  # fmt: skip
    title = f"Throughput, in flight and latency over time, {printable(disks[0].disk, 40)}"
    return Live.of("over-time", title, plot_recording.overview(one, disks[0]), data)


def _moved(one: Recorded, disk: Target) -> int:
    steps = one.series_of(disk.target)
    return sum(int(moved.sum()) for moved in steps.moved.values()) if steps else 0


def _group(one: Recorded, disk: Target) -> dict[str, Any]:
    """The lines of one disk by panel, their times, and the phases."""
    steps, begin = one.series_of(disk.target), one.begin_ns()
    panels = [
        [
            {"direction": direction, "y": _rounded(numbers)}
            for direction, _, numbers in plot_recording.lines(one, disk, panel)
        ]
        for panel in plot_recording.PANELS
    ]
    phases = [
        [printable(phase.name, 40), round((phase.start_ns - begin) / 1e9, 4),
         round(((phase.end_ns or one.end_ns()) - begin) / 1e9, 4)]
        for phase in one.phases if phase.name != OUTSIDE
    ]  # fmt: skip
    x = [round((int(edge) - begin) / 1e9, 4) for edge in steps.edges] if steps else []
    return {"disk": printable(disk.disk, 40), "phases": phases, "x": x, "panels": panels}


def _rounded(numbers: Floats) -> list[float | None]:
    """The numbers with four digits, which is more than a picture shows. NaN becomes None."""
    return [None if math.isnan(value) else float(f"{value:.4g}") for value in numbers.tolist()]
