# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl workload: run one of the published benchmarks, or parse the output of one."""

import argparse
import dataclasses
import functools
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence

from raidtrace.benchmark import parsers
from raidtrace.benchmark import registry as benchmark
from raidtrace.quantity import units, usage
from raidtrace.quantity.shown import UserError

PROGRAMS = pathlib.Path(__file__).resolve().parents[3] / "bin"
DESCRIPTION = """Run a known benchmark and print its figures, or parse the output of an earlier run."""


def parser() -> argparse.ArgumentParser:
    top = usage.Parser("raidctl workload", description=DESCRIPTION)
    verbs = top.add_subparsers(dest="verb", required=True, metavar="list|show|run|parse")
    verbs.add_parser("list", help="list the benchmarks")
    verbs.add_parser("show", help="print the parameters of a benchmark").add_argument("name")
    run = verbs.add_parser("run", help="run a benchmark and print its figures")
    read = verbs.add_parser("parse", help="print the figures in the output of a benchmark")
    for verb in (run, read):
        verb.add_argument("name", help="a benchmark; raidctl workload list prints all")
        verb.add_argument(
            "-p",
            "--parameter",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="set a parameter; raidctl workload show NAME lists them",
        )
        verb.add_argument("-j", "--json", action="store_true", help="print JSON instead of text")
    read.add_argument("file", type=pathlib.Path, help="file with its standard output and error; - is standard input")
    run.add_argument("-d", "--directory", help="directory of the file system to measure")
    run.add_argument("--disk", help="raw disk to read, for dd and fio")
    run.add_argument("-s", "--data-size", default="1 GiB", help="amount of data to write or read (default %(default)s)")
    run.add_argument("-n", "--dry-run", action="store_true", help="print the command, but do not run it")
    return top


def main(arguments: Sequence[str]) -> int:
    """Run raidctl workload. Exit status: 0 done, 1 failed, 2 usage."""
    top = parser()
    options = top.parse_args(arguments)
    try:
        act = {"list": _list, "show": _show, "run": _run, "parse": _parse}[options.verb](options)
    except UserError as error:
        top.error(str(error))
    try:
        return act()
    except KeyboardInterrupt:
        print("raidctl workload: interrupted", file=sys.stderr)
        return 1


def parameters(chosen: benchmark.Benchmark, words: Sequence[str]) -> dict[str, int | str | bool]:
    """The parameters from words KEY=VALUE, with the types of the benchmark's defaults. Raises UserError."""
    values: dict[str, int | str | bool] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals:
            raise UserError(f"--parameter {word}: give KEY=VALUE")
        default = chosen.defaults.get(key, "")
        if isinstance(default, bool):
            if text not in ("true", "false"):
                raise UserError(f"{chosen.name}: {key} is true or false, not {text!r}")
            values[key] = text == "true"
        elif isinstance(default, int):
            if not text.isascii() or not text.isdigit():
                raise UserError(f"{chosen.name}: {key} is a whole number, not {text!r}")
            values[key] = int(text)
        else:
            values[key] = text
    return values


# Each verb checks the values of the command line and raises UserError if they are wrong. It returns the action to run.
Act = Callable[[], int]


def _list(options: argparse.Namespace) -> Act:
    def act() -> int:
        for chosen in benchmark.BENCHMARKS.values():
            print(f"{chosen.name:9} {chosen.what}")
        return 0

    return act


def _show(options: argparse.Namespace) -> Act:
    return functools.partial(_shown, benchmark.find(options.name))


def _shown(chosen: benchmark.Benchmark) -> int:
    print(f"{chosen.name}: {chosen.what}\nruns on {'a raw disk' if chosen.raw else 'a file system'}\n")
    for key, value in chosen.defaults.items():
        text = str(value).lower() if isinstance(value, bool) else str(value) or '""'
        print(f"  {key:13} {text:12} {chosen.meaning[key]}")
    return 0


