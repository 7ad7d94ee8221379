# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels and guests of raidctl lab: lost options of a kernel, words without their --, a silent guest, the terminal."""

import argparse
import os
import pathlib
import subprocess

import pytest
from conftest import TOP
from raidlab.base.failure import LabError
from raidlab.kernel import configuration, linux
from raidlab.uml import guest, runner, verdict
from raidlab.vm import virtual

TEXT = """# a comment
CONFIG_A=y
CONFIG_OLD=m # until 6.12
CONFIG_NEW=y # from 7.3

CONFIG_NAME="-lab"
CONFIG_OFF=n
"""


@pytest.mark.parametrize(
    ("series", "has"), [("6.1", "OLD"), ("6.12", "OLD"), ("6.13", ""), ("7.2", ""), ("7.3", "NEW")]
)
def test_options_come_and_go_with_a_series(series, has):
    assert set(configuration.read(TEXT, series).options) - {"A", "NAME", "OFF"} == {has} - {""}


def test_of_two_lines_the_later_counts():
    assert configuration.read("CONFIG_A=y\nCONFIG_A=n\n", "6.1").options == {"A": "n"}


def test_what_a_kernel_has_as_asked_is_not_lost():
    config = 'CONFIG_A=y\nCONFIG_OLD=m\nCONFIG_NAME="-lab"\n# CONFIG_OFF is not set\n'
    assert not configuration.read(TEXT, "6.1").lost(config)


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ('CONFIG_OLD=m\nCONFIG_NAME="-lab"\n', "A"),
        ('# CONFIG_A is not set\nCONFIG_OLD=m\nCONFIG_NAME="-lab"\n', "A"),
        ('CONFIG_A=y\nCONFIG_OLD=y\nCONFIG_NAME="-lab"\n', "OLD"),
        ('CONFIG_A=y\nCONFIG_OLD=m\nCONFIG_NAME="-x"\n', "NAME"),
        ('CONFIG_A=y\nCONFIG_OLD=m\nCONFIG_NAME="-lab"\nCONFIG_OFF=y\n', "OFF"),
    ],
)
def test_what_is_lost_is_named(config, name):
    requested = configuration.read(TEXT, "6.1")
    assert requested.lost(config) == [name]
    with pytest.raises(LabError, match=f"lacks CONFIG_{name}="):
        requested.require("building kernel 6.1", config)


@pytest.mark.parametrize("line", ["CONFIG_A", "CONFIG_A=y until 6.1", "CONFIG_A=y # since 6.1", "A=y"])
def test_a_line_that_says_nothing_is_refused(line):
    with pytest.raises(LabError, match="line 2"):
        configuration.read(f"CONFIG_B=y\n{line}\n", "6.1")


@pytest.mark.parametrize("name", ["", *linux.variants()])
def test_the_lab_can_read_its_own(name):
    text = linux._config(name).decode() if name else linux.CONFIG.read_text()
    assert configuration.read(text, "6.1").options["LOCALVERSION"] == (f'"-lab-{name}"' if name else '"-lab"')


def test_comments_make_nobody_build_again():
    assert configuration.read(TEXT, "6.1").text() == configuration.read("# another\n" + TEXT, "6.1").text()


LAB = TOP / "tools" / "lab"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "dd", "if=/dev/sda", "of=/dev/null"], "lab run -- dd if=/dev/sda of=/dev/null"),
        (["run", "-q", "sh", "-c", "echo a"], "lab run -q -- sh -c 'echo a'"),
        (["expect", "mib_per_s >= 80", "dd", "if=/dev/sda"], "lab expect 'mib_per_s >= 80' -- dd if=/dev/sda"),
        (["run", "--no-such-option"], "unknown option --no-such-option"),
        (["expect", "--no-such-option", "1", "--", "true"], "unknown option --no-such-option"),
        (["expect", "--mem", "x", "1", "--", "true"], "'x' is not a size"),
        (["expect", "mib_per_s >= 80"], "no command; put it after --"),
        (["profiles", "extra"], "not understood: extra"),
    ],
)
def test_what_is_missing_is_reported(words, message):
    done = subprocess.run([LAB / "raidctl-lab", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    # git bisect run stops from 128 on; it would take 2 as a bad commit
    assert done.returncode == (128 if words[0] == "expect" else 2) and message in done.stderr
    assert ("-- is missing before the command" in done.stderr) == ("lab " in message)


def test_silence_is_said_after_a_minute_and_then_less_often(monkeypatch):
    now, messages = [1000.0], []
    monkeypatch.setattr(guest.time, "monotonic", lambda: now[0])
    silence = guest._Silence(1200, lambda text: messages.append((now[0], text)))
    for now[0] in range(1000, 1300):
        silence.look(5 if now[0] == 1030 else 0)
    assert [when for when, _ in messages] == [1090, 1150, 1270]
    assert "no output for 60 s" in messages[0][1] and "in 1110 s (--timeout)" in messages[0][1]


@pytest.mark.parametrize(
    ("log", "forbidden"), [("...ptrace: Operation not permitted\ncheck_ptrace", True), ("ptrace...OK\n", False)]
)
def test_where_ptrace_is_forbidden_the_remedy_is_printed(log, forbidden, tmp_path):
    ending = guest.Ending(None, None, 0.0, 0.1, False, 1, "")
    result = verdict.judge(ending, log, 1200, tmp_path / "kernel.log")
    assert result.status == verdict.LAB_FAILED and ("forbids ptrace(2)" in result.messages[0]) == forbidden


def test_the_description_goes_with_the_name(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """From the first place that has it; ncurses can read it from the variable."""
    places = (pathlib.Path(place, "terminfo/v/vt100") for place in ("/lib", "/usr/share"))  # Debian 12; 13
    entry = next(place for place in places if place.exists()).read_bytes()
    (tmp_path / ".terminfo/o").mkdir(parents=True)
    (tmp_path / ".terminfo/o/ours").write_bytes(entry)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TERM", "ours")
    terminal = runner._terminal()
    assert terminal["TERM"] == "ours"
    done = subprocess.run(
        ["infocmp", "vt100"], env={**os.environ, **terminal, "TERM": "vt100"}, capture_output=True, check=True
    )
    assert b"DEC VT100" in done.stdout and b"from file: $TERMINFO" in done.stdout


def test_a_terminal_without_a_description_keeps_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs then report themselves what is missing."""
    monkeypatch.setenv("TERM", "nosuchterminal")
    assert runner._terminal() == {"TERM": "nosuchterminal"}
    monkeypatch.setenv("TERM", "")
    assert runner._terminal() == {"TERM": ""}


@pytest.mark.parametrize(("options", "time"), [
    ({"vm": False}, "simulated"), ({"vm": False, "variant": ""}, "simulated"),
    ({"vm": False, "variant": "storage"}, "simulated"), ({"vm": False, "variant": "smp"}, "real"), ({"vm": True}, "real"),
])  # fmt: skip
def test_time_is_simulated_unless_the_guest_has_the_hosts(options, time):
    assert virtual.nature(argparse.Namespace(**options)) == {"simulated": True, "lab_time": time}
