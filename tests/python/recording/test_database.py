# SPDX-License-Identifier: GPL-2.0-or-later
"""Untrusted files of SQLite: reading one runs nothing in it and changes no file next to it."""

import contextlib
import errno
import os
import pathlib
import sqlite3
import struct
import subprocess
import sys
import tempfile

import pytest
from conftest import TOP, changed
from long_recording import SCHEMA, VIEW

from raidtrace.quantity.shown import UserError
from raidtrace.recording import database, invariants
from raidtrace.recording.columns import RecordingError
from raidtrace.sweep import index as sweep_index

KILLED = """
import os, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA cache_size=2")
db.execute("BEGIN")
for number in range(500):
    db.execute("INSERT INTO output(time_ns, stream, text) VALUES(?, 'stdout', ?)", (number + 10, "x" * 500))
db.execute("UPDATE meta SET value = 'not committed'")
os._exit(0)
"""


@pytest.fixture
def path(maker):
    """A recording of one empty sample."""
    return maker.write([(1, 0, 1000, {}, {})])


@pytest.fixture
def killed(maker, tmp_path, monkeypatch):
    """A recording that was killed within a transaction; nothing may be left in TMPDIR."""
    path = maker.write([(1, 0, 1000, {"read": {"issued": 3}}, {})], output="kept")
    subprocess.run([sys.executable, "-c", KILLED, path], check=True)
    assert path.with_name("run.rtdb-journal").stat().st_size > 1024
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    before = {entry: entry.read_bytes() for entry in tmp_path.iterdir() if entry.is_file()}
    yield path
    assert {entry: entry.read_bytes() for entry in tmp_path.iterdir() if entry.is_file()} == before
    assert not list((tmp_path / "tmp").iterdir())


def test_what_a_killed_recorder_did_not_commit_is_not_read(killed):
    result = invariants.load(killed)
    assert result.output == "kept" and result.meta["end"] == "complete"


# Takes away what only Linux has, or other systems lack; then runs a verb.
ELSEWHERE = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
import json, sqlite3, subprocess, tempfile, typing
for name in ("fcntl", "grp", "mmap", "pwd", "resource", "termios"):
    sys.modules[name] = None
