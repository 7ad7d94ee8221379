# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl compare: units, ratio, per cent, spread; the papers' own arithmetic, and where their words disagree with it."""

import json
import random

import pytest
from conftest import call, changed
from hypothesis import given
from hypothesis import strategies as st
from made_phase import record
from made_sweep import made

from raidtrace.cli import compare as cli_compare
from raidtrace.cli import report as cli_report
from raidtrace.compare import comparison, paper
from raidtrace.published import tables as published
from raidtrace.quantity import trials

RATES = st.lists(st.floats(1, 1e6), min_size=1, max_size=6)


def row(a, b, unit="KiB/s"):
    return comparison.FigurePair((("phase", "read"),), comparison.normal(a, unit), comparison.normal(b, unit))


@given(RATES, RATES)
def test_ratio_and_percent_are_two_words_for_one_thing(a, b):
    result = row(a, b)
    assert result.percent() == pytest.approx(100 * (result.ratio() - 1))
    assert row(b, a).ratio() == pytest.approx(1 / result.ratio())
    assert row(b, a).exceeds() == result.exceeds()


@given(RATES, RATES, st.sampled_from(sorted(comparison.UNITS)))
def test_units_change_neither_ratio_nor_spread(a, b, unit):
    plain, other = row(a, b), row(a, b, unit)
    assert other.ratio() == pytest.approx(plain.ratio())
    assert other.a.spread_percent() == (None if len(a) < 2 else pytest.approx(plain.a.spread_percent()))


def test_units():
    assert comparison.normal((1.0,), "MiB/s").values == (1024.0,)
    assert comparison.normal((1.024,), "MB/s").values == pytest.approx((1000.0,))
    assert comparison.normal((88.178,), "KiB/s / 1000").values == pytest.approx((88178.0,))
    assert comparison.normal((201.4,), "1/s") == comparison.Figures((201.4,), "1/s")


@pytest.mark.parametrize(
    ("a", "b", "real"),
    [((10, 12), (23, 24), True), ((10, 12), (11, 14), False), ((10, 12), (12, 14), False), ((10,), (99,), None),
     ((10,), (11, 12), False), ((10,), (60, 61), True), ((10, 12), (13, 14), False), ((10, 10), (10, 10), False),
     ((10, 10), (11, 11), True), ((100, 100.2, 99.8), (98, 98.1, 97.9), True)],
)  # fmt: skip
def test_a_difference_is_real_when_no_trial_lies_among_the_others_and_chance_does_not_do_it(a, b, real):
    assert row(a, b).exceeds() is real


@pytest.mark.parametrize("count", [2, 3, 5])
def test_trials_of_the_same_thing_are_real_in_five_of_a_hundred_cases_at_most(count):
    source = random.Random(count)
    called = 0
    for _ in range(1000):
        a, b = ([source.gauss(100, 1) for _ in range(count)] for _ in range(2))
        called += row(a, b).exceeds()
    assert called <= 64  # 5 %, and twice its own error


@given(RATES, RATES)
def test_the_chance_of_equals(a, b):
    result = trials.chance(a, b)
    assert result is None if len(a) + len(b) < 3 else 0 <= result <= 1
    assert result == pytest.approx(trials.chance(b, a))


def test_the_white_papers_own_table():
    rows, checks = paper.own("amcc")
    result = {comparison.text(row.key): row for row in rows}
    xfs = result["raid0 bonnie++ xfs read"]
    assert (xfs.a.middle(), xfs.b.middle()) == (88178.0, 410073.0)
    assert f"{xfs.ratio():.2f} {xfs.percent():.1f}" == "4.65 365.1"
    assert xfs.exceeds() and not result["raid0 bonnie++ xfs write"].exceeds()
    assert len(rows) == 48
    seconds = [check for check in checks if " s" in check.said and "dd" in check.said]
    assert len(seconds) == 12 and all(check.agrees for check in seconds)


def test_where_its_words_and_figures_disagree():
    wrong = {check.said: check.found for check in paper.own("amcc")[1] if not check.agrees}
    assert set(wrong) == {'"466 % increase"', '"470 %"', '"115.6 MB/s"', '"88.1 MB/s"', '"410.7 MB/s"'}
    assert "a ratio of 4.66, an increase of 366 %" in wrong['"466 % increase"']
    assert "a ratio of 4.70, an increase of 370 %" in wrong['"470 %"']
    assert "115.6 MiB/s or 121.2 MB/s" in wrong['"115.6 MB/s"']
    assert "86.1 MiB/s or 90.3 MB/s" in wrong['"88.1 MB/s"'] and "88.2, truncated" in wrong['"88.1 MB/s"']


def test_the_other_tables():
    wide = [check for check in paper.own("caltech")[1] if not check.agrees]
    assert any("140 to 202, +/- 31 MB/s" in check.found for check in wide)
    assert all(rows for rows, _ in map(paper.own, ("coraid", "howto", "caltech")))
    blocks = {comparison.text(row.key): row.ratio() for row in paper.own("howto")[0]}
    assert blocks["raid0 4 KiB read"] == pytest.approx(34048 / 19712)


def test_a_recording_with_a_table(tmp_path):
    output = "21474836480 bytes (21 GB, 20 GiB) copied, 177.143 s, 121 MB/s"
    meta = {"command": json.dumps(["dd", "if=/dev/sda", "of=/dev/null"]), "lab_profile": "9500s-12-raid0"}
    path = record(tmp_path, (("run", {}),), {"fstype": ""}, meta=meta)
    changed(path, ("UPDATE output SET text=?, stream='stderr'", (output,)))
    done = call(cli_compare.main, "--json", "--with", "amcc-9500s-2004", path)
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)["rows"]
    assert result["a"]["median"] == pytest.approx(115.613 * 1024, rel=1e-5)  # test 1: 112.1, 115.6, 116.5 MiB/s
    assert result["ratio"] == pytest.approx(1.0, abs=1e-4)
    assert result["exceeds-spread"] is False


