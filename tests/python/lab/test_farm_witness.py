# SPDX-License-Identifier: GPL-2.0-or-later
"""The farm's witness complains of each thing that cannot be, and of nothing that can."""

import collections
import sys
import types

import pytest
from conftest import TOP

sys.path.insert(0, str(TOP / "tests" / "lab"))
import farm_witness  # noqa: E402

FLOW = {"issued": 10, "requeued": 0, "completed": 10, "errors": 0, "unissued": 0, "unmatched": 0, "in-flight": 0,
        "abandoned": 0, "bytes-issued": 40960}  # fmt: skip
NONE = dict.fromkeys(FLOW, 0)


def differences(states=("good",) * 10, faults=False, ended=True, sizes=None, resets=False, lost=0, aborted=0, **flow):
    """The complaints about reads of 8 sectors that ended so."""
    window = object.__new__(farm_witness.Window)
    window.rows = {"read": [{"status": state, "sectors": "8"} for state in states], "write": []}
    window.again = resets
    window.lost_before = {"read": lost, "write": 0}
    window.aborted = collections.Counter(read=aborted)
    bins = {"read": {8: 10} if sizes is None else sizes, "write": {}}
    window.counters = types.SimpleNamespace(
        flow={"read": FLOW | {name.replace("_", "-"): value for name, value in flow.items()}, "write": NONE},
        counts=lambda _group: True,
        bins=lambda _kind, direction: bins[direction],
    )
    return farm_witness.differences(window, faults, ended)


@pytest.mark.parametrize(
    "counts",
    [
        {},
        {"issued": 12, "requeued": 2},  # sent back before they came to the controller
        {"states": ("good",) * 10 + ("reset",) * 2, "faults": True, "issued": 12, "requeued": 2},  # thrown away, sent again
        {"states": ("good",) * 10 + ("failed",), "faults": True, "issued": 11, "completed": 11, "errors": 1},
        {"ended": False, "completed": 7, "in_flight": 3},
        {"resets": True, "completed": 12},  # requests in flight at a reset end after it
        {"resets": True, "faults": True, "lost": 6, "requeued": 6},  # or is sent back after it
        {"errors": 2, "unmatched": 2},  # of requests in flight at attach
        {"errors": 1, "unissued": 1},  # of one that the block layer ended by itself
        {"unmatched": 2},
        # libata sends again what was answered together with a failure
        {"states": ("good",) * 10 + ("failed",), "faults": True, "aborted": 1, "issued": 11, "requeued": 2, "completed": 9},
    ],
)  # fmt: skip
def test_what_can_be_is_not_complained_of(counts):
    assert differences(**counts) == []


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ({"issued": 11}, "what the controller got"),
        ({"issued": 9}, "what the controller got"),
        ({"issued": 12, "requeued": 1}, "what the controller got"),
        ({"states": ("good",) * 10 + ("reset",), "faults": True, "issued": 13, "requeued": 1}, "what the controller got"),
        ({"states": ("good",) * 10 + ("reset",), "issued": 11, "requeued": 1}, "what the controller got"),
        ({"completed": 9}, "what the controller did"),
        ({"completed": 11, "ended": False}, "more ended well"),
        ({"errors": 1}, "what the controller did"),
        ({"errors": 2, "unmatched": 1}, "what the controller did"),
        ({"resets": True, "faults": True, "lost": 5, "requeued": 6}, "what the controller got"),
        (
            {"states": ("good",) * 10 + ("failed",), "faults": True, "issued": 11, "requeued": 2, "completed": 9},
            "what the controller got",
        ),
        ({"states": ("good",) * 10, "faults": True, "completed": 9}, "what the controller did"),
        ({"states": ("good",) * 10, "aborted": 1, "completed": 9}, "what the controller did"),
        ({"in_flight": 1}, "in flight"),
        ({"abandoned": 1}, "1 abandoned"),
        ({"bytes_issued": 40448}, "40448 bytes issued, not 40960"),
        ({"sizes": {8: 9, 16: 1}}, "sizes"),
    ],
)  # fmt: skip
def test_what_cannot_be_is(counts, text):
    assert any(text in complaint for complaint in differences(**counts))
