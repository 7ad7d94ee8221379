# SPDX-License-Identifier: GPL-2.0-or-later
"""The chain of one phase of one disk: its links, what limits it, and whether readahead is the story."""

import json
from collections.abc import Mapping, Sequence

from raidtrace.explain import limits as holding
from raidtrace.explain import links_disk, links_queue
from raidtrace.explain.evidence import Chain, Limit, Link, Verdict
from raidtrace.recording import quantities as q
from raidtrace.recording.observation import Observation
from raidtrace.recording.quantities import Reading

REFUSING = ("degraded", "slow part", "program", "processor", "queue depth", "direct", "seeks", "pieces", "file system")
CHAIN = ("window", "depth", "throughput")  # links that readahead's story stands or falls with
LEAST_BYTES = 1 << 20  # a phase that moved less says nothing of throughput


def program(meta: Mapping[str, str]) -> str:
    """What ran, in a word or two."""
    try:
        words = json.loads(meta.get("command", ""))
    except ValueError:
        return "imported trace" if "source" in meta else ""
    return str(words[0]).rpartition("/")[2] if words else ""


def links(readings: Sequence[Reading], way: str) -> tuple[Link, ...]:
    """All links of one reading, or of two side by side; what its seeks cost is said of one."""
    both = readings
    first = (links_queue.setting(both), links_queue.window(both)) if way == "read" else ()
    requests = () if any(r.seen.disk.bio_based for r in both) else (
        links_queue.splits(both, way), links_queue.size(both, way), links_disk.depth(both, way), links_disk.busy(both),
        links_disk.throughput(both, way), links_disk.seeks(both),
    )  # fmt: skip
    whole = not any(r.above for r in both)  # what a command asked for is not asked of one member
    spent = (links_disk.cost(both[0]),) if len(both) == 1 and requests else ()
    last = (links_disk.blame(both), *spent, *((links_disk.cache(both, way),) if whole else ()))
    return (*first, links_queue.bios(both, way), *requests, *last)


def title(reading: Reading, way: str, meta: Mapping[str, str]) -> str:
    """What the chain is about."""
    where = reading.seen.settings.get("fstype") or (reading.above.settings.get("fstype", "") if reading.above else "")
    what = " ".join(word for word in (program(meta), where.splitlines()[0] if where else "") if word)
    return f"{reading.seen.disk.name}, phase {reading.seen.phase} ({way}s{', ' if what else ''}{what})"


def single(reading: Reading, way: str, meta: Mapping[str, str], beside: Sequence[Observation] = ()) -> Chain:
    """One phase of one recording."""
    found = links((reading,), way)
    held = holding.limits(reading, way, meta, beside)
    story = _story(found, held) if way == "read" else Verdict.NOT_AVAILABLE
    return Chain(title(reading, way, meta), reading.seen.disk.name, reading.seen.phase, way, story, found, held,
                 summary(reading, way, _told(story, found, held), held), _part(reading.seen, beside))  # fmt: skip


def _part(seen: Observation, beside: Sequence[Observation]) -> float | None:
    """Of the time of all phases of the disk."""
    whole = seen.seconds() + sum(other.seconds() for other in beside)
    return seen.seconds() / whole if whole else None


def _story(found: Sequence[Link], held: Sequence[Limit]) -> Verdict:
    """Whether what is in flight is there because of readahead, and nothing nearer to the cause holds it down."""
    verdicts = {link.key: link.verdict for link in found}
    if any(limit.key in REFUSING and limit.verdict is Verdict.SHOWN for limit in held):
        return Verdict.CONTRADICTED if verdicts.get("depth") is Verdict.CONTRADICTED else Verdict.NOT_SHOWN
    needed = [verdicts.get(key, Verdict.NOT_AVAILABLE) for key in CHAIN]
    for verdict in (Verdict.CONTRADICTED, Verdict.NOT_AVAILABLE, Verdict.NOT_SHOWN):
        if verdict in needed:
            return verdict
    return Verdict.SHOWN


def _told(story: Verdict, found: Sequence[Link], held: Sequence[Limit]) -> str:
    """The sentence on readahead's part."""
    verdicts = {link.key: link.verdict for link in found}
    wrong = ", ".join(
        link.title.lower() for link in found if link.key in CHAIN and link.verdict is Verdict.CONTRADICTED
    )
    if wrong and any(limit.key == "readahead" and limit.verdict is Verdict.SHOWN for limit in held):
        return f"As much is in flight as readahead makes, but the evidence contradicts a link of its chain: {wrong}."
    if story is Verdict.NOT_AVAILABLE and verdicts.get("depth") is verdicts.get("throughput") is Verdict.SHOWN:
        return "What is in flight is what readahead predicts; the windows that were read ahead were not counted."
    return {
        Verdict.SHOWN: "The chain from readahead to throughput holds.",
        Verdict.NOT_SHOWN: "The evidence does not show that readahead decides it.",
        Verdict.CONTRADICTED: f"Readahead does not decide it: the evidence contradicts a link of its chain: {wrong}.",
        Verdict.NOT_AVAILABLE: "What readahead has to do with it was not recorded.",
    }[story]


def summary(reading: Reading, way: str, told: str, held: Sequence[Limit]) -> tuple[str, ...]:
    """What it comes to, in plain words. told: readahead's part, said of reads alone."""
    rate, mean = q.mib_per_s(reading.seen, way), q.depth_mean(reading.seen, way)
    if reading.seen.disk.bio_based:
        return (
            f"{rate or 0:.1f} MiB/s. It has no requests of its own: what is in flight is that of the disks it is made of.",
        )
    reached = f"{rate or 0:.1f} MiB/s" + (f" with {mean:.2f} {way}s in flight." if mean is not None else ".")
    shown = [limit.title for limit in held if limit.verdict is Verdict.SHOWN]
    first = f"Limited by {' and '.join(name[:1].lower() + name[1:] for name in shown[:2])}: {reached}"
    if not shown:
        first = f"The evidence does not show what limits it: {reached}"
    return (first, told) if way == "read" else (first,)
