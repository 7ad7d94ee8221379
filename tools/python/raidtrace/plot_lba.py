# SPDX-License-Identifier: GPL-2.0-or-later
"""Where on the disk requests went over time, and when the head had to seek."""

import numpy
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from raidtrace import plot, plot_depth
from raidtrace.overview import Overview
from raidtrace.recording import Target
from raidtrace.series import Floats

ROWS = 128  # of the 256 parts of the disk two are drawn as one
WIDEST = 300  # steps of the map; more are not told apart at 600 pixels
SECTORS_PER_GIB = 1 << 21


def over_time(overview: Overview, disk: Target) -> Figure | None:
    """Heat map: seconds to the right, place on the disk in GiB upwards, MiB/s read and written there; below seeks per second.

    Darker is more, on a logarithmic scale; a part of the disk that nothing was read from or written to is white. None: the
    recording does not have the histogram place of this disk.
    """
    one = overview.series_of(disk)
    if one is None or one.place is None or not one.place.any():
        return None
    begin = overview.begin_ns()
    picture = plot.figure(4.3)
    upper, lower = picture.subplots(2, 1, sharex=True, height_ratios=[1, 0.32])
    edges, rates = _map((one.edges - begin) / 1e9, one.place)
    size = (disk.place_sectors or 0) * 256 / SECTORS_PER_GIB
    filled = rates[rates > 0]
    norm = LogNorm(float(filled.min()), max(float(filled.max()), float(filled.min()) * 10))
    mesh = upper.pcolormesh(edges, numpy.linspace(0, size or 256, ROWS + 1), numpy.where(rates > 0, rates, numpy.nan).T,
                            norm=norm, cmap=plot.darker_is_more(), rasterized=True)  # fmt: skip
    picture.colorbar(mesh, ax=[upper, lower], pad=0.01, aspect=24, format=StrMethodFormatter("{x:g}")).set_label(
        "MiB/s"
    )
    upper.set_facecolor(plot.FIXED_WHITE)
    upper.set_ylabel("place, GiB" if size else "place, 1/256 of the disk")
    plot_depth.phases(upper, overview, True, False)
    plot_depth.phases(lower, overview, False)
    if one.seeks is not None:
        with numpy.errstate(divide="ignore", invalid="ignore"):
            seeks = numpy.nan_to_num(one.seeks / one.seconds(), posinf=0.0)
        lower.stairs(
            seeks, (one.edges - begin) / 1e9, color=plot.STYLES[1].line, linewidth=1.2, fill=False, baseline=None
        )
    lower.set_ylim(0, None)
    lower.set_ylabel("seeks/s")
    plot.seconds_axis(lower, overview.simulated(), (overview.end_ns() - begin) / 1e9)
    return picture


def _map(edges: Floats, place: Floats) -> tuple[Floats, Floats]:
    """At most WIDEST steps and ROWS parts: edges, and MiB/s of each step and part."""
    by_row = place.reshape(len(place), ROWS, -1).sum(axis=2)
    take = -(-len(place) // WIDEST)
    starts = numpy.arange(0, len(place), take)
    moved = numpy.add.reduceat(by_row, starts, axis=0)
    wide = numpy.append(edges[starts], edges[-1])
    length = numpy.maximum(numpy.diff(wide), 1e-9)
    return wide, moved / length[:, None] / (1 << 20)
