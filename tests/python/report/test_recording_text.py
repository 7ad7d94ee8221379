# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl report and export of recordings with all that one can hold: golden/.

full.rtdb and other.rtdb were made by raidctl 1.0, and their text and JSON were printed by its C.
"""

import csv
import dataclasses
import gzip
import io
import json
import os
import re
import subprocess
import sys

import long_recording
import pytest
from conftest import TOP, call, members_of, unpacked

from raidtrace.cli import compare, explain, export, report
from raidtrace.explain.evidence import Chain, Explanation, Limit, Source, Value, Verdict
from raidtrace.quantity import bins, shown, terminal, units
from raidtrace.quantity.shown import UserError
from raidtrace.recording import columns, database, document, invariants
from raidtrace.report import rows, tables
from raidtrace.report import text as report_text

GOLDEN = TOP / "tests/python/report/golden"
NAMES = ("full", "other")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    directory = tmp_path_factory.mktemp("golden")
    for name in NAMES:
        unpacked(GOLDEN / f"{name}.rtdb.xz", directory / f"{name}.rtdb")
    return directory


def text_of(path, explained="it was not run", verbose=True, phase=None):
    return report_text.text(invariants.load(path, phase), explained, verbose)


@pytest.mark.parametrize("name", NAMES)
def test_text_of_all_that_a_recording_can_hold(place, name):
    """The golden texts have each number that the C of 1.0 printed of these recordings; those of other are in compare's, too."""
    path, golden = place / f"{name}.rtdb", GOLDEN / f"{name}.txt"
    text = text_of(path, verbose=name == "full").replace(str(path), f"{name}.rtdb")
    if "UPDATE_GOLDEN" in os.environ:
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8"), "if this change is meant: UPDATE_GOLDEN=1"


def test_what_a_trace_and_a_quiet_machine_add(place):
    lines = text_of(place / "other.rtdb").splitlines()
    assert {"kernel     u", "quiet      no disturbance; watched: swap"} <= {*lines}
    _, imported, _ = document.load(place / "other.rtdb")["targets"]
    of_disk = [imported[name] for name in ("disk", "driver", "rotational", "max_sectors")]
    assert of_disk == ["sdb", None, None, None]


def test_json_is_that_of_raidctl_before(place):
    before = json.loads(gzip.decompress((GOLDEN / "full.json.gz").read_bytes()))
    now = json.loads(shown.value_json(document.load(place / "full.rtdb")))
    assert [span["hwqs"] for span in now["spans"]] == [None] * len(now["spans"])  # not counted in this recording
    counted = [of for span in now["spans"] for name, of in span["directions"].items() if name != "all"]
    for direction in counted:
        least, low, high = (direction[member] for member in ("d2c_p99_ns_low", "d2c_p999_ns_low", "d2c_p999_ns_high"))
        assert least is None or least <= low < high <= direction["d2c_max_ns_high"]
    now = members_of(before, now)
    assert list(now) == list(before) and json.dumps(now["spans"]) == json.dumps(before["spans"])
    assert {**now, "recording": ""} == {**before, "recording": ""}


def test_one_phase_alone(place):
    result = document.load(place / "full.rtdb", "write")
    assert {span["phase"] for span in result["spans"]} == {"write"} and len(result["spans"]) == 4
    done = call(report.main, "--phase", "nowhere", place / "full.rtdb")
    assert done.returncode == 1 and "no phase nowhere; to list its phases: raidctl report" in done.stderr


def chain(phase, disk, *limits):
    return Chain(f"{disk}, phase {phase}", disk, phase, "read", Verdict.INFERRED, (), limits, (f"one of {disk}",))


EXPLAINED = Explanation("recording", (), (
    chain("write", "sda", Limit("queue", "queue depth", "", Verdict.INFERRED)),
    chain("write", "sdb", Limit("device", "device", "", Verdict.NOT_SHOWN)),
), (), (), "t")  # fmt: skip


