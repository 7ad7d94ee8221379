# SPDX-License-Identifier: GPL-2.0-or-later
"""The disk that a word names, and the kernel's facts about it.

A word names a disk only if it leads to a block device: the device number decides, not the name. `Machine` has the paths
of the kernel's files, so that all decisions can be tested with made-up files.
"""

import dataclasses
import errno
import fcntl
import json
import os
import pathlib
import stat
import struct
import subprocess
from collections.abc import Callable, Iterable

from raidtrace.quantity.shown import UserError

LOOP_GET_STATUS64 = 0x4C05
LOOP_INFO64 = 232  # bytes of struct loop_info64
KINDS = ((stat.S_ISREG, "an ordinary file"), (stat.S_ISDIR, "a directory"), (stat.S_ISCHR, "a character device"),
         (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))  # fmt: skip


class DeviceError(UserError):
    """A disk that cannot be examined. The text says why."""


@dataclasses.dataclass(frozen=True)
class Identity:
    """The identity of a disk. A later disk with the same name has another one. sequence: the kernel's number of the
    disk, with the id of the boot. serial: empty: it has none."""

    name: str
    sequence: str
    serial: str
    sectors: int

    def same(self, other: "Identity") -> bool:
        """Whether both are the same disk. With a serial number, this also holds across a reboot."""
        alike = (self.serial and self.serial == other.serial) or (self.sequence and self.sequence == other.sequence)
        return self.sectors == other.sectors and bool(alike)

    def among(self, others: Iterable["Identity"]) -> bool:
        """Whether one of the others is the same disk."""
        return any(self.same(other) for other in others)


@dataclasses.dataclass(frozen=True)
class Loop:
    """The backing of a loop device. rdev: its block device, 0: it is a file. file_system: the device number of the file
    system of the file. Both as in st_rdev."""

    name: str
    backing: str
    rdev: int
    file_system: int
    offset_bytes: int


def signature_command(path: str) -> list[str]:
    """The command that lists the signatures on a disk. It does not write."""
    return ["wipefs", "--json", "--no-act", path]


def _wipefs(path: str) -> list[str]:
    """The signatures that libblkid detects on a disk, such as "xfs", "gpt", "linux_raid_member". Raises DeviceError."""
    done = subprocess.run(signature_command(path), capture_output=True, text=True, check=False)
    if done.returncode:
        raise DeviceError(f"{path}: wipefs cannot search for signatures: {done.stderr.strip()}")
    return [entry["type"] for entry in json.loads(done.stdout or "{}").get("signatures", [])]


def _loop_numbers(path: str) -> tuple[int, int]:
    """Device numbers of a loop device: of the file system of its file, and of its block device."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = fcntl.ioctl(handle, LOOP_GET_STATUS64, bytes(LOOP_INFO64))
    finally:
        os.close(handle)
    file_system, _inode, rdev = struct.unpack_from("=QQQ", status)
    return _as_rdev(file_system), _as_rdev(rdev)


def _as_rdev(encoded: int) -> int:
    """A device number for the C library, from the kernel's huge_encode_dev."""
    return os.makedev(encoded >> 8 & 0xFFF, encoded & 0xFF | encoded >> 12 & 0xFFF00)


