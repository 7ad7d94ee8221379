# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML report: one file, complete in itself; its links have targets and its text is no markup."""

import base64
import dataclasses
import hashlib
import json
import os
import re
import resource
import sqlite3
import subprocess
import sys

import html5lib
import long_recording
import numpy
import pytest
from conftest import TOP, changed, unpacked

from raidtrace.explain import runs as explain_runs
from raidtrace.plot import style as plot
from raidtrace.recording import invariants
from raidtrace.recording.columns import RecordingError
from raidtrace.recording.results import ResultsError
from raidtrace.report import html
from raidtrace.report import html as report_html
from raidtrace.report import multiples
from raidtrace.report import page as report_page
from raidtrace.report import rows as report_rows
from raidtrace.report import tables
from raidtrace.report import tables as report_tables

HTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '</script><script>alert(1)</script>" onload="alert(2) $\\frac{1$ &amp; \u202egnp.exe \x1b[31m'


@pytest.fixture(scope="module")
def page(recorded):
    return report_html.page([recorded])


@pytest.fixture(scope="module")
def tree(page):
    return parse(page)


def parse(page):
    """As a browser reads it; html5lib raises on what a browser would have to guess."""
    return html5lib.HTMLParser(strict=True).parse(page)


def check_links(tree):
    """Each id is there once, and each link leads to one."""
    ids = [element.get("id") for element in tree.iter() if element.get("id")]
    links = [element.get("href")[1:] for element in tree.iter(f"{HTML}a")]
    assert len(ids) == len(set(ids)) and links and set(links) <= set(ids)
    return links


def test_a_browser_need_not_guess_and_links_lead_somewhere(tree):
    assert len(check_links(tree)) > 20 and tree.get("lang") == "en"


@pytest.mark.slow
def test_of_an_idle_disk_and_of_two_recordings_too(maker, recorded):
    check_links(parse(report_html.page([maker.write([(1, 0, 1000, {}, {("read", "depth_time"): {0: 1000}})])])))
    page = report_html.page([recorded, recorded])
    check_links(parse(page))
    assert "Recording A" in page and "Recording B" in page and "A and B" in page
    figures = parse(page).iter(f"{HTML}figure")
    assert not [one for one in figures if one.get("class") == "live"], "one axis of time is of one alone"


def test_the_file_needs_no_other(page, tree):
    for element in tree.iter():
        for name in ("src", "href", "action", "data", "poster", "{http://www.w3.org/1999/xlink}href"):
            value = element.get(name)
            assert value is None or value.startswith(("#", "data:image/png;base64,")), (element.tag, name, value)
    assert not re.search(r"@import|url\((?!#)", page)
    assert "default-src 'none'" in page


def data_of(tree):
    """The numbers of the picture over time."""
    return next(e.text for e in tree.iter(f"{HTML}script") if e.get("type") == "application/json")


def test_the_browser_runs_this_script_alone(page, tree):
    scripts = [e for e in tree.iter(f"{HTML}script") if e.get("type") is None]
    digest = base64.b64encode(hashlib.sha256(scripts[0].text.encode()).digest()).decode()
    assert len(scripts) == 1 and f"script-src 'sha256-{digest}'" in page
    assert "SPDX-License-Identifier: MIT" in scripts[0].text and "Permission is hereby granted" in scripts[0].text


def test_the_first_screen_has_answer_table_and_pictures_in_this_order(recorded, tree):
    summary = next(tree.iter(f"{HTML}main"))[0]
    kinds = [e.get("class") or e.tag.removeprefix(HTML) for e in summary]
    assert kinds[:6] == ["h2", "times", "answer", "scroll", "multiples", "live"], kinds
    text = "".join(summary[2].itertext())
    rows = explain_runs.one(recorded).opening
    assert len(rows) > 2 and all(f"{name}: {sentence}" in text for name, sentence in rows)


