# SPDX-License-Identifier: GPL-2.0-or-later
"""Depth at issue from ftrace's records of the block layer's events, as Documentation/counters.rst defines it.

The log of the simulated device cannot replace these records. A request is issued before its command reaches the device: a
driver that takes requests as a list issues all of them, then rings one doorbell. A request that completes between an issue
and its doorbell is in flight at the issue, but no longer in the device when the command arrives.
"""

from __future__ import annotations

import collections
import pathlib
import re

import kmod_client as kmod

TRACING = pathlib.Path("/sys/kernel/tracing")
EVENTS = ("block_rq_issue", "block_rq_requeue", "block_rq_complete")
ROOM_KIB = 49152  # of records: 128 bytes for each request


class TracedDepths:
    """The depths at issue of a disk in a with block: depths[depth], at most `deepest`. `lost` is the number of lost records.

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
