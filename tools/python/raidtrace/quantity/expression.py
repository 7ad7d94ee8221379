# SPDX-License-Identifier: GPL-2.0-or-later
"""Expressions of named numbers: sums and products, comparisons, and, or, not. No code is executed."""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

MAX_LENGTH = 200  # characters
_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}  # fmt: skip
_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip


class BadExpression(ValueError):
    """The text is not an expression. The message gives the position."""


class NotKnown(Exception):
    """The result depends on a number that is not available."""


class Expression:
    """A checked expression."""

    def __init__(self, text: str, refused: Callable[[str], str], truth: bool) -> None:
        """Check a text. truth: it must be a condition, otherwise a number. refused: returns the reason why a name is
        not allowed, "" for an allowed one. Raises BadExpression."""
        self.text = text.strip()
        try:
            if len(text) > MAX_LENGTH:
                raise ValueError("too long")
            self._tree = ast.parse(self.text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            where = f", at character {error.offset}" if isinstance(error, SyntaxError) and error.offset else ""
            raise BadExpression(f"{text!r} is not an expression{where}") from None
        self._refused = refused
        (self._check_truth if truth else self._check_number)(self._tree)

    def names(self) -> list[str]:
        """The names in the expression, in order."""
        return list(dict.fromkeys(node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)))

    def holds(self, values: Mapping[str, float | None]) -> bool:
        """Whether the condition is true for these values. Raises NotKnown: a required value is None, or a division by
        0."""
        try:
            return self._truth(self._tree, values)
        except ZeroDivisionError:
            raise NotKnown("a division by 0") from None

    def number(self, values: Mapping[str, float | None]) -> float:
        """The value of the expression. Raises NotKnown: a value is None, or there is no result."""
        try:
            return self._number(self._tree, values)
        except (ZeroDivisionError, OverflowError) as error:
            raise NotKnown(str(error)) from None

    def _check_truth(self, node: ast.AST) -> None:
        if isinstance(node, ast.BoolOp):
            for part in node.values:
                self._check_truth(part)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self._check_truth(node.operand)
        elif isinstance(node, ast.Compare) and all(type(sign) in _COMPARE for sign in node.ops):
            for part in (node.left, *node.comparators):
                self._check_number(part)
        else:
            raise BadExpression(f"{self._part(node)} is not a comparison")

    def _check_number(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name):
            why = self._refused(node.id)
            if why:
                raise BadExpression(why)
        elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
            self._check_number(node.left)
            self._check_number(node.right)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            self._check_number(node.operand)
        elif not (isinstance(node, ast.Constant) and type(node.value) in (int, float)):
            raise BadExpression(f"{self._part(node)} is neither a number nor a measure")

    def _part(self, node: ast.AST) -> str:
        return repr(ast.get_source_segment(self.text, node) or self.text)

    def _truth(self, node: ast.AST, values: Mapping[str, float | None]) -> bool:
        if isinstance(node, ast.BoolOp):
            join = all if isinstance(node.op, ast.And) else any
            return join(self._truth(part, values) for part in node.values)
        if isinstance(node, ast.UnaryOp):
            return not self._truth(node.operand, values)
        assert isinstance(node, ast.Compare)
        numbers = [self._number(part, values) for part in (node.left, *node.comparators)]
        return all(_COMPARE[type(sign)](*pair) for sign, pair in zip(node.ops, zip(numbers, numbers[1:])))

    def _number(self, node: ast.AST, values: Mapping[str, float | None]) -> float:
        if isinstance(node, ast.Name):
            value = values[node.id]
            if value is None:
                raise NotKnown(node.id)
            return value
        if isinstance(node, ast.BinOp):
            return _ARITHMETIC[type(node.op)](self._number(node.left, values), self._number(node.right, values))
        if isinstance(node, ast.UnaryOp):
            return -self._number(node.operand, values)
        assert isinstance(node, ast.Constant)
        return float(node.value)
