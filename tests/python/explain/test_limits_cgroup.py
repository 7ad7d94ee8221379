# SPDX-License-Identifier: GPL-2.0-or-later
"""io.max as a cause: both sides of each condition, which cgroups a limit holds, and what else then is not named."""

import dataclasses

import pytest
from conftest import changed
from made_phase import first, judged, phase, record, verdict

from raidtrace.explain import limits, pair, runs
from raidtrace.explain.evidence import Verdict
from raidtrace.explain.limits_rate import Allowed, allowed
from raidtrace.recording import invariants, observation
from raidtrace.recording.quantities import Reading

INFERRED, OPEN, OUT, UNKNOWN = Verdict.INFERRED, Verdict.NOT_SHOWN, Verdict.CONTRADICTED, Verdict.NOT_AVAILABLE
LAB = {
    "lab_config": "name=9500s-12-raid0,array.level=raid0,array.drives=12,array.stripe_kib=64,controller.read_kib_s=442500,"
    "controller.write_kib_s=215000,drive.media_outer_kib_s=70312"
}
OCTETS = 1000 << 17  # what a phase moves in 4 s: 32,768,000 bytes and 250 bios a second


def limit(**rates):
    """A line of the setting."""
    knobs = {name: rates.get(name, "max") for name in ("rbps", "wbps", "riops", "wiops")}
    return " ".join(("/a b", *(f"{name}={rate}" for name, rate in knobs.items())))


def ours(bios=1000, octets=OCTETS, by_kernel=0, path="/a b"):
    return [(path, bios, octets, by_kernel)]


def throttled(text=None, **knobs):
    """A phase that waits for half of the time, with a limit that is what came."""
    settings = {
        "io.max": limit(rbps=32_768_000) if text is None else text,
        "rotational": "0",
        **knobs.pop("settings", {}),
    }
    return {"idle": 0.5, "charged": ours(), "settings": settings, **knobs}


def rate(requests):
    return {"requests": requests, "charged": ours(requests, requests << 17)}


