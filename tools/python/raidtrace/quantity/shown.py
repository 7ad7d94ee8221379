# SPDX-License-Identifier: GPL-2.0-or-later
"""Text that came from elsewhere, names of processes, mounts, files and phases: what a terminal and a CSV file are given of it.

A program goes through run(), so that nothing it prints moves a cursor; tools/raidctl/base/foreign.c is the same for raidctl.
"""

import io
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TextIO

# control characters, invisible ones, those that move the text, and bytes that Python could not decode
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class UserError(Exception):
    """Something that the user can correct. The text says what happened, why, and what to do."""


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return _SHORT.get(match[0], f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def visible(text: str) -> str:
    """One line without anything that a terminal obeys."""
    return text if text.isprintable() else _HIDDEN.sub(_escaped, text)


def lines(text: str) -> str:
    """The same of a text of several lines."""
    return text if text.isprintable() else "\n".join(visible(line) for line in text.split("\n"))


def cell(value: object) -> object:
    """A value for a CSV file: text that a spreadsheet would take for a formula is marked, numbers stay numbers."""
    if not isinstance(value, str) or not value.startswith(("=", "+", "-", "@", "\t", "\r")) or _NUMBER.fullmatch(value):
        return value
    return "'" + value


def cells(row: Iterable[object]) -> list[object]:
    """cell() of each value."""
    return [cell(value) for value in row]


def failure(error: BaseException) -> str:
    """The words of an error; of one of the kernel's the file and the reason, without its number."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


class Door:
    """A stream through which nothing goes that a terminal obeys. raw: the one below, for a line of progress."""

    def __init__(self, raw: TextIO) -> None:
        self.raw = raw

    def write(self, text: str) -> int:
        self.raw.write(lines(text))
        return len(text)

    def __getattr__(self, name: str) -> object:
        return getattr(self.raw, name)


def raw(stream: TextIO) -> TextIO:
    """The stream below the door, if there is one."""
    return stream.raw if isinstance(stream, Door) else stream


def write(parts: Iterable[str]) -> None:
    """Write text that is safe already to standard output, below the door, as UTF-8."""
    out = raw(sys.stdout)
    if isinstance(out, io.TextIOWrapper):
        out.reconfigure(encoding="utf-8", errors="replace")
    out.writelines(parts)
    out.flush()


def run(main: Callable[[Sequence[str]], int | None]) -> int | None:
    """Run a program with the door before its output."""
    sys.stdout, sys.stderr = Door(sys.stdout), Door(sys.stderr)  # type: ignore[assignment]
    try:
        status = main(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output has ended, which is no error to report. Python must not try again at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 128 + signal.SIGPIPE
    return status


# JSON and CSV of values that can hold any text: control characters and bytes that are not UTF-8 are written as numbers.
# JSON has a line for each member, and 17 digits of a number with a fraction, so that none is lost. CSV follows RFC 4180.

_HIDDEN_IN_JSON = re.compile(
    "[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_QUOTED = re.compile('[,"\r\n]')
_BROKEN = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"
Json = None | bool | int | float | str | Mapping[str, "Json"] | Sequence["Json"]


def _number_of(match: re.Match[str]) -> str:
    code = ord(match[0])
    return "\\ufffd" if 0xD800 <= code < 0xE000 else f"\\u{code:04x}"


def text_json(text: str) -> str:
    """A text of JSON in which nothing is hidden."""
    return text if text.isascii() and "\x7f" not in text else _HIDDEN_IN_JSON.sub(_number_of, text)


def row_json(row: Mapping[str, object]) -> str:
    """An object in one line."""
    return text_json(json.dumps(row, ensure_ascii=False, separators=(",", ":")))


def value_json(value: Json, indent: int = 0) -> str:
    """A value as indented JSON."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float):
        text = f"{value:.17g}"
        return text if re.search("[.en]", text) else f"{text}.0"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return text_json(json.dumps(value, ensure_ascii=False))
    begin, end = ("{", "}") if isinstance(value, Mapping) else ("[", "]")
    if isinstance(value, Mapping):
        parts = [f"{text_json(json.dumps(key, ensure_ascii=False))}:{value_json(one, indent + 2)}"
                 for key, one in value.items()]  # fmt: skip
    else:
        parts = [value_json(one, indent + 2) for one in value]
    if not parts:
        return f"{begin}\n{'':{indent}}{end}"
    inner = f"\n{'':{indent + 2}}"
    return f"{begin}{inner}{f',{inner}'.join(parts)}\n{'':{indent}}{end}"


def _field(value: object) -> str:
    if value is None:
        return ""
    text = _BROKEN.sub(REPLACEMENT, str(value))
    text = str(cell(text))
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def row_csv(row: Iterable[object]) -> str:
    """A row; None is empty."""
    return ",".join(map(_field, row)) + "\r\n"
