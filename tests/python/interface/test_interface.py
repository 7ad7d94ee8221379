# SPDX-License-Identifier: GPL-2.0-or-later
"""raidtrace.open(): the objects have the numbers that raidctl report --json, explain --json and export print."""

import csv
import doctest
import io
import json
import re
import subprocess
import sys

import pytest
from conftest import TOP, call, changed, unpacked

import raidtrace
from raidtrace.cli import export, report
from raidtrace.quantity.table import Table
from raidtrace.recording.columns import RecordingError

RECORDINGS = {"all": "tests/compat/1.0.0/all.rtdb.xz", "killed": "tests/compat/1.0.0/killed.rtdb.xz",
              "import": "tests/compat/1.0.0/import.rtdb.xz", "full": "tests/python/report/golden/full.rtdb.xz"}  # fmt: skip
FORMULAS = ("output", "setting", "meta", "request")  # tables with texts that a spreadsheet could take for a formula


@pytest.fixture(scope="module", params=RECORDINGS)
def path(request, tmp_path_factory):
    return unpacked(RECORDINGS[request.param], tmp_path_factory.mktemp("interface") / f"{request.param}.rtdb")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return unpacked(RECORDINGS["all"], tmp_path_factory.mktemp("whole") / "run.rtdb")


def test_figures_counters_and_histograms_are_those_of_the_report(path):
    printed, run = json.loads(call(report.main, "--json", path).stdout), raidtrace.open(path)
    assert {name: value or None for name, value in run.meta.items()} == printed["meta"]
    assert [one["disk"] for one in printed["targets"]] == [*run.disks]
    assert len(run.phases) == len(printed["spans"]) > 0
    rows = iter(run.figures)
    for phase, span in zip(run.phases, printed["spans"], strict=True):
        for name in ("start_ns", "end_ns", "seconds", "disk"):
            assert getattr(phase, name) == span[name]
        assert (phase.name, phase.number) == (span["phase"], span["phase_number"])
        assert [*phase.directions] == [*span["directions"]]
        for direction, theirs in span["directions"].items():
            figures = {name: value for name, value in theirs.items() if name not in ("flow", "histograms")}
            assert phase.figures[direction] == figures and figures
            row = next(rows)
            assert (row["phase"], row["disk"], row["direction"]) == (phase.name, phase.disk, direction)
            assert {name: row[name] for name in figures} == figures
            if direction != "all":
                assert phase.counters(direction) == theirs["flow"]
            for kind, bins in theirs["histograms"].items():
                if phase.histogram(direction, kind).bins() and "row" not in bins[0]:
                    assert phase.histogram(direction, kind).bins() == [(b["low"], b["high"], b["count"]) for b in bins]
        for kind in {"none", *span["histograms_not_counted"]} - span["directions"]["read"]["histograms"].keys():
            with pytest.raises(LookupError, match="does not have"):
                phase.histogram("read", kind)
    assert next(rows, None) is None


def test_tables_and_samples_are_those_of_the_export(path):
    printed, run = json.loads(call(export.main, "--json", path).stdout), raidtrace.open(path)
    for name, rows in printed["tables"].items():
        if name != "bin":
            assert [*run.table(name)] == rows, name
    flow = [{key: value for key, value in row.items() if key != "sample"} for row in printed["tables"]["flow"]]
    assert [{name: row[name] for name in own} for row, own in zip(run.samples, flow, strict=True)] == flow
    by_number = {row["sample"]: row for row in printed["tables"]["sample"]}
    for row in run.samples:
        assert all(row[name] == by_number[row["sample"]][name] for name in ("start_ns", "end_ns"))
    with pytest.raises(ValueError, match="nothing: not one of meta, target"):
        run.table("nothing")


def test_the_explanation_is_that_of_explain(whole):
    done = subprocess.run(
        [TOP / "tools/bin/raidctl-explain", "--json", whole], capture_output=True, text=True, check=True
    )
    chains = json.loads(done.stdout)["chains"]
    explained = raidtrace.open(whole).explanation()
    theirs = [(chain["disk"], chain["phase"], chain["direction"], limit["key"], limit["verdict"], limit["statement"])
              for chain in chains for limit in chain["limits"]]  # fmt: skip
    names = ("disk", "phase", "direction", "limit", "verdict", "statement")
    assert [tuple(row[name] for name in names) for row in explained.limits] == theirs
    of_one = raidtrace.open(whole).explanation(phase="random", direction="read")
    assert {row["phase"] for row in of_one.limits} == {"random"}
    assert "seeks" in of_one.text() and all(len(line) <= 80 for line in of_one.text().splitlines())


def test_what_cannot_be_read_has_its_reason(tmp_path, whole):
    with pytest.raises(RecordingError, match="no such recording"):
        raidtrace.open(tmp_path / "none.rtdb")
    newer = changed(tmp_path / "newer.rtdb", "PRAGMA user_version = 9", of=whole)
    with pytest.raises(RecordingError, match="version 9"):
        raidtrace.open(str(newer))


