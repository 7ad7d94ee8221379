# SPDX-License-Identifier: GPL-2.0-or-later
"""Print the result of explain or compare, as text or JSON, or the reason why there is none."""

import gc
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from raidtrace.quantity import shown
from raidtrace.recording.columns import RecordingError
from raidtrace.sweep import index as sweep_index

COLUMNS = 80  # off a terminal


class Printable(Protocol):
    """A result that can be printed as JSON."""

    def to_json(self) -> str:
        ...


F = TypeVar("F", bound=Printable)


def answer(verb: str, find: Callable[[], F], lines: Callable[[F, int], Sequence[str]], as_json: bool) -> int:
    """Print the result of `find`. Exit status: 0 printed, 1 failed. lines: makes text of at most so many columns."""
    gc.disable()  # short-lived process; scanning for reference cycles would dominate its run time
    try:
        result = find()
        width = shutil.get_terminal_size((COLUMNS, 24)).columns
        print(result.to_json() if as_json else "\n".join(lines(result, width)), flush=True)
    except BrokenPipeError:
        raise  # ends quietly
    except (RecordingError, sweep_index.SweepIndexError, OSError) as error:
        print(f"raidctl {verb}: {shown.failure(error)}", file=sys.stderr)
        return 1
    return 0
