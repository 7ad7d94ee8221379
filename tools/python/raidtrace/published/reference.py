# SPDX-License-Identifier: GPL-2.0-or-later
"""Published measurements that runs are compared with.

amcc-9500s-2004.csv: AMCC, "Benchmarking the 3ware 9000 Controller Using Linux Kernel 2.6", version 1.1, 2004.
Units there are as published (MiB/s for dd, KiB/s for Bonnie++ and IOzone); here everything becomes KiB/s.
"""

import csv
import dataclasses
import functools
import pathlib

TABLE = pathlib.Path(__file__).parent / "amcc-9500s-2004.csv"
KIB_PER_UNIT = {"KiB/s": 1.0, "MiB/s": 1024.0}
UNTUNED_SETRA = 256  # what the paper's untuned runs had: the default of its kernel
TRIAL = 1  # the trial that the paper's own text quotes (88.1 and 410.7)


@dataclasses.dataclass(frozen=True)
class Published:
    """One published rate."""

    array: str
    tool: str
    filesystem: str
    setra_sectors: int
    trial: int
    metric: str
    kib_per_s: float


@functools.cache
def table(path: pathlib.Path = TABLE) -> tuple[Published, ...]:
    """All published rates; rows that are not a rate (seeks per second) are left out."""
    rows = []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["unit"] not in KIB_PER_UNIT:
                continue
            setra = int(row["setra_sectors"] or UNTUNED_SETRA)
            rate = float(row["value"]) * KIB_PER_UNIT[row["unit"]]
            key = (row["array"], row["tool"], row["filesystem"], setra, int(row["trial"]), row["metric"])
            rows.append(Published(*key, rate))
    return tuple(rows)


def kib_per_s(array: str, tool: str, filesystem: str, setra_sectors: int, metric: str) -> float | None:
    """Published rate of the quoted trial in KiB/s. None: not published."""
    key = (array, tool, filesystem, setra_sectors, TRIAL, metric)
    for p in table():
        if (p.array, p.tool, p.filesystem, p.setra_sectors, p.trial, p.metric) == key:
            return p.kib_per_s
    return None