@pytest.mark.parametrize("columns", [20, 24, 71, 80, 100])
def test_no_line_is_wider_than_the_terminal(place, columns, monkeypatch):
    monkeypatch.setattr(terminal, "width", lambda: columns)
    lines = text_of(place / "full.rtdb", EXPLAINED, False).splitlines()
    assert all(len(line) <= max(columns, 60) for line in lines)
    limited = [line for line in lines if line.endswith(" queue depth") and " read " in line]
    first = next(at for at, line in enumerate(lines) if line.startswith("PHASE"))
    assert len(limited) == 1 and ("SIZE" in lines[first]) == (columns >= 80)
    assert ("p99.9" in lines[first]) == (columns >= 100)
    assert ("A wider terminal" in " ".join(lines)) == (columns < 80)
    assert all(len(line) <= max(columns, 45) for line in lines[first : lines.index("", first)])
    assert ("IOPS" in lines[first]) == (columns >= 71) and "MiB/s" in lines[first]


def test_a_name_that_is_too_long_has_a_line_above_its_rows():
    row = rows.Row("", (rows.Cell("a phase of a long name"), rows.Cell("1")))
    other = rows.Row("", (rows.Cell("b"), rows.Cell("2")))
    table = rows.Table(
        "", "", (rows.Column("PHASE", numeric=False, head="PHASE"), rows.Column("n", spare=2)), (row, row, other)
    )
    assert rows._table(table, 10)[1:] == ["a phase of a long name\n", "         1\n", "         1\n", "b        2\n"]


def test_the_limit_of_a_phase_is_the_first_that_is_inferred(place):
    lines = text_of(place / "full.rtdb", EXPLAINED, False).splitlines()
    begin = lines.index("") + 1  # below the breakdown
    assert lines[begin : begin + 3] == ["Tested:    t", "sda, phase write", "one of sda"]
    result, disk = {}, ""
    for line in lines:
        disk = line.removeprefix("write ") if re.fullmatch(r"write \w+", line) else disk if line.startswith(" ") else ""
        if disk and re.match(" +read ", line):
            result[disk] = re.sub(r".* (?=queue depth|not shown|-$)", "", line)
    assert result == {"sda": "queue depth", "sdb": "not shown", "sdc": "-", "md0": "-"}


def amplified(verdict, opening):
    value = Value("amplification", 30.4, "bytes/byte", Source("A", "sda", "write", ()))
    limit = Limit("read amplification", "Amplification", "", verdict, (value,))
    return dataclasses.replace(EXPLAINED, chains=(chain("write", "sda", limit),), opening=opening)


def test_read_amplification_is_on_the_first_screen_where_it_matters_and_is_not_there_already(place):
    sentence = "Read amplification, write sda: the disk reads 30.4 bytes for each byte that the program requests."
    opening = (("write sda", "what limits it"),)
    for explained, there in (
        (amplified(Verdict.INFERRED, opening), True),
        (amplified(Verdict.NOT_SHOWN, opening), True),
        (amplified(Verdict.CONTRADICTED, opening), False),
        (amplified(Verdict.INFERRED, ()), False),
    ):
        text = " ".join(text_of(place / "full.rtdb", explained, False).split())
        assert (sentence in text) == there


def test_directions_without_data_have_a_row_each(place):
    result = tables.phases([("A", invariants.load(place / "full.rtdb"), None)])
    assert {row.cells[1].text for row in result.rows} == {"read", "write", "discard", "flush"}
    assert "Further requests: other 5,023,954, passthrough 4,771,841." in text_of(place / "full.rtdb", EXPLAINED, False)


@pytest.mark.slow
def test_a_figure_is_the_same_text_in_each_verb(tmp_path):
    """The page has the sentences and tables of the text: test_report_html.py."""
    paths = [tmp_path / "a.rtdb", tmp_path / "b.rtdb"]
    for path, seconds in zip(paths, (20, 30), strict=True):
        long_recording.write(path, seconds, 10, 1)
    read = document.load(paths[0])["spans"][0]["directions"]["read"]
    rate, iops, depth = f"{read['mib_per_s']:.1f}", f"{read['iops']:,.0f}", f"{read['in_flight_mean']:.2f}"
    size, d2c = f"{read['request_bytes_mean'] / 1024:.0f} KiB", f"{read['d2c_mean_ns'] / 1e6:.2f} ms"
    verbose, explained, compared = (
        re.sub(r"\s+", " ", call(*words).stdout)
        for words in ((report.main, "-v", paths[0]), (explain.main, paths[0]), (compare.main, "-v", *paths))
    )
    assert f"read-256 read {rate} {iops} {depth} " in verbose
    assert re.search(rf"phase read-256 .*?sequ\. read \S+ \S+ \S+ {rate} {iops} {depth} \S+ \S+ KiB {size} ", verbose)
    assert re.search(rf"phase read-256 .*? read d2c {d2c} ", verbose)
    assert re.search(rf"read-256 [^.]*: {rate} MiB/s with {depth} reads in flight", explained)
    counted = {"throughput read": rate, "IOPS read (1/s)": iops, "in flight read (reqs.)": depth,
               "request size read (KiB)": size.split()[0], "d2c read (ms)": d2c.split()[0]}  # fmt: skip
    assert all(f"read-256 counted: {name} {value} " in compared for name, value in counted.items())
    of_both = {"throughput": f"{rate} MiB/s", "IOPS": iops, "in flight, mean": depth, "request size, mean": size,
               "d2c, mean": d2c}  # fmt: skip
    both = compared.partition("phase read-256 ")[2]
    assert all(f" {name} {value} " in both for name, value in of_both.items())


