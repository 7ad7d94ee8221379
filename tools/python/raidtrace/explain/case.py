# SPDX-License-Identifier: GPL-2.0-or-later
"""The input of the rules: a phase in one direction without the idle time around it, and the concurrent work of others."""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence

from raidtrace.explain.evidence import NO_GAIN, Gain, Limit, Value, Verdict
from raidtrace.explain.steps import MIN_AHEAD_SHARE, ahead, source
from raidtrace.quantity.units import ratio
from raidtrace.recording import quantities as q
from raidtrace.recording.observation import Observation
from raidtrace.recording.quantities import RAID_DRIVERS, Reading, is_virtual

# Drivers of one disk or one volume: there are no drives that could work at once, and no controller in front of them.
ONE_DISK = ("nvme", "virtio-pci", "ahci", "ata_piix", "uas", "usb-storage", "mmcblk", "xen-blkfront")
SATA = ("ahci", "ata_piix")
NO_HEADS = ("nvme", "mmcblk")  # whatever `rotational` says
MIN_FACTOR = 1.15  # of two times or rates: what differs less needs no cause
MIN_TIME_SHARE = 0.13  # of the time: without a cause that takes less, the rate would rise by less than MIN_FACTOR
IDLE_SHARE = 0.15  # of the time
DIRECT_SHARE = 0.5  # of the bytes
FEW_SEEKS, MANY_SEEKS = 0.02, 0.25  # of the requests
MIN_EDGE_IDLE_S = 0.05  # s: shorter idle time before and after the requests is not reported


@dataclasses.dataclass(frozen=True)
class Case:
    """A reading with the facts of its recording. siblings: the other phases of the disk."""

    reading: Reading
    direction: str
    meta: Mapping[str, str]
    siblings: Sequence[Observation] = ()

    @property
    def phase(self) -> Observation:
        return self.reading.phase

    def value(self, name: str, number: float | None, unit: str, *counters: str) -> Value:
        """A number of this reading."""
        return Value(name, number, unit, source(self.reading, *counters))

    def idle(self) -> float | None:
        """Part of the time with nothing in flight."""
        return q.idle_share(self.phase)

    def waits_for_host(self) -> bool:
        """Whether nothing is in flight for so long that the host, or a limit above the disk, makes it wait."""
        return (self.idle() or 0.0) >= IDLE_SHARE

    def depth(self) -> float | None:
        """Mean number in flight of this direction while anything was."""
        mean, idle = q.depth_mean(self.phase, self.direction), self.idle()
        return None if mean is None or idle is None or idle >= 1 else mean / (1 - idle)

    def area(self, direction: str) -> float:
        """Requests of a direction in flight, mean over the time, by their times to completion."""
        length = self.phase.seconds()
        return (self.phase.count(direction, "d2c_sum_ns") or 0) / 1e9 / length if length else 0.0

    def wait_ms(self, counter: str, of: str) -> float | None:
        """Mean of a time of this direction."""
        return ratio(self.phase.count(self.direction, counter), self.phase.count(self.direction, of), 1e6)

    def streams(self) -> int:
        """Readers or writers in order, at least one."""
        return max(self.phase.timeline.streams or 1, 1)

    def table_full(self) -> bool:
        """Whether more streams than are remembered may have been there."""
        table = self.phase.timeline.table
        return bool(table) and self.phase.timeline.streams == table

    def elsewhere(self) -> float:
        """Part of the requests that do not begin where the one before ended."""
        return (q.seeks(self.phase) or 0) / max(q.positioned(self.phase), 1)

    def seeks_seldom(self) -> bool:
        """Whether so few requests begin elsewhere that the disk works in order."""
        return self.elsewhere() <= FEW_SEEKS

    def seeks_often(self) -> bool:
        """Whether so many requests begin elsewhere that access is random."""
        return self.elsewhere() >= MANY_SEEKS

    def direct(self) -> bool:
        """Whether most of the bytes bypassed the page cache."""
        return (q.class_share(self.phase, "direct") or 0.0) >= DIRECT_SHARE

    def reads_ahead(self) -> bool:
        """Whether most of the bytes read were requested by readahead."""
        return (ahead(self.reading) or 0.0) >= MIN_AHEAD_SHARE

    def windows(self) -> float | None:
        """Requests that one window of readahead is cut into."""
        predicted = self.reading.predicted_depth()
        return predicted[0] if predicted else None

    def rotates(self) -> bool:
        """Whether a seek may take time: of a disk that does not say, as of one that does. A disk of a hypervisor does not,
        whatever it says."""
        flag = self.phase.settings.get("rotational", "1") != "0"
        return flag and self.phase.disk.driver not in NO_HEADS and not self.virtual()

    def virtual(self) -> bool:
        """Whether a hypervisor or a cloud makes the disk."""
        return is_virtual(self.phase.disk.driver or "", self.phase.settings.get("model", ""))

    def one_disk(self) -> bool:
        """Whether it is one disk, or one volume, and no array."""
        return self.phase.disk.driver in ONE_DISK and self.reading.above is None

    def local_array(self) -> bool:
        """Whether a RAID controller of this machine makes it, of several drives, and no other device is above it."""
        return self.phase.disk.driver in RAID_DRIVERS and self.reading.above is None

    def sata(self) -> bool:
        """Whether it is a SATA disk of this machine: nothing in front of it limits its rate but its link."""
        return self.phase.disk.driver in SATA and not self.virtual()

    def simulated(self) -> bool:
        """Whether computing takes no time."""
        return self.meta.get("lab_time") == "simulated"


