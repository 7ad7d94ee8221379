# SPDX-License-Identifier: GPL-2.0-or-later
"""Which changes are worth a run, from the values that were read."""

import dataclasses

import pytest
from conftest import TOP

from raidtrace.why import changes, figures
from raidtrace.why.figures import Run, also_changed, invalid

LIMITS = {"scheduler": ("none", "mq-deadline"), "max_sectors_kb": ("128",)}


def values(name: str, now: str) -> list[str]:
    """The values of one setting that are tried if it is `now`."""
    return [
        dict(change.settings)[name] for change in changes.singles({name: now}, LIMITS) if name in dict(change.settings)
    ]


@pytest.mark.parametrize("now, tried", [("128", ["2048", "32"]), ("8192", ["2048"]), ("0", ["128"]), ("4", ["128", "1"]),
                                        ("16384", ["4096"]), ("32768", ["8192"])])  # fmt: skip
def test_readahead(now: str, tried: list[str]) -> None:
    """Sixteen times and a quarter, never beyond what a small machine stands."""
    assert values("read_ahead_kb", now) == tried


@pytest.mark.parametrize("name, now, tried", [
    ("queue_depth", "2", ["32"]), ("queue_depth", "254", ["32"]), ("queue_depth", "32", ["8"]),
    ("nr_requests", "4", ["256"]), ("nr_requests", "256", ["1024"]), ("nr_requests", "255", ["256"]),
    ("max_sectors_kb", "64", ["128"]), ("max_sectors_kb", "128", ["64"]),
    ("nomerges", "2", ["0"]), ("nomerges", "0", []), ("scheduler", "none", ["mq-deadline"]),
])  # fmt: skip
def test_others(name: str, now: str, tried: list[str]) -> None:
    assert values(name, now) == tried


@pytest.mark.parametrize("now, tried", [("512", "1280"), ("1280", "640")])
def test_no_larger_requests_than_linux_would_make(now: str, tried: str) -> None:
    limits = {"max_sectors_kb": ("2147483647",)}
    assert [change.settings[0][1] for change in changes.singles({"max_sectors_kb": now}, limits)] == [tried]
    assert changes.wide({"max_sectors_kb": now}, limits) == ({"max_sectors_kb": tried} if now == "512" else {})


def test_a_setting_that_a_disk_lacks_is_not_tried() -> None:
    assert changes.singles({}, {}) == []


UP, DOWN = ["readahead 1024", "readahead 16384"], ["readahead 32"]


@pytest.mark.parametrize("name, value, now, tried", [
    # a smaller step of a change that gained, if it is still above the old value, and a larger one
    ("read_ahead_kb", "2048", "128", UP), ("read_ahead_kb", "2048", "511", UP), ("read_ahead_kb", "2048", "512", UP[1:]),
    ("read_ahead_kb", "2048", "2047", UP[1:]), ("read_ahead_kb", "2048", "2048", []),
    # of less readahead, still less
    ("read_ahead_kb", "8192", "32768", ["readahead 4096", *DOWN]), ("read_ahead_kb", "64", "32768", DOWN),
    ("read_ahead_kb", "32", "32768", DOWN), ("read_ahead_kb", "16", "32768", []),
    ("queue_depth", "8", "32", []), ("queue_depth", "32", "2", ["queue_depth 8", "queue_depth 254"]),
    ("nomerges", "0", "2", []),
])  # fmt: skip
def test_finer(name: str, value: str, now: str, tried: list[str]) -> None:
    """Around a change that gained."""
    change = changes.setting(name, value)
    assert [finer.name for finer in changes.finer(change, {name: now}, True)] == tried
    assert changes.finer(change, {name: now}, False) == []


