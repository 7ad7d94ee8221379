# SPDX-License-Identifier: GPL-2.0-or-later
"""The index, what is made of it, the loop that runs cells, and that help, manual and completions say the same."""

import csv
import dataclasses
import os
import re
import sqlite3
import subprocess
import types

import pytest
from conftest import TOP, call, program
from made_sweep import PLACE, create

from raidtrace.benchmark.parsers import Figure
from raidtrace.cli import sweep as cli_sweep
from raidtrace.cli import workload as cli_workload
from raidtrace.quantity.shown import UserError
from raidtrace.sweep import index as sweep_index
from raidtrace.sweep import plan
from raidtrace.sweep import table as sweep_table
from raidtrace.sweep.index import Index, Outcome
from raidtrace.sweep.run import cells as sweep
from raidtrace.sweep.run import disk as cell_disk
from raidtrace.sweep.run import lab as cell_lab

TEXT = """title = "x"
published = "amcc"
trials = 3
[[matrix]]
array = "9500s-12-raid0"
filesystem = "none"
readahead_sectors = [256, 16384]
workload = "dd"
data_size = "1 GiB"
"""
PLAN = plan.parse(TEXT, "p", "p.toml")


@pytest.fixture
def index(tmp_path):
    return create(tmp_path, PLAN)


def rate(value, queue=()):
    return Outcome("", (Figure("read", value, "KiB/s"),), queue, "run.rtdb", 1.0, "6.1")


def test_cells_are_finished_or_not_never_half(index, monkeypatch):
    index.begin(1, "now")
    index.end(1, rate(100.0))
    index.begin(2, "now")
    with pytest.raises(Exception):
        index.end(
            2, Outcome("", (Figure("read", 1.0, "KiB/s"), Figure("read", 1.0, None)), ())
        )  # a NULL where none may be
    again = Index(index.path, write=True)
    assert [e.state for e in again.entries()][:3] == ["done", "running", "waiting"]
    assert [row[0] for row in again.figures()] == [1]
    assert sqlite3.connect(index.path).execute("SELECT count(*) FROM figure WHERE cell=2").fetchone() == (0,)
    again.again(failed=False)
    assert [e.state for e in again.entries()][:3] == ["done", "waiting", "waiting"]


def test_failed_cells_wait_again_only_when_requested(index):
    index.end(1, Outcome("disk on fire"))
    index.again(failed=False)
    assert (index.entries()[0].state, index.entries()[0].error) == ("failed", "disk on fire")
    index.again(failed=True)
    assert index.entries()[0].state == "waiting"


def test_parameters_axes_and_commands_are_stored(index):
    axes = index.axes(1)
    assert axes["readahead_sectors"] == 256 and axes["workload"] == "dd"
    db = sqlite3.connect(index.path)
    parameters = dict(db.execute("SELECT name, value FROM parameter WHERE cell=1"))
    assert parameters == {"direction": "read", "block_kib": 1024}
    (command,) = db.execute("SELECT command FROM step WHERE cell=1 AND purpose='measure'").fetchone()
    assert command.endswith("-- dd if=/dev/sda of=/dev/null bs=1M count=1024")


def test_what_is_no_index_is_refused(tmp_path):
    (tmp_path / "x").write_bytes(b"garbage" * 1000)
    with pytest.raises(UserError, match="not a readable index"):
        Index(tmp_path / "x")
    with pytest.raises(UserError, match="no such sweep"):
        Index(tmp_path / "y")


def test_trials_become_one_line_next_to_the_published(index, tmp_path):
    for cell, value in ((1, 110000.0), (2, 118387.7), (3, 120000.0)):
        index.end(cell, rate(value))
    index.end(4, Outcome("no"))
    (line,) = sweep_table.lines(index, "amcc")
    assert (line.summary.trials, line.summary.median, line.benchmark) == (3, 118387.7, "dd")
    assert line.published.middle == pytest.approx(115.613 * 1024) and line.simulated and line.steady is None
    names = sweep_table.varying([line])
    shown = sweep_table.text([line], ["readahead_sectors"])
    assert names == [] and re.search(r"256 +read +MB/s +118\.4 +8\.4% +114\.8-119\.3 +1\.00", shown[1]), shown
    sweep_table.write_csv(tmp_path / "p.csv", [line], ["array"])
    (row,) = csv.DictReader((tmp_path / "p.csv").open())
    assert (row["ratio"], row["trials"], row["simulated"], row["published_low"]) == ("1.0000", "3", "yes", "114804.7")


