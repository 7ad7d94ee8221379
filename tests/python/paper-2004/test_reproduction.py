# SPDX-License-Identifier: GPL-2.0-or-later
"""The white paper's figures beside simulated ones, from results made up for it."""

import csv
import json

import pytest

from paper2004 import (
    amcc,
    fit,
    reproduce_plan,
    reproduce_run,
    reproduction,
    reproduction_misses,
    reproduction_rewrites,
    reproduction_seeks,
    reproduction_text,
    reproduction_why,
)
from paper2004.reproduce_run import Result, Run

PHASES = ("write", "rewrite", "read", "seeks", "run")
COUNTED = {"reads": 8800.0, "writes": 100.0, "small_reads": 20.0, "small_writes": 1.0, "write_mib": 20480.0}
COUNTED |= {"seconds": 40.0, "reads_in_flight": 0.7}


def result(figures):
    """A result with some counts in every phase."""
    return Result(figures, {phase: dict(COUNTED) for phase in PHASES}, "6.1.0-0")


@pytest.fixture
def results():
    """Everything 9 % faster than published; experiments change nothing."""
    found = {}
    for run in reproduce_plan.short() + reproduce_plan.large():
        metrics = amcc.metrics(run.test)
        found[run.name] = result({metric: 1.09 * amcc.published(run.test, metric) for metric in metrics})
    return found


def test_the_paper_is_whole():
    assert (len(amcc.tests()), len(amcc.rows())) == (28, 204)
    assert amcc.published(reproduce_plan.find("raid0", 7), "read") == 88178
    assert len(amcc.trials(reproduce_plan.find("raid5", 1), "read")) == 3


def test_commands_are_the_papers():
    bonnie = Run("x", reproduce_plan.find("raid0", 4)).command("lib.so")
    assert bonnie[1:5] == ["ext2", "16384", "env", "LD_PRELOAD=lib.so"]
    assert "20480:8k:8000:3" in bonnie
    dd = Run("x", reproduce_plan.find("raid5", 2)).command("lib.so")
    assert dd[1:3] == ["raw", "256"] and "of=/dev/sda" in dd and "count=20480" in dd
    assert "--create_on_open=1" in Run("x", reproduce_plan.find("raid0", 9)).command("lib.so")


def test_every_published_figure_has_its_row(results, tmp_path):
    reproduction.write_csv(tmp_path / "r.csv", reproduction.points(results))
    rows = list(csv.DictReader((tmp_path / "r.csv").open(encoding="utf-8")))
    assert len(rows) == 204 and ",".join(rows[0]) == reproduction.HEADER
    first = next(row for row in rows if row["metric"] == "seeks")
    assert first["unit"] == "1/s" and first["published"] == "201.4"
    assert float(first["simulated"]) == pytest.approx(1.09 * 201.4, abs=0.01)
    assert sum(row["role"] == "fitted" for row in rows) == 12  # four figures, three trials of each
    assert {row["tool"] for row in rows} == {"dd", "bonnie++", "fio as iozone"}


def test_medians_leave_out_what_was_fitted(results):
    for array, number, metric in reproduction.fitted_figures():
        results[f"{array}-{number:02d}"].figures[metric] *= 100
    found = reproduction.points(results)
    assert reproduction.median_error(found) == pytest.approx(9)
    assert sum(n for n, _ in reproduction.medians(found, lambda p: p.metric).values()) == 100 - 4


def test_at_most_six_constants_on_eight_figures():
    for array in ("raid0", "raid5"):
        assert 1 <= len(reproduction.fitted(array)) <= 6
    assert len(reproduction.fitted_figures()) <= 8


def test_ratios(results):
    results["raid0-08"].figures["read"] *= 1.2
    ratio = next(
        r
        for r in reproduction.ratios(reproduction.points(results))
        if (r.array, r.tool, r.filesystem, r.metric) == ("raid0", "bonnie++", "xfs", "read")
    )
    assert ratio.published == pytest.approx(410073 / 88178)
    assert ratio.error() == pytest.approx(20)


