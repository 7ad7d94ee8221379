# SPDX-License-Identifier: GPL-2.0-or-later
"""Safe output of untrusted text (names of processes, mounts, files and phases) to terminals, CSV and JSON.

A program runs in run(), so none of its output can control the terminal. tools/raidctl/base/foreign.c does the same for
raidctl.
"""

import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TextIO

from raidtrace.quantity import patience

# control characters, invisible characters, those that change the direction of text, and bytes that are not UTF-8
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
SIGPIPE = 13  # signal.SIGPIPE, which Windows lacks
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class UserError(Exception):
    """An error that the user can correct. The text says what happened, why, and how to correct it."""


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return _SHORT.get(match[0], f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def visible(text: str) -> str:
    """Text as one line, with all characters visible that a terminal would interpret."""
    return text if text.isprintable() else _HIDDEN.sub(_escaped, text)


def lines(text: str) -> str:
    """The lines of a text, each passed through visible()."""
    return text if text.isprintable() else "\n".join(visible(line) for line in text.split("\n"))


def cell(value: object) -> object:
    """A value for a CSV file. Text that a spreadsheet would interpret as a formula gets a quote; numbers do not."""
    if not isinstance(value, str) or not value.startswith(("=", "+", "-", "@", "\t", "\r")) or _NUMBER.fullmatch(value):
        return value
    return "'" + value


def cells(row: Iterable[object]) -> list[object]:
    """The values of a row, each passed through cell()."""
    return [cell(value) for value in row]


def failure(error: BaseException) -> str:
    """The text of an error; for a system call, the file and the reason without the number."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


class Door:
    """A stream that makes control characters visible. raw: the stream below, for a line of progress."""

    def __init__(self, raw: TextIO) -> None:
        self.raw = raw

    def write(self, text: str) -> int:
        patience.end()
        self.raw.write(lines(text))
        return len(text)

    def __getattr__(self, name: str) -> object:
        return getattr(self.raw, name)


def raw(stream: TextIO) -> TextIO:
    """The stream below a Door, or the stream itself."""
    return stream.raw if isinstance(stream, Door) else stream


def write(parts: Iterable[str]) -> None:
    """Write text to standard output as UTF-8, below the Door. The text must be safe."""
    patience.end()
    out = raw(sys.stdout)
    if isinstance(out, io.TextIOWrapper):
        out.reconfigure(encoding="utf-8", errors="replace")
    out.writelines(parts)
    out.flush()


def run(main: Callable[[Sequence[str]], int | None]) -> int | None:
    """Run a program with a Door before its output. Returns its exit status."""
    sys.stdout, sys.stderr = Door(sys.stdout), Door(sys.stderr)  # type: ignore[assignment]
    try:
        status = main(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output has ended, which is not an error. Python must not write again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 128 + SIGPIPE
    return status


# JSON and CSV of values with any text. Control characters and bytes that are not UTF-8 are escaped. JSON has a line for
# each member, and 17 digits for a number with a fraction, which keeps its exact value. CSV follows RFC 4180.

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
    """The text of JSON with invisible characters escaped."""
    return text if text.isascii() and "\x7f" not in text else _HIDDEN_IN_JSON.sub(_number_of, text)


def row_json(row: Mapping[str, object]) -> str:
    """An object as JSON in one line."""
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


def whole(text: str) -> str:
    """Text that can be encoded: a replacement character for each byte that is not UTF-8."""
    return _BROKEN.sub(REPLACEMENT, text)


def _field(value: object) -> str:
    if value is None:
        return ""
    text = str(cell(whole(str(value))))
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def row_csv(row: Iterable[object]) -> str:
    """A row of a CSV file. None becomes an empty field."""
    return ",".join(map(_field, row)) + "\r\n"