def test_the_table_names_outliers_drift_and_the_interval(tmp_path):
    many = plan.parse(TEXT.replace("trials = 3", "trials = 6").replace("[256, 16384]", "[256, 512]"), "p", "p.toml")
    made = create(tmp_path, many)
    for cell, value in enumerate((100.0, 101.0, 250.0, 99.0, 100.5, 99.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0), 1):
        made.end(cell, rate(value))
    result = sweep_table.lines(made, "")
    shown = sweep_table.text(result, ["readahead_sectors"])
    assert "outlier: trial 3" in shown[1] and "rising from trial to trial" in shown[2] and "outlier" not in shown[2]
    sweep_table.write_csv(tmp_path / "p.csv", result, ["array"])
    first, second = csv.DictReader((tmp_path / "p.csv").open())
    assert (first["trials"], first["median"], first["outliers"], first["drift"]) == ("6", "100.25", "3", "")
    assert float(first["interval_low"]) < 100.25 < float(first["interval_high"]) <= 250
    assert float(first["spread_percent"]) == pytest.approx(100 * 151 / 100.25, rel=1e-4)  # the outlier counts
    assert (second["drift"], second["outliers"]) == ("rising", "")


def test_an_outlier_is_named_by_its_trial_in_random_order_and_when_one_failed(tmp_path):
    text = TEXT.replace("trials = 3", 'trials = 6\norder = "random"').replace("[256, 16384]", "[256]")
    many = plan.parse(text, "p", "p.toml")
    assert [cell.trial for cell in many.cells] != [1, 2, 3, 4, 5, 6]
    made = create(tmp_path, many)
    for entry in made.entries():  # trial 1 fails, trial 5 stands out
        value = 250.0 if entry.trial == 5 else 100.0 + entry.trial
        made.end(entry.cell, Outcome("broken") if entry.trial == 1 else rate(value))
    (line,) = sweep_table.lines(made, "")
    assert line.summary.outliers == (5,) and line.summary.trials == 5
    assert "outlier: trial 5" in sweep_table.text([line], [])[1]


def test_processor_use_is_the_median_of_the_trials(index):
    for cell, cpu in ((1, 10.0), (2, 20.0), (3, None)):
        index.end(cell, Outcome("", (Figure("read", 100.0, "KiB/s", cpu),)))
    (line,) = sweep_table.lines(index, "")
    assert line.cpu_percent == 15.0


def test_each_figure_has_a_bar_of_the_time_of_its_disk(index):
    def queue(disk, *shares):
        return (disk, "run", "read", 1.0, 5, 0, 0, 5, 999, 999, 4, 1.9, 256, 1.0, 5.0, *shares)

    for cell in (1, 2, 3):  # trials of one cell: the mean
        index.end(cell, rate(100.0, (queue("sda", 0.9 + cell / 50, 0.04, 0.3), queue("sdb", 0.1, 0.0, 0.0))))
    index.end(4, rate(100.0, (queue("md0", 0.25, None, None), queue("sda", 0.9, 0.0, 0.0))))
    first, second = sweep_table.lines(index, "")
    assert first.states == pytest.approx({"served": 0.64, "backlog": 0.3, "held": 0.04, "empty": 0.02})
    assert second.states == {"busy": 0.25, "empty": 0.75}
    head, *rows, legend = sweep_table.text([first, second], [])
    assert head.split()[-1] == "time" and rows[0].split()[-1] == "#####===-." and rows[1].split()[-1] == "##........"
    assert legend == "Time of the disk: # served or busy, = backlog, - held, . empty or idle."


def test_a_sweep_of_an_earlier_raidctl_goes_on_without_shares(index):
    path = index.path
    index.close()
    with sqlite3.connect(path) as db:
        for name in ("busy_share", "held_share", "backlog_share"):
            db.execute(f"ALTER TABLE queue DROP COLUMN {name}")
        db.execute("INSERT INTO queue VALUES(1,'sda','run','read',1,5,0,0,5,999,999,4,1.9,256,1,5)")
    assert Index(path).queues()[0]["held_share"] is None
    again = Index(path, write=True)
    again.end(
        2, rate(100.0, (("sda", "run", "read", 1.0, 5, 0, 0, 5, 999, 999, 4, 1.9, 256, 1.0, 5.0, 0.5, 0.1, 0.2),))
    )
    assert [row["held_share"] for row in again.queues()] == [None, 0.1]


