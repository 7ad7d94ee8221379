# SPDX-License-Identifier: GPL-2.0-or-later
"""The indexes of many sweeps and hosts as one SQLite file, and as Parquet for engines that query any number of files.

Every table gets a column `sweep`, a number, and table `sweep` says of each which host, plan and file it is. Merging again
replaces what came from the same sweep: a sweep is known by the id that it was given when it began, for hosts of one name that
a playbook starts in the same second are usual.
"""

import contextlib
import pathlib
import sqlite3
from collections.abc import Sequence

from raidtrace.recording import database
from raidtrace.sweep.index import APPLICATION_ID, NAME, Index

MERGED_ID = 0x52544D47  # "RTMG"
MERGED_VERSION = 2  # 1 had no id of a sweep
TABLES = ("meta", "cell", "axis", "parameter", "step", "figure", "queue")


class MergeError(Exception):
    """Sweeps that cannot be merged; the text says why."""


def merge(into: pathlib.Path, sweeps: Sequence[pathlib.Path]) -> int:
    """Merge sweeps into a file, which may exist. Returns how many sweeps it then holds. All or nothing."""
    fresh = not into.exists()
    try:
        db = sqlite3.connect(into, isolation_level=None) if fresh else database.write(into)
    except sqlite3.DatabaseError as error:
        raise MergeError(f"{into}: {error}") from error
    try:
        kind = db.execute("PRAGMA application_id").fetchone()[0]
        if not fresh and kind != MERGED_ID:
            raise MergeError(f"{into}: not made by raidctl sweep merge")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if not fresh and version != MERGED_VERSION:
            raise MergeError(
                f"{into}: of version {version}, this program writes version {MERGED_VERSION}; merge into a new file"
            )
        paths = [path / NAME if path.is_dir() else path for path in sweeps]
        for path in paths:
            Index(path).close()  # refuses what is none
        db.execute("BEGIN IMMEDIATE")
        db.execute(f"PRAGMA application_id={MERGED_ID}")
        db.execute(f"PRAGMA user_version={MERGED_VERSION}")
        db.execute("CREATE TABLE IF NOT EXISTS sweep(sweep INTEGER PRIMARY KEY, hostname TEXT, started_utc TEXT, plan TEXT, "
                   "file TEXT, id TEXT, UNIQUE(hostname, started_utc, plan, id))")  # fmt: skip
        for path in paths:
            _one(db, path)
        count = int(db.execute("SELECT count(*) FROM sweep").fetchone()[0])
        db.execute("COMMIT")
        return count
    except sqlite3.DatabaseError as error:
        raise MergeError(f"{into}: {error}") from error
    finally:
        db.close()


def _one(db: sqlite3.Connection, path: pathlib.Path) -> None:
    with contextlib.closing(database.read(path)) as source:
        assert source.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
        meta = dict(source.execute("SELECT key, value FROM meta"))
        key = (meta.get("hostname", ""), meta.get("started_utc", ""), meta.get("plan", ""), meta.get("id", ""))
        number = db.execute(
            "SELECT sweep FROM sweep WHERE hostname=? AND started_utc=? AND plan=? AND id=?", key
        ).fetchone()
        if number:
            db.execute("UPDATE sweep SET file=? WHERE sweep=?", (str(path), *number))
        else:
            db.execute("INSERT INTO sweep(hostname, started_utc, plan, id, file) VALUES(?,?,?,?,?)", (*key, str(path)))
            number = db.execute("SELECT last_insert_rowid()").fetchone()
        for table in TABLES:
            columns = [row[1] for row in source.execute(f"PRAGMA table_info({table})")]
            types = [row[2] for row in source.execute(f"PRAGMA table_info({table})")]
            declared = ", ".join(f"{name} {kind}" for name, kind in zip(columns, types, strict=True))
            db.execute(f"CREATE TABLE IF NOT EXISTS {table}(sweep INTEGER NOT NULL REFERENCES sweep, {declared})")
            db.execute(f"DELETE FROM {table} WHERE sweep=?", number)
            marks = ",".join("?" * (len(columns) + 1))
            rows = ((*number, *row) for row in source.execute(f"SELECT * FROM {table}"))
            db.executemany(f"INSERT INTO {table}(sweep, {', '.join(columns)}) VALUES({marks})", rows)


def parquet(merged: pathlib.Path, directory: pathlib.Path) -> list[pathlib.Path]:
    """Each table of a merged file as TABLE.parquet. Values of axes and parameters become text: a column has one type."""
    import pyarrow
    import pyarrow.parquet

    directory.mkdir(parents=True, exist_ok=True)
    written = []
    with contextlib.closing(database.read(merged)) as db:
        for table in ("sweep", *TABLES):
            columns = [(row[1], row[2]) for row in db.execute(f"PRAGMA table_info({table})")]
            rows = db.execute(f"SELECT * FROM {table}").fetchall()
            kinds = {"INTEGER": pyarrow.int64(), "REAL": pyarrow.float64()}
            arrays = {}
            for at, (name, kind) in enumerate(columns):
                values = [row[at] for row in rows]
                if kind not in kinds:
                    values = [None if value is None else str(value) for value in values]
                arrays[name] = pyarrow.array(values, type=kinds.get(kind.split()[0] if kind else "", pyarrow.string()))
            path = directory / f"{table}.parquet"
            pyarrow.parquet.write_table(pyarrow.table(arrays), path)
            written.append(path)
    return written
