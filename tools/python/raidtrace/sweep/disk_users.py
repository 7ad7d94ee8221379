# SPDX-License-Identifier: GPL-2.0-or-later
"""The users of a disk: the devices above it, and mounts, swap, processes and exports of the kernel on any of these.

A user need not claim the disk: a loop device with an offset, a virtual machine with a raw disk and an exported disk
only open it. So descriptors of every process, and mounts in every mount namespace, are examined.

Not detected: a descriptor that is in no table of a process (registered with io_uring and closed, or in transit in a
socket), and a disk that a kernel driver opened without a claim, except those in EXPORTS.
"""

import dataclasses
import os
import pathlib
import re
import stat
from collections.abc import Iterator

from raidtrace.sweep.device import DeviceError, Loop, Machine

INITIAL_PID_NAMESPACE = "pid:[4026531836]"  # PROC_PID_INIT_INO, the same in all kernels
# Files of targets that the kernel exports. Each contains the path of a block device or a file, or a line "File: PATH".
EXPORTS = (
    "kernel/config/nvmet/subsystems/*/namespaces/*/device_path",
    "kernel/config/target/core/*/*/udev_path",
    "kernel/config/target/core/fileio_*/*/info",
    "kernel/config/usb_gadget/*/functions/mass_storage.*/lun.*/file",
)
FD_WRITES = os.O_WRONLY | os.O_RDWR


@dataclasses.dataclass(frozen=True)
class Use:
    """One use of a disk, and its remedy. Both are the end of a sentence about the disk."""

    what: str
    remedy: str


@dataclasses.dataclass(frozen=True)
class Mount:
    """A mount of a disk or partition. owner: empty: in our mount namespace; else a process of the other one."""

    number: int
    point: str
    owner: str


def lies_on(machine: Machine, disk: str, loops: list[Loop]) -> dict[str, str]:
    """The device names above a disk, including the disk: name -> the subject of a sentence about it."""
    subjects = {disk: "it"}
    waiting = [disk]
    while waiting:
        name = waiting.pop(0)
        number = machine.number(name)
        its = "its partition" if subjects[name] == "it" else f"{name}'s partition"
        more = [(one, f"{its} {one}") for one in machine.partitions(name)]
        more += [(one, f"{one} above it") for one in machine.holders(name)]
        more += [
            (loop.name, f"{loop.name} above it") for loop in loops if number and number in (loop.rdev, loop.file_system)
        ]
        for one, which in more:
            if one not in subjects:
                subjects[one] = which
                waiting.append(one)
    return subjects


