# SPDX-License-Identifier: GPL-2.0-or-later
"""The rate that a disk has whatever is requested: how many requests, and how many bytes, it completes in a second.

Settings cannot change the limit of a volume. But one can change what a limit should not depend on: the size of requests, their
places, and how many are in flight. A rate that stays the same is a limit. Only reads, past the page cache, and a limit that
allows bursts may show itself only after these.

    python3 rate.py DEVICE BYTES IN-FLIGHT random|forward|along|alone SEED FROM LENGTH

is one such reader: it prints the requests a second that it measured, and the part of a processor that it used; of requests that
are alone at the disk, the ms that one takes, and 0.
"""

import collections
import dataclasses
import itertools
import mmap
import os
import random
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence

PAUSE_S, ALONE_REQUESTS = 0.01, 40  # between requests that are alone at the disk, and how many
MAX_SAME_FACTOR = 1.06  # largest by smallest rate, up to which they are one rate
MIN_RATE_SHARE = 0.95  # a command that reaches this part of a rate is limited by it
MAX_CPU_SHARE = 0.5  # of a processor: a reader that uses more may be limited by itself
WARM_UP_S, MIN_S, MAX_S, ENOUGH_REQUESTS = 0.5, 1.0, 4.0, 200  # of one reader; requests
MAX_RATE = 25000  # requests a second: at higher rates Python uses more than MAX_CPU_SHARE, and a reader ends early
KIB = 1 << 10


RANDOM, FORWARD, ALONG, ALONE = "random", "forward", "along", "alone"  # along: in order without gaps


@dataclasses.dataclass(frozen=True)
class Reads:
    """The requests of one reader. octets: of a request. depth: requests in flight. seed: of the places. start, length:
    bytes of the disk that are read; length 0 for all from start on."""

    octets: int
    depth: int
    pattern: str
    seed: int = 1
    start: int = 0
    length: int = 0


SMALL = (Reads(4 * KIB, 8, RANDOM), Reads(4 * KIB, 32, RANDOM), Reads(4 * KIB, 32, FORWARD),
         Reads(16 * KIB, 32, RANDOM))  # fmt: skip
LARGE = (Reads(64 * KIB, 32, RANDOM), Reads(256 * KIB, 8, RANDOM), Reads(256 * KIB, 8, FORWARD))
READERS = (*SMALL, *LARGE)
Measure = Callable[[Reads], float | None]


@dataclasses.dataclass(frozen=True)
class Rates:
    """The rates of a disk, per second, from the slowest to the fastest reader. None: it depends on what is requested, or was
    not measured. requests: of 4 and 16 KiB. octets: of requests of 64 and 256 KiB. alone_ms: median time of a request of the
    command's size that is alone at the disk, below any limit."""

    requests: tuple[float, float] | None = None
    octets: tuple[float, float] | None = None
    alone_ms: float | None = None


def judge(measure: Measure) -> Rates:
    """Measure the readers. measure: requests a second of a reader; None if it was not measured, or limited by its processor.
    Once two rates of a group differ, the others of that group are not measured."""
    return Rates(_one(SMALL, measure), _one(LARGE, lambda reads: (measure(reads) or 0.0) * reads.octets))


def _one(group: Sequence[Reads], measure: Measure) -> tuple[float, float] | None:
    known: list[float] = []
    for reads in group:
        known.append(measure(reads) or 0.0)
        if not min(known) or max(known) > MAX_SAME_FACTOR * min(known):
            return None
    return min(known), max(known)


def read(text: str) -> float | None:
    """Requests a second, of what a reader printed; None if it failed or may have been limited by its own processor.
    ValueError: it is something else."""
    rate, busy = map(float, text.split())
    return rate if rate > 0 and busy < MAX_CPU_SHARE else None


def places(reads: Reads, size: int) -> Iterator[int]:
    """Where requests begin, for ever: at random, in order, or each one request behind the one before, so that none are merged.
    size: of the disk. OSError: what is to be read is too small."""
    number, draw = (reads.length or size - reads.start) // reads.octets, random.Random(reads.seed)
    if number < 4:
        raise OSError(f"{size} bytes are too few to measure")
    first, stride = draw.randrange(number), {ALONG: 1, FORWARD: 2}.get(reads.pattern)
    return (reads.start + reads.octets * ((first + stride * step) % number if stride else draw.randrange(number))
            for step in itertools.count())  # fmt: skip


def alone_ms(path: str, reads: Reads) -> float:
    """Median time of reads with a pause before each, so that none waits for a limit. OSError: the disk cannot be read so."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC)
    page, took = mmap.mmap(-1, reads.octets), []
    for at in itertools.islice(places(reads, os.lseek(handle, 0, os.SEEK_END)), ALONE_REQUESTS):
        time.sleep(PAUSE_S)
        begin = time.monotonic()
        os.preadv(handle, [page], at)
        took.append(1e3 * (time.monotonic() - begin))
    return statistics.median(took)


def measure(path: str, reads: Reads) -> tuple[float, float]:
    """Requests a second, and the part of a processor that it took. OSError: the disk cannot be read so, or is too fast."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC)
    where, taking = enumerate(places(reads, os.lseek(handle, 0, os.SEEK_END))), threading.Lock()
    done: collections.deque[float] = collections.deque()
    begin, used = time.monotonic(), time.process_time()  # the interpreter's start is no part of it
    errors: list[OSError] = []

    def reader() -> None:
        page = mmap.mmap(-1, reads.octets)
        while not errors:
            now = time.monotonic() - begin
            if now > WARM_UP_S + MAX_S or (now > WARM_UP_S + MIN_S and len(done) >= ENOUGH_REQUESTS):
                return
            with taking:
                number, at = next(where)
            if number > MAX_RATE * max(now, WARM_UP_S):
                errors.append(OSError(f"{path} is faster than raidctl can read"))
                return
            try:
                os.preadv(handle, [page], at)
            except OSError as error:
                errors.append(error)
                return
            ended = time.monotonic() - begin
            if ended >= WARM_UP_S:
                done.append(ended)

    threads = [threading.Thread(target=reader) for _ in range(reads.depth)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    busy = (time.process_time() - used) / max(time.monotonic() - begin, 1e-9)
    ends = sorted(done)
    took = ends[-1] - ends[0] if len(ends) > 1 else 0.0
    return ((len(ends) - 1) / took if took else 0.0), busy


def main(words: list[str]) -> int:
    path, octets, depth, pattern, *others = words
    reads = Reads(int(octets), int(depth), pattern, *map(int, others))
    if pattern == ALONE:
        print(f"{alone_ms(path, reads):.6f} 0")
        return 0
    rate, busy = measure(path, reads)
    print(f"{rate:.3f} {busy:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
