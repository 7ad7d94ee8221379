# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl lab expect: whether an expression on the measured values of a command is true. Made for `git bisect run`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from raidlab.base.failure import LabError
from raidlab.base.progress import Progress
from raidlab.kernel import tree
from raidlab.uml import runner, verdict
from raidlab.verbs import measures
from raidlab.verbs.options import EXPECT_USAGE
from raidlab.vm import virtual

from raidtrace.quantity.expression import BadExpression, Expression, NotKnown

_NOT = 1


def act(arguments: argparse.Namespace) -> int:
    """Returns 0 if the expression is true, 1 if it is false, 128 if it is invalid or the command moves no data. LabError
    (status 125) if it cannot be tested: git bisect skips this commit."""
    try:
        expression = Expression(arguments.expression, measures.unknown, truth=True)
    except BadExpression as error:
        print(f"raidctl lab expect: {error}; write for example: 'mib_per_s >= 380 and seeks < 100'", file=sys.stderr)
        return EXPECT_USAGE
    if arguments.vm and arguments.seeds > 1:
        raise LabError(
            "expect --vm --seeds",
            "the host causes the variation in a virtual machine, not a seed",
            "Leave out --vm or --seeds.",
        )
    measures.require_tools()
    kernel, run = _in_virtual_machine(arguments, expression) if arguments.vm else _in_simulated_time(arguments)
    outcomes: list[bool] = []
    spans: list[measures.Span] = []
    holds = None
    while holds is None and len(outcomes) < arguments.seeds:
        recorded = run(len(outcomes))
        if not spans:  # raidctl record named it even with --quiet
            here = runner.recording_here(arguments.out, next(recorded.directory.glob("*.rtdb")).name)
            print(f"raidctl lab expect: {here}", file=sys.stderr)
        spans.append(_chosen(recorded.spans, arguments.phase, arguments.disk))
        if set(expression.names()) - {"seconds"} and spans[-1].is_idle():
            print(f"raidctl lab expect: cannot judge {expression.text}: phase {spans[-1].phase} reads and writes nothing on "
                  f"{spans[-1].disk}. Bypass or drop the page cache in the command, or choose another --phase or --disk.",
                  file=sys.stderr)  # fmt: skip
            return EXPECT_USAGE
        outcomes.append(_holds(expression, spans[-1]))
        holds = outcomes[0] if arguments.seeds == 1 else measures.decided(outcomes)
    if holds is None:
        raise LabError(
            f"expect {expression.text}",
            f"undecided: the expression is true for {sum(outcomes)} of {len(outcomes)} seeds",
            "Allow more seeds (--seeds), or test a limit that is farther from the measured figure.",
        )
    _print_verdict(arguments, expression, kernel(), outcomes, holds, spans[0])
    return 0 if holds else _NOT


def _holds(expression: Expression, span: measures.Span) -> bool:
    try:
        return expression.holds({name: span.named(name) for name in expression.names()})
    except NotKnown as error:
        why = (
            "the phase has no such request"
            if span.has_requests()
            else f"{span.disk} receives only bios, as md and dm do"
        )
        raise LabError(
            f"expect {expression.text}",
            f"{error} has no value in phase {span.phase}, because {why}",
            "Choose another phase or measure." if span.has_requests() else "Choose a member of it: --disk",
        ) from None


def _print_verdict(
    arguments: argparse.Namespace,
    expression: Expression,
    kernel: str,
    outcomes: list[bool],
    holds: bool,
    span: measures.Span,
) -> None:
    """Print the verdict, with the figures of the first seed."""
    values = {name: span.named(name) for name in expression.names()}
    if arguments.json:
        facts: dict[str, object] = {"expression": expression.text, "holds": holds, "draws": outcomes}
        facts |= {"phase": span.phase, "disk": span.disk, "measured": values, "kernel": kernel}
        print(json.dumps(facts | virtual.nature(arguments), indent=2))
    else:
        measured = ", ".join(f"{name} = {_number(value)}" for name, value in values.items())
        of_all = f", with {sum(outcomes)} of {len(outcomes)} seeds" if len(outcomes) > 1 else ""
        where = f"phase {span.phase}, {span.disk}, {kernel}, {'real time' if arguments.vm else 'simulated'}{of_all}"
        print(f"{'holds' if holds else 'does not hold'}: {expression.text}; {measured} ({where})")


# Redirect the command's output to standard error: standard output has the verdict.
def _in_simulated_time(arguments: argparse.Namespace) -> tuple[Callable[[], str], Callable[[int], measures.Recorded]]:
    """The kernel's name, and a function that runs the command with a seed."""
    progress = Progress(arguments.quiet)
    runner.profiles_of(arguments, progress)
    lab_kernel = tree.pick(arguments.kernel, progress)
    how = runner.How(progress, (sys.stderr.buffer, sys.stderr.buffer))

    def run(seed: int) -> measures.Recorded:
        mine = argparse.Namespace(**vars(arguments) | {"seed": seed})

        def boot(command: list[str], out: Path) -> verdict.Exit:
            return runner.boot(mine, lab_kernel, command, out, how)

        return measures.run(mine, lab_kernel.name, boot, Path(f"{mine.out}-seed-{seed}" if seed else mine.out))

    return lambda: lab_kernel.name, run


def _in_virtual_machine(
    arguments: argparse.Namespace, expression: Expression
) -> tuple[Callable[[], str], Callable[[int], measures.Recorded]]:
    timed = [name for name in expression.names() if measures.is_timed(name)]
    if timed:
        raise LabError(
            f"expect {expression.text}",
            f"times in a virtual machine are the host's: no two runs are alike, so {', '.join(timed)} cannot be tested",
            "Test counts, such as requests, bytes, request_bytes_mode, seeks, errors; or leave out --vm and LAB=vm.",
        )
    name = f"Debian's {arguments.kernel or virtual.DEFAULT_SERIES}"
    facts: dict[str, Any] = {}

    def boot(command: list[str], _out: Path) -> verdict.Exit:
        return virtual.run(arguments, command, (2, 2))

    def run(_seed: int) -> measures.Recorded:
        recorded = measures.run(arguments, name, boot, Path(arguments.out))
        facts.update(recorded.facts)
        return recorded

    return lambda: f"Debian's {facts['kernel']}", run


def _chosen(spans: list[measures.Span], phase: str | None, disk: str | None) -> measures.Span:
    """The phase of one disk that the options select. LabError if there is none, or more than one."""
    what = "choosing the phase"
    chosen = [span for span in spans if phase in (None, span.phase) and disk in (None, span.disk)]
    names = ", ".join(dict.fromkeys(f"{span.phase} of {span.disk}" for span in spans)) or "none"
    if not chosen:
        raise LabError(
            what, f"the recording has no such phase; its phases: {names}", "Choose one of them: --phase, --disk."
        )
    if len(chosen) > 1:
        raise LabError(
            what, f"the recording has several phases: {names}", "Choose one: --phase, and --disk if necessary."
        )
    return chosen[0]


def _number(value: measures.Value) -> str:
    if value is None:
        return "not known"
    if float(value).is_integer():
        return f"{value:.0f}"
    return f"{value:.4g}" if abs(value) < 1 else f"{value:.2f}"
