# SPDX-License-Identifier: GPL-2.0-or-later
"""The section of reproduction.rst on what is met, what misses and why: each mechanism with what the lab measured of it."""

import textwrap
from collections.abc import Mapping

from paper2004 import (
    amcc,
    reproduce_plan,
    reproduce_run,
    reproduction,
    reproduction_misses,
    reproduction_rewrites,
    reproduction_seeks,
)
from paper2004.reproduction_text import heading, number, percent, table

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
    slow = results["cpu-raid0-09"].figures["rewrite"]
    return [
        "**ext2 and ext3 read slower than xfs, tuned.** Every 4 MiB of a file a block of 4 KiB says where the next lie; the",
        "reader waits for it with nothing else in flight behind it.",
        f"raidtrace counts {small:.0f} such reads per GiB of the tuned read of ext2. When the page cache keeps these "
        f"blocks, ext2 reads at {number(warm)} KiB/s instead of {number(cold)} (4 GiB), as xfs does.",
        f"They also make iozone's rewrite of ext2 slower than its write: published {number(amcc.published(test, 'write'))} and "
        f"{number(amcc.published(test, 'rewrite'))} KiB/s, simulated {number(write)} and {number(rewrite)}. It loses more when "
        f"the writer has something else to do than to wait: {number(slow)}, with processor time as published (4 GiB).",
        "",
    ]


def processor(results: Results) -> list[str]:
    """What the paper's processors did."""
    always, slept = _both(results, "processor-raid0", "read")
    row = amcc.trials(reproduce_plan.find("raid0", 5), "write")[0]
    published = amcc.published(reproduce_plan.find("raid0", 4), "read")
    return [
        "**Processor time is free in the lab, and was not in 2004.** bonnie++ printed what it took, in per cent; "
        f"{row.cpu_percent:.0f} % while it wrote ext3 on RAID 0, of a processor. The table of the misses has each "
        f"figure once more from a run of {reproduce_plan.LESS_MIB} MiB in which the writer sleeps for that time before each "
        "MiB: an input from the paper, nothing fitted. iozone printed none; it gets bonnie++'s on the same array and file "
        "system, for its rewrite what bonnie++'s took more than its read.",
        "Reads are not made to sleep: a sleep cannot overlap with the call that it stands for, and with it ext2 on RAID 0 "
        f"reads at {number(slept)} KiB/s, tuned, without at {number(always)}, published {number(published)}.",
        "",
    ]


def parity(results: Results) -> list[str]:
    """RAID 5 writes."""
    base, free = _both(results, "parity", "write")
    return [
        "**RAID 5 writes at the rate of its exclusive-or.** "
        f"xfs writes at {number(base)} KiB/s, and at {number(free)} when it takes no time. The paper's file systems "
        "lost more to it than its bare disk did, iozone on xfs nothing; the model has no such loss.",
        "",
    ]


def _side_by_side(results: Results, array: str) -> str:
    """Disk and processor while ext3 is written."""
    test = reproduce_plan.find(array, 5)
    published, simulated = amcc.published(test, "write"), results[test.name()].figures["write"]
    write = results[test.name()].phases["write"]
    seconds, disk = (amcc.PUBLISHED_MIB * 1024 / rate for rate in (published, simulated))
    busy = seconds * (amcc.trials(test, "write")[0].cpu_percent or 0) / 100
    small = 100 * write["small_writes"] / max(write["writes"], 1)
    return (
        f"{array}: published {number(published)} KiB/s, simulated {number(simulated)}; {small:.1f} % of the writes are of 4 "
        f"KiB or less, {write['write_mib'] / amcc.PUBLISHED_MIB:.3f} times the data is written, journal included. Published "
        f"{seconds:.0f} s, {busy:.0f} s of these of a processor; the simulated disks take {disk:.0f} s. One after the other "
        f"that is {busy + disk:.0f} s, side by side {max(busy, disk):.0f} s."
    )


