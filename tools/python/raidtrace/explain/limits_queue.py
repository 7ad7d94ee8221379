# SPDX-License-Identifier: GPL-2.0-or-later
"""Causes in the queue and its use: depth, requests, scheduler, request size, direct I/O, seeks, readahead."""

import dataclasses

from raidtrace.explain import constants as k
from raidtrace.explain import gain
from raidtrace.explain.case import DISK, WAITING, Case, inferred, open_question, rule, ruled_out, unknown
from raidtrace.explain.evidence import NO_GAIN, Limit
from raidtrace.explain.limits_device import ceiling_near, flat, waits_ms
from raidtrace.explain.limits_host import BLOCK_LAYER, above_waits, clears, run_sectors, strangers
from raidtrace.explain.steps import ahead, in_order, windows_share
from raidtrace.quantity import units
from raidtrace.quantity.units import plural, ratio
from raidtrace.recording import quantities as q
from raidtrace.recording.observation import Observation
from raidtrace.recording.quantities import Reading, is_layer

ASYNC_DEPTH = "async_depth"  # of Linux 7 a setting of the queue, before of the scheduler
ASYNC_DEPTHS = (ASYNC_DEPTH, f"iosched.{ASYNC_DEPTH}")
NO_DEEPER = "the rates by depth show that more in flight does not help"
OTHER_SCHEDULER = "mq-deadline"  # to try first in place of another


def slots(case: Case) -> tuple[int, str] | None:
    """The limit of requests in flight, and the setting that causes it: queue_depth of the driver, nr_requests or, of
    writes, async_depth of the scheduler, the lowest one. None: none is known."""
    queues, number = case.reading.hardware_queues(), case.phase.setting("nr_requests") or 0
    # reads of a scheduler that limits asynchronous requests are never asynchronous
    few = next((n for name in ASYNC_DEPTHS if (n := case.phase.setting(name))), 0) if case.direction == "write" else 0
    deep = case.reading.queue_limit() or 0
    every = ((deep, "queue_depth"), (number * queues, "nr_requests"), (few * queues, ASYNC_DEPTH))
    return min((one for one in every if one[0]), default=None)


@rule("queue depth", "Queue depth", WAITING)
def queue(case: Case) -> Limit:
    """A queue with a limit below the number of requests that are ready."""
    allowed = slots(case)
    if allowed is None:
        return unknown("the limit of the queue was not recorded")
    named = {"key": "request slots", "title": "Request slots"} if allowed[1] != "queue_depth" else {}
    return dataclasses.replace(_queue(case, *allowed), **named)


def _queue(case: Case, limit: int, name: str) -> Limit:
    full = q.share_at_least(case.phase, "all", limit)
    if full is None:
        return unknown("the depth was not counted")
    i2d, served = (case.wait_ms(*names) or 0.0 for names in (("i2d_sum_ns", "issued"), ("d2c_sum_ns", "completed")))
    ended = sum(case.phase.histogram(case.direction, "q2c").values())  # some complete in the next phase
    whole = ratio(case.phase.count(case.direction, "q2c_sum_ns"), ended, 1e6) or 0.0
    waited = max(i2d, whole - served) if name != "queue_depth" else i2d
    waits = case.times.waits_share if case.times else 0.0
    enough = waited >= k.QUARTER * served or waits >= k.HALF
    values = (
        case.value("queue-depth", limit, "reqs.", name),
        case.value("full-share", full, "of 1", "depth-time"),
        case.value("waited", waited, "ms", "i2d-sum-ns", "q2c-sum-ns"),
    )
    queues = case.reading.hardware_queues()
    each = f" ({limit // queues} on each of {queues} hardware queues)" if queues > 1 and limit % queues == 0 else ""
    text = f"{name} allows {limit} request{plural(limit)}{each}, and all were in use for {q.percent(full)} of the time"
    if full >= k.HALF and served and not enough and limit <= k.SEVERAL * queues:
        text = f"{text}; the wait of a program before it queues a bio is not counted"
        return open_question(f"{text}. Only an experiment with a larger {name} can show its effect", *values)
    if full < k.HALF or not served or not enough:
        return ruled_out(text, *values)
    if waited >= k.QUARTER * served:
        text = f"{text}; each request waited {waited:.1f} ms for a slot, and took {served:.1f} ms"
    else:  # the program, or writeback, queues its next bio when this one has a slot
        text = f"{text}; bios waited for a slot for {q.percent(waits)} of it"
    if limit > k.SEVERAL * queues or flat(case) or ceiling_near(case):
        return open_question(f"{text}. Only an experiment can show whether a higher one is faster", *values)
    where = {"queue_depth": "device/queue_depth", "nr_requests": "queue/nr_requests"}.get(name) or (
        "queue/async_depth" if ASYNC_DEPTH in case.phase.settings else "queue/iosched/async_depth")  # fmt: skip
    return inferred(
        text,
        f"echo {32 if name == 'queue_depth' else _more_requests(case)} >/sys/block/{case.phase.disk.name}/{where}",
        *values,
        gain=gain.more_slots(case, limit, waits_ms(case)) if waited >= k.QUARTER * served else NO_GAIN,
    )


