# SPDX-License-Identifier: GPL-2.0-or-later
"""Witnesses of a simulated disk's I/O, which raidtrace's counters are compared with: the log of the simulated device,
and the kernel's diskstats. Bins, streams and places are computed here anew, from Documentation/counters.rst.
"""

from __future__ import annotations

import collections
import csv
import itertools
import os
import pathlib
import re
import sys
from collections.abc import Iterator
from typing import Any

import kmod_client as kmod

DATA = {"READ": "read", "WRITE": "write"}
DEEPEST = 256  # the last bin of depths has all that are deeper
TRACING = pathlib.Path("/sys/kernel/tracing")
EVENTS = ("block_rq_issue", "block_rq_requeue", "block_rq_complete")
ROOM_KIB = 49152  # of records: 128 bytes for each request
STREAMS = 16  # that a target remembers by default


def controller_rows(disk: str, log: str = "log") -> Iterator[dict[str, str]]:
    """Commands that the controller got for a disk, in the order of their arrival; one at a time, because a list of 166,000
    does not fit into a guest of 256 MiB. `log`: of the device, "log-1" of the second one."""
    address = pathlib.Path(f"/sys/block/{disk}/device").resolve().name.split(":")
    unit = address[2] if len(address) > 2 else "0"  # of SCSI; what else there is has one disk
    with open(f"/proc/raidlab/{log}", encoding="ascii") as lines:
        yield from (row for row in csv.DictReader(lines) if row["unit"] == unit)


class Command:
    """A line of the log in a fifth of the memory of a dictionary: command["lba"]. Numbers are int; a missing time is ""."""

    __slots__ = ("name", "lba", "sectors", "arrival_ns", "completion_ns", "depth", "status")

    def __init__(self, row: dict[str, str]) -> None:
        for key in self.__slots__:
            value = row[key]
            setattr(self, key, int(value) if value.isdigit() else sys.intern(value))

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)


def controller_log(disk: str, begin: int = 0, log: str = "log") -> list[Command]:
    """All of them from number `begin` on."""
    return list(map(Command, itertools.islice(controller_rows(disk, log), begin, None)))


class TracedDepths:
    """Depths at issue of a disk from ftrace's records, in a with block: depths[depth], at most `deepest`. `lost`: lost records.

    The log of the simulated device cannot replace these records. A request is issued before its command reaches the device: a
    driver that takes requests as a list issues all of them, then rings one doorbell. A request that completes between an issue
    and its doorbell is in flight at the issue, but no longer in the device when the command arrives.

    Requests have no identity in the records. One that ends has the operation, sector and size of one that was issued.
    """

    def __init__(self, disk: str, deepest: int) -> None:
        number = ",".join(map(str, kmod.device_number(disk)))
        # Operation without the letter of a flush before it, sector, number of sectors.
        self._record = re.compile(rf": block_rq_(\w+): {number} (?:F(?=[A-Z]))?(\w)\w* .*\) (\d+) \+ (\d+) ")
        self.deepest = deepest
        self.depths: collections.Counter[int] = collections.Counter()
        self.lost = 0

    def _switch(self, state: str) -> None:
        for event in EVENTS:
            (TRACING / f"events/block/{event}/enable").write_text(state, encoding="ascii")

    def __enter__(self) -> TracedDepths:
        # The time of a record is its number: reading a clock would advance the simulated time.
        for name, value in (("trace_clock", "counter"), ("buffer_size_kb", str(ROOM_KIB)), ("trace", "")):
            (TRACING / name).write_text(value, encoding="ascii")
        self._switch("1")
        return self

    def __exit__(self, *_: object) -> None:
        self._switch("0")
        stats = (TRACING / "per_cpu/cpu0/stats").read_text(encoding="ascii")
        self.lost = sum(map(int, re.findall(r"^(?:overrun|dropped events): (\d+)$", stats, re.MULTILINE)))
        if not self.lost:
            self._count()
        (TRACING / "buffer_size_kb").write_text("4", encoding="ascii")

    def _count(self) -> None:
        """An end without a counted issue changes nothing: an empty flush and the second end of a write have no sectors."""
        flying: collections.Counter[tuple[str, ...]] = collections.Counter()
        depth = 0
        with open(TRACING / "trace", encoding="ascii") as trace:
            for match in filter(None, map(self._record.search, trace)):
                event, operation = match[1], match[2]
                # The sector of a flush or of a passthrough request is not the same at its end.
                request = (operation,) if operation in "FN" else (operation, match[3], match[4])
                if event == "issue":
                    self.depths[min(depth, self.deepest)] += 1
                    flying[request] += 1
                    depth += 1
                elif flying[request]:
                    flying[request] -= 1
                    depth -= 1


