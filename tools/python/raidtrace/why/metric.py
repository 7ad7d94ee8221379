# SPDX-License-Identifier: GPL-2.0-or-later
"""What is compared: a word, or an expression of the figures of a run. Either is a cost, which is better when it is less."""

import ast
import operator
from collections.abc import Callable, Mapping

SECONDS, RATE, P99 = "seconds", "rate", "p99"
ALL = (SECONDS, RATE, P99)
UNITS = {SECONDS: "s", RATE: "s a byte", P99: "ms"}
FIGURES = ("seconds", "mib_per_s", "p99_ms", "read_p99_ms", "write_p99_ms", "read_mib", "write_mib")  # of an expression
MOST = 200  # characters of one
OPERATIONS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip


def checked(text: str) -> str:
    """The metric, as it may be used; ValueError says what is wrong and what there is."""
    if text not in ALL:
        try:
            tree = ast.parse(text, mode="eval").body if len(text) <= MOST else None
        except (SyntaxError, ValueError, RecursionError):
            tree = None
        if tree is None or not _allowed(tree):
            raise ValueError(f"{text!r} is none of {', '.join(ALL)} and no sum, difference, product or quotient of numbers and "
                             f"{', '.join(FIGURES)}")  # fmt: skip
    return text


def of_fixed_time(text: str) -> bool:
    """Whether runs that asked for more or less bytes than another are compared all the same."""
    return text == RATE or (text not in ALL and "mib_per_s" in text)


def unit(text: str) -> str:
    """What a cost is counted in."""
    return UNITS.get(text, f"({text})")


def value(text: str, figures: Mapping[str, float | None]) -> float:
    """An expression of figures. 0: one of them was not measured, or it has no value."""
    try:
        return _value(ast.parse(text, mode="eval").body, figures)
    except (TypeError, ZeroDivisionError, OverflowError):
        return 0.0


def _allowed(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return type(node.op) in OPERATIONS and _allowed(node.left) and _allowed(node.right)
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float)
    return isinstance(node, ast.Name) and node.id in FIGURES


def _value(node: ast.expr, figures: Mapping[str, float | None]) -> float:
    if isinstance(node, ast.BinOp):
        return OPERATIONS[type(node.op)](_value(node.left, figures), _value(node.right, figures))
    if isinstance(node, ast.Constant):
        return float(node.value)
    assert isinstance(node, ast.Name)
    found = figures[node.id]
    if found is None:
        raise TypeError("not measured")
    return found