def test_a_phase_that_drifts_is_called_not_steady(index):
    def queue(slope):
        return (("sda", "run", "read", 1.0, 5, 0, 0, 5, 999, 999, 4, 1.9, 256, slope, 5.0, None, None, None),)

    for cell, slope in ((1, 1.0), (2, 30.0), (3, 1.0), (4, 1.0), (5, -2.0), (6, 3.0)):
        index.end(cell, rate(100.0, queue(slope)))
    assert [line.steady for line in sweep_table.lines(index, "")] == [False, True]
    lines = sweep_table.lines(index, "")
    first, *rest, note = sweep_table.text(lines, [])[1:]
    assert "not steady" in first and "not steady" not in "".join(rest)
    assert "drifts by over 10 % of its mean or differs by over 20 %" in note
    assert sweep_table.text(lines[1:], []) == [line for line in sweep_table.text(lines[1:], []) if "steady" not in line]


def run(index, one, jobs=1):
    """Run the cells: one(cell number) is what happens in each."""
    runner = types.SimpleNamespace(stopped=False, run=lambda cell, name: one(int(name[:4])))
    return sweep.run(index, PLAN, runner, jobs, 1 << 30)


def test_a_failure_does_not_end_the_sweep_and_resume_repeats_nothing(index):
    ran = []

    def one(cell):
        ran.append(cell)
        return Outcome("broken") if cell == 2 else rate(1.0)

    assert run(index, one, jobs=2) == 1 and sorted(ran) == [1, 2, 3, 4, 5, 6]
    index.again(failed=False)
    ran.clear()
    assert run(index, one) == 0 and ran == []


def test_stopping_leaves_unfinished_cells_waiting(index):
    runner = types.SimpleNamespace(stopped=False)

    def one(cell, name):
        runner.stopped = name.startswith("0002")
        return Outcome("killed by us") if runner.stopped else rate(1.0)

    runner.run = one
    with pytest.raises(sweep.Interrupted):
        sweep.run(index, PLAN, runner, 1, 1 << 30)
    assert [e.state for e in index.entries()] == ["done"] + ["waiting"] * 5


def test_where_no_other_cell_can_do_better_the_sweep_ends_and_all_are_to_be_run_again(index):
    ran = []

    def one(cell):
        ran.append(cell)
        return Outcome("store full", ends=True) if cell == 2 else rate(1.0)

    with pytest.raises(sweep.Ended, match="store full"):
        run(index, one)
    assert ran == [1, 2] and [e.state for e in index.entries()] == ["done"] + ["waiting"] * 5


def test_resume_starts_guests_as_before_unless_options_change_it(index, tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(cli_sweep.cell_lab, "build", lambda *words: None)
    monkeypatch.setattr(cli_sweep, "_run", lambda o, p, i, runner, jobs, ram: calls.append((jobs, runner)) or 0)
    monkeypatch.delenv("LAB_KERNEL", raising=False)
    words = ["--lab", "--resume", "--out", str(tmp_path)]
    for more, jobs, kernel, store in (
        (["--jobs", "7", "--store", "96M", "--kernel", "6.12"], 7, "6.12", "96M"),
        ([], 7, "6.12", "96M"),
        (["--jobs", "3"], 3, "6.12", "96M"),
        (["--store", "1G"], 3, "6.12", "1G"),
    ):
        assert cli_sweep.main([*words, *more]) == 0
        assert calls[-1][0] == jobs and (calls[-1][1].kernel, calls[-1][1].store) == (kernel, store)
    command = calls[-1][1].command(PLAN.cells[0], tmp_path)
    assert command[command.index("--store") + 1] == "1G" and command[command.index("--kernel") + 1] == "6.12"


def test_a_plan_that_takes_long_to_prepare_says_how_far_it_is(monkeypatch, capsys):
    clock = iter([0.0, 0.1, 0.2, 1.3, 1.3, 1.4, 1.5, 2.0, 2.0, 2.1])
    monkeypatch.setattr(sweep.time, "monotonic", lambda: next(clock))
    assert [cell for cell, _ in sweep.preparing(PLAN, lambda cell: PLACE)] == list(PLAN.cells)
    assert capsys.readouterr().err == "preparing: 2 of 6 cells, about 3 s left\n"


def test_only_one_sweep_in_a_directory(tmp_path):
    with sweep.alone(tmp_path):
        with pytest.raises(UserError, match="another raidctl sweep"):
            with sweep.alone(tmp_path):
                pass


def test_a_directory_with_something_else_in_it_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(UserError, match="thesis.tex"):
        sweep.open_or_create(tmp_path, PLAN, lambda cell: PLACE, {}, resume=False)
    with pytest.raises(UserError, match="no such sweep"):
        sweep.open_or_create(tmp_path, PLAN, lambda cell: PLACE, {}, resume=True)


def test_the_time_left_follows_the_cells_that_ended(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(sweep.time, "monotonic", lambda: clock[0])
    p = sweep.Progress({1: 10.0, 2: 10.0, 3: 10.0}, {1: "a", 2: "a", 3: "b"}, 1)
    assert "about 0:30 left" in p.text()
    p.started(1, "one")
    clock[0] = 20.0
    p.ended(1, "")  # all took twice what was guessed so far
    assert "1 of 3 cells, 0:20, about 0:40 left" in p.text() and sweep.clock(3725) == "1:02:05"


def dry(*words):
    return call(cli_sweep.main, *words)


def test_dry_run_prints_every_command_and_does_nothing(tmp_path):
    done = dry("--lab", "--dry-run", "--out", str(tmp_path / "x"), "howto")
    assert done.returncode == 0 and not (tmp_path / "x").exists()
    assert done.stdout.count("mdadm --create") == 21 and done.stdout.count("raidctl record") == 21
    assert "would destroy: nothing" in done.stdout


def test_a_dry_run_of_resume_prints_what_is_left(index, tmp_path, capsys):
    index.end(1, rate(100.0))
    index.end(4, Outcome("broken"))
    words = ["--lab", "--dry-run", "--resume", "--out", str(tmp_path)]
    for more, left in (([], [2, 3, 5, 6]), (["--retry-failed"], [2, 3, 4, 5, 6])):
        assert cli_sweep.main([*words, *more]) == 0
        text = capsys.readouterr().out
        assert [int(at) for at in re.findall(r"^# cell (\d) of 6", text, re.MULTILINE)] == left
        assert text.splitlines()[0].endswith("raidctl lab build")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--disk", "sda"], "began in the lab and can continue only there"),
        (["--lab", "quick"], "plan quick differs from the plan of this sweep"),
        (["--lab", "--trials", "7"], "began with another --data-size or --trials"),
    ],
)
def test_resume_does_not_go_on_with_something_else(index, tmp_path, words, message):
    done = call(cli_sweep.main, "--resume", "--dry-run", "--out", tmp_path, *words)
    assert done.returncode == 1 and message in done.stderr


