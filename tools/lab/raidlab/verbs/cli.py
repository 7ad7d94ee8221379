# SPDX-License-Identifier: GPL-2.0-or-later
"""The verbs of raidctl lab."""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import signal
import sys
import termios
import textwrap
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from raidlab.array import profile
from raidlab.base import cache
from raidlab.base.failure import LabError, defect
from raidlab.base.progress import Progress
from raidlab.kernel import linux, tree
from raidlab.uml import modules, runner, verdict
from raidlab.verbs import ab, expect, options, workloads
from raidlab.vm import virtual

# raidctl lab clean: remove entries of the cache that have not been used for some time.

_DAY = 24 * 60 * 60
_PARTS = (
    "kernels*/*",
    "trees/*",
    "patched/*",
    "sources/*",
    "root-*",
    "sysroot-*",
    "compiler-*",
    "tools-*",
    "programs-*",
)


def clean(arguments: argparse.Namespace) -> int:
    """Run the verb clean. Returns 0."""
    top = cache.root()
    old = unused(top, time.time() - arguments.days * _DAY)
    for path in old:
        days = (time.time() - cache.last_used(path)) / _DAY
        print(f"{_mib(path):6} MiB  {days:4.0f} days  {path.relative_to(top)}")
    total = sum(map(_mib, old))
    if not old:
        print(f"Everything in {top} ({_mib(top)} MiB) was used within {arguments.days} days.")
    elif arguments.remove:
        left = [path for path in old if not cache.forget(path)]
        print(f"Removed {total - sum(map(_mib, left))} MiB.")
    else:
        print(f"{total} MiB were not used for {arguments.days} days. To remove them: raidctl lab clean --remove")
    return 0


def unused(top: Path, since: float) -> list[Path]:
    """Entries of the cache that were last used before `since`, in seconds since 1970; the one that has been unused for
    longest is first."""
    entries = [path for part in _PARTS for path in top.glob(part) if path.is_dir()]
    return sorted((path for path in entries if cache.last_used(path) < since), key=cache.last_used)


def _mib(path: Path) -> int:
    """The disk space of a directory, in MiB."""
    blocks = 0
    for directory, _, names in os.walk(path):
        for name in names:
            blocks += os.lstat(os.path.join(directory, name)).st_blocks
    return blocks * 512 >> 20


_FAILED = 1


class _Stopped(BaseException):
    """SIGINT, SIGTERM or SIGHUP. It is not an Exception, so that only the exit catches it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def _terminal_kept() -> Iterator[None]:
    """Restore the terminal's settings, whichever way the guest that changes them ends."""
    before = termios.tcgetattr(sys.stdin)
    flags = fcntl.fcntl(sys.stdin, fcntl.F_GETFL)
    try:
        yield
    finally:
        # QEMU makes the terminal non-blocking for all processes that have it open.
        fcntl.fcntl(sys.stdin, fcntl.F_SETFL, flags & ~os.O_ACCMODE)
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def main(argv: list[str]) -> int:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    words, command = options.split(argv)
    debug = bool(os.environ.get("RAIDCTL_DEBUG")) or "--debug" in words
    words = [word for word in words if word != "--debug"]
    arguments = options.parsed(options.parser(_ACTS), words)
    arguments.command = command
    failed = verdict.LAB_FAILED if arguments.verb in ("run", "shell", "ab", "expect") else _FAILED
    try:
        return int(arguments.act(arguments))
    except LabError as error:
        print(f"raidctl lab: {error}", file=sys.stderr)
        return failed
    except BrokenPipeError:
        # The reader of our output has closed it. Prevent another attempt at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"raidctl lab: {where}{error.strerror}", file=sys.stderr)
        return failed
    except _Stopped as stopped:
        return 128 + stopped.number
    except Exception as error:  # a defect; the status must differ from the command's
        if debug:
            traceback.print_exc()
        print(f"raidctl lab: {defect(error)}", file=sys.stderr)
        return failed


def _stop(number: int, _frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)
    raise _Stopped(number)


def _compared(arguments: argparse.Namespace) -> int:
    """Run the verbs ab and expect."""
    if not arguments.command and not getattr(arguments, "workload", None):
        arguments.parser.error("no command; put it after --, as in: -- dd if=/dev/sda of=/dev/null bs=1M")
    return _VERDICTS[arguments.verb](arguments)


def _run(arguments: argparse.Namespace) -> int:
    if not arguments.command:
        print(
            "raidctl lab run: no command; put it after --, as in: raidctl lab run -- lsblk",
            file=sys.stderr,
        )
        return verdict.LAB_FAILED
    if arguments.vm:
        return _virtual_machine(arguments, arguments.command)
    return _guest(arguments, arguments.command, interactive=False)


