# SPDX-License-Identifier: GPL-2.0-or-later
"""The source of a recording, and what it lost."""

import json

from raidtrace.recording import source

LOSSES = {
    "sda": {"lost_records": {"queue": 3, "end": 1}, "missed_events": 2, "undelivered_ends": 0},
    "sdb": {"lost_records": {}, "missed_events": 0, "undelivered_ends": 0},
}
BPF = {"counted_by": "bpf", "records_lost": "6", "losses": json.dumps(LOSSES)}


def test_a_recording_of_the_module_lost_nothing():
    read = source.read({})
    assert source.sentence(read) == "Counted by the module."
    assert source.as_json(read) == {
        "source": "module",
        "losses": {},
        "losses_unknown": 0,
        "kernel_completed": {},
    }


def test_losses_are_named_by_disk_and_kind():
    read = source.read(BPF)
    assert source.losses(read) == "sda: 3 queue, 1 end, 2 missed; a buffer was full, so depths and times may be wrong"
    assert source.sentence(read).startswith(
        "Counted by BPF programs; LOST events, which the counters lack: sda: 3 queue"
    )
    assert source.as_json(read)["losses"] == {"sda": {"queue": 3, "end": 1, "missed_events": 2}}


def test_losses_that_were_not_stored_are_not_zero():
    read = source.read({"counted_by": "bpf"})
    assert read.unknown == 1
    assert "not known of 1 recording." in source.sentence(read)
    assert "not known" in source.sentence(source.read({"counted_by": "bpf", "losses": "cut"}))


def test_what_the_kernel_counted_and_we_did_not():
    read = {
        "requests": {"kernel": [98, 102], "counted": [90, 91]},
        "bytes": {"kernel": [5000, 6000], "counted": [1, 5000]},
    }
    write = {"requests": {"kernel": [1, 2], "counted": [5, 9]}, "bytes": None}
    witness = {"sda": {"read": read, "write": write}, "sdb": None}
    found = source.read(BPF | {"witness": json.dumps(witness)})
    assert source.differences(found) == "sda: 7 more reads, 3 fewer writes"
    assert source.sentence(source.total([found, found])).endswith("counters: sda: 14 more reads, 6 fewer writes.")
    assert source.as_json(found)["kernel_completed"] == {"sda": {"more reads": 7, "fewer writes": 3}}
    assert not source.differences(source.read(BPF)) and not source.differences(source.read(BPF | {"witness": "cut"}))


def test_recordings_add_up():
    both = source.total([source.read(BPF), source.read(BPF), source.read({})])
    assert both.names == ("bpf", "module")
    assert both.lost["sda"]["queue"] == 6
    assert source.as_json(both)["source"] is None
    assert source.sentence(source.total([])) == ""