def _more_requests(case: Case) -> int:
    """The value of nr_requests to try next. Without a scheduler the kernel allows no more than the tags of
    the driver."""
    tags = (case.phase.settings.get("scheduler") == "none" and case.phase.disk.nr_tags) or k.DEFAULT_NR_REQUESTS
    return min(tags, k.DEFAULT_NR_REQUESTS)


@rule("scheduler", "Scheduler", WAITING)
def scheduler(case: Case) -> Limit:
    """A scheduler that delays requests although the driver would accept them."""
    name = case.phase.settings.get("scheduler", "")
    wait, served = case.wait_ms("i2d_sum_ns", "issued"), case.wait_ms("d2c_sum_ns", "completed")
    depth, allowed = q.depth_mean(case.phase, "all"), slots(case)
    if wait is None or not served or depth is None or allowed is None or not name:
        return unknown("time before the issue, depth or scheduler was not recorded")
    values = (case.value("waited", wait, "ms", "i2d-sum-ns"), case.value("depth-mean", depth, "reqs.", "depth-time"))
    text = f"{name}: requests waited {wait:.2f} ms before their issue, and then took {served:.2f} ms"
    if name != "none" and wait < k.HALF * served and (held := held_before(case)):
        return open_question(f"{text}; {held}", *values)
    if name == "none" or wait < k.HALF * served or depth > k.HALF * allowed[0]:
        return ruled_out(text, *values)
    if strangers(case).part >= k.MATTERS:
        others = "other processes use the disk, and the scheduler may delay their requests in favour of the command's"
        return open_question(f"{text}; {others}", *values)
    if clearing := clears(case):
        return open_question(f"{text}; {clearing}, and the driver may accept nothing else meanwhile", *values)
    other = "none" if name == OTHER_SCHEDULER else f"{OTHER_SCHEDULER} (or none)"
    return inferred(
        f"{text}; {depth:.1f} were in flight of {allowed[0]} possible: it delays requests that the driver would accept",
        f"set the scheduler of {case.phase.disk.name} (/sys/block/{case.phase.disk.name}/queue/scheduler) to {other}",
        *values,
        share=wait / (wait + served) * case.share_of(DISK),
        gain=gain.not_held_back(case, wait, served),
    )


