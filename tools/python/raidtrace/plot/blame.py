# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose requests took the head away from whose."""

import numpy
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from raidtrace.plot import style as plot
from raidtrace.quantity import bins
from raidtrace.recording.spans import Recorded, Target

Ints = NDArray[numpy.int64]


def counts(recorded: Recorded, target: Target) -> Ints:
    """Seeks of a disk over the recording: classes that the head came from x classes that it went to."""
    found: Ints = numpy.zeros((len(bins.CLASSES), len(bins.CLASSES)), dtype=numpy.int64)
    for span in recorded.spans:
        if span.target == target.target:
            for at, count in span.histogram("all", "blame").items():
                found[divmod(at, len(bins.CLASSES))] += count
    return found


def matrix(recorded: Recorded, target: Target) -> Figure | None:
    """As table(), of a disk of a recording."""
    return table(counts(recorded, target))


def table(of: ArrayLike) -> Figure | None:
    """Seeks by class of the request that the head came from (rows) and of the one it went to (columns): see counts().

    Numbers are seeks, darker is more, on a logarithmic scale. Classes without a seek are left out. None: no seek, or blame
    was not counted.
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
    panel.pcolormesh(
        numpy.where(shown > 0, shown, numpy.nan),
        norm=norm,
        cmap=plot.darker_is_more(),
        edgecolors=plot.GRID,
        linewidth=0.6,
    )
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
