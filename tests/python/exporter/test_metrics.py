# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of recordings and of live rows: each number is that of raidctl report --json, and what is not available is missing.

prometheus_client's own parser reads the text back; it refuses what OpenMetrics does not permit."""

import collections
import json
import math
import re

import long_recording
import pytest
from conftest import TOP, call, changed, unpacked

from raidtrace.cli import report
from raidtrace.quantity.bins import KINDS
from raidtrace.recording import invariants
from raidtrace.recording.columns import COUNTERS, DICTIONARY, Column
from raidtrace.recording.sample_rows import opened

pytest.importorskip(
    "prometheus_client", reason="prometheus_client is not installed: apt-get install python3-prometheus-client"
)
from prometheus_client.openmetrics.exposition import generate_latest  # noqa: E402
from prometheus_client.openmetrics.parser import text_string_to_metric_families  # noqa: E402

from raidtrace.exporter import metrics  # noqa: E402

RECORDINGS = {"all": "tests/compat/1.0.0/all.rtdb.xz", "md": "tests/compat/1.0.0/md.rtdb.xz",
              "full": "tests/python/report/golden/full.rtdb.xz", "import": "tests/compat/1.0.0/import.rtdb.xz"}  # fmt: skip
# Names of counters since 1.0: release.rst promises that they stay.
NAMES = """
    queued_bios got_requests back_merged_bios front_merged_bios merged_requests split_bios inserted_requests
    issued_requests requeued_requests requeued_unissued_requests completed_requests partial_completions
    failed_completions unmatched_requests unissued_requests abandoned_requests queued_bytes issued_bytes completed_bytes
    sequential_requests seek_forward_sectors seek_backward_sectors d2c_seconds sequential_queued_bios
    seek_queued_forward_sectors seek_queued_backward_sectors stream_requests stream_queued_bios i2d_seconds q2c_seconds
    q2c_unknown_pieces ahead_queued_bios ahead_queued_bytes reissued_requests refused_bios in_flight_request_seconds
    plugs done_unplugs slept_unplugs tag_waits readahead_sync_sectors readahead_async_sectors forgotten_streams
    forgotten_bio_streams held_seconds backlog_seconds waiting_bio_seconds waiting_unknown_bios class_queued_bios
    class_queued_bytes class_queued_seeks_bios class_issued_requests class_issued_bytes class_seeks_requests
    class_seek_sectors cgroup_queued_bios cgroup_queued_bytes cgroup_queued_seeks_bios cgroup_completed_requests
    cgroup_d2c_seconds hwq_issued_requests hwq_completed_same_cpu_requests hwq_completed_other_cpu_requests
    hwq_completed_other_node_requests hwq_returned_requests hwq_in_flight_request_seconds
""".split()


class Registry:
    def __init__(self, families):
        self.families = families

    def collect(self):
        return self.families


def text_of(path, live=False, charged=None):
    with opened(path) as rows:
        return generate_latest(Registry(metrics.families(invariants.read(path, rows), live, charged or {}))).decode()


def samples(text):
    """Name -> labels -> value, without the prefix."""
    found = collections.defaultdict(dict)
    for family in text_string_to_metric_families(text):
        for one in family.samples:
            labels = tuple(sorted(one.labels.items()))
            name = one.name.removeprefix("raidtrace_")
            assert labels not in found[name] and name != one.name
            found[name][labels] = one.value
    return found


def labelled(**labels):
    return tuple(sorted(labels.items()))


@pytest.fixture(params=RECORDINGS)
def path(request, tmp_path):
    return unpacked(RECORDINGS[request.param], tmp_path / "run.rtdb")


@pytest.fixture
def full(tmp_path):
    return unpacked(RECORDINGS["full"], tmp_path / "run.rtdb")


def by_disk(path):
    """The spans of raidctl report --json by disk."""
    spans = collections.defaultdict(list)
    for span in json.loads(call(report.main, "--json", path).stdout)["spans"]:
        spans[span["disk"]].append(span)
    return spans


