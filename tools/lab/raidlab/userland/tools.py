# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl for a guest's root, on a host of another release whose programs need a newer C library than the root's.

It is built against the sysroot from the same checkout. On a host of the root's release, tools/bin of the checkout is used.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from raidlab.base import cache, toolchain
from raidlab.base.progress import Progress
from raidlab.userland import compiler, root
from raidlab.userland.compiler import Compiler, Sysroot

_TOOLS = cache.CHECKOUT / "tools"
_KEEP = 2


_SOURCES = ("raidctl", "libraidtrace", "workload")


def installed() -> Path:
    """The raidctl of the package raidtrace-lab-kernel for a guest, if it was built from these sources."""
    files = [path for name in _SOURCES for path in sorted((_TOOLS / name).rglob("*.[ch]"))]
    return cache.INSTALLED / f"tools-{cache.digest(path.read_bytes() for path in files)}"


def release(text: str) -> str:
    """The code name in /etc/os-release; empty if there is none."""
    match = re.search(r'^VERSION_CODENAME="?([a-z]+)', text, re.MULTILINE)
    return match[1] if match else ""


def get(progress: Progress) -> Path | None:
    """The directory for tools/bin in the guest: the checkout's own if it is suitable. None if it is not built."""
    suite, _ = root.read(root.LOCK.read_text(encoding="ascii"))
    binaries = [path for path in sorted((_TOOLS / "bin").glob("*")) if path.is_file() and not path.is_symlink()]
    if not binaries:
        return None
    if release(Path("/etc/os-release").read_text(encoding="utf-8")) == suite:
        # Mount it on each host, even where it is not needed, because a mount uses some memory of the guest.
        return _TOOLS / "bin"
    if installed().exists():
        return installed() / "bin"
    built_by, libraries = compiler.get(progress), compiler.get_sysroot(progress)
    names = [libraries.name.encode(), built_by.name.encode()]
    entry = cache.root() / f"tools-{cache.digest([path.read_bytes() for path in binaries] + names)}"
    with cache.entry(entry, progress) as is_new:
        cache.hold(entry)
        if is_new:
            _build(entry, libraries, built_by, progress)
    cache.keep_newest(entry, "tools", _KEEP)
    return entry / "bin"


def pack(into: Path, progress: Progress) -> None:
    """Build raidctl for a guest's root into the package raidtrace-lab-kernel."""
    into.mkdir()
    toolchain.run_logged("building raidctl", ["make", "-C", str(_TOOLS), f"-j{toolchain.jobs()}"], into / "build.log")
    built = get(progress)
    assert built  # it was built
    shutil.copytree(built, into / "bin", symlinks=True)
    (into / "build.log").unlink()


def _build(entry: Path, libraries: Sysroot, built_by: Compiler, progress: Progress) -> None:
    what = "building raidctl for the guest's root"
    progress.begin(what)
    make = ["make", "-C", str(_TOOLS), f"-j{toolchain.jobs()}", f"B={entry}/build", f"BIN={entry}/bin"]
    make.append(f"CC=gcc --sysroot={libraries.path} -ffile-prefix-map={libraries.path}=")
    places = {
        "PKG_CONFIG_SYSROOT_DIR": str(libraries.path),
        "PKG_CONFIG_LIBDIR": f"{libraries.path}/{compiler.LIBRARIES}/pkgconfig:{libraries.path}/usr/share/pkgconfig",
    }
    toolchain.run_logged(what, make, entry / "build.log", extra=places | built_by.environment())
    shutil.rmtree(entry / "build")
    for path in (_TOOLS / "bin").iterdir():
        if path.is_symlink():  # make it relative: the guest has the same directories
            (entry / "bin" / path.name).unlink(missing_ok=True)
            (entry / "bin" / path.name).symlink_to(path.readlink())
    progress.end()
