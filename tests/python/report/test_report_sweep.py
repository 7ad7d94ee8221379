# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML report of a sweep."""

import re

import html5lib
import made_sweep
import pytest
from conftest import changed
from made_sweep import made

from raidtrace.quantity.shown import UserError
from raidtrace.report import sweep as report_sweep
from raidtrace.sweep import index as sweep_index

HTML, SVG = "{http://www.w3.org/1999/xhtml}", "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    page = report_sweep.page(made_sweep.write(tmp_path_factory.mktemp("sweep")))
    return html5lib.HTMLParser(strict=True).parse(page)


def test_the_knee_is_reported_and_linked_to_its_figure(tree):
    message = next(p for p in tree.iter(f"{HTML}p") if "".join(p.itertext()).strip().startswith("dd"))
    text = "".join(message.itertext())
    assert "from 89.8 to 409.0 MB/s at a readahead of 2 MiB" in text
    assert "from 2.00 to 24.00" in text
    target = next(message.iter(f"{HTML}a")).get("href")[1:]
    row = next(e for e in tree.iter(f"{HTML}tr") if e.get("id") == target)
    assert "4,096" in ["".join(cell.itertext()) for cell in row]


def test_each_sentence_of_the_summary_leads_to_its_data(tree):
    by_id = {element.get("id"): element for element in tree.iter() if element.get("id")}
    text = list(by_id["summary"].iter(f"{HTML}p"))
    for sentence in text:
        (link,) = sentence.iter(f"{HTML}a")
        assert by_id[link.get("href")[1:]].tag in (f"{HTML}tr", f"{HTML}table", f"{HTML}h3"), "".join(
            sentence.itertext()
        )
    assert len(text) > 6


def test_every_figure_has_a_row_and_what_was_varied_a_picture(tree):
    names = [svg.get("aria-label") for svg in tree.iter(f"{SVG}svg")]
    titles = [re.split("[:,]", name)[0] for name in names]
    assert titles == ["Reading", "File systems", "Surface", "Published and measured"]
    rows = list(next(tree.iter(f"{HTML}tbody")))
    assert len(rows) == 4 + 4 * 3 + 9
    assert not list(tree.iter(f"{HTML}b")), "a plan's title is text"


def values_of(page):
    """(name, number, cells of the row that it leads to) of each number of a chain."""
    by_id = {element.get("id"): element for element in page.iter() if element.get("id")}
    for chain in (e for e in page.iter(f"{HTML}ol") if e.get("class") == "chain"):
        for item in (i for details in chain.iter(f"{HTML}details") for i in details.iter(f"{HTML}li")):
            name, _, text = "".join(item.itertext()).partition(": ")
            (link,) = item.iter(f"{HTML}a")
            row = by_id[link.get("href")[1:]]
            assert row.tag == f"{HTML}tr"
            yield name, text, ["".join(cell.itertext()) for cell in row]


def test_every_number_of_a_chain_leads_to_the_row_that_it_is_from(tmp_path):
    directory = made(tmp_path, rates={256: 90e3, 16384: 400e3}, trials=1, recordings=True)
    result = list(values_of(html5lib.HTMLParser(strict=True).parse(report_sweep.page(directory))))
    assert len(result) > 40
    first = {}
    for name, text, cells in result:
        first.setdefault(name.split(",")[0], (text, cells))
    text, cells = first["rate-at-16384"]
    assert cells[2] == "16,384" and text.split()[0] == "390.2" and "399,600.0" in cells
    assert first["rate-at-256"][1][4] == "89,910.0" and first["rate-at-256"][1][2] == "256"
    assert first["knee"][1][2] == "16,384"
    depths = [(text.split()[0], cells) for name, text, cells in result if name.startswith("depth-mean")]
    assert [(mean, cells[1], cells[7]) for mean, cells in depths[:2]] == [("2", "run", "2.00"), ("95", "run", "95.00")]


def test_without_recordings_figures_have_their_rows_all_the_same(tree):
    result = list(values_of(tree))
    of = {name.split(",")[0]: cells for name, _, cells in result}
    assert of.keys() >= {"knee", "spearman", "rate-at-256"}
    assert "256" in of["spearman"] and "sda" in of["spearman in flight"], "the first of the rows that they are made of"


def test_another_test_is_no_counterpart(tree):
    text = "".join(tree.itertext())
    assert re.search(r"\d+ figures have a published counterpart, \d+ of them from a different test; the", text)
    row = next(row for row in tree.iter(f"{HTML}tr") if "seeks" in "".join(row.itertext()) and "not the same test" in
               "".join(row.itertext()))  # fmt: skip
    assert "".join(row[-2].itertext()) == "n/a"


def test_a_surface_is_no_counterpart_of_one_published_figure(tree):
    rows = [["".join(cell.itertext()) for cell in row] for row in tree.iter(f"{HTML}tr")]
    surface = [row for row in rows if row and "record_kib" in row[1]]
    assert len(surface) == 9 and all(row[-3:] == ["n/a", "n/a", ""] for row in surface), surface


def test_a_directory_without_a_sweep_and_one_without_figures_are_refused(tmp_path):
    with pytest.raises(UserError, match="no such sweep"):
        report_sweep.page(tmp_path)
    made_sweep.write(tmp_path)
    changed(tmp_path / sweep_index.NAME, "UPDATE cell SET state='waiting'")
    with pytest.raises(UserError, match="no cell of this sweep has a figure"):
        report_sweep.page(tmp_path)
