# SPDX-License-Identifier: GPL-2.0-or-later
"""One guest: a User Mode Linux process that runs one command in simulated time."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from raidlab.base import toolchain
from raidlab.base.failure import LabError
from raidlab.uml import machine
from raidlab.uml.machine import CONTROL, OWN_ROOT, Guest

# The guest's clock starts at 2026-01-01 00:00 UTC.
_CLOCK_START_NS = 1767225600 * 10**9
_POLL_S = 0.02
_SILENT_S = 60.0  # a run takes seconds, or some minutes with files of many gigabytes
_PR_SET_PDEATHSIG = 1
_ADDR_NO_RANDOMIZE = 0x0040000
STORE_FULL = b"raidlab: store exhausted"  # the model's line in the kernel log
STOP = threading.Event()  # if it is set, the guests of all threads end
# Files in the control directory, with which a guest and its runner communicate (hostcalls.c).
_MODULES_REQUESTED = "modules-wanted"
_MODULES_THERE = "modules-there"
_SPARE_MIB = 64  # that stay free besides the memory of guests
MEMINFO = Path("/proc/meminfo")
_HIDDEN = ("/dev", "/proc", "/run", "/sys")  # the guest has its own ones


@dataclass(frozen=True)
class Ending:
    """How a guest ended.

    `code` is the command's exit status. It is None if the command did not end or did not start; then `failure` has the
    reason, if init reported one. `process_code` is the status of the User Mode Linux process, negative for a signal.
    """

    code: int | None
    failure: str | None
    simulated_s: float
    wall_s: float
    timed_out: bool
    process_code: int
    model_status: str


def hidden(path: Path) -> bool:
    """Whether a path of the host is not visible in a guest."""
    return any(path.is_relative_to(top) for top in _HIDDEN)


def run(
    guest: Guest, kernel_log: Path, timeout_s: float, sinks: tuple[IO[bytes], IO[bytes]], report: Callable[[str], None]
) -> Ending:
    """Boot, copy the command's output to `sinks` as it arrives, `report` when none has arrived for a while, and always
    clean up."""
    memory = _memory_directory(guest.memory_mib)
    _remove_stale(memory)
    control = Path(tempfile.mkdtemp(prefix=f"raidtrace-lab-{os.getpid()}-", dir=memory))
    try:
        (control / "request").write_bytes(_request(guest))
        (control / "kernel").write_text(f"{guest.kernel}\n", encoding="utf-8")
        (control / "uml").mkdir()
        if not guest.add_modules:
            (control / _MODULES_THERE).touch()
        if guest.root:
            machine.compose(guest, control)
        else:
            shutil.copy(guest.init, control / "init")
        kernel_log.unlink(missing_ok=True)  # do not follow a link with this name
        with open(kernel_log, "xb") as log:
            silence = None if guest.interactive else _Silence(timeout_s, report)
            return _run(guest, control, log, timeout_s, sinks, silence)
    finally:
        shutil.rmtree(control, ignore_errors=True)


def _request(guest: Guest) -> bytes:
    lines = ["cwd /run/lab/out", *(machine.request(guest) if guest.root else _host_places(guest))]
    if guest.wait_for_disks:
        lines.append("disks wait")
    if guest.interactive:
        size = shutil.get_terminal_size()
        lines.append(f"console {size.lines}x{size.columns}")
    lines += [f"env {name}={value}" for name, value in guest.environment.items()]
    lines += [f"arg {word}" for word in guest.command]
    return b"".join(os.fsencode(line) + b"\0" for line in lines)


def _host_places(guest: Guest) -> list[str]:
    lines = [f"out {guest.out}"]
    if guest.modroot:
        lines.append(f"modroot {guest.modroot}")
    return lines + [f"insmod {path} {parameters}".rstrip() for path, parameters in guest.modules]


def _kernel_arguments(guest: Guest) -> list[str]:
    """The kernel's command line, the same in each run, because it seeds the kernel's random numbers. So the control
    directory, whose path differs in each run, is named as the working directory of the process."""
    return [
        "linux" if guest.root else str(guest.binary),
        f"mem={guest.memory_mib * 1024 - guest.chance.less_memory_kib}K",
        "root=/dev/root",
        "rootfstype=hostfs",
        *([f"rootflags={CONTROL}/{OWN_ROOT}/."] if guest.root else []),
        "ro",
        f"init={guest.root.put_init(guest.init) if guest.root else f'{CONTROL}/init'}",
        f"uml_dir={CONTROL}/uml",
        # An interactive shell runs in real time. In simulated time, a guest that waits for a key jumps from timer to timer:
        # a simulated year in a few seconds, with a busy host processor.
        *(
            []
            if guest.interactive or guest.real_time
            else ["time-travel=inf-cpu", f"time-travel-start={_CLOCK_START_NS + guest.chance.start_ns}"]
        ),
        *guest.boot,
        "norandmaps",
        "ignore_loglevel",
        "con=null",
        "con0=fd:0,fd:1" if guest.interactive else "con0=null",
        "con1=null,fd:2",
        "console=tty1",
        # init uses the C library, too.
        *([f"GLIBC_TUNABLES={machine.TUNABLES}"] if guest.root else []),
        "--",
        CONTROL,
    ]


def _run(
    guest: Guest,
    control: Path,
    log: IO[bytes],
    timeout_s: float,
    sinks: tuple[IO[bytes], IO[bytes]],
    silence: _Silence | None,
) -> Ending:
    streams = [_Stream(control / name, sink) for name, sink in zip(("stdout", "stderr"), sinks)]
    full = _Mark(Path(log.name), STORE_FULL)
    start = time.monotonic()
    process = _start(guest, control, log)
    timed_out = False
    try:
        while process.poll() is None:
            copied = sum(stream.copy() for stream in streams)
            waited = _add_modules(guest, control)
            start += waited
            if silence:
                silence.look(copied, waited)
            timed_out = time.monotonic() - start > timeout_s
            # A program that continues without space for its data would fail in one write after another, for hours.
            if timed_out or STOP.is_set() or full.has_come():
                break
            _sleep_until_exit(process, _POLL_S)
    finally:
        _kill(process)
    for stream in streams:
        stream.copy()
    code, failure, simulated_s = _read_status(control / "status")
    return Ending(
        code,
        failure,
        simulated_s,
        time.monotonic() - start,
        timed_out,
        process.returncode,
        _text(control / "raidlab-status"),
    )


def _add_modules(guest: Guest, control: Path) -> float:
    """Build the kernel's modules if the guest has requested them. Returns the duration in seconds."""
    there = control / _MODULES_THERE
    if there.exists() or not (control / _MODULES_REQUESTED).exists():
        return 0.0
    begin = time.monotonic()
    assert guest.add_modules
    guest.add_modules()
    there.touch()
    return time.monotonic() - begin


