# SPDX-License-Identifier: GPL-2.0-or-later
"""For ctl-destruction: how a row of its table puts a disk to use, and how all of it is undone."""

import contextlib
import dataclasses
import os
import pathlib
import subprocess
import time
from collections.abc import Callable

LVM = "LVM_SYSTEM_DIR=$PWD/lvm DM_DISABLE_UDEV=1 lvm"  # there is no udev here that would answer
NAMES: dict[str, str] = {}  # what stands for which disk in the patterns of the rows


class Missing(Exception):
    """This kernel or machine does not have what a row needs."""


class Do:
    """The actions of a row, each with its reversal."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self._stack = stack

    def __call__(self, command: str, undo: str = "", needs: str = "") -> str:
        """Run a command; its output. needs: what is missing if it fails."""
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        if done.returncode and needs:
            raise Missing(needs)
        if done.returncode:
            raise RuntimeError(f"{command}: {done.stderr.strip() or done.returncode}")
        if undo:
            self._stack.callback(subprocess.run, undo, shell=True, capture_output=True, check=False)
        return done.stdout.strip()

    def holder(self, command: str, *words: str) -> None:
        """A process that stays until the row ends."""
        process = subprocess.Popen(["sh", "-c", f"exec {command}", "sh", *words], cwd=pathlib.Path.cwd())
        self._stack.callback(process.wait)
        self._stack.callback(
            subprocess.run, f"pkill -9 -P {process.pid}; kill -9 {process.pid}", shell=True, check=False
        )
        time.sleep(3)

    def file_system(self, name: str, point: str = "m", inside: str = "true") -> None:
        """A mounted one. inside: what is done in it; then it is read-only, for it writes its superblock by itself."""
        self(f"mkfs.ext2 -q -F /dev/{name}")
        self(f"mount /dev/{name} {point}", f"umount {point}")
        self(f"{inside} && mount -o remount,ro {point}")

    def partition(self, name: str) -> str:
        """One partition, of sectors 2048 to 22527."""
        entry = bytes([0, 0, 0, 0, 0x83, 0, 0, 0]) + (2048).to_bytes(4, "little") + (20480).to_bytes(4, "little")
        with open(f"/dev/{name}", "r+b", buffering=0) as disk:
            disk.write((bytes(446) + entry).ljust(510, b"\0") + b"\x55\xaa")
        self(f"blockdev --rereadpt /dev/{name}")
        self._stack.callback(subprocess.run, f"blockdev --rereadpt /dev/{name}", shell=True, check=False)
        time.sleep(1)
        return f"{name}1"

    def md(self, *names: str, level: int = 1) -> str:
        """A running array."""
        devices = " ".join(f"/dev/{name}" for name in names)
        extra = "--assume-clean --bitmap=none" if level else "--force"
        self(f"mdadm --create /dev/md5 --run --quiet --level={level} {extra} --raid-devices={len(names)} {devices}",
             "mdadm --quiet --stop /dev/md5")  # fmt: skip
        return "md5"

    def dm(self, name: str, uuid: str = "") -> str:
        """A linear device over all of another one."""
        sectors = pathlib.Path(f"/sys/class/block/{name}/size").read_text(encoding="ascii").strip()
        extra = f"--uuid {uuid}" if uuid else ""
        self(
            f"dmsetup create rt --noudevsync {extra} --table '0 {sectors} linear /dev/{name} 0'",
            "dmsetup remove --noudevsync rt",
        )
        return os.path.basename(os.path.realpath("/dev/mapper/rt")) if os.path.islink("/dev/mapper/rt") else "dm-0"

    def luks(self, name: str) -> None:
        """An encrypted container with the smaller header and the key x."""
        self("command -v cryptsetup", needs="cryptsetup")
        options = "--type luks1 --pbkdf-force-iterations 1000 --key-file -"
        self(f"echo x | cryptsetup --batch-mode luksFormat {options} /dev/{name}")

    def lvm(self, name: str) -> None:
        """A volume group rt on it."""
        self("command -v lvm", needs="lvm")
        pathlib.Path("lvm").mkdir(exist_ok=True)
        settings = "devices { use_devicesfile=0 }\nactivation { udev_sync=0 udev_rules=0 }\n"
        pathlib.Path("lvm/lvm.conf").write_text(settings, encoding="ascii")
        self(f"{LVM} vgcreate -qq -y rt /dev/{name}")

    def loop(self, path: str, offset: int = 0) -> str:
        """A loop device on a block device or a file."""
        name = self(f"losetup --find --show --offset {offset} {path}")
        self._stack.callback(subprocess.run, ["losetup", "--detach", name], check=False)
        return name.rsplit("/", 1)[-1]


Arrange = Callable[[Do, str, str], "str | list[str] | None"]


@dataclasses.dataclass(frozen=True)
class Row:
    """One use of a disk. pattern: the expected message, with A and B for the disks. forced: with --force-signature. arrange:
    puts disk a to that use, and returns what is named for destruction: a name, words of the command line, or nothing for a
    itself."""

    name: str
    pattern: str
    forced: bool
    arrange: Arrange


def table() -> tuple[list[Row], Callable[..., Callable[[Arrange], Arrange]]]:
    """Rows, and the decorator that adds one."""
    rows: list[Row] = []

    def row(name: str, pattern: str, forced: bool = True) -> Callable[[Arrange], Arrange]:
        def add(arrange: Arrange) -> Arrange:
            rows.append(Row(name, pattern, forced, arrange))
            return arrange

        return add

    return rows, row
