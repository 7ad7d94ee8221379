# SPDX-License-Identifier: GPL-2.0-or-later
"""The counters of a recording, or of live rows, as families of metrics for Prometheus.

All spans of a disk are added up. Times are in seconds. A value that is not available is left out, because it is not 0.
"""

import functools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from prometheus_client.metrics_core import Metric
from prometheus_client.samples import Sample

from raidtrace.quantity.bins import CLASSES, KINDS, NUMBERS
from raidtrace.recording import source
from raidtrace.recording.columns import COUNTERS, DICTIONARY, Column
from raidtrace.recording.sample_rows import DIRECTIONS
from raidtrace.recording.spans import COUNTED, DATA, Recorded, Span, merged

PREFIX = "raidtrace_"
Labels = dict[str, str]
Charged = Mapping[tuple[str, str], Mapping[str, int]]  # (disk, path of a cgroup) -> counter -> number

# Names of metrics that do not follow from column and unit.
NAMES = {
    ("flow", "back_merges"): "back_merged_bios", ("flow", "front_merges"): "front_merged_bios",
    ("flow", "request_merges"): "merged_requests", ("flow", "splits"): "split_bios",
    ("flow", "errors"): "failed_completions", ("flow", "depth_sum_ns"): "in_flight_request_seconds",
    ("sample", "unplugs_explicit"): "done_unplugs", ("sample", "unplugs_schedule"): "slept_unplugs",
    ("sample", "ra_sync_sectors"): "readahead_sync_sectors", ("sample", "ra_async_sectors"): "readahead_async_sectors",
    ("sample", "streams_forgotten"): "forgotten_streams", ("sample", "streams_forgotten_queued"): "forgotten_bio_streams",
    ("sample", "waiting_sum_ns"): "waiting_bio_seconds", ("origin", "seeks_queued"): "class_queued_seeks_bios",
    ("submitter", "seeks_queued"): "cgroup_queued_seeks_bios", ("hwq", "depth_sum_ns"): "hwq_in_flight_request_seconds",
}  # fmt: skip
LEADS = {"flow": "", "sample": "", "origin": "class_", "submitter": "cgroup_", "hwq": "hwq_"}
HELP = {"submitter": "of processes, charged to the cgroup: ", "hwq": "of a hardware queue: "}
# Kinds of records of BPF programs. Each has a metric from the start, so that an alert observes its first increase.
RECORDS = ("task", "queue", "split", "end", "insert", "merge", "issue-bio", "issue", "issue-hwq", "requeue", "requeue-hwq",
           "complete", "complete-hwq", "count", "issue-bios", "ends")  # fmt: skip
UNDELIVERED = "undelivered-end"
# kind -> name, help, factor of the values (None: ns become seconds), lowest and highest bound, counter with their sum
SHAPES = {
    "d2c": ("d2c_latency_seconds", "requests completed, by time from issue to completion", None, 1000, 1 << 37, "d2c_sum_ns"),
    "size": ("request_size_bytes", "requests issued, by size", 512, 1, 1 << 16, "bytes_issued"),
    "depth_issue": ("depth_at_issue_requests", "requests issued, by the number of requests in flight at the issue", 1, 1, 128,
                    ""),
}  # fmt: skip


def name_of(column: Column) -> str:
    """The name of a counter's metric, without prefix and _total. It ends with the unit."""
    if known := NAMES.get((column.table, column.name)):
        return known
    name, unit = column.name, "seconds" if column.unit == "ns" else column.unit
    if column.unit == "ns":
        name = name.removesuffix("_ns").removesuffix("_sum")
    if name.startswith(f"{unit}_"):
        name = name.removeprefix(f"{unit}_")
    return LEADS[column.table] + (name if name.endswith(unit) else f"{name}_{unit}")


def seconds(ns: int) -> float:
    """Nanoseconds in s."""
    return ns / 1e9


@functools.cache
def bounds(kind: str) -> tuple[tuple[int, str], ...]:
    """Each bin whose largest value is the bound of a bucket, and this bound. They are about one for each power of two. A
    bound of Prometheus is part of its bucket; that of a bin is not, so counts are exact."""
    found = []
    _, _, factor, lowest, highest, _ = SHAPES[kind]
    for at in range(NUMBERS[KINDS[kind].cut]):
        low, high = KINDS[kind].bounds(at)
        if high is None or not lowest <= low <= highest:
            continue
        edge = low if high - low == 1 else high
        if not edge & edge - 1:
            last = high - 1
            text = f"{last * factor}.0" if factor else f"{last // 10**9}.{last % 10**9:09}"
            found.append((at, text))
    return (*found, (NUMBERS[KINDS[kind].cut], "+Inf"))


