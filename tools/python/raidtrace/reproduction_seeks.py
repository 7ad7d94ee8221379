# SPDX-License-Identifier: GPL-2.0-or-later
"""What seeks of bonnie++ may have waited for in 2004: 2.6.5's lseek(), which took a lock of fsync()'s, and its scheduler."""

import textwrap
from collections.abc import Mapping

from raidtrace import amcc, reproduce_plan, reproduce_run, reproduction_misses
from raidtrace.reproduction_text import number, percent, table

Results = Mapping[str, reproduce_run.Result]


def _seconds(results: Results, name: str, test: amcc.Test) -> float:
    """How long all seeks of a run took, the removal of the file inside of the time as it is in the other of its two tests."""
    if test.filesystem in ("ext2", "ext3"):
        return amcc.SEEKS / reproduction_misses.seeks_and_removal(results, test, name)
    return amcc.SEEKS / results[name].figures["seeks"]


def seconds(results: Results) -> list[tuple[amcc.Test, float, float, float]]:
    """Test, and s for all seeks: published, without these waits, with them."""
    found = []
    for test, run in reproduce_plan.waits():
        lookups = reproduce_plan.lookups().get(test.array)
        without = lookups.name if lookups and lookups.test == test else test.name()
        published = amcc.SEEKS / amcc.published(test, "seeks")
        found.append((test, published, _seconds(results, without, test), _seconds(results, run.name, test)))
    return found


def paragraph(results: Results) -> list[str]:
    """What was different, and what it does."""
    raid0 = {test.filesystem: values for test, *values in seconds(results) if test.array == "raid0"}
    more = [ext3 - ext2 for ext3, ext2 in zip(raid0["ext3"], raid0["ext2"], strict=True)]
    lost = {name: 100 * (raid0[name][0] / raid0[name][2] - 1) for name in ("ext2", "xfs")}
    return [
        "**What seeks on ext3 lack was looked for in 2.6.5's journal and scheduler, and not found there.** bonnie++ syncs each",
        "block that it changes, one of ten. fsync() of 2.6.5 held a lock of the file, ``i_sem``, that lseek() took; so while",
        "one process syncs, the others wait to seek (``BONNIE_LSEEK_WAITS``). ext3 syncs by its journal's thread. The default",
        'scheduler, "anticipatory", took that thread\'s writes for background ones, and after a read kept the disk idle for up',
        "to 6 ms for the next read of the same process, which here waited for the journal. ``tools/lab/anticipatory`` has the",
        "rules of that scheduler as a module for the lab's kernel; constants are those of 2.6. s for all seeks, RAID 0, the",
        f"removal of the file included: ext3 took {more[0]:.0f} s longer than ext2 as published, {more[1]:.0f} s without these",
        f"waits, {more[2]:.0f} s with them. With them the table has ext3 near what was published. **But the scheduler holds",
        "back one seeker for another, too: ext2 and xfs come to",
        f"{percent(lost['ext2'])} and {percent(lost['xfs'])}.",
        "So this is not the mechanism, or not all of it,** and it is not taken as one below.",
        "",
    ]


def tables(results: Results) -> list[str]:
    """In full size; and what each of the two does, small."""
    rows = []
    for test, published, without, waiting in seconds(results):
        errors = (f"{100 * (published / value - 1):+.1f} %" for value in (without, waiting))
        rows.append(
            (test.array, test.filesystem or "", f"{published:.1f}", f"{without:.1f}", f"{waiting:.1f}", *errors)
        )
    header = ("array", "on", "published s", "without s", "with s", "seeks/s without", "seeks/s with")
    steps = [
        (what, *(number(results[run.name].figures["seeks"]) for run in on.values()))
        for what, on in reproduce_plan.wait_steps()
    ]
    text = "What each of the two does: seeks per second over 1 GiB, RAID 0, untuned."
    return [*table(header, rows), *textwrap.wrap(text, 120), "", *table(("", "ext2", "ext3", "xfs"), steps)]


def section(results: Results) -> list[str]:
    """The paragraph and its tables."""
    return [*textwrap.wrap(" ".join(paragraph(results)), 120), "", *tables(results)]
