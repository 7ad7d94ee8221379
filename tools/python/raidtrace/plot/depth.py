# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests in flight over time, with the phases and the readahead."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from raidtrace.plot import style as plot
from raidtrace.recording.series import Depth, Series
from raidtrace.recording.spans import OUTSIDE, Recorded, Target

LEAST_LABELLED = 0.055  # a phase that takes less of the width has no room for its name


def in_flight(recorded: Recorded, disks: Sequence[Target]) -> Figure | None:
    """One panel per disk, seconds to the right, requests in flight upwards; below the last the readahead in KiB.

    Per direction: a thick line for the mean of each step of the series, a band from the lowest to the highest mean of a
    sample in it, a thin line for the highest depth. None: no disk has the histogram.
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
    """Shade every other phase, or else draw a line where each begins; with `named` write the names above."""
    begin, end = recorded.begin_ns(), recorded.end_ns()
    shown = [phase for phase in recorded.phases if phase.name != OUTSIDE]
    for at, phase in enumerate(shown):
        left, right = (phase.start_ns - begin) / 1e9, ((phase.end_ns or end) - begin) / 1e9
        if not shaded:
            panel.axvline(left, color="#8a9099", linewidth=0.6)
        elif at % 2 == 0:
            panel.axvspan(left, right, color=plot.SHADE, linewidth=0, zorder=0)
        if named and right - left >= LEAST_LABELLED * (end - begin) / 1e9:
            panel.text((left + right) / 2, 1.02, phase.name[:24], transform=panel.get_xaxis_transform(), ha="center",
                       va="bottom", fontsize=plot.SMALL, color=plot.QUIET, clip_on=False)  # fmt: skip


def _changes(recorded: Recorded, disk: Target) -> list[tuple[int, int]]:
    """(time_ns, sectors) of the readahead and of each change of it."""
    found: list[tuple[int, int]] = []
    for one in recorded.settings:
        if one.target == disk.target and one.name == "readahead_sectors" and one.value.isdigit():
            if not found or found[-1][1] != int(one.value):
                found.append((one.time_ns, int(one.value)))
    return found


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
