# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of Documentation/sweep.rst are those of their CSV files. sweep show --stack: md and its members."""

import csv
import dataclasses

import pytest
import test_sweep
from conftest import TOP, call

from raidtrace.cli import sweep as cli_sweep
from raidtrace.sweep import plan, table
from raidtrace.sweep.index import Outcome

index = test_sweep.index  # the fixture
SWEEPS = TOP / "Documentation/sweeps"
TEXT = (TOP / "Documentation/sweep.rst").read_text(encoding="utf-8")


def rows(name):
    """Lines of a plan's CSV."""
    with (SWEEPS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("path", sorted(SWEEPS.glob("*.csv")), ids=lambda path: path.stem)
def test_a_committed_table_has_every_cell_of_its_plan(path):
    name = path.stem.removesuffix("-stack")
    the_plan = plan.load(plan.find(name))
    if path.stem == name:
        axes = {key for cell in the_plan.cells for key, _ in cell.axes}
        there = {tuple(row[key] for key in sorted(axes)) for row in rows(name)}
        expected = {
            tuple("" if cell.get(key) is None else str(cell.get(key)) for key in sorted(axes))
            for cell in the_plan.cells
        }
        assert there == expected
        assert {row["simulated"] for row in rows(name)} == {"yes"}
    else:
        names = {row["cell"] for row in rows(path.stem)}
        # one trial of each is enough where all are alike
        assert len(names) == sum(cell.text("md_level", "none") != "none" and cell.trial == 1 for cell in the_plan.cells)


def test_the_figures_of_amcc():
    """The plan of the same runs as make reproduce; the figures of both are committed."""
    text = " ".join(TEXT[TEXT.index("AMCC: the 28 tests") : TEXT.index("The other plans")].split())
    scale = {"MiB/s": 1024, "KiB/s": 1, "1/s": 1}
    with (SWEEPS.parent / "reproduction.csv").open(encoding="utf-8", newline="") as file:
        paper = {
            (row["array"], row["filesystem"], row["setra_sectors"], row["tool"].split()[-1], row["metric"]): float(
                row["simulated"]
            )
            * scale[row["unit"]]
            for row in csv.DictReader(file)
        }
    ratios = {}
    for row in rows("amcc"):
        array = row["array"].removeprefix("9500s-12-")
        filesystem = row["filesystem"].replace("none", "")
        key = (array, filesystem, row["readahead_sectors"], row["benchmark"], row["phase"])
        ratios[key] = (float(row["median"]), paper[key])
        assert row["label"] == ("fio as iozone" if row["benchmark"] == "iozone" else "")
    assert len(ratios) == 100
    change = {key: 100 * (new / old - 1) for key, (new, old) in ratios.items()}
    for key, percent in change.items():
        if key[1] in ("", "xfs") or key[4] == "write":
            assert abs(percent) < 5 or (key[4] == "seeks" and -26.5 < percent < -23.5), key
    old_ext = {key: percent for key, percent in change.items() if key[1] in ("ext2", "ext3")}
    for phases, low, high in ((("read", "reread"), 4, 44), (("rewrite",), -6, 16), (("seeks",), 136, 336)):
        result = [percent for key, percent in old_ext.items() if key[4] in phases]
        assert (round(min(result)), round(max(result))) == (low, high), phases
    new, old = ratios["raid0", "ext2", "16384", "bonnie++", "read"]
    assert f"{new:,.0f} KiB/s instead of {old:,.0f}" in text
    assert f"{ratios['raid0', 'ext2', '16384', 'bonnie++', 'rewrite'][0]:,.0f}" in text


# disk, phase, direction, s, bios, splits, back_merges, issued, bytes_queued, bytes_issued, sequential, in flight, readahead
MD = ("md127", "read", "read", 2.0, 10, 30, None, None, 10 << 16, None, None, None, 512, 1.0, 2.0, 0.5, None, None)
A = ("sda", "read", "read", 2.0, 24, 0, 16, 8, 5 << 16, 5 << 16, 6, 1.5, 256, 1.0, 2.0, 0.8, 0.1, 0.3)
B = ("sdb", "read", "read", 2.0, 16, 0, 4, 12, 5 << 16, 5 << 16, 6, 2.5, 256, 1.0, 2.0, 0.8, 0.1, 0.3)
LITTLE = tuple((disk, "read", "write", 2.0, 1, 0, 0, None if disk == "md127" else 1, 4096, 4096, 1, 0.0, 512, None, None, 0.8,
                0.1, 0.3) for disk in ("md127", "sda", "sdb"))  # fmt: skip


def test_an_md_next_to_its_members(index):
    index.end(1, Outcome("", (), (MD, A, B, *LITTLE)))
    index.end(2, Outcome("", (), (A,)))  # no md: nothing to say
    index.end(3, Outcome("broken", (), (MD, A, B)))
    stack, little = table.stacks(index)
    assert (stack.bios, stack.kib_per_bio, stack.splits, stack.fan_out) == (10, 64.0, 30, 4.0)
    assert (stack.requests, stack.kib_per_request) == (20, 32.0)
    assert (stack.merged_percent, stack.sequential_percent, stack.in_flight) == (50.0, 60.0, 2.0)
    assert (stack.readahead_kib, stack.member_readahead_kib, little.direction) == (256.0, 128.0, "write")
    shown = table.stack_text([stack, little])
    assert len(shown) == 2 and shown[1].split()[1:] == [
        "read", "10", "64.0", "30", "4.0", "20", "32.0", "50%", "60%", "2.0", "256", "(128)",
    ]  # fmt: skip


def test_of_each_cell_the_direction_that_moved_more(index):
    index.end(1, Outcome("", (), (MD, A, B, *LITTLE)))
    stack, little = table.stacks(index)
    other = dataclasses.replace(stack, cell="a cell with a longer name", bios=1)
    shown = table.stack_text([stack, other, little])
    assert [line.split()[-1] for line in shown] == ["KiB", "(128)", "(128)"]
    assert {line.index(word) for line, word in zip(shown, ("phase", "read", "read"), strict=True)} == {27}


def test_what_was_not_counted_is_not_zero(index, tmp_path):
    unknown = (*B[:4], 16, 0, None, None, *B[8:11], None, None, 1.0, 2.0, None, None, None)
    index.end(1, Outcome("", (), (MD, A, unknown)))
    (stack,) = table.stacks(index)
    assert (stack.fan_out, stack.requests, stack.merged_percent, stack.in_flight) == (4.0, None, None, None)
    assert " n/a " in table.stack_text([stack])[1]
    table.write_stack_csv(tmp_path / "s.csv", [stack])
    (row,) = csv.DictReader((tmp_path / "s.csv").open())
    assert tuple(row) == table.STACK_HEADER
    assert (row["fan_out"], row["member_requests"], row["md_readahead_kib"]) == ("4", "", "256")


def test_show_prints_it_and_a_sweep_leaves_it(index, tmp_path, capsys):
    done = call(cli_sweep.main, "show", "--stack", tmp_path)
    assert done.returncode == 1 and "no finished cell of this sweep has an md" in done.stderr
    index.end(1, Outcome("", (), (MD, A, B)))
    assert cli_sweep.main(["show", "--stack", str(tmp_path)]) == 0
    assert "fan-out" in capsys.readouterr().out
    assert cli_sweep.main(["show", str(tmp_path)]) == 0
    assert "show --stack" in capsys.readouterr().out and (tmp_path / "p-stack.csv").exists()
