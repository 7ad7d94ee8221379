# SPDX-License-Identifier: GPL-2.0-or-later
"""Disks of null_blk, made through configfs, with a changeable number of queues; and I/O in the background."""

from __future__ import annotations

import contextlib
import mmap
import os
import pathlib
import random
import threading
from collections.abc import Callable, Iterator, Sequence

import kmod_client as kmod

CONFIGFS = pathlib.Path("/run/lab/configfs")
SECTORS = (8, 16, 256, 520)
GIVES_WAY = 19  # nice: any other process runs first


def read_in_background(name: str, sector: int) -> threading.Thread:
    """One direct read, which may take its time."""

    def read() -> None:
        disk = kmod.Disk(name)
        disk.read(sector, 8)
        disk.close()

    thread = threading.Thread(target=read)
    thread.start()
    return thread


@contextlib.contextmanager
def configured(**attributes: object) -> Iterator[tuple[str, pathlib.Path]]:
    """A disk of null_blk and its directory in configfs; writing a file there changes the disk."""
    kmod.null_blk(nr_devices=0, poll_queues=2)
    CONFIGFS.mkdir(exist_ok=True)
    kmod.run(f"mount -t configfs configfs {CONFIGFS}")
    here = CONFIGFS / "nullb/edges"
    here.mkdir()
    try:
        for attribute, value in (*attributes.items(), ("power", 1)):
            (here / attribute).write_text(str(value), encoding="ascii")
        name = f"nullb{(here / 'index').read_text(encoding='ascii').strip()}"
        if not pathlib.Path(f"/sys/block/{name}").exists():
            name = "edges"  # newer kernels name the disk as its directory
        kmod.wait_for("the disk", lambda: os.path.exists(f"/dev/{name}"))
        yield name, here
        (here / "power").write_text("0", encoding="ascii")
    finally:
        here.rmdir()
        kmod.run(f"umount {CONFIGFS}; modprobe -r null_blk", check=False)


@contextlib.contextmanager
def load(
    names: list[str],
    places: int = 1 << 14,
    sectors: Sequence[int] = SECTORS,
    seed: int = 0,
    cpus: Sequence[int] = (),
) -> Iterator[Callable[[], list[int]]]:
    """Random reads and writes until the end of the block, by a process for each disk.

    Yields a function that returns the number of requests of each process.

    They begin at one of so many places of 4 KiB and are so many sectors long. Another seed has others. With `cpus` each
    process is bound to a processor and has a low priority, so that the test itself runs first.
    """
    shared = mmap.mmap(-1, 8 * (1 + len(names)))
    done = memoryview(shared).cast("Q")  # the first one ends them
    children = []
    for number, name in enumerate(names):
        child = os.fork()
        if not child:
            try:
                if cpus:
                    os.sched_setaffinity(0, {cpus[number]})
                    os.nice(GIVES_WAY)
                work(name, random.Random(seed << 32 | number), done, 1 + number, places, sectors)
            finally:
                os._exit(0)
        children.append(child)
    try:
        yield lambda: list(done[1:])
    finally:
        done[0] = 1
        for child in children:
            os.waitpid(child, 0)


def work(name: str, numbers: random.Random, done: memoryview, place: int, places: int, sectors: Sequence[int]) -> None:
    """The loop of one process; counts in done[place]."""
    disk = kmod.Disk(name)
    while not done[0]:
        move = disk.write if numbers.random() < 0.3 else disk.read
        move(numbers.randrange(places) * 8, numbers.choice(sectors))
        done[place] += 1
