# SPDX-License-Identifier: GPL-2.0-or-later
"""Which changed lines ran: the sources, the compiled counters, the report."""

import pathlib
import subprocess

import pytest
from raidlab.base.failure import LabError
from raidlab.kernel import coverage

PROGRAM = """#include <stdio.h>
#include <string.h>
extern int work(int many);
static struct { unsigned long at, times; } blocks[1 << 10];
__attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc(void)
{
    unsigned long at = (unsigned long)__builtin_return_address(0);
    unsigned int i = 0;
    while (blocks[i].at && blocks[i].at != at)
        i++;
    blocks[i].at = at;
    blocks[i].times++;
}
int main(void)
{
    FILE *file = fopen("ran", "w");
    memset(blocks, 0, sizeof(blocks));
    work(3);
    fprintf(file, "lost 0\\n");
    for (unsigned int i = 0; blocks[i].at; i++)
        fprintf(file, "%lx %lu\\n", blocks[i].at, blocks[i].times);
    return 0;
}
"""
WORK = """volatile int sum;

int work(int many)
{
    int i;

    for (i = 0; i < many; i++)
        sum += i;
    if (many > 100)
        sum = 0;
    return sum;
}

int unused(void)
{
    return sum;
}
"""


@pytest.fixture(name="built")
def fixture_built(tmp_path: pathlib.Path) -> pathlib.Path:
    """A program with a work.c that reports, after it ran."""
    (tmp_path / "main.c").write_text(PROGRAM)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/work.c").write_text(WORK)
    gcc = ["gcc", "-O2", "-no-pie"]
    subprocess.run([*gcc, *coverage._TELLING.split(), "-c", "lib/work.c"], cwd=tmp_path, check=True)
    subprocess.run([*gcc, "-o", "linux", "main.c", "work.o"], cwd=tmp_path, check=True)
    subprocess.run(["./linux"], cwd=tmp_path, check=True)
    return tmp_path


def test_lines_that_ran_are_told_from_those_that_did_not(built: pathlib.Path) -> None:
    lines = coverage.lines(built / "linux", {"lib/work.c": range(1, 20), "other/work.c": range(1, 20)})
    ran = coverage.ran(built)
    times = {line.number: line.times(ran) for line in lines}
    assert {line.file for line in lines} == {"lib/work.c"}
    assert times[8] == 3, "the loop's body"
    assert times[10] == 0 and times[16] == 0, "a branch and a function that nobody took"
    assert times[11] == 1 and not {1, 2, 5, 13} & set(times), "no code"


def test_only_wanted_lines_are_looked_for(built: pathlib.Path) -> None:
    assert [line.number for line in coverage.lines(built / "linux", {"lib/work.c": [5, 10]})] == [10]


def test_what_was_not_kept_is_not_guessed(tmp_path: pathlib.Path) -> None:
    with pytest.raises(LabError, match="ran"):
        coverage.ran(tmp_path)
    (tmp_path / "ran").write_text("lost 1\n60000000 4\n")
    with pytest.raises(LabError, match="more code blocks ran than could be counted"):
        coverage.ran(tmp_path)


def test_changed_lines(tmp_path: pathlib.Path) -> None:
    before, after = tmp_path / "a.c", tmp_path / "b.c"
    before.write_text("one\ntwo\nthree\nfour\n")
    for text, numbers in (
        ("one\ntwo\nthree\nfour\n", []),
        ("one\n2\nthree\nfour\nfive\n", [2, 5]),
        ("one\nthree\nfour\n", [2]),  # behind what was taken away
        ("one\ntwo\nthree\n", [3]),
    ):
        after.write_text(text)
        assert coverage.changed(before, after) == numbers
    assert coverage.changed(None, after) == [1, 2, 3] == coverage.changed(tmp_path / "none", after)


def test_the_nearest_makefile_asks(tmp_path: pathlib.Path) -> None:
    source, overlay = tmp_path / "source", tmp_path / "overlay"
    for name in ("Makefile", "lib/Makefile", "fs/Makefile", "fs/xfs/Makefile", "md/Kbuild", "md/Makefile"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(f"# {name}")
    added = coverage.added(source, ["fs/xfs/libxfs/bmap.c", "fs/xfs/file.c", "md/raid5.c", "lib/sort.c"], overlay)
    assert set(added) == {"lib/raidtrace-ran.c", "lib/Makefile", "fs/xfs/Makefile", "md/Kbuild"}
    text = (overlay / "fs/xfs/Makefile").read_text()
    assert text.startswith("# fs/xfs/Makefile\n") and (source / "fs/xfs/Makefile").read_text() == "# fs/xfs/Makefile"
    for line in ("CFLAGS_libxfs/bmap.o", "CFLAGS_file.o"):
        assert f"\n{line} += {coverage._TELLING}\n" in text
    assert "obj-y += raidtrace-ran.o\nCFLAGS_sort.o +=" in (overlay / "lib/Makefile").read_text()
    with pytest.raises(LabError, match="no makefile"):
        coverage.added(tmp_path / "nothing", [], overlay)


LINES = [coverage.Line("mm/a.c", number, blocks) for number, blocks in ((7, (1,)), (8, (1, 2)), (9, (3,)), (11, (3,)))]


def test_neighbours_that_ran_alike_are_one() -> None:
    rows = coverage.gathered(LINES, {"dd": {1: 5, 2: 5}, "fio": {1: 2000, 2: 9}})
    assert [(row.first, row.last, row.times) for row in rows] == [
        (7, 8, {"dd": 5, "fio": 2000}), (9, 9, {}), (11, 11, {})]  # fmt: skip
    assert coverage.table(rows) == [
        "Coverage: of 4 changed lines of code 2 ran.",
        "  mm/a.c:7-8                         2,000 times in fio, 2 workloads",
        "  mm/a.c:9                           never",
        "  mm/a.c:11                          never",
    ]
    assert "no changed line is code" in coverage.table([])[0]
    assert coverage.table(coverage.gathered(LINES[:1], {"": {1: 1}}))[0] == "Coverage: of 1 changed line of code 1 ran."


def test_what_a_guest_runs_keeps_its_status() -> None:
    text = coverage.watched('"$@"').replace(coverage.IN_GUEST, "/dev/null").replace("/run/lab/out/ran", "/dev/null")
    for command, status in ((["sh", "-c", "exit 7"], 7), (["true"], 0)):
        assert subprocess.run(["sh", "-c", text, "sh", *command], check=False).returncode == status