@rule("request size", "Request size", DISK)
def request_size(case: Case) -> Limit:
    """Requests that the kernel splits, although the disk accepts larger ones."""
    mode = q.size_mode(case.phase, case.direction)
    largest, most, cut = (
        case.phase.setting("max_sectors_kb"),
        case.phase.setting("max_hw_sectors_kb"),
        case.phase.count(case.direction, "splits"),
    )
    if None in (mode, largest, most, cut) or mode is None:
        return unknown("sizes or limits were not recorded")
    values = (case.value("size-mode", mode[0], "sectors", "size"), case.value("splits", cut, "bios", "splits"))
    whole = mode[1] if mode[0] == 2 * (largest or 0) else 0.0
    takes = "any size" if (most or 0) >= k.UNLIMITED_KIB else f"up to {most} KiB"
    text = (
        f"max_sectors_kb is {largest}, the disk takes {takes}; {q.percent(whole)} of the requests have the largest "
        f"size, {cut} bios were split"
    )
    if k.SEVERAL * (largest or 0) > (most or 0) or whole < k.HALF or not cut:
        return ruled_out(text, *values)
    windows = case.windows()
    if (
        case.direction == "read"
        and windows is not None
        and (case.depth() or 0.0) <= k.TWICE * (1 + k.FEW) * windows * case.streams() < k.FULL
    ):
        text = f"{text}; but readahead limits the bytes in flight, and smaller requests keep more drives busy"
        return open_question(text, *values)
    remedy = f"echo {min(most or 0, 1280)} >/sys/block/{case.phase.disk.name}/queue/max_sectors_kb"
    return inferred(text, remedy, *values)


@rule("lost merges", "Lost merges", DISK)
def merges(case: Case) -> Limit:
    """Sequential requests that the queue must not merge, although they wait for each other."""
    size, most = q.size_mean(case.phase, case.direction), case.reading.largest_sectors()
    off, depth = case.phase.setting("nomerges"), case.depth()
    if None in (size, most, off, depth):
        return unknown("sizes, depth or nomerges were not recorded")
    text = f"nomerges is {off}; requests are {q.kib(size or 0)} on average, with {depth or 0:.1f} in flight"
    small = k.SEVERAL * (size or 0) <= (most or 0)
    if not off or not small or not case.seeks_seldom() or (depth or 0.0) < k.WIDE:
        return ruled_out(text)
    remedy = f"echo 0 >/sys/block/{case.phase.disk.name}/queue/nomerges"
    return inferred(f"{text}, and are sequential: the kernel does not merge them", remedy)


@rule("direct", "Direct I/O", DISK)
def direct(case: Case) -> Limit:
    """O_DIRECT: no page cache, no readahead. The program alone determines the depth."""
    part, depth = q.class_share(case.phase, "direct"), case.depth()
    if part is None or depth is None:
        return unknown("classes or depth were not counted")
    values = (
        case.value("direct-share", part, "of 1", "bytes-queued of class direct"),
        case.value("depth-mean", depth, "reqs.", "depth-time"),
    )
    if not case.direct():
        return ruled_out(f"{q.percent(part)} of the bytes bypassed the page cache", *values)
    text = (
        f"{q.percent(part)} of the bytes bypassed the page cache: nothing reads ahead, the program itself keeps "
        f"{depth:.2f} requests in flight"
    )
    waits = waits_ms(case)
    delayed = waits is None or case.rotates() or waits[1] >= k.MIN_FACTOR * waits[0]  # else others made the queue deep
    if others := _not_by_program(case, depth):
        return open_question(f"{q.percent(part)} of the bytes bypassed the page cache; {others}", *values)
    enough = (
        (case.direction != "read", "the gain of more writes in flight is unknown"),
        (depth >= k.ENOUGH, f"{k.ENOUGH} are enough for most disks"),
        ((flat(case) and delayed) or bool(ceiling_near(case)), "the rate hardly grows with the depth"),
        (case.deeper_does_not_help(), NO_DEEPER),
    )
    if reason := next((reason for holds, reason in enough if holds), ""):
        return open_question(f"{text}; {reason}", *values)
    few = slots(case)
    if few and few[0] > 1 and case.all_in_use(few):
        return open_question(f"{text}, and {few[1]} allows no more than {few[0]}", *values)
    if scattered(case):
        return open_question(f"{text}; through the page cache a read would wait for its seek, too", *values)
    larger = (
        "read in larger pieces, "
        if (q.size_mean(case.phase, case.direction) or k.LARGE_SECTORS) < k.LARGE_SECTORS
        else ""
    )
    return inferred(
        text,
        f"{larger}keep more requests in flight (iodepth, threads, io_uring), or read through the page cache",
        *values,
        gain=gain.twice_in_flight(case, *waits) if waits else NO_GAIN,
    )


