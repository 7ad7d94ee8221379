# SPDX-License-Identifier: GPL-2.0-or-later
"""make reproduce: run what is not finished, then write its part of Documentation/reproduction.rst, .csv and .json."""

import argparse
import os
import pathlib
import sys

from paper2004 import figures, reproduce_plan, reproduce_run, reproduction
from raidtrace.quantity.shown import UserError
from raidtrace.recording.columns import RecordingError


def write(directory: pathlib.Path, results: dict[str, reproduce_run.Result]) -> float:
    """The three files. Return: the median error of the held-out figures in per cent."""
    points = reproduction.points(results)
    reproduction.write_csv(directory / "reproduction.csv", points)
    (directory / "figures").mkdir(exist_ok=True)
    figures.draw_published(directory / "reproduction.csv", directory / "figures" / "published.svg")
    reproduction.write_state(directory / "reproduction.json", results)
    reproduction.put(directory, "reproduce", reproduction.page(results))
    return reproduction.median_error(points)


def main(arguments: list[str]) -> int:
    """Exit status: 0 written, 1 failed, 2 usage."""
    parser = argparse.ArgumentParser("reproduce", description="The 28 tests of the white paper of 2004, in the lab.")
    parser.add_argument(
        "--out", type=pathlib.Path, default=pathlib.Path("reproduce-out"),
        help="directory of the runs; a finished one is not repeated while nothing that decides it has changed",
    )  # fmt: skip
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="guests at once (default: one per processor)"
    )
    parser.add_argument(
        "--to", type=pathlib.Path, default=reproduction.DOCUMENTATION, help="where reproduction.rst, .csv and .json go"
    )
    parser.add_argument(
        "--seeds", type=int, default=1, metavar="N",
        help="each test under N draws of chance; adds the interval of each figure, and as much time again for each draw",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    if options.jobs < 1 or options.seeds < 1:
        parser.error("--jobs and --seeds must be at least 1")

    def say(line: str) -> None:
        print(line, flush=True)

    try:
        results = reproduce_run.run_all(reproduce_plan.short(), options.out, options.jobs, say)
        model = reproduce_run.behaviour(results)
        runs = [*reproduce_plan.large(), *reproduce_plan.drawn(options.seeds)]
        results |= reproduce_run.run_all(runs, options.out, options.jobs, say, model)
        median = write(options.to, results)
    except (UserError, RecordingError, OSError, ValueError) as error:
        print(f"reproduce: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"reproduce: interrupted; what is finished is kept in {options.out}", file=sys.stderr)
        return 1
    print(f"Median error of the held-out figures: {median:.1f} %. Written: {options.to}/reproduction.rst, .csv, .json")
    return 0
