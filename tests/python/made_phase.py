# SPDX-License-Identifier: GPL-2.0-or-later
"""Phases in memory, with an argument for each thing that a limit depends on, and recordings that raidctl explain reads."""


import collections
import pathlib
import sqlite3

from conftest import Maker

from raidtrace.explain import limits
from raidtrace.explain.evidence import Verdict
from raidtrace.quantity.bins import D2C_COLUMNS
from raidtrace.recording import columns
from raidtrace.recording.observation import Change, Charged, Disk, Longest, Observation, Timeline
from raidtrace.recording.quantities import Reading
from raidtrace.recording.spans import GROUPS, Span, Submitter

FLOW = (*columns.COUNTERS["flow"], "in_flight", "in_flight_max")


def span_of(flow, bins=None, start=0, end=1000, phase="run", disk="sda", unknown=(), groups=GROUPS, **more):
    """flow: direction -> counter -> number; counters left out are 0. unknown: counters that were not counted."""
    counts = {direction: collections.Counter(dict.fromkeys(FLOW, 0) | dict(some)) for direction, some in flow.items()}
    more = {"plain": dict.fromkeys(columns.COUNTERS["sample"]), "origin": {}, "submitters": ()} | more
    return Span(1, phase, 1, disk, start, end, counts, frozenset(unknown), bins or {}, frozenset(groups), **more)


SECOND = 10**9
SETTINGS = {"readahead_sectors": "256", "max_sectors_kb": "128", "max_hw_sectors_kb": "128", "queue_depth": "254",
            "nr_requests": "256", "scheduler": "mq-deadline", "rotational": "1", "controller_events": ""}  # fmt: skip
OTHER = {"read": "write", "write": "read"}
QUIET = ((0.0, 0.5), (0.5, 1.0))  # two samples, both busy


def _submitter(row):
    """row: pid, name, bios, bytes, seeks."""
    pid, comm, *counts = row
    return Submitter(pid, comm, "", dict(zip(("queued", "bytes_queued", "seeks_queued"), counts, strict=True)))


def time_bin(ms):
    """The bin of a time."""
    ns = int(ms * 1e6)
    octave = max(ns.bit_length() - 1, 4)
    return 16 + 16 * (octave - 4) + (ns >> (octave - 4)) - 16


