# SPDX-License-Identifier: GPL-2.0-or-later
"""Two recordings side by side: the part of size, depth and time in the difference, and whether readahead is
its cause."""

import dataclasses
import json
import os
from collections.abc import Callable, Mapping

from raidtrace.explain import chain
from raidtrace.explain import constants as k
from raidtrace.explain import limits as holding
from raidtrace.explain import limits_device, limits_events, limits_host
from raidtrace.explain.case import Case, trimmed
from raidtrace.explain.evidence import Chain, Limit, Link, Value, Verdict, lower_initial
from raidtrace.explain.steps import depth_verdict, in_order, predicted, source, streams
from raidtrace.quantity import units
from raidtrace.quantity.bins import CLASSES
from raidtrace.recording import observation
from raidtrace.recording import quantities as q
from raidtrace.recording import work
from raidtrace.recording.quantities import Reading
from raidtrace.recording.work import SAME_FACTOR, Compared, Kind

READAHEAD_NAMES = ("readahead_sectors", "arguments", "interval")  # may differ where readahead is judged
ALIKE = "Program, load, kernel and all other recorded settings are the same"
ABSENT = "n/a"  # a setting that a recording does not have
# settings that describe a run, not how the disk or machine was set
NOT_SET = {"state", "timeout_s", "driver_stats", "readahead_kib", "reset", "controller_events", "md_degraded",
           "md_sync_action", "mount", "journal", "in_flight_at_attach"}  # fmt: skip
# Names with the same prefix count as one change: a slow drive has a number and a factor. An array with one of
# ARRAY_WORK also differs in "array".
COMMON_PREFIXES = ("drive.slow_", "drive.seek_", "drive.media_", "array.background_")
ARRAY_WORK = ("array.initialize", "array.verify")


@dataclasses.dataclass(frozen=True)
class Ratios:
    """Quotients of the figures of B and A."""

    speed: float
    depth: float
    size: float
    wait: float

    def made(self) -> float:
        """The quotient of the throughput, computed from depth, size and time from issue to completion."""
        return self.depth * self.size / self.wait


def ratios(a: Reading, b: Reading, direction: str) -> Ratios | None:
    """The quotients of B and A. None: a figure is not available in one of them."""
    pairs = [
        (f(a.phase, direction), f(b.phase, direction)) for f in (q.mib_per_s, q.depth_mean, q.size_mean, q.d2c_mean_ms)
    ]
    quotients = [y / x for x, y in pairs if x and y]
    return Ratios(*quotients) if len(quotients) == len(pairs) else None


def changed(a: Reading, b: Reading, metas: tuple[Mapping[str, str], Mapping[str, str]]) -> list[tuple[str, str, str]]:
    """Different settings of disk and machine, and different facts of the recordings: (name, in A, in B)."""
    rows = _commands(*(meta.get("command", "") for meta in metas))
    array = _simulated(*metas)
    for name in ("kernel", "lab_kernel", *(() if array else ("lab_profile",)), "hostname", "machine", "interval"):
        if metas[0].get(name, "") != metas[1].get(name, ""):
            rows.append(
                (name.replace("lab_profile", "profile"), metas[0].get(name, ABSENT), metas[1].get(name, ABSENT))
            )
    rows += array
    for of in ("settings", "machine"):
        ours, theirs = getattr(a.phase, of), getattr(b.phase, of)
        for name in sorted((ours.keys() | theirs.keys()) - NOT_SET):
            if (ours.get(name) or "") != (theirs.get(name) or ""):  # missing and empty values are equal
                rows.append((name, _brief(ours.get(name, ABSENT)), _brief(theirs.get(name, ABSENT))))
    if a.above is not None and b.above is not None:
        for name in ("md_level", "md_raid_disks", "md_chunk_bytes"):
            one, other = (above.settings.get(name, ABSENT) for above in (a.above, b.above))
            rows += [(name, one, other)] if one != other else []
    if a.readahead_sectors() != b.readahead_sectors() and all(name != "readahead_sectors" for name, _, _ in rows):
        rows.append(("readahead_sectors", str(a.readahead_sectors()), str(b.readahead_sectors())))
    rows += behaviour(a, b)
    before, after = (_state(reading, meta) for reading, meta in zip((a, b), metas, strict=True))
    if before != after:
        rows.append(("array", before, after))
    names = {name for name, _, _ in rows}  # another file system has other mount options
    return [row for row in rows if row[0] != "mount_options" or "fstype" not in names]