def _claim(path: str, number: int) -> int:
    """A descriptor that claims a block device exclusively, and locks it for udev. It is read-only: udev examines a disk
    after a writable descriptor is closed. Raises OSError. EBUSY: claimed; EAGAIN: locked; ENODEV: another device
    number.
    """
    handle = os.open(path, os.O_RDONLY | os.O_EXCL | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(handle)
        if not stat.S_ISBLK(status.st_mode) or status.st_rdev != number:
            raise OSError(errno.ENODEV, os.strerror(errno.ENODEV), path)
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(handle)
        raise
    return handle


@dataclasses.dataclass(frozen=True)
class Machine:
    """The kernel's files about disks."""

    sys: pathlib.Path = pathlib.Path("/sys")
    proc: pathlib.Path = pathlib.Path("/proc")
    dev: str = "/dev"
    signatures: Callable[[str], list[str]] = _wipefs
    stat: Callable[[str], os.stat_result] = os.stat
    loop_numbers: Callable[[str], tuple[int, int]] = _loop_numbers
    claim: Callable[[str, int], int] = _claim

    def whole(self, word: str) -> str:
        """The kernel's name of a whole disk, from sdb or from a path to a block device. Raises DeviceError: there is
        none, it is something else, or a partition."""
        if not word or ("/" in word and not word.startswith("/")):
            raise DeviceError(
                f"{word!r} is not a disk: give a name such as sdb, or a full path such as /dev/disk/by-id/..."
            )
        path = word if word.startswith("/") else f"{self.dev}/{word}"
        try:
            status = self.stat(path)
        except OSError as error:
            raise DeviceError(f"{word}: no such disk ({path}: {error.strerror}); to list the disks: lsblk") from error
        if not stat.S_ISBLK(status.st_mode):
            kind = next((text for test, text in KINDS if test(status.st_mode)), "something else")
            raise DeviceError(f"{word}: {path} is {kind}, not a disk; to list the disks: lsblk")
        name = self.names().get(status.st_rdev, "")
        block = self.sys / "class/block" / name
        if not name:
            number = f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
            raise DeviceError(
                f"{word}: {path} names disk {number}, which the kernel does not have; to list the disks: lsblk"
            )
        if (block / "partition").exists():
            parent = block.resolve().parent.name
            raise DeviceError(f"{word} is a partition, but a sweep needs a whole disk; name its disk: {parent}")
        self.at_its_place(name)
        return name

    def at_its_place(self, name: str) -> None:
        """Check that /dev/NAME, which is passed to programs, is the disk of that name. Raises DeviceError."""
        path = f"{self.dev}/{name}"
        try:
            status = self.stat(path)
        except OSError as error:
            raise DeviceError(f"{name}: {path}: {error.strerror}; the sweep passes this path to programs") from error
        if not stat.S_ISBLK(status.st_mode) or status.st_rdev != self.number(name):
            raise DeviceError(f"{name}: {path} is not this disk, but another file of the same name; correct /dev first")

    def names(self) -> dict[int, str]:
        """Device number -> name, for all disks and partitions."""
        names = [path.name for path in (self.sys / "class/block").glob("*")]
        return {number: name for name in names if (number := self.number(name))}

    def number(self, name: str) -> int:
        """The device number of a disk or partition, as in st_rdev. 0: there is none."""
        major, colon, minor = self.read(self.sys / "class/block" / name / "dev").partition(":")
        return os.makedev(int(major), int(minor)) if colon else 0

    def identity(self, disk: str) -> Identity:
        """The identity of a disk."""
        block = self.sys / "block" / disk
        sequence = self.read(block / "diskseq")
        sequence = f"{self.read(self.proc / 'sys/kernel/random/boot_id')}/{sequence}" if sequence else ""
        return Identity(disk, sequence, self.serial(disk), int(self.read(block / "size") or 0))

    def serial(self, disk: str) -> str:
        """The serial number or world wide name of a disk. Empty: it has none."""
        for name in ("device/wwid", "wwid", "serial", "device/serial", "device/vpd_pg80"):
            text = self.read(self.sys / "block" / disk / name).replace("\0", "").strip()
            if text:
                return text
        return ""

    def wide_name(self, disk: str) -> str:
        """The world wide name, which all paths to a disk have in common. Empty: it has none."""
        block = self.sys / "block" / disk
        return self.read(block / "device/wwid") or self.read(block / "wwid")

    def read(self, path: pathlib.Path) -> str:
        """The text of a file of the kernel, stripped. Empty: it cannot be read."""
        try:
            return path.read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""

    def file_system(self, path: pathlib.Path) -> int:
        """The device number of the file system of a path. 0: not accessible."""
        try:
            return self.stat(str(path)).st_dev
        except OSError:
            return 0

    def link(self, path: pathlib.Path) -> str:
        """The target of a link of the kernel. Empty: it cannot be read."""
        try:
            return os.readlink(path)
        except OSError:
            return ""

    def disks(self) -> list[str]:
        return sorted(path.name for path in (self.sys / "block").glob("*"))

    def partitions(self, disk: str) -> list[str]:
        return sorted(path.parent.name for path in (self.sys / "class/block" / disk).glob("*/partition"))

    def holders(self, name: str) -> list[str]:
        """The devices (md, dm and others) that use a device."""
        return sorted(entry.name for entry in (self.sys / "class/block" / name / "holders").glob("*"))

    def below(self, name: str) -> list[str]:
        """The devices below a device: its members, or the disk of a partition."""
        path = self.sys / "class/block" / name
        slaves = sorted(entry.name for entry in (path / "slaves").glob("*"))
        return slaves + ([path.resolve().parent.name] if (path / "partition").exists() else [])

    def loops(self) -> list[Loop]:
        """All loop devices with a backing. Raises DeviceError: one cannot be examined."""
        loops = []
        for path in sorted((self.sys / "block").glob("loop*/loop/backing_file")):
            name = path.parent.parent.name
            backing = self.read(path)
            try:
                file_system, rdev = self.loop_numbers(f"{self.dev}/{name}")
            except OSError as error:
                if not path.exists():
                    continue  # it was detached meanwhile
                raise DeviceError(f"{name} uses the file {backing}, which cannot be examined: {error}") from error
            loops.append(Loop(name, backing, rdev, file_system, int(self.read(path.parent / "offset") or 0)))
        return loops
