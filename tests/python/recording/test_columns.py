# SPDX-License-Identifier: GPL-2.0-or-later
"""The door looks at each value of each column of a recording before anything else does."""

import re
import sqlite3

import long_recording
import pytest

from raidtrace.recording import columns, invariants
from raidtrace.recording.columns import RecordingError
from raidtrace.report import export

KINDS = {"text": "TEXT", "integer": "INTEGER"}


def test_columns_are_those_of_the_schema():
    db = sqlite3.connect(":memory:")
    db.executescript(long_recording.SCHEMA)
    db.execute("ALTER TABLE sample ADD COLUMN histograms TEXT")
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    assert tables == columns.COLUMNS.keys()
    for table in tables:
        # a key of integers and all of a key of WITHOUT ROWID are never NULL, whatever is said
        found = {
            name: (kind, not notnull and not key)
            for _, name, kind, notnull, _, key in db.execute(f"PRAGMA table_info({table})")
        }
        assert found == {name: (KINDS[kind], null) for name, (kind, null) in columns.COLUMNS[table].items()}, table


def test_counters_have_the_units_and_meanings_of_the_header():
    macros = {"flow": "FLOW", "sample": "DISK", "origin": "ORIGIN", "submitter": "SUBMITTER", "hwq": "HWQ"}
    for table, macro in macros.items():
        block = re.search(rf"#define RT_{macro}_COUNTERS\(X\)((?:.*\\\n)+.*\n)", long_recording.HEADER)[1].replace(
            "\\\n", " "
        )
        rows = re.findall(r'X\((\w+), \w+, "[^"]*", "([^"]*)",\s*((?:"[^"]*"\s*)+)\)', block)
        header = [(name, unit, "".join(re.findall('"([^"]*)"', meaning))) for name, unit, meaning in rows]
        mine = [(one.name, one.unit, one.meaning) for one in columns.DICTIONARY if one.table == table]
        assert [one for one in mine if one[0] in columns.COUNTERS[table]] == header and header


def test_each_column_has_a_meaning_and_an_export_each_column():
    assert all(one.meaning for one in columns.DICTIONARY)
    tables = {one.table for one in columns.DICTIONARY}
    assert tables == columns.COLUMNS.keys() | {"histogram", "columns"} and export.ORDER.keys() == columns.COLUMNS.keys()


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "run.rtdb"
    long_recording.write(found, 2, 10, 1)
    return found


def test_a_text_where_a_number_belongs_is_refused_by_table_and_column(path):
    with sqlite3.connect(path) as db:
        db.execute("UPDATE submitter SET pid = 'x' WHERE sample = 7")
    with pytest.raises(RecordingError, match="run.rtdb: column pid of table submitter has a text where a whole number"):
        invariants.load(path)


def untyped(db, table):
    """The table without types and constraints, as a file can have it."""
    rows = db.execute(f"SELECT * FROM {table}")
    names = [column[0] for column in rows.description]
    rows = rows.fetchall() or [[1 if columns.COLUMNS[table][name][0] == "integer" else "x" for name in names]]
    db.execute(f"DROP TABLE {table}")
    db.execute(f"CREATE TABLE {table} ({', '.join(names)})")
    db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", rows)


@pytest.mark.parametrize(
    ("table", "name"), [(table, name) for table, names in columns.COLUMNS.items() for name in names]
)
def test_each_column_takes_what_belongs_there_and_nothing_else(table, name):
    db = sqlite3.connect(":memory:")
    db.executescript(long_recording.SCHEMA)
    db.execute("ALTER TABLE sample ADD COLUMN histograms TEXT")
    untyped(db, table)
    kind, null = columns.COLUMNS[table][name]
    columns.check(db)
    for value, right in (
        ("x", kind == "text"), (b"x", False), (0.5, False), (1e300, False), (-1, False), (1, kind == "integer"),
        (2**63 - 1, kind == "integer"), (None, null),
    ):  # fmt: skip
        db.execute(f"UPDATE {table} SET {name} = ?", (value,))
        if right:
            columns.check(db)
            continue
        with pytest.raises(RecordingError, match=f"column {name} of table {table} has"):
            columns.check(db)


def test_columns_of_a_newer_raidctl_are_not_read(path):
    before = invariants.load(path)
    with sqlite3.connect(path) as db:
        for table in ("sample", "flow", "origin", "submitter", "target"):
            db.execute(f"ALTER TABLE {table} ADD COLUMN newer TEXT")
            db.execute(f"UPDATE {table} SET newer = 'x'")
    assert invariants.load(path) == before
