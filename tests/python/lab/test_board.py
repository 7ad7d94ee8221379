# SPDX-License-Identifier: GPL-2.0-or-later
"""The board of published changes: its files fit together, and what is called as published is."""

import importlib.machinery
import importlib.util
import sys

import pytest
import tomllib
from conftest import TOP

sys.path.insert(0, str(TOP / "tools" / "lab"))

from raidlab.verbs import measures, workloads  # noqa: E402

BOARD = TOP / "tests" / "board"
ENTRIES = tomllib.loads((BOARD / "board.toml").read_text())["entry"]
FACTS = {"name", "commit", "title", "source", "published", "change", "undone", "kernel", "workload"}


def board():
    loader = importlib.machinery.SourceFileLoader("board_run", str(BOARD / "run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("board_run", loader))
    loader.exec_module(module)
    return module


def test_every_entry_has_a_source_a_patch_and_a_workload():
    own = {one.name for one in workloads.read(BOARD / "workloads.toml")}
    for entry in ENTRIES:
        assert FACTS <= set(entry) and entry["source"], entry
        assert entry["change"] in ("faster", "slower") or (
            entry["change"] in ("larger", "smaller") and "measure" in entry
        )
        assert entry["commit"] == "" or len(entry["commit"]) == 40, entry
        assert entry["workload"] in own or workloads.of_set(entry["workload"])
        assert "unseen" in entry or entry["mechanism"]
        assert "measure" in entry or "ratio" not in entry
        assert entry.get("measure", "speed") in {"speed", *measures.MEASURES}
    assert len({entry["name"] for entry in ENTRIES}) == len(ENTRIES) >= 20
    assert {path.stem for path in BOARD.glob("*.patch")} == {entry["name"] for entry in ENTRIES}


ENTRY = {"change": "faster", "undone": True, "mechanism": "size", "measure": "requests", "ratio": 0.25}
FOUND = {"verdict": "slower", "speed": 0.5, "mechanism": ["size 16 -> 4 KiB"], "measures": {"requests": [100.0, 400.0]}}


@pytest.mark.parametrize(
    "entry, found, wrong",
    [
        ({}, {}, ""),
        ({}, {"verdict": "faster"}, "sign: slower"),
        ({}, {"verdict": "equal"}, "sign: equal"),
        ({"undone": False}, {"verdict": "faster", "measures": {"requests": [400.0, 100.0]}}, ""),
        ({}, {"mechanism": ["in flight 2.0 -> 1.0"]}, "mechanism: in flight"),
        ({}, {"measures": {"requests": [100.0, 330.0]}}, "figure: 0.30"),
        ({}, {"measures": {"requests": [100.0, 340.0]}}, ""),
        ({"measure": "speed", "ratio": 2.0}, {}, ""),
        ({"measure": "speed", "ratio": 2.0}, {"speed": 0.8}, "figure: 1.25"),
        ({"change": "smaller"}, {}, ""),
        ({"change": "larger"}, {}, "sign: smaller"),
        ({"change": "larger"}, {"mechanism": ["merges 3 -> 4"]}, "mechanism: merges"),
        ({"unseen": "free"}, {"verdict": "identical", "mechanism": []}, ""),
        ({"unseen": "free"}, {}, "seen: slower"),
    ],
)
def test_what_is_not_as_published_is_said(entry, found, wrong):
    said, passed = board().said(ENTRY | entry, FOUND | found)
    assert passed == (not wrong) and wrong in said