def test_the_time_of_each_phase_and_disk_has_a_bar_before_any_cause(recorded, tree):
    section = next(e for e in tree.iter(f"{HTML}section") if e.get("id") == "times")
    rows = [e for e in section.iter(f"{HTML}div") if e.get("class") == "time"]
    times = explain_runs.one(recorded).breakdowns
    assert len(rows) == len(times) == 10
    folded = next(section.iter(f"{HTML}details"))
    assert [one.get("class") for one in folded].count("time") == 6 and "6 more" in "".join(folded.itertext())
    for row, one in zip(rows, times):
        text = " ".join("".join(row.itertext()).split())
        bars = {e.get("class"): float(e.get("width")) for e in row.iter(f"{SVG}rect")}
        shares = {state: 100 * share for state, share in one.states.items() if share > 0}
        ends = [float(e.get("x")) + float(e.get("width")) for e in row.iter(f"{SVG}rect")]
        assert [0.0, *ends] == pytest.approx([*(float(e.get("x")) for e in row.iter(f"{SVG}rect")), 100], abs=0.02)
        assert bars == pytest.approx(shares, abs=0.01) and sum(bars.values()) == pytest.approx(100, abs=0.02)
        assert f"{one.disk}, {one.phase}, 10.0 s" in text and f"{one.depth:.2f} in flight at a time" in text
        assert ("nothing in flight" in text) == (one.idle_share > 0.0005)
        assert "it at the disk" in text and "more in flight" in text.lower()
    assert 0 < times[6].busy_share < 1, "a bar that is not full"


def test_a_row_a_phase_says_what_limits_it_as_explain_does(recorded, tree):
    explained = explain_runs.one(recorded)
    limits = {
        (chain.phase, chain.disk, chain.direction): next(
            (i.title for i in chain.limits if i.verdict == "inferred"), "not shown"
        )
        for chain in explained.chains
    }
    table = next(e for e in tree.iter(f"{HTML}table") if e.get("id") == "glance")
    rows = [["".join(cell.itertext()) for cell in row] for row in table.iter(f"{HTML}tr")][1:]
    assert len(rows) == 10 and len({row[-1] for row in rows}) > 1
    for row in rows:
        phase, disk = row[0].split()
        assert row[-1] == limits[phase, disk, row[1]]


def test_the_numbers_of_the_picture_are_those_of_the_recording(recorded, tree):
    data, one = json.loads(data_of(tree)), invariants.load(recorded)
    assert data["panels"] == ["MiB/s", "in flight", "latency, ms"]
    assert [group["disk"] for group in data["groups"]] == [disk.disk for disk in one.targets]
    of_sda = [span for span in one.spans if span.disk == "sda"]
    rate, depth, latency = data["groups"][0]["panels"]
    x = data["groups"][0]["x"]
    lengths = [end - begin for begin, end in zip(x, x[1:], strict=False)]
    moved = sum(value * length for value, length in zip(rate[0]["y"], lengths, strict=True)) * 2**20
    assert moved == pytest.approx(sum(c.count("read", "bytes_completed") for c in of_sda), rel=0.01)
    deep = sum(value * length for value, length in zip(depth[0]["y"], lengths, strict=True)) / sum(lengths)
    times = [c.histogram("read", "depth_time") for c in of_sda]
    whole = sum(sum(time.values()) for time in times)
    assert deep == pytest.approx(sum(at * n for time in times for at, n in time.items()) / whole, rel=0.01)
    took = [value for value in latency[0]["y"] if value is not None]
    means = [
        c.count("read", "d2c_sum_ns") / c.count("read", "completed") / 1e6
        for c in of_sda
        if c.count("read", "completed")
    ]
    assert took and min(means) * 0.5 < min(took) <= max(took) < 2 * max(means)
    assert None in latency[0]["y"], "no latency where nothing was completed"


def test_the_summary_comes_first_and_each_sentence_leads_to_its_chain_or_table(tree):
    main = next(tree.iter(f"{HTML}main"))
    assert main[0].get("id") == "summary"
    by_id = {element.get("id"): element for element in main.iter()}
    sentences = [one for one in main[0].iter(f"{HTML}p") if one.get("class") != "key"]
    linked = [by_id[link.get("href")[1:]].tag for one in sentences for link in one.iter(f"{HTML}a")]
    assert linked.count(f"{HTML}h3") == 10, "the phases of both disks"
    assert linked.count(f"{HTML}table") == 1 and len(linked) == len(sentences), "a sentence without data"