def test_ctrl_c_before_the_first_cell_is_no_traceback(monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_sweep.plan, "load", interrupted)
    assert cli_sweep.main(["--lab", "quick"]) == 1
    assert capsys.readouterr().err == "raidctl sweep: interrupted before the first cell\n"


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["quick"], 2, "name the disks: --lab"),
        (["--lab", "--disk", "sda", "quick"], 2, "exclude each other"),
        (["--lab", "--no-record", "quick"], 2, "--no-record: no effect in the lab; leave out it"),
        (["--disk", "sda", "--jobs", "2", "--kernel", "6.1", "quick"], 2, "--jobs, --kernel: no effect on real disks"),
        (["--lab"], 2, "name a plan"),
        (["--lab", "quik"], 2, "did you mean quick"),
        (["--lab", "--trials", "0", "quick"], 2, "must be at least 1"),
        (["--destroy-data", "nosuchdisk", "quick"], 1, "no such disk"),
        (["show", "nowhere"], 1, "no such sweep"),
        (["--lab", "--resume"], 2, "--resume needs the plan"),
    ],
)
def test_refusals_say_what_and_end_as_the_manual_says(words, status, message, tmp_path):
    done = dry(*words)
    assert done.returncode == status and message in done.stderr and done.stderr.startswith("raidctl sweep: ")


@pytest.mark.parametrize("words", [["plans"], ["--lab", "--dry-run", "quick"]])
def test_a_reader_that_has_gone_is_no_failure_to_report(words):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([TOP / "tools/bin/raidctl-sweep", *words], stdin=subprocess.DEVNULL, stdout=write,
                          stderr=subprocess.PIPE, text=True)  # fmt: skip
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_lab_without_simulated_time_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("LAB", "vm")
    done = dry("--lab", "--out", str(tmp_path / "x"), "quick")
    assert done.returncode == 1 and "would measure the host" in done.stderr and not (tmp_path / "x").exists()


def options(parser):
    result = [o for action in parser._actions for o in action.option_strings if o.startswith("--")]
    groups = [a for a in parser._actions if hasattr(a, "choices") and isinstance(a.choices, dict)]
    result += [o for group in groups for sub in group.choices.values() for o in options(sub)]
    return sorted(set(result) - {"--help"})


