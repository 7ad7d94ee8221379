# SPDX-License-Identifier: GPL-2.0-or-later
"""A trace of Perfetto, read by protoc, which knows nothing of how it was written."""

import csv
import json
import re
import shutil
import sqlite3
import subprocess

import pytest
from conftest import TOP, changed

from raidtrace.recording import sample_rows
from raidtrace.recording.columns import RecordingError
from raidtrace.recording.results import ResultsError
from raidtrace.report import export

# The fields that are read here, by perfetto's own definitions.
SCHEMA = """syntax = "proto2";
message Trace { repeated Packet packet = 1; }
message Packet { optional uint64 timestamp = 8;
                 optional uint32 trusted_packet_sequence_id = 10; optional Event track_event = 11;
                 optional uint32 sequence_flags = 13; optional Track track_descriptor = 60; }
message Track { optional uint64 uuid = 1; optional string name = 2;
                optional uint64 parent_uuid = 5; optional Counter counter = 8; }
message Counter { optional string unit_name = 6; }
message Event { enum Type { UNSPECIFIED = 0; BEGIN = 1; END = 2; INSTANT = 3; COUNTER = 4; } optional Type type = 9;
                optional uint64 track_uuid = 11; optional string name = 23; optional double double_counter_value = 44; }
"""
HOSTILE = "a\x1b[2J\u202eb\n" + "x" * 300


def decoded(path):
    """Packets as protoc has them: nested dictionaries, field -> list of values."""
    (path.parent / "trace.proto").write_text(SCHEMA)
    command = ["protoc", "--decode=Trace", f"--proto_path={path.parent}", "trace.proto"]
    with open(path, "rb") as file:
        done = subprocess.run(command, stdin=file, capture_output=True, text=True, check=True)
    (path.parent / "trace.proto").unlink()
    root = {}
    stack = [root]
    for line in done.stdout.splitlines():
        line = line.strip()
        if line == "}":
            stack.pop()
        elif line.endswith("{"):
            stack[-1].setdefault(line.split()[0], []).append({})
            stack.append(stack[-1][line.split()[0]][-1])
        else:
            field, _, value = line.partition(": ")
            assert not field.isdigit(), f"{field}: a field that the schema does not have"
            stack[-1].setdefault(field, []).append(
                json.loads(value) if value.startswith('"') and "\\\\" not in value else value
            )
    assert set(root) == {"packet"}
    return root["packet"]


def tracks(packets):
    """By uuid: name and parent."""
    result = {}
    for one in (packet["track_descriptor"][0] for packet in packets if "track_descriptor" in packet):
        assert one["uuid"][0] not in result, "each once"
        result[one["uuid"][0]] = (one["name"][0], one.get("parent_uuid", ["0"])[0])
    return result


def events(packets, kind):
    """Time, track and rest of events of a kind."""
    result = [(int(packet["timestamp"][0]), packet["track_event"][0]) for packet in packets if "track_event" in packet]
    return [(time, event["track_uuid"][0], event) for time, event in result if event["type"] == [kind]]


def test_phases_are_slices_and_counters_have_the_numbers_of_each_sample(recorded, tmp_path):
    export.perfetto(tmp_path / "a.trace", recorded)
    packets = decoded(tmp_path / "a.trace")
    names = tracks(packets)
    assert all(packet["trusted_packet_sequence_id"] == ["1"] for packet in packets)
    assert packets[0]["sequence_flags"] == ["1"]
    db = sqlite3.connect(recorded)
    begun = [(time, rest["name"][0]) for time, track, rest in events(packets, "BEGIN") if names[track][0] == "phases"]
    assert begun == db.execute("SELECT start_ns, name FROM phase WHERE name != 'outside' ORDER BY phase").fetchall()
    ended = [time for time, *_ in events(packets, "END")]
    assert ended == [end for (end,) in db.execute("SELECT end_ns FROM phase WHERE name != 'outside' ORDER BY phase")]
    parents = {uuid: name for uuid, (name, _) in names.items()}
    rates = {}
    for time, track, rest in events(packets, "COUNTER"):
        assert parents[names[track][1]] in ("sda", "sdb")
        rates.setdefault(names[track][0], []).append((time, float(rest["double_counter_value"][0])))
    assert set(rates) == {f"{d} {w} {what}" for d in ("sda", "sdb") for w in ("read", "write")
                          for what in ("throughput", "latency (d2c), mean")} | {
                              f"{d} {w}s in flight, mean" for d in ("sda", "sdb") for w in ("read", "write")}  # fmt: skip
    query = """SELECT start_ns, {} FROM sample JOIN target USING(target)
               LEFT JOIN flow ON flow.sample = sample.sample AND direction = 'read' WHERE disk = 'sda' ORDER BY start_ns"""
    compare(
        rates["sda read throughput"],
        db.execute(query.format("coalesce(bytes_completed, 0) / 1048576.0 / ((end_ns - start_ns) / 1e9)")),
    )
    compare(rates["sda read latency (d2c), mean"],
            db.execute(query.format("d2c_sum_ns / 1e6 / nullif(completed, 0)")))  # fmt: skip
    depth = """SELECT start_ns, sum(bin * count) * 1.0 / sum(count) FROM bin JOIN sample USING(sample) JOIN target USING(target)
               WHERE disk = 'sda' AND direction = 'read' AND kind = 'depth_time' GROUP BY sample ORDER BY start_ns"""
    compare(rates["sda reads in flight, mean"], db.execute(depth))
    db.close()