def test_the_page_says_what_the_results_say(results):
    results["seeks-raid0-03"].figures["seeks"] = 777.0
    page = reproduction_text.page(results, reproduction_why.section(results))
    assert "**Median error of the 96 held-out figures: 9.0 %** (aim: 10 %, met)" in page
    assert "777.0" in page and "6.1.0-0" in page
    assert sum(line.endswith("% fitted") for line in page.splitlines()) == 4
    over = [line for line in page.splitlines() if line.startswith("raid0 bonnie++") and "+285.8 %" in line]
    assert len(over) == 1, "the one that misses is listed with those that miss"


def test_a_result_is_kept_while_nothing_changed(tmp_path, monkeypatch):
    run = Run("x", reproduce_plan.find("raid0", 7))
    made = {
        "key": reproduce_run.key(run, "6.1"),
        "sources": reproduce_run.sources(run),
        "behaviour": {"s": {"read": 100.0}},
    }
    text = json.dumps({**made, "figures": {"read": 1.0}, "phases": {}, "kernel": "6.1"})
    (tmp_path / "result.json").write_text(text)
    assert reproduce_run.kept(run, tmp_path, "6.1", None).figures == {"read": 1.0}
    assert reproduce_run.kept(run, tmp_path, "6.12", None) is None, "another kernel"
    other = Run("x", run.test, settings=("controller.part_us=1",))
    assert reproduce_run.kept(other, tmp_path, "6.1", None) is None, "another setting"
    monkeypatch.setattr(reproduce_run, "sources", lambda run: "others")
    assert reproduce_run.kept(run, tmp_path, "6.1", None) is None, "other sources"
    for rate, same in ((101.0, True), (103.0, False)):
        kept = reproduce_run.kept(run, tmp_path, "6.1", {"s": {"read": rate}})
        assert bool(kept) == same, "other sources, and what they do"


def test_comments_decide_nothing(tmp_path):
    one, two = tmp_path / "a.c", tmp_path / "b.c"
    one.write_text("/* why */\nint a; // so\n")
    two.write_text("int  a;\n")
    assert reproduce_run._text(one).strip() == reproduce_run._text(two).strip()


def test_experiments_change_one_thing():
    for experiment in reproduce_plan.experiments():
        base, changed = experiment.base, experiment.changed
        assert (base.test, base.mib, base.memory_mib) == (changed.test, changed.mib, changed.memory_mib)
        more = changed.environment[: len(changed.environment) - len(base.environment)]
        assert changed.environment == more + base.environment and not base.settings
        assert bool(changed.settings) != bool(more) and base.environment in ((), reproduce_plan.SMALL)
        assert set(experiment.metrics) <= set(amcc.metrics(base.test))


def test_processor_time_is_the_published_per_cent():
    # xfs, untuned read: 11 % of the time of 88,178 KiB/s
    assert reproduce_plan.processor_us(reproduce_plan.find("raid0", 7), "read") == round(0.11e6 / (88178 / 1024))


def test_fit_finds_a_constant_again(monkeypatch, tmp_path):
    def measure(figure, settings, out, mib):
        rates = {"controller.part_us": 680 / settings["controller.part_us"]}
        rates |= {f"controller.{way}_kib_s": settings[f"controller.{way}_kib_s"] / 5e5 for way in ("read", "write")}
        return rates[{"raid0 7 read": "controller.part_us", "raid0 8 read": "controller.read_kib_s"}.get(
            figure, "controller.write_kib_s")]  # fmt: skip

    monkeypatch.setattr(fit, "measure", measure)
    found = fit.fit("raid0", tmp_path, {"controller.part_us": 500, "controller.read_kib_s": 300000})
    assert found["controller.part_us"] == pytest.approx(680, rel=0.01)
    assert found["controller.read_kib_s"] == pytest.approx(500000, rel=0.01)