def known(values):
    """The sum; None if one is not known."""
    values = list(values)
    return None if None in values or not values else sum(values)


def test_each_counter_has_the_number_of_the_report(path):
    found, checked = samples(text_of(path)), 0
    for disk, spans in by_disk(path).items():
        for column in DICTIONARY:
            if column.name not in COUNTERS.get(column.table, ()) or column.table in ("submitter", "hwq"):
                continue
            mine, divided = found.get(f"{metrics.name_of(column)}_total", {}), 1e9 if column.unit == "ns" else 1
            for keys, values in numbers(spans, column):
                expected = known(values)
                got = mine.get(labelled(disk=disk, **keys))
                assert (got is None) == (expected is None), (disk, column.name, keys, got, expected)
                assert got is None or math.isclose(got, expected / divided, rel_tol=1e-12)
                checked += got is not None
    assert checked > 50


def numbers(spans, column):
    """Labels and the value of each span."""
    if column.table == "flow":
        for direction in ("read", "write", "discard", "flush", "other", "passthrough"):
            yield {"direction": direction}, [of_direction(span["directions"], direction, column.name) for span in spans]
    elif column.table == "sample":
        yield {}, [(span["disk_counters"] or {}).get(column.name) for span in spans]
    else:
        for name in (spans[0]["origin"] or {"data": {}}).keys():
            yield {"class": name}, [(span["origin"] or {}).get(name, {}).get(column.name) for span in spans]


def of_direction(directions, direction, name):
    """A counter; the report leaves out directions without an event. Time by depth is that of reads and writes alone."""
    if name == "depth_sum_ns" and direction not in ("read", "write"):
        return None
    of_reads = directions["read"]["flow"][name]
    return None if of_reads is None else directions.get(direction, {}).get("flow", {}).get(name, 0)


@pytest.mark.parametrize(
    ("name", "kind", "per_unit"),
    [
        ("d2c_latency_seconds", "d2c", 1e9),
        ("request_size_bytes", "size", 1 / 512),
        ("depth_at_issue_requests", "depth_issue", 1),
    ],
)
def test_each_bucket_is_a_sum_of_bins(path, name, kind, per_unit):
    """Exactly, not interpolated."""
    found, spans_of, some = samples(text_of(path)), by_disk(path), 0
    for disk, spans in spans_of.items():
        for direction in ("read", "write", "discard"):
            bins = [
                bin_
                for span in spans
                for bin_ in span["directions"].get(direction, {}).get("histograms", {}).get(kind, ())
            ]
            buckets = {dict(labels)["le"]: value for labels, value in found.get(f"{name}_bucket", {}).items()
                       if {**dict(labels), "le": ""} == {"disk": disk, "direction": direction, "le": ""}}  # fmt: skip
            if any(kind in span["histograms_not_counted"] for span in spans):
                assert not buckets
                continue
            assert bool(buckets) == bool(bins or direction in ("read", "write"))
            for bound, count in buckets.items():
                at = math.inf if bound == "+Inf" else round(float(bound) * per_unit)
                ends = [(math.inf if one["high"] is None else one["high"], one["count"]) for one in bins]
                assert count == sum(number for high, number in ends if high - 1 <= at)
                assert not [high for high, _ in ends if at < high - 1 < at + 1]
            some += 0 < min(buckets.values(), default=0) < max(buckets.values(), default=0)
            if buckets and kind != "depth_issue":
                labels = labelled(disk=disk, direction=direction)
                assert found[f"{name}_count"][labels] == buckets["+Inf"]
                of = "d2c_sum_ns" if kind == "d2c" else "bytes_issued"
                total = sum(span["directions"].get(direction, {}).get("flow", {}).get(of) or 0 for span in spans)
                assert math.isclose(found[f"{name}_sum"][labels], total / (1e9 if kind == "d2c" else 1))
            assert kind != "depth_issue" or f"{name}_sum" not in found
    assert len(metrics.bounds(kind)) > 8 and all(at < 1 << 10 for at, _ in metrics.bounds(kind))


