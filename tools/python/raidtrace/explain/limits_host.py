# SPDX-License-Identifier: GPL-2.0-or-later
"""Causes above the disk: the program, other programs, processors and flushes, files and their metadata."""

import dataclasses

from raidtrace.explain import constants as k
from raidtrace.explain import gain
from raidtrace.explain.case import DISK, EMPTY, Case, inferred, open_question, rule, ruled_out, unknown
from raidtrace.explain.evidence import NO_GAIN, Gain, Limit, Value, Verdict
from raidtrace.explain.limits_device import PARITY_LEVELS, dry, waits_ms
from raidtrace.explain.limits_rate import io_max
from raidtrace.explain.steps import in_order
from raidtrace.quantity import units
from raidtrace.quantity.units import plural
from raidtrace.recording import quantities as q
from raidtrace.recording.observation import KERNEL_THREADS
from raidtrace.recording.quantities import Reading
from raidtrace.recording.spans import DATA

# Processor time by the time that the disk was idle. From MOST on, computing explains the idle time. Below
# HALF it does not. The accounts miss scheduling, completions, and work of the kernel for the command.
SYNCHRONOUS = {"sync", "dirsync"}  # mount options that make writes wait for the disk
BLOCK_LAYER = "the block layer holds them before the disk (scheduler, slots, wbt, io.latency, io.cost)"
DISCARD_LIMITS = ("discard_max_bytes", "discard_max_hw_bytes")
SEVERAL_FILES = "read several files at once, or store the data in fewer, larger files"
# The ends of files cut requests if these are larger than a call, and smaller than a window, by these factors.
# Share of the requests that were issued to an idle disk. If fewer were, even the fastest may have waited for others.
SHARING_SCHEDULER = "bfq"  # shares a disk between processes


def dirty_limit(case: Case) -> int | None:
    """The limit of unwritten bytes (vm.dirty_bytes), if it is so low that writes through the page cache wait. Otherwise
    None."""
    text = case.phase.machine.get("vm.dirty_bytes", "")
    limit = int(text) if text.isdigit() else 0
    buffered = case.direction == "write" and not case.direct()
    return limit if buffered and 0 < limit <= k.MAX_DIRTY_LIMIT else None


