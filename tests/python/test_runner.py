# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/run counts what suites say, and silence as failure."""

import threading
import time

import pytest
from conftest import TOP, script


@pytest.fixture(scope="module")
def runner():
    return script(TOP / "tests" / "run")


@pytest.mark.parametrize(
    ("status", "text", "counts"),
    [
        (0, "ok - a\n3 passed, 0 failed\n", (3, 0, 0)),
        (0, "3 passed, 0 failed, 2 skipped\n\n", (3, 0, 2)),
        (1, "not ok - a\n3 passed, 1 failed\n", (3, 1, 0)),
        (0, "", (0, 1, 0)),  # silence
        (0, "3 passed, 0 failed\nand then it went on", (0, 1, 0)),  # cut off, or not the end
        (126, "3 passed, 0 failed\n", (3, 1, 0)),  # an oops in the guest
        (0, "0 passed, 0 failed\n", (0, 1, 0)),  # nothing was run
        (0, "0 passed, 0 failed, 1 skipped\n", (0, 0, 1)),
    ],
)
def test_a_suite_is_judged_by_its_last_line_and_its_status(runner, status, text, counts):
    result = runner.judge(runner.Suite("x", ("x",)), status, text, 0.1)
    assert (result.passed, result.failed, result.skipped) == counts


def test_directives_of_a_guest_suite(runner, tmp_path):
    path = tmp_path / "kmod-x"
    path.write_text("#!/bin/sh\n# SPDX\n# lab: --mem 512M --store 1G\n# lab-kernels: all\n")
    assert runner.directives(path) == {"lab": "--mem 512M --store 1G", "lab-kernels": "all"}


def test_what_is_long_is_run_only_when_requested(runner, monkeypatch, tmp_path):
    for name, line in (("lab-a", "# lab-long: hours"), ("lab-b", "# lab-kernels: 6.1")):
        (tmp_path / name).write_text(f"#!/bin/sh\n# SPDX\n{line}\n")
    monkeypatch.setattr(
        runner, "programs", lambda _, pattern: sorted(tmp_path.glob("lab-?")) if pattern == "lab-*" else []
    )
    short, long = (
        [s.name for s in suites if "lab-" in s.name] for suites in (runner.host_suites(), runner.long_suites())
    )
    assert (short, long) == (["lab-b"], ["lab-a"])


def test_kernels_that_check_leaves_out_are_met_with_long(runner, monkeypatch, tmp_path):
    monkeypatch.setattr(runner, "ON_LAST", ("ctl-y",))
    for name in ("ctl-x", "ctl-y", "kmod-x", "lab-x"):
        (tmp_path / name).write_text("#!/bin/sh\n# SPDX\n# lab-kernels: all\n")
    (tmp_path / "ctl-z").write_text("#!/bin/sh\n# SPDX\n# lab-kernels: 6.1:suspend\n# lab-long: a kernel of its own\n")
    (tmp_path / "lab-y").write_text("#!/bin/sh\n# SPDX\n# lab-kernels: 6.1\n# lab-kernels-long: 7.2:smp\n")
    monkeypatch.setattr(runner, "programs", lambda _directory, pattern: sorted(tmp_path.glob(pattern)))
    short, long = (
        {s.name: s.needs for s in suites if "@" in s.name or "lab-" in s.name}
        for suites in ([*runner.guest_suites(), *runner.host_suites()], runner.long_suites())
    )
    assert list(short) == "kmod-x@6.1 kmod-x@7.2 ctl-x@6.1 ctl-x@7.2 ctl-y@7.2 lab-x lab-y".split()
    assert short["lab-x"] == ("6.1", "7.2") and short["lab-y"] == ("6.1",)
    kernels = "ctl-y@6.1 kmod-x@6.12 ctl-x@6.12 ctl-y@6.12 kmod-x@7.3 ctl-x@7.3 ctl-y@7.3".split()
    assert list(long) == ["lab-x@6.12", "lab-y@7.2-smp", "ctl-z@6.1-suspend", *kernels]
    assert long["lab-x@6.12"] == ("6.12",) and long["lab-y@7.2-smp"] == ("7.2:smp",)


def test_a_suite_gets_the_kernels_that_are_built(runner, monkeypatch, tmp_path):
    monkeypatch.setattr(runner, "OUT", tmp_path)
    words = ("sh", "-c", 'echo "on $LAB_KERNELS"; echo 1 passed, 0 failed')
    assert runner.run(runner.Suite("x", words, needs=("6.1", "7.2", "6.12:smp"))).text.startswith("on 6.1 7.2\n")


def test_check_builds_three_kernels(runner):
    suites = [*runner.guest_suites(), *runner.host_suites()]
    assert runner.needed(suites) == ["tools", "6.1", "7.2", "6.12:sanitize"]


def test_kernels_that_check_themselves_have_more_cycles_with_long(runner):
    short, long = (
        {suite.name: suite.command[-1] for suite in suites if "soak" in suite.name}
        for suites in (runner.guest_suites(), runner.long_suites())
    )
    assert short.keys() == {"kmod-soak.py@6.12-sanitize"}
    assert long == {f"kmod-soak.py@{variant}": cycles for variant, cycles in runner.LONG_SOAK.items()}
    assert not set(short.values()) & set(long.values())