def test_wide() -> None:
    """Only what stands narrower than the middle of its ladder."""
    now = {"read_ahead_kb": "2047", "queue_depth": "31", "nr_requests": "255", "max_sectors_kb": "127", "nomerges": "1",
           "scheduler": "bfq"}  # fmt: skip
    assert changes.wide(now, LIMITS) == {"read_ahead_kb": "2048", "queue_depth": "32", "nr_requests": "256",
                                         "max_sectors_kb": "128", "nomerges": "0", "scheduler": "mq-deadline"}  # fmt: skip
    now = {"read_ahead_kb": "2048", "queue_depth": "32", "nr_requests": "256", "max_sectors_kb": "128", "nomerges": "0",
           "scheduler": "none"}  # fmt: skip
    assert changes.wide(now, LIMITS) == {}


def test_what_to_type() -> None:
    """Readahead in sectors, as in the published benchmarks."""
    assert changes.command("read_ahead_kb", "2048", "sdb") == "blockdev --setra 4096 /dev/sdb"
    assert changes.command("queue_depth", "8", "sdb") == "echo 8 >/sys/block/sdb/device/queue_depth"


def test_each_setting_is_in_the_page() -> None:
    page = (TOP / "Documentation/why.rst").read_text(encoding="utf-8")
    assert [name for name in changes.FILES if name not in page and changes.CAUSES[name] not in page] == []


GOOD = Run(seconds=2.0, requested_bytes=1 << 28, read_back={"scheduler": "none", "nr_requests": "254", "read_ahead_kb": "128"},
           p99_ms={"read": 2.0, "write": None})  # fmt: skip


def but(**what: object) -> Run:
    """A good run but for this."""
    return dataclasses.replace(GOOD, **what)  # type: ignore[arg-type]


@pytest.mark.parametrize("run, message", [
    (but(failure="ended after 6 s"), "ended after 6 s"),
    (but(status=1), "exit status 1, but 0 for the unchanged command"),
    (but(errors=1), "1 failed requests, but 0 for the unchanged command"),
    (but(requested_bytes=(1 << 28) - 268436 - 1), "requested 268167019 bytes, but the unchanged command 268435456"),
    (but(requested_bytes=(1 << 28) + 268436 + 1), "requested 268703893 bytes, but the unchanged command 268435456"),
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
    """A metric uses the figures of a run; a figure that was not measured, or has no value, is not a cost."""
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
    assert "requested" in invalid(dataclasses.replace(run, requested_bytes=1), run, "seconds + p99_ms")


@pytest.mark.parametrize("text", ["second", "seconds ** 2", "seconds.real", "__import__('os')", "'a' * 9", "(", "-seconds",
                                  "[seconds]", "seconds if 1 else 2", "1 +" * 99 + "1", "True"])  # fmt: skip
def test_what_is_no_metric_is_refused_with_what_there_is(text: str) -> None:
    with pytest.raises(ValueError, match="neither one of seconds, rate, p99 nor an expression.*mib_per_s"):
        figures.checked_metric(text)


def test_settings_are_read_back() -> None:
    """Settings that the kernel refused, that changed with another, and that the command changed."""
    change = changes.setting("scheduler", "bfq")
    refused, moved = also_changed(GOOD, GOOD, change)
    assert refused == "the kernel refused: scheduler bfq: it is none" and not moved
    values = {**GOOD.read_back, "scheduler": "bfq", "nr_requests": "256"}
    taken = but(read_back=values, read_after=values)
    assert also_changed(taken, GOOD, change) == ("", ["nr_requests 254 -> 256"])
    missing = also_changed(taken, GOOD, changes.setting("queue_depth", "8"))[0]
    assert missing == "the kernel refused: queue_depth 8: it is not there"
    own = dataclasses.replace(taken, read_after={**values, "scheduler": "none", "read_ahead_kb": "4096"})
    assert also_changed(own, GOOD, change)[0] == "not tested: the command changed scheduler bfq to none itself"
    ahead = but(read_back={"read_ahead_kb": "64"}, read_after={"read_ahead_kb": "128"})
    text = also_changed(ahead, GOOD, changes.setting("read_ahead_kb", "64"))[0]
    assert text == "not tested: the command changed readahead 128 to 256 itself"