def held_before(case: Case) -> str:
    """A clause about bios that wait before the disk, if they are as many as the requests in flight; else empty."""
    mean, waiting = q.depth_mean(case.phase, case.direction), case.waiting()
    if mean is None or waiting is None or waiting < max(1.0, mean):
        return ""
    return f"{mean:.2f} requests are in flight on average, and {waiting:.1f} bios wait: {BLOCK_LAYER}"


def _not_by_program(case: Case, depth: float) -> str:
    """The reason why something else than the program determines the depth; empty: nothing is known of such."""
    if held := held_before(case):
        return held
    if case.by_kernel() > k.HALF:
        return f"kernel threads queue them, one layer above the disk, with {depth:.2f} requests in flight"
    if is_layer(case.phase.disk.name):
        return f"{case.phase.disk.name} passes them on to another disk, whose recording shows what delays them"
    if case.reading.above is not None and case.waits_for_host():
        return f"the disk was idle for {q.percent(case.idle() or 0.0)} of the time: {above_waits(case)}"
    rate = gain.even(case, case.phase)[0]
    if case.virtual() and gain.alone(case) and (rate is None or gain.straight(rate)):
        each = q.d2c_mean_ms(case.phase, case.direction) or 0.0
        return f"one request at a time takes {each:.3g} ms: this is the time of the volume, or the pace of its limit"
    return ""


def scattered(case: Case) -> bool:
    """Whether most reads are random and short, on a disk with seeks that take time."""
    order = in_order(case.reading)
    run = run_sectors(case.reading) or 0.0
    return (
        case.rotates()
        and case.direction == "read"
        and order is not None
        and order <= k.MOST
        and case.seeks_often()
        and run <= k.MAX_SHORT_SECTORS
    )


def taking_turns(case: Case) -> bool:
    """Whether several streams keep the queue so full that only the seeks between them cost time. For one disk with
    heads two requests in flight are enough."""
    return (
        case.rotates()
        and case.direction == "read"
        and case.streams() > 1
        and (case.depth() or 0.0) >= (k.TWICE * (1 - k.FEW) if case.one_disk() else k.ENOUGH)
        and (in_order(case.reading) or 0.0) > k.MOST
        and case.seeks_often()
    )


@rule("seeks", "Seeks", DISK)
def positioning(case: Case) -> Limit:
    """Random access: each read needs a seek, and readahead has no effect."""
    order, number = in_order(case.reading), q.seeks(case.phase)
    if order is None or number is None or case.direction != "read":
        return unknown("not counted for this direction")
    part = case.elsewhere()
    value = case.value("seek-share", part, "of 1", "seek", "issued")
    text = f"{q.percent(part)} of the requests are not sequential, {q.percent(order)} of the bios continue a stream"
    if taking_turns(case):
        wide = "; there may be more streams than the table holds" if case.table_full() else ""
        return inferred(
            f"{text}: the heads move between {case.streams()} streams, with {case.depth() or 0:.1f} requests in "
            f"flight{wide}",
            "use fewer readers at once, or larger pieces: more readahead helps while it fits into memory",
            value,
        )
    if not scattered(case):
        text = text if case.rotates() else f"{text}; but the disk does not rotate, so a seek costs it no time"
        return ruled_out(text, value)
    wait = q.d2c_mean_ms(case.phase, case.direction) or 0.0
    if wait < k.MIN_SEEK_MS:
        return open_question(f"{text}; but each request takes {wait:.2f} ms, too short for a seek", value)
    mean = q.seek_sectors(case.phase) / number if number else 0.0
    back, forth = (case.phase.count("read", f"seek_{way}_sectors") or 0 for way in ("backward", "forward"))
    one = (case.depth() or 0.0) < k.TWICE
    if one and mean <= k.MAX_NEAR_SECTORS and wait >= k.TURN_MS and back >= k.NEARLY_ALL * (back + forth) > 0:
        return inferred(
            f"each read begins before the previous one, {q.kib(mean)} on average: the disk turns once for each, which takes "
            f"{wait:.2f} ms",
            "read in ascending order, or in larger pieces",
            value,
        )
    alone = case.direct() and one
    if alone and mean <= k.MAX_NEAR_SECTORS and wait >= k.TURN_MS:
        return open_question(
            f"{text}, but only {q.kib(mean)} away on average: one at a time, sequential reads may take as long", value
        )
    full = f"; there may be more streams than the {case.phase.timeline.table} of the table" if case.table_full() else ""
    return inferred(
        f"{text}; each request takes {wait:.2f} ms including its seek{full}{_stream(case)}",
        "read sequentially or in larger pieces"
        + ("" if case.one_disk() else ", or keep more requests in flight so that the drives work at once"),
        value,
        gain=gain.larger_pieces(case),
    )


