# SPDX-License-Identifier: GPL-2.0-or-later
"""Causes by the states of the time: what the block layer, a layer above or a lack of slots holds; from both sides."""

import dataclasses
from types import SimpleNamespace

import pytest
from made_phase import judged, phase, span_of, verdict

from raidtrace.explain import limits, runs
from raidtrace.explain.evidence import Verdict
from raidtrace.recording.observation import Disk
from raidtrace.recording.quantities import Reading

INFERRED, OPEN, OUT, UNKNOWN = Verdict.INFERRED, Verdict.NOT_SHOWN, Verdict.CONTRADICTED, Verdict.NOT_AVAILABLE
WAITING = {"waits": (0.3, 0.21, 5.0), "depth": 1.0, "idle": 0.4}
COST = {"io.cost.qos": "/ enable=1 ctrl=user", "io.latency": ""}
LATENCY = {"io.cost.qos": "/ enable=0 ctrl=auto", "io.latency": "/a target=300"}


def with_settings(knobs, **settings):
    return {**knobs, "settings": settings}


@pytest.mark.parametrize(("settings", "name"), [(COST, "io.cost holds them"), (LATENCY, "io.latency of /a holds them")])
def test_what_holds_bios_before_a_request_exists(settings, name):
    limit = judged("held", **with_settings(WAITING, **settings))
    assert limit.verdict is INFERRED and limit.statement.endswith(name) and limit.share == pytest.approx(0.51)
    assert limit.gain == (1.0, pytest.approx(1 / 0.7))  # without the time held; the backlog has no bound


HELD = {
    "half of the time": (with_settings({**WAITING, "waits": (0.3, 0.19, 5.0)}, **COST), OUT),
    "two settings may hold them": (with_settings(WAITING, **COST | {"io.latency": "/a target=300"}), OPEN),
    "no setting may": (WAITING, OPEN),
    "writes may wait for wbt": ({**with_settings(WAITING, wbt_lat_usec="2000"), "direction": "write"}, OPEN),
    "reads never do": (with_settings(WAITING, wbt_lat_usec="2000"), OPEN),
    "half of the wait is in the scheduler": ({**with_settings(WAITING, **COST), "i2d_ms": 10.1}, OUT),  # of 20 ms
    "less than half is": ({**with_settings(WAITING, **COST), "i2d_ms": 9.9}, INFERRED),
    "all slots are in use": (with_settings(WAITING, **COST, queue_depth="1"), OUT),
    "not counted": ({**with_settings(WAITING, **COST), "waits": None}, UNKNOWN),
}  # fmt: skip


@pytest.mark.parametrize("name", HELD)
def test_the_conditions_of_held(name):
    knobs, expected = HELD[name]
    assert verdict("held", **knobs) is expected


def below(busy, above_busy=1.0, members=1, meta=None, io_max="", held=0.0, kernel=None):
    """The limit of the layer above a disk, which is busy for so much of the time, as is the layer."""
    mine = phase(idle=1 - busy, waits=(held, 0.0, 1.0), kernel=kernel, settings={"io.max": io_max})
    length = 4 * 10**9
    flow = {"read": {"queued": 1000, "q2c_sum_ns": length}}
    times = {("all", "depth_time"): {0: int((1 - above_busy) * length), 1: int(above_busy * length)}}
    times[("read", "q2c")] = {200: 1000}
    top = dataclasses.replace(
        mine, disk=Disk(2, "dm-0", "", members=members, bio_based=True), settings={"dm_name": "slow"},
        span=span_of(flow, times, 0, length, disk="dm-0", bio_based=True),
    )  # fmt: skip
    return next(one for one in limits.limits(Reading("A", mine, top), "read", meta or {}) if one.key == "layer")


def test_a_layer_that_has_bios_while_the_disk_has_none_holds_them():
    limit = below(0.2)
    assert limit.verdict is INFERRED and limit.share == pytest.approx(0.8) and limit.gain[1] == pytest.approx(5)
    assert "dm-0 has bios for 100.0% of the time, and sda for 20.0%: dm-0 holds them for 80.0%" in limit.statement
    assert limit.remedy.startswith("dmsetup table slow ")


