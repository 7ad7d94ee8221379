# SPDX-License-Identifier: GPL-2.0-or-later
"""The text of breakdowns (recording/breakdown.py): a block for each, or one table if there are many."""

import math
from collections.abc import Iterator, Mapping, Sequence

from raidtrace.quantity import terminal, units
from raidtrace.quantity.shown import visible
from raidtrace.quantity.units import SECTOR_BYTES
from raidtrace.recording.breakdown import (  # fmt: skip
    ASLEEP,
    COMPUTING,
    MIN_FACTOR,
    MIN_SHARE,
    OTHER_DISK,
    RUNNABLE,
    Breakdown,
    Gain,
    Interval,
    Larger,
    Level,
    More,
    Order,
    Row,
    User,
    Way,
    differ,
    usual,
)
from raidtrace.recording.looks import Looks
from raidtrace.recording.quantities import is_layer
from raidtrace.recording.spans import DATA

BLOCKS = 3  # with more phases and disks than these, each direction has a row instead
BAR, SHORT_BAR = 20, 8  # characters for the whole time
WIDE, NARROW = 72, 60  # columns for the long bar, and for a bar
INDENT, SHORT_INDENT = 18, 16  # columns of a label; on a narrow terminal
NAMES = {"read": ("a read", "reads"), "write": ("a write", "writes"), "discard": ("a discard", "discards"),
         "write_zeroes": ("a zeroing", "zeroings"), "flush": ("a flush", "flushes"), "other": ("another", "others"),
         "passthrough": ("passthrough", "passthroughs")}  # fmt: skip
PARTS = {COMPUTING: "computes", RUNNABLE: "waits for a processor", OTHER_DISK: "waits for another disk",
         ASLEEP: "sleeps or is throttled"}  # fmt: skip
FOUND = {"running": "it runs", "kernel": "in the kernel", "stopped": "stopped", "lock": "waits for a lock",
         "socket": "waits at a socket", "sleep": "sleeps", "requests": "waits for its requests", "poll": "polls",
         "other": "waits otherwise", "pipe": "waits at a pipe", "child": "waits for a child"}  # fmt: skip
TO_MEASURE = "raidctl why"
NOT_OBSERVED = "not observed"
IN_ORDER = "in order"
SHOWN = 0.0005  # a smaller share of the time is not shown
MARKS = {"served": "#", "busy": "#", "backlog": "=", "held": "-", "empty": ".", "idle": "."}
REMARKS = {"backlog": "disk busy", "held": "disk idle", "empty": "nothing is asked of the disk",
           "idle": "nothing in flight"}  # fmt: skip
LEGEND = "Time of the disk: # served or busy, = backlog, - held, . empty or idle."
ALL = 0.995  # a share from here on is all
FAR = 1 << 40  # bytes: a row of distances from here on has no end
NAME = 20  # columns of a phase or a disk in the table


def text(some: Sequence[Breakdown], width: int, verbose: bool = False) -> list[str]:
    """The lines of all breakdowns, each of at most `width` columns. Empty: there is none. verbose: as rows()."""
    if len(some) > BLOCKS and not verbose:
        return _table(some, width)
    blocks = [_block(one, width, verbose) for one in some]
    return [line for at, lines in enumerate(blocks) for line in ([""] * bool(at) + lines)]


def _block(one: Breakdown, width: int, verbose: bool) -> list[str]:
    first, *more = terminal.wrapped(f"{name(one)}: {rates(one)}", width - 2).splitlines()
    lines = [first, *(f"  {line}" for line in more), *_bars(one, width)]
    for label, sentence in (*rows(one, verbose), *series(one, verbose)):
        indent = max(INDENT if width >= NARROW else SHORT_INDENT, len(label) + 3) if label else 2
        lines += terminal.wrapped(sentence, width, indent, f"  {label}").splitlines()
    return lines


def name(one: Breakdown) -> str:
    """The letter of the recording if there are two, disk, phase and length."""
    letter = f"{one.subject}: " if one.subject else ""
    return f"{letter}{visible(one.disk)}, {visible(one.phase)}, {units.ns(one.seconds * 1e9)}"


