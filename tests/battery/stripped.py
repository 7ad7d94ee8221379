#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Take counters from recordings and explain the rest: the cause stays the same or becomes open, and never another one.

stripped.py DIRECTORY   all recordings below it, each without one group of counters after the other, without settings,
without the machine's counters, and as an imported trace. The last line has the totals.
"""

from __future__ import annotations

import contextlib
import pathlib
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "tools/python")]
from raidtrace.explain import runs  # noqa: E402
from raidtrace.quantity.bins import KINDS  # noqa: E402
from raidtrace.recording.sample_rows import DIRECTIONS  # noqa: E402
from raidtrace.recording.spans import GROUPS  # noqa: E402

Causes = dict[tuple[str, str, str], str]  # disk, phase, direction -> key of the first inferred cause, or ""
OF_GROUP = {  # counters of table flow
    "stream": ("stream", "stream_queued"),
    "seek": ("sequential", "sequential_queued", "seek_forward_sectors", "seek_backward_sectors",
             "seek_queued_forward_sectors", "seek_queued_backward_sectors"),
    "depth": ("in_flight", "in_flight_max", "depth_sum_ns"),
    "latency": ("d2c_sum_ns", "i2d_sum_ns", "q2c_sum_ns"),
    "readahead": ("ahead_queued", "bytes_ahead_queued"),
}  # fmt: skip
TABLES = {"origin": "origin", "submitter": "submitter", "hwq": "hwq"}
IMPORTED = ("flow", "size", "seek", "stream", "depth", "latency", "plug", "readahead")


def without(db: sqlite3.Connection, group: str) -> None:
    """Remove what a group counts: its bins and rows; its counters become 0, as the module leaves them."""
    kinds = [name for name, kind in KINDS.items() if kind.group == group]
    paths = ",".join(f"'$.{direction}.{kind}'" for direction in DIRECTIONS for kind in kinds)
    if paths:
        db.execute(f"UPDATE sample SET histograms=json_remove(histograms,{paths}) WHERE histograms IS NOT NULL")
    there = {row[1] for row in db.execute("PRAGMA table_info(flow)")}
    if counters := [name for name in OF_GROUP.get(group, ()) if name in there]:
        db.execute(f"UPDATE flow SET {', '.join(f'{name}=0' for name in counters)}")
    if group in TABLES:
        db.execute(f"DELETE FROM {TABLES[group]}")
    rows = db.execute("SELECT target, groups FROM target").fetchall()
    for target, groups in rows:
        kept = " ".join(word for word in (groups or "").split() if word != group)
        db.execute("UPDATE target SET groups=? WHERE target=?", (kept, target))


def emptied(*tables: str) -> Callable[[sqlite3.Connection], None]:
    def strip(db: sqlite3.Connection) -> None:
        for table in tables:
            db.execute(f"DELETE FROM {table}")

    return strip


def imported(db: sqlite3.Connection) -> None:
    emptied("setting", "host", "stack")(db)
    for group in set(GROUPS) - set(IMPORTED):
        without(db, group)
    db.execute("DELETE FROM meta WHERE key NOT IN ('abi', 'interval_ns', 'end', 'start_ns', 'end_ns', 'invariants')")
    db.execute("INSERT INTO meta VALUES('source', 'blktrace version 7, little-endian')")
    db.execute("UPDATE target SET driver=NULL, pci=NULL, hctl=NULL, unit_3ware=NULL, nr_tags=NULL, max_sectors=NULL")


def exported(db: sqlite3.Connection) -> None:
    emptied("setting", "host")(db)
    for group in ("seek", "stream", "place", "plug", "origin", "blame", "submitter", "readahead", "hwq"):
        without(db, group)


def only_depth(db: sqlite3.Connection) -> None:
    exported(db)
    for group in ("size", "latency"):
        without(db, group)


STRIPS: dict[str, Callable[[sqlite3.Connection], None]] = {
    **{f"without {group}": lambda db, group=group: without(db, group) for group in GROUPS if group != "flow"},
    "without settings": emptied("setting"),
    "without the machine's counters": emptied("host"),
    "as imported": imported,
    "as exported": exported,
    "with depth alone": only_depth,
}


def causes(path: pathlib.Path) -> Causes:
    """The first inferred cause of each chain of a recording."""
    chains = runs.one(path).chains
    return {(one.disk, one.phase, one.direction): next(iter(one.limited_by()), "") for one in chains}


def different(path: pathlib.Path, place: pathlib.Path) -> Iterator[str]:
    """A line for each cause that a stripped copy of a recording names in place of another one."""
    whole = causes(path)
    for name, strip in STRIPS.items():
        copy = place / "stripped.rtdb"
        shutil.copy(path, copy)
        with contextlib.closing(sqlite3.connect(copy)) as db:
            strip(db)
            db.commit()
        for key, cause in causes(copy).items():
            if cause and cause != whole.get(key):
                yield f"{path} {' '.join(key)}, {name}: {cause} instead of {whole.get(key) or 'open'}"


def main(words: list[str]) -> int:
    recordings = sorted(path for word in words for path in pathlib.Path(word).rglob("*.rtdb"))
    wrong = 0
    inferred = 0
    with tempfile.TemporaryDirectory() as place:
        for path in recordings:
            inferred += any(causes(path).values())
            for line in different(path, pathlib.Path(place)):
                print(line, flush=True)
                wrong += 1
    print(f"{len(recordings)} recordings, {inferred} with a cause, {len(STRIPS)} copies of each: {wrong} other causes")
    return 1 if wrong or not inferred else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
