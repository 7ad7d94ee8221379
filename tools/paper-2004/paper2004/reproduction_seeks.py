# SPDX-License-Identifier: GPL-2.0-or-later
"""bonnie++'s seeks: what its version of then and 2.6.5's scheduler have to do with them, and how sharp they are."""

import textwrap
from collections.abc import Mapping

from paper2004 import amcc, reproduce_plan, reproduce_run, reproduction_misses
from paper2004.reproduction_text import number, percent, table

Results = Mapping[str, reproduce_run.Result]
WAIT_S = 5  # from the begin of a recording to the first seek, START_S of bonnie-seeks.c


def steps(results: Results) -> list[tuple[amcc.Test, float, float, float, float]]:
    """RAID 0, untuned: test, and seeks/s: published, of 2.00a, as 1.02c made them, and with 2.6.5's scheduler."""
    found = []
    for run in reproduce_plan.seeks_unscheduled():
        names = (run.test.name(), run.name, reproduce_plan.seeks()[run.test].name)
        of_2_00a, as_1_02c, scheduled = (results[name].figures["seeks"] for name in names)
        found.append((run.test, amcc.published(run.test, "seeks"), of_2_00a, as_1_02c, scheduled))
    return found


def _at(results: Results, run: reproduce_run.Run) -> dict[str, float]:
    return results[run.name].phases["run"]


def paragraph(results: Results) -> list[str]:
    """What is different from 2.00a and from today's kernel."""
    by_name = {run.test.filesystem: run for run in reproduce_plan.seeks_unscheduled()}
    ext2, xfs = (_at(results, by_name[name]) for name in ("ext2", "xfs"))
    depth = []
    for name, run in by_name.items():
        scheduled = _at(results, reproduce_plan.seeks()[run.test])
        # the recording begins 5 s before the first seek
        spans = ((what, what["seconds"] / (what["seconds"] - WAIT_S)) for what in (_at(results, run), scheduled))
        before, after = (what["reads_in_flight"] * span for what, span in spans)
        depth.append(f"{name} from {before:.1f} to {after:.1f}")
    took = {test.filesystem: amcc.SEEKS / scheduled for test, *_, scheduled in steps(results)}
    more_ms = 1000 * (took["ext3"] - took["ext2"]) / (amcc.SEEKS / 10)
    return [
        "**Seeks are made as bonnie++ 1.02c made them, and under 2.6.5's scheduler.** 2.00a stands for everything else, but",
        "its seeks are not those of the 1.0 series (source of 1.03), for which ``bonnie-seeks.c`` stands: that one had 20",
        "files of 1 GiB where 2.00a has one of 20; and its processes ended without removing them, where the first of 2.00a to",
        "end removes the file, so that the last one's time has the freeing of all blocks in it. Both sync each block that is",
        "changed, one of ten. Nothing streams while seeks are made, so what was looked up is kept:",
        f"ext2 makes {ext2['small_reads']:,.0f} reads of 4 KiB for {amcc.SEEKS} seeks, of {amcc.PUBLISHED_MIB // 4:,} blocks",
        f"that say where its files lie; xfs {xfs['small_reads']:,.0f}.",
        'The default scheduler of 2.6.5 was "anticipatory": after a read it kept the disk idle for up to 6 ms for the next one',
        "of the same process, and let others wait; it took the writes of ext3's journal thread for background ones.",
        "``tools/paper-2004/anticipatory`` has its rules as a module for the lab's kernel; constants are those of 2.6, nothing",
        f"is fitted. Reads in flight, on average of the seeks: {', '.join(depth)}. ext3's sync waits for that thread, whose",
        "writes wait for the next read of a process that waits for them: all that ext3 takes longer than ext2 would be",
        f"{more_ms:.0f} ms for each of {amcc.SEEKS // 10} syncs.",
        "Its files lie as 2.6.5 laid them out, which was as ext2 does: ext2's driver writes them, ext3's is mounted for the",
        "seeks.",
        "",
    ]


def tables(results: Results) -> list[str]:
    """Step by step; and what chance does."""
    rows = []
    for test, published, *values in steps(results):
        errors = (percent(100 * (value / published - 1)) for value in values)
        cells = [cell for value, error in zip(values, errors, strict=True) for cell in (number(value), error)]
        rows.append((test.filesystem, number(published), *cells))
    header = ("on", "published", "2.00a", "error", "as 1.02c", "error", "scheduler", "error")
    text = (
        "Seeks per second, RAID 0, untuned, 20 GiB; in the last two columns both, which is what all other tables have."
    )
    lines = [*textwrap.wrap(text, 120), "", *table(header, rows)]
    seeds = []
    for test, runs in reproduce_plan.seeks_again().items():
        names = [reproduce_plan.seeks()[test].name, *(run.name for run in runs)]
        values = [results[name].figures["seeks"] for name in names]
        seeds.append(
            (test.filesystem, *(number(value) for value in values), f"{reproduction_misses.wide(values):.1f} %")
        )
    text = "1.02c seeded each process with the time of day. The same with other places to seek to:"
    return [*lines, text, "", *table(("on", "seed 1", "seed 2", "seed 3", "band"), seeds)]


def guessed(results: Results) -> list[str]:
    """What a longer shortest seek makes of all of them."""
    assumed = reproduce_run.profile_values("9500s-12-raid0")["drive"]["seek_track_us"]
    errors = {}
    for (array, filesystem), run in reproduce_plan.seeks_guessed().items():
        published = amcc.published(run.test, "seeks")
        values = (results[reproduce_plan.seeks()[run.test].name], results[run.name])
        errors[array, filesystem] = [percent(100 * (value.figures["seeks"] / published - 1)) for value in values]
    moved = ", ".join(f"{array} {name} from {a} to {b}" for (array, name), (a, b) in errors.items())
    lines = [
        "**They hang on seek times that are assumed.** The data sheet gives the average over a third of the stroke; 20 GiB",
        f"are a fortieth of it. With a shortest seek of {reproduce_plan.SEEK_TRACK_US} us instead of {assumed}, also a guess,",
        f"errors go, untuned: {moved}. Readahead plays no part in the lab's seeks; 2004's were up to",
        f"{_slower():.0f} % slower when tuned.",
    ]
    return [*textwrap.wrap(" ".join(lines), 120), ""]


def _slower() -> float:
    """The most that any published seeks lost when tuned, per cent."""
    lost = []
    for array in ("raid0", "raid5"):
        for number_of in (3, 5, 7):
            untuned, tuned = (
                amcc.published(reproduce_plan.find(array, n), "seeks") for n in (number_of, number_of + 1)
            )
            lost.append(100 * (1 - tuned / untuned))
    return max(lost)


def section(results: Results) -> list[str]:
    """The paragraphs and their tables."""
    return [*textwrap.wrap(" ".join(paragraph(results)), 120), "", *tables(results), *guessed(results)]
