# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of one recording: activity over time, positions on the disk, shares of depths and sizes, and seeks."""

import collections
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter, StrMethodFormatter
from numpy.typing import ArrayLike, NDArray

from raidtrace.plot import style as plot
from raidtrace.quantity import bins
from raidtrace.recording.series import DIRECTIONS, Depth, Floats, Series
from raidtrace.recording.spans import OUTSIDE, Recorded, Target

# Requests in flight over time, with the phases and the readahead.

MIN_LABELLED_SHARE = 0.055  # of the width: the name of a shorter phase is not written


def in_flight(recorded: Recorded, disks: Sequence[Target]) -> Figure | None:
    """A panel for each disk with requests in flight over seconds, and one with the readahead in KiB at the bottom.

    For each direction: a thick line for the mean of each step of the series, a band from the lowest to the highest mean
    of a sample in it, a thin line for the highest depth. None: no disk has the histogram.
    """
    shown = [(disk, one) for disk in disks if (one := recorded.series_of(disk.target)) and one.depth]
    if not shown:
        return None
    ahead = [_changes(recorded, disk) for disk, _ in shown]
    strip = any(ahead)
    height = 0.8 + 1.75 * len(shown) + (0.75 if strip else 0)
    picture, panels = plot.panels(height, [1.0] * len(shown) + [0.38] * strip)
    begin, end = recorded.begin_ns(), recorded.end_ns()
    for panel, (disk, one) in zip(panels, shown):
        phases(panel, recorded, panel is panels[0])
        for direction, depth in one.depth.items():
            if depth.deepest.any():
                _draw(panel, one, depth, direction, begin)
        panel.set_ylim(
            0,
            (1.28 if panel is panels[0] else 1.05)
            * max(1, *(int(depth.deepest.max()) for depth in one.depth.values())),
        )
        panel.set_ylabel(f"in flight\n{disk.disk[:12]}")
        if panel is panels[0] and panel.get_legend_handles_labels()[0]:
            panel.legend(ncols=2, loc="upper left", bbox_to_anchor=(0, 1.0), handlelength=2.4)
    if strip:
        _readahead(panels[-1], ahead, begin, end)
    plot.seconds_axis(panels[-1], recorded.simulated(), (end - begin) / 1e9)
    return picture


def phases(panel: Axes, recorded: Recorded, named: bool, shaded: bool = True) -> None:
    """Shade every second phase, or mark the start of each by a line. named: write the names above."""
    begin, end = recorded.begin_ns(), recorded.end_ns()
    shown = [phase for phase in recorded.phases if phase.name != OUTSIDE]
    for at, phase in enumerate(shown):
        left, right = (phase.start_ns - begin) / 1e9, ((phase.end_ns or end) - begin) / 1e9
        if not shaded:
            panel.axvline(left, color="#8a9099", linewidth=0.6)
        elif at % 2 == 0:
            panel.axvspan(left, right, color=plot.SHADE, linewidth=0, zorder=0)
        if named and right - left >= MIN_LABELLED_SHARE * (end - begin) / 1e9:
            panel.text((left + right) / 2, 1.02, phase.name[:24], transform=panel.get_xaxis_transform(), ha="center",
                       va="bottom", fontsize=plot.SMALL, color=plot.QUIET, clip_on=False)  # fmt: skip


def _changes(recorded: Recorded, disk: Target) -> list[tuple[int, int]]:
    """The values of readahead over time, as (time_ns, sectors)."""
    changes: list[tuple[int, int]] = []
    for one in recorded.settings:
        if one.target == disk.target and one.name == "readahead_sectors" and one.value.isdigit():
            if not changes or changes[-1][1] != int(one.value):
                changes.append((one.time_ns, int(one.value)))
    return changes


def _draw(panel: Axes, one: Series, depth: Depth, direction: str, begin: int) -> None:
    style = plot.OF[direction]
    edges = (one.edges - begin) / 1e9
    if one.merged > 1:
        plot.steps(panel, depth.high, edges, baseline=depth.low, color=style.line, alpha=0.3, linewidth=0)
    plot.steps(panel, depth.deepest, edges, color=style.line, alpha=0.55, linewidth=0.7)
    label = f"{direction}s, mean (thin: highest)"
    plot.steps(panel, depth.mean, edges, color=style.line, linewidth=2, linestyle=style.dash, label=label)


