# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of a sweep: rates by readahead, by file system, by sizes of file and record, and against published ones."""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullLocator

from raidtrace.plot import style as plot
from raidtrace.quantity import trials

# Throughput and depth of a sweep by readahead, with the knee.


@dataclasses.dataclass(frozen=True)
class Point:
    """A cell, or the trials of one: readahead in sectors, MB/s (KiB/s / 1000) with its range, reads in flight.

    depth None: not recorded. largest_sectors: the largest request, for the prediction of the depth; None: not known.
    """

    readahead_sectors: int
    rate: float
    low: float
    high: float
    depth: float | None
    largest_sectors: int | None


def knee(points: Sequence[Point]) -> Point:
    """The smallest readahead with a rate within 5 % of the best."""
    ordered = sorted(points, key=lambda point: point.readahead_sectors)
    sectors, _ = trials.knee([(point.readahead_sectors, point.rate) for point in ordered])
    return next(point for point in ordered if point.readahead_sectors == sectors)


def readahead(series: Sequence[tuple[str, Sequence[Point]]], simulated: bool) -> Figure:
    """Upper panel: MB/s of each series (name, points). Lower panel: reads in flight, and the prediction of the
    readahead.

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


# Comparison of file systems.


@dataclasses.dataclass(frozen=True)
class Bar:
    """A rate in MB/s (KiB/s / 1000) with its range. group: the phase or setting. name: of the bar, a file system."""

    group: str
    name: str
    rate: float
    low: float
    high: float


def bars(bars: Sequence[Bar], simulated: bool) -> Figure:
    """A group of bars for each phase or setting, a bar for each file system, MB/s upwards, each with its value."""
    groups, names = list(dict.fromkeys(bar.group for bar in bars)), list(dict.fromkeys(bar.name for bar in bars))
    picture = plot.figure(3.3)
    panel = picture.subplots()
    width = 0.84 / len(names)
    for bar in bars:
        at = names.index(bar.name)
        style = plot.STYLES[at % len(plot.STYLES)]
        across = groups.index(bar.group) - 0.42 + (at + 0.5) * width
        error = [[bar.rate - bar.low], [bar.high - bar.rate]] if bar.high > bar.low else None
        first = next(one for one in bars if one.name == bar.name) is bar
        panel.bar([across], [bar.rate], width, yerr=error, capsize=3, color=style.fill, hatch=style.hatch,
                  edgecolor=plot.INK, linewidth=0.6, label=bar.name if first else None)  # fmt: skip
        if len(bars) <= 16:
            panel.annotate(f"{bar.rate:.0f}", (across, bar.high), xytext=(0, 2), textcoords="offset points", ha="center",
                           va="bottom", fontsize=plot.SMALL)  # fmt: skip
    panel.set_xticks(range(len(groups)), groups)
    panel.tick_params(axis="x", length=0)
    panel.set_ylabel("simulated MB/s" if simulated else "MB/s")
    panel.set_ylim(0, 1.1 * max(bar.high for bar in bars))
    panel.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=min(4, len(names)))
    return picture


# IOzone's surface: throughput by sizes of file and record.

NO_DISK = 4000.0  # MB/s: above the rate of any bus of a simulated controller


def surface(rates: Mapping[tuple[int, int], float], simulated: bool) -> Figure:
    """A map of MB/s (KiB/s / 1000): record size to the right, file size upwards. Darker is more; each cell has its
    number.

    rates: (file KiB, record KiB) -> KiB/s. The axes have the measured sizes; a blank cell was not measured. In
    simulated time, the page cache takes no time: cells with data from the cache have no rate and are hatched.
    """
    files, records = sorted({file for file, _ in rates}), sorted({record for _, record in rates})
    table = numpy.full((len(files), len(records)), numpy.nan)
    for (file, record), rate in rates.items():
        table[files.index(file), records.index(record)] = rate / 1000
    picture = plot.figure(1.4 + 0.32 * len(files))
    panel = picture.subplots()
    cached = numpy.nan_to_num(table) >= NO_DISK if simulated else numpy.zeros(table.shape, dtype=bool)
    for row, column in numpy.argwhere(cached):
        panel.add_patch(
            Rectangle((column, row), 1, 1, facecolor="none", edgecolor=plot.QUIET, hatch="///", linewidth=0.4)
        )
    table[cached] = numpy.nan
    top = float(numpy.nanmax(table)) if not numpy.isnan(table).all() else 1.0
    mesh = panel.pcolormesh(table, vmin=0, vmax=top, cmap=plot.darker_is_more(), edgecolors=plot.GRID, linewidth=0.4)
    for row, column in numpy.ndindex(*table.shape):
        if not numpy.isnan(table[row, column]):
            bright = table[row, column] < 0.5 * top
            panel.text(column + 0.5, row + 0.5, f"{table[row, column]:.0f}", ha="center", va="center",
                       color=plot.FIXED_BLACK if bright else plot.FIXED_WHITE, fontsize=plot.SMALL - 1)  # fmt: skip
    panel.set_xticks(numpy.arange(len(records)) + 0.5, [_size(one) for one in records])
    panel.set_yticks(numpy.arange(len(files)) + 0.5, [_size(one) for one in files])
    panel.tick_params(length=0)
    panel.set_facecolor(plot.FIXED_WHITE)
    note = "\nhatched: came out of the page cache, which takes no simulated time" if cached.any() else ""
    panel.set_xlabel(f"size of record, K: KiB, M: MiB{note}")
    panel.set_ylabel("size of file")
    picture.colorbar(mesh, ax=panel, pad=0.01).set_label("simulated MB/s" if simulated else "MB/s")
    return picture


def _size(kib: int) -> str:
    return f"{kib // 1024}M" if kib >= 1024 and kib % 1024 == 0 else f"{kib}K"


# Published and measured figures.

CLOSE = 0.2  # of the published figure: half of the band's width


@dataclasses.dataclass(frozen=True)
class Pair:
    """A published and a measured rate, both in MB/s (KiB/s / 1000). series: the program; it determines the style."""

    series: str
    published: float
    measured: float


def scatter(pairs: Sequence[Pair], simulated: bool) -> Figure:
    """Published MB/s to the right, measured upwards, both logarithmic. On the line both are equal; the band is 20 %."""
    names = list(dict.fromkeys(pair.series for pair in pairs))
    low = 0.8 * min(min(pair.published, pair.measured) for pair in pairs)
    high = 1.25 * max(max(pair.published, pair.measured) for pair in pairs)
    picture = plot.figure(5.2)
    panel = picture.subplots()
    ends = [low, high]
    panel.fill_between(ends, [(1 - CLOSE) * e for e in ends], [(1 + CLOSE) * e for e in ends], facecolor=plot.SHADE,
                       edgecolor=plot.QUIET, linewidth=0.5, label=f"within {CLOSE:.0%}")  # fmt: skip
    panel.plot(ends, ends, color=plot.QUIET, linewidth=1, label="equal")
    for name, style in zip(names, plot.STYLES * (1 + len(names) // len(plot.STYLES))):
        mine = [pair for pair in pairs if pair.series == name]
        panel.plot([p.published for p in mine], [p.measured for p in mine], linestyle="none", marker=style.marker,
                   markersize=6.5, markerfacecolor=style.fill, markeredgecolor=plot.INK, markeredgewidth=0.6,
                   label=name)  # fmt: skip
    ticks = [t for t in (5, 10, 20, 50, 100, 200, 400, 800, 1600) if low <= t <= high]
    panel.set(xscale="log", yscale="log")
    for axis, limits in ((panel.xaxis, panel.set_xlim), (panel.yaxis, panel.set_ylim)):
        limits(low, high)
        axis.set_ticks(ticks, [str(t) for t in ticks])
        axis.set_minor_locator(NullLocator())
    panel.set_xlabel("published MB/s")
    panel.set_ylabel("simulated MB/s" if simulated else "measured MB/s")
    panel.legend(loc="upper left")
    return picture
