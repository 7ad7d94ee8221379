# SPDX-License-Identifier: GPL-2.0-or-later
"""A cell whose recording or results cannot be read has failed, and says why: the sweep goes on."""

import dataclasses

import pytest

from raidtrace.sweep import plan
from raidtrace.sweep.run import disk as cell_disk
from raidtrace.sweep.run import lab as cell_lab

PLAN = plan.parse(
    'title = "x"\n[[matrix]]\narray = "one"\nfilesystem = "none"\nworkload = "dd"\ndata_size = "1 MiB"\n', "p", "p.toml"
)
(CELL,) = PLAN.cells
DAMAGED = b"SQLite format 3\0" + b"\xff" * 4000


RUBBISH = pytest.mark.parametrize(
    ("recording", "said"), [(DAMAGED, "no recording of raidctl"), (b"", "an empty file")], ids=["damaged", "empty"]
)


@RUBBISH
def test_a_guest_that_leaves_rubbish(recording, said, tmp_path):
    program = tmp_path / "raidctl"
    (tmp_path / "left").write_bytes(recording)
    out = tmp_path / "out"
    program.write_text(f"#!/bin/sh\ncp {tmp_path}/left {out}/cell/run.rtdb\necho '{{}}' >{out}/cell/lab.json\n")
    program.chmod(0o755)
    outcome = cell_lab.Lab(program, out, "", PLAN).run(CELL, "cell", lambda guest: None)
    assert said in outcome.error and outcome.recording == "cell/run.rtdb" and outcome.figures == ()


@pytest.mark.parametrize(("said", "ends"), [("the simulated disks' contents did not fit: ask", True), ("a BUG", False)])
def test_a_guest_whose_store_is_full_ends_the_sweep(said, ends, tmp_path):
    program = tmp_path / "raidctl"
    program.write_text(f'#!/bin/sh\necho "raidctl lab: {said}" >&2\nprintf "1\\n2\\n3\\n" >&2\nexit 126\n')
    program.chmod(0o755)
    outcome = cell_lab.Lab(program, tmp_path / "out", "", PLAN).run(CELL, "cell", lambda guest: None)
    assert outcome.error and outcome.ends == ends


@RUBBISH
def test_rubbish_on_disks(recording, said, tmp_path):
    disks = cell_disk.Disks(tmp_path, tmp_path, PLAN, {"one": ("sdy",)}, (), None, True)
    (tmp_path / "run.rtdb").write_bytes(recording)
    here = cell_disk.place(("sdy",), str(tmp_path), True)
    assert said in disks._outcome(CELL, here, tmp_path, "", 1.0).error


@pytest.mark.parametrize(("trial", "words"), [(1, []), (2, ["--seed", "1"]), (5, ["--seed", "4"])])
def test_a_trial_in_the_lab_is_a_draw_of_chance(trial, words, tmp_path):
    cell = dataclasses.replace(CELL, trial=trial)
    command = cell_lab.Lab(tmp_path / "raidctl", tmp_path, "", PLAN).command(cell, tmp_path)
    assert command[command.index("--") - len(words) : command.index("--")] == words and command.count("--seed") == (
        trial > 1
    )


@pytest.mark.parametrize(
    ("said", "first"),
    [
        ('  device    "nvme"   Linux driver', "nvme0n1"),
        ('  device "virtio-blk"', "vda"),
        ('  device "ahci"', "sda"),
        ("", "sda"),
    ],
)
def test_a_guest_names_its_disks_by_the_device_of_the_profile(tmp_path, said, first):
    program = tmp_path / "raidctl"
    program.write_text(f"#!/bin/sh\necho '{said}'\n")
    program.chmod(0o755)
    assert cell_lab.disk_names(program, "x")[0] == first
