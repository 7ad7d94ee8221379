# SPDX-License-Identifier: GPL-2.0-or-later
"""raidtrace's counters against the log of the simulated controller."""

import collections
import csv
import pathlib

SECTOR_BYTES = 512
DIRECTIONS = {"read": "READ", "write": "WRITE", "flush": "SYNCHRONIZE_CACHE"}


def rows(path: pathlib.Path) -> list[dict[str, str]]:
    """A CSV file with a header."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def between(log: list[dict[str, str]], first: int, last: int) -> list[dict[str, str]]:
    """Commands of the log between the reads of one sector at `first` and at `last`."""
    places = [
        number
        for number, row in enumerate(log)
        if row["name"] == "READ" and row["sectors"] == "1" and int(row["lba"]) in (first, last)
    ]
    if len(places) != 2:
        raise ValueError(f"{len(places)} marks in the controller's log, 2 expected")
    return log[places[0] + 1 : places[1]]


def of_disk(export: pathlib.Path, table: str, disk: str) -> list[dict[str, str]]:
    """A table's rows of the samples of one disk; of all when none is named."""
    every = rows(export / f"{table}.csv")
    if not disk:
        return every
    targets = {row["target"] for row in rows(export / "target.csv") if row["disk"] == disk}
    samples = {row["sample"] for row in rows(export / "sample.csv") if row["target"] in targets}
    return [row for row in every if row["sample"] in samples]


def differences(export: pathlib.Path, commands: list[dict[str, str]], disk: str = "") -> list[str]:
    """The differences in number, bytes and sizes of requests, by direction. Empty if there are none."""
    wrong = []
    flows = of_disk(export, "flow", disk)
    bins = [row for row in of_disk(export, "histogram", disk) if row["kind"] == "size"]
    for direction, name in DIRECTIONS.items():
        requested = [int(row["sectors"]) for row in commands if row["name"] == name]
        mine = [row for row in flows if row["direction"] == direction]
        counted = sum(int(row["issued"]) for row in mine)
        if counted != len(requested):
            wrong.append(f"{direction}: {counted} requests issued, the controller was given {len(requested)}")
        moved = sum(int(row["bytes_completed"]) for row in mine)
        if direction != "flush" and moved != SECTOR_BYTES * sum(requested):
            wrong.append(f"{direction}: {moved} bytes completed, the controller moved {SECTOR_BYTES * sum(requested)}")
        # One bin per sector up to 256, the largest request that 3w-9xxx takes.
        sizes = collections.Counter(requested) if direction != "flush" else collections.Counter()
        binned: collections.Counter[int] = collections.Counter()
        for row in bins:
            if row["direction"] == direction != "flush":
                binned[int(row["bin"])] += int(row["count"])
        if sizes != binned:
            wrong.append(
                f"{direction}: sizes {dict(binned - sizes)} counted, {dict(sizes - binned)} in the controller's log"
            )
    if not any(row["name"] in ("READ", "WRITE") for row in commands):
        wrong.append("the controller's log has no read or write: nothing was compared")
    return wrong
