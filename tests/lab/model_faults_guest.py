# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: reads and writes a disk while faults strike, compares every byte, and prints raidtrace's counters.

model_faults_guest.py DISK ROUNDS PAUSE_S prints one JSON object. Started by model-faults.py.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import pathlib
import random
import sys
import time

sys.dont_write_bytecode = True
import kmod_client as kmod  # noqa: E402

SPAN = 24 << 20
WRITE = 2 << 20
READ = 1 << 20


class Image:
    """A disk's first SPAN bytes, and the expected ones."""

    def __init__(self, disk: str) -> None:
        self.truth = bytearray(SPAN)
        self.unknown: set[int] = set()  # blocks of a write that failed: old or new
        self.buffer = mmap.mmap(-1, max(READ, WRITE))
        self.path = f"/dev/{disk}"
        self.file = os.open(self.path, os.O_RDWR | os.O_DIRECT)
        self.read_errors: list[int] = []
        self.write_errors = 0
        self.wrong: list[int] = []

    def write(self, offset: int, data: bytes) -> None:
        self.buffer[: len(data)] = data
        try:
            done = os.pwritev(self.file, [memoryview(self.buffer)[: len(data)]], offset)
            if done != len(data):
                raise OSError(f"{done} bytes of {len(data)}")
            self.truth[offset : offset + len(data)] = data
        except OSError:
            self.write_errors += 1
            self.unknown.update(range(offset >> 20, (offset + len(data) + READ - 1) >> 20))

    def read(self, offset: int, length: int) -> None:
        view = memoryview(self.buffer)[:length]
        try:
            done = os.preadv(self.file, [view], offset)
        except OSError:
            self.read_errors.append(offset)
            return
        if done < length:
            self.read_errors.append(offset + done)
        if offset >> 20 not in self.unknown and bytes(view[:done]) != bytes(self.truth[offset : offset + done]):
            self.wrong.append(offset)

    def read_all(self) -> None:
        for offset in range(0, SPAN, READ):
            self.read(offset, READ)


def work(image: Image, rounds: int, pause_s: float) -> None:
    choose = random.Random(9)
    for _ in range(rounds):
        image.write(choose.randrange((SPAN - WRITE) >> 20) << 20, choose.randbytes(WRITE))
        image.write(choose.randrange(SPAN >> 12) << 12, choose.randbytes(4096))
        for _ in range(4):
            image.read(choose.randrange(SPAN >> 20) << 20, READ)
        time.sleep(pause_s)
    image.read_all()


def digests(image: Image) -> list[str]:
    """Digests of the written data, and of the data on the disk now."""
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3\n", encoding="ascii")
    digest = hashlib.sha256()
    try:
        with open(image.path, "rb", buffering=0) as disk:
            for _ in range(SPAN // READ):
                digest.update(disk.read(READ))
    except OSError as error:
        return [hashlib.sha256(image.truth).hexdigest(), str(error)]
    return [hashlib.sha256(image.truth).hexdigest(), digest.hexdigest()]


def controller() -> dict[str, str]:
    pairs = (line.partition(": ") for line in pathlib.Path("/proc/raidlab/status").read_text().splitlines())
    return {key: value for key, _, value in pairs}


def driver() -> dict[str, int]:
    text = next(pathlib.Path("/sys/class/scsi_host").glob("host*/stats")).read_text()
    pairs = (line.partition(":") for line in text.splitlines())
    return {key.strip(): int(value) for key, _, value in pairs if value.strip().isdigit()}


def main() -> None:
    disk, rounds, pause_s = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    image = Image(disk)
    with kmod.counted(disk) as (client, target):
        work(image, rounds, pause_s)
        sha256 = digests(image)
        kmod.idle(disk)
        counters = client.counters(target)
    names = ("issued", "completed", "requeued", "errors", "abandoned", "in-flight")
    print(
        json.dumps(
            {
                "wrong": image.wrong,
                "sha256": sha256,
                "read_errors": image.read_errors,
                "write_errors": image.write_errors,
                "violations": counters.violations(),
                "counted": {name: counters.total(name) for name in names},
                "controller": controller(),
                "driver": driver(),
            }
        )
    )


main()