@rule("program", "Program", EMPTY)
def host(case: Case) -> Limit:
    """An idle disk: the program computes, or does something else than I/O."""
    idle, used = case.idle(), q.processors_used(case.phase)
    computed = 0.0 if case.simulated() else (used or 0.0) + q.kernel_work(case.phase)[1]
    if idle is None:
        return unknown("idle time was not counted")
    value = case.value("idle-share", idle, "of 1", "depth-time")
    interval = case.phase.timeline.interval or 0
    nothing = f"the disk was idle for {q.percent(idle)} of the time"
    if not case.waits_for_host():
        return ruled_out(nothing, value)
    if idle * case.phase.seconds() * 1e9 <= interval:
        return open_question(f"{nothing}, less than the length of a sample", value)
    if (computing := _kernel_computes(case, idle, value)) is not None:
        return computing
    if case.reading.above is not None:
        title = "Other member" if case.reading.above.disk.members > 1 else "Layer above"
        return dataclasses.replace(open_question(f"{nothing}: {above_waits(case)}", value), title=title)
    limit = io_max(case)
    if limit.verdict is Verdict.INFERRED:
        return ruled_out(f"{nothing}: io.max delayed requests", value)
    if limit.verdict is Verdict.NOT_SHOWN and limit.values:
        return open_question(f"{nothing}: the program issued no requests, or io.max delayed them", value)
    if used is not None and computed >= k.MOST * idle:
        return _processor(
            f"{nothing} while the command used {used:.2f} of a processor",
            "let the program compute less for each byte, or read in one thread and compute in others",
            idle,
            _bound(case, gain.at_most(idle)),  # the start of a program is computing, too
            value,
            case.value("processors", used, "CPUs", "command cpu"),
        )
    if (case.direction == "read" or case.direct()) and (part := case.by_kernel()) >= k.HALF:
        text = f"{nothing}, and kernel threads queued {q.percent(part)} of its bios, as after a limit of a cgroup"
        return open_question(f"{text} (io.max, blkio.throttle), or below a loop device", value)
    if (waiting := case.waiting()) is not None and waiting >= idle * k.HALF:
        held = case.value("waiting", waiting, "bios", "q2c-sum-ns", "d2c-sum-ns")
        return open_question(f"{nothing}, but {waiting:.1f} bios waited on average: {BLOCK_LAYER}", value, held)
    late = q.waited_for_processor(case.phase, case.meta.get("host_available", ""))
    if late is not None and late + computed >= k.MOST * idle and late > computed:
        return _processor(
            f"{nothing} while the command waited for a processor, {late:.2f} of the time, and used {computed:.2f} of one",
            "leave it a processor: stop other programs, or lower their weight (nice, cpu.weight), or raise its cpu.max",
            idle,
            _bound(case, gain.at_most(idle)),
            value,
            case.value("waited", late, "CPUs", "command waited_for_processor"),
        )
    if late is not None and late >= k.HALF * idle:
        return open_question(
            f"{nothing}, and the command waited for a processor for {late:.2f} of it, a part of this", value
        )
    if (looked := _looked(case, nothing, idle, value)) is not None:
        return looked
    if late is None and not case.simulated() and (busy := q.processors_busy(case.phase) or 0.0) >= k.HALF:
        text = (
            f"{nothing}, and the processors worked for {q.percent(busy)} of their time: the program, which used "
            f"{computed:.2f} of one, may have slept, or waited for a processor"
        )
        return open_question(text, value)
    if computed >= k.HALF * idle:
        text = (
            f"{nothing}, and the command with its kernel threads used {computed:.2f} of a processor: computing "
            "explains only a part of this"
        )
        return open_question(text, value)
    if (unwritten := dirty_limit(case)) is not None:
        few = f"vm.dirty_bytes, which allows {unwritten / 1024:.0f} KiB of unwritten data, delayed them"
        text = f"{nothing}: the program issued no requests, or {few}"
        return open_question(text, value)
    if (busy := _kernel_busy(case) - (used or 0.0)) >= k.HALF * idle and not case.simulated():
        text = f"{nothing}, and the kernel used {busy:.2f} of a processor: dm-crypt or md above the disk may compute"
        return open_question(text, value)
    hints = (", or io.max delayed it", ", and whether its cgroup has an io.max")
    hints = hints if limit.verdict in (Verdict.NOT_AVAILABLE, Verdict.NOT_SHOWN) else ("", "")
    why = (
        "in simulated time computing takes no time, so the program waited, as in sleep"
        if case.simulated()
        else "its processor time was not counted"
        if used is None
        else f"it used {used:.2f} of a processor"
    )
    return inferred(
        f"{nothing}: the program issued no requests, because it slept, or waited for another program, a lock or a file "
        f"system{hints[0]}; {why}",
        f"find out what the program does between its calls{hints[1]}",
        value,
        share=idle,
        gain=_without_pauses(case, idle),
    )


# A reason that looks find -> the words for it, and what to do.
WAITS = {
    "stopped": ("was stopped", "continue it (kill -CONT PID), or thaw its control group"),
    "lock": ("waited for a lock", "find the holder: lslocks for a file, strace -f -e futex for a thread"),
    "socket": ("waited at a socket", "look at the other end of its connection"),
    "sleep": ("slept", "remove or shorten the pauses of the program"),
    "pipe": ("waited at a pipe", "look at the program at the other end of its pipe"),
    "poll": ("waited for one of several files, or a time", "find out for which: strace -f -p PID"),
    "requests": ("waited for its requests", "look at the other disks and files that it uses"),
    "child": ("waited for a child", "find out what the child does"),
    "other": ("waited in another call", "find out in which: strace -f -p PID"),
}
# Functions of the kernel in which it waits without a request -> the reason, and what to do.
KERNEL_WAITS = {
    "percpu_rwsem_wait": ("as for a frozen file system", "thaw the file system: fsfreeze -u MOUNTPOINT"),
    "balance_dirty_pages": (
        "which makes it wait for its unwritten data",
        "raise vm.dirty_bytes or vm.dirty_ratio, or write through another disk",
    ),
}