def _simulated(a: Mapping[str, str], b: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Different keys of the lab's array, if both recordings have them. Faults are left out: the counters show their
    effects."""
    rows = [one for one in observation.lab_differences(a, b) if one[0] != "name" and not one[0].startswith("fault.")]
    return [
        (name, ABSENT if ours is None else ours, ABSENT if theirs is None else theirs) for name, ours, theirs in rows
    ]


def behaviour(a: Reading, b: Reading) -> list[tuple[str, str, str]]:
    """Differences of the load in its counters: direct I/O, sequential bios, writes, other processes, streams, resets,
    errors. Each may be a cause, even if both commands are the same."""
    rows: list[tuple[str, str, str]] = []
    for name, share in SHARES:
        ours, theirs = share(a), share(b)
        if ours is not None and theirs is not None and abs(ours - theirs) > k.MATTERS:
            rows.append((name, f"{ours:.0%}", f"{theirs:.0%}"))
    ours, theirs = streams(a), streams(b)
    if max(ours, theirs) >= k.MIN_FACTOR * min(ours, theirs):
        rows.append(("streams", str(ours), str(theirs)))
    for name, number in EVENTS:
        if number(a) != number(b):
            rows.append((name, str(number(a)), str(number(b))))
    return rows


def _others(reading: Reading) -> float | None:
    others = limits_host.strangers(Case(reading, "read", {}))
    return others.part if others.whole else None  # else only a lower bound is known


def _written(reading: Reading) -> float | None:
    """Share of the requests that are writes, from 0 to 1. None: there are none."""
    counts = [reading.phase.count(direction, "issued") or 0 for direction in ("read", "write")]
    return counts[1] / sum(counts) if sum(counts) else None


SHARES: tuple[tuple[str, Callable[[Reading], float | None]], ...] = (
    ("direct", lambda reading: q.class_share(reading.phase, "direct")),
    ("in order", in_order), ("writes", _written), ("others", _others),
)  # fmt: skip
EVENTS: tuple[tuple[str, Callable[[Reading], int]], ...] = (
    ("resets", lambda reading: limits_events.resets(Case(reading, "read", {}))),
    ("errors", lambda reading: q.total(reading.phase, "errors")),
)


def _commands(a: str, b: str) -> list[tuple[str, str, str]]:
    """The difference of two commands, as a row: another program, or the arguments that only one of them has."""
    if a == b:
        return []
    try:
        ours, theirs = (list(map(str, json.loads(text))) for text in (a, b))
    except (ValueError, TypeError):
        return [("command", _brief(a), _brief(b))]
    if ours[:1] != theirs[:1]:
        return [("command", _brief(" ".join(ours)), _brief(" ".join(theirs)))]
    first = " ".join(word for word in ours if word not in theirs)
    second = " ".join(word for word in theirs if word not in ours)
    if first and second and _brief(first) == _brief(second):  # a shell's long line: from the first difference on
        at = len(os.path.commonprefix((first, second)).rpartition(" ")[0])
        first, second = (f"... {text[at:].strip()}" for text in (first, second))
    return [("arguments", _brief(first) or "none", _brief(second) or "none")]


def _state(reading: Reading, meta: Mapping[str, str]) -> str:
    degraded = limits_events.degraded(Case(reading, "read", meta))
    return lower_initial(degraded.title).removesuffix(" array") if degraded.verdict is Verdict.INFERRED else "whole"


def _brief(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else line[:37] + "..."


def chain_of(a: Reading, b: Reading, direction: str, metas: tuple[Mapping[str, str], Mapping[str, str]]) -> Chain:
    """The chain of a phase in two recordings, with additional links for the changes, the classes and the difference."""
    works = work.compare(*(work.of(reading.phase, meta) for reading, meta in zip((a, b), metas, strict=True)))
    a, b = (dataclasses.replace(reading, phase=trimmed(reading.phase, direction)[0]) for reading in (a, b))
    links = chain.links((a, b), direction)
    differs = changed(a, b, metas)
    extra = (_changes(a, b, differs), _difference(a, b, direction), _classes(a, b), _work(works, (a, b)))
    limits = tuple(
        dataclasses.replace(limit, title=f"{reading.letter}: {limit.title}")
        for reading, meta in zip((a, b), metas)
        for limit in holding.limits(reading, direction, meta)
        if limit.verdict is Verdict.INFERRED
    )
    verdict, sentences = story(a, b, direction, differs, limits, works)
    factors = ratios(a, b, direction)
    ratio = works.factor or (factors.speed if factors else None)
    effect = max(ratio, 1 / ratio) if ratio else None
    return Chain(f"{chain.title(a, direction, metas[0])}, A and B", a.phase.disk.name, a.phase.phase, direction, verdict,
                 (extra[0], extra[3], *links, extra[2], extra[1]), limits, tuple(sentences), effect)  # fmt: skip


def _changes(a: Reading, b: Reading, differs: list[tuple[str, str, str]]) -> Link:
    text = ", ".join(f"{name} {x} -> {y}" for name, x, y in differs) or "nothing that was recorded"
    values = [Value(name, float(text), "", source(reading, name)) for name, x, y in differs
              for reading, text in ((a, x), (b, y)) if text.isdigit()]  # fmt: skip
    return Link("changed", "What changed", text, Verdict.SHOWN if differs else Verdict.NOT_SHOWN, tuple(values))


def _work(works: Compared, readings: tuple[Reading, Reading]) -> Link:
    """The link with the calls of both programs, their bytes and the time that they took."""
    pairs = tuple(zip((works.a, works.b), readings, strict=True))
    lines = [f"{reading.letter}: {one.text()}, {units.significant(one.seconds)} s" for one, reading in pairs]
    verdicts = {Kind.SAME: Verdict.SHOWN, Kind.DIFFERENT: Verdict.CONTRADICTED, Kind.UNKNOWN: Verdict.NOT_AVAILABLE}
    values = [Value(name, number, unit, source(reading, *counters)) for one, reading in pairs
              for name, number, unit, counters in (
                  ("seconds", one.seconds, "s", ("phase",)), ("bytes-of-calls", one.octets, "bytes", ("rchar", "wchar")),
                  ("calls", one.calls, "calls", ("syscr", "syscw")))]  # fmt: skip
    return Link("work", "Work", "\n".join(lines), verdicts[works.kind], tuple(values))


def _difference(a: Reading, b: Reading, direction: str) -> Link:
    factors = ratios(a, b, direction)
    if factors is None:
        return Link("difference", "Difference", "depth, size or time was not counted", Verdict.NOT_AVAILABLE)
    holds = q.agree(factors.made(), factors.speed)
    text = (f"depth x{factors.depth:.2f}, size x{factors.size:.2f}, time from issue to completion x{factors.wait:.2f}: "
            f"{factors.depth:.2f} x {factors.size:.2f} / {factors.wait:.2f} {'=' if holds else 'is NOT'} x{factors.speed:.2f}, "
            f"{q.mib_per_s(a.phase, direction) or 0:.1f} -> {q.mib_per_s(b.phase, direction) or 0:.1f} MiB/s")  # fmt: skip
    values = (Value("speed-ratio", factors.speed, "B / A", source(b, "bytes-completed"), (factors.made(), factors.made())),
              Value("depth-ratio", factors.depth, "B / A", source(b, "depth-time")),
              Value("size-ratio", factors.size, "B / A", source(b, "bytes-issued", "issued")),
              Value("d2c-ratio", factors.wait, "B / A", source(b, "d2c-sum-ns", "completed")))  # fmt: skip
    return Link("difference", "Difference", text, Verdict.SHOWN if holds else Verdict.CONTRADICTED, values)


def _classes(a: Reading, b: Reading) -> Link:
    """The link with bios and seeks of each class, in both recordings."""
    if a.phase.origin is None or b.phase.origin is None:
        return Link("classes", "Seeks by class", "classes were not counted", Verdict.NOT_AVAILABLE)
    lines, values = [], []
    for name in CLASSES:
        ours, theirs = (reading.phase.origin.get(name, {}) if reading.phase.origin else {} for reading in (a, b))
        pairs = [(ours.get(counter, 0), theirs.get(counter, 0)) for counter in ("queued", "seeks_queued", "seeks")]
        values += [Value(f"{name} {counter}", float(n), unit, source(reading, counter))
                   for (counter, unit), both in zip((("bios", "bios"), ("seeks-queued", "bios"), ("seeks", "reqs.")), pairs)
                   for reading, n in zip((a, b), both)]  # fmt: skip
        if any(n for both in pairs for n in both):
            bios, queued, issued = (f"{x} -> {y}" for x, y in pairs)
            lines.append(f"{name}: bios {bios}; seeking bios (as queued) {queued}, requests (as issued) {issued}")
    return Link("classes", "Seeks by class", "\n".join(lines) or "none", Verdict.SHOWN, tuple(values))


def _waits(a: Reading, b: Reading, direction: str) -> list[str]:
    """A sentence about the cost of metadata reads in the slower recording, if the faster one has hardly any; else
    empty."""
    slow, fast = sorted((a, b), key=lambda reading: q.mib_per_s(reading.phase, direction) or 0.0)
    dry, other = limits_device.dry(slow, direction), limits_device.dry(fast, direction)
    rate, reached = (q.mib_per_s(reading.phase, direction) for reading in (slow, fast))
    if direction != "read" or dry is None or other is None or not rate or not reached or dry[2] < k.WORTH:
        return []
    blocks = [limits_host.metadata(reading) for reading in (slow, fast)]
    if blocks[0] < dry[0] / 2 or other[2] >= k.WORTH:
        return []
    alone = rate / (1 - dry[2])
    account = "do NOT account for the difference" if alone > reached else "are a part of the difference"
    if abs(alone / reached - 1) <= k.MATTERS:
        account = "account for the difference"
    a_name, b_name = slow.letter, fast.letter
    return [
        f"{a_name} also reads {blocks[0]} blocks of metadata, {b_name} {blocks[1]}. The queue of {a_name} ran "
        f"empty {dry[0]} times, that of {b_name} {other[0]} times. Without these waits {a_name} would reach about "
        f"{alone:.0f} MiB/s, and {b_name} reaches {reached:.0f}: they {account}."
    ]


def story(a: Reading, b: Reading, direction: str, differs: list[tuple[str, str, str]], limits: tuple[Limit, ...],
          work: Compared) -> tuple[Verdict, list[str]]:  # fmt: skip
    """Whether readahead made the difference, and the sentences of the summary. work: the works of both programs, which
    alone decide whether one is faster."""
    factors = ratios(a, b, direction)
    if factors is None:
        return Verdict.NOT_AVAILABLE, [
            work.sentence(),
            *_together([name for name, _, _ in differs]),
            "The recordings lack the counters of requests that would explain the difference.",
        ]
    speed = 1 / work.factor if work.factor else factors.speed
    bytes_factor = _bytes(a, b, direction)
    lead = [work.sentence(), _of_disk(a, b, direction, factors, bytes_factor)]
    names = [name for name, _, _ in differs]
    ahead = "readahead_sectors" in names
    level = work.level() if work.factor else 1 / SAME_FACTOR < speed < SAME_FACTOR
    moved = " and ".join(reading.letter for reading in (a, b) if "readahead_sectors" in reading.phase.changed)
    tail = _next(limits, not (ahead or level or moved))
    if speed < 1:  # the reason why B is slower matters more than its other limits
        tail = _only(limits, "B") or tail
    if level:
        result = [f"The readahead changed, but the {'time' if work.factor else 'rate'} did not."] if ahead else []
        return (Verdict.CONTRADICTED if ahead else Verdict.NOT_AVAILABLE), [*lead, *result, *tail]
    others = [name for name in names if name not in READAHEAD_NAMES]
    arguments = next((f"an argument ({x} -> {y})" for name, x, y in differs if name == "arguments"), "")
    if work.factor and not 1 / SAME_FACTOR < bytes_factor < SAME_FACTOR:
        # The rates do not explain the time of the work, because the disk moved other bytes for it.
        more = (bytes_factor > 1) == (speed < 1)
        if ahead and direction == "read" and more and not others and not arguments and not moved:
            lead.append(f"Inferred cause: readahead. {ALIKE}.")
            return Verdict.INFERRED, [*lead, *tail]
        verdict = Verdict.NOT_SHOWN if ahead else Verdict.NOT_AVAILABLE
        return verdict, [*lead, *_together(names), *tail]
    if direction != "read" or not ahead:
        verdict = Verdict.NOT_AVAILABLE if direction != "read" else Verdict.CONTRADICTED
        limiting = any(limit.key == "readahead" and limit.title.startswith("B: ") for limit in limits)
        refused = []
        if moved and direction == "read":
            verdict, refused = Verdict.NOT_AVAILABLE, [f"Readahead changed during {moved}, so its part is open."]
        elif direction == "read" and not limiting and work.kind is not Kind.DIFFERENT and not _by_layer(a, b):
            refused = ["Readahead is the same in both, so it is not the cause."]
        # causes of the difference matter more than excluded ones
        waits = _waits(a, b, direction)
        accounted = any(": they account for" in sentence for sentence in waits)
        accounts = [*waits, *([] if accounted else _together(names)), *refused]
        first, last = (tail, []) if speed < 1 else (_only(limits, "A"), tail)
        return verdict, [*lead, *first, *accounts, _factors(factors), *last]
    verdict, why = _by_readahead(a, b, factors, others, arguments)
    size = "The size of the requests did not change."
    if not 1 / SAME_FACTOR < factors.size < SAME_FACTOR:
        size = f"The mean size of a request changed by x{factors.size:.2f}, which is a part of the difference."
    return verdict, [*lead, why, f"{size} In flight: {_depths(a, b, direction)}.", *tail]


def _by_layer(a: Reading, b: Reading) -> bool:
    """Whether kernel threads queue the bios, so that the readahead of a layer above matters."""
    return any(Case(reading, "read", {}).by_kernel() > k.HALF for reading in (a, b))


def _bytes(a: Reading, b: Reading, direction: str) -> float:
    """The bytes that the disk of B moved, divided by those of A. 1.0: not counted."""
    ours, theirs = (q.octets(reading.phase, direction) for reading in (a, b))
    return theirs / ours if ours and theirs else 1.0


def _of_disk(a: Reading, b: Reading, direction: str, factors: Ratios, bytes_factor: float) -> str:
    """A sentence about the rates of the disk, and its bytes if they differ."""
    before, after = (q.mib_per_s(reading.phase, direction) or 0.0 for reading in (a, b))
    text = f"Rate of the disk: {before:.1f} -> {after:.1f} MiB/s (x{factors.speed:.2f})"
    if 1 / SAME_FACTOR < bytes_factor < SAME_FACTOR:
        return f"{text}."
    ours, theirs = (units.octets(q.octets(reading.phase, direction) or 0) for reading in (a, b))
    return f"{text}. It moved x{bytes_factor:.2f} the bytes: {ours} -> {theirs}."


def _by_readahead(a: Reading, b: Reading, factors: Ratios, others: list[str], arguments: str) -> tuple[Verdict, str]:
    """Whether readahead is the cause, for a pair with different readahead. others: further changed settings. arguments:
    changed arguments of the command, in words."""
    rose = max(factors.depth, 1 / factors.depth) >= k.MIN_FACTOR and (factors.depth > 1) == (factors.speed > 1)
    strays = " and ".join(r.letter for r in (a, b) if depth_verdict(r, "read") is not Verdict.SHOWN)
    if not rose:
        return (Verdict.CONTRADICTED, "Readahead is not the cause: the number in flight did not rise.")
    if not q.agree(factors.made(), factors.speed):
        return (
            Verdict.CONTRADICTED,
            "Readahead is not the cause: the number in flight, the size and the time do not account for the difference.",
        )
    if others:
        return Verdict.NOT_SHOWN, (
            f"The recordings do not show that readahead is the cause: {', '.join(others)} changed, too."
        )
    if any(Case(reading, "read", {}).direct() for reading in (a, b)):
        return (Verdict.CONTRADICTED, "Readahead is not the cause: direct I/O bypasses the page cache.")
    if strays:
        return (
            Verdict.NOT_SHOWN,
            f"More readahead raised the number in flight, but not to the predicted value in {strays}.",
        )
    alike = ALIKE
    if arguments:
        alike = f"Also {arguments} changed, but the counters of both loads are similar"
    return (Verdict.INFERRED, f"Inferred cause: readahead. {alike}, and the counters confirm each step.")


def _factors(ratio: Ratios) -> str:
    parts = (("in flight", ratio.depth), ("request size", ratio.size), ("time from issue to completion", ratio.wait))
    texts = [f"{name} x{value:.2f}" for name, value in parts if not 1 / SAME_FACTOR < value < SAME_FACTOR]
    return (
        f"Differences: {', '.join(texts)}."
        if texts
        else "Requests in flight, size and time differ by less than 10 % each."
    )


def _together(names: list[str]) -> list[str]:
    """A sentence about the other recorded differences: a single one, or several that the evidence does not
    distinguish."""
    others = [name for name in names if name not in ("arguments", "interval")]
    things = {next((begin for begin in COMMON_PREFIXES if name.startswith(begin)), name) for name in others}
    things -= {"array"} if things.intersection(ARRAY_WORK) else set()
    names_text = ", ".join(others)
    if len(things) > 1:
        return [f"{names_text} changed together: the recordings do not show which is the cause."]
    if not names:
        return ["No setting that was recorded differs."]
    return [f"The recorded settings and the load differ in {names_text} alone."] if others == names else []


def _depths(a: Reading, b: Reading, direction: str) -> str:
    texts = []
    for reading in (a, b):
        mean, bounds = q.depth_mean(reading.phase, direction), predicted(reading, direction)
        band = f" (readahead predicts {bounds[0]:g} to {bounds[1]:g})" if bounds else ""
        texts.append(f"{mean or 0:.2f}{band}")
    return " -> ".join(texts)


def _next(limits: tuple[Limit, ...], same: bool) -> list[str]:
    """A sentence about the limit of B, and whether it also limits A. same: both have the same readahead, and different
    rates."""
    of = {letter: [limit for limit in limits if limit.title.startswith(f"{letter}: ")] for letter in "AB"}
    if not of["B"]:
        return []
    first = of["B"][0]
    both = any(limit.key == first.key for limit in of["A"])
    if both and same and first.key == "readahead":
        return ["Inferred limit of both: readahead. It is the same in both, so it is not the cause of the difference."]
    return [f"Inferred limit of {'both' if both else 'B'}: {lower_initial(first.title.removeprefix('B: '))}."]


def _only(limits: tuple[Limit, ...], slower: str) -> list[str]:
    """A sentence about the limits that only the slower recording has; empty: there are none."""
    other = "A" if slower == "B" else "B"
    of = {letter: [limit for limit in limits if limit.title.startswith(f"{letter}: ")] for letter in "AB"}
    keys = {limit.key for limit in of[other]}
    titles = [lower_initial(limit.title.removeprefix(f"{slower}: ")) for limit in of[slower] if limit.key not in keys]
    return [f"Inferred limit of {slower}, not of {other}: {' and '.join(titles[:2])}."] if titles else []
