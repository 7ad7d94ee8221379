# SPDX-License-Identifier: GPL-2.0-or-later
"""Which lines of a change ran. The changed kernel is built a second time, with counters in the blocks of the changed files.

This second kernel is not the measured one, so the counters do not affect any figure. The compiler inserts a call at the
beginning of each block (-fsanitize-coverage=trace-pc). ran.c implements the called function, and the disassembly maps
blocks to lines.
"""

from __future__ import annotations

import difflib
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from raidlab.base.failure import LabError

SOURCE = Path(__file__).with_name("ran.c")
IN_GUEST = "/proc/raidtrace-ran"
LEFT = "ran"  # name of the guest's result in its directory
_INTO, _OBJECT = "lib/raidtrace-ran.c", "obj-y += raidtrace-ran.o"
# The kernel lies below 2 GiB. Compiled as if it might not, each call goes through a register.
_TELLING = "-fsanitize-coverage=trace-pc -mcmodel=small -g1"
_CALL = "__sanitizer_cov_trace_pc"
_MAKEFILES = ("Kbuild", "Makefile")
_MARK = re.compile(r"^(\S+\.[chS]):(\d+)(?: \(discriminator \d+\))?$")
_CODE = re.compile(r"^ *([0-9a-f]+):\s+(.*)$")
_FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")


@dataclass(frozen=True)
class Line:
    """A changed line with code, or the line after removed lines. `blocks` are the start addresses of its blocks."""

    file: str
    number: int
    blocks: tuple[int, ...]

    def times(self, ran: Mapping[int, int]) -> int:
        """The largest number of runs of one of its blocks: how often the line ran, at least."""
        return max(ran.get(block, 0) for block in self.blocks)


def added(source: Path, files: Iterable[str], overlay: Path) -> dict[str, Path | None]:
    """Write the files for coverage below `overlay`: ran.c, and makefiles that compile `files` with a call in each block.
    Returns the path of each added file by its name below the top of the source."""
    lines: dict[Path, list[str]] = {_makefile(source, Path(_INTO)): [_OBJECT]}
    for name in files:
        makefile = _makefile(source, Path(name))
        stem = Path(name).relative_to(makefile.parent).with_suffix(".o")
        lines.setdefault(makefile, []).append(f"CFLAGS_{stem} += {_TELLING}")
    files_at: dict[str, Path | None] = {_INTO: SOURCE}
    for makefile, more in lines.items():
        to = overlay / makefile
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text((source / makefile).read_text(encoding="utf-8") + "\n".join(["", *more, ""]), encoding="utf-8")
        files_at[str(makefile)] = to
    return files_at


def _makefile(source: Path, file: Path) -> Path:
    """The makefile that compiles a file: the nearest one above it."""
    for directory in file.parents:
        for name in _MAKEFILES:
            if (source / directory / name).is_file():
                return directory / name
    raise LabError(f"coverage of {file}", "no makefile above it", "Leave out --coverage.")


def changed(before: Path | None, after: Path) -> list[int]:
    """Numbers of the new or changed lines of a file, and of each line that follows removed lines."""
    old = before.read_text(encoding="utf-8", errors="replace").splitlines() if before and before.is_file() else []
    new = after.read_text(encoding="utf-8", errors="replace").splitlines()
    numbers: dict[int, None] = {}
    for kind, _, _, first, last in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "delete":
            numbers[min(first + 1, len(new))] = None
        elif kind != "equal":
            numbers |= dict.fromkeys(range(first + 1, last + 1))
    return list(numbers)