def test_numbers_of_a_chain_lead_to_the_row_of_their_phase(tree):
    by_id = {element.get("id"): element for element in tree.iter()}
    chains = [e for e in tree.iter(f"{HTML}ol") if e.get("class") == "chain"]
    links = [link for chain in chains for link in chain.iter(f"{HTML}a")]
    assert len(links) > 50
    for link in links:
        assert by_id[link.get("href")[1:]].tag == f"{HTML}tr"
    verdicts = {e.get("class") for e in tree.iter(f"{HTML}span") if "verdict" in e.get("class", "")}
    assert {"verdict shown", "verdict not-available", "verdict inferred", "verdict ruled-out"} <= verdicts
    folded = [e for e in tree.iter(f"{HTML}details") if e.get("class") == "links" and e.get("open") is None]
    quiet = [e for one in folded for e in one.iter(f"{HTML}span") if e.get("class") == "verdict ruled-out"]
    everywhere = [e for e in tree.iter(f"{HTML}span") if e.get("class") == "verdict ruled-out"]
    assert len(quiet) >= len(everywhere) > 10, "what is ruled out is folded"


def test_pictures_have_names_and_the_page_s_colours(page, tree):
    pictures = [picture for picture in tree.iter(f"{SVG}svg") if not picture.get("aria-hidden")]
    assert len(pictures) == 8  # over time, depth, depths, sizes; map and blame of each disk
    for picture in pictures:
        assert picture.get("role") == "img" and len(picture.get("aria-label")) > 10
    assert "var(--ink)" in page
    svg = page[page.index("<svg") : page.rindex("</svg>")]
    panels = [e for e in tree.iter(f"{HTML}div") if e.get("class") == "panel"]
    assert len(panels) == 15 and all(e.get("role") == "img" and len(e.get("aria-label")) > 20 for e in panels)
    assert not set(plot.VARIABLES) & set(re.findall(r"#[0-9a-f]{6}", svg))


@pytest.mark.slow
def test_what_a_recording_says_is_text(recorded, tmp_path):
    names = (("phase", "name"), ("target", "disk"), ("target", "driver"), ("setting", "value"), ("output", "text"))
    path = changed(
        tmp_path / "hostile.rtdb",
        ("UPDATE meta SET value = ? WHERE key != 'interval_ns'", (HOSTILE,)),
        ("UPDATE submitter SET comm = ?", (HOSTILE,)),
        *((f"UPDATE {table} SET {column} = ? || rowid", (HOSTILE,)) for table, column in names),
        ("INSERT INTO output(time_ns, stream, text) VALUES(1, 'stdout', ?)", (HOSTILE,)),
        ("INSERT INTO disturbance(disturbance, kind, subject, start_ns, end_ns, unit, value, text) "
         "VALUES(1, ?, ?, 0, 1, ?, 1, ?)", (HOSTILE,) * 4),
        of=recorded,
    )  # fmt: skip
    page = report_html.page([path])
    tree = parse(page)
    assert len(list(tree.iter(f"{HTML}script"))) == 2
    assert HOSTILE[:9] in json.loads(data_of(tree))["groups"][0]["disk"], "and in the numbers of the picture, too"
    for element in tree.iter():
        assert not any(str(name).startswith("on") for name in element.keys()), element.tag
    text = "".join(tree.itertext())
    assert "alert(1)" in text, "hostile text is shown"
    assert "\u202e" not in page and "\x1b" not in page and "\\u202e" in text


@pytest.mark.slow
def test_whether_invariants_hold_is_detected_when_it_is_read(recorded, tmp_path):
    last = "WHERE sample = (SELECT max(sample) FROM sample)"
    path = changed(
        tmp_path / "changed.rtdb",
        "INSERT OR REPLACE INTO meta VALUES('invariants', 'hold')",
        f"UPDATE sample SET end_ns = start_ns - 1 {last}",
        of=recorded,
    )
    text = "".join(parse(report_html.page([path])).itertext())
    assert "an invariant of the counters does not hold: a counter of sample" in text


