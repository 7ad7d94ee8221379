# SPDX-License-Identifier: GPL-2.0-or-later
"""Parsers for the output of the benchmarks: bonnie++, dd, fio, iozone, and our own ddt and ioperf."""

import csv
import dataclasses
import json
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from raidtrace.quantity.shown import UserError

KIB_PER_S = "KiB/s"
PER_S = "1/s"
SECONDS = "s"


class ParseError(UserError):
    """Output that cannot be parsed. The text contains program, line and the expected content."""


@dataclasses.dataclass(frozen=True)
class Figure:
    """One figure that a program reported.

    value: None: the program reports that it could not measure it (bonnie++ prints +++++). cpu_percent: processor use
    that the program reports, by its own definition; None: none. where: further identification, such as ("record_kib",
    "64").
    """

    phase: str
    value: float | None
    unit: str
    cpu_percent: float | None = None
    where: tuple[tuple[str, str], ...] = ()


def fail(program: str, lines: Sequence[str], number: int | None, why: str) -> ParseError:
    """The error for line `number` (from 1), or for the whole output if it is None."""
    if not any(line.strip() for line in lines):
        return ParseError(f"{program}: no output at all; {why}")
    if number is None:
        return ParseError(f"{program}: {why}; the output has {len(lines)} lines, the last is {_quote(_last(lines))}")
    return ParseError(f"{program}: line {number}: {why}: {_quote(lines[number - 1])}")


def number(text: str) -> float:
    """A finite number that is not negative. Raises ValueError for anything else, including nan and inf."""
    value = float(text)
    if not math.isfinite(value) or value < 0:
        raise ValueError(f"{text} is not a measured value")
    return value


def _last(lines: Sequence[str]) -> str:
    return next(line for line in reversed(lines) if line.strip())


def _quote(line: str) -> str:
    shown = line.strip()
    return repr(shown if len(shown) <= 80 else shown[:77] + "...")


# bonnie++ prints plus signs for a test that was too fast
NOT_MEASURED = {"bonnie++": re.compile(r"\++"), "ddt": re.compile("n/a"), "ioperf": re.compile("n/a")}


def _value(program: str, lines: list[str], at: int, text: str) -> float | None:
    """A figure. None: the program did not measure it. Raises ParseError."""
    if program in NOT_MEASURED and NOT_MEASURED[program].fullmatch(text):
        return None
    try:
        return number(text)
    except ValueError as error:
        raise fail(program, lines, at, f"{text!r} is not a figure") from error


# Output of bonnie++ 1.0x and 1.9x/2.00: its last line, with comma-separated values.
#
# 1.0x:  MACHINE,SIZE,putc,%cpu,block,%,rewrite,%,getc,%,block,%,seeks,%,files,create,%,stat,%,delete,%,create,%,stat,%,delete,%
# 1.9x, 2.00: FORMAT,VERSION,name,concurrency,seed,size,chunk,... with latencies at the end. Format 1.98 has two more
# fields than the line of names that 2.00a prints: after the chunk, the number of seeks and of seeking processes.
#
# An empty field is a test that was left out; +++++ is one that was too fast to be measured. Rates are in KiB/s, the
# others in 1/s. The per cent are of one processor, of bonnie++ itself alone.

NEW = re.compile(r"^1\.9\d,\d\.\d+\w*,")
OLD = re.compile(r"^[^,]*,\d+[KMG]?(?::\w+)?,")  # machine, size, perhaps its chunk
# phase, and its field in the new format; the next field is its per cent of a processor
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
NEW_LENGTHS, OLD_LENGTHS = {48: 0, 50: 2}, (14, 15, 27)  # of the new format: the shift of its fields
BONNIE_RATES = ("write-chr", "write", "rewrite", "read-chr", "read")


def bonnie(output: str) -> tuple[Figure, ...]:
    """The figures of all runs (-x) in the output, in order. Those of the second run have ("run", "2"). Raises
    ParseError."""
    lines = output.splitlines()
    runs: list[list[Figure]] = []
    for at, line in enumerate(lines, 1):
        fields: list[str] = next(csv.reader([line.strip()]), [])
        if NEW.match(line.strip()):
            if len(fields) not in NEW_LENGTHS:
                raise fail("bonnie++", lines, at, f"{len(fields)} fields instead of 48 or 50")
            shift = NEW_LENGTHS[len(fields)]
            runs.append(_bonnie_run(lines, at, fields, tuple((p, n + shift) for p, n in NEW_FIELDS), len(runs) + 1))
        elif OLD.match(line.strip()):
            if len(fields) not in OLD_LENGTHS:
                raise fail("bonnie++", lines, at, f"{len(fields)} fields instead of 27, or 14 without files")
            runs.append(_bonnie_run(lines, at, fields, OLD_FIELDS, len(runs) + 1))
    if not runs:
        raise fail("bonnie++", lines, None, "no line of comma-separated results; the benchmark may have ended early")
    return tuple(figure for run in runs for figure in run)


