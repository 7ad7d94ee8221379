# SPDX-License-Identifier: GPL-2.0-or-later
"""The journal of a sweep: each change of this machine is recorded before it is made, and undone when the sweep ends.

A journal is a file below /run. A reboot removes it, together with the changed settings. Its process holds a lock on it,
which the kernel releases when the process ends. So a journal that can be locked belongs to a killed sweep.

Each line is a JSON object:

- "setting": a path and its previous value. All settings are written and synced before the first change.
- "limit": a file io.max and its previous limit of a disk.
- "read_only": a disk that was made read-only.
- "mount", "array": made by the sweep; undone in reverse order.
- "marker": in the environment of every process that the sweep started.
"""

import contextlib
import ctypes
import dataclasses
import fcntl
import json
import os
import pathlib
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TextIO

from raidtrace.quantity.shown import UserError
from raidtrace.sweep.device import Machine

DIRECTORY = pathlib.Path("/run/raidtrace/sweep")
MARKER = "RAIDTRACE_SWEEP"
VM_DIRECTORY = pathlib.Path("/proc/sys/vm")
VM = ("dirty_bytes", "dirty_ratio", "dirty_background_bytes", "dirty_background_ratio", "dirty_expire_centisecs",
      "dirty_writeback_centisecs")  # fmt: skip
# Below /sys/block/DISK, in the order of writing: a new scheduler resets nr_requests.
QUEUE = ("queue/scheduler", "device/queue_depth", "queue/nr_requests", "queue/max_sectors_kb", "queue/nomerges",
         "queue/read_ahead_kb")  # fmt: skip
BLKROSET, BLKROGET = 0x125D, 0x125E  # linux/fs.h: set or get the read-only state of a disk
NO_LIMIT = "rbps=max wbps=max riops=max wiops=max"  # of io.max, which has no line in this case
PASSES = 3  # a scheduler resets nr_requests, so one pass may not be enough


PR_SET_PDEATHSIG = 1  # linux/prctl.h
_LIBC = ctypes.CDLL(None)


class JournalError(UserError):
    """A change could not be undone. The text contains it and its previous value."""


def value(path: pathlib.Path | str) -> str:
    """The value of a setting as it is written: for "none [mq-deadline]" the word in brackets."""
    text = pathlib.Path(path).read_text(encoding="ascii").strip()
    return text[text.index("[") + 1 : text.index("]")] if "[" in text else text


def put(path: pathlib.Path | str, text: str) -> None:
    """Write a setting and verify that the kernel accepted it. Raises OSError: it did not."""
    _write(path, text)
    if str(path).endswith("/drop_caches"):
        return
    got = value(path)
    if got != text:
        raise OSError(f"{path}: wrote {text}, but the kernel reports {got}")


def _write(path: pathlib.Path | str, text: str) -> None:
    """Write a file of the kernel with a single write(2)."""
    file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(file, text.encode("ascii"))
    finally:
        os.close(file)


def limit(file: str, machine: Machine, disk: str) -> str:
    """The limit of a disk in a file io.max."""
    device = f"{value(machine.sys / 'block' / disk / 'dev')} "
    lines = pathlib.Path(file).read_text(encoding="ascii").splitlines()
    return next((line.removeprefix(device) for line in lines if line.startswith(device)), NO_LIMIT)


def put_limit(file: str, machine: Machine, disk: str, text: str) -> None:
    """Write a disk's limit to a file io.max, and verify that the kernel accepted it. Raises OSError: it did not."""
    _write(file, f"{value(machine.sys / 'block' / disk / 'dev')} {text}")
    got = limit(file, machine, disk)
    if got != text:
        raise OSError(f"{file}: wrote {text} for {disk}, but the kernel reports {got}")