@pytest.mark.parametrize(("knobs", "expected"), [
    ({"busy": 0.88}, OUT), ({"busy": 0.86}, INFERRED), ({"busy": 0.5, "held": 0.4}, OUT),
    ({"busy": 0.2, "above_busy": 0.3}, OUT),  # nobody asks the layer either
    ({"busy": 0.2, "members": 2}, UNKNOWN), ({"busy": 0.2, "io_max": "/a rbps=9 wbps=max"}, OPEN),
    ({"busy": 0.2, "kernel": {"kcryptd": 0.41}}, OPEN), ({"busy": 0.2, "kernel": {"kcryptd": 0.39}}, INFERRED),
    ({"busy": 0.2, "kernel": {"kcryptd": 0.41}, "meta": {"lab_time": "simulated"}}, INFERRED),
])  # fmt: skip
def test_the_conditions_of_a_layer(knobs, expected):
    assert below(**knobs).verdict is expected


def test_without_a_layer_there_is_no_such_limit():
    assert verdict("layer") is UNKNOWN


ONE_SLOT = {"direction": "write", "depth": 1.0, "settings": {"async_depth": "1"}}


@pytest.mark.parametrize(("knobs", "expected"), [
    ({"waits": (0.0, 0.51, 1.0)}, INFERRED), ({"waits": (0.0, 0.49, 1.0)}, OPEN), ({}, OPEN),
    ({"waits": (0.0, 0.51, 1.0), "direction": "read"}, OUT), ({"waits": (0.0, 0.4, 1.0), "idle": 0.6}, OUT),
])  # fmt: skip
def test_bios_that_wait_for_the_only_slot_of_writeback(knobs, expected):
    limit = judged(("queue depth", "request slots"), **{**ONE_SLOT, **knobs})
    assert limit.verdict is expected
    if expected is INFERRED:
        assert limit.remedy == "echo 256 >/sys/block/sda/queue/async_depth" and limit.gain is None
        assert (
            "async_depth allows 1 request," in limit.statement and "bios waited for a slot for 51.0%" in limit.statement
        )


def test_async_depth_is_a_file_of_the_scheduler_before_linux_7():
    limit = judged(("queue depth", "request slots"), waits=(0.0, 1.0, 1.0),
                   **{**ONE_SLOT, "settings": {"iosched.async_depth": "1"}})  # fmt: skip
    assert limit.remedy.endswith("/queue/iosched/async_depth")


SMALL = {"sectors": 16, "bios": 1000, "settings": {"fstype": "ext4"}}


@pytest.mark.parametrize(("windows", "expected"), [(None, OPEN), (7990, INFERRED), (8010, OPEN)])  # of 16,000 sectors
def test_without_windows_it_is_advice_and_not_the_end_of_files(windows, expected):
    assert verdict("no readahead", **SMALL, windows=windows) is expected


def test_reads_that_wait_behind_discards_before_their_issue():
    many = {"discards": (4000, 1.0), "d2c": {8.0: 1000}, "direct": 1.0}
    assert verdict("discard", **many, i2d_ms=2.5) is INFERRED and verdict("discard", **many, i2d_ms=1.5) is OPEN


def test_a_disk_that_does_little_but_discard():
    many = {"requests": 500, "discards": (4000, 1.0), "d2c": {8.0: 500}, "direct": 1.0}  # one read for eight discards
    limit = judged("discard", **many)
    assert limit.verdict is INFERRED and "next to 500 reads and writes" in limit.statement
    assert verdict("discard", **{**many, "requests": 530}) is OPEN


def test_md_reads_for_the_parity_of_small_writes():
    knobs = {"direction": "write", "sectors": 8, "other": (1000, 2.0), "by_command": {"read": 0, "write": 9},
             "submitters": [(5, "md0_raid5", 2000, 9, 0)], "driver": "nvme", "depth": 1.0}  # fmt: skip
    top = dataclasses.replace(phase(), disk=Disk(2, "md0", "", members=4, bio_based=True),
                              settings={"md_level": "raid5", "md_chunk_bytes": "65536", "md_raid_disks": "4"})  # fmt: skip

    def parity(**more):
        every = limits.limits(Reading("A", phase(**{**knobs, **more}), top), "write", {})
        return next(one for one in every if one.key == "parity")

    shown = parity()
    assert shown.verdict is INFERRED and "md reads old data and parity" in shown.statement and shown.gain[0] == 1.0
    assert parity(other=(0, 0.0)).verdict is not INFERRED
    assert parity(by_command={"read": 9, "write": 9}).verdict is not INFERRED  # the reads may be the program's