def _bonnie_run(
    lines: list[str], at: int, fields: list[str], places: tuple[tuple[str, int], ...], run: int
) -> list[Figure]:
    figures = []
    where = (("run", str(run)),) if run > 1 else ()
    for phase, place in places:
        if place + 1 >= len(fields) or not fields[place]:
            continue
        value, cpu = _value("bonnie++", lines, at, fields[place]), _value("bonnie++", lines, at, fields[place + 1])
        figures.append(Figure(phase, value, KIB_PER_S if phase in BONNIE_RATES else PER_S, cpu, where))
    if not figures:
        raise fail("bonnie++", lines, at, "this line of results has no result")
    return figures


# Output of dd: GNU in any language, busybox, BSD, and the old GNU dd that printed no rate.
#
# All print the number of blocks read and written, on lines of "FULL+PARTIAL words". The next line differs:
#
# GNU, since coreutils 5.1   1024 bytes (1.0 kB, 1.0 KiB) copied, 2.2073e-05 s, 46.4 MB/s
#   in another language      314572800 Bytes (315 MB, 300 MiB) kopiert, 0,0082 s, 38,3 GB/s
#                            скопійовано 314572800 байтів (315 MB, 300 MiB), 0,0123 s, 25,5 GB/s
#   before 8.24              21474836480 bytes (21 GB) copied, 177.143 s, 121 MB/s
# busybox                    314572800 bytes (300.0MB) copied, 0.013010 seconds, 22.5GB/s
# BSD                        20971520 bytes transferred in 0.004 secs (5242880000 bytes/sec)
# older GNU                  nothing: the "real" time of time(1) is used, in sh's or in bash's form
#
# The rate is computed from bytes and seconds, because the printed one is rounded. With status=progress the same line is
# printed every second with the bytes copied so far; the last one counts.

_DD_NUMBER = r"[0-9]+(?:[.,][0-9]+)?(?:[eE][+-]?[0-9]+)?"
_BLOCKS = re.compile(r"^([0-9]+)\+([0-9]+)\s+\S|^\S+\s*([0-9]+)\+([0-9]+)\s*\S")
# bytes, perhaps after a word; at the end seconds, in any language, and the rate
_GNU = re.compile(
    rf"^(?:[^\W\d]+\s+)?([0-9]+)\s+[^\W\d]+\s*(?:\([^)]*\))?[^()]*?[,，]?\s*({_DD_NUMBER})\s*[^\W\d]+\s*[,，]\s*"
    rf"{_DD_NUMBER}\s*[^\W\d]+/[^\W\d]+$"
)
MAX_DD_LINE = 200  # characters in any language; to reject a line takes time by the square of its length
_BSD = re.compile(rf"^([0-9]+) bytes transferred in ({_DD_NUMBER}) secs? \({_DD_NUMBER} bytes/sec\)$")
_REAL = re.compile(rf"^real\s+(?:([0-9]+)m)?({_DD_NUMBER})s?$|.*?(?:([0-9]+):)?({_DD_NUMBER})elapsed\b.*$")


def dd(output: str, phase: str, block_bytes: int | None = None) -> tuple[Figure, ...]:
    """The rate of dd. block_bytes: size of a block, which only the oldest form needs. Raises ParseError."""
    lines = output.splitlines()
    blocks = real = rate = None
    for at, line in enumerate(lines, 1):
        text = line.strip()
        if len(text) > MAX_DD_LINE:
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
        return (_dd_rate(lines, rate[0], phase, *rate[1:]),)
    if blocks is None:
        raise fail("dd", lines, None, "no line has the number of copied blocks")
    if real is None or block_bytes is None:
        raise fail("dd", lines, blocks[0], "blocks, but after them neither seconds nor the time that time(1) prints")
    counted = re.search(r"([0-9]+)\+([0-9]+)", blocks[1])
    assert counted is not None
    if counted[2] != "0":
        raise fail("dd", lines, blocks[0], "a partial block, so the number of bytes is not known")
    minutes, seconds = real[1]
    whole = str(60 * int(minutes or 0) + float(seconds.replace(",", ".")))
    return (_dd_rate(lines, real[0], phase, int(counted[1]) * block_bytes, whole),)


def _dd_rate(lines: list[str], at: int, phase: str, size: int, text: str) -> Figure:
    try:
        seconds = number(text.replace(",", "."))
    except ValueError as error:
        raise fail("dd", lines, at, str(error)) from error
    if not seconds or not size:
        raise fail("dd", lines, at, "no bytes or no time, so there is no rate")
    return Figure(phase, size / 1024 / seconds, KIB_PER_S)


