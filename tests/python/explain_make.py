# SPDX-License-Identifier: GPL-2.0-or-later
"""Hand-made recordings with all that raidctl explain reads: settings, classes, processes, what the command did."""

import pathlib
import sqlite3

from conftest import Maker

SECOND = 10**9
GROUPS = "flow size seek stream depth latency place plug origin blame submitter readahead"
MIB = 1 << 20
SETTINGS = {"readahead_sectors": "256", "max_sectors_kb": "128", "queue_depth": "254", "nr_requests": "256", "fstype": "xfs",
            "driver_stats": "AEN's: 0", "controller_events": ""}  # fmt: skip


def reads(requests=4096, sectors=256, depth=2, d2c_ms=None, seconds=4.0, order=1.0, bios=None, idle=0.0, i2d_ms=0.0):
    """flow and bins of a phase that reads: so many requests of one size, depth while busy, and time idle, of 1."""
    span = int(seconds * SECOND)
    bios = bios or requests
    busy = span - int(span * idle)
    wait = int((d2c_ms * 1e6) if d2c_ms else depth * busy / requests)
    flow = {
        "read": {
            "queued": bios, "got": requests, "splits": max(requests - bios, 0), "issued": requests, "completed": requests,
            "bytes_queued": requests * sectors * 512, "bytes_issued": requests * sectors * 512,
            "bytes_completed": requests * sectors * 512, "ahead_queued": bios, "bytes_ahead_queued": requests * sectors * 512,
            "stream_queued": int(bios * order), "stream": int(requests * order), "sequential": int(requests * order),
            "d2c_sum_ns": wait * requests, "i2d_sum_ns": int(i2d_ms * 1e6) * requests,
            "seek_forward_sectors": 1000 * (requests - int(requests * order)),
        }
    }  # fmt: skip
    times = {depth: busy} | ({0: span - busy} if idle else {})
    bins = {
        ("read", "size"): {sectors: requests}, ("read", "depth_time"): times, ("all", "depth_time"): times,
        ("read", "seek"): {64: int(requests * order), 80: requests - int(requests * order)},
        ("read", "d2c"): {200: requests}, ("all", "depth_issue"): {max(depth - 1, 0): requests},
    }  # fmt: skip
    return flow, bins, span


def record(directory: pathlib.Path, phases=(("read", {}),), settings=None, origin=None, command=None, meta=None):
    """A recording with one sample per phase. phases: (name, arguments of reads()). command: name -> growth, each phase."""
    directory.mkdir(parents=True, exist_ok=True)
    made = [reads(**arguments) for _, arguments in phases]
    edges = [0]
    for _, _, span in made:
        edges.append(edges[-1] + span)
    samples = [(at + 1, edges[at], edges[at + 1], flow, bins) for at, (flow, bins, _) in enumerate(made)]
    names = [(at + 1, name, edges[at], edges[at + 1]) for at, (name, _) in enumerate(phases)]
    path = Maker(directory).write(samples, phases=names)
    db = sqlite3.connect(path)
    db.execute("UPDATE target SET groups=?, nr_tags=254", (GROUPS,))
    for name, value in ({**SETTINGS, **(settings or {})}).items():
        db.execute("INSERT INTO setting(time_ns, target, name, value) VALUES(0,1,?,?)", (name, value))
    for key, value in (meta or {}).items():
        db.execute("INSERT OR REPLACE INTO meta VALUES(?,?)", (key, value))
    for at in range(1, len(samples) + 1):
        for name, counts in (origin or {"readahead": {"queued": 4096, "bytes_queued": 512 * MIB}}).items():
            columns = ", ".join(counts)
            marks = ",".join("?" * (len(counts) + 2))
            db.execute(f"INSERT INTO origin(sample, class, {columns}) VALUES({marks})", (at, name, *counts.values()))
        for name, value in (command or {}).items():
            row = (edges[at - 1], edges[at], "command", "", name, "ns" if name == "cpu" else "bytes", value)
            db.execute(
                "INSERT INTO host(start_ns, end_ns, source, subject, name, unit, value) VALUES(?,?,?,?,?,?,?)", row
            )
    db.commit()
    db.close()
    return path