def test_a_report_is_one_process_and_opens_the_recording_once(place, monkeypatch):
    opened, real = [], database.read
    monkeypatch.setattr(database, "read", lambda path: opened.append(path) or real(path))
    monkeypatch.setattr(subprocess, "Popen", None)
    for words in ((), ("-v",), ("--json",)):
        opened.clear()
        done = call(report.main, *words, place / "full.rtdb")
        assert done.returncode == 0 and done.stdout and len(opened) == 1, done.stderr


def test_what_a_report_needs_is_little(place):
    """Loading modules is half of its time: neither drawing nor sweeps nor schemas are among them."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from raidtrace.cli import report; report.main(sys.argv[2:]); "
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-B", "-c", code, TOP / "tools/python", place / "full.rtdb"],
                          capture_output=True, text=True, check=True)  # fmt: skip
    loaded = set(done.stderr.split())
    assert "raidtrace.explain.runs" in loaded
    assert not loaded & {"matplotlib", "numpy", "jinja2", "jsonschema", "subprocess", "raidtrace.sweep.plan", "tomllib"}


def table(directory, name):
    with open(directory / f"{name}.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_csv_has_each_number_of_the_json(place, tmp_path):
    assert call(export.main, "--csv", tmp_path / "csv", place / "full.rtdb").returncode == 0
    tables = json.loads(call(export.main, "--json", place / "full.rtdb").stdout)["tables"]
    for name in tables.keys() - {"bin", "meta"}:
        assert [
            {key: "" if value is None else str(value) for key, value in row.items()} for row in tables[name]
        ] == table(tmp_path / "csv", name), name
    result = table(tmp_path / "csv", "histogram")
    assert len(result) == len(tables["bin"]) > 1000
    for row in result:
        kind = bins.KINDS[row["kind"]]
        assert (row["unit"], row["count_unit"]) == (kind.unit, kind.counted)
        if kind.cut != "class":
            low, high = kind.bounds(int(row["bin"]))
            assert (row["low"], row["high"]) == (str(low), "" if high is None else str(high))
    spans = document.load(place / "full.rtdb")["spans"]
    issued = sum(span["directions"]["read"]["flow"]["issued"] or 0 for span in spans)
    assert issued == sum(
        int(row["issued"] or 0) for row in table(tmp_path / "csv", "flow") if row["direction"] == "read"
    )


@pytest.mark.parametrize("make", [
    lambda path: path.write_text("mine"), lambda path: path.symlink_to(path.with_name("mine")), lambda path: path.mkdir(),
    lambda path: os.mkfifo(path),
])  # fmt: skip
def test_what_is_no_export_stays_as_it_is(place, tmp_path, make):
    words = ("--csv", tmp_path, place / "full.rtdb")
    assert [call(export.main, *words).returncode for _ in range(2)] == [0, 0]
    (tmp_path / "flow.csv").rename(tmp_path / "mine")  # An export by what it holds: only the link is wrong.
    mine = (tmp_path / "mine").read_bytes()
    make(tmp_path / "flow.csv")
    done = call(export.main, *words)
    assert done.returncode == 1 and "flow.csv: " in done.stderr and (tmp_path / "mine").read_bytes() == mine


def test_definitions_are_found_by_each_of_their_names():
    text = columns.definitions_text(["seeks"])
    assert "seeks" in text and all(len(line) <= 100 for line in text.splitlines())
    names = ("d2c_p99_ns_high", "d2c-p99-ns", "D2C P99 NS")
    assert len({columns.definitions_text([name]) for name in names}) == 1
    everything = columns.definitions_text([])
    assert everything.count("\n    ") > 60 and "histogram of " in everything
    with pytest.raises(UserError, match="nothing: no number has this name"):
        columns.definitions_text(["seeks", "nothing"])


@pytest.mark.parametrize("recording", ["full", "other"])
def test_every_heading_of_a_report_is_explained(place, recording):
    """As it stands in the text, and by its name; also LIMIT, which golden recordings without an answer do not have."""
    result = invariants.load(place / f"{recording}.rtdb")
    made = [one for one in report_text.parts(result, "it was not run", True) if isinstance(one, rows.Table)]
    made += tables.of_recording(result, "A")
    used = dict.fromkeys([column for table in made for column in table.columns] + [tables.LIMIT])
    assert len(used) > 60
    known = tables.definitions_of_headings()
    names = {" ".join(text.split()) for column in used for text in (column.name, column.head or column.name)} - {""}
    definitions = columns.definitions_text(sorted(names), known)  # an error names the one that lacks
    assert definitions.count("\n    ") >= len(names)
    everything = columns.definitions_text([], known)
    assert everything.count("waits for tags") == everything.count("\nbusy-share, of 1") == 1


PAGE = """
====== ====== =========
name   unit   what
====== ====== =========
a (b)  reqs.  first
              second
