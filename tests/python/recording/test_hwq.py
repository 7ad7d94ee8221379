# SPDX-License-Identifier: GPL-2.0-or-later
"""Hardware queues of a recording: sums over samples, levels at the end; not counted and not there are null."""

import sqlite3

import long_recording
import pytest

from raidtrace.recording import document, invariants
from raidtrace.recording.sample_rows import opened
from raidtrace.report import export
from raidtrace.report import text as report_text

ROWS = (  # sample, hwq, issued, three completed, returned, depth_sum_ns, in_flight, in_flight_max
    (1, 0, 10, 6, 3, 0, 1, 900, 0, 4), (1, 128, 5, 1, 0, 3, 0, 700, 1, 2),
    (3, 0, 30, 20, 4, 6, 0, 100, 0, 9),
)  # fmt: skip
NAMES = ("issued", "completed_same_cpu", "completed_other_cpu", "completed_other_node", "returned", "depth_sum_ns",
         "in_flight", "in_flight_max")  # fmt: skip


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "run.rtdb"
    long_recording.write(found, 2, 10, 2)
    with sqlite3.connect(found) as db:
        db.execute("UPDATE target SET groups = groups || ' hwq' WHERE target = 1")
        db.executemany(f"INSERT INTO hwq VALUES({','.join('?' * 10)})", ROWS)
    return found


def of_disk(path, disk):
    return next(span for span in document.load(path)["spans"] if span["disk"] == disk)["hwqs"]


def test_counters_are_summed_and_levels_are_the_last(path):
    assert of_disk(path, "sda") == [
        {"hwq": 0} | dict(zip(NAMES, (40, 26, 7, 6, 1, 1000, 0, 9), strict=True)),
        {"hwq": 128} | dict(zip(NAMES, (5, 1, 0, 3, 0, 700, 1, 2), strict=True)),
    ]


def test_a_disk_without_the_group_has_null(path):
    assert of_disk(path, "sdb") is None


def test_an_older_recording_has_no_such_table(path):
    with sqlite3.connect(path) as db:
        db.execute("DROP TABLE hwq")
        db.execute("UPDATE target SET groups = replace(groups, ' hwq', '')")
    assert of_disk(path, "sda") is None


def test_the_report_has_a_row_for_each(path):
    text = report_text.text(invariants.load(path, None), "", True)
    table = [line.split() for line in text.split("hardware queue")[1].splitlines()[:3]]
    assert table[0] == ["issued", "completed", "max", "depth", "same", "CPU", "other", "CPU", "other", "node"]
    assert table[1] == ["0", "40", "39", "9", "66.7", "%", "17.9", "%", "15.4", "%"]
    assert table[2] == ["from", "128", "5", "4", "2", "25.0", "%", "0.0", "%", "75.0", "%"]
    assert text.count("hardware queue") == 1


def test_the_export_has_each_row(path, tmp_path):
    with opened(path) as sample_rows:
        export.csv(path, sample_rows, tmp_path / "out")
    lines = (tmp_path / "out/hwq.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "sample,hwq," + ",".join(NAMES)
    assert lines[1:] == [",".join(map(str, row)) for row in ROWS]
