# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl report A B: every number of two recordings, what differs between them, and what is not comparable."""

import dataclasses
import gzip
import json
import pathlib

import pytest
from conftest import TOP, Without, fits, members_of, unpacked
from made_phase import FLOW, span_of

from raidtrace.compare import spans
from raidtrace.compare.spans import OF_DIRECTION
from raidtrace.recording.figures import QUANTITIES, Figures
from raidtrace.recording.spans import Recorded, Setting, Submitter, Target

GOLDEN = TOP / "tests" / "python" / "report" / "golden"


def made(disk="sda", n=10, readahead="256", **meta):
    """Two phases of one disk, n reads in the first."""
    phases = [
        span_of({"read": {"issued": reads, "bytes_issued": reads * 4096, "bytes_completed": reads * 4096}}, {},
                number * 10**9, (number + 1) * 10**9, phase, disk, unknown=("d2c_sum_ns",))
        for number, (phase, reads) in enumerate((("read", n), ("write", 0)))
    ]  # fmt: skip
    settings = tuple(Setting(0, 1, name, readahead) for name in ("readahead_sectors", "reset"))
    target = Target(1, disk, "x", unit_3ware=0, capacity_sectors=1000, max_sectors=8, nr_requests=1)
    facts = {"kernel": "6.1", "command": '["dd"]'} | meta
    return Recorded(pathlib.Path(disk), facts, (target,), (), settings, tuple(phases), (), (), (), {})


def with_span(recorded, at, **changes):
    """The same recording with one span changed. flow: counters of its reads."""
    result = list(recorded.spans)
    if "flow" in changes:
        changes["flow"] = {"read": result[at].flow["read"] | changes["flow"]}
    result[at] = dataclasses.replace(result[at], **changes)
    return dataclasses.replace(recorded, spans=tuple(result))


def text_of(a, b, width=80):
    """The text, all its blanks one."""
    result = spans.lines(spans.compare(a, b), width)
    return "\n".join(" ".join(line.split()) for line in result)


def test_all_that_a_recording_can_hold(tmp_path):
    """The text that C printed before, byte by byte, but for a share that is all and the rows of later quantities."""
    for name in ("full", "other"):
        unpacked(GOLDEN / f"{name}.rtdb.xz", tmp_path / f"{name}.rtdb")
    result = spans.of(tmp_path / "full.rtdb", tmp_path / "other.rtdb", None)
    text = gzip.decompress((GOLDEN / "compare.txt.gz").read_bytes()).decode().split("\n")
    mine = spans.lines(dataclasses.replace(result, a="full.rtdb", b="other.rtdb"), 80)
    rows = {f"    {quantity.label} " for quantity in QUANTITIES}
    later = tuple(row for row in rows if not any(line.startswith(row) for line in text))
    assert len(later) < 10 and [line for line in mine[2:] if not line.startswith(later)] == text[2:-1]
    assert sum(line.startswith(("    IOPS ", "    d2c, p99.9 ")) for line in mine) > 20
    before = json.loads(gzip.decompress((GOLDEN / "compare.json.gz").read_bytes()))
    now = json.loads(result.to_json()) | {"a": before["a"], "b": before["b"]}
    assert all(rows["iops"] and rows["d2c_p999_ns"] for span in now["spans"] for rows in span["directions"].values())
    assert members_of(before, now) == before


DD = Submitter(7, "dd", "", {"queued": 3, "bytes_queued": 9, "seeks_queued": 0})
LITTLE, BIG = ("blktrace version 1, little-endian", "blktrace version 1, big-endian")
UNCOUNTED = with_span(made("sdb", 1500, "16384"), 0, unknown=frozenset({"splits", "d2c_sum_ns"}))
NASTY = with_span(made(hostname="o\x1b[2J"), 0, phase="x\ny")

