# SPDX-License-Identifier: GPL-2.0-or-later
"""The links of the chain from the readahead setting to throughput and seeks, of one reading or of two side by side."""


from collections.abc import Callable, Iterable, Sequence

from raidtrace.explain import constants as k
from raidtrace.explain.evidence import Distribution, Link, Source, Value, Verdict, worst
from raidtrace.quantity import bins, trials
from raidtrace.recording import figures
from raidtrace.recording import quantities as q
from raidtrace.recording.quantities import Reading


def source(reading: Reading, *counters: str) -> Source:
    """The source of numbers of a reading."""
    return Source(reading.letter, reading.phase.disk.name, reading.phase.phase, counters)


def each(readings: Sequence[Reading], say: Callable[[Reading], str]) -> str:
    """The text of each reading. If they differ, each has its own line with its letter."""
    texts = [say(reading) for reading in readings]
    if len(set(texts)) == 1:
        return texts[0]
    return "\n".join(f"{reading.letter}: {text}" for reading, text in zip(readings, texts, strict=True))


def link(key: str, title: str, readings: Sequence[Reading], say: Callable[[Reading], str],
         verdict: Callable[[Reading], Verdict], values: Callable[[Reading], Iterable[Value]],
         distributions: Callable[[Reading], Iterable[Distribution]] = lambda _: ()) -> Link:  # fmt: skip
    """The link of all readings, with the worst of their verdicts."""
    return Link(
        key, title, each(readings, say), worst(map(verdict, readings)), tuple(value for r in readings for value in values(r)),
        tuple(distribution for r in readings for distribution in distributions(r)),
    )  # fmt: skip


def setting(readings: Sequence[Reading]) -> Link:
    """The link for the readahead setting."""
    values = tuple(
        Value("readahead", r.readahead_sectors(), "sectors", source(r, "readahead_sectors"),
              note="" if r.readahead_sectors() is not None else "not recorded")
        for r in readings
    )  # fmt: skip
    known = all(value.value is not None for value in values)

    def say(reading: Reading) -> str:
        sectors = reading.readahead_sectors()
        if sectors is None:
            return "readahead was not recorded"
        owner = f" of {reading.above.disk.name}, the disk above it," if reading.above else ""
        moved = ", and changed during the phase" if "readahead_sectors" in reading.phase.changed else ""
        return f"readahead{owner} is {sectors} sectors, {q.kib(sectors)}{moved}"

    return Link("setting", "Setting", each(readings, say), Verdict.SHOWN if known else Verdict.NOT_AVAILABLE, values)


def window(readings: Sequence[Reading]) -> Link:
    """The link for readahead windows: the share of the bytes that was read ahead, and the size of the windows."""
    return link("window", "Readahead window", readings, _window, _window_verdict, _window_values, _windows)


def in_order(reading: Reading) -> float | None:
    """Share of the bios that are sequential, from 0 to 1; None: not counted.

    The first counter that the recording has: bios that continue a stream, bios that follow the previous one, or
    sequential requests."""
    for counter, of in (("stream_queued", "queued"), ("sequential_queued", "queued"), ("sequential", "issued")):
        share = q.share(reading.phase, "read", counter, of)
        if share is not None:
            return share
    return None


def ahead(reading: Reading) -> float | None:
    """Share of the bytes read that readahead requested, from 0 to 1. None: not counted."""
    return q.share(reading.phase, "read", "bytes_ahead_queued", "bytes_queued")


def streams(reading: Reading) -> int:
    """Number of streams that take turns, at least 1.

    1 also if fewer than MATTERS of the readahead windows begin with a seek. A single reader seeks, too, when it
    looks up the next extent of its file."""
    queued, follow, moved = (
        reading.phase.count("read", name) for name in ("queued", "sequential_queued", "bytes_queued")
    )
    window = (reading.readahead_sectors() or 0) * q.SECTOR
    if (
        queued is not None
        and follow is not None
        and moved
        and window
        and (queued - follow) * window < k.MATTERS * moved
    ):
        return 1
    return max(reading.phase.timeline.streams or 1, 1)


def predicted(reading: Reading, direction: str) -> tuple[float, float] | None:
    """Lower and upper bound of the reads in flight that readahead causes, for all streams together. None: for writes,
    for reads without readahead, and if readahead was not recorded."""
    part, one = ahead(reading), reading.predicted_depth()
    if direction != "read" or one is None or (part is not None and part < k.HALF):
        return None
    return one[0], one[1] * streams(reading)