def test_configurations_of_a_simulated_disk_differ(tmp_path):
    of = [
        {"lab_profile": "nvme-970pro", "lab_config": f"flash.channels={channels},queue.depth=8"}
        for channels in (16, 160)
    ]
    a, b = (record(tmp_path / str(at), meta=meta) for at, meta in enumerate(of))
    result = call(cli_compare.main, a, b).stdout
    assert ["flash.channels", "16", "160"] in [line.split() for line in result.splitlines()], result
    assert "are the same" not in result and "queue.depth" not in result


def test_what_one_side_lacks_is_reported(tmp_path):
    a = record(tmp_path / "a", (("read", {}), ("again", {})))
    done = call(cli_compare.main, a, record(tmp_path / "b"))
    assert "only A: again counted: throughput" in done.stdout


def test_of_two_recordings_what_differs_and_on_demand_every_counter(tmp_path):
    phases = (("read", {}), ("again", {}))
    a, b = record(tmp_path / "a", phases), record(tmp_path / "b", phases, {"readahead_sectors": "16384"})
    short, long = (" ".join(call(cli_compare.main, *words, a, b).stdout.split()) for words in ((), ("-v",)))
    for text in (short, long):
        assert "read counted: IOPS read (1/s)" in text and "sda readahead_sectors 256 16384" in text
    every = "phase read sda A B B / A (B - A) / A"
    assert every in long and every not in short and "raidctl compare -v" in short and "raidctl compare -v" not in long
    assert " ".join(call(cli_report.main, a, b).stdout.split()) == long
    both = json.loads(call(cli_compare.main, "--json", a, b).stdout)
    report = json.loads(call(cli_report.main, "--json", a, b).stdout)
    assert both.keys() >= {"rows", "notes", "differences", "spans"}
    assert [both[name] for name in ("differences", "spans")] == [report[name] for name in ("differences", "spans")]


def test_one_phase_of_two_recordings(tmp_path):
    phases = (("read", {}), ("again", {}))
    a, b = record(tmp_path / "a", phases), record(tmp_path / "b", phases)
    result = json.loads(call(cli_compare.main, "--json", "--phase", "again", a, b).stdout)
    assert {row["key"]["phase"] for row in result["rows"]} == {span["phase"] for span in result["spans"]} == {"again"}
    done = call(cli_compare.main, "--phase", "none", a, b)
    assert done.returncode == 1 and "no phase none" in done.stderr
    (tmp_path / "sweep").mkdir()
    done = call(cli_compare.main, "--phase", "again", tmp_path / "sweep", tmp_path / "sweep")
    assert done.returncode == 1 and "this is a sweep, but --phase needs two recordings" in done.stderr


def test_a_recording_is_not_compared_with_a_sweep(tmp_path):
    run, sweep = record(tmp_path / "a"), tmp_path / "sweep"
    made(sweep)
    for words in ((run, sweep), (sweep, run)):
        done = call(cli_compare.main, *words)
        assert done.returncode == 1 and "their figures have no common names. To compare with one test" in done.stderr
    assert call(cli_compare.main, sweep, sweep).returncode == 0
    done = call(cli_compare.main, "--with", "amcc", "--array", "9500s-12-raid5", sweep)
    assert done.returncode == 1 and "a sweep contains the names of its arrays; leave out --array" in done.stderr


@pytest.mark.parametrize(("words", "message"), [
    (["--with", "amcc", "--array", "none", "a"], "no such array; name one of: 9500s-12-raid0, 9500s-12-raid5"),
    (["--with", "amcc", "--array", "jbod-4", "a"], "no such array"), (["--with", "howto", "--array", "a", "a"], "leave out"),
    (["--array", "jbod-4", "a", "b"], "give both"), (["--array", "jbod-4", "--with", "coraid"], "give both"),
    (["--array", "jbod-4", "--with", "coraid", "a"], "a: no such recording"),
])  # fmt: skip
def test_an_array_that_the_table_lacks_is_refused(words, message):
    assert message in call(cli_compare.main, *words).stderr


@pytest.mark.parametrize("words", [[], ["one"], ["a", "b", "--with", "amcc"], ["--with", "nothing"], ["a", "b", "--all"],
                                   ["a", "--with", "amcc-9500s-2004", "--verbose"]])  # fmt: skip
def test_usage(words):
    assert call(cli_compare.main, *words).returncode == 2


def test_columns(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    a, b = record(tmp_path / "a"), record(tmp_path / "b")
    done = call(cli_compare.main, a, b)
    table = done.stdout.splitlines()[done.stdout.splitlines().index("") :]  # above it are paths, which are not cut
    assert all(len(line) <= 80 for line in table), table
    assert comparison.VERSION == 1


@pytest.mark.parametrize(
    ("key", "kib_per_s"),
    [
        (("raid0", "bonnie++", "xfs", 256, "read"), 88178),
        (("raid0", "bonnie++", "xfs", 16384, "read"), 410799),
        (("raid0", "bonnie++", "ext2", 16384, "rewrite"), 106594),
        (("raid0", "dd", "", 256, "read"), 20480 * 1024 / 177.143),  # printed as MB/s, but 20480 MiB in 177.143 s
        (("raid0", "dd", "", 16384, "read"), None),
        (("raid0", "bonnie++", "xfs", 256, "seeks"), None),  # published, but no rate of bytes
        (("raid5", "bonnie++", "xfs", 256, "read"), 86393),
    ],
)
def test_units_are_normalised(key, kib_per_s):
    assert published.quoted(*key) == pytest.approx(kib_per_s, rel=1e-5)
