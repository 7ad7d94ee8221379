# SPDX-License-Identifier: GPL-2.0-or-later
"""Hand-made recordings, in raidctl's own schema."""

import contextlib
import importlib.machinery
import importlib.util
import io
import lzma
import pathlib
import sqlite3
import subprocess
import sys

import long_recording
import pytest
from hypothesis import settings

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / path) for path in ("tools/python", "tools/paper-2004", "tools/lab", "tests/lab")]

from raidtrace.cli import front  # noqa: E402
from raidtrace.quantity.shown import UserError  # noqa: E402
from raidtrace.recording import live  # noqa: E402

# No deadline: a busy machine is not a failure. A commit gets the same examples in each run; make check-long chooses new ones.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None)
settings.load_profile("same")


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes a second of processor or more; make quick leaves it out")
    config.addinivalue_line(
        "markers", "long: takes many seconds, or judges processor time; only make check-long has it"
    )


def call(main, *words):
    """Run a program's main() in this process. Returns its status and output, as subprocess.run() does."""
    text, complaints = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(complaints):
        try:
            status = main([str(word) for word in words])
        except SystemExit as ended:
            status = ended.code
        except (UserError, OSError) as error:  # as front.run() does
            status = front.complain(error, main.__module__.rpartition(".")[2])
    return subprocess.CompletedProcess(words, status or 0, text.getvalue(), complaints.getvalue())


