# SPDX-License-Identifier: GPL-2.0-or-later
"""The rows of a sweep's table `queue`: counters of each disk, phase and direction of a cell, from its recording.

With md above disks both levels are there. A disk without requests (md) has no `issued`, and nothing derived from it: None.
"""

import pathlib
from collections.abc import Iterator

from raidtrace.quantity import trials
from raidtrace.recording import connection, sample_rows, spans
from raidtrace.recording.figures import Figures
from raidtrace.recording.spans import DATA, OUTSIDE, Recorded, merged

Row = tuple[object, ...]


def read(path: pathlib.Path) -> tuple[str, str, tuple[Row, ...]]:
    """Standard output and standard error of the command, and the rows without the cell. RecordingError."""
    with sample_rows.opened(path) as rows:
        texts, recorded = connection.output(rows.db), spans.read(path, rows)
        return texts["stdout"], texts["stderr"], tuple(_rows(recorded, rows))


def _rows(recorded: Recorded, rows: sample_rows.SampleRows) -> Iterator[Row]:
    names = list(dict.fromkeys(phase.name for phase in recorded.phases if phase.name != OUTSIDE))
    for target in recorded.targets:
        ahead = next((int(one.value) for one in recorded.settings
                      if (one.target, one.name) == (target.target, "readahead_sectors")), None)  # fmt: skip
        for name in names:
            mine = [span for span in recorded.spans if (span.target, span.phase) == (target.target, name)]
            samples = rows.of(target.target, [span.number for span in mine])
            seconds = sum(end - start for *_, start, end in samples) / 1e9
            for direction in (direction for direction in DATA if any(direction in span.flow for span in mine)):
                f = Figures(merged(mine), direction)
                octets = rows.flow(direction, "bytes_queued") or rows.filled(0)
                steady = trials.steadiness(trials.windows([(start, end, octets[at]) for at, *_, start, end in samples]))
                requests = (None, None, None) if target.bio_based else tuple(
                    f.known(counter) for counter in ("issued", "bytes_issued", "sequential"))  # fmt: skip
                depth = None if target.bio_based or f.depth_is_bound() else f.depth()
                yield (target.disk, name, direction, seconds, f.known("queued"), f.known("splits"),
                       f.known("back_merges"), requests[0], f.known("bytes_queued"), *requests[1:], depth, ahead,
                       *(steady or (None, None)))  # fmt: skip
