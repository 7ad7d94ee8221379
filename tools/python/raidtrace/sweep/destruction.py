# SPDX-License-Identifier: GPL-2.0-or-later
"""The decision whether a disk may be overwritten. Everything that overwrites a disk calls this module.

- A disk in use is always refused. A disk with a signature is refused unless this is forced. All disks are judged before
  any is written.
- From then on each disk is claimed: opened exclusively, which keeps mount, swap, md, dm, LVM and ZFS away, and locked
  (flock), which keeps udev from reading it.
- Programs that claim the disk themselves (mkfs, mdadm, mount) are handed the disk: we release the claim just before
  they start, and take it again after they end. Between our release and the program's claim, nobody holds the disk. If
  another process claims it, the program fails and nothing is overwritten.
- A claim does not keep away a process that only opens the disk. The check before each hand-over detects it.
"""

import dataclasses
import errno
import os
import time
from collections.abc import Iterable, Sequence

from raidtrace.sweep import disk_users
from raidtrace.sweep.device import DeviceError, Identity, Machine

ENCRYPTED = ("crypto_LUKS", "BitLocker", "FVE-FS")
TRIES, PAUSE_S = 50, 0.1  # udev opens and locks a disk for a moment after each change to it


@dataclasses.dataclass(frozen=True)
class Refusal:
    """A reason not to overwrite a disk, and the remedy. forcible: --force-signature overrides it."""

    disk: str
    reason: str
    remedy: str
    forcible: bool = False

    def text(self) -> str:
        return f"{self.disk}: {self.reason} ({self.remedy})"


