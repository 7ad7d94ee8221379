# SPDX-License-Identifier: GPL-2.0-or-later
"""Throughput, requests in flight and latency over time, one above the other; of two recordings on one scale."""

from collections.abc import Iterator, Sequence

import numpy
from matplotlib.figure import Figure

from raidtrace.plot import depth as plot_depth
from raidtrace.plot import style as plot
from raidtrace.recording.series import DIRECTIONS, Floats, Series
from raidtrace.recording.spans import Recorded, Target

PANELS = ("MiB/s", "in flight", "latency, ms")
# by direction, of the first recording and of the second: lengths of lines and gaps, so that they are told apart without colour
DASHES = {"read": ((), (6, 3)), "write": ((2, 2), (6, 2, 2, 2))}


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


def lines(found: Sequence[tuple[Recorded, Target]], panel: str) -> Iterator[tuple[int, str, Series, Floats]]:
    """All lines of a panel: number of the recording, direction, series and values."""
    for at, (recorded, disk) in enumerate(found):
        one = recorded.series_of(disk.target)
        for direction in DIRECTIONS if one else ():
            shown = values(one, panel, direction) if one else None
            if one and shown is not None:
                yield at, direction, one, shown


def over_time(found: Sequence[tuple[Recorded, Target]]) -> Figure | None:
    """A panel each of PANELS; seconds since each recording began to the right. None: there is nothing to show.

    found: one recording or two, each with a disk.
    """
    of = {panel: list(lines(found, panel)) for panel in PANELS}
    shown = [panel for panel in PANELS if of[panel]]
    if not shown:
        return None
    picture, panels = plot.panels(0.8 + 1.35 * len(shown), [1.0] * len(shown))
    for axes, panel in zip(panels, shown, strict=True):
        if len(found) == 1:
            plot_depth.phases(axes, found[0][0], axes is panels[0])
        top = 0.0
        for at, direction, one, numbers in of[panel]:
            edges = (one.edges - found[at][0].begin_ns()) / 1e9
            label = f"{direction}s" + (f", {'AB'[at]}" if len(found) > 1 else "")
            dash = (0, DASHES[direction][at]) if DASHES[direction][at] else "-"
            plot.steps(axes, numbers, edges, color=plot.OF[direction].line, linewidth=1.6, linestyle=dash, label=label)
            top = max(top, float(numpy.nanmax(numbers, initial=0.0)))
        axes.set_ylim(0, (1.3 if axes is panels[0] else 1.08) * (top or 1.0))
        axes.set_ylabel(panel)
    panels[0].legend(ncols=4, loc="upper left", handlelength=2.4)
    longest = max((one.end_ns() - one.begin_ns()) / 1e9 for one, _ in found)
    plot.seconds_axis(panels[-1], all(one.simulated() for one, _ in found), longest)
    return picture
