# SPDX-License-Identifier: GPL-2.0-or-later
"""What a job file of fio may say: how much is read and written and how, never where.

A job file counts before the command line, fio knows some 300 options and each version more, and several name a file: of memory
that is mapped, of a library, of logs, of state. So only options that are known to say nothing of the kind are taken.
"""

import errno
import pathlib
import re
import stat
from collections.abc import Callable

KNOWN = frozenset(
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
ENGINES = ("sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio", "mmap", "splice", "null")
# Bytes of a line: what is behind some 4,095, or 8,191, fio takes for a line of its own, in a comment too.
LONGEST = 1000
MEMORY = ("malloc", "shm", "shmhuge", "mmap", "mmaphuge", "mmapshared")  # without a file behind a colon


def _name(value: str, raw: bool) -> bool:
    """Whether it names a file below the directory that fio is given. A raw disk has no such file."""
    return not raw and ".." not in value


SOME: dict[str, Callable[[str, bool], bool]] = {
    "name": lambda value, raw: "/" not in value,  # files are called after it
    "filename": _name,
    "ioengine": lambda value, raw: value in ENGINES,
    "mem": lambda value, raw: value in MEMORY,
    "iomem": lambda value, raw: value in MEMORY,
}


def refused(path: pathlib.Path, raw: bool) -> tuple[int, str] | None:
    """The first line of a job file that could lead elsewhere, and its option. raw: it runs on a disk. OSError,
    UnicodeDecodeError: it cannot be read."""
    if not stat.S_ISREG(path.stat().st_mode):  # a pipe has no end
        raise OSError(errno.EINVAL, "no regular file", str(path))
    for number, line in enumerate(path.read_bytes().decode().replace("\r\n", "\n").split("\n"), 1):
        if len(line.encode()) > LONGEST:
            return number, f"a line of more than {LONGEST} bytes"
        if re.search(r"[\0-\x08\x0b-\x1f\x7f]", line):
            return number, "a control character"
        text = line.strip(" \t")
        if not text or text[0] in ";#" or re.fullmatch(r"\[[^\[\]$`/]*\]", text):
            continue
        key, value = ([*text.replace("=", " ", 1).split(None, 1), ""])[:2]
        if "$" in text or "`" in text:  # fio puts variables and the output of programs in
            return number, key
        if not SOME[key](value, raw) if key in SOME else key not in KNOWN:
            return number, key
    return None
