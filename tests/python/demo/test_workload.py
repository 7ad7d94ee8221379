# SPDX-License-Identifier: GPL-2.0-or-later
"""The output of the commands, and the rows that are made of it."""

import dataclasses

import pytest
from conftest import Without, fits

from raidtrace.demo import demo, truth, workload
from raidtrace.quantity.shown import UserError
from raidtrace.recording import invariants

BONNIE = (
    "Version 2.00a ...\nlab 2G\n\n1.98,2.00a,lab,1,1,2560M,,8192,5,,,190000,90,57000,84,,,88000,40,201.4,3,"
    ",,,,,,,,,,,,,,,,,,8052us,12068us,,1534us,21389us,,,,,,\n"
)
DD = "2560+0 records in\n2560+0 records out\n2684354560 bytes (2.7 GB, 2.5 GiB) copied, 25.6 s, 105 MB/s\n"
XFS = workload.Cell("bonnie++", "xfs", 256, 2560)
RAW = workload.Cell("dd", "", 16384, 2560)


def test_rates_are_what_the_command_reports():
    assert workload.rates(XFS, BONNIE) == {"write": 190000, "rewrite": 57000, "read": 88000}
    assert workload.rates(RAW, DD) == {"read": 2560 * 1024 / 25.6}


@pytest.mark.parametrize("output", ["", BONNIE.replace("88000", "+++++"), BONNIE[:60]])
def test_a_missing_rate_is_an_error(output):
    with pytest.raises(UserError):
        workload.rates(XFS, output)
    with pytest.raises(UserError):
        workload.rates(RAW, output)


def test_what_lies_between_phases_is_no_row(maker):
    recorded = load(maker, XFS, BONNIE, ["outside", "write", "outside", "read", "outside"])
    assert [row.phase for row in workload.rows(XFS, recorded)] == ["write", "read"]


def load(maker, cell, output, names):
    bins = {("read", "size"): {256: 4}, ("read", "depth_time"): {0: 30, 2: 70}, ("read", "seek"): {64: 3, 80: 1},
            ("read", "depth_issue"): {0: 2, 1: 2}}  # fmt: skip
    flow = {"read": {"issued": 4, "completed": 4, "bytes_issued": 4 << 17, "d2c_sum_ns": 140, "sequential": 3}}
    phases = [(n, name, 100 * n, 100 * n + 100) for n, name in enumerate(names)]
    samples = [(n, 100 * n, 100 * n + 100, flow, bins) for n, _ in enumerate(names)]
    return invariants.load(maker.write(samples, phases, output))


def test_summary_has_every_phase_and_empty_fields_for_what_is_not_known(maker, tmp_path):
    rows = workload.rows(XFS, load(maker, XFS, BONNIE, ["write", "rewrite", "read", "seeks"]))
    workload.write_summary(tmp_path / "summary.csv", rows)
    lines = (tmp_path / "summary.csv").read_bytes().decode().split("\r\n")
    assert lines[0] == (
        "workload,filesystem,setra_sectors,phase,mib_per_s,published_mib_per_s,"
        "inflight_reads_mean,inflight_reads_max,request_bytes_mode,sequential_share,seeks"
    )
    assert lines[1].startswith("bonnie++,xfs,256,write,185.547,198.573,1.4000,2,,")
    assert lines[3] == "bonnie++,xfs,256,read,85.938,86.111,1.4000,2,131072,0.750000,1"
    assert lines[4] == "bonnie++,xfs,256,seeks,,,1.4000,2,131072,0.750000,1"


def test_dd_reads_in_its_only_phase(maker):
    recorded = load(maker, RAW, DD, ["run"])
    (row,) = workload.rows(RAW, recorded)
    assert (row.phase, row.published_kib_per_s, row.request_bytes_mode) == ("read", None, 131072)
    evidence = workload.evidence(RAW, recorded)
    assert (evidence.request_sectors_mean, evidence.d2c_mean_ms, evidence.inflight_mean) == (256, 35e-6, 1.4)


def test_a_read_phase_without_reads_is_an_error(maker):
    with pytest.raises(UserError, match="no reads"):
        workload.evidence(RAW, invariants.load(maker.write([(1, 0, 10, {}, {})], ((1, "run", 0, 10),), DD)))


def test_the_table_fits_and_shows_ratios_and_gaps():
    def row(setra, rate, published, mean):
        return workload.PhaseRow(
            workload.Cell("bonnie++", "xfs", setra, 1), "read", rate, published, mean, 128, 131072, 0.99987, 123456
        )

    lines = demo.table([row(256, 100000.0, 88178.0, 1.91), row(16384, 450000.0, None, 81.2)])
    assert all(len(line) <= demo.WIDTH for line in lines), lines
    assert any("x4.50" in line and "x42.51" in line for line in lines)
    assert lines[2].split()[:5] == ["bonnie++", "xfs", "16384", "450.0", "-"]
    assert any("imulated" in line for line in lines[4:])


