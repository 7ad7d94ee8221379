# SPDX-License-Identifier: GPL-2.0-or-later
"""All that was counted of one span, as rows: raidctl report -v."""

from collections.abc import Iterable, Iterator

from raidtrace.quantity import units
from raidtrace.quantity.bins import CLASSES, DEPTH_OPEN, KINDS, PLACE_BINS
from raidtrace.recording import stacks
from raidtrace.recording.figures import Figures, Range, percentile
from raidtrace.recording.spans import COUNTED, DATA, Bins, Recorded, Span, Submitter
from raidtrace.report.rows import BOLD, PLAIN, Line, Row, Table, cells, words

NA = "n/a"
DETAIL = 15  # columns of a direction or a group
BAR = 16
PLACE_WIDTH = 48  # characters for the whole disk
SHADES = " .:-=+*#%@"
SUBMITTERS = 8
HWQ_REST = 128  # row of all hardware queues from this number on
CGROUP = 44  # of a path; its end says more than its beginning
FLOW = "  {:<12} {:>9} {:>8} {:>7} {:>6} {:>4} {:>8} {:>8} {:>7}"
SECTOR = units.SECTOR_BYTES


def flows(span: Span) -> Iterator[Row]:
    """A line for each direction in which something happened."""
    busy = [Figures(span, direction) for direction in COUNTED if not span.idle(direction)]
    if not busy:
        yield Line("  no requests")
        return
    yield cells(FLOW, map(_flow, busy), ("", "requests", "data", "MiB/s", "depth", "max", "mode", "mean", "sequ."))


def _flow(f: Figures) -> tuple[str, ...]:
    requests, rate, depth, mean = f.requests(), f.mib_per_s(), f.depth(), f.size_mean()
    return (
        f.direction,
        NA if requests is None else units.count(requests),
        NA if requests is None else units.octets(float(f.count("bytes_issued"))),
        NA if rate is None else f"{rate:.1f}",
        NA if depth is None else f"{'>' if f.depth_is_bound() else ''}{depth:.2f}",
        NA if depth is None else f"{f.deepest()}{'+' if (f.deepest() or 0) >= DEPTH_OPEN else ''}",
        _mode(f.size_mode[0]) if f.size_mode else NA,
        NA if mean is None else units.octets(mean),
        units.share(f.count("sequential"), f.issued) if f.ordered() else NA,
    )


def _mode(found: Range) -> str:
    """ "128 KiB", or both ends of a bin that spans several sizes."""
    low = units.octets(float(found.low) * SECTOR)
    if found.high == found.low + 1:
        return low
    return f"{low}..{units.octets(float((1 << 63) - 1 if found.high is None else found.high) * SECTOR)}"


def details(span: Span) -> Iterator[Row]:
    """Latency, merges, seeks, groups, and histograms of sizes and depths."""
    busy = [Figures(span, direction) for direction in COUNTED if not span.idle(direction)]
    data = [f for f in busy if f.direction in DATA]
    for section, of in ((_latency, busy), (_merges, busy), (_seeks, data)):
        for f in of:
            yield from section(f)
    yield from _groups(span)
    for f in data:
        yield from _bars(f)


def _bound(found: Range) -> str:
    return f"< {units.ns(found.high)}" if found.high is not None else f">= {units.ns(found.low)}"


def _latency(f: Figures) -> Iterator[Row]:
    mean, times = f.d2c_mean(), [f.d2c(share) for share in (0.5, 0.99, 1.0)]
    bounds = [_bound(one) for one in times if one]
    if not bounds and mean is None:
        return
    parts = [
        f"d2c mean {units.ns(mean or 0.0)}",
        *(f"{name} {bound}" for name, bound in zip(("p50", "p99", "max"), bounds)),
    ]
    yield words(f"  {f.direction}", ", ".join(parts), DETAIL)


