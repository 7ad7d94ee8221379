# SPDX-License-Identifier: GPL-2.0-or-later
"""What is preloaded into benchmarks in the lab: it sleeps for processor time where it should, and the bytes stay the same."""

import os
import subprocess
import sys
import time

import pytest

from raidtrace import reproduce_run

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
    assert seconds(BONNIE, made, {"BONNIE_REWRITE_US": "500000", "BONNIE_WINDOW_KIB": "64"}, file) >= 1.5
    assert file.read_bytes() == (b"\4" + b"\1" * 8191) * (3 * MIB // 8192)


# longest lseek beside one fsync, and the fsync, s
SEEKS = """
import os, sys, threading, time
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
for _ in range(256):
    os.write(fd, bytes(1 << 20))
took = []
def sync():
    begin = time.monotonic()
    os.fsync(fd)
    took.append(time.monotonic() - begin)
thread = threading.Thread(target=sync)
longest = 0.0
thread.start()
while thread.is_alive():
    begin = time.monotonic()
    os.lseek(fd, 0, os.SEEK_SET)
    longest = max(longest, time.monotonic() - begin)
    time.sleep(0.001)
print(longest, took[0])
"""


def test_lseek_waits_for_fsync_when_asked_to(library, tmp_path):
    environment = {**os.environ, "LD_PRELOAD": str(library("bonnie-batch"))}
    words = [sys.executable, "-c", SEEKS, str(tmp_path / "f")]
    waits = subprocess.run(
        words, check=True, capture_output=True, text=True, env={**environment, "BONNIE_LSEEK_WAITS": "1"}
    )
    usual = subprocess.run(words, check=True, capture_output=True, text=True, env=environment)
    (seek, sync), (usual_seek, usual_sync) = (tuple(map(float, done.stdout.split())) for done in (waits, usual))
    if min(sync, usual_sync) < 0.05:
        pytest.skip("256 MiB are synced in less than 50 ms here")
    assert seek > sync / 2, "it waited until the fsync had ended"
    assert usual_seek < usual_sync / 2


@pytest.fixture
def sent(tmp_path):
    """A library that writes down calls of sync_file_range, and what it wrote."""
    (tmp_path / "sent.c").write_text(SENT)
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", tmp_path / "sent.so", tmp_path / "sent.c"], check=True)
    log = tmp_path / "sent.txt"
    log.touch()
    os.environ["SENT"] = str(log)
    yield tmp_path / "sent.so", lambda: [tuple(map(int, line.split())) for line in log.read_text().splitlines()]
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