@pytest.mark.parametrize(("pages", "read", "expected"), [
    (16100, 128000, INFERRED), (15900, 128000, OPEN), (4100, 128000, OUT), (40000, 257000, OPEN),  # this disk read 128,000 KiB
    (None, 128000, UNKNOWN), (40000, 0, UNKNOWN),
])  # fmt: skip
def test_pages_that_are_read_again_and_again(pages, read, expected, ahead=0.49):
    made = phase(ahead=ahead)
    counts = {("vmstat", "workingset_refault_file"): pages, ("vmstat", "pgpgin"): read}
    made = dataclasses.replace(made, host={key: value for key, value in counts.items() if value is not None})
    every = limits.limits(Reading("A", made), "read", {})
    assert next(one.verdict for one in every if one.key == "rereads") is expected
    assert (
        next(one.verdict for one in limits.limits(Reading("A", made), "write", {}) if one.key == "rereads") is UNKNOWN
    )


def test_readahead_may_evict_what_is_read_again():
    test_pages_that_are_read_again_and_again(16100, 128000, OPEN, ahead=0.51)


BACKWARD = {"order": 0.0, "seeks": 1.0, "sectors": 32, "jump": 64, "depth": 1.0, "requests": 500, "backward": 1.0}


@pytest.mark.parametrize(("change", "expected"), [
    ({}, INFERRED), ({"direct": 1.0}, INFERRED), ({"backward": 0.86}, INFERRED), ({"backward": 0.84, "direct": 1.0}, OPEN),
    ({"jump": 16385, "backward": 0.0}, INFERRED),  # a seek of any direction
    ({"driver": "nvme"}, OUT),
])  # fmt: skip
def test_reads_in_descending_order_wait_for_a_turn(change, expected):
    limit = judged("seeks", **{**BACKWARD, **change})
    assert limit.verdict is expected
    if not change.get("jump") and expected is INFERRED:
        assert (
            limit.remedy == "read in ascending order, or in larger pieces"
            and "begins before the previous one" in limit.statement
        )


def stack(*busy, requests=False):
    """An observation of md0 above disks that are busy for these shares of the time, and of another disk."""
    made = [dataclasses.replace(phase(idle=1 - share), disk=Disk(number, f"sd{letter}", "", parent=9))
            for number, (letter, share) in enumerate(zip("abcdef", busy), 1)]  # fmt: skip
    top = dataclasses.replace(phase(), disk=Disk(9, "md0", "", members=len(busy), bio_based=not requests))
    alone = dataclasses.replace(phase(), disk=Disk(10, "sdz", ""))
    return SimpleNamespace(observations=[top, *made, alone]), top


@pytest.mark.parametrize(("busy", "sentence"), [
    ((0.99, 0.29), "Of the disks below it, sda is busy for 99.0% of the time, sdb for 29.0%: md0 waits for sda."),
    ((0.5, 0.55), "Of the disks below it, sdb is busy for 55.0% of the time, sda for 50.0%."),  # by 10 %
    ((0.2,), "Of the disks below it, sda is busy for 20.0% of the time."),
    ((0.9, 0.1, 0.1, 0.1, 0.1), "Of the disks below it, sda is busy for 90.0% of the time, sde for 10.0%, sdd for 10.0%, "
                                "sdc for 10.0%, 1 more for less: md0 waits for sda."),
])  # fmt: skip
def test_the_disk_that_an_array_waits_for(busy, sentence):
    assert runs.below(*stack(*busy)) == sentence


def test_nothing_is_said_of_a_disk_with_requests_or_without_others():
    assert runs.below(*stack(0.9, 0.1, requests=True)) == "" and runs.below(*stack()) == ""


QUEUED_BY_THREADS = {"idle": 0.5, "submitters": [(5, "kworker/0:1", 501, 9, 0), (7, "dd", 499, 9, 0)], "direct": 1.0}


def test_idle_time_while_threads_queue_reads_may_be_a_limit_of_a_cgroup():
    limit = judged(("program", "processor"), **QUEUED_BY_THREADS)
    assert limit.verdict is OPEN and "io.max, blkio.throttle" in limit.statement
    fewer = [(5, "kworker/0:1", 499, 9, 0), (7, "dd", 501, 9, 0)]
    assert verdict(("program", "processor"), **{**QUEUED_BY_THREADS, "submitters": fewer}) is INFERRED


AHEAD = {"depth": 1.5, "settings": {"readahead_sectors": "256", "max_sectors_kb": "128"}}


