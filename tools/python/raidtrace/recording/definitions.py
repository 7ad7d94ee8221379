# SPDX-License-Identifier: GPL-2.0-or-later
"""What every printed number is, in the words of the tables of Documentation/counters.rst."""

import dataclasses
import pathlib
import re
from collections.abc import Iterable, Iterator, Sequence

from raidtrace.quantity import terminal

PAGE = pathlib.Path(__file__).resolve().parents[4] / "Documentation" / "counters.rst"
TAILS = ("", "-low", "-high")  # of members of JSON
_BORDER = re.compile(r"=+( +=+)+ *")


class NameError_(Exception):
    """No number has a name; the text says which."""


@dataclasses.dataclass(frozen=True)
class Definition:
    """One number, or what else a report has a heading for. others: the letter of blktrace, the heading in a text."""

    name: str
    others: tuple[str, ...]
    unit: str
    text: str

    def has(self, name: str) -> bool:
        """Whether a name is one of its names, with dashes, underscores or blanks, in any case."""
        return _folded(name) in {_folded(own) + tail for own in (self.name, *self.others) for tail in TAILS}

    def shown(self) -> str:
        """Two lines or more."""
        names = f"{self.name} ({', '.join(self.others)})" if self.others else self.name
        return f"{names}, {self.unit or 'no unit'}\n" + terminal.wrapped(self.text, terminal.width(), 4)


def _folded(name: str) -> str:
    return name.replace("_", "-").replace(" ", "-").lower()


def text(names: Sequence[str], headings: Iterable[Definition] = ()) -> str:
    """The definitions of some names, or all. A name can stand for several numbers. headings: of a report, which count where the
    page has no such name. NameError_: there is none of a name."""
    known = list(definitions(PAGE.read_text(encoding="utf-8")))
    for one in headings:
        if not any(other.has(one.name) for other in known):
            known.append(one)
    for name in names:
        if not any(one.has(name) for one in known):
            raise NameError_(f"{name}: no number has that name; see them all: raidctl report --explain")
    chosen = [one for name in names for one in known if one.has(name)] if names else known
    return "".join(one.shown() for one in chosen)


def definitions(page: str) -> Iterator[Definition]:
    """Rows of the simple tables with a first column that is headed "name" or "value" (of three) or "kind" (of four)."""
    lines = page.splitlines()
    borders = [at for at, line in enumerate(lines) if _BORDER.fullmatch(line)]
    while len(borders) > 1:
        top, head = borders.pop(0), borders.pop(0)
        if not borders or (head + 1 < len(lines) and not lines[head + 1].strip()):
            continue  # without a header
        end = borders.pop(0)
        begins = [border.start() for border in re.finditer("=+", lines[top])]
        headings = _cells(lines[top + 1], begins)
        if (headings[0], len(begins)) in (("name", 3), ("value", 3), ("kind", 4)):
            yield from map(_definition, [headings] * (end - head), _rows(lines[head + 1 : end], begins))


def _cells(line: str, begins: Sequence[int]) -> list[str]:
    ends = [*begins[1:], None]
    return [line[begin:end].replace("``", "").strip() for begin, end in zip(begins, ends, strict=True)]


def _rows(lines: Sequence[str], begins: Sequence[int]) -> Iterator[list[str]]:
    row: list[str] = []
    for line in filter(str.strip, lines):
        cells = _cells(line, begins)
        if cells[0] and row:
            yield row
            row = []
        row = [" ".join(filter(None, pair)) for pair in zip(row, cells, strict=True)] if row else cells
    yield row


def _definition(headings: Sequence[str], row: Sequence[str]) -> Definition:
    names, _, other = row[0].partition(" (")
    name, *more = names.split(", ")
    others = (*more, *filter(None, other.removesuffix(")").split(", ")))
    units = [re.sub(r"^reqs\.$", "requests", cell) for cell in row]
    if headings[0] == "kind":
        return Definition(name, others, units[2], f"histogram of {units[1]}; bins: {row[3]}")
    lead = "incremented when " if headings[2] == "incremented when" else ""
    lead = "in raidctl explain: " if headings[0] == "value" else lead
    return Definition(name, others, units[1], lead + row[2])
