# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of a report, and their form on a terminal: lines, paragraphs, and tables.

tables.py makes a table once. This module renders it as text, page.py as HTML; neither depends on a counter. Text of a
recording passes through visible() before it gets here, so only this module adds marks for bold text.
"""

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from raidtrace.quantity import shown, terminal
from raidtrace.quantity.shown import visible

BOLD, PLAIN = "\033[1m", "\033[0m"
NOT_AVAILABLE = "n/a"
MAX_LENGTH = 4000
NUMBERS = 2  # spare columns up to this number are more important than a long name on the same line
MIN_NAME_WIDTH = 5  # columns of a table's first column


@dataclasses.dataclass(frozen=True)
class Cell:
    """A cell of a table. key: the number to sort by; None for words, and for a number that is not available."""

    text: str
    key: float | None = None


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of a table.

    unit, meaning: of its number, with names of counters.rst. head: the heading in text, one line or two; default: the
    name. numeric: aligned to the right. narrow: the words next to the number if a page is too narrow for a table. of:
    the cell of a subject, such as one direction of a span, for Table.of(). rare: left out if all numbers are 0. spare:
    a terminal that is too narrow leaves out the columns with the highest number first, and never those with 0.
    """

    name: str
    unit: str = ""
    meaning: str = ""
    numeric: bool = True
    head: str = ""
    narrow: str = ""
    of: Callable[[Any], Cell] | None = None
    rare: bool = False
    spare: int = 0


@dataclasses.dataclass(frozen=True)
class Row:
    """A row of a table. id: the anchor for links from sentences of a page."""

    id: str
    cells: tuple[Cell, ...]


@dataclasses.dataclass(frozen=True)
class Table:
    """A table. left_out: number of further rows of the recording. spared: the sentence for a terminal without room for
    the spare columns of NUMBERS. indent: blanks before each line of text."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    left_out: int = 0
    spared: str = ""
    indent: int = 0

    @classmethod
    def of(
        cls, ident: str, caption: str, columns: Sequence[Column], subjects: Iterable[object], left_out: int = 0
    ) -> "Table":
        """A table with a row for each subject. Rare columns with only zeros are left out."""
        rows = [[column.of(subject) for column in columns if column.of] for subject in subjects]
        used = [at for at, column in enumerate(columns) if not column.rare or any(row[at].key != 0 for row in rows)]
        return cls(ident, caption, tuple(columns[at] for at in used),
                   tuple(Row("", tuple(row[at] for at in used)) for row in rows), left_out)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Line:
    """One unchanged line, without any text of a file."""

    text: str = ""


@dataclasses.dataclass(frozen=True)
class Words:
    """A label, and a paragraph to its right that is wrapped to the width of the terminal."""

    label: str
    text: str
    indent: int = terminal.LABEL_WIDTH


@dataclasses.dataclass(frozen=True)
class Sentence:
    """A sentence of a page's summary. row: id of the row with its numbers, or empty."""

    text: str
    row: str = ""


def printable(text: str, longest: int = MAX_LENGTH) -> str:
    """Untrusted text as lines of at most `longest` characters: nothing is hidden, and nothing changes the direction of
    writing."""
    return shown.lines(text[:longest]) + ("" if len(text) <= longest else " ...")


def name(text: str) -> Cell:
    """A cell with text that may be from a file."""
    return Cell(visible(printable(text, 400)))


def number(value: float | None, digits: int = 0) -> Cell:
    """A cell with a number with grouped digits. None: not available."""
    return Cell(NOT_AVAILABLE) if value is None else Cell(f"{value:,.{digits}f}", float(value))


def row_id(letter: str, disk: str, phase: int | str) -> str:
    """The id of the row of a phase of a disk in the recording with that letter."""
    safe = "".join(c if c.isalnum() and c.isascii() else f"_{ord(c):x}_" for c in f"{disk}-{phase}")
    return f"row-{letter}-{safe}"


def words(label: str, text: str, indent: int = terminal.LABEL_WIDTH) -> Words:
    """A paragraph of text that may be from a file."""
    return Words(label, visible(text), indent)


def render(rows: Iterable[Line | Words | Table]) -> str:
    """The text of all rows for standard output."""
    width, (bold, plain) = terminal.width(), terminal.styles()
    out = []
    for row in rows:
        match row:
            case Line(text):
                out.append(text + "\n")
            case Words(label, text, indent):
                out.append(terminal.wrapped(text, width, indent, label))
            case Table():
                out += _table(row, width)
    return "".join(out).replace(BOLD, bold).replace(PLAIN, plain)


def _columns(table: Table, sizes: Sequence[int], width: int) -> tuple[list[int], int]:
    """The columns that fit into the width, and the width of the first column.

    Spare columns with the highest number are left out first. Before those up to NUMBERS are left out, a long name in
    the first column gets its own line."""
    least = max(MIN_NAME_WIDTH, len(table.columns[0].head))
    for most in sorted({column.spare for column in table.columns}, reverse=True):
        used = [at for at, column in enumerate(table.columns) if column.spare <= most]
        room = width - table.indent - (len(used) - 1) - sum(sizes[at] for at in used[1:])
        if room >= (sizes[0] if most > NUMBERS else least):
            break
    spare = any(column.spare for column in table.columns)
    return used, min(sizes[0], max(room, least)) if spare else sizes[0]


def _table(table: Table, width: int) -> list[str]:
    """The lines of a table. Columns move closer together if the lines are longer than the terminal."""
    heads = [(column.head or column.name).split("\n") for column in table.columns]
    tall = max(map(len, heads))
    sizes = [max(map(len, (*head, *(row.cells[at].text for row in table.rows)))) for at, head in enumerate(heads)]
    used, first = _columns(table, sizes, width)
    wide = [first, *(sizes[at] for at in used[1:])]
    gap = "  " if table.indent + sum(wide) + 2 * (len(used) - 1) <= width else " "

    def line(cells: Sequence[str]) -> str:
        return (
            " " * table.indent
            + gap.join(
                f"{cells[at]:{'>' if table.columns[at].numeric else '<'}{size}}"
                for at, size in zip(used, wide, strict=True)
            ).rstrip()
            + "\n"
        )

    out = [line([head[row] if row < len(head) else "" for head in heads]) for row in range(tall)]
    out[0], out[-1] = BOLD + out[0], out[-1][:-1] + PLAIN + "\n"
    alone = ""
    for row in table.rows:
        cells = [cell.text for cell in row.cells]
        if len(cells[0]) > first:  # the name is on its own line above these rows
            if cells[0] != alone:
                out.append(f"{cells[0]}\n")
            alone, cells[0] = cells[0], ""
        out.append(line(cells))
    if table.left_out:
        out.append(f"{'':{table.indent}}and {table.left_out} more\n")
    if table.spared and any(table.columns[at].spare == NUMBERS for at in range(len(heads)) if at not in used):
        out.append(terminal.wrapped(table.spared, width))
    return out
