# SPDX-License-Identifier: GPL-2.0-or-later
"""Finished sweeps of made-up figures: readahead, file systems and a surface; readahead alone, with a queue for each cell."""

import pathlib
import sqlite3

from made_phase import record

from raidtrace.benchmark.parsers import Figure
from raidtrace.sweep import index as sweep_index
from raidtrace.sweep import plan, steps
from raidtrace.sweep.index import Index, Outcome
from raidtrace.sweep.run import cells as sweep

TEXT = """title = "Made up <b>for</b> tests"
published = "amcc"
trials = 3
[workload.surface]
kind = "iozone"
auto = true
record_kib = 64
tests = "write"
[[matrix]]
array = "9500s-12-raid0"
filesystem = "none"
readahead_sectors = [256, 1024, 4096, 16384]
workload = "dd"
data_size = "1 GiB"
[[matrix]]
array = "9500s-12-raid0"
filesystem = ["xfs", "ext2"]
readahead_sectors = [256, 16384]
workload = "bonnie++"
data_size = "1 GiB"
[[matrix]]
array = "9500s-12-raid0"
filesystem = "xfs"
readahead_sectors = 256
workload = "surface"
data_size = "1 GiB"
"""
RATES = {256: 88_000.0, 1024: 264_000.0, 4096: 401_000.0, 16384: 405_000.0}
DEPTHS = {256: 2.0, 1024: 7.0, 4096: 24.0, 16384: 80.0}


PLACE = steps.Place(("sda",), "/mnt", 1 << 30, lab=True)


def create(directory, the_plan, **facts):
    """The index of a new sweep of the lab, in a directory that is made."""
    directory.mkdir(parents=True, exist_ok=True)
    facts = sweep.about("lab") | {"overrides": "{}"} | facts
    return Index.create(directory / sweep_index.NAME, the_plan, facts, [(cell, PLACE) for cell in the_plan.cells])


def _outcome(cell, columns):
    ahead, scale = cell.get("readahead_sectors"), 1 + cell.trial / 100
    if cell.get("workload") == "surface":
        figures = [Figure("write", 1000.0 * file / record, "KiB/s", None,
                          (("file_kib", str(file)), ("record_kib", str(record))))
                   for file in (512, 1024, 2048) for record in (64, 128, 256)]  # fmt: skip
        return Outcome("", tuple(figures), (), "run.rtdb", 1.0, "6.1")
    scale *= 0.8 if cell.get("filesystem") == "ext2" else 1
    figures = [Figure("read", RATES[ahead] * scale, "KiB/s")]
    if cell.get("workload") == "bonnie++":
        figures += [Figure("write", 200_000.0 * scale, "KiB/s", 3.0), Figure("seeks", 500.0, "1/s")]
    row = dict.fromkeys(columns, 0) | {
        "disk": "sda", "phase": "read", "direction": "read", "seconds": 1.0, "bytes_issued": 1 << 30,
        "in_flight_mean": DEPTHS[ahead], "readahead_sectors": ahead,
    }  # fmt: skip
    return Outcome("", tuple(figures), (tuple(row.values()),), "run.rtdb", 1.0, "6.1")


def write(directory):
    """The sweep, in a directory that is made."""
    the_plan = plan.parse(TEXT, "made-up", "made-up.toml")
    index = create(directory, the_plan)
    with sqlite3.connect(index.path) as db:
        columns = [row[1] for row in db.execute("PRAGMA table_info(queue)")][1:]
    for number, cell in enumerate(the_plan.cells, 1):
        index.begin(number, "now")
        index.end(number, _outcome(cell, columns))
    index.close()
    return directory


CURVE_TEXT = """title = "x"
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
CURVE = {256: 90e3, 1024: 260e3, 4096: 400e3, 16384: 405e3}
CURVE_DEPTHS = {256: 2.0, 1024: 6.0, 4096: 24.0, 16384: 95.0}


def made(directory, rates=None, trials=3, matrices=None, depths=None, recordings=False) -> pathlib.Path:
    """A finished sweep over readahead; trial n is 0.1 % slower than the one before."""
    text = matrices or MATRIX.format(readahead=list(rates or CURVE), more="")
    index = create(directory, plan.parse(CURVE_TEXT.format(trials=trials, matrices=text), "p", "p.toml"))
    for entry in index.entries():
        sectors = int(str(index.axes(entry.cell)["readahead_sectors"]))
        value = (rates or CURVE)[sectors] * (1 - 0.001 * entry.trial)
        depth = (depths or CURVE_DEPTHS).get(sectors, 2.0)
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
