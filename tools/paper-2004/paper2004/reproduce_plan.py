# SPDX-License-Identifier: GPL-2.0-or-later
"""What make reproduce runs: the paper's 28 tests, experiments that change one thing, and small runs that tests repeat."""

import dataclasses

from paper2004 import amcc
from paper2004.reproduce_run import Run, profile_values

LESS_MIB = 4096  # 20 times what may be dirty in the paper's memory
# On all of the disk mkfs of ext2 and ext3 writes inode tables longer than a small run takes.
SMALL = ("PARTITION_MIB=32768",)
SCHEDULER = ("QUEUE=scheduler=anticipatory",)  # 2.6.5's default one
SEEK_TRACK_US = 1200  # the shortest seek, double of what is assumed


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


def memory_mib(mib: int) -> int:
    """Of a guest for a smaller run: a fortieth for the page cache, as in the paper, above what the guest itself needs."""
    return 24 + mib // 40


def _experiment(
    name: str, what: str, test: amcc.Test, mib: int, metrics: tuple[str, ...], settings: tuple[str, ...] = (),
    environment: tuple[str, ...] = (), always: tuple[str, ...] = (),
) -> Experiment:  # fmt: skip
    memory = memory_mib(mib)
    base = Run(f"base-{test.name()}-{mib}", test, mib, memory, environment=always)
    changed = Run(f"try-{name}", test, mib, memory, settings, environment + always)
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
                    find("raid0", 7), 1024, ("read", "rewrite"), settings=("controller.part_us=0",)),
        _experiment("turnover", "indirect blocks stay in the page cache, as today's kernel wants",
                    find("raid0", 4), 4096, ("rewrite", "read"), environment=("TURNOVER_S=0",)),
        _experiment("parity", "RAID 5's exclusive-or takes no time: ``controller.parity_kib_s`` 100000000",
                    find("raid5", 8), 1024, ("write", "rewrite"), settings=("controller.parity_kib_s=100000000",)),
    ]  # fmt: skip
    test = find("raid0", 4)
    pauses = tuple(f"BONNIE_{way.upper()}_US={processor_us(test, way)}" for way in ("read", "write"))
    found.append(
        _experiment("processor-raid0", "bonnie++ sleeps for the processor time that the paper's read and write took",
                    test, 2048, ("write", "rewrite", "read"), environment=pauses)  # fmt: skip
    )
    return found + tried() + arms()


def tried() -> list[Experiment]:
    """What could have made ext3 slow on RAID 5."""
    test, metrics = find("raid5", 11), ("write", "rewrite")
    return [
        _experiment("ext3-requests", "128 requests in the queue, as in 2.6.5, instead of 254",
                    test, 1024, metrics, environment=("QUEUE=nr_requests=128",), always=SMALL),
        _experiment("ext3-bfq", "scheduler bfq, which waits for the next read of a process as 2.6.5's anticipatory one did",
                    test, 1024, metrics, environment=("MODULES=bfq", "QUEUE=scheduler=bfq"), always=SMALL),
        _experiment("ext3-commit", "the journal commits every second, not every 5",
                    test, 1024, metrics, environment=("MOUNT_OPTIONS=commit=1",), always=SMALL),
        _experiment("ext3-gather", "part of a row waits 3 ms for the rest, not 100: ``controller.gather_ms`` 3",
                    test, 1024, metrics, settings=("controller.gather_ms=3",), always=SMALL),
        _experiment("ext3-twice", "every row goes through the exclusive-or twice: half of ``controller.parity_kib_s``",
                    test, 1024, metrics, settings=(f"controller.parity_kib_s={_half('raid5', 'controller.parity_kib_s')}",),
                    always=SMALL),
    ]  # fmt: skip


ARMS = (("track", "half", 300), ("track", "double", SEEK_TRACK_US), ("full", "half", 5100), ("full", "double", 20400))


def arms() -> list[Experiment]:
    """The two seek times that no source was found for, half and double."""
    found = []
    for key, times, value in ARMS:
        constant = f"drive.seek_{key}_us"
        found.append(
            _experiment(f"arm-raid0-{key}-{times}", f"``{constant}`` {value}, {times} of what is assumed",
                        find("raid0", 7), 1024, ("write", "rewrite", "read"), settings=(f"{constant}={value}",))  # fmt: skip
        )
    return found


def arms_of_seeks() -> list[tuple[Run, Run]]:
    """The same of seeks over 20 GiB: with each of the arms, and as always."""
    test = find("raid0", 7)
    return [
        (_seeks(f"arm-{key}-{times}", test, settings=(f"drive.seek_{key}_us={value}",)), seeks()[test])
        for key, times, value in ARMS
    ]


def _half(array: str, constant: str) -> int:
    group, name = constant.split(".")
    return int(profile_values(f"9500s-12-{array}")[group][name]) // 2


# What bonnie++ rewrites is read in smaller parts, so that the disks read ahead while the processor is busy.
WINDOW = ("BONNIE_WINDOW_KIB=64",)


