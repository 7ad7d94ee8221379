# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest's shell knows the terminal of its caller, although its root has no descriptions of terminals."""

import os
import pathlib
import subprocess

import pytest
from raidlab.uml import runner


def test_the_description_goes_with_the_name(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """From the first place that has it; ncurses can read it from the variable."""
    entry = pathlib.Path("/lib/terminfo/v/vt100").read_bytes()
    (tmp_path / ".terminfo/o").mkdir(parents=True)
    (tmp_path / ".terminfo/o/ours").write_bytes(entry)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TERM", "ours")
    said = runner._terminal()
    assert said["TERM"] == "ours"
    seen = subprocess.run(
        ["infocmp", "vt100"], env={**os.environ, **said, "TERM": "vt100"}, capture_output=True, check=True
    )
    assert b"DEC VT100" in seen.stdout and b"from file: $TERMINFO" in seen.stdout


def test_a_terminal_without_a_description_keeps_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs then say themselves what is missing."""
    monkeypatch.setenv("TERM", "nosuchterminal")
    assert runner._terminal() == {"TERM": "nosuchterminal"}
    monkeypatch.setenv("TERM", "")
    assert runner._terminal() == {"TERM": ""}
