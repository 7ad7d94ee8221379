# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl sweep: run a plan in the lab or on real disks; show, merge and put right."""

import argparse
import json
import os
import pathlib
import shlex
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from raidtrace import benchmark, cell_lab, plan, size, steps, sweep, sweep_index, sweep_table

RAIDCTL = pathlib.Path(__file__).resolve().parents[2] / "bin" / "raidctl"
DESCRIPTION = """Run a plan: every cell of its matrix with a fresh file system and a recording of its own.
Also: raidctl sweep plans; raidctl sweep show DIR."""
ERRORS = (sweep.SweepError, sweep_index.SweepIndexError, plan.PlanError, benchmark.BenchmarkError, steps.StepsError,
          size.SizeError, OSError)  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0 done, 1 failed, 2 usage."""
    verbs = {"plans": _plans, "show": _show}
    try:
        if arguments and arguments[0] in verbs:
            return verbs[arguments[0]](arguments[1:])
        return _sweep(parser().parse_args(arguments))
    except ERRORS as error:
        print(f"raidctl sweep: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def parser() -> argparse.ArgumentParser:
    """The command line of a run."""
    top = argparse.ArgumentParser("raidctl sweep", description=DESCRIPTION)
    top.add_argument("plan", nargs="?", help="a plan that comes with raidtrace, or a .toml file; not with --resume")
    top.add_argument(
        "-l", "--lab", action="store_true", help="in guests with simulated arrays; nothing here is changed"
    )
    top.add_argument("-o", "--out", type=pathlib.Path, help="directory of the results (default sweep-PLAN)")
    top.add_argument(
        "-n", "--dry-run", action="store_true", help="print every command and what it would destroy, and do nothing"
    )
    top.add_argument("-r", "--resume", action="store_true", help="go on with the sweep in --out; finished cells stay")
    top.add_argument("--retry-failed", action="store_true", help="with --resume: cells that failed, too")
    top.add_argument("-j", "--jobs", type=int, default=sweep.cores(), help="guests at once (default %(default)s)")
    top.add_argument("-k", "--kernel", default=os.environ.get("LAB_KERNEL", ""), help="of the guests: 6.1, 6.12 or 7.2")
    top.add_argument("-s", "--data-size", help="instead of what the plan says")
    top.add_argument("-t", "--trials", type=int, help="instead of what the plan says")
    return top


def _plans(arguments: Sequence[str]) -> int:
    argparse.ArgumentParser("raidctl sweep plans", description="List the plans that come with raidtrace.").parse_args(
        arguments
    )
    for name in plan.ready():
        found = plan.load(plan.find(name))
        print(f"{name:9} {len(found.cells):3} cells  {found.title}")
    return 0


def _show(arguments: Sequence[str]) -> int:
    top = argparse.ArgumentParser(
        "raidctl sweep show", description="Print what a sweep found, and write its CSV again."
    )
    top.add_argument("out", type=pathlib.Path, help="directory of the sweep")
    options = top.parse_args(arguments)
    index = sweep_index.Index(options.out / sweep_index.NAME)
    _report(index, options.out)
    return 0


def _sweep(options: argparse.Namespace) -> int:
    if options.jobs < 1 or (options.trials is not None and options.trials < 1):
        raise sweep.SweepError("--jobs and --trials must be at least 1")
    if options.resume:
        if options.plan and not options.out:
            options.out = pathlib.Path(f"sweep-{pathlib.Path(options.plan).stem}")
        if not options.out:
            raise sweep.SweepError("--resume of what? Name the plan, or its directory with --out")
        the_plan, overrides = _stored(options.out)
    else:
        if not options.plan:
            raise sweep.SweepError(f"name a plan: {', '.join(plan.ready())}, or a .toml file")
        overrides = _overrides(options)
        the_plan = plan.load(plan.find(options.plan), overrides)
        options.out = options.out or pathlib.Path(f"sweep-{the_plan.name}")
    if not options.lab:
        raise sweep.SweepError("only --lab is there yet")
    return _lab(options, the_plan, overrides)


def _overrides(options: argparse.Namespace) -> dict[str, plan.Value]:
    found: dict[str, plan.Value] = {}
    if options.data_size:
        found["data_size"] = options.data_size
    if options.trials:
        found["trials"] = options.trials
    return found


def _stored(out: pathlib.Path) -> tuple[plan.Plan, dict[str, plan.Value]]:
    """The plan of the sweep in a directory, as it was when that began."""
    index = sweep_index.Index(out / sweep_index.NAME)
    meta = index.meta()
    index.close()
    overrides = json.loads(meta["overrides"])
    return plan.parse(meta["text"], meta["plan"], f"plan {meta['plan']} of {out}", overrides), overrides


def _lab(options: argparse.Namespace, the_plan: plan.Plan, overrides: dict[str, plan.Value]) -> int:
    lab = cell_lab.Lab(RAIDCTL, options.out, options.kernel, the_plan)
    place = lab.place()
    if options.dry_run:
        return _dry_run(the_plan, place, lab)
    with sweep.alone(options.out):
        facts = sweep.about("lab") | {"overrides": json.dumps(overrides)}
        index = sweep.open_or_create(options.out, the_plan, place, facts, options.resume)
        index.again(options.retry_failed)
        cell_lab.build(RAIDCTL, options.kernel)
        print(
            f"{the_plan.title}\n{sweep.counts(index.entries())}, {options.jobs} guests at once; simulated", flush=True
        )
        runner = sweep.LabRun(lab)

        def stop(_number: int, _frame: FrameType | None) -> None:
            runner.stop()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, stop)
        try:
            failed = sweep.run(index, the_plan, runner.one, options.jobs, place.ram_bytes, lambda: runner.stopped)
        except sweep.Interrupted:
            print(f"raidctl sweep: stopped; {sweep.counts(index.entries())}", file=sys.stderr)
            print(f"  go on: raidctl sweep --lab --resume --out {shlex.quote(str(options.out))}", file=sys.stderr)
            return 1
        _report(index, options.out)
    return 1 if failed else 0


def _dry_run(the_plan: plan.Plan, place: steps.Place, lab: cell_lab.Lab | None) -> int:
    names = the_plan.varying()
    for number, cell in enumerate(the_plan.cells, 1):
        name = sweep_index.cell_name(number, cell, names)
        print(f"# cell {number} of {len(the_plan.cells)}: {name}, trial {cell.trial}")
        if lab:
            print(shlex.join(lab.command(cell, lab.out / name)) + "  # and in the guest:")
        for step in steps.steps(cell, the_plan, place):
            print(f"  {step.text()}")
    if lab:
        print("# would destroy: nothing; the disks are those of guests")
    return 0


def _report(index: sweep_index.Index, out: pathlib.Path) -> None:
    """Tables on standard output and in out."""
    meta = index.meta()
    the_plan = plan.parse(meta["text"], meta["plan"], meta["plan"], json.loads(meta["overrides"]))
    found = sweep_table.lines(index, the_plan.published)
    names = sweep_table.varying(found)
    every = list(dict.fromkeys(name for line in found for name in line.axes))
    path = out / f"{meta['plan']}.csv"
    sweep_table.write_csv(path, found, every)
    print("\n".join(sweep_table.text(found, names)))
    if any(line.simulated for line in found):
        print("Simulated: real Linux and 3w-9xxx, model array, simulated time. MB/s: KiB/s / 1000, as published.")
    if sweep_table.surfaces(found):
        print(f"{sweep_table.surfaces(found)} figures of surfaces are in the CSV only.")
    for entry in index.entries():
        if entry.error:
            print(f"FAILED {entry.name}: {entry.error}")
    print(f"{sweep.counts(index.entries())}; {path}, {index.path}")
