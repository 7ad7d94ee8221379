# SPDX-License-Identifier: GPL-2.0-or-later
"""The style of all pictures, and their output. Only the modules of this directory use matplotlib.

A picture does not need colour: series also differ in dash, marker or hatch, and their colours differ in lightness (a
test measures both). The layout is for a width of 600 pixels. The same figures give the same bytes.
"""

import dataclasses
import io
import pathlib
import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import matplotlib

matplotlib.use("Agg")

import numpy  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.colors import ListedColormap  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.patches import StepPatch  # noqa: E402
from numpy.typing import ArrayLike  # noqa: E402

WIDTH = 7.2  # inches; at 600 pixels a point is 1.16 of them, so text of 10 points is 11.6 pixels high
DPI = 125  # of PNG: 900 pixels wide
TEXT, SMALL = 10.5, 9.5
INK, QUIET, GRID, PAPER, SHADE = "#1b1e23", "#555b64", "#d5d9df", "#ffffff", "#f1f3f6"
# inline pictures use the colours of the page, light or dark
VARIABLES = {
    INK: "var(--ink)",
    QUIET: "var(--quiet)",
    GRID: "var(--grid)",
    PAPER: "var(--paper)",
    SHADE: "var(--shade)",
}
FIXED_WHITE, FIXED_BLACK = "#fffffe", "#000001"  # on a heat map, in any page
SETTINGS = {
    "svg.hashsalt": "raidtrace", "text.parse_math": False, "font.family": ["DejaVu Sans"], "font.size": TEXT,
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": QUIET, "xtick.color": QUIET, "ytick.color": QUIET,
    "xtick.labelcolor": INK, "ytick.labelcolor": INK, "axes.facecolor": PAPER, "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER, "axes.titlesize": TEXT + 1, "axes.labelsize": TEXT, "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL, "legend.fontsize": SMALL, "legend.frameon": False, "axes.spines.top": False,
    "axes.spines.right": False, "hatch.linewidth": 0.8, "axes.titlelocation": "left", "grid.color": GRID,
}  # fmt: skip
matplotlib.rcParams.update(SETTINGS)


@dataclasses.dataclass(frozen=True)
class Style:
    """The style of a series: colour of a line, fill of a bar, dash, marker and hatch."""

    line: str
    fill: str
    dash: str | tuple[int, tuple[int, ...]]
    marker: str
    hatch: str


# Okabe and Ito's colours, ordered so that neighbours differ in lightness. Lines have a contrast of 3:1 on both pages.
STYLES = (
    Style("#0072b2", "#0072b2", "-", "o", ""),
    Style("#dd6b10", "#e69f00", (0, (5, 2)), "s", "///"),
    Style("#007a5a", "#009e73", (0, (1, 1)), "^", "..."),
    Style("#c673a3", "#f0e442", (0, (6, 2, 1, 2)), "D", "xxx"),
    Style("#6b717a", "#3c4148", (0, (3, 1, 1, 1, 1, 1)), "v", ""),
    Style("#3f97c9", "#bfe3f7", (0, (8, 3)), "P", "\\\\\\"),
)
OF = {"read": STYLES[0], "write": STYLES[1]}


def darker_is_more() -> ListedColormap:
    """A colour map on white: cividis from light to dark. Its lightness changes steadily for any colour vision."""
    return ListedColormap(matplotlib.colormaps["cividis"](numpy.linspace(0.86, 0.0, 256)))


def figure(height: float) -> Figure:
    """An empty picture, WIDTH inches wide. height: in inches."""
    return Figure(figsize=(WIDTH, height), layout="constrained")


def panels(height: float, ratios: Sequence[float], right: float = 0.15) -> tuple[Figure, list[Axes]]:
    """A picture of panels one above the other with a common axis of time. Margins are fixed, because to compute them
    takes twice the time of drawing.

    ratios: heights of the panels. right: margin in inches.
    """
    picture = Figure(figsize=(WIDTH, height))
    margins = {"left": 0.95 / WIDTH, "right": 1 - right / WIDTH, "top": 1 - 0.28 / height, "bottom": 0.52 / height}
    axes = picture.subplots(len(ratios), 1, sharex=True, squeeze=False, height_ratios=ratios, gridspec_kw=margins | {
        "hspace": 0.13 * len(ratios) / (height - 0.8)})  # fmt: skip
    picture.align_ylabels(axes[:, 0])
    return picture, list(axes[:, 0])


def steps(
    panel: Axes, values: ArrayLike, edges: ArrayLike, *, color: str, baseline: ArrayLike | None = None, **style: Any
) -> None:
    """Draw steps like Axes.stairs, with gaps at NaN. With a baseline, fill the area down to it.

    Axes.stairs computes the extremes of each step like those of a curve, which takes longer than drawing."""
    filled = baseline is not None
    style["facecolor" if filled else "edgecolor"] = color
    patch = StepPatch(values, edges, baseline=baseline, fill=filled, **style)
    low = float(numpy.min(0.0 if baseline is None else baseline))
    patch.sticky_edges.y.append(low)
    panel.add_artist(patch)
    ends, shown = numpy.asarray(edges), numpy.nan_to_num(numpy.asarray(values, dtype=float))
    panel.update_datalim([(ends[0], low), (ends[0], numpy.min(shown)), (ends[-1], numpy.max(shown))])
    panel.autoscale_view()


def save(picture: Figure, paths: Sequence[pathlib.Path], title: str | None = None) -> None:
    """Write a picture to each path. The suffix is the format, .svg or .png. title: metadata of an SVG; it
    is not drawn."""
    for path in paths:
        metadata = {"Date": None} | ({"Title": title} if title else {}) if path.suffix == ".svg" else {"Software": None}
        picture.savefig(path, dpi=DPI, metadata=metadata)


def inline(picture: Figure, key: str, title: str) -> str:
    """A picture as an SVG element for a page: with a title and the colours of the page. matplotlib derives the ids that a
    picture refers to from key, so those of two pictures differ."""
    text = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": key}):
        picture.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    svg = ElementTree.fromstring(text.getvalue())
    for element in svg.iter():
        element.tag = element.tag.rpartition("}")[2]  # HTML needs no namespaces
        attributes = {name.rpartition("}")[2]: value for name, value in element.attrib.items()}
        if element.tag in ("g", "image"):  # nothing refers to these, and other pictures have the same
            attributes.pop("id", None)
        if "d" in attributes:  # coordinates rounded down to a hundredth of a point
            attributes["d"] = re.sub(r"(\.\d\d)\d+", r"\1", attributes["d"]).replace("  ", " ")
        for colour, variable in VARIABLES.items():
            attributes = {name: value.replace(colour, variable) for name, value in attributes.items()}
        element.attrib = attributes
    svg.attrib = {"viewBox": svg.attrib["viewBox"], "role": "img", "aria-label": title}
    return ElementTree.tostring(svg, encoding="unicode")


def seconds_axis(panel: Axes, simulated: bool, longest: float) -> None:
    """Set the range and the label of an axis of time, in seconds since the recording began."""
    panel.set_xlim(0, longest)
    panel.set_xlabel(f"{'simulated ' if simulated else ''}seconds since the recording began")
