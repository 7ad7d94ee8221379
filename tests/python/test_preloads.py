# SPDX-License-Identifier: GPL-2.0-or-later
"""What is preloaded into benchmarks in the lab: it sleeps for processor time where it should, and the bytes stay the same."""

import os
import subprocess
import sys
import time

import pytest

from raidtrace import reproduce_run

MIB = 1 << 20
FIO = """
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
for _ in range(int(sys.argv[2])):
    for at in range(0, 2 << 20, 1 << 20):
        os.pwrite(fd, b'x' * (1 << 20), at)
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
        made, source = directory / f"{name}.so", reproduce_run.HERE / f"{name}.c"
        warnings = ["-Wall", "-Wextra", "-Werror"]
        subprocess.run(["gcc", "-O2", *warnings, "-shared", "-fPIC", "-o", made, source], check=True)
        return made

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
