# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures can be read without colour and on both pages, and are the same bytes each time."""

import csv
import json
import pathlib
import re
import subprocess
import sys

import matplotlib
import pictures
import pytest
from conftest import TOP

from paper2004 import figures
from raidtrace.plot import style as plot
from raidtrace.plot import sweep as plot_sweep

DARK_PAGE = "#15181c"
READABLE = 3.0  # contrast of what is no text, WCAG 2.1 1.4.11
TEXT = 4.5
NEIGHBOURS = 10  # difference in lightness (CIE L*, 0 to 100) that grey paper keeps


def luminance(color):
    """Relative luminance of #rrggbb, WCAG 2.1."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def lightness(color):
    return 116 * luminance(color) ** (1 / 3) - 16


def test_the_measures_are_those_of_the_standard():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert lightness("#777777") == pytest.approx(50, abs=0.1)


def test_lines_stand_out_on_white_and_on_the_dark_page():
    css = (TOP / "tools/python/raidtrace/report/templates/page.css").read_text()
    assert f"--paper: {DARK_PAGE}" in css
    for style in plot.STYLES:
        assert contrast(style.line, plot.PAPER) >= READABLE, style
        assert contrast(style.line, DARK_PAGE) >= READABLE, style


def test_neighbours_differ_without_colour():
    for one, other in zip(plot.STYLES, plot.STYLES[1:]):
        assert abs(lightness(one.line) - lightness(other.line)) >= NEIGHBOURS, (one, other)
        assert abs(lightness(one.fill) - lightness(other.fill)) >= NEIGHBOURS, (one, other)
        assert one.hatch != other.hatch
    for what in ("dash", "marker"):
        assert len({getattr(style, what) for style in plot.STYLES}) == len(plot.STYLES), what


def test_text_can_be_read_on_both_pages():
    for color in (plot.INK, plot.QUIET):
        assert contrast(color, plot.PAPER) >= TEXT and contrast(color, plot.SHADE) >= TEXT
    for block in (TOP / "tools/python/raidtrace/report/templates/page.css").read_text().split("--paper: ")[1:]:
        colors = dict(part.strip().split(": ") for part in f"--paper: {block}".split(";")[:9] if ": #" in part)
        for name in ("--ink", "--quiet", "--link"):
            assert contrast(colors[name], colors["--paper"]) >= TEXT, (name, colors)
            assert contrast(colors[name], colors["--mark"]) >= TEXT - 1.5, (name, colors)


def test_a_map_gets_darker_throughout():
    colors = plot.darker_is_more()
    shades = [luminance("#" + "".join(f"{round(255 * part):02x}" for part in colors(at)[:3])) for at in range(256)]
    assert all(one >= other - 0.002 for one, other in zip(shades, shades[1:]))
    assert shades[0] > 10 * shades[-1]


@pytest.mark.slow
@pytest.mark.long
def test_every_picture_is_the_same_file_each_time(tmp_path):
    for name in ("one", "two"):
        subprocess.run([sys.executable, pictures.__file__, tmp_path / name], check=True, stderr=subprocess.PIPE)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert len(files) == 2 * len(pictures.pictures(tmp_path)) == 20
    for name in files:
        data = (tmp_path / "one" / name).read_bytes()
        assert data == (tmp_path / "two" / name).read_bytes(), name
        assert len(data) > 3000, name


@pytest.mark.slow
def test_no_picture_is_wider_than_600_pixels_show_or_has_text_too_small(tmp_path):
    for name, picture in pictures.pictures(tmp_path).items():
        assert picture.get_figwidth() == plot.WIDTH, name
        for text in picture.findobj(match=lambda one: hasattr(one, "get_fontsize") and one.get_text()):
            assert text.get_fontsize() * 600 / plot.WIDTH / 72 >= 9.5, (name, text.get_text(), text.get_fontsize())


DEBIAN_12 = "3.6.3"  # what the committed pictures were drawn with; another version places text elsewhere
KEPT = figures.kept(figures.FIGURES / figures.DATA)


@pytest.mark.skipif(matplotlib.__version__ != DEBIAN_12, reason=f"drawn with matplotlib {DEBIAN_12}")
@pytest.mark.parametrize("name", figures.PICTURES)
def test_each_picture_is_drawn_from_its_source(name, tmp_path):
    source, how = figures.PICTURES[name]
    how(source, tmp_path / name)
    assert (tmp_path / name).read_bytes() == (figures.FIGURES / name).read_bytes(), "tools/paper-2004/figures --draw"


@pytest.mark.parametrize("name", figures.PICTURES)
def test_a_picture_is_of_its_source_as_it_is_now(name):
    """With any version of matplotlib, the title has the digest of the data."""
    source, _ = figures.PICTURES[name]
    title = re.search(r"<dc:title>(.*?)</dc:title>", (figures.FIGURES / name).read_text(encoding="utf-8"))
    assert title and title[1] == figures.title_of(
        source
    ), f"{name} is of an older {source.name}: tools/paper-2004/figures --draw"


def test_another_source_would_be_noticed(tmp_path):
    table, _ = figures.PICTURES["filesystems.svg"]
    other = tmp_path / table.name
    other.write_text(table.read_text(encoding="utf-8").replace("xfs", "XFS", 1), encoding="utf-8")
    assert figures.title_of(other) != figures.title_of(table)


def test_the_rates_above_the_bars_are_those_of_the_table():
    """Text is drawn as outlines; its characters are in a comment next to them."""
    with figures.REPRODUCTION.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["array"] == "raid0" and row["tool"] == "bonnie++"]
    rates = sorted(
        f"{float(row['simulated']) * figures.MB[row['unit']]:.0f}"
        for row in rows
        if row["setra_sectors"] == "16384" and row["trial"] == "1" and row["unit"] in figures.MB
    )
    message = re.findall(r"<!-- (\d+) -->", (figures.FIGURES / "filesystems.svg").read_text(encoding="utf-8"))
    ticks = {str(at) for at in range(0, 1001, 50)}
    assert len(rates) == 9 and sorted(text for text in message if text not in ticks or text in rates) == rates


def test_the_sweep_has_its_knee_where_more_in_flight_ceases_to_be_faster():
    ((_, points),) = figures.kept(figures.FIGURES / figures.SWEEP).items()
    points = [plot_sweep.Point(*point) for point in points]
    assert len(points) == 10 and 256 < plot_sweep.knee(points).readahead_sectors < 16384
    for point in points:  # as much in flight as readahead predicts, where the queue has room for it
        windows = max(point.readahead_sectors / point.largest_sectors, 1.0)
        if 2 * windows <= 128:
            assert 0.95 * windows <= point.depth <= 1.05 * 2 * windows, point


def test_other_figures_would_be_noticed():
    other = json.loads(json.dumps(KEPT))
    assert not figures.differences(KEPT, other)
    other["runs"]["xfs-16384"]["read"]["inflight_mean"] *= 1.03
    other["seeks"]["ext2-256"][1][1] += 5000
    assert len(figures.differences(KEPT, other)) == 2


def test_every_picture_that_the_documentation_shows_is_there():
    shown = []
    for page in (TOP / "README.md", *(TOP / "Documentation").glob("*.rst")):
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r"(?:!\[[^]]*\]\(|:: |src=\")([\w/.-]+\.(?:svg|png))", text):
            shown.append((page.parent / name).resolve())
    assert len(shown) >= 3 and all(path.is_file() for path in shown), [path for path in shown if not path.is_file()]
    assert {figures.FIGURES / name for name in figures.PICTURES} <= set(map(pathlib.Path, shown))
