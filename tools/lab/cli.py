# SPDX-License-Identifier: GPL-2.0-or-later
"""The verbs of raidctl lab."""

from __future__ import annotations

import argparse
import os
import profile
import re
import signal
import sys
import textwrap
import traceback
from pathlib import Path
from types import FrameType

import cache
import guest
import kernel
import modules
import terminal
import verdict
from failure import LabError
from progress import Progress

_FAILED = 1
_USAGE = 2
_TIMEOUT_S = 1200.0
_MEM_MIB = 256
_OUT = "lab-out"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class _Stopped(BaseException):
    """SIGINT, SIGTERM or SIGHUP: not an Exception, so that nothing catches it on the way out."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def main(argv: list[str]) -> int:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    words, command = _split(argv)
    arguments = _parser().parse_args(words)
    arguments.command = command
    failed = verdict.LAB_FAILED if arguments.verb in ("run", "shell") else _FAILED
    try:
        return int(arguments.act(arguments))
    except LabError as error:
        print(f"raidctl lab: {error}", file=sys.stderr)
        return failed
    except BrokenPipeError:
        # Whoever read our output has gone; Python must not try again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"raidctl lab: {where}{error.strerror}", file=sys.stderr)
        return failed
    except _Stopped as stopped:
        return 128 + stopped.number
    except Exception:  # a defect; its status must not look like the command's
        traceback.print_exc()
        return failed


def _stop(number: int, _frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)
    raise _Stopped(number)


def _split(argv: list[str]) -> tuple[list[str], list[str]]:
    """What is ours and, after the first --, the guest's command."""
    if "--" in argv:
        at = argv.index("--")
        return argv[:at], argv[at + 1 :]
    return argv, []


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="raidctl lab",
        description="Run commands in front of a simulated 3ware array. Nothing of this machine is changed.",
        epilog="raidctl lab run -- dd if=/dev/sda of=/dev/null bs=1M count=1024",
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    run = verbs.add_parser("run", help="run a command in a guest", usage="raidctl lab run [options] -- CMD...")
    run.set_defaults(act=_run)
    run.add_argument(
        "--out",
        metavar="DIR",
        default=_OUT,
        help=f"results, and CMD's working directory (default {_OUT})",
    )
    run.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=float,
        default=_TIMEOUT_S,
        help="of real time (default %(default)g)",
    )
    run.add_argument(
        "--vm",
        action="store_true",
        default=os.environ.get("LAB") == "vm",
        help="on Debian's own kernel in QEMU: two processors, real time; also LAB=vm (Documentation/vm.rst)",
    )
    run.add_argument(
        "--real-time",
        action="store_true",
        help="the guest's clock is the host's: for what must take the time it takes, as a benchmark of code",
    )
    shell = verbs.add_parser("shell", help="an interactive shell in a guest")
    shell.set_defaults(act=_shell, timeout=float("inf"), real_time=False)
    shell.add_argument("--out", metavar="DIR", default=_OUT, help=f"results (default {_OUT})")
    for verb in (run, shell):
        verb.add_argument(
            "--profile",
            metavar="P",
            default=profile.DEFAULT,
            help="the array (default %(default)s)",
        )
        verb.add_argument(
            "--mem",
            metavar="SIZE",
            type=_size_mib,
            default=_MEM_MIB,
            help="memory left to the guest (default 256M)",
        )
        verb.add_argument(
            "--store",
            metavar="SIZE",
            type=_size_mib,
            help="memory for the simulated disks' contents",
        )
        verb.add_argument(
            "--set",
            metavar="KEY=VALUE",
            action="append",
            default=[],
            help="a key of the profile, as in fault.lose_command=100; 'raidctl lab show P' lists those it sets",
        )
        verb.add_argument("--env", metavar="NAME=VALUE", action="append", default=[], help="for CMD's environment")
        verb.add_argument("--no-raidtrace", action="store_true", help="do not load raidtrace.ko")
        verb.add_argument("--bare", action="store_true", help="no modules and so no disks at all")

    build = verbs.add_parser("build", help="build kernel and modules, and say where they are")
    build.set_defaults(act=_build)
    build.add_argument("--werror", action="store_true", help="fail when a module's build warns")
    build.add_argument("--refresh", action="store_true", help="ask for the newest package of the series")
    for verb in (run, shell, build):
        verb.add_argument(
            "--kernel",
            metavar="SERIES",
            default=os.environ.get("LAB_KERNEL") or None,
            help="6.1, 6.12 or 7.2; also LAB_KERNEL",
        )
        verb.add_argument(
            "--variant",
            metavar="NAME",
            choices=kernel.variants(),
            default=os.environ.get("LAB_VARIANT") or "",
            help="another build of the same kernel, such as sanitize (KASAN, lockdep ...); also LAB_VARIANT",
        )
        verb.add_argument("-q", "--quiet", action="store_true", help="no progress")

    profiles = verbs.add_parser("profiles", help="list the arrays there are")
    profiles.set_defaults(act=_profiles)
    show = verbs.add_parser("show", help="explain one")
    show.set_defaults(act=_show)
    show.add_argument("profile", metavar="P")
    return parser


