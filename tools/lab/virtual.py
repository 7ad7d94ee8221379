# SPDX-License-Identifier: GPL-2.0-or-later
"""A virtual machine as the options of raidctl lab describe it: what `--vm` and LAB=vm mean to each verb."""

from __future__ import annotations

import argparse

import runner
import tree
import verdict
from failure import LabError
from progress import Progress
from vm import session

DEFAULT_SERIES = session.DEFAULT_SERIES


def run(
    arguments: argparse.Namespace,
    command: list[str],
    outputs: tuple[int, int] = (1, 2),
    terminal: tuple[int, int] | None = None,
) -> verdict.Verdict:
    """Boot, run `command` with its output to these descriptors or, where `terminal` is its size, on the terminal."""
    if arguments.kernel and tree.is_directory(arguments.kernel):
        raise LabError(
            f"--kernel {arguments.kernel}",
            "a virtual machine runs Debian's own kernels, 6.1, 6.12 and 7.2",
            f"For a kernel of your own: raidctl lab {arguments.verb} without --vm.",
        )
    if getattr(arguments, "variant", "") or getattr(arguments, "real_time", False):
        raise LabError(
            "--vm with --variant or --real-time",
            "those are of the lab's own kernels; a virtual machine runs Debian's, in real time",
            "Leave out one or the other.",
        )
    array = runner.profile_of(arguments, Progress(arguments.quiet))
    runner.out_directory(arguments.out)
    return session.lab_run(arguments, command, array, outputs, terminal)


def refuse_comparison() -> None:
    """ab is about times, and those of a virtual machine are no facts."""
    raise LabError(
        "ab",
        "LAB=vm or --vm is set, and times in a virtual machine are the host's: no two runs are alike",
        "Leave it out: LAB= raidctl lab ab ... Counts can be tested there: raidctl lab expect --vm 'requests < 300'",
    )
