# SPDX-License-Identifier: GPL-2.0-or-later
"""A snapshot of counters, and what must hold in each: the invariants of Documentation/counters.rst.

kmod_client checks every snapshot that a test takes, and one more of each target before it is deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

DIRECTIONS = ("read", "write", "discard", "write-zeroes", "flush", "other", "passthrough")
DEPTH_DIRECTIONS = ("read", "write", "all")
SIZE_BINS, LATENCY_BINS = (257, 8), (16, 4)  # where bins stop being linear, and the octave of the first that is not
TIMES = {"d2c": "d2c-sum-ns", "i2d": "i2d-sum-ns", "q2c": "q2c-sum-ns"}

_Bounds = Callable[[int], tuple[int, float]]


def log_linear(bins: tuple[int, int]) -> _Bounds:
    """Lowest and highest value of a bin: linear up to the first bin of 16 to an octave."""
    first, octave = bins

    def bounds(bin_number: int) -> tuple[int, float]:
        if bin_number < first:
            return bin_number, bin_number
        over, step = divmod(bin_number - first, 16)
        width = 1 << (octave + over - 4)
        low = (16 + step) * width
        return low, low + width - 1

    return bounds


MOST_BIOS = 65536  # that wait when counting begins anew


class Counters:
    """A snapshot. flow[direction][counter]; bins(kind, direction) is {bin: count}."""

    def __init__(self, reply: dict[str, Any]) -> None:
        self.reply = reply
        self.flow = {one["direction"]: one for one in reply["flow"]}
        self.histogram = {(one["kind"], one["direction"]): one for one in reply.get("histogram", ())}

    def origin(self, name: str) -> dict[str, int]:
        """Classes with a number other than 0 of that name."""
        return {one["class"]: one[name] for one in self.reply["origin"] if one[name]}

    def submitters(self, name: str) -> dict[str, int]:
        """That number by process name; those without a row are "rest"."""
        sums: dict[str, int] = {}
        for one in self.reply.get("submitter", ()):
            sums[one.get("comm", "rest")] = sums.get(one.get("comm", "rest"), 0) + one[name]
        return sums

    def bins(self, kind: str, direction: str) -> dict[int, int]:
        """Bins that are not zero."""
        one = self.histogram.get((kind, direction))
        if one is None:
            return {}
        return {one["first-bin"] + i: count for i, count in enumerate(one["counts"]) if count}

    def sum(self, kind: str, *directions: str) -> int:
        """Sum of the bins of a histogram."""
        return sum(sum(self.bins(kind, direction).values()) for direction in directions or DIRECTIONS)

    def total(self, counter: str) -> int:
        """Sum over directions."""
        return sum(self.flow[direction][counter] for direction in DIRECTIONS)

    def counts(self, *groups: str) -> bool:
        """Whether all these groups are counted."""
        return set(groups) <= set(self.reply["groups"])

    def violations(self) -> list[str]:
        """Invariants that do not hold, in words; those of groups that are counted."""
        checks = [_bios, _bios_of_owners, _bio_bounds]
        if "in-flight" in self.flow["all"]:
            checks += [_requests, _depths, _latencies, _seeks, _owners, _bounds, _hwqs]
        return [text for check in checks for text in check(self)]


def _same(what: str, left: int, right: int) -> Iterator[str]:
    if left != right:
        yield f"{what}: {left} is not {right}"


def _within(what: str, value: int, bins: dict[int, int], bounds: _Bounds) -> Iterator[str]:
    """A sum is at least that of the low bounds of its bins, and at most that of their high bounds."""
    low = sum(count * bounds(number)[0] for number, count in bins.items())
    high = sum(count * bounds(number)[1] for number, count in bins.items())
    if not low <= value <= high:
        yield f"{what}: {value} is not from {low} to {high}, where its histogram is"


def _requests(c: Counters) -> Iterator[str]:
    for direction in DIRECTIONS:
        flow = c.flow[direction]
        ends = flow["completed"] + flow["requeued"] + flow["abandoned"] + flow["in-flight"]
        yield from _same(f"{direction}: issued + carried = ends + in flight", flow["issued"] + flow["carried"], ends)
        if c.counts("size"):
            yield from _same(
                f"{direction}: sizes sum to issues", c.sum("size", direction), flow["issued"] - flow["reissued"]
            )
        if not flow["in-flight"] <= flow["in-flight-max"] <= c.flow["all"]["in-flight-max"]:
            yield f"{direction}: in flight {flow['in-flight']}, at most {flow['in-flight-max']}"
    if c.flow["all"]["in-flight-max"] > c.total("in-flight-max"):
        yield f"all: in flight at most {c.flow['all']['in-flight-max']}, more than directions were together"
    yield from _same("in flight sums to all", c.total("in-flight"), c.flow["all"]["in-flight"])
    for direction in ("read", "write") if c.counts("place") else ():
        yield from _same(f"{direction}: places", c.sum("place", direction), c.flow[direction]["bytes-issued"])
    if c.counts("plug"):
        unplugs = c.reply["unplugs-explicit"] + c.reply["unplugs-schedule"]
        yield from _same("requests per unplug sum to unplugs", c.sum("unplug", "all"), unplugs)


def _depths(c: Counters) -> Iterator[str]:
    if not c.counts("depth"):
        return
    for direction in DEPTH_DIRECTIONS:
        span = c.reply["now-ns"] - c.reply["since-ns"]
        yield from _same(f"{direction}: depth time sums to the span", c.sum("depth-time", direction), span)
        times = c.bins("depth-time", direction)
        known = sum(depth * spent for depth, spent in times.items())
        depths = c.flow[direction]["depth-sum-ns"]
        if not (known <= depths if 256 in times else known == depths):
            yield f"{direction}: depth over time is {depths}, by its histogram {known}"
        issued = c.total("issued") if direction == "all" else c.flow[direction]["issued"]
        yield from _same(f"{direction}: depths at issue sum to issues", c.sum("depth-issue", direction), issued)


def _latencies(c: Counters) -> Iterator[str]:
    if not c.counts("latency"):
        return
    for direction in DIRECTIONS:
        flow = c.flow[direction]
        yield from _same(f"{direction}: d2c sums to completions", c.sum("d2c", direction), flow["completed"])
        if c.sum("i2d", direction) > flow["issued"]:
            yield f"{direction}: more issues after an insert than issues"
        for kind in ("d2c", "i2d"):
            bounds = log_linear(LATENCY_BINS)
            yield from _within(f"{direction}: {kind} in sum", flow[TIMES[kind]], c.bins(kind, direction), bounds)
        if direction not in ("read", "write"):
            continue
        for kind in ("depth-d2c", "size-d2c"):
            yield from _same(f"{direction}: {kind}", c.sum(kind, direction), flow["completed"])
            yield from _same(f"{direction}: {kind}-ns", c.sum(f"{kind}-ns", direction), flow["d2c-sum-ns"])
        for kind, all_of in (("seek-d2c", "completed"), ("seek-d2c-ns", "d2c-sum-ns")):
            if c.sum(kind, direction) > flow[all_of]:
                yield f"{direction}: {kind} {c.sum(kind, direction)} is more than {all_of} {flow[all_of]}"
    yield from _states(c)


def _states(c: Counters) -> Iterator[str]:
    """The time with bios waiting is part of the idle time and of the busy time."""
    held, backlog, waiting = (c.reply[name] for name in ("held-ns", "backlog-ns", "waiting-sum-ns"))
    most = MOST_BIOS + 2 * c.total("queued") + c.total("requeued")  # before a reset, and since, with those of splits
    if not held + backlog <= waiting <= (held + backlog) * most:
        yield f"bios wait for {held} + {backlog} ns, their sum is {waiting}"
    if c.counts("depth"):
        idle, span = c.bins("depth-time", "all").get(0, 0), c.sum("depth-time", "all")
        if held > idle or backlog > span - idle:
            yield f"held {held} of {idle} ns, backlog {backlog} of {span - idle}"


def _seeks(c: Counters) -> Iterator[str]:
    if not c.counts("seek"):
        return
    for direction in DIRECTIONS:
        flow = c.flow[direction]
        zero = c.bins("seek", direction).get(64, 0)
        yield from _same(f"{direction}: sequential is seek bin 64", zero, flow["sequential"])
        if c.counts("stream") and not flow["sequential"] <= flow["stream"] <= flow["issued"]:
            yield f"{direction}: {flow['stream']} requests continue a stream, {flow['sequential']} are sequential"
    placed = sum(c.flow[d]["issued"] - c.flow[d]["reissued"] for d in ("read", "write"))
    if not 0 <= placed - c.sum("seek") <= 1:
        yield f"all but the first request have a distance: {placed} and {c.sum('seek')}"
    seeks = c.sum("seek") - c.total("sequential")
    distance = c.total("seek-forward-sectors") + c.total("seek-backward-sectors")
    if c.counts("origin"):
        yield from _same("classes: seeks", sum(c.origin("seeks").values()), seeks)
        yield from _same("classes: distances", sum(c.origin("seek-sectors").values()), distance)
    if c.counts("blame"):
        yield from _same("blame sums to seeks", c.sum("blame", "all"), seeks)
        yield from _same("blame sums to distances", c.sum("blame-distance", "all"), distance)


def _owners(c: Counters) -> Iterator[str]:
    if c.counts("submitter"):
        for name in ("completed", "d2c-sum-ns"):
            yield from _same(f"submitter: {name}", sum(c.submitters(name).values()), c.total(name))
    if c.counts("origin"):
        yield from _same("classes: issued", sum(c.origin("issued").values()), c.total("issued") - c.total("reissued"))
        yield from _same("classes: bytes-issued", sum(c.origin("bytes-issued").values()), c.total("bytes-issued"))


def _hwqs(c: Counters) -> Iterator[str]:
    rows = c.reply.get("hwq", ())
    if not c.counts("hwq"):
        return
    ended = ("completed-same-cpu", "completed-other-cpu", "completed-other-node")
    for one in rows:
        what, ends = f"hardware queue {one['index']}", sum(one[name] for name in (*ended, "returned", "in-flight"))
        yield from _same(f"{what}: issued + carried = ends + in flight", one["issued"] + one["carried"], ends)
        if not one["in-flight"] <= one["in-flight-max"] <= c.flow["all"]["in-flight-max"]:
            yield f"{what}: in flight {one['in-flight']}, at most {one['in-flight-max']}"
    sums = {name: sum(one[name] for one in rows) for name in (*ended, "issued", "returned", "carried", "in-flight")}
    for name in ("issued", "carried", "in-flight"):
        yield from _same(f"hardware queues: {name}", sums[name], c.total(name))
    yield from _same("hardware queues: completed", sum(sums[name] for name in ended), c.total("completed"))
    yield from _same("hardware queues: returned", sums["returned"], c.total("requeued") + c.total("abandoned"))
    if c.counts("depth"):
        depth = sum(one["depth-sum-ns"] for one in rows)
        yield from _same("hardware queues: depth over time", depth, c.flow["all"]["depth-sum-ns"])


def _distances(c: Counters, direction: str, queued: str) -> Iterator[str]:
    """Sums of distances against the histogram, forward and backward."""
    bins = c.bins(f"seek{queued}", direction)
    for sense, sign in (("forward", 1), ("backward", -1)):
        distances = {abs(number - 64): count for number, count in bins.items() if (number - 64) * sign > 0}
        what = f"seek{queued}-{sense}-sectors"
        value = c.flow[direction][what]
        yield from _within(
            f"{direction}: {what}", value, distances, lambda number: (1 << (number - 1), (1 << number) - 1)
        )


def _bounds(c: Counters) -> Iterator[str]:
    for direction in DIRECTIONS:
        if c.counts("seek"):
            yield from _distances(c, direction, "")
        if c.counts("size") and direction != "passthrough":  # its bytes are rounded up to sectors
            sectors, odd = divmod(c.flow[direction]["bytes-issued"], 512)
            yield from _same(f"{direction}: bytes beyond sectors", odd, 0)
            yield from _within(f"{direction}: sectors", sectors, c.bins("size", direction), log_linear(SIZE_BINS))


def _bios(c: Counters) -> Iterator[str]:
    for direction in DIRECTIONS:
        flow = c.flow[direction]
        if c.counts("seek"):
            zero = c.bins("seek-queued", direction).get(64, 0)
            yield from _same(f"{direction}: sequential-queued is seek-queued bin 64", zero, flow["sequential-queued"])
        if c.counts("seek", "stream") and not flow["sequential-queued"] <= flow["stream-queued"] <= flow["queued"]:
            yield f"{direction}: {flow['stream-queued']} bios continue a stream, {flow['sequential-queued']} sequential"
        if c.counts("readahead"):
            for part, whole in (("ahead-queued", "queued"), ("bytes-ahead-queued", "bytes-queued")):
                if flow[part] > flow[whole]:
                    yield f"{direction}: {part} {flow[part]} of {whole} {flow[whole]}"


def _bios_of_owners(c: Counters) -> Iterator[str]:
    groups = [
        (group, numbers) for group, numbers in (("origin", c.origin), ("submitter", c.submitters)) if c.counts(group)
    ]
    for group, numbers in groups:
        for name in ("queued", "bytes-queued"):
            yield from _same(f"{group}: {name}", sum(numbers(name).values()), c.total(name))
        if c.counts("seek"):
            seeks = c.sum("seek-queued") - c.total("sequential-queued")
            yield from _same(f"{group}: seeks-queued", sum(numbers("seeks-queued").values()), seeks)


def _bio_bounds(c: Counters) -> Iterator[str]:
    for direction in DIRECTIONS:
        if c.counts("seek"):
            yield from _distances(c, direction, "-queued")
        if c.counts("latency"):
            what = f"{direction}: q2c in sum"
            yield from _within(
                what, c.flow[direction][TIMES["q2c"]], c.bins("q2c", direction), log_linear(LATENCY_BINS)
            )
