# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings are read as they were written, and refused when they are something else."""

import pytest

from raidtrace.recording import recording

TWO = [
    (
        1,
        0,
        400,
        {"read": {"issued": 3, "in_flight": 2, "in_flight_max": 2}},
        {("read", "depth_time"): {0: 100, 2: 300}},
    ),
    (2, 400, 1000, {"read": {"issued": 5, "in_flight": 1, "in_flight_max": 2}}, {("read", "depth_time"): {1: 600}}),
]
PHASES = ((1, "write", 0, 400), (2, "read", 400, 1000))


def test_differences_are_summed_and_levels_are_not(maker):
    counters = recording.load(maker.write(TWO, PHASES)).counters()
    assert counters.count("read", "issued") == 8
    assert counters.count("read", "in_flight") == 0
    assert (counters.start_ns, counters.end_ns) == (0, 1000)
    assert counters.inflight_mean("read") == (300 * 2 + 600) / 1000


def test_a_phase_is_cut_out_by_name(maker):
    recorded = recording.load(maker.write(TWO, PHASES))
    assert recorded.counters("read").count("read", "issued") == 5
    assert [(p.mean, p.highest) for p in recorded.series("write")] == [(1.5, 2)]
    with pytest.raises(recording.RecordingError, match="it has: write, read"):
        recorded.counters("rewrite")


def test_an_open_bin_makes_the_mean_unavailable():
    assert recording.mean_depth({255: 10}) == 255
    assert recording.mean_depth({1: 10, 256: 1}) is None
    assert recording.mean_depth({}) is None


def test_the_maximum_counts_the_arriving_request(maker):
    bins = {("read", "depth_time"): {2: 1000}, ("read", "depth_issue"): {0: 4, 6: 1}}
    counters = recording.load(maker.write([(1, 0, 1000, {}, bins)])).counters()
    assert counters.inflight_max("read") == 7
    assert counters.inflight_max("write") == 0


def test_the_size_mode_is_exact_or_unavailable(maker):
    bins = {("read", "size"): {8: 10, 256: 30}, ("write", "size"): {300: 5}}
    counters = recording.load(maker.write([(1, 0, 1000, {}, bins)])).counters()
    assert counters.size_mode("read") == (256, 0.75)
    assert counters.size_mode("write") is None
    assert counters.size_mode("discard") is None


def test_of_sizes_as_frequent_the_lowest_is_the_mode(maker):
    counters = recording.load(maker.write([(1, 0, 1000, {}, {("read", "size"): {8: 10, 256: 10}})])).counters()
    assert counters.size_mode("read") == (8, 0.5)


def test_seeks_are_what_is_not_sequential_in_any_direction(maker):
    bins = {("read", "seek"): {64: 90, 70: 4}, ("write", "seek"): {64: 5, 50: 1}, ("flush", "seek"): {64: 7}}
    counters = recording.load(maker.write([(1, 0, 1000, {}, bins)])).counters()
    assert (counters.sequential(), counters.seeks(), counters.sequential_share()) == (95, 5, 0.95)


def test_no_request_has_no_sequential_share(maker):
    assert recording.load(maker.write([(1, 0, 1000, {}, {})])).counters().sequential_share() is None


@pytest.mark.parametrize(
    ("change", "said"),
    [({"application": 1}, "not a recording"), ({"version": 3}, "version 3"), ({"targets": 0}, "no disk was recorded")],
)
def test_other_files_are_refused_with_a_reason(maker, change, said):
    with pytest.raises(recording.RecordingError, match=said):
        recording.load(maker.write(TWO, PHASES, **change))


def test_what_is_no_database_is_refused(tmp_path):
    with pytest.raises(recording.RecordingError, match="no such recording"):
        recording.load(tmp_path / "none.rtdb")
    (tmp_path / "text.rtdb").write_text("not a database, but long enough to look at" * 40)
    with pytest.raises(recording.RecordingError, match="text.rtdb: it is no database, and so no recording of raidctl$"):
        recording.load(tmp_path / "text.rtdb")


def test_what_is_damaged_is_said_without_the_words_of_sqlite(maker):
    path = maker.write([(at, at, at + 1, {"read": {"issued": 3}}, {}) for at in range(1, 400)])
    path.write_bytes(path.read_bytes()[:8192] + b"\xff" * (path.stat().st_size - 8192))
    with pytest.raises(
        recording.RecordingError, match="the recording is damaged or cut short: copy it again"
    ) as raised:
        recording.load(path).counters()
    assert "malformed" not in str(raised.value)


def test_reading_changes_nothing(maker):
    path = maker.write(TWO, PHASES)
    before = path.read_bytes()
    recording.load(path).counters()
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["run.rtdb"]


def test_a_recording_of_version_1_is_read(maker):
    path = maker.write([(1, 0, 10, {"read": {"issued": 3}}, {})], version=1)
    assert recording.load(path).counters().count("read", "issued") == 3


