# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of a disk: resets, errors, a lost or slow drive, settings that changed during the phase."""

import re

from raidtrace.explain import constants as k
from raidtrace.explain import gain
from raidtrace.explain.case import ALL, DISK, Case, inferred, open_question, rule, ruled_out, unknown
from raidtrace.explain.evidence import NO_GAIN, Limit, Value, Verdict
from raidtrace.explain.limits_device import ceiling_near
from raidtrace.explain.steps import in_order
from raidtrace.quantity import bins
from raidtrace.quantity.units import plural
from raidtrace.recording import quantities as q

RESETS = re.compile(r"SCSI Host Resets:\s*(\d+)")
DECIDING_SETTINGS = (
    "readahead_sectors",
    "scheduler",
    "nr_requests",
    "max_sectors_kb",
    "nomerges",
    "queue_depth",
    "wbt_lat_usec",
)
# Background work of the controller.
BACKGROUND_WORK = {"rebuild": "Rebuild", "initialize": "Initialisation", "verify": "Verification"}


def resets(case: Case) -> int:
    """Number of resets of the controller in this phase, from the driver's own counters. 0: none, or not recorded."""
    stats = [change for change in case.phase.timeline.changes if change.name == "driver_stats"]
    counts = [[int(m[1]) for m in RESETS.finditer(text)] for change in stats for text in (change.before, change.after)]
    known = [number for numbers in counts for number in numbers]
    return max(known) - min(known) if known else 0


@rule("reset", "Reset", DISK)
def reset(case: Case) -> Limit:
    """A long silence: no completion although requests were in flight."""
    silent, ended = case.phase.timeline.silence()
    length, number = case.phase.seconds(), resets(case)
    if not length or not len(case.phase.timeline.samples):
        return unknown("nothing was sampled")
    share = min(silent / 1e9 / length, 1.0)
    values = (
        case.value("silence", silent / 1e9, "s", "depth-time", "bytes-completed"),
        case.value("resets", number, "resets", "driver_stats"),
    )
    if silent >= k.MIN_SILENT_S * 1e9 and share >= k.MATTERS:
        flushed = case.area("flush") * length
        if not number and flushed >= k.NEARLY_ALL * silent / 1e9:
            text = f"no request completed for {silent / 1e9:.1f} s, and a flush was in flight for {flushed:.1f} s of it"
            return open_question(text, *values)
        at = (ended - case.phase.begin_ns - silent) / 1e9
        who = (
            f"the driver reset its controller {number} time{plural(number)}"
            if number
            else "the recording does not show the reason"
        )
        text = (
            f"from {max(at, 0):.1f} s on no request completed for {silent / 1e9:.1f} s, {share:.0%} of the time, "
            f"although requests were in flight: {who}"
        )
        return inferred(
            text,
            "look for a command that timed out: see dmesg and the controller's log, check cables and drives",
            *values,
            share=share,
            gain=gain.unbroken(length, silent / 1e9, (case.phase.timeline.interval or 0) / 1e9),
            title="" if number else "Silence",
        )
    if number:
        return open_question(f"the driver reset its controller {number} times", *values)
    return ruled_out(f"the longest time without a completion is {silent / 1e9:.2f} s", *values)


@rule("errors", "Errors", DISK)
def errors(case: Case) -> Limit:
    """Failed requests. They are reported in any case, because they may have ended the program."""
    number = case.phase.count(case.direction, "errors")
    if number is None:
        return unknown("errors were not counted")
    value = case.value("errors", number, "reqs.", "errors")
    if number:
        failed = f"{number} {case.direction}{plural(number)} failed"
        return open_question(f"{failed}; their cost in time is unknown", value)
    return ruled_out(f"no {case.direction} failed", value)


@rule("changed", "Changed setting", ALL)
def changed(case: Case) -> Limit:
    """A setting that changed during the phase, with a change of the rate. One explanation cannot hold for
    both parts."""
    changes = [change for change in case.phase.timeline.changes if change.name in DECIDING_SETTINGS]
    if not changes or len(case.phase.spans) != 1:
        return ruled_out("no setting that affects the rate was changed")
    first = changes[0]
    start, end = case.phase.spans[0][0], case.phase.spans[0][1] + 10**18
    before, after = (
        case.phase.timeline.rates(*part, case.direction) for part in ((start, first.time_ns), (first.time_ns, end))
    )
    after_s = (first.time_ns - case.phase.begin_ns) / 1e9
    since_s = (first.time_ns - int(case.meta.get("start_ns", start))) / 1e9  # as --from and --to count
    text = f"{first.name} was changed from {first.before} to {first.after} {after_s:.1f} s into the phase"
    if len({change.time_ns for change in changes}) > 1:
        text += ", and others after it"
    if not before or not after:
        return open_question(f"{text}; the rates before and after are unknown")
    values = (
        case.value("before", before, "MiB/s", "bytes-completed"),
        case.value("after", after, "MiB/s", "bytes-completed"),
    )
    text += f": {before:.1f} MiB/s before, {after:.1f} after"
    gained = after / case_rate(case)  # by the last setting, if it had been there from the start
    if max(before, after) / min(before, after) < k.MIN_FACTOR or (after > before and gained < 1 + k.FEW):
        return open_question(text, *values)
    return inferred(
        text,
        f"explain each part alone: raidctl explain --to {since_s:.1f}, and --from {since_s:.1f}",
        *values,
        share=max(1 - case_rate(case) / max(before, after), 0.0),
        gain=((gained, gained), "") if after > before else NO_GAIN,
    )


