# SPDX-License-Identifier: GPL-2.0-or-later
"""Expressions as raidctl lab expect takes them, and the measures that may stand in one."""

import re

import pytest
from conftest import TOP
from raidlab.verbs import measures

from raidtrace.quantity.expression import BadExpression, Expression, NotKnown

VALUES = {"mib_per_s": 100.0, "seeks": 3.0, "request_bytes_mode": None}
HOLDS = {
    "mib_per_s >= 100": True,
    "mib_per_s > 100": False,
    "mib_per_s < 100 or seeks == 3": True,
    "mib_per_s >= 100 and seeks != 3": False,
    "not seeks > 3": True,
    "90 <= mib_per_s <= 110": True,
    "mib_per_s / seeks > 33.3": True,
    "-seeks + 3 == 0": True,
    "mib_per_s >= 100 or request_bytes_mode > 3": True,
}
BAD = {
    "mib_per_s": "compares nothing",
    "mib_per_s >": "no expression",
    "mib_per_s >= 'fast'": "neither a number nor a measure",
    "mib_per_s >= True": "neither a number nor a measure",
    "mib_per_sec >= 3": "Did you mean mib_per_s?",
    "__import__('os').system('false') > 0": "neither a number nor a measure",
    "seeks in (1, 2)": "compares nothing",
    "mib_per_s ** 2 > 3": "neither a number",
    "": "no expression",
}


def asked(text):
    return Expression(text, measures.unknown, truth=True)


@pytest.mark.parametrize(("text", "wanted"), HOLDS.items())
def test_what_holds(text, wanted):
    assert asked(text).holds(VALUES) is wanted


@pytest.mark.parametrize(("text", "said"), BAD.items())
def test_what_is_refused_says_why(text, said):
    with pytest.raises(BadExpression, match=re.escape(said)):
        asked(text)


@pytest.mark.parametrize(
    "text", ["seeks < 1" + " or seeks < 1" * 99, "(" * 150 + "seeks < 1", "not " * 300 + "seeks < 1"]
)
def test_what_is_long_is_refused(text):
    with pytest.raises(BadExpression):
        asked(text)


@pytest.mark.parametrize("text", ["request_bytes_mode > 3", "seeks / 0 > 1"])
def test_there_is_no_verdict_without_a_value(text):
    with pytest.raises(NotKnown):
        asked(text).holds(VALUES)


def test_names_in_their_order():
    assert asked("seeks > 1 and mib_per_s > seeks").names() == ["seeks", "mib_per_s"]


def test_every_measure_is_known_and_documented():
    every = [name for name in measures.names() if name != "seconds" and not name.startswith("inflight")]
    known = [*measures.names(), *(f"{direction}_{name}" for direction in measures.DIRECTIONS for name in every)]
    assert all(measures.is_known(name) for name in known)
    for document in ("Documentation/lab.rst", "Documentation/man/raidctl-lab.8"):
        assert set(measures.names()) <= set(re.findall(r"\w+", (TOP / document).read_text()))