class Measured:
    """The counts of all witnesses of the I/O to a disk in a with block. `traced`: ftrace is one of them."""

    def __init__(self, disk: str, traced: bool = False, log: str = "log") -> None:
        self.disk, self.log = disk, log
        self.traced = TracedDepths(disk, DEEPEST) if traced else None

    def __enter__(self) -> Measured:
        if self.traced:
            self.traced.__enter__()
        self.client = kmod.Client()
        self.before = sum(1 for _ in controller_rows(self.disk, self.log))
        self.stat = kmod.diskstats(self.disk)
        self.target = self.client.add(self.disk)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            kmod.idle(self.disk)
            self.counters = self.client.counters(self.target)
            now = kmod.diskstats(self.disk)
            self.stat = {name: now[name] - value for name, value in self.stat.items()}
            self.commands = controller_log(self.disk, self.before, self.log)
        if self.traced:
            self.traced.__exit__()
        self.client.delete(self.target)
        self.client.socket.close()

    def check(self) -> None:
        """Raise unless every count that a witness has is raidtrace's, exactly."""
        check_commands(self)
        check_diskstats(self)
        if self.traced:
            check_depths(self, self.traced)


def size_bin(sectors: int) -> int:
    """Bin of a request size."""
    if sectors <= 256:
        return sectors
    octave = sectors.bit_length() - 1
    return 257 + (octave - 8) * 16 + ((sectors >> (octave - 4)) & 15)


def seek_bin(distance: int) -> int:
    """Bin of a distance."""
    return 64 + (distance.bit_length() if distance > 0 else -(-distance).bit_length())


