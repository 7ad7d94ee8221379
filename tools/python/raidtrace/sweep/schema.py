# SPDX-License-Identifier: GPL-2.0-or-later
"""The keys of a plan: what each takes, why a value is refused, and on which line of a TOML file a key stands."""

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tomllib

Path = tuple[str | int, ...]
Scalar = Callable[[Any], str]  # why a value is refused; empty: it is not


@dataclasses.dataclass(frozen=True)
class Error:
    """One value that is refused. path: of the value. key: one that the table at the path does not have; known: those it has."""

    path: Path
    text: str
    key: str = ""
    known: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class List:
    """A list of so many values of one rule. most None: there is no limit."""

    item: "Rule"
    least: int = 1
    most: int | None = None


@dataclasses.dataclass(frozen=True)
class Table:
    """A table. others: rule of the keys that are not known; None: there are no others."""

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
    return lambda value: _text(value) or (
        "" if re.search(pattern, value) else f"{value!r} is not of the form {pattern}"
    )


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
)  # a single value of a matrix stands for a list of one


def first_error(document: dict[str, Any]) -> Error | None:
    """The first value of a plan that is refused, in the order of their paths."""
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


# On which line of a TOML file each key stands; the parser of the standard library does not tell.
#
# Only for files that tomllib has read without an error, so nothing is checked here.

_HEADER = re.compile(r"^\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|' + r"'[^']*'")


def lines_of_keys(text: str) -> dict[Path, int]:
    """Line numbers from 1, by path: ("matrix", 0, "filesystem") -> 12."""
    lines: dict[Path, int] = {}
    table: Path = ()
    counts: dict[Path, int] = {}
    until = ""  # what ends the value that spans lines: quotes, or "]" of an array
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
    """The line of the key, or of the nearest thing around it."""
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
