# SPDX-License-Identifier: GPL-2.0-or-later
"""The demo's figures as text of at most 100 columns."""

import textwrap
from collections.abc import Sequence

from raidtrace.demo.truth import CLOCK_READ_NS, CLOCK_READS, Verdict
from raidtrace.demo.workload import Cell, Row, Spread
from raidtrace.quantity.units import SECTOR_BYTES
from raidtrace.recording.quantities import kib

WIDTH = 100


WIDTHS = (-13, 7, 8, 10, 10, 8, 5, 9, 11, 8)  # columns; negative: to the left


def _line(*fields: str) -> str:
    columns = zip(fields, WIDTHS, strict=True)
    return " ".join(f"{field:{'<' if width < 0 else '>'}{abs(width)}}" for field, width in columns).rstrip()


def _or_dash(value: float | None, form: str, per: float = 1.0) -> str:
    return "-" if value is None else format(value / per, form)


def spread(found: Sequence[Spread]) -> list[str]:
    """What one run is good for, MB/s."""
    form = "{:27} {:>6} {:>8} {:>8} {:>8}   {}"
    lines = [
        f"Under {len(found[0].draws)} draws of chance (--seeds), MB/s simulated; in brackets the interval that holds",
        "the median of all draws at 95 %:",
    ]
    lines.append(form.format("", "setra", "least", "median", "most", "").rstrip())
    for one in found:
        said = one.summary()
        least, median, most, low, high = (
            f"{value / 1000:.1f}"
            for value in (min(one.draws), said.median, max(one.draws), said.low or 0, said.high or 0)
        )
        name = f"{one.cell.title()} {one.phase}"
        lines.append(form.format(name, one.cell.setra_sectors, least, median, most, f"({low} to {high})"))
    return lines


def table(rows: Sequence[Row]) -> list[str]:
    """Read phases, one line each, with the ratio tuned/untuned after each pair."""
    lines = [
        _line("", "setra", "setra", "MB/s", "MB/s", "in-flight", "reads", "dominant", "sequential", ""),
        _line("read phase of", "sectors", "KiB", "simulated", "published", "mean", "max", "request", "share", "seeks"),
    ]
    first: dict[str, Row] = {}
    for row in rows:
        size = None if row.request_bytes_mode is None else row.request_bytes_mode // SECTOR_BYTES
        setra = row.cell.setra_sectors
        lines.append(
            _line(
                row.cell.title(),
                str(setra),
                f"{setra / 2:g}",
                _or_dash(row.kib_per_s, ".1f", 1000),
                _or_dash(row.published_kib_per_s, ".1f", 1000),
                _or_dash(row.inflight_reads_mean, ".2f"),
                str(row.inflight_reads_max),
                "-" if size is None else kib(size),
                _or_dash(row.sequential_share, ".4f"),
                str(row.seeks),
            )
        )
        untuned = first.setdefault(row.cell.title(), row)
        if untuned is not row:
            lines.append(_ratio(untuned, row))
    lines += [
        "MB/s: KiB/s / 1000, as published. Simulated: real Linux and 3w-9xxx, model array, simulated time.",
        "-: not published. Sequential: issued where the request before ended; seeks: issued elsewhere.",
    ]
    return lines


def _ratio(untuned: Row, tuned: Row) -> str:
    def ratio(what: str) -> str:
        before, after = getattr(untuned, what), getattr(tuned, what)
        return f"x{after / before:.2f}" if before and after else "-"

    return _line(
        "  ratio",
        "",
        "",
        ratio("kib_per_s"),
        ratio("published_kib_per_s"),
        ratio("inflight_reads_mean"),
        "",
        "",
        "",
        "",
    )


def paragraph(sentences: Sequence[str]) -> list[str]:
    """Sentences as lines."""
    return textwrap.wrap(" ".join(sentences), WIDTH, initial_indent="  ", subsequent_indent="  ")


def verification(cell: Cell, verdict: Verdict, complaints: Sequence[str]) -> list[str]:
    """What was compared with the controller's log for one run, and what did not agree."""
    if complaints:
        return [f"{cell.name():<11} DOES NOT AGREE:"] + [f"  {line}" for line in complaints]
    added = ", ".join(f"{count} {name}" for name, count in sorted(verdict.added.items())) or "none"
    reads, writes = verdict.commands["read"], verdict.commands["write"]
    moved = sum(verdict.bytes.values())
    depths = verdict.depths
    if depths.apart == 0 and depths.found_other == 0:
        apart = f"depth: equal over all time and at every issue (allowed: {CLOCK_READS * CLOCK_READ_NS} ns per command)"
    else:
        apart = (
            f"depth: differs {depths.apart:.3%} of the time (bound {depths.bound:.3%}), at {depths.found_other} issues"
        )
    return [
        f"{cell.name():<11} equal: {reads} reads, {writes} writes, {moved} bytes, every size; added by SCSI: {added}",
        f"{'':<11} {apart}",
    ]
