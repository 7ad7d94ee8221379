# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a run counts: a run that failed, or did less, never does."""

import dataclasses

import pytest

from raidtrace.why import changes, figures
from raidtrace.why.figures import Run, also_changed, invalid

GOOD = Run(seconds=2.0, requested_bytes=1 << 28, read_back={"scheduler": "none", "nr_requests": "254", "read_ahead_kb": "128"},
           p99_ms={"read": 2.0, "write": None})  # fmt: skip


def but(**what: object) -> Run:
    """A good run but for this."""
    return dataclasses.replace(GOOD, **what)  # type: ignore[arg-type]


@pytest.mark.parametrize("run, message", [
    (but(failure="ended after 6 s"), "ended after 6 s"),
    (but(status=1), "exit status 1, the baseline's 0"),
    (but(errors=1), "1 failed requests, the baseline's 0"),
    (but(requested_bytes=(1 << 28) - 268436 - 1), "asked for 268167019 bytes, the baseline for 268435456"),
    (but(requested_bytes=(1 << 28) + 268436 + 1), "asked for 268703893 bytes, the baseline for 268435456"),
    (but(seconds=0.0), "nothing was measured"),
])  # fmt: skip
def test_what_does_not_count(run: Run, message: str) -> None:
    assert invalid(run, GOOD) == message


def test_what_counts() -> None:
    """The same, and what libraries and /proc may differ by; a small command's share is 64 KiB."""
    assert invalid(GOOD, GOOD) == ""
    assert invalid(but(requested_bytes=(1 << 28) - 268435), GOOD) == ""
    assert invalid(but(requested_bytes=65536), but(requested_bytes=0)) == ""
    assert invalid(but(requested_bytes=65537), but(requested_bytes=0)) != ""
    assert invalid(but(status=1, errors=3), but(status=1, errors=3)) == ""
    assert invalid(but(requested_bytes=1), GOOD, figures.RATE) == ""  # a fixed time, not fixed bytes


def test_costs() -> None:
    assert GOOD.cost(figures.SECONDS) == 2.0
    assert GOOD.cost(figures.RATE) == 2.0 / (1 << 28)
    assert GOOD.cost(figures.P99) == 2.0 and but(p99_ms={"read": 2.0, "write": 9.0}).cost(figures.P99) == 9.0


@pytest.mark.parametrize("text, cost", [
    ("seconds + read_p99_ms / 4", 2.5), ("1 / mib_per_s", 2.0 / 24), ("p99_ms * 3", 6.0), ("read_mib - write_mib", 8.0),
    ("write_p99_ms", 0.0), ("seconds / (write_mib - 8)", 0.0), ("seconds + write_p99_ms", 0.0),
])  # fmt: skip
def test_an_expression_is_a_cost(text: str, cost: float) -> None:
    """Of the figures of a run; what was not measured, or has no value, is no cost."""
    run = but(disk_bytes={"read": 16 << 20, "write": 8 << 20})
    assert run.cost(figures.checked_metric(text)) == pytest.approx(cost)
    assert (invalid(run, run, text) == "nothing was measured") == (cost == 0)
    assert figures.metric_verb(text) == f"({text}) is" and figures.text_of(text, 2.5) == "2.5"


@pytest.mark.parametrize("text, message", [
    ("seconds", "it takes 0.5 s"), ("p99", "its p99 latency is 0.5 ms"), ("rate", "it requests 2 B/s"),
])  # fmt: skip
def test_a_cost_is_reported_in_its_unit(text: str, message: str) -> None:
    """A rate as people know it; less of a cost is more of it."""
    assert f"{figures.metric_verb(text)} {figures.text_of(text, 0.5)}" == message


def test_an_expression_with_a_rate_is_of_a_fixed_time() -> None:
    run = but(disk_bytes={"read": 16 << 20, "write": 0})
    assert invalid(dataclasses.replace(run, requested_bytes=1), run, "1 / mib_per_s") == ""
    assert "asked for" in invalid(dataclasses.replace(run, requested_bytes=1), run, "seconds + p99_ms")


@pytest.mark.parametrize("text", ["second", "seconds ** 2", "seconds.real", "__import__('os')", "'a' * 9", "(", "-seconds",
                                  "[seconds]", "seconds if 1 else 2", "1 +" * 99 + "1", "True"])  # fmt: skip
def test_what_is_no_metric_is_refused_with_what_there_is(text: str) -> None:
    with pytest.raises(ValueError, match="none of seconds, rate, p99 and no sum.*mib_per_s"):
        figures.checked_metric(text)


def test_settings_are_read_back() -> None:
    """Settings that the kernel refused, that changed with another, and that the command changed."""
    change = changes.setting("scheduler", "bfq")
    refused, moved = also_changed(GOOD, GOOD, change)
    assert refused == "not taken: scheduler bfq: it is none" and not moved
    values = {**GOOD.read_back, "scheduler": "bfq", "nr_requests": "256"}
    taken = but(read_back=values, read_after=values)
    assert also_changed(taken, GOOD, change) == ("", ["nr_requests 254 -> 256"])
    missing = also_changed(taken, GOOD, changes.setting("queue_depth", "8"))[0]
    assert missing == "not taken: queue_depth 8: it is not there"
    own = dataclasses.replace(taken, read_after={**values, "scheduler": "none", "read_ahead_kb": "4096"})
    assert also_changed(own, GOOD, change)[0] == "not tested: the command changed scheduler bfq to none itself"
    ahead = but(read_back={"read_ahead_kb": "64"}, read_after={"read_ahead_kb": "128"})
    text = also_changed(ahead, GOOD, changes.setting("read_ahead_kb", "64"))[0]
    assert text == "not tested: the command changed readahead 128 to 256 itself"
