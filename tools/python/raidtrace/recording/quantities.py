# SPDX-License-Identifier: GPL-2.0-or-later
"""The quantities of one observation, with the terms of Documentation/counters.rst. None: not available."""

import dataclasses
import functools
import pathlib

from raidtrace.quantity import units
from raidtrace.quantity.bins import SEEK_ZERO
from raidtrace.quantity.units import SECTOR_BYTES, ratio
from raidtrace.recording.observation import Observation

SECTOR = SECTOR_BYTES
MIB = 1 << 20
BIO_SECTORS = 2048  # the largest bio of the page cache with 4 KiB pages: BIO_MAX_VECS
COMM = 15  # characters of a process name that the kernel stores
AS_MUCH = 0.1  # two directions moved equal amounts if their bytes differ by less than this share
MIN_BYTES = MIB  # with fewer bytes, the throughput of a phase is not judged
AGREEMENT = 0.05  # a figure and its prediction agree within this share
COMMAND_CPU = ("command", "cpu")  # key of Observation.host: processor ns that the recorded command used


@dataclasses.dataclass(frozen=True)
class Reading:
    """An observation with the letter of its recording, and the md or dm disk above it, if there is one."""

    letter: str
    phase: Observation
    above: Observation | None = None

    def readahead_sectors(self) -> int | None:
        """The readahead of the disk that pages are read from: of the md or dm disk above, if there is one. None: not
        recorded."""
        return (self.above or self.phase).setting("readahead_sectors")

    def members(self) -> int:
        """Number of disks over which RAID 0 or parity RAID above distributes the data of a window. 1: there is none
        above."""
        if self.above is None or self.above.settings.get("md_level") not in ("raid0", "raid4", "raid5", "raid6"):
            return 1
        parity = {"raid4": 1, "raid5": 1, "raid6": 2}.get(self.above.settings["md_level"], 0)
        disks = self.above.setting("md_raid_disks") or self.above.disk.members
        return max(disks - parity, 1)

    def largest_sectors(self) -> int | None:
        """The largest request of the disk, in sectors. None: not recorded."""
        kib = self.phase.setting("max_sectors_kb")
        return 2 * kib if kib else self.phase.disk.max_sectors

    def hardware_queues(self) -> int:
        """Number of hardware queues, 1 if not recorded. Each has its own tags and its own nr_requests."""
        return max(self.phase.disk.nr_hw_queues or 1, 1)

    def queue_limit(self) -> int | None:
        """The limit of requests that the driver gets at once. None: not known. queue_depth is of the disk, tags are of
        each queue."""
        tags = (self.phase.disk.nr_tags or 0) * self.hardware_queues()
        known = [n for n in (self.phase.setting("queue_depth"), tags) if n]
        return min(known) if known else None

    def predicted_depth(self) -> tuple[float, float] | None:
        """Lower and upper bound of the requests in flight of one stream, from readahead alone: S/M to 2S/M, at least
        one. None: not known."""
        readahead, largest = self.readahead_sectors(), self.largest_sectors()
        if readahead is None or not largest:
            return None
        if self.above is not None and (chunk := (self.above.setting("md_chunk_bytes") or 0) // SECTOR):
            largest = min(largest, max(chunk, int(size_mean(self.phase, "read") or 0)))  # chunks may be merged
        windows = max(readahead / self.members() / largest, 1.0)
        return windows, 2 * windows


def direction(phase: Observation) -> str | None:
    """The direction that moved most bytes, or reads if both moved about as many. None: nothing moved.

    If the recorded command did not move these bytes, but moved those of the other direction, the other direction is
    returned."""
    moved = {d: octets(phase, d) or 0 for d in ("read", "write")}
    best, other = ("read", "write") if moved["read"] >= (1 - AS_MUCH) * moved["write"] else ("write", "read")
    if foreign(phase, best) and moved[other] >= MIN_BYTES and not foreign(phase, other):
        best = other
    return best if moved[best] else None


def foreign(phase: Observation, direction: str) -> bool:
    """Whether the recorded command moved at most a tenth (AS_MUCH) of a direction's bytes.

    False also if its bytes were not recorded, or the kernel does not count them (zeroing), or most bios have its name.
    """
    if direction not in phase.by_command or phase.by_command[direction] > AS_MUCH * (octets(phase, direction) or 0):
        return False
    return movers(phase, direction) != phase.program[:COMM] or not phase.program


def movers(phase: Observation, direction: str) -> str:
    """The name of the processes that queued more than half of a direction. Empty: not known.

    The bytes of a process are counted for all directions together. So as many bytes as the other direction has may
    belong to that direction."""
    other = octets(phase, "write" if direction == "read" else "read") or 0
    by: dict[str, int] = {}
    for one in phase.submitters or ():
        if one.comm:
            by[one.comm] = by.get(one.comm, 0) + one.bytes
    return next((name for name, moved in by.items() if moved - other > (octets(phase, direction) or 0) / 2), "")


def foreign_text(phase: Observation, direction: str) -> tuple[str, ...]:
    """A sentence if the bytes of a direction are not the command's; else empty."""
    if not foreign(phase, direction):
        return ()
    own = units.octets(phase.by_command[direction]) if phase.by_command[direction] else "none"
    done, who = "read" if direction == "read" else "wrote", movers(phase, direction)
    text = f"{phase.program or 'The command'} {done} {own} of these {units.octets(octets(phase, direction) or 0)}"
    return (f"{text} by the kernel's account of processes{f'; most are of {who}' if who else ''}.",)


def octets(phase: Observation, direction: str) -> int | None:
    """Bytes completed; for a disk without requests, bytes of its bios. None: not counted."""
    return phase.of(direction).moved()


def mib_per_s(phase: Observation, direction: str) -> float | None:
    """Throughput over the length of the phase in MiB/s. None: not counted."""
    return ratio(octets(phase, direction), phase.seconds(), MIB)


def depth_mean(phase: Observation, direction: str) -> float | None:
    """Mean number of requests in flight over time. None: not counted, or only a lower bound, as in an older
    recording."""
    figures = phase.of(direction)
    return None if figures.depth_is_bound() else figures.depth()


def depth_median(phase: Observation, direction: str) -> int | None:
    """The median depth: for at least half of the time, at least so many requests were in flight. None: not counted."""
    times = phase.histogram(direction, "depth_time")
    left = sum(times.values())
    half = left / 2
    for at in sorted(times):
        left -= times[at]
        if left < half:
            return at
    return None


def depth_max(phase: Observation, direction: str) -> int:
    """The highest depth at which time was spent. 0: none, or not counted."""
    return max((at for at, count in phase.histogram(direction, "depth_time").items() if count), default=0)


def share_at_least(phase: Observation, direction: str, depth: int) -> float | None:
    """Share of the time with at least `depth` requests in flight, from 0 to 1. None: not counted."""
    times = phase.histogram(direction, "depth_time")
    whole = sum(times.values())
    return sum(count for at, count in times.items() if at >= depth) / whole if whole else None


def idle_share(phase: Observation) -> float | None:
    """Share of the time without a request in flight, from 0 to 1. None: not counted."""
    busy = share_at_least(phase, "all", 1)
    return None if busy is None else 1 - busy


def size_mode(phase: Observation, direction: str) -> tuple[int, float] | None:
    """The most frequent size in sectors, and its share. None: no request, or the bin covers several sizes."""
    figures = phase.of(direction)
    sectors, mode = figures.exact_size_mode(), figures.size_mode
    return None if sectors is None or not mode else (sectors, mode[1] / sum(figures.histogram("size").values()))


def size_mean(phase: Observation, direction: str) -> float | None:
    """Mean size of a request in sectors. The bytes of a request are counted at its first issue. None: not counted."""
    return ratio(share(phase, direction, "bytes_issued", "issued"), SECTOR)


def bio_mean(phase: Observation, direction: str) -> float | None:
    """Mean size of a bio in sectors. None: not counted."""
    return ratio(phase.count(direction, "bytes_queued"), phase.count(direction, "queued"), SECTOR)


def d2c_mean_ms(phase: Observation, direction: str) -> float | None:
    """Mean time from issue to completion in ms. None: not counted."""
    return ratio(phase.count(direction, "d2c_sum_ns"), phase.count(direction, "completed"), 1e6)


def share(phase: Observation, direction: str, counter: str, of: str) -> float | None:
    """One counter divided by another. "issued" stands for the number of requests, each counted once."""
    return phase.of(direction).share(counter, of)


CLEARING = ("discard", "write_zeroes")  # directions that move no data


def class_share(phase: Observation, name: str) -> float | None:
    """Share of the bytes of all bios that belong to a class, from 0 to 1. None: not counted. Bytes of discards and
    zeroing do not count, because no data is moved."""
    if phase.origin is None:
        return None
    whole = sum(counts.get("bytes_queued", 0) for counts in phase.origin.values())
    whole -= sum(phase.count(direction, "bytes_queued") or 0 for direction in CLEARING)
    return phase.origin.get(name, {}).get("bytes_queued", 0) / whole if whole else None


def seeks(phase: Observation) -> int | None:
    """Number of requests in all directions that begin elsewhere than the previous one ended. None: not counted."""
    kinds = [histogram for (_, kind), histogram in phase.span.bins.items() if kind == "seek"]
    if not kinds:
        return None
    return sum(count for histogram in kinds for at, count in histogram.items() if at != SEEK_ZERO)


def seek_sectors(phase: Observation) -> int:
    """Sum of the distances of all seeks in sectors."""
    return total(phase, "seek_forward_sectors") + total(phase, "seek_backward_sectors")


def positioned(phase: Observation) -> int:
    """Requests that have a position on the disk: reads and writes (Documentation/counters.rst)."""
    return sum(phase.of(direction).issued for direction in ("read", "write"))


def requests(phase: Observation) -> int:
    """Number of requests in all directions. A request that is issued again after a requeue counts once."""
    return sum(phase.of(direction).issued for direction in phase.span.flow)


def total(phase: Observation, counter: str) -> int:
    """A counter, summed over all directions."""
    return sum(counts.get(counter, 0) for counts in phase.span.flow.values())


def agree(a: float, b: float) -> bool:
    """Whether two figures are equal within AGREEMENT."""
    return abs(a / b - 1) <= AGREEMENT if b else a == b


def processors_used(phase: Observation) -> float | None:
    """Processors that the command used, mean over the phase. None: not known. Meaningless in simulated time."""
    used = phase.host.get(COMMAND_CPU)
    return None if used is None or not phase.seconds() else used / 1e9 / phase.seconds()


def waited_for_processor(phase: Observation, available: str) -> float | None:
    """Processors that the first threads of the command waited for, while they were runnable, mean over the phase. None: not
    recorded. available: the fact host_available of the recording."""
    if "command-wait" not in available.split() or not phase.seconds():
        return None
    return phase.host.get(("command", "waited_for_processor"), 0) / 1e9 / phase.seconds()


def processors_busy(phase: Observation) -> float | None:
    """Share of the time of all processors in which they worked, for anybody. None: not known."""
    cpu = {name: ns for (source, name), ns in phase.host.items() if source == "cpu" and not name.startswith("guest")}
    whole = sum(cpu.values())
    return 1 - (cpu["idle"] + cpu.get("iowait", 0)) / whole if whole and "idle" in cpu else None


KERNEL_WORK = ("kcryptd", "md")  # kernel threads that compute for disks: dm-crypt, parity of md


def kernel_work(phase: Observation) -> tuple[str, float]:
    """The kernel threads that used most processor time, and the number of processors they used, mean over the phase."""
    used = {name: phase.host.get(("kernel", name), 0) for name in KERNEL_WORK}
    most = max(used, key=lambda name: used[name])
    return most, used[most] / 1e9 / phase.seconds() if phase.seconds() else 0.0


def kib(sectors: float) -> str:
    return units.octets(sectors * SECTOR)


def percent(part: float) -> str:
    """A share from 0 to 1 as per cent. Only exactly 1 is printed as 100 %, and only exactly 0 as 0 %."""
    text = f"{part:.1%}"
    return "99.9%" if text == "100.0%" and part < 1 else "<0.1%" if text == "0.0%" and part > 0 else text


def is_layer(name: str) -> bool:
    """Whether a disk with requests passes them on to another disk (loop, dm-multipath), by its name."""
    return name.startswith(("loop", "dm-"))


RAID_DRIVERS = ("3w-9xxx", "3w-sas", "3w-xxxx", "aacraid", "arcmsr", "hpsa", "megaraid_sas", "mpi3mr", "smartpqi")
VIRTUAL = "virtual.txt"  # marks of disks that a hypervisor, a cloud or the kernel provides; raidctl list uses them, too


@functools.cache
def _virtual() -> tuple[tuple[str, str], ...]:
    """Pairs of a word (driver, model, name) and a text."""
    lines = pathlib.Path(__file__).with_name(VIRTUAL).read_text(encoding="utf-8").splitlines()
    return tuple((word, text) for word, _, text in (line.partition(" ") for line in lines) if word != "#")


def is_virtual(driver: str, model: str, name: str = "") -> bool:
    """Whether a disk is virtual, by its driver, its model in sysfs, or its name."""
    marks = _virtual()
    return any(
        (word == "driver" and driver == text)
        or (word == "model" and text in model)
        or (word == "name" and name.startswith(text))
        for word, text in marks
    )
