# SPDX-License-Identifier: GPL-2.0-or-later
"""The journal of a sweep, on made-up files that behave as the kernel's do: whatever was changed comes back."""

import fcntl
import importlib
import json
import os
import struct
import subprocess
import sys

import pytest
from conftest import TOP
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from raidtrace.quantity.shown import UserError
from raidtrace.sweep import journal
from raidtrace.sweep.device import Machine
from raidtrace.sweep.journal import Journal, JournalError

VM = {"dirty_bytes": "0", "dirty_ratio": "20", "dirty_background_bytes": "0", "dirty_background_ratio": "10",
      "dirty_expire_centisecs": "3000", "dirty_writeback_centisecs": "500"}  # fmt: skip
QUEUE = {"queue/scheduler": "none [mq-deadline]", "queue/nr_requests": "64", "queue/read_ahead_kb": "128",
         "queue/max_sectors_kb": "128", "queue/nomerges": "0", "device/queue_depth": "254"}  # fmt: skip


class Kernel:
    """Settings in files. A limit in bytes zeroes the one in per cent, and vice versa; a scheduler sets nr_requests."""

    def __init__(self, top):
        self.top, self.vm, self.sys = top, top / "vm", top / "sys"
        self.journals = top / "run"
        self.vm.mkdir(parents=True)
        for name, value in VM.items():
            (self.vm / name).write_text(value + "\n")
        for disk, number in (("sda", "11"), ("sdb", "12")):
            for name, value in QUEUE.items():
                path = self.sys / "block" / disk / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(value + "\n")
            (self.sys / "block" / disk / "diskseq").write_text(number)
            (self.sys / "block" / disk / "size").write_text("4096")
        (top / "proc/sys/kernel/random").mkdir(parents=True)
        (top / "proc/sys/kernel/random/boot_id").write_text("b00t")
        self.machine = Machine(sys=self.sys, proc=top / "proc", dev=str(top / "dev"))
        self.refused = set()  # paths that cannot be written
        self.written = []

    def put(self, path, expected):
        """The effect of write(2) on a setting."""
        path = str(path)
        self.written.append(path)
        before = journal.value(path)
        if path in self.refused or (expected == "0" and path.endswith("_bytes")):
            raise OSError(f"{path}: not permitted")
        assert not (expected == "0" and path.endswith("_ratio")), "it takes the limit in bytes away"
        with open(path, "w", encoding="ascii") as file:
            other = "mq-deadline" if expected == "none" else "none"
            file.write(f"{other} [{expected}]" if path.endswith("scheduler") else expected)
        if path.endswith("scheduler"):
            with open(path.replace("scheduler", "nr_requests"), "w", encoding="ascii") as file:
                file.write("256" if expected == "none" else "128")
        for one, other in (("_bytes", "_ratio"), ("_ratio", "_bytes")):
            if path.endswith(one) and (expected != before or "background" in path):
                with open(path.removesuffix(one) + other, "w", encoding="ascii") as file:
                    file.write("0")

    def state(self):
        """Every setting."""
        files = [path for path in sorted(self.top.rglob("*")) if path.is_file() and self.journals not in path.parents]
        return {str(path.relative_to(self.top)): journal.value(path) for path in files}

    def begin(self, *disks):
        return Journal.begin(disks, self.machine, self.journals)

    def recover(self):
        return journal.recover(self.machine, self.journals)

    def setting(self, name, disk="sda"):
        """Path of a setting."""
        return str(self.vm / name) if name in VM else str(self.sys / "block" / disk / name)


def killed(open_journal):
    """The kernel's action for a killed process: the lock is gone, the file is there."""
    open_journal.file.close()


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    made = Kernel(tmp_path / "k")
    monkeypatch.setattr(journal, "VM_DIRECTORY", made.vm)
    monkeypatch.setattr(journal, "put", made.put)
    return made


CHANGES = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["dirty_bytes", "dirty_background_bytes"]), st.sampled_from(["1048576", "8388608"])),
        st.tuples(st.sampled_from(["dirty_ratio", "dirty_background_ratio"]), st.sampled_from(["5", "40"])),
        st.tuples(st.just("dirty_expire_centisecs"), st.just("100")),
        st.tuples(st.just("queue/scheduler"), st.sampled_from(["none", "mq-deadline"])),
        st.tuples(st.sampled_from(["queue/nr_requests", "queue/read_ahead_kb", "queue/nomerges", "device/queue_depth"]),
                  st.sampled_from(["1", "2", "64"])),
    ), max_size=12)  # fmt: skip
