#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fuzz the readers of foreign text in Python: readers.py [--seconds N] [--seed N] [TARGET...], or --atheris TARGET [OPTION...]

Each target takes bytes and may end in one way but by reading: the error that its reader promises. Anything else is a
finding, kept in build/fuzz. Without --atheris inputs are mutations of the seeds below, which are files of the tree, chosen
by --seed; with it they follow what the code runs (libFuzzer; atheris is not in Debian: pip install atheris). OPTION... are
libFuzzer's, a directory among them gets the seeds.
Ends with the totals line of every suite.
"""

from __future__ import annotations

import argparse
import contextlib
import lzma
import pathlib
import random
import re
import sqlite3
import sys
import tarfile
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass

TOP = pathlib.Path(__file__).resolve().parents[2]
FOUND = TOP / "build/fuzz"
sys.dont_write_bytecode = True
sys.path[:0] = [str(TOP / "tools/python"), str(TOP / "tools/lab"), str(TOP / "tests/python")]

with contextlib.ExitStack() as _instrumented:
    if "--atheris" in sys.argv[1:2]:
        import atheris

        _instrumented.enter_context(
            atheris.instrument_imports(include=["raidtrace", "raidlab", "tomllib", "json", "csv"])
        )
    import long_recording
    import tomllib  # noqa: F401
    from raidlab.array import profile
    from raidlab.base.failure import LabError

    from raidtrace.benchmark import parsers
    from raidtrace.benchmark.parsers import ParseError
    from raidtrace.demo import truth
    from raidtrace.quantity import shown
    from raidtrace.recording import database, document, invariants, sample_rows
    from raidtrace.recording.columns import RecordingError
    from raidtrace.report import export
    from raidtrace.report import text as report_text
    from raidtrace.sweep import journal, plan


@dataclass(frozen=True)
class Target:
    """A reader, the errors that it may raise, inputs to begin with, and words that inputs are made of."""

    read: Callable[[bytes], object]
    raises: tuple[type[Exception], ...]
    seeds: Callable[[], Iterator[bytes]]
    words: tuple[bytes, ...] = ()


SCRATCH = pathlib.Path(tempfile.mkdtemp(prefix="fuzz-", dir="/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None))
TOML = (b"[", b"]", b"[[", b"=", b'"""', b"'''", b"\\u0000", b"nan", b"-inf", b"1e400", b"0x", b"1979-05-27", b"{", b"}",
        b"[" * 3000,         b"a." * 3000, b"9" * 5000, b"true", b"\xff", b"\r", b"#")  # fmt: skip
JSON = (b"{", b"}", b"[" * 3000, b'{"a":' * 3000, b"null", b"1e999", b"-1", b"9" * 5000, b'"\\ud800"', b"\xff", b"NaN", b":",
        b",", b'""')  # fmt: skip
EXTRA = ("store_mib", "log_entries", "controller.count")  # what profile.load() looks at in any case
LINES = (b"\n", b"\r", b"\x1b[31m", b" ", b"\t", b"+++++", b"nan", b"inf", b"1e999", b"-", b"\xff", b"9" * 5000, b"0", b",",
         b".", b"\0",          "٣".encode(), "²".encode())  # fmt: skip


def of_files(*patterns: str) -> Callable[[], Iterator[bytes]]:
    """Files of the tree."""
    return lambda: (path.read_bytes() for pattern in patterns for path in sorted(TOP.glob(pattern)))


def read_plan(data: bytes) -> object:
    path = SCRATCH / "plan.toml"
    path.write_bytes(data)
    return plan.load(path)


