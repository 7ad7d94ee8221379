# SPDX-License-Identifier: GPL-2.0-or-later
"""Output of iozone: the throughput mode (-t) and the table of the automatic mode (-a).

Throughput, one block per test; what all its processes together moved is taken ("Children see", as in the published runs):

    Children see throughput for  1 initial writers  =  109333.84 KB/sec        KB is 1024 bytes, kB too

Automatic, one line per file size and record size, columns that were not tested are blank:

              kB  reclen    write    rewrite      read    reread  ...

A blank column moves nothing to the left: a value belongs to the column under which it ends.
"""

import re

from raidtrace.benchmark.figure import KIB_PER_S, Figure, ParseError, fail, number

# what -t calls those that do a test, without their number, and the name of the phase
TESTS = {
    "initial writers": "write", "rewriters": "rewrite", "readers": "read", "re-readers": "reread",
    "random readers": "random-read", "random writers": "random-write", "mixed workload": "mixed",
    "reverse readers": "backward-read", "stride readers": "stride-read", "pwrite writers": "pwrite",
    "pread readers": "pread", "fwriters": "fwrite", "freaders": "fread", "refwriters": "refwrite", "refreaders": "refread",
    "random mix": "mixed",
}  # fmt: skip
# the columns of -a, in order
COLUMNS = ("write", "rewrite", "read", "reread", "random-read", "random-write", "backward-read", "record-rewrite",
           "stride-read", "fwrite", "refwrite", "fread", "refread")  # fmt: skip
_CHILDREN = re.compile(r"^\s*Children see throughput for\s+(\d+)\s+(.*?)\s*=\s*(\S+)\s+(\S+)\s*$")
_HEADER = re.compile(r"^\s*[kK]B\s+reclen\s+write\s+rewrite\s+read\s+reread\b")
_ROW = re.compile(r"^\s*(\d+)\s+(\d+)\s+\d")


def parse(output: str) -> tuple[Figure, ...]:
    """All figures, KiB/s. Those of -a carry file_kib and record_kib, those of -t with several processes `processes`."""
    lines = output.splitlines()
    if any("operations per second" in line or "microseconds" in line for line in lines):
        raise ParseError("iozone: -O and -N print operations or times instead of rates; run it without them")
    figures = []
    ends: list[int] | None = None
    for at, line in enumerate(lines, 1):
        text = line.expandtabs()
        match = _CHILDREN.match(text)
        if match:
            figures.append(_throughput(lines, at, match))
        elif _HEADER.match(text):
            ends = [found.end() for found in re.finditer(r"\S+", text)][2:]
            if len(ends) > len(COLUMNS):
                raise fail("iozone", lines, at, f"{len(ends)} columns, known are {len(COLUMNS)}")
        elif ends is not None and _ROW.match(text):
            figures += _row(lines, at, text, ends)
        elif ends is not None and re.match(r"^\s*\d+\s+\d+", text):
            raise fail("iozone", lines, at, "a line of the table without a figure")
    if not figures:
        raise fail(
            "iozone", lines, None, "neither a line 'Children see throughput' nor a table of -a; did it end early?"
        )
    return tuple(figures)


def _throughput(lines: list[str], at: int, match: re.Match[str]) -> Figure:
    processes, who, value, unit = match.groups()
    if who not in TESTS:
        raise fail("iozone", lines, at, f"a test of {who!r} is not known")
    if unit.lower() not in ("kb/sec", "kbytes/sec"):
        raise fail("iozone", lines, at, f"unit {unit!r} where KB/sec was expected")
    where = (("processes", processes),) if processes != "1" else ()
    return Figure(TESTS[who], _value(lines, at, value), KIB_PER_S, None, where)


def _row(lines: list[str], at: int, text: str, ends: list[int]) -> list[Figure]:
    file_kib, record_kib, *values = [(found[0], found.end()) for found in re.finditer(r"\S+", text)]
    where = (("file_kib", file_kib[0]), ("record_kib", record_kib[0]))
    if len(values) > len(ends):
        raise fail("iozone", lines, at, f"{len(values)} figures under {len(ends)} columns")
    figures = []
    column = -1
    for left, (value, end) in zip(range(len(values) - 1, -1, -1), values, strict=True):
        if len(values) == len(ends):
            column += 1
        else:
            open_ = range(column + 1, len(ends) - left)
            column = min(open_, key=lambda index: abs(ends[index] - end))
        figures.append(Figure(COLUMNS[column], _value(lines, at, value), KIB_PER_S, None, where))
    return figures


def _value(lines: list[str], at: int, text: str) -> float:
    try:
        return number(text)
    except ValueError as error:
        raise fail("iozone", lines, at, f"{text!r} is not a figure") from error
