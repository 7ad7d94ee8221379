# SPDX-License-Identifier: GPL-2.0-or-later
"""The ceiling of a disk: more requests in flight do not raise the rate."""

import dataclasses
from collections.abc import Mapping

from raidtrace.explain import constants as k
from raidtrace.explain import gain
from raidtrace.explain.case import DISK, ONE_DISK, Case, inferred, open_question, rule, ruled_out, unknown
from raidtrace.explain.evidence import Limit, Value
from raidtrace.explain.gain import even, local, straight
from raidtrace.explain.steps import in_order
from raidtrace.quantity import bins, units
from raidtrace.recording import quantities as q
from raidtrace.recording.observation import lab_config
from raidtrace.recording.quantities import Reading

# The highest rates of the simulated array of a recording, from its recorded profile with all changes of --set. The
# counters of a real array show a ceiling, but not whether the controller or the drives cause it.


@dataclasses.dataclass(frozen=True)
class Ceiling:
    """Rates of large sequential transfers in MiB/s: of the controller, and of all drives of one unit together."""

    profile: str
    controller: float
    drives: float
    nr_drives: int
    level: str = ""
    stripe_sectors: int = 0  # of all data drives together

    def lower(self) -> str:
        """The name of the lower rate: "controller" or "drives"."""
        return "controller" if self.controller <= self.drives else "drives"


