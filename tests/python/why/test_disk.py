# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs on a disk, as far as no disk is needed: pairs of runs, settings, cgroups that may be frozen.

tests/lab/ctl-why does the rest on scsi_debug.
"""

import dataclasses
import os
import pathlib
import stat
import subprocess
import types

import made_machine
import pytest

from raidtrace.cli import why as cli
from raidtrace.quantity.shown import UserError
from raidtrace.sweep.device import DeviceError, Machine
from raidtrace.why import changes, disk, figures
from raidtrace.why.figures import Run

CHANGE = changes.setting("queue_depth", "8")
SLOW = "rbps=1 wbps=max riops=max wiops=7"
GOOD = Run(seconds=1.0, disk_bytes={"read": 5, "write": 0})


class Made(disk.Disk):
    """Does not run, but says what it would."""

    def __init__(self, first: Run = GOOD, most_runs: int = 10, budget_s: float = float("inf"), **more: object) -> None:
        made = {"disk": "sda", **more}
        setup = disk.Setup(pathlib.Path("raidctl"), pathlib.Path("out"), command=("true",), **made)  # type: ignore[arg-type]
        super().__init__(setup, Machine(), None, None, most_runs, budget_s)  # type: ignore[arg-type]
        self.made: list[tuple[str, float]] = []
        self.next = first

    def _run(self, change: changes.Change, trial: int, cap_s: float) -> Run:
        self.runs += 1
        self.made.append((change.name, cap_s))
        return dataclasses.replace(self.next, seconds=float(self.runs))


def test_each_changed_run_has_one_as_it_is_next_to_it() -> None:
    """Before it and after it in turn, so that a drift falls out; what is returned is always as it is first."""
    place = Made()
    pairs = list(place.pairs([(CHANGE, 0), (CHANGE, 1)], 2.0))
    assert [name for name, _ in place.made] == ["as it is", "queue_depth 8", "queue_depth 8", "as it is"]
    assert [(before.seconds, after.seconds) for before, after in pairs] == [(1, 2), (4, 3)]


def test_baselines() -> None:
    """Five; the first is not ended in time, the others are. One that fails is not repeated."""
    place = Made()
    assert len(list(place.baselines())) == disk.BASELINES and [cap for _, cap in place.made] == [0, 1, 1, 1, 1]
    for first in (Run(status=1), Run(failure="no"), Run(idle=True)):
        assert len(list(Made(first).baselines())) == 1


@pytest.mark.parametrize("first, warm", [
    (GOOD, True), (Run(disk_bytes={"write": 1}), False), (Run(disk_bytes={"read": 1000, "write": 10}), True),
    (Run(disk_bytes={"read": 1000, "write": 11}), False), (Run(observed=frozenset({"direct"})), False),
])  # fmt: skip
def test_data_in_memory(first: Run, warm: bool) -> None:
    """Says something only of what reads through the cache."""
    place = Made(first)
    assert place.bound() is None
    list(place.baselines())
    assert (place.bound() is changes.WARM) == warm


def test_others() -> None:
    assert Made().others(frozenset()) == []
    place = Made(load="cat", freeze=("system.slice/x.service",))
    assert [change.cause for change in place.others(frozenset({"sync"}))] == [
        "concurrent load", "load of system.slice/x.service", "sync"]  # fmt: skip


def test_left_is_in_pairs() -> None:
    place = Made(most_runs=11)
    assert place.left() == 5
    place.runs = 10
    assert place.left() == 0
    place = Made(most_runs=100, budget_s=20.0)
    place.wall_s = [2.0, 4.0]
    assert place.left() == 3


def test_what_follows_a_setting_is_put_back(tmp_path: pathlib.Path) -> None:
    """The kernel sets readahead anew with max_sectors_kb, and that would be two changes."""
    machine = made_machine.Made(tmp_path)
    machine.add("sda", **{"queue/read_ahead_kb": 4, "queue/max_sectors_kb": 256, "queue/nomerges": 0})
    put: list[tuple[str, str]] = []
    place = Made()
    place.machine = machine.machine()
    place.journal = types.SimpleNamespace(put=lambda path, value: put.append((path.rpartition("/")[2], value)))  # type: ignore
    place._set(changes.setting("max_sectors_kb", "2048"))
    assert put == [("max_sectors_kb", "2048"), ("read_ahead_kb", "4")]
    place._set(changes.BASELINE)
    assert len(put) == 2


@pytest.mark.parametrize("mq", [True, False])
def test_a_device_of_bios_has_neither_scheduler_nor_requests(tmp_path: pathlib.Path, mq: bool) -> None:
    """Up to Linux 6.1 md and dm have the files, which change nothing; only a queue of requests has a directory mq."""
    machine = made_machine.Made(tmp_path)
    machine.add("dm-0", **{"queue/read_ahead_kb": 128, "queue/nr_requests": 128, "queue/scheduler": "none"})
    if mq:
        (tmp_path / "sys/block/dm-0/mq").mkdir()
    place = Made(disk="dm-0")
    place.machine = machine.machine()
    assert set(place._settings()) == {"read_ahead_kb", *(("nr_requests", "scheduler") if mq else ())}


def test_the_disks_of_the_files_of_a_command(tmp_path: pathlib.Path) -> None:
    """Disks of devices and files, also after if= and in the words of a shell; a partition's whole disk; not the program's."""
    made = made_machine.Made(tmp_path).add("sda").add("sda1", "sda").add("sdb")
    number = made.machine().number
    made.node("/dev/sdb", stat.S_IFBLK, number("sdb"))
    for path, name in (("data", "sda1"), ("dd", "sdb")):
        made.nodes[path] = types.SimpleNamespace(st_mode=stat.S_IFREG, st_dev=number(name), st_rdev=0)
    made.node("/dev/null", stat.S_IFCHR, os.makedev(1, 3))
    machine = made.machine()
    assert disk.of_files(machine, ["dd", "if=data", "of=/dev/null"]) == ["sda"]
    assert disk.of_files(machine, ["sh", "-c", "cat data /dev/sdb data"]) == ["sda", "sdb"]
    assert disk.of_files(machine, ["dd", "if=none", "a\0b"]) == []


def test_a_disk_without_a_request_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the disk to name, if it is known. Nothing of a disk can make a command faster that never reaches it."""
    place = types.SimpleNamespace(baselines=lambda: iter([Run(seconds=1.0, idle=True)]), runs=1)
    options = cli.parser().parse_args(["--disk", "sda", "--quiet"])
    monkeypatch.setattr(cli.why_disk, "of_files", lambda *_: ["sda", "sdb"])
    monkeypatch.setattr(type(options.out), "mkdir", lambda *_args, **_more: None)
    with pytest.raises(UserError, match="sda received no request .*on sdb. .*--disk sdb"):
        cli._experiment(options, ["cat", "x"], place, "sda")
    monkeypatch.setattr(cli.why_disk, "of_files", lambda *_: [])
    with pytest.raises(UserError, match="df FILE"):
        cli._experiment(options, ["cat", "x"], place, "sda")


