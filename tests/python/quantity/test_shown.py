# SPDX-License-Identifier: GPL-2.0-or-later
"""No name controls a terminal, or is a formula in a CSV cell."""

import csv
import io
import json
import os
import subprocess
import unicodedata

import pytest
from conftest import TOP, changed
from hypothesis import given
from hypothesis import strategies as st

from raidtrace.quantity import shown

ANY = (
    st.text()
    | st.binary().map(lambda raw: raw.decode("utf-8", "surrogateescape"))
    | st.text("\033[]=+-@\"',\n\r\t \x9b\u202ea1")
)


@given(ANY)
def test_a_name_is_one_line_that_every_terminal_can_take(name):
    message = shown.visible(name)
    message.encode()
    assert not any(unicodedata.category(c) in ("Cc", "Zl", "Zp", "Cs") or c in "\u202e\u200b\ufeff" for c in message)


@pytest.mark.parametrize(
    ("name", "message"),
    [("café €", "café €"), ("a\033]0;x\a", "a\\x1b]0;x\\x07"), ("two\nlines\r", "two\\nlines\\r"), ("\x9b31m", "\\u009b31m"),
     ("\u202e", "\\u202e"), (b"caf\xc3".decode("utf-8", "surrogateescape"), "caf\\xc3"), ("\U000e0041", "\\U000e0041")],
)  # fmt: skip
def test_what_is_shown_is_what_raidctl_shows(name, message):
    assert shown.visible(name) == message


@given(ANY)
def test_what_goes_through_the_door_keeps_its_lines(text):
    below = io.StringIO()
    shown.Door(below).write(text)
    assert below.getvalue().count("\n") == text.count("\n")
    assert [shown.visible(line) for line in text.split("\n")] == below.getvalue().split("\n")


@given(ANY)
def test_no_cell_is_a_formula_and_numbers_stay(value):
    file = io.StringIO(newline="")
    csv.writer(file).writerow(shown.cells([value, 1, -2.5, None, "-3", "+1e5"]))
    row = next(csv.reader(io.StringIO(file.getvalue(), newline="")))
    assert row[1:] == ["1", "-2.5", "", "-3", "+1e5"]
    if row[0][:1] in ("=", "+", "-", "@", "\t", "\r"):
        float(row[0])


HOSTILE = ["=cmd\033]0;pwn\a<script>alert(1)</script>\nline two", "caf\udcc3"]


@pytest.fixture
def hostile(maker):
    """A recording with hostile names; the file has their bytes unchanged."""
    samples = [(1, 0, 10**9, {"read": {"issued": 3, "completed": 3, "bytes_completed": 9 << 20}}, {})]
    path = maker.write(samples, phases=((1, "PHASE", 0, 10**9),))
    name, other = map(os.fsencode, HOSTILE)
    return changed(
        path,
        ("UPDATE phase SET name=CAST(? AS TEXT)", (name,)),
        ("UPDATE target SET driver=CAST(? AS TEXT), disk=CAST(? AS TEXT)", (other, other)),
        ("INSERT INTO setting(time_ns, target, name, value) VALUES(0, 1, 'mount', CAST(? AS TEXT))", (name,)),
        ("INSERT INTO submitter(sample, submitter, pid, comm, queued) VALUES(1, 0, 7, CAST(? AS TEXT), 3)", (other,)),
        ("INSERT INTO meta VALUES('hostname', CAST(? AS TEXT))", (name,)),
    )


VERBS = [("report",), ("report", "--json"), ("report", "--html", "page.html"), ("export", "--json"), ("export", "--csv", "csv"),
         ("explain",), ("explain", "--json")]  # fmt: skip


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_no_verb_lets_a_name_through(hostile, tmp_path, words):
    result = subprocess.run([TOP / "tools/bin/raidctl", *words, hostile], capture_output=True, cwd=tmp_path)
    files = [*(tmp_path / "csv").glob("*.csv"), *tmp_path.glob("page.html")]
    assert b"Traceback" not in result.stderr and (result.returncode == 0) == (not result.stderr), result.stderr
    for text in (result.stdout, result.stderr, *(file.read_bytes() for file in files)):
        message = text.decode()  # valid, whatever the verb
        if not any(file.suffix == ".csv" for file in files):
            assert not set(message) & {"\033", "\a", "\x9b"}
        assert "<script>alert" not in message or "html" not in words[1:][:1]
    if "--json" in words and result.returncode == 0:
        json.loads(result.stdout)
    for file in files:
        if file.suffix == ".csv":
            with file.open(newline="", encoding="utf-8") as rows:
                assert not any(cell[:1] in ("=", "@") for row in csv.reader(rows) for cell in row)


@pytest.mark.slow
def test_an_argument_that_is_not_utf8_is_named_and_nothing_breaks(tmp_path):
    name = os.fsencode(tmp_path) + b"/caf\xc3\033[2J"
    for verb in ("explain", "compare", "report"):
        result = subprocess.run(
            [TOP / "tools/bin/raidctl", verb, name, name][: 4 if verb == "compare" else 3], capture_output=True
        )
        assert (
            result.returncode == 1 and b"\\xc3\\x1b[2J" in result.stderr and b"Traceback" not in result.stderr
        ), result.stderr
        result.stderr.decode()