def _sleep_until_exit(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        pass


def _start(guest: Guest, control: Path, log: IO[bytes]) -> subprocess.Popen[bytes]:
    libc = ctypes.CDLL(None, use_errno=True)
    parent = os.getpid()

    def prepare() -> None:
        # Use the same addresses in each run. If the host forbids this, the size of memory may differ by some pages between
        # runs.
        libc.personality(_ADDR_NO_RANDOMIZE)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    null = subprocess.DEVNULL
    try:
        return subprocess.Popen(
            _kernel_arguments(guest),
            executable="./linux" if guest.root else None,
            stdin=None if guest.interactive else null,
            stdout=None if guest.interactive else log,
            stderr=log,
            cwd=control,
            env=_environment(guest, control),
            start_new_session=True,
            preexec_fn=prepare,
        )
    except OSError as error:
        raise LabError(
            "starting the guest",
            f"{guest.binary}: {error.strerror}",
            "Build it again: raidctl lab build --refresh",
        ) from None


def _environment(guest: Guest, control: Path) -> dict[str, str]:
    own = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(control),
        "TMPDIR": str(control.parent),
        "LD_PRELOAD": str(guest.preload),
    }
    seed = {"LAB_SEED": str(guest.chance.randomness)} if guest.chance.randomness else {}
    return (machine.process_environment() if guest.root else own) | seed


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the guest and all its processes, which share its process group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