def lines(binary: Path, changed_lines: Mapping[str, Sequence[int]]) -> list[Line]:
    """The lines among `changed_lines` of each file that have code in `binary`, with their blocks."""
    command = ["objdump", "-d", "-l", "--no-show-raw-insn", "-j", ".text", "-j", ".init.text", str(binary)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as objdump:
        assert objdump.stdout
        blocks_of = parse(objdump.stdout, changed_lines)
    if objdump.returncode:
        raise LabError(f"disassembling {binary}", "objdump failed", "Leave out --coverage.")
    return [Line(file, number, tuple(blocks)) for (file, number), blocks in sorted(blocks_of.items())]


def parse(text: Iterable[str], changed_lines: Mapping[str, Sequence[int]]) -> dict[tuple[str, int], dict[int, None]]:
    """Parse a disassembly with line numbers: line -> return addresses of the calls at the beginning of its blocks. Code
    before the first call of a function belongs to the function's first block."""
    numbers = {name: set(some) for name, some in changed_lines.items()}
    blocks_of: dict[tuple[str, int], dict[int, None]] = {}
    at: tuple[str, int] | None = None  # the current line, if it is a changed one
    block: int | None = None
    early: dict[tuple[str, int], None] = {}
    begins = False
    for one in text:
        one = one.rstrip("\n")
        if code := _CODE.match(one):
            if begins:  # directly after a call
                block, begins = int(code[1], 16), False
                for line in early:
                    blocks_of.setdefault(line, {})[block] = None
                early = {}
            if _CALL in code[2]:
                begins = True
            elif at and block is None:
                early[at] = None
            elif at and block is not None:
                blocks_of.setdefault(at, {})[block] = None
        elif mark := _MARK.match(one):
            name = next((name for name in numbers if mark[1] == name or mark[1].endswith(f"/{name}")), None)
            number = int(mark[2])
            at = (name, number) if name and number in numbers[name] else None
        elif _FUNCTION.match(one):
            at, block, early, begins = None, None, {}, False
    return blocks_of


def watched(command: str) -> str:
    """Shell commands that run `command` and store the counters afterwards."""
    return f"echo >{IN_GUEST}; ( {command}\n); status=$?; cat {IN_GUEST} >/run/lab/out/{LEFT}; exit $status"


def ran(directory: Path) -> dict[int, int]:
    """The number of runs by block, from the results of a guest in a directory. LabError if they are not available."""
    what = f"coverage in {directory}"
    try:
        rows = [line.split() for line in (directory / LEFT).read_text(encoding="ascii").splitlines()]
    except OSError as error:
        raise LabError(what, str(error), "Look at kernel.log there.") from None
    if not rows or rows[0] != ["lost", "0"]:
        raise LabError(what, "more code blocks ran than could be counted", "The change is too large for --coverage.")
    return {int(at, 16): int(times) for at, times in rows[1:]}


@dataclass(frozen=True)
class Ran:
    """Changed lines with equal counts, `first` to `last` of a file: workload -> number of runs, without workloads where it
    is 0."""

    file: str
    first: int
    last: int
    times: Mapping[str, int]


def gathered(lines: Sequence[Line], by_workload: Mapping[str, Mapping[int, int]]) -> list[Ran]:
    """Join neighbouring lines with equal counts."""
    rows: list[Ran] = []
    for line in lines:
        times = {name: count for name, ran_there in by_workload.items() if (count := line.times(ran_there))}
        before = rows[-1] if rows else None
        if before and (before.file, before.last + 1, before.times) == (line.file, line.number, times):
            rows[-1] = Ran(before.file, before.first, line.number, times)
        else:
            rows.append(Ran(line.file, line.number, line.number, times))
    return rows


def table(rows: Sequence[Ran]) -> list[str]:
    """A table of the changed lines, how often they ran, and the workload in which they ran most. At most 72 columns wide."""
    if not rows:
        return ["Coverage: no changed line is code of the kernel itself (headers and modules are not followed)."]
    count = sum(row.last - row.first + 1 for row in rows)
    live = sum(row.last - row.first + 1 for row in rows if row.times)
    report = [f"Coverage: of {count} changed line{'s' if count > 1 else ''} of code {live} ran."]
    for row in rows:
        where = f"{row.file}:{row.first}" + (f"-{row.last}" if row.last > row.first else "")
        if row.times:
            most = max(row.times, key=lambda name: row.times[name])
            how = f"{row.times[most]:,} times" + (f" in {most}" if most else "")
            how += f", {len(row.times)} workloads" if len(row.times) > 1 else ""
        else:
            how = "never"
        report.append(f"  {where:34} {how}")
    return report
