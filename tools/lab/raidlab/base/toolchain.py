# SPDX-License-Identifier: GPL-2.0-or-later
"""Run compilers and make: with a fixed environment, a log, progress, and errors that name a remedy."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from pathlib import Path

from raidlab.base.failure import LabError
from raidlab.base.progress import Progress

_NEEDED = {
    "gcc": "gcc",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "perl": "perl",
    "xz": "xz-utils",
    "tar": "tar",
}


def require(what: str) -> None:
    """Refuse at the start, with a list of all missing programs, instead of late in a build."""
    missing = [package for program, package in _NEEDED.items() if not shutil.which(program)]
    if missing:
        raise LabError(
            what,
            f"missing: {' '.join(missing)}",
            "Install what the lab needs: tools/setup lab",
        )


def environment() -> dict[str, str]:
    """The environment of a build, without the caller's settings of make and locale."""
    keep = {k: os.environ[k] for k in ("HOME", "PATH", "TMPDIR") if k in os.environ}
    return keep | {
        "LC_ALL": "C",
        "KBUILD_BUILD_USER": "raidtrace",
        "KBUILD_BUILD_HOST": "lab",
        "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 2026",
    }


@functools.cache
def first_line(*command: str) -> str:
    """The first line that a program prints, such as its version; empty if it does not exist. Each program runs only once."""
    if not shutil.which(command[0]):
        return ""
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
    return done.stdout.partition("\n")[0]


def jobs() -> int:
    return len(os.sched_getaffinity(0))


def run_logged(
    what: str,
    command: list[str],
    log: Path,
    progress: Progress | None = None,
    steps: int = 0,
    extra: dict[str, str] | None = None,
) -> None:
    """Run `command` and append its output to `log`. Each line of output is one of `steps`; 0 if their number is unknown.

    Raises LabError with the relevant lines if the command fails.
    """
    with open(log, "a", encoding="utf-8", errors="replace") as sink:
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=environment() | (extra or {}),
        ) as process:
            assert process.stdout is not None
            try:
                for count, line in enumerate(process.stdout):
                    sink.write(line)
                    if progress and steps:
                        progress.update(count / steps)
                    elif progress:
                        progress.count(count, "steps of make")
            except BaseException:
                process.terminate()
                raise
    if process.returncode:
        raise LabError(what, _reason(log), f"The whole log: {log}")


def _reason(log: Path) -> str:
    """The lines of a failed build that contain the reason."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    if any("No space left on device" in line for line in lines):
        return f"no space left on the disk of {log.parent}"
    errors = [line for line in lines if "error:" in line.lower() or "***" in line]
    return "\n  ".join((errors or lines or ["it printed nothing"])[:6])