def window_sectors(reading: Reading) -> tuple[int, float] | None:
    """The window size that most sectors were read with, and their share. None: this kernel does not report windows."""
    sizes: dict[int, int] = {}
    for kind in ("ra_sync", "ra_async"):
        for at, count in reading.phase.histogram("all", kind).items():
            low, _ = bins.size(at)
            sizes[low] = sizes.get(low, 0) + low * count
    whole = sum(sizes.values())
    if not whole:
        return None
    best = max(sizes, key=lambda at: sizes[at])
    return best, sizes[best] / whole


def windows_share(reading: Reading) -> float | None:
    """The bytes of the readahead windows that the kernel made, by those that the disk read, at most 1. Without advice each
    read through the page cache begins with one, also that of a small file. None: windows were not counted (Linux below
    6.18), or nothing was read."""
    sectors = [reading.phase.span.plain.get(f"{kind}_sectors") for kind in ("ra_sync", "ra_async")]
    moved = q.octets(reading.phase, "read")
    if None in sectors or not moved:
        return None
    return min(sum(one or 0 for one in sectors) * q.SECTOR / moved, 1.0)


def _window_verdict(reading: Reading) -> Verdict:
    read, order = ahead(reading), in_order(reading)
    if reading.readahead_sectors() is None or read is None or order is None:
        return Verdict.NOT_AVAILABLE
    return Verdict.SHOWN if read >= k.HALF and order >= k.HALF and _as_set(reading) else Verdict.NOT_SHOWN


def _as_set(reading: Reading) -> bool:
    """Whether most bytes came in windows of the set size. True also if windows or setting are not recorded, or for md
    and dm."""
    sizes = {at: bins.size(at)[0] * count for kind in ("ra_sync", "ra_async")
             for at, count in reading.phase.histogram("all", kind).items()}  # fmt: skip
    sectors = reading.readahead_sectors()
    if not sizes or sectors is None or reading.phase.disk.bio_based:
        return True
    low, high = bins.size(max(sizes, key=lambda at: sizes[at]))
    return low <= sectors < high


def _window(reading: Reading) -> str:
    read, order = ahead(reading), in_order(reading)
    if read is None or order is None:
        return "bytes read ahead were not counted"
    if read < k.HALF:
        return f"{q.percent(read)} of the bytes were read ahead"
    if order < k.HALF:
        return f"only {q.percent(order)} of the bios continue a stream, so there is little to read ahead"
    text = f"{q.percent(read)} of the bytes were read ahead, {q.percent(order)} of the bios continue a stream"
    largest = window_sectors(reading)
    if largest is None:
        return f"{text}; window sizes are not available"
    other = "" if _as_set(reading) else ", which is not the readahead setting"
    return f"{text}; {largest[1]:.0%} of the bytes read ahead came in windows of {q.kib(largest[0])}{other}"


def _window_values(reading: Reading) -> list[Value]:
    largest, sectors = window_sectors(reading), reading.readahead_sectors()
    predicted = (float(sectors), float(sectors)) if sectors is not None else None
    return [
        Value("ahead-share", ahead(reading), "of 1", source(reading, "bytes-ahead-queued", "bytes-queued")),
        Value("stream-share", in_order(reading), "of 1", source(reading, "stream-queued", "queued")),
        Value("window", largest[0] if largest else None, "sectors", source(reading, "ra-sync", "ra-async"), predicted,
              "" if largest else "this kernel does not report windows"),
    ]  # fmt: skip


def _windows(reading: Reading) -> list[Distribution]:
    kinds = ("ra_sync", "ra_async")
    found = [one for kind in kinds for one in _sizes(reading, "all", kind, kind.replace("_", "-"), "windows")]
    return [one for one in found if one.bins]


def _sizes(reading: Reading, direction: str, kind: str, name: str, unit: str) -> list[Distribution]:
    table = reading.phase.histogram(direction, kind)
    rows = tuple((float(bins.size(at)[0]), float(bins.size(at)[1]), float(table[at])) for at in sorted(table))
    return [Distribution(name, "sectors", unit, source(reading, name), rows)]


