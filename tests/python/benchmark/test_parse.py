# SPDX-License-Identifier: GPL-2.0-or-later
"""Output of programs (corpus/printed.txt has its origin) becomes figures; garbage is refused with its line."""

import json
import pathlib
import re
import shutil
import string
import subprocess

import pytest
from conftest import TOP, call
from hypothesis import given, settings
from hypothesis import strategies as st

from raidtrace.benchmark import iozone_fio, parsers
from raidtrace.benchmark import registry as benchmark
from raidtrace.benchmark.parsers import Figure, ParseError
from raidtrace.cli import workload as cli_workload
from raidtrace.quantity.shown import UserError
from raidtrace.sweep import plan, steps

CORPUS = pathlib.Path(__file__).parent / "corpus"


PARTS = re.split("^==> (.*) <==\n", (CORPUS / "printed.txt").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
PRINTED = dict(zip(PARTS[::2], PARTS[1::2]))
PRINTED["fio-3.33-iozone"] = (CORPUS / "fio-3.33-iozone.json").read_text(encoding="utf-8")


def values(figures):
    return {f.phase: f.value for f in figures}


# bytes, and seconds where these are not the second number of the line that begins with the bytes, as of a real run
DD = {
    **{f"dd-{name}": (314572800, None) for name in ("english", "german", "french", "chinese", "polish-comma", "ukrainian")},
    "dd-russian": (7106560, None), "dd-russian-old": (1549, 0.427457), "dd-tiny": (1024, None),
    "dd-progress": (14745600000, None),  # the final amount, not that after the first second
    "dd-busybox": (314572800, 2.5), "dd-bsd": (20971520, 0.0512),
    "dd-before-8.24": (21474836480, 177.143), "dd-no-rate-time": (21474836480, 177.143),
}  # fmt: skip


@pytest.mark.parametrize("name", DD)
def test_dd_in_every_form_and_language(name):
    size, seconds = DD[name]
    if seconds is None:
        line = next(line for line in PRINTED[name].splitlines() if re.search(rf"\b{size}\b", line))
        words = re.sub(r"\([^)]*\)", "", line)
        seconds = float(re.findall(r"[\d.,e+-]*\d(?= s\b)", words)[0].lstrip(",").replace(",", "."))
    (figure,) = parsers.dd(PRINTED[name], "read", 1 << 20)
    assert figure == Figure("read", pytest.approx(size / 1024 / seconds), "KiB/s")


def test_bonnie_1_03():
    figures = parsers.bonnie(PRINTED["bonnie-1.03"])
    result = values(figures)
    assert [result[p] for p in ("write-chr", "write", "rewrite", "read-chr", "read", "seeks")] == [
        25694, 34366, 12165, 14105, 26306, 84.4,
    ]  # fmt: skip
    assert result["stat-seq"] is None and result["delete-random"] == 3121
    assert figures[1] == Figure("write", 34366, "KiB/s", 20) and figures[5].unit == "1/s"
    fast = values(parsers.bonnie(PRINTED["bonnie-1.03e-fast"]))
    assert "write-chr" not in fast and fast["read"] == 96293 and fast["create-seq"] is None


def test_bonnie_1_96_and_2_00():
    result = values(parsers.bonnie(PRINTED["bonnie-1.96"]))
    assert (result["write-chr"], result["read"], result["seeks"], result["delete-seq"]) == (429, 93821, 262.3, 17328)
    assert set(values(parsers.bonnie(PRINTED["bonnie-2.00a-too-fast"])).values()) == {None}
    result = values(parsers.bonnie(PRINTED["bonnie-2.00a-lab"]))
    assert result.keys() == {"write", "rewrite", "read", "seeks"} and all(result.values())


def test_bonnie_with_several_runs_numbers_them():
    line = PRINTED["bonnie-1.03"].splitlines()[-1]
    figures = parsers.bonnie(f"{line}\n{line.replace('34366', '34367')}\n")
    assert [(f.value, f.where) for f in figures if f.phase == "write"] == [(34366, ()), (34367, (("run", "2"),))]


def test_iozone_throughput():
    assert values(parsers.iozone(PRINTED["iozone-t-3.203"])) == {"write": 109333.84, "rewrite": 111377.63}
    figures = parsers.iozone(PRINTED["iozone-t-tabs"])
    assert [f.phase for f in figures] == ["write", "rewrite", "read", "reread", "random-read"]
    assert figures[4].where == (("processes", "4"),) and figures[2].value == 1179321.5


def test_iozone_automatic():
    figures = parsers.iozone(PRINTED["iozone-a-3.506"])
    assert [f.phase for f in figures] == list(parsers.IOZONE_COLUMNS)
    assert [f.value for f in figures][:2] + [figures[-1].value] == [269, 3114, 1840]
    assert figures[0].where == (("file_kib", "4096"), ("record_kib", "1"))


def test_iozone_columns_that_were_not_tested_are_left_out():
    figures = parsers.iozone(PRINTED["iozone-a-blank-columns"])
    assert [f.phase for f in figures[:6]] == ["write", "rewrite", "read", "reread", "random-read", "random-write"]
    lines = PRINTED["iozone-a-blank-columns"].splitlines()
    gap = lines[-1].replace("    5597     6278", " " * len("    5597     6278"))
    phases = [f.phase for f in parsers.iozone("\n".join(lines[:-1] + [gap]))[6:]]
    assert phases == ["write", "rewrite", "random-read", "random-write"]


def test_fio_as_iozone():
    result = iozone_fio.parse(PRINTED["fio-3.33-iozone"])
    assert [f.phase for f in result] == ["write", "rewrite", "read", "reread", "random-read", "random-write",
                                         "backward-read", "stride-read"]  # fmt: skip
    # 65536 KiB in 33 ms, as the file says
    assert result[0].value == pytest.approx(65536 / 0.033) and result[0].cpu_percent == pytest.approx(31.25)
    with pytest.raises(UserError, match="write first"):
        iozone_fio.command("/mnt", 1 << 20, 1 << 16, ["read"])


def test_several_runs_of_fio_in_one_output():
    one = PRINTED["fio-3.33-iozone"]
    assert len(parsers.fio(one + "a warning\n" + one)) == 16


def test_a_surface_has_all_sizes_and_finer_times():
    sizes = iozone_fio.Surface(256 << 10, 64 << 10).sizes()
    assert len(sizes) == 15 and (64 << 10, 4 << 10) in sizes and all(record <= file for file, record in sizes)
    assert iozone_fio.Surface(256 << 10, 4 << 10, 128 << 10).sizes() == [(128 << 10, 4 << 10), (256 << 10, 4 << 10)]
    iozone = benchmark.find("iozone")
    words = iozone.command(iozone.job("/mnt", "", 1 << 20, {"auto": True, "program": "iozone", "smallest_kib": 512}))
    assert words[:6] == ["iozone", "-a", "-n", "512k", "-g", "1024k"]
    for smallest in (0, 2048):
        with pytest.raises(UserError, match="no file size from"):
            iozone.command(iozone.job("/mnt", "", 1 << 20, {"auto": True, "program": "fio", "smallest_kib": smallest}))
    job = PRINTED["fio-3.33-iozone"].replace('"jobname" : "read"', '"jobname" : "read.65536.64"')
    (figure,) = [f for f in iozone_fio.parse(job) if f.where]
    assert figure.phase == "read" and figure.where == (("file_kib", "65536"), ("record_kib", "64"))
    assert 65536 / 0.028 < figure.value < 65536 / 0.010  # 27 ms run time, of which less was in the calls


def test_ddt_and_ioperf():
    result = parsers.own(PRINTED["ddt"], "ddt")
    assert [f.phase for f in result] == ["write", "write-real", "read", "read-real"] and result[0].cpu_percent == 100
    result = parsers.own(PRINTED["ioperf"], "ioperf")
    assert [f.phase for f in result if "-" not in f.phase] == ["fwrite", "fread", "putc", "getc", "seeks"]
    (figure, _) = parsers.own("write: n/a KiB/s, cpu n/a %, real 0.0 s\n", "ddt")
    assert (figure.value, figure.cpu_percent) == (None, None)


PARSERS = {
    "dd": lambda s: parsers.dd(s, "read", 512),
    "bonnie++": parsers.bonnie,
    "iozone": parsers.iozone,
    "fio": parsers.fio,
    "ddt": lambda s: parsers.own(s, "ddt"),
    "ioperf": lambda s: parsers.own(s, "ioperf"),
}


HEAD = [line for line in PRINTED["bonnie-1.03"].splitlines() if "Latency" not in line][:18]
BONNIE = "\n".join([*HEAD, PRINTED["bonnie-1.03"].splitlines()[-1]]) + "\n"
JOB = '{\n"jobs": [{"jobname": "a", "usr_cpu": 1, "sys_cpu": 1, "read": {"io_bytes": %s, "runtime": 1}}]}'
FIO = PRINTED["fio-3.33-iozone"]

# output with an error -> program, output, message with the line of the error
GARBAGE = {
    "no time": ("dd", PRINTED["dd-busybox-gnu"], r"dd: line 2: .*neither seconds.*'300\+0 records out'"),
    "no bytes": ("dd", "0+0 records in\n0+0 records out\n0 bytes copied, 1.9e-05 s, 0.0 kB/s\n", "line 3: no bytes"),
    "no whole blocks": ("dd", "3+1 records in\n3+1 records out\nreal 2.0\n", "a partial block"),
    "thousands of digits": ("dd", f"{'9' * 5000} bytes copied, 1 s, 1 MB/s\n", "number of copied blocks"),
    "a figure with a letter": ("bonnie++", BONNIE.replace("34366", "x34366"), r"line 19: 'x34366' is not a figure"),
    "no number": ("bonnie++", BONNIE.replace("34366", "nan"), "not a figure"),
    "a field less": ("bonnie++", BONNIE.replace(",84.4", ""), "line 19: 26 fields"),
    "no results": ("bonnie++", "\n".join(BONNIE.splitlines()[:8]), "no line of comma-separated results"),
    "nothing": ("bonnie++", "", "no output at all"),
    "a rate with a letter": (
        "iozone", "Children see throughput for 1 initial writers = 12x KB/sec\n", "line 1: '12x' is not a figure"),
    "another test": ("iozone", "\nChildren see throughput for 1 jugglers = 12 KB/sec\n", "line 2: unknown test of 'jugglers'"),
    "another unit": ("iozone", "Children see throughput for 1 readers = 12 MB/sec\n", "line 1: unit 'MB/sec'"),
    "operations": ("iozone", "OPS Mode. Output is in operations per second.\n", "-O and -N"),
    "the begin alone": ("iozone", "Auto Mode\n", "the benchmark may have ended early"),
    "a figure more": ("iozone", "  kB  reclen    write  rewrite    read    reread\n  64  4  1 2 3 4 5\n",
                      "line 2: 5 figures under 4 columns"),
    "no JSON": ("fio", "fio: bad option\n", "no JSON in it"),
    "half of it": ("fio", "note\n{\n", "fio: line 2: not JSON"),
    "half of a second run": ("fio", FIO + "{\n", f"line {len(FIO.splitlines()) + 1}: not JSON"),
    "no jobs": ("fio", '{\n "jobs": []\n}\n', "without jobs"),
    "an empty job": ("fio", '{\n "jobs": [{}]\n}\n', "fio: line 1: job 1: 'jobname' is missing"),
    "a job that is a number": ("fio", '{\n "jobs": [7]\n}\n', "fio: line 1: job 1"),
    "an error": ("fio", 'note\n{\n "jobs": [{\n"jobname": "x", "error": 5, "usr_cpu": 0, "sys_cpu": 0}]\n}\n',
                 "line 4: job 1 .x. ended with error 5"),
    "no byte": (
        "fio", '{\n "jobs": [\n{"jobname": "x", "usr_cpu": 0, "sys_cpu": 0}]\n}\n', "line 3: job 1 .x. moved no byte"),
    "digits": ("fio", '{\n"jobs": ' + "9" * 5000, ""),
    "nested": ("fio", '{\n"jobs": ' + "[" * 5000, ""),
    "infinity": ("fio", JOB % "1e999", ""),
    "too many bytes": ("fio", JOB % ("1" + "0" * 400), ""),
    "no line of it": ("ddt", "# ddt\nhello\n", "line 2: neither"),
    "a phase of another": ("ddt", "fwrite: 1 KiB/s, cpu 1 %, real 1 s\n", "unknown test 'fwrite'; known tests: "),
}  # fmt: skip


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_is_refused_with_its_line(name):
    parser, output, message = GARBAGE[name]
    with pytest.raises(ParseError, match=message):
        PARSERS[parser](output)


def test_dd_without_a_rate_needs_the_size_of_a_block():
    with pytest.raises(ParseError, match="line 2"):
        parsers.dd(PRINTED["dd-no-rate-time"], "read")


@pytest.mark.slow
@pytest.mark.parametrize("name", PARSERS)
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_whatever_comes_it_is_figures_or_a_parse_error(name, data):
    """Real output with a piece replaced by anything: finite figures that are not negative, or ParseError, nothing else."""
    stem = {"bonnie++": "bonnie"}.get(name, name)
    good = PRINTED[data.draw(st.sampled_from(sorted(name for name in PRINTED if name.startswith(stem))))]
    begin = data.draw(st.integers(0, len(good)))
    end = data.draw(st.integers(begin, min(len(good), begin + 40)))
    garbage = data.draw(st.text(max_size=20) | st.text(string.digits + ".,+- \n:=eE%{}", max_size=20))
    try:
        figures = PARSERS[name](good[:begin] + garbage + good[end:])
    except ParseError:
        return
    assert figures and all(f.value is None or 0 <= f.value < float("inf") for f in figures)


@given(st.floats(min_value=0.001, max_value=1e6), st.integers(1, 1 << 40))
def test_dd_reads_back_what_was_printed(seconds, size):
    line = f"{size} bytes (1 GB, 1 GiB) copied, {seconds:.6g} s, 1.0 GB/s"
    (figure,) = parsers.dd(f"1+0 records in\n1+0 records out\n{line}\n", "read")
    assert figure.value == pytest.approx(size / 1024 / float(f"{seconds:.6g}"))


@pytest.mark.slow
@given(st.lists(st.floats(min_value=0, max_value=1e7), min_size=13, max_size=13), st.integers(1, 1 << 30))
def test_iozone_reads_back_a_whole_row(row, size):
    header = PRINTED["iozone-a-3.506"].splitlines()[7]
    line = f"{size:16d}{4:8d}" + "".join(f"{value:10.0f}" for value in row)
    assert [f.value for f in parsers.iozone(f"{header}\n{line}\n")] == [float(f"{value:.0f}") for value in row]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed")
def test_fio_does_every_test_of_iozone_and_leaves_no_file(tmp_path):
    phases = [phase for _, some in iozone_fio.TESTS.values() for phase, _ in some]
    words = iozone_fio.surface(str(tmp_path), iozone_fio.Surface(64 << 10, 4 << 10), tuple(iozone_fio.TESTS))
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    result = iozone_fio.parse(done.stdout)
    assert [f.phase for f in result] == phases and not list(tmp_path.iterdir())
    assert {f.where for f in result} == {(("file_kib", "64"), ("record_kib", "4"))}
    # a strided read is 1 record of 17, all others are the whole file
    jobs = json.loads(done.stdout)["jobs"]
    moved = {job["jobname"].split(".")[0]: job["read"]["io_bytes"] + job["write"]["io_bytes"] for job in jobs}
    assert moved.pop("stride-read") == 4096 and set(moved.values()) == {64 << 10}
    two = iozone_fio.surface(str(tmp_path), iozone_fio.Surface(128 << 10, 8 << 10), ("write",))
    done = subprocess.run(two, capture_output=True, text=True)
    assert len(iozone_fio.parse(done.stdout)) == 2 * 4 and not list(tmp_path.iterdir()), done.stderr
    words = iozone_fio.command(str(tmp_path), 8 << 20, 64 << 10, ("write", "strided"))
    jobs = json.loads(subprocess.run(words, capture_output=True, text=True).stdout)["jobs"]
    assert [(job["jobname"], job["read"]["total_ios"]) for job in jobs][2] == ("stride-read", 8)  # of 128


def test_iozones_own_tests_have_their_numbers():
    assert iozone_fio.test_numbers(["write", "fwrite", "fread"]) == ["-i", "0", "-i", "6", "-i", "7"]
    for wrong in (["write", "fread"], ["write", "fread", "fwrite"], ["fwrite"], ["write", "juggle"], []):
        with pytest.raises(UserError, match="write first, fwrite before fread"):
            iozone_fio.test_numbers(wrong)


@pytest.mark.skipif(not (TOP / "tools/bin/ddt").exists(), reason="the tools are not built")
def test_our_own_benchmarks_run_and_are_read(tmp_path):
    for name, words in (("ddt", ["-p", "pause_s=0"]), ("ioperf", ["-p", "seeks=10"])):
        command = [TOP / "tools/bin/raidctl-workload", "run", "-j", "-d", tmp_path, "-s", "1M", *words, name]
        done = subprocess.run(command, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["figures"][0]["value"] > 0 and not list(tmp_path.iterdir())


@pytest.mark.parametrize(("words", "message"), [
    (["show", "none"], "unknown benchmark none"), (["parse", "none", "x"], "unknown benchmark none"),
    (["parse", "-p", "x", "dd", "x"], "give KEY=VALUE"), (["parse", "-p", "x=1", "dd", "x"], "dd has no parameter x"),
    (["run", "dd"], "give either --directory, or --disk"),
    (["run", "-d", ".", "-p", "x=1", "ddt"], "ddt has no parameter x"), (["run", "-d", ".", "-s", "x", "ddt"], "not a size"),
    (["run", "-d", ".", "-s", "1K", "ddt"], "not a multiple of the block size"),
    (["run", "--disk", "x", "ddt"], "runs on a file system"),
])  # fmt: skip
def test_wrong_values_of_workload_end_with_2(words, message):
    done = call(cli_workload.main, *words)
    assert done.returncode == 2 and message in done.stderr.splitlines()[-1]


def test_a_benchmark_that_overwrites_a_disk_is_left_to_sweep():
    for words in (["dd", "-p", "direction=write"], ["fio", "-p", "job_file=x", "-p", "writes=true"]):
        command = [TOP / "tools/bin/raidctl-workload", "run", "--disk", "/dev/null", "-s", "1M", *words]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (
            done.returncode == 1 and "this would overwrite /dev/null; only raidctl sweep --destroy-data" in done.stderr
        )


def test_parameters_are_checked(tmp_path):
    dd = benchmark.find("dd")
    assert dd.command(dd.job("", "/dev/sda", 20 << 30, {})) == [
        "dd", "if=/dev/sda", "of=/dev/null", "bs=1M", "count=20480",
    ]  # fmt: skip
    write = dd.job("", "/dev/sda", 1 << 20, {"direction": "write"})
    assert dd.destroys(write) and "conv=fsync" in dd.command(write)
    for directory, disk, parameters in (("/mnt", "", {}), ("", "/dev/sda", {"blocks": 1}), ("", "/dev/sda", {"block_kib": "1"}),
                                        ("", "/dev/sda", {"block_kib": -1})):  # fmt: skip
        with pytest.raises(UserError):
            dd.job(directory, disk, 1 << 20, parameters)
    with pytest.raises(UserError, match="not a multiple of the block size"):
        dd.command(dd.job("", "/dev/sda", (1 << 20) + 512, {}))
    with pytest.raises(UserError, match="unknown benchmark"):
        benchmark.find("hdparm")
    fio = benchmark.find("fio")
    job_file = tmp_path / "x.fio"
    job_file.write_text("[global]\nrw=read\n[x]\n")
    raw = fio.job("", "/dev/sda", 1 << 20, {"job_file": str(job_file)})
    assert "--readonly" in fio.command(raw) and not fio.destroys(raw)
    assert fio.destroys(fio.job("", "/dev/sda", 1 << 20, {"job_file": str(job_file), "writes": True}))


@pytest.mark.parametrize("place", [("/mnt", ""), ("", "/dev/sda")])
def test_a_job_file_of_fio_does_not_say_where_to_write(place, tmp_path):
    fio, path = benchmark.find("fio"), tmp_path / "x.fio"
    job = fio.job(*place, 1 << 20, {"job_file": str(path), "writes": True})
    path.write_text("[x]\nrw=write\nioengine = libaio\n")
    assert fio.command(job)[-1] == str(path)
    path.write_text("[x]\nrw=write\ndirectory=/\n")
    with pytest.raises(UserError, match="x.fio:3: directory: this option could name another disk"):
        fio.command(job)


def test_a_benchmark_runs_in_a_directory_that_nobody_put_a_link_into(tmp_path):
    """A file of fio's name for job x, made by somebody else who may write there: it stays, and what is measured is gone."""
    job, victim = tmp_path / "x.fio", tmp_path / "victim"
    victim.write_bytes(b"precious")
    job.write_text("[x]\nrw=write\nbs=64k\n")
    place = tmp_path / "place"
    place.mkdir()
    (place / "x.0.0").symlink_to(victim)
    command = [TOP / "tools/bin/raidctl-workload", "run", "-d", place, "-s", "1M", "-p", f"job_file={job}", "fio"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert victim.read_bytes() == b"precious"
    assert [path.name for path in place.iterdir()] == ["x.0.0"]


def test_a_job_file_that_cannot_be_read_or_is_named_by_half_its_path_is_refused():
    fio = benchmark.find("fio")
    with pytest.raises(UserError, match="No such file"):
        fio.command(fio.job("/mnt", "", 1 << 20, {"job_file": "/nowhere/x.fio"}))
    text = (
        'title = "x"\n[workload.w]\nkind = "fio"\njob_file = "x.fio"\n[[matrix]]\narray = "one"\nfilesystem = "xfs"\n'
    )
    the_plan = plan.parse(text + 'workload = "w"\ndata_size = "1 MiB"\n', "p", "p.toml")
    with pytest.raises(UserError, match="give an absolute path"):
        steps.job(the_plan.cells[0], the_plan, steps.Place(("sda",), "/mnt", 1 << 30, lab=True))
