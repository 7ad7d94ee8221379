# SPDX-License-Identifier: GPL-2.0-or-later
"""An explanation as text for a terminal."""

import textwrap
from collections.abc import Sequence

from raidtrace.explain.evidence import Chain, Explanation, Limit, Link, Verdict

LEAST, MOST = 60, 120  # columns: narrower cannot be read, wider neither
MARKS = {
    Verdict.SHOWN: "+",
    Verdict.INFERRED: "*",
    Verdict.NOT_SHOWN: "-",
    Verdict.CONTRADICTED: "x",
    Verdict.NOT_AVAILABLE: "?",
}
TITLE = 18  # columns of a link's title


def text(found: Explanation, columns: int) -> list[str]:
    """All of it: the summary first where there are several chains, then these, then what to keep in mind."""
    width = min(max(columns, LEAST), MOST)
    lines = []
    for subject in found.subjects:
        facts = ", ".join(f"{name} {value}" for name, value in subject.facts)
        lines += wrap(f"{subject.letter}: {subject.path}" + (f" ({facts})" if facts else ""), width, "", "   ")
    if found.tested:
        lines += [
            "",
            *wrap(f"Tested by experiment (raidctl why): {found.tested}", width),
            "Inferred from the recording:",
        ]
    if found.opening:
        lines += ["", *rows(found.opening, width)]
    elif len(found.chains) != 1:
        lines += ["", *(line for sentence in found.summary for line in wrap(sentence, width))]
    for chain in found.chains:
        lines += ["", *_chain(chain, width)]
    if found.notes:
        lines += ["", "Keep in mind:"]
        for note in found.notes:
            lines += wrap(note, width, "  ", "  ")
    return lines + ["", *wrap("+ shown, * inferred, - not shown, x contradicted, ? not available", width)]


def _chain(chain: Chain, width: int) -> list[str]:
    head = chain.title
    lines = [head, "-" * min(len(head), width)]
    for sentence in chain.summary:
        lines += wrap(sentence, width)
    lines.append("")
    for link in chain.links:
        lines += _row(link, width)
    told = [limit for limit in chain.limits if limit.verdict is not Verdict.NOT_AVAILABLE]
    if told:
        lines += ["", "What limits it:"]
        for limit in told:
            lines += _row(limit, width)
    return lines


def _row(row: Link | Limit, width: int) -> list[str]:
    mark = MARKS[row.verdict]
    lines = []
    for at, part in enumerate(row.statement.split("\n")):
        head = f"{mark} {row.title:<{TITLE}} " if at == 0 else " " * (TITLE + 3)
        lines += wrap(part, width, head, " " * (TITLE + 3))
    return lines


def rows(named: Sequence[tuple[str, str]], width: int) -> list[str]:
    """A name and a sentence each; a name that is too long has a line of its own."""
    column = min(max(len(name) for name, _ in named), TITLE) + 2
    lines = []
    for name, sentence in named:
        lines += [name] if len(name) > TITLE else []
        lines += wrap(sentence, width, f"{'' if len(name) > TITLE else name:{column}}", " " * column)
    return lines


def wrap(sentence: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """One paragraph."""
    return textwrap.wrap(sentence, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False) or [
        first
    ]
