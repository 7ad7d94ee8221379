# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a disk may be overwritten: everything that speaks against it, each with its reason.

What is in use is refused whatever the user says: mounted, swap, held by md or dm, the root disk, a disk one of whose
partitions is any of these. A disk that holds something nobody uses now (a signature) is refused unless that is forced.
The kernel has the last word: the disk is opened exclusively, which fails for what no table shows, such as a mount in another
name space. `Machine` says where the kernel's files are, so that the rules can be tested on made-up ones.
"""

import dataclasses
import errno
import json
import os
import pathlib
import subprocess
from collections.abc import Callable, Iterable, Sequence


class DeviceError(Exception):
    """A disk that cannot be looked at; the text says why."""


@dataclasses.dataclass(frozen=True)
class Refusal:
    """One reason not to overwrite a disk. forcible: --force-signature overrides it."""

    disk: str
    reason: str
    forcible: bool = False


@dataclasses.dataclass(frozen=True)
class Identity:
    """What tells a disk from another one that has its name later. sequence: the kernel's number of it, with that of the
    boot. serial: empty when it has none."""

    name: str
    sequence: str
    serial: str
    sectors: int

    def same(self, other: "Identity") -> bool:
        """Whether it is the same disk, across a reboot too if it has a serial number."""
        alike = (self.serial and self.serial == other.serial) or (self.sequence and self.sequence == other.sequence)
        return self.sectors == other.sectors and bool(alike)

    def among(self, others: Iterable["Identity"]) -> bool:
        """Whether it is the same disk as one of them."""
        return any(self.same(other) for other in others)


def signature_command(path: str) -> list[str]:
    """Looks for signatures on a disk, and only looks."""
    return ["wipefs", "--json", "--no-act", path]


def _wipefs(path: str) -> list[str]:
    """Signatures that libblkid finds on a disk: words such as "xfs", "gpt", "linux_raid_member"."""
    done = subprocess.run(signature_command(path), capture_output=True, text=True, check=False)
    if done.returncode:
        raise DeviceError(f"{path}: wipefs cannot look for signatures: {done.stderr.strip()}")
    return [entry["type"] for entry in json.loads(done.stdout or "{}").get("signatures", [])]


def _exclusive(path: str) -> str:
    """Why the kernel refuses the disk exclusively; empty when it does not."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        return "in use, says the kernel" if error.errno == errno.EBUSY else f"cannot be opened: {error.strerror}"
    return ""


@dataclasses.dataclass(frozen=True)
class Machine:
    """Where the kernel tells about disks."""

    sys: pathlib.Path = pathlib.Path("/sys")
    mountinfo: pathlib.Path = pathlib.Path("/proc/self/mountinfo")
    swaps: pathlib.Path = pathlib.Path("/proc/swaps")
    boot_id: pathlib.Path = pathlib.Path("/proc/sys/kernel/random/boot_id")
    dev: str = "/dev"
    signatures: Callable[[str], list[str]] = _wipefs
    exclusive: Callable[[str], str] = _exclusive

    def whole(self, word: str) -> str:
        """The name of a whole disk, from that, a path or a link to it. DeviceError: there is none, or it is a partition."""
        path = pathlib.Path(word if word.startswith("/") else f"{self.dev}/{word}")
        name = os.path.realpath(path).rsplit("/", 1)[-1]
        if (self.sys / "class/block" / name / "partition").exists():
            parent = (self.sys / "class/block" / name).resolve().parent.name
            raise DeviceError(f"{word} is a partition; a sweep takes whole disks, and this one's is {parent}")
        if not (self.sys / "block" / name).exists():
            raise DeviceError(f"{word}: there is no such disk")
        return name

    def identity(self, disk: str) -> Identity:
        """What tells the disk from others."""
        block = self.sys / "block" / disk
        serial = ""
        for name in ("device/wwid", "wwid", "serial", "device/serial", "device/vpd_pg80"):
            serial = serial or self._read(block / name).replace("\0", "").strip()
        sequence = self._read(block / "diskseq")
        sequence = f"{self._read(self.boot_id)}/{sequence}" if sequence else ""
        return Identity(disk, sequence, serial, int(self._read(block / "size") or 0))

    def _read(self, path: pathlib.Path) -> str:
        try:
            return path.read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""

    def partitions(self, disk: str) -> list[str]:
        """Its partitions."""
        return sorted(path.parent.name for path in (self.sys / "block" / disk).glob("*/partition"))

    def numbers(self) -> dict[str, str]:
        """major:minor -> name of all disks and partitions."""
        return {self._read(path / "dev"): path.name for path in (self.sys / "class/block").glob("*")}

    def mounts(self) -> dict[str, list[str]]:
        """Name of a disk or partition -> where it is mounted, in this name space."""
        names = self.numbers()
        found: dict[str, list[str]] = {}
        for line in self.mountinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            fields = line.split(" ")
            rest = fields[fields.index("-") + 1 :]
            # btrfs and overlay have numbers of their own; the source names the disk
            source = os.path.realpath(rest[1]).rsplit("/", 1)[-1] if rest[1].startswith("/") else ""
            name = names.get(fields[2]) or (source if source in names.values() else "")
            if name:
                found.setdefault(name, []).append(fields[4])
        return found

    def above(self, name: str) -> list[str]:
        """md and dm devices that hold it, directly or by way of others."""
        path = self.sys / "class/block" / name / "holders"
        direct = sorted(entry.name for entry in path.glob("*"))
        return list(dict.fromkeys(direct + [other for one in direct for other in self.above(one)]))

    def swap(self) -> list[str]:
        """Names that swap lies on."""
        lines = self.swaps.read_text(encoding="utf-8", errors="replace").splitlines()[1:]
        return [os.path.realpath(line.split()[0]).rsplit("/", 1)[-1] for line in lines if line.strip()]


