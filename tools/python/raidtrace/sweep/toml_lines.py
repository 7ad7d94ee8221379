# SPDX-License-Identifier: GPL-2.0-or-later
"""On which line of a TOML file each key stands; the parser of the standard library does not tell.

Only for files that tomllib has read without an error, so nothing is checked here.
"""

import re
from collections.abc import Mapping
from typing import Any

import tomllib

Path = tuple[str | int, ...]
_HEADER = re.compile(r"^\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|' + r"'[^']*'")


def find(text: str) -> dict[Path, int]:
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
            table = _table(header, counts)
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


def _table(header: re.Match[str], counts: dict[Path, int]) -> Path:
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
