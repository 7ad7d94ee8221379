# SPDX-License-Identifier: GPL-2.0-or-later
"""The compiler of all that runs in a guest: that of its root's release, so that another host makes the same bits.

A host that has the very same one uses its own. On another it is run from the sysroot in the cache, with the host's C library,
which has to be as new. Where that is older the host's own compiler is used, and said: then figures are that host's.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from raidlab.base import cache, toolchain
from raidlab.base.progress import Progress
from raidlab.userland import sysroot

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
    wanted = sysroot.said("compiler")
    if (host, toolchain.first_line("ld", "--version")) == (wanted, sysroot.said("linker")):
        return Compiler(host)
    library = os.confstr("CS_GNU_LIBC_VERSION") or ""
    if tuple(int(number) for number in library.removeprefix("glibc ").split(".") if number.isdigit()) < _C_LIBRARY:
        progress.say(f"built with this machine's {host}, as {library} is too old for the lab's own compiler: "
                     "figures are those of this machine")  # fmt: skip
        toolchain.require("building what runs in a guest")
        return Compiler(host)
    programs = _made(sysroot.get(progress), progress)
    return Compiler(toolchain.first_line(str(programs / "gcc"), "--version"), programs)


def _made(built: sysroot.Sysroot, progress: Progress) -> Path:
    """Its programs, each a script that starts it."""
    parts = (built.name, _SCRIPT, _OPTIONS, *sysroot.PROGRAMS, *_LIBRARIES)
    entry = cache.root() / f"compiler-{cache.digest(part.encode() for part in parts)}"
    with cache.entry(entry, progress) as is_new:
        if is_new:
            (entry / "root").symlink_to(os.path.relpath(built.path, entry))
            (entry / "lib").mkdir()
            for pattern in _LIBRARIES:
                for path in (built.path / sysroot.LIBRARIES).glob(pattern):
                    (entry / "lib" / path.name).symlink_to(os.path.relpath(path, entry / "lib"))
            (entry / "bin").mkdir()
            for program in sysroot.PROGRAMS:
                script = entry / "bin" / program
                options = _OPTIONS if program == "gcc" else ""
                script.write_text(_SCRIPT.format(program=program, options=options), encoding="ascii")
                script.chmod(0o755)
    return entry / "bin"
