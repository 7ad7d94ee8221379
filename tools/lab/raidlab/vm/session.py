# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a command in a virtual machine with raidtrace and disks, for `raidctl lab run --vm` and tests/vm."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import shlex
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from raidlab.array.profile import Profile
from raidlab.base import cache
from raidlab.base.failure import LabError
from raidlab.base.progress import Progress
from raidlab.uml import verdict
from raidlab.vm import boot, root, stock

# The simulated 3ware of a virtual machine: a model of tools/models behind a vfio-user socket, in real time.

SERVER = cache.MODELS / "host" / "vfio-user"
FLAGS = ("-D_GNU_SOURCE", "-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-Werror")
GROUND_TRUTH = "ground-truth.csv"
END_S = 30.0
STORE_FULL = 3  # exit status of a server without space for written data; its log of commands is complete


@dataclass(frozen=True)
class Controller:
    """A server that waits for its single client. `devices` are QEMU's options."""

    process: subprocess.Popen[bytes]
    devices: tuple[str, ...]
    status: pathlib.Path

    def end(self) -> dict[str, str]:
        """Wait until the server has written its log of commands. Returns its report. Call it after QEMU has ended."""
        try:
            failed = self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            failed = 1
        if failed not in (0, STORE_FULL) or not self.status.exists():
            raise LabError("the simulated controller", f"its server failed, status {failed}", "Read its output above.")
        pairs = (line.partition(":") for line in self.status.read_text(encoding="utf-8").splitlines())
        return {key.strip(): value.strip() for key, _, value in pairs}


def build(progress: Progress) -> pathlib.Path:
    """Build the server's program in the cache."""
    sources = [*sorted(SERVER.glob("*.c")), *cache.model_files(".c")]
    headers = [*sorted(SERVER.glob("*.h")), *cache.model_files(".h")]
    entry = cache.root() / "vm" / f"vfio-user-{cache.digest(path.read_bytes() for path in (*sources, *headers))}"
    with cache.entry(entry, progress) as is_new:
        if is_new:
            if shutil.which("gcc") is None:
                raise LabError(
                    "building the simulated controller", "gcc is not installed", "apt-get install gcc libc6-dev"
                )
            words = ["gcc", *FLAGS, f"-I{cache.MODELS}", "-o", str(entry / "vfio-user"), *map(str, sources)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode:
                raise LabError("building the simulated controller", done.stderr.strip(), "Is the checkout complete?")
    return entry / "vfio-user"


@contextlib.contextmanager
def serving(
    program: pathlib.Path, profile: Profile, out: pathlib.Path, work: pathlib.Path, number: int = 0
) -> Iterator[Controller]:
    """Start controller `number` of `profile`. It writes its log of commands to `out`. `work` is a directory for the socket."""
    path = work / f"vfio-user-{number}.sock"
    status = work / f"raidlab-status-{number}"
    log = out / (f"ground-truth-{number}.csv" if number else GROUND_TRUTH)
    log.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(1)
        words = ["setpriv", "--pdeathsig", "KILL", str(program), "--config", flat(profile)]
        words += ["--log", str(log), "--status", str(status), "--number", str(number)]
        process = subprocess.Popen(words, stdin=listener.fileno(), start_new_session=True)
    device = {"driver": "vfio-user-pci", "socket": {"type": "unix", "path": str(path)}}
    try:
        yield Controller(process, ("-device", json.dumps(device)), status)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def total(reports: Sequence[dict[str, str]]) -> dict[str, str]:
    """Add up the reports of several controllers: numbers are added, and a flag is set if one controller has it set."""
    whole: dict[str, str] = {}
    for one in reports:
        for key, value in one.items():
            before = whole.setdefault(key, "0" if value.isdigit() else value)
            if value.isdigit():
                whole[key] = str(int(before) + int(value))
            elif value == "yes":
                whole[key] = value
    return whole


def flat(profile: Profile) -> str:
    """key=value,... as the model reads it."""
    return profile.parameter().removeprefix("config=").strip('"')


STATUS = "/run/lab/raidlab-status"  # the file for /proc/raidlab/status of User Mode Linux, by which raidctl prints "simulated"
GUEST_ENVIRONMENT = {
    "HOME": "/run/lab/tmp",
    "TMPDIR": "/run/lab/tmp",
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "USER": "root",
    "LAB": "vm",
}
DEFAULT_SERIES = "6.1"
LEAST_MIB = 640  # two processors, an initramfs, and file systems over 9p


@dataclass(frozen=True)
class Session:
    """The parts of a run. `array` is the profile of the simulated 3ware, None without such a controller. `prepare` is shell
    text that runs before the command, and after the insertion of raidtrace.ko if `insert` is set. `devices` are further
    QEMU options. `cpus`, `instructions` and `parameters` are as in boot.Job. `kernel` replaces Debian's kernel of the
    series."""

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
    terminal: tuple[int, int] | None = None  # lines and columns of the user's, if the command runs on it
    parameters: str = ""
    kernel: stock.Stock | None = None


@dataclass(frozen=True)
class Ended:
    """How a session ended. `model` is the report of the simulated controller, empty without one."""

    outcome: boot.Outcome
    kernel: str
    model: dict[str, str]


def _prepare(session: Session, built: stock.Built) -> str:
    environment = GUEST_ENVIRONMENT | {"RAIDTRACE_KO": str(built.module)} | session.environment
    lines = [f"export {name}={shlex.quote(value)}" for name, value in environment.items()]
    if session.array:
        status = f"simulated: yes\nprofile: {session.array.name}\n"
        lines += [f"printf %s {shlex.quote(status)} >{STATUS}", "modprobe 3w-9xxx || return 125"]
    if session.insert:
        lines.append(f"insmod {shlex.quote(str(built.module))} || return 125")
    return "\n".join([*lines, session.prepare])


def run(session: Session, progress: Progress, outputs: tuple[int, int] = (1, 2)) -> Ended:
    """Get kernel, module, controller and QEMU, then boot and run."""
    kernel = session.kernel or stock.get(session.series, progress)
    built = stock.build(kernel, progress)
    emulator = root.vfio_user_emulator(progress) if session.array else boot.Emulator()
    server = build(progress) if session.array else None
    session.out.mkdir(parents=True, exist_ok=True)
    if session.terminal:
        progress.report(f"booting Debian's {kernel.kernel.release} in QEMU, about 20 seconds")
    with boot.work_directory() as work, contextlib.ExitStack() as stack:
        cards = []
        if session.array and server:
            for number in range(session.array.count):
                card = serving(server, session.array, session.out, work, number)
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
            servers=tuple(card.process for card in cards),
            terminal=session.terminal,
            parameters=session.parameters,
        )
        outcome = boot.run(kernel.kernel, job, emulator, outputs)
        model = total([card.end() for card in cards])
    return Ended(outcome, kernel.kernel.release, model)


