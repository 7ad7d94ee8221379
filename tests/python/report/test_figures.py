# SPDX-License-Identifier: GPL-2.0-or-later
"""The pictures of the documentation are what make figures draws of what is kept beside them."""

import csv
import json
import pathlib
import re

import matplotlib
import pytest
from conftest import TOP

from raidtrace.cli import figures
from raidtrace.plot import sweep as plot_sweep

DEBIAN_12 = "3.6.3"  # what the committed pictures were drawn with; another version places text elsewhere
KEPT = json.loads((figures.FIGURES / figures.DATA).read_text(encoding="utf-8"))
same_library = pytest.mark.skipif(matplotlib.__version__ != DEBIAN_12, reason=f"drawn with matplotlib {DEBIAN_12}")


@same_library
def test_the_demo_s_pictures_are_drawn_from_what_is_kept(tmp_path):
    figures.draw(KEPT, tmp_path)
    for name in ("demo-inflight.svg", "demo-seeks.svg"):
        assert (tmp_path / name).read_bytes() == (
            figures.FIGURES / name
        ).read_bytes(), f"{name}: tools/python/figures --draw"


@same_library
def test_the_sweep_s_picture_is_drawn_from_what_is_kept(tmp_path):
    figures.draw_sweep(json.loads((figures.FIGURES / figures.SWEEP).read_text(encoding="utf-8")), tmp_path)
    kept = (figures.FIGURES / "readahead.svg").read_bytes()
    assert (tmp_path / "readahead.svg").read_bytes() == kept, "tools/python/figures --draw"


@same_library
@pytest.mark.parametrize("name", figures.TABLES)
def test_a_picture_of_a_table_is_drawn_from_it(name, tmp_path):
    table, how = figures.TABLES[name]
    how(table, tmp_path)
    assert (tmp_path / name).read_bytes() == (figures.FIGURES / name).read_bytes(), "tools/python/figures --draw"


@pytest.mark.parametrize("name", (*figures.SOURCES, *figures.TABLES))
def test_a_picture_is_of_its_source_as_it_is_now(name):
    """Whatever draws here: its title has the digest of what it was drawn of."""
    source = figures.SOURCES.get(name) or figures.TABLES[name][0]
    title = re.search(r"<dc:title>(.*?)</dc:title>", (figures.FIGURES / name).read_text(encoding="utf-8"))
    assert title and title[1] == figures.title_of(
        source
    ), f"{name} is of an older {source.name}: tools/python/figures --draw"


def test_another_source_would_be_noticed(tmp_path):
    table, _ = figures.TABLES["filesystems.svg"]
    other = tmp_path / table.name
    other.write_text(table.read_text(encoding="utf-8").replace("xfs", "XFS", 1), encoding="utf-8")
    assert figures.title_of(other) != figures.title_of(table)


def test_the_rates_above_the_bars_are_those_of_the_table():
    """Text is drawn as outlines; what it says stands beside them as a comment."""
    with figures.REPRODUCTION.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["array"] == "raid0" and row["tool"] == "bonnie++"]
    rates = sorted(
        f"{float(row['simulated']) * figures.MB[row['unit']]:.0f}"
        for row in rows
        if row["setra_sectors"] == "16384" and row["trial"] == "1" and row["unit"] in figures.MB
    )
    said = re.findall(r"<!-- (\d+) -->", (figures.FIGURES / "filesystems.svg").read_text(encoding="utf-8"))
    ticks = {str(at) for at in range(0, 1001, 50)}
    assert len(rates) == 9 and sorted(text for text in said if text not in ticks or text in rates) == rates


def test_the_sweep_has_its_knee_where_more_in_flight_ceases_to_be_faster():
    ((_, points),) = json.loads((figures.FIGURES / figures.SWEEP).read_text(encoding="utf-8")).items()
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
    drawn = ("demo-inflight.svg", "demo-seeks.svg", "readahead.svg", *figures.TABLES)
    assert {figures.FIGURES / name for name in drawn} <= set(map(pathlib.Path, shown))