def bios(readings: Sequence[Reading], direction: str) -> Link:
    """The link for the bios that the page cache or the program queued."""

    def say(reading: Reading) -> str:
        number, size = reading.phase.count(direction, "queued"), q.bio_mean(reading.phase, direction)
        if number is None or size is None:
            return "bios were not counted"
        text = f"{number} bios of {q.kib(size)} on average"
        set_to = reading.readahead_sectors()
        if direction != "read" or set_to is None or size <= set_to:
            return text
        # page_cache_sync_ra(): a window is not smaller than the read, up to the largest request
        return f"{text}, more than the readahead: for a large read the kernel reads up to a whole request"

    def values(reading: Reading) -> list[Value]:
        readahead = reading.readahead_sectors()
        predicted = None
        if direction == "read" and readahead is not None and _window_verdict(reading) is Verdict.SHOWN:
            most = float(min(readahead, q.BIO_SECTORS))
            predicted = (most, max(most, float(min(reading.largest_sectors() or 0, q.BIO_SECTORS))))
        return [
            Value("bios", reading.phase.count(direction, "queued"), "bios", source(reading, "queued")),
            Value("bio-mean", q.bio_mean(reading.phase, direction), "sectors", source(reading, "bytes-queued", "queued"),
                  predicted),
        ]  # fmt: skip

    known = all(q.bio_mean(r.phase, direction) is not None for r in readings)
    return Link("bios", "Bios", each(readings, say), Verdict.SHOWN if known else Verdict.NOT_AVAILABLE,
                tuple(value for r in readings for value in values(r)))  # fmt: skip


def splits(readings: Sequence[Reading], direction: str) -> Link:
    """The link for splits and merges: bios + splits = requests + merges. The difference are bios that were
    not issued."""
    names = ("queued", "splits", "issued", "reissued", "back_merges", "front_merges", "request_merges")

    def numbers(reading: Reading) -> list[int] | None:
        counts = [reading.phase.count(direction, name) for name in names]
        known = [n for n in counts if n is not None]
        return known if len(known) == len(names) else None

    def verdict(reading: Reading) -> Verdict:
        counts = numbers(reading)
        if counts is None or reading.phase.disk.bio_based:
            return Verdict.NOT_AVAILABLE
        queued, cut, issued, again, *merged = counts
        # at a start or end of a phase, at most nr_requests are between queue and issue
        slack = reading.phase.setting("nr_requests") or 256
        return Verdict.SHOWN if abs(queued + cut - issued + again - sum(merged)) <= slack else Verdict.CONTRADICTED

    def say(reading: Reading) -> str:
        counts = numbers(reading)
        if counts is None:
            return "splits and merges were not counted"
        queued, cut, issued, again, *merged = counts
        return f"{queued} bios + {cut} splits = {issued - again} requests + {sum(merged)} merges"

    def values(reading: Reading) -> list[Value]:
        requests = ("issued", "reissued", "request_merges")
        return [Value(name, n, "reqs." if name in requests else "bios", source(reading, name.replace("_", "-")))
                for name, n in zip(names, numbers(reading) or ())]  # fmt: skip

    return link("splits", "Splits and merges", readings, say, verdict, values)


def size(readings: Sequence[Reading], direction: str) -> Link:
    """The link for the size of requests, compared with the largest possible size."""

    def verdict(reading: Reading) -> Verdict:
        mode, largest = q.size_mode(reading.phase, direction), reading.largest_sectors()
        if mode is None or largest is None:
            return Verdict.NOT_AVAILABLE
        return Verdict.SHOWN if mode[0] == largest and mode[1] >= k.HALF else Verdict.NOT_SHOWN

    def say(reading: Reading) -> str:
        mode, largest = q.size_mode(reading.phase, direction), reading.largest_sectors()
        if mode is None:
            return "the most frequent size is not known exactly: large sizes are counted in ranges"
        text = f"{q.percent(mode[1])} of the requests are {q.kib(mode[0])}"
        if largest is None:
            return text
        return f"{text}, {'the largest possible size' if mode[0] == largest else f'and up to {q.kib(largest)} are possible'}"

    def values(reading: Reading) -> list[Value]:
        mode, largest = q.size_mode(reading.phase, direction), reading.largest_sectors()
        predicted = (float(largest), float(largest)) if largest else None
        return [
            Value("size-mode", mode[0] if mode else None, "sectors", source(reading, "size"), predicted),
            Value(
                "size-mean", q.size_mean(reading.phase, direction), "sectors", source(reading, "bytes-issued", "issued")
            ),
        ]

    return link("size", "Request size", readings, say, verdict, values,
                lambda reading: _sizes(reading, direction, "size", "size", "reqs."))  # fmt: skip


