# SPDX-License-Identifier: GPL-2.0-or-later
"""The libraries that are preloaded into benchmarks in the lab: the same bytes, with fewer calls."""

import os
import subprocess
import sys

import pytest
from conftest import PRELOADED, STRICT, compiled

from paper2004 import reproduce_run

MIB = 1 << 20
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


def test_bonnies_small_calls_become_few_and_the_bytes_stay(library, tmp_path):
    file, calls = tmp_path / "Bonnie.1", tmp_path / "calls"
    file.write_bytes(b"\1" * 3 * MIB)
    words = ["strace", "-f", "-o", str(calls), "-e", "trace=pread64,pwrite64,read,write", "-P", str(file)]
    environment = [f"--env=LD_PRELOAD={library('bonnie-batch')}"]
    subprocess.run([*words, *environment, sys.executable, "-c", BONNIE, str(file)], check=True)
    assert file.read_bytes() == (b"\2" + b"\1" * 8191) * (3 * MIB // 8192)
    made = [line.split(maxsplit=1)[1].split("(")[0] for line in calls.read_text().splitlines() if "(" in line]
    assert (made.count("pread64"), made.count("pwrite64")) == (3, 3), "of 1 MiB, not 384 of 8 KiB"


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


@pytest.mark.slow
@pytest.mark.long
def test_every_tenth_seek_changes_its_block(seeks, tmp_path):
    assert seeks("write", tmp_path, 64).returncode == 0 and seeks("read", tmp_path, 64).returncode == 0
    (file,) = tmp_path.iterdir()
    assert file.name == "Bonnie.000" and file.read_bytes() == bytes(64 * MIB)
    done = seeks("seek", tmp_path, 64)
    assert 0 < 8000 / reproduce_run.seeks_per_second(done.stdout) < 600
    # of three processes, each its first and every tenth after it; a block that two change at once may lose one
    assert 790 <= lowered(file) <= 803
    blocks = {at // 8192 for at, byte in enumerate(file.read_bytes()) if byte}
    assert len(blocks) > 700, "processes of one seed do not go to the same places"


@pytest.mark.slow
@pytest.mark.long
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


@pytest.mark.slow
@pytest.mark.long
def test_what_cannot_be_made_or_read_is_reported(seeks, tmp_path):
    assert seeks("write", tmp_path, 1).returncode == 0
    again = seeks("write", tmp_path, 1)
    assert again.returncode == 1 and "Bonnie.000: File exists" in again.stderr
    short = seeks("seek", tmp_path, 2)
    assert short.returncode == 1 and "a seeker failed" in short.stderr, "no number for what was not done"
    assert seeks("sweep", tmp_path, 1).returncode == 2 and seeks("seek", tmp_path, 0).returncode == 2
