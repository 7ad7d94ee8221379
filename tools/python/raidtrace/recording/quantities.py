# SPDX-License-Identifier: GPL-2.0-or-later
"""Quantities of one observation: the terms of Documentation/counters.rst, as numbers. None: not available."""

import dataclasses
import re

from raidtrace.quantity import units
from raidtrace.quantity.bins import SEEK_ZERO
from raidtrace.quantity.units import SECTOR_BYTES, ratio
from raidtrace.recording.observation import Observation

SECTOR = SECTOR_BYTES
MIB = 1 << 20
BIO_SECTORS = 2048  # the most that the page cache puts in a bio of 4 KiB pages: BIO_MAX_VECS
COMM = 15  # characters of a process's name that the kernel keeps
AS_MUCH = 0.1  # two directions moved the same if their bytes differ by less than this part
MIN_BYTES = MIB  # a phase that moved less says nothing of throughput
AGREEMENT = 0.05  # a figure and what predicts it agree within this part
COMMAND_CPU = ("command", "cpu")  # key of Observation.host: ns of a processor that the recorded command used


@dataclasses.dataclass(frozen=True)
class Reading:
    """An observation with the letter of its recording, and the disk above it if that is md or dm."""

    letter: str
    phase: Observation
    above: Observation | None = None

    def readahead_sectors(self) -> int | None:
        """The readahead of the disk that pages are read from: of the md or dm disk, if it is a part of one."""
        return (self.above or self.phase).setting("readahead_sectors")

    def members(self) -> int:
        """Disks that a window is spread over by RAID 0 or parity RAID above; 1 where there is none."""
        if self.above is None or self.above.settings.get("md_level") not in ("raid0", "raid4", "raid5", "raid6"):
            return 1
        parity = {"raid4": 1, "raid5": 1, "raid6": 2}.get(self.above.settings["md_level"], 0)
        disks = self.above.setting("md_raid_disks") or self.above.disk.members
        return max(disks - parity, 1)

    def largest_sectors(self) -> int | None:
        """The largest request that the disk is given."""
        kib = self.phase.setting("max_sectors_kb")
        return 2 * kib if kib else self.phase.disk.max_sectors

    def hardware_queues(self) -> int:
        """Hardware queues, 1 where their number was not recorded. Tags and nr_requests are those of each."""
        return max(self.phase.disk.nr_hw_queues or 1, 1)

    def queue_limit(self) -> int | None:
        """The most requests that the driver is given at once: queue_depth is that of the disk, tags are of each queue."""
        tags = (self.phase.disk.nr_tags or 0) * self.hardware_queues()
        known = [n for n in (self.phase.setting("queue_depth"), tags) if n]
        return min(known) if known else None

    def predicted_depth(self) -> tuple[float, float] | None:
        """Requests in flight that readahead alone makes: S/M to 2S/M, at least one."""
        readahead, largest = self.readahead_sectors(), self.largest_sectors()
        if readahead is None or not largest:
            return None
        windows = max(readahead / self.members() / largest, 1.0)
        return windows, 2 * windows


def direction(phase: Observation) -> str | None:
    """The direction that moved most bytes, reads where both moved as much; the other, where others than the recorded command
    moved them and it moved that one. None: nothing moved."""
    moved = {d: octets(phase, d) or 0 for d in ("read", "write")}
    best, other = ("read", "write") if moved["read"] >= (1 - AS_MUCH) * moved["write"] else ("write", "read")
    if foreign(phase, best) and moved[other] >= MIN_BYTES and not foreign(phase, other):
        best = other
    return best if moved[best] else None


def foreign(phase: Observation, direction: str) -> bool:
    """Whether the recorded command moved no more than a tenth (AS_MUCH) of a direction's bytes. False, too, where its bytes
    were not recorded, or the kernel does not count them, as it does not count zeroing."""
    if direction not in phase.by_command or phase.by_command[direction] > AS_MUCH * (octets(phase, direction) or 0):
        return False
    return movers(phase, direction) != phase.program[:COMM] or not phase.program


