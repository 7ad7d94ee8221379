#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: direct reads or writes, then what the simulated device logged of them as JSON.

model_devices_guest.py DISK read|write OPERATIONS DEPTH BYTES [STRIDE]

The places are random multiples of BYTES, or with STRIDE its multiples in order.
"""

import csv
import json
import mmap
import os
import pathlib
import random
import sys
import threading


def load(disk: str, write: bool, places: list[int], size: int) -> None:
    """One after the other. A buffer of a thread's own: direct I/O wants it aligned."""
    buffer = mmap.mmap(-1, size)
    descriptor = os.open(f"/dev/{disk}", (os.O_RDWR if write else os.O_RDONLY) | os.O_DIRECT)
    for place in places:
        moved = os.pwritev(descriptor, [buffer], place) if write else os.preadv(descriptor, [buffer], place)
        if moved != size:
            sys.exit(f"{moved} of {size} bytes at {place}")
    os.close(descriptor)


def main() -> None:
    disk, direction, operations, depth, size, *stride = sys.argv[1:]
    number, bytes_each = int(operations), int(size)
    capacity = int(pathlib.Path(f"/sys/block/{disk}/size").read_text(encoding="ascii")) * 512
    chance = random.Random(disk)
    places = [chance.randrange(capacity // bytes_each) * bytes_each for _ in range(number)]
    if stride:
        places = [index * int(stride[0]) for index in range(number)]
    with open("/proc/raidlab/log", encoding="ascii") as log:
        before = sum(1 for _ in log) - 1
    threads = [
        threading.Thread(target=load, args=(disk, direction == "write", places[i :: int(depth)], bytes_each))
        for i in range(int(depth))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open("/proc/raidlab/log", encoding="ascii") as log:
        rows = list(csv.DictReader(log))[before:]
    rows = [row for row in rows if row["name"] == direction.upper() and int(row["sectors"]) * 512 == bytes_each]
    print(json.dumps({
        "commands": len(rows),
        "latency_ns": [int(row["completion_ns"]) - int(row["arrival_ns"]) for row in rows],
        "completions_ns": sorted(int(row["completion_ns"]) for row in rows),
        "first_arrival_ns": int(rows[0]["arrival_ns"]),
        "not_good": [row for row in rows if row["status"] != "good"],
    }))  # fmt: skip


main()
