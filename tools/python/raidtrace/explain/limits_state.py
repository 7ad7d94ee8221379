# SPDX-License-Identifier: GPL-2.0-or-later
"""Causes above the driver, by the states of the time of the disk: the block layer, or a layer above, holds bios that the
disk could take."""

from raidtrace.explain import constants as k
from raidtrace.explain import gain
from raidtrace.explain.case import EMPTY, WAITING, Case, inferred, open_question, rule, ruled_out, unknown
from raidtrace.explain.evidence import NO_GAIN, Limit
from raidtrace.explain.limits_queue import slots
from raidtrace.quantity.units import ratio
from raidtrace.recording import breakdown
from raidtrace.recording import quantities as q
from raidtrace.recording.observation import LIMIT_FILES
from raidtrace.recording.spans import DATA

WBT = "writeback throttling (wbt)"


@rule("layer", "Layer above", EMPTY)
def layer(case: Case) -> Limit:
    """One md or dm disk above this one, which has bios while this one has none."""
    above = case.reading.above
    if above is None or above.disk.members > 1:
        return unknown("no disk of its own contains this one")
    times, mine = breakdown.of(above.span), case.times
    if times is None or times.busy_share is None or mine is None or mine.busy_share is None or not times.seconds:
        return unknown("the time of the disk, or of the one above it, was not counted")
    there = (mine.busy_share + (mine.held_share or 0.0)) * mine.seconds / times.seconds
    part = max(times.busy_share - there, 0.0)
    value = case.value("held-above", part, "of 1", "depth-time", "held-ns")
    text = (
        f"{above.disk.name} has bios for {q.percent(times.busy_share)} of the time, and {case.phase.disk.name} for "
        f"{q.percent(there)}"
    )
    if part < k.WORTH:
        return ruled_out(text, value)
    text = f"{text}: {above.disk.name} holds them for {q.percent(part)}"
    work, used = q.kernel_work(case.phase)
    if used >= k.HALF * part and not case.simulated():
        return open_question(f"{text}; {work} used {used:.2f} of a processor, so it may compute", value)
    if any(case.phase.settings.get(name) for name in LIMIT_FILES):
        return open_question(f"{text}; or io.max delays them between both", value)
    name = above.settings.get("dm_name", "") or above.disk.name
    remedy = (
        f"dmsetup table {name} prints what the layer does with a bio; compare with a recording of {case.phase.disk.name} alone"
        if above.disk.name.startswith("dm-")
        else f"compare with a recording of {case.phase.disk.name} without {name}"
    )
    return inferred(text, remedy, value, share=part, gain=gain.at_most(part))


@rule("held", "Block layer", WAITING)
def held(case: Case) -> Limit:
    """Bios that wait before their request exists, although slots are free: io.cost or io.latency."""
    times = case.times
    waited = case.phase.span.plain.get("waiting_sum_ns")
    if times is None or times.held_share is None or times.backlog_share is None or waited is None:
        return unknown("the time with bios waiting was not counted")
    part = times.held_share + times.backlog_share
    values = (
        case.value("held-share", times.held_share, "of 1", "held-ns"),
        case.value("backlog-share", times.backlog_share, "of 1", "backlog-ns"),
    )
    text = f"bios wait before the disk for {q.percent(part)} of the time, for {q.percent(times.held_share)} while it is idle"
    if part < k.HALF:
        return ruled_out(text, *values)
    queued = sum(case.phase.count(direction, "i2d_sum_ns") or 0 for direction in DATA)
    inside = ratio(queued, waited) or 0.0
    if inside >= k.HALF:
        return ruled_out(f"{text}, mostly in the scheduler", *values)
    if (few := slots(case)) and case.all_in_use(few):
        return ruled_out(f"{text}; all {few[0]} slots ({few[1]}) are in use", *values)
    text = f"{text}; slots are free, and no request exists yet for most of the wait"
    holders = _holders(case)
    if len(holders) != 1 or not holders[0][1]:
        names = " or ".join(name for name, _ in holders)
        return open_question(f"{text}: {names or 'nothing that was recorded'} may hold them", *values)
    name, remedy = holders[0]
    bound = gain.at_most(times.held_share) if times.held_share >= k.WORTH else NO_GAIN
    return inferred(f"{text}: {name} holds them", remedy, *values, share=part, gain=bound)


def _holders(case: Case) -> list[tuple[str, str]]:
    """(name, remedy) of each recorded setting that may hold a bio before a request exists."""
    settings, disk = case.phase.settings, case.phase.disk.name
    number = f"$(cat /sys/block/{disk}/dev)"
    found = []
    if "enable=1" in settings.get("io.cost.qos", "").split():
        found.append(("io.cost", f'correct io.cost.model, or echo "{number} enable=0" >/sys/fs/cgroup/io.cost.qos'))
    targets = [line.split()[0] for line in settings.get("io.latency", "").splitlines() if "target=" in line]
    if targets:
        where = f"/sys/fs/cgroup{targets[0]}/io.latency"
        found.append(
            (f"io.latency of {', '.join(targets)}", f'raise the target: echo "{number} target=0" >{where} ends it')
        )
    if case.direction == "write" and (case.phase.setting("wbt_lat_usec") or 0) > 0:
        found.append((WBT, ""))  # it also holds writes of a disk that can do no more, so no remedy is known
    return found