@pytest.mark.slow
def test_the_page_has_each_table_of_the_text(tmp_path, monkeypatch):
    monkeypatch.setattr(report_tables, "PROCESSES", 3)  # "full" has more of them
    for name in ("full", "md"):
        packed = {"full": "tests/python/report/golden/full.rtdb.xz", "md": "tests/compat/1.0.0/md.rtdb.xz"}[name]
        unpacked(packed, tmp_path / "run.rtdb")
        tree, result = parse(report_html.page([tmp_path / "run.rtdb"])), invariants.load(tmp_path / "run.rtdb")
        rows = [row for e in tree.iter(f"{HTML}table") for row in e.iter(f"{HTML}tr")]
        shown = {tuple("".join(cell.itertext()) for cell in row) for row in rows}
        number = 0
        of_spans = [table for span in result.spans for table in report_tables.of_span(span)]
        # on the page in all rows or none
        rare = {table.id for table in of_spans if any(column.rare for column in table.columns)}
        for span in result.spans:
            for table in report_tables.of_span(span):
                number += len(table.rows)
                for row in () if table.id in rare else table.rows:
                    assert (span.disk, span.phase, *(cell.text for cell in row.cells)) in shown, table.id
        for table in report_tables.of_stack(result, 1):
            number += len(table.rows)
            phase = next(span.phase for span in result.spans if span.number == 1)
            assert all((phase, *(cell.text for cell in row.cells)) in shown for row in table.rows)
        more = sum(table.left_out for span in result.spans for table in report_tables.of_span(span))
        rest = f"{more} more rows: raidctl export --csv." in "".join(tree.itertext())
        assert rest == (more > 0) == (name == "full")
        assert number > 20 and ("layers-A" in {e.get("id") for e in tree.iter(f"{HTML}table")}) == bool(result.stack)


def test_text_that_hides_is_shown():
    assert report_rows.printable("a\u202eb\x00c\nd") == "a\\u202eb\\x00c\nd"
    assert report_rows.printable("x" * 50, 10) == "x" * 10 + " ..."


@pytest.mark.slow
def test_the_same_recording_gives_the_same_page(recorded, page):
    code = (
        "import sys, pathlib; sys.path.insert(0, sys.argv[1]); from raidtrace.report import html as report_html;"
        "sys.stdout.write(report_html.page([pathlib.Path(sys.argv[2])]))"
    )
    done = subprocess.run([sys.executable, "-c", code, TOP / "tools/python", recorded], capture_output=True, text=True)
    assert done.stdout == page, done.stderr[-500:]


def test_a_page_that_cannot_be_written_is_named_as_it_was_requested(tmp_path):
    with pytest.raises(ResultsError) as message:
        report_page.write(tmp_path / "none" / "x.html", "page")
    assert str(message.value) == f"{tmp_path}/none/x.html: cannot be written: No such file or directory"


def test_only_a_report_is_replaced(page, tmp_path):
    thesis = tmp_path / "thesis.html"
    thesis.write_text("years of work")
    with pytest.raises(ResultsError, match="is not a regular file; name a file with --html"):
        report_page.write(tmp_path, page)
    with pytest.raises(ResultsError, match="is not a report"):
        report_page.write(thesis, page)
    assert thesis.read_text() == "years of work"
    fresh = tmp_path / "fresh.html"
    report_page.write(fresh, page + "<!-- older -->")
    report_page.write(fresh, page)
    assert fresh.read_text() == page and len(list(tmp_path.iterdir())) == 2


def test_a_recording_that_lacks_groups_says_so_and_draws_the_rest(maker):
    flow = {"read": {"queued": 4, "issued": 4, "completed": 4, "bytes_issued": 1 << 21, "bytes_completed": 1 << 21}}
    bins = {("read", "size"): {256: 4}, ("read", "depth_time"): {1: 1000}, ("write", "depth_time"): {0: 1000}}
    path = maker.write([(1, 0, 1000, flow, bins)])
    page = report_html.page([path])
    named = [picture for picture in parse(page).iter(f"{SVG}svg") if not picture.get("aria-hidden")]
    assert len(named) == 4 and "n/a" in page and "not counted" in page


