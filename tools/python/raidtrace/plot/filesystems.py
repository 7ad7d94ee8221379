# SPDX-License-Identifier: GPL-2.0-or-later
"""File systems beside each other."""

import dataclasses
from collections.abc import Sequence

from matplotlib.figure import Figure

from raidtrace.plot import style as plot


@dataclasses.dataclass(frozen=True)
class Bar:
    """A rate in MB/s (KiB/s / 1000) with its range. group: what stands together; name: of the bar in it, a file system."""

    group: str
    name: str
    rate: float
    low: float
    high: float


def bars(found: Sequence[Bar], simulated: bool) -> Figure:
    """A group of bars for each phase or setting, a bar for each file system, MB/s upwards, the value above each."""
    groups, names = list(dict.fromkeys(bar.group for bar in found)), list(dict.fromkeys(bar.name for bar in found))
    picture = plot.figure(3.3)
    panel = picture.subplots()
    width = 0.84 / len(names)
    for bar in found:
        at = names.index(bar.name)
        style = plot.STYLES[at % len(plot.STYLES)]
        across = groups.index(bar.group) - 0.42 + (at + 0.5) * width
        error = [[bar.rate - bar.low], [bar.high - bar.rate]] if bar.high > bar.low else None
        first = next(one for one in found if one.name == bar.name) is bar
        panel.bar([across], [bar.rate], width, yerr=error, capsize=3, color=style.fill, hatch=style.hatch,
                  edgecolor=plot.INK, linewidth=0.6, label=bar.name if first else None)  # fmt: skip
        if len(found) <= 16:
            panel.annotate(f"{bar.rate:.0f}", (across, bar.high), xytext=(0, 2), textcoords="offset points", ha="center",
                           va="bottom", fontsize=plot.SMALL)  # fmt: skip
    panel.set_xticks(range(len(groups)), groups)
    panel.tick_params(axis="x", length=0)
    panel.set_ylabel("simulated MB/s" if simulated else "MB/s")
    panel.set_ylim(0, 1.1 * max(bar.high for bar in found))
    panel.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=min(4, len(names)))
    return picture
