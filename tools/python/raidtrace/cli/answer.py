# SPDX-License-Identifier: GPL-2.0-or-later
"""How explain and compare end: what was found is printed, as text or JSON, or why there is nothing."""

import gc
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from raidtrace.quantity import shown
from raidtrace.recording.columns import RecordingError
from raidtrace.sweep import index as sweep_index

COLUMNS = 80  # off a terminal


class Found(Protocol):
    """What can be printed as JSON."""

    def to_json(self) -> str:
        ...


F = TypeVar("F", bound=Found)


def answer(verb: str, find: Callable[[], F], lines: Callable[[F, int], Sequence[str]], as_json: bool) -> int:
    """Exit status: 0 printed, 1 failed. lines: the text, of at most so many columns."""
    gc.disable()  # a short life, and to look through the rows of hours for circles takes a good part of it
    try:
        found = find()
        width = shutil.get_terminal_size((COLUMNS, 24)).columns
        print(found.to_json() if as_json else "\n".join(lines(found, width)), flush=True)
    except BrokenPipeError:
        raise  # ends quietly
    except (RecordingError, sweep_index.SweepIndexError, OSError) as error:
        print(f"raidctl {verb}: {shown.failure(error)}", file=sys.stderr)
        return 1
    return 0
