# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl for a guest's root, on a host of another release: what the host built wants a newer C library than that root has.

It is built by the host's compiler against headers and libraries of the root's own release (sysroot.lock), from the same
checkout. On a host of that release the checkout's own tools/bin does.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from raidlab.base import cache, toolchain
from raidlab.base.progress import Progress
from raidlab.uml import root
from raidlab.uml.root import Root

LOCK = Path(__file__).with_name("sysroot.lock")
_TOOLS = cache.CHECKOUT / "tools"
_LIBRARIES = "usr/lib/x86_64-linux-gnu"
_KEEP = 2


def release(text: str) -> str:
    """Code name in /etc/os-release; empty if it has none."""
    match = re.search(r'^VERSION_CODENAME="?([a-z]+)', text, re.MULTILINE)
    return match[1] if match else ""


def tools(lab_root: Root, progress: Progress) -> Path | None:
    """A directory to be seen as tools/bin in the guest; None where the checkout's own will do, or is not built."""
    suite, packages = root.read(LOCK.read_text(encoding="ascii"))
    binaries = [path for path in sorted((_TOOLS / "bin").glob("*")) if path.is_file() and not path.is_symlink()]
    if not binaries or release(Path("/etc/os-release").read_text(encoding="utf-8")) == suite:
        return None
    parts = [path.read_bytes() for path in binaries] + [LOCK.read_bytes(), lab_root.name.encode()]
    entry = cache.root() / f"tools-{cache.digest(parts + [toolchain.compiler().encode()])}"
    with cache.entry(entry, progress) as is_new:
        cache.hold(entry)
        if is_new:
            _build(entry, _libraries(lab_root, suite, packages, progress), progress)
    cache.keep_newest(entry, "tools", _KEEP)
    return entry / "bin"


def _libraries(lab_root: Root, suite: str, packages: list[root.Package], progress: Progress) -> Path:
    """The guest's root with headers and link libraries beside what it has."""
    entry = cache.root() / f"sysroot-{cache.digest((LOCK.read_bytes(), lab_root.name.encode()))}"
    with cache.entry(entry, progress) as is_new:
        if is_new:
            subprocess.run(["cp", "-al", str(lab_root.path), str(entry / "root")], check=True)
            got = root.download(entry, suite, packages, "to build raidctl for it", progress)
            root.unpack(entry / "root", got)
            shutil.rmtree(entry / "packages")
            _within(entry / "root")
    return entry / "root"


def _within(top: Path) -> None:
    """A linker follows a link to /lib/... to the host's library: links that lead from the top are made relative."""
    for directory in (top / "usr/lib64", top / _LIBRARIES):
        for path in directory.iterdir():
            if path.is_symlink() and path.readlink().is_absolute():
                target = os.path.relpath(top / path.readlink().relative_to("/"), path.parent)
                path.unlink()
                path.symlink_to(target)


def _build(entry: Path, libraries: Path, progress: Progress) -> None:
    what = "building raidctl for the guest's root"
    progress.begin(what)
    make = ["make", "-C", str(_TOOLS), f"-j{toolchain.jobs()}", f"B={entry}/build", f"BIN={entry}/bin"]
    make.append(f"CC=gcc --sysroot={libraries}")
    places = {
        "PKG_CONFIG_SYSROOT_DIR": str(libraries),
        "PKG_CONFIG_LIBDIR": f"{libraries}/{_LIBRARIES}/pkgconfig:{libraries}/usr/share/pkgconfig",
    }
    toolchain.run_logged(what, make, entry / "build.log", extra=places)
    shutil.rmtree(entry / "build")
    for path in (_TOOLS / "bin").iterdir():
        if path.is_symlink():  # relative, and seen from the same place
            (entry / "bin" / path.name).unlink(missing_ok=True)
            (entry / "bin" / path.name).symlink_to(path.readlink())
    progress.end()
