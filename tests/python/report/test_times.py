# SPDX-License-Identifier: GPL-2.0-or-later
"""The charts of the page: the rate by depth, the time by size and distance."""

import dataclasses
import math
import re

import html5lib
import pytest
from made_phase import span_of

from raidtrace.recording import breakdown
from raidtrace.recording.breakdown import Interval, Level, Row
from raidtrace.report import page, times
from raidtrace.report.rows import Table

HTML, SVG = "{http://www.w3.org/1999/xhtml}", "{http://www.w3.org/2000/svg}"
MIB = 1 << 20


def level(low, high, per_s):
    return Level(low, high, 100, Interval(low, high or math.inf), Interval(1, 1), Interval(*per_s))


def row(low, mean, interval, octets=None):
    return Row(low, low + 1, 100, octets, mean, Interval(*interval), None)


def one(levels=(), sizes=(), distances=(), disk="sda", direction="read"):
    flow = {direction: {"issued": 100, "completed": 100}}
    made = breakdown.of(span_of(flow, {("all", "depth_time"): {1: 10**9}}, 0, 10**9, disk=disk))
    way = dataclasses.replace(made.ways[0], levels=tuple(levels), sizes=tuple(sizes), distances=tuple(distances))
    return dataclasses.replace(made, ways=(way,))


def drawn(mark):
    """Ends of the line, and the point."""
    line = re.search('class="(?:interval|whisker)" d="M([0-9.]+) [0-9.]+H([0-9.]+)"', str(mark.svg))
    point = re.search('class="mean" d="M([0-9.]+)', str(mark.svg))
    return (*map(float, line.groups()), float(point[1]) if point else None)


RATES = (level(1, 1, (90, 110)), level(3, 4, (300, 400)), level(5, 8, (200, 250)))
SIZES = (row(0, 1e6, (0.9e6, 1.1e6), 4096.0), row(8, 3e6, (2e6, 4e6), 65536.0))


def test_each_row_of_depth_has_a_line_from_low_to_high():
    (chart,) = times.charts(one(RATES))
    assert (chart.caption, chart.of, chart.unit, chart.low, chart.top) == (
        "Rate of reads by depth", "in flight", "reads a second", "0", "400"
    )  # fmt: skip
    assert [(mark.name, mark.value, mark.interval) for mark in chart.marks] == [
        ("1", "90 to 110", ""), ("3 to 4", "300 to 400", ""), ("5 to 8", "200 to 250", "")
    ]  # fmt: skip
    assert [*map(drawn, chart.marks)] == [(22.5, 27.5, None), (75, 100, None), (50, 62.5, None)]


def test_each_size_and_distance_has_its_mean_and_interval():
    places = (row(0, 1e6, (0.9e6, 1.1e6)), row(MIB, 3e6, (2e6, 4e6)))
    size, distance = times.charts(one(sizes=SIZES, distances=places, direction="write", disk="loop1"))
    assert (size.caption, size.of, size.unit) == ("Time of a write by size, in loop1 and below it", "size", "mean d2c")
    assert (distance.caption, distance.of) == ("Time of a write by distance, in loop1 and below it", "distance")
    assert [mark.name for mark in size.marks] == ["4 KiB", "64 KiB"] and size.direction == "write"
    assert distance.marks[0].name == "in order" and distance.marks[1].name.startswith("ahead below 1")
    for chart in (size, distance):
        assert [*map(drawn, chart.marks)] == [(22.5, 27.5, 25), (50, 100, 75)] and chart.top == "4.00 ms"
        assert [(mark.value, mark.interval) for mark in chart.marks] == [
            ("1.00 ms", "900 us to 1.10 ms"), ("3.00 ms", "2.00 ms to 4.00 ms")
        ]  # fmt: skip


def test_a_scale_of_values_that_differ_much_is_logarithmic():
    wide = (level(1, 1, (100, 200)), level(2, 2, (50, 60)), level(257, None, (2900, math.inf)))
    alike, far = (next(times.charts(one(some))) for some in (wide[::2], wide))
    assert (alike.low, alike.top) == ("0", "2,900")
    assert drawn(alike.marks[0]) == (3.4, 6.9, None), "a ratio of 29 is linear"
    assert (far.low, far.top, far.caption) == ("10", "10,000", "Rate of reads by depth, logarithmic")
    third = 100 / 3
    assert drawn(far.marks[0])[:2] == pytest.approx((third, third * math.log10(20)), abs=0.06)
    assert drawn(far.marks[2])[:2] == pytest.approx((third * math.log10(290), 100), abs=0.06)
    assert far.marks[2].value == "2,900 or more"
    zero = next(times.charts(one(sizes=(row(0, 1e3, (0, 2e3), 1.0), row(8, 1e6, (9e5, 1.1e6), 8.0)))))
    assert zero.caption.endswith("logarithmic") and drawn(zero.marks[0])[0] == 0


@pytest.mark.parametrize(("of", "number"), [
    ({}, 0), ({"levels": RATES[:1]}, 0), ({"levels": RATES[:2]}, 1), ({"sizes": SIZES[:1]}, 0), ({"sizes": SIZES}, 1),
    ({"distances": SIZES}, 1), ({"sizes": (SIZES[0], row(8, 1.2e6, (1e6, 1.4e6), 8.0))}, 0),
    ({"levels": RATES, "sizes": SIZES, "distances": SIZES}, 3),
])  # fmt: skip
def test_a_chart_is_drawn_only_of_what_differs(of, number):
    assert len([*times.charts(one(**of))]) == number


def test_a_disk_without_requests_has_no_chart():
    assert [*times.charts(dataclasses.replace(one(RATES, SIZES), bio_based=True))] == []


def test_the_page_has_each_chart_as_a_table_with_all_that_its_picture_shows():
    rows = times.build([one(RATES, SIZES, disk="loop<{}>"), one()])
    glance = page.Glance(rows, ["answer"], "", Table("glance", "", (), ()), None, None)
    tree = html5lib.HTMLParser(strict=True).parse(page.render("t", [], [], glance))
    section = next(e for e in tree.iter(f"{HTML}section") if e.get("id") == "times")
    rate, size = section.iter(f"{HTML}table")
    assert len([*rate.iter(f"{SVG}svg")]) == 3 and len([*size.iter(f"{SVG}svg")]) == 2
    assert {svg.get("aria-hidden") for svg in section.iter(f"{SVG}svg")} == {"true"}
    texts = [["".join(cell.itertext()) for cell in line] for line in size.iter(f"{HTML}tr")]
    assert texts == [["size", "04.00 ms", "mean d2c"], ["4 KiB", "", "1.00 ms, 900 us to 1.10 ms"],
                     ["64 KiB", "", "3.00 ms, 2.00 ms to 4.00 ms"]]  # fmt: skip
    assert "Time of a read by size, in loop<{}> and below it, loop<{}>, run" in "".join(size.itertext())
    text = "".join(section.itertext())
    assert "a line its 95 % interval" in text and "at depth" not in text
    bare = page.render("t", [], [], dataclasses.replace(glance, times=rows[1:]))
    assert "95 % interval" not in bare and "<table" not in bare
