# SPDX-License-Identifier: GPL-2.0-or-later
"""The file of an experiment's table, so that explain can report a cause as tested: why.json in the directory of the experiment.
Its recordings are in directories below."""

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


def experiment_of(recording: pathlib.Path) -> dict[str, Any] | None:
    """The table of the experiment that has this recording as its baseline. None: there is none, or it is unreadable. The
    results of the baseline do not hold for the runs with a change."""
    path = recording.parent.parent / NAME
    try:
        change = (recording.parent / CHANGE).read_text(encoding="utf-8")
        if not change.startswith(AS_IT_IS) or path.stat().st_size > MOST_BYTES:
            return None
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) and document.get("format") == FORMAT else None


def tested(recording: pathlib.Path) -> str:
    """The verdict of that experiment in a sentence, with what there is to type; empty if there is none."""
    verdict = (experiment_of(recording) or {}).get("verdict")
    if not isinstance(verdict, dict) or not isinstance(verdict.get("sentence"), str):
        return ""
    commands = [word for word in verdict.get("commands", ()) if isinstance(word, str)]
    text = verdict["sentence"] + (f" Type: {'; '.join(commands)}" if commands else "")
    return "".join(letter if letter.isprintable() else "?" for letter in text)
