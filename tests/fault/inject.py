# SPDX-License-Identifier: GPL-2.0-or-later
"""One system call of a program fails: strace counts the calls of each thread and puts an error in the place of the N-th.

A point is a call, its number and an error. Which there are is learned from a run without a fault.
"""

import collections
import dataclasses
import os
import pathlib
import random
import re
import signal
import subprocess
from collections.abc import Callable

# errors of a full, a broken and a read-only file system, and of a signal; and the calls that return them
WRITES = "write pwrite64 writev fsync fdatasync ftruncate fallocate copy_file_range close"
CHANGES = "openat mkdir mkdirat unlink unlinkat rmdir link linkat rename renameat2 symlink fchmod fchown"
READS = "read pread64 readv getdents64 newfstatat statx lseek statfs access faccessat2 readlink fcntl ioctl getcwd"
WAITS = "poll ppoll recvmsg sendmsg sendto wait4 waitid flock"
MAKES = "socket bind connect pipe2 timerfd_create timerfd_settime signalfd4 eventfd2 clone3 dup2 memfd_create uname"
ERRORS = {
    "ENOSPC": f"{WRITES} {CHANGES}",
    "EIO": f"{WRITES} {CHANGES} {READS} {WAITS} {MAKES}",
    "EROFS": CHANGES,
    "EINTR": f"read pread64 write pwrite64 openat fcntl {WAITS}",
}
LONGEST_S = 60
# Message of strace where the kernel cannot do that, as in the lab.
NO_SECCOMP = "strace: seccomp filter is requested but unavailable\n"


@dataclasses.dataclass(frozen=True)
class Point:
    """The number-th call of that name of a thread ends with an error. paths: only calls on one of these count."""

    call: str
    error: str
    number: int
    paths: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.error} in {self.call} {self.number}"


def _strace(log: pathlib.Path, paths: tuple[str, ...]) -> list[str]:
    return ["strace", "-f", "-qq", "-ttt", "--signal=none", "-s", "999", "-o", str(log),
            *(f"-P{path}" for path in paths)]  # fmt: skip


def points(
    command: list[str],
    log: pathlib.Path,
    below: str,
    before: Callable[[], object],
    **how: object,
) -> list[Point]:
    """Every point of a run of a command, which must be well. below: of calls on files below that alone, unless empty. before:
    is called before each run. how: for subprocess.run."""
    paths: tuple[str, ...] = ()
    if below:
        before()
        subprocess.run([*_strace(log, ()), *command], capture_output=True, check=True, **how)
        named = re.findall(r'"((?:[^"\\]|\\.)*)"', log.read_text(errors="replace"))
        paths = tuple(sorted({path for path in named if path.startswith(below) or os.path.exists(f"{below}/{path}")}))
    before()
    subprocess.run([*_strace(log, paths), *command], capture_output=True, check=True, **how)
    made: collections.Counter[tuple[str, str]] = collections.Counter()
    for thread, call in re.findall(r"^(\d+) +[\d.]+ (\w+)\(", log.read_text(errors="replace"), re.MULTILINE):
        made[thread, call] += 1
    most: dict[str, int] = {}
    for (_, call), number in made.items():
        most[call] = max(most.get(call, 0), number)
    return [
        Point(call, error, number, paths)
        for error, calls in ERRORS.items()
        for call in calls.split()
        for number in range(1, most.get(call, 0) + 1)
    ]


def some(points: list[Point], number: int) -> list[Point]:
    """So many of them, each error and call in turn, at the same places each time."""
    by_kind: dict[tuple[str, str], list[Point]] = {}
    for point in random.Random(1).sample(points, len(points)):
        by_kind.setdefault((point.error, point.call), []).append(point)
    waiting = list(by_kind.values())
    chosen: list[Point] = []
    while waiting and len(chosen) < number:
        chosen += [kind.pop() for kind in waiting][: number - len(chosen)]
        waiting = [kind for kind in waiting if kind]
    return chosen


def run(
    command: list[str], point: Point, log: pathlib.Path, **how: object
) -> tuple[float, subprocess.CompletedProcess[str]]:
    """A run with a fault: when that was, in seconds of CLOCK_REALTIME, or 0 if it did not come so far; and the process."""
    words = [
        "--seccomp-bpf",  # other calls do not stop, which is most of what a run takes
        "-e",
        f"trace={point.call}",
        "-e",
        f"inject={point.call}:error={point.error}:when={point.number}",
    ]
    with subprocess.Popen([*_strace(log, point.paths), *words, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace", start_new_session=True, **how) as process:  # fmt: skip
        try:
            out, err = process.communicate(timeout=LONGEST_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            err += f"no end within {LONGEST_S} s"
    done = subprocess.CompletedProcess(command, process.returncode, out, err.replace(NO_SECCOMP, ""))
    injected = re.search(r"^\d+ +([\d.]+) .*\(INJECTED\)$", log.read_text(errors="replace"), re.MULTILINE)
    return float(injected[1]) if injected else 0.0, done
