# SPDX-License-Identifier: GPL-2.0-or-later
"""Read, verify and explain what raidtrace recorded. Only client/ talks to the kernel. Programs of others use open(), which
Documentation/client.rst describes, and client/; all else may change. Each folder uses those before it in
this list (tests/lint/layers).

quantity/   pure arithmetic: bins of histograms, sizes, statistics of trials, ranks, what seeks cost
recording/  the one reader of recordings: rows, sums of a phase, series over time, and the numbers that follow from them
exporter/   raidctl exporter: metrics of live rows for Prometheus, counters of cgroups, the server
benchmark/  the benchmarks that can be run, the terms of their tests; what each printed, as figures
published/  published tables as CSV, and what reads them
explain/    why a throughput is what it is: links with their evidence, limits, two runs side by side
sweep/      plans, the steps of a cell, the index of results, the journal of changes to this machine; run/: a sweep's cells
            in guests of the lab, or on disks that were named for destruction
check/      raidctl check: what a benchmark needs of the machine; facts, and the rules that judge them
compare/    two sets of figures side by side: of recordings, of sweeps, of published tables
why/        causes by experiment; what decides (changes, chance, experiment, verdict) knows no machine, lab and disk do
plot/       pictures: how all of them look; those of a recording, and those of a sweep
report/     the HTML report of recordings and of sweeps
demo/       raidctl demo: its cells, its table, and whether what was counted is true
interface/  a recording as objects, for programs of others
cli/        command lines: a module for each program

client/     the live counters of raidtrace.ko, for programs of others; no other folder uses it, and it uses only quantity/
"""

from __future__ import annotations

import typing

if typing.TYPE_CHECKING:
    import pathlib

    from raidtrace.interface.recording import Recording


def open(path: str | pathlib.Path) -> Recording:  # pylint: disable=redefined-builtin
    """A recording as an object. Raises RecordingError, whose text is the reason."""
    from raidtrace.interface.recording import Recording  # here, because each import of the package runs this file

    return Recording(path)
