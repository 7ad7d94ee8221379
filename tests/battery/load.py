#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A workload in one line: load.py key=value... It runs in the guest; what it can do is what DEFAULTS names.

Streams are processes, each at a place of its own; depth is how many threads of a stream have a request in flight.
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
    "report": 0,  # 1: the number of calls of all streams, and the seconds that they took
    "die": 0,  # 1: an error ends it, as most programs do; 0: the call is left out
}


def options(words: list[str]) -> dict[str, int | float | str]:
    """DEFAULTS with the options of the command line."""
    settings = dict(DEFAULTS)
    for word in words:
        key, _, value = word.partition("=")
        settings[key] = type(DEFAULTS[key])(value)
    return settings


def places(settings: dict[str, int | float | str], stream: int) -> list[int]:
    """Where each call of a stream begins."""
    number, size = (int(settings["mib"]) << 20) // int(settings["io"]), int(settings["io"])
    first = int(settings["offset"]) + stream * int(settings["apart"])
    if settings["pattern"] == "random":
        import random  # brings much along, and a guest has little of a processor

        rng = random.Random(int(settings["seed"]) * 1000 + stream)
        return [rng.randrange(int(settings["span"]) // size) * size + int(settings["offset"]) for _ in range(number)]
    step = int(settings["stride"]) if settings["pattern"] == "stride" else size
    ordered = [first + at * step for at in range(number)]
    return ordered[::-1] if settings["pattern"] == "backward" else ordered


def stream(settings: dict[str, int | float | str], number: int) -> None:
    """One stream, to its end."""
    flags = (os.O_RDWR if settings["write"] else os.O_RDONLY) | (os.O_DIRECT if settings["direct"] else 0)
    handle = os.open(str(settings["file"]), flags)
    left, lock = iter(places(settings, number)), threading.Lock()

    if settings["map"]:
        return mapped(handle, settings, list(left))

    def work() -> None:
        page, every = mmap.mmap(-1, int(settings["io"])), int(settings["sync"])
        for call in itertools.count(1):
            with lock:
                at = next(left, None)
            if at is None:
                return
            try:
                os.pwritev(handle, [page], at) if settings["write"] else os.preadv(handle, [page], at)
            except OSError:
                if settings["die"]:
                    os._exit(1)
            if every and call % every == 0:
                os.fsync(handle)
            if settings["sleep"]:
                time.sleep(float(settings["sleep"]))
            end = time.monotonic() + float(settings["spin"])
            while settings["spin"] and time.monotonic() < end:
                pass

    threads = [threading.Thread(target=work) for _ in range(int(settings["depth"]))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if settings["write"]:
        os.fsync(handle)


def mapped(handle: int, settings: dict[str, int | float | str], begins: list[int]) -> None:
    """Touch each page of what a call would read."""
    pages = mmap.mmap(handle, max(begins) + int(settings["io"]), prot=mmap.PROT_READ)
    if settings["advise"] == "random":
        pages.madvise(mmap.MADV_RANDOM)
    for begin in begins:
        for at in range(begin, begin + int(settings["io"]), mmap.PAGESIZE):
            pages[at]


def main() -> None:
    """All streams, concurrently."""
    settings = options(sys.argv[1:])
    time.sleep(float(settings["lead"]))
    children, begin = [], time.monotonic()
    for number in range(int(settings["streams"])):
        child = os.fork()
        if not child:
            stream(settings, number)
            os._exit(0)
        children.append(child)
    status = [os.waitpid(child, 0)[1] for child in children]
    if settings["report"]:
        calls = int(settings["streams"]) * (int(settings["mib"]) << 20) // int(settings["io"])
        print(f"{calls} calls in {time.monotonic() - begin:.3f} s")
    time.sleep(float(settings["tail"]))
    sys.exit(1 if any(status) else 0)


main()