def rates(one: Breakdown) -> str:
    """The rate of each direction, and of all bytes."""
    moved = [way.mib_per_s for way in one.ways if way.mib_per_s]
    parts = [_rate(way, one.bio_based) for way in one.ways] + ([units.text("MiB/s", sum(moved))] if moved else [])
    return ", ".join(parts)


def _rate(way: Way, bios: bool) -> str:
    name = f"{way.direction} bios" if bios else NAMES[way.direction][1]
    size = f" of {units.octets(way.request_bytes)}" if way.request_bytes else ""
    return f"{number(way.per_s)} {name} a second{size}"


def number(value: float | None) -> str:
    """A rate, as text."""
    if value is None:
        return "n/a"
    return f"{value:,.0f}" if value >= 99.95 else units.significant(value)


def states(one: Breakdown) -> Iterator[tuple[str, str, float, str]]:
    """State, share as text, share and remark of each state that is not zero. The shares add up to 1. Nothing: not known."""
    waiting = f"{one.waiting_bios:.2f} bios wait" if one.waiting_bios is not None else ""
    for state, share in one.states.items():
        if share < SHOWN:
            continue
        remark = REMARKS.get(state, "")
        if state in ("backlog", "held") and waiting:
            remark, waiting = f"{waiting}, {remark}", ""  # of both states
        elif state in ("busy", "served"):
            remark = (
                f"{mean(one)} in flight at a time" if one.bios is None else f"{one.bios / share:.2f} bios at a time"
            )
        yield state, units.share(share, 1), share, remark


def marks(shares: Sequence[float], length: int) -> list[int]:
    """The number of marks of each share in a bar of a length. Each has at least one."""
    if not shares or not length:
        return [0] * len(shares)
    each = [max(round(share * length), 1) for share in shares]
    each[each.index(max(each))] += length - sum(each)
    return each


def drawn(shares: Mapping[str, float], length: int) -> str:
    """All states in one bar of a length, which a state of less than SHOWN has no part of. Empty: they are not known."""
    some = {state: share for state, share in shares.items() if share >= SHOWN}
    numbers = marks([*some.values()], max(length, len(some)))
    return "".join(MARKS[state] * number for state, number in zip(some, numbers, strict=True))


def bar(one: Breakdown, length: int) -> str:
    """All states in one bar."""
    return drawn(one.states, length)


def _bars(one: Breakdown, width: int) -> list[str]:
    """A line for each state. Their marks are one bar."""
    some = [*states(one)]
    label = (INDENT if width >= NARROW else SHORT_INDENT) - 2
    length = BAR if width >= WIDE else SHORT_BAR if width >= NARROW else 0
    lines, at = [], 0
    for (state, text, _, remark), number in zip(some, marks([row[2] for row in some], length), strict=True):
        part = f"{' ' * at + MARKS[state] * number:<{length}}  " if length else ""
        first = f"  {state:<{label}}{text:>7}  {part}"
        if len(first + remark) <= width:
            lines.append(f"{first}{remark}".rstrip())
        else:
            lines += [first.rstrip(), *terminal.wrapped(remark, width, label + 2).splitlines()]
        at += number
    return lines


def mean(one: Breakdown) -> str:
    """The mean number in flight while busy. ">": a lower bound."""
    return "n/a" if one.depth is None else f"{'>' if one.depth_is_bound else ''}{one.depth:.2f}"


def rows(one: Breakdown, verbose: bool = False) -> Iterator[tuple[str, str]]:
    """(label, sentence) of each line below the bars, the answers first. A line without a label is an answer. verbose: with
    each bound and each reason, also where it says nothing."""
    yield from (("", sentence) for sentence in answers(one, verbose))
    if one.busy_share is None:
        yield "in flight", f"not available: {one.missing['busy_share']}"
    if one.bios is not None and one.busy_share is None:
        yield "bios", f"{one.bios:.2f} at a time, mean of the whole time (idle time included)"
    for way in one.ways:
        yield f"{NAMES[way.direction][0]} takes", takes(one, way)
    if one.users:
        shown = [user for user in one.users if user.share >= MIN_SHARE]
        yield "disk used by", ", ".join(map(_user, shown))
    waiting, part = (one.held_share or 0) + (one.backlog_share or 0), one.in_scheduler
    if part is not None and waiting >= MIN_SHARE and (verbose or part.low >= SHOWN or part.high < ALL):
        yield "bios wait", f"{_share(part)} in the scheduler" + (
            ", else in the plug or without a request" if part.low < ALL else "")  # fmt: skip
    away = sum((one.states.get("empty", 0), one.states.get("idle", 0))) >= MIN_SHARE
    if one.empty and away:
        yield "empty" if "empty" in one.states else "idle", _empty(one, verbose)
    if one.looks and (away or verbose):
        yield "command", looked(one.looks)