def _model() -> profile.Model:
    """The keys of the profiles that there are; the program that compares their values is left out."""
    keys = {}
    for path in sorted(TOP.glob("tools/lab/profiles/*.toml")):
        for name, value in profile._flatten(tomllib.loads(path.read_text(encoding="utf-8"))).items():
            if name == "array.level":
                keys[name] = profile.Key(name, "choice", 0, 0, ("raid0", "raid5", "raid10", "jbod"), "raid0")
            elif isinstance(value, str):
                keys[name] = profile.Key(name, "text", 0, 64, (), "")
            else:
                keys[name] = profile.Key(name, "number", 0, (1 << 31) - 1, (), "1")
    return profile.Model(
        {profile.DRIVER: {**keys, **{name: profile.Key(name, "number", 0, 1 << 20, (), "1") for name in EXTRA}}}, 64
    )


def read_profile(data: bytes) -> object:
    path = SCRATCH / "profile.toml"
    path.write_bytes(data)
    return profile.load(str(path), MODEL)


def read_output(data: bytes) -> object:
    """The first byte says which program printed the output."""
    text = data[1:].decode("utf-8", "replace")
    parse: tuple[Callable[[str], object], ...] = (
        parsers.bonnie, lambda text: parsers.dd(text, "write"), parsers.fio, parsers.iozone,
        lambda text: parsers.own(text, "ddt"), lambda text: parsers.own(text, "ioperf"),
    )  # fmt: skip
    return parse[(data[0] if data else 0) % len(parse)](text)


def seeds_of_output() -> Iterator[bytes]:
    names = ("bonnie", "dd", "fio", "iozone", "ddt", "ioperf")
    corpus = TOP / "tests/python/benchmark/corpus"
    parts = re.split(b"^==> (.*) <==\n", (corpus / "printed.txt").read_bytes(), flags=re.MULTILINE)[1:]
    printed = dict(zip(parts[::2], parts[1::2])) | {b"fio": (corpus / "fio-3.33-iozone.json").read_bytes()}
    for of, text in printed.items():
        number = max(at for at, name in enumerate(names) if of.startswith(name.encode()))  # ddt stands behind dd
        yield bytes([number]) + text


def read_journal(data: bytes) -> object:
    path = SCRATCH / "journal"
    path.write_bytes(data)
    return journal.read(path)


def read_log(data: bytes) -> object:
    path = SCRATCH / "log.csv"
    path.write_bytes(data)
    return truth.read_log(path)


def seeds_of_log() -> Iterator[bytes]:
    rows = [truth.HEADER, [*"0123", "0", "5", "6", "7", "8", "9"], [*"0123", "", "5", "6", "7", "", "9"]]
    yield "".join(",".join(row) + "\n" for row in rows).encode()


def _template() -> sqlite3.Connection:
    path = SCRATCH / "run.rtdb"
    long_recording.write(path, 2, 2, 1)
    long_recording.pack(path)
    database = sqlite3.connect(":memory:")
    with contextlib.closing(sqlite3.connect(path)) as file:
        file.backup(database)
    return database


def read_histograms(data: bytes) -> object:
    DATABASE.execute("UPDATE sample SET histograms = ?", (data.decode("utf-8", "replace"),))
    with sample_rows.opened(SCRATCH / "run.rtdb") as rows:
        return rows.group_sums(), rows.idle, rows.seeks, rows.depth("read")


def seeds_of_histograms() -> Iterator[bytes]:
    yield from corpus("histograms")()
    yield b'{"read":{"size":{"8":3,"128":1}},"all":{"depth_time":{"0":9},"depth":{"1":1}},"write":{"seek":{"64":2,"3":1}}}'
    yield from (text.encode() for (text,) in DATABASE.execute("SELECT DISTINCT histograms FROM sample").fetchall()[:5])


def corpus(name: str) -> Callable[[], Iterator[bytes]]:
    """Inputs that libFuzzer found when this reader was in C."""

    def inputs() -> Iterator[bytes]:
        with tarfile.open(TOP / f"tests/fuzz/readers-corpus/{name}.tar.xz") as archive:
            for member in archive:
                if file := archive.extractfile(member):
                    yield file.read()

    return inputs


