# SPDX-License-Identifier: GPL-2.0-or-later
"""How many guests run concurrently: as processors, available memory and the directory of their memory allow."""

import argparse
import os
import types

import pytest
from raidlab.base import toolchain
from raidlab.base.progress import Progress
from raidlab.uml import guest, runner
from raidlab.verbs import ab


@pytest.mark.parametrize(
    "processors, available_mib, free_mib, mebibytes, number",
    [
        (16, 64000, 64000, 320, 16),  # processors decide
        (16, 64 + 5 * 320, 64000, 320, 5),  # memory decides
        (16, 64000, 64 + 3 * 320, 320, 3),  # the directory decides
        (2, 64000, 64000, 320, 2),
        (16, 100, 100, 320, 1),  # one begins, and reports what it lacks
    ],
)
def test_processors_and_memory_decide(monkeypatch, tmp_path, processors, available_mib, free_mib, mebibytes, number):
    status = types.SimpleNamespace(f_bavail=free_mib << 8, f_frsize=4096, f_flag=0)
    monkeypatch.setattr(toolchain, "jobs", lambda: processors)
    monkeypatch.setattr(os, "statvfs", lambda _name: status)
    monkeypatch.setattr(guest, "MEMINFO", tmp_path / "meminfo")
    (tmp_path / "meminfo").write_text(f"MemTotal: 99999999 kB\nMemAvailable: {available_mib << 10} kB\n", "ascii")
    assert guest.at_once(mebibytes) == number


def test_the_largest_guest_of_ab_decides(monkeypatch):
    asked = []
    monkeypatch.setattr(runner, "profiles_of", lambda one, _progress: one.profile)
    monkeypatch.setattr(runner, "memory_of", lambda _one, devices: {"small": 300, "large": 900}[devices])
    monkeypatch.setattr(guest, "at_once", lambda mebibytes: asked.append(mebibytes) or 7)
    arguments = argparse.Namespace(vm=False, variant="", profile="small")
    places = [(None, [], None, 0, ""), (None, [], None, 0, "large")]
    assert ab._at_once(arguments, places, Progress(quiet=True)) == 7 and asked == [900]
    arguments.vm = True
    assert ab._at_once(arguments, places, Progress(quiet=True)) == 1