def _readahead(panel: Axes, ahead: Sequence[Sequence[tuple[int, int]]], begin: int, end: int) -> None:
    for at, changes in enumerate(ahead):
        if not changes:
            continue
        style = plot.STYLES[at % len(plot.STYLES)]
        times = [max(0.0, (time - begin) / 1e9) for time, _ in changes]
        values = [sectors / 2 for _, sectors in changes]
        panel.step([*times, (end - begin) / 1e9], [*values, values[-1]], where="post", color=style.line,
                   linestyle=style.dash, linewidth=1.8)  # fmt: skip
    panel.set_yscale("symlog", base=2, linthresh=64)
    values = sorted({sectors / 2 for changes in ahead for _, sectors in changes})
    panel.set_ylim(min(values) / 1.6 - (min(values) == 0), max(max(values), 1) * 1.6)
    panel.set_yticks(values, [f"{value:g}" for value in values])
    panel.minorticks_off()
    panel.set_ylabel("readahead\nKiB")


# Throughput, requests in flight and latency over time, one above the other.

PANELS = ("MiB/s", "in flight", "latency, ms")
# lengths of lines and gaps, so that directions also differ without colour
DASHES: dict[str, tuple[int, ...]] = {"read": (), "write": (2, 2)}


def values(one: Series, panel: str, direction: str) -> Floats | None:
    """The values of a direction in a panel, one for each step; NaN: no value. None: not counted, or nothing moved."""
    if direction not in one.moved or not one.moved[direction].any():
        return None
    if panel == PANELS[0]:
        seconds = one.seconds()
        rate = one.moved[direction] / (1 << 20)
        return numpy.divide(rate, seconds, out=numpy.full(len(seconds), numpy.nan), where=seconds > 0)
    if panel == PANELS[1]:
        return one.depth[direction].mean if direction in one.depth else None
    return one.d2c.get(direction)


def lines(recorded: Recorded, disk: Target, panel: str) -> Iterator[tuple[str, Series, Floats]]:
    """The lines of a panel: direction, series and values."""
    one = recorded.series_of(disk.target)
    for direction in DIRECTIONS if one else ():
        shown = values(one, panel, direction) if one else None
        if one and shown is not None:
            yield direction, one, shown


def overview(recorded: Recorded, disk: Target) -> Figure | None:
    """A panel for each of PANELS, over seconds since the recording began. None: there is nothing to draw."""
    of = {panel: list(lines(recorded, disk, panel)) for panel in PANELS}
    shown = [panel for panel in PANELS if of[panel]]
    if not shown:
        return None
    picture, panels = plot.panels(0.8 + 1.35 * len(shown), [1.0] * len(shown))
    for axes, panel in zip(panels, shown, strict=True):
        phases(axes, recorded, axes is panels[0])
        top = 0.0
        for direction, one, numbers in of[panel]:
            edges = (one.edges - recorded.begin_ns()) / 1e9
            dash = (0, DASHES[direction]) if DASHES[direction] else "-"
            plot.steps(axes, numbers, edges, color=plot.OF[direction].line, linewidth=1.6, linestyle=dash,
                       label=f"{direction}s")  # fmt: skip
            top = max(top, float(numpy.nanmax(numbers, initial=0.0)))
        axes.set_ylim(0, (1.3 if axes is panels[0] else 1.08) * (top or 1.0))
        axes.set_ylabel(panel)
    panels[0].legend(ncols=4, loc="upper left", handlelength=2.4)
    plot.seconds_axis(panels[-1], recorded.simulated(), (recorded.end_ns() - recorded.begin_ns()) / 1e9)
    return picture


# Positions of requests on the disk over time, and seeks.

MAX_ROWS = 128  # if more of the 256 parts of the disk were used, two are drawn as one
MAX_STEPS = 300  # of the map; a picture of 600 pixels shows no more
SECTORS_PER_GIB = 1 << 21


def place_map(recorded: Recorded, disk: Target) -> Figure | None:
    """A heat map of MiB/s: seconds to the right, position on the disk in GiB upwards. Below: seeks per second.

    A darker colour is a higher rate, on a logarithmic scale. A part of the disk without requests is white. Only the
    used range of the disk is drawn. None: the recording lacks the histogram place of this disk.
    """
    one = recorded.series_of(disk.target)
    if one is None or one.place is None or not one.place.any():
        return None
    begin = recorded.begin_ns()
    picture, (upper, lower) = plot.panels(4.3, [1, 0.32], right=0.95)
    edges = (one.edges - begin) / 1e9
    first, end = _used_places(one.place)
    rates = _rates(edges, one.place[:, first:end])
    part = (disk.place_sectors or 0) / SECTORS_PER_GIB or 1.0
    extent = (edges[0], edges[-1], first * part, end * part)
    filled = rates[rates > 0]
    norm = LogNorm(float(filled.min()), max(float(filled.max()), float(filled.min()) * 10))
    mesh = upper.imshow(numpy.where(rates > 0, rates, numpy.nan).T, norm=norm, cmap=plot.darker_is_more(), origin="lower",
                        aspect="auto", interpolation="nearest", extent=extent)  # fmt: skip
    place = upper.get_position()
    colours = picture.add_axes((1 - 0.8 / plot.WIDTH, place.y0, 0.15 / plot.WIDTH, place.height))
    picture.colorbar(mesh, cax=colours, format=StrMethodFormatter("{x:g}")).set_label("MiB/s")
    colours.minorticks_off()
    upper.set_facecolor(plot.FIXED_WHITE)
    upper.set_ylabel("place, GiB" if disk.place_sectors else "place, 1/256 of the disk")
    phases(upper, recorded, True, False)
    phases(lower, recorded, False)
    if one.seeks is not None:
        with numpy.errstate(divide="ignore", invalid="ignore"):
            seeks = numpy.nan_to_num(one.seeks / one.seconds(), posinf=0.0)
        plot.steps(lower, seeks, (one.edges - begin) / 1e9, color=plot.STYLES[1].line, linewidth=1.2)
    lower.set_ylim(0, None)
    lower.set_ylabel("seeks/s")
    plot.seconds_axis(lower, recorded.simulated(), (recorded.end_ns() - begin) / 1e9)
    return picture


