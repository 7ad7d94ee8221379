# SPDX-License-Identifier: GPL-2.0-or-later
"""What rewrites of ext2 and ext3 waited for in 2004: 2.6.5's write-back, and on RAID 5 the rows in parts that it leaves."""

import textwrap
from collections.abc import Mapping

from paper2004 import amcc, reproduce_plan, reproduce_run
from paper2004.reproduction_text import number, percent, setra, table

Results = Mapping[str, reproduce_run.Result]
LOOKUP_MIB = 4  # of a file in an indirect block
FILESYSTEMS = {9: "ext2", 11: "ext3"}  # iozone's test, untuned; the next is the tuned one


def lookup_ms(test: amcc.Test, rate: float) -> float:
    """What iozone's rewrite took for each block that it looked up, less the processor's time."""
    bonnie = reproduce_plan.find(test.array, test.number - 6 - (test.setra_sectors != 256))
    busy = reproduce_plan.processor_us(bonnie, "rewrite") - reproduce_plan.processor_us(bonnie, "read")
    return LOOKUP_MIB * (1024 / rate * 1e3 - busy / 1e3)


def _published(array: str, first: int) -> list[float]:
    tests = [reproduce_plan.find(array, first + more) for more in (0, 1)]
    return [lookup_ms(test, amcc.published(test, "rewrite")) for test in tests]


def _simulated(results: Results, run: str, array: str, first: int) -> float:
    test = reproduce_plan.find(array, first)
    return lookup_ms(test, results[f"{run}-{test.name()}"].figures["rewrite"])


def waits(results: Results) -> list[str]:
    """What is missing."""
    lines = [
        "**What rewrites lack is one wait.** While iozone writes a file of ext2 or ext3 over, it waits for a block of 4 KiB",
        f"every {LOOKUP_MIB} MiB, to know where the next lie. Its time less the processor's, by such a lookup:",
    ]
    lack: dict[str, list[float]] = {"raid0": [], "raid5": []}
    for array, lacking in lack.items():
        parts = []
        for first, filesystem in FILESYSTEMS.items():
            published, simulated = _published(array, first), _simulated(results, "cpu", array, first)
            lacking += [ms - simulated for ms in published]
            parts.append(f"{filesystem} {published[0]:.0f} and {published[1]:.0f} ms, simulated {simulated:.0f}")
        lines.append(f"{array}: published {', '.join(parts)};")
    least, most = min(lack["raid5"]), max(lack["raid5"])
    return [
        *lines,
        f"so the four figures of RAID 5 lack {least:.0f} to {most:.0f} ms for each of these reads, and those of RAID 0",
        f"{min(lack['raid0']):.0f} to {max(lack['raid0']):.0f} ms. (Two turns of the drive are 12 ms, an average seek is 4.5.)",
        "",
    ]


def write_back(results: Results) -> list[str]:
    """What 2.6.5 did otherwise."""
    parts = []
    for first, filesystem in FILESYSTEMS.items():
        published = _published("raid0", first)
        parts.append(
            f"{filesystem} {_simulated(results, 'lumps', 'raid0', first):.0f} ms, published {published[0]:.0f} and "
            f"{published[1]:.0f}"
        )
    return [
        "**2.6.5 wrote back in step with the writer** (its ``mm/page-writeback.c``). A process that had dirtied 1025 pages",
        "looked how much was dirty, and from 10 % of the memory on pdflush then sent the 1024 that had been dirty longest: as",
        "much as lies between two lookups. So each lookup finds up to 4 MiB of writes sent just before, waits behind them, and",
        "then the disks wait for the processor. Today's flusher sends an eighth of what may be dirty at once, and goes on",
        "while the writer waits. ``write-back.h`` does the former in a run where the latter is kept out; sizes are those of",
        "the source, nothing is fitted. ext3 of 2.6.5 laid files out as ext2 does, each of these blocks before what it tells",
        "of; today's driver of ext3 puts all of them together. So ext3 is mounted as ext2 in these runs, and what its commit",
        "sent is sent every 5 s by a thread (``COMMIT_S=5``). A lookup on RAID 0, where nothing else is changed, then takes:",
        f"{'; '.join(parts)}.",
        "",
    ]


