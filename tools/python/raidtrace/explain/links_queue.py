# SPDX-License-Identifier: GPL-2.0-or-later
"""Links of the chain from the setting to the size of requests: what the page cache and the block layer made of a workload.

Each function makes one link of one reading or of two side by side.
"""

from collections.abc import Callable, Sequence

from raidtrace.explain.evidence import Distribution, Link, Source, Value, Verdict, worst
from raidtrace.quantity import bins
from raidtrace.recording import quantities as q
from raidtrace.recording.quantities import Reading

AHEAD = 0.5  # part of the bytes from which on a phase counts as read ahead
TURNS = 0.1  # streams take turns where so many windows of readahead begin elsewhere than the one before ended
FOLLOWS = 0.5  # part of the bios in a stream from which on a phase counts as read in order


def source(reading: Reading, *counters: str) -> Source:
    """Where numbers of a reading come from."""
    return Source(reading.letter, reading.phase.disk.name, reading.phase.phase, counters)


def each(readings: Sequence[Reading], say: Callable[[Reading], str]) -> str:
    """The text of each reading, with its letter where there are two different ones."""
    texts = [say(reading) for reading in readings]
    if len(set(texts)) == 1:
        return texts[0]
    return "\n".join(f"{reading.letter}: {text}" for reading, text in zip(readings, texts, strict=True))


def setting(readings: Sequence[Reading]) -> Link:
    """Readahead, as it was set."""
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
        owner = f" of {reading.above.disk.name}, the disk above it" if reading.above else ""
        moved = ", and changed during the phase" if "readahead_sectors" in reading.phase.changed else ""
        return f"readahead is {sectors} sectors, {q.kib(sectors)}{owner}{moved}"

    return Link("setting", "Setting", each(readings, say), Verdict.SHOWN if known else Verdict.NOT_AVAILABLE, values)


def window(readings: Sequence[Reading]) -> Link:
    """Whether what was read was read ahead, and in windows of which size."""
    return Link(
        "window", "Readahead window", each(readings, _window), worst(_window_verdict(r) for r in readings),
        tuple(value for r in readings for value in _window_values(r)),
        tuple(distribution for r in readings for distribution in _windows(r)),
    )  # fmt: skip


def in_order(reading: Reading) -> float | None:
    """Part of the bios that continue a stream; without streams, that follow the one before; without these, of requests."""
    for counter, of in (("stream_queued", "queued"), ("sequential_queued", "queued"), ("sequential", "issued")):
        share = q.share(reading.phase, "read", counter, of)
        if share is not None:
            return share
    return None


def ahead(reading: Reading) -> float | None:
    """Part of the bytes read that readahead requested."""
    return q.share(reading.phase, "read", "bytes_ahead_queued", "bytes_queued")


def streams(reading: Reading) -> int:
    """Streams that take turns: 1 where bios change their place for fewer than a TURNS of the windows of readahead, as one
    reader's do that looks up now and then where its file goes on."""
    queued, follow, moved = (
        reading.phase.count("read", name) for name in ("queued", "sequential_queued", "bytes_queued")
    )
    window = (reading.readahead_sectors() or 0) * q.SECTOR
    if queued is not None and follow is not None and moved and window and (queued - follow) * window < TURNS * moved:
        return 1
    return max(reading.phase.timeline.streams or 1, 1)


def predicted(reading: Reading, direction: str) -> tuple[float, float] | None:
    """Reads in flight that readahead makes, of all streams together. None: of writes and of what is not read ahead nothing
    is predicted, or readahead was not recorded."""
    part, one = ahead(reading), reading.predicted_depth()
    if direction != "read" or one is None or (part is not None and part < AHEAD):
        return None
    return one[0], one[1] * streams(reading)


def window_sectors(reading: Reading) -> tuple[int, float] | None:
    """The window size that most sectors were read with, and their share. None: this kernel does not tell windows."""
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


def _window_verdict(reading: Reading) -> Verdict:
    read, order = ahead(reading), in_order(reading)
    if reading.readahead_sectors() is None or read is None or order is None:
        return Verdict.NOT_AVAILABLE
    return Verdict.SHOWN if read >= AHEAD and order >= FOLLOWS and _as_set(reading) else Verdict.NOT_SHOWN


def _as_set(reading: Reading) -> bool:
    """Whether most bytes came in windows as large as readahead is set; true where the kernel does not report windows."""
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
        return "what was read ahead was not counted"
    if read < AHEAD:
        return f"{q.percent(read)} of the bytes were read ahead"
    if order < FOLLOWS:
        return f"only {q.percent(order)} of the bios continue a stream: nothing follows for a window to hold"
    text = f"{q.percent(read)} of the bytes were read ahead, {q.percent(order)} of the bios continue a stream"
    largest = window_sectors(reading)
    if largest is None:
        return f"{text}; windows are not available: this kernel does not tell their size"
    other = "" if _as_set(reading) else ", not as large as readahead is set"
    return f"{text}; {largest[1]:.0%} of what windows asked for came in windows of {q.kib(largest[0])}{other}"


