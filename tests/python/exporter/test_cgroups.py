# SPDX-License-Identifier: GPL-2.0-or-later
"""The exporter's counters of cgroups, while the module gives rows to others."""

import contextlib
import sqlite3

import long_recording
import pytest

from raidtrace.exporter import cgroups
from raidtrace.recording.sample_rows import SampleRows


@pytest.fixture
def mounted(tmp_path, monkeypatch):
    """A hierarchy in place of the machine's, with /7 to /9."""
    mounts = tmp_path / "mounts"
    mounts.write_text(f"none / ext4 rw 0 0\ncgroup2 {tmp_path}/cgroup cgroup2 rw 0 0\n")
    monkeypatch.setattr(cgroups, "MOUNTS", mounts)
    for name in "789":
        (tmp_path / "cgroup" / name).mkdir(parents=True)
    return tmp_path / "cgroup"


def row(index, pid, path, queued):
    return index, pid, "dd", path, queued, 8 * queued


class Scrapes:
    """Samples of disks, one after the other."""

    def __init__(self):
        self.follower = cgroups.Cgroups()

    def __call__(self, *rows, disk=1, since=5):
        """One sample of a disk; bios by path. The bytes are 8 times the bios."""
        with contextlib.closing(sqlite3.connect(":memory:")) as db:
            db.executescript(long_recording.SCHEMA)
            db.execute("INSERT INTO target(target, disk, attached_ns) VALUES(?, 'sda', 0)", (disk,))
            db.execute(
                "INSERT INTO sample(sample, target, phase, start_ns, end_ns) VALUES(1, ?, 0, ?, 100)", (disk, since)
            )
            names = "sample, submitter, pid, comm, cgroup, queued, bytes_queued"
            db.executemany(f"INSERT INTO submitter({names}) VALUES(1, ?, ?, ?, ?, ?, ?)", rows)
            charged = self.follower.follow(SampleRows(db))
        assert all(one["bytes_queued"] == 8 * one["queued"] for one in charged.values())
        return {path: one["queued"] for (_, path), one in charged.items()}

    def none(self):
        """A sample without a disk."""
        with contextlib.closing(sqlite3.connect(":memory:")) as db:
            db.executescript(long_recording.SCHEMA)
            assert self.follower.follow(SampleRows(db)) == {}


@pytest.fixture
def scrape(mounted):
    return Scrapes()


@pytest.fixture
def begun(scrape):
    """Disks that are attached later than the first scrape: all of it counts."""
    scrape.none()
    return scrape


def test_bios_before_the_exporter_are_not_counted(scrape):
    """After its restart none may be counted twice."""
    assert scrape(row(0, 10, "/7", 100), row(1, 11, "/7", 50)) == {"/7": 0}
    assert scrape(row(0, 10, "/7", 104), row(1, 11, "/7", 53)) == {"/7": 7}


def test_a_counter_never_shrinks(begun):
    """The row goes to another process, of another cgroup or of the same."""
    assert begun(row(0, 10, "/7", 100)) == {"/7": 100}
    assert begun(row(0, 12, "/8", 300)) == {"/7": 100, "/8": 300}
    assert begun(row(0, 12, "/8", 300)) == {"/7": 100, "/8": 300}
    assert begun(row(0, 12, "/9", 310))["/9"] == 310
    assert begun(row(0, 10, "/7", 4))["/7"] == 104
    assert begun(row(0, 10, "/7", 3))["/7"] == 107
    assert begun(row(0, 13, "/7", 9))["/7"] == 116


def test_a_reset_or_another_module_begins_anew(begun):
    assert begun(row(0, 10, "/7", 100)) == {"/7": 100}
    assert begun(row(0, 10, "/7", 30), since=6) == {"/7": 30}
    begun.none()
    assert begun(row(0, 10, "/7", 31), since=6) == {"/7": 31}


def test_bios_of_no_known_cgroup_are_left_out(begun):
    assert begun((64, None, None, None, 9, 72), (1, 5, "dd", "", 9, 72)) == {}


def test_a_removed_cgroup_goes_with_its_last_row(begun, mounted):
    assert begun(row(0, 10, "/7", 2)) == {"/7": 2}
    (mounted / "7").rmdir()
    assert begun(row(0, 10, "removed (91)", 5)) == {"/7": 5}  # under the path that it had
    assert begun(row(0, 10, "removed (91)", 6), row(1, 3, "removed (92)", 1)) == {"/7": 6, "removed (92)": 1}
    assert begun(row(0, 12, "/8", 1)) == {"/8": 1}


def test_a_cgroup_that_is_idle_stays_while_it_exists(begun, mounted):
    assert begun(row(0, 10, "/7", 2), row(1, 10, "(77)", 3), row(2, 10, ".../cut", 4)) == {
        "/7": 2,
        "(77)": 3,
        ".../cut": 4,
    }
    assert begun() == {"/7": 2, "(77)": 3, ".../cut": 4}
    (mounted / "7").rmdir()
    assert begun() == {"(77)": 3, ".../cut": 4}


def test_the_number_of_cgroups_is_bounded(begun, mounted):
    for number in range(4 * cgroups.MOST):
        (mounted / f"c{number}").mkdir()
        counted = begun(row(0, 10, f"/c{number}", 1), row(1, 5, "/8", number + 1))
        assert counted["/8"] == number + 1 and len(counted) <= cgroups.MOST
    assert len(counted) == cgroups.MOST and f"/c{number}" in counted and "/c0" not in counted


def test_the_hierarchy_with_the_controller_of_io_is_found(mounted, monkeypatch, tmp_path):
    old = tmp_path / "old"
    old.write_text("a /u cgroup2 rw 0 0\nb /cpu cgroup rw,cpu 0 0\nc /v1 cgroup rw,blkio 0 0\n")
    monkeypatch.setattr(cgroups, "MOUNTS", old)
    assert cgroups.mount() == "/v1"
    old.write_text("proc /proc proc rw 0 0\n")
    assert cgroups.mount() is None and cgroups.exists("/7", None) and not cgroups.exists("removed (1)", None)
