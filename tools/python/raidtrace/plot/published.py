# SPDX-License-Identifier: GPL-2.0-or-later
"""Published figures against measured ones."""

import dataclasses
from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from raidtrace.plot import style as plot

CLOSE = 0.2  # the band: within so much of the published figure


@dataclasses.dataclass(frozen=True)
class Pair:
    """A published rate and a measured one, both MB/s (KiB/s / 1000). series: what is drawn alike, as the program."""

    series: str
    published: float
    measured: float


def scatter(pairs: Sequence[Pair], simulated: bool) -> Figure:
    """Published MB/s to the right, measured upwards, both logarithmic; equal is the line, within 20 % the band."""
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
