# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's kernels: User Mode Linux built from Debian's source packages, kept in the cache."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from raidlab.apt.packages import Source, find_source
from raidlab.base import cache, toolchain
from raidlab.base.failure import LabError
from raidlab.base.progress import Progress
from raidlab.kernel import configuration
from raidlab.kernel.configuration import Asked
from raidlab.userland import compiler
from raidlab.userland.compiler import Compiler

HERE = Path(__file__).resolve().parent
CONFIG = HERE / "lab.config"
FILES = HERE / "kernel-files"
DEFAULT = "6.1"  # whatever the host: the figures of the documentation are of it
_SOURCE_MIB = 450  # source 250, package 170
_SPACE_MIB = 250  # objects while building 200
LINES = 1500  # of make's output, about; only the time left depends on it


@dataclass(frozen=True)
class Kernel:
    """A built kernel. `series` is what a user asks for (6.1), `version` the source package's or, for a kernel of the
    user's own (tree.py), the one in its Makefile; `tree` is then where its source is and `described` what git calls it.
    `called` is its name for people where that is none of these.
    """

    series: str
    version: str
    entry: Path
    tree: Path | None = None
    described: str | None = None
    called: str = ""

    @property
    def source(self) -> Path:
        return self.tree or self.entry / "source"

    @property
    def build(self) -> Path:
        """Where modules can be built against it."""
        return (self.entry / "build").resolve()

    @property
    def binary(self) -> Path:
        return self.entry / "linux" if self.tree else self.build / "linux"

    @property
    def name(self) -> str:
        """For people and recordings: where it comes from."""
        if self.called:
            return self.called
        if not self.tree:
            return f"linux-source {self.version}"
        return f"{self.tree} {self.described or self.version}"

    @property
    def modroot(self) -> Path:
        """Holds lib/modules/RELEASE, for modprobe -d."""
        return self.entry / "modroot"


def obtain(series: str | None, progress: Progress, refresh: bool = False) -> Kernel:
    """The kernel of `series` (by default DEFAULT), built if it is not in the cache.

    With `refresh` the newest package of the series is asked for even when an
    older one is built already.
    """
    series = _checked(series)
    built_by = compiler.get(progress)
    hashed = identity(asked(series), built_by)
    built = None if refresh else _newest("kernels", series, hashed)
    if built:
        return built
    plain = unpacked(series, progress, refresh)
    kernel = Kernel(series, plain.version, _place("kernels") / f"{plain.version}-{hashed}")
    with cache.entry(kernel.entry, progress) as is_new:
        if is_new:
            make(kernel, plain, asked(series), built_by, progress)
    return kernel


def unpacked(series: str | None, progress: Progress, refresh: bool = False, more: tuple[str, ...] = ()) -> Kernel:
    """The source of `series` alone, of which kernels are built: nothing of what is returned is compiled.

    With `more` wildcards as in FILES it is a source of its own, for what is not User Mode Linux.
    """
    series = _checked(series)
    hashed = _files_hash(more)
    found = None if refresh else _newest("sources", series, hashed)
    if found:
        return found
    source = find_source(series, progress)
    kernel = Kernel(series, source.version, _place("sources") / f"{source.version}-{hashed}")
    with cache.entry(kernel.entry, progress) as is_new:
        if is_new:
            cache.require_space(kernel.entry, _SOURCE_MIB, f"unpacking kernel {series}")
            _unpack(kernel, source, more, progress)
            source.release()
    return kernel


def _checked(series: str | None) -> str:
    if series and not re.fullmatch(r"[0-9]+\.[0-9]+", series):
        raise LabError(f"kernel {series}", "not a series such as 6.1", "Use 6.1, 6.12, 7.2 or 7.3, or a directory.")
    return series or DEFAULT


def patterns() -> list[str]:
    """Of the files that the lab needs of a kernel's source: wildcards below its top, where * also matches /."""
    return [line for line in FILES.read_text(encoding="ascii").splitlines() if line and not line.startswith("#")]


def asked(series: str, more: str = "") -> Asked:
    """What the lab asks of a kernel of `series`, with `more` options in the same form."""
    return configuration.read(f"{CONFIG.read_text(encoding='ascii')}\n{more}", series)


def make(kernel: Kernel, plain: Kernel, wanted: Asked, built_by: Compiler, progress: Progress) -> None:
    """Build a kernel from the source of `plain` into its entry of the cache."""
    toolchain.require(f"building kernel {kernel.series}")
    cache.require_space(kernel.entry, _SPACE_MIB, f"building kernel {kernel.version}")
    kernel.source.symlink_to(os.path.relpath(plain.source, kernel.entry))
    _build(kernel, wanted, built_by.environment(), progress)
    _make_movable(kernel)
    _trim(kernel)


def _place(kind: str) -> Path:
    path = cache.root() / kind
    path.mkdir(exist_ok=True)
    return path