@dataclasses.dataclass(frozen=True)
class Look:
    """The uses of all devices at one time, by device number. paths: world wide name -> disks with this name."""

    machine: Machine
    loops: list[Loop]
    mounts: list[Mount]
    swap: set[int]
    writers: dict[int, list[str]]
    exports: dict[int, list[str]]
    paths: dict[str, list[str]]

    @staticmethod
    def now(machine: Machine) -> "Look":
        """Examine all devices, with the descriptors of every process. Raises DeviceError: one cannot be examined."""
        passthrough = {number for disk in machine.disks() for number in _passthrough(machine, disk)}
        writing: dict[int, list[str]] = {}
        for number, owner in writers(machine, set(machine.names()) | passthrough):
            writing.setdefault(number, []).append(owner)
        paths: dict[str, list[str]] = {}
        for disk in machine.disks():
            paths.setdefault(machine.wide_name(disk), []).append(disk)
        return Look(machine, machine.loops(), mounts(machine), _swap(machine), writing, _exports(machine), paths)

    def uses(self, disk: str) -> list[Use]:
        """All uses of a disk that /sys and /proc show."""
        above = lies_on(self.machine, disk, self.loops)
        numbers = {number: name for name in above if (number := self.machine.number(name))}
        uses = [Use(f"the root file system{owner} is on it", "name another disk") for owner in self._roots(numbers)]
        for name, which in above.items():
            uses += self._made_of(name, which)
            if number := self.machine.number(name):
                uses += self._lies_on(number, which)
            uses += [Use(f"{which} is swap", f"swapoff /dev/{name}")] if number in self.swap else []
            uses += _btrfs(self.machine, name, which)
        devices = {number: above[name] for number, name in numbers.items()} | _passthrough(self.machine, disk)
        uses += [Use(f"{which} is open for writing in process {owner}", "end this process, or make it close the disk")
                 for number, which in devices.items() for owner in self.writers.get(number, [])]  # fmt: skip
        uses += [Use(f"the kernel exports {which} as a storage target ({path})", "remove this export")
                 for number, which in devices.items() for path in self.exports.get(number, [])]  # fmt: skip
        wide = self.machine.wide_name(disk)
        uses += [Use(f"{other} is another path to the same disk ({wide})", f"remove {other}, or name their multipath device")
                 for other in self.paths.get(wide, []) if wide and other != disk]  # fmt: skip
        return list(dict.fromkeys(uses))

    def _roots(self, numbers: dict[int, str]) -> Iterator[str]:
        """The owners of root file systems on the devices. Empty: ours; else the first process of another namespace."""
        for mount in self.mounts:
            if mount.point == "/" and mount.number in numbers and (not mount.owner or mount.owner.startswith("1 ")):
                yield f" of process {mount.owner}" if mount.owner else ""

    def _made_of(self, name: str, which: str) -> list[Use]:
        """Uses by md, dm and other devices."""
        return [Use(f"{which} is a member of {holder} ({_kind(self.machine, holder)})", _stop(self.machine, holder))
                for holder in self.machine.holders(name)]  # fmt: skip

    def _lies_on(self, number: int, which: str) -> list[Use]:
        """Uses by loop devices and mounts."""
        uses = []
        for loop in self.loops:
            remedy = f"losetup --detach /dev/{loop.name}"
            if number == loop.rdev:
                at = f" at byte {loop.offset_bytes}" if loop.offset_bytes else ""
                uses.append(Use(f"{which} is the backing device of {loop.name}{at}", remedy))
            elif number == loop.file_system:
                uses.append(Use(f"{which} contains the file {loop.backing} of {loop.name}", remedy))
        for mount in self.mounts:
            if mount.number == number:
                where = f" in the mount namespace of {mount.owner}" if mount.owner else ""
                uses.append(
                    Use(f"{which} is mounted on {mount.point}{where}", f"unmount it{' there' if where else ''}")
                )
        return uses


def _kind(machine: Machine, holder: str) -> str:
    """The usual name of the software of a stacked device."""
    if holder.startswith("md"):
        return "md"
    if not holder.startswith("dm-"):
        return "another device"
    prefix = machine.read(machine.sys / "class/block" / holder / "dm/uuid").split("-")[0].lower()
    known = {"lvm": "LVM", "crypt": "an open encrypted container", "mpath": "multipath", "part": "partitions by kpartx"}
    return known.get(prefix, "device mapper")


def _stop(machine: Machine, holder: str) -> str:
    kind = _kind(machine, holder)
    if kind == "multipath":
        return f"name {holder}, which combines its paths, if that disk is meant"
    if kind == "md":
        return f"mdadm --stop /dev/{holder}"
    name = machine.read(machine.sys / "class/block" / holder / "dm/name")
    return f"dmsetup remove {name or holder}" if holder.startswith("dm-") else f"stop {holder}"


def mounts(machine: Machine) -> list[Mount]:
    """The mounts of every mount namespace that has a process. One without a process is not visible; the kernel still
    refuses to open its disk exclusively."""
    all_mounts: dict[Mount, None] = {}
    ours = machine.link(machine.proc / "self/ns/mnt")
    visited = set()
    for process in [machine.proc / "self", *processes(machine)]:
        space = machine.link(process / "ns/mnt")
        if space in visited and space:
            continue
        visited.add(space)
        owner = "" if space == ours else who(machine, process)
        for line in machine.read(process / "mountinfo").splitlines():
            all_mounts |= {mount: None for mount in _mount(machine, process, line, owner)}
    return list(all_mounts)