def test_an_empty_recording_and_none_at_all_are_refused_in_words(maker, tmp_path):
    with pytest.raises(RecordingError, match="contains no sample"):
        report_html.page([maker.write([])])
    with pytest.raises(RecordingError, match="no such recording"):
        report_html.page([tmp_path / "nothing.rtdb"])


WIDE, HIGH, EDGE = multiples.WIDE, multiples.HIGH, multiples.EDGE


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two recordings of the same phases, 2 and 3 s long each, and what explain says of them."""
    directory = tmp_path_factory.mktemp("two")
    for name, seconds in (("a", 10), ("b", 15)):
        long_recording.write(directory / f"{name}.rtdb", seconds, 10, 1)
    return [html.read(directory / f"{name}.rtdb") for name in "ab"]


@pytest.fixture(scope="module")
def pictures(two):
    (a, of_a), (b, of_b) = two
    return multiples.build([("A", a), ("B", b)], explain_runs.of_two(of_a, of_b))


def ends(svg):
    """From where to where each curve goes, by class."""
    result = {}
    for of, path in re.findall(r'<path class="(?!grid)([^"]+)" d="([^"]+)"', svg):
        result[of] = (float(re.match(r"M([\d.]+)", path)[1]), max(map(float, re.findall(r"H([\d.]+)", path))))
    return result


def test_a_phase_of_b_lies_over_the_same_phase_of_a_from_its_beginning(pictures):
    assert [phase.name for phase in pictures.phases] == [kind[0] for kind in long_recording.KINDS]
    for phase, kind in zip(pictures.phases, long_recording.KINDS, strict=True):
        assert (phase.length, phase.end) == ("2.00 s and 3.00 s", "3 s") and phase.sentence
        for panel in phase.panels:
            curves = ends(panel.svg)
            assert curves[f"{kind[1]} a"] == (0, pytest.approx(WIDE * 2 / 3, abs=0.1))
            assert curves[f"{kind[1]} b"] == (0, WIDE)


def test_numbers_are_those_of_the_table(two, pictures):
    rows = {(row.cells[0].text, row.cells[1].text): row.cells for row in
            tables.phases([("A", two[0][0], None), ("B", two[1][0], None)]).rows}  # fmt: skip
    for phase in pictures.phases:
        for of, text in phase.panels[0].values:
            direction, letter = of.split()
            assert text == rows[f"{letter.upper()} {phase.name}", direction][2].text
        for of, text in phase.panels[1].values:
            direction, letter = of.split()
            assert text == rows[f"{letter.upper()} {phase.name}", direction][4].text
        assert phase.panels[0].values[0][1] in phase.panels[0].label and "MiB/s" in phase.panels[0].label


def test_a_phase_of_one_alone_says_so(two):
    (a, of_a), (b, _) = two
    left = dataclasses.replace(b, spans=tuple(span for span in b.spans if span.phase != "mixed"))
    result = multiples.build([("A", a), ("B", left)], explain_runs.of_one(of_a))
    assert [phase.length.endswith(", only in A") for phase in result.phases] == [False] * 4 + [True]


def test_nothing_is_drawn_where_nothing_moved(two):
    (a, of_a), _ = two
    idle = dataclasses.replace(a, spans=tuple(dataclasses.replace(span, flow={}) for span in a.spans))
    assert multiples.build([("A", idle)], explain_runs.of_one(of_a)) is None


def curve(mean, *values):
    return multiples._Curve(
        "read", "reads", numpy.arange(len(values) + 1.0), numpy.array(values, dtype=float), mean, ""
    )


@pytest.mark.parametrize(("means", "text"), [
    ((100, 50), "0 to 100 MiB/s"), ((100, 2), "1 to 100 MiB/s, logarithmic"), ((900, 0.001), "1 to 1,000 MiB/s, logarithmic"),
    ((), "0 to 1 MiB/s"), ((0,), "0 to 1 MiB/s"),
])  # fmt: skip
def test_a_scale_is_logarithmic_where_phases_differ_much(means, text):
    assert multiples._Scale([curve(mean, mean) for mean in means]).text("MiB/s") == text


def test_heights():
    linear, log = multiples._Scale([curve(10, 10)]), multiples._Scale([curve(1, 1), curve(100, 100)])
    assert [linear.y(value) for value in (0, 5, 10)] == [HIGH - EDGE, HIGH / 2, EDGE]
    assert [log.y(value) for value in (0, 1, 10, 100)] == [HIGH - EDGE, HIGH - EDGE, HIGH / 2, EDGE]


def test_there_is_a_gap_where_nothing_was():
    some = curve(1, 1, numpy.nan, 1, 1)
    svg = multiples._svg([some], multiples._Scale([some]), 4)
    assert re.search(r'class="read" d="([^"]*)"', svg)[1] == "M0 1.5H60M120 1.5H180H240"


def test_the_phases_that_moved_least_are_left_out_and_counted(two, monkeypatch):
    monkeypatch.setattr(multiples, "MAX_PHASES", 2)
    (a, of_a), _ = two
    result = multiples.build([("A", a)], explain_runs.of_one(of_a))
    assert [phase.name for phase in result.phases] == ["write", "read-4096"] and result.more == 3


MIB = 1 << 20
# A quarter of an hour here, all of it where RAIDTRACE_LONG is set; what is measured grows with the length or not at all.
SECONDS = 3600 if os.environ.get("RAIDTRACE_LONG") else 900
# The constant part, pictures and loading of libraries, takes as long as reading so many rows.
FIXED_ROWS = 6_000_000
# Shares of the time that Python needs to read all bins as rows once: to sum all histograms (0.39 measured), and whatever else
# grows with the recording.
SUMS, GROWING = 0.6, 0.85
EXPLAIN_FIXED_ROWS = 3_000_000  # explain draws nothing


def cpu_of(*command):
    """Processor time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


