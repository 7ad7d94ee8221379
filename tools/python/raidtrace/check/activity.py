# SPDX-License-Identifier: GPL-2.0-or-later
"""What processes, disks and interrupts do: two looks at /proc, and the difference between them."""

import contextlib
import dataclasses
import os
import pathlib
import re
import time
from collections.abc import Iterable, Mapping

from raidtrace.check.disks import Disk
from raidtrace.quantity.units import SECTOR_BYTES
from raidtrace.sweep.device import Machine

GENERATIONS = 64  # of parents that may end between two looks
_STAT = re.compile(r"(\d+) \((.*)\) \S (-?\d+)(.*)", re.DOTALL)
_PCI = "pci:*/0*:*"  # driver and address of a device, below a module's drivers


@dataclasses.dataclass(frozen=True)
class Process:
    """One process since it began. start: in ticks, tells two processes of one number apart. ticks, io_bytes: of the process
    and of the children that it waited for; io_bytes is None where it may not be read."""

    pid: int
    parent: int
    start: int
    name: str
    ticks: int
    io_bytes: int | None


@dataclasses.dataclass(frozen=True)
class DiskUse:
    """Requests completed and bytes moved by a disk."""

    name: str
    requests: int
    bytes: int


@dataclasses.dataclass(frozen=True)
class Line:
    """An interrupt line: interrupts on all processors, and whether several drivers share it."""

    count: int
    shared: bool


@dataclasses.dataclass(frozen=True)
class Look:
    """/proc at one moment. processes_known: those of all users are visible. io_accounted: the kernel counts the I/O of
    processes."""

    time_s: float
    swapped_pages: int | None = None
    processes_known: bool = True
    io_accounted: bool = True
    processes: tuple[Process, ...] = ()
    disks: tuple[DiskUse, ...] | None = None
    interrupts: Mapping[int, Line] | None = None


@dataclasses.dataclass(frozen=True)
class ProcessUse:
    """A process between two looks. cpu_percent: of one processor."""

    pid: int
    name: str
    cpu_percent: float
    io_bytes: int


@dataclasses.dataclass(frozen=True)
class ModuleUse:
    """A module that nothing uses: interrupts of its devices, and whether one of these lines is shared."""

    name: str
    interrupts: int
    shared: bool


@dataclasses.dataclass(frozen=True)
class Activity:
    """The activity between two looks. nr_io_hidden: processes with I/O counters that only root may read."""

    seconds: float
    swapped_pages: int | None = None
    processes_known: bool = True
    io_accounted: bool = True
    processes: tuple[ProcessUse, ...] = ()
    nr_io_hidden: int = 0
    disks: tuple[DiskUse, ...] | None = ()
    modules: tuple[ModuleUse, ...] | None = ()


def look(machine: Machine) -> Look:
    """Look at /proc now. A process that ends meanwhile is left out."""
    now = time.monotonic()
    swapped = re.findall(r"^pswp(?:in|out) (\d+)$", _text(machine.proc / "vmstat") or "", re.MULTILINE)
    diskstats, interrupts = _text(machine.proc / "diskstats"), _text(machine.proc / "interrupts")
    processes = [_process(machine.proc / pid) for pid in os.listdir(machine.proc) if pid.isdigit()]
    return Look(
        time_s=now,
        swapped_pages=sum(map(int, swapped)) if swapped else None,
        # Mounted with hidepid, /proc shows a user only what is his.
        processes_known=os.access(machine.proc / "1/stat", os.R_OK),
        io_accounted=os.access(machine.proc / "self/io", os.R_OK),
        processes=tuple(process for process in processes if process),
        disks=None if diskstats is None else _disks(machine, diskstats),
        interrupts=None if interrupts is None else parse_interrupts(interrupts),
    )


def _text(path: pathlib.Path) -> str | None:
    with contextlib.suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace")
    return None


def _process(path: pathlib.Path) -> Process | None:
    process = parse_process(_text(path / "stat") or "")
    octets = re.findall(r"^(?:read|write)_bytes: (\d+)$", _text(path / "io") or "", re.MULTILINE) if process else []
    return dataclasses.replace(process, io_bytes=sum(map(int, octets))) if process and octets else process


def parse_process(text: str) -> Process | None:
    """The line of /proc/PID/stat. The name in it may contain blanks and parentheses. None: it is no such line."""
    match = _STAT.match(text)
    fields = match[4].split() if match else []
    if not match or len(fields) < 18:
        return None
    return Process(int(match[1]), int(match[3]), int(fields[17]), match[2], sum(map(int, fields[9:13])), None)


def _disks(machine: Machine, text: str) -> tuple[DiskUse, ...]:
    uses = [use for line in text.splitlines() if (use := parse_disk(line))]
    return tuple(use for use in uses if (machine.sys / "block" / use.name).exists())


def parse_disk(line: str) -> DiskUse | None:
    """A line of /proc/diskstats. Discards came with Linux 4.18, flushes with 5.5. None: it is no such line."""
    words = line.split()
    if len(words) < 10:
        return None
    numbers = [int(word) for word in words[3:]] + [0] * 16
    requests = numbers[0] + numbers[4] + numbers[11] + numbers[15]
    octets = (numbers[2] + numbers[6] + numbers[13]) * SECTOR_BYTES
    return DiskUse(words[2].replace("/", "!"), requests, octets)


