#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""Every supported kernel boots in front of the array, and a run is the same bits each time."""

from __future__ import annotations

import concurrent.futures
import json
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from lab_checks import KERNELS, check, finish, lab, processor_s, skip  # noqa: E402

BOOT_S = 1.0  # of processor, with raidctl itself: 0.4 measured on a busy machine
# What could differ: directories placed by random numbers, UUIDs, hash seeds, times, process numbers.
SCRIPT = """
mkfs.ext4 -q /dev/sda && mount /dev/sda /run/lab/mnt || exit
mkdir /run/lab/mnt/a /run/lab/mnt/b /run/lab/mnt/c
dd if=/dev/zero of=/run/lab/mnt/a/f bs=1M count=200 2>&1
tar -C /usr/share/doc -cf /run/lab/mnt/b/t bash coreutils dpkg 2>/dev/null
sync; umount /run/lab/mnt; echo 3 >/proc/sys/vm/drop_caches
mount /dev/sda /run/lab/mnt; cat /run/lab/mnt/a/f | md5sum; ls -liR /run/lab/mnt
blkid -p /dev/sda; head -c 32 /dev/urandom | md5sum; date +%s.%N; cat /proc/uptime; echo $$
python3 -c 'print(hash("text"))'
cat /sys/block/sda/stat /proc/meminfo
"""


def twice(kernel: str, directory: Path) -> None:
    def once(name: str) -> tuple[str, bytes, bytes]:
        out = directory / f"{kernel}-{name}"
        done = lab("run", "-q", "--kernel", kernel, "--no-raidtrace", "--out", str(out), "--", "sh", "-c", SCRIPT)
        if done.returncode:
            return f"{name}: {done.returncode} {done.stderr}", b"", b""
        return done.stdout, (out / "ground-truth.csv").read_bytes(), (out / "kernel.log").read_bytes()

    # Side by side, so that each run meets another load on the host.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        one, other = pool.map(once, ("one", "other"))
    check(f"{kernel}: two runs side by side succeed", one[1] and other[1], one[0] + other[0])
    check(f"{kernel}: their output is byte-identical", one[0] == other[0], f"{one[0]}\n{other[0]}")
    check(f"{kernel}: their ground truth is byte-identical", one[1] == other[1])
    check(f"{kernel}: their kernel log is byte-identical", one[2] == other[2])


def boots(kernel: str, directory: Path) -> None:
    out = directory / kernel
    before = processor_s()
    done = lab("run", "-q", "--kernel", kernel, "--out", str(out), "--", "uname", "-r")
    spent = processor_s() - before
    check(f"{kernel}: boots with all modules", done.returncode == 0 and done.stdout.startswith(f"{kernel}."), done)
    if done.returncode:
        return
    facts = json.loads((out / "lab.json").read_text())
    check(f"{kernel}: lab.json names it", facts["kernel"].startswith(f"{kernel}."), facts)
    check(f"{kernel}: in less than {BOOT_S} s of processor", spent < BOOT_S, spent)
    script = "for m in null_blk scsi_debug raid0 raid10 dm_mod jfs kunit bfq; do modprobe $m || echo $m; done"
    script += "; ls /dev/nullb0"
    extra = lab("run", "-q", "--kernel", kernel, "--bare", "--out", str(out), "--", "sh", "-c", script)
    check(f"{kernel}: modules can be loaded by name", extra.stdout == "/dev/nullb0\n", extra)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="lab-test-", dir="/var/tmp") as name:
        for kernel in KERNELS:
            build = lab("build", "-q", "--werror", "--kernel", kernel)
            if "not offered" in build.stderr:
                skip(kernel, build.stderr.splitlines()[0])
                continue
            check(f"{kernel}: kernel and modules build, modules without a warning", build.returncode == 0, build.stderr)
            boots(kernel, Path(name))
            twice(kernel, Path(name))
    finish()


main()
