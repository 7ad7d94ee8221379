# SPDX-License-Identifier: GPL-2.0-or-later
"""The disks that raidctl check looks at: those that the command line names, or all units of 3ware controllers."""

import dataclasses
import enum
import os
import pathlib
import re
import stat
from collections.abc import Iterator, Sequence

from raidtrace.recording.virtual import RAID_DRIVERS, is_virtual
from raidtrace.sweep import disk_users
from raidtrace.sweep.device import DeviceError, Machine

DRIVER_3WARE = "3w-9xxx"
LAB = pathlib.Path("/run/lab/raidlab-status")  # of a guest with a device that a process of the host simulates


class UsageError(Exception):
    """The command line is wrong; the text says why."""


class Kind(enum.Enum):
    """What a disk is, as far as readahead is concerned."""

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
    """One whole disk. driver: of the PCI device above it, "" when it has none. scheduler: the active one, "" for a disk
    without a request queue. mounts: of the disk, of its partitions and of md and dm devices above."""

    name: str
    driver: str = ""
    scheduler: str = ""
    readahead_kib: int = 0
    mounts: tuple[Mount, ...] = ()
    kind: Kind = Kind.DRIVE


def lab_profile(machine: Machine) -> str | None:
    """Profile of the lab's guest that this machine is. None: it is none."""
    for path in (machine.proc / "raidlab/status", LAB):
        if path.exists():
            match = re.search(r"^profile: (.*)$", machine.read(path), re.MULTILINE)
            return match[1] if match else ""
    return None


def find(machine: Machine, words: Sequence[str]) -> tuple[Disk, ...]:
    """The disks that words name; without words all 3ware units, in a guest of the lab all simulated disks."""
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
    """The name of the disk that a word means: a name, or a path that leads to a block device."""
    if "/" in word:
        try:
            status = machine.stat(word)
        except OSError as error:
            reason = "no such disk" if isinstance(error, FileNotFoundError) else error.strerror
            raise DeviceError(f"{word}: {reason}; see which disks there are: raidctl list") from error
        if not stat.S_ISBLK(status.st_mode):
            raise DeviceError(f"{word}: not a disk; see which there are: raidctl list")
        name = machine.names().get(status.st_rdev, "")
    else:
        name = word if machine.number(word) else ""
    block = machine.sys / "class/block" / name
    if not name:
        raise DeviceError(f"{word}: no such disk; see which there are: raidctl list")
    if (block / "partition").exists():
        raise DeviceError(
            f"{word}: a partition, and only whole disks are counted; name its disk: {block.resolve().parent.name}"
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
    )


def _kind(machine: Machine, name: str) -> Kind:
    """Of md and dm devices the kind of their members."""
    members = _members(machine, name)
    kinds = {_kind_of_one(machine, member) for member in members}
    for kind in (Kind.VIRTUAL, Kind.FLASH):
        if kind in kinds:
            return kind
    return Kind.ARRAY if len(members) > 1 else kinds.pop()


def _members(machine: Machine, name: str) -> set[str]:
    """The disks below a device; itself if it was not made of others."""
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
    """Address and driver of the first PCI device above a disk; empty when there is none."""
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
        if major == "0":  # btrfs has a number of its own: the source names a device
            number = disk_users.block_number(machine, disk_users.unescape(source)) if source.startswith("/") else 0
        if number and number in numbers:
            yield Mount(disk_users.unescape(fields[4]), fstype, _options(fields[5], options))


def _options(of_mount: str, of_file_system: str) -> str:
    """Options of a mount and of its file system as mount(8) prints them: read-only if one of them is."""
    if of_mount == of_file_system:
        return of_mount
    words = f"{of_mount},{of_file_system}".split(",")
    first = "ro" if "ro" in words else "rw"
    return ",".join([first, *(word for word in words if word not in ("ro", "rw"))])