def _merges(f: Figures) -> Iterator[Row]:
    if not f.count("queued") and not f.count("issued"):
        return

    def known(counter: str) -> str:
        value = f.known(counter)
        return NA if value is None else units.count(value)

    rare = {"requeued": f.count("requeued") + f.count("requeued_unissued"), "ERRORS": f.count("errors"),
            "unmatched": f.count("unmatched"), "abandoned": f.count("abandoned")}  # fmt: skip
    yield words(
        f"  {f.direction}",
        f"bios {known('queued')}, splits {known('splits')}, merges: back {known('back_merges')}, "
        f"front {known('front_merges')}, request {known('request_merges')}"
        + "".join(f"; {name} {value}" for name, value in rare.items() if value),
        DETAIL,
    )


def _seeks(f: Figures) -> Iterator[Row]:
    seeks, mean = f.seeks(), f.seek_mean()
    if f.issued and seeks is not None:
        far = f", mean seek {units.octets(mean * SECTOR)}" if mean is not None else ""
        yield Line(f"  {f.direction:<12} seeks {units.count(seeks)}{far}")


def _groups(span: Span) -> Iterator[Row]:
    for direction in DATA:
        for kind in ("i2d", "q2c"):
            yield from _one_latency(span, direction, kind)
    for direction in DATA:
        yield from _streams(span, direction)
    yield from _origin(span)
    yield from _blame(span)
    yield from _submitters(span)
    yield from _cgroups(span)
    yield from _hwqs(span)
    yield from _plugs(span)
    for kind, why in (("ra_sync", "because a page was missing"), ("ra_async", "because a marked page was met")):
        number, sectors = sum(span.histogram("all", kind).values()), span.plain.get(f"{kind}_sectors")
        if number and sectors is not None:
            mean = units.octets(float(sectors) * SECTOR / number)
            yield Line(f"  readahead, {why}: {units.count(number)} windows, mean {mean}")
    for direction in DATA:
        yield from _place(span, direction)


def _one_latency(span: Span, direction: str, kind: str) -> Iterator[Row]:
    times = span.histogram(direction, kind)
    p99, number = percentile(times, kind, 0.99), sum(times.values())
    if p99 and span.counts_kind(kind):
        mean = units.ns(float(span.count(direction, f"{kind}_sum_ns")) / float(number))
        yield Line(f"  {direction:<12} {kind} mean {mean}, p99 {_bound(p99)}")


def _streams(span: Span, direction: str) -> Iterator[Row]:
    """What is sequential in itself, and within streams. "at least": more streams began than are remembered."""
    names = ("issued", "queued", "stream", "stream_queued", "sequential_queued", "ahead_queued", "bytes_ahead_queued")
    count = {name: span.count(direction, name) for name in names}
    if "stream" in span.unknown or not count["issued"] + count["queued"]:
        return

    def least(counter: str) -> str:
        return "at least " if span.plain.get(counter) else ""

    text = f"in streams: requests {least('streams_forgotten')}{units.share(count['stream'], count['issued'])}"
    if "stream_queued" not in span.unknown:
        text += (f", bios {least('streams_forgotten_queued')}{units.share(count['stream_queued'], count['queued'])}; "
                 f"sequential bios {units.share(count['sequential_queued'], count['queued'])}")  # fmt: skip
    if "ahead_queued" not in span.unknown and count["ahead_queued"]:
        ahead = units.octets(float(count["bytes_ahead_queued"]))
        text += f"; read ahead {units.count(count['ahead_queued'])}, {ahead}"
    yield words(f"  {direction}", text, DETAIL)


def _origin(span: Span) -> Iterator[Row]:
    rows = []
    for name in CLASSES:
        of = span.origin.get(name, {})
        if not of.get("queued") and not of.get("issued"):
            continue
        lacks = span.class_unknown("issued")
        far = units.octets(float(of["seek_sectors"]) * SECTOR / float(of["seeks"])) if of["seeks"] else NA
        rows.append((
            name, units.count(of["queued"]), units.octets(float(of["bytes_queued"])), units.count(of["seeks_queued"]),
            *((NA, NA, NA) if lacks else
              (units.count(of["issued"]), units.octets(float(of["bytes_issued"])), units.count(of["seeks"]))), far,
        ))  # fmt: skip
    if rows:
        yield Table("  {:<9} {:>9} {:>8} {:>8} {:>9} {:>8} {:>8} {:>9}", rows,
                    [("class", "bios", "data", "seeks", "requests", "data", "seeks", "mean seek")])  # fmt: skip


