# SPDX-License-Identifier: GPL-2.0-or-later
"""The section of reproduction.rst on what is met, what misses and why: each mechanism with what the lab measured of it."""

from collections.abc import Mapping, Sequence

from raidtrace import amcc, reproduce_plan, reproduce_run, reproduction
from raidtrace.reproduction import AIM, Point
from raidtrace.reproduction_text import heading, number, percent, setra, table

Results = Mapping[str, reproduce_run.Result]


def _both(results: Results, name: str, metric: str) -> tuple[float, float]:
    """An experiment's figure as always, and with its one thing changed."""
    experiment = next(e for e in reproduce_plan.experiments() if e.name == name)
    return results[experiment.base.name].figures[metric], results[experiment.changed.name].figures[metric]


def _seek_reads(results: Results, array: str, test: int) -> float:
    """Requests read per seek of bonnie++."""
    return results[f"{array}-{test:02d}"].phases["seeks"]["reads"] / amcc.SEEKS


def partition(results: Results) -> list[str]:
    """Bare disk and files."""
    on, off = _both(results, "partition", "read")
    found = {(p.test.array, p.test.number, p.metric): p for p in reproduction.points(results)}
    lines = ["**The bare disk reads faster than files, untuned.**"]
    for array in ("raid0", "raid5"):
        disk, file = found[array, 1, "read"], found[array, 7, "read"]
        lines.append(
            f"{array}: published {disk.published:.1f} MiB/s and {file.published / 1024:.1f} on xfs, "
            f"simulated {disk.simulated:.1f} and {file.simulated / 1024:.1f}."
        )
    lines += [
        "A request of 128 KiB that begins on a stripe is parts of two stripes of 64 KiB, from sector 63 on it is parts of",
        "three, and ``controller.part_us`` is waited for each. It was fitted on xfs alone; both bare disks follow. Without the",
        f"partition xfs reads at {number(off)} KiB/s instead of {number(on)}.",
        "",
    ]
    return lines


def turnover(results: Results) -> list[str]:
    """Indirect blocks."""
    cold, warm = _both(results, "turnover", "read")
    seeks_cold, seeks_warm = _both(results, "turnover", "seeks")
    small = results["raid0-04"].phases["read"]["small_reads"] / 20
    return [
        "**ext2 and ext3 read slower than xfs, tuned, and seek half as often.** Every 4 MiB of a file a block of 4 KiB says",
        "where the next lie; the reader waits for it with nothing else in flight behind it.",
        f"raidtrace counts {small:.0f} such reads per GiB of the tuned read of ext2, and in bonnie++'s seeks "
        f"{_seek_reads(results, 'raid0', 3):.2f} reads each on ext2 to {_seek_reads(results, 'raid0', 7):.2f} on xfs.",
        f"When the page cache keeps these blocks ext2 reads at {number(warm)} KiB/s instead of {number(cold)}, as xfs "
        f"does, and makes {seeks_warm:.0f} seeks per second instead of {seeks_cold:.0f} (4 GiB).",
        "",
    ]


def processor(results: Results) -> list[str]:
    """What the paper's processors did."""
    lines = ["**Processor time is not simulated.**"]
    row = amcc.trials(reproduce_plan.find("raid0", 5), "write")[0]
    base, slept = _both(results, "processor-ext3", "write")
    lines.append(
        f"The paper's host wrote to ext3 on RAID 0 with {row.cpu_percent:.0f} % of a processor and came to {number(row.value)} "
        f"KiB/s; simulated {number(base)}, and {number(slept)} when bonnie++ sleeps for that time. That it was the processor "
        "follows from the published per cent; the model has no part in it."
    )
    for array in ("raid0", "raid5"):
        test = reproduce_plan.find(array, 4)
        base, slept = _both(results, f"processor-{array}", "rewrite")
        lines.append(
            f"Rewrite of ext2 on {array}, tuned: published {number(amcc.published(test, 'rewrite'))} KiB/s, simulated "
            f"{number(base)}, with sleep for the published processor time of reading and writing {number(slept)}."
        )
    lines += [
        "A sleep cannot overlap with the call that it stands for, so this bounds the effect from above.",
        "",
    ]
    return lines


def parity(results: Results) -> list[str]:
    """RAID 5 writes."""
    base, free = _both(results, "parity", "write")
    return [
        "**RAID 5 writes at the rate of its exclusive-or.** "
        f"xfs writes at {number(base)} KiB/s, and at {number(free)} when it takes no time. The paper's file systems "
        "lost more to it than its bare disk did, iozone on xfs nothing; the model has no such loss.",
        "",
    ]


def ext3(results: Results) -> list[str]:
    """What is not explained."""
    lines = ["**ext3 on RAID 5, and its seeks, are not explained.**"]
    for array, test in (("raid0", 5), ("raid5", 5)):
        phases = results[f"{array}-{test:02d}"].phases
        write, test_of = phases["write"], reproduce_plan.find(array, test)
        figures = results[test_of.name()].figures
        small = 100 * write["small_writes"] / max(write["writes"], 1)
        lines.append(
            f"{array}: write published {number(amcc.published(test_of, 'write'))} KiB/s, simulated "
            f"{number(figures['write'])}; {small:.1f} % of the writes are of 4 KiB or less, "
            f"{write['write_mib'] / amcc.PUBLISHED_MIB:.3f} times the data is written, journal included. "
            f"Seeks published {amcc.published(test_of, 'seeks'):.0f}, simulated {figures['seeks']:.0f}, with "
            f"{_seek_reads(results, array, test):.2f} reads each."
        )
    lines += [
        "ext4's driver hands over whole extents where 2.6.5's ext3 wrote buffer by buffer at each commit of its journal; no",
        "kernel that the lab runs still does, so there is nothing to measure here and no constant was bent for it.",
        "",
    ]
    return lines


def misses(found: Sequence[Point]) -> list[str]:
    """Every held-out figure beyond the aim."""
    beyond = sorted((p for p in found if not p.fitted and abs(p.error()) > AIM), key=lambda p: -abs(p.error()))
    rows = [
        (p.test.array, reproduction.LABEL.get(p.test.tool, p.test.tool), p.test.filesystem or "bare disk",
         "" if p.test.tool == "dd" else setra(p.test), p.metric, percent(p.error()), mechanism(p))
        for p in beyond
    ]  # fmt: skip
    lines = [f"Beyond {AIM:.0f} %, the worst first ({len(rows)} figures):", ""]
    return lines + table(("array", "tool", "on", "readahead", "metric", "error", "see"), rows)


def mechanism(point: Point) -> str:
    """Which paragraph a miss belongs to."""
    test, metric = point.test, point.metric
    if test.filesystem == "ext3" and (metric == "seeks" or (test.array == "raid5" and metric in ("write", "rewrite"))):
        return "ext3"
    if metric == "write" and test.array == "raid5":
        return "exclusive-or"
    if metric in ("write", "rewrite"):
        return "processor time"
    return "not explained"


def section(results: Results) -> list[str]:
    """The whole section."""
    found = reproduction.points(results)
    lines = heading("What decides, and what misses")
    for paragraph in (partition, turnover, parity, processor, ext3):
        lines += paragraph(results)
    return lines + misses(found)