``c``         third
====== ====== =========

===== =====
other table
===== =====

===== ====== ====
value unit   what
===== ====== ====
d, e  of 1   one
===== ====== ====

===== ======== ====== ====
kind  counts   unit   bins
===== ======== ====== ====
size  sectors  reqs.  many
===== ======== ====== ====
"""


def test_definitions_are_rows_of_tables_of_names_and_kinds():
    result = list(columns.definitions(PAGE))
    assert [(one.name, one.others, one.unit, one.text) for one in result] == [
        ("a", ("b",), "requests", "first second"), ("c", (), "", "third"), ("d", ("e",), "of 1", "in raidctl explain: one"),
        ("size", (), "requests", "histogram of sectors; bins: many"),
    ]  # fmt: skip


def test_what_a_recording_says_cannot_hide_in_any_output():
    nasty = "a\u202eb\x1b[2J\n\udcff"
    assert shown.value_json({nasty: nasty}) == '{\n  "a\\u202eb\\u001b[2J\\n\\ufffd":"a\\u202eb\\u001b[2J\\n\\ufffd"\n}'
    assert list(csv.reader(io.StringIO(shown.row_csv(["=1+1", "-5", "a,b", '"', nasty, None]), newline=""))) == [
        ["'=1+1", "-5", "a,b", '"', "a\u202eb\x1b[2J\n\ufffd", ""]
    ]
    assert rows.render([rows.words("x", nasty)]) == "x          a\\u202eb\\x1b[2J\\n\\xff\n"


@pytest.mark.parametrize(("value", "text"), [
    (0, "0 ns"), (999.4, "999 ns"), (999.5, "1.00 us"), (12345, "12.3 us"), (999.6e3, "1.00 ms"), (5e9, "5.00 s"),
    (123456789012, "123 s"),
])  # fmt: skip
def test_times_have_three_digits(value, text):
    assert units.ns(value) == text


@pytest.mark.parametrize(("part", "whole", "text"), [
    (0, 0, "n/a"), (0, 5, "0.0 %"), (5, 5, "100.0 %"), (99999, 100000, "99.9 %"), (1, 100000, "<0.1 %"), (1, 3, "33.3 %"),
])  # fmt: skip
def test_all_and_none_are_reported_of_nothing_less(part, whole, text):
    assert units.share(part, whole) == text


@pytest.mark.parametrize(("text", "columns", "indent", "lines"), [
    ("12 MiB of 3 disks", 9, 0, ["12 MiB of", "3 disks"]), ("a bb", 3, 0, ["a", "bb"]), ("abcdef", 4, 0, ["abcd", "ef"]),
    ("one two", 30, 2, ["  one two"]), ("", 20, 0, [""]),
])  # fmt: skip
def test_a_number_and_its_unit_stay_together(text, columns, indent, lines):
    assert terminal.wrapped(text, columns, indent) == "\n".join(lines) + "\n"
