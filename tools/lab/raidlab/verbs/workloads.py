# SPDX-License-Identifier: GPL-2.0-or-later
"""The workloads of `raidctl lab ab --workload`, from workloads.toml or a user's file in the same format."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import tomllib
from raidlab.base.failure import LabError

ALL = "all"
OWN = Path(__file__).with_suffix(".toml")
RECORDING = "lab.rtdb"
# The first disk, with any driver.
_HEAD = (
    "for DISK in /dev/sda /dev/nvme0n1 /dev/vda; do test -b $DISK && break; done;"
    " export DISK MNT=/run/lab/mnt FILE=/run/lab/mnt/file"
    " FIO='fio --minimal --output=/dev/null --name=workload --fadvise_hint=0'; exec 2>/run/lab/prepared >&2"
)
_MAKE = {
    "btrfs": "mkfs.btrfs -q -f -K",
    "ext2": "mkfs.ext2 -q -F -E lazy_itable_init=0,nodiscard",
    "ext3": "mkfs.ext3 -q -F -E lazy_itable_init=0,nodiscard",
    "ext4": "mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0,nodiscard",
    "f2fs": "mkfs.f2fs -q -f -t 0",
    "jfs": "mkfs.jfs -q",
    "xfs": "mkfs.xfs -q -f -K",
}


@dataclass(frozen=True)
class Workload:
    """Shell commands for a guest with the disks of a profile. workloads.toml describes the keys."""

    name: str
    does: str
    command: str
    prepare: str = ""
    filesystem: str = ""
    profile: str = ""
    needs: tuple[str, ...] = ()
    set: str = ""

    def words(self) -> list[str]:
        """The words of the guest's command, which leaves one recording."""
        steps = []
        if self.filesystem:
            steps.append(f"{{ modprobe -q {self.filesystem}; mkdir -p $MNT && {_MAKE[self.filesystem]} $DISK; }}")
            steps.append(f"mount -t {self.filesystem} $DISK $MNT")
        steps += [self.prepare] if self.prepare else []
        steps += ["sync", "echo 3 >/proc/sys/vm/drop_caches", "sleep 1"]
        # Output before the recording is printed only if a step fails.
        before = f"{{ {' && '.join(steps)}; }} || {{ cat /run/lab/prepared >&3; exit 1; }}"
        record = f"exec raidctl record --quiet --output {RECORDING} -- sh -c"
        return ["sh", "-c", f'exec 3>&2; {_HEAD}; {before}; exec 2>&3 >&3 3>&-; {record} "$1"', "sh", self.command]


def of_set(name: str) -> tuple[Workload, ...]:
    """The workloads of a set, all workloads, one by its name, or those of a file FILE.toml or FILE.toml:NAME. LabError if
    there is none."""
    file, _, name_in_file = name.partition(":") if ".toml" in name else ("", "", name)
    every = read(Path(file) if file else OWN)
    chosen = tuple(one for one in every if name_in_file in ("", ALL, one.set, one.name))
    if not chosen:
        known = ", ".join(dict.fromkeys([*(one.set for one in every if one.set), ALL]))
        raise LabError(
            f"--workload {name}", "no such set or workload", f"Sets: {known}. Workloads: raidctl lab workloads"
        )
    return chosen


def read(path: Path) -> tuple[Workload, ...]:
    """Read a file. LabError with its name if it is invalid."""
    what = f"workloads of {path}"
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8")).get("workload", [])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise LabError(what, str(error), f"The format is that of {OWN}.") from None
    return tuple(_one(what, row) for row in rows)


def _one(what: str, row: dict[str, object]) -> Workload:
    known = {field.name for field in fields(Workload)}
    wrong = [
        key for key, value in row.items() if key not in known or not isinstance(value, list if key == "needs" else str)
    ]
    wrong += [key for key in ("name", "does", "command") if key not in row]
    if wrong:
        raise LabError(what, f"{row.get('name', 'a workload')}: {', '.join(wrong)}", f"The format is that of {OWN}.")
    if row.get("filesystem", "") not in ("", *_MAKE):
        raise LabError(
            what, f"{row['name']}: filesystem {row['filesystem']}", f"Known file systems: {', '.join(_MAKE)}."
        )
    return Workload(**{**row, "needs": tuple(row.get("needs", ()))})  # type: ignore[arg-type]
