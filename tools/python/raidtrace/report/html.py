# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML report of one recording or two: the summary first, then why, then what it rests on."""

import dataclasses
import pathlib
from collections.abc import Sequence

from raidtrace.explain import runs as explain_runs
from raidtrace.explain.evidence import Explanation
from raidtrace.plot import blame as plot_blame
from raidtrace.plot import depth as plot_depth
from raidtrace.plot import lba as plot_lba
from raidtrace.plot import share as plot_share
from raidtrace.recording import invariants, observation, sample_rows, series
from raidtrace.recording.observation import Observed
from raidtrace.recording.spans import Recorded
from raidtrace.report import glance as report_glance
from raidtrace.report import tables as report_tables
from raidtrace.report import text as report_text
from raidtrace.report import why as report_why
from raidtrace.report.page import Glance, Part, Picture, ReportError, Text, picture, render
from raidtrace.report.text import printable
from raidtrace.why import store as why_store

LBA = "Darker is more. Below, requests that began elsewhere than where the one before ended."
SHARES = "The phases that moved most, each in the direction that moved more; disks together."
BLAME = "Every request that did not begin where the one before ended, by what both were for. Darker is more."


def page(paths: Sequence[pathlib.Path]) -> str:
    """The page about one recording, or about two beside each other."""
    if not 1 <= len(paths) <= 2:
        raise ReportError("one recording, or two to compare")
    found = [read(path) for path in paths]
    named = [(letter, one) for letter, (one, _) in zip("AB", found)]
    rows = report_why.rows_of([(letter, _ids(one, letter)) for letter, one in named])
    seen = [observed for _, observed in found]
    explained = explain_runs.of_one(seen[0]) if len(seen) == 1 else explain_runs.of_two(seen[0], seen[1])
    if len(paths) == 1:
        explained = dataclasses.replace(explained, tested=why_store.tested(paths[0]))
    said, why = report_why.part(explained, rows)
    openings = [report_text.opening(one, letter, len(named) > 1) for letter, one in named]
    alone = [explained] if len(seen) == 1 else [explain_runs.of_one(one) for one in seen]
    glance = Glance(
        _answer(explained),
        why.chains[0].id if why.chains else "",
        report_glance.table([(*one, report_glance.limits_of(found)) for one, found in zip(named, alone, strict=True)]),
        report_glance.live(named),
    )
    summary = [
        *(first for first, *_ in openings),
        *said[len(why.chains) == 1 :],
        *(sentence for _, *rest in openings for sentence in rest),
    ]
    parts = [why]
    names = _names(paths)
    for (letter, one), name in zip(named, names, strict=True):
        parts.append(_recording(one, letter, name, len(named) > 1))
    return render(f"raidtrace: {' and '.join(names)}", summary, parts, glance)


def read(path: pathlib.Path) -> tuple[Recorded, Observed]:
    """What pictures and tables are made of, and what explain goes by: the same sums, made once."""
    with sample_rows.opened(path, series=True) as rows:
        one = invariants.read(path, rows)
        observed = observation.read(one, rows)
        over_time = (series.build(rows, disk.target, bool(disk.bio_based), "place" in (disk.groups or "").split())
                     for disk in one.targets)  # fmt: skip
        return dataclasses.replace(one, series=tuple(filter(None, over_time))), observed


def _answer(found: Explanation) -> list[str]:
    """A row a phase where there are several; else what is said of the one, or of that with the largest effect."""
    if not found.chains:
        return [printable(text) for text in found.summary]
    tested = [f"Tested by experiment (raidctl why): {printable(found.tested)}"] if found.tested else []
    if found.opening:
        return [*tested, *(f"{printable(name, 200)}: {printable(text)}" for name, text in found.opening)]
    first = found.chains[0]
    title = f"{printable(first.title, 200)}: " if len(found.chains) > 1 else ""
    return [*tested, *(f"{'' if at else title}{printable(text)}" for at, text in enumerate(first.summary))]


def _names(paths: Sequence[pathlib.Path]) -> list[str]:
    """What each is called on the page; with its directory where the name alone tells nothing or is that of the other."""
    short = [path.name for path in paths]
    alike = len(set(short)) < len(short)
    return [
        printable(f"{path.resolve().parent.name}/{name}" if alike or name == "run.rtdb" else name, 80)
        for path, name in zip(paths, short, strict=True)
    ]


def _ids(one: Recorded, letter: str) -> list[tuple[str, str, str]]:
    return [
        (span.disk, span.phase, report_text.row_id(letter, span.disk, span.number))
        for span in one.spans
        if report_tables.directions(span)
    ]


def _recording(one: Recorded, letter: str, name: str, several: bool) -> Part:
    of = f"recording {name}"
    pictures: list[Picture] = picture(f"{letter}-depth", "Requests in flight over time", _steps(one), of,
                                      plot_depth.in_flight(one, one.targets))  # fmt: skip
    pictures += picture(f"{letter}-depths", "How many were in flight for how long", SHARES, of, plot_share.depth(one))
    pictures += picture(f"{letter}-sizes", "How large requests were", SHARES, of, plot_share.size(one))
    for target in one.targets:
        disk = printable(target.disk, 40)
        pictures += picture(f"{letter}-lba{target.target}", f"Where on {disk}, over time", LBA, of,
                            plot_lba.over_time(one, target))  # fmt: skip
        pictures += picture(f"{letter}-blame{target.target}", f"Whose requests made {disk} seek", BLAME, of,
                            plot_blame.matrix(one, target))  # fmt: skip
    texts = [Text("What the command printed", printable(one.output, 20_000))] if one.output else []
    title = f"Recording {letter}: {name}" if several else "Evidence"
    return Part(f"recording-{letter}", title, (), (), pictures, report_tables.tables(one, letter), texts,
                f", recording {letter}" if several else "")  # fmt: skip


def _steps(one: Recorded) -> str:
    merged = max((disk.merged for disk in one.series), default=1)
    if merged == 1:
        return "Each step is one sample."
    return (f"Each step is up to {merged} samples: the thick line is their mean weighted by time, the band reaches from the "
            "lowest to the highest mean of a sample, the thin line is the highest depth.")  # fmt: skip