def _looked(case: Case, nothing: str, idle: float, value: Value) -> Limit | None:
    """The verdict if looks at the command found a reason for most of the idle time. None: they did not, or there are few.
    They found it in the kernel for a request, too, but not for longer than the disk was busy.
    """
    if (found := case.looks) is None:
        return None
    number = case.value("looks", found.number, "looks", "look all")
    if (most := found.waits_for()) is not None and found.asleep() >= k.HALF * idle:
        words, remedy = WAITS.get(most, WAITS["other"])
        text = f"{nothing}: in {found.by[most]} of {found.number} looks at it, the command {words}"
        return inferred(text, remedy, value, number, share=min(idle, found.asleep()), gain=_without_pauses(case, idle))
    for place, (reason, remedy) in KERNEL_WAITS.items():
        nr = found.functions.get(place, 0)
        if (share := nr / found.number) >= k.HALF * idle:
            text = f"{nothing}, and in {nr} of {found.number} looks the command was in {place}(), {reason}"
            most_gain = _bound(case, gain.at_most(min(idle, share)))
            return inferred(text, remedy, value, number, share=min(idle, share), gain=most_gain)
    if (stuck := case.stuck()) is not None:
        return open_question(
            f"{nothing}, and {stuck}: it waited there for another disk, a lock or memory", value, number
        )
    return None


def _processor(text: str, remedy: str, idle: float, most: Gain, *values: Value) -> Limit:
    """The verdict that the disk is idle because of a processor, not because the program does something else."""
    return inferred(text, remedy, *values, share=idle, gain=most, key="processor", title="Processor")


def _bound(case: Case, most: Gain) -> Gain:
    """The gain of a command that does not pause; none if the disk was busy for others, too: the command may need less of it."""
    return most if strangers(case).part < k.MATTERS else NO_GAIN


def _without_pauses(case: Case, idle: float) -> Gain:
    return _bound(case, gain.no_pauses(case, idle, (waits_ms(case) or (0.0,))[0]))


def above_waits(case: Case) -> str:
    """A clause about the md or dm disk above, which may delay the requests of this disk."""
    above = case.reading.above
    assert above
    if above.disk.members > 1:
        return f"{above.disk.name}, which contains it, may wait for another of its disks"
    return f"{above.disk.name}, which contains it, may hold the requests"


KERNEL_WORK = {
    "kcryptd": (
        "dm-crypt (kcryptd)",
        "use several readers or writers at once, and so several processors; cryptsetup benchmark prints the rate of one",
    ),
    "md": (
        "md (parity, rebuild)",
        "echo 4 >/sys/block/{disk}/md/group_thread_cnt lets more processors compute parity (RAID 5 and 6)",
    ),
}


def _kernel_busy(case: Case) -> float:
    """Processors that the kernel used (system and softirq), mean over the phase. This is an upper bound for md and dm
    above the disk: _kernel_computes() misses workers that did other work at the last reading. 0: kernel threads were
    not recorded.
    """
    below = "kernel-threads" in case.meta.get("host_available", "").split()
    used = sum(case.phase.host.get(("cpu", name), 0) for name in ("system", "softirq"))
    return used / 1e9 / case.phase.seconds() if below and case.phase.seconds() else 0.0


def _kernel_computes(case: Case, idle: float, value: Value) -> Limit | None:
    """A disk that is idle while dm-crypt or md compute. None: they used too little of a processor to explain the idle
    time."""
    (work, used), command = q.kernel_work(case.phase), q.processors_used(case.phase) or 0.0
    if case.simulated() or used + command < k.MOST * idle or used <= command:
        return None
    title, remedy = KERNEL_WORK[work]
    whole = (case.reading.above or case.phase).disk.name
    return _processor(
        f"the disk was idle for {q.percent(idle)} of the time while {title} used {used:.2f} of a processor",
        remedy.format(disk=whole),
        idle,
        gain.at_most(idle),
        value,
        case.value("processors", used, "CPUs", f"kernel {work}"),
    )


