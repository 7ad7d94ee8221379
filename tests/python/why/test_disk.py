# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs on a disk as far as no disk is needed: what stands next to what, what is asked of it, what may be frozen.

tests/lab/ctl-why does the rest on scsi_debug.
"""

import dataclasses
import pathlib

import pytest

from raidtrace.sweep.device import DeviceError, Machine
from raidtrace.why import changes, disk
from raidtrace.why.run import Run

CHANGE = changes.setting("queue_depth", "8")
GOOD = Run(seconds=1.0, disk_bytes={"read": 5, "write": 0})


class Made(disk.Disk):
    """Does not run, but says what it would."""

    def __init__(self, first: Run = GOOD, most_runs: int = 10, budget_s: float = float("inf"), **more: object) -> None:
        wanted = disk.Wanted(pathlib.Path("raidctl"), pathlib.Path("out"), "sda", ("true",), **more)  # type: ignore[arg-type]
        super().__init__(wanted, Machine(), None, None, most_runs, budget_s)  # type: ignore[arg-type]
        self.made: list[tuple[str, float]] = []
        self.next = first

    def _run(self, change: changes.Change, trial: int, cap_s: float) -> Run:
        self.runs += 1
        self.made.append((change.name, cap_s))
        return dataclasses.replace(self.next, seconds=float(self.runs))


def test_each_changed_run_has_one_as_it_is_beside_it() -> None:
    """Before it and after it in turn, so that a drift falls out; what is returned is always as it is first."""
    place = Made()
    pairs = place.pairs([(CHANGE, 0), (CHANGE, 1)], 2.0)
    assert [name for name, _ in place.made] == ["as it is", "queue_depth 8", "queue_depth 8", "as it is"]
    assert [(before.seconds, after.seconds) for before, after in pairs] == [(1, 2), (4, 3)]


def test_baselines() -> None:
    """Five; the first is not ended in time, the others are. One that fails is not repeated."""
    place = Made()
    assert len(place.baselines()) == disk.BASELINES and [cap for _, cap in place.made] == [0, 1, 1, 1, 1]
    assert len(Made(Run(status=1)).baselines()) == 1
    assert len(Made(Run(failure="no")).baselines()) == 1


@pytest.mark.parametrize("first, warm", [
    (GOOD, True), (Run(disk_bytes={"write": 1}), False), (Run(seen=frozenset({"direct"})), False),
])  # fmt: skip
def test_data_in_memory(first: Run, warm: bool) -> None:
    """Says something only of what reads through the cache."""
    place = Made(first)
    assert place.bound() is None
    place.baselines()
    assert (place.bound() is changes.WARM) == warm


def test_others() -> None:
    """Only what was consented to."""
    assert Made().others(frozenset()) == []
    place = Made(beside="cat", freeze=("system.slice/x.service",))
    assert [change.cause for change in place.others(frozenset({"sync"}))] == [
        "load beside it", "load of system.slice/x.service", "sync"]  # fmt: skip


def test_left_is_in_pairs() -> None:
    """A change takes two runs."""
    place = Made(most_runs=11)
    assert place.left() == 5
    place.runs = 10
    assert place.left() == 0
    place = Made(most_runs=100, budget_s=20.0)
    place.wall_s = [2.0, 4.0]
    assert place.left() == 3


def test_what_may_be_frozen(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group that there is, which is neither all of them nor our own."""
    monkeypatch.setattr(disk, "CGROUPS", tmp_path)
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/cgroup.freeze").write_text("0\n")
    assert disk.frozen_file("a/b") == disk.frozen_file(f"{tmp_path}/a/b/") == tmp_path / "a/b/cgroup.freeze"
    for bad in ("", "/", "a", "a/../a/b", "c"):
        with pytest.raises(DeviceError, match="there is no"):
            disk.frozen_file(bad)
    own = tmp_path / "own"
    own.write_text("0::/a/b/c\n")
    real = pathlib.Path
    monkeypatch.setattr(disk.pathlib, "Path", lambda name: own if name == "/proc/self/cgroup" else real(name))
    with pytest.raises(DeviceError, match="this very process"):
        disk.frozen_file("a/b")
