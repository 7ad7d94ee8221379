# SPDX-License-Identifier: GPL-2.0-or-later
"""Access to SQLite files from untrusted sources: recordings, indexes of sweeps.

SQLite replays a journal in the directory of a file, then deletes it and each file that the journal names. So SQLite
never opens an original file for reading. It opens a copy in a private directory, and rolls back unfinished transactions
there. The copy is unlinked before a row is read. A file may contain wrong values, but it runs no code: a file with more
than tables, indexes of columns and the view of raidctl is refused.

This works on other systems, too. Only Linux has recorders, so only there a file is locked while it is copied.
"""

import contextlib
import errno
import os
import pathlib
import re
import sqlite3
import stat
import struct
import sys
import time
from collections.abc import Iterator
from typing import IO

from raidtrace.quantity.shown import visible
from raidtrace.recording import columns
from raidtrace.recording.columns import RecordingError as RecordingError  # noqa: F401

LINUX = sys.platform == "linux"
if LINUX:
    import fcntl

# Flags of open(2). A system without one has nothing that it prevents.
READ_ONLY = os.O_RDONLY
for _flag in ("O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY", "O_BINARY"):
    READ_ONLY |= getattr(os, _flag, 0)
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
UNLINKS_OPEN = os.name != "nt"  # whether a file that is open can be removed
MAX_SQLITE_BYTES = 0x7FFFFF00  # bytes of SQLite's largest allocation
PENDING, RESERVED, SHARED, SHARED_BYTES = 0x40000000, 0x40000001, 0x40000002, 510  # offsets of SQLite's locks
NO_DATABASE = "not a recording of raidctl: it is not an SQLite database"
LOCK_TRIES, LOCK_SECONDS = 1000, 0.01
JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
DAMAGED = "the recording is damaged or cut short: copy it again from its source, or record again"
MEMORY = "/dev/shm"  # a tmpfs: a copy there writes to no disk
HEADER = 100
MAX_VALUE_BYTES, MAX_SQL_BYTES = 64 << 20, 1 << 20  # of a value, of a statement
EXPRESSION = re.compile(
    r"\b(as|check|collate|default|generated|select|using|virtual|where)\b|[^\w \t\n\r,()]", re.I | re.A
)
VIEW = """CREATE VIEW bin AS
    SELECT sample, direction.key AS direction, kind.key AS kind,
           CAST(bin.key AS INTEGER) AS bin, bin.value AS count
    FROM sample, json_each(sample.histograms) AS direction,
         json_each(direction.value) AS kind, json_each(kind.value) AS bin"""  # as in tools/raidctl/store/schema.sql


def read(path: pathlib.Path) -> sqlite3.Connection:
    """Open a copy of a file as of its last commit, for reading. The caller closes the connection. The file and its
    journal stay unchanged. Raises sqlite3.DatabaseError."""
    try:
        database = _copied(path)
    except OSError as error:
        raise sqlite3.OperationalError(error.strerror or str(error)) from error
    database.text_factory = decoded
    try:
        _defend(database)
        if database.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise sqlite3.DatabaseError(DAMAGED)
        database.execute("PRAGMA query_only=ON")
    except sqlite3.Error:
        database.close()
        raise
    return database


def decoded(text: bytes) -> str:
    """The text of bytes. Bytes that are not UTF-8 become replacement characters."""
    return text.decode("utf-8", "replace")


def write(path: pathlib.Path) -> sqlite3.Connection:
    """Open a file for writing in its own place, after the same checks as read(). Raises sqlite3.DatabaseError."""
    read(path).close()
    database = sqlite3.connect(path, isolation_level=None)
    database.text_factory = decoded
    try:
        _defend(database)
    except sqlite3.Error:
        database.close()
        raise
    return database


def _defend(database: sqlite3.Connection) -> None:
    for kind, most in ((sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES), (sqlite3.SQLITE_LIMIT_SQL_LENGTH, MAX_SQL_BYTES),
                       (sqlite3.SQLITE_LIMIT_ATTACHED, 0)):  # fmt: skip
        database.setlimit(kind, most)
    for pragma in ("trusted_schema=OFF", "cell_size_check=ON", "temp_store=MEMORY"):
        database.execute(f"PRAGMA {pragma}")
    for kind, name, sql in database.execute("SELECT type, name, sql FROM sqlite_schema"):
        if not _plain(kind, name, sql):
            raise sqlite3.DatabaseError("it contains more than the tables of raidctl, such as a trigger, so it is "
                                        "refused; to list its contents: sqlite3 FILE .schema")  # fmt: skip