@dataclasses.dataclass
class Journal:
    """The open journal of a running sweep."""

    path: pathlib.Path
    file: TextIO
    marker: str
    covered: set[str]

    @staticmethod
    def begin(disks: Sequence[str], machine: Machine = Machine(), directory: pathlib.Path = DIRECTORY) -> "Journal":
        """Create a journal with all settings that a sweep may change: those of its disks, and the kernel's of dirty
        pages."""
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        marker = f"{os.getpid()}-{time.monotonic_ns()}"
        path = directory / f"{marker}.journal"
        file = path.open("x", encoding="utf-8")
        fcntl.flock(file, fcntl.LOCK_EX)
        journal = Journal(path, file, marker, set())
        lines: list[dict[str, Any]] = [{"marker": marker, "pid": os.getpid()}]
        for name in VM:
            lines.append({"setting": str(VM_DIRECTORY / name), "before": value(VM_DIRECTORY / name)})
        for disk in disks:
            identity = dataclasses.asdict(machine.identity(disk))
            for name in QUEUE:
                setting = machine.sys / "block" / disk / name
                with contextlib.suppress(FileNotFoundError):
                    lines.append({"setting": str(setting), "before": value(setting), "disk": identity})
        journal._append(lines)
        journal.covered = {line["setting"] for line in lines if "setting" in line}
        _sync_directory(directory)
        return journal

    def cover(self, path: str) -> None:
        """Add a setting that may be changed."""
        self._append([{"setting": path, "before": value(path)}])
        self.covered.add(path)

    def cover_limit(self, file: str, disk: str, machine: Machine = Machine()) -> None:
        """Add a limit of a disk that may be changed."""
        identity = dataclasses.asdict(machine.identity(disk))
        self._append([{"limit": file, "before": limit(file, machine, disk), "disk": identity}])

    def put_limit(self, file: str, text: str, machine: Machine = Machine()) -> None:
        """Change a limit. Raises OSError if the journal does not contain it."""
        line = next((line for line in read(self.path) if line.get("limit") == file), None)
        if line is None:
            raise OSError(f"{file}: the limit is not in the journal, so it is not changed")
        put_limit(file, machine, line["disk"]["name"], text)

    def read_only(self, disk: str, machine: Machine = Machine()) -> None:
        """Make a disk read-only until the end. A disk that is read-only already stays so."""
        path = f"{machine.dev}/{disk}"
        if not writable(path):
            return
        self._append([{"read_only": path, "disk": dataclasses.asdict(machine.identity(disk))}])
        make_writable(path, False)

    def note(self, **what: Any) -> None:
        """Add a line, synced, before the change is made."""
        self._append([what])

    def put(self, path: str, text: str) -> None:
        """Change a setting. Raises OSError if the journal does not contain it, unless it disappears with its device."""
        if path not in self.covered and not _gone_with_device(path):
            raise OSError(f"{path}: the value is not in the journal, so it is not changed")
        put(path, text)

    def settle(self, machine: Machine = Machine()) -> None:
        """Restore all settings between two cells, so that none affects the next one. Raises OSError."""
        _, wrong = _settings([line for line in read(self.path) if "setting" in line], machine)
        if wrong:
            raise OSError("; ".join(wrong))

    def end(self, machine: Machine = Machine()) -> list[str]:
        """Undo all changes and remove the journal. Returns a text for each change. Raises JournalError: one could not
        be undone."""
        restored = restore(read(self.path), machine)
        self.path.unlink()
        self.file.close()
        return restored

    def _append(self, lines: Sequence[dict[str, Any]]) -> None:
        self.file.write("".join(json.dumps(line) + "\n" for line in lines))
        self.file.flush()
        os.fsync(self.file.fileno())


def _sync_directory(directory: pathlib.Path) -> None:
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read(path: pathlib.Path) -> list[dict[str, Any]]:
    """The lines of a journal, up to the first invalid one. If a kill cut the last line, its change was not made."""
    lines: list[dict[str, Any]] = []
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            break
        if not isinstance(line, dict):
            break
        lines.append(line)
    return lines