BEFORE = st.lists(st.sampled_from([("dirty_bytes", "4194304"), ("dirty_background_ratio", "7"), ("dirty_ratio", "33"),
                                   ("dirty_background_bytes", "65536"), ("queue/scheduler", "none")]), max_size=4)  # fmt: skip


@pytest.mark.slow
@example(before=[], changes=[("queue/scheduler", "none"), ("queue/nr_requests", "64")], ended=False)
@example(before=[("dirty_background_bytes", "65536")], changes=[("dirty_background_ratio", "5")], ended=False)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=BEFORE, changes=CHANGES, ended=st.booleans())
def test_whatever_a_sweep_changed_comes_back(tmp_path_factory, monkeypatch, before, changes, ended):
    kernel = Kernel(tmp_path_factory.mktemp("j") / "k")
    monkeypatch.setattr(journal, "VM_DIRECTORY", kernel.vm)
    monkeypatch.setattr(journal, "put", kernel.put)
    for name, value in before:
        kernel.put(kernel.setting(name), value)
    was = kernel.state()
    log = kernel.begin("sda", "sdb")
    for name, value in changes:
        log.put(kernel.setting(name), value)
    if ended:
        log.end(kernel.machine)
    else:
        killed(log)
        kernel.recover()
    assert kernel.state() == was and not list(kernel.journals.iterdir())


def test_everything_is_written_down_and_synced_before_the_first_change(kernel, monkeypatch):
    order = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (real(file), order.append("sync")))
    log = kernel.begin("sda")
    assert order == ["sync", "sync"] and kernel.written == []  # the file and its directory
    lines = [json.loads(line) for line in log.path.read_text().splitlines()]
    expected = {kernel.setting(name) for name in (*VM, *QUEUE)}
    assert {line["setting"] for line in lines[1:]} == expected and lines[0]["marker"] == log.marker
    log.note(mount="/somewhere")
    assert order == ["sync"] * 3 and json.loads(log.path.read_text().splitlines()[-1]) == {"mount": "/somewhere"}
    assert log.path.parent.stat().st_mode & 0o77 == 0
    log.end(kernel.machine)


@pytest.mark.parametrize("verb", ["sweep", "why"])
def test_restore_is_the_same_for_both_verbs(kernel, monkeypatch, capsys, verb):
    main = importlib.import_module(f"raidtrace.cli.{verb}").main
    real = journal.restore_now
    monkeypatch.setattr(journal, "restore_now", lambda: real(kernel.journals))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UserError, match="^only root may restore settings; use sudo$"):
        main(["restore"])
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert main(["restore"]) == 0 and capsys.readouterr().out == "nothing to restore\n"
    with journal.alone(kernel.journals), pytest.raises(JournalError, match="another raidctl sweep or why is running"):
        main(["restore"])


def test_what_goes_away_with_its_device_needs_no_line(kernel, monkeypatch):
    log = kernel.begin("sda")
    done = []
    monkeypatch.setattr(journal, "put", lambda path, expected: done.append((path, expected)))
    log.put("/sys/block/md127/queue/read_ahead_kb", "64")
    log.put("/proc/sys/vm/drop_caches", "3")
    assert len(done) == 2
    monkeypatch.setattr(journal, "put", kernel.put)
    log.end(kernel.machine)


def test_the_journal_of_a_running_sweep_is_left_alone(kernel):
    log = kernel.begin("sda")
    log.put(kernel.setting("dirty_ratio"), "5")
    command = f"import fcntl,sys; f=open({str(log.path)!r},'r+'); fcntl.flock(f, fcntl.LOCK_EX|fcntl.LOCK_NB)"
    assert subprocess.run([sys.executable, "-c", command], capture_output=True).returncode == 1  # it is locked
    assert kernel.recover() == [] and kernel.state()["vm/dirty_ratio"] == "5"
    killed(log)
    assert kernel.recover() == [f"{kernel.setting('dirty_ratio')}: 5 -> 20"] and kernel.recover() == []


def cut_line(kernel, log):
    log.file.write('{"mount": "/run/raidtr')
    log.file.flush()


