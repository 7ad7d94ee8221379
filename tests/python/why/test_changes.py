# SPDX-License-Identifier: GPL-2.0-or-later
"""Which changes are worth a run, from the values that were read."""

import pytest
from conftest import TOP

from raidtrace.why import changes

LIMITS = {"scheduler": ("none", "mq-deadline"), "max_sectors_kb": ("128",)}


def values(name: str, now: str) -> list[str]:
    """What is tried of one setting that stands at `now`."""
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


def test_finer() -> None:
    """A smaller and a larger step of what gained; of less readahead, still less."""
    up = changes.setting("read_ahead_kb", "2048")
    assert [change.name for change in changes.finer(up, {"read_ahead_kb": "128"}, True)] == [
        "readahead 1024",
        "readahead 16384",
    ]
    for kb, less in (
        ("8192", ["readahead 4096", "readahead 32"]),
        ("64", ["readahead 32"]),
        ("32", ["readahead 32"]),
        ("16", []),
    ):
        down = changes.finer(changes.setting("read_ahead_kb", kb), {"read_ahead_kb": "32768"}, True)
        assert [change.name for change in down] == less
    assert changes.finer(changes.setting("queue_depth", "8"), {"queue_depth": "32"}, True) == []
    assert [change.name for change in changes.finer(changes.setting("queue_depth", "32"), {"queue_depth": "2"}, True)] == [
        "queue_depth 8", "queue_depth 254"]  # fmt: skip
    assert changes.finer(changes.setting("nomerges", "0"), {"nomerges": "2"}, True) == []


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