class Expected:
    """The counters at issue that follow from the controller's log."""

    def __init__(self, commands: list[Command], place_sectors: int) -> None:
        self.issued: collections.Counter[str] = collections.Counter()
        self.sectors: collections.Counter[str] = collections.Counter()
        self.sizes: dict[str, collections.Counter[int]] = collections.defaultdict(collections.Counter)
        self.seeks: dict[str, collections.Counter[int]] = collections.defaultdict(collections.Counter)
        self.places: dict[str, collections.Counter[int]] = collections.defaultdict(collections.Counter)
        self.distance: collections.Counter[tuple[str, str]] = collections.Counter()
        self.stream: collections.Counter[str] = collections.Counter()
        self.depths: collections.Counter[int] = collections.Counter()
        ends = collections.Counter(row["completion_ns"] for row in commands)
        # Ends at the very nanosecond of an arrival: to the controller before it, to the block layer perhaps after it.
        self.ties = sum(ends[row["arrival_ns"]] for row in commands if row["completion_ns"] != row["arrival_ns"])
        # Came at the same nanosecond, perhaps as one batch.
        self.together = len({row["arrival_ns"] for row in commands}) < len(commands)
        self._end: int | None = None
        self._ends: list[int] = []  # of the last streams, the one that moved last at the end
        for row in commands:
            self.depths[min(int(row["depth"]), DEEPEST)] += 1
            if row["name"] in DATA:
                self._data(DATA[row["name"]], int(row["lba"]), int(row["sectors"]), place_sectors)

    def _data(self, direction: str, lba: int, sectors: int, place_sectors: int) -> None:
        self.issued[direction] += 1
        self.sectors[direction] += sectors
        self.sizes[direction][size_bin(sectors)] += 1
        self.places[direction][lba // place_sectors] += 512 * sectors
        if self._end is not None:
            distance = lba - self._end
            self.seeks[direction][seek_bin(distance)] += 1
            self.distance[direction, "forward" if distance > 0 else "backward"] += abs(distance)
        self._end = lba + sectors
        stream = max((i for i, end in enumerate(self._ends) if end == lba), default=None)
        self.stream[direction] += stream is not None
        if stream is not None:
            del self._ends[stream]
        elif len(self._ends) == STREAMS:
            del self._ends[0]
        self._ends.append(self._end)


def reverses_batches(disk: str) -> bool:
    """Whether the driver sends what was plugged together in the reverse order of its issue events: those of NVMe and virtio in
    Linux 6.1 do, NVMe's of 6.12 does not (nvme_queue_rqs() and virtio_queue_rqs() of their sources). The device's log then has
    another order than the events.
    """
    version = tuple(map(int, os.uname().release.split(".")[:2]))
    return version < (6, 12) and disk.startswith(("nvme", "vd"))


def check_commands(measured: Measured) -> None:
    """Numbers, bytes, sizes, distances, streams, places and depths against the controller's log.

    A request may find more requests in flight than its command finds in the device: those that complete before the command
    arrives (TracedDepths). Without a trace none may, except at the same nanosecond.
    """
    expected = Expected(measured.commands, measured.target["place-sectors"])
    counters = measured.counters
    returned = any(counters.flow[direction]["requeued"] for direction in ("read", "write"))
    for direction in ("read", "write"):
        flow = counters.flow[direction]
        kmod.equal(f"{direction}s", flow["issued"] - flow["requeued"], expected.issued[direction])
        kmod.equal(f"{direction}s completed", flow["completed"], expected.issued[direction])
        if flow["requeued"]:  # libata sends queued commands back during a flush: each is issued again
            continue
        kmod.equal(f"{direction} bytes", flow["bytes-issued"], 512 * expected.sectors[direction])
        kmod.equal(f"{direction} bytes completed", flow["bytes-completed"], 512 * expected.sectors[direction])
        kmod.equal(f"{direction} sizes", counters.bins("size", direction), dict(expected.sizes[direction]))
        kmod.equal(f"{direction} places", counters.bins("place", direction), dict(expected.places[direction]))
        # A distance is from the end of the last request of either direction.
        if returned or (reverses_batches(measured.disk) and expected.together):
            continue
        kmod.equal(f"{direction} distances", counters.bins("seek", direction), dict(expected.seeks[direction]))
        for sense in ("forward", "backward"):
            kmod.equal(f"{direction} {sense}", flow[f"seek-{sense}-sectors"], expected.distance[direction, sense])
        kmod.equal(f"{direction} in streams", flow["stream"], expected.stream[direction])
    if any(counters.flow[direction]["requeued"] for direction in ("read", "write", "flush")):
        return
    # libata answers an INQUIRY itself: the block layer counts it, it never reaches the disk.
    if counters.flow["passthrough"]["issued"] != sum(
        row["name"] not in (*DATA, "FLUSH", "SYNCHRONIZE_CACHE") for row in measured.commands
    ):
        return
    depths = collections.Counter(counters.bins("depth-issue", "all"))
    deeper = sum(depth * (depths - expected.depths)[depth] - depth * (expected.depths - depths)[depth]
                 for depth in depths | expected.depths)  # fmt: skip
    wrong = deeper < 0 or (deeper > expected.ties and not measured.traced)
    if depths.total() != expected.depths.total() or wrong:
        kmod.equal("depth at issue", dict(depths), dict(expected.depths))


def check_depths(measured: Measured, traced: TracedDepths) -> None:
    """Depth at issue against the kernel's events.

    SCSI requeues requests that it has not issued. The trace cannot distinguish them from others of the same sectors.
    """
    if traced.lost:
        raise AssertionError(f"ftrace lost {traced.lost} records: ROOM_KIB is too small")
    if not measured.counters.total("requeued-unissued"):
        kmod.equal("depth at issue, of ftrace", measured.counters.bins("depth-issue", "all"), dict(traced.depths))


def check_diskstats(measured: Measured) -> None:
    """Requests, sectors, merges and flushes against the kernel's own counts."""
    flow, stat = measured.counters.flow, measured.stat
    unissued = {"read": 0, "write": flow["flush"]["unissued"]}  # diskstats has empty flushes among the writes
    for direction in ("read", "write"):
        kmod.equal(f"{direction}s", flow[direction]["completed"] + unissued[direction], stat[f"{direction}s"])
        kmod.equal(f"{direction} sectors", flow[direction]["bytes-completed"], 512 * stat[f"{direction}_sectors"])
        merged = sum(flow[direction][f"{kind}-merges"] for kind in ("back", "front", "request"))
        kmod.equal(f"{direction} merges", merged, stat[f"{direction}_merges"])
        kmod.equal(f"{direction} bytes queued", flow[direction]["bytes-queued"], flow[direction]["bytes-completed"])
        kmod.equal(
            f"{direction} bios were issued or merged",
            flow[direction]["queued"] + flow[direction]["splits"],
            flow[direction]["issued"] - flow[direction]["reissued"] + merged,
        )
    kmod.equal("flushes", flow["flush"]["completed"], stat["flushes"])