@rule("sync", "Flushes", DISK)
def sync(case: Case) -> Limit:
    """Flushes: a program that wants its data on the platters waits for each one."""
    number, part = case.phase.count("flush", "completed") or 0, case.area("flush")
    writes = case.phase.count("write", "completed") or 0
    values = (
        case.value("flushes", number, "reqs.", "completed of flush"),
        case.value("flush-share", part, "of 1", "d2c-sum-ns of flush"),
    )
    if case.direction != "write" or not number:
        return ruled_out(f"{number} flushes", *values)
    if part < k.MATTERS:
        return ruled_out(f"{number} flushes were in flight {_during(part)}", *values)
    each = (q.octets(case.phase, "write") or 0) / number
    if number < k.SEVERAL or each > k.MAX_FLUSHED_BYTES:
        text = (
            f"{number} flush{'es were' if number > 1 else ' was'} in flight {_during(part)}, after "
            f"{each / q.MIB:.1f} MiB of writes each"
        )
        return open_question(f"{text}; only an experiment can show whether they waited for this data", *values)
    during, part = _during(part), min(part, 0.999)
    return inferred(
        f"{number} flushes for {writes} writes were in flight {during}: each waits until the drive has written its "
        "cache",
        f"{_fewer_flushes(case)}, or "
        + (
            "use a drive with power-loss protection, whose cache need not be flushed"
            if case.one_disk()
            else "add a battery to the controller, so that it need not report a volatile cache"
        ),
        *values,
        share=part,
        gain=NO_GAIN if _synchronous(case) else gain.half_the_flushes(case),
    )


def _during(part: float) -> str:
    """The text of a sum of times divided by the length of the phase: a share of the time, or, above 1, the mean number
    in flight."""
    return f"for {part:.0%} of the time" if part <= 1 else f"({units.three(part)} at once on average)"


def _synchronous(case: Case) -> list[str]:
    """The mount options that make writes wait. Empty: there are none, or nothing is mounted."""
    lines = (case.reading.above or case.phase).settings.get("mount_options", "").splitlines()
    return sorted({option for line in lines for option in line.split(",")} & SYNCHRONOUS)


def _fewer_flushes(case: Case) -> str:
    """Advice to flush less often. The recording does not show which call, or which mount option, causes a flush."""
    if options := _synchronous(case):
        return f"mount the file system without {' and '.join(options)}, which makes each write wait"
    return "have data made durable less often (fsync, fdatasync, O_SYNC and O_DSYNC of the program, sync of a mount)"


def clears(case: Case) -> str:
    """A clause about discards and zeroing, if they were in flight for so long that other requests may wait for them;
    else empty."""
    text, _, part = _cleared(case)
    return f"{text} were in flight {_during(part)}" if part >= k.MATTERS else ""


def _cleared(case: Case) -> tuple[str, int, float]:
    """The discards and zeroings in words, their number, and their mean number in flight."""
    numbers = {name: case.phase.count(name, "completed") or 0 for name in q.CLEARING}
    words = [
        f"{number:,} {name.replace('_', ' ')}{'s' if name == 'discard' else ''}"
        for name, number in numbers.items()
        if number
    ]
    return " and ".join(words) or "0 discards", sum(numbers.values()), sum(map(case.area, q.CLEARING))


@rule("discard", "Discards", DISK)
def discards(case: Case) -> Limit:
    """Discards and zeroing (fstrim, the mount option discard) that delay the requests of this direction."""
    text, number, part = _cleared(case)
    values = (
        case.value("discards", number, "reqs.", *(f"completed of {name}" for name in q.CLEARING)),
        case.value("discard-share", part, "of 1", *(f"d2c-sum-ns of {name}" for name in q.CLEARING)),
    )
    during = _during(part)
    if part < k.MATTERS:
        return ruled_out(f"{text} were in flight {during}", *values)
    if number < k.SEVERAL:
        return open_question(f"{text} were in flight {during}; their cost is unknown", *values)
    waits = waits_ms(case)
    before = case.before_issue_ms()  # a disk that discards alone lets the others wait in the scheduler
    others = sum(case.phase.count(name, "completed") or 0 for name in DATA)
    alone = others < k.WORTH * number  # what the disk does is to discard
    if not alone and (waits is None or waits[1] + before < k.SLOWER * waits[0]):
        text = f"{text} were in flight {during}; the recording does not show that {case.direction}s take longer"
        return open_question(text, *values)
    part = min(part, 0.999)
    each, cut, most = q.size_mean(case.phase, "discard"), *map(case.phase.setting, DISCARD_LIMITS)
    small = each and cut and most and cut < most and each * q.SECTOR >= (1 - q.AGREEMENT) * cut
    waited = f", which wait {before:.2g} ms before their issue" if waits and waits[1] < k.SLOWER * waits[0] else ""
    beside = f"next to {others:,} reads and writes" if alone else f"concurrently with {case.direction}s{waited}"
    remedy = "trim at another time (fstrim.timer) instead of the mount option discard, or in smaller parts (fstrim --minimum)"
    if small and cut:
        beside = f"{beside}; discard_max_bytes cuts them to {units.octets(cut)}"
        where = f"/sys/block/{case.phase.disk.name}/queue/discard_max_bytes"
        remedy = f"echo {most} >{where} makes them larger and fewer; or {remedy}"
    return inferred(f"{text} were in flight {during}, {beside}", remedy, *values, share=part)


