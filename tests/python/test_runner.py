# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/run counts what suites say, and silence as failure."""

import importlib.machinery
import importlib.util

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


def test_a_pattern_that_fits_nothing_is_no_success(runner, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(runner, "OUT", tmp_path)
    monkeypatch.setattr(runner, "build", lambda: ([], {}))
    assert runner.main(["no-such-suite"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "0 passed, 0 failed"
    assert runner.main(["--help"]) == 2
