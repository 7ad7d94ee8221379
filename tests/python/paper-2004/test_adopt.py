# SPDX-License-Identifier: GPL-2.0-or-later
"""What make reproduce has run becomes cells of the plan amcc, and says so."""

import json
import sqlite3

import pytest

from paper2004 import adopt as reproduce_index
from paper2004 import amcc
from raidtrace.sweep import index as sweep_index
from raidtrace.sweep import plan


def reproduced(directory, name, figures):
    """The directory of a finished run whose recording is gone."""
    made = directory / name
    made.mkdir(parents=True)
    (made / "result.json").write_text(json.dumps({"figures": figures, "phases": {}, "kernel": "6.1.0"}))
    return made


def test_every_test_of_the_paper_is_one_cell_of_the_plan():
    the_plan = plan.load(plan.find("amcc"))
    assert sorted(reproduce_index.test_of(cell, the_plan) for cell in the_plan.cells) == sorted(amcc.tests())
    changed = plan.load(plan.find("amcc"), {"data_size": "1 GiB"})
    assert len({reproduce_index.test_of(cell, changed) for cell in changed.cells}) == 28


def test_what_was_run_is_done_and_the_rest_waits(tmp_path, capsys):
    source = tmp_path / "reproduce-out"
    reproduced(source, "raid0-01", {"read": 115.5})
    reproduced(source, "raid5-08", {"write": 1000.0, "rewrite": 2000.0, "read": 3000.0, "seeks": 400.5})
    (source / "raid0-02").mkdir()  # begun
    assert reproduce_index.main([str(source), str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "28 cells: 2 done, 26 waiting" in said and "make reproduce" in said
    db = sqlite3.connect(tmp_path / "out" / sweep_index.NAME)
    assert db.execute("SELECT value, unit FROM figure ORDER BY cell, figure").fetchall() == [
        (115.5 * 1024, "KiB/s"), (1000.0, "KiB/s"), (2000.0, "KiB/s"), (3000.0, "KiB/s"), (400.5, "1/s"),
    ]  # fmt: skip
    cells = db.execute("SELECT cell, label, kernel, recording FROM cell WHERE state='done' ORDER BY cell").fetchall()
    assert [row[1:] for row in cells] == [("make reproduce", "6.1.0", None)] * 2
    steps = db.execute("SELECT command, destroys FROM step WHERE cell=?", cells[1][:1]).fetchall()
    ((command, destroys),) = steps
    assert "reproduce-cell xfs 16384 env LD_PRELOAD=bonnie-batch.so bonnie++ " in command and destroys == "sda"
    assert ":8000:3" in command and "--profile 9500s-12-raid5 --mem 512M" in command
    assert dict(db.execute("SELECT name, value FROM parameter WHERE cell=?", cells[1][:1]))["seeks"] == 8000
    assert db.execute("SELECT value FROM meta WHERE key='adopted_from'").fetchone() == (str(source),)


@pytest.mark.parametrize(("make", "said"), [(False, "there is no such directory"), (True, "no finished test")])
def test_nothing_to_take_over(tmp_path, capsys, make, said):
    if make:
        (tmp_path / "source" / "raid0-01").mkdir(parents=True)
    assert reproduce_index.main([str(tmp_path / "source"), str(tmp_path / "out")]) == 1
    assert said in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_a_sweep_that_is_there_stays(tmp_path, capsys):
    reproduced(tmp_path / "source", "raid0-01", {"read": 115.5})
    assert reproduce_index.main([str(tmp_path / "source"), str(tmp_path / "out")]) == 0
    assert reproduce_index.main([str(tmp_path / "source"), str(tmp_path / "out")]) == 1
    assert "there is a sweep already" in capsys.readouterr().err