def test_fit_says_when_it_finds_nothing(monkeypatch, tmp_path):
    rates = iter(range(2, 100))
    monkeypatch.setattr(fit, "measure", lambda figure, settings, out, mib: float(next(rates)))
    with pytest.raises(ValueError, match="controller.part_us: not within 1 %"):
        fit.fit("raid0", tmp_path, {}, only="controller.part_us")


def test_processor_time_is_charged_for_writes_alone(results):
    runs = {one.run.name: one for one in reproduce_plan.charged()}
    assert len(runs) == 15 and runs["cpu-raid0-09"].numbers == (9, 10)
    # ext3 on RAID 0, untuned: 97 % of the time of 160,189 KiB/s; bonnie++'s rewrite less its read for iozone's
    test = reproduce_plan.find("raid0", 5)
    write, rewrite, read = (reproduce_plan.processor_us(test, metric) for metric in ("write", "rewrite", "read"))
    assert write == round(0.97e6 / (160189 / 1024))
    iozone, bonnie = (runs[f"cpu-raid0-{number}"].run.environment for number in ("11", "05"))
    assert iozone[:2] == (f"PROCESSOR_WRITE_US={write}", f"PROCESSOR_REWRITE_US={rewrite - read}")
    assert bonnie[:2] == (f"BONNIE_WRITE_US={write}", f"BONNIE_REWRITE_US={rewrite}")
    assert iozone[2:] == reproduce_plan.SMALL
    assert bonnie[2:] == reproduce_plan.WINDOW + reproduce_plan.SMALL, "read in parts, so that the disks read ahead"
    assert "LD_PRELOAD=processor-time.so" in runs["cpu-raid0-11"].run.command(reproduce_run.pathlib.Path("lib.so"))


def miss(results, name, metric, times):
    """Make one figure miss."""
    results[name].figures[metric] *= times
    test = name.removeprefix("seeks-")
    return next(p for p in reproduction.points(results) if p.test.name() == test and p.metric == metric)


def test_a_miss_is_listed_with_what_its_mechanism_makes_of_it(results):
    results["lumps-raid0-09"].figures["rewrite"] = 1.05 * amcc.published(reproduce_plan.find("raid0", 10), "rewrite")
    point = miss(results, "raid0-10", "rewrite", 2)
    name, value = reproduction_misses.explanation(results, point)
    assert (name, value) == (
        "processor time, write-back",
        results["lumps-raid0-09"].figures["rewrite"],
    ), "one run for both of iozone's"
    text = "\n".join(reproduction_misses.section(results))
    assert "(1 figures)" in text and "1 of them come within 10 %, 0 more" in text
    results["more-raid5-10"].figures["read"] = 331000.0
    assert reproduction_misses.explanation(results, miss(results, "raid5-10", "read", 2)) == ("race", 331000.0)
    assert reproduction_misses.explanation(results, miss(results, "raid5-14", "read", 2)) == ("none", None)


def test_raid5_gathers_one_row_and_ext3_commits_as_then(results):
    runs = {one.run.name: one for one in reproduce_plan.gathered()}
    assert sorted(runs) == [f"reads-raid5-{number:02d}" for number in (3, 4, 5, 6, 7, 8, 11)]
    assert runs["reads-raid5-11"].numbers == (11, 12)
    for one in runs.values():
        assert one.run.settings == ("controller.gather_rows=1", "controller.gather_reads=1")
        base = reproduce_plan.charged_run("raid5", one.run.test.number)
        more = reproduce_plan.ORDERED if one.run.test.filesystem == "ext3" else ()
        assert one.run.environment == base.environment + more, "nothing else differs"
    point = miss(results, "raid5-08", "write", 2)
    results["reads-raid5-08"].figures["write"] = 61000.0
    assert reproduction_misses.explanation(results, point) == ("processor time, rows", 61000.0)
    point = miss(results, "raid5-12", "write", 2)
    assert reproduction_misses.explanation(results, point)[0] == "processor time", "not ext3's first writing"
    assert reproduction_misses.explanation(results, miss(results, "raid5-12", "read", 2)) == ("none", None), "not reads"