def _window_values(reading: Reading) -> list[Value]:
    largest, sectors = window_sectors(reading), reading.readahead_sectors()
    predicted = (float(sectors), float(sectors)) if sectors is not None else None
    return [
        Value("ahead-share", ahead(reading), "of 1", source(reading, "bytes-ahead-queued", "bytes-queued")),
        Value("stream-share", in_order(reading), "of 1", source(reading, "stream-queued", "queued")),
        Value("window", largest[0] if largest else None, "sectors", source(reading, "ra-sync", "ra-async"), predicted,
              "" if largest else "this kernel does not tell windows"),
    ]  # fmt: skip


def _windows(reading: Reading) -> list[Distribution]:
    distributions = []
    for kind in ("ra_sync", "ra_async"):
        sizes = reading.phase.histogram("all", kind)
        rows = tuple((float(bins.size(at)[0]), float(bins.size(at)[1]), float(sizes[at])) for at in sorted(sizes))
        if rows:
            name = kind.replace("_", "-")
            distributions.append(Distribution(name, "sectors", "windows", source(reading, name), rows))
    return distributions


def bios(readings: Sequence[Reading], direction: str) -> Link:
    """What the page cache or the program gave the block layer."""

    def say(reading: Reading) -> str:
        number, size = reading.phase.count(direction, "queued"), q.bio_mean(reading.phase, direction)
        if number is None or size is None:
            return "bios were not counted"
        text = f"{number} bios of {q.kib(size)} on average"
        set_to = reading.readahead_sectors()
        if direction != "read" or set_to is None or size <= set_to:
            return text
        # page_cache_sync_ra(): a window is not smaller than the read, up to the largest request
        return f"{text}, more than readahead is set to: of a read as large the kernel takes up to a whole request"

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
    """How bios became requests: bios + splits = requests + merges, except for those not yet issued or never issued."""
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
        # no more than the queue's requests are between queue and issue when a phase begins or ends
        slack = reading.phase.setting("nr_requests") or 256
        return Verdict.SHOWN if abs(queued + cut - issued + again - sum(merged)) <= slack else Verdict.CONTRADICTED

    def say(reading: Reading) -> str:
        counts = numbers(reading)
        if counts is None:
            return "splits and merges were not counted"
        queued, cut, issued, again, *merged = counts
        return f"{queued} bios + {cut} splits = {issued - again} requests + {sum(merged)} merges"

    requests = ("issued", "reissued", "request_merges")
    return Link("splits", "Splits and merges", each(readings, say), worst(verdict(r) for r in readings), tuple(
        Value(name, n, "reqs." if name in requests else "bios", source(r, name.replace("_", "-")))
        for r in readings for name, n in zip(names, numbers(r) or ())
    ))  # fmt: skip


def size(readings: Sequence[Reading], direction: str) -> Link:
    """What size requests have, against the largest that the disk takes."""

    def verdict(reading: Reading) -> Verdict:
        mode, largest = q.size_mode(reading.phase, direction), reading.largest_sectors()
        if mode is None or largest is None:
            return Verdict.NOT_AVAILABLE
        return Verdict.SHOWN if mode[0] == largest and mode[1] >= 0.5 else Verdict.NOT_SHOWN

    def say(reading: Reading) -> str:
        mode, largest = q.size_mode(reading.phase, direction), reading.largest_sectors()
        if mode is None:
            return "no size is the most frequent among those counted exactly"
        text = f"{q.percent(mode[1])} of the requests are {q.kib(mode[0])}"
        if largest is None:
            return text
        return f"{text}, {'the largest' if mode[0] == largest else f'where up to {q.kib(largest)} are'} possible"

    def values(reading: Reading) -> list[Value]:
        mode, largest = q.size_mode(reading.phase, direction), reading.largest_sectors()
        predicted = (float(largest), float(largest)) if largest else None
        return [
            Value("size-mode", mode[0] if mode else None, "sectors", source(reading, "size"), predicted),
            Value(
                "size-mean", q.size_mean(reading.phase, direction), "sectors", source(reading, "bytes-issued", "issued")
            ),
        ]

    def sizes(reading: Reading) -> Distribution:
        table = reading.phase.histogram(direction, "size")
        rows = tuple((float(bins.size(at)[0]), float(bins.size(at)[1]), float(table[at])) for at in sorted(table))
        return Distribution("size", "sectors", "reqs.", source(reading, "size"), rows)

    return Link("size", "Request size", each(readings, say), worst(verdict(r) for r in readings),
                tuple(value for r in readings for value in values(r)), tuple(map(sizes, readings)))  # fmt: skip
