# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings are read as they were written, and refused when they are something else."""

import sqlite3

import long_recording
import pytest

from raidtrace.recording import columns, document, invariants, sample_rows, spans
from raidtrace.recording.columns import RecordingError
from raidtrace.recording.figures import Figures
from raidtrace.recording.sample_rows import opened
from raidtrace.report import export
from raidtrace.report import text as report_text

TWO = [
    (1, 0, 400, {"read": {"issued": 3, "in_flight": 2, "in_flight_max": 2}}, {("read", "depth_time"): {0: 100, 2: 300}}),
    (2, 400, 1000, {"read": {"issued": 5, "in_flight": 1, "in_flight_max": 2}}, {("read", "depth_time"): {1: 600}}),
]  # fmt: skip
PHASES = ((1, "write", 0, 400), (2, "read", 400, 1000))


def load(path):
    with sample_rows.opened(path) as rows:
        return spans.read(path, rows)


def test_differences_are_summed_and_levels_are_those_of_the_end(maker):
    whole = load(maker.write(TWO, PHASES)).whole()
    assert whole.count("read", "issued") == 8
    assert (whole.count("read", "in_flight"), whole.count("read", "in_flight_max")) == (1, 2)
    assert (whole.start_ns, whole.end_ns) == (0, 1000)
    assert Figures(whole, "read").depth() == (300 * 2 + 600) / 1000


def test_a_phase_is_cut_out_by_name(maker):
    path = maker.write(TWO, PHASES)
    recorded = load(path)
    assert recorded.whole("read").count("read", "issued") == 5
    with sample_rows.opened(path, series=True) as rows:
        assert [(p.mean, p.highest) for p in rows.points("read", 1, [1])] == [(1.5, 2)]
    with pytest.raises(RecordingError, match="its phases: write, read"):
        recorded.whole("rewrite")


def test_a_recording_without_a_disk_has_no_sample(maker):
    with pytest.raises(RecordingError, match="no sample"):
        load(maker.write(TWO, PHASES, targets=0)).whole()


def test_a_recording_of_version_1_is_read(maker):
    path = maker.write([(1, 0, 10, {"read": {"issued": 3}}, {})], version=1)
    assert load(path).whole().count("read", "issued") == 3


def test_a_counter_that_one_phase_lacks_is_not_that_of_both(maker):
    path = maker.write(
        [(1, 0, 10, {"read": {"issued": 3, "queued": None}}, {}), (2, 10, 20, {"read": {"issued": 4, "queued": 5}}, {})],
        ((1, "a", 0, 10), (2, "b", 10, 20)),
    )  # fmt: skip
    whole = load(path).whole()
    assert whole.count("read", "issued") == 7
    assert Figures(whole, "read").known("queued") is None
    assert Figures(load(path).whole("b"), "read").known("queued") == 5


MD = (
    "UPDATE target SET disk='md127', bio_based=1 WHERE target=1",
    "INSERT INTO stack VALUES(2,1),(3,1)",
    "INSERT INTO sample(sample, target, phase, start_ns, end_ns, plugs) VALUES(101,2,1,0,400,7),(102,3,1,0,400,9)",
    "INSERT INTO flow(sample, direction, queued, issued) VALUES(101,'read',64,16),(102,'read',60,15)",
    "INSERT INTO bin VALUES(101,'read','size',256,16)",
    "INSERT INTO setting(time_ns, target, name, value) "
    "VALUES(0,1,'readahead_sectors','256'),(0,2,'readahead_sectors','64'),(5,1,'readahead_sectors','512')",
    "INSERT INTO setting(time_ns, target, name, value) VALUES(0,0,'vm.dirty_ratio','20')",
)


def test_an_md_disk_and_its_members(maker):
    md = load(maker.write([(1, 0, 400, {"read": {"queued": 10, "splits": 30}}, {})], PHASES, targets=3, more=MD))
    whole = md.whole("write")
    assert (whole.disk, whole.bio_based, whole.count("read", "splits")) == ("md127", True, 30)
    members = md.members(md.spans[0])
    assert [(one.disk, one.count("read", "issued"), one.plain["plugs"]) for one in members] == [
        ("sdb", 16, 7), ("sdc", 15, 9)]  # fmt: skip
    assert sum(one.count("read", "queued") for one in members) == 124
    assert Figures(members[0], "read").exact_size_mode() == 256


def test_a_setting_is_its_last_value_of_its_own_disk(maker):
    md = load(maker.write([(1, 0, 400, {}, {})], PHASES, targets=3, more=MD))
    assert [md.setting(disk, "readahead_sectors") for disk in (1, 2, 3)] == ["512", "64", None]
    assert md.setting(1, "readahead_sectors", 4) == "256"
    assert md.setting(0, "vm.dirty_ratio") == "20"


def test_the_disk_of_a_chain_of_arrays_is_the_topmost(maker):
    more = ("INSERT INTO stack VALUES(1,3),(3,2)",  # sda is part of sdc, which is part of sdb
            "UPDATE sample SET target=2")  # fmt: skip
    assert load(maker.write([(1, 0, 400, {}, {})], PHASES, targets=3, more=more)).whole().disk == "sdb"


