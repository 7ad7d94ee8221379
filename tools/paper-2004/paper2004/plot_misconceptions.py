# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of Documentation/misconceptions.rst: a bar for each run, its value beside it."""

import pathlib
from collections.abc import Sequence

from raidtrace.plot import style as plot


def label(value: float) -> str:
    """A count as it is, else with a decimal below 100."""
    return f"{value:.0f}" if value == int(value) or value >= 100 else f"{value:.1f}"


def bars(path: pathlib.Path, axis: str, rows: Sequence[tuple[str, float]], simulated: bool) -> None:
    """Draw (run, value) pairs. axis: what the values are."""
    picture = plot.figure(0.75 + 0.38 * len(rows))
    panel = picture.subplots()
    values = [value for _, value in rows]
    style = plot.STYLES[0]
    shown = panel.barh([name for name, _ in rows], values, height=0.62, color=style.fill)
    panel.bar_label(shown, list(map(label, values)), padding=4)
    panel.invert_yaxis()
    panel.set_xlim(0, 1.12 * max(values) or 1)
    panel.set_xlabel(f"{axis}{', simulated' if simulated else ', virtual machine, real time'}")
    panel.tick_params(left=False)
    plot.save(picture, [path])