def phase(
    direction="read",
    requests=1000,
    sectors=256,
    share_of_size=1.0,
    depth=2.0,
    idle=0.0,
    seconds=4.0,
    order=1.0,
    seeks=0.0,
    jump=1 << 20,
    bios=None,
    ahead=1.0,
    direct=0.0,
    d2c=None,
    i2d_ms=0.0,
    q2c_ms=None,
    ended=None,
    flushes=(0, 0.0),
    discards=(0, 0.0),
    other=(0, 0.0),
    splits=0,
    settings=None,
    changes=(),
    samples=None,
    streams=1,
    errors=0,
    submitters=(),
    others=(),
    metadata=0,
    dry=0,
    rows=None,
    at_issue=None,
    cpu=None,
    machine=None,
    interval=None,
    charged=(),
    by_command=None,
    driver="3w-9xxx",
    queues=None,
    tags=254,
    calls=None,
    number_of_calls=None,
    faults=None,
    kernel=None,
    waits=None,
    windows=None,
    backward=0.0,
):
    """depth: mean while busy. jump: sectors of a seek. d2c: ms -> requests, all alike if None. flushes, other: number and ms of
    each. samples: from, to, parts busy and read, of seconds. rows: (depth, ms) -> requests, of depth-d2c; at_issue: depth ->
    requests, of depth-issue. by_command: bytes by direction, of the command. ended: bios that did, all if None. calls, faults:
    bytes read by calls, major faults. kernel: processors that threads of the kernel used, by their work; system: all of it.
    waits: shares of the time held and in backlog, and bios that wait, mean of it. windows: sectors of the readahead windows.
    backward: share of the seeks' distance.
    """
    span, bios = int(seconds * SECOND), bios or requests
    served = depth * (1 - idle) * span / requests
    d2c = d2c or {served / 1e6: requests}
    octets, seeking = requests * sectors * 512, int(requests * seeks)
    counts = {
        "queued": bios, "issued": requests, "completed": requests, "splits": splits, "errors": errors,
        "bytes_queued": octets, "bytes_issued": octets, "bytes_completed": octets, "bytes_ahead_queued": int(octets * ahead),
        "stream_queued": round(bios * order),
        "seek_forward_sectors": round(seeking * jump * (1 - backward)),
        "seek_backward_sectors": round(seeking * jump * backward),
        "d2c_sum_ns": int(served * requests), "i2d_sum_ns": int(i2d_ms * 1e6 * requests),
        "q2c_sum_ns": int((served / 1e6 if q2c_ms is None else q2c_ms) * 1e6 * bios),
    }  # fmt: skip
    flow = {direction: counts}
    for name, (number, ms) in (("flush", flushes), ("discard", discards), (OTHER[direction], other)):
        if number:
            flow[name] = {"queued": number, "issued": number, "completed": number}
            flow[name] |= {"bytes_queued": number << 17, "bytes_completed": number << 17}
            flow[name]["d2c_sum_ns"] = int(number * ms * 1e6)
    low, part = int(depth), depth - int(depth)
    times = {low: int(span * (1 - idle) * (1 - part)), low + 1: int(span * (1 - idle) * part), 0: int(span * idle)}
    bins = {
        (direction, "size"): {sectors: int(requests * share_of_size), 1: int(requests * (1 - share_of_size))},
        (direction, "depth_time"): times,
        ("all", "depth_time"): times,
        (direction, "seek"): {64: requests - seeking, 80: seeking},
        (direction, "d2c"): {time_bin(ms): number for ms, number in d2c.items()},
        (direction, "q2c"): {time_bin(q2c_ms or served / 1e6): bios if ended is None else ended},
        ("all", "depth_issue"): {0: dry, **(at_issue or {low: requests})},
        (direction, "depth_d2c"): {
            (depth_row(at) * D2C_COLUMNS + int(ms * 1e6).bit_length()): number
            for (at, ms), number in (rows or {}).items()
        },
    }
    ends = samples if samples is not None else [(at / 10, (at + 1) / 10, 1 - idle, 0.1) for at in range(10)]
    column = 3 if direction == "read" else 4
    table_of = []
    for start, end, busy, moved in ends:
        row = [int(start * span), int(end * span), int(busy * (end - start) * span), 0, 0, 0, 0, 0]
        row[column] = int(moved * octets)
        row[column + 3] = int(moved * requests)
        table_of.append(tuple(row))
    known = {name: value for name, value in {**SETTINGS, **(settings or {})}.items() if value is not None}
    origin = {
        "direct": {"bytes_queued": int(octets * direct)},
        "readahead": {"bytes_queued": octets - int(octets * direct)},
        "metadata": {"queued": metadata},
    }
    longest = {direction: Longest(10**6, 2 * 10**6, span // 2)}
    every = int(interval * SECOND) if interval else None
    line = Timeline(table_of, longest, streams, 16, tuple(Change(*change) for change in changes), every)
    used = {"rchar": calls, "syscr": number_of_calls, "major_faults": faults}
    used["cpu"] = None if cpu is None else int(cpu * span)
    host = {("command", name): value for name, value in used.items() if value is not None}
    for name, processors in (kernel or {}).items():
        host["cpu" if name in ("system", "idle") else "kernel", name] = int(processors * span)
    disk = Disk(1, "sda", driver, capacity_sectors=1 << 30, max_sectors=256, nr_hw_queues=queues, nr_tags=tags)
    plain = dict.fromkeys(columns.COUNTERS["sample"])
    if waits:
        plain |= dict(
            zip(("held_ns", "backlog_ns", "waiting_sum_ns"), (int(share * span) for share in waits), strict=True)
        )
    if windows is not None:
        plain |= {"ra_sync_sectors": windows, "ra_async_sectors": 0}
    whole = span_of(flow, bins, 0, span, plain=plain, origin=origin, submitters=tuple(map(_submitter, submitters)))
    return Observation(
        disk, "run", ((0, span),), whole, known, machine or {}, tuple(change[1] for change in changes), host, (), line,
        frozenset(others), by_command=by_command or {}, charged=tuple(Charged(*row) for row in charged),
    )  # fmt: skip


def depth_row(depth):
    return int(depth).bit_length()


def judged(key, meta=None, direction="read", **knobs):
    """The limit of a key (or one of several names of it)."""
    keys = (key,) if isinstance(key, str) else key
    every_limit = limits.limits(Reading("A", phase(direction=direction, **knobs)), direction, meta or {})
    return next(limit for limit in every_limit if limit.key in keys)


def verdict(key, meta=None, direction="read", **knobs):
    return judged(key, meta, direction, **knobs).verdict


def first(meta=None, direction="read", **knobs):
    """Key of what is inferred first; None: nothing is."""
    every_limit = limits.limits(Reading("A", phase(direction=direction, **knobs)), direction, meta or {})
    return every_limit[0].key if every_limit[0].verdict is Verdict.INFERRED else None


def uneven(by):
    """Samples of which one has so many requests of 1,000 more, and the next as many less."""
    moved = [0.1, 0.1, 0.1, 0.1, 0.1 + by / 1000, 0.1 - by / 1000, 0.1, 0.1, 0.1, 0.1]
    return [(at / 10, (at + 1) / 10, 1.0, round(part, 4)) for at, part in enumerate(moved)]


EVERY_GROUP = "flow size seek stream depth latency place plug origin blame submitter readahead"
MIB = 1 << 20
RECORDED = {"readahead_sectors": "256", "max_sectors_kb": "128", "queue_depth": "254", "nr_requests": "256", "fstype": "xfs",
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
    db.execute("UPDATE target SET groups=?, nr_tags=254", (EVERY_GROUP,))
    for name, value in ({**RECORDED, **(settings or {})}).items():
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