@pytest.mark.parametrize(
    ("happen", "read_ahead"),
    [
        (cut_line, "128"),  # by the kill: it is left out
        (lambda kernel, _: (kernel.sys / "block/sda/diskseq").write_text("99"), "8192"),  # another disk took the name
        (lambda kernel, _: (kernel.sys / "block/sda").rename(kernel.top / "gone"), None),
    ],
)
def test_what_is_still_that_of_the_sweep_is_put_back_after_a_kill(kernel, happen, read_ahead):
    log = kernel.begin("sda")
    log.put(kernel.setting("queue/read_ahead_kb"), "8192")
    log.put(kernel.setting("dirty_ratio"), "5")
    happen(kernel, log)
    killed(log)
    assert f"{kernel.setting('dirty_ratio')}: 5 -> 20" in kernel.recover()
    assert kernel.state().get("sys/block/sda/queue/read_ahead_kb") == read_ahead


@pytest.mark.parametrize(
    "make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path)], ids=["fifo", "dir", "link"]
)
def test_what_is_no_journal_stops_no_other_from_being_put_back(kernel, make):
    log = kernel.begin("sda")
    log.put(kernel.setting("queue/read_ahead_kb"), "8192")
    killed(log)
    for name in ("0.journal", "z.journal"):  # before it, and behind it
        make(kernel.journals / name)
    with pytest.raises(JournalError, match="0.journal is not a regular file.*z.journal is not a regular file"):
        kernel.recover()
    assert journal.value(kernel.setting("queue/read_ahead_kb")) == "128"


@pytest.mark.parametrize(
    "damage",
    [b'{"path": "\xff', b'"a word"\n', b"[1]\n", b'{"a":' * 5000, b'{"a": ' + b"9" * 5000 + b"}", b"\0" * 4096],
    ids=["no-utf8", "word", "list", "nested", "digits", "zeroes"],
)
def test_of_a_damaged_journal_what_stands_before_the_damage_is_read(tmp_path, damage):
    path = tmp_path / "a.journal"
    path.write_bytes(b'{"path": "/sys/x", "was": "1"}\n' + damage)
    assert journal.read(path) == [{"path": "/sys/x", "was": "1"}]


def test_between_cells_all_is_as_before(kernel):
    was = kernel.state()
    log = kernel.begin("sda")
    log.put(kernel.setting("dirty_bytes"), "1048576")
    log.put(kernel.setting("queue/scheduler"), "none")
    log.settle(kernel.machine)
    assert kernel.state() == was
    kernel.put(kernel.setting("queue/nomerges"), "2")
    kernel.refused.add(kernel.setting("queue/nomerges"))
    with pytest.raises(OSError, match="nomerges is 2, but was 0"):
        log.settle(kernel.machine)
    kernel.refused.clear()
    log.end(kernel.machine)


def test_what_cannot_be_put_back_is_reported_and_the_journal_stays(kernel, monkeypatch):
    log = kernel.begin("sda")
    log.put(kernel.setting("queue/nomerges"), "2")
    log.put(kernel.setting("dirty_ratio"), "5")
    log.note(array="md127", name="raidtrace-sweep")
    kernel.refused.add(kernel.setting("queue/nomerges"))
    killed(log)

    def broken(line):
        raise subprocess.CalledProcessError(1, ["mdadm"])

    monkeypatch.setattr(journal, "_stop_array", broken)
    with pytest.raises(JournalError, match="mdadm.*nomerges is 2, but was 0"):
        kernel.recover()
    assert kernel.state()["vm/dirty_ratio"] == "20" and len(list(kernel.journals.glob("*.journal"))) == 1
    monkeypatch.setattr(journal, "_stop_array", lambda line: "stopped md127")
    kernel.refused.clear()
    assert sorted(kernel.recover()) == [f"{kernel.setting('queue/nomerges')}: 2 -> 0", "stopped md127"]
    assert not list(kernel.journals.iterdir())


def test_what_was_made_is_undone_in_reverse_order_and_before_settings(kernel, monkeypatch):
    log = kernel.begin("sda")
    log.note(array="md127", name="raidtrace-sweep")
    log.note(mount="/m")
    log.put(kernel.setting("queue/nomerges"), "2")
    killed(log)
    order = []
    monkeypatch.setattr(journal, "_stop_array", lambda line: order.append("array") or "")
    monkeypatch.setattr(journal, "_unmount", lambda line: order.append("mount") or "")
    monkeypatch.setattr(journal, "end_left", lambda marker: order.append(marker) or [])
    monkeypatch.setattr(journal, "put", lambda path, expected: order.append("put") or kernel.put(path, expected))
    kernel.recover()
    assert order == [log.marker, "mount", "array", "put"]


