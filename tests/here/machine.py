# SPDX-License-Identifier: GPL-2.0-or-later
"""This machine's own disk, its kernel's BPF programs, and results, for the tests of this directory."""

import contextlib
import ctypes
import mmap
import os
import pathlib
import platform
import signal
import subprocess
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
RAIDCTL = TOP / "tools/bin/raidctl"
PLACE = TOP / "build/here"
READS, BYTES = 2000, 4096
# Requests that a kernel may neither count nor tell, because it runs no program for a thread of process 1; this many at most.
SILENT = READS // 10
SMALL = {"RAIDTRACE_RING_BYTES": "65536"}  # of a ring, which 1,000 reads fill, and the ends of 2,000
BPF_PROG_GET_NEXT_ID, SYS_BPF = 11, 321
results: list[bool] = []


def ok(good: bool, what: str, why: object = "") -> None:
    """Print one result."""
    results.append(bool(good))
    print(f"{'ok' if good else 'not ok'} {len(results)} - {what}{'' if good else f': {why}'}", flush=True)


def totals() -> int:
    """Print the totals. Returns the exit status."""
    failed = results.count(False)
    print(f"{len(results) - failed} passed, {failed} failed", flush=True)
    return bool(failed)


def own_disk(directory: pathlib.Path = PLACE) -> str:
    """The name of the whole disk that has a directory, "" if there is none with requests."""
    number = os.stat(directory).st_dev
    path = pathlib.Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve()
    disk = path.parent if (path / "partition").exists() else path
    return disk.name if (disk / "mq").is_dir() else ""


def obstacle() -> str:
    """The reason why nothing can be tested here, "" if it can."""
    if platform.machine() != "x86_64":
        return "not an x86 machine"
    if os.geteuid():
        return "not root"
    if not (TOP / "tools/bin/raidtrace-bpf.so").exists():
        return "built without clang or libbpf-dev"
    if not pathlib.Path("/sys/kernel/btf/vmlinux").exists():
        return "the kernel has no BTF"
    if not own_disk():
        return "the directory is on no disk with requests"
    try:
        programs()
    except OSError as error:
        return f"BPF is not permitted: {error.strerror}"
    return ""


def programs() -> set[int]:
    """The ids of the BPF programs in the kernel."""
    libc = ctypes.CDLL(None, use_errno=True)
    attributes = (ctypes.c_uint32 * 3)()
    ids = set()
    while libc.syscall(SYS_BPF, BPF_PROG_GET_NEXT_ID, attributes, ctypes.sizeof(attributes)) == 0:
        ids.add(attributes[1])
        attributes[0] = attributes[1]
    if ctypes.get_errno() != 2:  # ENOENT: no more
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return ids


def programs_of(pid: int) -> set[int]:
    """The ids of the BPF programs that a process holds."""
    texts = []
    with contextlib.suppress(OSError):  # the process ends, or closes a file
        for path in pathlib.Path(f"/proc/{pid}/fdinfo").iterdir():
            with contextlib.suppress(OSError):
                texts.append(path.read_text(encoding="ascii"))
    return {int(line.split()[1]) for text in texts for line in text.splitlines() if line.startswith("prog_id:")}


def none_left(held: set[int]) -> bool:
    """Whether programs go within 5 s: links are freed after a grace period."""
    end = time.monotonic() + 5
    while held & programs() and time.monotonic() < end:
        time.sleep(0.05)
    return not held & programs()


def counting(process: subprocess.Popen) -> int:
    """The process that counts for a verb: a verb in Python has started it."""
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
    return int(children[0]) if children else process.pid


def killed(process: subprocess.Popen, what: str) -> None:
    """Kill a process that counts. None of its programs stays in the kernel."""
    held = programs_of(counting(process))
    process.kill()
    process.communicate()
    ok(len(held) >= 10, f"{what}: its programs are in the kernel while it runs", held)
    ok(none_left(held), f"{what}: none is left after SIGKILL", held & programs())


def diskstats(disk: str) -> list[int]:
    """The numbers of a disk in /proc/diskstats."""
    lines = pathlib.Path("/proc/diskstats").read_text(encoding="ascii").splitlines()
    return next([int(word) for word in line.split()[3:]] for line in lines if line.split()[2] == disk)


def read_directly(path: pathlib.Path, number: int) -> None:
    """Read `number` blocks of a file, every second one, past the page cache."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    memory = mmap.mmap(-1, BYTES)
    blocks = os.fstat(fd).st_size // BYTES
    for i in range(number):
        os.preadv(fd, [memory], 2 * i % blocks * BYTES)
    os.close(fd)


def lose(process: subprocess.Popen, data: pathlib.Path) -> None:
    """Read while a process that counts is stopped, until its small rings are full, also one that has only ends (40 bytes)."""
    pid = counting(process)
    os.kill(pid, signal.SIGSTOP)
    read_directly(data, 3000)
    os.kill(pid, signal.SIGCONT)
