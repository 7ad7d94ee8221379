# SPDX-License-Identifier: GPL-2.0-or-later
"""The runs of make reproduce: the paper's 28 tests, experiments that change one thing, seeks, and small runs that tests
repeat."""

import dataclasses

from paper2004 import amcc
from paper2004.reproduce_run import Run

# On all of the disk mkfs of ext2 and ext3 writes inode tables longer than a small run takes.
SMALL = ("PARTITION_MIB=32768",)
SCHEDULER = ("QUEUE=scheduler=anticipatory",)  # 2.6.5's default one


@dataclasses.dataclass(frozen=True)
class Experiment:
    """The same small run twice, once with one thing changed. metrics: the figures that it is about."""

    name: str
    what: str
    base: Run
    changed: Run
    metrics: tuple[str, ...]


def find(array: str, number: int) -> amcc.Test:
    """One of the paper's tests."""
    return next(test for test in amcc.tests() if (test.array, test.number) == (array, number))


def paper() -> list[Run]:
    """The 28 tests in their own size."""
    return [Run(test.name(), test) for test in amcc.tests()]


def short() -> list[Run]:
    """Small runs of a read and a write path of either array: what they come to is in the committed reproduction.json."""
    return [
        Run("short-raid0-01", find("raid0", 1), 128, 64),
        Run("short-raid5-02", find("raid5", 2), 256, 64),
        Run("short-raid0-04", find("raid0", 4), 256, 64),
        Run("short-raid5-07", find("raid5", 7), 256, 64),
    ]


def memory_mib(mib: int) -> int:
    """The memory of a guest for a smaller run: a fortieth of the data for the page cache, as in the paper, plus the guest's
    own."""
    return 24 + mib // 40


def _experiment(
    name: str, what: str, test: amcc.Test, mib: int, metrics: tuple[str, ...], settings: tuple[str, ...] = (),
    environment: tuple[str, ...] = (),
) -> Experiment:  # fmt: skip
    memory = memory_mib(mib)
    base = Run(f"base-{test.name()}-{mib}", test, mib, memory)
    changed = Run(f"try-{name}", test, mib, memory, settings, environment)
    return Experiment(name, what, base, changed, metrics)


def experiments() -> list[Experiment]:
    """One for each mechanism that the document names."""
    chosen = [
        _experiment("partition", "the file system on the whole disk, not on a partition from sector 63 on",
                    find("raid0", 7), 1024, ("read",), environment=("PARTITION_SECTOR=0",)),
        _experiment("alignment", "xfs on the whole disk, made for its chunks and drives: mkfs.xfs -d su=64k,sw=12",
                    find("raid0", 7), 1024, ("read", "rewrite"),
                    environment=("PARTITION_SECTOR=0", "XFS_OPTIONS=-d su=64k,sw=12")),
        _experiment("part", "a read takes no additional time for each chunk: ``controller.part_us`` 0",
                    find("raid0", 7), 1024, ("read", "rewrite"), settings=("controller.part_us=0",)),
        _experiment("turnover", "indirect blocks stay in the page cache, as in the kernel of today",
                    find("raid0", 4), 4096, ("rewrite", "read"), environment=("TURNOVER_S=0",)),
        _experiment("parity", "RAID 5's exclusive-or takes no time: ``controller.parity_kib_s`` 100000000",
                    find("raid5", 8), 1024, ("write", "rewrite"), settings=("controller.parity_kib_s=100000000",)),
    ]  # fmt: skip
    return chosen + arms()


ARMS = (("track", "half", 300), ("track", "double", 1200), ("full", "half", 5100), ("full", "double", 20400))


def arms() -> list[Experiment]:
    """The two seek times without a source, half and double."""
    chosen = []
    for key, times, value in ARMS:
        constant = f"drive.seek_{key}_us"
        chosen.append(
            _experiment(f"arm-raid0-{key}-{times}", f"``{constant}`` {value}, {times} of the assumed value",
                        find("raid0", 7), 1024, ("write", "rewrite", "read"), settings=(f"{constant}={value}",))  # fmt: skip
        )
    return chosen


def _seeks(name: str, test: amcc.Test) -> Run:
    """As bonnie++ 1.02c made them. ext3's files lie as its driver of 2.6.5 laid them out, which was as ext2's does."""
    layout = ("DRIVER=ext2",) if test.filesystem == "ext3" else ()
    return Run(f"{name}-{test.name()}", test, environment=SCHEDULER + layout, seeks=1)


def seeks() -> dict[amcc.Test, Run]:
    """Each of bonnie++'s tests -> its seeks."""
    return {test: _seeks("seeks", test) for test in amcc.tests() if test.tool == "bonnie++"}


def short_seeks() -> Run:
    """For whoever repeats the short runs: seeks, small."""
    test = find("raid0", 5)
    run = _seeks("short-seeks", test)
    return dataclasses.replace(run, mib=256, memory_mib=64, environment=run.environment + SMALL)


def drawn(draws: int) -> list[Run]:
    """The tests and their seeks again, under the draws of chance 1 to draws - 1."""
    return [run.drawn(draw) for draw in range(1, draws) for run in (*paper(), *seeks().values())]


def large() -> list[Run]:
    """All but the short ones, each run once."""
    runs = paper()
    for experiment in experiments():
        runs += [experiment.base, experiment.changed]
    runs += [*seeks().values(), short_seeks()]
    return list(dict.fromkeys(runs))
