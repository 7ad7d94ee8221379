# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl lab expect: whether what a command measures is what one expects. Made for `git bisect run`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from raidlab.base.failure import LabError
from raidlab.base.progress import Progress
from raidlab.kernel import tree
from raidlab.uml import runner, verdict
from raidlab.verbs import measures, recorded
from raidlab.verbs.expression import BadExpression, Expression, NotKnown
from raidlab.vm import virtual

_NOT = 1
_USAGE = 2


def act(arguments: argparse.Namespace) -> int:
    """Status 0 if it holds, 1 if not, 2 if the expression is bad. LabError (125) when it cannot be tested: that is what
    git bisect skips."""
    try:
        expression = Expression(arguments.expression)
    except BadExpression as error:
        print(f"raidctl lab expect: {error}", file=sys.stderr)
        return _USAGE
    recorded.require_tools()
    kernel, run = _in_virtual_machine(arguments, expression) if arguments.vm else _in_simulated_time(arguments)
    span = _chosen(run.spans, arguments.phase, arguments.disk)
    values = {name: span.named(name) for name in expression.names()}
    try:
        holds = expression.holds(values)
    except NotKnown as error:
        raise LabError(
            f"expect {expression.text}",
            f"{error} has no value in phase {span.phase}: there was no request to take it from",
            "Choose another phase or measure.",
        ) from None
    if arguments.json:
        facts = {"expression": expression.text, "holds": holds, "phase": span.phase, "disk": span.disk}
        print(json.dumps(facts | {"measured": values, "kernel": kernel} | virtual.nature(arguments), indent=2))
    else:
        said = ", ".join(f"{name} = {_number(value)}" for name, value in values.items())
        print(f"{'holds' if holds else 'does not hold'}: {expression.text}; {said}"
              f" (phase {span.phase}, {span.disk}, {kernel}, {'real time' if arguments.vm else 'simulated'})")  # fmt: skip
    return 0 if holds else _NOT


# What the command prints goes to standard error: standard output has the verdict.
def _in_simulated_time(arguments: argparse.Namespace) -> tuple[str, recorded.Recorded]:
    progress = Progress(arguments.quiet)
    runner.profile_of(arguments, progress)
    lab_kernel = tree.pick(arguments.kernel, progress)
    how = runner.How(progress, (sys.stderr.buffer, sys.stderr.buffer))

    def boot(command: list[str], out: Path) -> verdict.Verdict:
        return runner.boot(arguments, lab_kernel, command, out, how)

    return lab_kernel.name, recorded.run(arguments, lab_kernel.name, boot, Path(arguments.out))


def _in_virtual_machine(arguments: argparse.Namespace, expression: Expression) -> tuple[str, recorded.Recorded]:
    timed = [name for name in expression.names() if measures.is_timed(name)]
    if timed:
        raise LabError(
            f"expect {expression.text}",
            f"times in a virtual machine are the host's: no two runs are alike, and {', '.join(timed)} would be no fact",
            "Expect counts, such as requests, bytes, request_bytes_mode, seeks, errors; or leave out --vm and LAB=vm.",
        )
    name = f"Debian's {arguments.kernel or virtual.DEFAULT_SERIES}"

    def boot(command: list[str], _out: Path) -> verdict.Verdict:
        return virtual.run(arguments, command, (2, 2))

    run = recorded.run(arguments, name, boot, Path(arguments.out))
    return f"Debian's {run.facts['kernel']}", run


def _chosen(spans: list[measures.Span], phase: str | None, disk: str | None) -> measures.Span:
    """The one phase of one disk that is meant."""
    what = "choosing what to look at"
    found = [span for span in spans if phase in (None, span.phase) and disk in (None, span.disk)]
    names = ", ".join(dict.fromkeys(f"{span.phase} of {span.disk}" for span in spans)) or "none"
    if not found:
        raise LabError(what, f"the recording has no such phase; it has {names}", "Name one of them: --phase, --disk.")
    if len(found) > 1:
        raise LabError(what, f"the recording has several phases: {names}", "Name one: --phase, and --disk if need be.")
    return found[0]


def _number(value: measures.Value) -> str:
    if value is None:
        return "not known"
    if float(value).is_integer():
        return f"{value:.0f}"
    return f"{value:.4g}" if abs(value) < 1 else f"{value:.2f}"
