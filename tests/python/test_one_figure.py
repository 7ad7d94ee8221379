# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures are the same text, unit and rounding in each verb."""

import json
import re
import subprocess

import long_recording
import pytest
from conftest import TOP

RAIDCTL = TOP / "tools" / "bin" / "raidctl"
pytestmark = pytest.mark.slow


def said(*words):
    done = subprocess.run(
        [RAIDCTL, *words], capture_output=True, text=True, env={"COLUMNS": "120", "PATH": "/usr/bin:/bin"}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Two recordings of one kind of load, and what each verb makes of the first, or of both."""
    place = tmp_path_factory.mktemp("figures")
    for name, seconds in (("a", 20), ("b", 30)):
        long_recording.write(place / f"{name}.rtdb", seconds, 10, 1)
        long_recording.pack(place / f"{name}.rtdb")
    a, b = place / "a.rtdb", place / "b.rtdb"
    said("report", "--html", place / "a.html", a)
    texts = {"report": said("report", a), "report -v": said("report", "-v", a), "explain": said("explain", a),
             "report of two": said("report", a, b), "compare": said("compare", a, b),
             "page": re.sub(r"<[^>]+>|\s+", " ", (place / "a.html").read_text(encoding="utf-8"))}  # fmt: skip
    return place, {verb: re.sub(r"\s+", " ", text) for verb, text in texts.items()}


NUMBER = r"([\d.,]+)"
# What each verb prints of reads in the first phase, blanks folded.
WHERE = {
    "throughput": {
        "report": rf"read-256 read {NUMBER} ", "report -v": rf"phase read-256 .*?sequ\. read \S+ \S+ \S+ {NUMBER} ",
        "explain": rf"read-256 .*?{NUMBER} MiB/s", "report of two": rf"phase read-256 .*?throughput {NUMBER} MiB/s",
        "compare": rf"read-256 counted: throughput read {NUMBER} ", "page": rf"read-256: .*?{NUMBER} MiB/s",
    },
    "IOPS": {
        "report": rf"read-256 read \S+ {NUMBER} ", "report -v": rf"phase read-256 .*?sequ\. read (?:\S+ ){{4}}{NUMBER} ",
        "report of two": rf"phase read-256 .*? IOPS {NUMBER} ", "page": rf"read-256 read \S+ {NUMBER} ",
    },
    "in flight": {
        "report": rf"read-256 read \S+ \S+ {NUMBER} ", "report -v": rf"phase read-256 .*?sequ\. read (?:\S+ ){{5}}{NUMBER} ",
        "explain": rf"read-256 .*?{NUMBER} reads in flight", "report of two": rf"phase read-256 .*?in flight, mean {NUMBER} ",
        "compare": rf"read-256 counted: in flight read \(reqs.\) {NUMBER} ", "page": rf"read-256: .*?{NUMBER} reads in flight",
    },
    "mean request, KiB": {
        "report -v": rf"phase read-256 .*?sequ\. read (?:\S+ ){{7}}\S+ KiB {NUMBER} KiB",
        "report of two": rf"phase read-256 .*?request size, mean {NUMBER} KiB",
        "compare": rf"read-256 counted: request size read \(KiB\) {NUMBER} ",
    },
    "d2c, mean, ms": {
        "report -v": rf"phase read-256 .*?read d2c {NUMBER} ms", "report of two": rf"phase read-256 .*?d2c, mean {NUMBER} ms",
        "compare": rf"read-256 counted: d2c read \(ms\) {NUMBER} ",
    },
}  # fmt: skip


@pytest.mark.parametrize("figure", WHERE)
def test_each_verb_prints_the_same(place, figure):
    found = {}
    for verb, pattern in WHERE[figure].items():
        match = re.search(pattern, place[1][verb])
        assert match, (verb, place[1][verb][:1500])
        found[verb] = match[1]
    directory = place[0]
    read = json.loads(said("report", "--json", directory / "a.rtdb"))["spans"][0]["directions"]["read"]
    exact = {"throughput": f"{read['mib_per_s']:.1f}", "IOPS": f"{read['iops']:,.0f}",
             "in flight": f"{read['in_flight_mean']:.2f}",
             "mean request, KiB": f"{read['request_bytes_mean'] / 1024:.0f}",
             "d2c, mean, ms": f"{read['d2c_mean_ns'] / 1e6:.2f}"}[figure]  # fmt: skip
    assert set(found.values()) == {exact}, found
