# SPDX-License-Identifier: GPL-2.0-or-later
"""The door looks at each value of each column of a recording before anything else does."""

import json
import re
import sqlite3

import long_recording
import pytest
from conftest import call, changed

from raidtrace.cli import export as cli_export
from raidtrace.recording import columns, document, invariants
from raidtrace.recording.columns import RecordingError
from raidtrace.report import export
from raidtrace.report import text as report_text

TEXTS = {"owner": "flow", "unit": "bios"}  # of the dictionary, which takes no other text
ROW_OF_COUNTER = ("flow", "queued", "bios", "x")
KINDS = {"text": "TEXT", "integer": "INTEGER"}


@pytest.fixture
def empty():
    """The schema of a recording, in memory."""
    db = sqlite3.connect(":memory:")
    db.executescript(long_recording.SCHEMA)
    db.execute("ALTER TABLE sample ADD COLUMN histograms TEXT")
    return db


def test_columns_are_those_of_the_schema(empty):
    tables = {name for (name,) in empty.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    assert tables == columns.COLUMNS.keys()
    for table in tables:
        # a key of integers and all of a key of WITHOUT ROWID are never NULL, whatever the schema declares
        result = {
            name: (kind, not notnull and not key)
            for _, name, kind, notnull, _, key in empty.execute(f"PRAGMA table_info({table})")
        }
        new = {name for name, *_ in macro_rows(table)} - columns.COLUMNS[table].keys() if table in MACROS else set()
        assert all(result.pop(name) == ("INTEGER", True) for name in new), "which the dictionary of a recording has"
        assert result == {name: (KINDS[kind], null) for name, (kind, null) in columns.COLUMNS[table].items()}, table


MACROS = {"flow": "FLOW", "sample": "DISK", "origin": "ORIGIN", "submitter": "SUBMITTER", "hwq": "HWQ"}


def macro_rows(table):
    """Name, unit and meaning of each counter of a macro of raidtrace.h."""
    block = re.search(rf"#define RT_{MACROS[table]}_COUNTERS\(X\)((?:.*\\\n)+.*\n)", long_recording.HEADER)[1]
    rows = re.findall(r'X\((\w+), \w+, "([^"]*)",\s*((?:"[^"]*"\s*)+)\)', block.replace("\\\n", " "))
    return [(name, unit, "".join(re.findall('"([^"]*)"', meaning))) for name, unit, meaning in rows]


def test_counters_have_the_units_and_meanings_of_the_header():
    for table in MACROS:
        header = macro_rows(table)
        mine = [(one.name, one.unit, one.meaning) for one in columns.DICTIONARY if one.table == table]
        assert [one for one in mine if one[0] in columns.COUNTERS[table]] == [
            row for row in header if row[0] in columns.COUNTERS[table]
        ]
        assert columns.COUNTERS[table] and {*columns.COUNTERS[table]} <= {name for name, *_ in header}
        assert {unit for _, unit, _ in header} <= columns.UNITS


def test_each_column_has_a_meaning_and_an_export_each_column():
    assert all(one.meaning for one in columns.DICTIONARY)
    tables = {one.table for one in columns.DICTIONARY}
    assert tables == columns.COLUMNS.keys() | {"histogram", "columns"}
    assert export.ORDER.keys() == columns.COLUMNS.keys() - {"counter"}  # columns.csv has its rows


@pytest.fixture
def path(tmp_path):
    result = tmp_path / "run.rtdb"
    long_recording.write(result, 2, 10, 1)
    return result


def test_a_text_where_a_number_belongs_is_refused_by_table_and_column(path):
    changed(path, "UPDATE submitter SET pid = 'x' WHERE sample = 7")
    with pytest.raises(
        RecordingError, match="run.rtdb: column pid of table submitter contains a text instead of a whole number"
    ):
        invariants.load(path)


def untyped(db, table):
    """The table without types and constraints, as a file can have it."""
    rows = db.execute(f"SELECT * FROM {table}")
    names = [column[0] for column in rows.description]
    rows = (
        [ROW_OF_COUNTER]
        if table == "counter"
        else rows.fetchall()
        or [[1 if columns.COLUMNS[table].get(name, ("integer",))[0] == "integer" else "x" for name in names]]
    )
    db.execute(f"DROP TABLE {table}")
    db.execute(f"CREATE TABLE {table} ({', '.join(names)})")
    db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", rows)


@pytest.mark.parametrize(
    ("table", "name"), [(table, name) for table, names in columns.COLUMNS.items() for name in names]
)
def test_each_column_takes_what_belongs_there_and_nothing_else(empty, table, name):
    untyped(empty, table)
    kind, null = columns.COLUMNS[table][name]
    columns.check(empty)
    for value, right in (
        (TEXTS.get(name, "x"), kind == "text"), (b"x", False), (0.5, False), (1e300, False), (-1, name == "sector"),
        (-2, False),
        (1, kind == "integer"), (2**63 - 1, kind == "integer"), (None, null),
    ):  # fmt: skip
        empty.execute(f"UPDATE {table} SET {name} = ?", (value,))
        if right:
            columns.check(empty)
            continue
        with pytest.raises(RecordingError, match=f"column {name} of table {table} contains"):
            columns.check(empty)


def test_a_table_may_lack_columns(empty):
    empty.execute("ALTER TABLE request DROP COLUMN sector")
    columns.check(empty)


def test_columns_of_a_newer_raidctl_are_not_read(path):
    before = invariants.load(path)
    for table in ("sample", "flow", "origin", "submitter", "target"):
        changed(path, f"ALTER TABLE {table} ADD COLUMN newer TEXT", f"UPDATE {table} SET newer = 'x'")
    assert invariants.load(path) == before


def add(path, owner="flow", name="spins", unit="requests", meaning="turns of the platter", value=7, kind="INTEGER"):
    """A recording of a newer raidctl: a counter that this one does not know, and its row of the dictionary."""
    changed(
        path,
        f"ALTER TABLE {owner} ADD COLUMN {name} {kind}",
        (f"UPDATE {owner} SET {name} = ?", (value,)),
        ("INSERT INTO counter VALUES(?, ?, ?, ?)", (owner, name, unit, meaning)),
    )


@pytest.mark.parametrize(("owner", "where"), [
    ("flow", lambda span: span["directions"]["read"]["flow"]), ("sample", lambda span: span["disk_counters"]),
    ("origin", lambda span: max(span["origin"].values(), key=lambda one: one["spins"])),
    ("submitter", lambda span: span["submitters"][0]),
])  # fmt: skip
def test_a_counter_of_a_newer_raidctl_is_in_json_csv_and_text(path, tmp_path, owner, where):
    before = document.load(path)
    add(path, owner)
    after = document.load(path)
    counts = where(after["spans"][0])
    assert counts["spins"] > 0 and counts["spins"] % 7 == 0
    for span in after["spans"]:
        for direction in span["directions"].values():
            direction.get("flow", {}).pop("spins", None)
        for counts in ([span["disk_counters"]], (span["origin"] or {}).values(), span["submitters"] or ()):
            for one in counts:
                one.pop("spins", None)
    assert after == before, "and nothing else changes"
    assert call(cli_export.main, "--csv", tmp_path / "csv", path).returncode == 0
    assert (tmp_path / f"csv/{owner}.csv").read_text(encoding="utf-8").splitlines()[0].endswith(",spins")
    assert f"{owner},spins,requests,turns of the platter" in (tmp_path / "csv/columns.csv").read_text(encoding="utf-8")
    exported = json.loads(call(cli_export.main, "--json", path).stdout)
    assert {row["spins"] for row in exported["tables"][owner]} == {7}
    text = report_text.text(invariants.load(path), "", True)
    assert re.search(r"further counters.*\n  spins +\w+.* \d[\d,]* +requests\n", text)


@pytest.mark.parametrize("wrong", [
    {"unit": "parsecs"}, {"meaning": "x" * 401}, {"name": "Spins"}, {"name": "_spins"}, {"value": "x", "kind": "TEXT"},
    {"value": -1},
])  # fmt: skip
def test_a_dictionary_that_raidctl_does_not_write_is_refused(path, wrong):
    add(path, **wrong)
    with pytest.raises(RecordingError, match="which raidctl does not write|column spins of table flow contains"):
        invariants.load(path)


def test_a_counter_of_a_table_without_counters_and_too_many_are_refused(path):
    changed(path, "INSERT INTO counter VALUES('target', 'spins', 'requests', '')")
    with pytest.raises(RecordingError, match="'spins' of 'target'"):
        invariants.load(path)
    many = (f"INSERT INTO counter VALUES('flow', 'spins{at}', 'requests', '')" for at in range(65))
    changed(path, "DELETE FROM counter", *many)
    with pytest.raises(RecordingError, match="65 counters that this raidctl does not know"):
        invariants.load(path)


def test_a_recording_without_a_dictionary_is_read_as_before(path):
    before = invariants.load(path)
    assert invariants.load(changed(path, "DROP TABLE counter")) == before
