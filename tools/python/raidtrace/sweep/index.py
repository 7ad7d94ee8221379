# SPDX-License-Identifier: GPL-2.0-or-later
"""The index of a sweep: an SQLite file with the planned and finished cells, their commands and their results.

Each change of state is one transaction. So after a kill, a cell is either finished or not. Documentation/sweep.rst
describes the tables.
"""

import contextlib
import dataclasses
import json
import pathlib
import shlex
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from raidtrace.benchmark import terms
from raidtrace.benchmark.parsers import Figure
from raidtrace.benchmark.terms import Terms
from raidtrace.quantity.shown import UserError
from raidtrace.recording import database
from raidtrace.sweep import plan, steps

APPLICATION_ID = 0x52545357  # "RTSW"
USER_VERSION = 1
NAME = "sweep.rtsw"
WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"
SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE cell(cell INTEGER PRIMARY KEY, name TEXT NOT NULL, identity TEXT NOT NULL UNIQUE, trial INTEGER NOT NULL,
  state TEXT NOT NULL, directory TEXT NOT NULL, recording TEXT, benchmark TEXT NOT NULL, label TEXT NOT NULL,
  simulated INTEGER NOT NULL, kernel TEXT, started_utc TEXT, wall_seconds REAL, error TEXT);
CREATE TABLE axis(cell INTEGER NOT NULL REFERENCES cell, name TEXT NOT NULL, value, PRIMARY KEY(cell, name));
CREATE TABLE parameter(cell INTEGER NOT NULL REFERENCES cell, name TEXT NOT NULL, value, PRIMARY KEY(cell, name));
CREATE TABLE step(cell INTEGER NOT NULL REFERENCES cell, step INTEGER NOT NULL, purpose TEXT NOT NULL,
  command TEXT NOT NULL, destroys TEXT NOT NULL, PRIMARY KEY(cell, step));
CREATE TABLE figure(cell INTEGER NOT NULL REFERENCES cell, figure INTEGER NOT NULL, phase TEXT NOT NULL, value REAL,
  unit TEXT NOT NULL, cpu_percent REAL, place TEXT NOT NULL, PRIMARY KEY(cell, figure));
CREATE TABLE queue(cell INTEGER NOT NULL REFERENCES cell, disk TEXT NOT NULL, phase TEXT NOT NULL, direction TEXT NOT NULL,
  seconds REAL, bios INTEGER, splits INTEGER, back_merges INTEGER, issued INTEGER, bytes_queued INTEGER,
  bytes_issued INTEGER, sequential INTEGER, in_flight_mean REAL, readahead_sectors INTEGER, slope_percent REAL,
  excursion_percent REAL, busy_share REAL, held_share REAL, backlog_share REAL,
  PRIMARY KEY(cell, disk, phase, direction));
"""

SHARES = ("busy_share", "held_share", "backlog_share")  # of the table queue, since 1.1.0; as in recording/breakdown.py


@dataclasses.dataclass(frozen=True)
class Entry:
    cell: int
    name: str
    identity: str
    trial: int
    state: str
    directory: str
    label: str
    wall_seconds: float | None
    error: str | None


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The result of a cell. error: empty: it is done. queue: rows of that table, without the cell. ends: no further
    cell can succeed, so the sweep ends here, and this cell is run again."""

    error: str
    figures: tuple[Figure, ...] = ()
    queue: tuple[tuple[object, ...], ...] = ()
    recording: str | None = None
    wall_seconds: float = 0.0
    kernel: str | None = None
    ends: bool = False


def cell_name(number: int, cell: plan.Cell, varying: Sequence[str]) -> str:
    """The name of a directory: the number of the cell, and the axes that distinguish it from others."""
    distinct = [axis for axis in varying if axis not in steps.VM_KEYS]
    words = [str(cell.get(axis)) for axis in distinct if cell.get(axis) not in (None, plan.NO_MD)]
    words = ["".join(c if c.isalnum() or c in "+-." else "-" for c in word)[:24] for word in words]
    return "-".join([f"{number:04d}", *words[:6], *([f"t{cell.trial}"] if cell.trial > 1 else [])])


