# SPDX-License-Identifier: GPL-2.0-or-later
"""An explanation as text for a terminal."""

import textwrap
from collections.abc import Sequence

from raidtrace.explain.evidence import Chain, Explanation, Limit, Link, Verdict, lower_initial

LEAST, MOST = 60, 120  # columns: narrower cannot be read, wider neither
MARKS = {
    Verdict.SHOWN: "+",
    Verdict.INFERRED: "*",
    Verdict.NOT_SHOWN: "-",
    Verdict.CONTRADICTED: "x",
    Verdict.NOT_AVAILABLE: "?",
}
TITLE = 18  # columns of a link's title
RULED_OUT = "Ruled out"


def text(explanation: Explanation, columns: int, verbose: bool = False) -> list[str]:
    """The lines of an explanation: the summary, then the evidence of each chain, then the notes. Without `verbose` the limits
    that the recording rules out are named in one row."""
    width = min(max(columns, LEAST), MOST)
    lines = []
    for subject in explanation.subjects:
        facts = ", ".join(f"{name} {value}" for name, value in subject.facts)
        letter = f"{subject.letter}: " if len(explanation.subjects) > 1 else ""
        lines += wrap(f"{letter}{subject.path}" + (f" ({facts})" if facts else ""), width, "", "   ")
    if explanation.tested:
        lines += [
            "",
            *wrap(f"Tested by experiment (raidctl why): {explanation.tested}", width),
            "Inferred from the recording:",
        ]
    if explanation.opening:
        lines += ["", *rows(explanation.opening, width)]
    elif len(explanation.chains) != 1:
        for sentence in explanation.summary:
            lines += ["", *wrap(sentence, width)]
    answered = not explanation.opening and len(explanation.chains) > 1
    for chain in explanation.chains:
        lines += ["", *_chain(chain, width, () if answered else chain.summary, verbose)]
    if explanation.notes:
        lines += ["", "Keep in mind:"]
        for note in explanation.notes:
            lines += wrap(note, width, "  ", "  ")
    return lines + ["", *wrap("+ shown, * inferred, - not shown, x contradicted, ? not available", width)]


def _chain(chain: Chain, width: int, summary: Sequence[str], verbose: bool) -> list[str]:
    lines = [chain.title, "-" * min(len(chain.title), width)]
    for sentence in summary:
        lines += wrap(sentence, width)
    lines += [""] if summary else []
    for link in chain.links:
        lines += _row(link, width)
    limits = [limit for limit in chain.limits if limit.verdict is not Verdict.NOT_AVAILABLE]
    ruled_out = [] if verbose else [limit for limit in limits if limit.verdict is Verdict.CONTRADICTED]
    if limits:
        lines += ["", "What limits it:"]
        for limit in limits:
            if limit not in ruled_out:
                lines += _row(limit, width)
    if ruled_out:
        names = ", ".join(lower_initial(limit.title) for limit in ruled_out)
        lines += _row(
            Limit("", RULED_OUT, f"{names} (raidctl explain -v shows the evidence)", Verdict.CONTRADICTED), width
        )
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
