# SPDX-License-Identifier: GPL-2.0-or-later
"""The pictures of the documentation are what make figures draws of what is kept beside them."""

import json
import pathlib
import re

import matplotlib
import pytest
from conftest import TOP

from raidtrace import figures

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
def test_the_picture_of_the_reproduction_is_drawn_from_its_table(tmp_path):
    kept = (figures.FIGURES / "published.svg").read_bytes()
    if figures.title_of(figures.REPRODUCTION).encode() not in kept:
        pytest.skip("published.svg is of an older reproduction.csv: tools/python/figures --draw")
    figures.draw_published(figures.REPRODUCTION, tmp_path)
    assert (tmp_path / "published.svg").read_bytes() == kept, "tools/python/figures --draw"


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
    assert {figures.FIGURES / name for name in ("demo-inflight.svg", "demo-seeks.svg", "published.svg")} <= set(
        map(pathlib.Path, shown)
    )
