# SPDX-License-Identifier: GPL-2.0-or-later
"""The available benchmarks: the parameters of each, its command, and the parser of its output.

A benchmark runs in a directory on a mounted file system, or on a raw disk. It turns a `Job` into a command line. So a
guest of the lab and this machine run the same command, and --dry-run prints it.
"""

import dataclasses
import errno
import pathlib
import re
import shutil
import stat
from collections.abc import Callable, Mapping
from types import MappingProxyType

from raidtrace.benchmark import iozone_fio, parsers
from raidtrace.benchmark.parsers import Figure
from raidtrace.quantity.shown import UserError

# The accepted options of a job file of fio: they set the amount and kind of reads and writes, never a place.
#
# A job file overrides the command line. fio has some 300 options, each version adds more, and several name a file: of
# mapped memory, a library, logs, state. So only options that are known to name no file are accepted.

FIO_OPTIONS = frozenset(
    """
    description rw readwrite bs blocksize ba blockalign bsrange blocksize_range bssplit blocksize_unaligned
    bs_unaligned bs_is_seq_rand size io_size io_limit filesize offset offset_align offset_increment number_ios fsync
    fdatasync sync_file_range end_fsync fsync_on_close sync direct buffered iodepth iodepth_batch
    iodepth_batch_submit iodepth_batch_complete iodepth_batch_complete_min iodepth_batch_complete_max iodepth_low
    io_submit_mode numjobs thread nrfiles openfiles file_service_type rwmixread rwmixwrite randrepeat allrandrepeat
    randseed random_generator random_distribution percentage_random norandommap softrandommap rw_sequencer
    unified_rw_reporting time_based runtime timeout startdelay ramp_time thinktime thinktime_spin thinktime_blocks
    thinktime_blocks_type thinktime_iotime rate rate_iops rate_min rate_iops_min rate_process rate_cycle
    latency_target latency_window latency_percentile latency_run max_latency stonewall wait_for_previous wait_for
    exitall exitall_on_error exit_what group_reporting new_group stats invalidate pre_read create_on_open
    create_fsync create_serialize fallocate fadvise_hint fadvise file_append overwrite unlink unlink_each_loop loops
    zero_buffers refill_buffers scramble_buffers buffer_compress_percentage buffer_compress_chunk dedupe_percentage
    nice prio prioclass cpus_allowed cpumask cpus_allowed_policy gtod_reduce disable_lat disable_slat disable_clat
    disable_bw disable_bw_measurement lat_percentiles clat_percentiles slat_percentiles percentile_list
    significant_figures hipri registerfiles fixedbufs sqthread_poll nonvectored uncached userspace_reap
    """.split()
)
FIO_ENGINES = (
    "sync",
    "psync",
    "vsync",
    "pvsync",
    "pvsync2",
    "libaio",
    "io_uring",
    "posixaio",
    "mmap",
    "splice",
    "null",
)
# Bytes of a line: fio takes the part after some 4,095, or 8,191, for another line, also in a comment.
FIO_LINE_BYTES = 1000
FIO_MEMORY = ("malloc", "shm", "shmhuge", "mmap", "mmaphuge", "mmapshared")  # without a file behind a colon


def _below_directory(value: str, raw: bool) -> bool:
    """Whether a value names a file below fio's directory. A raw disk has no such file."""
    return not raw and ".." not in value


FIO_CHECKED: dict[str, Callable[[str, bool], bool]] = {
    "name": lambda value, raw: "/" not in value,  # a part of the names of files
    "filename": _below_directory,
    "ioengine": lambda value, raw: value in FIO_ENGINES,
    "mem": lambda value, raw: value in FIO_MEMORY,
    "iomem": lambda value, raw: value in FIO_MEMORY,
}


