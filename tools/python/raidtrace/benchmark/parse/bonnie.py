# SPDX-License-Identifier: GPL-2.0-or-later
"""Output of bonnie++ 1.0x and 1.9x/2.00: the line of comma-separated values that each of them ends with.

1.0x:  MACHINE,SIZE,putc,%cpu,block,%,rewrite,%,getc,%,block,%,seeks,%,files,create,%,stat,%,delete,%,create,%,stat,%,delete,%
1.9x, 2.00: FORMAT,VERSION,name,concurrency,seed,size,chunk,... with latencies at the end. Format 1.98 has two fields more
than the line of names that 2.00a prints above it: after the chunk, the number of seeks and of processes that seek.

A test that was left out is an empty field, one that was too fast to be measured is +++++. Rates are KiB/s, the others
1/s; the per cent are those of one processor, of bonnie++ itself alone.
"""

import csv
import re

from raidtrace.benchmark.figure import KIB_PER_S, PER_S, Figure, fail, number

NEW = re.compile(r"^1\.9\d,\d\.\d+\w*,")
OLD = re.compile(r"^[^,]*,\d+[KMG]?(?::\w+)?,")  # machine, size, perhaps its chunk
TOO_FAST = re.compile(r"^\++$")
# phase, and the field that holds it in the new format; each is followed by its per cent of a processor
NEW_FIELDS = (
    ("write-chr", 7), ("write", 9), ("rewrite", 11), ("read-chr", 13), ("read", 15), ("seeks", 17),
    ("create-seq", 24), ("stat-seq", 26), ("delete-seq", 28), ("create-random", 30), ("stat-random", 32),
    ("delete-random", 34),
)  # fmt: skip
OLD_FIELDS = (
    ("write-chr", 2), ("write", 4), ("rewrite", 6), ("read-chr", 8), ("read", 10), ("seeks", 12),
    ("create-seq", 15), ("stat-seq", 17), ("delete-seq", 19), ("create-random", 21), ("stat-random", 23),
    ("delete-random", 25),
)  # fmt: skip
NEW_LENGTHS, OLD_LENGTHS = {48: 0, 50: 2}, (14, 15, 27)  # of the new: by how much its fields are shifted
RATES = ("write-chr", "write", "rewrite", "read-chr", "read")


def parse(output: str) -> tuple[Figure, ...]:
    """All figures of all runs (-x) in the output, in order; figures of a second run carry ("run", "2")."""
    lines = output.splitlines()
    runs: list[list[Figure]] = []
    for at, line in enumerate(lines, 1):
        fields: list[str] = next(csv.reader([line.strip()]), [])
        if NEW.match(line.strip()):
            if len(fields) not in NEW_LENGTHS:
                raise fail("bonnie++", lines, at, f"{len(fields)} fields, its format has 48 or 50")
            shift = NEW_LENGTHS[len(fields)]
            runs.append(_run(lines, at, fields, tuple((p, n + shift) for p, n in NEW_FIELDS), len(runs) + 1))
        elif OLD.match(line.strip()):
            if len(fields) not in OLD_LENGTHS:
                raise fail("bonnie++", lines, at, f"{len(fields)} fields, its format has 27, or 14 without files")
            runs.append(_run(lines, at, fields, OLD_FIELDS, len(runs) + 1))
    if not runs:
        raise fail("bonnie++", lines, None, "there is no line of comma-separated results; did it end early?")
    return tuple(figure for run in runs for figure in run)


def _run(lines: list[str], at: int, fields: list[str], places: tuple[tuple[str, int], ...], run: int) -> list[Figure]:
    figures = []
    where = (("run", str(run)),) if run > 1 else ()
    for phase, place in places:
        if place + 1 >= len(fields) or not fields[place]:
            continue
        value, cpu = _value(lines, at, fields[place]), _value(lines, at, fields[place + 1])
        figures.append(Figure(phase, value, KIB_PER_S if phase in RATES else PER_S, cpu, where))
    if not figures:
        raise fail("bonnie++", lines, at, "a line of results without a single one")
    return figures


def _value(lines: list[str], at: int, text: str) -> float | None:
    if TOO_FAST.match(text):
        return None
    try:
        return number(text)
    except ValueError as error:
        raise fail("bonnie++", lines, at, f"{text!r} is not a figure") from error