EVERY = (
    "UPDATE target SET groups='flow size seek stream depth latency plug origin submitter readahead'",
    "UPDATE sample SET plugs=3, ra_sync_sectors=256, streams_alive=2 WHERE sample=1",
    "UPDATE sample SET plugs=4, streams_alive=5 WHERE sample=2",
    "INSERT INTO origin(sample, class, queued, seeks) VALUES(1,'journal',4,2),(2,'journal',1,1),(2,'data',9,0)",
    "INSERT INTO submitter(sample, submitter, pid, comm, cgroup, queued) "
    "VALUES(1,3,77,'dd','/a',5),(2,8,77,'dd','/b',6),(2,7,77,'dd','/a',1),(2,9,NULL,NULL,NULL,2)",
    "INSERT INTO host(start_ns, end_ns, source, subject, name, unit, value) VALUES(0,400,'cpu','','idle','ns',500)",
    "INSERT INTO disturbance(disturbance, kind, subject, start_ns, end_ns, unit, value, text) "
    "VALUES(1,'swap','',0,9,'pages',3,'3 pages to swap')",
    "INSERT INTO output(time_ns, stream, text) VALUES(2,'stderr','late')",
)


def test_every_group_of_counters_is_read(maker):
    result = load(maker.write(TWO, PHASES, output="early", more=EVERY))
    whole = result.whole()
    assert (whole.plain["plugs"], whole.plain["streams_alive"]) == (7, 5)
    assert whole.plain["ra_sync_sectors"] is None and whole.plain["tag_waits"] is None
    assert {name: (counts["queued"], counts["seeks"]) for name, counts in whole.origin.items()} == {
        "journal": (5, 3), "data": (9, 0)}  # fmt: skip
    assert {(one.pid, one.comm, one.cgroup): one.counts["queued"] for one in whole.submitters} == {
        (77, "dd", "/a"): 6, (77, "dd", "/b"): 6, (None, None, ""): 2}  # fmt: skip
    assert result.host == {1: {("cpu", "idle"): 500}}
    assert (result.disturbances[0].kind, result.disturbances[0].text) == ("swap", "3 pages to swap")
    assert result.output == "earlylate"


def test_each_member_of_the_model_is_a_column_of_the_file():
    """A member without a column would be a KeyError on each recording."""
    for kind in (spans.Target, spans.Setting, spans.Phase, spans.Disturbance):
        assert {*kind.__dataclass_fields__} <= {*columns.COLUMNS[kind.__name__.lower()]}


ROWS = (  # sample, hwq, issued, three completed, returned, depth_sum_ns, in_flight, in_flight_max
    (1, 0, 10, 6, 3, 0, 1, 900, 0, 4), (1, 128, 5, 1, 0, 3, 0, 700, 1, 2),
    (3, 0, 30, 20, 4, 6, 0, 100, 0, 9),
)  # fmt: skip
NAMES = ("issued", "completed_same_cpu", "completed_other_cpu", "completed_other_node", "returned", "depth_sum_ns",
         "in_flight", "in_flight_max")  # fmt: skip


@pytest.fixture
def path(tmp_path):
    result = tmp_path / "run.rtdb"
    long_recording.write(result, 2, 10, 2)
    with sqlite3.connect(result) as db:
        db.execute("UPDATE target SET groups = groups || ' hwq' WHERE target = 1")
        db.executemany(f"INSERT INTO hwq VALUES({','.join('?' * 10)})", ROWS)
    return result


def of_disk(path, disk):
    return next(span for span in document.load(path)["spans"] if span["disk"] == disk)["hwqs"]


def test_counters_are_summed_and_levels_are_the_last(path):
    assert of_disk(path, "sdb") is None  # which does not count the group
    assert of_disk(path, "sda") == [
        {"hwq": 0} | dict(zip(NAMES, (40, 26, 7, 6, 1, 1000, 0, 9), strict=True)),
        {"hwq": 128} | dict(zip(NAMES, (5, 1, 0, 3, 0, 700, 1, 2), strict=True)),
    ]


def test_an_older_recording_has_no_such_table(path):
    with sqlite3.connect(path) as db:
        db.execute("DROP TABLE hwq")
        db.execute("UPDATE target SET groups = replace(groups, ' hwq', '')")
    assert of_disk(path, "sda") is None


def test_the_report_has_a_row_for_each(path):
    text = report_text.text(invariants.load(path, None), "", True)
    table = [line.split() for line in text.split("hardware queue")[1].splitlines()[:3]]
    assert table[0] == ["issued", "completed", "max", "depth", "same", "CPU", "other", "CPU", "other", "node"]
    assert table[1] == ["0", "40", "39", "9", "66.7", "%", "17.9", "%", "15.4", "%"]
    assert table[2] == ["from", "128", "5", "4", "2", "25.0", "%", "0.0", "%", "75.0", "%"]
    assert text.count("hardware queue") == 1


def test_the_export_has_each_row(path, tmp_path):
    with opened(path) as sample_rows:
        export.csv(path, sample_rows, tmp_path / "out")
    lines = (tmp_path / "out/hwq.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "sample,hwq," + ",".join(NAMES)
    assert lines[1:] == [",".join(map(str, row)) for row in ROWS]