def compare(result, rows):
    """A value holds until the next: what is in the trace against each sample's."""
    result = dict(result)
    at = None
    number = 0
    for time, value in rows:
        at = result.pop(time, at)
        number += value is not None
        assert value is None or at == pytest.approx(value, rel=1e-6), time
    assert not result and number > 10


def test_requests_are_slices_on_as_many_tracks_as_were_in_flight(recorded, tmp_path):
    columns = "target,number,issued_ns,completed_ns,sector,bytes,direction,class,depth,comm,error,again"
    row = f"INSERT INTO request({columns}) VALUES(1,?,?,?,?,?,?,'data',0,?,?,0)"
    # 128 is the least number that takes two bytes
    kept = ((1, 128, 300, 8, "read", None), (2, 150, 250, 16, "write", "dd"), (3, 250, 400, 24, "read", HOSTILE))
    requests = [(row, (n, begin, end, at, 512 * n, where, comm, n == 2)) for n, begin, end, at, where, comm in kept]
    path = changed(tmp_path / "events.rtdb", *requests, of=recorded)
    export.perfetto(tmp_path / "c.trace", path)
    packets = decoded(tmp_path / "c.trace")
    named = tracks(packets)
    begun = [(t, named[track][0], event["name"][0]) for t, track, event in events(packets, "BEGIN") if 0 < t < 1000]
    first, second = (f"{named[named_parent(named)][0]} in flight {n}" for n in (1, 2))
    assert [one[:2] for one in begun] == [(128, first), (150, second), (250, second)]
    assert begun[1][2] == "write 1 KiB at sector 16, data, dd, failed" and "\x1b" not in begun[2][2]
    assert [(t, named[track][0]) for t, track, _ in events(packets, "END") if 0 < t < 1000] == [
        (300, first), (250, second), (400, second)
    ]  # fmt: skip


def test_a_flush_has_no_sector(maker, tmp_path):
    """-1: of raidctl 1.0."""
    columns = "target,number,issued_ns,completed_ns,sector,bytes,direction,class,depth,error,again"
    flushes = (
        f"INSERT INTO request({columns}) VALUES(1,{number},100,300,{sector},0,'flush','other',0,0,0)"
        for number, sector in ((8, "NULL"), (9, -1))
    )
    path = maker.write([(1, 0, 1000, {}, {})], more=flushes)
    export.perfetto(tmp_path / "d.trace", path)
    labels = [event["name"][0] for _, _, event in events(decoded(tmp_path / "d.trace"), "BEGIN")]
    assert labels.count("flush 0 KiB, other") == 2
    with sample_rows.opened(path) as opened:
        export.csv(path, opened, tmp_path / "csv")
    with open(tmp_path / "csv" / "request.csv", encoding="utf-8", newline="") as file:
        assert [row["sector"] for row in csv.DictReader(file)] == ["", ""]


def named_parent(named):
    """The track of the first disk."""
    return next(uuid for uuid, (name, _) in named.items() if any(parent == uuid for _, parent in named.values()))


def test_names_are_valid_and_hide_nothing(recorded, tmp_path):
    names = (("UPDATE phase SET name = ? || rowid", (HOSTILE,)), ("UPDATE target SET disk = ? || rowid", (HOSTILE,)))
    path = changed(tmp_path / "hostile.rtdb", *names, of=recorded)
    export.perfetto(tmp_path / "b.trace", path)
    raw = (tmp_path / "b.trace").read_bytes()
    assert b"\x1b" not in raw and "\u202e".encode() not in raw and rb"a\x1b[2J\u202eb" in raw
    assert len(decoded(tmp_path / "b.trace")) > 20


def test_only_a_trace_is_replaced(recorded, tmp_path):
    mine = tmp_path / "mine"
    mine.write_text("years of work")
    with pytest.raises(ResultsError, match="is not a trace of raidctl"):
        export.perfetto(mine, recorded)
    assert mine.read_text() == "years of work" and len(list(tmp_path.iterdir())) == 1
    for _ in range(2):
        export.perfetto(tmp_path / "c.trace", recorded)
    with pytest.raises(RecordingError):
        export.perfetto(tmp_path / "c.trace", mine)
    assert len(decoded(tmp_path / "c.trace")) > 20, "what was there stays"


def test_the_command_writes_it(recorded, tmp_path):
    raidctl = TOP / "tools/bin/raidctl"
    done = subprocess.run(
        [raidctl, "export", "--perfetto", tmp_path / "e", recorded], capture_output=True, text=True, check=True
    )
    assert re.search(r"/e: \d+ KiB; open it in ui.perfetto.dev", done.stdout)
    done = subprocess.run(
        [raidctl, "export", "--perfetto", tmp_path / "f", tmp_path / "none"], capture_output=True, text=True
    )
    assert done.returncode == 1 and not (tmp_path / "f").exists()


@pytest.mark.parametrize("setra", [256, 16384])
def test_the_traces_of_the_documentation_have_the_phases_of_the_demo(tmp_path, setra):
    copy = shutil.copy(TOP / f"Documentation/figures/demo-xfs-{setra}.pftrace", tmp_path / "demo.pftrace")
    names = {event["name"][0] for _, _, event in events(decoded(copy), "BEGIN")}
    assert {"write", "rewrite", "read"} <= names