def lab_ceiling(meta: Mapping[str, str], direction: str) -> Ceiling | None:
    """The ceiling of a direction. None: the recording is not simulated, or does not have the profile."""
    config = lab_config(meta)
    try:
        drives, rate = int(config["array.drives"]), int(config["drive.media_outer_kib_s"])
        controller = float(config[f"controller.{direction}_kib_s"])
        level, stripe = config["array.level"], int(config["array.stripe_kib"])
        if level == "raid5" and direction == "write":  # the controller first takes the data, then computes the parity
            controller = 1 / (1 / controller + 1 / int(config["controller.parity_kib_s"]))
    except (KeyError, ValueError, ZeroDivisionError):
        return None
    data = {"raid5": drives - 1, "raid10": drives // 2, "raid1": 1}.get(level, drives)
    used = drives if level == "raid10" and direction == "read" else data
    return Ceiling(config.get("name", ""), controller / k.KIB, rate * used / k.KIB, drives, level, 2 * stripe * data)


DISK_TITLE = "Rate of the disk"
PARITY_LEVELS = ("raid4", "raid5", "raid6")
# A read is sequential with this share of bios that continue a stream, and at most this share of seeks.


def dry(reading: Reading, direction: str) -> tuple[int, float, float] | None:
    """How often the queue ran empty, the ms of a request alone, and the share of the time that this cost. None: not
    counted.

    Each time the disk delivers nothing from the first issue to the first completion, as long as one request alone
    takes.
    """
    times = reading.phase.histogram("all", "depth_issue").get(0)
    alone = bins.rows(reading.phase.histogram(direction, "depth_d2c")).get(0)
    if times is None or alone is None or not reading.phase.seconds():
        return None
    return times, alone[1], times * alone[1] / 1000 / reading.phase.seconds()


def _half(rows: Mapping[int, tuple[int, float]], at_issue: Mapping[int, int]) -> int:
    """The deepest row of depth-d2c that at least half of the issues reach. 0: none."""
    least = sum(at_issue.values()) / 2
    return max((at for at in rows if sum(n for depth, n in at_issue.items() if depth >= at) >= least), default=0)


def _in_flight(at_issue: Mapping[int, int], row: int) -> float:
    """Mean number of requests in flight for the requests of a row, including the request itself."""
    met = {depth: n for depth, n in at_issue.items() if row <= depth < max(2 * row, 1)}
    return 1 + sum(depth * n for depth, n in met.items()) / max(sum(met.values()), 1)


@dataclasses.dataclass(frozen=True)
class Crowd:
    """The effect of a higher depth: a low and a high number in flight, the ms of a request at each, and the growth of the
    rate between them (0.2: 20 % more). row: of depth-d2c, which half of the requests reach."""

    row: int
    few: float
    many: float
    few_ms: float
    many_ms: float
    growth: float


def about_ms(ms: float) -> str:
    """Text for a time from the histogram depth-d2c. It has one digit, because the bins are octaves."""
    return f"about {float(f'{ms:.1g}'):g} ms"


def crowd(case: Case) -> Crowd | None:
    """The effect of a higher depth: that of half of the requests by half of it, or by any lower one of a single disk. None:
    the depth did not vary, or times were not counted."""
    rows = bins.rows(case.phase.histogram(case.direction, "depth_d2c"))
    at_issue = case.phase.histogram("all", "depth_issue")
    deep = _half(rows, at_issue)
    below = [at for at in rows if at < deep]
    near = [at for at in below if at <= deep // 2 and rows[at][0] >= k.NUMBER]
    if not below or rows[deep][0] < k.NUMBER or not (near or case.one_disk()):
        return None
    shallow = max(near) if near else min(below)
    few, many = _in_flight(at_issue, shallow), _in_flight(at_issue, deep)
    few_ms, many_ms = rows[shallow][1], rows[deep][1]
    growth = many / many_ms / (few / few_ms) - 1 if few_ms and many_ms else 0.0
    return Crowd(deep, few, many, few_ms, many_ms, growth)


def flat(case: Case) -> bool:
    """Whether a higher depth added no throughput, although the depth keeps all drives of an array busy."""
    grown = crowd(case)
    return grown is not None and grown.row >= k.FULL and grown.growth < k.MATTERS


def fastest_ms(times: Mapping[int, int]) -> float | None:
    """The upper bound of the fastest request's bin, in ms. None: there is no request."""
    used = [at for at, number in times.items() if number]
    return bins.time(min(used))[1] / 1e6 if used else None


def waiting(case: Case) -> tuple[float, float] | None:
    """The times of the fastest request and of the mean in ms, if the mean is so much longer that requests wait for each
    other. None: they do not, or one cannot judge it: an array, a disk with heads, or requests of several sizes.
    """
    least = fastest_ms(case.phase.histogram(case.direction, "d2c"))
    mean = q.d2c_mean_ms(case.phase, case.direction)
    if not case.one_disk() or case.rotates() or least is None or not mean or not of_one_size(case):
        return None
    return (least, mean) if mean >= (1 + k.FEW) * least else None


def of_one_size(case: Case) -> bool:
    """Whether most requests have one size, so that their times are comparable."""
    sizes = case.phase.histogram(case.direction, "size")
    return bool(sizes) and max(sizes.values()) >= k.NEARLY_ALL * sum(sizes.values())


def waits_ms(case: Case) -> tuple[float, float] | None:
    """The ms of the fastest and of the median request, if most requests have one size; else of requests at low and at
    high depth. None: times were not counted, or cannot be compared."""
    times = case.phase.histogram(case.direction, "d2c")
    if times and of_one_size(case):
        median = bins.quantile(times, 0.5)
        fastest = fastest_ms(times)
        return None if median is None or fastest is None else (fastest, median / 1e6)
    crowded = crowd(case) if case.one_disk() else None
    return (crowded.few_ms, crowded.many_ms) if crowded else None


def full(case: Case) -> Crowd | None:
    """The result of crowd() if a higher depth of one disk does not raise its rate, so that each request waits for
    others. None: it does, or is not known."""
    queued, waits = crowd(case), waits_ms(case)
    if (
        waits is None or not case.one_disk() or waits[1] < k.SLOWER * waits[0]
    ):  # more exact than depth-d2c, whose rows are octaves
        return None
    return queued if queued is not None and queued.growth < k.MATTERS and not case.waits_for_host() else None


def emptied(case: Case) -> tuple[int, float] | None:
    """How often the queue ran empty, and the share of the time without work or with one request alone. None: too little
    to matter."""
    ran_dry, idle = dry(case.reading, case.direction), case.idle() or 0.0
    if ran_dry is None or ran_dry[0] < k.NUMBER or idle + ran_dry[2] < k.FEW:
        return None
    return ran_dry[0], min(idle + ran_dry[2], 1.0)


def even_rate(case: Case) -> tuple[float, float] | None:
    """The ms of the fastest and of the median request, if a local disk without heads completes requests at an even rate
    and each mostly waits for others. None: otherwise."""
    if not case.one_disk() or case.rotates() or case.waits_for_host():
        return None
    rate, waits = even(case, case.phase)[0], waits_ms(case)
    if rate is None or waits is None or not local(case, rate) or waits[1] < k.TWICE * waits[0]:
        return None
    return waits if straight(rate, 2) else None


def platter(case: Case) -> bool:
    """Whether one disk with heads reads sequentially all the time. Such a disk reads ahead by itself: neither readahead
    nor depth makes it faster. False for writes."""
    order = in_order(case.reading) if case.direction == "read" else None
    return (
        case.one_disk()
        and case.rotates()
        and order is not None
        and order >= k.NEARLY_ALL
        and case.elsewhere() <= k.MATTERS
        and (case.idle() or 0.0) < k.FEW
    )


def link_near(case: Case) -> bool:
    """Whether a SATA disk is near the rate of the fastest SATA link."""
    return case.sata() and (q.mib_per_s(case.phase, case.direction) or 0.0) >= k.NEARLY_ALL * k.SATA_MIB_S


def ceiling_near(case: Case) -> Ceiling | None:
    """The ceiling of the lab's array, if the rate is near it; None: not near, or one disk. The lab records only the
    status of its first device."""
    if case.one_disk():
        return None
    top, rate = lab_ceiling(case.meta, case.direction), q.mib_per_s(case.phase, case.direction) or 0.0
    return top if top is not None and rate >= k.NEARLY_ALL * min(top.controller, top.drives) else None


@rule("parity", "Parity", DISK)
def parity(case: Case) -> Limit:
    """Writes smaller than a stripe of an array with parity: the array must read old data or parity first."""
    mean = q.size_mean(case.phase, case.direction)
    top, above = lab_ceiling(case.meta, case.direction), case.reading.above
    level = above.settings.get("md_level", "") if above else top.level if top else ""
    if case.direction != "write" or mean is None or not level:
        return unknown("the level of the array is not recorded, or nothing was written")
    whole = top.stripe_sectors if top else 0
    if above:
        whole = case.reading.members() * (above.setting("md_chunk_bytes") or 0) // q.SECTOR
    remedy = "write whole stripes, or use a level without parity (RAID 10)"
    values = (case.value("size-mean", mean, "sectors", "bytes-issued", "issued"),)
    text = f"{level}, whose stripe holds {q.kib(whole)} of data; a write is {q.kib(mean)} on average"
    if level not in PARITY_LEVELS or mean >= whole:
        return ruled_out(text, *values)
    reads, writes = case.area("read"), case.area("write")
    part = reads / (reads + writes) if reads + writes else 0.0
    if above and part >= k.MATTERS and case.by_kernel() >= 1 - k.MATTERS and not case.phase.by_command.get("read"):
        return inferred(
            f"{text}: md reads old data and parity for them, and these reads are {part:.0%} of the requests in flight",
            remedy,
            *values,
            share=part * case.share_of(DISK),
            gain=gain.at_most(part),
        )
    wait = q.d2c_mean_ms(case.phase, case.direction) or 0.0
    busy = not case.waits_for_host() and (case.depth() or 0.0) >= k.TWICE
    if not busy or not case.seeks_often() or wait < k.MIN_DRIVE_WRITE_MS:
        text = f"{text} and takes {wait:.2f} ms; {case.elsewhere():.0%} are not sequential"
        return open_question(f"{text}; it is unknown whether the array merges them into whole stripes", *values)
    return inferred(f"{text} and takes {wait:.1f} ms, because the array computes parity for each", remedy, *values)


@rule("device", "Rate of the array", DISK)
def device(case: Case) -> Limit:
    """The rate of the disk or array, if a higher depth does not raise it."""
    limit = _device(case)
    return dataclasses.replace(limit, title=DISK_TITLE) if case.phase.disk.driver in ONE_DISK else limit


def _device(case: Case) -> Limit:
    grown, idle, near = crowd(case), case.idle(), ceiling_near(case)
    rate = q.mib_per_s(case.phase, case.direction) or 0.0
    if idle is None:
        return unknown("idle time was not counted")
    values = [case.value("mib-per-s", rate, "MiB/s", "bytes-completed")]
    if grown is not None:
        values.append(case.value("gain-of-depth", grown.growth, "of 1", "depth-d2c"))
    text = f"{_gain(grown)}{units.three(rate)} MiB/s"
    remedy = "no setting helps; other drives, another RAID level or another controller may"
    if case.waits_for_host():
        return ruled_out(f"{text}, and the disk was idle for {idle:.0%} of the time", *values)
    if case.one_disk() and platter(case):
        return _one_disk(case, values, rate)
    if case.one_disk() and (waits := even_rate(case)):
        return inferred(
            f"{rate:.0f} MiB/s in {_iops(case):,.0f} {case.direction}s a second at even intervals; the fastest took "
            f"{waits[0]:.3g} ms, the median is {waits[1]:.3g} ms: the difference is the wait for other requests",
            "a higher depth does not help: this is the rate of the disk, or of its link (lspci -vv: LnkSta)",
            *values,
            gain=gain.MORE_IN_FLIGHT,
        )
    if ran := emptied(case):
        alone = 1 - (q.share_at_least(case.phase, "all", 2) or 0.0)
        text = f"{text}, but the queue ran empty {ran[0]} times: the disk had at most one request for {alone:.0%} of the time"
        return open_question(f"{text}, so it may do more", *values)
    if near:
        text = (
            f"{text} is {rate / min(near.controller, near.drives):.0%} of what the {near.lower()} can reach in the profile "
            f"{near.profile} (controller {near.controller:.0f} MiB/s, drives {near.drives:.0f})"
        )
        name = near.lower()
        return inferred(text, remedy, *values, gain=gain.MORE_IN_FLIGHT, key=name, title=name.capitalize())
    if case.one_disk():
        return _one_disk(case, values, rate)
    size, most = q.size_mean(case.phase, case.direction) or 0.0, case.reading.largest_sectors() or 0
    if flat(case) and k.SEVERAL * size <= most:
        text = f"{text} in requests of {q.kib(size)}; up to {q.kib(most)} are possible"
        return open_question(f"{text}. With fewer in flight more of them are merged, which may be faster", *values)
    if (theirs := case.area(case.other)) >= k.MATTERS * (theirs + case.area(case.direction)):
        both = f"and {q.mib_per_s(case.phase, case.other) or 0:.0f} MiB/s of {case.other}s at the same time"
        return open_question(f"{text} of {case.direction}s {both}", *values)
    if flat(case) and case.seeks_seldom():
        return inferred(f"{text} is its rate", remedy, *values, gain=gain.MORE_IN_FLIGHT)
    if grown is None:
        text = "the depth varied too little to show whether a higher one is faster"
    return open_question(text, *values)


def _iops(case: Case) -> float:
    """Completed requests per second."""
    seconds = case.phase.seconds()
    return (case.phase.count(case.direction, "completed") or 0) / seconds if seconds else 0.0


def _one_disk(case: Case, values: list[Value], rate: float) -> Limit:
    """The limit of one disk or one volume: its own rate."""
    queued = full(case)
    text = f"{rate:.1f} MiB/s in {_iops(case):.0f} {case.direction}s a second"
    if case.rotates() and case.streams() > 1:
        return open_question(f"{text}: up to {case.streams()} streams may share the heads", *values)
    if platter(case) and rate >= k.MIN_PLATTER_MIB_S:
        text = f"{text}, sequential, without a pause: the rate of the platter"
        remedy = "neither readahead nor depth helps; several disks (RAID 0) or flash are faster"
        return inferred(text, remedy, *values, gain=gain.MORE_IN_FLIGHT)
    if not case.rotates() and (case.phase.count(case.direction, "completed") or 0) < k.MIN_REQUESTS:
        return open_question(f"{text}; too few requests to distinguish the rate of the disk from a limit", *values)
    if queued is None:
        return open_question(f"{text}; it is unknown whether a higher depth is faster", *values)
    return inferred(
        f"{text}: with about {queued.many:.0f} in flight instead of {queued.few:.0f} the rate is "
        f"{max(queued.growth, 0):.0%} higher, so a higher depth does not help",
        "a higher depth does not help: this is the rate of the disk, or the limit of its volume. "
        + (cheaper(case) or "If that limit counts requests, larger requests move more"),
        *values,
        gain=gain.MORE_IN_FLIGHT,
    )


def cheaper(case: Case) -> str:
    """Advice for a disk at its full rate: the setting that moves the same bytes with fewer requests, or without bytes
    that nobody uses. Empty: none is known."""
    name, window = case.phase.disk.name, (case.reading.readahead_sectors() or 0) // 2
    if case.direction == "read" and window >= k.LARGE_READAHEAD_KIB and case.reads_ahead():
        disk = (case.reading.above or case.phase).disk.name
        return (
            f"Readahead is {window >> 10} MiB and may fetch data that the program does not use: blockdev --setra "
            f"4096 /dev/{disk}"
        )
    largest, most = case.phase.setting("max_sectors_kb") or 0, case.phase.setting("max_hw_sectors_kb") or 0
    size = (q.size_mean(case.phase, case.direction) or 0) / 2
    if case.phase.setting("nomerges") and case.elsewhere() <= k.MATTERS and k.SEVERAL * size <= most:
        return f"Sequential requests are not merged: echo 0 >/sys/block/{name}/queue/nomerges"
    if k.SEVERAL * size <= most and size >= largest / 2 and largest < min(most, k.PRESET_REQUEST_KIB):
        return f"If the limit counts requests: echo {min(most, k.PRESET_REQUEST_KIB)} >/sys/block/{name}/queue/max_sectors_kb"
    if k.SEVERAL * size <= largest and case.direction == "read" and case.reads_ahead():
        return f"If the limit counts requests, larger requests move more: blockdev --setra 4096 /dev/{name}"
    return ""


def _gain(grown: Crowd | None) -> str:
    if grown is None:
        return ""
    return (
        f"with {grown.row} or more in flight the throughput is {max(grown.growth, 0):.0%} higher than with about "
        f"{grown.few:.0f}; "
    )
