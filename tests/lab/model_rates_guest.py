# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: the rate of the controller's background work, alone and during reads, and that of the reads.

Prints one JSON object, KiB/s of simulated time. Started by model-rates.py.
"""

import json
import mmap
import os
import pathlib
import time

SECONDS = 5.0
MIB = 1 << 20


def done_sectors() -> int:
    """Sectors of each member that the background work has done; 0 if there is none."""
    for line in pathlib.Path("/proc/raidlab/status").read_text(encoding="ascii").splitlines():
        if line.startswith("background_sectors: "):
            return int(line.split()[1])
    return 0


def main() -> None:
    disk = os.open("/dev/sda", os.O_RDONLY | os.O_DIRECT)
    buffer = mmap.mmap(-1, MIB)
    time.sleep(1)
    before, begin = done_sectors(), time.monotonic()
    time.sleep(SECONDS)
    alone = (done_sectors() - before) / 2 / (time.monotonic() - begin)
    before, begin, at = done_sectors(), time.monotonic(), 0
    while time.monotonic() - begin < SECONDS:
        at += os.preadv(disk, [buffer], 300_000 * MIB + at)
    spent = time.monotonic() - begin
    concurrent = (done_sectors() - before) / 2 / spent
    print(json.dumps({"alone": round(alone), "concurrent": round(concurrent), "reads": round(at / 1024 / spent)}))


main()