# two recordings, and words that the text of both has, or has not
TEXTS = {
    "values and their ratio": (
        with_span(made(n=1000), 0, flow={"splits": 7}), UNCOUNTED,
        "phase read sda and sdb\n", "\nrequests 1,000 1,500 1.500 +50.0 %\n", "\nlength 1.00 s 1.00 s 1.000 equal\n",
        "\nthroughput 3.9 MiB/s 5.9 MiB/s 1.500 +50.0 %\n", "\nsplits 7 n/a not available in B\n",
        "\nsda readahead_sectors 256 16384\n", "\nsda disk sda sdb\n",
        Without("reset")),  # what happened is not how a disk is set
    "zero, and hundreds of times as much": (
        made(n=2), with_span(made(n=3000), 0, flow={"errors": 5}), "\nrequests 2 3,000 1500\n", "\nerrors 0 5 A is 0 n/a\n"),
    # none of them queued anything there, which is counted
    "no submitter next to one": (made(), with_span(made(), 0, submitters=(DD,)), "bios 0 3 A is 0 n/a"),
    "a submitter next to none": (with_span(made(), 0, submitters=(DD,)), made(), "submitter dd"),
    "a model is no disk": (
        made(n=1000, simulated="yes"), made(n=1500),
        "not comparable: one recording has times of the lab's model",
        "throughput 3.9 MiB/s 5.9 MiB/s other times", "requests 1,000 1,500 1.500 +50.0 %"),
    "a model and a trace": (made(simulated="yes"), made(source=LITTLE), "the other does not\ncontain the source of its times",
                            Without("no time or rate is comparable")),
    # a value that is wider than its column is printed in full
    "two imported traces are of one kind": (
        made(source=LITTLE), made(source=BIG), f"source\nA: {LITTLE}\nB: {BIG}\n", Without("not comparable")),
    "an imported trace and a recording": (made(source=LITTLE), made(), "not comparable: an imported trace lacks"),
    "two equal recordings": (made(), made(), "Machine, command and settings are the same."),
    "the nth phase of a name belongs to the nth": (
        with_span(made(), 1, phase="read"), made(), "phase read sda: only in A, so not compared",
        "phase write sda: only in B, so not compared"),
    "names cannot move a cursor": (
        with_span(made(), 0, phase="x\ny"), NASTY, r"phase x\ny sda", r"hostname n/a o\x1b[2J"),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_the_text_of_two_recordings(name):
    a, b, *words = TEXTS[name]
    text = text_of(a, b)
    assert not [one for one in words if not fits(one, text)], text


def test_what_a_trace_does_not_hold_is_no_difference():
    a = made(exit_status="0", disturbance="quiet")
    b = dataclasses.replace(made(source="blktrace version 1, little-endian"), settings=())
    text = text_of(a, b)
    assert "\nnot recorded in B, an imported trace: exit_status, disturbance, settings (1;\n--json has them)\n" in text
    assert not any(
        message in text for message in ("did not do all", "a disturbance of the machine", "sda readahead_sectors")
    )
    assert "not recorded in A, an imported trace: exit_status" in text_of(b, a)
    b.meta["source"] = ""  # neither is a trace: the missing source is reported, its meaning is not
    text = text_of(a, b)
    assert "exit_status 0 n/a" in text and "sda readahead_sectors 256 n/a" in text
    assert "not recorded in" not in text and "did not do all" not in text
    b.meta["exit_status"] = "1"
    assert "did not do all" in text_of(a, b)


def test_phases_that_one_has_alone_are_no_pairs():
    result = spans.compare(with_span(made(), 1, phase="read"), made())
    assert [type(pair) for pair in result.pairs] == [spans.Pair, spans.Alone, spans.Alone]


def test_json():
    read = json.loads(spans.compare(made(n=1000), made(n=1500)).to_json())["spans"][0]["directions"]["read"]
    assert read["requests"]["ratio"] == 1.5 and read["d2c_mean_ns"]["not_comparable"] == "not available in either"


@pytest.mark.parametrize("quantity", OF_DIRECTION, ids=lambda quantity: quantity.name)
def test_nothing_is_made_of_what_is_not_counted(quantity):
    """Without its counters there is no number, whatever the histograms hold."""
    bins = {("read", kind): {3: 4} for kind in ("size", "depth_time", "d2c", "i2d", "q2c", "seek")}
    span = span_of({"read": dict.fromkeys(FLOW, 9)}, bins, unknown=FLOW)
    assert quantity.number(Figures(span, "read")) is None
