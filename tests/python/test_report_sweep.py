# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML report of a sweep."""

import re

import html5lib
import made_sweep
import pytest

from raidtrace import report_page, report_sweep, sweep_index

HTML, SVG = "{http://www.w3.org/1999/xhtml}", "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    page = report_sweep.page(made_sweep.write(tmp_path_factory.mktemp("sweep")))
    return html5lib.HTMLParser(strict=True).parse(page)


def test_the_knee_is_said_and_linked_to_its_figure(tree):
    said = next(p for p in tree.iter(f"{HTML}p") if "".join(p.itertext()).strip().startswith("dd"))
    text = "".join(said.itertext())
    assert "from 89.8 to 409.0 MB/s at a readahead of 2048 KiB" in text
    assert "from 2.00 to 24.00" in text
    target = next(said.iter(f"{HTML}a")).get("href")[1:]
    row = next(e for e in tree.iter(f"{HTML}tr") if e.get("id") == target)
    assert "4,096" in ["".join(cell.itertext()) for cell in row]


def test_every_figure_has_a_row_and_what_was_varied_a_picture(tree):
    names = [svg.get("aria-label") for svg in tree.iter(f"{SVG}svg")]
    assert [re.split("[:,]", name)[0] for name in names] == [
        "Reading",
        "File systems",
        "Surface",
        "Published and measured",
    ]
    rows = list(next(tree.iter(f"{HTML}tbody")))
    assert len(rows) == 4 + 4 * 3 + 9
    assert not list(tree.iter(f"{HTML}b")), "a plan's title is text"


def test_a_directory_without_a_sweep_and_one_without_figures_are_refused(tmp_path):
    with pytest.raises(sweep_index.SweepIndexError, match="there is no sweep"):
        report_sweep.page(tmp_path)
    made_sweep.write(tmp_path)
    import sqlite3

    with sqlite3.connect(tmp_path / sweep_index.NAME) as db:
        db.execute("UPDATE cell SET state='waiting'")
    with pytest.raises(report_page.ReportError, match="no cell of this sweep has a figure"):
        report_sweep.page(tmp_path)