def test_names_and_units_of_counters_stay():
    counters = [one for one in DICTIONARY if one.name in COUNTERS.get(one.table, ())]
    assert sorted(map(metrics.name_of, counters)) == sorted(NAMES)
    for one in counters:
        assert metrics.counter(one).unit == ("seconds" if one.unit == "ns" else one.unit)
    newer = [metrics.name_of(Column("hwq", name, "integer", True, unit, "")) for name, unit in
             (("stolen", "requests"), ("waiting_sum_ns", "ns"), ("bytes_stolen", "bytes"))]  # fmt: skip
    assert newer == ["hwq_stolen_requests", "hwq_waiting_seconds", "hwq_stolen_bytes"]


def test_a_counter_of_a_newer_recorder_has_a_metric(full):
    changed(
        full,
        "ALTER TABLE flow ADD COLUMN stolen INTEGER; UPDATE flow SET stolen = 3 WHERE direction = 'read';"
        "UPDATE flow SET stolen = 0 WHERE direction <> 'read';"
        "CREATE TABLE IF NOT EXISTS counter (owner TEXT NOT NULL, name TEXT NOT NULL, unit TEXT NOT NULL,"
        " meaning TEXT NOT NULL, PRIMARY KEY (owner, name)) WITHOUT ROWID;"
        "INSERT INTO counter VALUES('flow', 'stolen', 'requests', 'requests stolen')",
    )
    with opened(full) as rows:
        number = len([span for span in rows.samples if span[1] == 1])
    found = samples(text_of(full))["stolen_requests_total"]
    assert found[labelled(disk="sda", direction="read")] == 3 * number


def test_levels_lengths_and_facts(full):
    found, spans = samples(text_of(full)), by_disk(full)
    assert {dict(labels)["disk"] for labels in found["recorded_seconds"]} == {*spans}
    for disk, some in spans.items():
        assert math.isclose(found["recorded_seconds"][labelled(disk=disk)], sum(span["seconds"] for span in some))
        most = [span["directions"]["read"]["flow"]["in_flight_max"] for span in some]
        assert found["in_flight_max_requests"].get(labelled(disk=disk, direction="read")) == (
            None if None in most else max(most)
        )
        assert found["disk_gone"][labelled(disk=disk)] == 0
    ((facts, value),) = found["recording_info"].items()
    assert value == 1 and {"hostname", "kernel", "tool_version", "simulated"} <= {name for name, _ in facts}
    ((live, _),) = samples(text_of(full, live=True))["recording_info"].items()
    assert dict(live)["end"] == "counting" and dict(live)["started_utc"] == ""


def test_a_disk_that_was_attached_twice_is_one(full):
    before = samples(text_of(full))
    changed(full, "UPDATE target SET disk = 'sda' WHERE disk = 'sdb'")
    name, read = "issued_requests_total", {"direction": "read"}
    both = before[name][labelled(disk="sda", **read)] + before[name][labelled(disk="sdb", **read)]
    after = samples(text_of(full))
    assert after[name][labelled(disk="sda", **read)] == both and labelled(disk="sdb", **read) not in after[name]
    most = [before["in_flight_max_requests"][labelled(disk=disk, **read)] for disk in ("sda", "sdb")]
    assert after["in_flight_max_requests"][labelled(disk="sda", **read)] == max(most)


def test_a_group_that_one_of_two_does_not_count_is_missing(full):
    changed(full, "UPDATE target SET disk = 'sda' WHERE disk = 'sdb'")
    name, labels = "class_issued_requests_total", labelled(disk="sda", **{"class": "data"})
    assert labels in samples(text_of(full))[name]
    changed(full, "UPDATE target SET groups = 'flow' WHERE target = 2")
    found = samples(text_of(full))
    assert labels not in found[name] and not [
        one for one in found["d2c_latency_seconds_bucket"] if ("disk", "sda") in one
    ]