def refused_line(path: pathlib.Path, raw: bool) -> tuple[int, str] | None:
    """The number of the first line of a job file that could name another place, and its option. None: there is none.
    raw: it runs on a disk. Raises OSError, UnicodeDecodeError: it cannot be read."""
    if not stat.S_ISREG(path.stat().st_mode):  # a pipe has no end
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    for number, line in enumerate(path.read_bytes().decode().replace("\r\n", "\n").split("\n"), 1):
        if len(line.encode()) > FIO_LINE_BYTES:
            return number, f"a line of more than {FIO_LINE_BYTES} bytes"
        if re.search(r"[\0-\x08\x0b-\x1f\x7f]", line):
            return number, "a control character"
        text = line.strip(" \t")
        if not text or text[0] in ";#" or re.fullmatch(r"\[[^\[\]$`/]*\]", text):
            continue
        key, value = ([*text.replace("=", " ", 1).split(None, 1), ""])[:2]
        if "$" in text or "`" in text:  # fio would insert variables and the output of programs
            return number, key
        if not FIO_CHECKED[key](value, raw) if key in FIO_CHECKED else key not in FIO_OPTIONS:
            return number, key
    return None


MIB = 1 << 20


Parameters = Mapping[str, int | str | bool]


def kind(value: int | str | bool) -> str:
    """The type of a parameter, in words."""
    return "true or false" if isinstance(value, bool) else "a whole number" if isinstance(value, int) else "text"


@dataclasses.dataclass(frozen=True)
class Job:
    """The task of a benchmark. One of directory and disk (a path below /dev) is empty."""

    directory: str
    disk: str
    data_bytes: int
    parameters: Parameters

    def number(self, key: str) -> int:
        """The value of a parameter that is a whole number."""
        return int(self.parameters[key])

    def text(self, key: str) -> str:
        return str(self.parameters[key])

    def mib(self) -> int:
        """The size of the data in MiB. Raises UserError if it is not a whole number."""
        if self.data_bytes % MIB or not self.data_bytes:
            raise UserError(f"data size {self.data_bytes} bytes: this benchmark needs whole MiB")
        return self.data_bytes // MIB


@dataclasses.dataclass(frozen=True)
class Benchmark:
    """One benchmark. defaults: its parameters. meaning: the description of each. label: a mark for its results."""

    name: str
    what: str
    defaults: Parameters
    meaning: Mapping[str, str]
    command: Callable[[Job], list[str]]
    parse: Callable[[str, Job], tuple[Figure, ...]]
    raw: bool = False  # runs on a disk, not on a file system
    destroys: Callable[[Job], bool] = lambda job: False  # overwrites that disk
    label: Callable[[Job], str] = lambda job: ""

    def job(self, directory: str, disk: str, data_bytes: int, parameters: Parameters) -> Job:
        """A job of this benchmark. Raises UserError: see with_defaults(), or it does not run on such a disk."""
        complete = self.with_defaults(parameters)
        if self.raw != bool(disk) and self.name != "fio":
            raise UserError(f"{self.name} runs on {'a raw disk' if self.raw else 'a file system'}")
        return Job(directory, disk, data_bytes, complete)

    def with_defaults(self, parameters: Parameters) -> Parameters:
        """Parameters with defaults for the missing ones. Raises UserError for unknown or wrong ones."""
        for key, value in parameters.items():
            if key not in self.defaults:
                known = ", ".join(self.defaults) or "none"
                raise UserError(f"{self.name} has no parameter {key}; its parameters: {known}")
            if kind(value) != kind(self.defaults[key]):
                raise UserError(f"{self.name}: {key} is {kind(self.defaults[key])}, not {value!r}")
            if isinstance(value, int) and value < 0:
                raise UserError(f"{self.name}: {key} cannot be negative")
        return MappingProxyType({**self.defaults, **parameters})


