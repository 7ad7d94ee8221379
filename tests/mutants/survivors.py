# SPDX-License-Identifier: GPL-2.0-or-later
"""Mutants that survive, and those of which it is known why: a file of reasons, the mutants of each indented below it."""

from __future__ import annotations

import fnmatch
import pathlib
from collections.abc import Collection


def known(path: pathlib.Path) -> list[str]:
    """Patterns of file and mutant, as of file names."""
    text = path.read_text(encoding="utf-8")
    return [line.strip() for line in text.splitlines() if line.startswith("    ")]


def unexplained(survived: Collection[str], patterns: list[str]) -> list[str]:
    """Survivors, `FILE: FUNCTION: OLD -> NEW`, that have no reason."""
    return [key for key in survived if not any(fnmatch.fnmatchcase(key, pattern) for pattern in patterns)]


def stale(survived: Collection[str], patterns: list[str]) -> list[str]:
    """Reasons for what did not survive."""
    return [pattern for pattern in patterns if not fnmatch.filter(survived, pattern)]