# Output of fio with --output-format=json or json+, from any job file.
#
# Text before the JSON (notes, warnings) is skipped. Each job and direction that moved a byte is one figure: its bytes
# by its run time, in KiB/s. Processor use is the job's own (user and system), of one processor. The phase is the job's
# name, followed by -read or -write if a job did both.

FIO_MAX = 1e18  # bytes or seconds: above any plausible run
FIO_DIRECTIONS = ("read", "write", "trim")


def fio(output: str, in_calls: Callable[[str], bool] = lambda job: False) -> tuple[Figure, ...]:
    """The figures of all jobs, in the order of fio's output, which may contain several runs. Raises ParseError.

    in_calls: whether the time of a job, by its name, is the sum of its calls (ns) instead of its run time (whole ms).
    """
    lines = output.splitlines()
    starts = [at for at, line in enumerate(lines) if line == "{"]
    if not starts:
        raise fail("fio", lines, None, "no JSON in it; run fio with --output-format=json")
    figures = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        try:
            document, _ = json.JSONDecoder().raw_decode("\n".join(lines[start:end]))
        except json.JSONDecodeError as error:
            raise fail("fio", lines, min(start + error.lineno, len(lines)), f"not JSON, {error.msg}") from error
        except (ValueError, RecursionError) as error:  # a number with too many digits, or endless nesting
            raise fail("fio", lines, start + 1, f"not the JSON of fio, {error}") from error
        jobs = document.get("jobs")
        if not isinstance(jobs, list) or not jobs:
            raise ParseError(
                f"fio: line {start + 1}: JSON without jobs; output of fio's client and server is not supported; "
                "client and server output is not read"
            )
        named = [at for at in range(start, end) if '"jobname"' in lines[at]]
        for at, job in enumerate(jobs):
            line = (named[at] if len(named) == len(jobs) else start) + 1
            figures += _fio_job(job, f"fio: line {line}: job {at + 1}", in_calls)
    return tuple(figures)


def _fio_job(job: Any, place: str, in_calls: Callable[[str], bool]) -> list[Figure]:
    try:
        name, failed = str(job["jobname"]), int(job.get("error", 0))
        used = [d for d in FIO_DIRECTIONS if job.get(d) and int(job[d]["io_bytes"]) > 0]
        cpu = float(job["usr_cpu"]) + float(job["sys_cpu"])
        moved = {d: (int(job[d]["io_bytes"]), _fio_seconds(job[d], in_calls(name))) for d in used}
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ParseError(f"{place}: {error} is missing or damaged; is this output of fio 3?") from error
    if failed:
        raise ParseError(f"{place} ({name}) ended with error {failed}")
    if not moved:
        raise ParseError(f"{place} ({name}) moved no byte")
    figures = []
    for direction, (size, seconds) in moved.items():
        if not 0 < seconds < FIO_MAX or size > FIO_MAX:
            raise ParseError(f"{place} ({name}): {size} bytes in {seconds:g} s: there is no rate")
        phase = name if len(moved) == 1 else f"{name}-{direction}"
        figures.append(Figure(phase, size / 1024 / seconds, KIB_PER_S, cpu))
    return figures


def _fio_seconds(direction: Any, in_calls: bool) -> float:
    if in_calls:
        return float(direction["lat_ns"]["mean"]) * int(direction["lat_ns"]["N"]) / 1e9
    return float(direction["runtime"]) / 1000


# Output of iozone: the throughput mode (-t) and the table of the automatic mode (-a).
#
# Throughput, one block per test; the figure is the sum of all its processes ("Children see", as in the published runs):
#
#     Children see throughput for  1 initial writers  =  109333.84 KB/sec        KB is 1024 bytes, kB too
#
# Automatic, one line per file size and record size; columns of tests that did not run are blank:
#
#               kB  reclen    write    rewrite      read    reread  ...
#
# A blank column does not shift the others: a value belongs to the column with the nearest end.

# the name of the processes of a test in -t, without their number -> the phase
IOZONE_TESTS = {
    "initial writers": "write", "rewriters": "rewrite", "readers": "read", "re-readers": "reread",
    "random readers": "random-read", "random writers": "random-write", "mixed workload": "mixed",
    "reverse readers": "backward-read", "stride readers": "stride-read", "pwrite writers": "pwrite",
    "pread readers": "pread", "fwriters": "fwrite", "freaders": "fread", "refwriters": "refwrite", "refreaders": "refread",
    "random mix": "mixed",
}  # fmt: skip
# the columns of -a, in order
IOZONE_COLUMNS = ("write", "rewrite", "read", "reread", "random-read", "random-write", "backward-read", "record-rewrite",
                  "stride-read", "fwrite", "refwrite", "fread", "refread")  # fmt: skip
