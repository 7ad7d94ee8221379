# SPDX-License-Identifier: GPL-2.0-or-later
"""Open a recording (one SQLite file, Documentation/recording.rst) to read it, or refuse it with a reason."""

import contextlib
import pathlib
import sqlite3
from collections.abc import Iterator

from raidtrace.quantity.shown import visible
from raidtrace.recording import columns, database
from raidtrace.recording.columns import RecordingError as RecordingError  # noqa: F401

APPLICATION_ID = 0x52544442
USER_VERSIONS = (1, 2)  # 2 has more tables and columns; all that 1 has keeps its meaning


_DAMAGED = "the recording is damaged or cut short: copy it again from where it was made, or record again"
_UNREADABLE = {
    sqlite3.SQLITE_NOTADB: database.NO_DATABASE,
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: is it yours to read?",
    sqlite3.SQLITE_BUSY: "another program is writing to it: try again",
    sqlite3.SQLITE_IOERR: "the disk that it is on does not read it",
}


@contextlib.contextmanager
def connect(path: pathlib.Path) -> Iterator[sqlite3.Connection]:
    """A recording opened for reading, its rows as mappings. RecordingError: it is none, or cannot be read."""
    if not path.is_file():
        what = "not a recording" if path.exists() else "no such recording"
        raise RecordingError(f"{path}: {what}; name a file that raidctl record made")
    try:
        with contextlib.closing(database.read(path)) as opened:
            opened.row_factory = sqlite3.Row
            opened.text_factory = lambda text: visible(raw(text))  # a name, or a value of one line
            _check(path, opened)
            yield opened
    except sqlite3.DatabaseError as error:
        code = getattr(
            error, "sqlite_errorcode", None
        )  # SQLite's; what database.py says has none, and is in words already
        words = str(error) if code is None else _UNREADABLE.get(code & 0xFF, _DAMAGED)
        raise RecordingError(f"{path}: {words}") from error


def raw(text: bytes) -> str:
    """A text of a file as it is; bytes that are not UTF-8 become surrogates."""
    return text.decode("utf-8", "surrogateescape")


def _check(path: pathlib.Path, db: sqlite3.Connection) -> None:
    kind = db.execute("PRAGMA application_id").fetchone()[0]
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if kind != APPLICATION_ID:
        raise RecordingError(f"{path}: not a recording of raidctl; name a file that raidctl record made")
    if version not in USER_VERSIONS:
        known = " to ".join(map(str, USER_VERSIONS))
        raise RecordingError(f"{path}: a recording of version {version}, this raidctl reads versions {known}; "
                             "use the raidctl that made it")  # fmt: skip
    try:
        columns.check(db)
    except RecordingError as error:
        raise RecordingError(f"{path}: {error}") from error


def output(db: sqlite3.Connection) -> dict[str, str]:
    """The output of the command by stream; "" has all of it in order of time. It may hold any bytes."""
    pieces: dict[str, list[bytes]] = {"": [], "stdout": [], "stderr": []}
    if not db.execute("SELECT 1 FROM sqlite_schema WHERE type='table' AND name='output'").fetchone():
        return {stream: "" for stream in pieces}
    for stream, text in db.execute("SELECT stream, CAST(text AS BLOB) FROM output ORDER BY time_ns, rowid"):
        pieces[""].append(text or b"")
        pieces.setdefault(stream or "?", []).append(text or b"")
    return {stream: database.decoded(b"".join(texts)) for stream, texts in pieces.items()}
