# SPDX-License-Identifier: GPL-2.0-or-later
"""The section of reproduction.rst on what is met, what misses and why: each mechanism with what the lab measured of it."""

import textwrap
from collections.abc import Mapping, Sequence

from raidtrace import amcc, reproduce_plan, reproduce_run, reproduction
from raidtrace.reproduction import AIM, Point
from raidtrace.reproduction_text import heading, number, percent, setra, table

Results = Mapping[str, reproduce_run.Result]


def _both(results: Results, name: str, metric: str) -> tuple[float, float]:
    """An experiment's figure as always, and with its one thing changed."""
    experiment = next(e for e in reproduce_plan.experiments() if e.name == name)
    return results[experiment.base.name].figures[metric], results[experiment.changed.name].figures[metric]


def alignment(results: Results) -> list[str]:
    """Bare disk and files."""
    always, aligned = _both(results, "alignment", "read")
    whole = _both(results, "partition", "read")[1]
    found = {(p.test.array, p.test.number, p.metric): p for p in reproduction.points(results)}
    lines = ["**The bare disk reads faster than files, untuned.**"]
    for array in ("raid0", "raid5"):
        disk, file = found[array, 1, "read"], found[array, 7, "read"]
        lines.append(
            f"{array}: published {disk.published:.1f} MiB/s and {file.published / 1024:.1f} on xfs, "
            f"simulated {disk.simulated:.1f} and {file.simulated / 1024:.1f}."
        )
    lines += [
        "A request of 128 KiB that begins on a stripe is parts of two stripes of 64 KiB, elsewhere it is parts of three, and",
        "``controller.part_us`` is waited for each. dd begins on a stripe, files do not. The constant was fitted on xfs alone;",
        f"both bare disks follow. xfs reads at {number(always)} KiB/s, without the partition at {number(whole)}, and at "
        f"{number(aligned)} when mkfs was told of the stripes (1 GiB).",
        "",
    ]
    return lines


def turnover(results: Results) -> list[str]:
    """Indirect blocks."""
    cold, warm = _both(results, "turnover", "read")
    small = results["raid0-04"].phases["read"]["small_reads"] / (amcc.PUBLISHED_MIB / 1024)
    write, rewrite = (results["raid0-09"].figures[metric] for metric in ("write", "rewrite"))
    test = reproduce_plan.find("raid0", 9)
    return [
        "**ext2 and ext3 read slower than xfs, tuned.** Every 4 MiB of a file a block of 4 KiB says where the next lie; the",
        "reader waits for it with nothing else in flight behind it.",
        f"raidtrace counts {small:.0f} such reads per GiB of the tuned read of ext2. When the page cache keeps these "
        f"blocks, ext2 reads at {number(warm)} KiB/s instead of {number(cold)} (4 GiB), as xfs does.",
        f"They also make iozone's rewrite of ext2 slower than its write: published {number(amcc.published(test, 'write'))} and "
        f"{number(amcc.published(test, 'rewrite'))} KiB/s, simulated {number(write)} and {number(rewrite)}. Why it "
        "loses less here was not measured: fio cannot be made to sleep for processor time in simulated time.",
        "",
    ]


def seeks(results: Results) -> list[str]:
    """What bonnie++ counts as seeks."""
    lines = [
        "**bonnie++'s seeks on ext2 and ext3 are lookups and the removal of the file as well.** The first of its processes to",
        "end removes the file, the last to close it frees the blocks, and the clock stops when that one has ended.",
    ]
    for name in ("raid0-03", "raid0-05", "raid0-07", "raid5-05"):
        test = next(t for t in amcc.tests() if t.name() == name)
        phase = results[name].phases["seeks"]
        lines.append(
            f"{test.title()}: {phase['seconds']:.1f} s, of these {phase['last_process_s']:.1f} s after the first process had "
            f"ended; {phase['reads']:.0f} reads for {amcc.SEEKS} seeks, {phase['small_reads']:.0f} of them of 4 KiB; "
            f"{results[name].figures['seeks']:.0f} seeks/s, published {amcc.published(test, 'seeks'):.0f}."
        )
    xfs, ext2 = (amcc.published(reproduce_plan.find("raid0", test), "seeks") for test in (7, 3))
    longer = amcc.SEEKS / ext2 - amcc.SEEKS / xfs
    lines += [
        "Which process closes last is a race: where it was one that had been counted already, the removal is outside of the",
        f"time. Published, {amcc.SEEKS} seeks took {longer:.0f} s longer on ext2 than on xfs; here the removal took "
        f"{results['raid0-03'].phases['seeks']['last_process_s']:.0f} s. Whether 1.02c timed it too is not known.",
        "",
    ]
    return lines


def arm(results: Results) -> list[str]:
    """Seeks of xfs."""
    base, quick = _both(results, "track", "seeks")
    return [
        "**Seeks of xfs hang on seek times that are assumed.** The data sheet gives the average over a third of the stroke;",
        "20 GiB are a fortieth of it. With a shortest seek of 300 us instead of 600, also a guess, seeks rise from "
        f"{base:.0f} to {quick:.0f} per second (1 GiB).",
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
        published = amcc.published(test, "rewrite")
        enough = "which is enough" if slept <= published else "which is part of it"
        lines.append(
            f"Rewrite of ext2 on {array}, tuned: published {number(published)} KiB/s, simulated "
            f"{number(base)}, with sleep for the published processor time of reading and writing {number(slept)}, {enough}."
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
    lines = ["**Writing ext3 on RAID 5 is not explained.**"]
    for array, test in (("raid0", 5), ("raid5", 5)):
        phases = results[f"{array}-{test:02d}"].phases
        write, test_of = phases["write"], reproduce_plan.find(array, test)
        figures = results[test_of.name()].figures
        small = 100 * write["small_writes"] / max(write["writes"], 1)
        lines.append(
            f"{array}: write published {number(amcc.published(test_of, 'write'))} KiB/s, simulated "
            f"{number(figures['write'])}; {small:.1f} % of the writes are of 4 KiB or less, "
            f"{write['write_mib'] / amcc.PUBLISHED_MIB:.3f} times the data is written, journal included."
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
    if metric == "seeks":
        return "seeks" if test.filesystem in ("ext2", "ext3") else "assumed seek times"
    if test.filesystem == "ext3" and test.array == "raid5" and metric in ("write", "rewrite"):
        return "ext3"
    if metric == "write" and test.array == "raid5":
        return "exclusive-or"
    if test.tool == "iozone" and metric == "rewrite":
        return "indirect blocks, not measured"
    if metric in ("write", "rewrite"):
        return "processor time" if test.array == "raid0" else "processor time, in part"
    return "not explained"


def section(results: Results) -> list[str]:
    """The whole section."""
    found = reproduction.points(results)
    lines = heading("What decides, and what misses")
    for paragraph in (alignment, turnover, seeks, arm, parity, processor, ext3):
        lines += [*textwrap.wrap(" ".join(paragraph(results)), 120), ""]
    return lines + misses(found)
