# SPDX-License-Identifier: GPL-2.0-or-later
"""What raidctl explain says, as chains on the page: every number leads to the row of the table that it is in."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from raidtrace.explain.evidence import Explanation, Limit, Link, Source, Value, Verdict
from raidtrace.report.page import Chain, Part, Step
from raidtrace.report.rows import NOT_AVAILABLE, Sentence, printable

Rows = Callable[[Source], str]  # id of the row that a number is in; empty: of none


def part(explanation: Explanation, rows: Rows) -> tuple[list[Sentence], Part]:
    """Sentences for the summary, each with the chain that it is about, and the section that has the chains."""
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
    if len(sentences) == len(chains):  # one for each chain
        sentences = [Sentence(one.text, chain.id) for one, chain in zip(sentences, chains, strict=True)]
    notes = [Sentence(printable(note)) for note in explanation.notes]
    return sentences, Part("why", "Why", notes, chains)


def _step(one: Link | Limit, rows: Rows) -> Step:
    return Step(one.title, printable(one.statement), str(one.verdict), [_value(value, rows) for value in one.values])


def _limit(one: Limit, rows: Rows) -> Step:
    """A possible cause. One that the counters contradict is shown as ruled out."""
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
    """Rows by letter, disk and phase; tables: letter and (disk, phase, id) of its rows, the first of a phase counts."""
    by_source: dict[tuple[str, str, str], str] = {}
    for letter, rows in tables:
        for disk, phase, ident in rows:
            by_source.setdefault((letter, disk, phase), ident)
    return lambda source: by_source.get((source.subject, source.disk, source.phase), "")


Cells = Mapping[tuple[str, str, str], str]  # cell, disk, phase -> id of a row


def cells_of(figures: Mapping[tuple[str, str], str], counted: Cells, ends: Cells) -> Rows:
    """Rows of a sweep: figures by cell and phase; counters of every cell, and of the cells with recordings that were read. A
    program that names no phases is recorded as one, run."""
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
