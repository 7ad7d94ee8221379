# SPDX-License-Identifier: GPL-2.0-or-later
"""Commits of a kernel's source tree: git, which is asked and changes nothing there."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from raidlab.base.failure import LabError


@dataclass(frozen=True)
class Range:
    """Two commits: their hashes, and what the user called them."""

    first: str
    last: str
    names: tuple[str, str]


def git(what: str, tree: Path, *words: str) -> str:
    """What git prints, without its last line's end. LabError, which says `what` was done, if it fails."""
    done = subprocess.run(
        ["git", "-C", str(tree), *words], capture_output=True, text=True, check=False, env=os.environ | {"LC_ALL": "C"}
    )
    if done.returncode:
        raise LabError(what, done.stderr.strip() or "git failed", f"Try it by hand: git -C {tree} {words[0]}")
    return done.stdout.strip("\n")


def ends(what: str, tree: Path, commits: str) -> Range:
    """Of A..B, as a user names it. LabError if it is none, or git does not know one."""
    first, dots, last = commits.partition("..")
    if not (first and dots and last) or last.startswith("."):
        raise LabError(what, "not two commits", "Name them as in: --range v6.12..mine")
    hashes = [
        git(what, tree, "rev-parse", "--verify", "--end-of-options", f"{end}^{{commit}}") for end in (first, last)
    ]
    return Range(hashes[0], hashes[1], (first, last))