def looked(some: Looks) -> str:
    """The results of most looks at the command."""
    found = "".join(f", {FOUND.get(name) or visible(name)} in {nr}" for name, nr in some.most().items())
    places = [visible(name) for name, nr in some.functions.items() if nr >= MIN_SHARE * some.number]
    return f"of {some.number} looks{found}" + (f" (kernel: {', '.join(places[:3])})" if places else "")


def _empty(one: Breakdown, verbose: bool) -> str:
    """The parts of the time in which nothing is asked of the disk. Bounds of zero and the whole of it are left out, except
    in the long text."""
    whole = one.states.get("empty", one.states.get("idle", 0))
    bounded: list[str] = []
    others: list[str] = []
    for name, part in one.empty.items():
        if part.high >= SHOWN:
            known = verbose or part.low >= SHOWN or part.high < whole - SHOWN
            share = _share(part) if part.low >= SHOWN else f"at most {units.share(part.high, 1)}"
            (bounded if known else others).append(f"{PARTS[name]} {share}" if known else PARTS[name])
    texts = [f"{', '.join(bounded)} of all time"] if bounded else []
    texts += [f"{'else ' if bounded else ''}{', '.join(others)}"] if others else []
    return f"the command {', '.join(texts)}{'' if bounded else ': not known'}"


def series(one: Breakdown, verbose: bool = False) -> Iterator[tuple[str, str]]:
    """(label, sentence) of the rates by depth and the times by size and distance. verbose: all of them, with intervals;
    otherwise only the usual depths, and times that differ."""
    ways = answered(one)
    for way in ways:
        of = f"{NAMES[way.direction][1]} " if len(ways) > 1 else ""
        depths = way.levels if verbose else usual(way.levels)
        if len(depths) > 1:
            yield f"{of or 'rate '}at depth", levels(depths)
        if way.sizes if verbose else differ(way.sizes):
            yield f"{of or 'time '}by size", "; ".join(f"{size(row)}: {_time(row, verbose)}" for row in way.sizes)
        if way.distances if verbose else differ(way.distances):
            yield f"{of or 'time '}by place", _places(way.distances, verbose)


def _time(row: Row, verbose: bool) -> str:
    """The mean time of a row. verbose: with its interval."""
    ends = f" ({units.ns(row.d2c_ns.low)} to {units.ns(row.d2c_ns.high)})" if verbose else ""
    return f"{units.ns(row.mean_ns)}{ends}"


def _places(some: Sequence[Row], verbose: bool) -> str:
    """The time of each distance, in order, ahead and back."""
    groups: dict[str, list[str]] = {}
    for row in some:
        side, distance = place(row)
        groups.setdefault(side, []).append(f"{distance}: {_time(row, verbose)}".lstrip())
    return "; ".join(f"{side}{'' if side == IN_ORDER else ' '}{', '.join(times)}" for side, times in groups.items())


def _user(user: User) -> str:
    name = "not known whose" if user.comm is None else visible(user.comm)
    several = f" ({user.processes} processes)" if user.processes > 1 else ""
    return f"{name}{several}" + (f" {units.share(user.share, 1)}" if user.share < ALL else "")


def answered(one: Breakdown) -> Sequence[Way]:
    """The directions of which the gain of a change is told."""
    return () if one.bio_based else [way for way in one.ways if way.levels] or one.ways[:1]


def size(row: Row) -> str:
    """The mean size of a row, as text."""
    return units.octets(row.bytes) if row.bytes else f"below {units.octets(row.high or 0)}"


def place(row: Row) -> tuple[str, str]:
    """The side and the distance of a row, as text. In order, there is no distance."""
    if row.low == 0:
        return IN_ORDER, ""
    near, far = (row.low, row.high) if row.low > 0 else (SECTOR_BYTES - (row.high or 0), SECTOR_BYTES - row.low)
    side = "ahead" if row.low > 0 else "back"
    return side, f"from {units.octets(near)}" if far is None or far > FAR else f"below {units.octets(far)}"


