# SPDX-License-Identifier: GPL-2.0-or-later
"""The facts for the rules of raidctl check, and their readers. None: not available. Nothing is changed."""

import contextlib
import dataclasses
import enum
import gzip
import json
import os
import pathlib
import re
import stat
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from raidtrace.quantity.units import SECTOR_BYTES
from raidtrace.recording.quantities import RAID_DRIVERS, is_virtual
from raidtrace.sweep import disk_users
from raidtrace.sweep.device import DeviceError, Machine

# The disks of raidctl check: those on the command line, or all units of 3ware controllers.

DRIVER_3WARE = "3w-9xxx"
LAB = pathlib.Path("/run/lab/raidlab-status")  # in a guest with a device that a process of the host simulates


class UsageError(Exception):
    """The command line is wrong. The text says why."""


class Kind(enum.Enum):
    """The kind of a disk, with regard to readahead."""

    ARRAY = "an array of rotating drives"
    DRIVE = "one rotating drive"
    FLASH = "flash"
    VIRTUAL = "a virtual disk"


@dataclasses.dataclass(frozen=True)
class Mount:
    """A mounted file system."""

    directory: str
    fstype: str
    options: str


@dataclasses.dataclass(frozen=True)
class Disk:
    """One whole disk. driver: of the PCI device above it, or empty. scheduler: the active one; empty for a disk without
    a request queue. mounts: of the disk, of its partitions, and of md and dm devices above. size_bytes: 0: not known.
    """

    name: str
    driver: str = ""
    scheduler: str = ""
    readahead_kib: int = 0
    mounts: tuple[Mount, ...] = ()
    kind: Kind = Kind.DRIVE
    size_bytes: int = 0


def lab_profile(machine: Machine) -> str | None:
    """The profile of the guest of the lab. None: this machine is not a guest of the lab."""
    for path in (machine.proc / "raidlab/status", LAB):
        if path.exists():
            match = re.search(r"^profile: (.*)$", machine.read(path), re.MULTILINE)
            return match[1] if match else ""
    return None


def find(machine: Machine, words: Sequence[str]) -> tuple[Disk, ...]:
    """The disks that words name. Without words: all 3ware units; in a guest of the lab, all simulated disks. Raises
    UsageError, DeviceError."""
    if not words:
        simulated = (machine.proc / "raidlab/status").exists()
        above = {name: _controller(machine, name) for name in sorted(machine.disks(), key=_natural)}
        names = [name for name, (pci, driver) in above.items() if driver == DRIVER_3WARE or (simulated and pci)]
        names = [name for name in names if machine.read(machine.sys / "block" / name / "size") != "0"]  # has a medium
        return tuple(_disk(machine, name) for name in sorted(names, key=lambda name: above[name][1] != DRIVER_3WARE))
    names = []
    for word in words:
        name = _whole(machine, word)
        if name in names:
            raise UsageError(f"{word}: disk {name} is named twice; name each disk once")
        names.append(name)
    return tuple(_disk(machine, name) for name in names)


def _natural(name: str) -> list[tuple[str, int]]:
    """A key that sorts nvme2n1 before nvme10n1."""
    return [(text, int(digits or 0)) for text, digits in re.findall(r"(\D*)(\d*)", name)]


def _whole(machine: Machine, word: str) -> str:
    """The name of a disk, from a name or from a path to a block device. Raises DeviceError."""
    if "/" in word:
        try:
            status = machine.stat(word)
        except OSError as error:
            reason = "no such disk" if isinstance(error, FileNotFoundError) else error.strerror
            raise DeviceError(f"{word}: {reason}; to list the disks: raidctl list") from error
        if not stat.S_ISBLK(status.st_mode):
            raise DeviceError(f"{word}: not a disk; to list the disks: raidctl list")
        name = machine.names().get(status.st_rdev, "")
    else:
        name = word if machine.number(word) else ""
    block = machine.sys / "class/block" / name
    if not name:
        raise DeviceError(f"{word}: no such disk; to list the disks: raidctl list")
    if (block / "partition").exists():
        raise DeviceError(
            f"{word}: a partition, but only whole disks are counted; name its disk: {block.resolve().parent.name}"
        )
    return name


def _disk(machine: Machine, name: str) -> Disk:
    block = machine.sys / "block" / name
    scheduler = machine.read(block / "queue/scheduler")
    active = re.search(r"\[(.*?)\]", scheduler)
    return Disk(
        name=name,
        driver=_controller(machine, name)[1],
        scheduler=active[1] if active else scheduler,
        readahead_kib=int(machine.read(block / "queue/read_ahead_kb") or 0),
        mounts=tuple(_mounts(machine, name)),
        kind=_kind(machine, name),
        size_bytes=SECTOR_BYTES * int(machine.read(block / "size") or 0),
    )


