# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl check: whether this machine and its disks are ready for a benchmark."""

import argparse
import pathlib
import sys
from collections import Counter
from collections.abc import Sequence

from raidtrace.check import facts, rules
from raidtrace.check.rules import Finding, Grade
from raidtrace.quantity import shown, terminal, units, usage
from raidtrace.quantity.shown import UserError
from raidtrace.sweep.device import Machine

DESCRIPTION = """Check whether this machine is ready for a benchmark: whether the data is much larger than the memory, whether
other programs are idle, and whether disk and kernel have suitable settings. Each rule prints its result (pass, warn, fail or
not available) and its finding; if it warns or fails, also its advice. check changes nothing. Without DISK it checks all units
of 3ware controllers; in a guest of raidctl lab, all simulated disks."""
EPILOG = "Exit status: 0 if no rule fails, 1 if one fails."
RAIDCTL = pathlib.Path(__file__).resolve().parents[3] / "bin" / "raidctl"
COLUMN = 38  # columns before the first word of a finding


def parser() -> argparse.ArgumentParser:
    top = usage.Parser("raidctl check", description=DESCRIPTION, epilog=EPILOG)
    top.add_argument("disks", metavar="DISK", nargs="*", help="a name as in /sys/block, or a path")
    top.add_argument("-s", "--data-size", type=_size, metavar="SIZE",
                     help="amount of data that the benchmark reads or writes, such as 20G")  # fmt: skip
    top.add_argument("-j", "--json", action="store_true", help="print JSON instead of text")
    return top


def _size(text: str) -> int:
    try:
        return units.parse_size(text)
    except UserError as error:
        raise argparse.ArgumentTypeError(
            f"{text} is not a size; give for example 20G, 20480M or a number of bytes"
        ) from error


def main(arguments: Sequence[str]) -> int:
    """Run raidctl check. Exit status: 0 no rule fails, 1 a rule fails or the machine cannot be examined, 2 usage."""
    top = parser()
    options = top.parse_args(arguments)
    try:
        looked_at, machine_facts = facts.read(Machine(), RAIDCTL, options.disks, options.data_size)
    except facts.UsageError as error:
        top.error(str(error))
    findings = rules.judge(machine_facts, looked_at)
    out = shown.raw(sys.stdout)
    out.write(as_json(machine_facts, findings) if options.json else as_text(machine_facts, findings))
    return int(any(finding.verdict is Grade.FAIL for finding in findings))


def as_text(machine_facts: facts.Facts, findings: Sequence[Finding]) -> str:
    columns, (bold, plain) = terminal.width(), terminal.styles()
    lines = ["simulated: this machine is a guest of the lab\n"] if machine_facts.profile is not None else []
    lines.append(f"{bold}{'VERDICT':<14} {'RULE':<13} {'DISK':<8} FOUND{plain}\n")
    for one in findings:
        mark = ("", "") if one.verdict is Grade.PASS else (bold, plain)
        first = f"{mark[0]}{one.verdict.value:<14}{mark[1]} {one.rule.name:<13} {one.disk or '-':<8} "
        lines.append(first + terminal.wrapped(shown.visible(one.text), columns, COLUMN).removeprefix(" " * COLUMN))
        if one.remedy:
            lines.append(terminal.wrapped(shown.visible(one.remedy), columns, COLUMN + 3, f"{'':{COLUMN}}-> "))
        if one.verdict in (Grade.WARN, Grade.FAIL):
            lines.append(terminal.wrapped(f"({one.rule.why})", columns, COLUMN))
    count = Counter(one.verdict for one in findings)
    lines.append(
        f"{', '.join(f'{count[one]} {one.value}' for one in Grade)}; activity of {machine_facts.activity.seconds:.1f} s\n"
    )
    if count[Grade.WARN] + count[Grade.FAIL]:
        lines.append("To measure the gain of a change: raidctl why --disk DISK -- COMMAND\n")
    return "".join(lines)


def as_json(machine_facts: facts.Facts, findings: Sequence[Finding]) -> str:
    """The findings as JSON. null: not known."""
    count = Counter(one.verdict for one in findings)
    document: dict[str, shown.Json] = {
        "simulated": machine_facts.profile is not None,
        "lab_profile": machine_facts.profile or None,
        "activity_seconds": machine_facts.activity.seconds,
        **{one.value.replace(" ", "_"): count[one] for one in Grade},
        "findings": [
            {
                "rule": one.rule.name,
                "why": one.rule.why,
                "disk": one.disk or None,
                "verdict": one.verdict.value,
                "value": one.value,
                "unit": one.rule.unit if one.value is not None and one.rule.unit else None,
                "seen": one.text or None,
                "remedy": one.remedy or None,
            }
            for one in findings
        ],
    }
    return shown.value_json(document) + "\n"
