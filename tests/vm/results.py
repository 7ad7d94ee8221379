# SPDX-License-Identifier: GPL-2.0-or-later
"""The common part of tests/vm/run: counting and printing results, and running a guest with its output kept."""

from __future__ import annotations

import pathlib
import shutil

from raidlab.array import profile
from raidlab.array.profile import Profile
from raidlab.base.progress import Progress
from raidlab.uml import modules
from raidlab.vm import session

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
OUT = TOP / "check-out" / "vm"
DRIVER_3WARE = "3w-9xxx"
STORE_MIB = 64
HARNESS_S = 120.0


class Results:
    """Counts, and one line per test."""

    def __init__(self, quiet: bool = False) -> None:
        self.passed = self.failed = self.skipped = 0
        self.texts: list[str] = []
        self._quiet = quiet

    def line(self, text: str) -> None:
        """Count and print a line of the form `ok - ...`, `not ok - ...` or `skip - ...`."""
        self.passed += text.startswith("ok - ")
        self.failed += text.startswith("not ok - ")
        self.skipped += text.startswith("skip - ")
        self.texts.append(text)
        if not self._quiet:
            print(text, flush=True)

    def lines(self, output: str, prefix: str) -> int:
        """Take over the results among the lines that a guest printed. Returns the number of failures."""
        failures = 0
        for text in output.splitlines():
            mark, dash, rest = text.partition(" - ")
            if dash and mark in ("ok", "not ok", "skip"):
                failures += mark == "not ok"
                self.line(f"{mark} - {prefix}: {rest}")
        return failures

    def check(self, name: str, why: str) -> None:
        """`why` is empty when the test passed."""
        self.line(f"not ok - {name}: {why}" if why else f"ok - {name}")

    def end(self) -> int:
        """Print the totals. Returns the exit status."""
        print(f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else ""))
        return 1 if self.failed or not self.passed else 0


def empty(out: pathlib.Path) -> pathlib.Path:
    """The directory, with nothing in it."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    return out


def array(name: str, progress: Progress, *settings: str) -> Profile:
    """A profile with some keys set, its store made small."""
    return profile.load(name, modules.build_programs(progress).model(), STORE_MIB, settings)


def captured(job: session.Session, progress: Progress, log: pathlib.Path) -> tuple[session.Ended, str, str]:
    """Run a session; its ending, its output and its messages."""
    with open(log, "w+b") as output, open(log.with_suffix(".stderr"), "w+b") as complained:
        ended = session.run(job, progress, (output.fileno(), complained.fileno()))
    text = [path.read_text(encoding="utf-8", errors="replace") for path in (log, log.with_suffix(".stderr"))]
    return ended, text[0], text[1]