def depth(readings: Sequence[Reading], direction: str) -> Link:
    """The link for requests in flight: the counted depth, and the one that readahead predicts."""

    def say(reading: Reading) -> str:
        mean, most = q.depth_mean(reading.phase, direction), q.depth_max(reading.phase, direction)
        if mean is None:
            return "the depth was not counted, or was beyond the exact bins"
        median = q.depth_median(reading.phase, direction)
        half = f"{median} or more" if median else "none"
        text = f"{mean:.2f} in flight on average, {half} for half of the time, at most {most}"
        bounds = predicted(reading, direction)
        if bounds is None:
            return text
        number = streams(reading)
        tail = f"{bounds[0]:g} to {bounds[1]:g}" + (f" for {number} streams" if number > 1 else "")
        if depth_verdict(reading, direction) is Verdict.SHOWN:
            return f"{text}, as readahead predicts ({tail})"
        if depth_verdict(reading, direction) is Verdict.NOT_SHOWN:
            return f"{text}, up to twice the predicted {tail}, as with POSIX_FADV_SEQUENTIAL"
        return f"{text}, NOT the predicted {tail}"

    def values(reading: Reading) -> list[Value]:
        of, mean = source(reading, "depth-time"), q.depth_mean(reading.phase, direction)
        return [Value("depth-mean", mean, "reqs.", of, predicted(reading, direction)),
                Value("depth-max", q.depth_max(reading.phase, direction), "reqs.", of)]  # fmt: skip

    return link("depth", "In flight", readings, say, lambda reading: depth_verdict(reading, direction), values,
                lambda reading: [_depths(reading, direction)])  # fmt: skip


def depth_verdict(reading: Reading, direction: str) -> Verdict:
    """The verdict on the mean depth compared with readahead's prediction. SHOWN also if readahead predicts nothing, as
    for writes. NOT_SHOWN: up to twice the prediction."""
    mean, bounds = q.depth_mean(reading.phase, direction), predicted(reading, direction)
    if mean is None or (direction == "read" and reading.predicted_depth() is None):
        return Verdict.NOT_AVAILABLE
    if bounds is None:
        return Verdict.SHOWN
    low, high = bounds
    if low * (1 - q.AGREEMENT) <= mean <= high * (1 + q.AGREEMENT):
        return Verdict.SHOWN
    return Verdict.NOT_SHOWN if high < mean <= 2 * high * (1 + q.AGREEMENT) else Verdict.CONTRADICTED


def _depths(reading: Reading, direction: str) -> Distribution:
    times = reading.phase.histogram(direction, "depth_time")
    rows = tuple((float(at), float(at + 1), float(times[at])) for at in sorted(times))
    return Distribution("depth", "reqs.", "ns", source(reading, "depth-time"), rows)


def busy(readings: Sequence[Reading]) -> Link:
    """The link for the share of the time that the disk was busy."""

    def part(reading: Reading) -> float | None:
        idle = q.idle_share(reading.phase)
        return None if idle is None else 1 - idle

    def say(reading: Reading) -> str:
        if (share := part(reading)) is None:
            return "busy time was not counted"
        idle = "" if share >= k.CERTAIN else f" and idle for {q.percent(1 - share)}"
        return f"the disk was busy for {q.percent(share)} of the time{idle}"

    def verdict(reading: Reading) -> Verdict:
        share = part(reading)
        return Verdict.NOT_AVAILABLE if share is None else Verdict.SHOWN if share >= k.CERTAIN else Verdict.NOT_SHOWN

    def values(reading: Reading) -> list[Value]:
        return [Value("busy-share", part(reading), "of 1", source(reading, "depth-time"), (k.CERTAIN, 1.0))]

    return link("busy", "Busy and idle", readings, say, verdict, values)


def little(reading: Reading, direction: str) -> float | None:
    """MiB/s by Little's law: depth times size divided by the time from issue to completion. None: not counted."""
    mean, sectors, wait = (f(reading.phase, direction) for f in (q.depth_mean, q.size_mean, q.d2c_mean_ms))
    if mean is None or sectors is None or not wait:
        return None
    return mean * sectors * q.SECTOR / q.MIB / (wait / 1000)