def _size_mib(text: str) -> int:
    match = re.fullmatch(r"([0-9]+)([KMG]?)(i?B)?", text, re.IGNORECASE)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is no size such as 256M or 2G")
    number = int(match[1])
    mib = {"": number >> 20, "K": number >> 10, "M": number, "G": number << 10}[match[2].upper()]
    if mib < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is less than 1 MiB; sizes are bytes, or have K, M or G")
    return mib


def _run(arguments: argparse.Namespace) -> int:
    if not arguments.command:
        print(
            "raidctl lab run: no command; put it after --, as in: raidctl lab run -- lsblk",
            file=sys.stderr,
        )
        return verdict.LAB_FAILED
    if arguments.vm:
        return _virtual_machine(arguments)
    return _boot(arguments, arguments.command, interactive=False)


def _virtual_machine(arguments: argparse.Namespace) -> int:
    from vm import session

    programs = modules.build_programs(Progress(arguments.quiet))
    array = (
        None if arguments.bare else profile.load(arguments.profile, programs.model(), arguments.store, arguments.set)
    )
    _out_directory(arguments.out)
    return session.lab_run(arguments, arguments.command, array)


def _shell(arguments: argparse.Namespace) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise LabError("shell", "this is no terminal", "For scripts: raidctl lab run -- CMD...")
    command = arguments.command or ["bash", "--norc", "-i"]
    print("raidctl lab: a simulated array in real time; 'exit' ends the guest", file=sys.stderr)
    with terminal.kept():
        return _boot(arguments, command, interactive=True)


def _boot(arguments: argparse.Namespace, command: list[str], interactive: bool) -> int:
    progress = Progress(arguments.quiet)
    bare = arguments.bare
    programs = modules.build_programs(progress)
    array = None if bare else profile.load(arguments.profile, programs.model(), arguments.store, arguments.set)
    lab_kernel = kernel.obtain_variant(arguments.variant, arguments.kernel, progress)
    out = _out_directory(arguments.out)
    inserted = _modules(arguments, array, lab_kernel, progress)
    memory_mib = arguments.mem + (array.pool_mib if array else 0)
    machine = guest.Guest(
        binary=lab_kernel.binary,
        init=programs.init,
        preload=programs.preload,
        out=out,
        command=command,
        environment=_environment(arguments.env, inserted),
        # the kernel itself, and its page descriptors
        memory_mib=memory_mib + memory_mib // 60 + 28 + lab_kernel.more_mib,
        modroot=lab_kernel.modroot,
        modules=inserted,
        wait_for_disks=not bare,
        interactive=interactive,
        real_time=arguments.real_time or lab_kernel.real_time,
        boot=lab_kernel.boot,
    )
    for path in (*out.glob("ground-truth*.csv"), out / "lab.json"):
        path.unlink(missing_ok=True)
    ending = guest.run(machine, out / "kernel.log", arguments.timeout)
    log = (out / "kernel.log").read_text(encoding="utf-8", errors="replace")
    result = verdict.judge(ending, log, arguments.timeout, out / "kernel.log")
    verdict.write_json(out / "lab.json", result.status, ending, array.name if array else None, lab_kernel.version)
    for message in result.messages:
        print(message if message.startswith(" ") else f"raidctl lab: {message}", file=sys.stderr)
    return result.status


