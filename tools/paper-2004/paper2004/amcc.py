# SPDX-License-Identifier: GPL-2.0-or-later
"""The 28 tests of AMCC's white paper of 2004, as commands for a guest, and all 204 figures that were published for them."""

import dataclasses
import functools
import statistics

from raidtrace.benchmark import registry as benchmark
from raidtrace.benchmark.parsers import Figure
from raidtrace.published import tables

MIB = 1 << 20
PUBLISHED_MIB = 20480  # 40 times the paper's memory
MOUNT = "/run/lab/mnt"
# bonnie++ 1.02c's own numbers; 2.00a has others
SEEKS, SEEKERS = 8000, 3
# The paper's iozone had records of 64 KiB. Processor time is free in the lab, so what size they are makes no difference
# (Documentation/reproduction.rst has the figures), but 16 times the calls take the host minutes.
RECORD_KIB = 1024


@dataclasses.dataclass(frozen=True, order=True)
class Test:
    """One test. filesystem: empty for the bare disk. number: the paper's, 1 to 14."""

    array: str
    number: int
    tool: str
    filesystem: str
    setra_sectors: int

    def name(self) -> str:
        """Directory of its files."""
        return f"{self.array}-{self.number:02d}"

    def title(self) -> str:
        """The name that people use."""
        tuned = "" if self.tool == "dd" else " untuned" if self.setra_sectors == tables.UNTUNED else " tuned"
        return f"{self.array} {self.tool} {self.filesystem or 'bare disk'}{tuned}"


@dataclasses.dataclass(frozen=True)
class Row:
    """One published figure, in the unit in which it was published."""

    test: Test
    trial: int
    metric: str
    value: float
    unit: str
    cpu_percent: float | None


@functools.cache
def rows() -> tuple[Row, ...]:
    """All published figures, in the paper's order."""
    figures = []
    for line in tables.rows("amcc"):
        setra = int(line["setra_sectors"] or tables.UNTUNED)
        test = Test(line["array"], int(line["test"]), line["tool"], line["filesystem"], setra)
        cpu = float(line["cpu_percent"]) if line["cpu_percent"] else None
        figures.append(Row(test, int(line["trial"]), line["metric"], float(line["value"]), line["unit"], cpu))
    return tuple(figures)


def tests() -> tuple[Test, ...]:
    """The 28 tests."""
    return tuple(dict.fromkeys(row.test for row in rows()))


def metrics(test: Test) -> tuple[str, ...]:
    """The published figures of a test."""
    return tuple(dict.fromkeys(row.metric for row in rows() if row.test == test))


def trials(test: Test, metric: str) -> tuple[Row, ...]:
    """All trials of one figure."""
    return tuple(row for row in rows() if row.test == test and row.metric == metric)


def published(test: Test, metric: str) -> float:
    """The median of the trials."""
    return statistics.median(row.value for row in trials(test, metric))


def job(test: Test, mib: int) -> tuple[benchmark.Benchmark, benchmark.Job]:
    """The benchmark that a test is, and what it is given."""
    kind = benchmark.find(test.tool)
    if test.tool == "dd":
        (direction,) = metrics(test)
        return kind, kind.job("", "/dev/sda", mib * MIB, {"direction": direction})
    if test.tool == "bonnie++":
        return kind, kind.job(MOUNT, "", mib * MIB, {"seeks": SEEKS, "seekers": SEEKERS})
    tests = "write read"
    return kind, kind.job(MOUNT, "", mib * MIB, {"program": "fio", "record_kib": RECORD_KIB, "tests": tests})


def figures(test: Test, mib: int, output: str) -> dict[str, float]:
    """The figures that the benchmark printed in the guest, by metric, in the published unit."""
    kind, what = job(test, mib)
    by_phase = {figure.phase: figure for figure in kind.parse(output, what)}
    names = metrics(test)
    return {metric: _in_unit(by_phase[metric], trials(test, metric)[0].unit) for metric in names}


def _in_unit(figure: Figure, unit: str) -> float:
    if figure.value is None:
        raise ValueError(f"{figure.phase}: the benchmark says that it could not measure it")
    return figure.value / 1024 if unit == "MiB/s" else figure.value