def _blame(span: Span) -> Iterator[Row]:
    """From which class to which the head went; classes without a seek are left out."""
    blame, width = span.histogram("all", "blame"), len(CLASSES)
    used = [at for at in range(width) if any(at in divmod(bin, width) for bin in blame)]
    if not used:
        return
    yield Line(f"  {'seeks to':<13} " + " ".join(f"{CLASSES[at]:>9}" for at in used))
    for row in used:
        numbers = " ".join(f"{units.count(blame.get(row * width + at, 0)):>9}" for at in used)
        yield Line(f"  {f'from {CLASSES[row]}':<14} {numbers}")


def _numbers(counts: Iterable[tuple[str, int]]) -> tuple[str, str, str]:
    of = dict(counts)
    return units.count(of["queued"]), units.octets(float(of["bytes_queued"])), units.count(of["seeks_queued"])


def _submitters(span: Span) -> Iterator[Row]:
    order = sorted(span.submitters, key=lambda one: -one.counts["bytes_queued"])

    def name(one: Submitter) -> str:
        if one.comm is None:
            return f"all {'others' if len(order) > 1 else 'processes'}"
        return f"{one.comm}, pid {one.pid or 0}"[:47]

    if order:
        yield cells("  {:<30} {:>11} {:>9} {:>9}", [(name(one), *_numbers(one.counts.items())) for one in order[:SUBMITTERS]],
                    ("submitter", "bios", "data", "seeks"))  # fmt: skip
    if len(order) > SUBMITTERS:
        yield Line(f"  and {len(order) - SUBMITTERS} more")


def _cgroups(span: Span) -> Iterator[Row]:
    """Whom the bios are charged to, unless that is the root for all of them or not known."""
    sums: dict[str, dict[str, int]] = {}
    for one in span.submitters:
        mine = sums.setdefault(one.cgroup, dict.fromkeys(one.counts, 0))
        for name, value in one.counts.items():
            mine[name] += value
    if not sums.keys() - {"", "/"}:
        return
    rows = [(*_numbers(counts.items()), f"...{path[3 - CGROUP :]}" if len(path) > CGROUP else path or "not known")
            for path, counts in sums.items()]  # fmt: skip
    yield cells("  {:>11} {:>9} {:>9}  {}", rows, ("bios", "data", "seeks", "cgroup"))


def _hwqs(span: Span) -> Iterator[Row]:
    """A row for each hardware queue that had a request; the last row is that of many."""
    where = ("completed_same_cpu", "completed_other_cpu", "completed_other_node")
    rows = []
    for number, counts in span.hwqs.items():
        ended = sum(counts[name] for name in where)
        rows.append((
            f"from {number}" if number == HWQ_REST else str(number), units.count(counts["issued"]), units.count(ended),
            units.count(counts["in_flight_max"]), *(units.share(counts[name], ended) for name in where),
        ))  # fmt: skip
    if rows:
        yield cells("  {:<14} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10}", rows,
                    ("hardware queue", "issued", "completed", "max depth", "same CPU", "other CPU", "other node"))  # fmt: skip


def _plugs(span: Span) -> Iterator[Row]:
    if "plug" not in span.groups:
        return
    unplug = span.histogram("all", "unplug")
    sent = float(sum(at * count for at, count in unplug.items()))
    each = f", {sent / float(sum(unplug.values())):.1f} requests each" if unplug else ""
    known = {name: NA if value is None else units.count(value) for name, value in span.plain.items()}
    yield words("  plugs", f"{known['plugs']}; unplugs: done {known['unplugs_explicit']}, slept "
                f"{known['unplugs_schedule']}{each}; waits for tags {known['tag_waits']}", DETAIL)  # fmt: skip


