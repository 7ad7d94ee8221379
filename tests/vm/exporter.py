# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl exporter beside the module, on Debian's own kernel: what guest-exporter finds there."""

from __future__ import annotations

import pathlib
import sys

from raidlab.base.progress import Progress
from raidlab.vm import session
from results import HARNESS_S, OUT, Results, captured, empty

GUEST = pathlib.Path(__file__).with_name("guest-exporter")
sys.path.insert(0, str(GUEST.parents[1] / "exporter"))
import prometheus  # noqa: E402


def live(series: str, results: Results, progress: Progress) -> None:
    """One guest; its lines are ours."""
    out = empty(OUT / f"{series}-exporter")
    job = session.Session(
        series,
        ["sh", "-c", f'ip link set lo up; exec {GUEST} "$RAIDTRACE_KO" {prometheus.programs()}'],
        out,
        timeout_s=HARNESS_S * 15,
        memory_mib=2048,
        instructions=True,
    )
    ended, said, complained = captured(job, progress, out / "log")
    bad = 0
    for text in said.splitlines():
        mark, dash, rest = text.partition(" - ")
        if dash and mark in ("ok", "not ok"):
            bad += mark == "not ok"
            results.line(f"{mark} - {series}: {rest}")
    status = ended.outcome.status
    wrong = "" if status == bad else f"status {status} {ended.outcome.reason} {complained[-300:]}"
    results.check(f"{series}: exporter: the guest ended well", wrong)
