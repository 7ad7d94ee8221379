# SPDX-License-Identifier: GPL-2.0-or-later
"""The white paper's figures next to simulated ones, from made-up results."""

import csv
import json

import pytest

from paper2004 import amcc, fit, reproduce_plan, reproduce_run, reproduction
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
    actual = {}
    for run in reproduce_plan.short() + reproduce_plan.large():
        metrics = amcc.metrics(run.test)
        actual[run.name] = result({metric: 1.09 * amcc.published(run.test, metric) for metric in metrics})
    return actual


def test_the_paper_is_whole():
    assert (len(amcc.tests()), len(amcc.rows())) == (28, 204)
    assert amcc.published(reproduce_plan.find("raid0", 7), "read") == 88178
    assert len(amcc.trials(reproduce_plan.find("raid5", 1), "read")) == 3


def test_commands_are_the_papers():
    bonnie = Run("x", reproduce_plan.find("raid0", 4)).command()
    assert bonnie[1:5] == ["ext2", "16384", "env", "LD_PRELOAD=./bonnie-batch.so"]
    assert "20480:8k:8000:3" in bonnie
    dd = Run("x", reproduce_plan.find("raid5", 2)).command()
    assert dd[1:3] == ["raw", "256"] and "of=/dev/sda" in dd and "count=20480" in dd
    assert "--create_on_open=1" in Run("x", reproduce_plan.find("raid0", 9)).command()


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
    actual = reproduction.points(results)
    assert reproduction.median_error(actual) == pytest.approx(9)
    assert sum(n for n, _ in reproduction.medians(actual, lambda p: p.metric).values()) == 100 - 4


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
    results["try-parity"].figures["write"] = 777.0
    page = "\n".join(reproduction.page(results))
    assert "**Median error of the 96 held-out figures: 9.0 %** (aim: 10 %, met)" in page
    assert "777.0" in page


@pytest.mark.slow
def test_draws_of_chance_add_an_interval(results, tmp_path):
    for run in reproduce_plan.drawn(3):
        figures = results[run.name.rpartition("-draw-")[0]].figures
        by = 1.0 + 0.1 * run.draw
        results[run.name] = reproduce_run.Result({name: by * value for name, value in figures.items()}, {}, "6.1.0-0")
    actual = reproduction.points(results)
    read = next(p for p in actual if (p.test.name(), p.metric) == ("raid0-07", "read"))
    seeks = next(p for p in actual if p.metric == "seeks")
    for point in (read, seeks):
        assert point.drawn == pytest.approx([point.simulated * by for by in (1.0, 1.1, 1.2)])
    reproduction.write_csv(tmp_path / "r.csv", actual)
    rows = list(csv.DictReader((tmp_path / "r.csv").open(encoding="utf-8")))
    assert all(row["draws"] == "3" and float(row["simulated_low"]) < float(row["simulated_high"]) for row in rows)
    assert len({reproduce_run.key(run, "6.1") for run in (reproduce_plan.paper()[0], *reproduce_plan.drawn(3))}) == 81


def test_a_result_is_kept_while_nothing_changed(tmp_path, monkeypatch):
    run = Run("x", reproduce_plan.find("raid0", 7))
    behaviour = {"s": {"read": 100.0}}
    made = {"key": reproduce_run.key(run, "6.1"), "sources": reproduce_run.sources(run), "behaviour": behaviour}
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
        assert bool(changed.settings) != bool(more) and not base.environment
        assert set(experiment.metrics) <= set(amcc.metrics(base.test))


def test_fit_finds_a_constant_again(monkeypatch, tmp_path):
    def measure(figure, settings, out, mib):
        rates = {"controller.part_us": 680 / settings["controller.part_us"]}
        rates |= {
            f"controller.{direction}_kib_s": settings[f"controller.{direction}_kib_s"] / 5e5
            for direction in ("read", "write")
        }
        return rates[{"raid0 7 read": "controller.part_us", "raid0 8 read": "controller.read_kib_s"}.get(
            figure, "controller.write_kib_s")]  # fmt: skip

    monkeypatch.setattr(fit, "measure", measure)
    actual = fit.fit("raid0", tmp_path, {"controller.part_us": 500, "controller.read_kib_s": 300000})
    assert actual["controller.part_us"] == pytest.approx(680, rel=0.01)
    assert actual["controller.read_kib_s"] == pytest.approx(500000, rel=0.01)


def test_fit_says_when_it_finds_nothing(monkeypatch, tmp_path):
    rates = iter(range(2, 100))
    monkeypatch.setattr(fit, "measure", lambda figure, settings, out, mib: float(next(rates)))
    with pytest.raises(ValueError, match="controller.part_us: not within 1 %"):
        fit.fit("raid0", tmp_path, {}, only="controller.part_us")


def test_seeks_are_those_of_a_run_of_their_own(results):
    runs = reproduce_plan.seeks()
    assert len(runs) == 12 and runs[reproduce_plan.find("raid5", 6)].name == "seeks-raid5-06"
    for test, run in runs.items():
        expected = [test.filesystem, str(test.setra_sectors), "./bonnie-seeks", "seek", amcc.MOUNT, "20480", "1"]
        assert run.command()[1:] == expected
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
    assert reproduce_run.seeks_per_second("x\n8000 seeks in 40.000000 s\n") == 200.0
    with pytest.raises(ValueError, match="does not say"):
        reproduce_run.seeks_per_second("bonnie-seeks: block 3: Input/output error")
