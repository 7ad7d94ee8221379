#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write a recording of any length, without a disk: tests/python/long_recording.py FILE [SECONDS [HZ [DISKS]]]

raidctl's own schema, every group of counters, and what holds in a real recording holds here: depth-time sums to the length
of the sample, size to issued, seek to issued, bin 64 to sequential, place to bytes. The phases are five kinds of load
(KINDS), so that a report has something to tell apart. Nothing is random: the same call writes the same recording.
"""

import collections
import pathlib
import re
import sqlite3
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
HEADER = (TOP / "tools/libraidtrace/raidtrace.h").read_text(encoding="utf-8")
GROUPS = "flow size seek stream depth latency place plug origin blame submitter readahead"
CAPACITY = 1 << 30  # sectors
# name, direction, depths from and to, sectors per request, requests per second, seeks per request in 1/1000, readahead
KINDS = (
    ("read-256", "read", 1, 2, 256, 880, 0, 256),
    ("write", "write", 12, 28, 256, 1500, 3, 256),
    ("read-4096", "read", 14, 33, 256, 3000, 1, 4096),
    ("random", "read", 0, 3, 32, 160, 950, 4096),
    ("mixed", "write", 2, 9, 64, 700, 300, 4096),
)


def counters(name):
    """Columns of a macro RT_NAME_COUNTERS, as the Makefile of the tools puts them in the schema."""
    block = re.search(rf"#define RT_{name.upper()}\(X\)((?:.*\\\n)+.*\n)", HEADER)[1]
    return "".join(f"{column} INTEGER," for column in re.findall(r"X\((\w+),", block))


SCHEMA = (TOP / "tools" / "raidctl" / "store" / "schema.sql").read_text(encoding="utf-8")
SCHEMA = re.sub(r"@([a-z]+_counters)@", lambda match: counters(match[1]), re.sub(r"(?m)^--.*", "", SCHEMA))
VIEW = re.search(r"CREATE VIEW bin AS[^;]*;", SCHEMA)[0]
# As raidctl made recordings before it put the histograms of a sample in one text: they are what is easily written by hand.
SCHEMA = re.sub(r",\s*histograms TEXT", "", SCHEMA).replace(
    VIEW,
    """CREATE TABLE bin (sample INTEGER NOT NULL REFERENCES sample, direction TEXT NOT NULL, kind TEXT NOT NULL,
    bin INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (sample, direction, kind, bin)) WITHOUT ROWID;""",
)


def pack(path):
    """Give a recording the form of today: a text for each sample instead of rows, and a view with these rows."""
    with sqlite3.connect(path) as db:
        db.execute("ALTER TABLE sample ADD COLUMN histograms TEXT")
        db.execute(
            """UPDATE sample SET histograms = coalesce((SELECT json_group_object(direction, json(kinds)) FROM (
            SELECT direction, json_group_object(kind, json(bins)) AS kinds FROM (
            SELECT direction, kind, json_group_object(bin, count) AS bins FROM bin WHERE bin.sample = sample.sample
            GROUP BY direction, kind) GROUP BY direction)), '{}')"""
        )
        db.execute("DROP TABLE bin")
        db.execute(VIEW)
    return path


def shape(kind, span_ns):
    """One sample of a kind of load: direction, flow, bins [(direction, kind, bin, count)], seeks and their distance."""
    _, direction, low, high, sectors, per_second, seek_permille, _ = kind
    issued = max(2, per_second * span_ns // 10**9)
    seeks = issued * seek_permille // 1000
    distance = 1 << 21
    bins = [(direction, "size", sectors, issued - 1), (direction, "size", 8, 1)]
    bins += [(direction, "seek", 64, issued - seeks)] + ([(direction, "seek", 86, seeks)] if seeks else [])
    steps, found = high - low + 1, collections.Counter()
    share = span_ns // steps
    for depth in range(low, high + 1):
        time = span_ns - share * (steps - 1) if depth == low else share
        bins += [(where, "depth_time", depth, time) for where in (direction, "all")]
        result = issued - issued // steps * (steps - 1) if depth == low else issued // steps
        bins += [(where, "depth_issue", depth, result) for where in (direction, "all") if result]
        found[depth.bit_length()] += result
    bins.append(("write" if direction == "read" else "read", "depth_time", 0, span_ns))
    for at in range(12):  # a latency has a spread of about an octave
        count = issued - issued // 12 * 11 if at == 0 else issued // 12
        bins += [(direction, where, 304 + at, count) for where in ("d2c", "i2d", "q2c") if count]
    for row, number in (+found).items():  # requests do not delay each other
        bins += [(direction, "depth_d2c", 40 * row + 23, number), (direction, "depth_d2c_ns", row, number * 10**6)]
    bins += [("all", "unplug", 4, issued // 4), ("all", "ra_async", sectors, 1)]
    if seeks:
        bins += [("all", "blame", 8 * 3 + 1, seeks), ("all", "blame_distance", 8 * 3 + 1, seeks * distance)]
    size = ((issued - 1) * sectors + 8) * 512
    flow = dict(queued=issued, got=issued, inserted=issued, issued=issued, completed=issued, bytes_queued=size,
                bytes_issued=size, bytes_completed=size, sequential=issued - seeks, stream=issued - seeks,
                stream_queued=issued - seeks, bytes_ahead_queued=size,
                seek_forward_sectors=seeks * distance, d2c_sum_ns=issued * 10**6, i2d_sum_ns=issued * 9000,
                q2c_sum_ns=issued * 11 * 10**5, in_flight=low, in_flight_max=33)  # fmt: skip
    return direction, flow, bins, seeks, distance


def fill(db, seconds, hertz, disks):
    """Phases, samples, and for each sample the rows of its kind."""
    span = 10**9 // hertz
    samples = seconds * hertz
    for number, kind in enumerate(KINDS, 1):
        begin, end = (samples * at // len(KINDS) for at in (number - 1, number))
        db.execute(
            "INSERT INTO phase(phase, name, start_ns, end_ns) VALUES(?,?,?,?)",
            (number, kind[0], begin * span, end * span),
        )
        for target in range(1, disks + 1):
            db.execute(
                "INSERT INTO setting(time_ns, target, name, value) VALUES(?,?,'readahead_sectors',?)",
                (begin * span, target, str(kind[7])),
            )
        db.executemany(
            "INSERT INTO sample(sample, target, phase, start_ns, end_ns) VALUES(?,?,?,?,?)",
            ((at * disks + target, target, number, at * span, (at + 1) * span)
             for at in range(begin, end) for target in range(1, disks + 1)),
        )  # fmt: skip
        direction, flow, bins, seeks, distance = shape(kind, span)
        where = "FROM sample WHERE phase = ?"
        db.execute(f"INSERT INTO flow(sample, direction, {', '.join(flow)}) "
                   f"SELECT sample, '{direction}', {', '.join(map(str, flow.values()))} {where}", (number,))  # fmt: skip
        db.execute("CREATE TEMP TABLE shape(direction TEXT, kind TEXT, bin INTEGER, count INTEGER)")
        db.executemany("INSERT INTO shape VALUES(?,?,?,?)", sorted(bins))
        db.execute("INSERT INTO bin SELECT sample, direction, kind, bin, count FROM sample, shape WHERE phase = ?"
                   " ORDER BY 1, 2, 3, 4", (number,))  # fmt: skip
        # the head goes over the disk once in a phase, each disk a little ahead of the one before
        db.execute(f"INSERT INTO bin SELECT sample, '{direction}', 'place', ((sample / {disks} - {begin}) * 256 / "
                   f"({end} - {begin}) + target * 7) % 256, {flow['bytes_issued']} {where}", (number,))  # fmt: skip
        db.execute("DROP TABLE temp.shape")
        readahead = "readahead" if direction == "read" and not seeks else "data"
        for name, part in ((readahead, flow["issued"] - seeks), ("metadata", seeks)):
            db.execute(f"INSERT INTO origin(sample, class, queued, bytes_queued, seeks_queued, issued, bytes_issued, "
                       f"seeks, seek_sectors) SELECT sample, ?, ?, ?, 0, ?, ?, ?, ? {where} AND ? > 0",
                       (name, part, part * 4096, part, part * 4096, part if name == "metadata" else 0,
                        part * distance if name == "metadata" else 0, number, part))  # fmt: skip
        db.execute(f"INSERT INTO submitter(sample, submitter, pid, comm, queued, bytes_queued, seeks_queued) "
                   f"SELECT sample, 1, 4711, 'bonnie++', {flow['queued']}, {flow['bytes_queued']}, {seeks} {where}",
                   (number,))  # fmt: skip


def put(db, table, row):
    """A row of a table. The columns behind those given are NULL."""
    names = [one[1] for one in db.execute(f"PRAGMA table_info({table})")][: len(row)]
    db.execute(f"INSERT INTO {table}({', '.join(names)}) VALUES({', '.join('?' * len(row))})", row)


def write(path, seconds=3600, hertz=10, disks=4):
    """The recording; rows of its table bin."""
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    db.executescript("PRAGMA application_id=0x52544442; PRAGMA user_version=2; PRAGMA journal_mode=OFF;" + SCHEMA)
    db.execute("PRAGMA synchronous=OFF")
    meta = {"simulated": "yes", "end": "complete", "invariants": "hold", "interval": "steady", "kernel": "6.1.0-test",
            "interval_ns": str(10**9 // hertz), "command": '["long_recording.py"]', "abi": "2"}  # fmt: skip
    db.executemany("INSERT INTO meta VALUES(?,?)", meta.items())
    for target in range(1, disks + 1):
        row = (target, f"sd{chr(96 + target)}", "3w-9xxx", "0000:01:00.0", f"0:0:{target}:0", 1, 0, 1, CAPACITY, 256, 256, 72,
               254, 1, 254, 0, GROUPS, 16, CAPACITY // 256)  # fmt: skip
        put(db, "target", row)
    fill(db, seconds, hertz, disks)
    db.commit()
    rows = db.execute("SELECT count(*) FROM bin").fetchone()[0]
    db.close()
    return rows


if __name__ == "__main__":
    print(write(pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:])), "rows of the table bin")