def _through(machine: Machine, mount: str) -> set[str]:
    """Names of everything that a mount point lies on, down to the disks."""
    found: set[str] = set()
    waiting = [name for name, points in machine.mounts().items() if mount in points]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        path = machine.sys / "class/block" / name
        waiting += [entry.name for entry in (path / "slaves").glob("*")]
        if (path / "partition").exists():
            waiting.append(path.resolve().parent.name)
    return found


def refusals(machine: Machine, disk: str, known: bool = False) -> list[Refusal]:
    """Everything that speaks against overwriting a disk. known: what it holds is this sweep's own, so no matter."""
    found = []
    mounts, swap = machine.mounts(), machine.swap()
    if disk in _through(machine, "/"):
        found.append(Refusal(disk, "the root file system lies on it"))
    for name in (disk, *machine.partitions(disk)):
        which = "it" if name == disk else f"its partition {name}"
        for holder in machine.above(name):
            kind = (
                "md" if holder.startswith("md") else "device mapper" if holder.startswith("dm-") else "another device"
            )
            found.append(Refusal(disk, f"{which} is a member of {holder} ({kind})"))
            found += [Refusal(disk, f"{holder} above it is mounted on {point}") for point in mounts.get(holder, [])]
            found += [Refusal(disk, f"{holder} above it is swap")] if holder in swap else []
        found += [Refusal(disk, f"{which} is mounted on {point}") for point in mounts.get(name, [])]
        found += [Refusal(disk, f"{which} is swap")] if name in swap else []
    if (machine.sys / "block" / disk / "ro").exists() and machine._read(machine.sys / "block" / disk / "ro") != "0":
        found.append(Refusal(disk, "it is read-only"))
    if not found:
        why = machine.exclusive(f"{machine.dev}/{disk}")
        found += [Refusal(disk, why)] if why else []
    if not known:
        try:
            found += _signatures(machine, disk)
        except DeviceError:
            if not found:  # a disk in use may not even be read; what uses it is the better reason
                raise
    return found


def _signatures(machine: Machine, disk: str) -> list[Refusal]:
    found = []
    for name in (disk, *machine.partitions(disk)):
        which = "it" if name == disk else f"its partition {name}"
        kinds = dict.fromkeys(machine.signatures(f"{machine.dev}/{name}"))
        for kind in kinds:
            what = "the signature of a stopped md array" if kind == "linux_raid_member" else f"a signature of {kind}"
            found.append(Refusal(disk, f"{which} holds {what}; --force-signature if that is of no use any more", True))
    return found


def judge(machine: Machine, disks: Sequence[str], forced: bool, known: Sequence[Identity] = ()) -> list[Identity]:
    """The identities of disks that may all be overwritten. DeviceError names every reason against any of them."""
    wrong = []
    identities = [machine.identity(disk) for disk in disks]
    for identity in identities:
        ours = identity.among(known)
        wrong += [r for r in refusals(machine, identity.name, ours) if not (forced and r.forcible)]
    if wrong:
        raise DeviceError("not overwritten: " + "; ".join(f"{r.disk}: {r.reason}" for r in wrong))
    return identities