def _kind(machine: Machine, name: str) -> Kind:
    """The kind of a disk. md and dm devices have the kind of their members."""
    members = _members(machine, name)
    kinds = {_kind_of_one(machine, member) for member in members}
    for kind in (Kind.VIRTUAL, Kind.FLASH):
        if kind in kinds:
            return kind
    return Kind.ARRAY if len(members) > 1 else kinds.pop()


def _members(machine: Machine, name: str) -> set[str]:
    """The lowest disks of a stack below a device; the device itself if there are none."""
    below = machine.below(name)
    return {member for one in below for member in _members(machine, one)} if below else {name}


def _kind_of_one(machine: Machine, name: str) -> Kind:
    block, driver = machine.sys / "block" / name, _controller(machine, name)[1]
    model = machine.read(block / "device/model")
    if is_virtual(driver, model, name):
        return Kind.VIRTUAL
    if machine.read(block / "queue/rotational") != "1":
        return Kind.FLASH
    return Kind.ARRAY if driver in RAID_DRIVERS else Kind.DRIVE


def _controller(machine: Machine, name: str) -> tuple[str, str]:
    """Address and driver of the first PCI device above a disk. Empty: there is none."""
    device = (machine.sys / "block" / name / "device").resolve()
    for path in (device, *device.parents):
        if os.path.basename(machine.link(path / "subsystem")) == "pci":
            return path.name, os.path.basename(machine.link(path / "driver"))
    return "", ""


def _mounts(machine: Machine, disk: str) -> Iterator[Mount]:
    numbers = {machine.number(name) for name in disk_users.lies_on(machine, disk, [])}
    for line in machine.read(machine.proc / "self/mountinfo").splitlines():
        first, _, last = line.partition(" - ")
        fields, (fstype, source, options) = first.split(" "), last.split(" ", 2)
        major, _, minor = fields[2].partition(":")
        number = os.makedev(int(major), int(minor))
        if major == "0":  # btrfs has its own number: the source is the device
            number = disk_users.block_number(machine, disk_users.unescape(source)) if source.startswith("/") else 0
        if number and number in numbers:
            yield Mount(disk_users.unescape(fields[4]), fstype, _options(fields[5], options))


def _options(of_mount: str, of_file_system: str) -> str:
    """The options of a mount and of its file system, as mount(8) prints them. Read-only if one of them is."""
    if of_mount == of_file_system:
        return of_mount
    words = f"{of_mount},{of_file_system}".split(",")
    first = "ro" if "ro" in words else "rw"
    return ",".join([first, *(word for word in words if word not in ("ro", "rw"))])


# The activity of processes, disks and interrupts: the difference between two readings of /proc.

GENERATIONS = 64  # of parents that may end between two readings
_STAT = re.compile(r"(\d+) \((.*)\) \S (-?\d+)(.*)", re.DOTALL)
_PCI = "pci:*/0*:*"  # driver and address of a device, below a module's drivers


@dataclasses.dataclass(frozen=True)
class Process:
    """The totals of a process. start: in ticks; distinguishes two processes with the same pid. ticks, io_bytes: of the
    process and of the children that it waited for; io_bytes None: not readable."""

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
    """The contents of /proc at one time. processes_known: the processes of all users are visible. io_accounted: the
    kernel counts the I/O of processes."""

    time_s: float
    swapped_pages: int | None = None
    processes_known: bool = True
    io_accounted: bool = True
    processes: tuple[Process, ...] = ()
    disks: tuple[DiskUse, ...] | None = None
    interrupts: Mapping[int, Line] | None = None


@dataclasses.dataclass(frozen=True)
class ProcessUse:
    """The activity of a process between two readings. cpu_percent: of one processor."""

    pid: int
    name: str
    cpu_percent: float
    io_bytes: int


@dataclasses.dataclass(frozen=True)
class ModuleUse:
    """A module with use count 0: interrupts of its devices, and whether one of these lines is shared."""

    name: str
    interrupts: int
    shared: bool


@dataclasses.dataclass(frozen=True)
class Activity:
    """The activity between two readings. nr_io_hidden: processes with I/O counters that only root may read."""

    seconds: float
    swapped_pages: int | None = None
    processes_known: bool = True
    io_accounted: bool = True
    processes: tuple[ProcessUse, ...] = ()
    nr_io_hidden: int = 0
    disks: tuple[DiskUse, ...] | None = ()
    modules: tuple[ModuleUse, ...] | None = ()


