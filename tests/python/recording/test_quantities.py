# SPDX-License-Identifier: GPL-2.0-or-later
"""Terms of counters.rst as numbers."""

import pytest

from raidtrace.recording import quantities as q


@pytest.mark.parametrize(("part", "said"), [(1.0, "100.0%"), (0.99999, "99.9%"), (0.9994, "99.9%"), (0.5, "50.0%"),
                                            (0.0, "0.0%"), (0.00001, "<0.1%"), (0.0006, "0.1%"), (1.02, "102.0%")])  # fmt: skip
def test_all_and_none_are_said_of_nothing_else(part: float, said: str) -> None:
    assert q.percent(part) == said
