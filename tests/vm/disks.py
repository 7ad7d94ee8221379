# SPDX-License-Identifier: GPL-2.0-or-later
"""May this disk be written: the table of tests/lab/ctl-destruction on a stock kernel, which has what the lab's kernels lack."""

from __future__ import annotations

from raidlab.base.progress import Progress
from raidlab.vm import session
from results import OUT, TOP, Results, captured, empty

TABLE_S = 2400.0


def table(series: str, results: Results, progress: Progress) -> None:
    """Each row of the table is a test here."""
    out = empty(OUT / f"{series}-disks")
    job = session.Session(series, [str(TOP / "tests/lab/ctl-destruction")], out, timeout_s=TABLE_S)
    ended, said, complained = captured(job, progress, out / "log")
    failures = 0
    for text in said.splitlines():
        mark, dash, rest = text.partition(" - ")
        if dash and mark in ("ok", "not ok", "skip"):
            failures += mark == "not ok"
            results.line(f"{mark} - {series}: {rest}")
    wrong = ended.outcome.reason
    if not wrong and (ended.outcome.status != (failures > 0) or "0 accepted" not in said):
        wrong = f"status {ended.outcome.status} with {failures} failures: {complained.strip()[-300:]}"
    results.check(f"{series}: no disk in use was overwritten, its kernel log is clean", wrong)
