# SPDX-License-Identifier: GPL-2.0-or-later
"""The picture of the demo: reads in flight over time, untuned above tuned."""

import pathlib
from collections.abc import Sequence

from raidtrace.explain import readahead as explain
from raidtrace.plot import style as plot
from raidtrace.recording import quantities as q
from raidtrace.recording.sample_rows import Point

STYLES = {"untuned": plot.STYLES[0], "tuned": plot.STYLES[1]}


def inflight(
    paths: Sequence[pathlib.Path],
    runs: Sequence[tuple[str, explain.ReadPhase, Sequence[Point]]],
    simulated: bool,
    title: str | None = None,
) -> None:
    """Reads in flight over time, one panel per run, the first on top, all over the same scales.

    runs: (key of STYLES, figures, points) each. Written once per path, its suffix gives the format.
    title: of an SVG, not drawn.
    """
    picture = plot.figure(0.8 + 2.3 * len(runs))
    panels = picture.subplots(len(runs), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    highest = max(max(run.predicted()[1], *(p.highest for p in points)) for _, run, points in runs)
    panels[0].set_ylim(0, 1.3 * highest)
    longest = max((points[-1].end_ns - points[0].start_ns) / 1e9 for _, _, points in runs)
    for panel, (key, run, points) in zip(panels, runs, strict=True):
        begin, color = points[0].start_ns, STYLES[key].line
        edges = [0.0] + [(p.end_ns - begin) / 1e9 for p in points]
        low, high = run.predicted()
        band = f"predicted by setra: {low:g} to {high:g}"
        panel.axhspan(low, high, facecolor=plot.GRID, edgecolor=plot.QUIET, linewidth=0.6, label=band)
        panel.stairs([p.highest for p in points], edges, color=color, alpha=0.6, linewidth=1, label="highest")
        panel.stairs([p.mean for p in points], edges, color=color, linewidth=2.2, label="mean")
        panel.set_xlim(0, longest * 1.01)
        panel.set_ylabel("reads in flight")
        setra = f"{run.setra_sectors} ({q.kib(run.setra_sectors)})"
        panel.set_title(f"{run.workload}, setra {setra}: {run.kib_per_s / 1000:.0f} MB/s")
        panel.legend(ncols=3, loc="upper right", columnspacing=1.2, handlelength=1.5)
    said = "simulated seconds since the read began\nsimulated 3ware 9500S-12, RAID 0 of 12 drives"
    panels[-1].set_xlabel(said if simulated else "seconds since the read began")
    plot.save(picture, paths, title)