def _run(options: argparse.Namespace) -> Act:
    chosen = benchmark.find(options.name)
    if bool(options.directory) == bool(options.disk):
        raise UserError("give either --directory, or --disk for a raw disk")
    disk = options.disk if not options.disk or options.disk.startswith("/") else f"/dev/{options.disk}"
    values = parameters(chosen, options.parameter)
    if values.get("job_file"):
        values["job_file"] = os.path.abspath(str(values["job_file"]))
    job = chosen.job(options.directory or "", disk or "", units.parse_size(options.data_size), values)
    if not chosen.destroys(job):
        chosen.command(job)
    return functools.partial(_measured, options, chosen, job)


def _measured(options: argparse.Namespace, chosen: benchmark.Benchmark, job: benchmark.Job) -> int:
    if options.directory and not os.path.isdir(options.directory):
        raise UserError(f"{options.directory}: not a directory; name one on the disk to measure")
    if job.disk or options.dry_run:
        return _measure(options, chosen, job)
    # Another user who may write to the directory could have created a link there to a file that must not be
    # overwritten.
    with tempfile.TemporaryDirectory(prefix="raidctl-workload-", dir=os.path.abspath(options.directory)) as fresh:
        return _measure(options, chosen, dataclasses.replace(job, directory=fresh))


def _measure(options: argparse.Namespace, chosen: benchmark.Benchmark, job: benchmark.Job) -> int:
    disk = job.disk
    if chosen.destroys(job):
        raise UserError(
            f"this would overwrite {disk}; only raidctl sweep --destroy-data overwrites a disk, after its checks"
        )
    command = chosen.command(job)
    if options.dry_run:
        print(shlex.join(command))
        return 0
    # our benchmarks are in the directory of raidctl, which may not be in PATH
    environment = dict(os.environ, PATH=f"{PROGRAMS}:{os.environ.get('PATH', '')}")
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
        env=environment, cwd=job.directory or None,
    )  # fmt: skip
    if done.returncode:
        sys.stderr.write(done.stdout + done.stderr)
        raise UserError(f"{shlex.join(command)}: exit status {done.returncode}")
    # dd prints its figures on standard error, the others on standard output
    _print(chosen, job, chosen.parse(done.stderr if chosen.name == "dd" else done.stdout, job), options.json)
    return 0


def _parse(options: argparse.Namespace) -> Act:
    chosen = benchmark.find(options.name)
    job = benchmark.Job("", "", 0, chosen.with_defaults(parameters(chosen, options.parameter)))
    return functools.partial(_parsed, options, chosen, job)


def _parsed(options: argparse.Namespace, chosen: benchmark.Benchmark, job: benchmark.Job) -> int:
    if str(options.file) == "-":
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    else:
        text = options.file.read_bytes().decode("utf-8", "replace")
    try:
        figures = chosen.parse(text, job)
    except parsers.ParseError as error:
        raise UserError(f"{options.file}: {error}") from error
    _print(chosen, job, figures, options.json)
    return 0


def _print(chosen: benchmark.Benchmark, job: benchmark.Job, figures: Sequence[parsers.Figure], as_json: bool) -> None:
    if as_json:
        rows = [
            {"phase": f.phase, "value": f.value, "unit": f.unit, "cpu_percent": f.cpu_percent} | dict(f.where)
            for f in figures
        ]
        head = {"benchmark": chosen.name, "label": chosen.label(job), "parameters": dict(job.parameters)}
        print(json.dumps(head | {"figures": rows}, indent=2))
        return
    if chosen.label(job):
        print(f"({chosen.label(job)})")
    for f in figures:
        value = "n/a" if f.value is None else f"{f.value:.1f}"
        cpu = "" if f.cpu_percent is None else f"  cpu {f.cpu_percent:.1f} %"
        where = "".join(f"  {key} {text}" for key, text in f.where)
        print(f"{f.phase:14} {value:>12} {f.unit:6}{cpu}{where}")