def accounts(reading: Reading, direction: str) -> bool:
    """Whether little() equals the counted rate, within a tolerance.

    A request in flight at an end of the phase counts in the depth only for a part of its time. Each such request widens
    the tolerance by its share of the completed requests."""
    made, rate = little(reading, direction), q.mib_per_s(reading.phase, direction)
    if made is None or not rate:
        return False
    issued, requeued, completed, left = (
        reading.phase.count(direction, name) or 0 for name in ("issued", "requeued", "completed", "in_flight")
    )
    ends = left + max(completed + requeued + left - issued, 0)
    return abs(made / rate - 1) <= q.AGREEMENT + ends / max(completed, 1)


def throughput(readings: Sequence[Reading], direction: str) -> Link:
    """The link for throughput, and whether depth, size and time from issue to completion account for it."""

    def say(reading: Reading) -> str:
        rate, made = q.mib_per_s(reading.phase, direction), little(reading, direction)
        if rate is None:
            return "throughput was not counted"
        if made is None:
            return f"{rate:.1f} MiB/s"
        mean, sectors, wait = (f(reading.phase, direction) for f in (q.depth_mean, q.size_mean, q.d2c_mean_ms))
        equal = "=" if accounts(reading, direction) else "is NOT"
        return f"{mean:.2f} x {q.kib(sectors or 0)} / {wait:.3g} ms {equal} {rate:.1f} MiB/s"

    def verdict(reading: Reading) -> Verdict:
        rate, made = q.mib_per_s(reading.phase, direction), little(reading, direction)
        if rate is None or made is None:
            return Verdict.NOT_AVAILABLE
        return Verdict.SHOWN if accounts(reading, direction) else Verdict.CONTRADICTED

    def values(reading: Reading) -> list[Value]:
        made = little(reading, direction)
        return [
            Value("mib-per-s", q.mib_per_s(reading.phase, direction), "MiB/s", source(reading, "bytes-completed"),
                  (made, made) if made is not None else None),
            Value("d2c-mean", q.d2c_mean_ms(reading.phase, direction), "ms", source(reading, "d2c-sum-ns", "completed")),
        ]  # fmt: skip

    return link("throughput", "Throughput", readings, say, verdict, values)


def seeks(readings: Sequence[Reading]) -> Link:
    """The link for the number of seeks and their mean length."""

    def say(reading: Reading) -> str:
        number, issued = q.seeks(reading.phase), q.positioned(reading.phase)
        if number is None:
            return "seeks were not counted"
        if not number:
            return "none"
        mean = q.seek_sectors(reading.phase) / number
        return f"{number} of {issued} reads and writes were not sequential, {q.kib(mean)} away on average"

    def verdict(reading: Reading) -> Verdict:
        number, issued = q.seeks(reading.phase), q.positioned(reading.phase)
        if number is None or not issued:
            return Verdict.NOT_AVAILABLE
        return Verdict.NOT_SHOWN if number <= k.FEW * issued else Verdict.SHOWN

    def values(reading: Reading) -> list[Value]:
        number = q.seeks(reading.phase)
        far = q.seek_sectors(reading.phase) / number if number else None
        of = source(reading, "seek-forward-sectors", "seek-backward-sectors")
        return [Value("seeks", number, "reqs.", source(reading, "seek")), Value("seek-mean", far, "sectors", of)]

    return link("seeks", "Seeks", readings, say, verdict, values)


def blamed(reading: Reading) -> list[tuple[int, str, str]]:
    """Seeks as (number, class before, class after), most frequent first."""
    counts = figures.blame(reading.phase.span) or {}
    rows = [(count, origin, to) for (origin, to), count in counts.items() if count]
    return sorted(rows, key=lambda row: (-row[0], row[1], row[2]))


def blame(readings: Sequence[Reading]) -> Link:
    """The link for the source of seeks: the classes before and after, and the processes with most seeking bios."""

    def say(reading: Reading) -> str:
        rows = blamed(reading)
        if reading.phase.origin is None:
            return "classes were not counted"
        if not rows:
            return "none"
        whole = sum(count for count, _, _ in rows)
        text = ", ".join(f"{count / whole:.0%} from {origin} to {to}" for count, origin, to in rows[:3])
        who = [s for s in reading.phase.submitters or () if s.seeks][:2]
        movers = ", ".join(f"{s.comm or 'others'} {s.seeks}" for s in who)
        return text + (f"; bios that seek, by process: {movers}" if movers else "")

    def verdict(reading: Reading) -> Verdict:
        return Verdict.NOT_AVAILABLE if reading.phase.origin is None else Verdict.SHOWN

    def values(reading: Reading) -> list[Value]:
        of = source(reading, "blame")
        return [Value(f"{origin} to {to}", count, "reqs.", of) for count, origin, to in blamed(reading)]

    return link("blame", "Source of seeks", readings, say, verdict, values)


