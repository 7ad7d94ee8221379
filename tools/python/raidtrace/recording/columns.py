# SPDX-License-Identifier: GPL-2.0-or-later
"""The columns of a recording, and whether a file has in each what belongs there.

SQLite puts any value into any column, and what a file says of its own columns is as untrusted as its values. The truth is
tools/raidctl/store/schema.sql; a test compares COLUMNS with it. Columns and tables of a newer raidctl are not read.
"""

import sqlite3

from raidtrace.recording.counters import RecordingError

_FLOW = """queued got back_merges front_merges request_merges splits inserted issued requeued requeued_unissued completed
partial errors unmatched unissued abandoned bytes_queued bytes_issued bytes_completed sequential seek_forward_sectors
seek_backward_sectors d2c_sum_ns sequential_queued seek_queued_forward_sectors seek_queued_backward_sectors stream
stream_queued i2d_sum_ns q2c_sum_ns q2c_unknown ahead_queued bytes_ahead_queued reissued refused depth_sum_ns in_flight
in_flight_max"""
_DISK = """plugs unplugs_explicit unplugs_schedule tag_waits ra_sync_sectors ra_async_sectors streams_forgotten
streams_forgotten_queued streams_alive streams_alive_queued"""
# Table -> columns of text that are always there, that may be NULL, and of numbers, likewise.
_TABLES = {
    "meta": ("key value", "", "", ""),
    "target": (
        "disk", "driver pci hctl groups", "target attached_ns",
        "unit_3ware bio_based rotational capacity_sectors max_sectors max_hw_sectors max_segments nr_requests nr_hw_queues"
        " nr_tags streams place_sectors",
    ),
    "setting": ("name value", "", "time_ns target", ""),
    "phase": ("name", "", "phase start_ns", "end_ns"),
    "sample": ("", "histograms", "sample target phase start_ns end_ns", _DISK),
    "flow": ("direction", "", "sample", _FLOW),
    "bin": ("direction kind", "", "sample bin count", ""),
    "origin": ("class", "", "sample", "queued bytes_queued seeks_queued issued bytes_issued seeks seek_sectors"),
    "submitter": ("", "comm cgroup", "sample submitter", "pid queued bytes_queued seeks_queued"),
    "request": (
        "direction class", "comm", "target number issued_ns completed_ns sector bytes depth error again",
        "queued_ns inserted_ns pid",
    ),
    "stack": ("", "", "target parent", ""),
    "note": ("text", "", "time_ns", ""),
    "host": ("source subject name unit", "", "start_ns end_ns value", ""),
    "disturbance": ("kind subject unit text", "", "disturbance start_ns end_ns value", ""),
    "output": ("stream text", "", "time_ns", ""),
}  # fmt: skip
# table -> column -> (its type, whether NULL may be there)
COLUMNS = {
    table: {
        name: (kind, null)
        for names, (kind, null) in zip(
            parts, (("text", False), ("text", True), ("integer", False), ("integer", True)), strict=True
        )
        for name in names.split()
    }
    for table, parts in _TABLES.items()
}
MOST_BIN = 1 << 16  # no histogram has as many bins
BELONGS = {"text": "a text", "integer": "a whole number from 0 on"}


def check(db: sqlite3.Connection) -> None:
    """RecordingError names the first table and column in which a value is not what belongs there."""
    there = {str(row[0]) for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    for table, columns in COLUMNS.items():
        if table not in there:
            continue
        names = [name for name in known(db, table) if name in columns]
        wrong = {name: _wrong(name, *columns[name]) for name in names}
        if names and db.execute(f"SELECT 1 FROM {table} WHERE {' OR '.join(wrong.values())} LIMIT 1").fetchone():
            _refuse(db, table, wrong)


def known(db: sqlite3.Connection, table: str) -> list[str]:
    """The columns that a recording has of a table, in the order of the file; none if it lacks the table."""
    return [str(row[1]) for row in db.execute(f"PRAGMA table_info({table})") if row[1] in COLUMNS[table]]


def _wrong(name: str, kind: str, null: bool) -> str:
    """An expression that is true for a value that does not belong in a column."""
    wrong = f"typeof({name}) <> '{kind}'" + (f" OR {name} < 0" if kind == "integer" else "")
    return f"{name} IS NOT NULL AND ({wrong})" if null else wrong


def _refuse(db: sqlite3.Connection, table: str, wrong: dict[str, str]) -> None:
    for name, expression in wrong.items():
        row = db.execute(f"SELECT typeof({name}) FROM {table} WHERE {expression} LIMIT 1").fetchone()
        if row:
            has = {"integer": "a negative number", "real": "a fraction", "null": "nothing", "blob": "bytes"}
            raise RecordingError(
                f"column {name} of table {table} has {has.get(row[0], f'a {row[0]}')} where {BELONGS[COLUMNS[table][name][0]]} "
                "belongs: the recording is damaged, or another program changed it"
            )