def tried(results: Results) -> list[str]:
    """What is not the reason."""
    test, metrics = reproduce_plan.find("raid5", 11), ("write", "rewrite")
    lines = [
        "**ext3 on RAID 5 waits for more than disks and processor.**",
        *(_side_by_side(results, array) for array in ("raid0", "raid5")),
        "RAID 0 had them side by side, so that on RAID 5 the sum is near what was published is not the reason.",
        "Tried on iozone's write and rewrite there, 1 GiB:",
    ]
    for experiment in reproduce_plan.tried():
        pairs = (_both(results, experiment.name, metric) for metric in metrics)
        lines.append(
            f"{experiment.what}: {' and '.join(f'{100 * (changed / base - 1):+.0f} %' for base, changed in pairs)};"
        )
    figures = results[test.name()].figures
    wanted = [f"{100 * (amcc.published(test, m) / figures[m] - 1):+.0f}" for m in metrics]
    return [*lines, f"wanted {' and '.join(wanted)} %.", ""]


def _moves(results: Results, pair: tuple[reproduce_run.Run, reproduce_run.Run]) -> str:
    base, changed = (results[run.name].figures for run in pair)
    return " and ".join(f"{100 * (changed[m] / base[m] - 1):+.1f} %" for m in ("write", "rewrite"))


def rows(results: Results) -> list[str]:
    """Two writers and few rows."""
    controls = reproduce_plan.controls()
    return [
        "**Two writers, and a controller that gathers few rows.** In 2.6.5 the commit of ext3's journal, every 5 s, sent all",
        "data of its transaction, written anew or over, and passed over what write-back had under way; so for a part of each",
        "5 s the disk gets two places of one file by turns. Today's commit sends new data only and waits for what is under",
        f"way. A process that does the former every 5 s stands for it (``{reproduce_plan.ORDERED[0]}``). That costs nothing",
        "where the controller gathers 128 rows of RAID 5 at a time, as the model does otherwise. Where it gathers one, each",
        "piece of 128 KiB closes the row of the other place: it is written in parts, with old data to be read and more to go",
        "through the exclusive-or. **How many rows a 9500S gathers is not known; one is assumed, and nothing else is",
        f"changed.** The table has iozone on ext3, RAID 5, {reproduce_plan.LESS_MIB} MiB with processor time, by the number",
        "of rows.",
        f"What must not move: ext3 on RAID 0 moves by {_moves(results, controls['raid0'])} (write and rewrite), xfs on RAID 5",
        f"by {_moves(results, controls['xfs'])}.",
        *_scheduled(results),
        "",
    ]


def _scheduled(results: Results) -> list[str]:
    """What is left of it under the scheduler of 2.6.5."""
    found = []
    for run, under in reproduce_plan.scheduled():
        published = amcc.published(run.test, "write")
        errors = [percent(100 * (results[name].figures["write"] / published - 1)) for name in (run.name, under.name)]
        label = reproduction.LABEL.get(run.test.tool, run.test.tool)
        found.append(f"{label}'s write from {errors[0]} to {errors[1]}")
    return [
        "**Under 2.6.5's scheduler it is not so:** that takes the error of",
        f"{' and '.join(found)}. So this is not why ext3's first write on RAID 5 was slow,",
        "and the table of the misses has processor time alone for it. That is not explained.",
    ]


def rows_table(results: Results) -> list[str]:
    """By number of rows."""
    test = reproduce_plan.find("raid5", 11)
    metrics = ("write", "rewrite")
    found: list[tuple[str, ...]] = [("published", *(number(amcc.published(test, m)) for m in metrics), "", "")]
    today = reproduce_plan.charged_run("raid5", 11)
    named = [*((f"{count}", run) for count, run in reproduce_plan.rows().items()), ("128, today's commit", today)]
    for name, run in named:
        figures = results[run.name].figures
        errors = (percent(100 * (figures[m] / amcc.published(test, m) - 1)) for m in metrics)
        found.append((name, *(number(figures[m]) for m in metrics), *errors))
    return table(("rows", "write", "rewrite", "error", "error"), found)


def section(results: Results) -> list[str]:
    """The whole section."""
    lines = heading("What decides, and what misses")
    for paragraph in (alignment, turnover, parity, processor, tried, rows):
        lines += [*textwrap.wrap(" ".join(paragraph(results)), 120), ""]
    lines += rows_table(results) + reproduction_rewrites.section(results) + reproduction_seeks.section(results)
    return lines + reproduction_misses.section(results)
