# SPDX-License-Identifier: GPL-2.0-or-later
"""IOzone's surface: throughput by size of file and of record."""

from collections.abc import Mapping

import numpy
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from raidtrace.plot import style as plot

NO_DISK = 4000.0  # MB/s: more than any bus of a simulated controller carries


def surface(rates: Mapping[tuple[int, int], float], simulated: bool) -> Figure:
    """A map: records of so many KiB to the right, files of so many upwards, MB/s (KiB/s / 1000) as darkness and number.

    rates: (file KiB, record KiB) -> KiB/s. Steps of both axes are those measured, one cell each; a blank was not measured. In
    simulated time the page cache takes none: what came out of it has no rate, and its cells are hatched.
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
    said = "\nhatched: came out of the page cache, which takes no simulated time" if cached.any() else ""
    panel.set_xlabel(f"size of record, K: KiB, M: MiB{said}")
    panel.set_ylabel("size of file")
    picture.colorbar(mesh, ax=panel, pad=0.01).set_label("simulated MB/s" if simulated else "MB/s")
    return picture


def _size(kib: int) -> str:
    return f"{kib // 1024}M" if kib >= 1024 and kib % 1024 == 0 else f"{kib}K"