def _modules(
    arguments: argparse.Namespace,
    array: profile.Profile | None,
    lab_kernel: kernel.Kernel,
    progress: Progress,
) -> list[tuple[Path, str]]:
    if array is None:
        return []
    driver = next(lab_kernel.modroot.glob("lib/modules/*/kernel/drivers/scsi/3w-9xxx.ko"))
    built = [_module(modules.TW9000, lab_kernel, progress)]
    found = [(built[0].path, array.parameter()), (driver, "")]
    if not arguments.no_raidtrace and modules.exists(modules.RAIDTRACE):
        found.append((_module(modules.RAIDTRACE, lab_kernel, progress).path, ""))
    return found


def _module(module: modules.Module, lab_kernel: kernel.Kernel, progress: Progress) -> modules.Built:
    built = modules.build(module, lab_kernel, progress)
    for warning in built.warnings:
        progress.say(warning)
    return built


def _out_directory(name: str) -> Path:
    path = Path(name).absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(f"--out {name}", str(error.strerror), "Name a directory that can be written.") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise LabError(f"--out {name}", "it cannot be written", "Name another one.")
    return path


def _environment(extra: list[str], inserted: list[tuple[Path, str]]) -> dict[str, str]:
    """The same whoever calls, but for what --env adds."""
    if guest.hidden(cache.CHECKOUT):
        raise LabError(
            "starting the guest",
            f"this checkout lies at {cache.CHECKOUT}, where a guest has its own file systems",
            "Move it out of /dev, /proc, /run and /sys.",
        )
    environment = {
        "PATH": f"{cache.CHECKOUT}/tools/bin:{_PATH}",
        "HOME": "/run/lab/tmp",
        "TMPDIR": "/run/lab/tmp",
        "MODPROBE_OPTIONS": "-d /run/lab/modroot",
        "LANG": "C.UTF-8",
        "TERM": os.environ.get("TERM", "dumb") if sys.stdin.isatty() else "dumb",
        "USER": "root",
        "PS1": r"lab:\w# ",
        "LAB": "1",
    }
    for path, _parameters in inserted:
        if path.name == modules.RAIDTRACE.name + ".ko":
            environment["RAIDTRACE_KO"] = str(path)  # its tests load it again, and its KUnit suites beside it
    for pair in extra:
        key, separator, value = pair.partition("=")
        if not key or not separator:
            raise LabError(f"--env {pair}", "not NAME=VALUE", "Give both.")
        environment[key] = value
    return environment


def _build(arguments: argparse.Namespace) -> int:
    progress = Progress(arguments.quiet)
    modules.build_programs(progress)
    lab_kernel = kernel.obtain(arguments.kernel, progress, arguments.refresh)
    if arguments.variant:
        lab_kernel = kernel.obtain_variant(arguments.variant, lab_kernel.series, progress)
    print(f"kernel\t{lab_kernel.version}\t{lab_kernel.build}")
    warned = False
    for module in (modules.TW9000, modules.RAIDTRACE):
        if modules.exists(module):
            built = _module(module, lab_kernel, progress)
            warned |= bool(built.warnings)
            print(f"{module.name}\t{built.path}")
    if warned and arguments.werror:
        print("raidctl lab build: a module's build warned (above)", file=sys.stderr)
        return _FAILED
    return 0


def _profiles(_arguments: argparse.Namespace) -> int:
    width = max((len(name) for name in profile.names()), default=0) + 2
    for name in profile.names():
        text = profile.find(name).read_text(encoding="utf-8")
        print(f"{name:{width}}{profile.title(text)}")
    return 0


def _show(arguments: argparse.Namespace) -> int:
    model = modules.build_programs(Progress()).model()
    path = profile.find(arguments.profile)
    rows = profile.explain(path, model)
    print(path.stem, *textwrap.wrap(profile.title(path.read_text(encoding="utf-8")), 96), sep="\n  ")
    print(f"  {path}\n")
    for key, value, comment in rows:
        first, *rest = textwrap.wrap(comment, 46) or [""]
        print(f"  {key:32}{value:20}{first}".rstrip())
        for line in rest:
            print(" " * 54 + line)
    return 0
