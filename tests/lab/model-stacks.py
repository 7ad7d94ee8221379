#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: 7.2
# lab-kernels-long: 6.1:storage
"""File systems, md and dm above four simulated NVMe drives, one of which fails and is reset while data is written: what was
written comes back, file system and array are clean.

model-stacks.py [KERNEL [VARIANT]]; Btrfs and dm-crypt need the variant storage
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from lab_checks import KERNELS, check, guest, scratch, skip  # noqa: E402

DRIVES = "/dev/nvme0n1 /dev/nvme1n1 /dev/nvme2n1 /dev/nvme3n1"
SECTORS = 1 << 21  # of each drive
MD = "modprobe raid{load} && mdadm --create /dev/md0 --run --quiet --size=1G --level={level} --raid-devices={n} {more} {drives}"
MAP = "dmsetup create top --table '{table}' && dmsetup mknodes"
LINEAR = "\n".join(f"{at * SECTORS} {SECTORS} linear /dev/nvme{at}n1 0" for at in range(2))
# As distributions do it, but for udev, which the guest has not.
LVM = """modprobe dm-mod
export LVM_SYSTEM_DIR=/run/lab/tmp/lvm; mkdir -p $LVM_SYSTEM_DIR
lvm() {{ command=$1; shift; $command -q --config 'devices {{ use_devicesfile=0 }} activation {{ udev_sync=0 udev_rules=0 }}
backup {{ backup=0 archive=0 }} global {{ locking_dir="/run/lab/tmp/lock" }}' "$@" >&2; }}
lvm pvcreate {drives}
lvm vgcreate group {drives}
lvm lvcreate -y -W n -Z n --stripes 4 --stripesize 64 -L 1G -n volume group
lvm vgchange -an group
lvm vgchange -ay group"""
CRYPT = f"0 {SECTORS} crypt aes-xts-plain64 {7:064d} 0 /dev/nvme0n1 0"


def array(level: int, drives: int, more: str = "--assume-clean") -> str:
    load = 456 if level == 5 else level
    return MD.format(load=load, level=level, n=drives, more=more, drives=" ".join(DRIVES.split()[:drives]))


# Name -> how it is put together, and the device.
DEVICES = {
    "drive": ("true", "/dev/nvme0n1"),
    "md RAID 0": (array(0, 4, ""), "/dev/md0"),
    "md RAID 1": (array(1, 2), "/dev/md0"),
    "md RAID 5": (array(5, 4), "/dev/md0"),
    "dm-linear": ("modprobe dm-mod && " + MAP.format(table=LINEAR), "/dev/mapper/top"),
    "LVM": (LVM.format(drives=DRIVES), "/dev/group/volume"),
    "dm-crypt": ("modprobe dm-crypt && " + MAP.format(table=CRYPT), "/dev/mapper/top"),
}
SYSTEMS = {
    "ext4": ("mkfs.ext4 -q -F {device} 900M", "fsck.ext4 -fn {device} >&2"),
    "XFS": ("mkfs.xfs -q -f {device}", "xfs_repair -n {device} >&2"),
    "Btrfs": ("modprobe btrfs && mkfs.btrfs -q -f {device}", "btrfs check {device} >&2"),
}
PLAIN = (
    ("drive", "ext4"), ("drive", "XFS"), ("md RAID 0", "XFS"), ("md RAID 1", "ext4"), ("md RAID 5", "ext4"),
    ("dm-linear", "ext4"), ("LVM", "XFS"),
)  # fmt: skip
STORAGE = (("drive", "Btrfs"), ("dm-crypt", "ext4"))
SCRIPT = """
mkdir -p /run/lab/mnt; exec 2>steps; set -ex
{put}
{make} >&2
mount {device} /run/lab/mnt
for file in 1 2 3 4; do dd if=/dev/urandom of=/run/lab/mnt/$file bs=64K count=128 conv=fsync status=none; done
sums=$(cd /run/lab/mnt && md5sum 1 2 3 4)
umount /run/lab/mnt
echo 3 >/proc/sys/vm/drop_caches
mount {device} /run/lab/mnt
test "$sums" = "$(cd /run/lab/mnt && md5sum 1 2 3 4)"
umount /run/lab/mnt
{fsck}
if test -e /sys/block/md0/md/sync_action
then mdadm --detail /dev/md0 | grep -w State >&2; ! mdadm --detail /dev/md0 | grep -E 'State :.*degraded|faulty' || exit
echo check >/sys/block/md0/md/sync_action; mdadm --wait /dev/md0 || true; test $(cat /sys/block/md0/md/mismatch_cnt) = 0
fi
echo clean
"""


def stack(top: Path, kernel: str, variant: str, on: str, system: str) -> None:
    put, device = DEVICES[on]
    make, fsck = (command.format(device=device) for command in SYSTEMS[system])
    out = top / f"{on} {system}".replace(" ", "-")
    script = SCRIPT.format(put=put, make=make, device=device, fsck=fsck)
    done = guest(out, "bash", "-c", script, kernel=kernel, profile="nvme-4", settings=["fault.reset_command=150"],
                 options=["--no-raidtrace", *(("--variant", variant) if variant else ())])  # fmt: skip
    steps = (out / "steps").read_text(encoding="utf-8", errors="replace") if (out / "steps").exists() else ""
    name = f"{kernel}: {system} on {on}"
    check(f"{name}: data comes back, all is clean", done.stdout == "clean\n", (done.stdout, done.stderr, steps[-2000:]))
    lost = (out / "ground-truth.csv").read_text(encoding="ascii").count(",reset\n")
    check(f"{name}: the reset ended commands", lost > 0, lost)


def main() -> None:
    kernel = sys.argv[1] if len(sys.argv) > 1 else KERNELS[-1]
    variant = sys.argv[2] if len(sys.argv) > 2 else ""
    with scratch() as top:
        for on, system in PLAIN + (STORAGE if variant else ()):
            if on == "LVM" and not shutil.which("lvcreate", path="/usr/sbin:/sbin"):
                skip(f"{kernel}: {system} on {on}", "no lvm2 on this machine")
                continue
            stack(top, kernel, variant, on, system)


main()
