# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans: TOML files that state a sweep. Checked against the rules of schema.py, expanded to the cells that are to be run.

A `[[matrix]]` is the product of its axes; a value that is not a list is an axis of one. A plan may have several, for what is
no product. Every refusal names file, line and key.
"""

import dataclasses
import difflib
import functools
import itertools
import json
import pathlib
import random
import re
import shlex
import textwrap
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import tomllib

from raidtrace.sweep import schema

# Options of mkfs and mount in a plan: none that names another disk or file. Both can put a journal or a log elsewhere, and
# would overwrite what is there. A plan may come from anybody, and only --destroy-data names what is overwritten. The commands
# run in the cell's own directory, so an option without / names no disk, except by a label or by one of these words.
WORD = re.compile(r"[A-Za-z0-9_,=.^+:-]+")
ELSEWHERE = {
    "dev", "device", "file", "logdev", "name", "rtdev", "journal_dev", "journal_path",  # where else to write
    "label", "uuid", "partlabel", "partuuid", "id",  # a disk by what it holds
    "bind", "rbind", "move", "remount", "loop", "offset", "helper", "uhelper",  # another mount than that of the disk
}  # fmt: skip


def refused_options(text: str) -> str:
    """Why these options are refused; empty when they are not."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        return f"{text!r} is no list of words: {error}"
    for word in words:
        if not WORD.fullmatch(word):
            return f"{word!r} could name a disk or file; options here are words of letters, digits and _ , = . ^ + : -"
        parts = re.split(r"[,=:]", word.lower())
        # --device=...; -Jdevice=...: option and key in one word
        parts += [parts[0].lstrip("-"), re.sub(r"^-.", "", parts[0])]
        named = [part for part in parts if part in ELSEWHERE]
        if named:
            return f"{word!r}: {named[0]} could name another disk; only --destroy-data names the disks to overwrite"
    return ""


READY = pathlib.Path(__file__).parent / "plans"
RAW = "none"  # the file system of a raw disk
NO_MD = "none"
Value = str | int | bool
PAGE_KIB = 4
LONGEST_MESSAGE = 300  # characters of why a value is refused, which quotes the plan
# the only block sizes with which today's Linux makes and mounts them
BLOCKS = {"ext2": (1, 2, 4), "ext3": (1, 2, 4), "ext4": (1, 2, 4), "xfs": (1, 2, 4), "jfs": (4,), "reiserfs": (4,)}
LEAST_MEMBERS = {"raid0": 2, "raid1": 2, "raid5": 3, "raid10": 2}


class PlanError(Exception):
    """A plan that cannot be used: "FILE:LINE: KEY: why"."""


@dataclasses.dataclass(frozen=True)
class Cell:
    """One run. axes: every axis that the plan sets, in its order, readahead always in sectors."""

    axes: tuple[tuple[str, Value], ...]
    trial: int
    matrix: int

    def get(self, axis: str) -> Value | None:
        """Value of an axis, None when the plan leaves it alone."""
        return dict(self.axes).get(axis)

    def text(self, axis: str, default: str = "") -> str:
        """An axis of text."""
        value = self.get(axis)
        return default if value is None else str(value)

    def number(self, axis: str) -> int | None:
        """An axis of whole numbers."""
        value = self.get(axis)
        return None if value is None else int(value)

    def identity(self) -> str:
        """What makes it this cell, the same whatever else the plan holds and in whatever order."""
        return json.dumps([sorted(self.axes), self.trial])


@dataclasses.dataclass(frozen=True)
class Plan:
    """A checked plan. cells are in the order in which they are run."""

    name: str
    text: str
    title: str
    source: str
    published: str
    cool_down_s: int
    lab: Mapping[str, Any]
    workloads: Mapping[str, Mapping[str, Value]]
    cells: tuple[Cell, ...]

    def workload(self, name: str) -> tuple[str, dict[str, Value]]:
        """Kind and parameters of a workload; one that the plan does not define is the benchmark of that name."""
        settings = dict(self.workloads.get(name, {"kind": name}))
        return str(settings.pop("kind")), settings

    def varying(self) -> list[str]:
        """The axes in which cells differ."""
        names = dict.fromkeys(name for cell in self.cells for name, _ in cell.axes)
        return [name for name in names if len({cell.get(name) for cell in self.cells}) > 1]


