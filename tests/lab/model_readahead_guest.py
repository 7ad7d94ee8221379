#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: processes read a disk through the page cache. Prints one JSON object per case.

model_readahead_guest.py DISK CASE...

Rates are those until the first reader ends, so that all were reading.
A CASE is READAHEAD_KIB,KIND,READERS,READS,BYTES. READAHEAD_KIB "own" is the setting of the kernel itself. KIND:
  sequential  each reader reads its own part of the disk in order
  random      pread() at random places
  mapped      touch a page of the mapped disk at random places; BYTES is the size of a page
  advised     the same after MADV_RANDOM
"""

import json
import mmap
import os
import pathlib
import random
import struct
import sys
import time
import typing


class Case(typing.NamedTuple):
    """The work of each reader. Cases of other numbers read elsewhere: the disk may have a cache of its own."""

    number: int
    readahead_kib: str
    kind: str
    readers: int
    reads: int
    size: int


def places(case: Case, reader: int, capacity: int) -> list[int]:
    """The offsets of one reader."""
    if case.kind == "sequential":
        first = (capacity // (case.readers + 1) * reader >> 30) + case.number << 30
        return [first + index * case.size for index in range(case.reads)]
    chance = random.Random(case.number * 1000 + reader)
    return [chance.randrange(capacity // case.size) * case.size for _ in range(case.reads)]


def read(disk: str, case: Case, reader: int, capacity: int, begin: int, done: mmap.mmap) -> None:
    """One reader, with an open file of its own. It begins when the pipe `begin` is closed and counts its reads in `done`."""
    descriptor = os.open(f"/dev/{disk}", os.O_RDONLY)
    offsets = places(case, reader, capacity)
    mapping = None
    if case.kind in ("mapped", "advised"):
        mapping = mmap.mmap(descriptor, capacity, prot=mmap.PROT_READ)
        if case.kind == "advised":
            mapping.madvise(mmap.MADV_RANDOM)
    os.read(begin, 1)
    for number, offset in enumerate(offsets, 1):
        if mapping is None:
            os.pread(descriptor, case.size, offset)
        else:
            mapping[offset]  # pylint: disable=pointless-statement
        struct.pack_into("I", done, 4 * reader, number)
    os._exit(0)


def sectors_read(disk: str) -> int:
    """Sectors that the disk has read so far, when nothing is in flight any more."""
    while True:
        fields = pathlib.Path(f"/sys/block/{disk}/stat").read_text(encoding="ascii").split()
        if fields[8] == "0":
            return int(fields[2])
        time.sleep(0.01)


def measure(disk: str, case: Case, own: str) -> dict[str, object]:
    """Run all readers of a case."""
    setting = own if case.readahead_kib == "own" else case.readahead_kib
    pathlib.Path(f"/sys/block/{disk}/queue/read_ahead_kb").write_text(setting, encoding="ascii")
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3", encoding="ascii")
    capacity = int(pathlib.Path(f"/sys/block/{disk}/size").read_text(encoding="ascii")) * 512
    before = sectors_read(disk)
    begin, release = os.pipe()
    done = mmap.mmap(-1, 4 * case.readers)
    children = []
    for reader in range(case.readers):
        child = os.fork()
        if child == 0:
            os.close(release)
            read(disk, case, reader, capacity, begin, done)
        children.append(child)
    time.sleep(0.1)
    start = time.monotonic()
    os.close(release)
    statuses = [os.wait()[1]]
    seconds = time.monotonic() - start
    reads = sum(struct.unpack(f"{case.readers}I", done))
    statuses += [os.wait()[1] for _ in children[1:]]
    if any(statuses):
        sys.exit(f"a reader of {case} failed: {statuses}")
    requested = case.readers * case.reads * case.size
    fetched = (sectors_read(disk) - before) * 512
    return {
        "case": case,
        "read_ahead_kb": int(setting),
        "reads_s": reads / seconds,
        "mb_s": reads * case.size / seconds / 1e6,
        "fetched": fetched / requested,
    }


def main() -> None:
    disk = sys.argv[1]
    own = pathlib.Path(f"/sys/block/{disk}/queue/read_ahead_kb").read_text(encoding="ascii").strip()
    for number, word in enumerate(sys.argv[2:]):
        readahead, kind, *numbers = word.split(",")
        print(json.dumps(measure(disk, Case(number, readahead, kind, *map(int, numbers)), own)), flush=True)


main()