_CHILDREN = re.compile(r"^\s*Children see throughput for\s+(\d+)\s+(.*?)\s*=\s*(\S+)\s+(\S+)\s*$")
_HEADER = re.compile(r"^\s*[kK]B\s+reclen\s+write\s+rewrite\s+read\s+reread\b")
_ROW = re.compile(r"^\s*(\d+)\s+(\d+)\s+\d")


def iozone(output: str) -> tuple[Figure, ...]:
    """All figures in KiB/s. Those of -a have file_kib and record_kib; those of -t with several processes have
    `processes`. Raises ParseError."""
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
            ends = [word.end() for word in re.finditer(r"\S+", text)][2:]
            if len(ends) > len(IOZONE_COLUMNS):
                raise fail("iozone", lines, at, f"{len(ends)} columns, at most {len(IOZONE_COLUMNS)} are known")
        elif ends is not None and _ROW.match(text):
            figures += _iozone_row(lines, at, text, ends)
        elif ends is not None and re.match(r"^\s*\d+\s+\d+", text):
            raise fail("iozone", lines, at, "this line of the table has no figure")
    if not figures:
        raise fail(
            "iozone",
            lines,
            None,
            "neither a line 'Children see throughput' nor a table of -a; the benchmark may have ended early",
        )
    return tuple(figures)


def _throughput(lines: list[str], at: int, match: re.Match[str]) -> Figure:
    processes, who, value, unit = match.groups()
    if who not in IOZONE_TESTS:
        raise fail("iozone", lines, at, f"unknown test of {who!r}")
    if unit.lower() not in ("kb/sec", "kbytes/sec"):
        raise fail("iozone", lines, at, f"unit {unit!r} where KB/sec was expected")
    where = (("processes", processes),) if processes != "1" else ()
    return Figure(IOZONE_TESTS[who], _value("iozone", lines, at, value), KIB_PER_S, None, where)


def _iozone_row(lines: list[str], at: int, text: str, ends: list[int]) -> list[Figure]:
    file_kib, record_kib, *values = [(word[0], word.end()) for word in re.finditer(r"\S+", text)]
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
        figures.append(Figure(IOZONE_COLUMNS[column], _value("iozone", lines, at, value), KIB_PER_S, None, where))
    return figures


# Output of our own ddt and ioperf: on standard output, one line per test, `NAME: VALUE UNIT, ...`.
#
# ddt:     write: 147718.0 KiB/s, cpu 12.31 %, real 28.394 s
#          write-stat: user 1 nice 0 system 2 idle 30 iowait 5 irq 0 softirq 0 steal 0
# ioperf:  fwrite: 88000.0 KiB/s, real 4.545 s, cpu 0.310 s, efficiency 6.82 %
#          seeks: 201.4 1/s, real ..., cpu ..., efficiency ...
# A value that could not be measured is "n/a".

_LINE = re.compile(r"^([a-z][a-z-]*): (\S+) (KiB/s|1/s), (.*)$")
_PAIR = re.compile(r"^(cpu|real|efficiency) (\S+) (%|s)$")
_STAT = re.compile(r"^[a-z-]+-stat: (?:[a-z]+ -?\d+ ?)+$")
OWN_PHASES = {
    "ddt": ("write", "read"),
    "ioperf": ("fwrite", "fread", "putc", "getc", "seeks"),
}


def own(output: str, program: str) -> tuple[Figure, ...]:
    """The figures of ddt or ioperf. cpu_percent is ddt's cpu (of all processors), or ioperf's efficiency (of one).
    Raises ParseError."""
    lines = output.splitlines()
    figures = []
    for at, line in enumerate(lines, 1):
        match = _LINE.match(line)
        if match:
            figures += _own_test(program, lines, at, match)
        elif line.strip() and not line.startswith("#") and not _STAT.match(line):
            raise fail(program, lines, at, "neither a result, a comment nor counters")
    missing = [phase for phase in OWN_PHASES[program] if phase not in (figure.phase for figure in figures)]
    if len(missing) == len(OWN_PHASES[program]):
        raise fail(program, lines, None, "no result; the benchmark may have ended early")
    return tuple(figures)


def _own_test(program: str, lines: list[str], at: int, match: re.Match[str]) -> list[Figure]:
    phase, value, unit, rest = match.groups()
    if phase not in OWN_PHASES[program]:
        raise fail(program, lines, at, f"unknown test {phase!r}; known tests: {', '.join(OWN_PHASES[program])}")
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