def test_writes_are_sent_back_as_then_and_rows_in_parts_to_their_end(results):
    runs = {one.run.name: one for one in reproduce_plan.lumps()}
    numbers = sorted(name.removeprefix("lumps-") for name in runs)
    assert numbers == [f"{array}-{n:02d}" for array in ("raid0", "raid5") for n in (3, 4, 5, 6, 9, 11, 13)]
    for one in runs.values():
        test = one.run.test
        commit = reproduce_plan.COMMIT if test.filesystem == "ext3" else ()
        assert one.run.settings == (("controller.parity_waits=2",) if test.array == "raid5" else ())
        more = reproduce_plan.WRITE_BACK + commit
        assert one.run.environment[-len(more) :] == more
        assert one.run.writes_only == (test.tool == "iozone")
    results["lumps-raid5-11"].figures["rewrite"] = 58000.0
    point = miss(results, "raid5-12", "rewrite", 2)
    assert reproduction_misses.explanation(results, point) == ("processor time, write-back, row", 58000.0)


def test_iozone_can_be_told_to_write_only():
    run = next(one.run for one in reproduce_plan.lumps() if one.run.name == "lumps-raid0-09")
    words = run.command(reproduce_run.pathlib.Path("lib.so"))
    assert "--name=rewrite" in words and "--name=read" not in words
    assert "LD_PRELOAD=processor-time.so" in words


def test_the_steps_to_what_was_published_add_one_thing_each(results):
    for number in (9, 11):
        base, back, rows, both, one = (run for _, run in reproduce_plan.steps(number))
        assert one.environment == both.environment and one.settings == (*both.settings, "controller.gather_rows=1")
        assert not base.settings and not back.settings and rows.settings == both.settings == reproduce_plan.TO_END
        assert base.environment == rows.environment and back.environment == both.environment
    results["back-raid5-09"].figures["write"] = 12345.0
    results["toend-raid5-11"].figures["rewrite"] = 102400.0
    table = reproduction_rewrites.steps_table(results)
    assert next(line for line in table if line.startswith("and 2.6.5")).split()[3] == "12,345"
    # 4 MiB at 102,400 KiB/s are 40 ms, of which 4 x 2.976 ms are the processor's
    assert next(line for line in table if line.startswith("or rows")).split()[-2:] == ["102,400", "28"]


def test_the_page_has_each_number_of_rows_and_what_must_not_move(results):
    assert [run.settings for run in reproduce_plan.rows().values()] == [
        (f"controller.gather_rows={rows}",) for rows in (1, 2, 4, 8, 128)
    ]
    results["rows4-raid5-11"].figures["write"] = 0.5 * amcc.published(reproduce_plan.find("raid5", 11), "write")
    row = next(line for line in reproduction_why.rows_table(results) if line.startswith("4 "))
    assert row.split()[-4:] == ["-50.0", "%", "+9.0", "%"]
    results["rows1-raid0-11"].figures["rewrite"] *= 1.1
    text = " ".join(reproduction_why.rows(results))
    assert "ext3 on RAID 0 moves by +0.0 % and +10.0 %" in text and "xfs on RAID 5 by +0.0 % and +0.0 %" in text


def test_what_the_scheduler_leaves_of_it_is_said(results):
    pairs = reproduce_plan.scheduled()
    assert [run.name for run, _ in pairs] == ["reads-raid5-06", "reads-raid5-11"]
    for run, under in pairs:
        assert under.environment == (*run.environment, *reproduce_plan.SCHEDULER) and under.settings == run.settings
    results["as-reads-raid5-11"].figures["write"] = 1.5 * amcc.published(reproduce_plan.find("raid5", 11), "write")
    text = " ".join(reproduction_why.rows(results))
    assert "bonnie++'s write from +9.0 % to +9.0 % and fio as iozone's write from +9.0 % to +50.0 %" in text