def movers(phase: Observation, direction: str) -> str:
    """The processes of one name that queued more than half of a direction. Empty: not known, as of a process all directions
    are counted together: so many of its bytes as the other direction has may be of that."""
    other = octets(phase, "write" if direction == "read" else "read") or 0
    by: dict[str, int] = {}
    for one in phase.submitters or ():
        if one.comm:
            by[one.comm] = by.get(one.comm, 0) + one.bytes
    return next((name for name, moved in by.items() if moved - other > (octets(phase, direction) or 0) / 2), "")


def foreign_text(phase: Observation, direction: str) -> tuple[str, ...]:
    """A sentence where the bytes of a direction are not the command's."""
    if not foreign(phase, direction):
        return ()
    own = units.octets(phase.by_command[direction]) if phase.by_command[direction] else "none"
    done, who = "read" if direction == "read" else "wrote", movers(phase, direction)
    text = f"{phase.program or 'The command'} {done} {own} of these {units.octets(octets(phase, direction) or 0)}"
    return (f"{text} by the kernel's account of processes{f'; most are of {who}' if who else ''}.",)


def octets(phase: Observation, direction: str) -> int | None:
    """Bytes that were completed; of a disk without requests those of its bios."""
    return phase.of(direction).moved()


def mib_per_s(phase: Observation, direction: str) -> float | None:
    """Throughput over the length of the phase."""
    return ratio(octets(phase, direction), phase.seconds(), MIB)


def depth_mean(phase: Observation, direction: str) -> float | None:
    """In flight, mean over time. None, too, where an older recording spent time in the open bin."""
    figures = phase.of(direction)
    return None if figures.depth_is_bound() else figures.depth()


def depth_median(phase: Observation, direction: str) -> int | None:
    """The depth that was there, or more, for at least half of the time."""
    times = phase.histogram(direction, "depth_time")
    left = sum(times.values())
    half = left / 2
    for at in sorted(times):
        left -= times[at]
        if left < half:
            return at
    return None


def depth_max(phase: Observation, direction: str) -> int:
    """The highest depth at which time was spent."""
    return max((at for at, count in phase.histogram(direction, "depth_time").items() if count), default=0)


def share_at_least(phase: Observation, direction: str, depth: int) -> float | None:
    """Part of the time in which at least so many were in flight."""
    times = phase.histogram(direction, "depth_time")
    whole = sum(times.values())
    return sum(count for at, count in times.items() if at >= depth) / whole if whole else None


def idle_share(phase: Observation) -> float | None:
    """Part of the time with nothing in flight."""
    busy = share_at_least(phase, "all", 1)
    return None if busy is None else 1 - busy


def size_mode(phase: Observation, direction: str) -> tuple[int, float] | None:
    """Most frequent size in sectors and its share. None: no request, or not an exact bin."""
    figures = phase.of(direction)
    sectors, mode = figures.exact_size_mode(), figures.size_mode
    return None if sectors is None or not mode else (sectors, mode[1] / sum(figures.histogram("size").values()))


def size_mean(phase: Observation, direction: str) -> float | None:
    """Mean size of a request in sectors. The bytes of a request are counted at its first issue."""
    issued = phase.count(direction, "issued")
    first = None if issued is None else issued - (phase.count(direction, "reissued") or 0)
    return ratio(phase.count(direction, "bytes_issued"), first, SECTOR)


def bio_mean(phase: Observation, direction: str) -> float | None:
    """Mean size of a bio in sectors."""
    return ratio(phase.count(direction, "bytes_queued"), phase.count(direction, "queued"), SECTOR)


def d2c_mean_ms(phase: Observation, direction: str) -> float | None:
    """Mean time from issue to completion in ms."""
    return ratio(phase.count(direction, "d2c_sum_ns"), phase.count(direction, "completed"), 1e6)


def share(phase: Observation, direction: str, counter: str, of: str) -> float | None:
    """One counter by another; issued are the requests, each counted once."""
    return phase.of(direction).share(counter, of)


