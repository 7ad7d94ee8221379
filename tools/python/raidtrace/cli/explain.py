# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl explain: explain the throughput of a recording, or the difference between two."""

import argparse
import contextlib
import pathlib
from collections.abc import Sequence

from raidtrace.cli import front
from raidtrace.explain import evidence
from raidtrace.explain import runs as explain_runs
from raidtrace.explain.evidence import Explanation
from raidtrace.quantity import usage
from raidtrace.sweep import explain as explain_sweep
from raidtrace.sweep import index as sweep_index

DESCRIPTION = """Explain the throughput of a recording: what limits it, then each step from readahead to requests in flight.
Each step has its numbers and a verdict. Causes are inferred from the counters; raidctl why measures them."""


def parser() -> argparse.ArgumentParser:
    top = usage.Parser("raidctl explain", description=DESCRIPTION, usage="raidctl explain [options] RECORDING [OTHER]")
    top.add_argument(
        "recording",
        type=pathlib.Path,
        nargs="?",
        help="a file of raidctl record or import, or the directory of a sweep",
    )
    top.add_argument(
        "other", type=pathlib.Path, nargs="?", help="another recording: explain its difference from the first"
    )
    top.add_argument("-p", "--phase", metavar="NAME", help="explain only this phase")
    top.add_argument("-d", "--disk", metavar="DISK", help="explain only this disk")
    top.add_argument("--direction", choices=("read", "write"), help="explain only reads, or only writes")
    top.add_argument(
        "--from", dest="since", type=_seconds, metavar="S", help="begin S seconds after the beginning of the recording"
    )
    top.add_argument(
        "--to", dest="until", type=_seconds, metavar="S", help="end S seconds after the beginning of the recording"
    )
    top.add_argument(
        "-v", "--verbose", action="store_true", help="also show the evidence against each limit that is ruled out"
    )
    top.add_argument("-j", "--json", action="store_true", help="print JSON instead of text")
    return top


def _seconds(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 <= float(text) < float("inf"):
            return float(text)
    raise argparse.ArgumentTypeError(f"{text} is not a time in seconds")


def main(arguments: Sequence[str]) -> int:
    """Run raidctl explain. Exit status: 0 done, 1 failed, 2 usage."""
    top = parser()
    options = top.parse_args(arguments)
    if options.recording is None:
        top.error("name a RECORDING")
    if None not in (options.since, options.until) and options.since >= options.until:
        top.error(f"--from {options.since:g} is not before --to {options.until:g}")
    sweep = options.recording.is_dir() or options.recording.suffix == pathlib.Path(sweep_index.NAME).suffix
    recording = options.recording / "run.rtdb"
    if options.recording.is_dir() and recording.is_file() and not (options.recording / sweep_index.NAME).is_file():
        top.error(
            f"{options.recording} is the directory of one run, not of a sweep. To explain the run: "
            f"raidctl explain {recording}"
        )
    narrow = options.since is not None or options.until is not None
    if sweep and (options.other or options.disk or options.direction or narrow):
        top.error("to explain a sweep, omit the second recording, --disk, --direction, --from and --to")
    window = (options.since, options.until) if narrow else None
    choice = explain_runs.Choice(options.phase, options.disk, options.direction, window)

    def find() -> Explanation:
        if sweep:
            return explain_sweep.explain(options.recording, options.phase)
        if options.other:
            return explain_runs.two(options.recording, options.other, choice)
        return explain_runs.one(options.recording, choice)

    def lines(explanation: Explanation, columns: int) -> list[str]:
        return evidence.text(explanation, columns, options.verbose)

    return front.answer(find, lines, options.json)
