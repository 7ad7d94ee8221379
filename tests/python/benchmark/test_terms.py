# SPDX-License-Identifier: GPL-2.0-or-later
"""Terms of tests: they are read from the commands, and every comparison reports the terms that differ."""

import json
import shlex

import made_sweep
import pytest
from conftest import call, changed
from made_phase import record

from raidtrace.benchmark import registry as benchmark
from raidtrace.benchmark import terms
from raidtrace.cli import compare as cli_compare
from raidtrace.compare import comparison
from raidtrace.compare import sides as compare_sides
from raidtrace.published import tables as published
from raidtrace.sweep import index as sweep_index
from raidtrace.sweep import table as sweep_table

# a line of bonnie++ 2.00a without files and characters: write, rewrite, read, seeks
BONNIE = "1.98,2.00a,vm,1,1,2G,,8192,5,,,200000,9,90000,9,,,88000,9,{seeks},9" + "," * 29
DATA, CALL, SEEKERS, CACHE = terms.DATA, terms.CALL, terms.SEEKERS, terms.CACHE


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("dd if=/dev/sda of=/dev/null bs=1M count=96", {DATA: 96 << 10, CALL: 1024, CACHE: "used"}),
        ("dd if=/dev/sda of=/dev/null bs=64k count=16 iflag=direct,fullblock", {DATA: 1024, CALL: 64, CACHE: "passed by"}),
        ("dd if=/dev/sda of=/dev/null bs=1M", {DATA: None, CALL: 1024}),
        ("/usr/sbin/bonnie++ -d /mnt -n 0 -u 0 -f", {DATA: None, CALL: 8, SEEKERS: 5}),
        ("raidctl record -o x -- bonnie++ -d /mnt -s 2048:64k -n 0", {DATA: 2 << 20, CALL: 64, SEEKERS: 5}),
        ("env X=y bonnie++ -s 20480:8k:8000:3", {DATA: 20 << 20, CALL: 8, SEEKERS: 3}),
        ("bonnie++ -s2g -D", {DATA: 2 << 20, CALL: 8, CACHE: "passed by"}),
        ("iozone -s 20480m -r 64 -i 0 -t 1", {DATA: 20 << 20, CALL: 64, terms.PROGRAM: "iozone"}),
        ("fio --name=write --bs=1024k --size=1073741824 --name=read --bs=1024k --size=1073741824",
         {DATA: 1 << 20, CALL: 1024, terms.PROGRAM: "fio"}),
        ("fio --bs=64k --size=1g --bs=4k", {DATA: 1 << 20, CALL: None}),
        ("ddt -c 768 -b 1024K -w 10 -d zeros /mnt", {DATA: 768 << 10, CALL: 1024, terms.CONTENT: "zeros"}),
    ],
)  # fmt: skip
def test_terms_are_read_from_the_command(command, expected):
    result = terms.of_command(shlex.split(command))
    assert {name: result.get(name) for name in expected} == expected


def test_what_is_no_benchmark_has_no_terms():
    assert not terms.of_command(["sh", "-c", "true"]) and not terms.of_command([])
    assert not terms.differences({}, {CALL: 8}, "seeks")


@pytest.mark.parametrize("name", [name for name, one in benchmark.BENCHMARKS.items() if name not in ("fio", "ioperf")])
def test_what_a_plan_runs_has_terms(name):
    chosen = benchmark.find(name)
    job = chosen.job("" if chosen.raw else "/mnt", "/dev/sdx" if chosen.raw else "", 1 << 30, {})
    result = terms.of_command(chosen.command(job))
    assert result[DATA] == 1 << 20 and result[CALL] and result[CACHE] == "used"


def test_every_published_figure_has_terms():
    for table, benchmarks in {"amcc": ("dd", "bonnie++", "iozone"), "caltech": ("bonnie++",), "coraid": ("ddt",),
                              "howto": ("bonnie++",)}.items():  # fmt: skip
        assert all(terms.PUBLISHED[table, one][CALL] for one in benchmarks)


def test_a_rate_bears_another_call_and_seeks_do_not():
    paper, ours = terms.PUBLISHED["amcc", "bonnie++"], terms.of_command(shlex.split("bonnie++ -s 20480:64k:8000:3"))
    (rate,), (seeks,) = (terms.differences(paper, ours, phase) for phase in ("read", "seeks"))
    assert (rate.decides, seeks.decides) == (False, True)
    assert seeks.text() == "calls of 8 KiB in A, 64 KiB in B" and seeks.instead() == "calls of 64 KiB instead of 8 KiB"


