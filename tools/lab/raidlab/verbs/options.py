# SPDX-License-Identifier: GPL-2.0-or-later
"""The options of raidctl lab."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Callable

from raidlab.array import profile
from raidlab.kernel import linux

from raidtrace.quantity import usage

TIMEOUT_S = 1200.0
_MEM_MIB = 256
_OUT = "lab-out"
EXPECT_USAGE = 128  # git bisect run takes 1 to 127 as bad, and stops from 128 on
_VM = "use Debian's own kernel in QEMU, with two processors and real time (Documentation/lab.rst); the same as LAB=vm"

Act = Callable[[argparse.Namespace], int]


def split(argv: list[str]) -> tuple[list[str], list[str]]:
    """Split the command line into our part and the guest's command, which follows the first --."""
    if "--" in argv:
        at = argv.index("--")
        return argv[:at], argv[at + 1 :]
    return argv, []


def parsed(top: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    """Parse the command line. An unknown word is usually a command without its --."""
    arguments, extra = top.parse_known_args(words)
    verb: usage.Parser = arguments.parser
    if extra and extra[0].startswith("-"):
        verb.error(f"unknown option {extra[0]}; see: {verb.prog} --help")
    if extra and arguments.verb in ("run", "shell", "ab", "expect"):
        at = words.index(extra[0])
        words[at:at] = ["--"]
        verb.exit(
            verb.usage_status, f"{verb.prog}: -- is missing before the command: raidctl lab {shlex.join(words)}\n"
        )
    if extra:
        verb.error(f"unrecognized arguments: {' '.join(extra)}")
    return arguments


def parser(acts: dict[str, Act]) -> argparse.ArgumentParser:
    """The parser. `acts` has a function for each verb; the parser stores it as `act`."""
    top = usage.Parser(
        prog="raidctl lab",
        description="Run commands in a guest: a Linux kernel with simulated disks. This machine is not changed.",
        epilog="Example: raidctl lab run -- dd if=/dev/sda of=/dev/null bs=1M count=1024",
    )
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")
    _run(verbs.add_parser(
        "run", help="run a command in a guest", usage="raidctl lab run [options] -- CMD...",
        description="Run CMD in a guest, and pass on its output and exit status.",
    ))  # fmt: skip
    _shell(verbs.add_parser(
        "shell", help="start a shell in a guest", description="Start a shell in a guest, in real time."
    ))  # fmt: skip
    _ab(verbs.add_parser(
        "ab", help="run a command on several kernels and compare them",
        usage="raidctl lab ab [options] [--kernel A]\n"
        "       (--kernel B... | --patch FILE | --series DIR | --tree DIR | --range A..B |\n"
        "        --config FRAGMENT)\n"
        "       (--workload SET | -- CMD...)",
        description="Run CMD on several kernels, record it, and compare the recordings. If CMD contains 'raidctl record', it "
        "records itself.",
    ))  # fmt: skip
    _expect(verbs.add_parser(
        "expect", help="run a command and test its figures, for git bisect run",
        usage="raidctl lab expect [options] EXPRESSION -- CMD...",
        description="Run CMD, record it, and test EXPRESSION. Exit status: 0 true, 1 false, 128 invalid expression, "
        "125 not testable.",
    ))  # fmt: skip
    build = verbs.add_parser(
        "build",
        help="build kernel and modules, and print their paths",
        description="Build everything that a guest needs, and print its path.",
    )
    build.add_argument("--werror", action="store_true", help="fail if building a module gives a warning")
    _vm(build, "instead build raidtrace.ko for Debian's own kernel; the same as LAB=vm")
    build.add_argument(
        "--modules", action="store_true", help="build all modules of the kernel now, not when a guest needs one"
    )
    build.add_argument(
        "--refresh", action="store_true", help="use the newest package of the series, even if an older one is built"
    )
    _kernel(build)
    _variant(build)
    clean = verbs.add_parser(
        "clean",
        help="list or remove cache entries that have not been used for some time",
        description="List the cache entries that have not been used for some time; with --remove, delete them.",
    )
    clean.add_argument(
        "--days", metavar="N", type=int, default=30, help="entries that were not used for N days (default %(default)s)"
    )
    clean.add_argument("--remove", action="store_true", help="remove the listed entries")
    verbs.add_parser(
        "workloads",
        help="list the workloads of ab --workload",
        description="List the workloads of raidctl lab ab --workload.",
    )
    verbs.add_parser("profiles", help="list the simulated disks", description="List the simulated disks.")
    verbs.add_parser(
        "show", help="print the keys of a profile", description="Print each key of a profile, its value and its source."
    ).add_argument("profile", metavar="P", help="a name that raidctl lab profiles prints, or a .toml file")
    for name, verb in verbs.choices.items():
        verb.set_defaults(act=acts[name], parser=verb)
    verbs.choices["expect"].usage_status = EXPECT_USAGE
    return top


def _run(verb: argparse.ArgumentParser) -> None:
    _out(verb, f"directory of the results, and working directory of CMD (default {_OUT})")
    _timeout(verb)
    _vm(verb)
    _guest(verb)
    _seed(verb)
    _modules(verb)
    _kernel(verb)
    _variant(verb)
    verb.add_argument(
        "--real-time", action="store_true",
        help="use the host's clock instead of simulated time, for example to measure the time of code",
    )  # fmt: skip


def _shell(verb: argparse.ArgumentParser) -> None:
    verb.set_defaults(timeout=float("inf"))
    _out(verb, f"directory of the results (default {_OUT})")
    _vm(verb)
    _guest(verb)
    _seed(verb)
    _modules(verb)
    _kernel(verb)


def _ab(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--kernel", metavar="SERIES|DIR", action="append", default=[], dest="kernels",
        help="kernel to compare: 6.1, 6.12, 7.2, 7.3, or a source tree; the others are compared with the first",
    )  # fmt: skip
    verb.add_argument(
        "--patch", metavar="FILE", action="append", default=[],
        help="compare the kernel with the same kernel plus this diff or mailbox; several are applied in order",
    )  # fmt: skip
    verb.add_argument(
        "--series", metavar="DIR", action="append", default=[],
        help="the same with a directory of patches, in the order of its file 'series' or of the file names",
    )  # fmt: skip
    verb.add_argument(
        "--range", metavar="A..B",
        help="compare two commits of the source tree --kernel (default: the current directory)",
    )  # fmt: skip
    verb.add_argument(
        "--tree", metavar="DIR",
        help="compare --kernel (default: the last commit of DIR) with the source tree DIR, including its uncommitted changes",
    )  # fmt: skip
    verb.add_argument(
        "--config", metavar="FRAGMENT", action="append", default=[],
        help="file with options for every kernel, lines of CONFIG_X=y; with one kernel and no other change, "
        "compare it without and with them",
    )  # fmt: skip
    _variant(verb)
    verb.add_argument(
        "--workload", metavar="SET",
        help="instead of CMD, run a set of workloads, or those of FILE.toml, and print a verdict on each; "
        "'raidctl lab workloads' lists the sets",
    )  # fmt: skip
    verb.add_argument(
        "--coverage", action="store_true",
        help="also report which of the changed source lines ran: repeat each workload on a kernel with coverage",
    )  # fmt: skip
    verb.add_argument("--mail", action="store_true", help="print the verdicts as text of 72 columns, for a mail")
    verb.add_argument("--repeat", action="store_true", help="run everything twice, and fail if the runs differ")
    _seeds(
        verb,
        "run each kernel with N random seeds; each ratio has a 95 %% confidence interval (default 1, or 2 with --workload)",
    )
    _out(verb, f"a directory for each kernel: DIR/a, DIR/b, ... (default {_OUT})")
    _vm(verb, "use Debian's own kernels in QEMU; compares only counts, not times; the same as LAB=vm")
    _measured(verb)
    verb.add_argument("-q", "--quiet", action="store_true", help="print no progress")


def _expect(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("expression", metavar="EXPRESSION", help="comparisons, such as: mib_per_s >= 380 and seeks < 100")
    verb.add_argument("--phase", metavar="NAME", help="phase to test, if the recording has several")
    _vm(verb, "use Debian's own kernel in QEMU; tests only counts, not times; the same as LAB=vm")
    _out(verb, f"directory of the results, and working directory of CMD (default {_OUT})")
    _seeds(
        verb,
        "run with at most N random seeds, until the result is certain, otherwise exit status 125 (default 1: one run decides)",
    )
    _measured(verb)
    _kernel(verb)


def _seed(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--seed", metavar="N", type=int, default=0,
        help="random seed: change the values that vary by chance on a real machine; the same N repeats a run (default 0)",
    )  # fmt: skip


def _seeds(verb: argparse.ArgumentParser, text: str) -> None:
    verb.set_defaults(seed=0)
    verb.add_argument("--seeds", metavar="N", type=_count, default=1, help=text)


def _measured(verb: argparse.ArgumentParser) -> None:
    verb.set_defaults(no_raidtrace=False, bare=False)
    verb.add_argument("-d", "--disk", metavar="DISK", help="disk to record (default: every simulated disk)")
    verb.add_argument("-j", "--json", action="store_true", help="print JSON instead of text")
    _timeout(verb)
    _guest(verb)


def _out(verb: argparse.ArgumentParser, text: str) -> None:
    verb.add_argument("--out", metavar="DIR", default=_OUT, help=text)


def _timeout(verb: argparse.ArgumentParser) -> None:
    text = "end the guest after this real time (default %(default)g)"
    verb.add_argument("--timeout", metavar="SECONDS", type=float, default=TIMEOUT_S, help=text)


def _vm(verb: argparse.ArgumentParser, text: str = _VM) -> None:
    verb.add_argument("--vm", action="store_true", default=os.environ.get("LAB") == "vm", help=text)


def _kernel(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--kernel", metavar="SERIES|DIR", default=os.environ.get("LAB_KERNEL") or None,
        help="6.1, 6.12, 7.2, 7.3, or a kernel source tree (default: LAB_KERNEL, or 6.1)",
    )  # fmt: skip
    verb.add_argument("-q", "--quiet", action="store_true", help="print no progress")


def _variant(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--variant", metavar="NAME", choices=["", *linux.variants()], default=os.environ.get("LAB_VARIANT", ""),
        help=f"another build of that kernel: {', '.join(linux.variants())} (default: LAB_VARIANT, or none)",
    )  # fmt: skip


def _guest(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--profile", metavar="P", default=profile.DEFAULT,
        help="simulated disks: a name that 'raidctl lab profiles' lists, or a .toml file; several separated by commas "
        "(default %(default)s)",
    )  # fmt: skip
    verb.add_argument(
        "--mem", metavar="SIZE", type=_size_mib, default=_MEM_MIB, help="memory of the guest (default 256M)"
    )
    verb.add_argument("--store", metavar="SIZE", type=_size_mib, help="memory for the contents of the simulated disks")
    verb.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[],
        help="change a key of the profile, such as fault.lose_command=100; 'raidctl lab show P' lists the keys that P sets",
    )  # fmt: skip
    verb.add_argument(
        "--env",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="set an environment variable of the command or shell",
    )
    verb.add_argument(
        "--host", action="store_true", default=os.environ.get("LAB_ROOT") == "host",
        help="use the programs and files of this machine instead of the lab's; the figures then depend on the machine; "
        "the same as LAB_ROOT=host",
    )  # fmt: skip


def _modules(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--no-raidtrace", action="store_true", help="do not load raidtrace.ko")
    verb.add_argument("--bare", action="store_true", help="load no module, so that there are no disks")


def _count(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def _size_mib(text: str) -> int:
    match = re.fullmatch(r"([0-9]+)([KMG]?)(i?B)?", text, re.IGNORECASE)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 256M or 2G")
    number = int(match[1])
    mib = {"": number >> 20, "K": number >> 10, "M": number, "G": number << 10}[match[2].upper()]
    if mib < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is less than 1 MiB; sizes are bytes, or have K, M or G")
    return mib