CLEARING = ("discard", "write_zeroes")  # directions that move no data


def class_share(phase: Observation, name: str) -> float | None:
    """Part of the bytes of all bios that those of a class had. Bytes of discards and zeroing do not count: nothing is moved."""
    if phase.origin is None:
        return None
    whole = sum(counts.get("bytes_queued", 0) for counts in phase.origin.values())
    whole -= sum(phase.count(direction, "bytes_queued") or 0 for direction in CLEARING)
    return phase.origin.get(name, {}).get("bytes_queued", 0) / whole if whole else None


def seeks(phase: Observation) -> int | None:
    """Requests of all directions that do not begin where the one before ended."""
    kinds = [histogram for (_, kind), histogram in phase.span.bins.items() if kind == "seek"]
    if not kinds:
        return None
    return sum(count for histogram in kinds for at, count in histogram.items() if at != SEEK_ZERO)


def seek_sectors(phase: Observation) -> int:
    """Sum of the distances of all seeks."""
    return total(phase, "seek_forward_sectors") + total(phase, "seek_backward_sectors")


def positioned(phase: Observation) -> int:
    """Requests that have a position on the disk: reads and writes (Documentation/counters.rst)."""
    return sum(phase.of(direction).issued for direction in ("read", "write"))


def total(phase: Observation, counter: str) -> int:
    """A counter of all directions together; issued are the requests, each counted once."""
    again = "reissued" if counter == "issued" else ""
    return sum(counts.get(counter, 0) - counts.get(again, 0) for counts in phase.span.flow.values())


def agree(a: float, b: float) -> bool:
    """Whether two figures are the same within AGREEMENT."""
    return abs(a / b - 1) <= AGREEMENT if b else a == b


def processors_used(phase: Observation) -> float | None:
    """Processors that the command used, mean over the phase. None: not known; simulated time makes it no use."""
    used = phase.host.get(COMMAND_CPU)
    return None if used is None or not phase.seconds() else used / 1e9 / phase.seconds()


KERNEL_WORK = ("kcryptd", "md")  # what threads of the kernel compute for disks: dm-crypt, parity of md


def kernel_work(phase: Observation) -> tuple[str, float]:
    """The work of the kernel's threads that took most processor time, and the processors it used, mean over the phase."""
    used = {name: phase.host.get(("kernel", name), 0) for name in KERNEL_WORK}
    most = max(used, key=lambda name: used[name])
    return most, used[most] / 1e9 / phase.seconds() if phase.seconds() else 0.0


def kib(sectors: float) -> str:
    return units.octets(sectors * SECTOR)


def percent(part: float) -> str:
    """A part of 1 as per cent. Only exactly 1 is printed as 100 %, and only exactly 0 as 0 %."""
    text = f"{part:.1%}"
    return "99.9%" if text == "100.0%" and part < 1 else "<0.1%" if text == "0.0%" and part > 0 else text


# The maker of a disk: a hypervisor or a cloud, or a RAID controller of the machine. A virtual disk's rotational flag is a
# choice of the host, and it may have limits of rate. tools/raidctl/disk/disk.c has the same names for raidctl list.

RAID_DRIVERS = ("3w-9xxx", "3w-sas", "3w-xxxx", "aacraid", "arcmsr", "hpsa", "megaraid_sas", "mpi3mr", "smartpqi")
DRIVERS = ("virtio-pci", "virtio-mmio", "vmw_pvscsi", "hv_storvsc", "xen-blkfront")
MODELS = re.compile("QEMU|VBOX|VMware|Virtual|Amazon Elastic|Google|MSFT NVMe")
NAMES = re.compile(r"(vd|xvd|ubd|nbd|rbd)[a-z0-9]")


def is_virtual(driver: str, model: str, name: str = "") -> bool:
    """Whether a disk is a virtual one, by its driver, its model as sysfs has it, or its name."""
    return driver in DRIVERS or bool(MODELS.search(model)) or bool(NAMES.match(name))