@contextlib.contextmanager
def alone(directory: pathlib.Path = DIRECTORY) -> Iterator[None]:
    """Hold the lock of sweeps on this machine's disks; the kernel releases it with the process. Raises JournalError:
    another sweep runs. Two sweeps would restore each other's changes."""
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise JournalError(
                "another raidctl sweep or why is running on disks of this machine; wait until it ends"
            ) from error
        yield
    finally:
        os.close(handle)


def kept(paths: Iterable[str]) -> list[tuple[str, str]]:
    """The settings that a sweep would restore, with their values. paths: all settings that it would change."""
    changed = [path for path in paths if not _gone_with_device(path) and pathlib.Path(path).exists()]
    return [(path, value(path)) for path in changed]


def _gone_with_device(path: str) -> bool:
    """Whether a setting need not be restored, because it disappears with its device or is a command."""
    return path.startswith("/sys/block/md") or path.endswith("/drop_caches")


def recover(machine: Machine = Machine(), directory: pathlib.Path = DIRECTORY) -> list[str]:
    """Undo the changes of killed sweeps. Called at each start. Returns a text for each change. Raises JournalError:
    some changes could not be undone; all others were."""
    restored: list[str] = []
    wrong: list[str] = []
    for path in sorted(directory.glob("*.journal")):
        if path.is_symlink() or not path.is_file():
            wrong.append(f"{path} is not a regular file, and so not a journal; remove it")
            continue
        try:
            with path.open("r+", encoding="utf-8") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                restored += restore(read(path), machine)
                path.unlink()
        except (FileNotFoundError, BlockingIOError):
            continue  # its sweep ended, or is running
        except (JournalError, OSError) as error:
            wrong.append(str(error))
    if wrong:
        raise JournalError("; ".join(wrong))
    return restored


def restore_now(directory: pathlib.Path = DIRECTORY) -> str:
    """Undo the changes of killed sweeps, for raidctl why restore and raidctl sweep restore. Returns the text to print.
    Raises UserError: not root, or a sweep is running."""
    if os.geteuid():
        raise UserError("only root may restore settings; use sudo")
    with alone(directory):
        return "\n".join(recover(directory=directory)) or "nothing to restore"


def restore(lines: Sequence[dict[str, Any]], machine: Machine) -> list[str]:
    """Undo the changes in a journal. Settings are restored even if another change fails. Raises JournalError with all
    failures."""
    restored: list[str] = []
    wrong: list[str] = []
    undo: dict[str, Callable[[dict[str, Any]], str]] = {
        "mount": _unmount,
        "array": _stop_array,
        "read_only": lambda line: _allow_writing(line, machine),
        "limit": lambda line: _limit_back(line, machine),
    }
    for line in lines:
        if "marker" in line:
            restored += end_left(line["marker"])
    for line in reversed(lines):
        for kind, act in undo.items():
            if kind in line:
                try:
                    done = act(line)
                    restored += [done] if done else []
                except (OSError, subprocess.SubprocessError) as error:
                    wrong.append(str(error))
    changed, unequal = _settings([line for line in lines if "setting" in line], machine)
    restored += changed
    wrong += unequal
    if wrong:
        raise JournalError("not restored: " + "; ".join(wrong))
    return restored


def ends_with_us() -> None:
    """In a new process: receive SIGTERM when this program is killed. A recorder then ends, with its BPF programs."""
    _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def end_left(marker: str) -> list[str]:
    """End the processes that a sweep left. Only those with its marker, because a process id may have been reused."""
    mark = f"{MARKER}={marker}".encode()
    ended: list[str] = []
    for _ in range(50):
        left = []
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                stat = (entry / "stat").read_text(encoding="utf-8", errors="replace")
                lives = stat.rsplit(")", 1)[1].split()[0] != "Z" and int(entry.name) != os.getpid()
                if lives and mark in (entry / "environ").read_bytes().split(b"\0"):
                    left.append(int(entry.name))
        if not left:
            return ended
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                ended.append(f"ended process {pid} of the sweep")
        time.sleep(0.1)
    return ended