def _plain(kind: object, name: object, sql: object) -> bool:
    """Whether an object of a schema computes nothing. Each expression needs a refused word or a second pair of
    parentheses."""
    if kind == "index" and sql is None:
        return True  # SQLite made this index for a key
    if not isinstance(sql, str) or not isinstance(name, str) or name.lower().startswith("sqlite_"):
        return False
    if kind == "view":
        return sql.split() == VIEW.split()
    depth = {"table": 2, "index": 1}.get(str(kind), 0)
    flat = re.sub(r"\([^()]*\)", "", sql) if depth == 2 else sql
    return bool(depth) and not EXPRESSION.search(sql) and flat.count("(") <= 1


def _copied(path: pathlib.Path) -> sqlite3.Connection:
    """Connect to an unlinked copy of a file, without transactions that were not committed."""
    fd = os.open(path, READ_ONLY)
    with open(fd, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "not a file")
        _look(file.read(HEADER))
        _share(fd)
        size = _size(fd)
        journal = b"" if _is_written(fd) else _journal(path)
        try:
            return _copy(MEMORY, file, journal, size)
        except (OSError, sqlite3.OperationalError):  # no such directory, or too little space
            pass
        import tempfile  # here, because its import takes a part of the time of a report

        try:
            return _copy(tempfile.gettempdir(), file, journal, size)
        except OSError as error:
            raise OSError(error.errno, f"the file cannot be copied to {tempfile.gettempdir()}: {error.strerror}; "
                                       "name another directory with TMPDIR") from error  # fmt: skip