def _used_places(place: Floats) -> tuple[int, int]:
    """The range of parts of the disk with requests (the end is not included). If two parts become one row, their number
    is even."""
    used = numpy.flatnonzero(place.sum(axis=0))
    first, end = int(used[0]), int(used[-1]) + 1
    if end - first > MAX_ROWS and (end - first) % 2:
        first, end = (first, end + 1) if end < place.shape[1] else (first - 1, end)
    return first, end


def _rates(edges: Floats, place: Floats) -> Floats:
    """MiB/s in at most MAX_STEPS equal intervals, and at most MAX_ROWS parts of the disk."""
    rows = place.shape[1] if place.shape[1] <= MAX_ROWS else place.shape[1] // 2
    by_row = place.reshape(len(place), rows, -1).sum(axis=2)
    rates = by_row / numpy.maximum(numpy.diff(edges), 1e-9)[:, None] / (1 << 20)
    # an interval gets its share of each step that it overlaps
    wide = numpy.linspace(edges[0], edges[-1], min(MAX_STEPS, len(place)) + 1)
    summed = numpy.vstack([numpy.zeros(rows), numpy.cumsum(rates * numpy.diff(edges)[:, None], axis=0)])
    at = numpy.interp(wide, edges, numpy.arange(len(edges)))
    below = numpy.minimum(at.astype(numpy.int64), len(edges) - 2)
    until = summed[below] + (at - below)[:, None] * (summed[below + 1] - summed[below])
    result = numpy.diff(until, axis=0) / numpy.maximum(numpy.diff(wide), 1e-9)[:, None]
    return numpy.where(result > 1e-9 * max(float(result.max()), 1e-12), result, 0.0)


# The distributions of depths and request sizes in the phases that moved most.

MAX_PHASES = 4  # a reader can distinguish no more next to each other
# upper bounds, included
DEPTHS = ((0, "0"), (1, "1"), (2, "2"), (4, "3-4"), (8, "5-8"), (16, "9-16"), (32, "17-32"), (64, "33-64"),
          (128, "65-128"), (255, "129-255"), (bins.DEPTH_OPEN, "256 on"))  # fmt: skip
SIZES = ((7, "below 4"), (8, "4"), (15, "4 to 8"), (16, "8"), (31, "8 to 16"), (32, "16"), (63, "16 to 32"), (64, "32"),
         (127, "32 to 64"), (128, "64"), (255, "64 to 128"), (256, "128"), (1 << 40, "above"))  # fmt: skip


def shares_of_depth(recorded: Recorded) -> Figure | None:
    """Share of time (per cent) by requests in flight: a group of bars for each range of depths, a bar for each phase.

    Each phase has the direction that moved more bytes, of all disks. None: the recording lacks the histogram.
    """
    return _bars(recorded, "depth_time", DEPTHS, lambda at: at, "requests in flight", "share of time")


def shares_of_size(recorded: Recorded) -> Figure | None:
    """Share of requests (per cent) by size in KiB, like shares_of_depth(). None: the recording lacks the histogram."""
    return _bars(recorded, "size", SIZES, lambda at: bins.size(at)[0], "size of request, KiB", "share of requests")