def look(machine: Machine) -> Look:
    """Read /proc now. A process that ends meanwhile is left out."""
    now = time.monotonic()
    swapped = re.findall(r"^pswp(?:in|out) (\d+)$", _text(machine.proc / "vmstat") or "", re.MULTILINE)
    diskstats, interrupts = _text(machine.proc / "diskstats"), _text(machine.proc / "interrupts")
    processes = [_process(machine.proc / pid) for pid in os.listdir(machine.proc) if pid.isdigit()]
    return Look(
        time_s=now,
        swapped_pages=sum(map(int, swapped)) if swapped else None,
        # Mounted with hidepid, /proc shows a user only his own processes.
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
    """A process from /proc/PID/stat. Its name may contain blanks and parentheses. None: another format."""
    match = _STAT.match(text)
    fields = match[4].split() if match else []
    if not match or len(fields) < 18:
        return None
    return Process(int(match[1]), int(match[3]), int(fields[17]), match[2], sum(map(int, fields[9:13])), None)


def _disks(machine: Machine, text: str) -> tuple[DiskUse, ...]:
    uses = [use for line in text.splitlines() if (use := parse_disk(line))]
    return tuple(use for use in uses if (machine.sys / "block" / use.name).exists())


def parse_disk(line: str) -> DiskUse | None:
    """A disk from a line of /proc/diskstats. Discards exist since Linux 4.18, flushes since 5.5. None:
    another format."""
    words = line.split()
    if len(words) < 10:
        return None
    numbers = [int(word) for word in words[3:]] + [0] * 16
    requests = numbers[0] + numbers[4] + numbers[11] + numbers[15]
    octets = (numbers[2] + numbers[6] + numbers[13]) * SECTOR_BYTES
    return DiskUse(words[2].replace("/", "!"), requests, octets)


def parse_interrupts(text: str) -> dict[int, Line] | None:
    """The lines of devices in /proc/interrupts, without those of processors (LOC, NMI). None: another format."""
    head, _, rest = text.partition("\n")
    processors = head.count("CPU")
    if not processors:
        return None
    interrupts = {}
    for line in rest.splitlines():
        words = line.split()
        counts = words[1 : 1 + processors]
        if words and words[0][:-1].isdigit() and len(counts) == processors and all(map(str.isdigit, counts)):
            # The drivers that share a line follow its chip and kind, separated by ", ".
            interrupts[int(words[0][:-1])] = Line(sum(map(int, counts)), ", " in " ".join(words[1 + processors :]))
    return interrupts


def between(before: Look, after: Look, own: int, ticks_per_second: float) -> Activity:
    """The activity between two readings, without the process `own`."""
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
    """Ticks and bytes of I/O of each process between two readings.

    The kernel adds the totals of an ended process to the parent that waited for it. The part before the first reading
    is subtracted from the parent, or from the next ancestor that still exists. So results below 0 are possible.
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
    """The activity of each disk. A disk with smaller totals than before is a new disk with the same name."""
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

    sysfs does not contain the interrupt lines of other devices. None: /proc/modules or /proc/interrupts cannot be read.
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
    """The interrupt lines of a PCI device: its messages (MSI), or else its single line."""
    directory = machine.sys / "bus/pci/devices" / address
    if (directory / "msi_irqs").exists():
        return sorted(int(path.name) for path in (directory / "msi_irqs").iterdir())
    number = int(machine.read(directory / "irq") or 0)
    return [number] if number else []


PAUSE_S = 1.0  # s between the two readings: the kernel counts processor time in ticks of 10 ms
SYSTEMD = pathlib.Path("/run/systemd/system")
TARGETS = ("graphical.target", "multi-user.target", "rescue.target", "emergency.target")  # the highest first
FREE_CPU = "time-travel=inf-cpu"  # of User Mode Linux: computing takes no time
# Names of makers and products in the firmware of virtual machines.
MAKERS = ("QEMU", "KVM", "VMware", "VirtualBox", "innotek", "Xen", "Bochs", "Parallels", "Virtual Machine", "Amazon EC2",
          "Google Compute Engine", "OpenStack", "BHYVE")  # fmt: skip
FIRMWARE = ("class/dmi/id/sys_vendor", "class/dmi/id/product_name", "hypervisor/type")


@dataclasses.dataclass(frozen=True)
class Signing:
    """The signature check of modules, as raidctl status prints it. why: the reason why a signature is required, or
    empty. module: the file that would be loaded. signer: of that file. enrolled: the kernel has the key of the signer;
    None: not known."""

    loaded: bool
    why: str
    module: str
    signer: str
    enrolled: bool | None
    advice: str


@dataclasses.dataclass(frozen=True)
class Facts:
    """The facts for the rules. hypervisor: empty: none. cpu_is_free: simulated time, in which computing takes no time.
    profile: of the lab; None: no guest of the lab. config: the kernel's configuration. readahead_from: by disk, the rule
    of the kernel that explains its readahead."""

    activity: Activity
    data_bytes: int | None = None
    ram_bytes: int | None = None
    dirty_bytes: int | None = None
    writeback_bytes: int | None = None
    swap_bytes: int | None = None
    swap_used_bytes: int | None = None
    governors: tuple[str, ...] = ()
    target: str = ""
    cpu_is_free: bool = False
    profile: str | None = None
    hypervisor: str | None = None
    signing: Signing | None = None
    config: str | None = None
    config_source: str = ""
    readahead_from: Mapping[str, str] = dataclasses.field(default_factory=dict)


def read(machine: Machine, raidctl: pathlib.Path, looked_at: tuple[Disk, ...], data_bytes: int | None) -> Facts:
    """Read all facts of the machine, which takes a second. The activity is measured first, because reading the rest is
    activity, too."""
    before = look(machine)
    time.sleep(PAUSE_S)
    after = look(machine)
    measured = between(before, after, os.getpid(), os.sysconf("SC_CLK_TCK"))
    measured = dataclasses.replace(measured, modules=unused_modules(machine, before, after, looked_at))
    memory = _memory(machine)
    swap, free = memory.get("SwapTotal"), memory.get("SwapFree")
    config, source = _config(machine)
    return Facts(
        activity=measured,
        data_bytes=data_bytes,
        ram_bytes=memory.get("MemTotal"),
        dirty_bytes=memory.get("Dirty"),
        writeback_bytes=memory.get("Writeback"),
        swap_bytes=swap,
        swap_used_bytes=None if swap is None or free is None else swap - free,
        governors=_governors(machine),
        target=_target(),
        cpu_is_free=FREE_CPU in machine.read(machine.proc / "cmdline"),
        profile=lab_profile(machine),
        hypervisor=_hypervisor(machine),
        signing=_signing(raidctl),
        readahead_from=_readahead_from(raidctl),
        config=config,
        config_source=source,
    )


def _memory(machine: Machine) -> dict[str, int]:
    """The lines of /proc/meminfo in bytes. kB there means KiB."""
    lines = re.findall(r"^(\w+):\s*(\d+) kB$", machine.read(machine.proc / "meminfo"), re.MULTILINE)
    return {name: int(value) * 1024 for name, value in lines}


def _governors(machine: Machine) -> tuple[str, ...]:
    """The frequency governor of each processor that has one. A processor that is offline has none."""
    paths = sorted((machine.sys / "devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor"))
    return tuple(governor for path in paths if (governor := machine.read(path)))


def _target() -> str:
    """The systemd target, or else the System V runlevel. Empty: neither is known."""
    if SYSTEMD.exists():
        states = _output(["systemctl", "is-active", *TARGETS]).splitlines()
        for target, state in zip(TARGETS, states):
            if state == "active":
                return target
    words = _output(["runlevel"]).split()
    return f"runlevel {words[1]}" if len(words) == 2 else ""


def _output(command: list[str]) -> str:
    with contextlib.suppress(OSError):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        return done.stdout
    return ""


def _config(machine: Machine) -> tuple[str | None, str]:
    """The kernel's configuration and its file. (None, ""): not available."""
    release = os.uname().release
    for path in (machine.proc / "config.gz", pathlib.Path(f"/boot/config-{release}"),
                 pathlib.Path(f"/lib/modules/{release}/config")):  # fmt: skip
        with contextlib.suppress(OSError, EOFError):
            data = path.read_bytes()
            text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8", "replace")
            if text:
                return text, str(path)
    return None, ""


def _hypervisor(machine: Machine) -> str | None:
    """The hypervisor of this machine, from names in its firmware. Empty: there is none. None: not known."""
    cpu = machine.read(machine.proc / "cpuinfo")
    if re.search(r"^vendor_id\s*:.*User Mode Linux", cpu, re.MULTILINE):  # it reports the processor of its host
        return "User Mode Linux"
    flags = re.search(r"^flags\s*:(.*)$", cpu, re.MULTILINE)
    names = [machine.read(machine.sys / path) for path in FIRMWARE]
    for name in names:
        if any(maker.lower() in name.lower() for maker in MAKERS):
            return name
    if flags and "hypervisor" in flags[1].split():
        return "the processor's hypervisor flag is set"
    return "" if flags or any(names) else None


def _readahead_from(raidctl: pathlib.Path) -> dict[str, str]:
    with contextlib.suppress(ValueError, KeyError, TypeError):
        return {
            one["disk"]: one["readahead_from"] or "" for one in json.loads(_output([str(raidctl), "list", "--json"]))
        }
    return {}


def _signing(raidctl: pathlib.Path) -> Signing | None:
    with contextlib.suppress(ValueError, KeyError):
        status = json.loads(_output([str(raidctl), "status", "--json"]))
        signing = status["signing"]
        texts = {name: signing[name] or "" for name in ("why", "module", "signer", "advice")}
        return Signing(loaded=status["loaded"], enrolled=signing["enrolled"], **texts)
    return None