def _mount(machine: Machine, process: pathlib.Path, line: str, owner: str) -> Iterator[Mount]:
    fields = line.split(" ")
    if "-" not in fields[6:]:
        return
    major, _, minor = fields[2].partition(":")
    point, source = unescape(fields[4]), unescape(fields[fields.index("-", 6) + 2])
    yield Mount(os.makedev(int(major), int(minor)), point, owner)
    # btrfs, bcachefs and overlay have their own device numbers: there the source names the disks
    for path in source.split(":") if major == "0" else ():
        number = block_number(machine, f"{process}/root{path}") or block_number(machine, path)
        if path.startswith("/") and number:
            yield Mount(number, point, owner)


def unescape(text: str) -> str:
    r"""A field of /proc/*/mountinfo or /proc/swaps without escapes: \040 is a blank."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def block_number(machine: Machine, path: str) -> int:
    """The device number of a block device by its path. 0: it is not one."""
    try:
        status = machine.stat(path)
    except OSError:
        return 0
    return status.st_rdev if stat.S_ISBLK(status.st_mode) else 0


def _swap(machine: Machine) -> set[int]:
    """The device numbers of swap partitions. A swap file is on a mounted file system, which counts already."""
    lines = machine.read(machine.proc / "swaps").splitlines()[1:]
    return {block_number(machine, unescape(line.split()[0])) for line in lines if line.strip()} - {0}


def _btrfs(machine: Machine, name: str, which: str) -> list[Use]:
    """Uses by a mounted btrfs of several disks. The mount table names only one of them; here all are listed."""
    file_systems = [path.parent.parent.name for path in (machine.sys / "fs/btrfs").glob(f"*/devices/{name}")]
    return [Use(f"{which} is a member of the mounted btrfs {one}", "umount it") for one in file_systems]


def processes(machine: Machine) -> list[pathlib.Path]:
    paths = [path for path in machine.proc.glob("[0-9]*") if path.name.isdigit()]
    return sorted(paths, key=lambda path: int(path.name))


def who(machine: Machine, process: pathlib.Path) -> str:
    """The id and name of a process, as text. The process chooses its name, so other than printable ASCII
    becomes "?"."""
    name = machine.read(process / "comm")
    return f"{process.name} ({re.sub(r'[^ -~]', '?', name)})"


def all_can_be_seen(machine: Machine) -> None:
    """Raise DeviceError if the files of other processes are not accessible, because the users of a disk would be
    unknown."""
    if machine.link(machine.proc / "self/ns/pid") not in ("", INITIAL_PID_NAMESPACE):  # "": no PID namespaces
        raise DeviceError(
            "a container (a PID namespace) does not show all users of a disk; run this on the machine itself"
        )
    try:
        os.listdir(machine.proc / "1/fd")
    except OSError as error:
        raise DeviceError(
            f"the users of a disk are not visible: /proc/1/fd: {error.strerror}; run this as root of the machine"
        ) from error


def writers(machine: Machine, numbers: set[int]) -> Iterator[tuple[int, str]]:
    """Device number and process of each descriptor and mapping of other processes that may write to one of
    the devices."""
    for number, owner, link in _opened(machine, numbers):
        flags = re.search(r"^flags:\s*([0-7]+)", machine.read(link.parent.parent / "fdinfo" / link.name), re.MULTILINE)
        if flags and int(flags[1], 8) & FD_WRITES:
            yield number, owner
    for process in processes(machine):
        yield from ((number, f"{who(machine, process)}, as a mapping") for number in _mapped(machine, process, numbers))


def openers(machine: Machine, numbers: set[int]) -> Iterator[tuple[int, str]]:
    """Device number and process of each descriptor of other processes, for reading or writing."""
    return ((number, owner) for number, owner, _ in _opened(machine, numbers))


def _opened(machine: Machine, numbers: set[int]) -> Iterator[tuple[int, str, pathlib.Path]]:
    for process in processes(machine):
        if int(process.name) == os.getpid():
            continue
        # a thread may have its own table, and the first thread may have ended
        for task in sorted((process / "task").glob("[0-9]*")) or [process]:
            for number, name in _device_numbers(machine, task / "fd", numbers):
                yield number, who(machine, process), task / "fd" / name


def within(machine: Machine, number: int) -> list[str]:
    """Processes that use files or directories on the file system of a device, for example after umount --lazy."""
    names = []
    for process in processes(machine):
        links = [process / "cwd", process / "root", *(process / "fd").glob("*")]
        if any(machine.file_system(link) == number for link in links):
            names.append(who(machine, process))
    return names


def _mapped(machine: Machine, process: pathlib.Path, numbers: set[int]) -> set[int]:
    """Devices that a process has mapped for writing. A mapping remains after its descriptor is closed."""
    shared = dict(_ranges(r"(...)s ", machine.read(process / "maps")))
    devices = _device_numbers(machine, process / "map_files", numbers) if shared else ()
    mapped = [(number, name) for number, name in devices if name in shared]
    if all("w" in shared[name] for _, name in mapped):
        return {number for number, _ in mapped}
    # A read-only mapping becomes writable with mprotect(), if the descriptor was writable.
    flags = _ranges(r".*?^VmFlags:([ a-z]*)$", machine.read(process / "smaps"))
    may = {name for name, flag_text in flags if "mw" in flag_text.split()}
    return {number for number, name in mapped if "w" in shared[name] or name in may}


def _ranges(pattern: str, text: str) -> Iterator[tuple[str, str]]:
    """Mappings in a file of /proc, with the name as in map_files and the text of the pattern's group."""
    for match in re.finditer(f"^([0-9a-f]+)-([0-9a-f]+) {pattern}", text, re.MULTILINE | re.DOTALL):
        yield f"{int(match[1], 16):x}-{int(match[2], 16):x}", match[3]


