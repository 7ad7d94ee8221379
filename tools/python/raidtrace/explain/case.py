# SPDX-License-Identifier: GPL-2.0-or-later
"""The input of the rules: one direction of a phase, without the idle time at its ends, and the load of others."""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence

from raidtrace.explain import constants as k
from raidtrace.explain.evidence import NO_GAIN, Gain, Limit, Value, Verdict
from raidtrace.explain.steps import ahead, source
from raidtrace.quantity.shown import visible
from raidtrace.quantity.units import ratio
from raidtrace.recording import breakdown
from raidtrace.recording import quantities as q
from raidtrace.recording.breakdown import Breakdown
from raidtrace.recording.looks import Looks, looks
from raidtrace.recording.observation import KERNEL_THREADS, Observation
from raidtrace.recording.quantities import RAID_DRIVERS, Reading, is_virtual

# Drivers of one disk or one volume. No controller distributes the requests among several drives.
ONE_DISK = ("nvme", "virtio-pci", "ahci", "ata_piix", "uas", "usb-storage", "mmcblk", "xen-blkfront")
SATA = ("ahci", "ata_piix")
# The state of the time of the disk that a cause explains a share of.
ALL, WAITING, DISK, EMPTY = "all", "held or backlog", "served or backlog", "empty"
NO_HEADS = ("nvme", "mmcblk")  # their disks have no heads, even if the kernel reports `rotational`


