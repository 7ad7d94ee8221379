# SPDX-License-Identifier: GPL-2.0-or-later
"""The compiler for all programs of a guest: that of the root's release, so that each host builds the same bytes.

A host with exactly this compiler uses its own. Other hosts run it from the sysroot in the cache, with the host's C library,
which must be new enough. If it is older, the host's own compiler is used and reported; then the figures are valid for this
host only.
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

# The guest's root with the files for builds: headers, link libraries and the compiler of its release (sysroot.lock).

LOCK = Path(__file__).with_name("sysroot.lock")
LIBRARIES = "usr/lib/x86_64-linux-gnu"
PROGRAMS = ("gcc", "ar", "as", "ld", "nm", "objcopy", "objdump", "ranlib", "readelf", "size", "strip")


@dataclass(frozen=True)
class Sysroot:
    """An unpacked sysroot. `name` identifies its contents, with a + if the archive had other versions than the lock."""

    path: Path
    name: str


def locked(what: str) -> str:
    """The words after `# WHAT:` in the lock."""
    marker = f"# {what}: "
    lines = LOCK.read_text(encoding="ascii").splitlines()
    return next(line.removeprefix(marker) for line in lines if line.startswith(marker))


def get_sysroot(progress: Progress) -> Sysroot:
    """The sysroot from the cache, unpacked if it does not exist."""
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
            for program in PROGRAMS:  # the programs print these names
                version = "-12" if program == "gcc" else ""
                (entry / "root/usr/bin" / program).symlink_to(f"x86_64-linux-gnu-{program}{version}")
    return Sysroot(entry / "root", name + root.mark(entry))


def _within(top: Path) -> None:
    """Make absolute links relative: a linker would follow a link to /lib/... to the host's library."""
    for directory in (top / "usr/lib64", top / LIBRARIES):
        for path in directory.iterdir():
            if path.is_symlink() and path.readlink().is_absolute():
                target = os.path.relpath(top / path.readlink().relative_to("/"), path.parent)
                path.unlink()
                path.symlink_to(target)


_LIBRARIES = ("libbfd-*", "libctf*", "libgmp.so*", "libisl.so*", "libjansson.so*", "libmpc.so*", "libmpfr.so*",
              "libopcodes-*", "libsframe.so*", "libz.so*", "libzstd.so*")  # fmt: skip
_C_LIBRARY = (2, 36)  # the version that the release's programs need
# The compilers find their own libraries here, and only the host's C library, to which their loader belongs.
_SCRIPT = """#!/bin/sh
root=$(readlink -f "${{0%/*}}/../root")
LD_LIBRARY_PATH="${{0%/*}}/../lib" exec "$root/usr/bin/{program}" {options} "$@"
"""
# Paths in the output are those of an installed compiler.
_OPTIONS = '--sysroot="$root" -B"${0%/*}/" -ffile-prefix-map="$root"='


@dataclass(frozen=True)
class Compiler:
    """`name` is the first line of `gcc --version`; `programs` is its directory unless it is the host's."""

    name: str
    programs: Path | None = None

    def environment(self) -> dict[str, str]:
        """The environment of builds."""
        return {"PATH": f"{self.programs}:{os.environ.get('PATH', os.defpath)}"} if self.programs else {}


def get(progress: Progress) -> Compiler:
    """The compiler, unpacked if it does not exist."""
    host = toolchain.first_line("gcc", "--version")
    needed = locked("compiler")
    if (host, toolchain.first_line("ld", "--version")) == (needed, locked("linker")):
        return Compiler(host)
    library = os.confstr("CS_GNU_LIBC_VERSION") or ""
    if tuple(int(number) for number in library.removeprefix("glibc ").split(".") if number.isdigit()) < _C_LIBRARY:
        progress.report(f"built with this machine's {host}, as {library} is too old for the lab's own compiler: "
                        "figures depend on this machine")  # fmt: skip
        toolchain.require("building what runs in a guest")
        return Compiler(host)
    programs = _made(get_sysroot(progress), progress)
    return Compiler(toolchain.first_line(str(programs / "gcc"), "--version"), programs)


def _made(built: Sysroot, progress: Progress) -> Path:
    """Create its programs: scripts that start the compiler."""
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
