# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl sweep: run a plan in the lab or on real disks; print, merge and restore."""

import argparse
import json
import os
import pathlib
import shlex
import signal
import sqlite3
import sys
from collections.abc import Callable, Sequence
from types import FrameType

from raidtrace.quantity import usage
from raidtrace.quantity.shown import UserError
from raidtrace.recording import source
from raidtrace.sweep import destruction, device
from raidtrace.sweep import index as sweep_index
from raidtrace.sweep import journal, plan, steps
from raidtrace.sweep import table as sweep_table
from raidtrace.sweep.run import cells as sweep
from raidtrace.sweep.run import disk as cell_disk
from raidtrace.sweep.run import lab as cell_lab

RAIDCTL = pathlib.Path(__file__).resolve().parents[3] / "bin" / "raidctl"
DESCRIPTION = """Run a plan of benchmarks. A plan is a matrix of settings; each trial of a combination is a cell. A cell
starts with a new file system if the plan names one, and is recorded unless --no-record is given."""
EPILOG = """Other commands, each with --help: raidctl sweep plans, show, merge and restore."""


class _Usage(UserError):
    """The options of the command line contradict each other."""


def main(arguments: Sequence[str]) -> int:
    """Run raidctl sweep. Exit status: 0 done, 1 failed, 2 usage."""
    verbs = {"plans": _plans, "show": _show, "merge": _merge, "restore": _restore}
    try:
        if arguments and arguments[0] in verbs:
            return verbs[arguments[0]](arguments[1:])
        return _sweep(parser().parse_args(arguments))
    except _Usage as error:
        print(f"raidctl sweep: {error}", file=sys.stderr)
        return 2
    except sqlite3.Error as error:
        print(f"raidctl sweep: {sweep_index.NAME}: {error}\n  Free disk space, or look for errors of the disk in "
              "dmesg. Then continue with --resume; finished cells are kept", file=sys.stderr)  # fmt: skip
        return 1
    except KeyboardInterrupt:
        print("raidctl sweep: interrupted before the first cell", file=sys.stderr)
        return 1


def parser() -> argparse.ArgumentParser:
    top = usage.Parser("raidctl sweep", description=DESCRIPTION, epilog=EPILOG)
    top.add_argument(
        "plan", nargs="?", help="a name that raidctl sweep plans prints, or a .toml file; not needed with --resume"
    )
    top.add_argument(
        "-l", "--lab", action="store_true", help="run in guests with simulated disks; this machine is not changed"
    )
    top.add_argument("-o", "--out", type=pathlib.Path, help="directory of the results (default sweep-PLAN)")
    top.add_argument("-n", "--dry-run", action="store_true",
                     help="print every command and the data that it would destroy; change nothing")  # fmt: skip
    top.add_argument(
        "-r", "--resume", action="store_true", help="continue the sweep in --out; finished cells are not repeated"
    )
    top.add_argument("--retry-failed", action="store_true", help="with --resume: also repeat failed cells")
    top.add_argument("-s", "--data-size", help="amount of data, instead of the plan's")
    top.add_argument("-t", "--trials", "--seeds", type=int,
                     help="trials of each combination, instead of the plan's; in the lab with different seeds")  # fmt: skip
    lab = top.add_argument_group("in the lab")
    lab.add_argument("-j", "--jobs", type=int, help="number of concurrent guests (default: the number of processors)")
    lab.add_argument("-k", "--kernel", help="kernel of the guests: 6.1, 6.12, 7.2 or 7.3")
    lab.add_argument(
        "--store", metavar="SIZE", help="memory for the contents of the simulated disks, instead of the plan's"
    )
    lab.add_argument("--host", action="store_true", default=os.environ.get("LAB_ROOT") == "host",
                     help="use this machine's programs; the figures then depend on the machine")  # fmt: skip
    real = top.add_argument_group("on real disks")
    real.add_argument(
        "--destroy-data",
        action="append",
        default=[],
        metavar="DISK[,DISK...]",
        help="all data of these disks may be overwritten",
    )
    real.add_argument("-d", "--disk", action="append", default=[], metavar="DISK", help="disk to use; it is only read")
    real.add_argument("--array", action="append", default=[], metavar="ARRAY=DISK[,DISK...]",
                      help="disks to use for an array of the plan")  # fmt: skip
    real.add_argument(
        "--force-signature",
        action="store_true",
        help="overwrite a disk even if it has a signature, such as an unused file system",
    )
    real.add_argument("--ignore-check", action="store_true", help="continue if raidctl check fails")
    real.add_argument("--no-record", action="store_true", help="do not record; use only the figures of the benchmark")
    usage.add_source(real)
    return top


