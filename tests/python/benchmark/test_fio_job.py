# SPDX-License-Identifier: GPL-2.0-or-later
"""Job files of fio that may come from anybody: what could lead elsewhere is refused, with its line."""

import os
import pathlib
import re

import pytest

from raidtrace.benchmark import registry

HARMLESS = """; directory=/ in a comment, and # another
#directory=/
[global]
description=reads = 4 KiB at random
rw randread
bs=4k
  iodepth = 16

[a job (1)]
filename=/one
name=first
ioengine=libaio
mem=malloc
group_reporting
"""


def refused(tmp_path: pathlib.Path, text: str | bytes, raw: bool = False) -> tuple[int, str] | None:
    job = tmp_path / "a.fio"
    job.write_bytes(text if isinstance(text, bytes) else text.encode())
    return registry.refused_line(job, raw)


TAKEN = [f"{name}=1\n" for name in sorted(registry.FIO_OPTIONS)]
TAKEN += [f"ioengine={engine}\n" for engine in registry.FIO_ENGINES]
TAKEN += [f"mem={memory}\niomem {memory}\n" for memory in registry.FIO_MEMORY]


@pytest.mark.parametrize("text", TAKEN)
def test_what_says_how_much_is_taken(tmp_path, text):
    assert refused(tmp_path, text) is None


@pytest.mark.parametrize("name", sorted(registry.FIO_OPTIONS))
def test_names_of_options_are_in_small_letters(tmp_path, name):
    assert refused(tmp_path, f"{name.upper()}=1\n") == (1, name.upper())


def test_a_harmless_one(tmp_path):
    assert refused(tmp_path, HARMLESS) is None
    assert refused(tmp_path, "") is None


# Options that could lead elsewhere; the name of each is reported.
ELSEWHERE = [
    "exec_prerun=touch x", "include other.fio", "directory=/", "ioscheduler=none", "iolog_unknown", "name=a/b",
    "filename=../b", "filename=a#/../../b", "filename=.${NOPE}./dev/sdb", "filename=${HOME}", "opendir=/home",
    "read_iolog=/tmp/writes-to-other-disks", "write_iolog=x", "replay_redirect=/dev/sdb", "write_bw_log=/etc/passwd",
    "verify_state_save=1", "cgroup=x", "an_option_of_the_next_fio=1", "ioengine=/tmp/evil.so", "ioengine=sg",
    "ioengine=external:x.so", "ioengine=", "mem=mmap:/dev/sdb", "iomem = mmaphuge:x", "bs=`touch x`", "description=$x",
]  # fmt: skip
NOT_NAMED = {"[a/b]": "[a/b]", "[a$b]": "[a$b]", "[a`b]": "[a`b]", "[a] exec_prerun=x": "[a]", "=1": "1"}


@pytest.mark.parametrize("line", [*ELSEWHERE, *NOT_NAMED])
def test_what_could_lead_elsewhere(tmp_path, line):
    option = NOT_NAMED.get(line, re.split("[ =]", line)[0])
    assert refused(tmp_path, f"{HARMLESS}{line}\nbs=4k\n") == (15, option)


def test_a_raw_disk_has_no_file(tmp_path):
    assert refused(tmp_path, "filename=one\n", raw=True) == (1, "filename")
    assert refused(tmp_path, "filename=one\n") is None


def test_the_rest_of_a_long_line_is_a_line_to_fio(tmp_path):
    """fio 3.33 reads 8,191 bytes at a time, older ones 4,095: what follows in a comment is an option."""
    for length in (4095, 8191):
        hidden = f"; {'x' * (length - 2)}exec_prerun=touch x\n"
        assert refused(tmp_path, f"rw=read\n{hidden}") == (2, "a line of more than 1000 bytes")
    assert refused(tmp_path, "#" * 1000 + "\n") is None
    assert refused(tmp_path, "#" * 1001 + "\n") == (1, "a line of more than 1000 bytes")
    assert refused(tmp_path, "#" + "\u20ac" * 334 + "\n") == (1, "a line of more than 1000 bytes")


@pytest.mark.parametrize("control", ["\0", "\r", "\x0b", "\x0c", "\x1c", "\x7f"])
def test_what_ends_a_line_for_one_and_not_for_the_other(tmp_path, control):
    assert refused(tmp_path, f"rw=read\n; {control}exec_prerun=x\n") == (2, "a control character")


@pytest.mark.parametrize("space", ["\x85", "\u2028", "\u2029"])
def test_what_fio_takes_for_text_is_text(tmp_path, space):
    assert refused(tmp_path, f"description=a{space}exec_prerun=x\nrunas=x\n") == (2, "runas")


def test_line_ends_of_another_system(tmp_path):
    assert refused(tmp_path, HARMLESS.replace("\n", "\r\n")) is None


def test_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", pathlib.Path("/dev/null"), tmp_path, tmp_path / "missing"):
        with pytest.raises(OSError):
            registry.refused_line(path, False)


def test_no_text(tmp_path):
    with pytest.raises(UnicodeDecodeError):
        refused(tmp_path, b"bs=\xff\n")
