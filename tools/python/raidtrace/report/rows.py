# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows of a report as text. A section makes rows, render() writes them and knows nothing of counters.

Text that comes from a recording goes through shown.visible() when its row is made, so the marks of bold text are ours alone.
"""

import dataclasses
from collections.abc import Iterable, Sequence

from raidtrace.quantity import terminal
from raidtrace.quantity.shown import visible

BOLD, PLAIN = "\033[1m", "\033[0m"


@dataclasses.dataclass(frozen=True)
class Line:
    """One line as it is; nothing in it is from a file."""

    text: str = ""


@dataclasses.dataclass(frozen=True)
class Words:
    """A label and a paragraph beside it, in lines of the terminal's width."""

    label: str
    text: str
    indent: int = terminal.LABEL


@dataclasses.dataclass(frozen=True)
class Table:
    """Cells in the columns of a format. heads: lines above them."""

    format: str
    rows: Sequence[Sequence[str]]
    heads: Sequence[Sequence[str]] = ()


Row = Line | Words | Table


def words(label: str, text: str, indent: int = terminal.LABEL) -> Words:
    """A paragraph of a text that may be from a file."""
    return Words(label, visible(text), indent)


def cells(format_: str, rows: Iterable[Sequence[str]], *heads: Sequence[str]) -> Table:
    """A table of texts that may be from a file."""
    return Table(format_, [[visible(cell) for cell in row] for row in rows], heads)


def render(rows: Iterable[Row]) -> str:
    """All rows as text for standard output."""
    width, (bold, plain) = terminal.width(), terminal.styles()
    out = []
    for row in rows:
        match row:
            case Line(text):
                out.append(text + "\n")
            case Words(label, text, indent):
                out.append(terminal.wrapped(text, width, indent, label))
            case Table(format_, lines, heads):
                above = [format_.format(*head) for head in heads]
                if above:
                    above[0], above[-1] = BOLD + above[0], above[-1] + PLAIN
                out += [f"{line}\n" for line in (*above, *(format_.format(*line) for line in lines))]
    return "".join(out).replace(BOLD, bold).replace(PLAIN, plain)
