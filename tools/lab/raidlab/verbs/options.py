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

TIMEOUT_S = 1200.0
_MEM_MIB = 256
_OUT = "lab-out"
_VM = "on Debian's own kernel in QEMU: two processors, real time; also LAB=vm (Documentation/vm.rst)"

Act = Callable[[argparse.Namespace], int]


def split(argv: list[str]) -> tuple[list[str], list[str]]:
    """What is ours and, after the first --, the guest's command."""
    if "--" in argv:
        at = argv.index("--")
        return argv[:at], argv[at + 1 :]
    return argv, []


def parsed(top: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    """What the words say; one that is no option is most often a command without its --."""
    arguments, extra = top.parse_known_args(words)
    if extra and not extra[0].startswith("-") and arguments.verb in ("run", "shell", "ab", "expect"):
        command = shlex.join([extra[0]] + words[words.index(extra[0]) + 1 :])
        top.exit(2, f"raidctl lab {arguments.verb}: -- is missing before the command: "
                    f"raidctl lab {arguments.verb} -- {command}\n")  # fmt: skip
    if extra:
        top.error(f"unrecognized arguments: {' '.join(extra)}")
    return arguments


def parser(acts: dict[str, Act]) -> argparse.ArgumentParser:
    """`acts` has a function for each verb; it lands in the result as `act`."""
    top = argparse.ArgumentParser(
        prog="raidctl lab",
        description="Run commands in front of simulated disks. Nothing of this machine is changed.",
        epilog="raidctl lab run -- dd if=/dev/sda of=/dev/null bs=1M count=1024",
    )
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")
    _run(verbs.add_parser("run", help="run a command in a guest", usage="raidctl lab run [options] -- CMD..."))
    _shell(verbs.add_parser("shell", help="an interactive shell in a guest"))
    _ab(verbs.add_parser(
        "ab", help="run a command on several kernels and compare",
        usage="raidctl lab ab [options] --kernel A [--kernel B... | --patch FILE] -- CMD...\n"
        "       raidctl lab ab [options] --kernel A [--kernel B | --patch FILE] --workload SET",
        description="CMD runs under raidctl record, unless it says 'raidctl record' itself.",
    ))  # fmt: skip
    _expect(verbs.add_parser(
        "expect", help="run a command and test a figure, for git bisect run",
        usage="raidctl lab expect [options] EXPRESSION -- CMD...",
        description="Status 0: it holds, 1: it does not, 2: bad expression, 125: it cannot be tested.",
    ))  # fmt: skip
    build = verbs.add_parser("build", help="build kernel and modules, and say where they are")
    build.add_argument("--werror", action="store_true", help="fail when a module's build warns")
    _vm(build, "Debian's own kernel instead, raidtrace.ko against its headers; also LAB=vm")
    build.add_argument(
        "--modules", action="store_true", help="build the kernel's other modules now, not when a guest looks for one"
    )
    build.add_argument("--refresh", action="store_true", help="ask for the newest package of the series")
    _kernel(build)
    _variant(build)
    clean = verbs.add_parser("clean", help="list, or remove, what the cache holds and nothing used for some time")
    clean.add_argument("--days", metavar="N", type=int, default=30, help="for how long (default %(default)s)")
    clean.add_argument("--remove", action="store_true", help="remove what is listed")
    verbs.add_parser("workloads", help="list the workloads of ab --workload")
    verbs.add_parser("profiles", help="list the simulated devices there are")
    verbs.add_parser("show", help="explain one").add_argument("profile", metavar="P")
    for name, verb in verbs.choices.items():
        verb.set_defaults(act=acts[name])
    return top


def _run(verb: argparse.ArgumentParser) -> None:
    _out(verb, f"results, and CMD's working directory (default {_OUT})")
    _timeout(verb)
    _vm(verb)
    _guest(verb)
    _seed(verb)
    _modules(verb)
    _kernel(verb)
    _variant(verb)
    verb.add_argument(
        "--real-time", action="store_true",
        help="the guest's clock is the host's: for what must take the time it takes, as a benchmark of code",
    )  # fmt: skip


def _shell(verb: argparse.ArgumentParser) -> None:
    verb.set_defaults(timeout=float("inf"))
    _out(verb, f"results (default {_OUT})")
    _vm(verb)
    _guest(verb)
    _seed(verb)
    _modules(verb)
    _kernel(verb)


def _ab(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--kernel", metavar="SERIES|DIR", action="append", default=[], dest="kernels",
        help="one to compare: 6.1, 6.12, 7.2, 7.3, or a kernel source tree; the first is what the others are compared with",
    )  # fmt: skip
    verb.add_argument(
        "--patch", metavar="FILE", action="append", default=[],
        help="compare the kernel with the same plus this diff or mailbox; several are applied in their order",
    )  # fmt: skip
    verb.add_argument(
        "--series", metavar="DIR", action="append", default=[],
        help="the same with a directory of patches, in the order of its file 'series' or of their names",
    )  # fmt: skip
    verb.add_argument(
        "--range", metavar="A..B",
        help="compare two commits of the source tree that --kernel names (default: the one here), whatever is checked out",
    )  # fmt: skip
    verb.add_argument(
        "--tree", metavar="DIR",
        help="compare a source tree as it stands with --kernel, or without that with its own last commit",
    )  # fmt: skip
    verb.add_argument(
        "--config", metavar="FRAGMENT", action="append", default=[],
        help="options for every kernel, CONFIG_X=y a line; with one kernel and nothing else: what they change",
    )  # fmt: skip
    _variant(verb)
    verb.add_argument(
        "--workload", metavar="SET",
        help="instead of CMD: workloads of a set, or of FILE.toml, and a verdict on each; 'raidctl lab workloads' lists them",
    )  # fmt: skip
    verb.add_argument(
        "--coverage", action="store_true",
        help="run each workload once more, on the changed kernel compiled to tell which of the changed lines run",
    )  # fmt: skip
    verb.add_argument("--mail", action="store_true", help="print the verdicts as text for a mail, 72 columns")
    verb.add_argument("--repeat", action="store_true", help="run each twice, and hold the two to be the same bits")
    _seeds(verb, "draws of chance for each kernel: ratios get an interval, and chance is called so (default 1)")
    _out(verb, f"a directory for each kernel: DIR/a, DIR/b, ... (default {_OUT})")
    _vm(verb, "on Debian's own kernels in QEMU, where only counts are compared; also LAB=vm")
    _measured(verb)
    verb.add_argument("-q", "--quiet", action="store_true", help="no progress")


def _expect(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("expression", metavar="EXPRESSION", help="as in: mib_per_s >= 380 and seeks < 100")
    verb.add_argument("--phase", metavar="NAME", help="the phase to look at, if there are several")
    _vm(verb, "on Debian's own kernel in QEMU, where only counts can be expected; also LAB=vm")
    _out(verb, f"results, and CMD's working directory (default {_OUT})")
    _seeds(verb, "draws of chance at most; as many are run as decide, 125 if these do not (default 1)")
    _measured(verb)
    _kernel(verb)


def _seed(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--seed", metavar="N", type=int, default=0,
        help="another draw of what is chance on a real machine; a run is repeatable by its number (default 0)",
    )  # fmt: skip


def _seeds(verb: argparse.ArgumentParser, text: str) -> None:
    verb.set_defaults(seed=0)
    verb.add_argument("--seeds", metavar="N", type=_count, default=1, help=text)


def _measured(verb: argparse.ArgumentParser) -> None:
    verb.set_defaults(no_raidtrace=False, bare=False)
    verb.add_argument(
        "-d", "--disk", metavar="DISK", help="the disk to look at (default: every unit of the controller)"
    )
    verb.add_argument("-j", "--json", action="store_true", help="print JSON instead of text")
    _timeout(verb)
    _guest(verb)


def _out(verb: argparse.ArgumentParser, text: str) -> None:
    verb.add_argument("--out", metavar="DIR", default=_OUT, help=text)


def _timeout(verb: argparse.ArgumentParser) -> None:
    text = "of real time (default %(default)g)"
    verb.add_argument("--timeout", metavar="SECONDS", type=float, default=TIMEOUT_S, help=text)


def _vm(verb: argparse.ArgumentParser, text: str = _VM) -> None:
    verb.add_argument("--vm", action="store_true", default=os.environ.get("LAB") == "vm", help=text)


def _kernel(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--kernel", metavar="SERIES|DIR", default=os.environ.get("LAB_KERNEL") or None,
        help="6.1, 6.12, 7.2, 7.3, or a kernel source tree; also LAB_KERNEL",
    )  # fmt: skip
    verb.add_argument("-q", "--quiet", action="store_true", help="no progress")


def _variant(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--variant", metavar="NAME", choices=["", *linux.variants()], default=os.environ.get("LAB_VARIANT", ""),
        help=f"another build of that kernel: {', '.join(linux.variants())}; also LAB_VARIANT",
    )  # fmt: skip


def _guest(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--profile", metavar="P", default=profile.DEFAULT,
        help="the simulated devices, or P,P... for several: 'raidctl lab profiles' lists them (default %(default)s)",
    )  # fmt: skip
    verb.add_argument(
        "--mem", metavar="SIZE", type=_size_mib, default=_MEM_MIB, help="memory left to the guest (default 256M)"
    )
    verb.add_argument("--store", metavar="SIZE", type=_size_mib, help="memory for the simulated disks' contents")
    verb.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[],
        help="a key of the profile, as in fault.lose_command=100; 'raidctl lab show P' lists those it sets",
    )  # fmt: skip
    verb.add_argument("--env", metavar="NAME=VALUE", action="append", default=[], help="for CMD's environment")
    verb.add_argument(
        "--host", action="store_true", default=os.environ.get("LAB_ROOT") == "host",
        help="this machine's programs and files instead of the lab's own: another machine has other figures;"
        " also LAB_ROOT=host",
    )  # fmt: skip


def _modules(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--no-raidtrace", action="store_true", help="do not load raidtrace.ko")
    verb.add_argument("--bare", action="store_true", help="no modules and so no disks at all")


def _count(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)


def _size_mib(text: str) -> int:
    match = re.fullmatch(r"([0-9]+)([KMG]?)(i?B)?", text, re.IGNORECASE)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is no size such as 256M or 2G")
    number = int(match[1])
    mib = {"": number >> 20, "K": number >> 10, "M": number, "G": number << 10}[match[2].upper()]
    if mib < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is less than 1 MiB; sizes are bytes, or have K, M or G")
    return mib