@dataclasses.dataclass(frozen=True)
class Case:
    """A reading with the facts of its recording. siblings: the other phases of the same disk."""

    reading: Reading
    direction: str
    meta: Mapping[str, str]
    siblings: Sequence[Observation] = ()

    @property
    def phase(self) -> Observation:
        return self.reading.phase

    @property
    def other(self) -> str:
        """The direction of data that this case is not about."""
        return "write" if self.direction == "read" else "read"

    def value(self, name: str, number: float | None, unit: str, *counters: str) -> Value:
        """A number of this reading, with its source."""
        return Value(name, number, unit, source(self.reading, *counters))

    @functools.cached_property
    def times(self) -> Breakdown | None:
        """Where the time of the phase went. None: it has no request."""
        return breakdown.of(self.phase.span)

    def deeper_does_not_help(self) -> bool:
        """Whether the intervals of the rates by depth show that more in flight is no faster. False: it is, or is not known."""
        ways = self.times.ways if self.times else ()
        return any(way.direction == self.direction and way.more.verdict is breakdown.More.NO_HELP for way in ways)

    def share_of(self, state: str) -> float:
        """Share of the time in which a cause can act, from 0 to 1: WAITING: bios wait before the disk; DISK: requests are at
        the disk; EMPTY: nothing is in flight; ALL: any time. Of WAITING without this counter: at the disk."""
        busy = 1 - (self.idle() or 0.0)
        waiting = self.times.waits_share if self.times else 0.0
        return {WAITING: waiting or busy, DISK: busy, EMPTY: 1 - busy, ALL: 1.0}[state]

    def idle(self) -> float | None:
        """Share of the time without a request in flight, from 0 to 1. None: not counted."""
        return q.idle_share(self.phase)

    @functools.cached_property
    def looks(self) -> Looks | None:
        """The results of looks at the command. None: there are few, or none, or time is simulated."""
        found = looks(self.phase.host)
        return None if found is None or found.number < k.NUMBER or self.simulated() else found

    def stuck(self) -> str | None:
        """A clause about the function in the kernel where looks found the command for half of the idle time, in addition to
        the busy time. None: they did not, or there are few looks."""
        if (found := self.looks) is None or (idle := self.idle()) is None:
            return None
        for place, nr in found.functions.items():
            if nr / found.number - (1 - idle) >= k.HALF * idle:
                return f"in {nr} of {found.number} looks the command was in {visible(place)}()"
        return None

    def waits_for_host(self) -> bool:
        """Whether the disk is idle for so long that the host, or a limit above the disk, delays requests."""
        return (self.idle() or 0.0) >= k.MATTERS

    def depth(self) -> float | None:
        """Mean number of requests of this direction in flight while the disk is not idle. None: not counted."""
        mean, idle = q.depth_mean(self.phase, self.direction), self.idle()
        return None if mean is None or idle is None or idle >= 1 else mean / (1 - idle)

    def area(self, direction: str) -> float:
        """Mean number of requests of a direction in flight, from the sum of their times to completion."""
        length = self.phase.seconds()
        return (self.phase.count(direction, "d2c_sum_ns") or 0) / 1e9 / length if length else 0.0

    def wait_ms(self, counter: str, of: str) -> float | None:
        """Mean time of this direction in ms: a counter of ns divided by the counter `of`. None: not counted."""
        return ratio(self.phase.count(self.direction, counter), self.phase.count(self.direction, of), 1e6)

    def before_issue_ms(self) -> float:
        """Mean time of a request between its insertion and its issue, in ms. 0: none, or not counted."""
        return self.wait_ms("i2d_sum_ns", "issued") or 0.0

    def all_in_use(self, slots: tuple[int, str] | None) -> bool:
        """Whether so many requests are in flight for half of the time. slots: a number, and its setting; None: not known."""
        return slots is not None and (q.share_at_least(self.phase, "all", slots[0]) or 0.0) >= k.HALF

    def waiting(self) -> float | None:
        """Mean number of bios of this direction between their queueing and the issue of their request (Little's law).
        None: not counted."""
        queued, number = self.phase.count(self.direction, "q2c_sum_ns"), self.phase.count(self.direction, "queued")
        served, ended = self.wait_ms("d2c_sum_ns", "completed"), self.phase.histogram(self.direction, "q2c")
        if queued is None or number is None or served is None or not self.phase.seconds():
            return None
        return max(queued / 1e9 - served / 1e3 * (sum(ended.values()) or number), 0.0) / self.phase.seconds()

    def by_kernel(self) -> float:
        """Share of the bios that kernel threads queued, from 0 to 1. 0: none, or processes were not counted."""
        rows = self.phase.submitters or ()
        kernel = sum(one.bios for one in rows if (one.comm or "").startswith(KERNEL_THREADS))
        return kernel / max(sum(one.bios for one in rows), 1)

    def streams(self) -> int:
        """Number of sequential streams, at least 1."""
        return max(self.phase.timeline.streams or 1, 1)

    def table_full(self) -> bool:
        """Whether the table of streams is full, so that there may be more streams than it holds."""
        table = self.phase.timeline.table
        return bool(table) and self.phase.timeline.streams == table

    def elsewhere(self) -> float:
        """Share of the reads and writes that are seeks, from 0 to 1. 0: none, or not counted."""
        return (q.seeks(self.phase) or 0) / max(q.positioned(self.phase), 1)

    def seeks_seldom(self) -> bool:
        """Whether so few requests are seeks that the access is sequential."""
        return self.elsewhere() <= k.FEW

    def seeks_often(self) -> bool:
        """Whether so many requests are seeks that the access is random."""
        return self.elsewhere() >= k.QUARTER

    def direct(self) -> bool:
        """Whether most of the bytes bypassed the page cache."""
        return (q.class_share(self.phase, "direct") or 0.0) >= k.HALF

    def reads_ahead(self) -> bool:
        """Whether most of the bytes read were requested by readahead."""
        return (ahead(self.reading) or 0.0) >= k.HALF

    def windows(self) -> float | None:
        """Number of requests that make up one readahead window. None: not known."""
        predicted = self.reading.predicted_depth()
        return predicted[0] if predicted else None

    def rotates(self) -> bool:
        """Whether a seek may take time. A disk that does not report `rotational` counts as rotating. A disk of a
        hypervisor never does, even if it reports `rotational`."""
        flag = self.phase.settings.get("rotational", "1") != "0"
        return flag and self.phase.disk.driver not in NO_HEADS and not self.virtual()

    def virtual(self) -> bool:
        """Whether a hypervisor, a cloud or the kernel provides the disk."""
        disk = self.phase.disk
        return is_virtual(disk.driver or "", self.phase.settings.get("model", ""), disk.name)

    def one_disk(self) -> bool:
        """Whether the disk is a single disk or volume: no array, and no device above it."""
        return self.phase.disk.driver in ONE_DISK and self.reading.above is None

    def local_array(self) -> bool:
        """Whether the disk is an array of a RAID controller in this machine, and no other device is above it."""
        return self.phase.disk.driver in RAID_DRIVERS and self.reading.above is None

    def sata(self) -> bool:
        """Whether the disk is a local SATA disk, so that only the disk and its link limit its rate."""
        return self.phase.disk.driver in SATA and not self.virtual()

    def simulated(self) -> bool:
        """Whether time is simulated, so that computing takes no time."""
        return self.meta.get("lab_time") == "simulated"