@pytest.mark.parametrize(("verb", "module"), [("sweep", cli_sweep), ("workload", cli_workload)])
def test_manual_and_completions_have_every_option(verb, module):
    result = options(module.parser())
    if verb == "sweep":
        result += ["--parquet", "--stack"]
    assert len(result) > 4
    manual = (TOP / f"Documentation/man/raidctl-{verb}.8").read_text()
    bash = (TOP / "tools/completion/raidctl.bash").read_text()
    line = next(line for line in bash.splitlines() if line.startswith(f"\t{verb})"))
    zsh = (TOP / "tools/completion/_raidctl").read_text()
    section = zsh[zsh.index(f"\n\t{verb})") :].split(";;")[0]
    for option in result:
        assert f"Fl {option[1:]}" in manual, option
        assert f"{option} " in line, option
        assert option in section, option


def test_figures_are_documented():
    text = (TOP / "Documentation/sweep.rst").read_text()
    for word in (*sweep_table.HEADER, *sweep_table.STACK_HEADER[3:]):
        assert f"``{word}``" in text, word
    for name in re.findall(r"CREATE TABLE (\w+)", sweep_index.SCHEMA):
        assert f"``{name}``" in text, name
    for axis in plan.AXES:
        assert f"``{axis}``" in text, axis


CELL_PLAN = plan.parse(
    'title = "x"\n[[matrix]]\narray = "one"\nfilesystem = "none"\nworkload = "dd"\ndata_size = "1 MiB"\n', "p", "p.toml"
)
(CELL,) = CELL_PLAN.cells
DAMAGED = b"SQLite format 3\0" + b"\xff" * 4000


RUBBISH = pytest.mark.parametrize(
    ("recording", "message"),
    [(DAMAGED, "not a recording of raidctl"), (b"", "the file is empty")],
    ids=["damaged", "empty"],
)


@RUBBISH
def test_a_guest_that_leaves_rubbish(recording, message, tmp_path):
    (tmp_path / "left").write_bytes(recording)
    out = tmp_path / "out"
    raidctl = program(tmp_path / "raidctl", f"cp {tmp_path}/left {out}/cell/run.rtdb\necho '{{}}' >{out}/cell/lab.json")
    outcome = cell_lab.Lab(raidctl, out, "", CELL_PLAN).run(CELL, "cell")
    assert message in outcome.error and outcome.recording == "cell/run.rtdb" and outcome.figures == ()


@pytest.mark.parametrize(
    ("message", "ends"), [("the simulated disks' contents did not fit; to", True), ("a BUG", False)]
)
def test_a_guest_with_a_full_store_ends_the_sweep(message, ends, tmp_path):
    raidctl = program(tmp_path / "raidctl", f'echo "raidctl lab: {message}" >&2\nprintf "1\\n2\\n3\\n" >&2\nexit 126')
    outcome = cell_lab.Lab(raidctl, tmp_path / "out", "", CELL_PLAN).run(CELL, "cell")
    assert outcome.error and outcome.ends == ends


def test_a_guest_that_starts_after_the_sweep_was_stopped_is_ended(tmp_path):
    raidctl = program(tmp_path / "raidctl", '[ "$2" = show ] || exec sleep 60')
    lab = cell_lab.Lab(raidctl, tmp_path / "out", "", CELL_PLAN)
    lab.stop()
    assert "exit status -15" in lab.run(CELL, "cell").error


@RUBBISH
def test_rubbish_on_disks(recording, message, tmp_path):
    disks = cell_disk.Disks(tmp_path, tmp_path, CELL_PLAN, {"one": ("sdy",)}, (), None, True)
    (tmp_path / "run.rtdb").write_bytes(recording)
    here = cell_disk.place(("sdy",), str(tmp_path), True)
    assert message in disks._outcome(CELL, here, tmp_path, "", 1.0).error


@pytest.mark.parametrize(("trial", "words"), [(1, []), (2, ["--seed", "1"]), (5, ["--seed", "4"])])
def test_a_trial_in_the_lab_is_a_draw_of_chance(trial, words, tmp_path):
    cell = dataclasses.replace(CELL, trial=trial)
    command = cell_lab.Lab(tmp_path / "raidctl", tmp_path, "", CELL_PLAN).command(cell, tmp_path)
    assert command[command.index("--") - len(words) : command.index("--")] == words
    assert command.count("--seed") == (trial > 1)


@pytest.mark.parametrize(
    ("message", "first"),
    [
        ('  device    "nvme"   Linux driver', "nvme0n1"),
        ('  device "virtio-blk"', "vda"),
        ('  device "ahci"', "sda"),
        ("", "sda"),
    ],
)
def test_a_guest_names_its_disks_by_the_device_of_the_profile(tmp_path, message, first):
    assert cell_lab.disk_names(program(tmp_path / "raidctl", f"echo '{message}'"), "x")[0] == first
