#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: 7.2
"""Run each command of Documentation/cases.rst; compare the sentences, limits and results that the page gives."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

sys.dont_write_bytecode = True
from lab_checks import LIMIT_S, TOP, check, finish, offered  # noqa: E402

PAGE = TOP / "Documentation/cases.rst"
TOOLS = TOP / "tools/bin"
NEAR = 0.15  # a number of the page and a measured one may differ by this part
# The same where pages are dropped and read again: the memory that raidctl itself takes decides. 1.8 and 2.28 s were seen.
NEAR_MAPPED = 0.35
KERNEL = "7.2"
LEAST = 6  # cases of the page
BLOCK = re.compile(r"(::|\.\. code-block:: none)\n\n((?: {4}.*\n|\n)+)")
TOKEN = re.compile(r"\d[\d,]*(?:\.\d+)?|[^\s\d]+")
OPENING = re.compile(r"^Limited by (.+?): |^(The evidence does not show)", re.MULTILINE)
ROW = re.compile(r"^([a-z][\w.-]+)  +([a-z ]+?|) {2,}([\d.]+) (MiB/s|s) *([\d.]*)$", re.MULTILINE)
TIME = re.compile(r"^real ([\d.]+)$|copied, ([\d.]+) s", re.MULTILINE)


@dataclass
class Row:
    """A row of a table of the page: a recording, its limit, its result and the gain over the first row of the table."""

    name: str
    limit: str
    result: float
    unit: str
    gain: float | None


@dataclass
class Case:
    """A section of the page. commands: its literal blocks; quoted: its blocks of output; tables: rows of each table."""

    title: str
    commands: str = ""
    quoted: list[str] = field(default_factory=list)
    tables: list[list[Row]] = field(default_factory=list)


def page() -> list[Case]:
    """The sections of the page. The commands before the first section come first in each."""
    pieces = re.split(r"^(.+)\n=+\n", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    texts = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    first = "\n".join(block for _, block in BLOCK.findall(texts.pop(next(iter(texts)))))
    cases = []
    for title, text in texts.items():
        case = Case(title, first)
        for kind, block in BLOCK.findall(text):
            if kind == "::":
                case.commands += block
            else:
                case.quoted.append(block)
        rows = [Row(a, b, float(c), d, float(e) if e else None) for a, b, c, d, e in ROW.findall(text)]
        for row in rows:
            if row.gain is None:
                case.tables.append([])
            case.tables[-1].append(row)
        if case.commands != first:  # a case of real processor time is recorded by tests/battery/machine
            cases.append(case)
    return cases


def near(expected: float, measured_value: float, row: Row | None = None) -> bool:
    """Whether two numbers, of a row, are the same within the part that it may differ by."""
    part = NEAR_MAPPED if row and row.name.startswith("mapped") else NEAR
    return abs(expected - measured_value) <= part * abs(measured_value)


def alike(quoted: str, printed: str) -> bool:
    """Whether two words are the same, or two numbers near each other."""
    if quoted[0].isdigit() and printed[0].isdigit():
        return near(*(float(text.replace(",", "")) for text in (quoted, printed)))
    return quoted == printed


def contains(output: str, quoted: str) -> bool:
    """Whether the words of a quotation, without "...", follow each other in an output, wherever its lines break."""
    words, among = TOKEN.findall(quoted.replace("...", "")), TOKEN.findall(output)
    starts = range(len(among) - len(words) + 1)
    return bool(words) and any(all(map(alike, words, among[at : at + len(words)])) for at in starts)


def bash(script: str, out: str) -> subprocess.CompletedProcess[str]:
    """Run commands as a reader of the page would, with the tools of this tree; output and messages together."""
    env = os.environ | {"PATH": f"{TOOLS}:{os.environ['PATH']}", "LAB_ROOT": "", "LAB_VARIANT": ""}
    return subprocess.run(["bash", "-e", "-c", script], cwd=out, env=env, stdin=subprocess.DEVNULL, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", timeout=LIMIT_S)  # fmt: skip


def judge(case: Case, out: str) -> None:
    """Run a case and compare the page with the output."""
    done = bash(case.commands, out)
    check(f"{case.title}: commands run", done.returncode == 0, done.stdout)
    for quoted in case.quoted:
        check(f"{case.title}: prints {' '.join(quoted.split())[:60]} ...", contains(done.stdout, quoted), done.stdout)
    names = re.findall(r"--out (\S+)", case.commands)
    times = [float(one or other) for one, other in TIME.findall(done.stdout)]
    taken = dict(zip(names, times, strict=len(times) > 0)) if len(times) in (0, len(names)) else {}
    for table in case.tables:
        results = [measured(case, row, taken, out) for row in table]
        for row, result in itertools.islice(zip(table, results, strict=True), 1, None):
            gain = results[0] / result if row.unit == "s" else result / results[0]
            check(f"{row.name}: gains a factor {row.gain}", near(row.gain or 0.0, gain, row), f"measured: {gain:.3g}")
    check(f"{case.title}: has a table", case.tables)


def measured(case: Case, row: Row, taken: dict[str, float], out: str) -> float:
    """Compare the limit and the result of a row; the measured result, never 0."""
    output = bash(f"raidctl explain {row.name}/run.rtdb", out).stdout
    opening = OPENING.search(output)
    rate = re.search(r"([\d.]+) MiB/s", output[opening.start() if opening else 0 :])  # above: where the time went
    if row.limit:
        limit = (opening[1] or "not shown") if opening else ""
        check(f"{row.name}: limited by {row.limit}", limit == row.limit, output[:500])
    result = taken.get(row.name, 0.0) if row.unit == "s" else float(rate[1]) if rate else 0.0
    check(f"{row.name}: {row.result:g} {row.unit}", near(row.result, result, row), f"measured: {result:g} {row.unit}")
    return result or sys.float_info.min


def main() -> None:
    """Run all cases."""
    cases = page()
    check(f"{PAGE.name} has {LEAST} cases or more", len(cases) >= LEAST, [case.title for case in cases])
    if offered(PAGE.name, KERNEL):
        with tempfile.TemporaryDirectory(prefix="lab-test-", dir="/var/tmp") as out:
            for case in cases:
                judge(case, out)
    finish()


main()
