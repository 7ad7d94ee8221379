# SPDX-License-Identifier: GPL-2.0-or-later
"""Throughput, requests in flight and latency over time, one above the other."""

from collections.abc import Iterator

import numpy
from matplotlib.figure import Figure

from raidtrace.plot import depth as plot_depth
from raidtrace.plot import style as plot
from raidtrace.recording.series import DIRECTIONS, Floats, Series
from raidtrace.recording.spans import Recorded, Target

PANELS = ("MiB/s", "in flight", "latency, ms")
# lengths of lines and gaps, so that directions are told apart without colour
DASHES: dict[str, tuple[int, ...]] = {"read": (), "write": (2, 2)}


def values(one: Series, panel: str, direction: str) -> Floats | None:
    """What a panel shows of a direction, a number for each step; NaN: there is none. None: not counted, or nothing moved."""
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
    """All lines of a panel: direction, series and values."""
    one = recorded.series_of(disk.target)
    for direction in DIRECTIONS if one else ():
        shown = values(one, panel, direction) if one else None
        if one and shown is not None:
            yield direction, one, shown


def over_time(recorded: Recorded, disk: Target) -> Figure | None:
    """A panel each of PANELS; seconds since the recording began to the right. None: there is nothing to show."""
    of = {panel: list(lines(recorded, disk, panel)) for panel in PANELS}
    shown = [panel for panel in PANELS if of[panel]]
    if not shown:
        return None
    picture, panels = plot.panels(0.8 + 1.35 * len(shown), [1.0] * len(shown))
    for axes, panel in zip(panels, shown, strict=True):
        plot_depth.phases(axes, recorded, axes is panels[0])
        top = 0.0
        for direction, one, numbers in of[panel]:
            edges = (one.edges - recorded.begin_ns()) / 1e9
            dash = (0, DASHES[direction]) if DASHES[direction] else "-"
            plot.steps(
                axes,
                numbers,
                edges,
                color=plot.OF[direction].line,
                linewidth=1.6,
                linestyle=dash,
                label=f"{direction}s",
            )
            top = max(top, float(numpy.nanmax(numbers, initial=0.0)))
        axes.set_ylim(0, (1.3 if axes is panels[0] else 1.08) * (top or 1.0))
        axes.set_ylabel(panel)
    panels[0].legend(ncols=4, loc="upper left", handlelength=2.4)
    plot.seconds_axis(panels[-1], recorded.simulated(), (recorded.end_ns() - recorded.begin_ns()) / 1e9)
    return picture
