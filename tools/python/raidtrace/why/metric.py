# SPDX-License-Identifier: GPL-2.0-or-later
"""What is compared: a word, or an expression of the figures of a run. Either is a cost, which is better when it is less."""

from collections.abc import Mapping

from raidtrace.quantity import size
from raidtrace.quantity.expression import BadExpression, Expression, NotKnown

SECONDS, RATE, P99 = "seconds", "rate", "p99"
ALL = (SECONDS, RATE, P99)
FIGURES = ("seconds", "mib_per_s", "p99_ms", "read_p99_ms", "write_p99_ms", "read_mib", "write_mib")  # of an expression


def checked(text: str) -> str:
    """The metric, as it may be used; ValueError says what is wrong and what there is."""
    if text not in ALL:
        try:
            if text.startswith("-"):
                raise BadExpression("a cost below 0")
            _expression(text)
        except BadExpression:
            raise ValueError(f"{text!r} is none of {', '.join(ALL)} and no sum, difference, product or quotient of numbers and "
                             f"{', '.join(FIGURES)}") from None  # fmt: skip
    return text


def of_fixed_time(text: str) -> bool:
    """Whether runs are compared although they requested different numbers of bytes."""
    return text == RATE or (text not in ALL and "mib_per_s" in text)


def text_of(text: str, cost: float) -> str:
    """A cost in the unit that people use: of a rate the bytes requested per second."""
    if text == RATE:
        return f"{size.short(1 / cost)}/s" if cost else "nothing"
    return size.significant(cost) + {SECONDS: " s", P99: " ms"}.get(text, "")


def verb(text: str) -> str:
    """The words before the cost of a command."""
    return {SECONDS: "it takes", RATE: "it requests", P99: "its p99 latency is"}.get(text, f"({text}) is")


def value(text: str, figures: Mapping[str, float | None]) -> float:
    """An expression of figures. 0: one of them was not measured, or it has no value."""
    try:
        return _expression(text).number(figures)
    except NotKnown:
        return 0.0


def _expression(text: str) -> Expression:
    return Expression(text, lambda name: "" if name in FIGURES else f"{name} is no figure", truth=False)