FIRST = {"blkio.throttle.read_bps_device": "/a b 32768000"}
FLAT = {"depth": 40.0, "rows": {(16, 12): 100, (32, 24): 900}, "at_issue": {16: 100, 32: 900}}
BUSY = {"idle": 0.1, "charged": ours(by_kernel=500)}
# what is inferred, and what of it is too little or too much
SIDES = [
    ("read", {}, throttled(limit(rbps=38_000_000)), throttled(limit(rbps=39_000_000))),  # 86 and 84 %
    ("read", {}, throttled(limit(riops=290)), throttled(limit(riops=298))),
    # a bio in two pieces counts twice
    ("read", {}, throttled(limit(riops=579), splits=1000), throttled(limit(riops=595), splits=1000)),
    ("write", {}, throttled(limit(wbps=38_000_000)), throttled(limit(wbps=39_000_000))),
    ("write", {}, throttled(limit(wiops=290)), throttled(limit(wiops=298))),
    ("read", {}, throttled(), throttled(limit(wbps=32_768_000))),
    ("write", {}, throttled(limit(wiops=250)), throttled(limit(riops=250))),
    ("read", {}, throttled(), throttled("")),
    ("read", {}, throttled(idle=0.16), throttled(idle=0.14)),
    ("read", {}, throttled(**BUSY), throttled(**{**BUSY, "charged": ours(by_kernel=499)})),
    ("write", {}, throttled(limit(wiops=250), **BUSY, direct=0.51), throttled(limit(wiops=250), **BUSY, direct=0.49)),
    ("read", {}, throttled(limit(rbps=18_000_000), charged=[*ours(octets=OCTETS // 2), *ours(octets=OCTETS // 2, path="/")]),
     throttled(limit(rbps=18_000_000), charged=[*ours(octets=OCTETS // 2 - 1), *ours(octets=OCTETS // 2 + 1, path="/")])),
    ("read", {}, throttled(charged=ours(path="/a b/c")), throttled(charged=ours(path="/a bc"))),
    # the ceiling of the array
    ("read", LAB, throttled(limit(rbps=370 << 20), **rate(11700)), throttled(limit(rbps=370 << 20), **rate(11800))),
    ("read", {}, throttled(**FLAT), throttled(**FLAT, **BUSY)),
]  # fmt: skip


@pytest.mark.parametrize("case", SIDES, ids=range(len(SIDES)))
def test_enough_is_inferred_first_and_too_little_is_not(case):
    direction, meta, enough, other = case
    assert verdict("io.max", meta, direction, **enough) is INFERRED
    assert first(meta, direction, **enough) == "io.max"
    assert verdict("io.max", meta, direction, **other) is not INFERRED


LOW = limit(rbps=99_000_000)  # fewer came than are allowed on the whole, and more for a moment
LOW_WRITES = LOW.replace("rbps=9", "wbps=9")
SET_LATER = [(10**9, "io.max", "", limit(rbps=32_768_000)), (2 * 10**9, "io.max", limit(rbps=32_768_000), "")]
OTHER_SET = [(10**9, "nomerges", "", limit(rbps=32_768_000))]
# The cgroup queued as many bytes as both directions moved. The reads are half of them.
BOTH = {"other": (1000, 1.0), "charged": [*ours(), *ours(path="/other")]}
DEEP = {"idle": 0.0, "charged": ours()}
SILENT = {"samples": [(0, 0.5, 1, 0.5), (0.5, 0.9, 1, 0.0), (0.9, 1, 1, 0.5)]}
VERDICTS = {
    "a throttled program is no cause": (("program", "processor"), OUT, {"cpu": 0.5, **throttled()}),
    "a program without a limit is the cause": (("program", "processor"), INFERRED, {"cpu": 0.5, **throttled("")}),
    "a limit that was set while it ran": ("io.max", INFERRED, throttled("", changes=SET_LATER)),
    "another setting that changed while it ran": ("io.max", OUT, throttled("", changes=OTHER_SET)),
    "a limit of version 1": ("io.max", INFERRED, throttled("", settings=FIRST)),
    "a limit of version 1 above the cgroup": (
        "io.max", OUT, throttled("", settings=FIRST, charged=ours(path="/a b/c"))),
    "a limit of version 1 of writes": ("io.max", OUT, {"direction": "write", **throttled("", settings=FIRST)}),
    "reads and writes of one cgroup": ("io.max", OPEN, throttled(**BOTH)),
    # throttled bios are not a program that sleeps
    "bios of kernel threads below a limit": ("io.max", OPEN, throttled(LOW, charged=ours(by_kernel=1))),
    "the program, with bios of kernel threads below a limit": ("program", OPEN, throttled(LOW, charged=ours(by_kernel=1))),
    "bios of the program below a limit": ("io.max", OUT, throttled(LOW, charged=ours())),
    "the program, with its own bios below a limit": ("program", INFERRED, throttled(LOW, charged=ours())),
    "writes of kernel threads below a limit": (
        "io.max", OUT, {"direction": "write", **throttled(LOW_WRITES, charged=ours(by_kernel=1))}),
    "writes below a limit": ("io.max", OUT, {"direction": "write", **throttled(LOW_WRITES, charged=ours())}),
    "a reset is a cause of its own": ("reset", INFERRED, throttled(**DEEP, **SILENT)),
}  # fmt: skip


@pytest.mark.parametrize("name", VERDICTS)
def test_what_a_limit_does_to_a_verdict(name):
    key, expected, facts = VERDICTS[name]
    assert verdict(key, **facts) is expected


def test_of_what_is_ruled_out_the_program_says_no_more():
    texts = [
        judged("program", **{**throttled(), "settings": {"io.max": text}}) for text in (None, limit(rbps=999_000_000))
    ]
    assert ["io.max" in one.statement + one.remedy for one in texts] == [True, False]


def test_it_says_how_much_and_what_to_type():
    result = judged("io.max", **throttled())
    assert result.statement == (
        "rbps of /a b allows 31.2 MiB/s; the rate reached 100% of this: the disk was idle for 50.0% of the time; "
        "kernel threads queued 0.0% of its bios"
    )
    assert result.remedy == """echo "$(cat /sys/block/sda/dev) rbps=max" >'/sys/fs/cgroup/a b/io.max'"""
    assert result.gain == (2.0, 2.0) and result.share == 0.5


def test_looks_into_the_kernel_decide_where_reads_and_writes_are_counted_together():
    """Idle is half of the time; in the kernel in 16 of 20 looks, the command waits for more than the disk does."""
    both = throttled(**BOTH)
    host = {("look", "all"): 20, ("look", "kernel __iomap_dio_rw"): 16, ("look", "running"): 4}
    for nr, expected in ((16, INFERRED), (14, OPEN)):
        made = dataclasses.replace(phase(**both), host=host | {("look", "kernel __iomap_dio_rw"): nr})
        every = limits.limits(Reading("A", made), "read", {})
        assert next(one for one in every if one.key == "io.max").verdict is expected


def test_a_limit_of_version_1_is_named_by_its_file():
    result = judged("io.max", **throttled("", settings=FIRST))
    assert (
        result.title == "blkio.throttle"
        and "blkio.throttle.read_bps_device of /a b allows 31.2 MiB/s" in result.statement
    )
    assert result.remedy == (
        """echo "$(cat /sys/block/sda/dev) 0" >'/sys/fs/cgroup/blkio/a b/blkio.throttle.read_bps_device'"""
    )


@pytest.mark.parametrize("text, what", [(None, UNKNOWN), ("", OUT), (limit(rbps=9), OPEN)])
def test_what_was_not_recorded_is_reported(text, what):
    message = judged("io.max", **{**throttled(), "charged": (), "settings": {"io.max": text}})
    assert message.verdict is what
    assert ("submitter" in message.statement) is (what is OPEN)


def test_the_limit_that_is_nearest_is_the_one_that_is_reported():
    text = "\n".join((limit(rbps=40_000_000), limit(rbps=33_000_000).replace("/a b", "/a b/c"), limit(riops=9999)))
    assert "of /a b/c allows" in judged("io.max", **throttled(text, charged=ours(path="/a b/c/d"))).statement


def test_large_bios_are_those_that_are_split():
    """4 of 20 bios are of the cgroup, nearly all bytes, and so nearly all of the 980 pieces more: 984 in 4 s."""
    charged = [("/a b", 4, OCTETS, 4), ("/", 16, 4096, 16)]
    text = throttled(limit(wiops=246), bios=20, splits=980, charged=charged, direction="write")
    assert judged("io.max", **text).values[0].value == pytest.approx(1.0, abs=1e-3)


def test_what_is_near_its_limit_gains_by_nothing_else():
    assert first(**throttled(limit(rbps=38_000_000), **DEEP)) is None
    assert first(**throttled(limit(rbps=39_000_000), **DEEP)) == "readahead"
    text = judged("readahead", **throttled(limit(rbps=38_000_000), **DEEP))
    assert text.statement.endswith("; but io.max allows little more") and not text.remedy and text.verdict is OPEN


def test_bios_throttled_before_the_phase_are_no_more_than_all():
    """The kernel throttles a bio of 16 MiB for the time that its bytes may take, and then queues it at once."""
    assert "reached 100% of this" in judged("io.max", **throttled(limit(rbps=16_000_000))).statement


def test_of_a_long_path_the_end_is_known():
    of = Allowed("/" + "x" * 300, "rbps", 1)
    assert of.holds("..." + "x" * 252) and not of.holds("..." + "x" * 250 + "y")
    assert not Allowed("/y", "rbps", 1).holds("...x")


def test_lines_that_say_nothing_are_no_limits():
    assert list(allowed("io.max", "/a rbps=max wbps=0 riops=x wiops=7\n/b\n")) == [Allowed("/a", "wiops", 7)]


def test_of_two_recordings_a_limit_is_reported_where_there_is_one():
    """One that is older does not have the setting; that is no difference to none."""
    none, older, some = (Reading("A", phase(settings={"io.max": text})) for text in ("", None, limit(riops=7)))
    assert pair.changed(none, older, ({}, {})) == []
    assert pair.changed(older, some, ({}, {})) == [("io.max", "n/a", limit(riops=7))]


def limited(directory, limit_of="/a rbps=140000000 wbps=max riops=max wiops=max"):
    """A recording of 4096 reads of 128 KiB in 4 s, by dd and a kernel thread in /a."""
    path = record(directory, [("run", {"idle": 0.5})], settings={"io.max": limit_of})
    columns = "sample, submitter, pid, comm, cgroup, queued, bytes_queued, seeks_queued"
    submitter = f"INSERT INTO submitter({columns}) VALUES(?,?,?,?,?,?,?,?)"
    rows = ((1, 0, 7, "dd", "/a", 1024, 1 << 27, 0), (1, 1, 8, "kworker/0:1", "/a", 3072, 3 << 27, 0))
    return changed(path, *((submitter, row) for row in rows))


def test_who_was_charged_is_read_where_there_is_a_limit(tmp_path):
    result = observation.load(limited(tmp_path / "a")).observations[0]
    assert result.charged == (observation.Charged("/a", 4096, 1 << 29, 3072),)
    assert {one.comm for one in result.submitters} == {"dd", "kworker/0:1"}
    assert observation.load(limited(tmp_path / "b", "")).observations[0].charged == ()


def test_a_recording_says_it_in_its_first_sentence(tmp_path):
    text = runs.one(limited(tmp_path)).chains[0].summary
    assert text[0].startswith("Limited by io.max: 128.0 MiB/s")
    assert text[1].endswith("io.max. Expected with twice the limit: about 2 times as fast.")


def test_recordings_with_cgroups_are_read(tmp_path):
    result = {one.comm: one for one in invariants.load(limited(tmp_path)).spans[0].submitters}
    dd = result["dd"]
    assert (dd.bios, dd.bytes, dd.seeks) == (1024, 1 << 27, 0)
    assert result["dd"].cgroup == "/a"
