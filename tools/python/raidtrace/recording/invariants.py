# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the numbers of a recording agree with each other, found when it is read: the word that its recorder wrote stays when
a number is changed. raidctl judges; what it finds is asked for here."""

import json
import pathlib
import subprocess

PROGRAM = pathlib.Path(__file__).resolve().parents[3] / "bin" / "raidctl"
NOT_CHECKED = "not checked: raidctl report does"


def found(path: pathlib.Path, stored: str | None) -> str | None:
    """What raidctl finds, None: nothing; where its recorder wrote that some do not hold, what it wrote."""
    if stored not in (None, "hold"):
        return stored
    try:
        done = subprocess.run([PROGRAM, "report", "--json", "--", path], capture_output=True, check=True)
        said = json.loads(done.stdout)["meta"].get("invariants")
    except (OSError, subprocess.CalledProcessError, ValueError, KeyError, TypeError):
        return NOT_CHECKED
    return said if said is None or isinstance(said, str) else NOT_CHECKED


def broken(name: object, said: str | None) -> str:
    """The sentence that an invariant does not hold, of `name`; empty: all hold, or that was not checked. said: as found()."""
    return (
        ""
        if said in (None, "", "hold", NOT_CHECKED)
        else f"{name}: an invariant of the counters does not hold: {said}."
    )