def _dd(job: Job) -> list[str]:
    block = job.number("block_kib")
    count = job.data_bytes // (block << 10)
    if job.data_bytes % (block << 10) or not count:
        raise UserError(f"dd: {job.data_bytes} bytes are not a multiple of the block size of {block} KiB")
    size = f"{block >> 10}M" if block % 1024 == 0 else f"{block}k"
    if job.text("direction") == "write":
        # the measured time includes the flush, as with "dd ... && sync" under time(1)
        return ["dd", "if=/dev/zero", f"of={job.disk}", f"bs={size}", f"count={count}", "conv=fsync"]
    if job.text("direction") != "read":
        raise UserError(f"dd: direction is read or write, not {job.text('direction')}")
    return ["dd", f"if={job.disk}", "of=/dev/null", f"bs={size}", f"count={count}"]


def _bonnie(job: Job) -> list[str]:
    size = f"{job.mib()}:{job.number('chunk_kib')}k"
    if job.number("seeks"):
        size += f":{job.number('seeks')}:{job.number('seekers')}"
    command = ["bonnie++", "-d", job.directory, "-s", size]
    command += ["-n", str(job.number("files")), "-u", "0", "-r", "0", "-m", "raidtrace"]
    command += ["-z", str(job.number("seed"))]
    command += ["-f"] if job.parameters["fast"] else []
    command += ["-b"] if job.parameters["no_buffering"] else []
    return command + (["-x", str(job.number("runs"))] if job.number("runs") > 1 else [])


def _iozone_program(job: Job) -> str:
    program = job.text("program")
    if program not in ("auto", "iozone", "fio"):
        raise UserError(f"iozone: program is auto, iozone or fio, not {program}")
    if program == "auto":
        return "iozone" if shutil.which("iozone") else "fio"
    return program


def _iozone(job: Job) -> list[str]:
    tests = tuple(job.text("tests").split())
    if job.parameters["auto"]:
        if _iozone_program(job) == "fio":
            sizes = iozone_fio.Surface(job.data_bytes, job.number("record_kib") << 10, job.number("smallest_kib") << 10)
            if not sizes.sizes():
                raise UserError(
                    f"iozone: no file size from {job.number('smallest_kib')} KiB to {job.data_bytes >> 10} KiB"
                )
            return iozone_fio.surface(job.directory, sizes, tests)
        command = ["iozone", "-a", "-n", f"{job.number('smallest_kib')}k", "-g", f"{job.data_bytes >> 10}k"]
        return [*command, "-f", f"{job.directory}/iozone", "-z", *iozone_fio.test_numbers(tests)]
    if _iozone_program(job) == "fio":
        return iozone_fio.command(job.directory, job.data_bytes, job.number("record_kib") << 10, tests)
    command = ["iozone", "-s", f"{job.mib()}m", "-r", str(job.number("record_kib")), "-t", "1"]
    return command + iozone_fio.test_numbers(tests) + ["-F", f"{job.directory}/iozone"]


def _parse_iozone(output: str, job: Job) -> tuple[Figure, ...]:
    # the output itself shows which of the two programs printed it
    if any(line.strip() == "{" for line in output.splitlines()):
        return iozone_fio.parse(output)
    return parsers.iozone(output)


def _fio(job: Job) -> list[str]:
    if not job.text("job_file"):
        raise UserError("fio needs a job file: the parameter job_file")
    _judge_fio_job(job)
    command = ["fio", "--output-format=json", "--clocksource=clock_gettime", "--eta=never"]
    if job.disk:
        command += [f"--filename={job.disk}"] + ([] if job.parameters["writes"] else ["--readonly"])
    else:
        command += [f"--directory={job.directory}"]
    return command + [f"--size={job.data_bytes}", job.text("job_file")]


def _judge_fio_job(job: Job) -> None:
    """Raise UserError for a job file that could name a place to write: it would override the command line."""
    path = pathlib.Path(job.text("job_file"))
    try:
        refusal = refused_line(path, bool(job.disk))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"fio: job_file: {error}") from error
    if refusal:
        number, key = refusal
        raise UserError(
            f"fio: {path}:{number}: {key}: this option could name another disk, which would be "
            "overwritten; use only options that set the amount and kind of reads and writes"
        )