@dataclasses.dataclass(frozen=True)
class Others:
    """The share of a disk, from 0 to 1, that processes other than the command used, and a sentence about it. whole:
    whether the processes of nearly all bytes are known, so that the share is more than a lower bound.
    """

    part: float = 0.0
    text: str = ""
    whole: bool = True


def strangers(case: Case) -> Others:
    """The use of this disk by processes other than the command, which the recorder observed.

    On one disk with heads it is their share of the time for data and seeks, or of the bytes. Elsewhere it is the larger
    share of the bios and the bytes. Many small bios take little time: if their bytes are few, the times of the requests
    in their direction decide. Kernel threads are left out, because they write for other processes.
    """
    rows = case.phase.submitters or ()
    whole = sum(one.bios for one in rows)
    others = [one for one in rows if one.pid in case.phase.others and not (one.comm or "").startswith(KERNEL_THREADS)]
    if not whole or not others:
        return Others()
    most = max(others, key=lambda one: one.bios)
    bios = sum(one.bios for one in others)
    moved = sum(q.octets(case.phase, direction) or 0 for direction in ("read", "write"))
    waiting = max(sum(one.bytes for one in rows) - moved, 0)  # bytes queued and not completed: all may be of the others
    theirs = max(sum(one.bytes for one in others) - waiting, 0)
    of_bytes = theirs / max(moved, 1)
    parts = [(of_bytes, "of the bytes")]
    if case.one_disk() and case.rotates() and case.phase.seconds():
        moves = min(bios, q.seeks(case.phase) or 0) * k.SEEK_S / case.phase.seconds()
        parts.append((min(of_bytes + moves, 1.0), "of the time, for data and seeks,"))
    elif of_bytes >= k.MATTERS or (spent := _time_of(case, bios, theirs)) is None or spent >= k.MATTERS:
        parts.append((bios / whole, "of the bios"))
    else:
        parts.append((spent, "of the time of requests"))
    part, of = max(parts)
    mine = sum(case.phase.by_command.values()) if case.phase.by_command else (1 - of_bytes) * moved
    known = of_bytes + mine / max(moved, 1) >= 1 - k.MATTERS
    verb = "belongs" if "time" in of else "belong"
    least = "" if known else "at least "
    return Others(
        part,
        f"{least}{part:.0%} {of} {verb} to processes other than the command, mostly {most.comm} (pid {most.pid})",
        known,
    )


def _time_of(case: Case, bios: int, octets: int) -> float | None:
    """The share of the time of all requests that so many bios took at most, if all are of the other direction. None:
    they cannot be."""
    queued, moved = (case.phase.count(case.other, name) or 0 for name in ("queued", "bytes_queued"))
    areas = case.area(case.direction) + case.area(case.other)
    return case.area(case.other) / areas if bios <= queued and octets <= moved and areas else None


def _own(case: Case, direction: str) -> str:
    """The reason why the requests of a direction may belong to the command; empty: they do not.

    A kernel thread writes data back that the command wrote to memory, maybe in an earlier phase."""
    above, by_kernel = case.reading.above, case.by_kernel()
    if above is not None and above.settings.get("md_level") in PARITY_LEVELS and by_kernel >= k.MATTERS:
        return "md reads old data and parity before it writes new parity"
    if case.phase.submitters and strangers(case).part + by_kernel < k.MATTERS:
        return "they belong to the command"
    own, moved = case.phase.by_command.get(direction), q.octets(case.phase, direction) or 0
    if q.foreign(case.phase, case.direction):
        return ""
    if own is None:
        return f"the processes of these {direction}s were not recorded"
    done = "read" if direction == "read" else "wrote"
    return (
        f"they may belong to the command, which {done} {units.octets(own)} until then" if own >= k.HALF * moved else ""
    )