def test_the_verification_names_what_differs():
    verdict = truth.Agreement(
        {"read": 9, "write": 2}, {"read": 9, "write": 3}, {"INQUIRY": 1}, truth.Depths(0.001, 0.002, 3, ()), ()
    )
    lines = demo.verification(RAW, verdict, ())
    assert "9 reads, 2 writes, 12 bytes" in lines[0] and "1 INQUIRY" in lines[1] and "bound 0.200%" in lines[2]
    assert all(len(line) <= demo.WIDTH for line in lines)
    lines = demo.verification(RAW, verdict, ("reads: raidtrace 9, controller 8",))
    assert "DISAGREES" in lines[0] and "controller 8" in lines[1]


def test_draws_of_chance_are_reported_per_phase_that_has_a_rate(tmp_path):
    cell = workload.Cell("bonnie++", "xfs", 256, 10)

    def row(phase, rate):
        return workload.PhaseRow(cell, phase, rate, None, 2.0, 2, 131072, 1.0, 0)

    draws = [[row("read", rate), row("seeks", None)] for rate in (1024.0, 3072.0, 2048.0)]
    result = workload.spreads(draws)
    assert [(one.phase, one.draws) for one in result] == [("read", (1024.0, 3072.0, 2048.0))]
    workload.write_spread(tmp_path / "spread.csv", result)
    row = (tmp_path / "spread.csv").read_text().splitlines()[1]
    assert row.startswith("bonnie++,xfs,256,read,3,1.000,2.000,3.000,")
    assert "bonnie++ xfs read" in demo.spread_text(result)[2] and "2.0 " in demo.spread_text(result)[2]
    assert max(map(len, demo.spread_text(result))) <= demo.WIDTH


UNTUNED = workload.ReadPhase("bonnie++ xfs", 256, 92000.0, 1.9, 256, 255.0, 256, 0.999, 2.6)
TUNED = workload.ReadPhase("bonnie++ xfs", 16384, 414000.0, 76.0, 256, 255.0, 256, 0.999, 23.1)


# differences of the two runs -> words that the sentence contains, and words that it lacks
STORIES = {
    "as published": (
        {}, {}, "92.0 -> 414.0 MB/s, x4.50", "did not grow: most are 128 KiB in both",
        "More reads were in flight: 1.90 -> 76.00 on average, x40.0", "1 to 2 and 64 to 128. Both runs agree.",
        "= 4.50: the rate grew by the same factor, x4.50."),
    "larger requests are part of it": (
        {"request_sectors_mode": 64, "request_sectors_mean": 64.0}, {}, "changed size, 32 KiB -> 128 KiB",
        "More reads were in flight, too: ", Without("did not grow")),
    "a grown mean behind an equal mode": ({"request_sectors_mean": 204.0}, {}, "their mean size grew, x1.25"),
    "concurrency that did not rise": (
        {}, {"inflight_mean": 2.0, "d2c_mean_ms": 0.6}, "The reads in flight do not explain the gain", Without("More reads")),
    "a missed prediction": ({}, {"inflight_mean": 30.0, "d2c_mean_ms": 9.1}, "does NOT hold at 8 MiB"),
    "two missed predictions": ({"inflight_mean": 0.7}, {"inflight_mean": 140.0}, "does NOT hold at 128 KiB and 8 MiB"),
    "no speed-up": ({}, {"kib_per_s": 93000.0}, "did not make it faster", Without("More reads")),
    "a balance that does not close": ({}, {"d2c_mean_ms": 50.0}, "but the rate grew x4.50"),
}  # fmt: skip


@pytest.mark.parametrize("name", STORIES)
def test_the_story_says_what_the_numbers_say(name):
    untuned, tuned, *words = STORIES[name]
    text = " ".join(workload.why(dataclasses.replace(UNTUNED, **untuned), dataclasses.replace(TUNED, **tuned)))
    assert all(fits(one, text) for one in words), text


def test_a_prediction_is_kept_to_five_percent():
    assert dataclasses.replace(UNTUNED, inflight_mean=2.09).as_predicted()
    assert not dataclasses.replace(UNTUNED, inflight_mean=2.11).as_predicted()
    assert not dataclasses.replace(UNTUNED, inflight_mean=0.94).as_predicted()


def test_readahead_smaller_than_a_request_predicts_one_to_two():
    assert dataclasses.replace(UNTUNED, setra_sectors=64).predicted() == (1.0, 2.0)
