# SPDX-License-Identifier: GPL-2.0-or-later
"""Output of our own ddt and ioperf: on standard output, one line per test, `NAME: VALUE UNIT, ...`.

ddt:     write: 147718.0 KiB/s, cpu 12.31 %, real 28.394 s
         write-stat: user 1 nice 0 system 2 idle 30 iowait 5 irq 0 softirq 0 steal 0
ioperf:  fwrite: 88000.0 KiB/s, real 4.545 s, cpu 0.310 s, efficiency 6.82 %
         seeks: 201.4 1/s, real ..., cpu ..., efficiency ...
A value that could not be measured is "n/a".
"""

import re

from raidtrace.benchmark.figure import KIB_PER_S, PER_S, SECONDS, Figure, fail, number

_LINE = re.compile(r"^([a-z][a-z-]*): (\S+) (KiB/s|1/s), (.*)$")
_PAIR = re.compile(r"^(cpu|real|efficiency) (\S+) (%|s)$")
_STAT = re.compile(r"^[a-z-]+-stat: (?:[a-z]+ -?\d+ ?)+$")
PHASES = {
    "ddt": ("write", "read"),
    "ioperf": ("fwrite", "fread", "putc", "getc", "seeks"),
}


def parse(output: str, program: str) -> tuple[Figure, ...]:
    """The figures of ddt or ioperf. cpu_percent is ddt's cpu, over all processors, and ioperf's efficiency, of one."""
    lines = output.splitlines()
    figures = []
    for at, line in enumerate(lines, 1):
        match = _LINE.match(line)
        if match:
            figures += _test(program, lines, at, match)
        elif line.strip() and not line.startswith("#") and not _STAT.match(line):
            raise fail(program, lines, at, "neither a result, nor a comment, nor counters")
    missing = [phase for phase in PHASES[program] if phase not in (figure.phase for figure in figures)]
    if len(missing) == len(PHASES[program]):
        raise fail(program, lines, None, "no result in it; did it end early?")
    return tuple(figures)


def _test(program: str, lines: list[str], at: int, match: re.Match[str]) -> list[Figure]:
    phase, value, unit, rest = match.groups()
    if phase not in PHASES[program]:
        raise fail(program, lines, at, f"a test {phase!r} is not one of {', '.join(PHASES[program])}")
    pairs = {}
    for part in rest.split(", "):
        pair = _PAIR.match(part)
        if not pair:
            raise fail(program, lines, at, f"{part!r} is not 'NAME NUMBER UNIT'")
        pairs[pair[1]] = _value(program, lines, at, pair[2])
    percent = pairs.get("cpu") if program == "ddt" else pairs.get("efficiency")
    figures = [Figure(phase, _value(program, lines, at, value), KIB_PER_S if unit == KIB_PER_S else PER_S, percent)]
    figures.append(Figure(f"{phase}-real", pairs.get("real"), SECONDS))
    if program == "ioperf":
        figures.append(Figure(f"{phase}-cpu", pairs.get("cpu"), SECONDS))
    return figures


def _value(program: str, lines: list[str], at: int, text: str) -> float | None:
    if text == "n/a":
        return None
    try:
        return number(text)
    except ValueError as error:
        raise fail(program, lines, at, f"{text!r} is not a figure") from error
