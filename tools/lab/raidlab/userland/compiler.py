# SPDX-License-Identifier: GPL-2.0-or-later
"""The compiler of all that runs in a guest: that of its root's release, so that another host makes the same bits.

A host that has the very same one uses its own. On another it is run from the sysroot in the cache, with the host's C library,
which has to be as new. Where that is older the host's own compiler is used and reported: then figures are that host's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from raidlab.base import cache, toolchain
from raidlab.base.progress import Progress
from raidlab.userland import root

# A guest's root with what is built for it: headers, link libraries and the compiler of its release (sysroot.lock).

LOCK = Path(__file__).with_name("sysroot.lock")
LIBRARIES = "usr/lib/x86_64-linux-gnu"
PROGRAMS = ("gcc", "ar", "as", "ld", "nm", "objcopy", "objdump", "ranlib", "readelf", "size", "strip")


@dataclass(frozen=True)
class Sysroot:
    """An unpacked one. `name` stands for all that is in it, with a + if the archive had other versions than the lock."""

    path: Path
    name: str


def locked(what: str) -> str:
    """What the lock says behind `# WHAT:`."""
    marker = f"# {what}: "
    lines = LOCK.read_text(encoding="ascii").splitlines()
    return next(line.removeprefix(marker) for line in lines if line.startswith(marker))


def get_sysroot(progress: Progress) -> Sysroot:
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
            for program in PROGRAMS:  # they report themselves by these names
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


_LIBRARIES = ("libbfd-*", "libctf*", "libgmp.so*", "libisl.so*", "libjansson.so*", "libmpc.so*", "libmpfr.so*",
              "libopcodes-*", "libsframe.so*", "libz.so*", "libzstd.so*")  # fmt: skip
_C_LIBRARY = (2, 36)  # of the release: what its programs want
# They find the compiler's libraries, and no C library but the host's, which their loader is of.
_SCRIPT = """#!/bin/sh
root=$(readlink -f "${{0%/*}}/../root")
LD_LIBRARY_PATH="${{0%/*}}/../lib" exec "$root/usr/bin/{program}" {options} "$@"
"""
# What it writes down of paths is what it would write at home.
_OPTIONS = '--sysroot="$root" -B"${0%/*}/" -ffile-prefix-map="$root"='


@dataclass(frozen=True)
class Compiler:
    """`name` is the first line of `gcc --version`, `programs` where it is if it is not the host's."""

    name: str
    programs: Path | None = None

    def environment(self) -> dict[str, str]:
        """For builds."""
        return {"PATH": f"{self.programs}:{os.environ.get('PATH', os.defpath)}"} if self.programs else {}


def get(progress: Progress) -> Compiler:
    """The compiler, unpacked if need be."""
    host = toolchain.first_line("gcc", "--version")
    needed = locked("compiler")
    if (host, toolchain.first_line("ld", "--version")) == (needed, locked("linker")):
        return Compiler(host)
    library = os.confstr("CS_GNU_LIBC_VERSION") or ""
    if tuple(int(number) for number in library.removeprefix("glibc ").split(".") if number.isdigit()) < _C_LIBRARY:
        progress.report(f"built with this machine's {host}, as {library} is too old for the lab's own compiler: "
                        "figures are those of this machine")  # fmt: skip
        toolchain.require("building what runs in a guest")
        return Compiler(host)
    programs = _made(get_sysroot(progress), progress)
    return Compiler(toolchain.first_line(str(programs / "gcc"), "--version"), programs)


def _made(built: Sysroot, progress: Progress) -> Path:
    """Its programs, each a script that starts it."""
    parts = (built.name, _SCRIPT, _OPTIONS, *PROGRAMS, *_LIBRARIES)
    entry = cache.root() / f"compiler-{cache.digest(part.encode() for part in parts)}"
    with cache.entry(entry, progress) as is_new:
        if is_new:
            (entry / "root").symlink_to(os.path.relpath(built.path, entry))
            (entry / "lib").mkdir()
            for pattern in _LIBRARIES:
                for path in (built.path / LIBRARIES).glob(pattern):
                    (entry / "lib" / path.name).symlink_to(os.path.relpath(path, entry / "lib"))
            (entry / "bin").mkdir()
            for program in PROGRAMS:
                script = entry / "bin" / program
                options = _OPTIONS if program == "gcc" else ""
                script.write_text(_SCRIPT.format(program=program, options=options), encoding="ascii")
                script.chmod(0o755)
    return entry / "bin"