class Taken(Exception):
    """A device could not be claimed."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


def refusals(look: disk_users.Look, disk: str, known: bool = False) -> list[Refusal]:
    """All reasons not to overwrite a disk. known: this sweep wrote its contents, so signatures do not count."""
    machine = look.machine
    refusals = _in_use(look, disk)
    if not refusals:
        try:
            os.close(_claim(machine, disk))
        except Taken as taken:
            refusals = [taken.refusal]
    if not refusals and not known:  # a disk in use may not be readable
        refusals = _signatures(machine, disk)
    return refusals


def _in_use(look: disk_users.Look, disk: str) -> list[Refusal]:
    machine = look.machine
    machine.at_its_place(disk)
    reasons = [Refusal(disk, use.what, use.remedy) for use in look.uses(disk)]
    block = machine.sys / "block" / disk
    if machine.read(block / "ro") not in ("", "0"):
        reasons.append(Refusal(disk, "it is read-only", f"blockdev --setrw /dev/{disk}, if the device is writable"))
    if machine.identity(disk).sectors == 0:
        reasons.append(Refusal(disk, "it has no sectors", "insert a medium"))
    if machine.read(block / "dm/suspended") == "1":
        reasons.append(Refusal(disk, "it is suspended, for example during a resize", f"wait, or dmsetup resume {disk}"))
    action = machine.read(block / "md/sync_action")
    if action not in ("", "idle", "frozen"):
        reasons.append(Refusal(disk, f"md is working on it ({action})", "wait until it ends"))
    return reasons


def _signatures(machine: Machine, disk: str) -> list[Refusal]:
    reasons = []
    for name in (disk, *machine.partitions(disk)):
        which = "it" if name == disk else f"its partition {name}"
        for kind in dict.fromkeys(machine.signatures(f"{machine.dev}/{name}")):
            what = "a signature of " + kind
            what = "the signature of a stopped md array" if kind == "linux_raid_member" else what
            what = f"an encrypted container ({kind})" if kind in ENCRYPTED else what
            reasons.append(
                Refusal(
                    disk, f"{which} holds {what}", "add --force-signature if its contents are no longer needed", True
                )
            )
    return reasons


@dataclasses.dataclass
class Permit:
    """Disks that may be overwritten, claimed until the object is released. It can also claim devices that consist of
    them."""

    machine: Machine
    identities: tuple[Identity, ...]
    _held: dict[str, int] = dataclasses.field(default_factory=dict)

    def __enter__(self) -> "Permit":
        return self

    def __exit__(self, *_: object) -> None:
        self.release(list(self._held))

    def hold(self, names: Iterable[str]) -> None:
        """Claim devices. Claimed devices stay claimed. Raises DeviceError: another process has one."""
        for name in names:
            if name not in self._held:
                try:
                    self._held[name] = _claim(self.machine, name)
                except Taken as taken:
                    _refuse([taken.refusal])

    def release(self, names: Iterable[str]) -> None:
        """Release devices. Devices that are not claimed are ignored."""
        for name in names:
            handle = self._held.pop(name, None)
            if handle is not None:
                os.close(handle)

    def hand_over(self, names: Sequence[str]) -> None:
        """Check that devices are not in use, then release them so that a program can claim them. Raises DeviceError."""
        disks = [name for name in names if name in self._named()]
        if disks:
            self.check(disks)
        self.release(names)

    def check(self, names: Sequence[str]) -> None:
        """Check that the disks are the judged ones and not in use, and claim them. Raises DeviceError."""
        missing = [name for name in names if name not in self._named()]
        if missing:
            raise DeviceError(f"{', '.join(missing)}: not named with --destroy-data")
        for identity in self.identities:
            if identity.name in names:
                now = self.machine.identity(identity.name)
                if now.sequence != identity.sequence:
                    raise DeviceError(f"{identity.name} is no longer the disk with which the sweep began")
                if now.sectors != identity.sectors:
                    raise DeviceError(
                        f"{identity.name} has {now.sectors} sectors and had {identity.sectors}: its size is "
                        "being changed"
                    )
        look = disk_users.Look.now(self.machine)
        _refuse([refusal for name in names for refusal in _in_use(look, name)])
        self.hold(names)

    def _named(self) -> list[str]:
        return [identity.name for identity in self.identities]


def judge(machine: Machine, disks: Sequence[str], forced: bool, known: Sequence[Identity] = ()) -> list[Refusal]:
    """All reasons not to overwrite any of the disks. known: disks that this sweep has overwritten. Raises DeviceError:
    not all users of a disk are visible."""
    disk_users.all_can_be_seen(machine)
    look = disk_users.Look.now(machine)
    reasons = [r for disk in disks for r in refusals(look, disk, machine.identity(disk).among(known))]
    return [refusal for refusal in reasons if not (forced and refusal.forcible)]


def permit(machine: Machine, disks: Sequence[str], forced: bool, known: Sequence[Identity] = ()) -> Permit:
    """Judge all disks, then claim them. Raises DeviceError with all reasons against any of them."""
    claimed = Permit(machine, tuple(machine.identity(disk) for disk in disks))
    _refuse(judge(machine, disks, forced, known))
    try:
        claimed.hold(disks)
        claimed.check(disks)  # again, for uses that began during the check above
    except BaseException:
        claimed.release(disks)
        raise
    return claimed


def _refuse(reasons: Sequence[Refusal]) -> None:
    if reasons:
        raise DeviceError("nothing is overwritten:" + "".join(f"\n  {reason.text()}" for reason in reasons))


def _claim(machine: Machine, name: str) -> int:
    """A descriptor that claims a device exclusively. Raises Taken."""
    for left in reversed(range(TRIES)):
        try:
            return machine.claim(f"{machine.dev}/{name}", machine.number(name))
        except OSError as error:
            if error.errno not in (errno.EBUSY, errno.EAGAIN) or not left:
                raise Taken(_taken(machine, name, error)) from error
        time.sleep(PAUSE_S)
    raise AssertionError("the last try returns or raises")


def _taken(machine: Machine, name: str, error: OSError) -> Refusal:
    """The reason why a device could not be claimed, and its possible users."""
    if error.errno == errno.EAGAIN:
        return Refusal(
            name, "another program has locked it (flock), as partitioning tools do", "wait until that program ends"
        )
    if error.errno != errno.EBUSY:
        return Refusal(name, f"it cannot be opened: {error.strerror}", "see dmesg")
    owners = sorted({process for _, process in disk_users.openers(machine, {machine.number(name)})})
    if owners:
        return Refusal(name, f"in use, as the kernel reports; it is open in process {', '.join(owners)}", "end that")
    owners = disk_users.within(machine, machine.number(name))
    if owners:
        return Refusal(name, f"in use, as the kernel reports; process {', '.join(owners)} uses files on it", "end that")
    return Refusal(
        name,
        "in use, as the kernel reports, but it is open in no process",
        "look for a mount without a process, a ZFS pool, or a driver",
    )