def _stream(case: Case) -> str:
    """A clause with the sequential rate of the same disk, if another phase of the recording shows it; else empty."""
    rates = [(q.mib_per_s(one, case.direction) or 0.0, one.phase) for one in case.siblings if _ordered(case, one)]
    here = q.mib_per_s(case.phase, case.direction)
    best = max(rates, default=(0.0, ""))
    if not here or here >= best[0]:
        return ""
    return (
        f". Sequential reads of this disk reached {best[0]:.0f} MiB/s (phase {best[1]}): the seeks cost "
        f"{1 - here / best[0]:.0%} of the time"
    )


def _ordered(case: Case, other: Observation) -> bool:
    order = in_order(Reading(case.reading.letter, other, case.reading.above))
    issued = q.positioned(other)
    return (
        order is not None
        and order >= k.NEARLY_ALL
        and q.direction(other) == case.direction
        and (q.seeks(other) or 0) <= k.FEW * issued
    )


def _not_ahead(case: Case, order: float, by_readahead: float) -> str | None:
    """The reason why readahead does not determine the depth; None: it may."""
    if case.direct():
        past = q.class_share(case.phase, "direct") or 0.0
        return f"{q.percent(past)} of the bytes bypassed the page cache, where nothing reads ahead"
    if order < k.HALF:
        return f"only {q.percent(order)} of the bios continue a stream that could be read ahead"
    if not case.reads_ahead():
        return f"only {q.percent(by_readahead)} of the bytes were read ahead"
    return "requests are much smaller than a readahead window" if unread(case) is not None else None


def unread(case: Case) -> tuple[float, int] | None:
    """KiB of a request and of the readahead setting, if sequential reads are far smaller than readahead makes them;
    else None.

    Requests are compared, not bios: md splits a window into bios that are sequential on a member and are merged there.
    """
    window, largest = case.reading.readahead_sectors(), case.reading.largest_sectors()
    each = q.size_mean(case.phase, "read")
    if case.direction != "read" or not window or not largest or not each:
        return None
    alone = (in_order(case.reading) or 0.0) >= k.HALF and not case.direct()
    return (each / 2, int(window / 2)) if alone and k.SEVERAL * each <= min(window, largest) else None


