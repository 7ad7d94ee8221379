# SPDX-License-Identifier: GPL-2.0-or-later
"""The pictures of the documentation are what make figures draws of what is kept beside them."""

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
    kept = (figures.FIGURES / name).read_bytes()
    if figures.title_of(table).encode() not in kept:
        pytest.skip(f"{name} is of an older {table.name}: tools/python/figures --draw")
    how(table, tmp_path)
    assert (tmp_path / name).read_bytes() == kept, "tools/python/figures --draw"


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
