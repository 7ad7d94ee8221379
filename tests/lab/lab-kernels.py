#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""Every supported kernel is built and boots in front of the array, with its modules."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from lab_checks import KERNELS, check, lab, processor_s, scratch, skip  # noqa: E402

BOOT_S = 1.0  # of processor, with raidctl itself: 0.4 measured on a busy machine


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
    with scratch() as top:
        for kernel in KERNELS:
            build = lab("build", "-q", "--werror", "--kernel", kernel)
            if "not offered" in build.stderr:
                skip(kernel, build.stderr.splitlines()[0])
                continue
            check(f"{kernel}: kernel and modules build, modules without a warning", build.returncode == 0, build.stderr)
            boots(kernel, top)


main()