def _plans(arguments: Sequence[str]) -> int:
    usage.Parser("raidctl sweep plans", description="List the plans that come with raidtrace.").parse_args(arguments)
    for name in plan.ready():
        the_plan = plan.load(plan.find(name))
        print(f"{name:9} {len(the_plan.cells):3} cells  {the_plan.title}")
    return 0


def _show(arguments: Sequence[str]) -> int:
    top = usage.Parser("raidctl sweep show", description="Print the table of a sweep, and write its CSV again.")
    top.add_argument("out", type=pathlib.Path, help="directory of the sweep")
    top.add_argument("--stack", action="store_true", help="compare each md disk with its members instead")
    options = top.parse_args(arguments)
    index = _index(options.out)
    if options.stack:
        stacks = sweep_table.stacks(index)
        if not stacks:
            raise UserError(f"{options.out}: no finished cell of this sweep has an md array")
        print("\n".join(sweep_table.stack_text(stacks)))
    else:
        report(index, options.out)
    return 0


def _merge(arguments: Sequence[str]) -> int:
    top = usage.Parser(
        "raidctl sweep merge", description="Combine the indexes of sweeps, also of several hosts, into one SQLite file."
    )
    top.add_argument("into", type=pathlib.Path, help="SQLite file to write")
    top.add_argument("sweeps", type=pathlib.Path, nargs="+", help="directories of sweeps, or their index sweep.rtsw")
    top.add_argument(
        "-p", "--parquet", type=pathlib.Path, metavar="DIR", help="also write each table as Parquet (needs pyarrow)"
    )
    options = top.parse_args(arguments)
    count = sweep_index.merge(options.into, options.sweeps)
    print(f"{count} sweep{'s' if count != 1 else ''} in {options.into}")
    if options.parquet:
        for path in sweep_index.parquet(options.into, options.parquet):
            print(path)
    return 0


def _restore(arguments: Sequence[str]) -> int:
    usage.Parser(
        "raidctl sweep restore",
        description="Restore the settings that a killed raidctl sweep or why changed. The next raidctl sweep also does this.",
    ).parse_args(arguments)
    print(journal.restore_now())
    return 0


def _sweep(options: argparse.Namespace) -> int:
    if (options.jobs is not None and options.jobs < 1) or (options.trials is not None and options.trials < 1):
        raise _Usage("--jobs and --trials must be at least 1")
    if options.resume:
        if options.plan and not options.out:
            options.out = pathlib.Path(f"sweep-{pathlib.Path(options.plan).stem}")
        if not options.out:
            raise _Usage("--resume needs the plan, or its directory with --out")
        the_plan, overrides = _stored(options)
    else:
        if not options.plan:
            raise _Usage(f"name a plan (known plans: {', '.join(plan.ready())}), or a .toml file")
        overrides = _overrides(options)
        try:
            path = plan.find(options.plan)
        except UserError as error:
            raise _Usage(str(error)) from error
        the_plan = plan.load(path, overrides)
        options.out = options.out or pathlib.Path(f"sweep-{the_plan.name}")
    real = bool(options.destroy_data or options.disk)
    if options.lab and real:
        raise _Usage("--lab and real disks (--destroy-data, --disk) exclude each other: name one of them")
    if not options.lab and not real:
        raise _Usage("name the disks: --lab, or real ones: --destroy-data DISK, --disk DISK")
    names = (
        ("array", "force_signature", "ignore_check", "no_record", "source")
        if options.lab
        else ("jobs", "kernel", "store")
    )
    if useless := [f"--{name.replace('_', '-')}" for name in names if getattr(options, name)]:
        where = "in the lab" if options.lab else "on real disks"
        raise _Usage(f"{', '.join(useless)}: no effect {where}; leave out {'it' if len(useless) == 1 else 'them'}")
    return (_lab if options.lab else _disks)(options, the_plan, overrides)


def _index(out: pathlib.Path) -> sweep_index.Index:
    """The index of the sweep in a directory, opened for reading."""
    return sweep_index.Index(out / sweep_index.NAME)


def _overrides(options: argparse.Namespace) -> dict[str, plan.Value]:
    overrides: dict[str, plan.Value] = {}
    if options.data_size:
        overrides["data_size"] = options.data_size
    if options.trials:
        overrides["trials"] = options.trials
    return overrides


