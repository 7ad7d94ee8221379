# SPDX-License-Identifier: GPL-2.0-or-later
"""What `raidctl lab expect` is given: comparisons of measures and numbers, joined by and, or, not."""

from __future__ import annotations

import ast
import difflib
import operator
from collections.abc import Callable
from typing import Any

from raidlab.verbs import measures

_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class BadExpression(Exception):
    """It cannot be understood; the message says where and what is allowed."""


class NotKnown(Exception):
    """A measure has no value in this phase, as the size of requests where there are none."""


class Expression:
    """A checked expression. Nothing of it is ever executed as Python."""

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError) as error:
            where = f", at character {error.offset}" if isinstance(error, SyntaxError) and error.offset else ""
            raise BadExpression(f"{text!r} is no expression{where}; write e.g. mib_per_s >= 380") from None
        self._check_truth(self._tree)

    def names(self) -> list[str]:
        """The measures that it asks for, in order."""
        found = [node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)]
        return list(dict.fromkeys(found))

    def holds(self, values: dict[str, measures.Value]) -> bool:
        """Whether it is true of these values. NotKnown if one that decides is None, or if it divides by 0."""
        try:
            return self._truth(self._tree, values)
        except ZeroDivisionError:
            raise NotKnown("a quotient by 0") from None

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
            raise BadExpression(f"{self._said(node)} compares nothing; write e.g. mib_per_s >= 380 and seeks < 100")

    def _check_number(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name):
            if not measures.is_known(node.id):
                close = difflib.get_close_matches(node.id, measures.names(), 1)
                hint = f" Did you mean {close[0]}?" if close else ""
                raise BadExpression(f"{node.id} is no measure.{hint} Known are: {', '.join(measures.names())}; "
                                    "all but seconds also with read_ or write_ before them.")  # fmt: skip
        elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
            self._check_number(node.left)
            self._check_number(node.right)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            self._check_number(node.operand)
        elif not (isinstance(node, ast.Constant) and type(node.value) in (int, float)):
            raise BadExpression(f"{self._said(node)} is neither a number nor a measure")

    def _said(self, node: ast.AST) -> str:
        return repr(ast.get_source_segment(self.text.strip(), node) or self.text)

    def _truth(self, node: ast.AST, values: dict[str, measures.Value]) -> bool:
        if isinstance(node, ast.BoolOp):
            join = all if isinstance(node.op, ast.And) else any
            return join(self._truth(part, values) for part in node.values)
        if isinstance(node, ast.UnaryOp):
            return not self._truth(node.operand, values)
        assert isinstance(node, ast.Compare)
        numbers = [self._number(part, values) for part in (node.left, *node.comparators)]
        return all(_COMPARE[type(sign)](*pair) for sign, pair in zip(node.ops, zip(numbers, numbers[1:])))

    def _number(self, node: ast.AST, values: dict[str, measures.Value]) -> float:
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