def _ddt(job: Job) -> list[str]:
    block = job.number("block_kib") << 10
    if not block or job.data_bytes % block:
        raise UserError(
            f"ddt: {job.data_bytes} bytes are not a multiple of the block size of {job.number('block_kib')} KiB"
        )
    options = ["-c", str(job.data_bytes // block), "-b", f"{block >> 10}K", "-w", str(job.number("pause_s"))]
    return ["ddt", *options, "-d", job.text("data"), job.directory]


def _ioperf(job: Job) -> list[str]:
    command = ["ioperf", "-s", f"{job.data_bytes >> 10}K", "-n", str(job.number("seeks")), "-d", job.text("data")]
    if job.number("char_kib"):
        command += ["-c", f"{job.number('char_kib')}K"]
    return command + [job.directory]


BENCHMARKS: Mapping[str, Benchmark] = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark(
            "dd", "sequential read of a raw disk from its beginning; raidctl sweep can also write",
            {"direction": "read", "block_kib": 1024},
            {"direction": "read or write; the time of write includes the flush", "block_kib": "size of a block"},
            _dd, lambda output, job: parsers.dd(output, job.text("direction"), job.number("block_kib") << 10),
            raw=True, destroys=lambda job: job.text("direction") == "write",
        ),
        Benchmark(
            "bonnie++", "sequential write, rewrite and read of files, random seeks, and creation and removal of files",
            {"chunk_kib": 8, "files": 0, "fast": True, "no_buffering": True, "seed": 1, "runs": 1, "seeks": 0, "seekers": 5},
            {"chunk_kib": "bytes per call", "files": "number of files to create, in thousands; 0 for none",
             "fast": "leave out the tests of one byte at a time", "no_buffering": "flush after writing, -b",
             "seed": "seed of the random seeks", "runs": "number of repetitions, -x",
             "seeks": "number of seeks, 0 for the default of bonnie++; version 1.0x made 8000",
             "seekers": "processes that seek, if seeks is given; version 1.0x had 3"},
            _bonnie, lambda output, job: parsers.bonnie(output),
        ),
        Benchmark(
            "iozone", "sequential, re-read, random, strided, backward and stdio tests; without iozone, fio runs the same tests",
            {"record_kib": 64, "tests": "write read", "auto": False, "smallest_kib": 64, "program": "auto"},
            {"record_kib": "bytes per call; with auto, the largest", "tests": "of " + " ".join(iozone_fio.TESTS),
             "auto": "all combinations of file and record size, -a",
             "smallest_kib": "with auto, size of the smallest file", "program": "auto, iozone or fio"},
            _iozone, _parse_iozone, label=lambda job: "fio as iozone" if _iozone_program(job) == "fio" else "",
        ),
        Benchmark(
            "fio", "any job file of fio",
            {"job_file": "", "writes": False},
            {"job_file": "path; a size in the job file overrides the data size",
             "writes": "true: the job may write to the raw disk"},
            _fio, lambda output, job: parsers.fio(output),
            destroys=lambda job: bool(job.disk) and bool(job.parameters["writes"]),
        ),
        Benchmark(
            "ddt", "timed write with fsync, pause, read; raidtrace's, after Coraid",
            {"block_kib": 1024, "pause_s": 10, "data": "random"},
            {"block_kib": "bytes per call", "pause_s": "seconds between writing and reading", "data": "random or zeros"},
            _ddt, lambda output, job: parsers.own(output, "ddt"),
        ),
        Benchmark(
            "ioperf", "C library I/O in blocks and by character, timed until flushed; random seeks; raidtrace's, after BNL",
            {"seeks": 4000, "char_kib": 0, "data": "random"},
            {"seeks": "how many", "char_kib": "amount of the file for the tests by character, 0 for all",
             "data": "random or zeros"},
            _ioperf, lambda output, job: parsers.own(output, "ioperf"),
        ),
    )
}  # fmt: skip


def find(name: str) -> Benchmark:
    if name not in BENCHMARKS:
        raise UserError(f"unknown benchmark {name}; known benchmarks: {', '.join(BENCHMARKS)}")
    return BENCHMARKS[name]
