# SPDX-License-Identifier: GPL-2.0-or-later
"""The demo removes only its own files, and draws the same picture each time."""

import json
import shutil

import pytest
from conftest import program

from raidtrace.demo import demo, workload
from raidtrace.quantity.shown import UserError
from raidtrace.recording import results
from raidtrace.recording.sample_rows import Point

RUN = workload.ReadPhase("bonnie++ xfs", 256, 92000.0, 1.9, 256, 255.0, 256, 0.999, 2.6)


def test_only_an_earlier_demo_is_cleared(tmp_path):
    cells = workload.cells(1, 1)
    foreign = tmp_path / cells[0].name()
    foreign.mkdir()
    (foreign / "thesis.txt").write_text("years of work")
    (tmp_path / "notes.txt").write_text("mine")
    (foreign / "lab.json").write_text("{}")  # a run of the lab with somebody's recordings is no demo either
    with pytest.raises(results.ResultsError, match="contains lab.json, but raidctl demo did not create this directory"):
        demo.clear(tmp_path, cells)
    assert (foreign / "thesis.txt").read_text() == "years of work"
    shutil.rmtree(foreign)
    demo.clear(tmp_path, cells)
    (foreign / "run.rtdb").write_text("a demo's")
    (foreign / "csv").mkdir()
    demo.clear(tmp_path, cells)
    assert [path.name for path in foreign.iterdir()] == [results.MARK]
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_report_of_somebody_else_is_not_overwritten(tmp_path):
    cells = workload.cells(1, 1)
    (tmp_path / "report.txt").write_text("mine")
    with pytest.raises(results.ResultsError, match="contains report.txt"):
        demo.clear(tmp_path, cells)
    assert [path.name for path in tmp_path.iterdir()] == ["report.txt"]
    assert (tmp_path / "report.txt").read_text() == "mine"


@pytest.mark.parametrize("other", ["raidctl demo too\n", "make reproduce\n", ""])
def test_the_mark_must_be_ones_own_and_no_link(tmp_path, other):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/precious").write_text("x")
    (tmp_path / "out" / results.MARK).write_text(other)
    with pytest.raises(results.ResultsError):
        results.fresh(tmp_path / "out", "raidctl demo")
    (tmp_path / "out" / results.MARK).unlink()
    (tmp_path / "elsewhere").write_text("raidctl demo\n")
    (tmp_path / "out" / results.MARK).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(results.ResultsError):
        results.fresh(tmp_path / "out", "raidctl demo")
    (tmp_path / "link").symlink_to(tmp_path / "out")
    with pytest.raises(results.ResultsError, match="is not a directory"):
        results.fresh(tmp_path / "link", "raidctl demo")
    assert (tmp_path / "out/precious").read_text() == "x"


@pytest.mark.slow
def test_the_picture_is_labelled_and_repeatable(tmp_path):
    points = [Point(n * 100, (n + 1) * 100, 1.5 + n % 2, 4) for n in range(20)]
    panels = [("untuned", RUN, points), ("tuned", RUN, points[:5])]
    for name in ("a", "b"):
        demo.draw_runs([tmp_path / f"{name}.svg", tmp_path / f"{name}.png"], panels, simulated=True)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert "simulated" in (tmp_path / "a.svg").read_text()


def test_every_cell_has_its_own_directory_and_untuned_comes_first():
    cells = workload.cells(10, 20)
    assert [cell.name() for cell in cells] == ["raw-256", "raw-16384", "xfs-256", "xfs-16384", "ext2-256", "ext2-16384"]


def guests_of(directory, script, jobs=2):
    """Cells, and guests that run a script in place of raidctl."""
    cells = workload.cells(1, 1)
    demo.clear(directory / "out", cells)
    return cells, demo.Guests(program(directory / "raidctl", script), directory / "out", "64M", jobs)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo \"LAB is '$LAB'\" >&2\nexit 3", "LAB is ''"),  # guests run in simulated time whatever LAB says
        ("echo 'demo-cell: something broke' >&2\nexit 3", "exit status 3(.|\n)*something broke"),
    ],
)  # fmt: skip
def test_a_failing_guest_is_reported_with_its_output(tmp_path, monkeypatch, script, message):
    monkeypatch.setenv("LAB", "vm")
    with pytest.raises(UserError, match=message):
        demo.run_all(*guests_of(tmp_path, script), lambda cell: None)


@pytest.mark.parametrize(
    "first, expected", [(demo.PUBLISHED, "xfs xfs ext2 ext2 raw raw"), ("ext2", "ext2 ext2 xfs xfs raw raw")]
)
def test_what_is_first_runs_first_and_the_long_ones_before_the_short(tmp_path, first, expected):
    cells, guests = guests_of(tmp_path, f"shift $(($# - 3))\necho $1 >>{tmp_path}/order", 1)
    ended = []
    demo.run_all(cells, guests, ended.append, lambda cell: cell.filesystem == first)
    assert (tmp_path / "order").read_text().split() == expected.split()
    assert set(ended) == set(cells)


def test_kept_results_are_shown_with_their_date_until_a_program_changes(tmp_path):
    raidctl, out = tmp_path / "raidctl", tmp_path / "out"
    raidctl.write_text("one\n")
    name = demo.programs(raidctl, "kernel\t6.1\n", 1)
    assert demo.kept(out, name) == []
    out.mkdir()
    (out / "report.txt").write_text("figures\n")
    (out / demo.KEPT).write_text(json.dumps({"programs": name, "date": "2026-11-24 21:21"}))
    lines = demo.kept(out, name)
    assert "2026-11-24 21:21" in lines[0] and "--fresh" in lines[0] and lines[-1] == "figures"
    others = [demo.programs(raidctl, "kernel\t6.1.1\n", 1), demo.programs(raidctl, "kernel\t6.1\n", 2)]
    raidctl.write_text("two\n")
    others.append(demo.programs(raidctl, "kernel\t6.1\n", 1))
    assert len({name, *others}) == 4 and not any(demo.kept(out, other) for other in others)
    (out / demo.KEPT).write_text("{")
    assert demo.kept(out, name) == []


def test_kept_results_are_shown_without_a_guest_but_not_with_fresh(tmp_path, monkeypatch):
    raidctl, out, messages = tmp_path / "raidctl", tmp_path / "out", []
    raidctl.write_text("one\n")
    monkeypatch.setattr(demo, "build", lambda _raidctl: "kernel\n")
    demo.clear(out, workload.cells(demo.DD_MIB, demo.BONNIE_MIB))
    (out / "report.txt").write_text("figures\n")
    (out / demo.KEPT).write_text(json.dumps({"programs": demo.programs(raidctl, "kernel\n", 1), "date": "today"}))

    def run_all(*_):
        raise UserError("a guest was started")

    monkeypatch.setattr(demo, "run_all", run_all)
    assert demo.run(raidctl, out, 1, messages.append) == 0 and "today" in messages[0]
    with pytest.raises(UserError):
        demo.run(raidctl, out, 1, messages.append, fresh=True)
    assert not (out / demo.KEPT).exists()
