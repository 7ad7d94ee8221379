# SPDX-License-Identifier: GPL-2.0-or-later
"""Counters of cgroups that never shrink. The module has 64 rows a disk, one for each process and cgroup, and reassigns them;
so the gain of each row from sample to sample is added up for the path of its cgroup."""

import dataclasses
import os
import pathlib
from collections.abc import Mapping

from raidtrace.recording.sample_rows import SampleRows

MOST = 256  # cgroups of a disk
REMOVED = "removed "  # begin of a path that no longer exists
MOUNTS = pathlib.Path("/proc/self/mounts")
Counts = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class CgroupRow:
    """A row of the module's table. path: of the cgroup, also after the end of the cgroup."""

    pid: int | None
    comm: str | None
    path: str
    counts: Counts


@dataclasses.dataclass
class Followed:
    """A disk since attach or reset. seen: number of the last sample with a row, by path."""

    rows: dict[int, CgroupRow] = dataclasses.field(default_factory=dict)
    sums: dict[str, Counts] = dataclasses.field(default_factory=dict)
    seen: dict[str, int] = dataclasses.field(default_factory=dict)


class Cgroups:
    """The counters from the first call of follow(), or from a later attach or reset. The gain of a row between a sample and
    its reassignment is missing."""

    def __init__(self) -> None:
        self._disks: dict[tuple[int, int], Followed] = {}
        self._samples = 0

    def follow(self, rows: SampleRows) -> dict[tuple[str, str], dict[str, int]]:
        """The counters of each disk and path of a cgroup, after these live rows since attach or reset. Cgroups that were
        removed and have no row are left out, and of more than MOST those that have been idle longest."""
        names = [name for name in rows.counters("submitter") if name in rows.columns("submitter")]
        disks = dict(rows.execute("SELECT target, disk FROM target"))
        keys = {number: (target, start) for number, target, _, start, _ in rows.samples}
        fresh: dict[tuple[int, int], dict[int, CgroupRow]] = {key: {} for key in keys.values()}
        query = f"SELECT sample, submitter, pid, comm, cgroup, {', '.join(names)} FROM submitter WHERE cgroup <> ''"
        for sample, index, pid, comm, path, *counts in rows.execute(query):
            fresh[keys[sample]][index] = CgroupRow(pid, comm, path, tuple(count or 0 for count in counts))
        self._disks = {key: self._disks.get(key, Followed()) for key in fresh}
        charged: dict[tuple[str, str], dict[str, int]] = {}
        where = mount()
        for key, disk in self._disks.items():
            self._advance(disk, fresh[key])
            _forget(disk, self._samples, where)
            for path, sums in disk.sums.items():
                to = charged.setdefault((disks[key[0]], path), dict.fromkeys(names, 0))
                for name, value in zip(names, sums, strict=True):
                    to[name] += value
        self._samples += 1
        return charged

    def _advance(self, disk: Followed, now: Mapping[int, CgroupRow]) -> None:
        """Add the gain of each row since the last sample, or since attach; at the first sample nothing."""
        rows = {}
        for index, row in now.items():
            was = _before(disk.rows.get(index), row)
            if was and row.path.startswith(REMOVED):
                row = dataclasses.replace(row, path=was.path)
            counted = was.counts if was else (0,) * len(row.counts) if self._samples else row.counts
            sums = disk.sums.get(row.path, (0,) * len(row.counts))
            disk.sums[row.path] = tuple(a + b - c for a, b, c in zip(sums, row.counts, counted, strict=True))
            disk.seen[row.path] = self._samples
            rows[index] = row
        disk.rows = rows


def _before(was: CgroupRow | None, row: CgroupRow) -> CgroupRow | None:
    """The row of the last sample, if it had the same process and cgroup. None: the row was reassigned."""
    if was is None or (was.pid, was.comm) != (row.pid, row.comm):
        return None
    if was.path != row.path and not row.path.startswith(REMOVED):
        return None
    return was if all(a <= b for a, b in zip(was.counts, row.counts, strict=True)) else None


def _forget(disk: Followed, sample: int, where: str | None) -> None:
    kept = [path for path, seen in disk.seen.items() if seen == sample or exists(path, where)]
    kept = sorted(kept, key=lambda path: -disk.seen[path])[:MOST]
    disk.sums = {path: disk.sums[path] for path in kept}
    disk.seen = {path: disk.seen[path] for path in kept}


def mount() -> str | None:
    """The directory of the hierarchy with the I/O controller. None: there is none."""
    found = None
    for line in MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        _, directory, kind, options, *_ = line.split(" ")
        if kind == "cgroup" and "blkio" in options.split(","):
            return directory
        if kind == "cgroup2" and found is None:
            found = directory
    return found


def exists(path: str, where: str | None) -> bool:
    """Whether a cgroup still exists. True also for a path that is not known, or cut at its start because it is long."""
    if path.startswith(REMOVED):
        return False
    return where is None or not path.startswith("/") or os.path.isdir(where + path)
