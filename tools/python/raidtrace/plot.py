# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures. The only module that knows matplotlib."""

import pathlib
from collections.abc import Sequence

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402

from raidtrace import explain  # noqa: E402
from raidtrace.recording import Point  # noqa: E402

INK = {"untuned": "#0072b2", "tuned": "#d55e00"}  # Okabe and Ito: told apart with any colour vision
BAND = "#bbbbbb"


def inflight(
    paths: Sequence[pathlib.Path], runs: Sequence[tuple[str, explain.ReadPhase, Sequence[Point]]], simulated: bool
) -> None:
    """Reads in flight over time, one panel per run, the first on top, all over the same time scale.

    runs: (key of INK, figures, points) each. Written once per path, its suffix gives the format.
    """
    matplotlib.rcParams["svg.hashsalt"] = "raidtrace"  # the same picture is the same file
    figure, panels = pyplot.subplots(len(runs), 1, sharex=True, figsize=(7.2, 5.4), layout="constrained")
    longest = max((points[-1].end_ns - points[0].start_ns) / 1e9 for _, _, points in runs)
    for panel, (key, run, points) in zip(panels, runs, strict=True):
        begin = points[0].start_ns
        edges = [0.0] + [(p.end_ns - begin) / 1e9 for p in points]
        low, high = run.predicted()
        panel.axhspan(low, high, color=BAND, alpha=0.45, linewidth=0, label=f"predicted by setra: {low:g} to {high:g}")
        panel.stairs([p.highest for p in points], edges, color=INK[key], alpha=0.45, linewidth=1, label="highest")
        panel.stairs([p.mean for p in points], edges, color=INK[key], linewidth=2.2, label="mean")
        panel.set_ylim(0, 1.45 * max(high, *(p.highest for p in points)))
        panel.set_xlim(0, longest * 1.01)
        panel.set_ylabel("reads in flight", fontsize=12)
        setra = f"{run.setra_sectors} ({explain.kib(run.setra_sectors)})"
        panel.set_title(f"{run.workload}, setra {setra}: {run.kib_per_s / 1000:.0f} MB/s", fontsize=13, loc="left")
        panel.legend(fontsize=11, ncol=3, loc="upper right", frameon=False, columnspacing=1.2, handlelength=1.5)
        panel.tick_params(labelsize=11)
        panel.spines[["top", "right"]].set_visible(False)
    panels[-1].set_xlabel(f"{'simulated ' if simulated else ''}seconds since the read began (same scale)", fontsize=12)
    if simulated:
        figure.suptitle(
            "simulated 3ware 9500S-12, RAID 0 of 12 drives", fontsize=11, color="#444444", x=0.99, ha="right"
        )
    for path in paths:
        metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
        figure.savefig(path, dpi=125, metadata=metadata)
    pyplot.close(figure)
