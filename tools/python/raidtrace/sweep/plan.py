# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans: TOML files that define a sweep, checked against rules and expanded to cells.

A `[[matrix]]` is the product of its axes. A value that is not a list is an axis with one value. A plan may have several
matrices. Each error contains file, line and key.
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
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import tomllib

from raidtrace.quantity.shown import UserError

# The keys of a plan: their rules, the reasons for errors, and the line of each key in the TOML file.

Path = tuple[str | int, ...]
Scalar = Callable[[Any], str]  # the reason why a value is refused; empty: it is accepted


@dataclasses.dataclass(frozen=True)
class Error:
    """A refused value. path: of the value. key: an unknown key of the table at this path; known: its valid keys."""

    path: Path
    text: str
    key: str = ""
    known: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class List:
    """A list of `least` to `most` values with the same rule. most None: no limit."""

    item: "Rule"
    least: int = 1
    most: int | None = None


@dataclasses.dataclass(frozen=True)
class Table:
    """A table. others: the rule of unknown keys; None: they are refused."""

    known: Mapping[str, "Rule"]
    required: tuple[str, ...] = ()
    others: "Rule | None" = None


Rule = Scalar | List | Table


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: Any) -> str:
    return "" if isinstance(value, str) else f"{value!r} is not a text"


def _some_text(value: Any) -> str:
    return _text(value) or ("" if value else "it is empty")


def _form(pattern: str) -> Scalar:
    return lambda value: _text(value) or ("" if re.search(pattern, value) else f"{value!r} does not match {pattern}")


def _one_of(*choices: str | int) -> Scalar:
    names = ", ".join(map(str, choices))
    return lambda value: "" if value in choices and not isinstance(value, bool) else f"{value!r} is not one of {names}"


def _whole(least: int, most: int | None = None, step: int = 1) -> Scalar:
    def refused(value: Any) -> str:
        if not _is_number(value) or value != value // 1:
            return f"{value!r} is not a whole number"
        if value < least:
            return f"{value!r} is less than {least}"
        if most is not None and value > most:
            return f"{value!r} is more than {most}"
        return f"{value!r} is not a multiple of {step}" if value % step else ""

    return refused


def _positive(value: Any) -> str:
    if not _is_number(value):
        return f"{value!r} is not a number"
    return "" if value > 0 else f"{value!r} is not more than 0"


