# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared by the lab's tests: results and totals, running raidctl lab."""

from __future__ import annotations

import contextlib
import functools
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
LAB = TOP / "tools" / "lab" / "raidctl-lab"
# Options for a guest with programs that copy much: malloc keeps freed memory, because new pages cost a guest more than
# all that is done with them.
KEEP = ("--env", "GLIBC_TUNABLES=glibc.malloc.mmap_threshold=100000000:glibc.malloc.trim_threshold=1000000000")
# Series to run on. tests/run sets those that are built.
KERNELS = tuple(os.environ.get("LAB_KERNELS", "6.1 6.12 7.2").split())
LIMIT_S = int(os.environ.get("LAB_LIMIT_S", "1200"))

_counts = {"passed": 0, "failed": 0, "skipped": 0}


def check(name: str, holds: object, detail: object = "") -> None:
    """One test: `holds` decides, `detail` is shown when it does not hold."""
    _counts["passed" if holds else "failed"] += 1
    print(f"{'ok' if holds else 'not ok'} - {name}", flush=True)
    if not holds and detail != "":
        print("  " + str(detail).replace("\n", "\n  "), flush=True)


def processor_s() -> float:
    """Processor time of all programs that have ended so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def skip(name: str, why: str) -> None:
    _counts["skipped"] += 1
    print(f"skipped - {name}: {why}", flush=True)


def finish() -> None:
    """Print the totals and leave. A suite in which nothing was tested fails."""
    skipped = f", {_counts['skipped']} skipped" if _counts["skipped"] else ""
    print(f"{_counts['passed']} passed, {_counts['failed']} failed{skipped}")
    sys.exit(1 if _counts["failed"] or not any(_counts.values()) else 0)


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A directory for the files of a suite. After the block the suite ends with its totals."""
    with tempfile.TemporaryDirectory(prefix="lab-test-", dir="/var/tmp") as name:
        yield Path(name)
    finish()


def lab(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run raidctl lab with these words, its guests with the host's programs unless LAB_ROOT is given."""
    return subprocess.run(
        [str(LAB), *words],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=LIMIT_S,
        check=False,
        stdin=subprocess.DEVNULL,
        env=os.environ | {"LAB_ROOT": "host"} | environment,
    )


@functools.cache
def _build(kernel: str, variant: str) -> subprocess.CompletedProcess[str]:
    return lab("build", "-q", "--kernel", kernel, *(("--variant", variant) if variant else ()))


def offered(name: str, kernel: str, variant: str = "") -> bool:
    """Build a kernel with its modules. If the mirrors do not offer it, `name` is skipped; the first is always offered."""
    build = _build(kernel, variant)
    if build.returncode and "not offered" in build.stderr and kernel != "6.1":
        skip(name, build.stderr.splitlines()[0])
        return False
    return True


def run(out: Path, *command: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a command in a guest, results in `out`."""
    return lab("run", "-q", "--no-raidtrace", "--out", str(out), *options, "--", *command)


def guest(out: Path, *command: object, kernel: str = "", profile: str = "", settings: Iterable[str] = (),
          options: Iterable[str] = ()) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """Run a command in a guest with a simulated device: a profile, with settings KEY=VALUE. Results are in `out`."""
    words = ["--kernel", kernel] if kernel else []
    words += ["--profile", profile] if profile else []
    words += [word for setting in settings for word in ("--set", setting)]
    return lab("run", "-q", "--out", str(out), *words, *options, "--", *map(str, command))


def output_of(name: str, done: subprocess.CompletedProcess[str]) -> str:
    """A check: the guest ended well. Returns its output, or an empty text."""
    check(f"{name}: the run succeeds", done.returncode == 0, done.stderr + done.stdout)
    return "" if done.returncode else done.stdout