def _device_numbers(machine: Machine, directory: pathlib.Path, numbers: set[int]) -> Iterator[tuple[int, str]]:
    """Device number and name of the links in a directory of /proc that lead to one of the devices."""
    try:
        names = os.listdir(directory)
    except OSError:  # the process ended
        return
    for name in names:
        try:
            status = machine.stat(f"{directory}/{name}")
        except OSError:
            continue
        if stat.S_ISBLK(status.st_mode) and status.st_rdev in numbers:
            yield status.st_rdev, name
        elif stat.S_ISCHR(status.st_mode) and -status.st_rdev in numbers:
            yield -status.st_rdev, name


def _passthrough(machine: Machine, disk: str) -> dict[int, str]:
    """Character devices through which a program, such as a virtual machine, sends commands to the disk. Their numbers
    are negative here, because a block device may have the same number."""
    devices = {}
    for pattern in ("scsi_generic/*/dev", "bsg/*/dev"):
        for path in (machine.sys / "block" / disk / "device").glob(pattern):
            major, _, minor = machine.read(path).partition(":")
            devices[-os.makedev(int(major), int(minor))] = f"its {path.parent.name} ({path.parent.parent.name})"
    return devices


def _exports(machine: Machine) -> dict[int, list[str]]:
    """Disks that the kernel exports: device number -> files of the targets."""
    exports: dict[int, list[str]] = {}
    for pattern in EXPORTS:
        for path in machine.sys.glob(pattern):
            text = machine.read(path)
            named = re.search(r"File: (\S+)", text)
            number = block_number(machine, named[1] if named else text)
            if number:
                exports.setdefault(number, []).append(str(path))
    return exports
