# SPDX-License-Identifier: GPL-2.0-or-later
"""The rate that a disk has for any kind of request: requests and bytes that it completes per second.

No setting can change the limit of a volume. But size, place and depth of requests can be changed, and a limit does not
depend on them: a rate that stays the same is a limit. Only direct reads are used. If a limit allows bursts, it may
appear only after them.

    python3 rate.py DEVICE BYTES IN-FLIGHT random|forward|along|alone SEED FROM LENGTH

runs one reader. It prints requests per second, and the share of a processor that it used. For the pattern alone, it
prints the ms of a request and 0.
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

PAUSE_S, ALONE_REQUESTS = 0.01, 40  # s between requests that are alone at the disk, and their number
MAX_SAME_FACTOR = 1.06  # largest by smallest rate: up to this quotient they are equal
MIN_RATE_SHARE = 0.95  # of a rate: a command that reaches this share is limited by it
MAX_CPU_SHARE = 0.5  # of a processor: a reader that uses more may limit itself
WARM_UP_S, MIN_S, MAX_S, ENOUGH_REQUESTS = 0.5, 1.0, 4.0, 200  # s of one reader; requests
MAX_RATE = 25000  # requests per second: above this Python uses more than MAX_CPU_SHARE, and a reader ends early
KIB = 1 << 10


RANDOM, FORWARD, ALONG, ALONE = "random", "forward", "along", "alone"  # along: sequential


@dataclasses.dataclass(frozen=True)
class Reads:
    """The requests of one reader. octets: bytes of a request. depth: requests in flight. seed: of the places. start,
    length: the range of the disk in bytes; length 0: to its end."""

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
    """The rates of a disk, from the slowest to the fastest reader. None: they differ, or were not measured. requests:
    per second, with 4 and 16 KiB. octets: bytes per second, with 64 and 256 KiB. alone_ms: median time of a request of
    the command's size that is alone at the disk."""

    requests: tuple[float, float] | None = None
    octets: tuple[float, float] | None = None
    alone_ms: float | None = None


def judge(measure: Measure) -> Rates:
    """Run the readers. measure: returns the requests per second of a reader; None: not measured, or limited by its
    processor. If two rates of a group differ, the rest of the group is not measured."""
    return Rates(_one(SMALL, measure), _one(LARGE, lambda reads: (measure(reads) or 0.0) * reads.octets))


def _one(group: Sequence[Reads], measure: Measure) -> tuple[float, float] | None:
    known: list[float] = []
    for reads in group:
        known.append(measure(reads) or 0.0)
        if not min(known) or max(known) > MAX_SAME_FACTOR * min(known):
            return None
    return min(known), max(known)


def read(text: str) -> float | None:
    """Requests per second, from the output of a reader. None: it failed, or its processor may have limited it. Raises
    ValueError for other text."""
    rate, busy = map(float, text.split())
    return rate if rate > 0 and busy < MAX_CPU_SHARE else None


def places(reads: Reads, size: int) -> Iterator[int]:
    """Endless offsets of requests in bytes: random, sequential, or with a gap of one request, so that none are merged.
    size: of the disk. Raises OSError: the range is too small."""
    number, draw = (reads.length or size - reads.start) // reads.octets, random.Random(reads.seed)
    if number < 4:
        raise OSError(f"{size} bytes are too few to measure")
    first, stride = draw.randrange(number), {ALONG: 1, FORWARD: 2}.get(reads.pattern)
    return (reads.start + reads.octets * ((first + stride * step) % number if stride else draw.randrange(number))
            for step in itertools.count())  # fmt: skip


def alone_ms(path: str, reads: Reads) -> float:
    """Median ms of reads with a pause before each, so that none waits for a limit. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC)
    page, took = mmap.mmap(-1, reads.octets), []
    for at in itertools.islice(places(reads, os.lseek(handle, 0, os.SEEK_END)), ALONE_REQUESTS):
        time.sleep(PAUSE_S)
        begin = time.monotonic()
        os.preadv(handle, [page], at)
        took.append(1e3 * (time.monotonic() - begin))
    return statistics.median(took)


def measure(path: str, reads: Reads) -> tuple[float, float]:
    """Requests per second, and the share of a processor used. Raises OSError: the disk cannot be read, or
    is too fast."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC)
    where, taking = enumerate(places(reads, os.lseek(handle, 0, os.SEEK_END))), threading.Lock()
    done: collections.deque[float] = collections.deque()
    begin, used = time.monotonic(), time.process_time()  # without the start of the interpreter
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
