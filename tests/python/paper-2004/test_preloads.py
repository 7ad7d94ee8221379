# SPDX-License-Identifier: GPL-2.0-or-later
"""What is preloaded into benchmarks in the lab: it sleeps for processor time where it should, and the bytes stay the same."""

import os
import subprocess
import sys
import time

import pytest
from compiled import PRELOADED, STRICT, compiled

from paper2004 import reproduce_run

MIB = 1 << 20
LUMP, LOOK = 4 * MIB, 4 * MIB + 4096
WRITE = 2  # SYNC_FILE_RANGE_WRITE
FIO = """
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
for _ in range(int(sys.argv[2])):
    for at in range(0, int((sys.argv + ['2'])[3]) << 20, 1 << 20):
        os.pwrite(fd, b'x' * (1 << 20), at)
"""
# stands before what is tested, and writes down what it would send
SENT = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
int sync_file_range(int fd, off64_t at, off64_t bytes, unsigned int flags)
{
    FILE *file = fopen(getenv("SENT"), "a");

    fprintf(file, "%lld %lld %u\\n", (long long)at, (long long)bytes, flags);
    return fclose(file) + 0 * fd;
}
"""
# as bonnie++ rewrites: 8 KiB are read, changed, and written back to where they were
BONNIE = """
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
for at in range(0, 3 << 20, 8192):
    got = os.read(fd, 8192)
    os.lseek(fd, -len(got), os.SEEK_CUR)
    os.write(fd, bytes([got[0] + 1]) + got[1:])
