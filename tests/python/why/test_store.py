# SPDX-License-Identifier: GPL-2.0-or-later
"""The table next to the recordings: used for the command as it is, for nothing else, and never trusted."""

import json
import pathlib

import pytest

from raidtrace.explain import runs

VERDICT = {"sentence": "Readahead: 3.5x.", "commands": ["blockdev --setra 4096 /dev/sda"]}


def made(directory: pathlib.Path, change: str = "as it is, trial 0", **more: object) -> pathlib.Path:
    """A directory as raidctl why leaves it; the recording of one run."""
    run = directory / "run-01"
    run.mkdir()
    (run / runs.CHANGE).write_text(change)
    runs.write_experiment(directory, json.dumps({"format": 1, "verdict": VERDICT, **more}))
    return run / "run.rtdb"


def test_tested(tmp_path: pathlib.Path) -> None:
    """The sentence, and what to type."""
    path = made(tmp_path)
    assert runs.tested(path) == "Readahead: 3.5x. Type: blockdev --setra 4096 /dev/sda"
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("more", [{"format": 2}, {"verdict": None}, {"verdict": {"sentence": 5}}, {"verdict": []}])
def test_strange_tables_say_nothing(tmp_path: pathlib.Path, more: dict[str, object]) -> None:
    """As does one of another format."""
    assert runs.tested(made(tmp_path, **more)) == ""


def test_what_was_changed_is_not_what_was_tested(tmp_path: pathlib.Path) -> None:
    """The verdict is about the command as it is."""
    assert runs.tested(made(tmp_path, "readahead 4096, trial 0")) == ""


def test_no_table(tmp_path: pathlib.Path) -> None:
    """None, too large, or no JSON."""
    assert runs.tested(tmp_path / "run.rtdb") == ""
    path = made(tmp_path)
    (tmp_path / runs.EXPERIMENT).write_text("{" * 100)
    assert runs.tested(path) == ""
    (tmp_path / runs.EXPERIMENT).write_text(" " * (runs.MOST_BYTES + 1))
    assert runs.tested(path) == ""


def test_control_characters_do_not_reach_a_terminal(tmp_path: pathlib.Path) -> None:
    """A table of another's is text to distrust."""
    path = made(tmp_path, verdict={"sentence": "a\x1b[31mb\n", "commands": []})
    assert runs.tested(path) == "a?[31mb?"
