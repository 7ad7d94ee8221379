# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON and CSV of values that can hold any text: what a terminal obeys and what is not UTF-8 leaves here as its number.

For JSON a line for each member; of numbers with a fraction 17 digits, so that none is lost. CSV as RFC 4180 has it.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from raidtrace.quantity import shown

_HIDDEN = re.compile("[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]")
_QUOTED = re.compile('[,"\r\n]')
_BROKEN = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"
Json = None | bool | int | float | str | Mapping[str, "Json"] | Sequence["Json"]


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return "\\ufffd" if 0xD800 <= code < 0xE000 else f"\\u{code:04x}"


def text_json(text: str) -> str:
    """A text of JSON in which nothing is hidden."""
    return text if text.isascii() and "\x7f" not in text else _HIDDEN.sub(_escaped, text)


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
    text = str(shown.cell(text))
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def row_csv(row: Iterable[object]) -> str:
    """A row; None is empty."""
    return ",".join(map(_field, row)) + "\r\n"
