#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: 6.1 7.2
"""Request-based dm: Linux's dm-multipath, built from the source of the lab's kernel, counts each request once."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from lab_checks import KERNELS, TOP, check, finish, lab

sys.path.append(str(TOP / "tools/lab"))
sys.dont_write_bytecode = True
from raidlab.base.progress import Progress  # noqa: E402
from raidlab.kernel import tree  # noqa: E402
from raidlab.uml import modules  # noqa: E402

HERE = TOP / "tests/lab/multipath"


def counted_once(out: Path, series: str) -> None:
    """1,000 reads and 500 writes in a guest."""
    progress = Progress(quiet=True)
    module = modules.Module("multipath", HERE / "Kbuild", (HERE,), "dm-multipath.ko")
    first = modules.build(module, tree.pick(series, progress), progress).path
    paths = (str(first), str(first.with_name("dm-round-robin.ko")))
    done = lab("run", "-q", "--host", "--kernel", series, "--out", str(out), "--",
               str(TOP / "tests/lab/kmod_multipath_guest.py"), *paths)  # fmt: skip
    check(f"{series}: requests of dm-multipath count once", done.returncode == 0, done.stdout + done.stderr)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        for kernel in KERNELS:
            counted_once(Path(scratch, kernel), kernel)
    finish()
