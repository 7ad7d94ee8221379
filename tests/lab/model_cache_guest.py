# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: what fsync makes of the controller's write-back cache, and what is left after a power cut.

model_cache_guest.py CUT-SECTOR prints one JSON object; with 0 there is no cut. Started by model-cache.py.
"""

from __future__ import annotations

import csv
import io
import json
import mmap
import os
import pathlib
import random
import sys
from typing import Any

sys.dont_write_bytecode = True
import kmod_client as kmod  # noqa: E402

DISK = "sda"
MIB = 1 << 20
SIZE = 16 * MIB
FLUSHED = (0, 1)  # first byte, stride: the whole at one place ...
UNFLUSHED = (64 * MIB, 8192)  # ... or each MiB 8 GiB on, so that the drives cannot keep up


class Disk:
    """Direct I/O, a MiB at a time."""

    def __init__(self) -> None:
        self.file = os.open(f"/dev/{DISK}", os.O_RDWR | os.O_DIRECT)
        self.buffer = mmap.mmap(-1, MIB)

    def write(self, place: tuple[int, int], data: bytes) -> None:
        for i in range(0, len(data), MIB):
            self.buffer[:MIB] = data[i : i + MIB]
            os.pwritev(self.file, [self.buffer], place[0] + i * place[1])

    def read(self, place: tuple[int, int], size: int) -> bytes:
        parts = []
        for i in range(0, size, MIB):
            os.preadv(self.file, [self.buffer], place[0] + i * place[1])
            parts.append(self.buffer[:MIB])
        return b"".join(parts)

    def touch(self, sector: int) -> None:
        os.preadv(self.file, [memoryview(self.buffer)[:4096]], sector * 512)


def rows() -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(pathlib.Path("/proc/raidlab/log").read_text(encoding="ascii"))))


def queue(name: str) -> str:
    return pathlib.Path(f"/sys/block/{DISK}/queue/{name}").read_text(encoding="ascii").strip()


def blocks_lost(data: bytes, expected: bytes) -> int:
    return sum(data[i : i + 4096] != expected[i : i + 4096] for i in range(0, len(expected), 4096))


def main() -> None:
    cut = int(sys.argv[1])
    choose = random.Random(5)
    flushed, unflushed = choose.randbytes(SIZE), choose.randbytes(SIZE)
    disk = Disk()
    report: dict[str, Any] = {"write_cache": queue("write_cache"), "fua": queue("fua")}
    before = len(rows())
    with kmod.counted(DISK) as (client, target):
        disk.write(FLUSHED, flushed)
        os.fsync(disk.file)
        os.fsync(disk.file)
        report["log"] = [
            (row["name"], int(row["arrival_ns"]), int(row["completion_ns"] or 0)) for row in rows()[before:]
        ]
        disk.write(UNFLUSHED, unflushed)
        if cut:
            disk.touch(cut)
        report["flushed_lost"] = blocks_lost(disk.read(FLUSHED, SIZE), flushed)
        report["unflushed_lost"] = blocks_lost(disk.read(UNFLUSHED, SIZE), unflushed)
        kmod.idle(DISK)
        counters = client.counters(target)
    report["violations"] = counters.violations()
    names = ("issued", "completed", "requeued", "errors", "in-flight")
    report["flush"] = {name: counters.flow["flush"][name] for name in names}
    report["counted"] = {name: counters.total(name) for name in names}
    report["sent"] = sum(row["name"] == "SYNCHRONIZE_CACHE" for row in rows()[before:])
    print(json.dumps(report))


main()