def parse_interrupts(text: str) -> dict[int, Line] | None:
    """Lines of devices in /proc/interrupts; those of processors (LOC, NMI) are left out. None: it is no such text."""
    head, _, rest = text.partition("\n")
    processors = head.count("CPU")
    if not processors:
        return None
    interrupts = {}
    for line in rest.splitlines():
        words = line.split()
        counts = words[1 : 1 + processors]
        if words and words[0][:-1].isdigit() and len(counts) == processors and all(map(str.isdigit, counts)):
            # The drivers that share a line come after its chip and kind, separated by ", ".
            interrupts[int(words[0][:-1])] = Line(sum(map(int, counts)), ", " in " ".join(words[1 + processors :]))
    return interrupts


def between(before: Look, after: Look, own: int, ticks_per_second: float) -> Activity:
    """What happened between two looks, but for the process `own`."""
    seconds = after.time_s - before.time_s
    pages = (before.swapped_pages, after.swapped_pages)
    changes = _changes(before, after)
    others = [process for process in after.processes if process.pid != own]
    uses = []
    for process in others:
        ticks, octets = changes[process]
        percent = 100 * ticks / ticks_per_second / seconds if ticks > 0 and seconds > 0 else 0.0
        uses.append(ProcessUse(process.pid, process.name, percent, max(octets, 0)))
    return Activity(
        seconds=seconds,
        swapped_pages=None if None in pages else (pages[1] or 0) - (pages[0] or 0),
        processes_known=before.processes_known and after.processes_known,
        io_accounted=before.io_accounted and after.io_accounted,
        processes=tuple(uses),
        nr_io_hidden=sum(process.io_bytes is None for process in others),
        disks=None if before.disks is None or after.disks is None else _disks_between(before.disks, after.disks),
    )


def _changes(before: Look, after: Look) -> dict[Process, tuple[int, int]]:
    """Ticks and bytes of I/O of each process between two looks.

    The kernel adds a process that ended to the parent that waited for it. What it had done before the first look is taken
    back from its parent, or from the next one up that is still there: numbers below 0 are possible.
    """
    then = {(one.pid, one.start): one for one in before.processes}
    now = {(one.pid, one.start): one for one in after.processes}
    by_pid = {one.pid: one for one in reversed(before.processes)}
    changes = {}
    for key, process in now.items():
        old = then.get(key)
        octets = 0
        if process.io_bytes is not None and (not old or old.io_bytes is not None):
            octets = process.io_bytes - ((old.io_bytes or 0) if old else 0)
        changes[process] = (process.ticks - (old.ticks if old else 0), octets)
    for key, ended in then.items():
        heir: Process | None = ended if key not in now else None
        for _ in range(GENERATIONS):
            heir = by_pid.get(heir.parent) if heir else None
            there = now.get((heir.pid, heir.start)) if heir else None
            if there:
                ticks, octets = changes[there]
                changes[there] = (ticks - ended.ticks, octets - (ended.io_bytes or 0))
                break
    return changes


def _disks_between(before: Iterable[DiskUse], after: Iterable[DiskUse]) -> tuple[DiskUse, ...]:
    """A disk that did less than before is another one of the same name."""
    then = {use.name: use for use in before}
    uses = []
    for use in after:
        old = then.get(use.name)
        if old and old.requests <= use.requests and old.bytes <= use.bytes:
            use = DiskUse(use.name, use.requests - old.requests, use.bytes - old.bytes)
        uses.append(use)
    return tuple(uses)


def unused_modules(
    machine: Machine, before: Look, after: Look, looked_at: Iterable[Disk]
) -> tuple[ModuleUse, ...] | None:
    """Modules with use count 0 that drive PCI devices other than the disks', and the interrupts of these devices.

    Of other devices sysfs does not tell the interrupt lines. None: /proc/modules or /proc/interrupts cannot be read.
    """
    modules = _text(machine.proc / "modules")
    if modules is None or before.interrupts is None or after.interrupts is None:
        return None
    needed = {disk.driver for disk in looked_at}
    raised = {number: max(line.count - before.interrupts.get(number, Line(0, False)).count, 0)
              for number, line in after.interrupts.items()}  # fmt: skip
    unused = []
    for name, users in re.findall(r"^(\S+) \d+ (\d+)", modules, re.MULTILINE):
        devices = sorted((machine.sys / "module" / name / "drivers").glob(_PCI)) if users == "0" else []
        if devices and not any(device.parent.name.partition(":")[2] in needed for device in devices):
            numbers = [number for device in devices for number in _lines_of(machine, device.name) if number in raised]
            shared = any(after.interrupts[number].shared for number in numbers)
            unused.append(ModuleUse(name, sum(raised[number] for number in numbers), shared))
    return tuple(unused)


def _lines_of(machine: Machine, address: str) -> list[int]:
    """Interrupt lines of a PCI device: its messages (MSI), or else its one line."""
    directory = machine.sys / "bus/pci/devices" / address
    if (directory / "msi_irqs").exists():
        return sorted(int(path.name) for path in (directory / "msi_irqs").iterdir())
    number = int(machine.read(directory / "irq") or 0)
    return [number] if number else []
