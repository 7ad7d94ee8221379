#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: 7.2
# lab-long: 10,000 faults, some hours of one processor
"""10,000 faults: each call of import, export and sweep that can fail, and of a recorder; its allocations; kills; power cuts

What tests/fault/run, ctl-kills and ctl-power try at a few places in `make check`, here at every one, or at 1,000 (kills) and
300 (cuts). Fails when anything of it does, and when there were fewer than 10,000.
"""

from __future__ import annotations

import concurrent.futures
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from lab_checks import LAB, TOP, check, finish  # noqa: E402

GUEST = [LAB, "run", "-q", "--host", "--kernel", "7.2", "--mem", "320M", "--timeout", "20000", "--out"]
PARTS = {
    "a recorder's calls": [*GUEST, "calls", "--", TOP / "tests/lab/ctl-kills", "all", "faults"],
    "a recorder's allocations": [*GUEST, "memory", "--", TOP / "tests/lab/ctl-kills", "all", "enomem"],
    "import, export, sweep": [TOP / "tests/fault/run", "99999"],
    "a recorder is killed": [*GUEST, "kills", "--", TOP / "tests/lab/ctl-kills", "all", "calls", "times"],
    "the power is cut": [*GUEST, "power", "--", TOP / "tests/lab/ctl-power", "300"],
}
LEAST = 10000


def part(command: list[object], out: str) -> subprocess.CompletedProcess[str]:
    """One part to its end, at the lowest priority."""
    return subprocess.run(
        ["nice", "-n", "19", *map(str, command)], capture_output=True, text=True, check=False, cwd=out
    )


def main() -> None:
    """Two parts at a time."""
    total = 0
    with tempfile.TemporaryDirectory() as out, concurrent.futures.ThreadPoolExecutor(2) as pool:
        ended = [pool.submit(part, command, out) for command in PARTS.values()]
        for name, done in zip(PARTS, (future.result() for future in ended)):
            print(done.stdout, flush=True)
            total += sum(map(int, re.findall(r"^# (\d+) points$", done.stdout, re.MULTILINE)))
            check(name, not done.returncode, done.stderr[-2000:])
    check(f"at least {LEAST} faults: {total}", total >= LEAST)
    finish()


if __name__ == "__main__":
    main()