def trimmed(phase: Observation, direction: str) -> tuple[Observation, float, float]:
    """Remove the idle time before the first and after the last request of a direction.

    Returns the phase and the removed times in s. The new phase keeps its start and ends earlier. A phase with several
    spans, or with less than MIN_EDGE_IDLE_S of idle time, is returned unchanged."""
    if len(phase.spans) != 1:
        return phase, 0.0, 0.0
    lead, tail = phase.timeline.idle_ends(direction)
    (start, end) = phase.spans[0]
    if lead + tail < k.MIN_EDGE_IDLE_S * 1e9 or lead + tail >= end - start:
        return phase, 0.0, 0.0
    bins = {
        key: _less(times, lead + tail) if key[1] == "depth_time" else times for key, times in phase.span.bins.items()
    }
    host = dict(phase.host)
    if (
        q.COMMAND_CPU in host and phase.timeline.computed
    ):  # The processor time that the program uses to start does not delay the disk.
        host[q.COMMAND_CPU] = phase.timeline.computed_between(start + lead, end - tail)
    span = dataclasses.replace(phase.span, bins=bins)
    return (
        dataclasses.replace(phase, spans=((start, end - lead - tail),), span=span, host=host),
        lead / 1e9,
        tail / 1e9,
    )


def _less(times: Mapping[int, int], idle: int) -> dict[int, int]:
    return {at: max(ns - idle, 0) if at == 0 else ns for at, ns in times.items()}


def rule(key: str, title: str, state: str) -> Callable[[Callable[[Case], Limit]], Callable[[Case], Limit]]:
    """Decorate a function that judges a cause. Its Limit gets this key and title, unless it sets its own. state: the state of
    the time that the cause explains, of Case.shares."""

    def named(judge: Callable[[Case], Limit]) -> Callable[[Case], Limit]:
        @functools.wraps(judge)
        def judged(case: Case) -> Limit:
            limit = judge(case)
            return dataclasses.replace(
                limit, key=limit.key or key, title=limit.title or title, state=limit.state or state
            )

        return judged

    return named


def unknown(why: str) -> Limit:
    """A verdict: the recording lacks the evidence."""
    return Limit("", "", why, Verdict.NOT_AVAILABLE)


def ruled_out(text: str, *values: Value) -> Limit:
    """A verdict: the counters contradict the cause."""
    return Limit("", "", text, Verdict.CONTRADICTED, values)


def open_question(text: str, *values: Value, remedy: str = "") -> Limit:
    """A verdict: the counters could have shown the cause, but do not. remedy: for a fault that needs a repair in any
    case."""
    return Limit("", "", text, Verdict.NOT_SHOWN, values, remedy)


def inferred(text: str, remedy: str, *values: Value, share: float | None = None, gain: Gain = NO_GAIN, key: str = "",
             title: str = "") -> Limit:  # fmt: skip
    """A verdict: the counters have the signature of the cause. key, title: if the cause is not the one of the rule."""
    return Limit(key, title, text, Verdict.INFERRED, values, remedy, share, *gain)