def ready() -> list[str]:
    """Names of the plans that come with raidtrace."""
    return sorted(path.stem for path in READY.glob("*.toml"))


def find(name: str) -> pathlib.Path:
    """The file of a plan: a path, or the name of one that comes with raidtrace."""
    path = pathlib.Path(name)
    if path.suffix == ".toml" or "/" in name:
        return path
    if name not in ready():
        close = difflib.get_close_matches(name, ready(), 1)
        hint = f"; do you mean {close[0]}?" if close else ""
        raise PlanError(f"there is no plan {name}{hint or '.'} There are: {', '.join(ready())}; or name a .toml file")
    return READY / f"{name}.toml"


def load(path: pathlib.Path, overrides: Mapping[str, Value] = MappingProxyType({})) -> Plan:
    """Read and check a plan."""
    try:
        if path.exists() and not path.is_file():
            raise PlanError(f"{path}: no regular file")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(f"{path}: cannot be read: {error}") from error
    return parse(text, path.stem, str(path), overrides)


def parse(text: str, name: str, where: str, overrides: Mapping[str, Value] = MappingProxyType({})) -> Plan:
    """Check the text of a plan; `where` is what errors call it. overrides: trials and data_size, of all of it."""
    try:
        return _parse(text, name, where, overrides)
    except RecursionError:
        raise PlanError(f"{where}: its values are nested too deeply; a plan's are lists of words and numbers") from None


def _parse(text: str, name: str, where: str, overrides: Mapping[str, Value]) -> Plan:
    try:
        document = tomllib.loads(text)
    except ValueError as error:  # of a number of too many digits it is not TOML's own
        raise PlanError(f"{where}: not TOML: {error}") from error
    place = functools.partial(_error, where, schema.lines_of_keys(text))
    if isinstance(document.get("matrix"), list):
        for matrix in document["matrix"]:
            if "data_size" in overrides and isinstance(matrix, dict):
                matrix["data_size"] = overrides["data_size"]
            if "trials" in overrides and isinstance(matrix, dict):
                matrix["trials"] = overrides["trials"]
    _check(_listed(document), place)
    cells = _order(document, _cells(document, place))
    return Plan(
        name,
        text,
        document["title"],
        document.get("source", ""),
        document.get("published", ""),
        document.get("cool_down_s", 0),
        document.get("lab", {}),
        document.get("workload", {}),
        tuple(cells),
    )


def _error(where: str, lines: Mapping[schema.Path, int], path: schema.Path, why: str) -> PlanError:
    key = ".".join(str(word) for word in path if isinstance(word, str)) or "plan"
    return PlanError(f"{where}:{schema.line_of(lines, path)}: {key}: {why}")


def _listed(document: dict[str, Any]) -> dict[str, Any]:
    """The plan with every value of a matrix as a list."""
    matrix = document.get("matrix")
    if not isinstance(matrix, list):
        return document
    lists = [
        {key: value if isinstance(value, list) else [value] for key, value in part.items()}
        if isinstance(part, dict)
        else part
        for part in matrix
    ]
    return {**document, "matrix": lists}


def _check(document: dict[str, Any], place: Any) -> None:
    error = schema.first_error(document)
    if error is None:
        return
    if error.key:
        close = difflib.get_close_matches(error.key, error.known, 1)
        hint = f"do you mean {close[0]}?" if close else f"there are {', '.join(error.known)}"
        raise place((*error.path, error.key), f"{error.text}; {hint}")
    raise place(error.path, textwrap.shorten(error.text, LONGEST_MESSAGE, placeholder=" ..."))