def read_recording(data: bytes) -> object:
    """The first byte says what is made of a recording in which each four bytes behind change one: three say its place."""
    image = bytearray(IMAGE)
    for at in range(1, len(data) - 3, 4):
        image[int.from_bytes(data[at : at + 3], "big") % len(image)] = data[at + 3]
    path = SCRATCH / "changed.rtdb"
    path.write_bytes(image)
    sample_rows.database.connect = CONNECT
    try:
        with sample_rows.opened(path) as opened:
            found = invariants.read(path, opened)
            match (data[0] if data else 0) % 3:
                case 0:
                    return report_text.text(found, "it was not requested", True)
                case 1:
                    return shown.value_json(document.recording(found))
            return "".join(export.json(path, opened))
    finally:
        sample_rows.database.connect = TEMPLATE  # type: ignore


FORBIDDEN = {
    sqlite3.SQLITE_CREATE_VIEW, sqlite3.SQLITE_CREATE_TEMP_VIEW, sqlite3.SQLITE_CREATE_TRIGGER,
    sqlite3.SQLITE_CREATE_TEMP_TRIGGER, sqlite3.SQLITE_CREATE_VTABLE, sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_PRAGMA,
    sqlite3.SQLITE_RECURSIVE,
}  # fmt: skip


def read_schema(data: bytes) -> object:
    """The first byte says what the schema calls a statement. SQLite makes and reads what passes
    database._plain(): it must find no view, trigger, function or table of a module in it."""
    kind = ("table", "index", "trigger", "view")[(data[0] if data else 0) % 4]
    sql = data[1:].partition(b"\0")[0].decode("utf-8", "replace")
    if not database._plain(kind, "name", sql) or kind == "view":
        return None
    # SQLite takes a statement that makes something else than the row says for damage.
    if not re.match("CREATE TABLE " if kind == "table" else "CREATE .*INDEX ", sql, re.DOTALL):
        return None
    found: list[object] = []

    def authorize(action: int, _: str | None, name: str | None, *__: str | None) -> int:
        # How SQLite itself makes the names of automatic indices, of statistics and of a dropped table.
        ours = action == sqlite3.SQLITE_FUNCTION and name in ("like", "sqlite_rename_table")
        if action in FORBIDDEN or (action == sqlite3.SQLITE_FUNCTION and not ours):
            found.append((action, name))
        return sqlite3.SQLITE_OK

    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        made.execute("CREATE TABLE flow (sample, direction, queued)")
        made.set_authorizer(authorize)
        try:
            made.execute(sql)
        except (sqlite3.Error, sqlite3.Warning):
            return None  # SQLite does nothing before a syntax error
        with contextlib.suppress(sqlite3.Error, sqlite3.Warning):
            for (name,) in made.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
                made.execute('SELECT * FROM "{}"'.format(name.replace('"', '""'))).fetchall()
    assert not found, (sql, found)
    return None


SQL = tuple(
    b"CREATE TABLE t (|CREATE INDEX i ON flow (| AS (|CHECK|DEFAULT|random()|WHERE|COLLATE|(|)|SELECT|/*|*/|--|\n|\"|'|`|[|]"
    b"|USING|VIRTUAL|,|;".split(b"|")
)
TARGETS = {
    "recording": Target(read_recording, (RecordingError,), corpus("recording"), (b"\0", b"\xff", b"\x80")),
    "schema": Target(read_schema, (), corpus("schema"), SQL),
    "plan": Target(read_plan, (shown.UserError,), of_files("tools/python/raidtrace/sweep/plans/*.toml"), TOML),
    "profile": Target(read_profile, (LabError,), of_files("tools/lab/profiles/*.toml"), TOML),
    "benchmark": Target(read_output, (ParseError,), seeds_of_output, LINES),
    "journal": Target(read_journal, (), lambda: iter([b'{"path":"/sys/a","was":"1"}\n{"begin":["sda"]}\n']), JSON),
    "log": Target(read_log, (ValueError, shown.UserError), seeds_of_log, LINES),
    "histograms": Target(read_histograms, (RecordingError,), seeds_of_histograms, JSON),
}