def _unmount(line: dict[str, Any]) -> str:
    """Unmount the sweep's own mount point and remove it. Returns a text; empty: it was not mounted."""
    point = str(line["mount"])
    mounted = any(text.split(" ")[4] == point for text in pathlib.Path("/proc/self/mountinfo").read_text().splitlines())
    if mounted:
        subprocess.run(["umount", point], check=True, capture_output=True, timeout=600)
    with contextlib.suppress(OSError):
        os.rmdir(point)
    return f"unmounted {point}" if mounted else ""


def _stop_array(line: dict[str, Any]) -> str:
    """Stop the array if it still has the sweep's name. Returns a text; empty: there is no such array."""
    name = str(line["array"])
    if not pathlib.Path(f"/sys/block/{name}/md").exists():
        return ""
    done = subprocess.run(
        ["mdadm", "--detail", "--export", f"/dev/{name}"], capture_output=True, text=True, check=False
    )
    if str(line["name"]) not in done.stdout:
        return ""
    subprocess.run(["mdadm", "--quiet", "--stop", f"/dev/{name}"], check=True, capture_output=True, timeout=600)
    return f"stopped {name}"


def writable(path: str) -> bool:
    """Whether the kernel allows writes to a disk."""
    with open(path, "rb", buffering=0) as file:
        return not struct.unpack("i", fcntl.ioctl(file, BLKROGET, bytes(4)))[0]


def make_writable(path: str, allowed: bool) -> None:
    """Allow or forbid writes to a disk, and verify that the kernel accepted it. Raises OSError: it did not."""
    with open(path, "rb", buffering=0) as file:
        fcntl.ioctl(file, BLKROSET, struct.pack("i", not allowed))
    if writable(path) != allowed:
        raise OSError(f"{path}: the kernel did not change the read-only flag")


def _unplugged(disk: dict[str, Any], machine: Machine) -> bool:
    """Whether the disk of a line is gone. A new disk with the same name does not count."""
    return bool(machine.identity(disk["name"]).sequence != disk["sequence"])


def _allow_writing(line: dict[str, Any], machine: Machine) -> str:
    if _unplugged(line["disk"], machine) or writable(line["read_only"]):
        return ""
    make_writable(line["read_only"], True)
    return f"{line['read_only']} is writable again"


def _limit_back(line: dict[str, Any], machine: Machine) -> str:
    """Restore a limit, unless its cgroup or its disk is gone. Returns a text; empty: nothing was done."""
    file, disk, before = line["limit"], line["disk"]["name"], line["before"]
    gone = _unplugged(line["disk"], machine) or not pathlib.Path(file).exists()
    if gone or limit(file, machine, disk) == before:
        return ""
    put_limit(file, machine, disk, before)
    return f"{file}: {disk} {before}"


def _settings(lines: Sequence[dict[str, Any]], machine: Machine) -> tuple[list[str], list[str]]:
    restored: list[str] = []
    original: dict[str, str] = {}
    for line in lines:
        if "disk" in line and _unplugged(line["disk"], machine):
            continue  # its settings are gone
        original.setdefault(line["setting"], line["before"])
    # A limit in bytes and one in per cent are one setting: the one that is not 0 counts, and writing it sets the other
    # to 0.
    for _ in range(PASSES):
        different = [path for path in original if pathlib.Path(path).exists() and value(path) != original[path]]
        for path in different:
            if original[path] == "0" and original.get(_other(path), "0") != "0":
                continue
            with contextlib.suppress(OSError):
                before = value(path)
                put(path, original[path])
                restored.append(f"{path}: {before} -> {original[path]}")
    wrong = [f"{path} is {value(path)}, but was {before}" for path, before in original.items()
             if pathlib.Path(path).exists() and value(path) != before]  # fmt: skip
    return restored, wrong


def _other(path: str) -> str:
    """The path of the same limit in per cent or in bytes; for any other setting, its own path."""
    return path.replace("_bytes", "_ratio") if path.endswith("_bytes") else path.replace("_ratio", "_bytes")