for name in ("O_CLOEXEC", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK", "geteuid", "pread", "sysconf", "uname"):
    delattr(os, name)
del signal.SIGPIPE, signal.SIGHUP, signal.SIGKILL
sys.platform = "win32"
from raidtrace.recording import database
database.UNLINKS_OPEN = False
from raidtrace.cli import front
del sys.argv[1]
sys.exit(front.run(sys.argv.pop(1)))
"""


@pytest.mark.parametrize("verb", [["report"], ["report", "--json"], ["explain"], ["compare"], ["export", "--json"]])
def test_other_systems_read_the_same(recorded, verb):
    words = [*verb, recorded, *([recorded] if verb == ["compare"] else [])]
    here = subprocess.run([TOP / f"tools/bin/raidctl-{verb[0]}", *map(str, words[1:])], capture_output=True, text=True)
    command = [sys.executable, "-B", "-c", ELSEWHERE, TOP / "tools/python", *words]
    there = subprocess.run([*map(str, command)], capture_output=True, text=True)
    assert (there.returncode, there.stderr) == (0, "") and there.stdout == here.stdout != ""


def test_systems_that_cannot_remove_an_open_file_roll_back_and_leave_nothing(killed, monkeypatch):
    remove = pathlib.Path.unlink

    def refused(path, missing_ok=False):
        if str(path.resolve()) in [os.path.realpath(entry) for entry in pathlib.Path("/proc/self/fd").iterdir()]:
            raise PermissionError(errno.EACCES, "another process uses the file", str(path))
        remove(path, missing_ok)

    monkeypatch.setattr(pathlib.Path, "unlink", refused)
    monkeypatch.setattr(database, "UNLINKS_OPEN", False)
    monkeypatch.setattr(database, "LINUX", False)
    result = invariants.load(killed)
    assert result.output == "kept" and result.meta["end"] == "complete"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to become another user")
def test_another_user_reads_what_root_left(killed):
    for place in [killed.parent, *killed.parent.parents][:-2]:
        place.chmod(0o755)
    code = (
        f"import pathlib, sys; sys.path.insert(0, {str(TOP / 'tools/python')!r}); from raidtrace.recording import invariants; "
        f"print(invariants.load(pathlib.Path({str(killed)!r})).output)"
    )
    (killed.parent / "tmp").chmod(0o777)
    # a checkout below /root is closed to others: reading is allowed, writing is not
    reads = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
    nobody = ("/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *reads)
    done = subprocess.run([*nobody, sys.executable, "-B", "-c", code], capture_output=True, text=True,
                          env={"TMPDIR": str(killed.parent / "tmp")}, cwd="/")  # fmt: skip
    assert (done.stdout, done.stderr) == ("kept\n", "")


def name_another(journal, victim):
    name = str(victim).encode()
    with journal.open("ab") as file:
        file.write(struct.pack(">I", 0x40000000 // 4096 + 1) + name + struct.pack(">II", len(name), sum(name))
                   + database.JOURNAL_MAGIC)  # fmt: skip


@pytest.mark.parametrize("door", [database.read, database.write, invariants.load])
def test_a_journal_that_names_another_file_is_refused_and_that_is_not_deleted(path, tmp_path, door):
    subprocess.run([sys.executable, "-c", KILLED, path], check=True)
    victim = tmp_path / "victim"
    victim.write_text("mine")
    name_another(path.with_name("run.rtdb-journal"), victim)
    with pytest.raises((sqlite3.DatabaseError, RecordingError), match="names another file"):
        door(path)
    assert victim.read_text() == "mine" and path.with_name("run.rtdb-journal").exists()


HOSTILE = [
    "DROP TABLE host; CREATE VIEW host AS WITH RECURSIVE r(start_ns) AS (SELECT 1 UNION ALL SELECT start_ns + 1 FROM r) "
    "SELECT * FROM r",
    "DROP TABLE bin; CREATE VIEW bin AS SELECT 1 AS sample", "CREATE VIEW more AS SELECT 1",
    "CREATE TRIGGER t AFTER INSERT ON note BEGIN DELETE FROM sample; END",
    "CREATE TABLE t (a, b AS (hex(zeroblob(1000000000))))", "CREATE TABLE t (a CHECK (a != hex(zeroblob(100))))",
    "CREATE TABLE t (a DEFAULT (random()))", "CREATE INDEX i ON note (abs(time_ns))",
    "CREATE INDEX i ON note (time_ns) WHERE time_ns > 5", "CREATE VIRTUAL TABLE t USING fts5(a)", "ANALYZE",
    "CREATE TABLE t (a, b INTEGER GENERATED ALWAYS AS (a + 1) STORED)", "CREATE TABLE t (a DEFAULT 5)",
    "CREATE TABLE t (a TEXT COLLATE NOCASE)", "CREATE INDEX i ON note (text COLLATE NOCASE)", "CREATE TABLE t (a,\fb)",
]  # fmt: skip


@pytest.mark.parametrize("statement", HOSTILE)
def test_what_computes_is_refused_before_a_row_is_read(path, statement):
    changed(path, statement)
    with pytest.raises(RecordingError, match="more than the tables of raidctl"):
        invariants.load(path)


PLAIN = [
    "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT NOT NULL, UNIQUE (a, b))",
    "ALTER TABLE note ADD COLUMN more INTEGER",
    "CREATE INDEX i ON note (time_ns, text)",
]


@pytest.mark.parametrize("statement", PLAIN)
def test_what_computes_nothing_is_taken(path, statement):
    assert invariants.load(changed(path, statement))


def test_the_view_is_that_of_raidctl():
    assert VIEW.rstrip(";").split() == database.VIEW.split()
    assert not database.EXPRESSION.search("".join(SCHEMA.replace(";", "").split("CREATE")))


def test_a_log_that_lies_there_is_not_read_and_none_is_made(path):
    wal = path.with_name("run.rtdb-wal")
    wal.write_text("junk")
    assert invariants.load(path) and wal.read_text() == "junk"
    wal.unlink()
    changed(path, "PRAGMA journal_mode=WAL")
    with pytest.raises(RecordingError, match="WAL"):
        invariants.load(path)
    assert not wal.exists()


def test_a_writer_is_neither_waited_for_nor_observed(path):
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        db.execute("UPDATE meta SET value = 'not committed'")
        with contextlib.closing(database.read(path)) as observed:
            db.execute("COMMIT")
            assert "not committed" not in dict(observed.execute("SELECT key, value FROM meta")).values()


def test_what_is_read_cannot_be_written(path):
    with contextlib.closing(database.read(path)) as db, pytest.raises(sqlite3.OperationalError):
        db.execute("UPDATE meta SET value = ''")


def test_an_index_of_a_sweep_goes_through_the_same_door(tmp_path):
    path = tmp_path / sweep_index.NAME
    number = sweep_index.APPLICATION_ID
    changed(path, f"PRAGMA application_id={number}; PRAGMA user_version=1;" + sweep_index.SCHEMA)
    for write in (False, True):
        sweep_index.Index(path, write).close()
    changed(path, "DROP TABLE meta; CREATE VIEW meta AS SELECT 'key' AS key, 'value' AS value")
    for write in (False, True):
        with pytest.raises(UserError, match="more than the tables of raidctl"):
            sweep_index.Index(path, write)


@pytest.mark.parametrize("content", [b"SQLite format 3\0" + bytes(83), b"x" * 200, b"SQLite format 3\0"])
def test_what_is_no_database_says_so(tmp_path, content):
    path = tmp_path / "a.rtdb"
    path.write_bytes(content)
    with pytest.raises(sqlite3.DatabaseError, match=database.NO_DATABASE):
        database.read(path)


@pytest.mark.parametrize("journal", [b"", b"\xd9\xd5", bytes(1024), b"\0" + database.JOURNAL_MAGIC[1:] + bytes(1024)])
def test_a_journal_that_is_done_with_is_none(maker, journal):
    path = maker.write([(1, 0, 1000, {"read": {"issued": 3}}, {})], output="kept")
    path.with_name("run.rtdb-journal").write_bytes(journal)
    assert invariants.load(path).output == "kept"


def test_what_cannot_be_opened_says_why(tmp_path):
    with pytest.raises(sqlite3.OperationalError, match="^No such file or directory$"):
        database.read(tmp_path / "missing")


def test_what_is_too_large_says_so(tmp_path):
    path = tmp_path / "a.rtdb"
    path.write_bytes(b"SQLite format 3\0" + bytes(84))
    os.truncate(path, (2 << 30) - 255)
    with pytest.raises(sqlite3.OperationalError, match="larger than 2 GiB"):
        database.read(path)


HEADERS = [
    (0, b"x", database.NO_DATABASE), (15, b"x", database.NO_DATABASE), (68, b"X", "not a recording of raidctl"),
    (71, b"X", "not a recording of raidctl"), (60, b"\1", "recording of version 16777218"), (18, b"\2", "journal mode to WAL"),
    (19, b"\2", "journal mode to WAL"), (63, b"\3", "recording of version 3"), (63, b"\0", "recording of version 0"),
]  # fmt: skip


@pytest.mark.parametrize(("at", "byte", "words"), HEADERS)
def test_another_header_is_refused(path, at, byte, words):
    with path.open("r+b") as file:
        file.seek(at)
        file.write(byte)
    with pytest.raises(RecordingError, match=words):
        invariants.load(path)


@pytest.mark.parametrize(("size", "words"), [
    (0, "the file is empty"), (1, database.NO_DATABASE), (99, database.NO_DATABASE), (100, "damaged or cut short"),
    (511, "damaged or cut short"), (4096, "damaged or cut short"), (-4096, "damaged or cut short"),
])  # fmt: skip
def test_a_file_that_was_cut_is_refused(path, size, words):
    os.truncate(path, size if size >= 0 else path.stat().st_size + size)
    with pytest.raises(RecordingError, match=words):
        invariants.load(path)


def test_a_page_that_is_none_is_detected_though_nothing_reads_it(maker):
    path = maker.write([(1, 0, 1000, {}, {})], more=["CREATE TABLE more (a)", "INSERT INTO more VALUES(1)"])
    with path.open("r+b") as file:
        file.seek(-4096, os.SEEK_END)
        file.write(b"\xff")
    with pytest.raises(RecordingError, match="damaged or cut short"):
        invariants.load(path)


@pytest.mark.parametrize("change", ["link", "directory", "long"])
def test_a_journal_of_another_kind_is_refused_and_left(killed, tmp_path, change):
    journal = killed.with_name("run.rtdb-journal")
    kept = journal.read_bytes()
    if change == "link":
        journal.rename(tmp_path / "victim")
        journal.symlink_to(tmp_path / "victim")
    elif change == "directory":
        journal.unlink()
        journal.mkdir()
    else:
        journal.write_bytes(kept[:16] + b"\xff\xff\xff\xf0" + kept[20:])  # it wants a file of 256 TiB
    with pytest.raises(RecordingError, match="was killed|damaged"):
        invariants.load(killed)
    if change == "directory":
        journal.rmdir()
    else:
        journal.unlink()
        (tmp_path / "victim").unlink(missing_ok=True)
    journal.write_bytes(kept)


def test_who_keeps_it_locked_is_not_waited_for_for_ever(path, monkeypatch):
    monkeypatch.setattr(database.time, "sleep", lambda _: None)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError, match="another process keeps it locked"):
            database.read(path)


def test_without_room_in_memory_the_copy_is_in_tmpdir_and_without_any_the_error_says_so(maker, monkeypatch, tmp_path):
    path = maker.write([(1, 0, 1000, {}, {})], output="kept")
    monkeypatch.setattr(database, "MEMORY", str(tmp_path / "nowhere"))
    assert invariants.load(path).output == "kept"
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(sqlite3.OperationalError, match="name another directory with TMPDIR"):
        database.read(path)
