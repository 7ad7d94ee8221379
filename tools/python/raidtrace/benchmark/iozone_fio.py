# SPDX-License-Identifier: GPL-2.0-or-later
"""fio as iozone: fio runs the access patterns of iozone's tests if iozone is not installed.

The same: one process, one file, plain read(2) and write(2) of one record at a time, no flush within the measured time,
and the page cache as the previous test left it. Different:

- a strided read passes the file once and reads 1 record of 17; iozone wraps until all records are read.
- fwrite and fread are calls of one record. The C library does the same for iozone, because its buffer is one record.
  The cost of the library itself is not measured here; ioperf measures it.

Results have the label "fio as iozone" in files and in print. The data is zeros. They do not affect fio's time, and the
simulated disks of the lab need no memory for zeros.
"""

import dataclasses
import shlex
from collections.abc import Mapping, Sequence

from raidtrace.benchmark import parsers
from raidtrace.benchmark.parsers import Figure
from raidtrace.quantity.shown import UserError

STRIDE = 17  # records; the default of iozone
# test -> number of iozone's -i, and its phases: (name, fio's rw)
TESTS: Mapping[str, tuple[int, tuple[tuple[str, str], ...]]] = {
    "write": (0, (("write", "write"), ("rewrite", "write"))),
    "read": (1, (("read", "read"), ("reread", "read"))),
    "random": (2, (("random-read", "randread"), ("random-write", "randwrite"))),
    "backward": (3, (("backward-read", "read:-{twice}k"),)),
    "strided": (5, (("stride-read", "read:{stride}k"),)),
    "fwrite": (6, (("fwrite", "write"), ("refwrite", "write"))),
    "fread": (7, (("fread", "read"), ("refread", "read"))),
}


@dataclasses.dataclass(frozen=True)
class Surface:
    """The range of sizes of the automatic mode. Files start at 64 KiB, as in iozone, and records at 4 KiB;
    both double."""

    largest_file: int
    largest_record: int
    smallest_file: int = 64 << 10

    def sizes(self) -> list[tuple[int, int]]:
        """All pairs of file and record size in bytes. No record is larger than its file."""
        pairs = []
        file = self.smallest_file
        while 0 < file <= self.largest_file:
            record = 4 << 10
            while record <= min(file, self.largest_record):
                pairs.append((file, record))
                record *= 2
            file *= 2
        return pairs


def test_numbers(tests: Sequence[str]) -> list[str]:
    """The options -i of iozone. Raises UserError: a file must be written before any other test."""
    unknown = [test for test in tests if test not in TESTS]
    unwritten = "fread" in tests and "fwrite" not in tests[: tests.index("fread")]
    if unknown or not tests or tests[0] != "write" or unwritten:
        known = ", ".join(TESTS)
        raise UserError(f"tests of iozone: write first, fwrite before fread, of {known}; not {' '.join(tests)!r}")
    return [word for test in tests for word in ("-i", str(TESTS[test][0]))]


def command(directory: str, file_bytes: int, record_bytes: int, tests: Sequence[str]) -> list[str]:
    """A command that runs the tests in order on one file."""
    return _fio(directory) + _jobs(file_bytes, record_bytes, tests, "")


def surface(directory: str, sizes: Surface, tests: Sequence[str]) -> list[str]:
    """A command for all pairs of sizes, as iozone -a. A job is named PHASE.FILEKIB.RECORDKIB.

    There is one run of fio for each file size. A single run with hundreds of jobs would need too much memory for a
    small guest. Each run begins with 64 ms of polling the clock, which takes a guest of the lab seconds.
    """
    runs: dict[int, list[str]] = {}
    for file, record in sizes.sizes():
        runs.setdefault(file, _fio(directory)).extend(_jobs(file, record, tests, f".{file >> 10}.{record >> 10}"))
    return ["sh", "-ec", "\n".join(map(shlex.join, runs.values()))]


def parse(output: str) -> tuple[Figure, ...]:
    """The figures of both forms. Those of a surface have file_kib and record_kib, as those of iozone.

    fio's run time is in whole ms, which is too coarse for the small files of a surface. There, the time is the sum of
    the calls' times.
    """
    figures = []
    for figure in parsers.fio(output, in_calls=lambda job: "." in job):
        phase, *sizes = figure.phase.split(".")
        where = tuple(zip(("file_kib", "record_kib"), sizes)) if sizes else ()
        figures.append(dataclasses.replace(figure, phase=phase, where=where))
    return tuple(figures)


def _fio(directory: str) -> list[str]:
    # invalidate=0: fio would drop the file from the page cache before each job; iozone does not
    command = ["fio", "--output-format=json", "--clocksource=clock_gettime", "--eta=never", "--ioengine=psync"]
    # fadvise_hint=0: fio would announce sequential reads, for which Linux doubles the readahead; iozone does not.
    # create_on_open: fio would write the whole file before the first test, so the test would be a rewrite.
    command += ["--fadvise_hint=0", "--create_on_open=1", "--thread", "--invalidate=0", "--fallocate=none"]
    return [*command, "--randrepeat=1", f"--directory={directory}", "--zero_buffers"]


def _jobs(file_bytes: int, record_bytes: int, tests: Sequence[str], suffix: str) -> list[str]:
    test_numbers(tests)
    record = record_bytes >> 10
    words = []
    done = []  # files of the jobs; the stdio tests use a new file, as in iozone
    for test, phase, rw in ((test, *phase) for test in tests for phase in TESTS[test][1]):
        file = f"iozone{suffix}" + (".stdio" if test in ("fwrite", "fread") else "")
        # fio adds this number to the end of the last record
        pattern = rw.format(twice=2 * record, stride=(STRIDE - 1) * record)
        job = [f"--name={phase}{suffix}", "--stonewall", f"--filename={file}", f"--rw={pattern}"]
        words.append([*job, f"--bs={record}k", f"--size={file_bytes}"])
        if test == "strided":  # fio would start again with the same records, which are in the page cache then
            words[-1].append(f"--io_size={-(-file_bytes // (STRIDE * record_bytes)) * record_bytes}")
        done.append(file)
    for file in dict.fromkeys(done) if suffix else ():  # remove each file of a surface after its last job
        words[len(done) - 1 - done[::-1].index(file)].append("--unlink=1")
    return [word for job in words for word in job]
