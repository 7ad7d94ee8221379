#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""The same run twice leaves the same ground truth and kernel log, byte for byte, on every kernel: dd, ext4, bonnie++ on ext2,
ext3 and xfs, and both on md RAID 0 over two controllers. The two runs are side by side, so that each meets another load on the
host. Random numbers, times and memory are the same, too.
On 6.1 each of them, on the last kernel dd, ext3 and the xfs on md; with `all` each on each:
lab-determinism.py [all] [KERNEL...]
"""

from __future__ import annotations

import concurrent.futures
import os
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from lab_checks import KERNELS, check, lab, scratch, skip  # noqa: E402

LOGS = ("ground-truth.csv", "ground-truth-1.csv")
BENCHED = ("ext2", "ext3", "xfs", "md")  # by bonnie++
FEWER = ("ext3", "md")
# More than the guest's memory, so that bonnie++ reads from the disks. Each step ends with a line in the output.
SCRIPT = """
bench() {
    case " $BENCHED " in *" $1 "*) ;; *) return ;; esac
    mount "$2" /run/lab/mnt && bonnie++ -q -d /run/lab/mnt -u 0:0 -r 64 -s 128M:65536 -n 0 -f -m lab >$1.csv 2>/dev/null &&
    umount /run/lab/mnt && echo "$1"
}
# Things that could differ: random numbers, hash seeds, times, process numbers, memory, UUIDs, the places of directories.
facts() {
    head -c 32 /dev/urandom | md5sum; date +%s.%N; cat /proc/uptime; echo $$; python3 -c 'print(hash("text"))'
    cat /sys/block/sda/stat /proc/meminfo
}
facts >facts
mkfs.ext4 -q -F /dev/sda 1G && mount /dev/sda /run/lab/mnt && cp -r /etc/. /usr/share/misc /run/lab/mnt 2>/dev/null
ls -liR /run/lab/mnt >>facts; umount /run/lab/mnt && blkid -p /dev/sda >>facts
dd if=/dev/sda of=/dev/null bs=1M count=64 2>/dev/null && echo dd
for fs in ext2 ext3; do mkfs.$fs -q -F /dev/sda 1G && bench $fs /dev/sda; done
mkfs.xfs -q -f /dev/sdb && bench xfs /dev/sdb
wipefs -qa /dev/sda /dev/sdb
modprobe raid0
mdadm --create /dev/md0 --run --level=0 --raid-devices=2 --chunk=512 --homehost=lab /dev/sda /dev/sdb >/dev/null 2>&1 &&
dd if=/dev/zero of=/dev/md0 bs=1M count=64 conv=fsync 2>/dev/null && dd if=/dev/md0 of=/dev/null bs=1M count=64 2>/dev/null &&
mkfs.xfs -q -f /dev/md0 && bench md /dev/md0
facts >>facts
"""


def twice(kernel: str, directory: Path, benched: tuple[str, ...]) -> None:
    def once(name: str) -> subprocess.CompletedProcess[str]:
        options = ("--kernel", kernel, "--profile", "two-controllers", "--mem", "96M", "--no-raidtrace",
                   "--env", f"BENCHED={' '.join(benched)}")  # fmt: skip
        return lab(
            "run", "-q", *options, "--out", str(directory / f"{kernel}-{name}"), "--", "sh", "-c", SCRIPT, LAB_ROOT=""
        )

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(once, ("one", "other")))
    if "not offered" in runs[0].stderr:
        skip(kernel, runs[0].stderr.splitlines()[0])
        return
    for name, done in zip(("one", "other"), runs):
        expected = "".join(f"{step}\n" for step in ("dd", *benched))
        check(f"{kernel}: run {name} goes through every step", done.returncode == 0 and done.stdout == expected, done)
    for log in LOGS:
        one, other = ((directory / f"{kernel}-{name}" / log).read_bytes() for name in ("one", "other"))
        lines = one.count(b"\n")
        check(f"{kernel}: {log}: the same {lines - 1} commands, byte for byte", one == other and lines > 5000, lines)
    for name, least in (("facts", 5000), ("kernel.log", 5000)):
        one, other = ((directory / f"{kernel}-{which}" / name).read_bytes() for which in ("one", "other"))
        check(f"{kernel}: {name}: the same {len(one)} bytes", one == other and len(one) > least, (one, other))
    for step in benched:
        one, other = ((directory / f"{kernel}-{name}" / f"{step}.csv").read_text() for name in ("one", "other"))
        check(
            f"{kernel}: bonnie++ on {step} prints the same figures", one == other and one.count(",") > 20, one + other
        )


def main() -> None:
    os.environ.pop("LAB_KERNEL", None)
    with scratch() as top:
        words = sys.argv[1:]
        for kernel in [word for word in words if word != "all"] or (
            KERNELS if "all" in words else (KERNELS[0], KERNELS[-1])
        ):
            twice(kernel, top, BENCHED if "all" in words or kernel == KERNELS[0] else FEWER)


main()
