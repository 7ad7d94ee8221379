#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl exporter with the module, on Debian's own kernel: results of guest-exporter.

tests/vm/run has it; tests/vm/exporter.py SERIES is the same with what a scrape costs, in instructions, and takes longer.
"""

from __future__ import annotations

import pathlib
import sys

GUEST = pathlib.Path(__file__).resolve().with_name("guest-exporter")
sys.dont_write_bytecode = True
sys.path[:0] = [str(GUEST.parents[2] / "tools/lab"), str(GUEST.parents[1] / "exporter")]

import prometheus  # noqa: E402
from raidlab.base.progress import Progress  # noqa: E402
from raidlab.vm import session  # noqa: E402
from results import HARNESS_S, OUT, Results, captured, empty  # noqa: E402


def live(series: str, results: Results, progress: Progress, instructions: bool = False) -> None:
    """One guest; its lines are ours. With @instructions its clock counts them, and the cost of a scrape is printed."""
    out = empty(OUT / f"{series}-exporter")
    job = session.Session(
        series,
        ["sh", "-c", f'ip link set lo up; exec {GUEST} "$RAIDTRACE_KO" {prometheus.programs()}'],
        out,
        timeout_s=HARNESS_S * 15,
        memory_mib=2048,
        cpus=1
        if instructions
        else 2,  # with two, QEMU's clock of instructions hardly gets on while one waits for the other
        instructions=instructions,
    )
    ended, output, complained = captured(job, progress, out / "log")
    bad = 0
    for text in output.splitlines():
        mark, dash, rest = text.partition(" - ")
        if instructions and text.startswith("cost: "):
            print(f"{series}: {text}")
        if dash and mark in ("ok", "not ok"):
            bad += mark == "not ok"
            results.line(f"{mark} - {series}: {rest}")
    status = ended.outcome.status
    # an error of the guest's program ends with 1, which may be the number of failures, too
    well = status == bad and "Traceback" not in complained
    wrong = "" if well else f"status {status} {ended.outcome.reason} {complained[-300:]}"
    results.check(f"{series}: exporter: the guest ended well", wrong)


if __name__ == "__main__":
    results = Results()
    live(sys.argv[1], results, Progress(quiet=False), instructions=True)
    sys.exit(results.end())
