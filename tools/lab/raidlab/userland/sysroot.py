# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest's root with what is built for it: headers, link libraries and the compiler of its release (sysroot.lock)."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from raidlab.base import cache
from raidlab.base.progress import Progress
from raidlab.userland import root

LOCK = Path(__file__).with_name("sysroot.lock")
LIBRARIES = "usr/lib/x86_64-linux-gnu"
PROGRAMS = ("gcc", "ar", "as", "ld", "nm", "objcopy", "objdump", "ranlib", "readelf", "size", "strip")


@dataclass(frozen=True)
class Sysroot:
    """An unpacked one. `name` stands for all that is in it, with a + if the archive had other versions than the lock."""

    path: Path
    name: str


def said(what: str) -> str:
    """What the lock says behind `# WHAT:`."""
    marker = f"# {what}: "
    lines = LOCK.read_text(encoding="ascii").splitlines()
    return next(line.removeprefix(marker) for line in lines if line.startswith(marker))


def get(progress: Progress) -> Sysroot:
    """The sysroot, made unless the cache has it."""
    below = root.get(progress)
    suite, packages = root.read(LOCK.read_text(encoding="ascii"))
    name = cache.digest((LOCK.read_bytes(), below.name.encode()))
    entry = cache.root() / f"sysroot-{name}"
    with cache.entry(entry, progress) as is_new:
        if is_new:
            subprocess.run(["cp", "-al", str(below.path), str(entry / "root")], check=True)
            got = root.download(entry, suite, packages, "to build for it (about 60 MiB, once)", progress)
            root.unpack(entry / "root", got)
            shutil.rmtree(entry / "packages")
            _within(entry / "root")
            for program in PROGRAMS:  # by these names they say who they are
                version = "-12" if program == "gcc" else ""
                (entry / "root/usr/bin" / program).symlink_to(f"x86_64-linux-gnu-{program}{version}")
    return Sysroot(entry / "root", name + root.mark(entry))


def _within(top: Path) -> None:
    """A linker follows a link to /lib/... to the host's library: links that lead from the top are made relative."""
    for directory in (top / "usr/lib64", top / LIBRARIES):
        for path in directory.iterdir():
            if path.is_symlink() and path.readlink().is_absolute():
                target = os.path.relpath(top / path.readlink().relative_to("/"), path.parent)
                path.unlink()
                path.symlink_to(target)