def answers(one: Breakdown, verbose: bool = False) -> Iterator[str]:
    """The bounds of each gain, and the changes whose gain is not known. verbose: with the reason, and with bounds that do
    not decide."""
    away = {state: one.without(state) or 1 for state in ("idle", "empty", "held")}
    for state, most in away.items():
        if most >= MIN_FACTOR and not math.isinf(most):
            yield f"Without the time {state}: at most {units.significant(most)} times as fast"
    ways, unknown, measurable = answered(one), dict[tuple[str, str], list[str]](), False
    for way in ways:
        of = NAMES[way.direction][1] if len(ways) > 1 else ""
        if way.more.verdict is More.HELPS and way.more.end:
            beyond = f"more than {way.more.end.high or way.more.end.low} in flight"
            unknown.setdefault((beyond, NOT_OBSERVED if verbose else ""), []).append(NAMES[way.direction][1])
            measurable = True
        found: tuple[tuple[str, Gain | Larger | Order, str], ...] = (
            ("more in flight", way.more, answer(way.more, of, verbose)),
            ("larger requests", way.larger, _larger(way.larger, of, verbose)),
            ("order", way.order, _order(way.order, of)),
        )
        for name, part, sentence in found:
            undecided = part.verdict is More.NOT_KNOWN
            if sentence and (verbose or not undecided):
                yield sentence
            elif part.reason and (way.order.share or 0) < (ALL if part is way.order else math.inf):
                if verbose or way.direction in DATA:
                    reason = part.reason if verbose or not undecided else ""
                    unknown.setdefault((name, reason), []).append(NAMES[way.direction][1])
                    measurable |= undecided
    names: dict[str, list[str]] = {}
    for (name, reason), of_all in unknown.items():
        of = f" of {' and '.join(of_all)}" if len(of_all) < len(ways) else ""
        names.setdefault(reason, []).append(f"{name}{of}")
    if names:
        parts = [f"{', '.join(some)}{f' ({reason})' if reason else ''}" for reason, some in names.items()]
        yield f"Not known: {'; '.join(parts)}" + (f". To measure: {TO_MEASURE}" if measurable else "")


def takes(one: Breakdown, way: Way) -> str:
    """The time of a bio, how much of it its request is issued, and how many requests are in order."""
    share = way.order.share
    return _takes(one, way) + (f"; {_share(Interval(share, share))} in order" if share is not None else "")


def where(one: Breakdown) -> str:
    """The place of an issued request."""
    return f"in {visible(one.disk)} and below it" if is_layer(one.disk) else "at the disk"


def _takes(one: Breakdown, way: Way) -> str:
    """The time of a bio, and how much of it its request is issued: at the disk, or in the driver of a layer and below."""
    place = where(one)
    if way.q2c_mean_ns is None:
        issued = f"; {units.ns(way.d2c_mean_ns)} {place}" if way.d2c_mean_ns is not None else ""
        return f"not available: {way.missing['q2c_mean_ns']}{issued}"
    time = units.ns(way.q2c_mean_ns)
    if way.at_disk is not None:
        return f"{time}, {_share(way.at_disk)} of it {place}"
    if one.bio_based:
        return time
    issued = f"a request is {units.ns(way.d2c_mean_ns)} {place}" if way.d2c_mean_ns is not None else (
        f"the time {place} is not available: {way.missing['at_disk_share']}")  # fmt: skip
    return f"{time}; {issued}"


def _share(part: Interval) -> str:
    if part.low >= ALL:
        return "all"
    low, high = (units.share(end, 1) for end in (part.low, part.high))
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


def _percent(part: Interval) -> str:
    """The share in whole per cent."""
    low, high = (f"{100 * end:.0f}" for end in (part.low, part.high))
    return "all" if part.low >= ALL else f"{low} %" if low == high else f"{low}-{high} %"


def span(part: Interval, digits: int = 0) -> str:
    """Two bounds, or one number if both look alike. Without an upper bound: "or more"."""
    if math.isinf(part.high):
        return f"{number(part.low)} or more"
    low, high = (f"{end:.{digits}f}" if digits and end < 10 else number(end) for end in (part.low, part.high))
    return low if low == high else f"{low} to {high}"


