# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML report: one file that needs no other, the summary first, then what it rests on.

What a recording holds - command, output, names - was written by anybody: it is text on the page, never markup.
"""

import base64
import dataclasses
import hashlib
import os
import pathlib
from collections.abc import Sequence

import jinja2
import markupsafe
from matplotlib.figure import Figure

from raidtrace import plot, plot_depth, plot_lba, report_tables, report_text
from raidtrace.overview import Overview
from raidtrace.report_tables import Table
from raidtrace.report_text import Sentence

PARTS = pathlib.Path(__file__).parent / "report"
GENERATOR = b'<meta name="generator" content="raidctl report --html">'
LBA_CAPTION = "Brighter is more. Below, requests that began elsewhere than where the one before ended."
HEAD_BYTES = 4096  # the generator is named within so many


class ReportError(Exception):
    """The report cannot be made; the text says why and what to do."""


@dataclasses.dataclass(frozen=True)
class Picture:
    """A picture on the page: id, name, what there is to see, and the SVG element."""

    id: str
    title: str
    caption: str
    svg: markupsafe.Markup


@dataclasses.dataclass(frozen=True)
class Text:
    """A long text, folded."""

    title: str
    text: str


@dataclasses.dataclass(frozen=True)
class Part:
    """A section of the page."""

    id: str
    title: str
    sentences: Sequence[Sentence] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    texts: Sequence[Text] = ()


def write(path: pathlib.Path, page: str) -> None:
    """Write the page whole or not at all; only a report is replaced."""
    if path.exists():
        if not path.is_file():
            raise ReportError(f"{path} is no file: name one with --html")
        with path.open("rb") as file:
            if GENERATOR not in file.read(HEAD_BYTES):
                raise ReportError(f"{path} is there and is no report: name another file with --html")
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        fresh.write_text(page, encoding="utf-8")
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def page(recordings: Sequence[Overview]) -> str:
    """The report of one recording, or of two beside each other."""
    letters = "ABCDEFGH"[: len(recordings)] if len(recordings) > 1 else "A"
    summary, parts = [], []
    for letter, one in zip(letters, recordings, strict=True):
        summary += report_text.opening(one, letter)
        parts.append(_recording(one, letter, len(recordings) > 1))
    title = " and ".join(report_text.printable(one.recording.path.name, 80) for one in recordings)
    return _render(f"raidtrace: {title}", summary, parts)


def _recording(one: Overview, letter: str, several: bool) -> Part:
    found: list[tuple[str, str, str, Figure | None]] = [
        ("depth", "Requests in flight over time", _steps(one), plot_depth.in_flight(one, one.recording.targets))
    ]
    found += [
        (f"lba{disk.target}", f"Where on {report_text.printable(disk.disk, 40)}, over time", LBA_CAPTION,
         plot_lba.over_time(one, disk))
        for disk in one.recording.targets
    ]  # fmt: skip
    name = report_text.printable(one.recording.path.name, 80)
    pictures = [
        Picture(f"{letter}-{key}", title, caption,
                markupsafe.Markup(plot.inline(figure, f"{letter}-{key}-svg", f"{title}, recording {name}")))
        for key, title, caption, figure in found
        if figure
    ]  # fmt: skip
    texts = (
        [Text("What the command printed", report_text.printable(one.recording.output, 20_000))]
        if one.recording.output
        else []
    )
    title = f"Recording {letter}: {name}" if several else "Evidence"
    return Part(f"recording-{letter}", title, (), pictures, report_tables.tables(one, letter), texts)


def _steps(one: Overview) -> str:
    merged = max((series.merged for series in one.series), default=1)
    if merged == 1:
        return "Each step is one sample."
    return (f"Each step is up to {merged} samples: the thick line is their mean weighted by time, the band reaches from the "
            "lowest to the highest mean of a sample, the thin line is the highest depth.")  # fmt: skip


def _render(title: str, summary: Sequence[Sentence], parts: Sequence[Part]) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PARTS), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    script = (PARTS / "page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(f"\n{script}".encode()).digest()).decode("ascii")
    return environment.get_template("page.html").render(
        title=title,
        summary=summary,
        parts=[Part("summary", "Summary"), *parts],
        style=markupsafe.Markup((PARTS / "page.css").read_text(encoding="utf-8")),
        script=markupsafe.Markup(script),
        script_hash=f"sha256-{digest}",
    )