def _copy(place: str, file: IO[bytes], journal: bytes, size: int) -> sqlite3.Connection:
    """Copy a file to a new private directory in `place`, roll its journal back and open it. The directory is removed on
    return."""
    directory = pathlib.Path(place, f"raidtrace-{os.urandom(8).hex()}")
    directory.mkdir(0o700)
    copy = directory / "copy"
    try:
        with open(copy, "wb", buffering=0) as to:
            file.seek(0)
            while part := file.read(1 << 20):
                while part:
                    part = part[to.write(part) :]
        if journal:
            _play(copy, journal, size)
            with open(copy, "rb") as played:
                _look(played.read(HEADER))
        if UNLINKS_OPEN:
            opened = sqlite3.connect(f"{copy.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)
        else:
            opened = sqlite3.connect(":memory:", isolation_level=None)
            opened.deserialize(copy.read_bytes())
        opened.execute("PRAGMA cache_size=-8192")
        return opened
    finally:
        for name in ("copy-journal", "copy"):
            directory.joinpath(name).unlink(missing_ok=True)
        directory.rmdir()


def _look(header: bytes) -> None:
    """Refuse a file whose first bytes are not the header of an SQLite file."""
    if not header:
        raise sqlite3.DatabaseError("the file is empty; if it was meant as a recording, the recorder was killed "
                                    "before it stored anything: remove the file")  # fmt: skip
    if len(header) < HEADER or not header.startswith(b"SQLite format 3\0"):
        raise sqlite3.DatabaseError(NO_DATABASE)
    if 2 in header[18:20]:
        raise sqlite3.DatabaseError("another program set its journal mode to WAL; to reset it: sqlite3 FILE "
                                    "'PRAGMA journal_mode=DELETE'")  # fmt: skip


def _lock(fd: int, command: int, kind: int, start: int, length: int) -> int:
    """Set or query a lock of this open file description. Returns the kind of the lock that is held."""
    done = fcntl.fcntl(fd, command, struct.pack("@hhqqi4x", kind, os.SEEK_SET, start, length, 0))
    return int(struct.unpack("@hhqqi4x", done)[0])


def _is_written(fd: int) -> bool:
    """Whether a process is about to write to a file. Its journal then belongs to this process."""
    return LINUX and _lock(fd, fcntl.F_OFD_GETLK, fcntl.F_WRLCK, RESERVED, 1) != fcntl.F_UNLCK


def _share(fd: int) -> None:
    """Lock a file like a reader of SQLite: no commit begins until the file is closed. Raises OSError EBUSY."""
    if not LINUX:
        return
    for last in [False] * LOCK_TRIES + [True]:
        with contextlib.suppress(BlockingIOError):
            _lock(
                fd, fcntl.F_OFD_SETLK, fcntl.F_RDLCK, PENDING, 1
            )  # a writer holds this lock while it waits for readers
            try:
                _lock(fd, fcntl.F_OFD_SETLK, fcntl.F_RDLCK, SHARED, SHARED_BYTES)
            finally:
                _lock(fd, fcntl.F_OFD_SETLK, fcntl.F_UNLCK, PENDING, 1)
            return
        if last:
            raise OSError(errno.EBUSY, "another process keeps it locked")
        time.sleep(LOCK_SECONDS)


def _size(fd: int) -> int:
    size = os.fstat(fd).st_size
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if LINUX else 2 * MAX_SQLITE_BYTES
    if size > min(MAX_SQLITE_BYTES, memory // 2):
        raise OSError(errno.EFBIG, "larger than 2 GiB or half of this machine's memory; raidctl reads no larger file")
    return size


def _journal(path: pathlib.Path) -> bytes:
    """The content of a file's journal. Empty: there is nothing to roll back."""
    journal = path.with_name(path.name + "-journal")
    try:
        fd = os.open(journal, READ_ONLY | NOFOLLOW)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise OSError(error.errno, f"its writer was killed; its journal cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "its writer was killed, and the journal next to it is not a regular file")
    with open(fd, "rb") as file:
        content = file.read(_size(fd))
    if len(content) < len(JOURNAL_MAGIC) or not content[0]:
        return b""  # after use, SQLite clears the first byte or the whole journal
    if len(content) > 2 * len(JOURNAL_MAGIC) and content.endswith(JOURNAL_MAGIC):
        raise OSError(errno.EINVAL, "the journal next to it was not made for this file, because it names another "
                                    "file; remove that journal")  # fmt: skip
    return content


def _play(copy: pathlib.Path, journal: bytes, size: int) -> None:
    """Let SQLite roll a journal back, which its first read does. size: bytes of the original file."""
    copy.with_name("copy-journal").write_bytes(journal)
    with contextlib.closing(sqlite3.connect(copy)) as database:
        database.execute("SELECT 1 FROM sqlite_schema").fetchall()
    length = copy.stat().st_size
    if length > size + len(journal) or length < HEADER:  # longer than file and journal together: the journal is damaged
        raise sqlite3.DatabaseError("its writer was killed, and the journal next to it is damaged")


# A recording is such a file (Documentation/recording.rst). It is opened for reading, or refused with a reason.

APPLICATION_ID = 0x52544442
USER_VERSIONS = (1, 2)  # 2 has more tables and columns; those of 1 keep their meaning


_UNREADABLE = {
    sqlite3.SQLITE_NOTADB: NO_DATABASE,
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check its permissions: ls -l",
    sqlite3.SQLITE_BUSY: "another program is writing to it: try again",
    sqlite3.SQLITE_IOERR: "reading failed: its disk reports an error; see dmesg",
}


@contextlib.contextmanager
def connect(path: pathlib.Path) -> Iterator[sqlite3.Connection]:
    """A recording opened for reading, its rows as mappings. Raises RecordingError: not a recording, or not readable."""
    if not path.is_file():
        what = "a directory" if path.is_dir() else "not a recording" if path.exists() else "no such recording"
        inside = next(iter(sorted(path.glob("*.rtdb"))), None) if path.is_dir() else None
        raise RecordingError(f"{path}: {what}; name {inside or 'a file that raidctl record made'}")
    try:
        with contextlib.closing(read(path)) as opened:
            opened.row_factory = sqlite3.Row
            opened.text_factory = lambda text: visible(raw(text))  # a name, or a value of one line
            _check(path, opened)
            yield opened
    except sqlite3.DatabaseError as error:
        code = getattr(
            error, "sqlite_errorcode", None
        )  # only errors of SQLite have a code; the others already have a text
        words = str(error) if code is None else _UNREADABLE.get(code & 0xFF, DAMAGED)
        raise RecordingError(f"{path}: {words}") from error


def raw(text: bytes) -> str:
    """The text of bytes. Bytes that are not UTF-8 become surrogates."""
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
    """The output of the command by stream. The key "" has all streams in order of time. The text is not sanitized."""
    pieces: dict[str, list[bytes]] = {"": [], "stdout": [], "stderr": []}
    if not db.execute("SELECT 1 FROM sqlite_schema WHERE type='table' AND name='output'").fetchone():
        return {stream: "" for stream in pieces}
    for stream, text in db.execute("SELECT stream, CAST(text AS BLOB) FROM output ORDER BY time_ns, rowid"):
        pieces[""].append(text or b"")
        pieces.setdefault(stream or "?", []).append(text or b"")
    return {stream: decoded(b"".join(texts)) for stream, texts in pieces.items()}
