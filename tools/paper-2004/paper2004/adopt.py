# SPDX-License-Identifier: GPL-2.0-or-later
"""The white paper's tests that make reproduce has run, as cells of the plan amcc: nobody need run 28 times 20 GB twice.

What differs from the plan's own cells - the partition, the page cache's turnover - is in each one's steps, and its label
says where it comes from. Tests that have not been run wait, so raidctl sweep --lab --resume runs them.
"""

import argparse
import json
import pathlib
import shlex
import sys
from collections.abc import Sequence

from paper2004 import amcc, reproduce_plan, reproduce_run
from raidtrace.benchmark.figure import KIB_PER_S, PER_S, Figure
from raidtrace.cli import sweep as cli_sweep
from raidtrace.published import tables as published
from raidtrace.sweep import index as sweep_index
from raidtrace.sweep import plan
from raidtrace.sweep.index import Index, Outcome
from raidtrace.sweep.run import cells as sweep
from raidtrace.sweep.run import lab as cell_lab

PLAN = "amcc"
LABEL = "make reproduce"


class AdoptError(Exception):
    """Nothing there that can be taken over; the text says why."""


def test_of(cell: plan.Cell, the_plan: plan.Plan) -> amcc.Test | None:
    """The paper's test that a cell is."""
    kind, parameters = the_plan.workload(cell.text("workload"))
    array = cell.text("array").removeprefix("9500s-12-")
    filesystem = "" if cell.text("filesystem") == plan.RAW else cell.text("filesystem")
    for test in amcc.tests():
        if (test.array, test.tool, test.filesystem, test.setra_sectors) == (
            array,
            kind,
            filesystem,
            cell.number("readahead_sectors"),
        ):
            if kind != "dd" or amcc.metrics(test) == (str(parameters.get("direction", "read")),):
                return test
    return None


def adopt(source: pathlib.Path, out: pathlib.Path) -> Index:
    """An index in `out` with what the directory of make reproduce holds; recordings, where it has them, stay."""
    if not source.is_dir():
        raise AdoptError(f"{source}: there is no such directory; make reproduce leaves reproduce-out")
    the_plan = plan.load(plan.find(PLAN))
    lab = cell_lab.Lab(pathlib.Path(), out, "", the_plan)
    runs = {run.test: run for run in reproduce_plan.paper()}
    found: dict[str, tuple[reproduce_run.Run, pathlib.Path]] = {}
    for cell in the_plan.cells:
        test = test_of(cell, the_plan)
        if test and (source / test.name() / "result.json").is_file():
            found[cell.identity()] = (runs[test], source / test.name())
    if not found:
        raise AdoptError(f"{source}: holds no finished test of the white paper")
    facts = sweep.about("lab") | {"overrides": "{}", "adopted_from": str(source.resolve())}
    out.mkdir(parents=True, exist_ok=True)
    sweep.fresh(out)
    index = Index.create(out / sweep_index.NAME, the_plan, facts, [(cell, lab.place()) for cell in the_plan.cells])
    for entry in index.entries():
        if entry.identity in found:
            _take(index, entry, *found[entry.identity])
    return index


def _take(index: Index, entry: sweep_index.Entry, run: reproduce_run.Run, directory: pathlib.Path) -> None:
    made = json.loads((directory / "result.json").read_text(encoding="utf-8"))
    chosen, what = amcc.job(run.test, run.mib)
    command = ["raidctl", "lab", "run", "--profile", run.profile(), "--mem", f"{run.memory_mib}M", "--"]
    command += [
        pathlib.Path(word).name if word.startswith("/") else word
        for word in run.command(pathlib.Path("bonnie-batch.so"))
    ]
    label = ", ".join(word for word in (chosen.label(what), LABEL) if word)
    destroyed = "sda" if run.test.filesystem or chosen.destroys(what) else ""
    index.describe(entry.cell, label, dict(what.parameters), [(LABEL, shlex.join(command), destroyed)])
    recording, kernel = directory / "run.rtdb", str(made["kernel"])
    if recording.is_file():
        figures, queue = cell_lab.results(chosen, what, recording)
        index.end(entry.cell, Outcome("", figures, queue, str(recording.resolve()), 0.0, kernel))
        return
    found = []
    for metric, value in made["figures"].items():
        unit = amcc.trials(run.test, metric)[0].unit
        rate = unit in published.KIB
        found.append(Figure(metric, value * published.KIB[unit] if rate else value, KIB_PER_S if rate else PER_S))
    index.end(entry.cell, Outcome("", tuple(found), (), None, 0.0, kernel))


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0 done, 1 failed, 2 usage."""
    parser = argparse.ArgumentParser(
        "adopt", description="Take what make reproduce has run for finished cells of the plan amcc."
    )
    parser.add_argument("source", type=pathlib.Path, help="its directory, reproduce-out")
    parser.add_argument("out", type=pathlib.Path, help="directory of the sweep to make")
    options = parser.parse_args(arguments)
    try:
        cli_sweep.report(adopt(options.source, options.out), options.out)
    except (AdoptError, *cli_sweep.ERRORS) as error:
        print(f"adopt: {error}", file=sys.stderr)
        return 1
    return 0