@rule("no readahead", "No readahead", DISK)
def advice(case: Case) -> Limit:
    """A program that has switched readahead off for its reads. Then a larger setting has no effect."""
    if case.by_kernel() > k.HALF:
        return ruled_out(f"kernel threads queue the {case.direction}s, one layer above the disk")
    small = unread(case)
    if small is None:
        why = "bypass the page cache" if case.direct() else "are as large as with readahead, or are random"
        return ruled_out(f"the {case.direction}s {why}")
    if "readahead_sectors" in case.phase.changed:
        return open_question("the readahead changed during the phase")
    text = (
        f"sequential reads arrive as requests of {units.significant(small[0])} KiB, much smaller than the readahead of "
        f"{small[1]} KiB, as after POSIX_FADV_RANDOM or MADV_RANDOM"
    )
    if (above := case.reading.above) is not None:
        chunk = (above.setting("md_chunk_bytes") or 0) / 1024
        if chunk and small[0] >= (1 - q.AGREEMENT) * chunk:
            return ruled_out(f"{above.disk.name} divides a readahead window into chunks of {chunk:g} KiB")
        return open_question(f"{text}, or because {above.disk.name} divides them")
    made = windows_share(case.reading)
    if case.phase.settings.get("fstype") and (made is None or made >= k.HALF):
        return open_question(f"{text}, or the files are that small")
    if made is not None and made < k.HALF:
        text = f"{text}: the kernel made readahead windows for {q.percent(made)} of the bytes"
    remedy = (
        "remove POSIX_FADV_RANDOM (of a mapping: MADV_RANDOM) from the program, or read in larger pieces. More readahead helps "
        "only calls of readahead() and POSIX_FADV_WILLNEED, which read at most the readahead, or max_sectors_kb "
        "if that is larger"
    )
    return inferred(text, remedy)


@rule("readahead", "Readahead", DISK)
def readahead(case: Case) -> Limit:
    """The depth that readahead allows, on a disk that would accept more."""
    depth, windows = case.depth(), case.windows()
    order, by_readahead = in_order(case.reading), ahead(case.reading)
    if None in (depth, windows, order, by_readahead) or depth is None or windows is None or case.direction != "read":
        return unknown(
            "readahead does not apply to writes"
            if case.direction != "read"
            else "depth, order or what was read ahead was not counted"
        )
    value = case.value("depth-mean", depth, "reqs.", "depth-time")
    if (reason := _not_ahead(case, order or 0.0, by_readahead or 0.0)) is not None:
        return ruled_out(reason, value)
    streams = case.streams()
    low, high = windows * (1 - q.AGREEMENT), k.TWICE * (1 + k.FEW) * windows * streams
    each = f" for each of up to {streams} streams" if streams > 1 else ""
    unit = "request" if windows == 1 else "requests"
    text = f"{depth:.2f} requests in flight while busy; a readahead window is {windows:g} {unit}{each}"
    allowed = slots(case)
    if allowed and allowed[0] < windows and case.all_in_use(allowed):
        return ruled_out(f"{text}: the queue takes at most {allowed[0]}", value)
    if (case.phase.count("read", "completed") or 0) < k.NUMBER:
        return open_question(f"{text}; too few requests to infer a cause", value)
    if depth > 2 * high or depth < low:
        return ruled_out(f"{text}: another number than readahead causes", value)
    if windows * streams >= k.FULL or ceiling_near(case) or flat(case):
        return ruled_out(f"{text}, as many as the disk can use", value)
    if taking_turns(case) or windows >= k.WIDE:
        return open_question(f"{text}; only an experiment can show whether more readahead is faster", value)
    more, set_to = _more(streams), case.reading.readahead_sectors() or 0
    if set_to >= more:
        return open_question(
            f"{text}; the setting is {set_to} sectors, and only an experiment can show whether more is faster", value
        )
    if case.deeper_does_not_help():
        return open_question(f"{text}; but {NO_DEEPER}", value)
    doubled = " (twice the setting, as with POSIX_FADV_SEQUENTIAL)" if depth > high else ""
    return inferred(
        f"{text}, and the kernel keeps one or two windows in flight{doubled}",
        f"blockdev --setra {more} /dev/{(case.reading.above or case.phase).disk.name}",
        value,
        gain=gain.twice_the_readahead(case),
    )


def _more(streams: int) -> int:
    """Sectors of readahead to try next: many for one stream, fewer for several, which share the memory."""
    return 16384 if streams == 1 else 4096