def case_rate(case: Case) -> float:
    """MiB/s of the whole phase. 1.0: not known."""
    return q.mib_per_s(case.phase, case.direction) or 1.0


@rule("degraded", "Degraded array", DISK)
def degraded(case: Case) -> Limit:
    """An array that lacks a drive or rebuilds, if md or the controller reports it."""
    phase, above = case.phase, case.reading.above
    missing = (above.setting("md_degraded") if above else None) or phase.setting("md_degraded") or 0
    action = (above or phase).settings.get("md_sync_action", "idle")
    if missing:
        name = above.disk.name if above else phase.disk.name
        text = f"{name} lacks {missing} of its disks: md computes their data from all others"
        return _lacking(case, text, case.value("md-degraded", missing, "disks", "md_degraded"))
    if action in ("recover", "resync", "check", "repair", "reshape"):
        return inferred(
            f"md reports {action}: its own reads and writes take a part of the time",
            "wait for its end, or lower sync_speed_max of md",
            title="Rebuild",
        )
    last = _state(phase.settings.get("controller_events", ""))
    if last == "degraded":
        line = next(
            line
            for line in reversed(_lines(phase.settings["controller_events"]))
            if "egraded" in line or "ebuild failed" in line
        )
        return _lacking(case, f'the controller reported: "{line}"')
    if last:
        return inferred(
            f"the controller reported that it began to {last}: its own reads and writes take a part of the time",
            "wait for its end, or lower its rate in the settings of the controller",
            title=BACKGROUND_WORK[last],
        )
    if above is not None or "md_degraded" in phase.settings:
        return ruled_out("md reports no missing drive")
    return unknown("no source reports the state of the array")


def _lacking(case: Case, text: str, *values: Value) -> Limit:
    """The limit for a missing drive, reported in any case.

    Its data needs additional reads from all others. This costs much for parallel random reads, and little for
    sequential reads or at another ceiling. Only the first case is inferred."""
    remedy = "replace the drive and let the array rebuild; until then the array computes its data from the others"
    parallel = case.direction == "read" and (case.depth() or 0.0) >= k.TWICE and case.seeks_often()
    if parallel and not ceiling_near(case):
        return inferred(text, remedy, *values)
    return open_question(f"{text}; its cost for this load is unknown", *values, remedy=remedy)


def _lines(events: str) -> list[str]:
    """The events that the controller reported, one per line. The recording escapes the ends of lines."""
    return events.replace("\\n", "\n").splitlines()


def _state(events: str) -> str:
    """The last state of the array that the controller reported: "degraded", a key of BACKGROUND_WORK, or empty."""
    state = ""
    for line in _lines(events.lower()):
        work = next((name for name in BACKGROUND_WORK if f"{name} " in line), "")
        if work and "started" in line:
            state = work
        elif work and ("complete" in line or "failed" in line):
            state = "degraded" if "rebuild failed" in line else ""
        elif "degraded" in line:
            state = "degraded"
    return state


@rule("slow part", "Slow drive", DISK)
def slow_part(case: Case) -> Limit:
    """A drive that is slower than the others: sequential requests of one size take very different times."""
    phase = case.phase
    times, mode, order = (
        phase.histogram(case.direction, "d2c"),
        q.size_mode(phase, case.direction),
        in_order(case.reading),
    )
    other = q.octets(phase, case.other) or 0
    steady = not case.waits_for_host() and other <= k.FEW * (q.octets(phase, case.direction) or 1)
    alike = mode is not None and mode[1] >= k.NEARLY_ALL and case.seeks_seldom()
    if case.one_disk():
        return ruled_out("it is one disk, or one volume")
    if case.direction != "read" or not times or not steady or not alike or (order or 0) < k.HALF:
        return unknown("only sequential reads of one size by one reader, on a disk that is always busy, can show it")
    low, middle, high = (bins.quantile(times, part) or 1.0 for part in (0.05, 0.5, 0.95))
    late = sum(count for at, count in times.items() if bins.time(at)[0] >= 2 * middle) / sum(times.values())
    values = (case.value("d2c-p95-by-p50", high / middle, "", "d2c"), case.value("d2c-late-share", late, "of 1", "d2c"))
    if (
        high / middle >= k.SEVERAL
        and high / low >= k.SEVERAL * k.SEVERAL
        and degraded(case).verdict is Verdict.INFERRED
    ):
        return open_question("the work of the array itself makes equal reads take very different times", *values)
    slowest = f"the 95th percentile is {high / middle:.1f} times the median"
    if high / middle >= k.SEVERAL and high / low >= k.SEVERAL * k.SEVERAL:
        text = (
            f"{late:.0%} of the sequential reads of one size take at least twice their median of "
            f"{middle / 1e6:.2f} ms, and {slowest}: a part of the array is slower than the rest"
        )
        return inferred(
            text,
            "look in the controller for errors and latencies of each drive, and replace the slow one, unless its "
            "unit initialises, verifies or rebuilds",
            *values,
        )
    if high / middle >= k.TWICE:
        text = (
            f"sequential reads of one size take different times, {slowest}: it is unknown whether a part of the "
            "array is slower"
        )
        return open_question(text, *values)
    return ruled_out(f"sequential reads of one size take about the same time: {slowest}", *values)
