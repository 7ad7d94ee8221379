# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the time of a phase of a disk went, before any cause is named: states that add up to the whole time, the time
of a bio and how much of it is at the disk, and what more requests in flight would give.

All views (report, explain, JSON, page) print the result of of(). It needs only the sums of a span. A figure whose counters
are missing is None, with its reason in `missing`; the other figures stay. Documentation/counters.rst defines the figures.
"""

import collections
import dataclasses
import enum
import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

from raidtrace.quantity import bins
from raidtrace.quantity.bins import D2C_COLUMNS, DEPTH_OPEN
from raidtrace.quantity.shown import Json
from raidtrace.quantity.units import SECTOR_BYTES, ratio
from raidtrace.recording.figures import Figures
from raidtrace.recording.looks import Looks, looks
from raidtrace.recording.spans import COUNTED, DATA, OUTSIDE, Bins, Recorded, Span

MIN_SHARE = 0.05  # of the requests: fewer may be of another kind than the rest (metadata, another program)
MIN_REQUESTS = 20  # of a mean: with fewer, its normal interval is too narrow
MIN_FACTOR = 1.15  # quotient of two rates or times: a smaller difference needs no cause
SIGMAS = 1.96  # of the normal distribution: 95 %
FOUND = 0.5  # of the service of the request that a new one finds at the disk: the rest of it, at a random time
NOT_COUNTED = "the recording lacks {}"
ONLY_BIOS = "a disk that receives only bios has no requests; the disks below it have them"
NO_BIO, NO_END = "no bio of it completed", "no request of it completed"
ONE_DEPTH, RARE = "only one depth observed", "few requests found more"
ONE_SIZE, LARGEST, WIDE = "only one size observed", "nothing larger observed", "the interval is too wide"
COMMAND_CPU = ("command", "cpu")  # of the host: processor time of the command
BY_ROW = "sums by size and distance"
NO_ORDER = "few requests in order observed"


@dataclasses.dataclass(frozen=True)
class Interval:
    """Two bounds of a value, both included. high inf: there is no upper bound."""

    low: float
    high: float

    def __truediv__(self, other: "Interval") -> "Interval":
        """The quotient of two values above 0."""
        return Interval(self.low / other.high, self.high / other.low if other.low > 0 else math.inf)


class More(enum.StrEnum):
    """Whether a change gives a higher rate."""

    HELPS = "helps"
    NO_HELP = "does not help"
    NOT_KNOWN = "not known"
    NOT_AVAILABLE = "not available"


@dataclasses.dataclass(frozen=True)
class Level:
    """The requests of a direction that brought the number in flight to low to high: a row of depth-d2c, cut to the depths
    of depth-issue. mean: bounds of their mean depth. d2c_ns: bounds of their mean d2c. per_s: mean divided by d2c_ns, the
    rate at this depth (Little's law)."""

    low: int
    high: int | None
    requests: int
    mean: Interval
    d2c_ns: Interval
    per_s: Interval


@dataclasses.dataclass(frozen=True)
class Gain:
    """The gain of more in flight. gain: bounds of the rate at `end` divided by that at `start`; None: there are no two
    depths. linear: the same quotient if requests did not delay each other; None: its depth has no upper bound. reason: why
    it is not known or not available."""

    verdict: More
    start: Level | None = None
    end: Level | None = None
    gain: Interval | None = None
    linear: float | None = None
    reason: str = ""


@dataclasses.dataclass(frozen=True)
class Row:
    """The requests of a direction of some sizes (a row of size-d2c) or distances (a row of seek-d2c; backward below 0).

    low, high: bytes; high is not included, None: there is no end. bytes: mean size, of a row of sizes. mean_ns: their mean
    d2c; d2c_ns: its 95 % interval. alone_ns: bounds of the mean time that the requests of the common kind in this row take
    from a disk that does nothing else; None: not known."""

    low: int
    high: int | None
    requests: int
    bytes: float | None
    mean_ns: float
    d2c_ns: Interval
    alone_ns: Interval | None


@dataclasses.dataclass(frozen=True)
class Larger:
    """The gain of larger requests. gain: bounds of the bytes per second with requests of `end` bytes divided by those with
    `start` bytes, one at a time. linear: the same quotient if both took as long. fitted: `end` was not observed; fixed_ns
    and per_mib_ns are bounds of the time that a request takes without its bytes, and for each MiB."""

    verdict: More
    start: float | None = None
    end: float | None = None
    gain: Interval | None = None
    linear: float | None = None
    fixed_ns: Interval | None = None
    per_mib_ns: Interval | None = None
    fitted: bool = False
    reason: str = ""


@dataclasses.dataclass(frozen=True)
class Order:
    """The gain of order. share: of the requests that begin where the previous one ended. gain: bounds of the rate if all
    did, divided by the rate now, one at a time."""

    verdict: More
    share: float | None = None
    gain: Interval | None = None
    reason: str = ""


@dataclasses.dataclass(frozen=True)
class Way:
    """One direction. per_s: requests completed per second; bios queued, of a disk without requests. request_bytes: their
    mean size. request_share: of all requests. q2c_mean_ns: of a piece of a bio. d2c_mean_ns: of a request. at_disk: bounds of
    the share of q2c that is d2c. sizes, distances: rows with at least MIN_REQUESTS requests. missing: figure -> why it is
    not available."""

    direction: str
    per_s: float | None
    mib_per_s: float | None
    request_bytes: float | None
    request_share: float
    q2c_mean_ns: float | None
    d2c_mean_ns: float | None
    at_disk: Interval | None
    levels: tuple[Level, ...]
    more: Gain
    sizes: tuple[Row, ...]
    larger: Larger
    distances: tuple[Row, ...]
    order: Order
    missing: Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class User:
    """The processes of one name. comm None: flushes, passthrough, and processes that the counters do not tell apart. share:
    of the sum of all d2c, the time of the driver's slots."""

    comm: str | None
    processes: int
    share: float


@dataclasses.dataclass(frozen=True)
class Around:
    """The machine during a phase. host: (source, name) -> growth. available: sources of host, of which a missing counter is
    zero. others: the spans of disks that are neither above nor below."""

    host: Mapping[tuple[str, str], int]
    available: Container[str]
    others: Sequence[Span]


COMPUTING, RUNNABLE, OTHER_DISK, ASLEEP = "computing", "runnable", "other_disk", "asleep"
EMPTY = (COMPUTING, RUNNABLE, OTHER_DISK, ASLEEP)  # parts of the time in which nothing is asked of a disk


@dataclasses.dataclass(frozen=True)
class Breakdown:
    """One phase of one disk. subject: letter of the recording, if there are two. seconds: the time that the shares are of.
    busy_share: with a request in flight (a bio, of a disk without requests); the rest is idle. held_share: with bios
    waiting and no request in flight, a part of idle; backlog_share: with bios waiting and requests in flight, a part of
    busy; waiting: mean number of bios that wait, of the whole time; these three are None where the recording lacks them
    (before ABI 6), and of a disk without requests. depth: mean number in flight while busy; depth_is_bound: it is a lower
    bound. bios: mean number of bios between queue and end, only of a disk without requests. missing: figure -> why it is
    not available. users: the largest first; empty: not counted. in_scheduler: bounds of the share of the time that bios wait
    in which they are in the scheduler; before, they have no request, or are in the plug. empty: bounds of the parts of the
    time with nothing in flight and no bio waiting, each as a share of the whole time; empty: not known. looks: what looks at
    the command found, at any time, not only while nothing is asked of the disk; None: there were none."""

    disk: str
    phase: str
    seconds: float
    bio_based: bool
    busy_share: float | None
    held_share: float | None
    backlog_share: float | None
    waiting: float | None
    depth: float | None
    depth_is_bound: bool
    bios: float | None
    ways: tuple[Way, ...]
    missing: Mapping[str, str]
    subject: str = ""
    users: tuple[User, ...] = ()
    in_scheduler: Interval | None = None
    empty: Mapping[str, Interval] = dataclasses.field(default_factory=dict)
    looks: Looks | None = None

    @property
    def idle_share(self) -> float | None:
        return None if self.busy_share is None else 1 - self.busy_share

    @property
    def states(self) -> dict[str, float]:
        """State -> share of the time. Exactly one of them holds at any time, so they add up to 1. A disk without requests,
        and a recording before ABI 6, has two of them. Empty: not known."""
        return states(self.busy_share, self.held_share, self.backlog_share, self.bio_based)

    def without(self, state: str) -> float | None:
        """How many times as fast the phase is at most without a state. None: not known."""
        share = self.states.get(state)
        return None if share is None else without(share)

    @property
    def waits_share(self) -> float:
        """Share of the time with bios that wait before the disk, in the backlog or held; 0, too, if they are not counted."""
        return sum(self.states.get(state, 0.0) for state in ("backlog", "held"))

    @property
    def waiting_bios(self) -> float | None:
        """Mean number of bios that wait, of the time with any. None: not known, or none waits."""
        return ratio(self.waiting, (self.held_share or 0) + (self.backlog_share or 0))


def without(share: float) -> float:
    """How many times as fast the work is at most without this share of its time, from 0 to 1; infinite if that is all."""
    return 1 / (1 - share) if share < 1 else math.inf


def states(busy: float | None, held: float | None, backlog: float | None, bio_based: bool = False) -> dict[str, float]:
    """Breakdown.states of these shares."""
    if busy is None:
        return {}
    if bio_based:
        return {"busy": busy, "empty": 1 - busy}
    if held is None or backlog is None:
        return {"busy": busy, "idle": 1 - busy}
    served, empty = max(0.0, busy - backlog), max(0.0, 1 - busy - held)  # of rounded quotients
    return {"served": served, "backlog": backlog, "held": held, "empty": empty}


def busy_share(span: Span) -> float | None:
    """Share of the time with a request in flight; with bios, of a disk without requests. None: not known."""
    if span.bio_based and (with_bios := ratio(span.plain.get("held_ns"), span.length())) is not None:
        return with_bios
    times = span.histogram("all", "depth_time")
    counted = sum(times.values())
    return ratio(counted - times.get(0, 0), counted)


def states_of(span: Span) -> dict[str, float]:
    """The states of the time of a span, also of one without a request, as Breakdown.states."""
    seconds = sum(span.histogram("all", "depth_time").values()) / 1e9
    held, backlog = (_waits(span, name, seconds) for name in ("held_ns", "backlog_ns"))
    return states(busy_share(span), held, backlog, span.bio_based)


def of(span: Span, seconds: float | None = None, around: Around | None = None) -> Breakdown | None:
    """The breakdown of a span. seconds: the length of its phases, if not that of the span. None: it has no request."""
    numbers = {direction: _number(span, direction) for direction in COUNTED}
    whole = sum(numbers.values())
    if not whole:
        return None
    times = span.histogram("all", "depth_time")
    counted, idle = sum(times.values()), times.get(0, 0)
    busy, missing = counted - idle, {}
    if not counted:
        missing = dict.fromkeys(("busy_share", "idle_share", "busy_depth"), _lacks(span, "depth-time"))
    length = counted / 1e9 or (span.length() / 1e9 if seconds is None else seconds)
    if span.bio_based and span.plain.get("held_ns") is not None:
        missing = {"busy_depth": ONLY_BIOS}
    figures = Figures(span, "all")
    mean = figures.depth()
    ways = [_way(span, direction, number / whole, length) for direction, number in numbers.items()
            if number >= MIN_SHARE * whole]  # fmt: skip
    one = Breakdown(
        span.disk, span.phase, length, span.bio_based, busy_share(span),
        _waits(span, "held_ns", length), _waits(span, "backlog_ns", length), _waits(span, "waiting_sum_ns", length),
        mean * counted / busy if mean is not None and busy else None, figures.depth_is_bound(),
        _bios(span, length) if span.bio_based else None, tuple(ways), missing, users=_users(span),
        in_scheduler=_in_scheduler(span),
    )  # fmt: skip
    return one if around is None else dataclasses.replace(one, empty=_empty(one, around), looks=looks(around.host))


def around(recorded: Recorded, span: Span) -> Around:
    """The machine during a span."""
    stack = {pair for target, parent in recorded.stack for pair in ((target, parent), (parent, target))}
    others = [other for other in recorded.spans if other.number == span.number and other.target != span.target
              and (span.target, other.target) not in stack]  # fmt: skip
    return Around(recorded.host.get(span.number, {}), recorded.fact("host_available").split(), others)


def of_recording(recorded: Recorded) -> list[Breakdown]:
    """The breakdown of each span with requests, in order of time, without the time outside of all phases."""
    found = (of(span, around=around(recorded, span)) for span in recorded.spans if span.phase != OUTSIDE)
    return [one for one in found if one is not None]


def document(one: Breakdown) -> dict[str, Json]:
    """The JSON object of a breakdown. A bound that does not exist is null."""
    return {
        "counted_seconds": one.seconds,
        "busy_share": one.busy_share,
        "idle_share": one.idle_share,
        "served_share": one.states.get("served"),
        "held_share": one.held_share,
        "backlog_share": one.backlog_share,
        "empty_share": one.states.get("empty"),
        "waiting_mean": one.waiting,
        "busy_depth": one.depth,
        "busy_depth_is_lower_bound": one.depth_is_bound,
        "bios_mean": one.bios,
        "users": [{"comm": user.comm, "processes": user.processes, "slot_share": user.share} for user in one.users],
        **_bounds("in_scheduler_share", one.in_scheduler),
        **{name: value for part in EMPTY for name, value in _bounds(f"{part}_share", one.empty.get(part)).items()},
        "looks": {"all": one.looks.number, **one.looks.by} if one.looks else None,
        "kernel_functions": dict(one.looks.functions) if one.looks else None,
        "directions": {way.direction: _object(way) for way in one.ways},
        "not_available": dict(one.missing),
    }


def _object(way: Way) -> Json:
    return {
        "request_share": way.request_share,
        "per_s": way.per_s,
        "mib_per_s": way.mib_per_s,
        "request_bytes_mean": way.request_bytes,
        "q2c_mean_ns": way.q2c_mean_ns,
        "d2c_mean_ns": way.d2c_mean_ns,
        **_bounds("at_disk_share", way.at_disk),
        "depths": [{
            "low": level.low, "high": level.high, "requests": level.requests, **_bounds("depth", level.mean),
            **_bounds("d2c_mean_ns", level.d2c_ns), **_bounds("per_s", level.per_s),
        } for level in way.levels],
        "more_in_flight": {
            "verdict": str(way.more.verdict), "depth_from": way.more.start.low if way.more.start else None,
            "depth_to": way.more.end.low if way.more.end else None, **_bounds("gain", way.more.gain),
            "linear_gain": way.more.linear, "reason": way.more.reason or None,
        },
        "sizes": [_row(row) for row in way.sizes],
        "larger_requests": {
            "verdict": str(way.larger.verdict), "bytes_from": way.larger.start, "bytes_to": way.larger.end,
            **_bounds("gain", way.larger.gain), "linear_gain": way.larger.linear, "fitted": way.larger.fitted,
            **_bounds("fixed_ns", way.larger.fixed_ns), **_bounds("per_mib_ns", way.larger.per_mib_ns),
            "reason": way.larger.reason or None,
        },
        "distances": [_row(row) for row in way.distances],
        "in_order": {
            "verdict": str(way.order.verdict), "in_order_share": way.order.share, **_bounds("gain", way.order.gain),
            "reason": way.order.reason or None,
        },
        "not_available": dict(way.missing),
    }  # fmt: skip


def _row(row: Row) -> Json:
    return {"low": row.low, "high": row.high, "requests": row.requests, "bytes_mean": row.bytes, "d2c_mean_ns": row.mean_ns,
            **_bounds("d2c_mean_ns", row.d2c_ns), **_bounds("alone_ns", row.alone_ns)}  # fmt: skip


def _bounds(name: str, part: Interval | None) -> dict[str, Json]:
    ends = (part.low, part.high) if part else (math.inf, math.inf)
    return {f"{name}_{end}": None if math.isinf(value) else value for end, value in zip(("low", "high"), ends)}


def _number(span: Span, direction: str) -> int:
    """Number of requests; of bios, of a disk without requests."""
    figures = Figures(span, direction)
    return (figures.known("queued") if span.bio_based else figures.requests()) or 0


def _bios(span: Span, seconds: float) -> float | None:
    """Mean number of bios between queue and end (Little's law: the sum of their times by the time)."""
    if not span.counts_kind("q2c") or not seconds:
        return None
    return sum(span.count(direction, "q2c_sum_ns") for direction in COUNTED) / 1e9 / seconds


def _waits(span: Span, counter: str, seconds: float) -> float | None:
    """The sum of a time with bios waiting, divided by the time. None: not counted, or a disk without requests."""
    return None if span.bio_based else ratio(span.plain.get(counter), seconds * 1e9)


def _users(span: Span) -> tuple[User, ...]:
    """The processes by the time of their requests, those of one name together, and the workers of the kernel."""
    times, processes = collections.Counter[str | None](), collections.Counter[str | None]()
    for one in span.processes():
        name = "kworker" if (one.comm or "").startswith("kworker/") else one.comm
        times[name] += one.counts.get("d2c_sum_ns", 0)
        processes[name] += 1
    whole = sum(times.values())
    return tuple(User(name, processes[name], time / whole) for name, time in times.most_common() if time)


def _in_scheduler(span: Span) -> Interval | None:
    """Bounds of the share of the scheduler in the time that bios wait. A merged bio waits there at most as long as it waits
    at all. None: not known, or no bio waits."""
    moved = [direction for direction in COUNTED if direction not in ("flush", "passthrough")]
    merged, split = (sum(span.count(direction, name) for direction in moved for name in names)
                     for names in (("back_merges", "front_merges", "request_merges"), ("splits",)))  # fmt: skip
    share = ratio(sum(span.count(direction, "i2d_sum_ns") for direction in moved), span.plain.get("waiting_sum_ns"))
    if share is None or split or span.bio_based or "i2d_sum_ns" in span.unknown:
        return None
    low = min(share, 1.0)
    return Interval(low, 1.0 if merged else low)


def _empty(one: Breakdown, machine: Around) -> dict[str, Interval]:
    """Bounds of the parts of the time in which nothing is asked of the disk. Whatever the truth in them, the parts add up to
    it. Empty: the processor time of the command is not known.

    The counters do not tell at which times the command used a processor. It can compute while a request is in flight, and
    several threads can compute at once; it can wait for a processor only while all are busy. In simulated time no processor
    time is counted. In real time a command without any is shorter than the clock's ticks."""
    share = one.states.get("empty", one.idle_share)
    cpu = {
        name: value
        for (source, name), value in machine.host.items()
        if source == "cpu" and not name.startswith("guest")
    }
    if share is None or not one.seconds or not all(name in machine.available for name in ("cpu", "command-cpu")):
        return {}
    if sum(cpu.values()) and not machine.host.get(COMMAND_CPU):
        return {}
    length = one.seconds * 1e9
    processors = max(sum(cpu.values()) / length, 1.0)
    idle = (cpu.get("idle", 0) + cpu.get("iowait", 0)) / length / processors
    used = machine.host.get(COMMAND_CPU, 0) / length
    runnable = 1.0 - idle if cpu else 0.0
    others = 0.0
    for span in machine.others:
        times = span.histogram("all", "depth_time")
        others += 1.0 if not times else (sum(times.values()) - times.get(0, 0)) / length
    most = {COMPUTING: min(used, share), RUNNABLE: min(runnable, share), OTHER_DISK: min(others, share)}
    least = min(max(used / processors - (1 - share), 0.0), most[COMPUTING])
    parts = {name: Interval(least if name == COMPUTING else 0.0, high) for name, high in most.items()}
    return parts | {ASLEEP: Interval(max(share - sum(most.values()), 0.0), share - least)}


def _lacks(span: Span, name: str) -> str:
    return ONLY_BIOS if span.bio_based else NOT_COUNTED.format(name)


def _way(span: Span, direction: str, share: float, seconds: float) -> Way:
    figures = Figures(span, direction)
    done, moved = figures.known("queued" if span.bio_based else "completed"), figures.moved()
    q2c, d2c, missing = figures.mean_ns("q2c"), figures.d2c_mean(), {}
    if q2c is None:
        missing["q2c_mean_ns"] = NO_BIO if span.counts_kind("q2c") else NOT_COUNTED.format("q2c")
    if d2c is None:
        missing["d2c_mean_ns"] = NO_END if figures.known("d2c_sum_ns") is not None else _lacks(span, "d2c-sum-ns")
    at_disk = _at_disk(span, direction) if direction in DATA and not missing else None
    if at_disk is None:
        why = NOT_COUNTED.format("d2c") if direction in DATA else "only reads and writes have it"
        missing["at_disk_share"] = missing.get("d2c_mean_ns") or missing.get("q2c_mean_ns") or why
    levels = _levels(span, direction) if direction in DATA else ()
    sizes, distances = _sizes(span, figures), _distances(span, figures)
    return Way(direction, ratio(done, seconds), ratio(moved, seconds, 1 << 20), ratio(moved, done), share, q2c, d2c, at_disk,
               tuple(levels), _more(span, direction, levels), tuple(sizes), _larger(span, direction, sizes),
               tuple(distances), _order(span, figures, distances), missing)  # fmt: skip


# The time at the disk.

Part = tuple[float, float, int]  # a bin: lowest and highest value, and number of values


def _parts(histogram: Mapping[int, int], kind: str) -> list[Part]:
    """The bins of a histogram of d2c or depth-issue, the lowest first."""
    bounds = (bins.KINDS[kind].bounds(at) for at in sorted(histogram))
    return [(low, math.inf if high is None else high if kind == "d2c" else high - 1, histogram[at])
            for (low, high), at in zip(bounds, sorted(histogram), strict=True)]  # fmt: skip


def _ends(parts: Sequence[Part], number: int) -> Interval:
    """Bounds of the sum of any `number` of the values: of the smallest, and of the largest."""

    def taken(order: Iterable[Part], end: int) -> float:
        total, rest = 0.0, number
        for part in order:
            take = min(part[2], rest)
            total += part[end] * take if take else 0.0
            rest -= take
        return total

    return Interval(taken(parts, 0), taken(reversed(parts), 1))


def _at_disk(span: Span, direction: str) -> Interval | None:
    """Bounds of the share of q2c that is d2c, over the pieces of bios that completed.

    Each piece is at the disk for the d2c of the request that carries it, and each request carries a piece. If a request
    carries one, both sums are of the same requests. The others, from merges, are at the disk for at least the smallest
    and at most the largest d2c. A piece of an unknown bio (q2c-unknown) is in no sum of q2c."""
    figures = Figures(span, direction)
    whole, requests, pieces = (figures.count("q2c_sum_ns"), figures.count("completed"),
                               sum(figures.histogram("q2c").values()))  # fmt: skip
    parts = _parts(figures.histogram("d2c"), "d2c")
    if not whole or not parts or sum(part[2] for part in parts) != requests:
        return None
    carry = min(max(requests - (figures.known("q2c_unknown") or 0), 0), pieces)
    exact = float(figures.count("d2c_sum_ns"))
    sure = Interval(exact, exact) if carry == requests else _ends(parts, carry)
    low, high = sure.low + (pieces - carry) * parts[0][0], sure.high + (pieces - carry) * parts[-1][1]
    return Interval(min(low / whole, 1.0), min(high / whole, 1.0))


# The rate by depth.


def _levels(span: Span, direction: str) -> list[Level]:
    """The depths of a direction with at least MIN_REQUESTS requests, the lowest first."""
    figures = Figures(span, direction)
    cells: dict[int, dict[int, int]] = {}
    for at, count in figures.histogram("depth_d2c").items():
        if count:
            cells.setdefault(at // D2C_COLUMNS, {})[at % D2C_COLUMNS] = count
    octaves, sums = _octaves(figures, cells), _sums(figures, cells)
    issued = span.histogram("all", "depth_issue")
    fastest = min((part[0] for part in _parts(figures.histogram("d2c"), "d2c") if part[2]), default=0.0)
    levels = []
    for row, some in sorted(cells.items()):
        number, total = _count(some), sums[row]
        if number < MIN_REQUESTS or not total.high:
            continue  # requests without a time have no rate
        error = SIGMAS * math.sqrt(_variance(octaves, some) / number)
        slowest = max(total.high / number + error, 1.0)
        d2c = Interval(min(max(total.low / number - error, fastest, 1.0), slowest), slowest)
        low, high, mean = _depth(issued, row, number)
        per_s = mean / d2c
        levels.append(Level(low, high, number, mean, d2c, Interval(per_s.low * 1e9, per_s.high * 1e9)))
    return levels


def _sums(figures: Figures, cells: Mapping[int, Mapping[int, int]]) -> dict[int, Interval]:
    """The sum of d2c of each row. Before ABI 6: bounds from the octaves of its requests, and from the sum of all rows."""
    exact = figures.histogram("depth_d2c_ns")
    if exact:
        return {row: Interval(exact.get(row, 0), exact.get(row, 0)) for row in cells}
    whole, longest = float(figures.count("d2c_sum_ns")), _parts(figures.histogram("d2c"), "d2c")[-1:]
    sums = {}
    for row, some in cells.items():
        bounds = [(*bins.KINDS["depth_d2c"].bounds(column), number) for column, number in some.items()]
        high = sum(
            number * (longest[0][1] if end is None and longest else end or math.inf) for _, end, number in bounds
        )
        sums[row] = Interval(sum(number * low for low, _, number in bounds), high)
    if sum(map(_count, cells.values())) != figures.count("completed"):
        return sums
    lows, highs = (sum(end) for end in zip(*((one.low, one.high) for one in sums.values()))) if sums else (0.0, 0.0)
    return {row: Interval(max(one.low, whole - highs + one.high), min(one.high, whole - lows + one.low))
            for row, one in sums.items()}  # fmt: skip


def _count(cells: Mapping[int, int]) -> int:
    return sum(cells.values())


def _octaves(figures: Figures, cells: Mapping[int, Mapping[int, int]]) -> dict[int, list[Part]]:
    """The values of d2c in each column of depth-d2c: the bins of the histogram d2c, which are 16 times as narrow. A column
    whose numbers differ in both is one bin."""
    fine: dict[int, list[Part]] = {}
    for part in _parts(figures.histogram("d2c"), "d2c"):
        fine.setdefault(min(int(part[0]).bit_length(), D2C_COLUMNS - 1), []).append(part)
    octaves = {}
    for column in {column for some in cells.values() for column in some}:
        number = sum(some.get(column, 0) for some in cells.values())
        low, high = bins.KINDS["depth_d2c"].bounds(column)
        mine = fine.get(column, [])
        whole = sum(part[2] for part in mine) == number
        octaves[column] = mine if whole else [(low, math.inf if high is None else high, number)]
    return octaves


def _variance(octaves: Mapping[int, Sequence[Part]], cells: Mapping[int, int]) -> float:
    """The variance of d2c in a row, if its values in each octave are spread as those of all rows."""
    moments = [0.0, 0.0, 0.0]
    for column, number in cells.items():
        whole = sum(part[2] for part in octaves[column])
        for low, high, count in octaves[column]:
            middle = low if math.isinf(high) else (low + high) / 2
            for power in range(3):
                moments[power] += number * count / whole * middle**power
    mean = moments[1] / moments[0]
    return max(moments[2] / moments[0] - mean * mean, 0.0)


def _depth(issued: Mapping[int, int], row: int, number: int) -> tuple[int, int | None, Interval]:
    """Lowest and highest number in flight with a request of a row, and bounds of the mean. depth-issue counts all
    directions; any `number` of its requests in the row may be those of this direction."""
    first = bins.depth_row(row)
    last = None if first >= DEPTH_OPEN else 2 * first - 1 if row else 0
    some = {at: count for at, count in issued.items() if count and first <= at and (last is None or at <= last)}
    if not some:
        return (
            first + 1,
            None if last is None else last + 1,
            Interval(first + 1, math.inf if last is None else last + 1),
        )
    number = min(number, sum(some.values()))
    ends = _ends(_parts(some, "depth_issue"), number)
    high = None if last is None else max(some) + 1
    return min(some) + 1, high, Interval(ends.low / number + 1, ends.high / number + 1)


def _more(span: Span, direction: str, levels: Sequence[Level]) -> Gain:
    """The gain of more in flight: from the depth of most requests to a deeper one, or, without a deeper one, from a
    lower depth to it. The first pair whose interval decides is taken: the deepest first, then the nearest lower one. From
    the others to the usual depth, the rate may have risen long before it, so they can only show that it did not."""
    if not levels:
        return Gain(More.NOT_AVAILABLE, reason=_unknown(span, direction))
    usual = max(levels, key=lambda level: level.requests)
    enough = MIN_SHARE * sum(level.requests for level in levels)
    deeper = [level for level in levels if level.low > usual.low and level.requests >= enough]
    lower = [level for level in levels if level.low < usual.low]
    gains = [_gain(span, levels, usual, level) for level in reversed(deeper)]
    for at, level in enumerate(reversed(lower)):
        gain = _gain(span, levels, level, usual)
        gains += [gain] if at == 0 or gain.verdict is More.NO_HELP else []
    if not gains:
        return Gain(More.NOT_KNOWN, usual, usual, reason=ONE_DEPTH if len(levels) == 1 else RARE)
    return next((one for one in gains if one.verdict is not More.NOT_KNOWN), gains[0])


def _unknown(span: Span, direction: str) -> str:
    if direction not in DATA or span.bio_based or not span.histogram(direction, "depth_d2c"):
        return _lacking(span, direction, "depth-d2c")
    return f"fewer than {MIN_REQUESTS} requests at each depth"


def _gain(span: Span, levels: Sequence[Level], start: Level, end: Level) -> Gain:
    """The gain between two depths, with all that the counters leave open.

    A request keeps the depth that it found only if others neither join nor leave. The time of the requests up to `start`,
    or from `end` on, is compared with the time at these depths: the part that cannot have been there counts at the mean
    depth of the rest. Another request may be half done when a new one finds it. The bounds include the quotient of the
    numbers of completions in the time at both depths: a depth is left as often as it is reached from below."""
    times = span.histogram("all", "depth_time")
    mean_high, mean_low = start.mean.high, max(end.mean.low - FOUND, 1.0)
    if times and start.high is not None:
        before = {depth: ns for depth, ns in times.items() if 0 < depth <= start.high}
        mean_high = _shifted(before, times, (level for level in levels if level.low <= start.low), mean_high)
        after = {depth: ns for depth, ns in times.items() if depth >= end.low}
        mean_low = _shifted(after, times, (level for level in levels if level.low >= end.low), mean_low)
    per_s = Interval(max(start.mean.low - FOUND, 1.0) / start.d2c_ns.high, mean_high / start.d2c_ns.low)
    gain = Interval(mean_low / end.d2c_ns.high, end.mean.high / end.d2c_ns.low) / per_s
    first, last = (_per_ns(span, level) for level in (start, end))
    if first and last is not None:
        gain = Interval(min(gain.low, last / first), max(gain.high, last / first))
    linear = (end.mean.low + end.mean.high) / (start.mean.low + start.mean.high)
    could = linear > MIN_FACTOR * MIN_FACTOR  # nearer depths show no gain in any case
    no_help = could and gain.high < MIN_FACTOR
    verdict = More.HELPS if gain.low > MIN_FACTOR else More.NO_HELP if no_help else More.NOT_KNOWN
    reason = "" if verdict is not More.NOT_KNOWN else WIDE
    return Gain(verdict, start, end, gain, linear if math.isfinite(linear) else None, reason)


def _per_ns(span: Span, level: Level) -> float | None:
    """Completions of all directions that left a depth of a level, by the time there. None: there is no time."""
    depths = range(level.low, (level.high or DEPTH_OPEN) + 1)
    issued, times = (span.histogram("all", kind) for kind in ("depth_issue", "depth_time"))
    return ratio(sum(issued.get(depth - 1, 0) for depth in depths), sum(times.get(depth, 0) for depth in depths))


def _shifted(inside: Mapping[int, int], times: Mapping[int, int], levels: Iterable[Level], mean: float) -> float:
    """The mean depth of a level, with the part of the time of `levels` for which there is no time at their depths
    (`inside`) at the mean depth of the other times."""
    rest = {depth: ns for depth, ns in times.items() if depth and depth not in inside}
    spent, other = (sum(depth * ns for depth, ns in some.items()) for some in (inside, rest))
    part = spent / sum(level.requests * level.d2c_ns.low for level in levels)
    if part >= 1 or not other:
        return mean
    return part * mean + (1 - part) * sum(depth * depth * ns for depth, ns in rest.items()) / other


# The time by size and by distance.


def _overlap(span: Span) -> float | None:
    """The time of all requests next to another one: the sum of their d2c without the time with any in flight. A disk that
    serves one at a time makes requests wait so long in all. None: not known."""
    times = span.histogram("all", "depth_time")
    whole = sum(span.count(direction, "d2c_sum_ns") for direction in COUNTED)
    return max(whole - sum(times.values()) + times.get(0, 0), 0.0) if times else None


def _scatter(figures: Figures, counts: Bins, sums: Bins) -> float:
    """The sum over all requests of the squared difference between their d2c and the mean of their row."""
    squares = 0.0
    for low, high, number in _parts(figures.histogram("d2c"), "d2c"):
        high = low if math.isinf(high) else high
        squares += number * (((low + high) / 2) ** 2 + (high - low) ** 2 / 12)
    return max(squares - sum(sums.get(row, 0) ** 2 / count for row, count in counts.items() if count), 0.0)


def _rest(counts: Bins, sums: Bins, group: Callable[[int], int]) -> tuple[int, int]:
    """Number and sum of d2c of the requests that do not belong to the most common group of rows."""
    numbers, times = collections.Counter[int](), collections.Counter[int]()
    for row, count in counts.items():
        numbers[group(row)] += count
        times[group(row)] += sums.get(row, 0)
    common = max(numbers, key=lambda one: numbers[one], default=0)
    return sum(numbers.values()) - numbers[common], sum(times.values()) - times[common]


def _rows(span: Span, figures: Figures, kind: str, rest: tuple[int, int]) -> Iterator[tuple[int, Row]]:
    """Each row of a kind with at least MIN_REQUESTS requests, and its number. Nothing: before ABI 6.

    rest: number and sum of d2c of the requests of another kind than most. They may all be in one row. The error of a mean
    is largest if all scatter belongs to its row, or if each request took no time or the longest."""
    counts, sums = figures.histogram(kind), figures.histogram(f"{kind}_ns")
    if not sums:
        return
    scatter, overlap = _scatter(figures, counts, sums), _overlap(span)
    longest = max((part[1] for part in _parts(figures.histogram("d2c"), "d2c")), default=math.inf)
    for row, number in sorted(counts.items()):
        total = sums.get(row, 0)
        if number < MIN_REQUESTS or not total:
            continue
        mean, alone = total / number, None
        error = SIGMAS * math.sqrt(min(scatter / number, mean * max(longest - mean, 0.0)) / number)
        if overlap is not None:
            alone = Interval(max((total - overlap - rest[1]) / number - error, 0.0),
                             total / (number - rest[0]) + error if number > rest[0] else math.inf)  # fmt: skip
        low, high = (None if end is None else end * SECTOR_BYTES for end in bins.KINDS[kind].bounds(row))
        yield row, Row(low or 0, high, number, None, mean, Interval(max(mean - error, 0.0), mean + error), alone)


def _sizes(span: Span, figures: Figures) -> list[Row]:
    """The sizes of a direction, the smallest first."""
    rest = _rest(figures.histogram("seek_d2c"), figures.histogram("seek_d2c_ns"), lambda row: min(row, 1))
    issued, sectors = _parts(figures.histogram("size"), "size"), figures.count("bytes_issued") / SECTOR_BYTES
    low, high = (sum(part[2] * part[end] for part in issued) for end in (0, 1))
    above = min(max((sectors - low) / (high - low), 0.0), 1.0) if high > low else 0.0  # part of a bin below its values
    rows = []
    for at, row in _rows(span, figures, "size_d2c", rest):
        first, end = bins.KINDS["size_d2c"].bounds(at)
        mine = [part for part in issued if first <= part[0] and (end is None or part[0] < end)]
        count = sum(part[2] for part in mine)
        mean = sum(part[2] * (part[0] + above * (part[1] - part[0])) for part in mine) / count if count else 0
        rows.append(dataclasses.replace(row, bytes=mean * SECTOR_BYTES or None))
    return rows


def differ(rows: Sequence[Row]) -> bool:
    """Whether the times of two rows differ beyond their intervals, and by MIN_FACTOR. A row of few requests hides no other."""
    pairs = ((fast, slow) for fast in rows for slow in rows if slow.mean_ns >= MIN_FACTOR * fast.mean_ns)
    return any(slow.d2c_ns.low > fast.d2c_ns.high for fast, slow in pairs)


def usual(levels: Sequence[Level]) -> list[Level]:
    """The levels with a visible part of the requests. The others are mostly passed through."""
    return [level for level in levels if level.requests >= MIN_SHARE * sum(one.requests for one in levels)]


def _distances(span: Span, figures: Figures) -> list[Row]:
    """The distances of a direction: in order, forward from the nearest, backward from the nearest."""
    rest = _rest(figures.histogram("size_d2c"), figures.histogram("size_d2c_ns"), lambda row: row)
    return [row for _, row in _rows(span, figures, "seek_d2c", rest)]


def _decided(gain: Interval, linear: float) -> More:
    """The verdict on a gain of at most `linear`."""
    if gain.low > MIN_FACTOR:
        return More.HELPS
    return More.NO_HELP if gain.high < MIN_FACTOR < linear else More.NOT_KNOWN


def _larger(span: Span, direction: str, rows: Sequence[Row]) -> Larger:
    """The gain of larger requests: from the usual size to a larger one, the largest that decides; if there is none, to
    twice the usual size by a line through at least three sizes, if each is within MIN_FACTOR of it."""
    if not rows:
        reason = _lacking(span, direction, BY_ROW)
        return Larger(More.NOT_AVAILABLE, reason=reason)
    usual = max(rows, key=lambda row: row.requests)
    if not usual.bytes or usual.alone_ns is None:
        return Larger(More.NOT_KNOWN, reason=NOT_COUNTED.format("size" if usual.alone_ns else "depth-time"))
    found = []
    for row in reversed(rows):
        if row.bytes and row.alone_ns and row.low > usual.low:
            linear = row.bytes / usual.bytes
            gain = (
                Interval(linear, linear) / (row.alone_ns / usual.alone_ns)
                if row.alone_ns.low
                else Interval(0, math.inf)
            )
            found.append(Larger(_decided(gain, linear), usual.bytes, row.bytes, gain, linear, reason=WIDE))
    if found:
        return next((one for one in found if one.verdict is not More.NOT_KNOWN), found[0])
    return _doubled(usual, [row for row in rows if row.bytes and row.alone_ns])


def _doubled(usual: Row, rows: Sequence[Row]) -> Larger:
    """The gain of twice the usual size, by the line of least squares through the means of all sizes."""
    unknown = Larger(More.NOT_KNOWN, usual.bytes, reason=ONE_SIZE if len(rows) == 1 else LARGEST)
    if len(rows) < 3:
        return unknown
    number = sum(row.requests for row in rows)
    middle = sum(row.requests * (row.bytes or 0) for row in rows) / number
    square = sum(row.requests * ((row.bytes or 0) - middle) ** 2 for row in rows)

    def part(row: Row, size: float | None) -> float:
        """The factor of the mean of a row in the line at a size. None: in its slope."""
        slope = row.requests * ((row.bytes or 0) - middle) / square
        return slope if size is None else row.requests / number + slope * (size - middle)

    def line(size: float | None) -> Interval:
        ends = [(part(row, size), row.alone_ns) for row in rows if row.alone_ns]
        return Interval(sum(by * (alone.low if by > 0 else alone.high) for by, alone in ends),
                        sum(by * (alone.high if by > 0 else alone.low) for by, alone in ends))  # fmt: skip

    def mean(size: float) -> float:
        return sum(part(row, size) * row.mean_ns for row in rows)

    off = 1.0
    for row in rows:
        at = mean(row.bytes or 0)
        if at <= 0 or row.alone_ns is None or math.isinf(row.alone_ns.high):
            return unknown
        off = max(off, at / row.alone_ns.high, row.alone_ns.low / at)
    size = usual.bytes or 0.0
    once, twice = line(size), line(2 * size)
    if off > MIN_FACTOR or once.low <= 0 or twice.low <= 0:
        return unknown
    gain = Interval(2, 2) / (twice / once)
    gain = Interval(gain.low / off, gain.high * off)
    slope = line(None)
    return Larger(_decided(gain, 2), size, 2 * size, gain, 2, line(0), Interval(slope.low * (1 << 20), slope.high * (1 << 20)),
                  True, WIDE)  # fmt: skip


def _order(span: Span, figures: Figures, rows: Sequence[Row]) -> Order:
    """The gain if all requests of a direction began where the previous one ended."""
    counts, sums, overlap = figures.histogram("seek_d2c"), figures.histogram("seek_d2c_ns"), _overlap(span)
    if not sums or overlap is None:
        return Order(More.NOT_AVAILABLE, reason=_lacking(span, figures.direction, BY_ROW))
    number, total = sum(counts.values()), sum(sums.values())
    share = counts.get(0, 0) / number
    first = next((row for row in rows if row.low == 0), None)
    if first is None or not first.alone_ns:
        return Order(More.NOT_KNOWN, share, reason=NO_ORDER)
    rest = _rest(figures.histogram("size_d2c"), figures.histogram("size_d2c_ns"), lambda row: row)
    now = Interval(max(total - overlap - rest[1], 0.0) / number, total / (number - rest[0]))
    gain = now / first.alone_ns
    return Order(_decided(gain, math.inf), share, gain, WIDE)


def _lacking(span: Span, direction: str, name: str) -> str:
    return _lacks(span, name) if direction in DATA else "only reads and writes have it"
