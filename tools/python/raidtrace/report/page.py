# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of a page of the HTML report, their assembly, and writing the file.

The contents of a recording (command, output, names) are untrusted. They become text on the page, never markup.
"""

import base64
import collections
import dataclasses
import hashlib
import json
import pathlib
from collections.abc import Callable, Mapping, Sequence

import jinja2
import markupsafe
from matplotlib.figure import Figure

from raidtrace.explain.evidence import Explanation, Limit, Link, Source, Value, Verdict
from raidtrace.plot import style as plot
from raidtrace.recording import results
from raidtrace.report.multiples import Multiples
from raidtrace.report.rows import NOT_AVAILABLE, Sentence, Table, printable
from raidtrace.report.times import SHOWN, TimeRow

PARTS = pathlib.Path(__file__).parent / "templates"
GENERATOR = b'<meta name="generator" content="raidctl report --html">'
HEAD_BYTES = 4096  # bytes at the start that contain the generator


@dataclasses.dataclass(frozen=True)
class Picture:
    """A picture on the page: id, name, description, and the SVG element."""

    id: str
    title: str
    caption: str
    svg: markupsafe.Markup


@dataclasses.dataclass(frozen=True)
class Live:
    """A picture that can be zoomed: id, title, the still picture for print and for browsers without script, and its
    numbers."""

    id: str
    title: str
    svg: markupsafe.Markup
    data: markupsafe.Markup

    @classmethod
    def of(cls, ident: str, title: str, figure: Figure | None, data: Mapping[str, object]) -> "Live":
        """A picture with numbers. data: the input of chart.js. Its JSON is escaped, so that no text in it can end the
        element."""
        svg = plot.inline(figure, f"{ident}-svg", title) if figure else ""
        text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        for character in "<>&\u2028\u2029":
            text = text.replace(character, f"\\u{ord(character):04x}")
        return cls(ident, title, markupsafe.Markup(svg), markupsafe.Markup(text))


@dataclasses.dataclass(frozen=True)
class Glance:
    """The first screen. times: where the time of each phase went. answer: sentences. chain: id of the chain behind them, or
    empty. multiples: a row of pictures for each phase."""

    times: Sequence[TimeRow]
    answer: Sequence[str]
    chain: str
    table: Table
    multiples: Multiples | None
    live: Live | None


@dataclasses.dataclass(frozen=True)
class Text:
    """A long text, which the page shows folded."""

    title: str
    text: str


@dataclasses.dataclass(frozen=True)
class Step:
    """A link of a chain: title, statement, verdict, and (name, number, id of a row) of each number."""

    title: str
    statement: str
    verdict: str
    values: Sequence[tuple[str, str, str]] = ()


@dataclasses.dataclass(frozen=True)
class Chain:
    """A chain of links and its limits."""

    id: str
    title: str
    sentences: Sequence[Sentence]
    links: Sequence[Step]
    limits: Sequence[Step]
    ruled_out: Sequence[Step] = ()

    def verdicts(self) -> str:
        """The number of links with each verdict, as text."""
        counts = collections.Counter(link.verdict for link in self.links)
        return ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())


@dataclasses.dataclass(frozen=True)
class Part:
    """A section of the page. mark: a suffix that distinguishes its pictures and tables from those with the same name in
    another section."""

    id: str
    title: str
    sentences: Sequence[Sentence] = ()
    chains: Sequence[Chain] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    texts: Sequence[Text] = ()
    mark: str = ""


def picture(ident: str, title: str, caption: str, of: str, figure: Figure | None) -> list[Picture]:
    """A list with the picture, or an empty list. of: the subject of the picture, for screen readers."""
    if figure is None:
        return []
    svg = markupsafe.Markup(plot.inline(figure, f"{ident}-svg", f"{title}: {of}. {caption}"))
    return [Picture(ident, title, caption, svg)]


def render(title: str, summary: Sequence[Sentence], parts: Sequence[Part], glance: Glance | None = None) -> str:
    """The HTML of the page. glance: the first screen, before the summary."""
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
        shown_times=SHOWN,
        style=markupsafe.Markup(style),
        script=markupsafe.Markup(script),
        script_hash=f"sha256-{digest}",
    )


def write(path: pathlib.Path, page: str) -> None:
    """Write the page completely or not at all. Only a report is replaced. Raises ResultsError: it cannot be written."""
    results.replace(path, [page.encode()], GENERATOR, HEAD_BYTES, "report", "--html")


# The result of raidctl explain as chains on the page: each number links to its row in a table.

Rows = Callable[[Source], str]  # id of the row with a number; empty: there is none


def why_part(explanation: Explanation, rows: Rows) -> tuple[list[Sentence], Part]:
    """The sentences for the summary, each with its chain, and the section with all chains."""
    chains = [
        Chain(
            f"chain-{at}", printable(chain.title, 200), [Sentence(printable(text)) for text in chain.summary],
            [_step(link, rows) for link in chain.links],
            [_limit(limit, rows) for limit in chain.limits if limit.verdict in (Verdict.SHOWN, Verdict.INFERRED)],
            [_limit(limit, rows) for limit in chain.limits if limit.verdict in (Verdict.NOT_SHOWN, Verdict.CONTRADICTED)],
        )
        for at, chain in enumerate(explanation.chains, 1)
    ]  # fmt: skip
    sentences = [Sentence(printable(text)) for text in explanation.summary]
    if len(sentences) == len(chains):  # one sentence for each chain
        sentences = [Sentence(one.text, chain.id) for one, chain in zip(sentences, chains, strict=True)]
    notes = [Sentence(printable(note)) for note in explanation.notes]
    return sentences, Part("why", "Why", notes, chains)


def _step(one: Link | Limit, rows: Rows) -> Step:
    return Step(one.title, printable(one.statement), str(one.verdict), [_value(value, rows) for value in one.values])


def _limit(one: Limit, rows: Rows) -> Step:
    """A limit as a step. A contradicted one is printed as ruled out."""
    step = _step(one, rows)
    statement = step.statement
    if one.remedy:
        statement = f"{statement.rstrip('.')}. To do: {printable(one.remedy)}. {one.expected()}"
    verdict = "ruled out" if one.verdict is Verdict.CONTRADICTED else step.verdict
    return dataclasses.replace(step, statement=statement, verdict=verdict)


def _value(value: Value, rows: Rows) -> tuple[str, str, str]:
    source = value.source
    text = NOT_AVAILABLE if value.value is None else f"{_short(value.value)} {value.unit}".strip()
    if value.predicted:
        text += f" (predicted {_short(value.predicted[0])} to {_short(value.predicted[1])})"
    counters = ", ".join(source.counters)
    name = printable(f"{value.name}{f', of {counters}' if counters else ''}", 200)
    return name, printable(text, 200), rows(source)


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"


def rows_of(tables: Sequence[tuple[str, Sequence[tuple[str, str, str]]]]) -> Rows:
    """The row of a source, by letter, disk and phase. tables: letter, and (disk, phase, id) of its rows; the first row
    of a phase counts."""
    by_source: dict[tuple[str, str, str], str] = {}
    for letter, rows in tables:
        for disk, phase, ident in rows:
            by_source.setdefault((letter, disk, phase), ident)
    return lambda source: by_source.get((source.subject, source.disk, source.phase), "")


Cells = Mapping[tuple[str, str, str], str]  # cell, disk, phase -> id of a row


def cells_of(figures: Mapping[tuple[str, str], str], counted: Cells, ends: Cells) -> Rows:
    """The row of a source of a sweep: its figure, or its counters. counted: rows of every cell. ends: rows of the
    recordings that were read. If a program names no phases, its phase is "run"."""
    first: dict[tuple[str, str], str] = {}
    for (cell, _, phase), ident in counted.items():
        first.setdefault((cell, phase), ident)

    def row(source: Source) -> str:
        cell, phase = source.cell, source.phase
        if source.disk:
            return ends.get((cell, source.disk, phase), "")
        if "figure" in source.counters:
            return figures.get((cell, phase), "")
        return first.get((cell, phase), first.get((cell, "run"), ""))

    return row