def _parameter(value: Any) -> str:
    taken = isinstance(value, str | bool) or (_is_number(value) and value == value // 1)
    return "" if taken else f"{value!r} is not a text or a whole number or true or false"


TRIALS = _whole(1, 1000)
WORKLOADS = ("dd", "bonnie++", "iozone", "fio", "ddt", "ioperf")
AXES: Mapping[str, Rule] = {
    "trials": List(TRIALS, 0, 1),
    "array": List(_some_text),
    "md_level": List(_one_of("none", "raid0", "raid1", "raid5", "raid10")),
    "md_chunk_kib": List(_whole(4, 1048576)),
    "md_members": List(_whole(1, 384)),
    "readahead_sectors": List(_whole(0, step=8)),
    "readahead_kib": List(_whole(0, step=4)),
    "filesystem": List(_one_of("none", "ext2", "ext3", "ext4", "xfs", "jfs", "reiserfs")),
    "fs_block_kib": List(_one_of(1, 2, 4)),
    "mkfs_options": List(_text),
    "mount_options": List(_text),
    "workload": List(_some_text),
    "data_size": List(_some_text),
    "scheduler": List(_some_text),
    "nr_requests": List(_whole(4)),
    "max_sectors_kib": List(_whole(4)),
    "nomerges": List(_one_of(0, 1, 2)),
    "queue_depth": List(_whole(1)),
    "dirty_ratio": List(_whole(1, 100)),
    "dirty_background_ratio": List(_whole(0, 100)),
    "dirty_bytes": List(_whole(8192)),
    "dirty_background_bytes": List(_whole(4096)),
    "dirty_expire_centisecs": List(_whole(0)),
    "dirty_writeback_centisecs": List(_whole(0)),
}
SIZE = _form("^[0-9]+[KMG]?$")
PLAN = Table(
    {
        "title": _some_text,
        "source": _text,
        "published": _one_of("amcc", "caltech", "coraid", "howto"),
        "order": _one_of("stated", "random"),
        "seed": _whole(0),
        "trials": TRIALS,
        "cool_down_s": _whole(0, 86400),
        "lab": Table(
            {
                "memory": SIZE,
                "store": SIZE,
                "timeout_s": _whole(1),
                "set": List(_form("^[a-z_.]+=.+$"), 0),
                "wall_s_per_gib": _positive,
            }
        ),
        "workload": Table({}, others=Table({"kind": _one_of(*WORKLOADS)}, ("kind",), _parameter)),
        "matrix": List(Table(AXES, ("array", "workload", "filesystem", "data_size"))),
    },
    ("title", "matrix"),
)  # a single value in a matrix counts as a list


def first_error(document: dict[str, Any]) -> Error | None:
    """The first refused value of a plan, in the order of paths. None: there is none."""
    errors = sorted(_errors(document, PLAN, ()), key=lambda error: list(map(str, error.path)))
    return errors[0] if errors else None


def _errors(value: Any, rule: Rule, path: Path) -> Iterator[Error]:
    if isinstance(rule, List):
        if not isinstance(value, list):
            yield Error(path, f"{value!r} is not a list")
            return
        if len(value) < rule.least:
            yield Error(path, f"{len(value)} values are less than {rule.least}")
        if rule.most is not None and len(value) > rule.most:
            yield Error(path, f"{len(value)} values are more than {rule.most}")
        for at, item in enumerate(value):
            yield from _errors(item, rule.item, (*path, at))
    elif isinstance(rule, Table):
        if not isinstance(value, dict):
            yield Error(path, f"{value!r} is not a table")
            return
        for key, item in value.items():
            of_key = rule.known.get(key, rule.others)
            if of_key is None:
                yield Error(path, "there is no such key", key, tuple(rule.known))
            else:
                yield from _errors(item, of_key, (*path, key))
        yield from (Error(path, f"{key} is missing") for key in rule.required if key not in value)
    elif why := rule(value):
        yield Error(path, why)


# The line of each key in a TOML file, which the parser of the standard library does not report. This is only for files
# that tomllib accepts, so nothing is checked here.

_HEADER = re.compile(r"^\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|' + r"'[^']*'")


def lines_of_keys(text: str) -> dict[Path, int]:
    """Line numbers from 1, by path: ("matrix", 0, "filesystem") -> 12."""
    lines: dict[Path, int] = {}
    table: Path = ()
    counts: dict[Path, int] = {}
    until = ""  # the end of a value over several lines: quotes, or "]" of an array
    depth = 0
    for at, line in enumerate(text.splitlines(), 1):
        if until in ('"""', "'''"):
            until = "" if until in line else until
            continue
        if until == "]":
            depth += _depth(line)
            until = "]" if depth > 0 else ""
            continue
        header, key = _HEADER.match(line), _KEY.match(line)
        if header and not key:
            table = _path_of_header(header, counts)
            lines[table] = at
        elif key:
            rest = line[key.end() :]
            lines[table + _words(key[1])] = at
            until = next((quote for quote in ('"""', "'''") if rest.count(quote) == 1), "")
            depth = _depth(rest)
            if not until and depth > 0:
                until = "]"
    return lines


def line_of(lines: Mapping[Path, int], path: Path) -> int:
    """The line of the key, or of the nearest table around it."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


def _path_of_header(header: re.Match[str], counts: dict[Path, int]) -> Path:
    path = _words(header[2])
    if header[1] == "[[":
        counts[path] = counts.get(path, -1) + 1
    resolved: Path = ()
    for word in path:  # a table below an array of tables belongs to its last element
        resolved += (word,)
        if resolved in counts:
            resolved += (counts[resolved],)
    return resolved


def _words(key: str) -> Path:
    words: list[str] = []
    value: Any = tomllib.loads(f"{key} = 0")
    while isinstance(value, dict):
        ((word, value),) = value.items()
        words.append(word)
    return tuple(words)


def _depth(text: str) -> int:
    bare = _QUOTED.sub("", text).split("#")[0]
    return bare.count("[") + bare.count("{") - bare.count("]") - bare.count("}")


# Options of mkfs and mount in a plan must not name another disk or file. Both programs can put a journal or a log
# elsewhere, and would overwrite data there. Anybody may write a plan, and only --destroy-data names the disks to
# overwrite. The commands run in the cell's directory, so an option without / names no disk, except by a label or by one
# of these words.
WORD = re.compile(r"[A-Za-z0-9_,=.^+:-]+")
ELSEWHERE = {
    "dev", "device", "file", "logdev", "name", "rtdev", "journal_dev", "journal_path",  # another place to write
    "label", "uuid", "partlabel", "partuuid", "id",  # a disk by its contents
    "bind", "rbind", "move", "remount", "loop", "offset", "helper", "uhelper",  # another mount
}  # fmt: skip


def refused_options(text: str) -> str:
    """The reason why options are refused. Empty: they are accepted."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        return f"{text!r} cannot be divided into words: {error}"
    for word in words:
        if not WORD.fullmatch(word):
            return f"{word!r} could name a disk or file; an option may only contain letters, digits and _ , = . ^ + : -"
        parts = re.split(r"[,=:]", word.lower())
        # --device=... and -Jdevice=... have option and key in one word
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
MAX_MESSAGE = 300  # characters of a reason, which quotes the plan
# the block sizes with which current Linux makes and mounts them
BLOCKS = {"ext2": (1, 2, 4), "ext3": (1, 2, 4), "ext4": (1, 2, 4), "xfs": (1, 2, 4), "jfs": (4,), "reiserfs": (4,)}
MIN_MEMBERS = {"raid0": 2, "raid1": 2, "raid5": 3, "raid10": 2}


@dataclasses.dataclass(frozen=True)
class Cell:
    """One run. axes: every axis that the plan sets, in its order; readahead is always in sectors."""

    axes: tuple[tuple[str, Value], ...]
    trial: int
    matrix: int

    def get(self, axis: str) -> Value | None:
        """The value of an axis. None: the plan does not set it."""
        return dict(self.axes).get(axis)

    def text(self, axis: str, default: str = "") -> str:
        value = self.get(axis)
        return default if value is None else str(value)

    def number(self, axis: str) -> int | None:
        value = self.get(axis)
        return None if value is None else int(value)

    def identity(self) -> str:
        """The identity of this cell, independent of the other cells of the plan and of their order."""
        return json.dumps([sorted(self.axes), self.trial])


@dataclasses.dataclass(frozen=True)
class Plan:
    """A checked plan. cells: in the order of their runs."""

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
        """Kind and parameters of a workload. If the plan does not define it, the benchmark of that name."""
        settings = dict(self.workloads.get(name, {"kind": name}))
        return str(settings.pop("kind")), settings

    def varying(self) -> list[str]:
        names = dict.fromkeys(name for cell in self.cells for name, _ in cell.axes)
        return [name for name in names if len({cell.get(name) for cell in self.cells}) > 1]


def ready() -> list[str]:
    """The names of the plans that are part of raidtrace."""
    return sorted(path.stem for path in READY.glob("*.toml"))


def find(name: str) -> pathlib.Path:
    """The file of a plan, by its path or by the name of a plan that is part of raidtrace. Raises UserError."""
    path = pathlib.Path(name)
    if path.suffix == ".toml" or "/" in name:
        return path
    if name not in ready():
        close = difflib.get_close_matches(name, ready(), 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise UserError(f"unknown plan {name}{hint or '.'} Known plans: {', '.join(ready())}; or name a .toml file")
    return READY / f"{name}.toml"


def load(path: pathlib.Path, overrides: Mapping[str, Value] = MappingProxyType({})) -> Plan:
    try:
        if path.exists() and not path.is_file():
            raise UserError(f"{path}: not a regular file")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from error
    return parse(text, path.stem, str(path), overrides)


def parse(text: str, name: str, where: str, overrides: Mapping[str, Value] = MappingProxyType({})) -> Plan:
    """Check the text of a plan. where: its name in errors. overrides: trials and data_size for all cells. Raises
    UserError."""
    try:
        return _parse(text, name, where, overrides)
    except RecursionError:
        raise UserError(
            f"{where}: its values are nested too deeply; a plan contains lists of words and numbers"
        ) from None


def _parse(text: str, name: str, where: str, overrides: Mapping[str, Value]) -> Plan:
    try:
        document = tomllib.loads(text)
    except ValueError as error:  # a number with too many digits raises ValueError
        raise UserError(f"{where}: not TOML: {error}") from error
    place = functools.partial(_error, where, lines_of_keys(text))
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


def _error(where: str, lines: Mapping[Path, int], path: Path, why: str) -> UserError:
    key = ".".join(str(word) for word in path if isinstance(word, str)) or "plan"
    return UserError(f"{where}:{line_of(lines, path)}: {key}: {why}")


def _listed(document: dict[str, Any]) -> dict[str, Any]:
    """The plan with each value of a matrix as a list."""
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
    error = first_error(document)
    if error is None:
        return
    if error.key:
        close = difflib.get_close_matches(error.key, error.known, 1)
        hint = f"did you mean {close[0]}?" if close else f"known keys: {', '.join(error.known)}"
        raise place((*error.path, error.key), f"{error.text}; {hint}")
    raise place(error.path, textwrap.shorten(error.text, MAX_MESSAGE, placeholder=" ..."))


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
                    what = f"twice in this matrix: {axes}" if other == number else f"also in matrix {other + 1}: {axes}"
                    raise place(("matrix", number), f"a cell is {what}")
                matrix_of[cell.identity()] = number
                cells.append(cell)
    return cells


def _judge_axes(document: dict[str, Any], matrix: dict[str, list[Value]], number: int, place: Any) -> None:
    for name in matrix["workload"]:
        if name not in document.get("workload", {}) and name not in WORKLOADS:
            known = ", ".join(sorted({*document.get("workload", {}), *WORKLOADS}))
            raise place(("matrix", number, "workload"), f"{name!r} is not defined; known workloads: {known}")
    for one, other in (("readahead_sectors", "readahead_kib"), ("dirty_ratio", "dirty_bytes"),
                       ("dirty_background_ratio", "dirty_background_bytes")):  # fmt: skip
        if one in matrix and other in matrix:
            raise place(("matrix", number, other), f"{one} is given, too, but both are the same setting")


def _judge(axes: Mapping[str, Value], number: int, place: Any) -> None:
    """Raise an error for a combination of values that is not valid, although each value is."""

    def refuse(key: str, why: str) -> None:
        raise place(("matrix", number, key), why)

    level, filesystem = axes.get("md_level", NO_MD), str(axes["filesystem"])
    if level == NO_MD:
        for key in ("md_chunk_kib", "md_members"):
            if key in axes:
                refuse(key, "it needs md_level")
    else:
        members = int(axes.get("md_members", MIN_MEMBERS[str(level)]))
        if "md_members" not in axes:
            refuse("md_level", "md_members is missing; give the number of disks")
        if members < MIN_MEMBERS[str(level)]:
            refuse("md_members", f"{level} needs at least {MIN_MEMBERS[str(level)]}, not {members}")
        if (level == "raid1") == ("md_chunk_kib" in axes):
            refuse("md_level", "raid1 has no chunks" if level == "raid1" else f"md_chunk_kib is missing for {level}")
        chunk = int(axes.get("md_chunk_kib", PAGE_KIB))
        if chunk % PAGE_KIB or (level in ("raid5", "raid10") and chunk & (chunk - 1)):
            refuse(
                "md_chunk_kib",
                f"{level} needs chunks of a multiple of 4 KiB, raid5 and raid10 a power of two; not {chunk}",
            )
    if filesystem == RAW:
        for key in ("fs_block_kib", "mkfs_options", "mount_options"):
            if key in axes:
                refuse(key, "there is no file system: filesystem is none")
    for key in ("mkfs_options", "mount_options"):
        if key in axes and (why := refused_options(str(axes[key]))):
            refuse(key, why)
    if filesystem != RAW and "fs_block_kib" in axes and axes["fs_block_kib"] not in BLOCKS[filesystem]:
        blocks = ", ".join(map(str, BLOCKS[filesystem]))
        refuse("fs_block_kib", f"{filesystem} has blocks of {blocks} KiB, not {axes['fs_block_kib']}")


def _order(document: dict[str, Any], cells: list[Cell]) -> list[Cell]:
    if document.get("order", "stated") == "random":
        random.Random(document.get("seed", 1)).shuffle(cells)
    return cells