def levels(some: Sequence[Level]) -> str:
    """The rate at each depth."""
    return "; ".join(f"{at(one)}: {span(one.per_s)}" for one in some) + " a second"


def at(one: Level) -> str:
    """The numbers in flight of a level."""
    if one.high is None:
        return f"{one.low} and more"
    return f"{one.low}" if one.low == one.high else f"{one.low} to {one.high}"


def answer(more: Gain, of: str = "", verbose: bool = False) -> str:
    """The sentence about more in flight. Empty: no gain is known. of: the direction, if there are several."""
    if more.gain is None or more.start is None or more.end is None:
        return ""
    linear = f" (linear: {more.linear:.3g})" if verbose and more.linear else ""
    rate = f"{at(more.end)} give {span(more.gain, 2)} times the rate of {at(more.start)}{linear}"
    return _judged("More in flight", "helps", more.verdict, of, rate)


def _larger(larger: Larger, of: str, verbose: bool) -> str:
    """The sentence about larger requests. Empty: no gain is known."""
    if larger.gain is None or larger.start is None or larger.end is None or math.isinf(larger.gain.high):
        return ""
    rate = (f"{units.octets(larger.end)} {'would move' if larger.fitted else 'move'} {span(larger.gain, 2)} times the bytes of "
            f"{units.octets(larger.start)}")  # fmt: skip
    linear = f" (linear: {larger.linear:.3g})" if verbose else ""
    return _judged("Larger requests", "help", larger.verdict, of, f"{rate}{linear}")


def _order(order: Order, of: str) -> str:
    """The sentence about order. Empty: no gain is known, or all requests are in order."""
    if order.gain is None or order.share is None or order.share >= ALL or math.isinf(order.gain.high):
        return ""
    return _judged(
        "Order", "helps", order.verdict, of, f"all in order, the rate is {span(order.gain, 2)} times that now"
    )


def _judged(change: str, helps: str, verdict: More, of: str, rate: str) -> str:
    """The sentence about a change. rate: its gain, as text."""
    if verdict is More.NOT_KNOWN:
        return f"{change}{', ' if of else ''}{of}: not known, {rate}: {TO_MEASURE}"
    does = helps if verdict is More.HELPS else "does not help" if helps == "helps" else "do not help"
    return f"{change} {does}{' ' if of else ''}{of}: {rate}"


def _short(more: Gain) -> str:
    if more.verdict is More.HELPS and more.gain:
        return f"x{span(more.gain, 1)}"
    return {More.NO_HELP: "no gain", More.NOT_KNOWN: "not known"}.get(more.verdict, "n/a")


HEADS = ("WHERE TIME WENT", "", "IN FLIGHT", "", "AT A TIME", "TAKES", "D2C", "MORE GIVES")
SPARE = ((), (6,), (3, 6), (3, 5, 6), (1, 3, 4, 5, 6))  # columns that a narrow terminal leaves out


def _table(some: Sequence[Breakdown], width: int) -> list[str]:
    """A row for each direction of each phase and disk. The shares of a phase and disk are in its first row."""
    table = [HEADS, *(row for one in some for row in _cells(one))]
    lines: list[str] = []
    for out in SPARE:
        used = [at for at in range(len(HEADS)) if at not in out]
        left = [at for at, column in enumerate(used) if column in (0, 1, 3, 7)]
        lines = terminal.table([[row[at] for at in used] for row in table], left, width)
        if max(map(len, lines)) <= width:
            break
    return lines


def _cells(one: Breakdown) -> Iterator[tuple[str, ...]]:
    busy = one.busy_share
    state = ("n/a", "", "n/a") if busy is None else (units.share(busy, 1), bar(one, SHORT_BAR), mean(one))
    letter = f"{one.subject}: " if one.subject else ""
    where = f"{letter}{visible(one.phase)[:NAME]} {visible(one.disk)[:NAME]}"
    for number, way in enumerate(one.ways):
        at_disk = "n/a" if way.at_disk is None else _percent(way.at_disk)
        yield ("" if number else where, way.direction, *(("",) * 3 if number else state),
               units.text("ns", way.q2c_mean_ns), at_disk, _short(way.more))  # fmt: skip
