# SPDX-License-Identifier: GPL-2.0-or-later
"""The columns of a recording: type, unit and meaning (columns.txt), and whether a file has in each what belongs there.

SQLite puts any value into any column, and the dictionary of a file (its table counter) is as untrusted as its values. Columns
and tables of a newer raidctl are not read, except counters that are in its dictionary: JSON, CSV and report -v print them.
columns.txt is the dictionary of a recording that has none.
"""

import dataclasses
import pathlib
import re
import sqlite3
from collections.abc import Mapping, Sequence


class RecordingError(Exception):
    """The file cannot be used; the text says which, why and what to do."""


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of a table. kind: integer, text, or empty for a column that is in an export only. null: NULL may be there."""

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
# table -> column -> (its type, whether NULL may be there)
COLUMNS: dict[str, dict[str, tuple[str, bool]]] = {}
for _one in DICTIONARY:
    if _one.kind:
        COLUMNS.setdefault(_one.table, {})[_one.name] = (_one.kind, _one.null)
LEVELS, ALIVE = ("in_flight", "in_flight_max"), ("streams_alive", "streams_alive_queued")
# No counters that grow.
PLAIN = {*LEVELS, *ALIVE, "sample", "target", "phase", "start_ns", "end_ns", "histograms", "direction", "class", "submitter",
         "pid", "comm", "cgroup", "hwq"}  # fmt: skip
# table -> its counters, in the order of every print
COUNTERS = {table: tuple(name for name in COLUMNS[table] if name not in PLAIN)
            for table in ("flow", "sample", "origin", "submitter", "hwq")}  # fmt: skip
UNITS = frozenset(
    "bios bytes completions events ns pages pieces plugs requests sectors streams unplugs waits windows".split()
)
NAME = re.compile("[a-z][a-z0-9_]{0,47}")
MOST_ADDED, LONGEST = 64, 400  # counters that a newer raidctl has, characters of a meaning
MOST_BIN = 1 << 16  # no histogram has as many bins
BELONGS = {"text": "a text", "integer": "a whole number from 0 on"}


def check(db: sqlite3.Connection) -> None:
    """RecordingError names the first table and column in which a value is not what belongs there."""
    there = {str(row[0]) for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    for table, columns in COLUMNS.items():  # counter is among the first, before its rows are used
        if table not in there:
            continue
        more = added(db) if table in COUNTERS else ()
        kinds = columns | {one.name: (one.kind, one.null) for one in more}
        wrong = {name: _wrong(name, *kinds[name]) for name in known(db, table, more)}
        if wrong and db.execute(f"SELECT 1 FROM {table} WHERE {' OR '.join(wrong.values())} LIMIT 1").fetchone():
            _refuse(db, table, kinds, wrong)


def known(db: sqlite3.Connection, table: str, more: Sequence[Column] = ()) -> list[str]:
    """The columns that a recording has of a table, in the order of the file; none if it lacks the table. more: added()."""
    names = COLUMNS[table].keys() | {one.name for one in more if one.table == table}
    return [str(row[1]) for row in db.execute(f"PRAGMA table_info({table})") if row[1] in names]


def added(db: sqlite3.Connection) -> tuple[Column, ...]:
    """The counters of the dictionary of a recording that this raidctl does not know. RecordingError: raidctl does not write
    such a dictionary."""
    if not db.execute("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'counter'").fetchone():
        return ()
    counters: dict[tuple[str, str], Column] = {}
    for owner, name, unit, meaning in db.execute("SELECT owner, name, unit, meaning FROM counter ORDER BY owner, name"):
        if owner not in COUNTERS or not NAME.fullmatch(name) or unit not in UNITS or len(meaning) > LONGEST:
            raise RecordingError(
                f"its dictionary has a counter {name[:60]!r} of {owner[:20]!r} in {unit[:20]!r}, which raidctl does not write"
            )
        if name not in COLUMNS[owner]:
            counters[owner, name] = Column(owner, name, "integer", True, unit, meaning)
    if len(counters) > MOST_ADDED:
        raise RecordingError(
            f"its dictionary has {len(counters)} counters that this raidctl does not know; use the raidctl that made it"
        )
    return tuple(counters.values())


def _wrong(name: str, kind: str, null: bool) -> str:
    """An expression that is true for a value that does not belong in a column."""
    wrong = f"typeof({name}) <> '{kind}'" + (f" OR {name} < 0" if kind == "integer" else "")
    return f"{name} IS NOT NULL AND ({wrong})" if null else wrong


def _refuse(
    db: sqlite3.Connection, table: str, kinds: Mapping[str, tuple[str, bool]], wrong: Mapping[str, str]
) -> None:
    for name, expression in wrong.items():
        row = db.execute(f"SELECT typeof({name}) FROM {table} WHERE {expression} LIMIT 1").fetchone()
        if row:
            has = {"integer": "a negative number", "real": "a fraction", "null": "nothing", "blob": "bytes"}
            raise RecordingError(
                f"column {name} of table {table} has {has.get(row[0], f'a {row[0]}')} where {BELONGS[kinds[name][0]]} "
                "belongs: the recording is damaged, or another program changed it"
            )