class Index:
    """An open index. Only one process may have it open for writing; readers do not disturb it."""

    def __init__(self, path: pathlib.Path, write: bool = False) -> None:
        """Open an existing index for reading, as of its last commit, or for writing. Raises UserError."""
        self.path = path
        if not path.is_file():
            raise UserError(f"{path}: no such sweep; name the directory of a sweep")
        try:
            self._db = database.write(path) if write else database.read(path)
            self._db.execute("PRAGMA foreign_keys=ON")
            self._db.execute("PRAGMA synchronous=FULL")
            kind = self._db.execute("PRAGMA application_id").fetchone()[0]
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.DatabaseError as error:
            raise UserError(f"{path}: not a readable index: {error}") from error
        if kind != APPLICATION_ID:
            raise UserError(f"{path}: not the index of a sweep (application id {kind})")
        if version != USER_VERSION:
            raise UserError(f"{path}: index of version {version}, but this raidctl reads version {USER_VERSION}")
        if write:
            known = {row[1] for row in self._db.execute("PRAGMA table_info(queue)")}
            for name in SHARES:
                if name not in known:  # of a sweep that an earlier raidctl began
                    self._db.execute(f"ALTER TABLE queue ADD COLUMN {name} REAL")

    @staticmethod
    def create(path: pathlib.Path, the_plan: plan.Plan, meta: Mapping[str, str],
               jobs: Iterable[tuple[plan.Cell, steps.Place]]) -> "Index":  # fmt: skip
        """Create an index with all cells waiting. The file is complete or does not exist."""
        fresh = path.with_name(path.name + ".new")
        fresh.unlink(missing_ok=True)
        db = sqlite3.connect(fresh, isolation_level=None)
        db.executescript(f"PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={USER_VERSION};" + SCHEMA)
        db.execute("BEGIN")
        about = {
            "plan": the_plan.name,
            "title": the_plan.title,
            "source": the_plan.source,
            "text": the_plan.text,
            **meta,
        }
        db.executemany("INSERT INTO meta VALUES(?,?)", about.items())
        varying = the_plan.varying()
        of_axes: dict[object, Any] = {}  # all trials of a cell have the same steps
        for number, (cell, place) in enumerate(jobs, 1):
            if cell.axes not in of_axes:
                cell_steps = steps.steps(cell, the_plan, place)
                rows = [(at, s.purpose, s.text(), " ".join(s.destroys)) for at, s in enumerate(cell_steps, 1)]
                chosen, what = steps.job(cell, the_plan, place)
                of_axes[cell.axes] = chosen.name, chosen.label(what), what.parameters, rows
            kind, label, parameters, rows = of_axes[cell.axes]
            name = cell_name(number, cell, varying)
            row = (number, name, cell.identity(), cell.trial, WAITING, name, None, kind, label,
                   int(place.lab), None, None, None, None)  # fmt: skip
            db.execute(f"INSERT INTO cell VALUES({','.join('?' * len(row))})", row)
            db.executemany("INSERT INTO axis VALUES(?,?,?)", [(number, *axis) for axis in cell.axes])
            db.executemany("INSERT INTO parameter VALUES(?,?,?)", [(number, k, v) for k, v in parameters.items()])
            db.executemany("INSERT INTO step VALUES(?,?,?,?,?)", [(number, *row) for row in rows])
        db.execute("COMMIT")
        db.close()
        fresh.replace(path)
        return Index(path, write=True)

    def close(self) -> None:
        self._db.close()

    def meta(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT key, value FROM meta"))

    def entries(self) -> list[Entry]:
        """All cells, in the order of their runs."""
        columns = ", ".join(field.name for field in dataclasses.fields(Entry))
        return [Entry(*row) for row in self._db.execute(f"SELECT {columns} FROM cell ORDER BY cell")]

    def axes(self, cell: int) -> dict[str, plan.Value]:
        return dict(self._db.execute("SELECT name, value FROM axis WHERE cell=?", (cell,)))

    def about(self) -> dict[int, tuple[str, str, bool]]:
        """Benchmark, label and whether it was simulated, by cell."""
        rows = self._db.execute("SELECT cell, benchmark, label, simulated FROM cell")
        return {cell: (name, label, bool(simulated)) for cell, name, label, simulated in rows}

    def terms(self) -> dict[int, Terms]:
        """The terms of each cell's test, as far as its commands contain them."""
        by_cell: dict[int, Terms] = {}
        for cell, command in self._db.execute("SELECT cell, command FROM step ORDER BY cell, step"):
            by_cell[cell] = terms.of_command(shlex.split(command)) or by_cell.get(cell, terms.NONE)
        return by_cell

    def figures(self) -> Iterable[tuple[int, str, float | None, str, float | None, str]]:
        """cell, phase, value, unit, cpu_percent, place of all figures of finished cells."""
        return self._db.execute(
            "SELECT cell, phase, value, unit, cpu_percent, place FROM figure JOIN cell USING(cell) WHERE state='done' "
            "ORDER BY cell, figure"
        )

    def queues(self) -> list[dict[str, object]]:
        """The rows of the table queue, as dictionaries. SHARES are None in a sweep of an earlier raidctl."""
        cursor = self._db.execute("SELECT * FROM queue ORDER BY cell, disk, phase, direction")
        names = [column[0] for column in cursor.description]
        return [dict.fromkeys(SHARES) | dict(zip(names, row, strict=True)) for row in cursor]

    def begin(self, cell: int, started_utc: str) -> None:
        self._db.execute(
            "UPDATE cell SET state=?, started_utc=?, error=NULL WHERE cell=?", (RUNNING, started_utc, cell)
        )

    def end(self, cell: int, outcome: Outcome) -> None:
        """Store the end of a cell: its state and all its results, or nothing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            for table in ("figure", "queue"):
                self._db.execute(f"DELETE FROM {table} WHERE cell=?", (cell,))
            for at, f in enumerate(outcome.figures, 1):
                row = (cell, at, f.phase, f.value, f.unit, f.cpu_percent, json.dumps(dict(f.where)))
                self._db.execute("INSERT INTO figure VALUES(?,?,?,?,?,?,?)", row)
            for entry in outcome.queue:
                self._db.execute(f"INSERT INTO queue VALUES({','.join('?' * (len(entry) + 1))})", (cell, *entry))
            self._db.execute(
                "UPDATE cell SET state=?, recording=?, wall_seconds=?, kernel=?, error=? WHERE cell=?",
                (FAILED if outcome.error else DONE, outcome.recording, outcome.wall_seconds, outcome.kernel,
                 outcome.error or None, cell),
            )  # fmt: skip
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def again(self, failed: bool) -> None:
        """Set cells that did not end to waiting; with `failed`, also those that failed."""
        self._db.execute("UPDATE cell SET state=? WHERE state=?", (WAITING, RUNNING))
        if failed:
            self._db.execute("UPDATE cell SET state=? WHERE state=?", (WAITING, FAILED))

    def note(self, key: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES(?,?)", (key, value))


# The indexes of many sweeps and hosts in one SQLite file, and as Parquet.
#
# Each table gets a column `sweep`, a number. The table `sweep` has host, plan and file of each number. Merging the same
# sweep again replaces its rows. A sweep has an id from its start, because a playbook may start hosts of the same name
# in the same second.

MERGED_ID = 0x52544D47  # "RTMG"
MERGED_VERSION = 2  # 1 had no id of a sweep
TABLES = ("meta", "cell", "axis", "parameter", "step", "figure", "queue")


def merge(into: pathlib.Path, sweeps: Sequence[pathlib.Path]) -> int:
    """Merge sweeps into a new or existing file, completely or not at all. Returns the number of sweeps in the file.
    Raises UserError."""
    fresh = not into.exists()
    try:
        db = sqlite3.connect(into, isolation_level=None) if fresh else database.write(into)
    except sqlite3.DatabaseError as error:
        raise UserError(f"{into}: {error}") from error
    try:
        kind = db.execute("PRAGMA application_id").fetchone()[0]
        if not fresh and kind != MERGED_ID:
            raise UserError(f"{into}: not made by raidctl sweep merge")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if not fresh and version != MERGED_VERSION:
            raise UserError(
                f"{into}: of version {version}, but this raidctl writes version {MERGED_VERSION}; merge into a "
                "new file"
            )
        paths = [path / NAME if path.is_dir() else path for path in sweeps]
        for path in paths:
            Index(path).close()  # raises UserError for another file
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
        raise UserError(f"{into}: {error}") from error
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
            known = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
            for name, kind in zip(columns, types, strict=True):
                if name not in known:  # of a file that an earlier raidctl made
                    db.execute(f"ALTER TABLE {table} ADD COLUMN {name} {kind}")
            db.execute(f"DELETE FROM {table} WHERE sweep=?", number)
            marks = ",".join("?" * (len(columns) + 1))
            rows = ((*number, *row) for row in source.execute(f"SELECT * FROM {table}"))
            db.executemany(f"INSERT INTO {table}(sweep, {', '.join(columns)}) VALUES({marks})", rows)


def parquet(merged: pathlib.Path, directory: pathlib.Path) -> list[pathlib.Path]:
    """Write each table of a merged file as TABLE.parquet. Values of axes and parameters become text, because a column
    has one type."""
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
