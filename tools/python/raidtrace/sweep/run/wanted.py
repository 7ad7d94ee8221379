# SPDX-License-Identifier: GPL-2.0-or-later
"""What a sweep on real disks wants of this machine: which disks, what it would destroy, and whether it is fit to measure."""

import dataclasses
import json
import pathlib
import shlex
import subprocess
from collections.abc import Sequence

from raidtrace.quantity import size
from raidtrace.sweep import destruction, device, plan, steps
from raidtrace.sweep.index import NAME, Index
from raidtrace.sweep.run import disk as cell_disk

MOUNT = "/run/raidtrace/sweep/ID.mnt"  # as --dry-run shows it


@dataclasses.dataclass(frozen=True)
class Wanted:
    """disks: all that are used. destroyed: those of them that cells overwrite."""

    the_plan: plan.Plan
    disks: tuple[str, ...]
    destroyed: tuple[str, ...]
    arrays: dict[str, tuple[str, ...]]
    record: bool

    def place(self, cell: plan.Cell) -> steps.Place:
        """Where a cell runs, as far as it is known before it does."""
        return cell_disk.place(self.arrays[cell.text("array")], MOUNT, self.record)

    def least_bytes(self) -> int:
        """The smallest data set of the plan."""
        ram = cell_disk.ram_bytes()
        return min(size.parse(cell.text("data_size"), ram) for cell in self.the_plan.cells)

    def first(self, machine: device.Machine, raidctl: pathlib.Path, known: Sequence[device.Identity]) -> list[str]:
        """The commands that are run before the first cell: a look for signatures, and raidctl check."""
        names = [
            name
            for disk in self.destroyed
            if not machine.identity(disk).among(known)
            for name in (disk, *machine.partitions(disk))
        ]
        found = [device.signature_command(f"{machine.dev}/{name}") for name in names]
        return [shlex.join(command) for command in (*found, check_command(raidctl, self.disks, self.least_bytes()))]

    def destruction(
        self, machine: device.Machine, forced: bool, known: Sequence[device.Identity] = ()
    ) -> tuple[list[str], bool]:
        """What would be destroyed, in words, and whether any of it would be refused. known: disks that this sweep has
        overwritten."""
        if not self.destroyed:
            return ["would destroy: nothing"], False
        said = []
        for disk in self.destroyed:
            identity = machine.identity(disk)
            said.append(f"would destroy: everything on {disk} ({size.text(512 * identity.sectors)}, "
                        f"{identity.serial or 'without a serial number'})")  # fmt: skip
        try:
            refused = [refusal.text() for refusal in destruction.judge(machine, self.destroyed, forced, known)]
        except device.DeviceError as error:
            refused = [str(error)]
        return said + [f"would be refused: {reason}" for reason in refused], bool(refused)


def wanted(
    machine: device.Machine,
    the_plan: plan.Plan,
    destroy: Sequence[str],
    read: Sequence[str],
    arrays: Sequence[str],
    record: bool,
) -> Wanted:
    """What the command line and the plan want together. A cell that overwrites a disk that was not named is refused."""
    named = tuple(dict.fromkeys(machine.whole(word) for words in destroy for word in words.split(",")))
    only_read = tuple(machine.whole(word) for words in read for word in words.split(","))
    disks = tuple(dict.fromkeys(named + only_read))
    found = Wanted(the_plan, disks, (), cell_disk.arrays(the_plan, arrays, disks, machine), record)
    once = {cell.axes: cell for cell in the_plan.cells}.values()  # trials of a cell do the same
    overwritten = sorted({
        disk for cell in once for disk in steps.destroyed(steps.steps(cell, the_plan, found.place(cell)))
    })  # fmt: skip
    missing = [disk for disk in overwritten if disk not in named]
    if missing:
        raise device.DeviceError(
            f"this plan overwrites {', '.join(missing)}: name it with --destroy-data, if that is meant"
        )
    return dataclasses.replace(found, destroyed=tuple(overwritten))


def stored(identities: Sequence[device.Identity]) -> str:
    """Identities as they are kept in the index."""
    return json.dumps([dataclasses.asdict(identity) for identity in identities])


def known(out: pathlib.Path) -> tuple[device.Identity, ...]:
    """The disks that the sweep in a directory has overwritten already."""
    index = Index(out / NAME)
    text = index.meta().get("disks", "[]")
    index.close()
    return tuple(device.Identity(**identity) for identity in json.loads(text))


def same_disks(machine: device.Machine, names: Sequence[str], known: Sequence[device.Identity]) -> None:
    """Refuse to go on with a sweep on other disks than those it began on. A disk without a serial number cannot be told from
    another after a reboot; its signature stands against it then, unless that is forced."""
    for name in names:
        identity = machine.identity(name)
        if known and identity.serial and not identity.among(known):
            began = ", ".join(other.name for other in known)
            raise device.DeviceError(f"{name} is not a disk on which this sweep began ({began} then); a sweep of other disks "
                                     "needs another --out")  # fmt: skip


def check_command(raidctl: pathlib.Path, disks: Sequence[str], data_bytes: int) -> list[str]:
    """The preflight."""
    return [str(raidctl), "check", "--json", "--data-size", str(data_bytes), *disks]


def preflight(raidctl: pathlib.Path, disks: Sequence[str], data_bytes: int, ignore: bool) -> dict[str, str]:
    """raidctl check, kept for the index. DeviceError when a rule fails, unless that is to be ignored."""
    command = check_command(raidctl, disks, data_bytes)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode and not ignore:
        text = subprocess.run(
            [*command[:2], *command[3:]], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        raise device.DeviceError(
            f"raidctl check fails; put it right, or go on with --ignore-check:\n{text.stdout}{text.stderr}"
        )
    return {"check": done.stdout, "check_status": str(done.returncode)}