@dataclasses.dataclass(frozen=True)
class Charged:
    """A test whose writes sleep for processor time as published. numbers: the array's tests that its writes stand for."""

    run: Run
    numbers: tuple[int, ...]


def charged() -> list[Charged]:
    """Tests a write of which misses the aim, those they are compared with in a ratio, and RAID 5's others.

    Readahead plays no part in iozone's: one run for both.
    """
    tests = (("raid0", (3, 4, 5, 6, 8, 9, 11)), ("raid5", (3, 4, 5, 6, 7, 8, 9, 11)))
    return [_charged(array, number) for array, numbers in tests for number in numbers]


def _charged(array: str, number: int) -> Charged:
    test = find(array, number)
    bonnie = find(array, number if test.tool == "bonnie++" else number - 6)
    write, rewrite, read = (processor_us(bonnie, metric) for metric in ("write", "rewrite", "read"))
    if test.tool == "bonnie++":
        pauses: tuple[str, ...] = (f"BONNIE_WRITE_US={write}", f"BONNIE_REWRITE_US={rewrite}", *WINDOW)
    else:
        # bonnie++'s rewrite reads as well
        pauses = (f"PROCESSOR_WRITE_US={write}", f"PROCESSOR_REWRITE_US={rewrite - read}")
    run = Run(f"cpu-{test.name()}", test, LESS_MIB, environment=pauses + SMALL)
    return Charged(run, (number,) if test.tool == "bonnie++" else (number, number + 1))


# Write-back as 2.6.5 had it, see write-back.h: from 10 % of the memory on, in step with the writer; today's kept out of it.
WRITE_BACK = ("WRITE_BACK_MIB=51", "BACKGROUND=39", "EXPIRE_S=3600", "QUEUE=nr_requests=128")
# ext3 of 2.6.5 laid files out as ext2 does; today's driver of it puts all indirect blocks together.
COMMIT = ("COMMIT_S=5", "DRIVER=ext2")
TO_END = ("controller.parity_waits=2",)


def _lumps(name: str, test: amcc.Test, environment: tuple[str, ...], settings: tuple[str, ...]) -> Run:
    more = COMMIT if test.filesystem == "ext3" else ()
    writes = test.tool == "iozone"
    return Run(name, test, LESS_MIB, settings=settings, environment=environment + WRITE_BACK + more, writes_only=writes)


def lumps() -> list[Charged]:
    """ext2 and ext3, and iozone on xfs, with 2.6.5's write-back as well, and on RAID 5 a controller that does a row in parts to
    its end before anything else."""
    found = []
    for one in charged() + [_charged(array, 13) for array in ("raid0", "raid5")]:
        test = one.run.test
        if test.filesystem != "xfs" or test.tool == "iozone":
            settings = TO_END if test.array == "raid5" else ()
            found.append(Charged(_lumps(f"lumps-{test.name()}", test, one.run.environment, settings), one.numbers))
    return found


def one_row() -> list[Charged]:
    """iozone of lumps() on RAID 5, where one row is gathered at a time besides."""
    found = []
    for one in lumps():
        test = one.run.test
        if (test.array, test.tool) == ("raid5", "iozone"):
            settings = (*TO_END, "controller.gather_rows=1")
            found.append(
                Charged(dataclasses.replace(one.run, name=f"one-{test.name()}", settings=settings), one.numbers)
            )
    return found


def steps(number: int) -> list[tuple[str, Run]]:
    """iozone on ext2 (9) or ext3 (11), RAID 5: what was added to the first, and the run."""
    base = charged_run("raid5", number)
    test, environment = base.test, base.environment
    to_end = dataclasses.replace(base, name=f"toend-{test.name()}", settings=TO_END, writes_only=True)
    return [
        ("processor time", base),
        ("and 2.6.5's write-back", _lumps(f"back-{test.name()}", test, environment, ())),
        ("or rows to their end", to_end),
        ("both", next(one.run for one in lumps() if one.run.test == test)),
        ("both, one row gathered", next(one.run for one in one_row() if one.run.test == test)),
    ]


ROWS = (1, 2, 4, 8, 128)  # 128: as many as the model has
# What a commit of 2.6.5 sent: every 5 s all of the transaction's data, past what write-back had under way.
ORDERED = ("ORDERED_S=5",)


def gathered() -> list[Charged]:
    """bonnie++, and iozone's write on ext3, on RAID 5 where the controller gathers one row at a time and a read waits until it
    is written, with processor time and, on ext3, 2.6.5's commit."""
    found = []
    for one in charged():
        test = one.run.test
        if test.array == "raid5" and (test.tool == "bonnie++" or test.filesystem == "ext3"):
            more = ORDERED if test.filesystem == "ext3" else ()
            settings = ("controller.gather_rows=1", "controller.gather_reads=1")
            run = Run(f"reads-{test.name()}", test, LESS_MIB, settings=settings, environment=one.run.environment + more)
            found.append(Charged(run, one.numbers))
    return found


def charged_run(array: str, number: int) -> Run:
    """The run with processor time of a test."""
    return next(one.run for one in charged() if (one.run.test.array, one.run.test.number) == (array, number))