def _stored(options: argparse.Namespace) -> tuple[plan.Plan, dict[str, plan.Value]]:
    """The plan of the sweep in a directory, as it was at the start. Raises an error if the options now
    contradict it."""
    meta = _index(options.out).meta()
    overrides = json.loads(meta["overrides"])
    where = "lab" if options.lab else "disks" if options.destroy_data or options.disk else ""
    if where and meta["where"] != where:
        other = "in the lab" if meta["where"] == "lab" else "on real disks"
        raise UserError(
            f"{options.out}: this sweep began {other} and can continue only there; for a new sweep, name another "
            "--out"
        )
    if options.plan and plan.find(options.plan).read_text(encoding="utf-8") != meta["text"]:
        raise UserError(f"{options.out}: plan {options.plan} differs from the plan of this sweep; resume without a "
                        "plan, or begin a new sweep with another --out")  # fmt: skip
    requested = _overrides(options)
    if requested and requested != overrides:
        raise UserError(
            f"{options.out}: this sweep began with another --data-size or --trials; resume without these options"
        )
    return plan.parse(meta["text"], meta["plan"], f"plan {meta['plan']} of {options.out}", overrides), overrides


def _lab(options: argparse.Namespace, the_plan: plan.Plan, overrides: dict[str, plan.Value]) -> int:
    if os.environ.get("LAB") == "vm":
        raise UserError(
            "LAB=vm is set, but times in a virtual machine are the host's, so a sweep in the lab would measure "
            "the host. To sweep the disks of a virtual machine: raidctl lab run --vm -- raidctl sweep "
            "--destroy-data DISK PLAN"
        )
    guests = _guest_options(options)
    lab = cell_lab.Lab(RAIDCTL, options.out, guests["kernel"], the_plan, guests["store"], bool(guests["host"]))
    if options.dry_run:
        print(shlex.join(cell_lab.build_command(RAIDCTL, lab.kernel)))
        _print_steps(options, the_plan, lab.place, lab)
        print("# would destroy: nothing; all disks are simulated")
        return 0
    with sweep.alone(options.out):
        for line in journal.end_left(cell_lab.marker(options.out)):
            print(f"after a killed sweep: {line}")
        facts = sweep.about("lab") | {"overrides": json.dumps(overrides)}
        index = sweep.open_or_create(options.out, the_plan, lab.place, facts, options.resume)
        index.note("asked_of_lab", json.dumps(guests))
        cell_lab.build(RAIDCTL, lab.kernel)
        return _run(options, the_plan, index, lab, int(guests["jobs"] or sweep.cores()), lab.memory())


def _guest_options(options: argparse.Namespace) -> dict[str, str]:
    """The options that start guests. With --resume, the earlier ones apply unless the command line sets them."""
    given = {"jobs": str(options.jobs or ""), "kernel": options.kernel or "", "store": options.store or "",
             "host": "yes" if options.host else ""}  # fmt: skip
    before = json.loads(_index(options.out).meta().get("asked_of_lab", "{}")) if options.resume else {}
    merged = {key: value or before.get(key, "") for key, value in given.items()}
    return merged | {"kernel": merged["kernel"] or os.environ.get("LAB_KERNEL", "")}


def _disks(options: argparse.Namespace, the_plan: plan.Plan, overrides: dict[str, plan.Value]) -> int:
    machine = device.Machine()
    selection = cell_disk.select(
        machine,
        the_plan,
        options.destroy_data,
        options.disk,
        options.array,
        not options.no_record,
        usage.source_words(options.source),
    )
    if options.dry_run:
        known = cell_disk.known(options.out) if options.resume else ()
        print("\n".join(selection.first(machine, RAIDCTL, known)))
        _print_steps(options, the_plan, selection.place, None)
        would_destroy, refused = selection.destruction(machine, options.force_signature, known)
        print("\n".join(f"# {line}" for line in would_destroy))
        return 1 if refused else 0
    if os.geteuid():
        raise UserError("only root may sweep real disks; use sudo, or --lab")
    with journal.alone():
        for line in journal.recover():
            print(f"restored after a killed sweep: {line}")
        if not options.resume:
            sweep.fresh(options.out)
        known = cell_disk.known(options.out) if options.resume else ()
        cell_disk.same_disks(machine, selection.destroyed, known)
        with (
            destruction.permit(machine, selection.destroyed, options.force_signature, known) as permit,
            sweep.alone(options.out),
        ):
            facts = sweep.about("disks") | {"overrides": json.dumps(overrides)}
            facts |= cell_disk.preflight(RAIDCTL, selection.disks, selection.least_bytes(), options.ignore_check)
            index = sweep.open_or_create(options.out, the_plan, selection.place, facts, options.resume)
            index.note("disks", cell_disk.stored(permit.identities))
            log = journal.Journal.begin(selection.disks, machine)
            disks = cell_disk.Disks(RAIDCTL, options.out.resolve(), the_plan, selection.arrays, permit, log,
                                    not options.no_record, machine, source=selection.source)  # fmt: skip
            try:
                return _run(options, the_plan, index, disks, 1, cell_disk.ram_bytes())
            finally:
                log.end(machine)


