# SPDX-License-Identifier: GPL-2.0-or-later
"""The facts for the rules of raidctl check. None: not available. Nothing is changed.

`raidctl look` reads disks, processes and interrupts, as for recordings. The files that only check needs are read here.
"""

import contextlib
import dataclasses
import enum
import gzip
import json
import os
import pathlib
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from raidtrace.quantity.shown import UserError
from raidtrace.quantity.units import SECTOR_BYTES
from raidtrace.recording.quantities import RAID_DRIVERS
from raidtrace.sweep.device import Machine

Json: TypeAlias = Mapping[str, Any]  # an object that raidctl printed


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
    a request queue. readahead_from: the rule of the kernel that explains the readahead. mounts: of the disk, of its
    partitions, and of md and dm devices above. size_bytes: 0: not known."""

    name: str
    driver: str = ""
    scheduler: str = ""
    readahead_kib: int = 0
    mounts: tuple[Mount, ...] = ()
    kind: Kind = Kind.DRIVE
    size_bytes: int = 0
    readahead_from: str = ""


def examine(raidctl: pathlib.Path, words: Sequence[str]) -> Json:
    """The disks that words name, and two looks at the machine, by raidctl look. Without words: all 3ware units; in a
    guest of the lab, all simulated disks. Raises UsageError, UserError."""
    done = subprocess.run([raidctl, "look", "--", *words], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip().removeprefix("raidctl: ")
        raise (UsageError if done.returncode == 2 else UserError)(reason)
    return dict(json.loads(done.stdout))


def chosen(examined: Json) -> tuple[Disk, ...]:
    """The disks of a result of examine()."""
    by_name = {one["disk"]: one for one in examined["disks"]}
    return tuple(_disk(one, by_name) for one in examined["disks"][: examined["nr_chosen"]])


def _disk(one: Json, by_name: Json) -> Disk:
    return Disk(
        name=one["disk"],
        driver=one["driver"] or "",
        scheduler=one["scheduler"] or "",
        readahead_kib=one["readahead_kib"],
        mounts=tuple(Mount(mount["directory"], mount["fstype"], mount["options"]) for mount in one["mounts"]),
        kind=_kind(one["disk"], by_name),
        size_bytes=SECTOR_BYTES * one["capacity_sectors"],
        readahead_from=one["readahead_from"],
    )


def _kind(name: str, by_name: Json) -> Kind:
    """The kind of a disk. md and dm devices have the kind of their members."""
    members = _members(name, by_name)
    kinds = {_kind_of_one(by_name[member]) for member in members}
    for kind in (Kind.VIRTUAL, Kind.FLASH):
        if kind in kinds:
            return kind
    return Kind.ARRAY if len(members) > 1 else kinds.pop()


def _members(name: str, by_name: Json) -> set[str]:
    """The lowest disks of a stack below a device; the device itself if there are none."""
    below = [member for member in by_name[name]["members"] if member in by_name]
    return {member for one in below for member in _members(one, by_name)} or {name}


def _kind_of_one(one: Json) -> Kind:
    if one["kind"] == "virtual":
        return Kind.VIRTUAL
    if not one["rotational"]:
        return Kind.FLASH
    return Kind.ARRAY if one["driver"] in RAID_DRIVERS else Kind.DRIVE


# The activity of processes, disks and interrupts: the difference between two looks.

GENERATIONS = 64  # of parents that may end between two readings
_PCI = "pci:*/0*:*"  # driver and address of a device, below a module's drivers


@dataclasses.dataclass(frozen=True)
class DiskUse:
    """Requests completed and bytes moved by a disk."""

    name: str
    requests: int
    bytes: int


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
    """The activity between two looks. processes_known: the processes of all users are visible. io_accounted: the kernel
    counts the I/O of processes. nr_io_hidden: processes with I/O counters that only root may read."""

    seconds: float
    swapped_pages: int | None = None
    processes_known: bool = True
    io_accounted: bool = True
    processes: tuple[ProcessUse, ...] = ()
    nr_io_hidden: int = 0
    disks: tuple[DiskUse, ...] | None = ()
    modules: tuple[ModuleUse, ...] | None = ()


def between(before: Json, after: Json, own: int, ticks_per_second: float) -> Activity:
    """The activity between two looks, without the process `own`."""
    seconds = (after["time_ns"] - before["time_ns"]) / 1e9
    pages = (before["swapped_pages"], after["swapped_pages"])
    changes = _changes(before["processes"], after["processes"])
    others = [one for one in after["processes"] if one["pid"] != own]
    uses = []
    for one in others:
        ticks, octets = changes[_key(one)]
        percent = 100 * ticks / ticks_per_second / seconds if ticks > 0 and seconds > 0 else 0.0
        uses.append(ProcessUse(one["pid"], one["name"], percent, max(octets, 0)))
    return Activity(
        seconds=seconds,
        swapped_pages=None if None in pages else pages[1] - pages[0],
        processes_known=before["processes_known"] and after["processes_known"],
        io_accounted=before["io_accounted"] and after["io_accounted"],
        processes=tuple(uses),
        nr_io_hidden=sum(one["io_bytes"] is None for one in others),
        disks=_disks_between(before["disks"], after["disks"]),
    )


def _key(process: Json) -> tuple[int, int]:
    """The id and the start of a process: a later process may have the same id."""
    return process["pid"], process["start"]


def _changes(before: Sequence[Json], after: Sequence[Json]) -> dict[tuple[int, int], tuple[int, int]]:
    """Ticks and bytes of I/O of each process between two looks.

    The kernel adds the totals of an ended process to the parent that waited for it. The part before the first look is
    subtracted from the parent, or from the next ancestor that still exists. So results below 0 are possible.
    """
    then, now = ({_key(one): one for one in processes} for processes in (before, after))
    by_pid = {one["pid"]: one for one in reversed(before)}
    changes = {}
    for key, one in now.items():
        old = then.get(key, {"ticks": 0, "io_bytes": 0})
        known = None not in (one["io_bytes"], old["io_bytes"])
        changes[key] = (one["ticks"] - old["ticks"], one["io_bytes"] - old["io_bytes"] if known else 0)
    for key, ended in then.items():
        heir = ended if key not in now else None
        for _ in range(GENERATIONS):
            heir = by_pid.get(heir["parent"]) if heir else None
            if heir and _key(heir) in now:
                ticks, octets = changes[_key(heir)]
                changes[_key(heir)] = (ticks - ended["ticks"], octets - (ended["io_bytes"] or 0))
                break
    return changes


def _disks_between(before: Sequence[Json] | None, after: Sequence[Json] | None) -> tuple[DiskUse, ...] | None:
    """The activity of each disk. A disk with smaller totals than before is a new disk with the same name."""
    if before is None or after is None:
        return None
    then = {one["name"]: one for one in before}
    uses = []
    for use in (DiskUse(**one) for one in after):
        old = then.get(use.name)
        if old and old["requests"] <= use.requests and old["bytes"] <= use.bytes:
            use = DiskUse(use.name, use.requests - old["requests"], use.bytes - old["bytes"])
        uses.append(use)
    return tuple(uses)


def unused_modules(
    machine: Machine, before: Json, after: Json, looked_at: Iterable[Disk]
) -> tuple[ModuleUse, ...] | None:
    """Modules with use count 0 that drive PCI devices other than the disks', and the interrupts of these devices.

    sysfs does not contain the interrupt lines of other devices. None: /proc/modules or /proc/interrupts cannot be read.
    """
    try:
        modules = (machine.proc / "modules").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    if before["interrupts"] is None or after["interrupts"] is None:
        return None
    needed = {disk.driver for disk in looked_at}
    counts = {line["number"]: line["count"] for line in before["interrupts"]}
    lines = {line["number"]: line for line in after["interrupts"]}
    raised = {number: max(line["count"] - counts.get(number, 0), 0) for number, line in lines.items()}
    unused = []
    for name, users in re.findall(r"^(\S+) \d+ (\d+)", modules, re.MULTILINE):
        devices = sorted((machine.sys / "module" / name / "drivers").glob(_PCI)) if users == "0" else []
        if devices and not any(device.parent.name.partition(":")[2] in needed for device in devices):
            numbers = [number for device in devices for number in _lines_of(machine, device.name) if number in raised]
            shared = any(lines[number]["shared"] for number in numbers)
            unused.append(ModuleUse(name, sum(raised[number] for number in numbers), shared))
    return tuple(unused)


def _lines_of(machine: Machine, address: str) -> list[int]:
    """The interrupt lines of a PCI device: its messages (MSI), or else its single line."""
    directory = machine.sys / "bus/pci/devices" / address
    if (directory / "msi_irqs").exists():
        return sorted(int(path.name) for path in (directory / "msi_irqs").iterdir())
    number = int(machine.read(directory / "irq") or 0)
    return [number] if number else []


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
    profile: of the lab; None: no guest of the lab. config: the kernel's configuration."""

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


