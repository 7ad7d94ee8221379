# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare a document with a JSON schema, as far as plan-schema.json uses that language."""

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tomllib

Path = tuple[str | int, ...]
NAMES = {
    "object": "a table",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
}
LIMITS: dict[str, tuple[Callable[[float, float], bool], str]] = {
    "minimum": (lambda value, bound: value >= bound, "less than"),
    "maximum": (lambda value, bound: value <= bound, "more than"),
    "exclusiveMinimum": (lambda value, bound: value > bound, "not more than"),
    "multipleOf": (lambda value, bound: not value % bound, "not a multiple of"),
}
IGNORED = {"$schema", "$defs", "title", "description", "properties", "additionalProperties", "required", "items"}


class UnknownKeyword(Exception):
    """The schema has a keyword that is not checked here."""


@dataclasses.dataclass(frozen=True)
class Error:
    """One difference. path: of the value. kind: the keyword. known: what the schema allows there. key: the key meant."""

    path: Path
    kind: str
    text: str
    known: tuple[str, ...] = ()
    key: str = ""


def errors(value: Any, schema: Mapping[str, Any]) -> list[Error]:
    """All differences, by path."""
    return sorted(_errors(value, schema, schema, ()), key=lambda error: list(map(str, error.path)))


def _errors(value: Any, schema: Mapping[str, Any], top: Mapping[str, Any], path: Path) -> Iterator[Error]:
    if "$ref" in schema:
        yield from _errors(value, top["$defs"][schema["$ref"].removeprefix("#/$defs/")], top, path)
        return
    for keyword, bound in schema.items():
        if keyword not in IGNORED and (text := _wrong(value, keyword, bound)):
            yield Error(path, keyword, text, tuple(map(str, bound)) if keyword == "enum" else ())
    if isinstance(value, dict):
        yield from _table(value, schema, top, path)
    if isinstance(value, list) and "items" in schema:
        for at, item in enumerate(value):
            yield from _errors(item, schema["items"], top, (*path, at))


def _table(value: dict[str, Any], schema: Mapping[str, Any], top: Mapping[str, Any], path: Path) -> Iterator[Error]:
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    for key, item in value.items():
        if key in known:
            yield from _errors(item, known[key], top, (*path, key))
        elif others is False:
            yield Error(path, "additionalProperties", "there is no such key", tuple(known), key)
        elif others is not True:
            yield from _errors(item, others, top, (*path, key))
    for key in schema.get("required", ()):
        if key not in value:
            yield Error(path, "required", f"{key} is missing", key=key)


def _is(value: Any, kind: str) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return {
        "object": isinstance(value, dict),
        "array": isinstance(value, list),
        "string": isinstance(value, str),
        "integer": number and value == value // 1,
        "number": number,
        "boolean": isinstance(value, bool),
    }[kind]


def _same(a: Any, b: Any) -> bool:
    return bool(a == b) and isinstance(a, bool) == isinstance(b, bool)


def _wrong(value: Any, keyword: str, bound: Any) -> str:
    """What is wrong with a value by one keyword; empty: nothing, or the keyword is of another type of value."""
    if keyword == "type":
        kinds = [bound] if isinstance(bound, str) else bound
        expected = " or ".join(NAMES[kind] for kind in kinds)
        return "" if any(_is(value, kind) for kind in kinds) else f"{value!r} is not {expected}"
    if keyword == "enum":
        allowed = ", ".join(map(str, bound))
        return "" if any(_same(value, one) for one in bound) else f"{value!r} is not one of {allowed}"
    if keyword in LIMITS:
        holds, words = LIMITS[keyword]
        return "" if not _is(value, "number") or holds(value, bound) else f"{value!r} is {words} {bound}"
    if keyword == "pattern":
        return "" if not isinstance(value, str) or re.search(bound, value) else f"{value!r} is not of the form {bound}"
    if keyword == "minLength":
        return "it is empty" if isinstance(value, str) and len(value) < bound else ""
    if keyword in ("minItems", "maxItems"):
        if not isinstance(value, list):
            return ""
        few, many = keyword == "minItems" and len(value) < bound, keyword == "maxItems" and len(value) > bound
        return f"{len(value)} values are {'less' if few else 'more'} than {bound}" if few or many else ""
    raise UnknownKeyword(keyword)


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