def _rows(test: amcc.Test, environment: tuple[str, ...], rows: int) -> Run:
    setting = f"controller.gather_rows={rows}"
    return Run(f"rows{rows}-{test.name()}", test, LESS_MIB, settings=(setting,), environment=environment)


def rows() -> dict[int, Run]:
    """How many rows are gathered -> iozone on ext3, RAID 5, with processor time and 2.6.5's commit."""
    base = charged_run("raid5", 11)
    return {rows: _rows(base.test, base.environment + ORDERED, rows) for rows in ROWS}


def scheduled() -> list[tuple[Run, Run]]:
    """ext3 of gathered(), bonnie++ tuned and iozone -> the run, and the same under 2.6.5's scheduler."""
    runs = [one.run for one in gathered() if one.run.test.number in (6, 11)]
    return [
        (run, dataclasses.replace(run, name=f"as-{run.name}", environment=run.environment + SCHEDULER)) for run in runs
    ]


def controls() -> dict[str, tuple[Run, Run]]:
    """What must not move: ext3 on RAID 0, with processor time, and xfs on RAID 5 -> the run, and the same with one row."""
    raid0 = charged_run("raid0", 11)
    xfs = Run("same-raid5-13", find("raid5", 13), LESS_MIB, environment=SMALL)
    return {
        "raid0": (raid0, _rows(raid0.test, raid0.environment + ORDERED, 1)),
        "xfs": (xfs, _rows(xfs.test, SMALL, 1)),
    }


def _seeks(
    name: str, test: amcc.Test, scheduler: tuple[str, ...] = SCHEDULER, settings: tuple[str, ...] = (), seed: int = 1
) -> Run:
    """As bonnie++ 1.02c made them. ext3's files lie as its driver of 2.6.5 laid them out, which was as ext2's does."""
    layout = ("DRIVER=ext2",) if test.filesystem == "ext3" else ()
    return Run(f"{name}-{test.name()}", test, settings=settings, environment=scheduler + layout, seeks=seed)


def seeks() -> dict[amcc.Test, Run]:
    """Each of bonnie++'s tests -> its seeks."""
    return {test: _seeks("seeks", test) for test in amcc.tests() if test.tool == "bonnie++"}


def seeks_unscheduled() -> list[Run]:
    """Those of RAID 0, untuned, without that scheduler."""
    return [_seeks("plain", find("raid0", number), ()) for number in (3, 5, 7)]


def seeks_again() -> dict[amcc.Test, list[Run]]:
    """RAID 0, untuned -> the same seeks of two more seeds."""
    tests = [find("raid0", number) for number in (3, 5, 7)]
    return {test: [_seeks(f"seed{seed}", test, seed=seed) for seed in (2, 3)] for test in tests}


def seeks_guessed() -> dict[tuple[str, str], Run]:
    """Array and file system -> seeks, untuned, of drives whose shortest seek takes longer. Readahead plays no part."""
    tests = [find(array, number) for array in ("raid0", "raid5") for number in (3, 5, 7)]
    setting = (f"drive.seek_track_us={SEEK_TRACK_US}",)
    return {(test.array, test.filesystem): _seeks("guess", test, settings=setting) for test in tests}


def short_seeks() -> Run:
    """For whoever repeats the short runs: seeks, small."""
    test = find("raid0", 5)
    run = _seeks("short-seeks", test)
    return dataclasses.replace(run, mib=256, memory_mib=64, environment=run.environment + SMALL)


def nudged() -> dict[str, list[Run]]:
    """Test -> the same run three times: as always, and with a constant that it hardly depends on 0.1 % less and more."""
    constant = "controller.read_kib_s"
    found = {}
    for array, number in (("raid0", 6), ("raid0", 10), ("raid5", 4), ("raid5", 6), ("raid5", 10)):
        test, value = find(array, number), 2 * _half(array, constant)
        name = test.name()
        less, more = (f"{constant}={round(factor * value)}" for factor in (0.999, 1.001))
        found[name] = [
            Run(f"same-{name}", test, LESS_MIB, environment=SMALL),
            Run(f"less-{name}", test, LESS_MIB, settings=(less,), environment=SMALL),
            Run(f"more-{name}", test, LESS_MIB, settings=(more,), environment=SMALL),
        ]
    return found


def large() -> list[Run]:
    """All but the short ones, each run once."""
    runs = paper()
    for experiment in experiments():
        runs += [experiment.base, experiment.changed]
    runs += [one.run for one in charged() + gathered() + lumps() + one_row()]
    runs += [run for number in (9, 11) for _, run in steps(number)]
    runs += rows().values()
    runs += [run for pair in controls().values() for run in pair]
    runs += [run for _, run in scheduled()]
    runs += [*seeks().values(), *seeks_unscheduled(), *seeks_guessed().values(), *(run for run, _ in arms_of_seeks())]
    runs += [run for runs_of_test in seeks_again().values() for run in runs_of_test]
    runs.append(short_seeks())
    runs += [run for runs_of_test in nudged().values() for run in runs_of_test]
    return list(dict.fromkeys(runs))
