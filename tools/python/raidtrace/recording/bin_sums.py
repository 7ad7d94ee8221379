# SPDX-License-Identifier: GPL-2.0-or-later
"""Histograms of a long recording, summed by the program bin-sums (tools/histograms): SQLite's own step for each row of ten
million takes a second and a half, and to make objects of them in Python three times that.

Where the program is missing or finds what raidctl does not write there is nothing, and sample_rows reads the rows itself.
"""

import dataclasses
import pathlib
import subprocess
from collections.abc import Mapping

import numpy
from numpy.typing import NDArray

PROGRAM = pathlib.Path(__file__).resolve().parents[3] / "bin" / "bin-sums"
FIELDS = 9  # of a sample, as bin-sums.c says
DEPTHS = {"read": 1, "write": 4}  # the first field of each
IDLE, SEEKS = 7, 8
Ints = NDArray[numpy.int64]


@dataclasses.dataclass(frozen=True)
class BinSums:
    """sums: (direction, kind) -> (target, phase) -> bin -> count. samples: a row of FIELDS for each that has any of them.

    places: (direction, kind) -> sample, bin and count of each row.
    """

    sums: Mapping[tuple[str, str], Mapping[tuple[int, int], Mapping[int, int]]]
    samples: Ints
    places: Mapping[tuple[str, str], tuple[Ints, Ints, Ints]]

    def depth(self, direction: str, size: int) -> Ints:
        """By number of sample: time counted (ns), the same weighted by depth, and the last depth; a row each."""
        found = numpy.zeros((3, size), dtype=numpy.int64)
        found[:, self.samples[:, 0]] = self.samples[:, DEPTHS[direction] : DEPTHS[direction] + 3].T
        return found

    def field(self, at: int, size: int, none: int) -> Ints:
        """A field by number of sample, `none` for samples without a row."""
        found = numpy.full(size, none, dtype=numpy.int64)
        found[self.samples[:, 0]] = self.samples[:, at]
        return found


def begin(path: pathlib.Path, last: int) -> subprocess.Popen[bytes] | None:
    """Start the program on samples up to the number last. None: there is no such program. Its output, which it writes at the
    end, is for finish(); if nobody takes it, the program ends with the pipe."""
    try:
        return subprocess.Popen([PROGRAM, path, str(last)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return None


def finish(running: subprocess.Popen[bytes] | None) -> BinSums | None:
    """What a program that was begun found. None: see above."""
    if running is None:
        return None
    output, _ = running.communicate()
    return None if running.returncode else _parse(output)


def read(path: pathlib.Path, last: int) -> BinSums | None:
    """Samples up to the number last, at once. None: see above."""
    return finish(begin(path, last))


def _parse(output: bytes) -> BinSums:
    head, _, rest = output.partition(b"\n")
    histograms, *numbers = map(int, head.split())
    *lines, rest = rest.split(b"\n", histograms)
    names = [tuple(line.decode("ascii").split()) for line in lines]
    keys = [(direction, kind) for direction, kind in names]
    table = numpy.frombuffer(rest, dtype=numpy.int64)
    ends = numpy.cumsum([n * width for n, width in zip(numbers, (5, FIELDS, 4), strict=True)]).tolist()
    sums: dict[tuple[str, str], dict[tuple[int, int], dict[int, int]]] = {key: {} for key in keys}
    for histogram, target, phase, at, count in table[: ends[0]].reshape(-1, 5).tolist():
        sums[keys[histogram]].setdefault((target, phase), {})[at] = count
    places = table[ends[1] : ends[2]].reshape(-1, 4)
    of = {key: places[places[:, 1] == at] for at, key in enumerate(keys) if key[1] == "place"}
    return BinSums(sums, table[ends[0] : ends[1]].reshape(-1, FIELDS),
                   {key: (rows[:, 0], rows[:, 2], rows[:, 3]) for key, rows in of.items()})  # fmt: skip