def mutated(seeds: list[bytes], words: tuple[bytes, ...], numbers: random.Random) -> bytes:
    """A seed with some bytes changed, left out, doubled or taken from another one, and words put in."""
    data = bytearray(numbers.choice(seeds))
    for _ in range(numbers.choice((1, 1, 2, 4, 8))):
        at, length = numbers.randrange(len(data) + 1), numbers.choice((1, 2, 8, 64))
        match numbers.randrange(6):
            case 0:
                data[at : at + 1] = bytes([numbers.randrange(256)])
            case 1:
                del data[at : at + length]
            case 2:
                data[at:at] = data[at : at + length] * numbers.choice((1, 2, 50))
            case 3:
                data[at : at + length] = numbers.choice(words)
            case 4:
                data[at:at] = numbers.choice(words)
            case _:
                other = numbers.choice(seeds)
                begin = numbers.randrange(len(other) + 1)
                data[at : at + length] = other[begin : begin + length]
    return bytes(data[:100_000])


def one(name: str, data: bytes) -> bool:
    """Whether the target ended as it may. Otherwise the input is kept and the traceback printed."""
    try:
        TARGETS[name].read(data)
    except TARGETS[name].raises:
        pass
    except Exception:  # pylint: disable=broad-except
        FOUND.mkdir(parents=True, exist_ok=True)
        kept = FOUND / f"reader-{name}-{abs(hash(data)):x}"
        kept.write_bytes(data)
        print(
            f"not ok - {name}: {kept}\n" + "".join(f"  {line}" for line in traceback.format_exc().splitlines(True)[-8:])
        )
        return False
    return True


def fuzz(name: str, seconds: float, seed: int) -> tuple[int, bool]:
    """Mutants that were read, and whether all ended well; each seed is read first, as it is."""
    numbers = random.Random(seed)
    seeds = list(TARGETS[name].seeds())
    executions = 0
    for data in seeds:
        if not one(name, data):
            return executions, False
    end = time.process_time() + seconds
    while time.process_time() < end:
        executions += 1
        if not one(name, mutated(seeds, TARGETS[name].words, numbers)):
            return executions, False
    return executions, True


def follow(name: str, options: list[str]) -> None:
    """Fuzz with libFuzzer, which ends the process."""

    def execute(data: bytes) -> None:
        with contextlib.suppress(*TARGETS[name].raises):
            TARGETS[name].read(data)

    for directory in (pathlib.Path(option) for option in options if not option.startswith("-")):
        directory.mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(TARGETS[name].seeds()):
            (directory / f"seed-{number}").write_bytes(seed)
    atheris.Setup([sys.argv[0], *options], execute)
    atheris.Fuzz()


def main(words: list[str]) -> int:
    """Fuzz one target or all."""
    if words[:1] == ["--atheris"]:
        follow(words[1], words[2:])
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0], allow_abbrev=False)
    parser.add_argument("--seconds", type=float, default=5, help="of processor, for each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("target", nargs="*", choices=[[], *TARGETS])
    options = parser.parse_args(words)
    failed = 0
    names = options.target or list(TARGETS)
    for name in names:
        executions, good = fuzz(name, options.seconds, options.seed)
        failed += not good
        print(f"{'ok' if good else 'not ok'} - {name}: {executions} executions", flush=True)
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


DATABASE = _template()
IMAGE = lzma.decompress((TOP / "tests/python/report/golden/full.rtdb.xz").read_bytes())
CONNECT, TEMPLATE = sample_rows.database.connect, lambda path: contextlib.nullcontext(DATABASE)
sample_rows.database.connect = TEMPLATE  # type: ignore
MODEL = _model()
if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
