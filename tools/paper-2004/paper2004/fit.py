# SPDX-License-Identifier: GPL-2.0-or-later
"""Fit the constants that table [fit] of a profile names, each on its one published figure, one after the other.

Each figure rises or falls with its constant alone once those before it are fitted, so a secant through two runs comes close
in a few. Runs are smaller than the paper's, which these figures do not depend on: all four are of
streams. The order is that of the profile's table; whoever changes the model changes the profile by hand to what is printed.
"""

import argparse
import pathlib
import sys

from paper2004 import amcc, reproduce_plan, reproduce_run, reproduction
from raidtrace.quantity.shown import UserError
from raidtrace.recording.columns import RecordingError

MIB = 3072
CLOSE = 0.01  # the published trials of a figure differ by as much
STEPS = 6
ARRAYS = ("raid0", "raid5")  # in this order: what the first finds, the second keeps


def measure(figure: str, settings: dict[str, int], out: pathlib.Path, mib: int) -> float:
    """The simulated figure with these constants, over the published one. mib: size of the run."""
    which, number, metric = figure.split()
    test = reproduce_plan.find(which, int(number))
    words = tuple(f"{constant}={value}" for constant, value in settings.items() if _known(constant, test.array))
    name = "-".join(["fit", test.name(), str(mib), *(word.split("=")[1] for word in words)])
    run = reproduce_run.Run(name, test, mib, reproduce_plan.memory_mib(mib), settings=words)
    result = reproduce_run.run_all([run], out, 1, lambda line: None)[name]
    return result.figures[metric] / amcc.published(test, metric)


def _known(constant: str, array: str) -> bool:
    return constant in reproduction.fitted(array)


def secant(value: int, ratio: float, other: int, other_ratio: float) -> int:
    """Where the line through both comes to a ratio of 1."""
    if ratio == other_ratio:
        raise ValueError("the figure does not depend on the constant")
    return max(1, round(value + (1 - ratio) * (other - value) / (other_ratio - ratio)))


def fit(
    array: str, out: pathlib.Path, start: dict[str, int], mib: int = MIB, only: str | None = None
) -> dict[str, int]:
    """The constants of one array's profile. start: where to begin; what it does not name begins at the profile's value.

    only: the one constant to find; the others stay where they begin.
    """
    values = reproduce_run.profile_values(f"9500s-12-{array}")
    constants: dict[str, int] = {}
    table = reproduction.fitted(array)
    for constant in table:
        group, name = constant.split(".")
        constants[constant] = start.get(constant, values[group][name])
    for constant, figure in table.items():
        if only not in (None, constant):
            continue
        value = constants[constant]
        ratio = measure(figure, constants, out, mib)
        print(f"  {constant} = {value}: {ratio:.4f} of {figure}", flush=True)
        other = round(value * 1.02)
        for _ in range(STEPS):
            if abs(ratio - 1) <= CLOSE:
                break
            constants[constant] = other
            other_ratio = measure(figure, constants, out, mib)
            print(f"  {constant} = {other}: {other_ratio:.4f} of {figure}", flush=True)
            value, ratio, other = other, other_ratio, secant(value, ratio, other, other_ratio)
        if abs(ratio - 1) > CLOSE:
            raise ValueError(
                f"{constant}: not within {100 * CLOSE:.0f} % of {figure} after {STEPS} steps, the last {value}"
            )
        constants[constant] = value
    return constants


def main(arguments: list[str]) -> int:
    """Exit status: 0 fitted, 1 failed, 2 usage."""
    parser = argparse.ArgumentParser("fit", description="Fit the constants that the 9500S profiles name, again.")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("reproduce-out"), help="directory of the runs")
    parser.add_argument(
        "--start", metavar="CONSTANT=VALUE", action="append", default=[],
        help="begin there and not at the profile's value, to see that it is found again",
    )  # fmt: skip
    parser.add_argument(
        "--mib",
        type=int,
        default=MIB,
        help="size of each run in MiB (default: %(default)s); small ones are quick and coarse",
    )
    parser.add_argument("--only", metavar="CONSTANT", help="find this one, leave the others where they begin")
    options = parser.parse_args(arguments)
    known = {constant for array in ARRAYS for constant in reproduction.fitted(array)}
    if options.only not in known | {None}:
        parser.error(f"--only takes one of {', '.join(sorted(known))}")
    if options.mib < 64:
        parser.error("--mib must be at least 64")
    try:
        start = {name: int(value) for name, value in (text.split("=") for text in options.start)}
    except ValueError:
        parser.error("--start takes CONSTANT=VALUE, a whole number")
    try:
        for array in ARRAYS:
            if options.only and options.only not in reproduction.fitted(array):
                continue
            print(f"9500s-12-{array}:", flush=True)
            for constant, value in fit(array, options.out, start, options.mib, options.only).items():
                print(f"{constant} = {value}")
                start[constant] = value
    except (UserError, RecordingError, OSError, ValueError) as error:
        print(f"fit: {error}", file=sys.stderr)
        return 1
    return 0