def test_a_guest_of_two_processors_has_the_machine_for_itself(runner, monkeypatch, tmp_path):
    path = tmp_path / "kmod-x"
    path.write_text("#!/bin/sh\n# SPDX\n# lab: --mem 512M\n# lab-kernels: 6.1 6.12:sanitize 7.2:sanitize-smp\n")
    monkeypatch.setattr(runner, "programs", lambda _directory, pattern: [path] if pattern == "kmod-*" else [])
    suites = {suite.name: suite for suite in runner.guest_suites()}
    assert {name: (suite.kernel, suite.needs, suite.alone) for name, suite in suites.items()} == {
        "kmod-x@6.1": ("6.1", ("6.1",), False),
        "kmod-x@6.12-sanitize": ("6.12", ("6.12:sanitize",), False),
        "kmod-x@7.2-sanitize-smp": ("7.2", ("7.2:sanitize-smp",), True),
    }
    assert "--variant" not in suites["kmod-x@6.1"].command
    command = suites["kmod-x@7.2-sanitize-smp"].command
    assert command[command.index("--variant") + 1] == "sanitize-smp"


def test_what_runs_alone_runs_last_and_with_nothing_next_to_it(runner, monkeypatch, tmp_path):
    running, concurrent = [], {}
    lock = threading.Lock()

    def run(suite):
        with lock:
            running.append(suite.name)
        time.sleep(0.05)
        with lock:
            concurrent[suite.name] = len(running)
            running.remove(suite.name)
        return runner.Result(suite, 1, 0, 0, 0.0, "")

    monkeypatch.setattr(runner, "OUT", tmp_path)
    monkeypatch.setattr(runner, "build", lambda name: runner.Result(runner.Suite(name, ()), 1, 0, 0, 0.0, ""))
    monkeypatch.setattr(runner, "JOBS", 2)
    monkeypatch.setattr(runner, "run", run)
    monkeypatch.setattr(runner, "guest_suites", lambda *_: [runner.Suite(n, (n,), alone=n < "c") for n in "abcdef"])
    monkeypatch.setattr(runner, "host_suites", list)
    assert runner.main([]) == 0
    assert list(concurrent)[-2:] == ["a", "b"]
    assert (concurrent["a"], concurrent["b"]) == (1, 1)
    assert max(concurrent.values()) == 2


def test_a_suite_begins_when_what_it_needs_is_built_and_nothing_else_is_built(runner, monkeypatch, tmp_path):
    events = []
    begun = {name: threading.Event() for name in ("early", "late")}
    suites = [runner.Suite("late", (), needs=("6.12", "6.1:sanitize")), runner.Suite("early", (), needs=("6.1",))]

    def run(suite):
        events.append(suite.name)
        begun[suite.name].set()
        return runner.Result(suite, 1, 0, 0, 0.0, "")

    def build(name):
        if name == "6.12":
            begun["early"].wait(20)
        events.append(name)
        return runner.Result(runner.Suite(name, ()), 1, 0, 0, 0.0, "")

    monkeypatch.setattr(runner, "OUT", tmp_path)
    monkeypatch.setattr(runner, "build", build)
    monkeypatch.setattr(runner, "run", run)
    monkeypatch.setattr(runner, "guest_suites", lambda *_: suites)
    monkeypatch.setattr(runner, "host_suites", lambda *_: [runner.Suite("other", (), needs=("7.2",))])
    assert runner.main(["early", "late"]) == 0
    assert events == ["tools", "6.1", "early", "6.12", "6.1:sanitize", "late"]


@pytest.mark.parametrize(
    ("counts", "kernel", "expected"),
    [
        ((1, 0, 0), "7.2", (1, 0, 0)),
        ((0, 0, 1), "7.2", (0, 0, 1)),  # not offered: its guests are skipped
        ((0, 1, 0), "7.2", (0, 0, 1)),  # the build has failed, and counts itself
        ((0, 0, 1), "", (1, 0, 0)),  # a suite on the host says itself what it misses
    ],
)
def test_a_guest_without_its_kernel_is_skipped(runner, monkeypatch, counts, kernel, expected):
    good = runner.Result(runner.Suite("tools", ()), 1, 0, 0, 0.0, "")
    built = {"tools": good, "7.2": runner.Result(runner.Suite("build-7.2", ()), *counts, 0.0, "not offered")}
    monkeypatch.setattr(runner, "run", lambda suite: runner.Result(suite, 1, 0, 0, 0.0, ""))
    result = runner.run_one(runner.Suite("x", (), kernel, ("7.2",)), built)
    assert (result.passed, result.failed, result.skipped) == expected


def test_a_suite_that_hangs_is_ended_and_its_time_is_kept(runner, tmp_path):
    log = tmp_path / "log"
    assert runner.finish(("sleep", "100"), log, {}, 0.2)[0] == -9
    assert "no end within" in log.read_text()
    status, cpu = runner.finish(
        ("python3", "-c", "sum(range(10**6)); print('1 passed, 0 failed')"), log, {"PATH": "/usr/bin:/bin"}, 60
    )
    assert status == 0 and cpu > 0
    assert log.read_text() == "1 passed, 0 failed\n"


def test_a_pattern_that_fits_nothing_is_an_error(runner, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(runner, "OUT", tmp_path)
    with pytest.raises(SystemExit) as ended:
        runner.main(["layers", "no-such-suite"])
    assert ended.value.code == 2
    assert "no-such-suite" in capsys.readouterr().err


def test_list_names_suites_and_runs_nothing(runner, monkeypatch, capsys):
    monkeypatch.setattr(runner, "build", None)
    assert runner.main(["--list", "kmod-soak", "layers"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [["kmod-soak.py@6.12-sanitize", "6.12:sanitize"], ["layers", "-"]]
    assert runner.main(["--list", "--long", "sanitize-smp"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert ["kmod-soak.py@7.2-sanitize-smp", "7.2:sanitize-smp", "(alone)"] in [line.split() for line in lines]