class _Mark:
    """Search for some text in a growing file."""

    def __init__(self, path: Path, text: bytes) -> None:
        self._file = open(path, "rb", buffering=0)
        self._text = text
        self._end = b""

    def has_come(self) -> bool:
        new = self._file.read()
        come = self._text in self._end + new
        self._end = (self._end + new)[-len(self._text) :]
        return come


class _Silence:
    """Report that a guest has printed nothing for a minute, and again each time the silence has doubled."""

    def __init__(self, timeout_s: float, report: Callable[[str], None]) -> None:
        self._report, self._timeout_s = report, timeout_s
        self._begin = self._last = time.monotonic()
        self._next_s = _SILENT_S

    def look(self, copied: int, waited: float = 0.0) -> None:
        """Update the state. `copied`: bytes that have just arrived. `waited`: seconds for which the guest waited for the
        runner."""
        self._begin += waited
        self._last += waited
        now = time.monotonic()
        if copied:
            self._last, self._next_s = now, _SILENT_S
        elif now - self._last >= self._next_s:
            left = self._timeout_s - (now - self._begin)
            self._report(
                f"no output for {now - self._last:.0f} s of real time. The command may still work, or wait for ever. It is"
                f" stopped in {left:.0f} s (--timeout); to stop it now: Ctrl-C"
            )
            self._next_s *= 2


class _Stream:
    """Copy a growing file of the host to a sink."""

    def __init__(self, path: Path, sink: IO[bytes]) -> None:
        path.touch()
        self._file = open(path, "rb", buffering=0)
        self._sink = sink

    def copy(self) -> int:
        """Copy the new bytes, and return their number."""
        copied = 0
        while data := self._file.read(1 << 16):
            self._sink.write(data)
            self._sink.flush()
            copied += len(data)
        return copied


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def _read_status(path: Path) -> tuple[int | None, str | None, float]:
    code, failure, simulated_s = None, None, 0.0
    for line in _text(path).splitlines():
        key, _, value = line.partition(" ")
        if key == "exit":
            code = int(value)
        elif key == "failed":
            failure = value
        elif key == "simulated_ns":
            simulated_s = int(value) / 1e9
    return code, failure, simulated_s


def at_once(mebibytes: int) -> int:
    """The number of guests of this memory that can run concurrently, at least 1: each needs a processor, memory that is
    available now, and room in the directory of its memory."""
    free = [room for _, room, executable in _memory_directories() if executable]
    available = re.search(r"^MemAvailable: *(\d+) kB$", MEMINFO.read_text(encoding="ascii"), re.MULTILINE)
    room = min(max(free, default=0), int(available[1]) >> 10 if available else 0)
    return max(1, min(toolchain.jobs(), (room - _SPARE_MIB) // mebibytes))


def _memory_directories() -> list[tuple[str, int, bool]]:
    """Writable directories for the memory of guests, the best first: free MiB, and whether programs may run there."""
    candidates = [
        "/dev/shm",
        os.environ.get("XDG_RUNTIME_DIR", ""),
        tempfile.gettempdir(),
        "/var/tmp",
    ]
    found = []
    for name in candidates:
        if name and " " not in name and os.access(name, os.W_OK | os.X_OK):
            status = os.statvfs(name)
            found.append((name, status.f_bavail * status.f_frsize >> 20, not status.f_flag & os.ST_NOEXEC))
    return found


def _memory_directory(mebibytes: int) -> Path:
    """The directory of the guest's memory: on a file system in memory that has enough space and allows execution."""
    directories = _memory_directories()
    for name, free, executable in directories:
        if free > mebibytes + _SPARE_MIB and executable:
            return Path(name)
    measured = [
        f"{name} has {free} MiB free{'' if executable else ', mounted noexec'}"
        for name, free, executable in directories
    ]
    raise LabError(
        "no room for the guest's memory",
        f"{mebibytes} MiB are needed; {'; '.join(measured) or 'no directory is writable'}",
        "Enlarge one (mount -o remount,size=... /dev/shm), or use less: --mem, --store",
    )


def _remove_stale(directory: Path) -> None:
    """Remove the remains of runs that were killed with SIGKILL."""
    for path in directory.glob("raidtrace-lab-*"):
        pid = path.name.split("-")[2]
        if pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
            shutil.rmtree(path, ignore_errors=True)