def _place(span: Span, direction: str) -> Iterator[Row]:
    """The disk from its first to its last sector; the darker the more bytes."""
    place = span.histogram(direction, "place")
    parts = [0] * PLACE_WIDTH
    for at, count in place.items():
        parts[at * PLACE_WIDTH // PLACE_BINS] += count
    if place:
        shades = "".join(SHADES[1 + part * 8 // max(parts) if part else 0] for part in parts)
        yield Line(f"  {direction:<12} by place |{shades}|")


def _fold(histogram: Bins, kind: str) -> list[tuple[str, int]]:
    """Bins put together to rows that grow by powers of two, which is how sizes and depths are spread."""
    sizes, end = kind == "size", max(histogram) + 1
    at, low, edge = min(histogram), 0, 8 if kind == "size" else 1
    rows: list[tuple[str, int]] = []
    bounds = KINDS[kind].bounds
    while at < end and len(rows) < 24:
        count = 0
        while at < end and bounds(at)[0] < edge:
            count += histogram.get(at, 0)
            at += 1
        if rows or count:
            rows.append((_bar_label(sizes, low, edge if at < end or sizes else bounds(end - 1)[1] or edge), count))
        low, edge = edge, edge * 2
    return rows


def _bar_label(sizes: bool, low: int, end: int) -> str:
    if sizes:
        return f"{'from' if low else 'below'} {units.octets(float(low or end) * SECTOR)}"
    if low == DEPTH_OPEN:
        return f"{low}+"
    return f"{low}" if end - low == 1 else f"{low}..{end - 1}"


def _bar(label: str, count: int, total: int) -> str:
    length = int(count / total * BAR + 0.5) or (1 if count else 0)  # something is never shown as nothing
    return f"{label:>12} |{'#' * min(length, BAR):<{BAR}} {units.share(count, total):>7}"


def _bars(f: Figures) -> Iterator[Row]:
    """Request size on the left, in flight on the right; of a few requests among many a picture says nothing."""
    sizes, depths = f.histogram("size"), f.histogram("depth_time")
    if not sizes or f.count("issued") < sum(f.span.count(direction, "issued") for direction in COUNTED) // 100:
        return
    yield Line(f"  {f'{f.direction}: request size, share of requests':<40} {f.direction}s in flight, share of time")
    left = [_bar(*row, sum(sizes.values())) for row in _fold(sizes, "size")]
    right = [_bar(*row, sum(depths.values())) for row in (_fold(depths, "depth_time") if depths else ())]
    for at in range(max(len(left), len(right))):
        a = left[at] if at < len(left) else ""
        yield Line(f"  {a:<38}  {right[at]}" if at < len(right) else f"  {a}")


def members(found: Recorded, number: int) -> Iterator[Row]:
    """What each disk of a phase gave to those that it is made of."""
    for span in (span for span in found.spans if span.number == number):
        parts = found.members(span)
        if not parts:
            continue
        yield Line()
        yield cells(f"{BOLD}phase {{}}{PLAIN}  {{}} over its {len(parts)} members", [(span.phase, span.disk)])
        for direction in COUNTED:
            given = stacks.given(span, parts, direction)
            if not given.any():
                continue
            fan, octets, split = (NA if value is None else f"{value:.3f}"
                                  for value in (given.fan_out(), given.bytes_ratio(), given.split_share()))  # fmt: skip
            yield Line(f"  {direction:<12} to members: bios x {fan}, bytes x {octets}; splits for each bio {split}")
            shares = [(part.disk, units.share(part.count(direction, "bytes_queued"), given.bytes)) for part in parts]
            yield from _some(f"  {'':<12} of the bytes:", f"  {'':<12}              ", shares, 4)
        own = stacks.readahead(found, span)
        if own is not None:
            yield cells("  readahead   that of {} counts, {}, for all that is read through it; of members",
                        [(span.disk, units.sectors(own))])  # fmt: skip
            ahead = [(part.disk, NA if (of := stacks.readahead(found, part)) is None else str(of)) for part in parts]
            yield from _some("             ", "             ", ahead, 6)


def _some(first: str, rest: str, pairs: list[tuple[str, str]], each: int) -> Iterator[Row]:
    """Names and values, so many in a line."""
    for at in range(0, len(pairs), each):
        row = pairs[at : at + each]
        yield cells((rest if at else first) + " {} {}" * len(row), [[cell for pair in row for cell in pair]])
