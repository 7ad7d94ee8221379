# SPDX-License-Identifier: GPL-2.0-or-later
"""The columns of a recording: type, unit and meaning (columns.txt), and a check of the values in them.

SQLite accepts any value in any column. The dictionary of a file (its table counter) is as untrusted as its values.
Columns and tables of a newer raidctl are ignored. Counters in the file's dictionary are the exception: JSON, CSV and
report -v print them. columns.txt is the dictionary of a recording without one.
"""

import dataclasses
import pathlib
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

from raidtrace.quantity import pages, terminal
from raidtrace.quantity.shown import UserError


class RecordingError(UserError):
    """The file cannot be used. The text contains its name, the reason and the remedy."""


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of a table. kind: integer, text, or empty for a column that only an export has. null: NULL
    is allowed."""

    table: str
    name: str
    kind: str
    null: bool
    unit: str
    meaning: str


def _dictionary() -> list[Column]:
    table, columns = "", []
    for line in pathlib.Path(__file__).with_name("columns.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith(("#", " ")):
            table = line
        elif line.startswith(" "):
            name, kind, unit, meaning = (part.strip() for part in line.split("|", 3))
            kinds = {"i": "integer", "t": "text", "x": ""}
            columns.append(Column(table, name, kinds[kind.rstrip("?")], kind.endswith("?"), unit, meaning))
    return columns


DICTIONARY = _dictionary()
# table -> column -> (type, whether NULL is allowed)
COLUMNS: dict[str, dict[str, tuple[str, bool]]] = {}
for _one in DICTIONARY:
    if _one.kind:
        COLUMNS.setdefault(_one.table, {})[_one.name] = (_one.kind, _one.null)
LEVELS, ALIVE = ("in_flight", "in_flight_max"), ("streams_alive", "streams_alive_queued")
# Columns that are not counters.
PLAIN = {*LEVELS, *ALIVE, "sample", "target", "phase", "start_ns", "end_ns", "histograms", "direction", "class", "submitter",
         "pid", "comm", "cgroup", "hwq"}  # fmt: skip
# table -> its counters, in the order of any output
COUNTERS = {table: tuple(name for name in COLUMNS[table] if name not in PLAIN)
            for table in ("flow", "sample", "origin", "submitter", "hwq")}  # fmt: skip
UNITS = frozenset(
    "bios bytes completions events ns pages pieces plugs requests sectors streams unplugs waits windows".split()
)
NAME = re.compile("[a-z][a-z0-9_]{0,47}")
MAX_ADDED, MAX_MEANING = 64, 400  # counters that a newer raidctl added; characters of a meaning
MAX_BIN = 1 << 16  # every histogram has fewer bins
NO_SECTOR = -1  # sector of a flush in a recording of raidctl 1.0, where the column has no NULL
LEAST = {("request", "sector"): NO_SECTOR}  # least value of a column, if it is not 0
BELONGS = {"text": "a text", "integer": "a whole number from 0 on"}


def check(db: sqlite3.Connection) -> None:
    """Check all values. Raises RecordingError for the first table and column with a value of another type, or below its
    minimum."""
    there = {str(row[0]) for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    for table, columns in COLUMNS.items():  # the table counter is checked before its rows are used
        if table not in there:
            continue
        more = added(db) if table in COUNTERS else ()
        kinds = columns | {one.name: (one.kind, one.null) for one in more}
        wrong = {name: _wrong(name, *kinds[name], LEAST.get((table, name), 0)) for name in known(db, table, more)}
        if wrong and db.execute(f"SELECT 1 FROM {table} WHERE {' OR '.join(wrong.values())} LIMIT 1").fetchone():
            _refuse(db, table, kinds, wrong)


def known(db: sqlite3.Connection, table: str, more: Sequence[Column] = ()) -> list[str]:
    """The known columns of a table in a recording, in the order of the file. Empty: there is no such table. more: from
    added()."""
    names = COLUMNS[table].keys() | {one.name for one in more if one.table == table}
    return [str(row[1]) for row in db.execute(f"PRAGMA table_info({table})") if row[1] in names]


def added(db: sqlite3.Connection) -> tuple[Column, ...]:
    """The counters in the dictionary of a recording that this raidctl does not know. Raises RecordingError if raidctl
    does not write such a dictionary."""
    if not db.execute("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'counter'").fetchone():
        return ()
    counters: dict[tuple[str, str], Column] = {}
    for owner, name, unit, meaning in db.execute("SELECT owner, name, unit, meaning FROM counter ORDER BY owner, name"):
        if owner not in COUNTERS or not NAME.fullmatch(name) or unit not in UNITS or len(meaning) > MAX_MEANING:
            raise RecordingError(
                f"its dictionary has a counter {name[:60]!r} of {owner[:20]!r} in {unit[:20]!r}, which raidctl does not write"
            )
        if name not in COLUMNS[owner]:
            counters[owner, name] = Column(owner, name, "integer", True, unit, meaning)
    if len(counters) > MAX_ADDED:
        raise RecordingError(
            f"its dictionary has {len(counters)} counters that this raidctl does not know; use the raidctl that made it"
        )
    return tuple(counters.values())


def _wrong(name: str, kind: str, null: bool, least: int) -> str:
    """An SQL expression that is true for a value that the column must not contain."""
    wrong = f"typeof({name}) <> '{kind}'" + (f" OR {name} < {least}" if kind == "integer" else "")
    return f"{name} IS NOT NULL AND ({wrong})" if null else wrong


def _refuse(
    db: sqlite3.Connection, table: str, kinds: Mapping[str, tuple[str, bool]], wrong: Mapping[str, str]
) -> None:
    for name, expression in wrong.items():
        row = db.execute(f"SELECT typeof({name}) FROM {table} WHERE {expression} LIMIT 1").fetchone()
        if row:
            has = {"integer": "a negative number", "real": "a fraction", "null": "nothing", "blob": "bytes"}
            raise RecordingError(
                f"column {name} of table {table} contains {has.get(row[0], f'a {row[0]}')} instead of "
                f"{BELONGS[kinds[name][0]]}: the recording is damaged, or another program changed it"
            )


# The definition of each printed number, from the tables of Documentation/counters.rst.

PAGE = pages.DIRECTORY / "counters.rst"
TAILS = ("", "-low", "-high")  # suffixes of members in JSON
_BORDER = re.compile(r"=+( +=+)+ *")


@dataclasses.dataclass(frozen=True)
class Definition:
    """The definition of a number or of another heading of a report. others: the letter of blktrace, the heading in a
    text."""

    name: str
    others: tuple[str, ...]
    unit: str
    text: str

    def has(self, name: str) -> bool:
        """Whether the definition has this name. Case, and dashes, underscores or blanks, make no difference."""
        return _folded(name) in {_folded(own) + tail for own in (self.name, *self.others) for tail in TAILS}

    def shown(self) -> str:
        names = f"{self.name} ({', '.join(self.others)})" if self.others else self.name
        return f"{names}, {self.unit or 'no unit'}\n" + terminal.wrapped(self.text, terminal.width(), 4)


def _folded(name: str) -> str:
    return name.replace("_", "-").replace(" ", "-").lower()


def definitions_text(names: Sequence[str], headings: Iterable[Definition] = ()) -> str:
    """The text of the definitions with some names, or of all. A name can belong to several numbers. Raises UserError
    for an unknown name. headings: further definitions of a report, for names that the page does not have."""
    known = list(definitions(PAGE.read_text(encoding="utf-8")))
    for one in headings:
        if not any(other.has(one.name) for other in known):
            known.append(one)
    for name in names:
        if not any(one.has(name) for one in known):
            raise UserError(f"{name}: no number has this name; to list all: raidctl report --explain")
    chosen = [one for name in names for one in known if one.has(name)] if names else known
    return "".join(one.shown() for one in chosen)


def definitions(page: str) -> Iterator[Definition]:
    """The definitions in the simple tables of a page. The heading of their first column is "name" or "value" in a table
    of three columns, or "kind" in one of four."""
    lines = page.splitlines()
    borders = [at for at, line in enumerate(lines) if _BORDER.fullmatch(line)]
    while len(borders) > 1:
        top, head = borders.pop(0), borders.pop(0)
        if not borders or (head + 1 < len(lines) and not lines[head + 1].strip()):
            continue  # a table without a header
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