def test_queues_with_requests_have_metrics(full):
    table = re.search(r"CREATE TABLE hwq .*?;", long_recording.SCHEMA, re.DOTALL)[0]
    changed(full, "UPDATE target SET groups = groups || ' hwq'", f"DROP TABLE IF EXISTS hwq; {table}",
            "INSERT INTO hwq(sample, hwq, issued, depth_sum_ns) SELECT min(sample), 3, 7, 2000000000 FROM sample",
            "INSERT INTO hwq(sample, hwq, issued, depth_sum_ns) SELECT min(sample), 4, 0, 0 FROM sample")  # fmt: skip
    found = samples(text_of(full))
    assert found["hwq_issued_requests_total"] == {labelled(disk="sda", hwq="3"): 7}
    assert found["hwq_in_flight_request_seconds_total"] == {labelled(disk="sda", hwq="3"): 2}


def test_losses_are_those_of_bpf_programs_from_the_start(full):
    assert "lost_events_total" not in samples(text_of(full))
    losses = {
        "sda": {"lost_records": {"queue": 5}, "missed_events": 2, "undelivered_ends": 1},
        "sdb": {"missed_events": 0},
    }
    changed(full, ("INSERT OR REPLACE INTO meta VALUES('counted_by', 'bpf')", ()),
            ("INSERT OR REPLACE INTO meta VALUES('losses', ?)", (json.dumps(losses),)))  # fmt: skip
    found = samples(text_of(full))
    lost = found["lost_events_total"]
    assert lost[labelled(disk="sda", kind="queue")] == 5 and lost[labelled(disk="sda", kind="undelivered-end")] == 1
    assert sum(lost.values()) == 6 and lost[labelled(disk="sdb", kind="queue")] == 0
    assert found["missed_events_total"] == {(): 2} and found["source_info"] == {labelled(source="bpf"): 1}
    names = re.search(r"rt_record_name.*?= \{(.*?)\};", (TOP / "tools/libraidtrace/door.c").read_text(), re.DOTALL)[1]
    assert tuple(re.findall('"(.*?)"', names)) == metrics.RECORDS


def test_without_the_module_nothing_but_that_is_shown(full):
    changed(full, ("INSERT INTO meta VALUES('module_loaded', 'no')", ()))
    assert samples(text_of(full)) == {"module_loaded": {(): 0}}
    changed(full, "UPDATE meta SET value = 'yes' WHERE key = 'module_loaded'")
    found = samples(text_of(full))
    assert found["module_loaded"] == {(): 1} and found["issued_requests_total"]


def test_a_disk_that_is_gone_keeps_its_counters(full):
    changed(full, "INSERT INTO setting VALUES(0, 1, 'gone', '1')")
    found = samples(text_of(full))
    assert found["disk_gone"][labelled(disk="sda")] == 1 and found["disk_gone"][labelled(disk="sdb")] == 0
    assert labelled(disk="sda", direction="read") in found["issued_requests_total"]


def test_hostile_names_are_one_label(full):
    changed(full, ("UPDATE target SET disk = ? WHERE target = 1", ('a"b\\c\nd\x1b[31m} 1\n# EOF\n',)))
    path = '/x"\\\n} 2'
    text = text_of(full, charged={("sdb", path): dict.fromkeys(COUNTERS["submitter"], 4)})
    assert text.count("\n# EOF\n") == 1 and text.endswith("\n# EOF\n") and "\x1b" not in text
    found = samples(text)
    assert found["issued_requests_total"][labelled(disk='a"b\\c\\nd\\x1b[31m} 1\\n# EOF\\n', direction="read")] >= 0
    assert found["cgroup_queued_bios_total"] == {labelled(disk="sdb", cgroup=path): 4}
    assert found["cgroup_d2c_seconds_total"] == {labelled(disk="sdb", cgroup=path): 4e-9}


def test_kinds_have_a_sum_in_their_unit():
    for kind, (name, _, factor, lowest, highest, total) in metrics.SHAPES.items():
        assert kind in KINDS and lowest < highest and name.endswith(("seconds", "bytes", "requests"))
        assert not total or total in COUNTERS["flow"]
        assert factor or total.endswith("_ns")