def test_frames_have_the_rows_and_what_is_not_available_is_na(whole):
    pandas = pytest.importorskip("pandas")
    run = raidtrace.open(whole)
    for table in (run.figures, run.samples, run.explanation().limits):
        frame = table.to_pandas()
        assert [*frame.columns] == [*table.names] and len(frame) == len(table) > 0
        for name in table.names:
            values = [None if pandas.isna(one) else one for one in frame[name]]
            assert values == [row[name] for row in table], name
    assert run.explanation().to_pandas().equals(run.explanation().limits.to_pandas())
    large = Table(("a", "b"), [(1, 2**60 + 1), (None, None)]).to_pandas()
    assert large["b"].dtype == "Int64" and large["b"][0] == 2**60 + 1 and large["b"][1] is pandas.NA
    read = next(phase for phase in run.phases if phase.name == "random").histogram("read", "d2c")
    assert read.to_pandas().values.tolist() == [[*row] for row in read.bins()]
    assert len(Table(("a",), []).to_pandas()) == 0


def test_without_pandas_the_error_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match="pandas, which is not installed: apt-get install python3-pandas"):
        Table(("a",), [(1,)]).to_pandas()


def test_parquet_has_the_rows_of_the_csv(path, tmp_path):
    parquet = pytest.importorskip(
        "pyarrow.parquet", reason="pyarrow is not installed: Debian has no package of it, pip has"
    )
    done = call(export.main, "--parquet", tmp_path / "parquet", "--csv", tmp_path / "csv", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    files = {file.stem: file for file in (tmp_path / "parquet").glob("*.parquet")}
    assert {*files, "columns"} == {file.stem for file in (tmp_path / "csv").iterdir()}
    meanings = list(csv.DictReader(io.StringIO((tmp_path / "csv/columns.csv").read_text(encoding="utf-8"))))
    for name, file in files.items():
        table, text = parquet.read_table(file), (tmp_path / f"csv/{name}.csv").read_text(encoding="utf-8")
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        assert table.num_rows == len(rows)
        for mine, theirs in zip(table.to_pylist(), rows, strict=True):
            classes = [mine.pop(f"{one}_class") for one in ("row", "low")] if name == "histogram" else ()
            for at, one in enumerate(("row", "low") if classes else ()):
                mine[one] = mine[one] if classes[at] is None else classes[at]
            if name not in FORMULAS:  # texts that a spreadsheet could take for a formula
                assert {key: "" if value is None else str(value) for key, value in mine.items()} == theirs
        for row in (row for row in meanings if row["table"] == name):
            about = table.schema.field(row["column"]).metadata
            assert about == {b"unit": row["unit"].encode(), b"meaning": row["meaning"].encode()}
    again = call(export.main, "--parquet", tmp_path / "parquet", path)
    assert again.returncode == 0, again.stderr
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs/flow.parquet").write_text("mine")
    refused = call(export.main, "--parquet", tmp_path / "theirs", path)
    assert refused.returncode == 1 and "flow.parquet" in refused.stderr
    assert (tmp_path / "theirs/flow.parquet").read_text() == "mine"


def test_the_examples_of_the_page(whole, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(whole.parent)
    page = (TOP / "Documentation/client.rst").read_text(encoding="utf-8")
    section = re.split(r"^(.+)\n=+$", page, flags=re.MULTILINE)
    text = dict(zip(section[1::2], section[2::2]))["Recordings"]
    examples, wrong = doctest.DocTestParser().get_doctest(text, {}, "Recordings", "client.rst", 0), []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False).run(examples, out=wrong.append)
    assert len(examples.examples) > 5 and not wrong, "".join(wrong)


PLUGIN = """
import pytest
import raidtrace.client


class Counters(int):
    def __sub__(self, other):
        return Counters(int(self) - int(other))


class Disk:
    reads = 3
    def counters(self):
        self.reads += 2
        return Counters(self.reads)


class Client:
    def __enter__(self):
        return self
    def __exit__(self, *_):
        print("closed")
    def attached(self, disk, groups=None):
        import contextlib
        @contextlib.contextmanager
        def attached():
            yield Disk()
            print("detached", disk, groups)
        return attached()


@pytest.fixture(autouse=True)
def pretend(monkeypatch, request):
    if "without" not in request.node.name:
        monkeypatch.setattr(raidtrace.client, "Client", Client)


def test_counts(block_counters):
    spent = block_counters("vdb")
    other = block_counters("vdc", ["flow"])
    assert (spent(), spent(), other()) == (2, 4, 2)


def test_without_the_module(block_counters):
    block_counters("vdb")
"""


@pytest.mark.skipif((TOP / "/sys/module/raidtrace").exists(), reason="the module is loaded")
def test_the_fixture_counts_until_the_test_ends_and_fails_without_the_module(tmp_path):
    pytest.importorskip("pyroute2")
    (tmp_path / "test_disk.py").write_text(PLUGIN)
    command = [
        sys.executable,
        "-B",
        "-m",
        "pytest",
        "-p",
        "raidtrace.pytest_plugin",
        "-p",
        "no:cacheprovider",
        "-rA",
        "-q",
        ".",
    ]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(TOP / "tools/python")}, capture_output=True, text=True
    )
    assert "1 passed" in done.stdout and "1 failed" in done.stdout, done.stdout + done.stderr
    assert "raidtrace.ko is not loaded" in done.stdout
    ends = re.findall("^(detached.*|closed)$", done.stdout, re.MULTILINE)
    assert ends == ["detached vdc ['flow']", "detached vdb None", "closed"]


def test_the_interface_is_lazy():
    """Each verb imports the package, and must not pay for the interface."""
    code = "import sys, raidtrace; print([name for name in sys.modules if name.startswith('raidtrace')])"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(TOP / "tools/python")}, capture_output=True, text=True
    )
    assert done.stdout == "['raidtrace']\n"