def test_what_decides_and_is_left_open_is_a_difference():
    result = terms.differences(terms.PUBLISHED["amcc", "bonnie++"], terms.of_command(["bonnie++"]), "seeks")
    assert [one.text() for one in result if one.name == DATA] == ["data 20 GiB in A, not known in B"]


def test_past_the_page_cache_is_another_test_of_everything():
    paper, ours = terms.PUBLISHED["amcc", "dd"], terms.of_command(shlex.split("dd bs=1M count=20480 iflag=direct"))
    assert [one.decides for one in terms.differences(paper, ours, "read")] == [True]


def bonnie(directory, size, seeks=400):
    meta = {"command": json.dumps(["bonnie++", "-d", "/mnt", "-s", size]), "lab_profile": "9500s-12-raid0"}
    path = record(directory, (("run", {}),), {"fstype": "xfs"}, meta=meta)
    return changed(path, ("UPDATE output SET text=?, stream='stdout'", (BONNIE.format(seeks=seeks),)))


def rows(*words):
    done = call(cli_compare.main, "--json", *words)
    assert done.returncode == 0, done.stderr
    return {row["key"]["phase"]: row for row in json.loads(done.stdout)["rows"]}


@pytest.mark.slow
def test_published_seeks_are_not_compared_with_seeks_of_other_calls(tmp_path):
    path = bonnie(tmp_path, "2048:64k")
    result = rows(path, "--with", "amcc-9500s-2004")
    assert result["seeks"]["same-test"] is False
    assert [result["seeks"][name] for name in ("ratio", "percent", "exceeds-spread")] == [None] * 3
    assert result["read"]["same-test"] and result["read"]["ratio"]
    assert {one["name"] for one in result["read"]["differs"]} == {DATA, CALL}
    text = call(cli_compare.main, path, "--with", "amcc-9500s-2004").stdout
    (line,) = [line for line in text.splitlines() if line.startswith("seeks")]
    assert line.split()[-1] == "x" and "%" not in line.replace(line.split()[-3], "").replace(line.split()[-2], "")
    message, differ = " ".join(text.split()), "data 20 GiB in A, 2 GiB in B, calls of 8 KiB in A, 64 KiB in B"
    assert f"Not the same test: {differ}, seekers 3 in A, 5 in B: seeks" in message
    assert f"Different terms: {differ}: write, rewrite, read." in message


def test_published_seeks_of_the_same_terms_are(tmp_path):
    result = rows(bonnie(tmp_path, "20480:8k:8000:3"), "--with", "amcc-9500s-2004")
    assert result["seeks"]["same-test"] and result["seeks"]["ratio"] == pytest.approx(400 / 412.5)
    assert not result["seeks"]["differs"]


@pytest.mark.slow
def test_of_two_recordings_other_terms_are_reported_and_may_be_what_was_tried(tmp_path):
    a, b = bonnie(tmp_path / "a", "2048:64k"), bonnie(tmp_path / "b", "2048:8k", 800)
    result = rows(a, b)
    assert (result["seeks"]["ratio"], result["seeks"]["same-test"]) == (2.0, False)
    assert result["seeks"]["exceeds-spread"] is None and result["read"]["same-test"]
    text = call(cli_compare.main, a, b).stdout
    assert next(line for line in text.splitlines() if line.startswith("seeks")).split()[-1] == "x"
    assert "Not the same test: calls of 64 KiB in A, 8 KiB in B: seeks." in " ".join(text.split())
    same = rows(a, bonnie(tmp_path / "c", "2048:64k", 800))
    assert same["seeks"]["ratio"] == 2.0 and same["seeks"]["same-test"] and not same["seeks"]["differs"]


def test_a_sweep_says_it_in_its_table_and_makes_no_ratio(tmp_path):
    index = sweep_index.Index(made_sweep.write(tmp_path) / sweep_index.NAME)
    result = sweep_table.lines(index, "amcc")
    index.close()
    text = sweep_table.unlike_published(result)
    assert any(line.startswith("dd: data 1 GiB instead of 20 GiB: read") for line in text), text
    line = next(line for line in result if line.benchmark == "bonnie++" and line.published)
    other = published.find("amcc", line.axes, "bonnie++", "seeks", terms.of_command(["bonnie++", "-s", "1024"]))
    assert not other.same_test() and other.difference().startswith("not the same test: data 1 GiB instead of 20 GiB")


def test_rows_are_named():
    figures = comparison.normal((1.0,), "KiB/s")
    keys = ((("chunk", "4"), ("phase", "read")), (("chunk", "8"), ("phase", "read")))
    compared = comparison.Compared("a", "b", tuple(comparison.FigurePair(key, figures, figures) for key in keys))
    assert "Rows: chunk" in comparison.lines(compared, 100)
    assert compare_sides.QUIET
