# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages for failures of the lab."""

from __future__ import annotations

import traceback
from pathlib import Path


class LabError(Exception):
    """The lab failed. The message has three parts.

    `what` names the action in the user's words, `why` the cause, `todo` the remedy.
    """

    def __init__(self, what: str, why: str, todo: str) -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.todo = todo

    def __str__(self) -> str:
        return f"{self.what}: {self.why}\n  {self.todo}"


def defect(error: Exception) -> str:
    """One line about an unexpected exception. raidtrace/cli/front.py has the same for the other verbs."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    words = " ".join(str(error).split())
    where = f"{Path(place.filename).name}:{place.lineno}"
    return (
        f"defect in raidctl: {type(error).__name__}{': ' if words else ''}{words} ({where}). "
        "To see the traceback: raidctl --debug lab; to report it: raidctl(8), BUGS"
    )
