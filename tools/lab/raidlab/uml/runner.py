# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest according to the options of raidctl lab: devices, modules, environment, results."""

from __future__ import annotations

import argparse
import functools
import os
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from raidlab.array import profile
from raidlab.base import cache
from raidlab.base.failure import LabError
from raidlab.base.progress import Progress
from raidlab.kernel import linux, tree
from raidlab.kernel.linux import Kernel
from raidlab.uml import guest, modules, verdict
from raidlab.uml.machine import CHECKOUT, Chance, Guest, chance_of, hermetic_environment, in_guest, module_in_guest
from raidlab.userland import root, tools

_MODULE_MIB = 1  # memory of raidlab.ko itself
_NOT_FOUND = 127  # the shell's status for a missing command
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_RUNS_BY_SECCOMP = (6, 16)  # the first kernel whose UML supports it


@dataclass(frozen=True)
class How:
    """Options without effect on the guest's work. `sinks` get the command's standard output and standard error."""

    progress: Progress
    sinks: tuple[IO[bytes], IO[bytes]]
    interactive: bool = False


def boot(arguments: argparse.Namespace, lab_kernel: Kernel, command: list[str], out: Path, how: How) -> verdict.Exit:
    """Boot `lab_kernel` with the devices of the options, run `command` in it, and leave its results in `out`."""
    devices = profiles_of(arguments, how.progress)
    for note in devices.notes if devices else ():
        how.progress.report(note)
    inserted = _modules(arguments, devices, lab_kernel, how.progress)
    programs = modules.build_programs(how.progress)
    needs = linux.needs(getattr(arguments, "variant", ""))
    lab_root = None if arguments.host else root.get(how.progress)
    if not lab_root:
        how.progress.report(
            "not hermetic (--host): the guest uses this machine's programs, so figures depend on this machine"
        )
    chance = chance_of(arguments.seed)
    machine = Guest(
        binary=lab_kernel.binary,
        init=programs.init,
        preload=programs.preload,
        out=out,
        command=_delayed([in_guest(word) for word in command] if lab_root else command, chance, how),
        environment=_environment(arguments.env, inserted, lab_root is not None, chance.pad),
        memory_mib=memory_of(arguments, devices),
        kernel=lab_kernel.name,
        modroot=lab_kernel.modroot,
        add_modules=None if lab_kernel.has_modules else functools.partial(tree.add_modules, lab_kernel, how.progress),
        modules=inserted,
        wait_for_disks=devices is not None,
        interactive=how.interactive,
        real_time=needs.real_time or getattr(arguments, "real_time", False),
        boot=needs.boot or _processes(arguments, lab_kernel),
        root=lab_root,
        tools=tools.get(how.progress) if lab_root else None,
        chance=chance,
    )
    for path in (*out.glob("ground-truth*.csv"), out / "lab.json"):
        path.unlink(missing_ok=True)
    ending = guest.run(machine, out / "kernel.log", arguments.timeout, how.sinks, how.progress.report)
    log = (out / "kernel.log").read_text(encoding="utf-8", errors="replace")
    result = verdict.judge(ending, log, arguments.timeout, out / "kernel.log")
    if lab_root and result.status == _NOT_FOUND:
        hint = "the guest has its own programs; to use this machine's: --host"
        result = verdict.Exit(result.status, (*result.messages, hint))
    verdict.write_json(
        out / "lab.json", result.status, ending, devices.name if devices else None, lab_kernel, _how(machine)
    )
    return result


def memory_of(arguments: argparse.Namespace, devices: profile.Devices | None) -> int:
    """MiB of a guest with these devices, with the memory of the kernel itself and of its page descriptors."""
    memory_mib: int = arguments.mem + (devices.pool_mib + _MODULE_MIB if devices else 0)
    return memory_mib + memory_mib // 60 + 27 + linux.needs(getattr(arguments, "variant", "")).memory_mib


def _delayed(command: list[str], chance: Chance, how: How) -> list[str]:
    """The command with a delay that the seed selects. The platters have turned since boot, so the delay changes their
    position."""
    if not chance.start_ns or how.interactive:
        return command
    return ["sh", "-c", 'sleep "$0" && exec "$@"', f"{chance.start_ns / 1e9:.9f}", *command]