def test_restore_has_a_help_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    for words, status in ((["restore", "--help"], 0), (["restore", "sda"], 2)):
        with pytest.raises(SystemExit) as ended:
            cli.main(words)
        text = "".join(capsys.readouterr())
        assert ended.value.code == status and text.startswith("usage: raidctl why restore [-h]\n"), text


def test_a_command_keeps_its_directory(tmp_path: pathlib.Path) -> None:
    """Paths of a command are relative to where raidctl why was begun; what is kept of the run lies in its own directory."""
    here, out = tmp_path / "here it is", tmp_path / "out"
    here.mkdir()
    out.mkdir()
    (here / "data").write_text("x\n")
    script = figures.measured(["sh", "-c", "cat data; echo sync >$RAIDTRACE_WHY_SEEN"], "", "", 0, True, str(here))
    subprocess.run(["sh", "-c", script], cwd=out, check=True)
    assert (out / figures.STATUS).read_text() == "0\n" and (out / figures.OBSERVED).read_text() == "sync\n"


@pytest.mark.parametrize("printed, message", [
    (b"", ""), (b"one\n\n two \n3\n4\n5\n6\n", "two | 3 | 4 | 5 | 6"), (b"\x1b[2J\xff gone\n", "\\x1b[2J\ufffd gone"),
    (b"y" * 5000 + b"\nend", None),
])  # fmt: skip
def test_what_a_failed_command_printed_is_reported(tmp_path: pathlib.Path, printed: bytes, message: str | None) -> None:
    """Its last five lines, not more than fits, and nothing that a terminal obeys."""
    (tmp_path / "err").write_bytes(printed)
    result = figures.last_words(tmp_path / "err")
    assert (
        result == message if message is not None else len(result) == figures.LAST_BYTES and result.endswith("y | end")
    )
    assert figures.last_words(tmp_path / "none") == ""


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
    with pytest.raises(DeviceError, match="this process is in it"):
        disk.frozen_file("a/b")


def test_limits_that_hold_the_command(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits of its own group and those above it, for this disk alone."""
    monkeypatch.setattr(disk, "CGROUPS", tmp_path / "cg")
    machine = Machine(sys=tmp_path / "sys", proc=tmp_path / "proc")
    texts = {"a": f"8:16 {SLOW}\n", "a/b": "", "a/b/c": f"8:0 {SLOW}\n"}
    for group, text in {**texts, "other": texts["a/b/c"]}.items():
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