def _files_hash(more: tuple[str, ...] = ()) -> str:
    return cache.digest([FILES.read_bytes(), *(pattern.encode() for pattern in more)])


def identity(wanted: Asked, built_by: Compiler) -> str:
    """A name for what a kernel is made of besides its source."""
    return cache.digest((wanted.text().encode(), FILES.read_bytes(), built_by.name.encode()))


def _version_key(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"[0-9]+", version)]


def _newest(kind: str, series: str, hashed: str) -> Kernel | None:
    """Of the entries of the cache, all made of the same files and options, that of the newest version."""
    found = [
        Kernel(series, entry.name.removesuffix(f"-{hashed}"), entry)
        for entry in _place(kind).glob(f"{series}.*-{hashed}")
        if cache.is_complete(entry)
    ]
    return max(found, key=lambda kernel: _version_key(kernel.version)) if found else None


def _unpack(kernel: Kernel, source: Source, more: tuple[str, ...], progress: Progress) -> None:
    """Only what FILES names: an eighth of the files, a fifth of the space; and `more`."""
    what = f"unpacking kernel {kernel.version}"
    progress.begin(what)
    kernel.source.mkdir()
    wanted = [f"linux-source-{kernel.series}/{pattern}" for pattern in (*patterns(), *more)]
    with source.open_tarball() as tarball:
        tar = subprocess.run(
            ["tar", "-x", "--use-compress-program=xz -d -T0", "--strip-components=1", "--wildcards"]
            + ["--no-same-owner", "-C", str(kernel.source), "-f", "-", *wanted],
            stdin=tarball,
            stderr=subprocess.PIPE,
            text=True,
            env=toolchain.environment(),
            check=False,
        )
    # A pattern that this version has no file for is no error: the patterns serve all of them.
    real = [
        line
        for line in tar.stderr.splitlines()
        if not line.endswith(("Not found in archive", "failure status due to previous errors"))
    ]
    if real or not (kernel.source / "Makefile").exists():
        why = "\n  ".join(real[:4]) or "the archive holds no kernel source"
        raise LabError(what, why, "Free disk space if it is full, then try again.")
    progress.end()


def configure(what: str, make: list[str], build: Path, wanted: Asked, log: Path, extra: dict[str, str]) -> None:
    """Write a kernel's .config into `build`; `make` is the command up to its target."""
    given = build / "asked.config"
    given.write_text(wanted.text(), encoding="ascii")
    toolchain.run_logged(what, [*make, "allnoconfig"], log, extra=extra | {"KCONFIG_ALLCONFIG": str(given)})


def _build(kernel: Kernel, wanted: Asked, places: dict[str, str], progress: Progress) -> None:
    kind = kernel.entry.parent.name.partition("-")[2]
    what = " ".join(("building kernel", kernel.version, *([kind] if kind else [])))
    log = kernel.entry / "build.log"
    kernel.build.mkdir()
    configure(
        what, ["make", "-C", str(kernel.source), f"O={kernel.build}", "ARCH=um"], kernel.build, wanted, log, places
    )
    wanted.require(what, (kernel.build / ".config").read_text(encoding="utf-8"))
    progress.begin(what)
    make = ["make", "-C", str(kernel.build), "ARCH=um", f"-j{toolchain.jobs()}"]
    toolchain.run_logged(what, make + ["linux", "modules"], log, progress, LINES, places)
    toolchain.run_logged(what, make + [f"INSTALL_MOD_PATH={kernel.modroot}", "modules_install"], log, extra=places)
    progress.end()


def _make_movable(kernel: Kernel) -> None:
    """Name source and build relative to the Makefile itself, so that a cache may be copied to another place."""
    makefile = kernel.build / "Makefile"
    text = makefile.read_text(encoding="utf-8")
    for path in (kernel.source, kernel.source.resolve()):
        text = text.replace(str(path), "$(lab_build)/../source")
    text = text.replace(str(kernel.build), "$(lab_build)")
    here = "lab_build := $(patsubst %/,%,$(dir $(realpath $(lastword $(MAKEFILE_LIST)))))\n"
    makefile.write_text(here + text, encoding="utf-8")


def _trim(kernel: Kernel) -> None:
    """Objects are not needed any more: external modules build from headers, scripts and Module.symvers."""
    for directory, _, names in os.walk(kernel.build):
        if Path(directory).is_relative_to(kernel.build / "scripts"):
            continue
        for name in names:
            if name.endswith((".o", ".a", ".o.cmd", ".ko", ".mod", ".mod.c")):
                os.unlink(os.path.join(directory, name))
    for link in kernel.modroot.glob("lib/modules/*/build"), kernel.modroot.glob("lib/modules/*/source"):
        for path in link:
            path.unlink()
    shutil.rmtree(kernel.build / "tools", ignore_errors=True)
