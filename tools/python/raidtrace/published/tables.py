# SPDX-License-Identifier: GPL-2.0-or-later
"""Published figures for comparison with the results of a sweep, and the row that belongs to each cell.

Rates become KiB/s. The units of the papers are kept if they give one. "MB/s" of the Caltech page is 1000 KiB/s, because
it is bonnie++'s K/sec divided by 1000. kB/s of the HOWTO is bonnie's K/sec, which is KiB/s.
"""

import csv
import dataclasses
import functools
import pathlib
import statistics
from collections.abc import Mapping

from raidtrace.benchmark import terms
from raidtrace.benchmark.terms import Difference, Terms

DIRECTORY = pathlib.Path(__file__).parent
FILES = {
    "amcc": "amcc-9500s-2004.csv",
    "caltech": "caltech-3ware-2002.csv",
    "coraid": "coraid-sr-2007.csv",
    "howto": "software-raid-howto.csv",
}
# profile of the lab -> array in the table. Other tables have one array, or distinguish arrays by other settings.
ARRAYS = {
    "amcc": {"9500s-12-raid0": "raid0", "9500s-12-raid5": "raid5"},
    "coraid": {"9500s-12-raid0": "raid0", "9500s-12-raid5": "raid5", "jbod-4": "jbod"},
}
KIB = {"KiB/s": 1.0, "MiB/s": 1024.0, "kB/s": 1.0, "MB/s": 1000.0}
UNTUNED = 256  # setra of the untuned runs of 2004, the default of that kernel
QUOTED = "1"  # the trial that the paper of 2004 quotes (88.1 and 410.7 MB/s)


@dataclasses.dataclass(frozen=True)
class Range:
    """The published range of a figure: lowest, median and highest, in `unit` (KiB/s or 1/s).

    note: the rest of the set-up. differs: terms that differ from the test to compare. values: all figures, in `unit`.
    """

    low: float
    middle: float
    high: float
    unit: str
    note: str = ""
    differs: tuple[Difference, ...] = ()
    values: tuple[float, ...] = ()

    def same_test(self) -> bool:
        """Whether the figure is comparable with the other one."""
        return terms.same_test(self.differs)

    def difference(self) -> str:
        """All differences from the published set-up as text. Empty: none is known."""
        text = ", ".join(one.instead() for one in self.differs)
        text = text if self.same_test() else f"not the same test: {text}"
        return "; ".join(part for part in (self.note, text) if part)


Row = Mapping[str, str]


@functools.cache
def rows(table: str) -> tuple[Row, ...]:
    with (DIRECTORY / FILES[table]).open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def find(table: str, axes: Mapping[str, object], benchmark: str, phase: str, ours: Terms = terms.NONE) -> Range | None:
    """The published counterpart of a phase of a cell. None: not published, for example a setting that kernels of that
    time did not have. ours: terms of the cell's test, for comparison with the published ones."""
    if table not in FILES or axes.get("nomerges") or axes.get("max_sectors_kib"):
        return None
    row = {"amcc": _amcc, "caltech": _caltech, "coraid": _coraid, "howto": _howto}[table](axes, benchmark, phase)
    theirs = terms.PUBLISHED.get((table, benchmark), terms.NONE)
    return dataclasses.replace(row, differs=terms.differences(theirs, ours, phase)) if row else None


def _range(values: list[float], unit: str, note: str = "") -> Range | None:
    if not values:
        return None
    factor = KIB.get(unit, 1.0)
    ordered = sorted(value * factor for value in values)
    middle, kind = statistics.median(ordered), "KiB/s" if unit in KIB else unit
    return Range(ordered[0], middle, ordered[-1], kind, note, values=tuple(ordered))


def _amcc(axes: Mapping[str, object], benchmark: str, phase: str) -> Range | None:
    array = ARRAYS["amcc"].get(str(axes.get("array")))
    filesystem = "" if axes.get("filesystem") == "none" else axes.get("filesystem")
    trials = _trials(array, benchmark, filesystem, axes.get("readahead_sectors"), phase)
    return _range([float(row["value"]) for row in trials], trials[0]["unit"] if trials else "")


def _trials(*key: object) -> list[Row]:
    """The rows of the paper of 2004 with this array, tool, file system, setra and metric."""
    names = ("array", "tool", "filesystem")
    return [
        row
        for row in rows("amcc")
        if (*(row[name] for name in names), int(row["setra_sectors"] or UNTUNED), row["metric"]) == key
    ]


def quoted(array: str, tool: str, filesystem: str, setra_sectors: int, metric: str) -> float | None:
    """The figure that the paper of 2004 quotes, in KiB/s. None: not published, or not a rate of bytes."""
    for row in _trials(array, tool, filesystem, setra_sectors, metric):
        if row["trial"] == QUOTED and row["unit"] in KIB:
            return float(row["value"]) * KIB[row["unit"]]
    return None


def _caltech(axes: Mapping[str, object], benchmark: str, phase: str) -> Range | None:
    # Its step 5 with the controllers in RAID 0, chunk 64 KiB. ReiserFS was measured only in step 3, with both cards on
    # one bus.
    step = "3" if axes.get("filesystem") == "reiserfs" else "5"
    key = (step, str(axes.get("md_chunk_kib")), axes.get("filesystem"), phase)
    for row in rows("caltech"):
        if (row["step"], row["md_chunk_kib"], row["filesystem"], row["metric"]) == key:
            note = "both controllers on one PCI bus" if step == "3" else ""
            return _range([float(row["low"]), float(row["high"])], row["unit"], note)
    return None


def _coraid(axes: Mapping[str, object], benchmark: str, phase: str) -> Range | None:
    array, level = str(axes.get("array")), str(axes.get("md_level", "none"))
    if array == "jbod-4":
        kind, disks = (level, str(axes.get("md_members"))) if level != "none" else ("jbod", "1")
        note = "" if kind != "jbod" else "one disk"
    else:
        kind, disks = {"9500s-12-raid0": ("raid0", "15"), "9500s-12-raid5": ("raid5", "14")}.get(array, ("", ""))
        note = f"published with {disks} disks"
    key = ("SR1521", "4200", kind, disks, phase)
    for row in rows("coraid"):
        if (row["appliance"], row["mtu"], row["array"], row["disks"], row["metric"]) == key:
            return _range([float(row["value"])], row["unit"], note)
    return None


def _howto(axes: Mapping[str, object], benchmark: str, phase: str) -> Range | None:
    tagged = {1: "no", 8: "depth8"}.get(int(str(axes.get("queue_depth", 0))))
    key = (axes.get("md_level"), tagged, str(axes.get("md_chunk_kib")), str(axes.get("fs_block_kib")), phase)
    for row in rows("howto"):
        if (row["level"], row["tcq"], row["chunk_kib"], row["fs_block_kib"], row["metric"]) == key:
            return _range([float(row["value"])], row["unit"])
    return None
