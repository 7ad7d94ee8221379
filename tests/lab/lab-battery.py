#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: 6.1 7.2
"""A sample of the battery: causes known by construction, measured by taking them away; explain names none that is wrong."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from lab_checks import check, finish  # noqa: E402

BATTERY = Path(__file__).resolve().parents[1] / "battery/battery"
STRIPPED = BATTERY.with_name("stripped.py")
LEAST_RECORDINGS = 40  # from which counters are taken
CHANCES = 2  # seeds of start time and memory; a part is judged with each
SEED = 1  # RAID 0 on 7.2, whose guests take two thirds of the processor time of those of 6.1
FAMILIES = (
    "one_reader", "two_readers", "direct_few_at_a_time", "sleeps_between_reads", "short_queue", "controller_ceiling",
    "slow_drive", "page_faults",
)  # fmt: skip
LEAST = 7  # of FAMILIES that are named right; the rest may be silent, none wrong
# The same of disks of today, with a seed that no rule was made on.
DISKS_SEED, DISKS_LEAST = 50, 7
DISKS = (
    "iops_limit", "bandwidth_limit", "copy_within_a_limit", "flash_one_at_a_time", "mapped_reads", "paced_below_a_limit",
    "platter_file", "sata_random",
)  # fmt: skip


def judged(out: str, name: str, seed: int, families: tuple[str, ...], chance: int = 0) -> tuple[int, str]:
    """Record and judge some families; how many are right, and what was printed."""
    words = [str(BATTERY), "--seeds", f"{seed}-{seed}", "--out", out, "--chances", f"{chance}-{chance}"]
    words += ["--families", ",".join(families)]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    last = done.stdout.strip().rpartition("\n")[2]
    counts = {what: int(number) for number, what in re.findall(r"(\d+) (right|wrong|silent|void)", last)}
    check(f"{name}: no cause is wrong", done.returncode == 0 and not counts.get("wrong"), done.stdout + done.stderr)
    check(f"{name}: all scenarios were recorded", counts and not counts.get("void"), done.stdout)
    return counts.get("right", 0), done.stdout


def main() -> None:
    """Record and judge."""
    with tempfile.TemporaryDirectory(prefix="lab-test-", dir="/var/tmp") as out:
        results = [
            judged(out, f"array, chance {chance}", SEED, FAMILIES[chance::CHANCES], chance) for chance in range(CHANCES)
        ]
        right = sum(number for number, _ in results)
        check(f"array: {LEAST} or more are named right", right >= LEAST, [output for _, output in results])
        right, output = judged(out, "disks of today", DISKS_SEED, DISKS)
        check(f"disks of today: {DISKS_LEAST} or more are named right", right >= DISKS_LEAST, output)
        done = subprocess.run([STRIPPED, out], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        number = int((re.match(r"(\d+) recordings", done.stdout.splitlines()[-1]) or [0, 0])[1]) if done.stdout else 0
        check("without some counters, no other cause is named", done.returncode == 0, done.stdout + done.stderr)
        check(f"this was tried with {LEAST_RECORDINGS} recordings", number >= LEAST_RECORDINGS, done.stdout)
    finish()


main()