# Yardstick: to take every row of the table bin into Python once.
READ_ROWS = """
import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute("SELECT sample, direction, kind, bin, count FROM bin"):
    pass
"""
# All histograms summed, by phase and disk.
SUM_HISTOGRAMS = """
import gc, sqlite3, sys
gc.disable()
sys.path.insert(0, sys.argv[2])
from raidtrace.recording.sample_rows import SampleRows
rows = SampleRows(sqlite3.connect(sys.argv[1]))
assert rows.group_sums()["read", "d2c"]
"""


@pytest.fixture
def long_one(tmp_path):
    path = tmp_path / "long.rtdb"
    rows = long_recording.write(path, SECONDS, 10, 4)
    yield long_recording.pack(path), rows
    path.unlink()  # pytest keeps directories, and this is large


@pytest.mark.slow
@pytest.mark.long
def test_a_page_of_a_long_recording_takes_no_longer_than_reading_its_rows_and_is_small(long_one, tmp_path):
    path, rows = long_one
    page = tmp_path / "long.html"
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM sample").fetchone()[0] == SECONDS * 10 * 4
    yardstick, drawing, summed, explained = [], [], [], []
    for _ in range(2):  # the second time if a busy machine may have slowed the first
        yardstick.append(cpu_of("/usr/bin/python3", "-c", READ_ROWS, path))
        summed.append(cpu_of("/usr/bin/python3", "-c", SUM_HISTOGRAMS, path, TOP / "tools/python"))
        drawing.append(cpu_of(TOP / "tools/bin/raidctl", "report", "--html", page, path))
        explained.append(cpu_of(TOP / "tools/bin/raidctl", "explain", path))
        per_row = min(yardstick) / rows
        kept = (
            min(explained) <= per_row * (GROWING * rows + EXPLAIN_FIXED_ROWS),
            min(summed) <= SUMS * min(yardstick) + 0.3,  # numpy takes a while to load
            min(drawing) <= per_row * (GROWING * rows + FIXED_ROWS),
        )
        if all(kept):
            break
    print(
        f"{rows} rows: page {min(drawing):.2f} s, explain {min(explained):.2f} s, sums {min(summed):.2f} s, "
        f"rows {min(yardstick):.2f} s, {page.stat().st_size / MIB:.2f} MiB"
    )
    assert page.stat().st_size < 1_500_000  # of an hour as of a quarter: a curve over time has at most 600 steps
    assert page.read_text(encoding="utf-8").count('id="chain-') == 20  # five phases of four disks
    assert all(kept), (kept, yardstick, explained, summed, drawing)