def _undelayed(case: Case) -> str:
    """The reason why the load of others does not delay requests of a disk without heads; empty: it may delay them."""
    waits, mean = waits_ms(case), q.d2c_mean_ms(case.phase, case.direction)
    if not case.one_disk() or case.rotates() or waits is None or mean is None:
        return ""
    took = max(mean, waits[1]) + (case.before_issue_ms())
    if took >= k.MIN_FACTOR * waits[0]:
        return ""
    return f"{case.direction}s take {took:.3g} ms, as long as the fastest: concurrent requests do not delay them"


@rule("competing", "Competing load", DISK)
def competing(case: Case) -> Limit:
    """Concurrent load of the disk by other processes, or in the other direction."""
    other = case.other
    meanwhile = case.phase.timeline.meanwhile(case.direction)
    ours, theirs, issued = case.area(case.direction), case.area(other) * meanwhile, q.requests(case.phase)
    found = strangers(case)
    part, others = found.part, found.text
    share = theirs / (ours + theirs) if ours + theirs else 0.0
    requests = case.phase.of(other).issued * meanwhile / issued if issued else 0.0
    busy = 1 - (case.idle() or 0.0)
    delays = part * busy >= k.MATTERS  # they delay nobody while the disk is idle
    competes = share * busy >= k.MATTERS and requests >= k.MATTERS
    values = (
        case.value("other-share", share, "of 1", f"d2c-sum-ns of {other}"),
        case.value("strangers", part, "of 1", "submitter"),
    )
    if (delays or competes) and (text := _undelayed(case)):
        if gain.found_idle(case) >= k.FEW:
            return ruled_out(text, *values)
        text = f"{text}. Or all of them waited: the disk was never idle when a request was issued"
        return open_question(text, *values)
    if delays and case.phase.settings.get("scheduler") == SHARING_SCHEDULER:
        text = f"{others}; {SHARING_SCHEDULER} divides the disk between processes"
        return open_question(f"{text}, so only an experiment can show their cost", *values)
    if delays:
        waits = waits_ms(case)
        remedy = "run the other load at another time, or lower its weight: ionice, io.weight, bfq"
        return inferred(
            others,
            remedy,
            *values,
            share=part * busy,
            gain=gain.others_gone(case, part, waits[0]) if waits and found.whole else NO_GAIN,
        )
    if competes:
        text = f"{other}s are {share:.0%} of the requests in flight and {requests:.0%} of all requests"
        if why := _own(case, other):
            return open_question(f"{text}; {why}", *values)
        by_bytes = sorted(case.phase.submitters or (), key=lambda one: -one.bytes)
        names = [one.comm for one in by_bytes if one.comm and one.comm.startswith(KERNEL_THREADS)]
        through = f", queued by {names[0]}" if names and other == "write" else ""
        return inferred(
            f"{text}{through}",
            f"separate the {other}s from the {case.direction}s: another time, another disk, or a scheduler that divides the "
            "disk (bfq)",
            *values,
            share=share * busy,
        )
    if case.phase.submitters is None:
        return unknown("the processes were not counted")
    text = f"{other}s are {share:.0%} of the requests in flight; other processes have {part:.0%} of the load"
    if part >= k.MATTERS:
        text = f"{text}, and the disk is idle for {q.percent(case.idle() or 0.0)} of the time"
    return ruled_out(text, *values)


def run_sectors(reading: Reading) -> float | None:
    """Mean length of a contiguous run in sectors: bytes by the number of bios that continue no stream. None: not
    counted."""
    queued, streams = reading.phase.count("read", "queued"), reading.phase.count("read", "stream_queued")
    moved = reading.phase.count("read", "bytes_queued")
    if queued is None or streams is None or moved is None or not queued:
        return None
    return moved / q.SECTOR / max(queued - streams, 1)