def to_end(results: Results) -> list[str]:
    """What is assumed of the controller, and what must not move."""
    xfs = []
    for array in ("raid0", "raid5"):
        test = reproduce_plan.find(array, 13)
        figures = results[f"lumps-{test.name()}"].figures
        errors = [percent(100 * (figures[m] / amcc.published(test, m) - 1)) for m in ("write", "rewrite")]
        xfs.append(f"{array} {' and '.join(errors)}")
    test = reproduce_plan.find("raid5", 13)
    rate = results[f"one-{test.name()}"].figures["rewrite"]
    one = percent(100 * (rate / amcc.published(test, "rewrite") - 1))
    return [
        "**A row in parts, to its end.** The block that is looked up lies between the data. So whoever writes a file of ext2",
        "or ext3 over leaves out 4 KiB of a row of RAID 5 every 4 MiB, and that row is written in two parts, with old data to",
        "be read; writing the file for the first time breaks rows where bitmaps and such are written between; a file of xfs",
        "has whole rows. **It is assumed that the controller writes a row in parts to its end, old data read and new data a",
        "turn of the platter later on the drives, before it does anything else** (``controller.parity_waits=2``). As many",
        "rows are gathered as always. The table has what either mechanism does alone and both do together; iozone,",
        f"{reproduce_plan.LESS_MIB} MiB, KiB/s, and ms by lookup as above. iozone on xfs, which looks nothing up, must stay",
        f"where it is; write and rewrite then differ from what is published by: {'; '.join(xfs)}. Where one row is",
        "gathered besides, as above, ext3's first writing slows as well, but xfs does not stay where it is: its rewrite on",
        f"RAID 5 then differs by {one}. So one row is not assumed here, and ext3's first writing is not explained by this.",
        "",
    ]


def steps_table(results: Results) -> list[str]:
    """Either mechanism and both."""
    found: list[tuple[str, ...]] = []
    for more, which in enumerate(("untuned", "tuned")):
        cells: list[str] = []
        for first in FILESYSTEMS:
            test = reproduce_plan.find("raid5", first + more)
            cells += [number(amcc.published(test, metric)) for metric in ("write", "rewrite")]
            cells.append(f"{_published('raid5', first)[more]:.0f}")
        found.append((f"published, {which}", *cells))
    ext2, ext3 = (reproduce_plan.steps(first) for first in FILESYSTEMS)
    for (what, one), (_, other) in zip(ext2, ext3, strict=True):
        cells = []
        for run in (one, other):
            figures = results[run.name].figures
            cells += [number(figures["write"]), number(figures["rewrite"])]
            cells.append(f"{lookup_ms(run.test, figures['rewrite']):.0f}")
        found.append((what, *cells))
    return table(("raid5", "ext2 write", "rewrite", "ms", "ext3 write", "rewrite", "ms"), found)


def _untuned(results: Results, run: str) -> str:
    """Errors of bonnie++'s rewrites on ext2 and ext3, RAID 0, untuned."""
    tests = [reproduce_plan.find("raid0", number) for number in (3, 5)]
    errors = (100 * (results[f"{run}{t.name()}"].figures["rewrite"] / amcc.published(t, "rewrite") - 1) for t in tests)
    return " and ".join(percent(error) for error in errors)


def bonnie(results: Results) -> list[str]:
    """Of rewrites that read as well."""
    return [
        "**bonnie++'s rewrite** reads each part before it writes it. Where processor time is charged that is done 64 KiB at a",
        "time, not 1 MiB, so that the disks can read ahead while it sleeps. The table has errors: as simulated, with",
        "processor time alone, and with 2.6.5's write-back and, on RAID 5, rows to their end as well. Processor time alone",
        f"leaves {_untuned(results, 'cpu-')} untuned on RAID 0. With the write-back it is {_untuned(results, 'lumps-')}, too",
        "slow: by the controller's log, each second time that 4 MiB have been sent the drives write 8 MiB from its cache, and",
        "the reads wait for them. What goes to the drives when is assumed: nothing is published on that. The table of the",
        "misses has bonnie++ with processor time alone, and on RAID 5 with one row gathered, ext3's",
        "commit, and a read that waits until that row has been written (``controller.gather_reads=1``), all assumed.",
        "",
    ]


def bonnie_table(results: Results) -> list[str]:
    """What processor time, and both mechanisms with it, make of them."""
    rows = []
    for test in (reproduce_plan.find(array, which) for array in ("raid0", "raid5") for which in (3, 4, 5, 6)):
        published = amcc.published(test, "rewrite")
        rates = [results[f"{run}{test.name()}"].figures["rewrite"] for run in ("", "cpu-", "lumps-")]
        errors = (percent(100 * (rate / published - 1)) for rate in rates)
        rows.append((test.array, test.filesystem, setra(test), number(published), *errors))
    return table(("array", "on", "readahead", "published", "simulated", "processor time", "both"), rows)


def section(results: Results) -> list[str]:
    """The paragraphs and their tables."""
    lines = []
    for paragraph in (waits, write_back, to_end):
        lines += [*textwrap.wrap(" ".join(paragraph(results)), 120), ""]
    lines += [*steps_table(results), *textwrap.wrap(" ".join(bonnie(results)), 120), ""]
    return lines + bonnie_table(results)