def _bars(
    recorded: Recorded, kind: str, classes: Sequence[tuple[int, str]], value: Callable[[int], int], across: str, up: str
) -> Figure | None:
    chosen = [(name, direction, histogram) for name, direction in busiest(recorded)
              if (histogram := _together(recorded, name, direction, kind))]  # fmt: skip
    if not chosen:
        return None
    shares = [_shares(histogram, classes, value) for _, _, histogram in chosen]
    used = [at for at in range(len(classes)) if any(share[at] > 0 for share in shares)]
    picture = plot.figure(2.9)
    panel = picture.subplots()
    width = 0.84 / len(chosen)
    for at, ((name, direction, _), share) in enumerate(zip(chosen, shares, strict=True)):
        style = plot.STYLES[at]
        places = [x - 0.42 + (at + 0.5) * width for x in range(len(used))]
        panel.bar(places, [share[one] for one in used], width, color=style.fill, hatch=style.hatch, edgecolor=plot.INK,
                  linewidth=0.6, label=f"{name[:24]} ({direction}s)")  # fmt: skip
    panel.set_xticks(range(len(used)), [classes[one][1] for one in used])
    panel.set_xlabel(across)
    panel.set_ylabel(up)
    panel.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    panel.set_ylim(0, 1.02 * max(max(share) for share in shares))
    panel.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return picture


def busiest(recorded: Recorded) -> list[tuple[str, str]]:
    """The phases with most bytes, in order of time, each with the direction that moved more."""
    moved: dict[str, collections.Counter[str]] = {}
    for span in recorded.spans:
        sums = moved.setdefault(span.phase, collections.Counter())
        for direction in ("read", "write"):
            sums[direction] += span.flow.get(direction, {}).get("bytes_issued", 0)
    kept = sorted(moved, key=lambda name: -moved[name].most_common(1)[0][1])[:MAX_PHASES]
    return [(name, sums.most_common(1)[0][0]) for name, sums in moved.items() if name in kept and any(sums.values())]


def _together(recorded: Recorded, name: str, direction: str, kind: str) -> collections.Counter[int]:
    counts: collections.Counter[int] = collections.Counter()
    for span in recorded.spans:
        if span.phase == name:
            counts.update(span.histogram(direction, kind))
    return counts


def _shares(
    histogram: Mapping[int, int], classes: Sequence[tuple[int, str]], value: Callable[[int], int]
) -> list[float]:
    sums = [0.0] * len(classes)
    for at, count in histogram.items():
        sums[next(one for one, (most, _) in enumerate(classes) if value(at) <= most)] += count
    total = sum(sums) or 1.0
    return [one / total for one in sums]


# Seeks by the classes of the requests before and after.

Ints = NDArray[numpy.int64]


def seek_counts(recorded: Recorded, target: Target) -> Ints:
    """Number of seeks of a disk in the recording: classes before x classes after."""
    counts: Ints = numpy.zeros((len(bins.CLASSES), len(bins.CLASSES)), dtype=numpy.int64)
    for span in recorded.spans:
        if span.target == target.target:
            for at, count in span.histogram("all", "blame").items():
                counts[divmod(at, len(bins.CLASSES))] += count
    return counts


def seek_matrix(recorded: Recorded, target: Target) -> Figure | None:
    """seek_table() of a disk of a recording."""
    return seek_table(seek_counts(recorded, target))


def seek_table(of: ArrayLike) -> Figure | None:
    """Seeks by class of the request before (rows) and after (columns), from seek_counts().

    Numbers are seeks; darker is more, on a logarithmic scale. Classes without a seek are left out. None: no seek, or
    blame was not counted.
    """
    counts = numpy.asarray(of, dtype=numpy.int64)
    used = [at for at in range(len(bins.CLASSES)) if counts[at].any() or counts[:, at].any()]
    if not used:
        return None
    shown = counts[numpy.ix_(used, used)]
    names = [bins.CLASSES[at] for at in used]
    picture = plot.figure(1.5 + 0.42 * len(used))
    panel = picture.subplots()
    norm = LogNorm(0.7, max(10, int(shown.max())))
    panel.pcolormesh(numpy.where(shown > 0, shown, numpy.nan), norm=norm, cmap=plot.darker_is_more(),
                     edgecolors=plot.GRID, linewidth=0.6)  # fmt: skip
    for row, column in numpy.ndindex(*shown.shape):
        if shown[row, column]:
            bright = norm(shown[row, column]) < 0.5
            panel.text(column + 0.5, row + 0.5, f"{shown[row, column]:,}", ha="center", va="center",
                       color=plot.FIXED_BLACK if bright else plot.FIXED_WHITE, fontsize=plot.SMALL)  # fmt: skip
    panel.set_facecolor(plot.FIXED_WHITE)
    panel.set_xticks(numpy.arange(len(names)) + 0.5, names)
    panel.set_yticks(numpy.arange(len(names)) + 0.5, names)
    panel.invert_yaxis()
    panel.tick_params(length=0)
    panel.set_xlabel("to a request of class")
    panel.set_ylabel("from a request\nof class")
    return picture
