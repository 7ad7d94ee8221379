# SPDX-License-Identifier: GPL-2.0-or-later
"""A command in a virtual machine with raidtrace and disks: what `raidctl lab run --vm` and tests/vm both start."""

from __future__ import annotations

import argparse
import contextlib
import json
import pathlib
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from profile import Profile

import cache
import verdict
from failure import LabError
from progress import Progress
from vm import boot, controller, external, root, stock

STATUS = "/run/lab/tw9000-status"  # what /proc/tw9000/status is in User Mode Linux: raidctl says "simulated" by it
GUEST_ENVIRONMENT = {
    "HOME": "/run/lab/tmp",
    "TMPDIR": "/run/lab/tmp",
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "USER": "root",
    "LAB": "vm",
}
DEFAULT_SERIES = "6.1"
LEAST_MIB = 640  # two processors, an initramfs and the file systems over 9p


@dataclass(frozen=True)
class Session:
    """What to run. `array` is the simulated 3ware's profile, None: no such controller. `prepare` is shell text that
    runs before the command, after raidtrace.ko is inserted if `insert` says so. `devices` are further QEMU options.
    `cpus` and `instructions` as of boot.Job.
    """

    series: str
    command: Sequence[str]
    out: pathlib.Path
    array: Profile | None = None
    insert: bool = True
    timeout_s: float = 600.0
    memory_mib: int = 1024
    cpus: int = 2
    instructions: bool = False
    prepare: str = ""
    devices: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Ended:
    """How it ended. `model` is what the simulated controller says of itself, empty without one."""

    outcome: boot.Outcome
    kernel: str
    model: dict[str, str]


def _prepare(session: Session, built: external.Built) -> str:
    environment = GUEST_ENVIRONMENT | {"RAIDTRACE_KO": str(built.module)} | session.environment
    lines = [f"export {name}={shlex.quote(value)}" for name, value in environment.items()]
    if session.array:
        status = f"simulated: yes\nprofile: {session.array.name}\n"
        lines += [f"printf %s {shlex.quote(status)} >{STATUS}", "modprobe 3w-9xxx || return 125"]
    if session.insert:
        lines.append(f"insmod {shlex.quote(str(built.module))} || return 125")
    return "\n".join([*lines, session.prepare])


def run(session: Session, progress: Progress, outputs: tuple[int, int] = (1, 2)) -> Ended:
    """Get kernel, module, controller and QEMU; boot; run."""
    kernel = stock.get(session.series, progress)
    built = external.build(kernel, progress)
    emulator = root.vfio_user_emulator(progress) if session.array else boot.Emulator()
    server = controller.build(progress) if session.array else None
    session.out.mkdir(parents=True, exist_ok=True)
    with boot.work_directory() as work, contextlib.ExitStack() as stack:
        cards = []
        if session.array and server:
            for number in range(int(session.array.values.get("controller.count", "1"))):
                card = controller.serving(server, session.array, session.out, work, number)
                cards.append(stack.enter_context(card))
        job = boot.Job(
            command=session.command,
            out=session.out,
            prepare=_prepare(session, built),
            timeout_s=session.timeout_s,
            memory_mib=max(session.memory_mib, LEAST_MIB),
            cpus=session.cpus,
            instructions=session.instructions,
            devices=session.devices + tuple(word for card in cards for word in card.devices),
            shared=bool(cards),
            path=str(cache.CHECKOUT / "tools/bin"),
            beside=cards[0].process if cards else None,
        )
        outcome = boot.run(kernel.kernel, job, emulator, outputs)
        model = controller.total([card.end() for card in cards])
    return Ended(outcome, kernel.kernel.release, model)


def _write_json(path: pathlib.Path, session: Session, ended: Ended) -> None:
    """lab.json as for User Mode Linux; time is real here, so there are no simulated seconds."""
    facts: dict[str, object] = {
        "profile": session.array.name if session.array else None,
        "kernel": ended.kernel,
        "exit_status": ended.outcome.status,
        "simulated_seconds": None,
        "wall_seconds": round(ended.outcome.wall_s, 3),
    }
    for key in ("commands", "log_lost", "store_bytes_used", "store_bytes_limit"):
        value = ended.model.get(key, "")
        facts[key] = int(value) if value.isdigit() else None
    path.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def lab_run(arguments: argparse.Namespace, command: Sequence[str], array: Profile | None) -> int:
    """`raidctl lab run --vm`: its options, command and profile; the exit status is as without --vm."""
    environment = {}
    for pair in arguments.env:
        key, separator, value = pair.partition("=")
        if not key or not separator:
            raise LabError(f"--env {pair}", "not NAME=VALUE", "Give both.")
        environment[key] = value
    session = Session(
        series=arguments.kernel or DEFAULT_SERIES,
        command=command,
        out=pathlib.Path(arguments.out).absolute(),
        array=array,
        insert=not (arguments.no_raidtrace or arguments.bare),
        timeout_s=arguments.timeout,
        memory_mib=arguments.mem,
        environment=environment,
    )
    begin = time.monotonic()
    progress = Progress(arguments.quiet)
    ended = run(session, progress)
    _write_json(session.out / "lab.json", session, ended)
    status, reason = ended.outcome.status, ended.outcome.reason
    if not reason and ended.model.get("log_lost", "0") != "0":
        status, reason = verdict.GUEST_COMPLAINED, f"the ground-truth log lost {ended.model['log_lost']} commands"
    if not reason and ended.model.get("store_exhausted", "no") != "no":
        status, reason = (
            verdict.GUEST_COMPLAINED,
            "the simulated disks' contents did not fit: ask for more with --store SIZE",
        )
    if reason:
        print(f"raidctl lab: {reason}", file=sys.stderr)
    progress.say(f"{ended.kernel} in QEMU, {time.monotonic() - begin:.0f} s")
    return status