def _run(
    options: argparse.Namespace,
    the_plan: plan.Plan,
    index: sweep_index.Index,
    runner: sweep.Runner,
    jobs: int,
    ram_bytes: int,
) -> int:
    index.again(options.retry_failed)
    where = f"{jobs} guests concurrently; simulated" if options.lab else "one after the other"
    print(f"{the_plan.title}\n{sweep.counts(index.entries())}, {where}", flush=True)

    def stop(_number: int, _frame: FrameType | None) -> None:
        runner.stop()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    try:
        failed = sweep.run(index, the_plan, runner, jobs, ram_bytes)
    except sweep.Ended as ended:
        print(f"raidctl sweep: {ended}", file=sys.stderr)
        print(f"  {sweep.counts(index.entries())}; the remaining cells would fail in the same way. Continue with "
              f"more memory: --resume --lab --store SIZE --out {shlex.quote(str(options.out))}", file=sys.stderr)  # fmt: skip
        return 1
    except sweep.Interrupted:
        print(f"raidctl sweep: stopped; {sweep.counts(index.entries())}", file=sys.stderr)
        print(f"  to continue: the same command with --resume --out {shlex.quote(str(options.out))}", file=sys.stderr)
        return 1
    report(index, options.out)
    return 1 if failed else 0


def _print_steps(
    options: argparse.Namespace,
    the_plan: plan.Plan,
    place: Callable[[plan.Cell], steps.Place],
    lab: cell_lab.Lab | None,
) -> None:
    """Print every command of the cells that would run; with --resume, of the cells that are not done."""
    names = the_plan.varying()
    done = _not_again(options) if options.resume else set()
    for number, cell in enumerate(the_plan.cells, 1):
        if cell.identity() in done:
            continue
        name = sweep_index.cell_name(number, cell, names)
        print(f"# cell {number} of {len(the_plan.cells)}: {name}, trial {cell.trial}")
        if lab:
            print(shlex.join(lab.command(cell, lab.out / name)) + "  # and in the guest:")
        cell_steps = steps.steps(cell, the_plan, place(cell))
        for step in cell_steps:
            comment = f"  # destroys the data of {' '.join(step.destroys)}" if step.destroys and not lab else ""
            print(f"  {step.text()}{comment}")
        changed = [] if lab else journal.kept(step.path for step in cell_steps if step.path)
        if changed:
            print("  # then restores: " + ", ".join(f"{path} {value}" for path, value in changed))


def _not_again(options: argparse.Namespace) -> set[str]:
    """The identities of the cells that --resume would not run."""
    entries = _index(options.out).entries()
    states = (sweep_index.DONE,) if options.retry_failed else (sweep_index.DONE, sweep_index.FAILED)
    return {entry.identity for entry in entries if entry.state in states}


def _counted(index: sweep_index.Index, out: pathlib.Path) -> str:
    """A sentence with the source of the counters of all finished cells, and their losses; empty: none was recorded."""
    paths = [out / entry.directory / "run.rtdb" for entry in index.entries() if entry.state == sweep_index.DONE]
    return source.sentence(source.total(source.of_file(path) for path in paths if path.is_file()))


def report(index: sweep_index.Index, out: pathlib.Path) -> None:
    """Print the tables, and write them to `out`."""
    meta = index.meta()
    the_plan = plan.parse(meta["text"], meta["plan"], meta["plan"], json.loads(meta["overrides"]))
    lines = sweep_table.lines(index, the_plan.published)
    names = sweep_table.varying(lines)
    every = list(dict.fromkeys(name for line in lines for name in line.axes))
    path = out / f"{meta['plan']}.csv"
    sweep_table.write_csv(path, lines, every)
    stacks = sweep_table.stacks(index)
    if stacks:
        sweep_table.write_stack_csv(out / f"{meta['plan']}-stack.csv", stacks)
    print("\n".join(sweep_table.text(lines, names)))
    for line in sweep_table.unlike_published(lines):
        print(f"Differs from the publication: {line}.")
    if not any(line.simulated for line in lines) and (counted := _counted(index, out)):
        print(counted)
    if any(line.simulated for line in lines):
        print("Simulated: real Linux and drivers, model disks, simulated time. MB/s: 1000 KiB/s, as published.")
    if sweep_table.surfaces(lines):
        print(f"{sweep_table.surfaces(lines)} figures of surfaces are in the CSV only.")
    if stacks:
        print(
            f"Counters of md disks and their members: {out / meta['plan']}-stack.csv, or raidctl sweep show "
            f"--stack {shlex.quote(str(out))}."
        )
    for entry in index.entries():
        if entry.error:
            print(f"FAILED {entry.name}: {entry.error}")
    print(f"{sweep.counts(index.entries())}; {path}, {index.path}")
