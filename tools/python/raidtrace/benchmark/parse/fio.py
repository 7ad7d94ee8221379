# SPDX-License-Identifier: GPL-2.0-or-later
"""Output of fio with --output-format=json or json+, of any job file.

Whatever fio says before the JSON (notes, warnings) is passed over. Each job and direction that moved a byte is one figure:
its bytes over its run time, KiB/s. Processor use is the job's own, user and system, of one processor. The phase is the
job's name, with -read or -write behind it when a job did both.
"""

import json
from collections.abc import Callable
from typing import Any

from raidtrace.benchmark.figure import KIB_PER_S, Figure, ParseError, fail

MOST = 1e18  # bytes or seconds: more than any run has
DIRECTIONS = ("read", "write", "trim")


def parse(output: str, in_calls: Callable[[str], bool] = lambda job: False) -> tuple[Figure, ...]:
    """The figures of all jobs of one run, or of several one after the other, in the order in which fio lists them.

    in_calls: of which jobs, by name, the time is the sum of all their calls, ns, and not the run time, whole ms.
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
        except (ValueError, RecursionError) as error:  # a number of too many digits, or nested without end
            raise fail("fio", lines, start + 1, f"no JSON that fio writes, {error}") from error
        jobs = document.get("jobs")
        if not isinstance(jobs, list) or not jobs:
            raise ParseError(f"fio: line {start + 1}: JSON without jobs; client and server output is not read")
        named = [at for at in range(start, end) if '"jobname"' in lines[at]]
        for at, job in enumerate(jobs):
            line = (named[at] if len(named) == len(jobs) else start) + 1
            figures += _job(job, f"fio: line {line}: job {at + 1}", in_calls)
    return tuple(figures)


def _job(job: Any, place: str, in_calls: Callable[[str], bool]) -> list[Figure]:
    try:
        name, failed = str(job["jobname"]), int(job.get("error", 0))
        used = [d for d in DIRECTIONS if job.get(d) and int(job[d]["io_bytes"]) > 0]
        cpu = float(job["usr_cpu"]) + float(job["sys_cpu"])
        moved = {d: (int(job[d]["io_bytes"]), _seconds(job[d], in_calls(name))) for d in used}
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ParseError(f"{place}: lacks or garbles {error}; is this fio 3?") from error
    if failed:
        raise ParseError(f"{place} ({name}) ended with error {failed}")
    if not moved:
        raise ParseError(f"{place} ({name}) moved no byte")
    figures = []
    for direction, (size, seconds) in moved.items():
        if not 0 < seconds < MOST or size > MOST:
            raise ParseError(f"{place} ({name}): {size} bytes in {seconds:g} s: there is no rate")
        phase = name if len(moved) == 1 else f"{name}-{direction}"
        figures.append(Figure(phase, size / 1024 / seconds, KIB_PER_S, cpu))
    return figures


def _seconds(direction: Any, in_calls: bool) -> float:
    if in_calls:
        return float(direction["lat_ns"]["mean"]) * int(direction["lat_ns"]["N"]) / 1e9
    return float(direction["runtime"]) / 1000
