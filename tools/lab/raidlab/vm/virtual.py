# SPDX-License-Identifier: GPL-2.0-or-later
"""A virtual machine according to the options of raidctl lab, for `--vm` and LAB=vm."""

from __future__ import annotations

import argparse

from raidlab.array import profile
from raidlab.base.failure import LabError
from raidlab.base.progress import Progress
from raidlab.kernel import linux, tree
from raidlab.uml import runner, verdict
from raidlab.vm import session, stock

DEFAULT_SERIES = session.DEFAULT_SERIES


def run(
    arguments: argparse.Namespace,
    command: list[str],
    outputs: tuple[int, int] = (1, 2),
    terminal: tuple[int, int] | None = None,
) -> verdict.Exit:
    """Boot and run `command`, with its output to these descriptors or on the terminal, if `terminal` has its size."""
    if arguments.kernel and tree.is_directory(arguments.kernel):
        raise _own_kernel(arguments.kernel, arguments.verb)
    if getattr(arguments, "variant", "") or getattr(arguments, "real_time", False):
        raise LabError(
            "--vm with --variant or --real-time",
            "these options are for the lab's own kernels; a virtual machine runs Debian's, in real time",
            "Leave out one or the other.",
        )
    devices = runner.profiles_of(arguments, Progress(arguments.quiet))
    if devices and (devices.drivers != [profile.DRIVER] or len(devices.profiles) > 1):
        raise LabError(
            f"--vm --profile {arguments.profile}",
            "a virtual machine has one profile, of a 3ware array",
            "Leave out --vm.",
        )
    array = devices.profiles[0] if devices else None
    runner.out_directory(arguments.out)
    return session.lab_run(arguments, command, array, outputs, terminal)


def nature(arguments: argparse.Namespace) -> dict[str, object]:
    """The simulated parts of a result, named as in a recording: always the controller; time in a virtual machine, and with
    a variant in real time, is real."""
    real = arguments.vm or linux.needs(getattr(arguments, "variant", "")).real_time
    return {"simulated": True, "lab_time": "real" if real else "simulated"}


def require_comparable(names: list[str], repeat: bool) -> None:
    """Refuse what ab cannot do in virtual machines, before one starts."""
    for name in names:
        if tree.is_directory(name):
            raise _own_kernel(name, "ab")
    if repeat:
        raise LabError(
            "ab --vm --repeat",
            "times in a virtual machine are the host's: no two runs are alike",
            "Leave out --repeat, or --vm and LAB=vm.",
        )


def _own_kernel(name: str, verb: str) -> LabError:
    return LabError(
        f"--kernel {name}",
        "a virtual machine runs Debian's own kernels, 6.1, 6.12 and 7.2",
        f"For a kernel of your own: raidctl lab {verb} without --vm.",
    )


def build(arguments: argparse.Namespace) -> bool:
    """Build the kernel, its raidtrace.ko and the controller's server, and print their paths. Returns whether a build printed
    a warning."""
    if arguments.kernel and tree.is_directory(arguments.kernel):
        raise _own_kernel(arguments.kernel, "build")
    if arguments.variant or arguments.refresh:
        raise LabError(
            "--vm with --variant or --refresh",
            "--refresh and --variant are for the lab's own kernels; the newest of Debian's is fetched once a day",
            "Leave out one or the other.",
        )
    progress = Progress(arguments.quiet)
    kernel = stock.get(arguments.kernel or DEFAULT_SERIES, progress)
    print(f"kernel\t{kernel.version}\t{kernel.headers}")
    built = stock.build(kernel, progress)
    print(f"raidtrace\t{built.module}")
    print(f"raidlab\t{session.build(progress)}")
    return bool(built.warnings)
