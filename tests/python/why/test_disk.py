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
SLOW = "rbps=1 wbps=max riops=max wiops=7"
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


def test_limits_that_hold_the_command(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of its own group and those above it, of this disk alone."""
    monkeypatch.setattr(disk, "CGROUPS", tmp_path / "cg")
    machine = Machine(sys=tmp_path / "sys", proc=tmp_path / "proc")
    said = {"a": f"8:16 {SLOW}\n", "a/b": "", "a/b/c": f"8:0 {SLOW}\n"}
    for group, text in {**said, "other": said["a/b/c"]}.items():
        (tmp_path / "cg" / group).mkdir(parents=True)
        (tmp_path / "cg" / group / "io.max").write_text(text)
    for name, number in (("sda", "8:0"), ("sdb", "8:16")):
        (tmp_path / "sys/block" / name).mkdir(parents=True)
        (tmp_path / "sys/block" / name / "dev").write_text(f"{number}\n")
    assert disk.limited_files(machine, "sda") == {}  # there is no /proc/self/cgroup
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("1:name=systemd:/x\n0::/a/b/c\n")
    assert disk.limited_files(machine, "sda") == {str(tmp_path / "cg/a/b/c/io.max"): SLOW}
    assert disk.limited_files(machine, "sdb") == {str(tmp_path / "cg/a/io.max"): SLOW}
    (tmp_path / "proc/self/cgroup").write_text("0::/\n")
    assert disk.limited_files(machine, "sda") == {}


def test_a_limit_is_taken_away_only_where_there_is_one() -> None:
    place = Made()
    place.limited = {"/cg/a/io.max": SLOW}
    change = place.others(frozenset())[0]
    assert (change.cause, change.kind, change.unlimited) == (
        "limit of its cgroup", changes.Kind.LIMIT, (("/cg/a/io.max", SLOW),))  # fmt: skip
    typed = """echo "$(cat /sys/block/sda/dev) rbps=max wiops=max" >'/cg/a b/io.max'"""
    assert changes.unlimit("/cg/a b/io.max", SLOW, "sda") == typed
