#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A workload in one line: load.py key=value... It runs in the guest; what it can do is what DEFAULTS names.

Streams are processes, each at a place of its own; depth is how many threads of a stream have a request on its way.
"""

from __future__ import annotations

import itertools
import mmap
import os
import sys
import threading
import time

DEFAULTS: dict[str, int | float | str] = {
    "file": "/dev/sda",
    "streams": 1,
    "mib": 64,  # of each stream
    "io": 1 << 17,  # bytes of a call
    "pattern": "seq",  # or random, stride, backward
    "stride": 1 << 20,  # bytes from begin to begin
    "direct": 0,
    "depth": 1,
    "write": 0,
    "sleep": 0.0,  # s after each call
    "spin": 0.0,  # s of work after each call
    "sync": 0,  # fsync after so many calls of a thread
    "offset": 0,  # bytes
    "apart": 20 << 30,  # bytes from one stream to the next
    "span": 64 << 30,  # bytes that random calls are spread over
    "seed": 7,
    "lead": 0.0,  # s before the first call
    "tail": 0.0,  # s after the last
    "map": 0,  # 1: through a mapping, a page after the other
    "advise": "",  # of the mapping: random
    "die": 0,  # 1: an error ends it, as most programs do; 0: the call is left out
}


def options(words: list[str]) -> dict[str, int | float | str]:
    """DEFAULTS with what the command line says."""
    found = dict(DEFAULTS)
    for word in words:
        key, _, value = word.partition("=")
        found[key] = type(DEFAULTS[key])(value)
    return found


def places(said: dict[str, int | float | str], stream: int) -> list[int]:
    """Where each call of a stream begins."""
    number, size = (int(said["mib"]) << 20) // int(said["io"]), int(said["io"])
    first = int(said["offset"]) + stream * int(said["apart"])
    if said["pattern"] == "random":
        import random  # brings much along, and a guest has little of a processor

        draw = random.Random(int(said["seed"]) * 1000 + stream)
        return [draw.randrange(int(said["span"]) // size) * size + int(said["offset"]) for _ in range(number)]
    step = int(said["stride"]) if said["pattern"] == "stride" else size
    ordered = [first + at * step for at in range(number)]
    return ordered[::-1] if said["pattern"] == "backward" else ordered


def stream(said: dict[str, int | float | str], number: int) -> None:
    """One stream, to its end."""
    flags = (os.O_RDWR if said["write"] else os.O_RDONLY) | (os.O_DIRECT if said["direct"] else 0)
    handle = os.open(str(said["file"]), flags)
    left, lock = iter(places(said, number)), threading.Lock()

    if said["map"]:
        return mapped(handle, said, list(left))

    def work() -> None:
        page, every = mmap.mmap(-1, int(said["io"])), int(said["sync"])
        for call in itertools.count(1):
            with lock:
                at = next(left, None)
            if at is None:
                return
            try:
                os.pwritev(handle, [page], at) if said["write"] else os.preadv(handle, [page], at)
            except OSError:
                if said["die"]:
                    os._exit(1)
            if every and call % every == 0:
                os.fsync(handle)
            if said["sleep"]:
                time.sleep(float(said["sleep"]))
            end = time.monotonic() + float(said["spin"])
            while said["spin"] and time.monotonic() < end:
                pass

    threads = [threading.Thread(target=work) for _ in range(int(said["depth"]))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if said["write"]:
        os.fsync(handle)


def mapped(handle: int, said: dict[str, int | float | str], begins: list[int]) -> None:
    """Touch each page of what a call would read."""
    pages = mmap.mmap(handle, max(begins) + int(said["io"]), prot=mmap.PROT_READ)
    if said["advise"] == "random":
        pages.madvise(mmap.MADV_RANDOM)
    for begin in begins:
        for at in range(begin, begin + int(said["io"]), mmap.PAGESIZE):
            pages[at]


def main() -> None:
    """All streams beside each other."""
    said = options(sys.argv[1:])
    time.sleep(float(said["lead"]))
    children = []
    for number in range(int(said["streams"])):
        child = os.fork()
        if not child:
            stream(said, number)
            os._exit(0)
        children.append(child)
    status = [os.waitpid(child, 0)[1] for child in children]
    time.sleep(float(said["tail"]))
    sys.exit(1 if any(status) else 0)


main()