def cost(reading: Reading) -> Link:
    """The link for the share of the busy time that seeks take, and the rate without them.

    Not available if most requests are seeks, because then samples do not differ enough. The limits then compare with
    another phase."""
    title, fit = "Cost of seeks", trials.seek_cost(reading.phase.over_time)
    many = q.seeks(reading.phase) or 0
    mostly = many > q.positioned(reading.phase) / 2
    if fit is None or mostly:
        few = "there are no seeks" if not many else "the samples, or the seeks, are too few"
        why = "there are too few requests without a seek to compare with" if mostly else few
        return Link("cost", title, f"not available from the samples: {why}", Verdict.NOT_AVAILABLE)
    of = f"{fit.blocks} samples" if fit.merged == 1 else f"{fit.blocks} blocks of {fit.merged} samples"
    interval = f"{fit.ms:.2f} ms each (95 % from {fit.low_ms:.2f} to {fit.high_ms:.2f}, jackknife of {of})"
    values = (Value("seek-ms", fit.ms, "ms", source(reading, "depth-time", "bytes-completed", "seek"),
                    (fit.low_ms, fit.high_ms)),
              Value("seek-time-share", fit.share, "of 1", source(reading, "depth-time", "seek")),
              Value("stream", fit.stream_mib_per_s, "MiB/s", source(reading, "depth-time", "bytes-completed")))  # fmt: skip
    if not fit.sure():
        text = f"the samples do not show that seeks took time: {interval}"
        return Link("cost", title, text, Verdict.NOT_SHOWN, values)
    reached = _best(reading)
    alone = fit.stream_mib_per_s if fit.stream_mib_per_s and fit.stream_mib_per_s <= k.SLOWER * reached else None
    stream = f"; without seeks about {alone:.0f} MiB/s" if alone else ""
    return Link(
        "cost", title, f"{interval}, together {q.percent(fit.share)} of the busy time{stream}", Verdict.SHOWN, values
    )


def _best(reading: Reading) -> float:
    """MiB/s of the best sample. Rates far above it were never measured, so they are not printed. 0: no samples."""
    return max((octets / q.MIB / (busy / 1e9) for busy, octets, _ in reading.phase.over_time), default=0.0)


def cache(readings: Sequence[Reading], direction: str) -> Link:
    """The link for caches: bytes that the program requested, compared with bytes that the disk served."""

    def numbers(reading: Reading) -> tuple[int, int] | None:
        calls = reading.phase.host.get(("command", "rchar" if direction == "read" else "wchar"))
        served = q.octets(reading.phase, direction)
        return None if calls is None or served is None else (calls, served)

    def say(reading: Reading) -> str:
        counts = numbers(reading)
        if counts is None:
            return "the bytes that the program requested are not available"
        calls, served = counts
        if served > (1 + k.FEW) * calls:
            return (
                f"the disk served {served / q.MIB:.1f} MiB, {(served - calls) / q.MIB:.1f} MiB more than read and write calls "
                "requested: readahead past the end; libaio, io_uring and mapped files, which are not counted; or others "
                "and the kernel"
            )
        part = f"{served / q.MIB:.1f} MiB ({q.percent(served / calls)}) served by the disk"
        return f"{calls / q.MIB:.1f} MiB requested by calls, {part}"

    def verdict(reading: Reading) -> Verdict:
        counts = numbers(reading)
        if counts is None or counts[1] > (1 + k.FEW) * counts[0]:
            return Verdict.NOT_AVAILABLE
        return Verdict.SHOWN if counts[1] >= k.CERTAIN * counts[0] else Verdict.NOT_SHOWN

    def values(reading: Reading) -> list[Value]:
        calls, served = numbers(reading) or (None, None)
        return [Value("asked", calls, "bytes", source(reading, "rchar" if direction == "read" else "wchar")),
                Value("served", served, "bytes", source(reading, "bytes-completed"))]  # fmt: skip

    return link("cache", "Caches", readings, say, verdict, values)