def program(path, text):
    """Write a shell script that can be run. Returns its path."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def unpacked(packed, path):
    """Write a recording that is kept compressed, named from the top of the tree. Returns its path."""
    path.write_bytes(lzma.decompress((TOP / packed).read_bytes()))
    return path


def changed(path, *statements, of=None):
    """Run statements in a recording, or in a copy of another: texts, or a statement and its parameters. Returns the path."""
    if of:
        path.write_bytes(of.read_bytes())
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA synchronous=OFF")
        for statement in statements:
            db.executescript(statement) if isinstance(statement, str) else db.execute(*statement)
    return path


LOSSES = (
    '{"sda":{"lost_records":{}},"sdb":{"lost_records":{"queue":3,"end":12345},"missed_events":0,"undelivered_ends":2}}'
)
ONE_SAMPLE = """DELETE FROM sample WHERE phase<>1; DELETE FROM phase WHERE phase<>1; UPDATE phase SET phase=0, name='now';
    DELETE FROM flow WHERE sample NOT IN (SELECT sample FROM sample);
    DELETE FROM origin WHERE sample NOT IN (SELECT sample FROM sample);
    DELETE FROM submitter WHERE sample NOT IN (SELECT sample FROM sample); UPDATE sample SET phase=0;
    DELETE FROM meta; DELETE FROM setting; DELETE FROM disturbance; DELETE FROM note; DELETE FROM host; DELETE FROM output;
    DELETE FROM stack; INSERT INTO meta VALUES('counted_by','module'); INSERT INTO meta VALUES('simulated','no');
    INSERT INTO setting SELECT 0, target, 'readahead_sectors', 128 << target FROM target"""
BY_BPF = ("UPDATE meta SET value='bpf' WHERE key='counted_by'", ("INSERT INTO meta VALUES('losses',?)", (LOSSES,)))


@pytest.fixture
def sampled(tmp_path, monkeypatch):
    """A function that lets raidctl rows answer with rows of the disks sda, sdb, sdc and md0, changed by statements. Its
    result is a file that gets the command line and the requests."""

    def answer(*statements):
        rows = changed(unpacked("tests/python/report/golden/full.rtdb.xz", tmp_path / "live"), ONE_SAMPLE, *statements)
        asked = tmp_path / "asked"
        text = f"""echo "$@" >{asked}
            while read -r kind; do echo "$kind" >>{asked}; echo rows {rows.stat().st_size}; cat {rows}; done"""
        monkeypatch.setattr(live, "RAIDCTL", program(tmp_path / "raidctl", text))
        return asked

    return answer


class Without(str):
    """Words that a text must not have, in a table of words that texts must have."""


def fits(words, text):
    """Whether a text has these words, or must not have them and does not."""
    return words not in text if isinstance(words, Without) else words in text


def script(path):
    """A program of the tree without a suffix, as a module."""
    loader = importlib.machinery.SourceFileLoader(path.name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(path.name, loader))
    sys.modules[path.name] = module  # dataclasses look their module up there
    loader.exec_module(module)
    return module


class Maker:
    """Writes recordings. samples: list of (phase, start_ns, end_ns, flow, bins), of the first disk.

    more: statements that are run at the end, for what else a recording holds.
    """

    def __init__(self, directory: pathlib.Path) -> None:
        self.path = directory / "run.rtdb"

    def write(
        self, samples, phases=((1, "read", 0, 1000),), output="", application=0x52544442, version=2, targets=1, more=()
    ):
        database = sqlite3.connect(self.path)
        database.executescript(
            f"PRAGMA application_id={application}; PRAGMA user_version={version};" + long_recording.SCHEMA
        )
        meta = {"simulated": "yes", "end": "complete", "invariants": "hold"}
        database.executemany("INSERT INTO meta VALUES(?,?)", meta.items())
        for number in range(1, targets + 1):
            row = (number, f"sd{chr(96 + number)}", "3w-9xxx", "", "0:0:0:0", 1, 0, 1, 1 << 30, 256, 256, 72, 254, 1, 254,
                   0)  # fmt: skip
            long_recording.put(database, "target", row)
        database.executemany("INSERT INTO phase(phase, name, start_ns, end_ns) VALUES(?,?,?,?)", phases)
        columns = [row[1] for row in database.execute("PRAGMA table_info(flow)")][2:]
        for number, (phase, start, end, flow, bins) in enumerate(samples, 1):
            database.execute(
                "INSERT INTO sample(sample, target, phase, start_ns, end_ns) VALUES(?,1,?,?,?)",
                (number, phase, start, end),
            )
            for direction, counts in flow.items():
                row = [number, direction] + [counts.get(column, 0) for column in columns]
                database.execute(f"INSERT INTO flow VALUES({','.join('?' * len(row))})", row)
            for (direction, kind), histogram in bins.items():
                database.executemany(
                    "INSERT INTO bin VALUES(?,?,?,?,?)", [(number, direction, kind, b, n) for b, n in histogram.items()]
                )
        database.execute("INSERT INTO output(time_ns, stream, text) VALUES(1,'stdout',?)", (output,))
        for statement in more:
            database.execute(statement)
        database.commit()
        database.close()
        return self.path


@pytest.fixture
def maker(tmp_path):
    return Maker(tmp_path)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory):
    """A recording of five kinds of load on two disks, 10 s long each; tests change copies of it."""
    path = tmp_path_factory.mktemp("recorded") / "run.rtdb"
    long_recording.write(path, 50, 10, 2)
    return path


def members_of(before, now):
    """`now` without the members that `before` lacks: a later version may add members to JSON, but may change none."""
    if isinstance(before, dict) and isinstance(now, dict):
        return {name: members_of(before[name], value) for name, value in now.items() if name in before}
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        return [members_of(*pair) for pair in zip(before, now)]
    if isinstance(before, list) and isinstance(now, list) and all(isinstance(name, str) for name in now):
        return [name for name in now if name in before]  # names of kinds: there may be more
    return now


PRELOADED = ("-shared", "-fPIC")
STRICT = ("-Wall", "-Wextra", "-Werror")


def compiled(source: pathlib.Path, made: pathlib.Path, *options: str) -> pathlib.Path:
    """Compile and link one file; raises subprocess.CalledProcessError."""
    subprocess.run(["gcc", "-O2", *options, "-o", made, source], check=True)
    return made
