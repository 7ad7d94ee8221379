# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl report A B: every number of two recordings, what differs between them, and what is not comparable."""

import copy
import gzip
import json

import pytest
from conftest import TOP

from raidtrace.compare import spans, spans_text
from raidtrace.compare.quantities import OF_DIRECTION

GOLDEN = TOP / "tests" / "python" / "report" / "golden"
# A span with all that one can have, of which made() takes everything away.
FULL = json.loads(gzip.decompress((GOLDEN / "full.json.gz").read_bytes()))["spans"][0]


def emptied(value):
    """The same members without anything in them."""
    if isinstance(value, dict):
        return {key: emptied(below) for key, below in value.items()}
    return [] if isinstance(value, list) else 0


def made(disk="sda", n=10, readahead="256", **meta):
    """Two phases of one disk, n reads in the first, as raidctl report --json has them."""
    phases = []
    for number, (phase, reads) in enumerate((("read", n), ("write", 0))):
        span = emptied(FULL) | {"disk": disk, "phase": phase, "start_ns": number * 10**9, "end_ns": (number + 1) * 10**9,
                                "seconds": 1.0}  # fmt: skip
        read = span["directions"]["read"]
        read |= {"requests": reads, "mib_per_s": reads * 4096 / 2**20, "d2c_mean_ns": None}
        read["flow"] |= {"issued": reads, "bytes_issued": reads * 4096}
        phases.append(span)
    settings = [
        {"time_ns": 0, "target": 1, "name": name, "value": readahead} for name in ("readahead_sectors", "reset")
    ]
    target = {
        "target": 1,
        "disk": disk,
        "driver": "x",
        "pci": None,
        "capacity_sectors": 1000,
        "max_sectors": 8,
        "nr_requests": 1,
    }
    return {"recording": disk, "meta": {"kernel": "6.1", "command": '["dd"]'} | meta, "targets": [target],
            "settings": settings, "spans": phases}  # fmt: skip


def test_a_span_without_submitters_beside_one_with_some():
    """None of them queued anything there, which is counted."""
    a, b = made(), made()
    b["spans"][0]["submitters"] = [{"pid": 7, "comm": "dd", "queued": 3, "bytes_queued": 9, "seeks_queued": 0}]
    a["spans"][0]["submitters"] = []
    assert "dd" in told(a, b) and "dd" in told(b, a)


def told(a, b, width=80):
    """The text, all its blanks one."""
    found = spans_text.lines(spans.compare(a, b), width)
    return "\n".join(" ".join(line.split()) for line in found)


def test_all_that_a_recording_can_hold():
    """What the C that did this before printed, byte by byte, but for a share that is all, and was 0.9999999999999999."""
    a, b = (json.loads(gzip.decompress((GOLDEN / f"{name}.json.gz").read_bytes())) for name in ("full", "other"))
    found = spans.compare(a, b)
    text = gzip.decompress((GOLDEN / "compare.txt.gz").read_bytes()).decode()
    assert "\n".join(spans_text.lines(found, 80)) + "\n" == text
    assert json.loads(found.to_json()) == json.loads(gzip.decompress((GOLDEN / "compare.json.gz").read_bytes()))


def test_values_and_ratio():
    a, b = made(n=1000), made("sdb", 1500, "16384")
    a["spans"][0]["directions"]["read"]["flow"]["splits"] = 7
    b["spans"][0]["directions"]["read"]["flow"]["splits"] = None
    text = told(a, b)
    for line in ("phase read sda and sdb", "requests 1,000 1,500 1.500 +50.0 %", "throughput 3.9 MiB/s 5.9 MiB/s 1.500 +50.0 %",
                 "length 1.00 s 1.00 s 1.000 equal", "splits 7 n/a not available in B", "sda readahead_sectors 256 16384",
                 "sda disk sda sdb"):  # fmt: skip
        assert line in text.splitlines()
    assert "reset" not in text  # what happened is not how a disk is set


def test_what_is_zero_or_hundreds_of_times_as_much():
    a, b = made(n=2), made(n=3000)
    b["spans"][0]["directions"]["read"]["flow"]["errors"] = 5
    assert {"requests 2 3,000 1500", "errors 0 5 A is 0 n/a"} <= set(told(a, b).splitlines())


def test_a_model_is_no_disk():
    a, b = made(n=1000, simulated="yes"), made(n=1500)
    text = told(a, b)
    assert "not comparable: times of the lab's model are not those of a disk" in text
    assert "throughput 3.9 MiB/s 5.9 MiB/s other times" in text and "requests 1,000 1,500 1.500 +50.0 %" in text
    text = told(made(simulated="yes"), made(source="blktrace version 1, little-endian"))
    assert "whose the other's are is not\nrecorded" in text and "not those of a disk" not in text


def test_two_imported_traces_are_of_one_kind():
    a, b = made(source="blktrace version 1, little-endian"), made(source="blktrace version 1, big-endian")
    text = told(a, b)  # what a column would cut short is told whole
    assert "source\nA: blktrace version 1, little-endian\nB: blktrace version 1, big-endian\n" in text
    assert "not comparable" not in text
    assert "not comparable: an imported trace lacks" in told(a, made())


def test_what_a_trace_does_not_hold_is_no_difference():
    a = made(exit_status="0", disturbance="quiet")
    b = made(source="blktrace version 1, little-endian", disturbance=None)
    b["settings"] = []
    text = told(a, b)
    assert "\nnot recorded in B, an imported trace: exit_status, disturbance, settings (1;\n--json has them)\n" in text
    assert not any(said in text for said in ("did not do all", "something else used", "sda readahead_sectors"))
    assert "not recorded in A, an imported trace: exit_status" in told(b, a)
    b["meta"]["source"] = None  # neither is a trace: that one has none is told, what it would mean is not
    text = told(a, b)
    assert "exit_status 0 n/a" in text and "sda readahead_sectors 256 n/a" in text
    assert "not recorded in" not in text and "did not do all" not in text
    b["meta"]["exit_status"] = "1"
    assert "did not do all" in told(a, b)


def test_the_nth_phase_of_a_name_belongs_to_the_nth():
    a, b = made(), made()
    assert "Machine, command and settings are the same." in told(a, b)
    a["spans"][1]["phase"] = "read"
    found = spans.compare(a, b)
    assert [type(pair) for pair in found.pairs] == [spans.Pair, spans.Alone, spans.Alone]
    text = told(a, b)
    assert "phase read sda: only in A, nothing to compare with" in text
    assert "phase write sda: only in B, nothing to compare with" in text


def test_json():
    read = json.loads(spans.compare(made(n=1000), made(n=1500)).to_json())["spans"][0]["directions"]["read"]
    assert read["requests"]["ratio"] == 1.5 and read["d2c_mean_ns"]["not_comparable"] == "not available in either"


@pytest.mark.parametrize("quantity", OF_DIRECTION, ids=lambda quantity: quantity.name)
def test_nothing_is_made_of_what_is_not_counted(quantity):
    """Whatever stands beside, without its counters there is no number."""
    read = copy.deepcopy(FULL["directions"]["read"])
    read = {key: 1 if value is None else value for key, value in read.items()} | {"mib_per_s": None, "seconds": 1.0}
    assert quantity.value(read | {"flow": dict.fromkeys(read["flow"])}) is None


def test_names_cannot_move_a_cursor():
    a, b = made(), made(hostname="o\x1b[2J")
    a["spans"][0]["phase"] = b["spans"][0]["phase"] = "x\ny"
    text = told(a, b)
    assert r"phase x\ny sda" in text and r"hostname n/a o\x1b[2J" in text