def read(
    machine: Machine, raidctl: pathlib.Path, words: Sequence[str], data_bytes: int | None
) -> tuple[tuple[Disk, ...], Facts]:
    """The disks that words name, and all facts of the machine, which takes a second. The activity is measured first,
    because reading the rest is activity, too. Raises as examine()."""
    examined = examine(raidctl, words)
    looked_at = chosen(examined)
    before, after = examined["looks"]
    measured = between(before, after, os.getpid(), os.sysconf("SC_CLK_TCK"))
    measured = dataclasses.replace(measured, modules=unused_modules(machine, before, after, looked_at))
    memory = _memory(machine)
    swap, free = memory.get("SwapTotal"), memory.get("SwapFree")
    config, source = _config(machine)
    return looked_at, Facts(
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
        profile=(examined["lab_profile"] or "") if examined["simulated"] else None,
        hypervisor=_hypervisor(machine),
        signing=_signing(raidctl),
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


def _signing(raidctl: pathlib.Path) -> Signing | None:
    with contextlib.suppress(ValueError, KeyError):
        status = json.loads(_output([str(raidctl), "status", "--json"]))
        signing = status["signing"]
        texts = {name: signing[name] or "" for name in ("why", "module", "signer", "advice")}
        return Signing(loaded=status["loaded"], enrolled=signing["enrolled"], **texts)
    return None