def _virtual_machine(arguments: argparse.Namespace, command: list[str], size: tuple[int, int] | None = None) -> int:
    return _said(virtual.run(arguments, command, terminal=size))


def _said(result: verdict.Exit) -> int:
    for message in result.messages:
        print(message if message.startswith(" ") else f"raidctl lab: {message}", file=sys.stderr)
    return result.status


def _guest(arguments: argparse.Namespace, command: list[str], interactive: bool) -> int:
    progress = Progress(arguments.quiet)
    runner.profiles_of(arguments, progress)  # report a mistake in them before a kernel is built
    lab_kernel = tree.pick(arguments.kernel, progress, kind=getattr(arguments, "variant", ""))
    how = runner.How(progress, (sys.stdout.buffer, sys.stderr.buffer), interactive)
    out = runner.out_directory(arguments.out)
    before = _recordings(out)
    result = _said(runner.boot(arguments, lab_kernel, command, out, how))
    fresh = _recordings(out) - before
    if fresh:  # in the guest, the recording has another name
        progress.report(runner.recording_here(arguments.out, max(fresh, key=lambda one: one[1])[0]))
    return result


def _recordings(out: Path) -> set[tuple[str, int]]:
    """Names of recordings with their times of change."""
    return {(path.name, path.stat().st_mtime_ns) for path in out.glob("*.rtdb")}


def _shell(arguments: argparse.Namespace) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise LabError("shell", "standard input or output is not a terminal", "For scripts: raidctl lab run -- CMD...")
    command = arguments.command or ["bash", "--norc", "-i"]
    print("raidctl lab: a simulated array in real time; 'exit' ends the guest", file=sys.stderr)
    with _terminal_kept():
        if arguments.vm:
            size = shutil.get_terminal_size()
            return _virtual_machine(arguments, command, (size.lines, size.columns))
        return _guest(arguments, command, interactive=True)


def _build(arguments: argparse.Namespace) -> int:
    warned = virtual.build(arguments) if arguments.vm else _built(arguments)
    if warned and arguments.werror:
        print("raidctl lab build: the build of a module printed a warning (above)", file=sys.stderr)
        return _FAILED
    return 0


def _built(arguments: argparse.Namespace) -> bool:
    progress = Progress(arguments.quiet)
    programs = modules.build_programs(progress)
    lab_kernel = tree.pick(arguments.kernel, progress, arguments.refresh, arguments.variant)
    if arguments.modules:
        tree.add_modules(lab_kernel, progress)
    print(f"kernel\t{lab_kernel.version}\t{lab_kernel.build}")
    warned = False
    for module in (modules.RAIDLAB, modules.RAIDTRACE):
        if modules.exists(module):
            built = runner.build_module(module, lab_kernel, progress)
            warned |= bool(built.warnings)
            print(f"{module.name}\t{built.path}")
    print(f"programs\t{programs.entry}")
    return warned


def _profiles(_arguments: argparse.Namespace) -> int:
    width = max((len(name) for name in profile.names()), default=0) + 2
    for name in profile.names():
        text = profile.find(name).read_text(encoding="utf-8")
        first, *rest = [
            line
            for part in (profile.title(text), profile.not_modelled(text))
            for line in textwrap.wrap(part, 79 - width)
        ]
        print(f"{name:{width}}{first}")
        for line in rest:
            print(" " * width + line)
    return 0


def _show(arguments: argparse.Namespace) -> int:
    model = modules.build_programs(Progress()).model()
    path = profile.find(arguments.profile)
    rows = profile.explain(path, model)
    print(path.stem, *textwrap.wrap(profile.title(path.read_text(encoding="utf-8")), 96), sep="\n  ")
    print(f"  {path}\n")
    for key, value, comment in rows:
        first, *rest = textwrap.wrap(comment, 46) or [""]
        print(f"  {key:32}{value:19} {first}".rstrip())
        for line in rest:
            print(" " * 54 + line)
    return 0


def _workloads(_arguments: argparse.Namespace) -> int:
    name, plain = "", linux.requested_options(linux.DEFAULT).options
    for one in workloads.of_set(workloads.ALL):
        if one.set != name:
            print(name := one.set)
        print(f"  {one.name:20}{one.does}{'' if plain.keys() >= set(one.needs) else ' (--variant storage)'}")
    return 0


_VERDICTS = {"ab": ab.act, "expect": expect.act}
_ACTS: dict[str, options.Act] = {
    "run": _run,
    "shell": _shell,
    "ab": _compared,
    "expect": _compared,
    "build": _build,
    "clean": clean,
    "workloads": _workloads,
    "profiles": _profiles,
    "show": _show,
}