@rule("pieces", "Size of files", DISK)
def pieces(case: Case) -> Limit:
    """Files, or extents of them, that end before the readahead window."""
    run, readahead = run_sectors(case.reading), case.reading.readahead_sectors()
    order, depth, windows = in_order(case.reading), case.depth(), case.windows()
    if run is None or readahead is None or case.direction != "read" or None in (order, depth, windows):
        return unknown("not counted for this direction")
    value = case.value("run", run, "sectors", "bytes-queued", "queued", "stream-queued")
    text = f"contiguous runs average {q.kib(run)}, readahead is {q.kib(readahead)}"
    stack = (case.phase, case.reading.above)
    mounted = any(one.settings.get("fstype") for one in stack if one)
    end = "the files end before the readahead window"
    if mounted and (order or 0) >= k.HALF and not case.waits_for_host() and (ended := _windows_end(case)):
        calls = f"the program reads {units.octets(ended[1])} with each call"
        text = f"requests average {q.kib(ended[0])}, readahead is {q.kib(readahead)}, and {calls}"
        return inferred(f"{text}: {end}", SEVERAL_FILES, value)
    for holds, why in (
        (run >= readahead, "so the runs are not shorter"),
        ((order or 0) < k.HALF, f"but only {q.percent(order or 0)} of the bios continue a stream"),
        (not mounted, "but no file system was mounted"),
        ((depth or 0) >= (windows or 0), "but a whole readahead window, or more, was in flight"),
        (case.waits_for_host(), "but the disk waited for the program"),
    ):
        if holds:
            return ruled_out(f"{text}, {why}", value)
    number = (case.phase.count("read", "queued") or 0) - (case.phase.count("read", "stream_queued") or 0)
    if 2 * (blocks := metadata(case.reading)) >= number:
        text = f"{text}; with {blocks} blocks of metadata for {number} runs, the files may be fragmented"
        return open_question(text, value)
    return inferred(f"{text}: {end}", SEVERAL_FILES, value)


def _windows_end(case: Case) -> tuple[float, float] | None:
    """Sectors of a request and bytes of a read call, if adjacent files end within the readahead window; else None.

    The signature: requests are larger than the calls, so readahead works, but far smaller than a window.
    """
    window, largest = case.reading.readahead_sectors(), case.reading.largest_sectors()
    each, calls = q.size_mean(case.phase, "read"), case.phase.host.get(("command", "syscr"), 0)
    if case.phase.host.get(("command", "rchar"), 0) < k.QUARTER * (q.octets(case.phase, "read") or 0):
        return None  # a mapping, or readahead() and fadvise(): the calls do not show which bytes are read
    if not window or not largest or not each or not calls or q.foreign(case.phase, "read"):
        return None
    call = case.phase.host.get(("command", "rchar"), 0) / calls
    larger = each * q.SECTOR >= k.TWICE * call > 0
    cut = k.TWICE * each <= min(window, largest) or k.TWICE * (case.depth() or 0.0) <= (case.windows() or 0.0)
    return (each, call) if larger and cut else None


def metadata(reading: Reading) -> int:
    """Number of bios of metadata and journal."""
    return sum((reading.phase.origin or {}).get(name, {}).get("queued", 0) for name in ("metadata", "journal"))


@rule("file system", "File system", DISK)
def filesystem(case: Case) -> Limit:
    """Metadata that the file system must read before it knows the place of the next data."""
    ran_dry = dry(case.reading, case.direction)
    if ran_dry is None or case.phase.origin is None or case.direction != "read":
        return unknown("not counted")
    times, alone, part = ran_dry
    blocks = metadata(case.reading)
    values = (
        case.value("metadata-bios", blocks, "bios", "queued of class metadata"),
        case.value("ran-empty", times, "times", "depth-issue"),
        case.value("dry-share", part, "of 1", "depth-issue", "depth-d2c"),
    )
    if part < k.WORTH or blocks < times / 2:
        text = f"{blocks} blocks of metadata between the data; the queue ran empty {times} time{plural(times)}"
        return ruled_out(text, *values)
    if (case.phase.count("write", "issued") or 0) >= k.MATTERS * (case.phase.count("read", "issued") or 1):
        return open_question(f"{blocks} blocks of metadata; it is unknown how many of them were read", *values)
    if blocks >= k.NEARLY_ALL * (case.phase.count("read", "queued") or 1):
        text = (
            f"{blocks} blocks of metadata and almost no data; reads that bypass the file system also count as "
            "metadata"
        )
        return open_question(text, *values)
    part = min(part, k.CERTAIN)
    return inferred(
        f"{blocks} blocks of metadata were read between the data, and the queue ran empty {times} times: the next "
        f"read starts only after the block was read. Each costs the {alone:.2f} ms of a single request, together "
        f"{part:.0%} of the time",
        "a file system with extents, such as XFS or ext4, reads far less metadata",
        *values,
        share=part,
        gain=gain.at_most(part),
    )