def test_only_processes_with_the_mark_are_ended():
    ours = subprocess.Popen(["sleep", "60"], env={**os.environ, journal.MARKER: "test-1"})
    other = subprocess.Popen(["sleep", "60"], env={**os.environ, journal.MARKER: "test-12"})
    try:
        assert journal.end_left("test-1") == [f"ended process {ours.pid} of the sweep"]
        assert ours.wait(10) == -9 and other.poll() is None
    finally:
        for process in (ours, other):
            process.kill()
            process.wait()


@pytest.mark.parametrize(
    ("result", "message"), [("MD_NAME=x:raidtrace-sweep\n", "stopped md127"), ("MD_NAME=x:home\n", "")]
)
def test_only_the_sweeps_own_array_is_stopped(monkeypatch, result, message):
    ran = []

    def run(command, **_):
        ran.append(command[1])
        return subprocess.CompletedProcess(command, 0, result, "")

    monkeypatch.setattr(journal.pathlib.Path, "exists", lambda path: True)
    monkeypatch.setattr(journal.subprocess, "run", run)
    assert journal._stop_array({"array": "md127", "name": "raidtrace-sweep"}) == message
    assert ran == ["--detail"] + (["--quiet"] if message else [])


def test_a_setting_that_the_kernel_rounds_is_an_error(tmp_path):
    path = tmp_path / "nr_requests"
    path.write_text("4\n")
    journal.put(path, "5")
    assert path.read_text() == "5\n"  # one byte was written over another, as into a file of the kernel
    path.write_text("none [mq-deadline]\n")
    assert journal.value(path) == "mq-deadline"
    with pytest.raises(OSError, match="wrote 7, but the kernel reports 7one"):
        path.write_text("none\n")
        journal.put(path, "7")


def test_the_lock_is_taken_before_anything_is_written(kernel, monkeypatch):
    events = []
    real = fcntl.flock
    monkeypatch.setattr(
        journal.fcntl, "flock", lambda f, how: (events.append(os.fstat(f.fileno()).st_size), real(f, how))
    )
    log = kernel.begin("sda")
    assert events == [0]
    log.end(kernel.machine)


