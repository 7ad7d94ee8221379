# SPDX-License-Identifier: GPL-2.0-or-later
"""The numbers that decide a verdict are few, each with its meaning, and in one file."""

import ast
import re

import pytest
from conftest import TOP

EXPLAIN = TOP / "tools/python/raidtrace/explain"
TEXT = (
    "breakdown.py",
    "evidence.py",
)  # widths of columns, and when a number is printed
DECIDING = 12
HARMLESS = {
    0,
    1,
    2,
    10,
    100,
    512,
    1000,
    10**9,
    10**18,
    1e3,
    1e6,
    1e9,
    0.999,
    1e-3,
    20,
    30,
    32,
    40,
    37,
}  # units, text and bounds


def assigned(text):
    """Names of a module's numbers."""
    numbers = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Call)
    return [node.targets[0].id for node in ast.parse(text).body
            if isinstance(node, ast.Assign) and isinstance(node.value, numbers)
            and not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str))]  # fmt: skip


def test_few_numbers_decide_and_each_has_its_meaning():
    text = (EXPLAIN / "constants.py").read_text(encoding="utf-8")
    first, heading, _ = text.partition("# These follow from those above.")
    assert heading and 0 < len(assigned(first)) <= DECIDING
    lines = [line for line in text.splitlines() if re.match(r"[A-Z_]+ = ", line)]
    assert len(lines) == len(assigned(text)) and len({line.partition(" = ")[0] for line in lines}) == len(lines)
    named = {"KIB"}
    assert not [line for line in lines if "  # " not in line and line.partition(" = ")[0] not in named]


@pytest.mark.parametrize("name", sorted(path.name for path in EXPLAIN.glob("*.py")))
def test_no_rule_has_a_number_of_its_own(name):
    if name in TEXT or name == "constants.py":
        return
    tree = ast.parse((EXPLAIN / name).read_text(encoding="utf-8"))
    compared = [
        (constant.value, constant.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for constant in ast.walk(node)
        if isinstance(constant, ast.Constant) and isinstance(constant.value, (int, float))
    ]
    assert not [one for one in compared if one[0] not in HARMLESS]


def test_every_number_is_used():
    used = "".join(path.read_text(encoding="utf-8") for path in EXPLAIN.glob("*.py") if path.name != "constants.py")
    own = (EXPLAIN / "constants.py").read_text(encoding="utf-8")
    unused = [name for name in assigned(own) if f"k.{name}" not in used and len(re.findall(rf"\b{name}\b", own)) < 2]
    assert not unused