class Disk:
    """All spans of a disk. levels: direction -> highest depth. gone: whether the disk was removed."""

    def __init__(self, spans: Sequence[Span], gone: bool) -> None:
        self.span, self.gone = merged(spans), gone
        self.name = self.span.disk
        self.ns = sum(span.length() for span in spans)
        self.levels = {direction: max(span.count(direction, "in_flight_max") for span in spans)
                       for direction in DIRECTIONS}  # fmt: skip
        self._spans = spans

    def counts(self, group: str) -> bool:
        return all(group in span.groups for span in self._spans)

    def counts_kind(self, kind: str) -> bool:
        return all(span.counts_kind(kind) for span in self._spans)


def disks(recorded: Recorded) -> list[Disk]:
    """The disks with samples. A disk that was attached twice is one."""
    spans: dict[str, list[Span]] = {}
    for span in recorded.spans:
        spans.setdefault(span.disk, []).append(span)
    gone = {one.target for one in recorded.settings if one.name == "gone" and one.value == "1"}
    return [Disk(some, any(span.target in gone for span in some)) for some in spans.values()]


def family(name: str, kind: str, unit: str, text: str) -> Metric:
    return Metric(PREFIX + name, text, kind, unit)


def gauge(name: str, text: str, samples: Iterable[tuple[Labels, float]], unit: str = "") -> Metric:
    metric = family(name, "gauge", unit, text)
    metric.samples = [Sample(metric.name, labels, value) for labels, value in samples]
    return metric


def families(recorded: Recorded, live: bool, charged: Charged) -> Iterator[Metric]:
    """All families. live: the rows are live. charged: counters of cgroups."""
    loaded = recorded.meta.get("module_loaded")
    if loaded is not None:
        yield gauge("module_loaded", "0: the module is not loaded, and nothing is counted", [({}, loaded == "yes")])
    if loaded == "no":
        return
    some = disks(recorded)
    by = recorded.meta.get("counted_by", source.MODULE)
    yield gauge("source_info", "label source: module, or bpf for BPF programs of the exporter", [({"source": by}, 1)])
    if by == source.BPF:
        yield from _losses(recorded.meta, some)
    yield _info(recorded.meta, live)
    labels: list[Labels] = [{"disk": disk.name} for disk in some]
    lengths = zip(labels, (seconds(disk.ns) for disk in some), strict=True)
    yield gauge("recorded_seconds", "length of all samples of the disk together", lengths, "seconds")
    yield gauge("in_flight_max_requests", "highest depth since attach or reset, not a difference", [
        ({"disk": disk.name, "direction": direction}, most)
        for disk in some if "in_flight" not in disk.span.unknown for direction, most in disk.levels.items()
    ], "requests")  # fmt: skip
    yield from _counters(recorded.added, some)
    yield from _charged(charged)
    gone = zip(labels, (disk.gone for disk in some), strict=True)
    yield gauge("disk_gone", "1: the disk was removed, so its counters no longer change", gone)
    yield from (_histogram(kind, some) for kind in SHAPES)


def _info(meta: Mapping[str, str], live: bool) -> Metric:
    """Facts about the machine. Live rows have neither a beginning nor an end."""
    facts = {name: meta.get(name, "") for name in ("hostname", "kernel", "tool_version", "started_utc", "end", "invariants",
                                                   "simulated", "lab_profile")}  # fmt: skip
    if live:
        facts |= {"started_utc": "", "end": "counting", "invariants": ""}
    return gauge("recording_info", "labels that describe the recording", [(facts, 1)])