def _write_json(path: pathlib.Path, session: Session, ended: Ended) -> None:
    """Write lab.json as for User Mode Linux. Time is real here, so there are no simulated seconds."""
    facts: dict[str, object] = {
        "profile": session.array.name if session.array else None,
        "kernel": ended.kernel,
        "exit_status": _judge(ended).status,
        "simulated_seconds": None,
        "wall_seconds": round(ended.outcome.wall_s, 3),
    }
    for key in ("commands", "log_lost", "store_bytes_used", "store_bytes_limit"):
        value = ended.model.get(key, "")
        facts[key] = int(value) if value.isdigit() else None
    path.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def lab_run(
    arguments: argparse.Namespace,
    command: Sequence[str],
    array: Profile | None,
    outputs: tuple[int, int] = (1, 2),
    terminal: tuple[int, int] | None = None,
) -> verdict.Exit:
    """`raidctl lab VERB --vm`: its options, command and profile. The exit status is as without --vm."""
    session = Session(
        series=arguments.kernel or DEFAULT_SERIES,
        command=command,
        out=pathlib.Path(arguments.out).absolute(),
        array=array,
        insert=not (arguments.no_raidtrace or arguments.bare),
        timeout_s=arguments.timeout,
        memory_mib=arguments.mem,
        environment=_environment(arguments.env, terminal is not None),
        terminal=terminal,
    )
    begin = time.monotonic()
    progress = Progress(arguments.quiet)
    ended = run(session, progress, outputs)
    _write_json(session.out / "lab.json", session, ended)
    progress.report(f"{ended.kernel} in QEMU, {time.monotonic() - begin:.0f} s")
    return _judge(ended)


def _environment(pairs: Sequence[str], interactive: bool) -> dict[str, str]:
    """Variables in addition to GUEST_ENVIRONMENT."""
    environment = {"TERM": os.environ.get("TERM", "dumb"), "PS1": r"vm:\w# "} if interactive else {}
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not key or not separator:
            raise LabError(f"--env {pair}", "not NAME=VALUE", "Give both.")
        environment[key] = value
    return environment


def _judge(ended: Ended) -> verdict.Exit:
    """Judge like verdict.judge for User Mode Linux: the log of commands must be complete."""
    # Check this first: if the store is full, the controller stops the guest, which then ended badly.
    if ended.model.get("store_exhausted", "no") != "no":
        why = "the simulated disks' contents did not fit; to give them more memory: --store SIZE"
        return verdict.Exit(verdict.GUEST_COMPLAINED, (why,))
    if ended.outcome.reason:
        return verdict.Exit(ended.outcome.status, (ended.outcome.reason,))
    if ended.model.get("log_lost", "0") != "0":
        why = f"the ground-truth log lost {ended.model['log_lost']} commands: raise log_entries in the profile"
        return verdict.Exit(verdict.GUEST_COMPLAINED, (why,))
    return verdict.Exit(ended.outcome.status, ())