os.close(fd)
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Compiles one of them."""
    directory = tmp_path_factory.mktemp("preloads")

    def make(name):
        return compiled(reproduce_run.GUEST / f"{name}.c", directory / f"{name}.so", *STRICT, *PRELOADED)

    return make


def seconds(program, library, environment, *arguments):
    """How long it took."""
    begin = time.monotonic()
    words = [sys.executable, "-c", program, *map(str, arguments)]
    subprocess.run(words, check=True, env={**os.environ, "LD_PRELOAD": str(library), **environment})
    return time.monotonic() - begin


def test_fio_sleeps_for_what_it_writes_and_otherwise_for_what_it_rewrites(library, tmp_path):
    made, file = library("processor-time"), tmp_path / "f"
    # sleeps of a second cannot be mistaken for a busy machine's delay of a run that should not sleep
    assert seconds(FIO, made, {"PROCESSOR_WRITE_US": "500000"}, file, 1) >= 1.0
    rewrite = {"PROCESSOR_REWRITE_US": "1000000"}
    assert seconds(FIO, made, rewrite, file, 2) >= 2.0
    assert seconds(FIO, made, rewrite, file, 1) < 2.0, "written once is not written again"
    assert file.read_bytes() == b"x" * 2 * MIB


def test_bonnie_sleeps_for_what_it_rewrites(library, tmp_path):
    made, file = library("bonnie-batch"), tmp_path / "Bonnie.1"
    file.write_bytes(b"\1" * 3 * MIB)
    assert seconds(BONNIE, made, {"BONNIE_REWRITE_US": "500000"}, file) >= 1.5
    assert file.read_bytes() == (b"\2" + b"\1" * 8191) * (3 * MIB // 8192)
    # the rewrite's time is in place of that of its writes
    assert seconds(BONNIE, made, {"BONNIE_REWRITE_US": "0", "BONNIE_WRITE_US": "2000000"}, file) < 6.0
    assert seconds(BONNIE, made, {"BONNIE_REWRITE_US": "500000", "BONNIE_WINDOW_KIB": "64"}, file) >= 1.5
    assert file.read_bytes() == (b"\4" + b"\1" * 8191) * (3 * MIB // 8192)


@pytest.fixture
def sent(tmp_path):
    """A library that writes down calls of sync_file_range, and what it wrote."""
    (tmp_path / "sent.c").write_text(SENT)
    logger = compiled(tmp_path / "sent.c", tmp_path / "sent.so", *PRELOADED)
    log = tmp_path / "sent.txt"
    log.touch()
    os.environ["SENT"] = str(log)
    yield logger, lambda: [tuple(map(int, line.split())) for line in log.read_text().splitlines()]
    del os.environ["SENT"]


def lumps(mib, begin_mib):
    """What pdflush of 2.6.5 sent of one pass over a file: a look every 1025 pages, then 4 MiB while too much is dirty."""
    found = []
    for end in range(LOOK, (mib << 20) + 1, LOOK):
        while end - len(found) * LUMP > begin_mib << 20:
            found.append((len(found) * LUMP, LUMP, WRITE))
    return found


def test_what_is_dirty_is_sent_in_lumps_in_step_with_the_writer(library, sent, tmp_path):
    logger, calls = sent
    made = f"{logger} {library('processor-time')}"
    seconds(FIO, made, {"WRITE_BACK_MIB": "8"}, tmp_path / "f", 1, 33)
    assert calls() == lumps(33, 8) and len(calls()) == 7, "24 MiB of 32 and a bit"
    seconds(FIO, made, {"WRITE_BACK_MIB": "8"}, tmp_path / "f", 2, 33)
    again = calls()[14:]
    assert calls()[7:14] == lumps(33, 8)
    assert again == lumps(33, 8)[: len(again)] and len(again) >= 6, "from the beginning again, the count goes on"
    assert (tmp_path / "f").read_bytes() == b"x" * 33 * MIB
    seconds(FIO, made, {}, tmp_path / "f", 1, 33)
    seconds(BONNIE, f"{logger} {library('bonnie-batch')}", {"WRITE_BACK_MIB": "1"}, tmp_path / "f")
    assert calls()[14:] == again, "not unless told so, and of bonnie++'s file alone"


def test_bonnie_sends_in_lumps_what_it_rewrites(library, sent, tmp_path):
    logger, calls = sent
    file = tmp_path / "Bonnie.1"
    file.write_bytes(b"\1" * 20 * MIB)
    program = BONNIE.replace("3 << 20", "20 << 20")
    seconds(program, f"{logger} {library('bonnie-batch')}", {"WRITE_BACK_MIB": "8"}, file)
    assert calls() == lumps(20, 8) and len(calls()) == 3
    assert file.read_bytes() == (b"\2" + b"\1" * 8191) * (20 * MIB // 8192)


def test_a_commit_sends_all_that_is_dirty(library, sent, tmp_path):
    logger, calls = sent
    environment = {"WRITE_BACK_MIB": "100", "COMMIT_S": "1", "PROCESSOR_WRITE_US": "400000"}
    seconds(FIO, f"{logger} {library('processor-time')}", environment, tmp_path / "f", 1, 8)
    # 3.2 s: a commit each second, each with all that was written so far, since pdflush has sent nothing
    assert 2 <= len(calls()) <= 4 and all(at == 0 and flags == WRITE for at, _, flags in calls())
    sizes = [size for _, size, _ in calls()]
    assert sizes == sorted(sizes) and 0 < sizes[0] < sizes[-1] <= 8 * MIB


@pytest.fixture(scope="module")
def seeks(tmp_path_factory):
    """bonnie-seeks, as a function."""
    made = compiled(reproduce_run.GUEST / "bonnie-seeks.c", tmp_path_factory.mktemp("seeks") / "bonnie-seeks", *STRICT)

    def run(*words):
        return subprocess.run([made, *map(str, words)], capture_output=True, text=True, check=False)

    return run


def lowered(path):
    """How often bytes of a file that were 0 were made one less."""
    return sum(256 - byte for byte in path.read_bytes() if byte)


def test_every_tenth_seek_changes_its_block(seeks, tmp_path):
    assert seeks("write", tmp_path, 64).returncode == 0 and seeks("read", tmp_path, 64).returncode == 0
    (file,) = tmp_path.iterdir()
    assert file.name == "Bonnie.000" and file.read_bytes() == bytes(64 * MIB)
    done = seeks("seek", tmp_path, 64)
    assert 0 < 8000 / reproduce_run.seeks_said(done.stdout) < 600
    # of three processes, each its first and every tenth after it; a block that two change at once may lose one
    assert 790 <= lowered(file) <= 803
    blocks = {at // 8192 for at, byte in enumerate(file.read_bytes()) if byte}
    assert len(blocks) > 700, "processes of one seed do not go to the same places"


def test_files_are_of_one_gibibyte(seeks, tmp_path):
    sizes = (1024 * MIB, 1024 * MIB, 16 * MIB)
    for number, size in enumerate(sizes):
        (tmp_path / f"Bonnie.{number:03d}").touch()
        os.truncate(tmp_path / f"Bonnie.{number:03d}", size)
    assert seeks("read", tmp_path, 2064).returncode == 0
    assert seeks("seek", tmp_path, 2064).returncode == 0
    used = [(tmp_path / f"Bonnie.{number:03d}").stat().st_blocks for number in range(3)]
    assert used[0] > 1000 and used[1] > 1000 and 0 < used[2] < 300, "by their share of the seeks"
    assert [(tmp_path / f"Bonnie.{number:03d}").stat().st_size for number in range(3)] == list(sizes)


def test_what_cannot_be_made_or_read_is_said(seeks, tmp_path):
    assert seeks("write", tmp_path, 1).returncode == 0
    again = seeks("write", tmp_path, 1)
    assert again.returncode == 1 and "Bonnie.000: File exists" in again.stderr
    short = seeks("seek", tmp_path, 2)
    assert short.returncode == 1 and "a seeker failed" in short.stderr, "no number for what was not done"
    assert seeks("sweep", tmp_path, 1).returncode == 2 and seeks("seek", tmp_path, 0).returncode == 2
