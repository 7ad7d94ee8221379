# SPDX-License-Identifier: GPL-2.0-or-later
"""One process reads and thinks, another's data is written back meanwhile: anticipatory_guest.py THINK_MS [SCHEDULER]

Fails when what was written does not read back.
"""

import mmap
import os
import random
import subprocess
import sys
import time

MIB = 1 << 20
WRITTEN = 48  # MiB, from the beginning of the disk
READS_AT = 4096  # MiB
SECONDS = 4
BLOCK = 4096


def write(disk: str, data: bytes) -> None:
    """Dirty it bit by bit; the kernel's thread sends it."""
    file = os.open(disk, os.O_WRONLY)
    for at in range(0, len(data), MIB):
        os.pwrite(file, data[at : at + MIB], at)
        time.sleep(SECONDS / WRITTEN)
    os.close(file)


def read(disk: str, think_s: float) -> None:
    """Blocks at random, each after a pause."""
    file = os.open(disk, os.O_RDONLY | os.O_DIRECT)
    chance, begin = random.Random(1), time.monotonic()
    buffer = mmap.mmap(-1, BLOCK)
    while time.monotonic() < begin + SECONDS:
        os.preadv(file, [buffer], READS_AT * MIB + BLOCK * chance.randrange(64 * MIB // BLOCK))
        time.sleep(think_s)
    os.close(file)


def main() -> int:
    think_s, scheduler = int(sys.argv[1]) / 1000, sys.argv[2:]
    if scheduler:
        with open("/sys/block/sda/queue/scheduler", "w", encoding="ascii") as file:
            file.write(scheduler[0])
    for name, value in (("dirty_background_bytes", 256 * 1024), ("dirty_writeback_centisecs", 5)):
        with open(f"/proc/sys/vm/{name}", "w", encoding="ascii") as file:
            file.write(str(value))
    data = random.Random(2).randbytes(WRITTEN * MIB)
    child = os.fork()
    if not child:
        write("/dev/sda", data)
        os._exit(0)
    read("/dev/sda", think_s)
    status = os.waitpid(child, 0)[1]
    subprocess.run(["sync"], check=True)
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("3")
    with open("/dev/sda", "rb") as disk:
        return int(status != 0 or disk.read(len(data)) != data)


if __name__ == "__main__":
    sys.exit(main())
