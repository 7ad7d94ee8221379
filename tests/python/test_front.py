# SPDX-License-Identifier: GPL-2.0-or-later
"""An error that no verb handles is one line; --debug adds the traceback."""

import contextlib
import os
import pty
import re
import select
import subprocess

import pytest
from conftest import TOP

RAIDCTL = TOP / "tools/bin/raidctl"
# Imported before the program: a verb that does nothing but fail, and prints the words that it was given before.
BROKEN = """
import sys, types
def main(*words):
    print(*words)
    {act}
broken = types.ModuleType("broken")
broken.main = main
broken.split = main
sys.modules["raidtrace.cli.explain"] = sys.modules["raidlab.verbs.ab"] = broken
broken.act = main
"""
HOW = r"To see the traceback: raidctl --debug explain; to report it: raidctl\(8\), BUGS"
ACTS = {
    "raise KeyError('two\\nlines')": (1, r"defect in raidctl: KeyError: .* \(sitecustomize.py:5\). " + HOW),
    "raise AssertionError": (1, r"defect in raidctl: AssertionError \(sitecustomize.py:5\)"),
    "import jinja3": (1, r"defect in raidctl: ModuleNotFoundError: No module named 'jinja3'"),
    "raise ModuleNotFoundError(name='matplotlib.figure')": (1, "which is not installed: apt-get install python3-matplotlib$"),
    "raise ModuleNotFoundError(name='sqlite3')": (1, "module sqlite3, which is not installed: apt-get install python3$"),
    "open('/none')": (1, "/none: No such file or directory$"),
    "raise MemoryError": (1, "out of memory$"),
    "raise KeyboardInterrupt": (130, "interrupted$"),
    "raise BrokenPipeError": (141, ""),
    "raise SystemExit(7)": (7, ""),
}  # fmt: skip


def run(tmp_path, act, *words, **environment):
    (tmp_path / "sitecustomize.py").write_text(BROKEN.format(act=act), encoding="ascii")
    own = {**os.environ, "PYTHONPATH": str(tmp_path), **environment}
    return subprocess.run([RAIDCTL, *words], capture_output=True, text=True, env=own, check=False)


@pytest.mark.parametrize("act", ACTS)
def test_an_error_is_one_line(tmp_path, act):
    status, text = ACTS[act]
    done = run(tmp_path, act, "explain", "x")
    assert done.returncode == status and "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == bool(text)
    assert not text or re.search(f"^raidctl explain: .*{text}", done.stderr.strip())


QUIET = """
import sys, time, types
def main(*words):
    {before}
    time.sleep(2)
    print("the result")
quiet = types.ModuleType("quiet")
quiet.main = main
sys.modules["raidtrace.cli.explain"] = sys.modules["raidtrace.cli.why"] = quiet
"""


@pytest.mark.parametrize(("verb", "words", "before", "first"), [
    ("explain", ["x"], "", "raidctl explain: reading the recording ..."),
    ("why", ["--disk", "sda", "--", "true", "-q"], "", "raidctl why: preparing and measuring the unchanged command ..."),
    ("why", ["-q", "--disk", "sda", "--", "true"], "", ""),
    ("explain", ["x"], "print('first')", ""),  # it has printed something
    ("explain", None, "", ""),  # not on a terminal
])  # fmt: skip
def test_a_slow_start_is_announced_on_a_terminal(tmp_path, verb, words, before, first):
    (tmp_path / "sitecustomize.py").write_text(QUIET.format(before=before), encoding="ascii")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    main, side = pty.openpty()
    run = subprocess.Popen([RAIDCTL, verb, *(words or ["x"])], stdout=subprocess.PIPE, text=True, env=environment,
                           stderr=side if words else subprocess.STDOUT)  # fmt: skip
    os.close(side)
    early = b""
    while run.poll() is None:
        if select.select([main], [], [], 0.1)[0]:
            with contextlib.suppress(OSError):  # nobody has the terminal any more
                early += os.read(main, 4096)
    output = run.communicate(timeout=60)[0].splitlines()
    os.close(main)
    assert early.decode().splitlines() == ([first] if first else [])
    assert output == (["first"] if before else []) + ["the result"]


def test_closed_output_is_one_line():
    done = subprocess.run(["sh", "-c", '"$0" workload list >&-', RAIDCTL], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "raidctl workload: standard output is closed\n")


@pytest.mark.parametrize(
    ("words", "environment"),
    [(("--debug", "explain", "x"), {}), (("explain", "--debug", "x"), {}), (("explain", "x"), {"RAIDCTL_DEBUG": "1"})],
)
def test_debug_shows_the_traceback_and_the_line(tmp_path, words, environment):
    done = run(tmp_path, "raise TypeError('why')", *words, **environment)
    lines = done.stderr.splitlines()
    assert lines[0].startswith("Traceback")
    assert lines[-1].startswith("raidctl explain: defect in raidctl: TypeError: why (")
    assert done.stdout == "['x']\n" and done.returncode == 1


def test_debug_behind_the_double_dash_is_the_commands(tmp_path):
    done = run(tmp_path, "raise TypeError", "explain", "--", "--debug")
    assert done.stdout == "['--', '--debug']\n" and "Traceback" not in done.stderr


@pytest.mark.parametrize(("words", "shown"), [((), False), (("--debug",), True)])
def test_the_lab_does_the_same_and_its_status_is_not_the_commands(tmp_path, words, shown):
    done = run(tmp_path, "raise TypeError('why')", *words, "lab", "ab", "--patch", "none", "--", "true")
    assert ("Traceback" in done.stderr) == shown and done.returncode == 125
    assert done.stderr.splitlines()[-1].startswith(
        "raidctl lab: defect in raidctl: TypeError: why (sitecustomize.py:5). To see"
    )
