# SPDX-License-Identifier: GPL-2.0-or-later
"""What a page of the HTML report is made of, and how it is put together and written.

What a recording holds - command, output, names - was written by anybody: it is text on the page, never markup.
"""

import base64
import collections
import dataclasses
import hashlib
import json
import pathlib
from collections.abc import Mapping, Sequence

import jinja2
import markupsafe
from matplotlib.figure import Figure

from raidtrace.plot import style as plot
from raidtrace.recording import results
from raidtrace.report.multiples import Multiples
from raidtrace.report.rows import Sentence, Table, printable

PARTS = pathlib.Path(__file__).parent / "templates"
GENERATOR = b'<meta name="generator" content="raidctl report --html">'
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
class Live:
    """A picture that can be zoomed: id, title, the still picture for print and for who has no script, and its numbers."""

    id: str
    title: str
    svg: markupsafe.Markup
    data: markupsafe.Markup

    @classmethod
    def of(cls, ident: str, title: str, figure: Figure | None, data: Mapping[str, object]) -> "Live":
        """data: what chart.js draws; as JSON that no text in it can end the element of."""
        svg = plot.inline(figure, f"{ident}-svg", title) if figure else ""
        text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        for character in "<>&\u2028\u2029":
            text = text.replace(character, f"\\u{ord(character):04x}")
        return cls(ident, title, markupsafe.Markup(svg), markupsafe.Markup(text))


@dataclasses.dataclass(frozen=True)
class Glance:
    """The first screen. answer: sentences; chain: id of the chain behind them, empty when there is none; multiples: a row of
    pictures a phase."""

    answer: Sequence[str]
    chain: str
    table: Table
    multiples: Multiples | None
    live: Live | None


@dataclasses.dataclass(frozen=True)
class Text:
    """A long text, folded."""

    title: str
    text: str


@dataclasses.dataclass(frozen=True)
class Step:
    """A link of a chain of causes: title, statement, verdict, and (name, number, id of a row) of each number."""

    title: str
    statement: str
    verdict: str
    values: Sequence[tuple[str, str, str]] = ()


@dataclasses.dataclass(frozen=True)
class Chain:
    """A chain of causes, and what limits its end."""

    id: str
    title: str
    sentences: Sequence[Sentence]
    links: Sequence[Step]
    limits: Sequence[Step]
    ruled_out: Sequence[Step] = ()

    def verdicts(self) -> str:
        """How many links have which verdict."""
        counts = collections.Counter(link.verdict for link in self.links)
        return ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())


@dataclasses.dataclass(frozen=True)
class Part:
    """A section of the page. mark: what tells its pictures and tables from those of the same name in another section."""

    id: str
    title: str
    sentences: Sequence[Sentence] = ()
    chains: Sequence[Chain] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    texts: Sequence[Text] = ()
    mark: str = ""


def picture(ident: str, title: str, caption: str, of: str, figure: Figure | None) -> list[Picture]:
    """A picture, or none. of: what it is a picture of, for those who do not see it."""
    if figure is None:
        return []
    svg = markupsafe.Markup(plot.inline(figure, f"{ident}-svg", f"{title}: {of}. {caption}"))
    return [Picture(ident, title, caption, svg)]


def render(title: str, summary: Sequence[Sentence], parts: Sequence[Part], glance: Glance | None = None) -> str:
    """The page. glance: what stands before the summary."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PARTS), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    names = (["uplot/uplot.min.js", "chart.js"] if glance and glance.live else []) + ["page.js"]
    script = "".join((PARTS / name).read_text(encoding="utf-8") for name in names)
    style = "".join(
        (PARTS / name.replace(".js", ".css")).read_text(encoding="utf-8") for name in names if name != "chart.js"
    )
    digest = base64.b64encode(hashlib.sha256(f"\n{script}".encode()).digest()).decode("ascii")
    return environment.get_template("page.html").render(
        title=printable(title, 300),
        summary=summary,
        parts=[Part("summary", "Summary"), *parts],
        glance=glance,
        style=markupsafe.Markup(style),
        script=markupsafe.Markup(script),
        script_hash=f"sha256-{digest}",
    )


def write(path: pathlib.Path, page: str) -> None:
    """Write the page whole or not at all; only a report is replaced. ResultsError: it cannot be written."""
    results.replace(path, [page.encode()], GENERATOR, HEAD_BYTES, "report", "--html")
