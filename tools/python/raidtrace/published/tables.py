# SPDX-License-Identifier: GPL-2.0-or-later
"""Published figures that a sweep's results are compared with: which row belongs to which cell.

Rates become KiB/s. The papers' units are kept where they say one; "MB/s" of the Caltech page is taken as 1000 KiB/s, as it
gives bonnie++'s K/sec divided by 1000; kB/s of the HOWTO is bonnie's K/sec, KiB/s.
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
# profile of the lab -> the array in the table; tables that are not named have one array, or tell arrays by other settings
ARRAYS = {
    "amcc": {"9500s-12-raid0": "raid0", "9500s-12-raid5": "raid5"},
    "coraid": {"9500s-12-raid0": "raid0", "9500s-12-raid5": "raid5", "jbod-4": "jbod"},
}
KIB = {"KiB/s": 1.0, "MiB/s": 1024.0, "kB/s": 1.0, "MB/s": 1000.0}
UNTUNED = 256  # setra of the untuned runs of 2004: the default of that kernel
QUOTED = "1"  # the trial that the paper of 2004 itself quotes (88.1 and 410.7 MB/s)


@dataclasses.dataclass(frozen=True)
class Range:
    """The published range of a figure: lowest, highest and the middle, in `unit` (KiB/s or 1/s).

    note: the rest of the set-up; differs: terms that are not those of the test to compare; values: all, as they were printed.
    """

    low: float
    middle: float
    high: float
    unit: str
    note: str = ""
    differs: tuple[Difference, ...] = ()
    values: tuple[float, ...] = ()

    def same_test(self) -> bool:
        """Whether its figure may be compared with the other."""
        return terms.same_test(self.differs)

    def difference(self) -> str:
        """Every difference from the published set-up, as a text. Empty: none is known."""
        text = ", ".join(one.instead() for one in self.differs)
        text = text if self.same_test() else f"not the same test: {text}"
        return "; ".join(part for part in (self.note, text) if part)


Row = Mapping[str, str]


@functools.cache
def rows(table: str) -> tuple[Row, ...]:
    with (DIRECTORY / FILES[table]).open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def find(table: str, axes: Mapping[str, object], benchmark: str, phase: str, ours: Terms = terms.NONE) -> Range | None:
    """The published counterpart of a phase of a cell. None: not published, for example a setting that kernels of that time
    did not have. ours: terms of the cell's test, which are compared with the published ones."""
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
    """The figure that the paper of 2004 quotes, in KiB/s. None: not published, or no rate of bytes."""
    for row in _trials(array, tool, filesystem, setra_sectors, metric):
        if row["trial"] == QUOTED and row["unit"] in KIB:
            return float(row["value"]) * KIB[row["unit"]]
    return None


def _caltech(axes: Mapping[str, object], benchmark: str, phase: str) -> Range | None:
    # its step 5 with the controllers in RAID 0, chunk 64 KiB; ReiserFS was measured in step 3 only, both cards on one bus
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
