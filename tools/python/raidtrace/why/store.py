# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the table of an experiment lies, so that explain can say "tested" of what it finds: a file why.json in the directory
of the experiment, whose recordings lie in directories below it."""

import json
import pathlib
from typing import Any

NAME = "why.json"
MOST_BYTES = 1 << 22  # the table of an experiment has some tens of rows


def write(directory: pathlib.Path, text: str) -> None:
    """Keep a table, in one step: a reader sees the old one or the new one."""
    new = directory / f".{NAME}.new"
    new.write_text(text + "\n", encoding="utf-8")
    new.replace(directory / NAME)


def beside(recording: pathlib.Path) -> dict[str, Any] | None:
    """The table of the experiment that a recording belongs to, None if it belongs to none or the table cannot be read."""
    for directory in (recording.parent, recording.parent.parent):
        path = directory / NAME
        try:
            if not path.is_file() or path.stat().st_size > MOST_BYTES:
                continue
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) and found.get("format") == 1 else None
    return None