def test_what_both_make_of_bonnies_rewrite_is_said(results):
    results["lumps-raid5-06"].figures["rewrite"] = 0.9 * amcc.published(reproduce_plan.find("raid5", 6), "rewrite")
    row = next(line for line in reproduction_rewrites.bonnie_table(results) if line.startswith("raid5 ext3 tuned"))
    assert row.split()[4:] == ["+9.0", "%", "+9.0", "%", "-10.0", "%"]


def test_what_a_lookup_waits_is_the_rest_of_the_time(results):
    test = reproduce_plan.find("raid5", 9)
    # 4 MiB at 102,400 KiB/s are 40 ms, of which 4 x 1.946 ms are the processor's: bonnie++'s rewrite less its read
    assert reproduction_rewrites.lookup_ms(test, 102400) == pytest.approx(40 - 4 * 1.946, abs=0.01)
    tuned = reproduce_plan.find("raid5", 10)
    assert reproduction_rewrites.lookup_ms(tuned, 102400) == reproduction_rewrites.lookup_ms(test, 102400)
    for name, times in (("cpu-raid5-09", 1.0), ("cpu-raid5-11", 2.0)):
        run = results[name]
        run.figures["rewrite"] = times * amcc.published(reproduce_plan.find("raid5", int(name[-2:])), "rewrite")
    text = " ".join(reproduction_rewrites.waits(results))
    assert "raid5: published ext2 61 and 57 ms, simulated 61, ext3" in text
    results["lumps-raid0-09"].figures["rewrite"] = 102400
    results["lumps-raid5-13"].figures["rewrite"] = 2 * amcc.published(reproduce_plan.find("raid5", 13), "rewrite")
    assert "ext2 33 ms, published 22 and 27" in " ".join(reproduction_rewrites.write_back(results))
    assert "raid5 +9.0 % and +100.0 %." in " ".join(reproduction_rewrites.to_end(results))


def test_seeks_are_those_of_a_run_of_their_own(results):
    runs = reproduce_plan.seeks()
    assert len(runs) == 12 and runs[reproduce_plan.find("raid5", 6)].name == "seeks-raid5-06"
    for test, run in runs.items():
        words = run.command(reproduce_run.pathlib.Path("/out/lib.so"))
        assert words[1:] == [
            test.filesystem,
            str(test.setra_sectors),
            "/out/bonnie-seeks",
            "seek",
            amcc.MOUNT,
            "20480",
            "1",
        ]
        layout = ("DRIVER=ext2",) if test.filesystem == "ext3" else ()
        assert run.environment == ("QUEUE=scheduler=anticipatory", *layout)
    results["seeks-raid5-06"].figures["seeks"] = 321.0
    results["raid5-06"].figures["seeks"] = 999.0
    point = next(p for p in reproduction.points(results) if p.test.name() == "raid5-06" and p.metric == "seeks")
    assert point.simulated == 321.0, "not 2.00a's"


def test_what_seeks_are_made_by_decides_whether_they_are_kept(monkeypatch):
    run, other = reproduce_plan.short_seeks(), reproduce_plan.short()[2]
    before = reproduce_run.key(run, "6.1"), reproduce_run.key(other, "6.1")
    files = reproduce_run.inputs(run.profile())
    monkeypatch.setattr(
        reproduce_run, "inputs", lambda profile: files | {"tools/paper-2004/guest/bonnie-seeks.c": "other"}
    )
    assert (reproduce_run.key(run, "6.1") != before[0], reproduce_run.key(other, "6.1") != before[1]) == (True, False)


def test_what_the_seeks_say():
    assert reproduce_run.seeks_said("x\n8000 seeks in 40.000000 s\n") == 200.0
    with pytest.raises(ValueError, match="does not say"):
        reproduce_run.seeks_said("bonnie-seeks: block 3: Input/output error")


