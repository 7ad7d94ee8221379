# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's cache: what a guest runs from stays while it runs, whatever others build."""

import os
import signal
import subprocess
import sys

import pytest
from conftest import TOP

LAB = TOP / "tools" / "lab"
sys.path.insert(0, str(LAB))

from raidlab.apt import packages, sources_list  # noqa: E402
from raidlab.base import cache  # noqa: E402
from raidlab.base.progress import Progress  # noqa: E402
from raidlab.uml import modules  # noqa: E402


@pytest.fixture
def entries(tmp_path):
    """Builds of a module, the oldest first, more than are kept."""
    made = []
    for number in range(modules._KEEP + 2):
        entry = tmp_path / f"raidtrace-{number}"
        entry.mkdir()
        (entry / "complete").touch()
        os.utime(entry, (number, number))
        made.append(entry)
    return made


def forget(entries):
    cache.keep_newest(entries[-1], "raidtrace", modules._KEEP)
    return [entry.exists() for entry in entries]


def test_what_was_not_used_for_longest_is_forgotten(entries):
    assert forget(entries) == [False, False] + [True] * modules._KEEP


def test_what_another_process_runs_from_stays_as_long_as_that_lives(entries):
    code = "import pathlib, sys; from raidlab.base import cache; cache.hold(pathlib.Path(sys.argv[1])); print(flush=1); input()"
    holder = subprocess.Popen([sys.executable, "-B", "-c", code, entries[0]], env=dict(os.environ, PYTHONPATH=str(LAB)),
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
    holder.stdout.readline()
    assert forget(entries) == [True, False] + [True] * modules._KEEP
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    assert forget(entries) == [False, False] + [True] * modules._KEEP


def test_lists_of_packages_are_fetched_anew_when_apt_has_other_sources(tmp_path, monkeypatch):
    fetched = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(packages._Apt, "run", lambda apt, *words: fetched.append(words))
    monkeypatch.setattr(packages._Apt, "offered", lambda apt: {"6.1": "1"})
    for suite in ("bookworm", "bookworm", "trixie", "trixie"):
        entry = sources_list.Entry((), "ftp://m.example/debian", (suite,), ("main",))
        monkeypatch.setattr(sources_list, "configured", lambda entry=entry: iter([entry]))
        for derived in (False, True):
            packages._private(derived, Progress(quiet=True))
    assert len(fetched) == 4
