# SPDX-License-Identifier: GPL-2.0-or-later
"""The live rows: the program that takes the samples, its answers, its end."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from raidtrace.recording import live

TOOLS = pathlib.Path(__file__).resolve().parents[3] / "tools"
pytestmark = pytest.mark.skipif(not live.RAIDCTL.exists(), reason="raidctl is not built")


def program(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Let a shell script take the place of raidctl."""
    fake = tmp_path / "raidctl"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    monkeypatch.setattr(live, "RAIDCTL", fake)


def test_a_sample_without_a_disk_has_the_facts() -> None:
    with live.Live("exporter", [], "module") as rows:
        for kind in (live.TOTAL, live.DIFFERENCE):
            recorded = rows.recorded(kind)
            assert recorded.fact("module_loaded") in ("yes", "no")
            assert recorded.fact("kernel") == os.uname().release
            assert recorded.phases[0].name == "now"
    assert rows.close() == 0


def test_a_wrong_command_line_ends_with_its_status(capfd: pytest.CaptureFixture[str]) -> None:
    with live.Live("exporter", ["sda"], "module") as rows, pytest.raises(live.Ended) as ended:
        rows.recorded(live.TOTAL)
    assert ended.value.status == 2
    assert "the module serves all attached disks" in capfd.readouterr().err


def test_a_failed_sample_can_be_followed_by_another(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, monkeypatch, "while read -r kind; do echo failed no memory for $kind; done")
    with live.Live("show", []) as rows:
        for kind in (live.TOTAL, live.DIFFERENCE):
            with pytest.raises(live.LiveError, match=f"no memory for {kind}"):
                rows.recorded(kind)


@pytest.mark.parametrize("answer", ["", "rows 100", "nonsense"])
def test_an_answer_that_is_cut_short_is_an_end(
    answer: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, monkeypatch, f"read -r kind; echo '{answer}'; exit 3")
    with live.Live("show", []) as rows, pytest.raises(live.Ended) as ended:
        rows.recorded(live.TOTAL)
    assert ended.value.status == 3


def test_keys_of_the_terminal_do_not_end_it() -> None:
    with live.Live("exporter", [], "module") as rows:
        rows.recorded(live.TOTAL)
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
            rows._program.send_signal(number)
        assert rows.recorded(live.TOTAL).samples == 0
        rows._program.terminate()
        with pytest.raises(live.Ended):
            rows.recorded(live.TOTAL)
    assert rows.close() == 0


def test_it_ends_with_a_killed_parent() -> None:
    code = ("import time; from raidtrace.recording import live; rows = live.Live('exporter', [], 'module');"
            "rows.recorded(live.TOTAL); print(rows._program.pid, flush=True); time.sleep(60)")  # fmt: skip
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                              env=os.environ | {"PYTHONPATH": str(TOOLS / "python")})  # fmt: skip
    assert parent.stdout
    program_of = pathlib.Path("/proc", parent.stdout.readline().strip())
    assert b"rows" in (program_of / "cmdline").read_bytes().split(b"\0")
    parent.kill()
    parent.wait()
    end = time.monotonic() + 20
    while program_of.exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not program_of.exists()
