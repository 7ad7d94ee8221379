# SPDX-License-Identifier: GPL-2.0-or-later
"""A finished sweep of made-up figures over readahead, with a queue of made-up depth for each cell."""

import pathlib

from explain_make import record

from raidtrace.benchmark.figure import Figure
from raidtrace.sweep import index as sweep_index
from raidtrace.sweep import plan, steps
from raidtrace.sweep.index import Index, Outcome
from raidtrace.sweep.run import cells as sweep

TEXT = """title = "x"
trials = {trials}
{matrices}
"""
MATRIX = """[[matrix]]
array = "9500s-12-raid0"
filesystem = "none"
readahead_sectors = {readahead}
{more}
workload = "dd"
data_size = "1 GiB"
"""
PLACE = steps.Place(("sda",), "/mnt", 1 << 30, lab=True)
CURVE = {256: 90e3, 1024: 260e3, 4096: 400e3, 16384: 405e3}
DEPTHS = {256: 2.0, 1024: 6.0, 4096: 24.0, 16384: 95.0}


def made(directory, rates=None, trials=3, matrices=None, depths=None, recordings=False) -> pathlib.Path:
    """A finished sweep over readahead; trial n is 0.1 % slower than the one before."""
    directory.mkdir(parents=True, exist_ok=True)
    text = matrices or MATRIX.format(readahead=list(rates or CURVE), more="")
    chosen = plan.parse(TEXT.format(trials=trials, matrices=text), "p", "p.toml")
    jobs = [(cell, PLACE) for cell in chosen.cells]
    facts = sweep.about("lab") | {"overrides": "{}"}
    index = Index.create(directory / sweep_index.NAME, chosen, facts, jobs)
    for entry in index.entries():
        sectors = int(str(index.axes(entry.cell)["readahead_sectors"]))
        value = (rates or CURVE)[sectors] * (1 - 0.001 * entry.trial)
        depth = (depths or DEPTHS).get(sectors, 2.0)
        counted = {"disk": "sda", "phase": "run", "direction": "read", "bios": 100, "issued": 1000, "bytes_queued": 1 << 27,
                   "bytes_issued": 1 << 27, "sequential": 999, "in_flight_mean": depth}  # fmt: skip
        columns = [row[1] for row in index._db.execute("PRAGMA table_info(queue)")][1:]
        row = tuple(counted.get(name) for name in columns)
        index.end(entry.cell, Outcome("", (Figure("read", value, "KiB/s"),), (row,), None, 1.0, "6.1"))
        if recordings:
            seconds = 512 * 1024 / value
            arguments = {"depth": round(depth), "seconds": seconds}
            record(
                directory / entry.directory, (("run", arguments),), {"readahead_sectors": str(sectors), "fstype": ""}
            )
    index.close()
    return directory
