# SPDX-License-Identifier: GPL-2.0-or-later
"""What the queues of a cell's disks were given, by disk, phase and direction, read from its recording.

With md above disks both levels are there: how many bios each got, what was split, what was sequential, and each one's own
readahead. Of a disk without requests (md) `issued` and what follows from it is not available: None.
"""

import pathlib

from raidtrace.quantity import trials
from raidtrace.recording import recording

EXACT_DEPTHS = 256

_FLOW = """
SELECT t.target, t.disk, t.bio_based, p.name, f.direction,
       sum(f.queued), sum(f.splits), sum(f.back_merges), sum(f.issued), sum(f.bytes_queued), sum(f.bytes_issued),
       sum(f.sequential)
FROM flow f JOIN sample s USING(sample) JOIN phase p USING(phase) JOIN target t ON t.target = s.target
WHERE p.name != 'outside' AND f.direction IN ('read', 'write')
GROUP BY t.target, p.name, f.direction ORDER BY t.target, min(s.start_ns)
"""
_SECONDS = """
SELECT s.target, p.name, sum(s.end_ns - s.start_ns) / 1e9 FROM sample s JOIN phase p USING(phase) GROUP BY 1, 2
"""
_DEPTH = """
SELECT s.target, p.name, b.direction, sum(b.bin * b.count) * 1.0 / sum(b.count), max(b.bin)
FROM bin b JOIN sample s USING(sample) JOIN phase p USING(phase) WHERE b.kind = 'depth_time' GROUP BY 1, 2, 3
"""
# bytes of each sample, in order of time; md has no completions of requests, so what was queued
_SAMPLES = """
SELECT s.target, p.name, f.direction, s.start_ns, s.end_ns, coalesce(f.bytes_queued, 0)
FROM sample s JOIN phase p USING(phase) LEFT JOIN flow f USING(sample)
WHERE p.name != 'outside' AND f.direction IN ('read', 'write') ORDER BY s.start_ns, s.sample
"""
_READAHEAD = """
SELECT target, value FROM setting WHERE name = 'readahead_sectors' ORDER BY time_ns DESC
"""


def read(path: pathlib.Path) -> tuple[tuple[object, ...], ...]:
    """Rows of the index's table `queue`, without the cell."""
    with recording.connect(path) as db:
        seconds = {(target, phase): value for target, phase, value in db.execute(_SECONDS)}
        depths = {
            (target, phase, direction): mean if most < EXACT_DEPTHS else None
            for target, phase, direction, mean, most in db.execute(_DEPTH)
        }
        readahead = {target: int(value) for target, value in db.execute(_READAHEAD)}
        samples: dict[tuple[int, str, str], list[tuple[int, int, int]]] = {}
        for target, phase, direction, start, end, amount in db.execute(_SAMPLES):
            samples.setdefault((target, phase, direction), []).append((start, end, amount))
        rows = []
        for target, disk, bio_based, phase, direction, *counts in db.execute(_FLOW):
            queued, splits, merges, issued, bytes_queued, bytes_issued, sequential = counts
            requests = (None, None, None) if bio_based else (issued, bytes_issued, sequential)
            mean = None if bio_based else depths.get((target, phase, direction))
            steady = trials.steadiness(trials.windows(samples.get((target, phase, direction), [])))
            rows.append(
                (disk, phase, direction, seconds.get((target, phase)), queued, splits, merges, requests[0], bytes_queued,
                 requests[1], requests[2], mean, readahead.get(target), *(steady or (None, None)))
            )  # fmt: skip
        return tuple(rows)


def output(path: pathlib.Path) -> tuple[str, str]:
    """What the command wrote to standard output and to standard error."""
    with recording.connect(path) as db:
        texts = recording.output(db)
    return texts["stdout"], texts["stderr"]