def _losses(meta: Mapping[str, str], some: Sequence[Disk]) -> Iterator[Metric]:
    """The events that BPF programs lost."""
    try:
        losses = json.loads(meta["losses"])
    except (KeyError, ValueError):
        return
    lost = family("lost_events", "counter", "events", "events that are missing in the counters: records without room by kind, "
                  "undelivered ends of requests")  # fmt: skip
    for disk in some:
        of_disk = losses.get(disk.name, {})
        kinds = dict.fromkeys(RECORDS, 0) | of_disk.get("lost_records", {})
        for kind, number in {**kinds, UNDELIVERED: of_disk.get("undelivered_ends", 0)}.items():
            lost.add_sample(f"{lost.name}_total", {"disk": disk.name, "kind": kind}, number)
    missed = family("missed_events", "counter", "events", "events of any disk that are missing in the counters: they "
                    "interrupted another")  # fmt: skip
    number = sum(of_disk.get("missed_events", 0) for of_disk in losses.values())
    missed.add_sample(f"{missed.name}_total", {}, number)
    yield from (lost, missed)


def _counters(added: Sequence[Column], some: Sequence[Disk]) -> Iterator[Metric]:
    """A family for each counter of a disk, its directions, classes and hardware queues."""
    found = {}
    for disk in some:
        found[disk.name] = {
            "flow": _rows(disk.name, "direction", {one: disk.span.flow.get(one, {}) for one in COUNTED}),
            "sample": [({"disk": disk.name}, disk.span.plain)],
            "origin": _rows(disk.name, "class", {one: disk.span.origin.get(one, {}) for one in CLASSES}),
            "hwq": _rows(disk.name, "hwq", {str(at): row for at, row in sorted(disk.span.hwqs.items())
                                            if row.get("issued") or row.get("depth_sum_ns")}),
        }  # fmt: skip
    known = (one for one in DICTIONARY if one.name in COUNTERS.get(one.table, ()))
    for column in (*known, *added):
        if column.table == "submitter":
            continue
        metric = counter(column)
        name, total, ns = column.name, f"{metric.name}_total", column.unit == "ns"
        for disk in some:
            if not _known(disk, column):
                continue
            for labels, row in found[disk.name][column.table]:
                if name == "depth_sum_ns" and labels.get("direction", "read") not in DATA:
                    continue  # only counted for these
                value = row.get(name) or 0
                metric.samples.append(Sample(total, labels, value / 1e9 if ns else value))
        if metric.samples:
            yield metric


def _rows(
    disk: str, label: str, rows: Mapping[str, Mapping[str, int]]
) -> list[tuple[Labels, Mapping[str, int | None]]]:
    return [({"disk": disk, label: key}, row) for key, row in rows.items()]


def counter(column: Column) -> Metric:
    """The family of a counter, without samples."""
    unit = "seconds" if column.unit == "ns" else column.unit
    return family(name_of(column), "counter", unit, HELP.get(column.table, "") + column.meaning)


def _known(disk: Disk, column: Column) -> bool:
    if column.table == "flow":
        return column.name not in disk.span.unknown
    if column.table == "sample":
        return disk.span.plain.get(column.name) is not None
    return disk.counts(column.table) and not (column.table == "origin" and disk.span.class_unknown(column.name))


def _charged(charged: Charged) -> Iterator[Metric]:
    """A family for each counter of cgroups."""
    for column in DICTIONARY:
        if charged and column.table == "submitter" and column.name in COUNTERS["submitter"]:
            metric = counter(column)
            for (disk, path), row in charged.items():
                value = row[column.name]
                metric.add_sample(f"{metric.name}_total", {"disk": disk, "cgroup": path},
                                  seconds(value) if column.unit == "ns" else value)  # fmt: skip
            yield metric


def _histogram(kind: str, some: Sequence[Disk]) -> Metric:
    """Classic histograms with fixed bounds. Directions other than read and write appear with their first request."""
    name, text, _, _, _, total = SHAPES[kind]
    metric = family(name, "histogram", name.rpartition("_")[2], text)
    for disk in some:
        if not disk.counts_kind(kind):
            continue
        for direction in COUNTED:
            counts = disk.span.histogram(direction, kind)
            if not counts and direction not in DATA:
                continue
            labels = {"disk": disk.name, "direction": direction}
            rest, count = sorted(counts), 0
            for at, bound in bounds(kind):
                while rest and rest[0] <= at:
                    count += counts[rest.pop(0)]
                metric.samples.append(Sample(f"{metric.name}_bucket", {**labels, "le": bound}, count))
            if total:
                value = disk.span.count(direction, total)
                metric.add_sample(f"{metric.name}_count", labels, count)
                metric.add_sample(f"{metric.name}_sum", labels, seconds(value) if total.endswith("_ns") else value)
    return metric
