# SPDX-License-Identifier: GPL-2.0-or-later
"""Output of dd: GNU in any language, busybox, BSD, and the old GNU dd that printed no rate.

All print how many blocks went in and out, on lines of "FULL+PARTIAL words". What follows differs:

GNU, since coreutils 5.1   1024 bytes (1.0 kB, 1.0 KiB) copied, 2.2073e-05 s, 46.4 MB/s
  in another language      314572800 Bytes (315 MB, 300 MiB) kopiert, 0,0082 s, 38,3 GB/s
                           скопійовано 314572800 байтів (315 MB, 300 MiB), 0,0123 s, 25,5 GB/s
  before 8.24              21474836480 bytes (21 GB) copied, 177.143 s, 121 MB/s
busybox                    314572800 bytes (300.0MB) copied, 0.013010 seconds, 22.5GB/s
BSD                        20971520 bytes transferred in 0.004 secs (5242880000 bytes/sec)
older GNU                  nothing: the time came from time(1), whose "real" is taken, in sh's and in bash's form

The rate is worked out from bytes and seconds, never taken from the rounded one that is printed. With status=progress the same
line is printed every second of what was copied by then; the last one counts.
"""

import re

from raidtrace.benchmark.figure import KIB_PER_S, Figure, fail, number

_NUMBER = r"[0-9]+(?:[.,][0-9]+)?(?:[eE][+-]?[0-9]+)?"
_BLOCKS = re.compile(r"^([0-9]+)\+([0-9]+)\s+\S|^\S+\s*([0-9]+)\+([0-9]+)\s*\S")
# bytes, perhaps after a word; at the end seconds, whatever a language calls them, and the rate
_GNU = re.compile(
    rf"^(?:[^\W\d]+\s+)?([0-9]+)\s+[^\W\d]+\s*(?:\([^)]*\))?[^()]*?[,，]?\s*({_NUMBER})\s*[^\W\d]+\s*[,，]\s*"
    rf"{_NUMBER}\s*[^\W\d]+/[^\W\d]+$"
)
LONGEST = 200  # characters of a line of dd in any language; a pattern takes the square of a line to say no
_BSD = re.compile(rf"^([0-9]+) bytes transferred in ({_NUMBER}) secs? \({_NUMBER} bytes/sec\)$")
_REAL = re.compile(rf"^real\s+(?:([0-9]+)m)?({_NUMBER})s?$|.*?(?:([0-9]+):)?({_NUMBER})elapsed\b.*$")


def parse(output: str, phase: str, block_bytes: int | None = None) -> tuple[Figure, ...]:
    """The rate that dd reached. block_bytes: size of a block, which only the oldest form needs."""
    lines = output.splitlines()
    blocks = real = rate = None
    for at, line in enumerate(lines, 1):
        text = line.strip()
        if len(text) > LONGEST:
            continue
        match = _GNU.match(text) or _BSD.match(text)
        if match:
            rate = at, int(match[1]), match[2]
        if _BLOCKS.match(text):
            blocks = at, text
        match = _REAL.match(text)
        if match:
            real = at, (match[1] or match[3], match[2] or match[4])
    if rate is not None:
        return (_rate(lines, rate[0], phase, *rate[1:]),)
    if blocks is None:
        raise fail("dd", lines, None, "nowhere does it say how many blocks it copied")
    if real is None or block_bytes is None:
        raise fail("dd", lines, blocks[0], "blocks, but after them neither seconds nor the time that time(1) prints")
    counted = re.search(r"([0-9]+)\+([0-9]+)", blocks[1])
    assert counted is not None
    if counted[2] != "0":
        raise fail("dd", lines, blocks[0], "a block that is not whole, so its bytes are not known")
    minutes, seconds = real[1]
    whole = str(60 * int(minutes or 0) + float(seconds.replace(",", ".")))
    return (_rate(lines, real[0], phase, int(counted[1]) * block_bytes, whole),)


def _rate(lines: list[str], at: int, phase: str, size: int, text: str) -> Figure:
    try:
        seconds = number(text.replace(",", "."))
    except ValueError as error:
        raise fail("dd", lines, at, str(error)) from error
    if not seconds or not size:
        raise fail("dd", lines, at, "no bytes, or no time passed: there is no rate")
    return Figure(phase, size / 1024 / seconds, KIB_PER_S)