def trimmed(phase: Observation, direction: str) -> tuple[Observation, float, float]:
    """The phase without the idle time before a direction began and after it ended, and how long these are in s. It begins
    when it began and is shorter."""
    if len(phase.spans) != 1:
        return phase, 0.0, 0.0
    lead, tail = phase.timeline.idle_ends(direction)
    (start, end) = phase.spans[0]
    if lead + tail < MIN_EDGE_IDLE_S * 1e9 or lead + tail >= end - start:
        return phase, 0.0, 0.0
    bins = {
        key: _less(times, lead + tail) if key[1] == "depth_time" else times for key, times in phase.span.bins.items()
    }
    host = dict(phase.host)
    if (
        q.COMMAND_CPU in host and phase.timeline.computed
    ):  # what a program needs to start is not what the disk waited for
        host[q.COMMAND_CPU] = phase.timeline.computed_between(start + lead, end - tail)
    span = dataclasses.replace(phase.span, bins=bins)
    return dataclasses.replace(phase, spans=((start, end - lead - tail),), span=span, host=host), lead / 1e9, tail / 1e9


def _less(times: Mapping[int, int], idle: int) -> dict[int, int]:
    return {at: max(ns - idle, 0) if at == 0 else ns for at, ns in times.items()}


def rule(key: str, title: str) -> Callable[[Callable[[Case], Limit]], Callable[[Case], Limit]]:
    """Name the cause that a function judges: key and title of its Limit, unless that has its own."""

    def named(judge: Callable[[Case], Limit]) -> Callable[[Case], Limit]:
        @functools.wraps(judge)
        def judged(case: Case) -> Limit:
            limit = judge(case)
            return dataclasses.replace(limit, key=limit.key or key, title=limit.title or title)

        return judged

    return named


def unknown(why: str) -> Limit:
    """The recording lacks the evidence."""
    return Limit("", "", why, Verdict.NOT_AVAILABLE)


def ruled_out(text: str, *values: Value) -> Limit:
    """The counts contradict the cause."""
    return Limit("", "", text, Verdict.CONTRADICTED, values)


def open_question(text: str, *values: Value, remedy: str = "") -> Limit:
    """The counts could have shown the cause, and do not. remedy: of a fault that should be mended in any case."""
    return Limit("", "", text, Verdict.NOT_SHOWN, values, remedy)


def inferred(text: str, remedy: str, *values: Value, share: float | None = None, gain: Gain = NO_GAIN, key: str = "",
             title: str = "") -> Limit:  # fmt: skip
    """The counts have the signature of the cause. key, title: of another cause than that of the rule."""
    return Limit(key, title, text, Verdict.INFERRED, values, remedy, share, *gain)