def test_two_sweeps_on_one_machine_are_refused_and_a_dead_one_leaves_no_lock(tmp_path):
    code = (
        f"import pathlib\nfrom raidtrace.sweep import journal\nwith journal.alone(pathlib.Path({str(tmp_path)!r})):\n"
    )
    command = [sys.executable, "-c", code + "    print(1, flush=True)\n    input()\n"]
    environment = dict(os.environ, PYTHONPATH=str(TOP / "tools/python"))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as other:
        assert other.stdout.readline() == b"1\n"
        with pytest.raises(journal.JournalError, match="another raidctl sweep or why is running"):
            with journal.alone(tmp_path):
                pass
        other.kill()
    with journal.alone(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_disk_kept_from_being_written_may_be_written_again(kernel, monkeypatch):
    """After the end and after a kill; not one that was read-only before, and not another disk of its name."""
    allowed = {f"{kernel.machine.dev}/sda": True, f"{kernel.machine.dev}/sdb": False}
    monkeypatch.setattr(journal, "writable", allowed.__getitem__)
    monkeypatch.setattr(journal, "make_writable", allowed.__setitem__)
    first, second = allowed
    log = Journal.begin(["sda", "sdb"], kernel.machine, kernel.journals)
    log.read_only("sda", kernel.machine)
    log.read_only("sdb", kernel.machine)
    assert not allowed[first]
    lines = journal.read(log.path)
    assert f"{first} is writable again" in log.end(kernel.machine)
    assert allowed == {first: True, second: False}
    allowed[first] = False
    journal.restore(lines, kernel.machine)  # as after a kill
    assert allowed[first]
    allowed[first] = False
    (kernel.sys / "block/sda/diskseq").write_text("99")
    journal.restore(lines, kernel.machine)
    assert not allowed[first]


def test_a_disk_that_stays_writable_is_reported(tmp_path, monkeypatch):
    path, state = tmp_path / "sda", [0]
    path.write_bytes(b"")

    def ioctl(_, what, argument):
        if what == journal.BLKROSET and not refused:
            state[0] = struct.unpack("i", argument)[0]
        return struct.pack("i", state[0])

    monkeypatch.setattr(journal.fcntl, "ioctl", ioctl)
    refused = False
    for allowed in (False, True):
        journal.make_writable(str(path), allowed)
        assert journal.writable(str(path)) == allowed
    refused = True
    with pytest.raises(OSError, match="sda: the kernel did not change the read-only flag"):
        journal.make_writable(str(path), False)


def test_one_more_setting_is_covered(kernel, tmp_path):
    path = tmp_path / "cgroup.freeze"
    path.write_text("0\n")
    log = Journal.begin(["sda"], kernel.machine, kernel.journals)
    with pytest.raises(OSError, match="not in the journal"):
        log.put(str(path), "1")
    log.cover(str(path))
    log.put(str(path), "1")
    assert path.read_text().strip() == "1"
    log.end(kernel.machine)
    assert path.read_text().strip() == "0"


def test_only_what_is_there_and_stays_is_kept(tmp_path):
    (tmp_path / "scheduler").write_text("none [bfq]\n")
    scheduler, *others = map(str, (tmp_path / "scheduler", tmp_path / "nowhere", "/sys/block/md0/md/sync_speed_max"))
    assert [path for path, _ in journal.kept([scheduler, *others, "/proc/sys/vm/drop_caches"])] == [scheduler]


class Group:
    """A file io.max as the kernel's: what is written is a line of one disk, which is not there where it says nothing."""

    def __init__(self, kernel, path):
        self.path, self.lines, self.refuses = path, {"8:16": "rbps=5 wbps=max riops=max wiops=max"}, False
        for disk, number in (("sda", "8:0"), ("sdb", "8:16")):
            (kernel.sys / "block" / disk / "dev").write_text(f"{number}\n")
        self.show()

    def show(self):
        self.path.write_text("".join(f"{at} {text}\n" for at, text in self.lines.items() if text != journal.NO_LIMIT))

    def write(self, handle, text):
        """The effect of write(2); other files are written as they are."""
        if os.readlink(f"/proc/self/fd/{handle}") != str(self.path):
            return WRITE(handle, text)
        device, _, expected = text.decode().partition(" ")
        if not self.refuses:
            self.lines[device] = expected
        self.show()
        return len(text)


WRITE = os.write
SLOW = "rbps=1048576 wbps=max riops=max wiops=9"


@pytest.fixture
def group(kernel, tmp_path, monkeypatch):
    made = Group(kernel, tmp_path / "io.max")
    made.lines["8:0"] = SLOW
    made.show()
    monkeypatch.setattr(journal.os, "write", made.write)
    return made


def test_a_limit_is_taken_away_and_comes_back(kernel, group):
    """That of the disk alone; one that is not written down is refused."""
    log, file = kernel.begin("sda"), str(group.path)
    with pytest.raises(OSError, match="not in the journal"):
        log.put_limit(file, journal.NO_LIMIT, kernel.machine)
    log.cover_limit(file, "sda", kernel.machine)
    log.put_limit(file, journal.NO_LIMIT, kernel.machine)
    assert group.path.read_text() == "8:16 rbps=5 wbps=max riops=max wiops=max\n"
    assert f"{file}: sda {SLOW}" in log.end(kernel.machine)
    assert journal.limit(file, kernel.machine, "sda") == SLOW
    assert journal.limit(file, kernel.machine, "sdb") == "rbps=5 wbps=max riops=max wiops=max"


def unlimited(kernel, group, off=True):
    """A journal that has the limit, which is taken away."""
    log = kernel.begin("sda")
    log.cover_limit(str(group.path), "sda", kernel.machine)
    if off:
        log.put_limit(str(group.path), journal.NO_LIMIT, kernel.machine)
    return log


def test_a_limit_that_a_kill_left_off_comes_back(kernel, group):
    log = unlimited(kernel, group)
    log.file.close()  # as SIGKILL does
    assert f"{group.path}: sda {SLOW}" in kernel.recover()
    assert journal.limit(str(group.path), kernel.machine, "sda") == SLOW
    assert kernel.recover() == []


@pytest.mark.parametrize("gone", ["cgroup", "disk", "nothing"])
def test_a_limit_of_what_is_gone_is_not_put_back(kernel, group, gone):
    log = unlimited(kernel, group, gone != "nothing")
    if gone == "cgroup":
        group.path.unlink()
    if gone == "disk":
        (kernel.sys / "block/sda/diskseq").write_text("99")
    assert not [text for text in log.end(kernel.machine) if "io.max" in text]
    assert gone == "cgroup" or journal.limit(str(group.path), kernel.machine, "sda") == (
        SLOW if gone == "nothing" else journal.NO_LIMIT
    )


def test_a_limit_that_is_not_taken_is_reported(kernel, group):
    log = unlimited(kernel, group)
    group.refuses = True
    with pytest.raises(JournalError, match="io.max: wrote rbps=1048576"):
        log.end(kernel.machine)
