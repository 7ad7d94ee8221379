# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl report A B: every number of two recordings, what differs between them, and what is not comparable."""

import dataclasses
import gzip
import json
import pathlib

import pytest
from conftest import TOP, members_of, unpacked
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


def test_a_span_without_submitters_next_to_one_with_some():
    """None of them queued anything there, which is counted."""
    dd = Submitter(7, "dd", "", {"queued": 3, "bytes_queued": 9, "seeks_queued": 0})
    a, b = made(), with_span(made(), 0, submitters=(dd,))
    assert "bios 0 3 A is 0 n/a" in text_of(a, b) and "submitter dd" in text_of(b, a)


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


def test_values_and_ratio():
    a, b = made(n=1000), made("sdb", 1500, "16384")
    a = with_span(a, 0, flow={"splits": 7})
    b = with_span(b, 0, unknown=frozenset({"splits", "d2c_sum_ns"}))
    text = text_of(a, b)
    for line in ("phase read sda and sdb", "requests 1,000 1,500 1.500 +50.0 %", "throughput 3.9 MiB/s 5.9 MiB/s 1.500 +50.0 %",
                 "length 1.00 s 1.00 s 1.000 equal", "splits 7 n/a not available in B", "sda readahead_sectors 256 16384",
                 "sda disk sda sdb"):  # fmt: skip
        assert line in text.splitlines()
    assert "reset" not in text  # what happened is not how a disk is set


def test_what_is_zero_or_hundreds_of_times_as_much():
    a, b = made(n=2), made(n=3000)
    b = with_span(b, 0, flow={"errors": 5})
    assert {"requests 2 3,000 1500", "errors 0 5 A is 0 n/a"} <= set(text_of(a, b).splitlines())


def test_a_model_is_no_disk():
    a, b = made(n=1000, simulated="yes"), made(n=1500)
    text = text_of(a, b)
    assert "not comparable: times of the lab's model are not those of a disk" in text
    assert "throughput 3.9 MiB/s 5.9 MiB/s other times" in text and "requests 1,000 1,500 1.500 +50.0 %" in text
    text = text_of(made(simulated="yes"), made(source="blktrace version 1, little-endian"))
    assert "the source of the other's times is not recorded" in " ".join(text.split())
    assert "not those of a disk" not in text


def test_two_imported_traces_are_of_one_kind():
    a, b = made(source="blktrace version 1, little-endian"), made(source="blktrace version 1, big-endian")
    text = text_of(a, b)  # a value that is wider than its column is printed in full
    assert "source\nA: blktrace version 1, little-endian\nB: blktrace version 1, big-endian\n" in text
    assert "not comparable" not in text
    assert "not comparable: an imported trace lacks" in text_of(a, made())


def test_what_a_trace_does_not_hold_is_no_difference():
    a = made(exit_status="0", disturbance="quiet")
    b = dataclasses.replace(made(source="blktrace version 1, little-endian"), settings=())
    text = text_of(a, b)
    assert "\nnot recorded in B, an imported trace: exit_status, disturbance, settings (1;\n--json has them)\n" in text
    assert not any(message in text for message in ("did not do all", "something else used", "sda readahead_sectors"))
    assert "not recorded in A, an imported trace: exit_status" in text_of(b, a)
    b.meta["source"] = ""  # neither is a trace: the missing source is reported, its meaning is not
    text = text_of(a, b)
    assert "exit_status 0 n/a" in text and "sda readahead_sectors 256 n/a" in text
    assert "not recorded in" not in text and "did not do all" not in text
    b.meta["exit_status"] = "1"
    assert "did not do all" in text_of(a, b)


def test_the_nth_phase_of_a_name_belongs_to_the_nth():
    a, b = made(), made()
    assert "Machine, command and settings are the same." in text_of(a, b)
    a = with_span(a, 1, phase="read")
    result = spans.compare(a, b)
    assert [type(pair) for pair in result.pairs] == [spans.Pair, spans.Alone, spans.Alone]
    text = text_of(a, b)
    assert "phase read sda: only in A, nothing to compare with" in text
    assert "phase write sda: only in B, nothing to compare with" in text


def test_json():
    read = json.loads(spans.compare(made(n=1000), made(n=1500)).to_json())["spans"][0]["directions"]["read"]
    assert read["requests"]["ratio"] == 1.5 and read["d2c_mean_ns"]["not_comparable"] == "not available in either"


@pytest.mark.parametrize("quantity", OF_DIRECTION, ids=lambda quantity: quantity.name)
def test_nothing_is_made_of_what_is_not_counted(quantity):
    """Without its counters there is no number, whatever the histograms hold."""
    bins = {("read", kind): {3: 4} for kind in ("size", "depth_time", "d2c", "i2d", "q2c", "seek")}
    span = span_of({"read": dict.fromkeys(FLOW, 9)}, bins, unknown=FLOW)
    assert quantity.number(Figures(span, "read")) is None


def test_names_cannot_move_a_cursor():
    a, b = made(), made(hostname="o\x1b[2J")
    a, b = (with_span(one, 0, phase="x\ny") for one in (a, b))
    text = text_of(a, b)
    assert r"phase x\ny sda" in text and r"hostname n/a o\x1b[2J" in text