def _cells(document: dict[str, Any], place: Any) -> list[Cell]:
    cells: list[Cell] = []
    matrix_of: dict[str, int] = {}
    for number, matrix in enumerate(_listed(document)["matrix"]):
        trials = matrix.pop("trials", [document.get("trials", 1)])[0]
        _judge_axes(document, matrix, number, place)
        for values in itertools.product(*matrix.values()):
            axes = dict(zip(matrix, values, strict=True))
            axes = {
                "readahead_sectors" if key == "readahead_kib" else key: 2 * value if key == "readahead_kib" else value
                for key, value in axes.items()
            }
            _judge(axes, number, place)
            for trial in range(1, trials + 1):
                cell = Cell(tuple(axes.items()), trial, number)
                if cell.identity() in matrix_of:
                    other = matrix_of[cell.identity()]
                    what = f"in this matrix twice: {axes}" if other == number else f"also in matrix {other + 1}: {axes}"
                    raise place(("matrix", number), f"a cell is {what}")
                matrix_of[cell.identity()] = number
                cells.append(cell)
    return cells


def _judge_axes(document: dict[str, Any], matrix: dict[str, list[Value]], number: int, place: Any) -> None:
    for name in matrix["workload"]:
        if name not in document.get("workload", {}) and name not in schema.WORKLOADS:
            known = ", ".join(sorted({*document.get("workload", {}), *schema.WORKLOADS}))
            raise place(("matrix", number, "workload"), f"{name!r} is not defined; there are {known}")
    for one, other in (("readahead_sectors", "readahead_kib"), ("dirty_ratio", "dirty_bytes"),
                       ("dirty_background_ratio", "dirty_background_bytes")):  # fmt: skip
        if one in matrix and other in matrix:
            raise place(("matrix", number, other), f"{one} is there, too: they are the same setting")


def _judge(axes: Mapping[str, Value], number: int, place: Any) -> None:
    """What is refused of one cell although each of its values is allowed."""

    def refuse(key: str, why: str) -> None:
        raise place(("matrix", number, key), why)

    level, filesystem = axes.get("md_level", NO_MD), str(axes["filesystem"])
    if level == NO_MD:
        for key in ("md_chunk_kib", "md_members"):
            if key in axes:
                refuse(key, "there is no md: give md_level, or leave it out")
    else:
        members = int(axes.get("md_members", LEAST_MEMBERS[str(level)]))
        if "md_members" not in axes:
            refuse("md_level", "md_members is missing: of how many disks?")
        if members < LEAST_MEMBERS[str(level)]:
            refuse("md_members", f"{level} needs at least {LEAST_MEMBERS[str(level)]}, not {members}")
        if (level == "raid1") == ("md_chunk_kib" in axes):
            refuse("md_level", "raid1 has no chunks" if level == "raid1" else f"md_chunk_kib is missing for {level}")
        chunk = int(axes.get("md_chunk_kib", PAGE_KIB))
        if chunk % PAGE_KIB or (level in ("raid5", "raid10") and chunk & (chunk - 1)):
            refuse("md_chunk_kib", f"{level} takes multiples of 4 KiB, raid5 and raid10 powers of two; not {chunk}")
    if filesystem == RAW:
        for key in ("fs_block_kib", "mkfs_options", "mount_options"):
            if key in axes:
                refuse(key, "there is no file system: filesystem is none")
    for key in ("mkfs_options", "mount_options"):
        if key in axes and (why := refused_options(str(axes[key]))):
            refuse(key, why)
    if filesystem != RAW and "fs_block_kib" in axes and axes["fs_block_kib"] not in BLOCKS[filesystem]:
        blocks = ", ".join(map(str, BLOCKS[filesystem]))
        refuse("fs_block_kib", f"{filesystem} takes blocks of {blocks} KiB, not {axes['fs_block_kib']}")


def _order(document: dict[str, Any], cells: list[Cell]) -> list[Cell]:
    if document.get("order", "stated") == "random":
        random.Random(document.get("seed", 1)).shuffle(cells)
    return cells
