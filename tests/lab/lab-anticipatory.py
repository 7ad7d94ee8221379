#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-long: research; tests/lab/demo-reproduction runs with it
"""The scheduler of 2.6.5 (tools/paper-2004/anticipatory) works as its header states, by the controller's own log: no depth
across a change from reads to writes; writes wait while a process requests its next read soon, and do not when it thinks
for long."""

from __future__ import annotations

import csv
import statistics
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from lab_checks import TOP, check, finish, guest  # noqa: E402

sys.path.append(str(TOP / "tools/lab"))
from raidlab.base.progress import Progress  # noqa: E402
from raidlab.kernel import linux  # noqa: E402
from raidlab.uml import modules  # noqa: E402

SERIES, NAME = "6.1", "anticipatory"
GUEST = Path(__file__).resolve().parent / "anticipatory_guest.py"
SOON_MS, LATE_MS = 1, 30
BATCH_MS = 500
Command = tuple[float, float, str]  # arrival and completion, ms; READ or WRITE


def commands(log: Path) -> list[Command]:
    """Reads and writes of the log while the reader ran, in order of arrival."""
    with log.open(encoding="ascii", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["completion_ns"] and row["name"] in ("READ", "WRITE")]
    rows.sort(key=lambda row: int(row["arrival_ns"]))
    small = [n for n, row in enumerate(rows) if row["sectors"] == "8"]  # the reader's
    return [
        (int(row["arrival_ns"]) / 1e6, int(row["completion_ns"]) / 1e6, row["name"])
        for row in rows[small[0] : small[-1] + 1]
    ]


def mixed(some: list[Command]) -> int:
    """The number that began during one of the other kind."""
    last = {"READ": -1.0, "WRITE": -1.0}
    count = 0
    for begin, end, kind in some:
        other = "WRITE" if kind == "READ" else "READ"
        count += begin < last[other]
        last[kind] = max(last[kind], end)
    return count


def waits(some: list[Command]) -> list[float]:
    """ms from the first read after a batch of writes, or from the beginning, to the next write."""
    since, gaps, before = some[0][0], [], "READ"
    for begin, _, kind in some:
        if kind == "READ" and before == "WRITE":
            since = begin
        if kind == "WRITE" and before == "READ":
            gaps.append(begin - since)
        before = kind
    return gaps


def run(directory: Path, think_ms: int, ko: Path | None) -> list[Command]:
    """One guest."""
    insert = f"insmod {ko} && " if ko else ""
    words = f"{insert}python3 {GUEST} {think_ms} {NAME if ko else ''}"
    done = guest(directory, "sh", "-c", words, kernel=SERIES, options=["--no-raidtrace", "--mem", "192M"])
    check(f"{directory.name}: data reads back, and the kernel prints no complaint", done.returncode == 0, done.stderr)
    if done.returncode:
        finish()
    return commands(directory / "ground-truth.csv")


def main() -> None:
    progress = Progress(quiet=True)
    source = TOP / "tools/paper-2004" / NAME
    module = modules.Module(NAME, source / "Kbuild", (source,), f"{NAME}.ko")
    built = modules.build(module, linux.obtain(SERIES, progress), progress)
    check("it compiles without a warning", not built.warnings, built.warnings)
    with tempfile.TemporaryDirectory(prefix="lab-test-", dir="/var/tmp") as name:
        usual = run(Path(name, "usual"), SOON_MS, None)
        soon = run(Path(name, "soon"), SOON_MS, built.path)
        late = run(Path(name, "late"), LATE_MS, built.path)
    kinds = [sum(one == kind for _, _, one in soon) for kind in ("READ", "WRITE")]
    check("there were reads and writes", min(kinds) > 100, kinds)
    check("today's scheduler sends both at once", mixed(usual) > 10, mixed(usual))
    check("this one never", mixed(soon) == mixed(late) == 0, (mixed(soon), mixed(late)))
    gaps = waits(soon)
    check("a reader that goes on soon has the disk for a batch of 500 ms", min(gaps[1:]) >= BATCH_MS, gaps)
    check("and no longer", max(gaps[1:]) < BATCH_MS + 50, gaps)
    check("today's scheduler has no such batches", statistics.median(waits(usual)) < BATCH_MS / 5, waits(usual))
    gaps = waits(late)
    check("for one that thinks 30 ms nobody waits", statistics.median(gaps) < BATCH_MS / 5, gaps)
    finish()


if __name__ == "__main__":
    main()