def test_what_a_sample_does_not_know_is_not_counted(maker):
    path = maker.write(
        [(1, 0, 10, {"read": {"issued": 3, "queued": None}}, {}), (1, 10, 20, {"read": {"issued": 4, "queued": 5}}, {})]
    )
    counters = recording.load(path).counters()
    assert counters.count("read", "issued") == 7
    with pytest.raises(recording.RecordingError, match="queued is not available"):
        counters.count("read", "queued")


MD = (
    "UPDATE target SET disk='md127', bio_based=1 WHERE target=1",
    "INSERT INTO stack VALUES(2,1),(3,1)",
    "INSERT INTO sample(sample, target, phase, start_ns, end_ns, plugs) VALUES(101,2,1,0,400,7),(102,3,1,0,400,9)",
    "INSERT INTO flow(sample, direction, queued, issued) VALUES(101,'read',64,16),(102,'read',60,15)",
    "INSERT INTO bin VALUES(101,'read','size',256,16)",
    "INSERT INTO setting VALUES(0,1,'readahead_sectors','256'),(0,2,'readahead_sectors','64'),(5,1,'readahead_sectors','512')",
    "INSERT INTO setting VALUES(0,0,'vm.dirty_ratio','20')",
)


def test_an_md_and_its_members_are_seen_one_by_one(maker):
    md = recording.load(
        maker.write([(1, 0, 400, {"read": {"queued": 10, "splits": 30}}, {})], PHASES, targets=3, more=MD)
    )
    assert (md.target.disk, md.target.bio_based, md.target.below) == ("md127", 1, ("sdb", "sdc"))
    assert md.counters("write").count("read", "splits") == 30
    members = md.below()
    assert [member.counters("write").count("read", "issued") for member in members] == [16, 15]
    assert [member.counters("write").plain_count("plugs") for member in members] == [7, 9]
    assert sum(member.counters().count("read", "queued") for member in members) == 124
    assert members[0].counters().size_mode("read") == (256, 1.0)
    assert recording.load(md.path, "sdc").counters().count("read", "issued") == 15
    assert members[0].of("md127").counters() == md.counters()
    with pytest.raises(recording.RecordingError, match="sdz was not recorded; there are: md127, sdb, sdc"):
        md.of("sdz")


def test_a_setting_is_its_last_value_of_its_own_disk(maker):
    md = recording.load(maker.write([(1, 0, 400, {}, {})], PHASES, targets=3, more=MD))
    assert md.setting("readahead_sectors") == "512"
    assert md.below()[0].setting("readahead_sectors") == "64"
    assert md.setting("readahead_sectors", "sdc") is None
    assert md.setting("vm.dirty_ratio", "") == "20"


def test_the_disk_of_a_chain_of_arrays_is_the_topmost(maker):
    more = ("INSERT INTO stack VALUES(1,3),(3,2)",)  # sda is part of sdc, which is part of sdb
    found = recording.load(maker.write([(1, 0, 400, {}, {})], PHASES, targets=3, more=more))
    assert (found.target.disk, found.below()[0].target.disk, found.below()[0].below()[0].target.disk) == (
        "sdb",
        "sdc",
        "sda",
    )


EVERY = (
    "UPDATE sample SET plugs=3, ra_sync_sectors=256, streams_alive=2 WHERE sample=1",
    "UPDATE sample SET plugs=4, streams_alive=5 WHERE sample=2",
    "INSERT INTO origin(sample, class, queued, seeks) VALUES(1,'journal',4,2),(2,'journal',1,1),(2,'data',9,0)",
    "INSERT INTO submitter(sample, submitter, pid, comm, cgroup, queued) "
    "VALUES(1,3,77,'dd','/a',5),(2,8,77,'dd','/b',6),(2,9,NULL,NULL,NULL,2)",
    "INSERT INTO host VALUES(0,1000,'cpu','','idle','ns',500)",
    "INSERT INTO disturbance VALUES(1,'swap','',0,9,'pages',3,'3 pages to swap')",
    "INSERT INTO output VALUES(2,'stderr','late')",
)


def test_every_group_of_counters_is_read(maker):
    found = recording.load(maker.write(TWO, PHASES, output="early", more=EVERY))
    counters = found.counters()
    assert counters.plain_count("plugs") == 7
    assert counters.origins == {"journal": {"queued": 5, "seeks": 3}, "data": {"queued": 9, "seeks": 0}}
    assert counters.submitters == {(77, "dd"): {"queued": 11}, (None, ""): {"queued": 2}}
    assert (counters.levels["streams_alive"], counters.levels["read in_flight"]) == (5, 1)
    assert (found.host[0].name, found.host[0].value) == ("idle", 500)
    assert (found.disturbances[0].kind, found.disturbances[0].text) == ("swap", "3 pages to swap")
    assert (found.output, found.streams["stderr"]) == ("earlylate", "late")


def test_a_counter_without_direction_that_a_sample_lacks_is_not_available(maker):
    counters = recording.load(maker.write(TWO, PHASES, more=EVERY)).counters()
    with pytest.raises(recording.RecordingError, match="ra_sync_sectors is not available"):
        counters.plain_count("ra_sync_sectors")
    with pytest.raises(recording.RecordingError, match="tag_waits is not available"):
        counters.plain_count("tag_waits")
