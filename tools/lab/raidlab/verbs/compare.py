# SPDX-License-Identifier: GPL-2.0-or-later
"""The same command on several kernels: a table, and the interpretation of the difference.

Little's law holds for any queue: bytes per second = requests in flight x bytes per request / time of a request. So a change
of the rate is the product of three changes, and all three are measured. The law does not give the cause: more requests in
flight make each request take longer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from raidlab.verbs import measures
from raidlab.verbs.measures import Sample

from raidtrace.recording import work
from raidtrace.recording.work import Kind

# Logarithms of ratios. A smaller change is called equal; a change between both is in the table, but no sentence mentions
# it.
_SAME = 0.001
_WORTH_A_WORD = 0.01
_ROWS = (
    ("mib_per_s", "MiB/s", 1.0, "{:.2f}"),
    ("in_flight_mean", "in flight, mean", 1.0, "{:.2f}"),
    ("in_flight_max", "in flight, most", 1.0, "{:.0f}"),
    ("idle_share", "none in flight, % of time", 100.0, "{:.1f}"),
    ("request_bytes_mean", "request size, mean KiB", 1 / 1024, "{:.1f}"),
    ("request_bytes_mode", "request size, mode KiB", 1 / 1024, "{:.1f}"),
    ("sequential_share", "sequential, % of requests", 100.0, "{:.2f}"),
    ("seeks", "seeks", 1.0, "{:,.0f}"),
    ("d2c_mean_ms", "issue to completion, mean ms", 1.0, "{:.3f}"),
)
# Printed instead of times that are not the model's.
_COUNTS = (
    ("requests", "requests", 1.0, "{:,.0f}"),
    ("bytes", "MiB", 1 / 2**20, "{:.2f}"),
)


@dataclass(frozen=True)
class MeasureRow:
    """One measure on each kernel; the first kernel is the reference. `values` are means over the seeds. `between` has the
    interval of the ratio of each other kernel; None with a single seed."""

    name: str
    label: str
    values: list[measures.Value]
    texts: list[str]
    between: list[tuple[float, float] | None]

    def ratio(self, which: int) -> float | None:
        first, other = self.values[0], self.values[which]
        return other / first if first and other is not None else None


@dataclass(frozen=True)
class Section:
    """One phase of one disk in one direction. `rows` is a table; `findings` explain it, one line for each kernel."""

    phase: str
    disk: str
    direction: str
    rows: list[MeasureRow]
    findings: list[str]


def sections(kernels: list[list[list[measures.Span]]], timed: bool = True) -> list[Section]:
    """The sections that all runs have in common, by phase, in the order of the first. `kernels` has the spans of the runs
    of each kernel. Without `timed`, omit measures that depend on times, and the findings, which are about a rate."""
    made = []
    for span in kernels[0][0]:
        same = [
            [next((o for o in spans if (o.phase, o.disk) == (span.phase, span.disk)), None) for spans in runs]
            for runs in kernels
        ]
        if not all(all(matching) for matching in same):
            continue
        spans = [Sample(tuple(one for one in matching if one)) for matching in same]
        for direction in measures.DIRECTIONS:
            if any(one.value(direction, "requests") for one in spans):
                made.append(_section(spans, direction, timed))
    return made


def _section(spans: list[Sample], direction: str, timed: bool) -> Section:
    rows = []
    for name, label, factor, form in _ROWS if timed else (*_COUNTS, *_ROWS):
        if not timed and measures.is_timed(name):
            continue
        values = [span.value(direction, name) for span in spans]
        texts = ["-" if value is None else form.format(value * factor) for value in values]
        first, *others = (span.values(direction, name) for span in spans)
        rows.append(MeasureRow(name, label, values, texts, [measures.interval(first, other) for other in others]))
    findings = []
    if timed:
        findings = [finding(spans[0], span, direction, letter(number)) for number, span in enumerate(spans) if number]
    return Section(spans[0].phase, spans[0].disk, direction, rows, findings)


def letter(number: int) -> str:
    """A, B, C, ..."""
    return chr(ord("A") + number)


def finding(first: Sample, other: Sample, direction: str, name: str) -> str:
    """A sentence on the change from the first kernel to another, and the factor that changed. The time of the same work
    decides which one is faster; if the work differs or is not known, the sentence is only about the rate of the disk.
    """

    def pair(measure: str) -> tuple[float, float]:
        return first.value(direction, measure) or 0.0, other.value(direction, measure) or 0.0

    rates = pair("mib_per_s")
    if not all(rates):
        return f"Not comparable: A has {rates[0]:.1f} MiB/s, {name} {rates[1]:.1f}."
    works = work.compare(first.spans[0].work, other.spans[0].work)
    seconds = [[one.seconds for one in sample.spans] for sample in (first, other)]
    before, after = (measures.mean([*some]) or 0.0 for some in seconds) if works.factor else rates
    between = measures.interval([*seconds[0]], [*seconds[1]]) if works.factor else None
    change = math.log(before / after if works.factor else after / before)
    if works.factor and between and measures.is_chance(between):
        return (
            f"{name} and A differ only by chance: {name} takes {after / before:.3f} times as long for the same work, "
            f"{between[0]:.3f} to {between[1]:.3f} at 95 %."
        )
    if works.factor and abs(change) < _SAME:
        return f"{name} takes as long as A for the same work: {before:.3f} and {after:.3f} s."
    if works.factor:
        faster = "less" if change > 0 else "more"
        text = f"{name} takes {abs(after / before - 1):.1%} {faster} time than A for the same work: "
        text += f"{before:.3f} -> {after:.3f} s"
        text += f" ({between[0]:.3f} to {between[1]:.3f} times, at 95 %). " if between else ". "
    else:
        known = "is not known to be the same" if works.kind is Kind.UNKNOWN else "differs"
        text = f"The work of A and {name} {known}, so neither is called faster. Rate of the disk: "
        text += f"{before:.1f} -> {after:.1f} MiB/s. "
        if abs(change) < _SAME:
            return text.rstrip()
    causes = {
        "depth": _log_ratio(pair("in_flight_mean")),
        "size": _log_ratio(pair("request_bytes_mean")),
        "time": -_log_ratio(pair("d2c_mean_ms")),
        "bytes": -_log_ratio(pair("bytes")) if works.factor else 0.0,
    }
    cause = max(causes, key=lambda one: math.copysign(1.0, change) * causes[one])
    parts = {"depth": _depth(first, other, direction), "size": _size(pair), "time": _time(pair), "bytes": _bytes(pair)}
    rest = [parts[one] for one in causes if one != cause and abs(causes[one]) >= _WORTH_A_WORD]
    same = {"depth": "number of requests in flight", "size": "size of the requests", "time": "time of a request"}
    kept = [same[one] for one in same if one != cause and abs(causes[one]) < _SAME]
    text += f"The difference is in {parts[cause]}."
    if rest:
        text += f" Also changed: {' and '.join(rest)}."
    if kept:
        text += f" The {' and the '.join(kept)} did not change."
    return text + _order(pair) + " For the reason: raidctl explain."


def _log_ratio(pair: tuple[float, float]) -> float:
    return math.log(pair[1] / pair[0]) if pair[0] and pair[1] else 0.0


def _depth(first: Sample, other: Sample, direction: str) -> str:
    before, after = (span.value(direction, "in_flight_mean") or 0.0 for span in (first, other))
    idle = [(span.value(direction, "idle_share") or 0.0) * 100 for span in (first, other)]
    text = f"the number of requests in flight, {before:.2f} -> {after:.2f} on average"
    if abs(idle[1] - idle[0]) >= 1.0:
        text += f" (nothing in flight {idle[0]:.1f} % -> {idle[1]:.1f} % of the time)"
    return text


def _size(pair: Callable[[str], tuple[float, float]]) -> str:
    before, after = (size / 1024 for size in pair("request_bytes_mean"))
    return f"the size of the requests, {before:.1f} -> {after:.1f} KiB on average"


def _bytes(pair: Callable[[str], tuple[float, float]]) -> str:
    before, after = (octets / 2**20 for octets in pair("bytes"))
    return f"the bytes that the disk moved for the work, {before:.1f} -> {after:.1f} MiB"


def _time(pair: Callable[[str], tuple[float, float]]) -> str:
    before, after = pair("d2c_mean_ms")
    return f"the time of a request, {before:.3f} -> {after:.3f} ms on average"


def _order(pair: Callable[[str], tuple[float, float]]) -> str:
    """Whether the order of the requests changed, which changes the time of a request."""
    before, after = pair("seeks")
    share = [value * 100 for value in pair("sequential_share")]
    if abs(share[1] - share[0]) < 0.1:
        return f" The order is the same: {share[1]:.2f} % of the requests are sequential."
    return f" The order changed: {before:,.0f} -> {after:,.0f} seeks, {share[0]:.2f} -> {share[1]:.2f} % sequential."


def lines(section: Section) -> list[str]:
    """The table as text."""
    count = len(section.rows[0].values)
    head = [letter(number) for number in range(count)] + [f"{letter(number)}/A" for number in range(1, count)]
    with_intervals = any(any(row.between) for row in section.rows)
    head += ["95 %"] * (count - 1) if with_intervals else []
    table = [f"{section.direction + 's':30}" + "".join(f"{word:>12}" for word in head)]
    for row in section.rows:
        # A base that is printed as zero has no ratio that a reader could check.
        ratios = [row.ratio(number) if row.texts[0].strip("0.") else None for number in range(1, count)]
        cells = row.texts + ["-" if ratio is None else f"{ratio:.3f}" for ratio in ratios]
        if with_intervals:
            cells += [f"{one[0]:.3f}-{one[1]:.3f}" if one else "-" for one in row.between]
        table.append(f"  {row.label:28}" + "".join(f"{cell:>12}" for cell in cells))
    return table
