# SPDX-License-Identifier: GPL-2.0-or-later
"""io.max: the rate that a cgroup may have of a disk, and whether it was reached.

The kernel throttles a bio before it is queued, so the bio is not in flight: the disk waits, as for a program. It counts
the bytes of a bio once, and a bio once for each request that it is split into, for the cgroup that the bio is charged to and
all above it (block/blk-throttle.c). A kernel thread queues the throttled bios.
"""

import dataclasses
import shlex
from collections.abc import Iterator, Sequence

from raidtrace.explain import gain
from raidtrace.explain.case import Case, inferred, open_question, ruled_out, unknown
from raidtrace.explain.evidence import Limit
from raidtrace.explain.limits_device import ceiling_near, flat
from raidtrace.quantity import size
from raidtrace.recording import quantities as q
from raidtrace.recording.observation import Charged

SETTING = "io.max"
NEAR = 0.85  # of what is allowed, from which on that is what came
MOST = 0.5  # part of the bytes that a cgroup and those below it must have queued
IDLE = 0.15  # part of the time without work, from which on the disk waited
HELD = 0.5  # part of its bios that kernel threads queued, from which on they were throttled, if nothing writes back
NAMES = {"read": ("rbps", "riops"), "write": ("wbps", "wiops")}


@dataclasses.dataclass(frozen=True)
class Allowed:
    """A limit of a cgroup: bytes or bios a second, by its name in io.max."""

    path: str
    name: str
    rate: int

    def holds(self, cgroup: str) -> bool:
        """Whether it is the limit of a cgroup, or of one above it. Of a long path only the end is known."""
        if cgroup.startswith("..."):
            return self.path.endswith(cgroup[3:])
        return cgroup == self.path or cgroup.startswith(f"{self.path}/")

    def text(self, rate: float) -> str:
        """A rate in its unit."""
        return f"{size.short(rate)}/s" if self.name.endswith("bps") else f"{size.three(rate)} a second"


@dataclasses.dataclass(frozen=True)
class Reached:
    """The part of the limit that was used, of 1: at least and at most, because a cgroup's directions are counted together."""

    allowed: Allowed
    least: float
    most: float
    bios: int
    by_kernel: int


def allowed(text: str) -> Iterator[Allowed]:
    """The limits of a setting; a path may have blanks."""
    for line in text.splitlines():
        words = line.rsplit(" ", 4)
        for name, _, number in (word.partition("=") for word in words[1:]):
            if number.isdigit() and int(number):
                yield Allowed(words[0], name, int(number))


def io_max(case: Case) -> Limit:
    """A limit that a cgroup of the submitters reaches."""
    key = title = SETTING
    settings = [case.phase.settings.get(SETTING)]
    settings += [change.after for change in case.phase.timeline.changes if change.name == SETTING]
    if settings == [None]:
        return unknown(key, title, "limits of cgroups were not recorded")
    every = dict.fromkeys(
        one for text in settings for one in allowed(text or "") if one.name in NAMES.get(case.direction, ())
    )
    if not every:
        return ruled_out(key, title, f"no cgroup has a limit of {case.direction}s")
    idle, names = case.idle(), ", ".join(dict.fromkeys(one.path for one in every))
    if not (charged := case.phase.charged) or idle is None:
        lacks = "idle time was" if charged else "who queued (group submitter, with cgroups in the kernel) was"
        return open_question(key, title, f"{names} have a limit, and {lacks} not counted")
    near = [one for one in (_reached(case, limit, case.phase.charged) for limit in every) if one]
    if not near:
        return ruled_out(key, title, f"{names} have a limit, and queued less than half of the bytes")
    best = max(near, key=lambda one: (one.least, one.most))
    value = case.value("of-limit", best.least, "of 1", SETTING, "bytes-queued", "queued", "splits")
    at_most = "" if best.most - best.least < 0.01 else f" to {best.most:.0%}"
    allows = f"{best.allowed.name} of {best.allowed.path} allows {best.allowed.text(best.allowed.rate)}"
    text = f"{allows}, and {best.least:.0%}{at_most} of it came"
    if best.most < NEAR and best.by_kernel and _asks_itself(case):
        return open_question(key, title, f"{text}; but {best.by_kernel} bios were held back for a while", value)
    if best.most < NEAR:
        return ruled_out(key, title, text, value)
    if best.least < NEAR:
        return open_question(key, title, f"{text}: reads and writes of a cgroup are counted together", value)
    by_thread = best.by_kernel / max(best.bios, 1)
    if ceiling_near(case) or (idle < IDLE and (flat(case) or by_thread < HELD or not _asks_itself(case))):
        text = f"{text}, but the disk waited for no more than {q.percent(idle)} of the time"
        return open_question(key, title, f"{text}: whether more would come only another limit can tell", value)
    text = f"{text}: the disk waited for {q.percent(idle)} of the time, {q.percent(by_thread)} of its bios"
    gained, change = gain.twice_io_max(idle)
    return inferred(
        key,
        title,
        f"{text} are queued by kernel threads",
        _remedy(case, best.allowed),
        value,
        share=idle,
        gain=gained,
        gain_of=change,
    )


def reached(limit: Limit) -> bool:
    """Whether the rate is near the one that io.max allows, throttled or not: without any other cause it would be no higher."""
    return limit.key == SETTING and any((value.value or 0.0) >= NEAR for value in limit.values)


def _asks_itself(case: Case) -> bool:
    """Whether kernel threads queue only throttled bios: other threads write back, and none reads."""
    return case.direction == "read" or (q.class_share(case.phase, "direct") or 0.0) >= MOST


def _reached(case: Case, limit: Allowed, charged: Sequence[Charged]) -> Reached | None:
    """None: its cgroup and those below it queued less than MOST of the bytes, or the phase took no time."""
    below = [one for one in charged if limit.holds(one.cgroup)]
    octets, whole = sum(one.bytes for one in below), sum(one.bytes for one in charged)
    length = case.phase.seconds()
    if not octets or octets < MOST * whole or not length:
        return None
    bios, splits = sum(one.bios for one in below), case.phase.count(case.direction, "splits") or 0
    mine, every, moved = float(octets), float(whole), float(case.phase.count(case.direction, "bytes_queued") or 0)
    if limit.name.endswith("iops"):  # a bio counts once for each piece that it is split into, and large ones are
        mine, every = bios + splits * octets / whole, sum(one.bios for one in charged) + float(splits)
        moved = float((case.phase.count(case.direction, "queued") or 0) + splits)
    most, least = min(moved, mine), max(moved - (every - mine), 0.0)
    by = length * limit.rate  # a large bio that was throttled before the phase began exceeds it
    return Reached(
        limit, min(least / by, most / by, 1.0), min(most / by, 1.0), bios, sum(one.by_kernel for one in below)
    )


def _remedy(case: Case, limit: Allowed) -> str:
    disk, where = case.phase.disk.name, shlex.quote(f"/sys/fs/cgroup{limit.path}/io.max")
    return f'echo "$(cat /sys/block/{disk}/dev) {limit.name}=max" >{where}'
