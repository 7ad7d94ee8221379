# SPDX-License-Identifier: GPL-2.0-or-later
"""What make reproduce runs: the paper's 28 tests, experiments that change one thing, and small runs that tests repeat."""

import dataclasses

from raidtrace import amcc
from raidtrace.reproduce_run import Run


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


def processor_us(test: amcc.Test, metric: str) -> int:
    """Processor time per MiB of one of the paper's bonnie++ phases: its per cent of the phase's time. One trial is enough."""
    row = amcc.trials(test, metric)[0]
    assert row.cpu_percent is not None
    return round(row.cpu_percent / 100 * 1e6 * 1024 / row.value)


def _experiment(
    name: str, what: str, test: amcc.Test, mib: int, metrics: tuple[str, ...], settings: tuple[str, ...] = (),
    environment: tuple[str, ...] = (),
) -> Experiment:  # fmt: skip
    # memory left for the page cache: a fortieth, as in the paper, above what the guest itself needs
    memory = 24 + mib // 40
    base = Run(f"base-{test.name()}-{mib}", test, mib, memory)
    changed = Run(f"try-{name}", test, mib, memory, settings, environment)
    return Experiment(name, what, base, changed, metrics)


def experiments() -> list[Experiment]:
    """One for each mechanism that the document names."""
    found = [
        _experiment("partition", "the file system on the whole disk, not on a partition from sector 63 on",
                    find("raid0", 7), 1024, ("read",), environment=("PARTITION_SECTOR=0",)),
        _experiment("alignment", "xfs on the whole disk, told of the stripes: mkfs.xfs -d su=64k,sw=12",
                    find("raid0", 7), 1024, ("read", "rewrite"),
                    environment=("PARTITION_SECTOR=0", "XFS_OPTIONS=-d su=64k,sw=12")),
        _experiment("part", "a read waits for no firmware: ``controller.part_us`` 0",
                    find("raid0", 7), 1024, ("read", "rewrite", "seeks"), settings=("controller.part_us=0",)),
        _experiment("track", "the arm's shortest seek takes half as long: ``drive.seek_track_us`` 300",
                    find("raid0", 7), 1024, ("seeks",), settings=("drive.seek_track_us=300",)),
        _experiment("turnover", "indirect blocks stay in the page cache, as today's kernel wants",
                    find("raid0", 4), 4096, ("rewrite", "read", "seeks"), environment=("TURNOVER_S=0",)),
        _experiment("parity", "RAID 5's exclusive-or takes no time: ``controller.parity_kib_s`` 100000000",
                    find("raid5", 8), 1024, ("write", "rewrite"), settings=("controller.parity_kib_s=100000000",)),
    ]  # fmt: skip
    for array in ("raid0", "raid5"):
        test = find(array, 4)
        pauses = tuple(f"BONNIE_{way.upper()}_US={processor_us(test, way)}" for way in ("read", "write"))
        found.append(
            _experiment(f"processor-{array}", "bonnie++ sleeps for the processor time that the paper's read and write took",
                        test, 2048, ("write", "rewrite", "read"), environment=pauses)  # fmt: skip
        )
    test = find("raid0", 5)
    pause = (f"BONNIE_WRITE_US={processor_us(test, 'write')}",)
    found.append(
        _experiment("processor-ext3", "bonnie++ sleeps for the processor time that the paper's write to ext3 took",
                    test, 1024, ("write", "rewrite"), environment=pause)  # fmt: skip
    )
    return found


def large() -> list[Run]:
    """All but the short ones, each run once."""
    runs = paper()
    for experiment in experiments():
        runs += [experiment.base, experiment.changed]
    return list(dict.fromkeys(runs))
