#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: 7.2
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
CHANCES = 2  # draws of when it begins and of memory, under each of which a part is judged
SEED = 1  # RAID 0 on 7.2, whose guests take two thirds of the processor time of those of 6.1
FAMILIES = (
    "one_reader", "two_readers", "direct_few_at_a_time", "sleeps_between_reads", "short_queue", "controller_ceiling",
    "slow_drive", "page_faults",
)  # fmt: skip
LEAST = 7  # of FAMILIES that are named right; the rest may be silent, none wrong


def main() -> None:
    """Record and judge."""
    with tempfile.TemporaryDirectory(prefix="lab-test-", dir="/var/tmp") as out:
        words = [
            str(BATTERY),
            "--seeds",
            f"{SEED}-{SEED}",
            "--out",
            out,
        ]
        right, said = 0, ""
        for chance in range(CHANCES):
            part = ["--chances", f"{chance}-{chance}", "--families", ",".join(FAMILIES[chance::CHANCES])]
            done = subprocess.run(words + part, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            last = done.stdout.strip().rpartition("\n")[2]
            counts = {what: int(number) for number, what in re.findall(r"(\d+) (right|wrong|silent|void)", last)}
            right, said = right + counts.get("right", 0), said + done.stdout
            check(f"chance {chance}: no cause is wrong", done.returncode == 0 and not counts.get("wrong"), done)
            check(f"chance {chance}: all scenarios were recorded", counts and not counts.get("void"), done.stdout)
        check(f"{LEAST} or more are named right", right >= LEAST, said)
    finish()


main()
