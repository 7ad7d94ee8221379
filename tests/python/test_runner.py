# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/run counts what suites say, and silence as failure."""

import importlib.machinery
import importlib.util
import threading
import time

import pytest
from conftest import TOP


@pytest.fixture(scope="module")
def runner():
    loader = importlib.machinery.SourceFileLoader("runner", str(TOP / "tests" / "run"))
    spec = importlib.util.spec_from_loader("runner", loader)
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["runner"] = module  # dataclasses look their module up there
    loader.exec_module(module)
    return module


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


def test_a_guest_of_two_processors_has_the_machine_for_itself(runner, monkeypatch, tmp_path):
    path = tmp_path / "kmod-x"
    path.write_text("#!/bin/sh\n# SPDX\n# lab: --mem 512M\n# lab-kernels: 6.1 6.12:sanitize 7.2:sanitize-smp\n")
    monkeypatch.setattr(runner, "programs", lambda _directory, pattern: [path] if pattern == "kmod-*" else [])
    suites = {suite.name: suite for suite in runner.guest_suites({"7.2 sanitize-smp": "not offered"})}
    assert {name: (suite.kernel, suite.skip, suite.alone) for name, suite in suites.items()} == {
        "kmod-x@6.1": ("6.1", "", False),
        "kmod-x@6.12-sanitize": ("6.12", "", False),
        "kmod-x@7.2-sanitize-smp": ("7.2", "not offered", True),
    }
    assert "--variant" not in suites["kmod-x@6.1"].command
    command = suites["kmod-x@7.2-sanitize-smp"].command
    assert command[command.index("--variant") + 1] == "sanitize-smp"


def test_what_runs_alone_runs_last_and_with_nothing_beside_it(runner, monkeypatch, tmp_path):
    running, beside = [], {}
    lock = threading.Lock()

    def run(suite):
        with lock:
            running.append(suite.name)
        time.sleep(0.05)
        with lock:
            beside[suite.name] = len(running)
            running.remove(suite.name)
        return runner.Result(suite, 1, 0, 0, 0.0, "")

    monkeypatch.setattr(runner, "OUT", tmp_path)
    monkeypatch.setattr(runner, "build", lambda: ([], {}))
    monkeypatch.setattr(runner, "run", run)
    monkeypatch.setattr(runner, "guest_suites", lambda _: [runner.Suite(n, (n,), alone=n < "c") for n in "abcdef"])
    monkeypatch.setattr(runner, "host_suites", list)
    assert runner.main([]) == 0
    assert list(beside)[-2:] == ["a", "b"]
    assert (beside["a"], beside["b"]) == (1, 1)
    assert max(beside.values()) == 2


def test_a_pattern_that_fits_nothing_is_no_success(runner, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(runner, "OUT", tmp_path)
    monkeypatch.setattr(runner, "build", lambda: ([], {}))
    assert runner.main(["no-such-suite"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "0 passed, 0 failed"
    assert runner.main(["--help"]) == 2
