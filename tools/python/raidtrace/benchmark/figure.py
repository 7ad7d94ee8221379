# SPDX-License-Identifier: GPL-2.0-or-later
"""What a benchmark says it measured, and how its output is refused when it says nothing or nonsense."""

import dataclasses
import math
from collections.abc import Sequence

KIB_PER_S = "KiB/s"
PER_S = "1/s"
SECONDS = "s"


class ParseError(Exception):
    """Output that cannot be read; the text names program, line and what was expected there."""


@dataclasses.dataclass(frozen=True)
class Figure:
    """One figure that a program reported.

    value: None when the program itself says that it could not measure it (bonnie++ prints +++++).
    cpu_percent: processor use that the program reports with it, by its own definition; None: it reports none.
    where: other parts of the identity of the figure, such as ("record_kib", "64").
    """

    phase: str
    value: float | None
    unit: str
    cpu_percent: float | None = None
    where: tuple[tuple[str, str], ...] = ()


def fail(program: str, lines: Sequence[str], number: int | None, why: str) -> ParseError:
    """The error for line `number` (from 1), or for the whole output when it is None."""
    if not any(line.strip() for line in lines):
        return ParseError(f"{program}: no output at all; {why}")
    if number is None:
        return ParseError(f"{program}: {why}; it has {len(lines)} lines, the last is {_quote(_last(lines))}")
    return ParseError(f"{program}: line {number}: {why}: {_quote(lines[number - 1])}")


def number(text: str) -> float:
    """A finite number that is not negative; ValueError for anything else, so nan and inf too."""
    value = float(text)
    if not math.isfinite(value) or value < 0:
        raise ValueError(f"{text} is no measured value")
    return value


def _last(lines: Sequence[str]) -> str:
    return next(line for line in reversed(lines) if line.strip())


def _quote(line: str) -> str:
    shown = line.strip()
    return repr(shown if len(shown) <= 80 else shown[:77] + "...")
