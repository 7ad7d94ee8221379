# SPDX-License-Identifier: GPL-2.0-or-later
"""Fit the constants that table [fit] of a profile names, each on its one published figure, one after the other.

Each figure rises or falls with its constant alone once those before it are found, so a secant through two runs comes close
in a few. Runs are smaller than the paper's, which these figures do not depend on: all four are of
streams. The order is that of the profile's table; whoever changes the model changes the profile by hand to what is printed.
"""

import argparse
import pathlib
import sys

from raidtrace import amcc, recording, reproduce_plan, reproduce_run, reproduction

MIB = 3072
MEMORY_MIB = 24 + MIB // 40
CLOSE = 0.01  # the published trials of a figure differ by as much
STEPS = 6


def measure(array: str, figure: str, settings: dict[str, int], out: pathlib.Path) -> float:
    """The simulated figure with these constants, over the published one."""
    which, number, metric = figure.split()
    test = reproduce_plan.find(which, int(number))
    words = tuple(f"{constant}={value}" for constant, value in settings.items() if _known(constant, test.array))
    name = "fit-" + "-".join([array, number, *(str(value) for value in settings.values())])
    run = reproduce_run.Run(name, test, MIB, MEMORY_MIB, settings=words)
    result = reproduce_run.run_all([run], out, 1, lambda line: None)[name]
    return result.figures[metric] / amcc.published(test, metric)


def _known(constant: str, array: str) -> bool:
    return constant in reproduction.fitted(array)


def secant(value: int, ratio: float, other: int, other_ratio: float) -> int:
    """Where the line through both comes to a ratio of 1."""
    if ratio == other_ratio:
        raise ValueError("the figure does not depend on the constant")
    return max(1, round(value + (1 - ratio) * (other - value) / (other_ratio - ratio)))


def fit(array: str, out: pathlib.Path, start: dict[str, int]) -> dict[str, int]:
    """The constants of one array's profile. start: where to begin; what it does not name begins at the profile's value."""
    values = reproduce_run.profile_values(f"9500s-12-{array}")
    found: dict[str, int] = {}
    table = reproduction.fitted(array)
    for constant in table:
        group, name = constant.split(".")
        found[constant] = start.get(constant, values[group][name])
    for constant, figure in table.items():
        value = found[constant]
        ratio = measure(array, figure, found, out)
        print(f"  {constant} = {value}: {ratio:.4f} of {figure}", flush=True)
        other = round(value * 1.02)
        for _ in range(STEPS):
            if abs(ratio - 1) <= CLOSE:
                break
            found[constant] = other
            other_ratio = measure(array, figure, found, out)
            print(f"  {constant} = {other}: {other_ratio:.4f} of {figure}", flush=True)
            value, ratio, other = other, other_ratio, secant(value, ratio, other, other_ratio)
        found[constant] = value
    return found


def main(arguments: list[str]) -> int:
    """Exit status: 0 found, 1 failed, 2 usage."""
    parser = argparse.ArgumentParser("fit", description="Fit the constants that the 9500S profiles name, again.")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("reproduce-out"), help="directory of the runs")
    parser.add_argument(
        "--start", metavar="CONSTANT=VALUE", action="append", default=[],
        help="begin there and not at the profile's value, to see that it is found again",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    try:
        start = {name: int(value) for name, value in (text.split("=") for text in options.start)}
    except ValueError:
        parser.error("--start takes CONSTANT=VALUE, a whole number")
    try:
        for array in ("raid0", "raid5"):
            print(f"9500s-12-{array}:", flush=True)
            for constant, value in fit(array, options.out, start).items():
                print(f"{constant} = {value}")
                start[constant] = value
    except (reproduce_run.ReproduceError, recording.RecordingError, OSError, ValueError) as error:
        print(f"fit: {error}", file=sys.stderr)
        return 1
    return 0
