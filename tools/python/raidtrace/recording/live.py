# SPDX-License-Identifier: GPL-2.0-or-later
"""The live rows of disks: one sample of each, with the same objects as a recording on disk.

`raidctl rows` counts. Each answer is the bytes of a recording with one phase, which become a database in memory. The
program ends with the pipe to it, so it also detaches its disks if this process is killed.
"""

import contextlib
import pathlib
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from typing import IO

from raidtrace.quantity.shown import UserError, visible
from raidtrace.quantity.usage import source_words
from raidtrace.recording import database, spans
from raidtrace.recording.sample_rows import SampleRows
from raidtrace.recording.spans import Recorded

RAIDCTL = pathlib.Path(__file__).resolve().parents[3] / "bin" / "raidctl"
NO_PATH = pathlib.Path()  # of rows that are no file
TOTAL, DIFFERENCE = "total", "difference"  # since attach or reset; since the sample before


class LiveError(UserError):
    """A sample could not be taken. The next call may succeed."""


class Ended(Exception):
    """The program that counts has ended, and has printed the reason. status: its exit status."""

    def __init__(self, status: int) -> None:
        super().__init__(f"raidctl rows ended with exit status {status}")
        self.status = status


class Live:
    """The disks that a verb counts; a context manager. At its end nothing is attached that it attached.

    verb: show, top or exporter; it decides which disks are attached. source: module or bpf, None for the default.
    errors: the messages of the program; None: standard error."""

    def __init__(
        self, verb: str, disks: Sequence[str], source: str | None = None, errors: IO[bytes] | None = None
    ) -> None:
        self._program = subprocess.Popen([RAIDCTL, "rows", *source_words(source), verb, "--", *disks], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, stderr=errors)  # fmt: skip

    def __enter__(self) -> "Live":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> int:
        """Let the program detach its disks and end. Returns its exit status."""
        for pipe in (self._program.stdin, self._program.stdout):
            with contextlib.suppress(OSError):
                if pipe:
                    pipe.close()
        return self._program.wait()

    @contextlib.contextmanager
    def rows(self, kind: str) -> Iterator[SampleRows]:
        """Take a sample, and hand out its rows. kind: TOTAL, or DIFFERENCE; then a disk without an earlier sample, or that
        was reset since, has a row in the table target, but no sample. Raises LiveError, Ended."""
        with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
            db.deserialize(self._answer(kind))
            db.row_factory = sqlite3.Row
            db.text_factory = lambda text: visible(database.raw(text))
            yield SampleRows(db)

    def recorded(self, kind: str) -> Recorded:
        """Take a sample: a recording with a span for each disk that has one. Raises LiveError, Ended."""
        with self.rows(kind) as rows:
            return spans.read(NO_PATH, rows)

    def _answer(self, kind: str) -> bytes:
        request, answer = self._program.stdin, self._program.stdout
        assert request and answer
        try:
            request.write(f"{kind}\n".encode())
            request.flush()
            word, _, rest = answer.readline().decode("utf-8", "replace").rstrip("\n").partition(" ")
            content = answer.read(int(rest)) if word == "rows" else b""
        except BrokenPipeError:
            word, rest, content = "", "", b""
        if word == "failed":
            raise LiveError(rest)
        if word != "rows" or len(content) != int(rest):
            raise Ended(self.close() or 1)
        return content
