# SPDX-License-Identifier: GPL-2.0-or-later
"""fio as iozone: the access patterns of iozone's tests, done by fio where iozone is not installed.

What is the same: one process, one file, plain read(2) and write(2) of one record at a time, no flush inside the time, the
page cache left as the test before left it. What is not:

- a strided read goes over the file once, 1 record of 17, iozone wraps until all records were read;
- fwrite and fread are calls of one record, which is what the C library makes of iozone's: its buffer is one record; what
  the library itself costs is left out, ioperf has it.

Results carry the label "fio as iozone" wherever they are stored or printed. What is written is zeros:
fio's time does not depend on it, and the simulated disks of the lab hold zeros in no memory.
"""

import dataclasses
import shlex
from collections.abc import Mapping, Sequence

from raidtrace.benchmark import parsers
from raidtrace.benchmark.parsers import Figure
from raidtrace.quantity.shown import UserError

STRIDE = 17  # records, iozone's own default
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
    """Bounds of the automatic mode: files from 64 KiB, as iozone's own, and records from 4 KiB, doubled each."""

    largest_file: int
    largest_record: int
    smallest_file: int = 64 << 10

    def sizes(self) -> list[tuple[int, int]]:
        """All pairs of file and record size in bytes; no record is larger than its file."""
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
    """Options -i of iozone. The file must be written before anything else can be done with it."""
    unknown = [test for test in tests if test not in TESTS]
    unwritten = "fread" in tests and "fwrite" not in tests[: tests.index("fread")]
    if unknown or not tests or tests[0] != "write" or unwritten:
        known = ", ".join(TESTS)
        raise UserError(f"tests of iozone: write first, fwrite before fread, of {known}; not {' '.join(tests)!r}")
    return [word for test in tests for word in ("-i", str(TESTS[test][0]))]


def command(directory: str, file_bytes: int, record_bytes: int, tests: Sequence[str]) -> list[str]:
    """One run of fio that does the tests one after the other on one file."""
    return _fio(directory) + _jobs(file_bytes, record_bytes, tests, "")


def surface(directory: str, sizes: Surface, tests: Sequence[str]) -> list[str]:
    """All pairs of sizes, as iozone -a; a job is called PHASE.FILEKIB.RECORDKIB.

    One run of fio for each file size: in one for all, fio's own records of some hundred jobs would fill a small memory; and
    each run begins with 64 ms of watching the clock, which cost a guest of the lab seconds.
    """
    runs: dict[int, list[str]] = {}
    for file, record in sizes.sizes():
        runs.setdefault(file, _fio(directory)).extend(_jobs(file, record, tests, f".{file >> 10}.{record >> 10}"))
    return ["sh", "-ec", "\n".join(map(shlex.join, runs.values()))]


def parse(output: str) -> tuple[Figure, ...]:
    """Figures of either form; those of a surface carry file_kib and record_kib, as iozone's own do.

    fio's run time is in whole ms: too coarse for the small files of a surface. Their time is the sum of the calls' times.
    """
    figures = []
    for figure in parsers.fio(output, in_calls=lambda job: "." in job):
        phase, *sizes = figure.phase.split(".")
        where = tuple(zip(("file_kib", "record_kib"), sizes)) if sizes else ()
        figures.append(dataclasses.replace(figure, phase=phase, where=where))
    return tuple(figures)


def _fio(directory: str) -> list[str]:
    # invalidate=0: fio would drop the file from the page cache before each job, iozone does not
    command = ["fio", "--output-format=json", "--clocksource=clock_gettime", "--eta=never", "--ioengine=psync"]
    # fadvise_hint=0: fio would announce sequential reads, for which Linux doubles the readahead; iozone does not
    # create_on_open: fio would write the whole file before the first test, so that the write of the test would be a rewrite
    command += ["--fadvise_hint=0", "--create_on_open=1", "--thread", "--invalidate=0", "--fallocate=none"]
    return [*command, "--randrepeat=1", f"--directory={directory}", "--zero_buffers"]


def _jobs(file_bytes: int, record_bytes: int, tests: Sequence[str], suffix: str) -> list[str]:
    test_numbers(tests)
    record = record_bytes >> 10
    words = []
    done = []  # with the stdio tests' file, which is a new one as with iozone
    for test, phase, rw in ((test, *phase) for test in tests for phase in TESTS[test][1]):
        file = f"iozone{suffix}" + (".stdio" if test in ("fwrite", "fread") else "")
        # fio adds the number to the end of the last record
        pattern = rw.format(twice=2 * record, stride=(STRIDE - 1) * record)
        job = [f"--name={phase}{suffix}", "--stonewall", f"--filename={file}", f"--rw={pattern}"]
        words.append([*job, f"--bs={record}k", f"--size={file_bytes}"])
        if test == "strided":  # fio would begin anew with the same records, which are in the page cache by then
            words[-1].append(f"--io_size={-(-file_bytes // (STRIDE * record_bytes)) * record_bytes}")
        done.append(file)
    for file in dict.fromkeys(done) if suffix else ():  # the files of a surface one after the other
        words[len(done) - 1 - done[::-1].index(file)].append("--unlink=1")
    return [word for job in words for word in job]
