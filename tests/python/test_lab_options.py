# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl lab: a command without its -- is told so; a guest that says nothing is mentioned before its time is over."""

import subprocess
import sys

import pytest
from conftest import TOP

LAB = TOP / "tools" / "lab"
sys.path.insert(0, str(LAB))

from raidlab.uml import guest, verdict  # noqa: E402


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "dd", "if=/dev/sda", "of=/dev/null"], "lab run -- dd if=/dev/sda of=/dev/null"),
        (["run", "-q", "sh", "-c", "echo a"], "lab run -- sh -c 'echo a'"),
        (["expect", "mib_per_s >= 80", "dd", "if=/dev/sda"], "lab expect -- dd if=/dev/sda"),
        (["run", "--no-such-option"], "unrecognized arguments: --no-such-option"),
        (["profiles", "extra"], "unrecognized arguments: extra"),
    ],
)
def test_what_is_missing_is_said(words, said):
    done = subprocess.run([LAB / "raidctl-lab", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 2 and said in done.stderr
    assert ("-- is missing before the command" in done.stderr) == ("lab " in said)


def test_silence_is_said_after_a_minute_and_then_less_often(monkeypatch):
    now, said = [1000.0], []
    monkeypatch.setattr(guest.time, "monotonic", lambda: now[0])
    silence = guest._Silence(1200, lambda text: said.append((now[0], text)))
    for now[0] in range(1000, 1300):
        silence.look(5 if now[0] == 1030 else 0)
    assert [when for when, _ in said] == [1090, 1150, 1270]
    assert "no output for 60 s" in said[0][1] and "in 1110 s (--timeout)" in said[0][1]


@pytest.mark.parametrize(
    ("log", "told"), [("...ptrace: Operation not permitted\ncheck_ptrace", True), ("ptrace...OK\n", False)]
)
def test_where_ptrace_is_forbidden_the_way_out_is_told(log, told, tmp_path):
    ending = guest.Ending(None, None, 0.0, 0.1, False, 1, "")
    result = verdict.judge(ending, log, 1200, tmp_path / "kernel.log")
    assert result.status == verdict.LAB_FAILED and ("forbids ptrace(2)" in result.messages[0]) == told
