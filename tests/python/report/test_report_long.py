# SPDX-License-Identifier: GPL-2.0-or-later
"""A report of a recording of an hour, 10 samples a second, four disks: how long it takes, and how large it is."""

import os
import resource
import sqlite3
import subprocess

import long_recording
import pytest
from conftest import TOP

MIB = 1 << 20
# A quarter of an hour here, all of it where RAIDTRACE_LONG is set; what is measured grows with the length or not at all.
SECONDS = 3600 if os.environ.get("RAIDTRACE_LONG") else 900
# What does not grow, the pictures and loading the libraries, is as much as reading so many rows.
FIXED_ROWS = 6_000_000
# Of the time that Python needs to take all bins in as rows once: to sum all histograms (0.39 measured), and whatever else
# grows with the recording.
SUMS, GROWING = 0.6, 0.85
EXPLAIN_FIXED_ROWS = 3_000_000  # explain draws nothing


def children_cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read_every_row(path):
    """Yardstick: processor time to take every row of the table bin into Python once, in a process of its own, and how many."""
    code = f"""
import sqlite3
for row in sqlite3.connect({str(path)!r}).execute("SELECT sample, direction, kind, bin, count FROM bin"):
    pass
"""
    before = children_cpu()
    subprocess.run(["/usr/bin/python3", "-c", code], check=True)
    return children_cpu() - before


def sum_histograms(path):
    """Processor time to have all histograms summed, by phase and disk, in a process of its own."""
    code = f"""
import gc, sqlite3, sys
gc.disable()
sys.path.insert(0, {str(TOP / "tools" / "python")!r})
from raidtrace.recording.sample_rows import SampleRows
rows = SampleRows(sqlite3.connect({str(path)!r}))
assert rows.group_sums()["read", "d2c"]
"""
    before = children_cpu()
    subprocess.run(["/usr/bin/python3", "-c", code], check=True)
    return children_cpu() - before


@pytest.fixture
def long_one(tmp_path):
    path = tmp_path / "long.rtdb"
    rows = long_recording.write(path, SECONDS, 10, 4)
    yield long_recording.pack(path), rows
    path.unlink()  # pytest keeps directories, and this is large


@pytest.mark.slow
@pytest.mark.long
def test_a_page_of_a_long_recording_takes_no_longer_than_reading_its_rows_and_is_small(long_one, tmp_path):
    path, rows = long_one
    page = tmp_path / "long.html"
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM sample").fetchone()[0] == SECONDS * 10 * 4
    yardstick, drawing, summed, explained = [], [], [], []
    for _ in range(2):  # the second time if a busy machine may have slowed the first
        yardstick.append(read_every_row(path))
        summed.append(sum_histograms(path))
        before = children_cpu()
        subprocess.run(
            [TOP / "tools/bin/raidctl", "report", "--html", page, path], check=True, stdout=subprocess.DEVNULL
        )
        drawing.append(children_cpu() - before)
        before = children_cpu()
        subprocess.run([TOP / "tools/bin/raidctl", "explain", path], check=True, stdout=subprocess.DEVNULL)
        explained.append(children_cpu() - before)
        per_row = min(yardstick) / rows
        kept = (
            min(explained) <= per_row * (GROWING * rows + EXPLAIN_FIXED_ROWS),
            min(summed) <= SUMS * min(yardstick) + 0.3,  # numpy takes a while to load
            min(drawing) <= per_row * (GROWING * rows + FIXED_ROWS),
        )
        if all(kept):
            break
    print(
        f"{rows} rows: page {min(drawing):.2f} s, explain {min(explained):.2f} s, sums {min(summed):.2f} s, "
        f"rows {min(yardstick):.2f} s, {page.stat().st_size / MIB:.2f} MiB"
    )
    assert page.stat().st_size < 1_500_000  # of an hour as of a quarter: a curve over time has at most 600 steps
    assert page.read_text(encoding="utf-8").count('id="chain-') == 20  # five phases of four disks
    assert all(kept), (kept, yardstick, explained, summed, drawing)
