# SPDX-License-Identifier: GPL-2.0-or-later
"""Which lines of a change ran: the changed kernel once more, its changed files compiled so that each of their blocks tells.

It is another kernel than the one that is judged, so what telling costs is in no figure. The compiler puts a call where a
block begins (-fsanitize-coverage=trace-pc); ran.c takes it, and the disassembly says which lines the block has.
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
LEFT = "ran"  # what a guest leaves of it, in its directory
_INTO, _OBJECT = "lib/raidtrace-ran.c", "obj-y += raidtrace-ran.o"
# The kernel is below 2 GiB, and compiled as if it might not be: then each call goes through a register.
_TELLING = "-fsanitize-coverage=trace-pc -mcmodel=small -g1"
_CALL = "__sanitizer_cov_trace_pc"
_MAKEFILES = ("Kbuild", "Makefile")
_MARK = re.compile(r"^(\S+\.[chS]):(\d+)(?: \(discriminator \d+\))?$")
_CODE = re.compile(r"^ *([0-9a-f]+):\s+(.*)$")
_FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")


@dataclass(frozen=True)
class Line:
    """A changed line that is code, or the one behind what was taken away: where it begins to run, of each block that has it."""

    file: str
    number: int
    blocks: tuple[int, ...]

    def times(self, ran: Mapping[int, int]) -> int:
        """How often it ran, at least."""
        return max(ran.get(block, 0) for block in self.blocks)


def added(source: Path, files: Iterable[str], overlay: Path) -> dict[str, Path | None]:
    """Write the files for coverage below `overlay`: ran.c, and makefiles that compile `files` with a call in each block.
    File below the top of the source -> where it is now."""
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
    """The one that compiles a file: the nearest above it."""
    for directory in file.parents:
        for name in _MAKEFILES:
            if (source / directory / name).is_file():
                return directory / name
    raise LabError(f"coverage of {file}", "no makefile above it", "Leave out --coverage.")


def changed(before: Path | None, after: Path) -> list[int]:
    """Numbers of the lines of a file that are not in what it was, and of that behind each place where some were taken away."""
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
    """The lines of `changed_lines` of each file that are code in `binary`, with their blocks."""
    command = ["objdump", "-d", "-l", "--no-show-raw-insn", "-j", ".text", "-j", ".init.text", str(binary)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as objdump:
        assert objdump.stdout
        blocks_of = parse(objdump.stdout, changed_lines)
    if objdump.returncode:
        raise LabError(f"disassembling {binary}", "objdump failed", "Leave out --coverage.")
    return [Line(file, number, tuple(blocks)) for (file, number), blocks in sorted(blocks_of.items())]


def parse(text: Iterable[str], changed_lines: Mapping[str, Sequence[int]]) -> dict[tuple[str, int], dict[int, None]]:
    """Of a disassembly with line numbers: line -> the addresses behind the calls that its blocks begin with. What stands before
    the first call of a function belongs to its first block."""
    numbers = {name: set(some) for name, some in changed_lines.items()}
    blocks_of: dict[tuple[str, int], dict[int, None]] = {}
    at: tuple[str, int] | None = None  # the line of the code, if it is a changed one
    block: int | None = None
    early: dict[tuple[str, int], None] = {}
    begins = False
    for one in text:
        one = one.rstrip("\n")
        if code := _CODE.match(one):
            if begins:  # right behind a call
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
    """Lines of shell that run lines of shell, and leave what ran meanwhile."""
    return f"echo >{IN_GUEST}; ( {command}\n); status=$?; cat {IN_GUEST} >/run/lab/out/{LEFT}; exit $status"


def ran(directory: Path) -> dict[int, int]:
    """Blocks that ran in a guest that left its results there, and how often. LabError if they are not known."""
    what = f"coverage in {directory}"
    try:
        rows = [line.split() for line in (directory / LEFT).read_text(encoding="ascii").splitlines()]
    except OSError as error:
        raise LabError(what, str(error), "Look at kernel.log there.") from None
    if not rows or rows[0] != ["lost", "0"]:
        raise LabError(what, "more blocks ran than were kept", "The change is too large for --coverage.")
    return {int(at, 16): int(times) for at, times in rows[1:]}


@dataclass(frozen=True)
class Ran:
    """Changed lines that ran alike, `first` to `last` of a file: workload -> how often, without those in which none did."""

    file: str
    first: int
    last: int
    times: Mapping[str, int]


def gathered(lines: Sequence[Line], by_workload: Mapping[str, Mapping[int, int]]) -> list[Ran]:
    """Neighbours that ran alike are one."""
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
    """The changed lines, how often they ran, and in which workload most. At most 72 columns wide."""
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
