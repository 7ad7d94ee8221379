# SPDX-License-Identifier: GPL-2.0-or-later
"""Where on the disk requests went over time, and when the head had to seek."""

import numpy
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from raidtrace.plot import depth as plot_depth
from raidtrace.plot import style as plot
from raidtrace.recording.series import Floats
from raidtrace.recording.spans import Recorded, Target

ROWS = 128  # where more of the 256 parts of the disk were used two are drawn as one
WIDEST = 300  # steps of the map; more are not told apart at 600 pixels
SECTORS_PER_GIB = 1 << 21


def over_time(recorded: Recorded, disk: Target) -> Figure | None:
    """Heat map: seconds to the right, place on the disk in GiB upwards as far as it was used, MiB/s read and written
    there; below seeks per second.

    Darker is more, on a logarithmic scale; a part of the disk that nothing was read from or written to is white. None: the
    recording does not have the histogram place of this disk.
    """
    one = recorded.series_of(disk.target)
    if one is None or one.place is None or not one.place.any():
        return None
    begin = recorded.begin_ns()
    picture, (upper, lower) = plot.panels(4.3, [1, 0.32], right=0.95)
    edges = (one.edges - begin) / 1e9
    first, end = _used(one.place)
    rates = _map(edges, one.place[:, first:end])
    part = (disk.place_sectors or 0) / SECTORS_PER_GIB or 1.0
    extent = (edges[0], edges[-1], first * part, end * part)
    filled = rates[rates > 0]
    norm = LogNorm(float(filled.min()), max(float(filled.max()), float(filled.min()) * 10))
    mesh = upper.imshow(numpy.where(rates > 0, rates, numpy.nan).T, norm=norm, cmap=plot.darker_is_more(), origin="lower",
                        aspect="auto", interpolation="nearest", extent=extent)  # fmt: skip
    place = upper.get_position()
    beside = picture.add_axes((1 - 0.8 / plot.WIDTH, place.y0, 0.15 / plot.WIDTH, place.height))
    picture.colorbar(mesh, cax=beside, format=StrMethodFormatter("{x:g}")).set_label("MiB/s")
    beside.minorticks_off()
    upper.set_facecolor(plot.FIXED_WHITE)
    upper.set_ylabel("place, GiB" if disk.place_sectors else "place, 1/256 of the disk")
    plot_depth.phases(upper, recorded, True, False)
    plot_depth.phases(lower, recorded, False)
    if one.seeks is not None:
        with numpy.errstate(divide="ignore", invalid="ignore"):
            seeks = numpy.nan_to_num(one.seeks / one.seconds(), posinf=0.0)
        plot.steps(lower, seeks, (one.edges - begin) / 1e9, color=plot.STYLES[1].line, linewidth=1.2)
    lower.set_ylim(0, None)
    lower.set_ylabel("seeks/s")
    plot.seconds_axis(lower, recorded.simulated(), (recorded.end_ns() - begin) / 1e9)
    return picture


def _used(place: Floats) -> tuple[int, int]:
    """From which part of the disk to which (not included) anything was moved; an even number of them where two are one row."""
    used = numpy.flatnonzero(place.sum(axis=0))
    first, end = int(used[0]), int(used[-1]) + 1
    if end - first > ROWS and (end - first) % 2:
        first, end = (first, end + 1) if end < place.shape[1] else (first - 1, end)
    return first, end


def _map(edges: Floats, place: Floats) -> Floats:
    """MiB/s in WIDEST equal stretches of time, or fewer, at most ROWS parts of the disk."""
    rows = place.shape[1] if place.shape[1] <= ROWS else place.shape[1] // 2
    by_row = place.reshape(len(place), rows, -1).sum(axis=2)
    rates = by_row / numpy.maximum(numpy.diff(edges), 1e-9)[:, None] / (1 << 20)
    # every stretch has its share of each step that it lies in
    wide = numpy.linspace(edges[0], edges[-1], min(WIDEST, len(place)) + 1)
    summed = numpy.vstack([numpy.zeros(rows), numpy.cumsum(rates * numpy.diff(edges)[:, None], axis=0)])
    at = numpy.interp(wide, edges, numpy.arange(len(edges)))
    below = numpy.minimum(at.astype(numpy.int64), len(edges) - 2)
    until = summed[below] + (at - below)[:, None] * (summed[below + 1] - summed[below])
    result = numpy.diff(until, axis=0) / numpy.maximum(numpy.diff(wide), 1e-9)[:, None]
    return numpy.where(result > 1e-9 * max(float(result.max()), 1e-12), result, 0.0)
