# SPDX-License-Identifier: GPL-2.0-or-later
"""Throughput and depth of a sweep against readahead, with the knee."""

import dataclasses
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from raidtrace.plot import style as plot

NEAR_BEST = 0.95  # the knee is the smallest readahead that reaches this part of the best


@dataclasses.dataclass(frozen=True)
class Point:
    """A cell, or several that differ in the trial: readahead in sectors, MB/s (KiB/s / 1000) with its range, reads in flight.

    depth None: not recorded. largest_sectors: the largest request, which predicts the depth; None: not known.
    """

    readahead_sectors: int
    rate: float
    low: float
    high: float
    depth: float | None
    largest_sectors: int | None


def knee(points: Sequence[Point]) -> Point:
    """The smallest readahead whose rate is within 5 % of the best."""
    best = max(point.rate for point in points)
    return min((p for p in points if p.rate >= NEAR_BEST * best), key=lambda p: p.readahead_sectors)


def readahead(series: Sequence[tuple[str, Sequence[Point]]], simulated: bool) -> Figure:
    """Upper panel: MB/s of each series (name, points); lower: reads in flight and what the readahead predicts.

    Both over the readahead in KiB, on a logarithmic scale. A ring marks the knee of each series.
    """
    picture = plot.figure(4.6)
    upper, lower = picture.subplots(2, 1, sharex=True)
    for (name, points), style in zip(series, plot.STYLES):
        ordered = sorted(points, key=lambda point: point.readahead_sectors)
        _rates(upper, name, ordered, style)
        deep = [p for p in ordered if p.depth is not None]
        lower.plot([p.readahead_sectors / 2 for p in deep], [p.depth for p in deep], color=style.line, linestyle=style.dash,
                   marker=style.marker, linewidth=2, label=name)  # fmt: skip
    _predicted(lower, [point for _, points in series for point in points])
    for panel in (upper, lower):
        panel.set_xscale("log", base=2)
        panel.grid(True, axis="y", linewidth=0.6)
        panel.set_axisbelow(True)
    values = sorted({point.readahead_sectors / 2 for _, points in series for point in points})
    lower.set_xticks(values, [f"{value:g}" for value in values])
    lower.minorticks_off()
    upper.minorticks_off()
    lower.set_yscale("log", base=2)
    lower.set_yticks([1, 2, 4, 8, 16, 32, 64, 128, 256], ["1", "2", "4", "8", "16", "32", "64", "128", "256"])
    depths = [p.depth for _, points in series for p in points if p.depth]
    lower.set_ylim(min([1.0, *depths]) / 1.3, 1.4 * max([2.0, *depths]))
    upper.set_ylim(0, 1.22 * max(p.high for _, points in series for p in points))
    upper.margins(x=0.08)
    upper.set_ylabel("simulated MB/s" if simulated else "MB/s")
    lower.set_ylabel("reads in flight, mean")
    lower.set_xlabel("readahead, KiB (half of what blockdev --getra prints)")
    upper.legend(loc="lower right")
    lower.legend(loc="upper left")
    return picture


def _rates(panel: Axes, name: str, points: Sequence[Point], style: plot.Style) -> None:
    across = [p.readahead_sectors / 2 for p in points]
    below, above = [p.rate - p.low for p in points], [p.high - p.rate for p in points]
    panel.errorbar(across, [p.rate for p in points], yerr=[below, above] if any(below) or any(above) else None, capsize=3,
                   color=style.line, linestyle=style.dash, marker=style.marker, linewidth=2, label=name)  # fmt: skip
    at = knee(points)
    panel.plot([at.readahead_sectors / 2], [at.rate], marker="o", markersize=15, fillstyle="none", color=plot.INK,
               linestyle="none")  # fmt: skip
    panel.annotate(f"knee: {at.readahead_sectors / 2:g} KiB", (at.readahead_sectors / 2, at.rate), xytext=(0, 11),
                   textcoords="offset points", ha="center", color=plot.INK, fontsize=plot.SMALL)  # fmt: skip


def _predicted(panel: Axes, points: Sequence[Point]) -> None:
    known = sorted({(p.readahead_sectors, p.largest_sectors) for p in points if p.largest_sectors})
    if len({largest for _, largest in known}) != 1 or len(known) < 2:
        return
    windows = [max(ahead / largest, 1.0) for ahead, largest in known if largest]
    panel.fill_between([ahead / 2 for ahead, _ in known], windows, [2 * window for window in windows], facecolor=plot.GRID,
                       edgecolor=plot.QUIET, linewidth=0.6, label="predicted by the readahead")  # fmt: skip
