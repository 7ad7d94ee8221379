# SPDX-License-Identifier: GPL-2.0-or-later
"""The timeline of a phase: idle ends, silence, and the I/O of others meanwhile."""

import dataclasses

import pytest
from made_phase import SECOND, phase

from raidtrace.explain import chain, limits_host
from raidtrace.explain.case import Case, trimmed
from raidtrace.explain.evidence import Verdict
from raidtrace.recording import observation
from raidtrace.recording.quantities import Reading


def line(samples, seconds=10.0, interval=None, **knobs):
    result = phase(samples=samples, seconds=seconds, **knobs).timeline
    return dataclasses.replace(result, interval=None if interval is None else int(interval * SECOND))


# Each sample is idle for 0.7 of its length, as between two requests of a program that pauses.
BETWEEN = [(at / 10, (at + 1) / 10, 0.3, 0.1) for at in range(1, 9)]
LATE = [(0, 0.5, 0.03, 0.02), (0.5, 1, 1, 0.98)]  # a program that starts after 4.8 s or more without work
UNPUNCTUAL = [(0, 0.5, 0.06, 0.02), (0.5, 1, 1, 0.98)]
SOME_FIRST = [(0.1, 0.5, 0, 0), (0.5, 1, 1, 0.99)]

# samples, the interval, seconds before the first request and after the last
ENDS = {
    "by samples": ([(0, 0.2, 0, 0), (0.2, 0.25, 0.5, 0.5), (0.25, 0.7, 1, 0.5), (0.7, 1, 0, 0)], None, 2.25, 3),
    "where in a long sample is not guessed": ([(0, 0.5, 0.4, 0.5), (0.5, 1, 0.4, 0.5)], None, 0, 0),
    "before the last interval of a sample the disk was left out": (LATE, 0.2, 4.8, 0),
    "left out for all but one second": (LATE, 1, 4, 0),
    "left out for no time where the interval is the sample": (LATE, 5, 0, 0),
    "busy for as long as the interval": (UNPUNCTUAL, 0.3, 4.7, 0),
    "busy for longer: the recorder had no processor": (UNPUNCTUAL, 0.29, 0, 0),
    "a little at the begin does not begin it": ([(0, 0.1, 0.1, 0.009), *SOME_FIRST], None, 4.9, 0),
    "more at the begin does begin it": ([(0, 0.1, 0.1, 0.011), *SOME_FIRST], None, 0, 0),
    "pauses, and 0.2 of a sample before and 0.4 after it": (
        [(0, 0.1, 0.24, 0.08), *BETWEEN, (0.9, 1, 0.18, 0.06)], None, 0.2, 0.4),
    "pauses alone": ([(0, 0.1, 0.3, 0.1), *BETWEEN, (0.9, 1, 0.31, 0.1)], None, 0, 0),
    "what moved nothing has no end": ([(0, 1, 0, 0)], None, 0, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_idle_time_before_and_after(name):
    samples, interval, lead, tail = ENDS[name]
    ends = line(samples, interval=interval).idle_ends("read")
    assert ends == (pytest.approx(lead * SECOND), pytest.approx(tail * SECOND))


def test_of_a_direction_that_moved_nothing_no_end_is_reported():
    assert line([(0, 1, 1, 1)]).idle_ends("write") == (0, 0)


def test_silence_is_with_requests_in_flight_and_without_a_byte():
    samples = [(0, 0.1, 1, 0.1), (0.1, 0.4, 1, 0), (0.4, 0.5, 0.98, 0), (0.5, 0.7, 1, 0), (0.7, 1, 1, 0.9)]
    assert line(samples).silence() == (3 * SECOND, 4 * SECOND)


def test_a_trimmed_phase_is_shorter_and_less_idle():
    samples = [(0, 0.5, 0, 0), (0.5, 1, 1, 1)]
    observed, lead, tail = trimmed(phase(samples=samples, idle=0.5), "read")
    assert (lead, tail, observed.seconds()) == (pytest.approx(2.0), 0.0, pytest.approx(2.0))
    assert Case(Reading("A", observed), "read", {}).idle() == pytest.approx(0.0)


def test_less_than_a_twentieth_of_a_second_is_not_cut():
    for idle, cut in ((0.0124, 0.0), (0.0126, 0.0504)):
        samples = [(0, idle, 0, 0), (idle, 1, 1, 1)]
        assert trimmed(phase(samples=samples, idle=idle), "read")[1] == pytest.approx(cut)


def test_what_was_not_whole_in_one_piece_is_not_cut():
    observed = phase(samples=[(0, 0.5, 0, 0), (0.5, 1, 1, 1)], idle=0.5)
    two = dataclasses.replace(observed, spans=((0, SECOND), (2 * SECOND, 5 * SECOND)))
    assert trimmed(two, "read") == (two, 0.0, 0.0)


def test_what_others_moved_before_and_after_does_not_count_as_meanwhile():
    result = line([(0, 0.5, 1, 0), (0.5, 1, 1, 1)])
    written = [(*sample[:4], octets, 0) for sample, octets in zip(result.samples, (300, 100), strict=True)]
    result = dataclasses.replace(result, samples=written)
    assert result.meanwhile("read") == pytest.approx(0.25)
    assert line([(0, 1, 1, 1)]).meanwhile("read") == 1.0


def test_rates_are_of_whole_samples_between_two_times():
    result = line([(0, 0.5, 1, 0.25), (0.5, 1, 1, 0.75)], requests=800)
    assert result.rates(0, 5 * SECOND, "read") == pytest.approx(5.0)
    assert result.rates(5 * SECOND, 10 * SECOND, "read") == pytest.approx(15.0)
    assert result.rates(1 * SECOND, 5 * SECOND, "read") is None


@pytest.mark.parametrize(
    ("lead_cpu", "cpu", "who"), [(2.0, 1.1, "program"), (0.0, 3.1, "processor"), (4.0, 1.1, "processor")]
)
def test_what_a_program_computes_before_it_asks_is_not_what_the_disk_waits_for(lead_cpu, cpu, who):
    """2 s in which it starts, then 8 s of which the disk is idle for half; two threads use more than one processor."""
    knobs = {"samples": [(0, 0.2, 0, 0), (0.2, 1, 0.4, 1)], "seconds": 10.0, "cpu": (lead_cpu + cpu) / 10}
    observed = phase(idle=0.6, depth=1.0, **knobs)
    rows = ((0, 2 * SECOND, int(lead_cpu * SECOND)), (2 * SECOND, 10 * SECOND, int(cpu * SECOND)))
    observed = dataclasses.replace(observed, timeline=dataclasses.replace(observed.timeline, computed=rows))
    result = limits_host.host(Case(Reading("A", trimmed(observed, "read")[0]), "read", {}))
    assert (result.key, result.verdict) == (who, Verdict.INFERRED)


@pytest.mark.parametrize(
    ("reads", "cpu", "at_issue"), [(0.12, 1.0, "processor"), (0.12, 0.0, None), (0.14, 1.0, "readahead")]
)
def test_a_disk_that_hardly_works_is_not_what_limits_the_command(reads, cpu, at_issue):
    """10 s, in the last of which it reads: with less than 13 % of the time to gain, no cause of the disk counts."""
    samples = [(0, 1 - reads, 0, 0), *((1 - reads * (5 - at) / 5, 1 - reads * (4 - at) / 5, 1, 0.2) for at in range(5))]
    observed = phase(idle=1 - reads, seconds=10.0, samples=samples, cpu=cpu * (1 - reads))
    computed = ((0, int((1 - reads) * 10 * SECOND), int(cpu * (1 - reads) * 10 * SECOND)),)
    observed = dataclasses.replace(observed, timeline=dataclasses.replace(observed.timeline, computed=computed))
    text = chain.single(Reading("A", observed), "read", {})
    assert text.limited_by() == ((at_issue,) if at_issue else ()), text.summary
    assert ("reads took 1.2 s of the phase's 10 s" in " ".join(text.summary)) == (at_issue is None), text.summary


@pytest.mark.parametrize(
    ("since", "until", "used"), [(0, 10, 4), (4, 10, 2), (0, 8, 3), (4, 8, 1), (6, 10, 1), (20, 30, 0)]
)
def test_computed_over_an_edge(since, until, used):
    """A row counts at least with the time that one thread cannot have used on the other side of the edge."""
    rows = ((2, 6, 3), (6, 10, 1))
    assert dataclasses.replace(line([(0, 1, 1, 1)]), computed=rows).computed_between(since, until) == used


def even_of(reads, writes, size=1 << 17):
    """Samples of 10 ms with so many reads and writes each."""
    rows = [(at * 10**7, (at + 1) * 10**7, 10**7, r * size, w * size, 0, r, w)
            for at, (r, w) in enumerate(zip(reads, writes, strict=True))]  # fmt: skip
    return observation.Timeline(rows, {}, None, None, ())


def test_a_rate_is_even_by_its_sum_and_not_by_each_sample():
    """Nothing, two at once, nothing, ...: a sample may hold no request or two, the sum stays within two."""
    result = even_of([0, 2] * 12, [0] * 24).even("read", 1 << 17)
    assert result.requests <= 2 and result.bytes == result.requests and result.iops == pytest.approx(100, rel=0.1)
    assert result.mib_per_s == pytest.approx(result.iops / 8)
    assert even_of([1] * 12 + [2] * 12, [0] * 24).even("read", 1 << 17).requests > 2


def test_directions_that_share_a_limit_are_even_together():
    reads, writes = [3, 3, 3, 0, 0, 0] * 4, [0, 0, 0, 3, 3, 3] * 4
    line = even_of(reads, writes)
    assert line.even("read", 1 << 17).requests > 2 and line.even("read", 1 << 17, both=True).requests == 0


def test_of_bytes_the_unit_is_what_a_large_request_has():
    bursts = even_of([0, 2] * 12, [0] * 24)
    assert bursts.even("read", 1 << 16).bytes == 2 * bursts.even("read", 1 << 17).bytes


def test_a_burst_at_the_begin_is_left_out_and_few_requests_say_nothing():
    burst = even_of([50, 50, 50, 50] + [1] * 20, [0] * 24).even("read", 1 << 17)
    assert burst.requests < 1e-9 and burst.iops == pytest.approx(100)
    assert even_of([1] * 12, [0] * 12).even("read", 1 << 17) is None
    assert even_of([9] * 7, [0] * 7).even("read", 1 << 17) is None
    assert even_of([0] * 24, [1] * 24).even("read", 1 << 17) is None