def test_a_readahead_that_is_set_already_is_not_advised():
    assert verdict("readahead", **AHEAD) is INFERRED
    large = {"readahead_sectors": "16384", "max_sectors_kb": "4096"}
    limit = judged("readahead", **{**AHEAD, "settings": large, "sectors": 8192, "depth": 2.5})
    assert limit.verdict is OPEN and "the setting is 16384 sectors" in limit.statement


def test_readahead_and_direct_io_are_open_if_the_rates_by_depth_show_no_gain(monkeypatch):
    made = runs.breakdown.of(phase(**AHEAD).span)
    flat = [
        dataclasses.replace(way, more=dataclasses.replace(way.more, verdict=runs.breakdown.More.NO_HELP))
        for way in made.ways
    ]
    monkeypatch.setattr(runs.breakdown, "of", lambda *_: dataclasses.replace(made, ways=tuple(flat)))
    assert "more in flight does not help" in judged("readahead", **AHEAD).statement
    direct = {**AHEAD, "direct": 1.0, "ahead": 0.0}
    limit = judged("direct", **direct)
    assert limit.verdict is OPEN and "more in flight does not help" in limit.statement
    monkeypatch.undo()
    assert verdict("direct", **direct) is INFERRED


def test_lost_events_are_a_note():
    lost = {
        "counted_by": "bpf",
        "losses": '{"sda":{"lost_records":{"complete":3},"missed_events":0,"undelivered_ends":0}}',
    }
    facts = {"end": "complete", "invariants": "hold"}
    made = SimpleNamespace(meta=facts | lost, path="a", whole=None, calls=None, simulated=lambda: False)
    assert [note for note in runs.notes((made,)) if note.startswith("Events were lost (sda: 3 complete")]
    made.meta = facts | {"counted_by": "bpf", "losses": "{}"}
    assert not runs.notes((made,))


IDLE = {"idle": 0.5, "cpu": 0.05}


@pytest.mark.parametrize(("waited", "expected", "key"), [
    (0.33, INFERRED, "processor"), (0.31, OPEN, "program"), (0.26, OPEN, "program"), (0.24, INFERRED, "program"),
])  # fmt: skip
def test_a_command_that_waits_for_a_processor_is_not_said_to_sleep(waited, expected, key):
    """Idle is half of the time: three quarters of it and a half, with the 0.05 that it computes in the first."""
    made = phase(**IDLE, kernel={"system": 1.9, "idle": 0.1})
    host = {**made.host, ("command", "waited_for_processor"): int(waited * 4e9)}
    made = dataclasses.replace(made, host=host)
    every = limits.limits(Reading("A", made), "read", {"host_available": "cpu command-cpu command-wait"})
    limit = next(one for one in every if one.key in ("program", "processor"))
    assert (limit.verdict, limit.key) == (expected, key), limit.statement
    before = limits.limits(Reading("A", made), "read", {"host_available": "cpu command-cpu"})
    assert next(one.verdict for one in before if one.key == "program") is OPEN  # the processors were busy


@pytest.mark.parametrize(("looks", "expected", "words"), [
    ({"pipe": 9, "running": 1, "all": 10}, INFERRED, "in 9 of 10 looks at it, the command waited at a pipe"),
    ({"sleep": 30, "pipe": 12, "kernel wait": 10, "all": 40}, INFERRED, "in 30 of 40 looks at it, the command slept"),
    ({"stopped": 5, "running": 5, "all": 20, "kernel a": 10}, INFERRED, "in 5 of 20 looks at it, the command was stopped"),
    ({"kernel percpu_rwsem_wait": 5, "kernel jbd2_log_wait_commit": 15, "all": 20}, INFERRED, "frozen file system"),
    ({"kernel rwsem_down_read_slowpath": 16, "running": 4, "all": 20}, OPEN, "in rwsem_down_read_slowpath()"),
    ({"kernel submit_bio_wait": 14, "running": 6, "all": 20}, INFERRED, "because it slept, or waited"),
    ({"sleep": 9, "all": 9}, INFERRED, "because it slept, or waited"),
])  # fmt: skip
def test_looks_name_what_an_idle_disk_waits_for(looks, expected, words):
    """Idle is half of the time: the disk explains half of the looks into the kernel."""
    made = phase(**IDLE)
    made = dataclasses.replace(made, host={**made.host, **{("look", name): nr for name, nr in looks.items()}})
    every = limits.limits(Reading("A", made), "read", {"host_available": "cpu command-cpu looks"})
    limit = next(one for one in every if one.key == "program")
    assert limit.verdict is expected and words in limit.statement, limit
    assert expected is OPEN or limit.remedy
