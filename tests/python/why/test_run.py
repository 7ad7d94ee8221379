# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a run counts: a run that failed, or did less, never does."""

import dataclasses

import pytest

from raidtrace.why import changes
from raidtrace.why.run import Metric, Run, also_changed, invalid

GOOD = Run(seconds=2.0, asked_bytes=1 << 28, read_back={"scheduler": "none", "nr_requests": "254", "read_ahead_kb": "128"},
           p99_ms={"read": 2.0, "write": None})  # fmt: skip


def but(**what: object) -> Run:
    """A good run but for this."""
    return dataclasses.replace(GOOD, **what)  # type: ignore[arg-type]


@pytest.mark.parametrize("run, said", [
    (but(failure="ended after 6 s"), "ended after 6 s"),
    (but(status=1), "exit status 1, the baseline's 0"),
    (but(errors=1), "1 failed requests, the baseline's 0"),
    (but(asked_bytes=(1 << 28) - 268436 - 1), "asked for 268167019 bytes, the baseline for 268435456"),
    (but(asked_bytes=(1 << 28) + 268436 + 1), "asked for 268703893 bytes, the baseline for 268435456"),
    (but(seconds=0.0), "nothing was measured"),
])  # fmt: skip
def test_what_does_not_count(run: Run, said: str) -> None:
    """Each says why."""
    assert invalid(run, GOOD) == said


def test_what_counts() -> None:
    """The same, and what libraries and /proc may differ by; a small command's share is 64 KiB."""
    assert invalid(GOOD, GOOD) == ""
    assert invalid(but(asked_bytes=(1 << 28) - 268435), GOOD) == ""
    assert invalid(but(asked_bytes=65536), but(asked_bytes=0)) == ""
    assert invalid(but(asked_bytes=65537), but(asked_bytes=0)) != ""
    assert invalid(but(status=1, errors=3), but(status=1, errors=3)) == ""
    assert invalid(but(asked_bytes=1), GOOD, Metric.RATE) == ""  # a fixed time, not fixed bytes


def test_costs() -> None:
    """Less is better of each."""
    assert GOOD.cost(Metric.SECONDS) == 2.0
    assert GOOD.cost(Metric.RATE) == 2.0 / (1 << 28)
    assert GOOD.cost(Metric.P99) == 2.0 and but(p99_ms={"read": 2.0, "write": 9.0}).cost(Metric.P99) == 9.0


def test_settings_are_read_back() -> None:
    """What was not taken, and what changed along."""
    change = changes.setting("scheduler", "bfq")
    refused, moved = also_changed(GOOD, GOOD, change)
    assert refused == ["scheduler bfq: it is none"] and not moved
    taken = but(read_back={**GOOD.read_back, "scheduler": "bfq", "nr_requests": "256"})
    assert also_changed(taken, GOOD, change) == ([], ["nr_requests 254 -> 256"])
    assert also_changed(taken, GOOD, changes.setting("queue_depth", "8"))[0] == ["queue_depth 8: it is not there"]