def _processes(arguments: argparse.Namespace, lab_kernel: Kernel) -> tuple[str, ...]:
    """Words of the command line that select how the guest's processes run: with seccomp(2), if kernel and host support it,
    in two thirds of the time that ptrace(2) needs. A hermetic run always uses ptrace, because the command line seeds the
    kernel's random numbers."""
    match = re.match(r"(\d+)\.(\d+)", lab_kernel.version)
    can = match is not None and (int(match[1]), int(match[2])) >= _RUNS_BY_SECCOMP
    return ("seccomp=auto",) if arguments.host and can else ()


def _how(machine: Guest) -> dict[str, object]:
    """The part of lab.json on root and seed. `host` describes this machine only."""
    return {"root": machine.root.name if machine.root else "host", "seed": machine.chance.seed}


def profiles_of(arguments: argparse.Namespace, progress: Progress) -> profile.Devices | None:
    """The checked devices of the options; None for a guest without disks."""
    if arguments.bare:
        return None
    model = modules.build_programs(progress).model()
    return profile.load_all(arguments.profile, model, arguments.store, arguments.set)


def _modules(
    arguments: argparse.Namespace, devices: profile.Devices | None, lab_kernel: Kernel, progress: Progress
) -> list[tuple[Path, str]]:
    if devices is None:
        return []
    inserted = [(build_module(modules.RAIDLAB, lab_kernel, progress).path, devices.parameter())]
    for name in devices.drivers:
        inserted += [(path, "") for path in modules.modules_of(name, lab_kernel, progress)]
    if not arguments.no_raidtrace and modules.exists(modules.RAIDTRACE):
        inserted.append((build_module(modules.RAIDTRACE, lab_kernel, progress).path, ""))
    return inserted


def build_module(module: modules.Module, lab_kernel: Kernel, progress: Progress) -> modules.Built:
    built = modules.build(module, lab_kernel, progress)
    for warning in built.warnings:
        progress.report(warning)
    return built


def out_directory(name: str) -> Path:
    path = Path(name).absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(f"--out {name}", str(error.strerror), "Name a writable directory.") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise LabError(f"--out {name}", "it is not writable", "Name another directory.")
    return path


def recording_here(out: str, name: str) -> str:
    """The name of a recording of the guest and the command that reads it, for the user's shell: in the guest it has another."""
    path = Path(out, name)
    return f"on this machine, the recording is {path}; to see it: raidctl report {shlex.quote(str(path))}"


def _terminal() -> dict[str, str]:
    """The caller's terminal and its terminfo description, which the guest's root lacks. ncurses accepts it in the variable."""
    name = os.environ.get("TERM", "dumb")
    places = [Path.home() / ".terminfo", *(Path(place) / "terminfo" for place in ("/etc", "/lib", "/usr/share"))]
    description = next((path for place in places if name and (path := place / name[0] / name).is_file()), None)
    return {"TERM": name} | ({"TERMINFO": f"hex:{description.read_bytes().hex()}"} if description else {})


def _environment(extra: list[str], inserted: list[tuple[Path, str]], own_root: bool, pad: int) -> dict[str, str]:
    """The environment: the same for each caller, except for --env."""
    if not own_root and guest.hidden(cache.CHECKOUT):
        raise LabError(
            "starting the guest",
            f"this checkout is at {cache.CHECKOUT}, where a guest has its own file systems",
            "Move it out of /dev, /proc, /run and /sys.",
        )
    environment = {
        "PATH": f"{CHECKOUT if own_root else cache.CHECKOUT}/tools/bin:{_PATH}",
        "HOME": "/run/lab/tmp",
        "TMPDIR": "/run/lab/tmp",
        "MODPROBE_OPTIONS": "-d /run/lab/modroot",
        "LANG": "C.UTF-8",
        **(_terminal() if sys.stdin.isatty() else {"TERM": "dumb"}),
        "USER": "root",
        "PS1": r"lab:\w# ",
        "LAB": "1",
    }
    if own_root:
        environment |= hermetic_environment()
    if pad:
        environment["LAB_PAD"] = "x" * pad
    for path, _parameters in inserted:
        if path.name == modules.RAIDTRACE.name + ".ko":
            environment["RAIDTRACE_KO"] = (
                module_in_guest(path) if own_root else str(path)
            )  # the module's tests load it again, with its KUnit suites
    for pair in extra:
        key, separator, value = pair.partition("=")
        if not key or not separator:
            raise LabError(f"--env {pair}", "not NAME=VALUE", "Give both.")
        environment[key] = in_guest(value) if own_root else value
    return environment
