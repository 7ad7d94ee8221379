# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the table of an experiment lies, so that explain can say "tested" of what it finds: a file why.json in the directory
of the experiment, whose recordings lie in directories below it."""

import json
import pathlib
from typing import Any

NAME, CHANGE = "why.json", "change"
AS_IT_IS = "as it is"
FORMAT = 1
MOST_BYTES = 1 << 22  # the table of an experiment has some tens of rows


def write(directory: pathlib.Path, text: str) -> None:
    """Keep a table, in one step: a reader sees the old one or the new one."""
    new = directory / f".{NAME}.new"
    new.write_text(text + "\n", encoding="utf-8")
    new.replace(directory / NAME)


def beside(recording: pathlib.Path) -> dict[str, Any] | None:
    """The table of the experiment that a recording is the baseline of; None if it is not, or the table cannot be read. What
    was found of the command as it is does not hold for the runs in which something was changed."""
    path = recording.parent.parent / NAME
    try:
        change = (recording.parent / CHANGE).read_text(encoding="utf-8")
        if not change.startswith(AS_IT_IS) or path.stat().st_size > MOST_BYTES:
            return None
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.get("format") == FORMAT else None


def tested(recording: pathlib.Path) -> str:
    """The verdict of that experiment in a sentence, with what there is to type; empty if there is none."""
    verdict = (beside(recording) or {}).get("verdict")
    if not isinstance(verdict, dict) or not isinstance(verdict.get("sentence"), str):
        return ""
    commands = [word for word in verdict.get("commands", ()) if isinstance(word, str)]
    text = verdict["sentence"] + (f" Type: {'; '.join(commands)}" if commands else "")
    return "".join(letter if letter.isprintable() else "?" for letter in text)
