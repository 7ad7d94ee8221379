# SPDX-License-Identifier: GPL-2.0-or-later
"""What sweep show --stack says of an md and its members."""

import csv
import dataclasses

from test_sweep import new_index

from raidtrace.cli import sweep as cli_sweep
from raidtrace.sweep import table
from raidtrace.sweep.index import Outcome

# disk, phase, direction, s, bios, splits, back_merges, issued, bytes_queued, bytes_issued, sequential, in flight, readahead
TOP = ("md127", "read", "read", 2.0, 10, 30, None, None, 10 << 16, None, None, None, 512, 1.0, 2.0)
A = ("sda", "read", "read", 2.0, 24, 0, 16, 8, 5 << 16, 5 << 16, 6, 1.5, 256, 1.0, 2.0)
B = ("sdb", "read", "read", 2.0, 16, 0, 4, 12, 5 << 16, 5 << 16, 6, 2.5, 256, 1.0, 2.0)
LITTLE = tuple((disk, "read", "write", 2.0, 1, 0, 0, None if disk == "md127" else 1, 4096, 4096, 1, 0.0, 512, None, None)
               for disk in ("md127", "sda", "sdb"))  # fmt: skip


def test_an_md_beside_its_members(tmp_path):
    index = new_index(tmp_path)
    index.end(1, Outcome("", (), (TOP, A, B, *LITTLE)))
    index.end(2, Outcome("", (), (A,)))  # no md: nothing to say
    index.end(3, Outcome("broken", (), (TOP, A, B)))
    stack, little = table.stacks(index)
    assert (stack.bios, stack.kib_per_bio, stack.splits, stack.fan_out) == (10, 64.0, 30, 4.0)
    assert (stack.requests, stack.kib_per_request) == (20, 32.0)
    assert (stack.merged_percent, stack.sequential_percent, stack.in_flight) == (50.0, 60.0, 2.0)
    assert (stack.readahead_kib, stack.member_readahead_kib, little.direction) == (256.0, 128.0, "write")
    shown = table.stack_text([stack, little])
    assert len(shown) == 2 and shown[1].split()[1:] == [
        "read", "10", "64.0", "30", "4.0", "20", "32.0", "50%", "60%", "2.0", "256", "(128)",
    ]  # fmt: skip


def test_of_each_cell_the_direction_that_moved_more(tmp_path):
    index = new_index(tmp_path)
    index.end(1, Outcome("", (), (TOP, A, B, *LITTLE)))
    stack, little = table.stacks(index)
    other = dataclasses.replace(stack, cell="a cell with a longer name", bios=1)
    shown = table.stack_text([stack, other, little])
    assert [line.split()[-1] for line in shown] == ["KiB", "(128)", "(128)"]
    assert {line.index(word) for line, word in zip(shown, ("phase", "read", "read"), strict=True)} == {27}


def test_what_was_not_counted_is_not_zero(tmp_path):
    index = new_index(tmp_path)
    unknown = (*B[:4], 16, 0, None, None, *B[8:11], None, None, 1.0, 2.0)
    index.end(1, Outcome("", (), (TOP, A, unknown)))
    (stack,) = table.stacks(index)
    assert (stack.fan_out, stack.requests, stack.merged_percent, stack.in_flight) == (4.0, None, None, None)
    assert " n/a " in table.stack_text([stack])[1]
    table.write_stack_csv(tmp_path / "s.csv", [stack])
    (row,) = csv.DictReader((tmp_path / "s.csv").open())
    assert tuple(row) == table.STACK_HEADER
    assert (row["fan_out"], row["member_requests"], row["md_readahead_kib"]) == ("4", "", "256")


def test_show_prints_it_and_a_sweep_leaves_it(tmp_path, capsys):
    index = new_index(tmp_path)
    assert cli_sweep.main(["show", "--stack", str(tmp_path)]) == 1
    assert "no finished cell of this sweep has an md" in capsys.readouterr().err
    index.end(1, Outcome("", (), (TOP, A, B)))
    assert cli_sweep.main(["show", "--stack", str(tmp_path)]) == 0
    assert "fan-out" in capsys.readouterr().out
    assert cli_sweep.main(["show", str(tmp_path)]) == 0
    assert "show --stack" in capsys.readouterr().out and (tmp_path / "p-stack.csv").exists()