def test_each_step_to_the_seeks_has_its_column(results):
    for name, seeks in (
        ("raid0-05", 400.0),
        ("plain-raid0-05", 300.0),
        ("seeks-raid0-05", 150.0),
        ("seed3-raid0-07", 500.0),
    ):
        results[name].figures["seeks"] = seeks
    found = {test.name(): values for test, *values in reproduction_seeks.steps(results)}
    assert found["raid0-05"] == pytest.approx([143.4, 400.0, 300.0, 150.0]) and len(found) == 3
    lines = reproduction_seeks.tables(results)
    row = next(line.split() for line in lines if line.startswith("ext3"))
    assert row == ["ext3", "143.4", "400.0", "+178.9", "%", "300.0", "+109.2", "%", "150.0", "+4.6", "%"]
    row = [line.split() for line in lines if line.startswith("xfs")][1]
    assert row[1:4] == ["449.6", "449.6", "500.0"] and row[4] == "11.2"


def test_depth_is_of_the_seeks_and_not_of_the_wait_before_them(results):
    results["plain-raid0-07"].phases["run"] |= {"seconds": 10.0, "reads_in_flight": 1.0}
    text = " ".join(reproduction_seeks.paragraph(results))
    assert "xfs from 2.0 to 0.8." in text


def test_the_shortest_seek_is_a_mechanism_of_seeks(results):
    results["guess-raid5-07"].figures["seeks"] = 400.0
    point = miss(results, "seeks-raid5-08", "seeks", 2)
    assert reproduction_misses.explanation(results, point) == ("shortest seek", 400.0), "one run for both"
    settings = {run.settings for run in reproduce_plan.seeks_guessed().values()}
    assert settings == {("drive.seek_track_us=1200",)}
    text = " ".join(reproduction_seeks.guessed(results)).replace("\n", " ")
    assert "raid5 xfs from +9.0 % to +3.9 %" in text and "up to 7 % slower" in text


def test_a_guess_that_moves_figures_moves_the_median(results):
    for experiment in reproduce_plan.arms():
        for metric in experiment.metrics:
            results[experiment.changed.name].figures[metric] *= 1.1
    for run, _ in reproduce_plan.arms_of_seeks():
        results[run.name].figures["seeks"] *= 1.1
    rows = [line for line in reproduction_misses.guesses(results) if line.startswith("``drive.seek_")]
    # 9 % too fast becomes 19.9 % too fast
    assert len(rows) == 4 and all(row.endswith("19.9 %") and row.count("+10.0 %") == 4 for row in rows)


def test_the_band_is_that_of_three_runs(results):
    results["less-raid5-10"].figures["read"] *= 0.9
    rows = [
        line
        for line in reproduction_misses.band(results)
        if line.startswith("raid5 iozone ext2 tuned") and line.split()[4] == "read"
    ]
    assert len(rows) == 1 and rows[0].endswith("10.0 %")


def test_the_ratio_of_a_rewrite_is_said_to_be_one(results):
    results["less-raid0-10"].figures["rewrite"] *= 0.97
    text = reproduction_misses.rewrites(results)
    assert "138,653 KiB/s untuned and 117,949 tuned" in text and "is 3.0 %" in text


def test_a_ratio_beyond_the_aim_is_taken_again_with_the_mechanism_of_its_figures(results):
    results["raid0-04"].figures["rewrite"] *= 1.3
    results["lumps-raid0-03"].figures["rewrite"] = 50000.0
    results["lumps-raid0-04"].figures["rewrite"] = 90000.0
    lines = reproduction_misses.ratios(results)
    assert "The 1 of 48 ratios" in lines[0] and "1 of them come within 10 %" in " ".join(lines)
    row = next(line for line in lines if line.startswith("raid0")).split()
    assert row[:2] == ["raid0", "bonnie++"] and "processor" in row and row[-3] == "1.80"


def test_chance_in_a_smaller_run_says_nothing_of_seeks(results):
    assert (
        reproduction_misses.race(results, miss(results, "seeks-raid5-04", "seeks", 2)) is None
    ), "those are over 4 GiB"
    rows = [line for line in reproduction_misses.band(results) if line.startswith("raid5 bonnie++ ext2 tuned")]
    assert [row.split()[4] for row in rows] == ["write", "rewrite", "read"]
