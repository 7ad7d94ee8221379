# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's kernels: User Mode Linux, built from Debian's source packages and kept in the cache."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from raidlab.apt.packages import Source, find_source
from raidlab.base import cache, toolchain
from raidlab.base.failure import LabError
from raidlab.base.progress import Progress
from raidlab.kernel import configuration
from raidlab.kernel.configuration import Requested
from raidlab.userland import compiler
from raidlab.userland.compiler import Compiler

HERE = Path(__file__).resolve().parent
CONFIG = HERE / "lab.config"
FILES = HERE / "kernel-files"
DRIVER_FILES = HERE / "driver-files"
DEFAULT = "6.1"  # on each host, because the documentation's figures were made with it
_SOURCE_MIB = 450  # package 170 MiB, source 250 MiB
_SPACE_MIB = 250  # objects need 150 MiB
LINES = 1150  # lines that make prints for the kernel, approximately; used only for the time left
MODULE_LINES = 330  # lines for all modules
# Modules that are built with the kernel: the controller's driver, because each guest with disks loads it, and KUnit,
# because the suites of raidtrace.ko need its symbols. add_modules() builds the others when a guest first requests a module.
DRIVER = "drivers/scsi/3w-9xxx.ko"
WITH_KERNEL = (DRIVER, "lib/kunit/kunit.ko")
# A constant number in the version string of a kernel, which may be built in several steps.
ENVIRONMENT = {"KBUILD_BUILD_VERSION": "1"}
_MODULES_COMPLETE = "modules-complete"


@dataclass(frozen=True)
class Kernel:
    """A built kernel. `series` is the user's name for it (6.1). `version` is that of the source package or, for a user's
    source tree (tree.py), that of its Makefile. `tree` is then the path of the source and `described` its name in git.
    `called` is its name for people if it differs from these."""

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
        """The directory for builds of modules."""
        return (self.entry / "build").resolve()

    @property
    def binary(self) -> Path:
        return self.entry / "linux" if self.tree else self.build / "linux"

    @property
    def name(self) -> str:
        """The name for people and recordings: the origin of the kernel."""
        if self.called:
            return self.called
        if not self.tree:
            return f"linux-source {self.version}"
        return f"{self.tree} {self.described or self.version}"

    @property
    def driver(self) -> Path:
        """The module with the controller's driver."""
        return self.entry / Path(DRIVER).name if self.tree else self.build / DRIVER

    @property
    def modroot(self) -> Path:
        """The directory with lib/modules/RELEASE, for modprobe -d. Empty until has_modules."""
        return self.entry / "modroot"

    @property
    def has_modules(self) -> bool:
        """Whether all modules of the configuration are in modroot."""
        return (self.entry / _MODULES_COMPLETE).exists()

    def set_has_modules(self) -> None:
        """Record that modroot is complete."""
        (self.entry / _MODULES_COMPLETE).touch()


def obtain(series: str | None, progress: Progress, refresh: bool = False, objects: bool = False) -> Kernel:
    """The kernel of `series` (default: DEFAULT), built unless it is installed or in the cache.

    With `refresh`, use the newest package of the series even if an older one is already built. With `objects`, the kernel
    has its objects and source.
    """
    series = _checked(series)
    ready = None if refresh or objects else _installed(series)
    if ready:
        return ready
    built_by = compiler.get(progress)
    built = None if refresh else kept(series, progress)
    if built:
        return built
    hashed = identity(requested_options(series), built_by)
    plain = unpacked(series, progress, refresh)
    kernel = Kernel(series, plain.version, _place("kernels") / f"{plain.version}-{hashed}")
    with cache.entry(kernel.entry, progress, resume=True) as is_new:
        if is_new:
            make(kernel, plain, requested_options(series), built_by, progress)
    return kernel


def _installed(series: str) -> Kernel | None:
    """The kernel of the package raidtrace-lab-kernel, if it has this series and configuration. It needs no compiler."""
    try:
        version, configured = (cache.INSTALLED / "kernel" / "of").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return None
    fits = version.startswith(f"{series}.") and configured == configuration_name(series)
    return Kernel(series, version, cache.INSTALLED / "kernel") if fits else None


def configuration_name(series: str) -> str:
    """A name for the options that the lab requests of a kernel of `series`."""
    return cache.digest((requested_options(series).text().encode(), FILES.read_bytes()))


def kept(series: str, progress: Progress) -> Kernel | None:
    """The newest kernel of `series` in the cache."""
    return _newest("kernels", series, identity(requested_options(series), compiler.get(progress)))


def unpacked(series: str | None, progress: Progress, refresh: bool = False, more: tuple[str, ...] = ()) -> Kernel:
    """The source of `series`. Nothing is compiled in the returned directory; kernels are built from it.

    With `more` wildcards, as in FILES, it is a separate source, for purposes other than User Mode Linux.
    """
    series = _checked(series)
    hashed = _files_hash(more)
    newest = None if refresh else _newest("sources", series, hashed)
    if newest:
        return newest
    source = find_source(series, progress)
    kernel = Kernel(series, source.version, _place("sources") / f"{source.version}-{hashed}")
    with cache.entry(kernel.entry, progress) as is_new:
        if is_new:
            cache.require_space(kernel.entry, _SOURCE_MIB, f"unpacking kernel {series}")
            kernel.source.mkdir()
            _unpack(kernel, source, (*patterns(), *more), progress)
            _driver_mark(kernel).touch()
            source.release()
    return kernel


def add_driver_files(kernel: Kernel, progress: Progress) -> None:
    """Add the drivers of DRIVER_FILES to the source of `kernel`, if they are missing. A user's source tree has them."""
    if kernel.tree or _driver_mark(kernel).exists():
        return
    what = f"unpacking the drivers of kernel {kernel.version}"
    with cache.locked(kernel.source.resolve().parent, progress):
        if _driver_mark(kernel).exists():
            return
        source = find_source(kernel.series, progress)
        if source.version != kernel.version:
            why = f"the package now offered has version {source.version}"
            raise LabError(what, why, "Build the newer kernel: raidctl lab build --refresh")
        _unpack(kernel, source, _listed(DRIVER_FILES), progress)
        _driver_mark(kernel).touch()
        source.release()


def _driver_mark(kernel: Kernel) -> Path:
    """This file exists if the files of DRIVER_FILES were unpacked."""
    return kernel.source.resolve().parent / f"driver-files-{cache.digest([DRIVER_FILES.read_bytes()])}"


def _checked(series: str | None) -> str:
    if series and not re.fullmatch(r"[0-9]+\.[0-9]+", series):
        raise LabError(f"kernel {series}", "not a series such as 6.1", "Use 6.1, 6.12, 7.2 or 7.3, or a directory.")
    return series or DEFAULT


def patterns() -> list[str]:
    """Wildcards for the files that the lab needs from a kernel's source, relative to its top; * also matches /."""
    return [*_listed(FILES), *_listed(DRIVER_FILES)]


def _listed(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="ascii").splitlines() if line and not line.startswith("#")]


def requested_options(series: str, more: str = "") -> Requested:
    """The options that the lab requests for a kernel of `series`, and `more` options in the same form."""
    return configuration.read(f"{CONFIG.read_text(encoding='ascii')}\n{more}", series)


def make(kernel: Kernel, plain: Kernel, requested: Requested, built_by: Compiler, progress: Progress) -> None:
    """Build a kernel from the source of `plain` into its entry of the cache. An interrupted build continues."""
    toolchain.require(f"building kernel {kernel.series}")
    cache.require_space(kernel.entry, _SPACE_MIB, f"building kernel {kernel.version}")
    if not kernel.source.is_symlink():
        kernel.source.symlink_to(os.path.relpath(plain.source, kernel.entry))
    kernel.modroot.mkdir(exist_ok=True)
    (kernel.entry / "build").mkdir(exist_ok=True)
    places = built_by.environment() | ENVIRONMENT
    what = f"building kernel {_title(kernel)}"
    log = kernel.entry / "build.log"
    configure(what, _make(kernel), kernel.build, requested, log, places)
    requested.require(what, (kernel.build / ".config").read_text(encoding="utf-8"))
    compile_kernel(what, _make(kernel), log, LINES, places, progress)
    _make_movable(kernel)


def compile_kernel(
    what: str, make: list[str], log: Path, lines: int, places: dict[str, str], progress: Progress
) -> None:
    """Build the kernel and its own modules. `make` is the command without targets."""
    progress.begin(what)
    toolchain.run_logged(what, [*make, "linux"], log, progress, lines, places)
    toolchain.run_logged(what, [*make, *WITH_KERNEL], log, extra=places)
    progress.end()


def add_modules(kernel: Kernel, built_by: Compiler, progress: Progress) -> None:
    """Build all modules of a kernel's configuration and install them into its modroot, unless they exist."""
    with cache.locked(kernel.entry, progress):
        if kernel.has_modules:
            return
        what, log = f"building the modules of kernel {_title(kernel)}", kernel.entry / "modules.log"
        install_modules(what, _make(kernel), log, kernel.modroot, built_by.environment() | ENVIRONMENT, progress)
        _make_movable(kernel)
        kernel.set_has_modules()


def install_modules(
    what: str, make: list[str], log: Path, modroot: Path, places: dict[str, str], progress: Progress
) -> None:
    """Build all modules and install them into `modroot`. `make` is the command without targets."""
    progress.begin(what)
    toolchain.run_logged(what, [*make, "modules"], log, progress, MODULE_LINES, places)
    toolchain.run_logged(what, [*make, f"INSTALL_MOD_PATH={modroot}", "modules_install"], log, extra=places)
    for directory in modroot.glob("lib/modules/*"):
        for link in ("build", "source"):
            (directory / link).unlink(missing_ok=True)
    progress.end()


def _make(kernel: Kernel) -> list[str]:
    """The command that builds in a kernel's entry. It starts in the source, because from the build directory the paths
    would differ."""
    return ["make", "-C", str(kernel.source.resolve()), f"O={kernel.build}", "ARCH=um", f"-j{toolchain.jobs()}"]


def _title(kernel: Kernel) -> str:
    """Version and variant, as a title."""
    kind = kernel.build.parents[1].name.partition("-")[2]
    return " ".join(filter(None, (kernel.version, kind)))


def _place(kind: str) -> Path:
    path = cache.root() / kind
    path.mkdir(exist_ok=True)
    return path


def _files_hash(more: tuple[str, ...] = ()) -> str:
    return cache.digest([FILES.read_bytes(), *(pattern.encode() for pattern in more)])


def identity(requested: Requested, built_by: Compiler) -> str:
    """A name for the options, files and compiler of a kernel."""
    return cache.digest((requested.text().encode(), FILES.read_bytes(), built_by.name.encode()))


def _version_key(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"[0-9]+", version)]


def _newest(kind: str, series: str, hashed: str) -> Kernel | None:
    """The kernel with the newest version among entries of the cache with the same files and options."""
    kernels = [
        Kernel(series, entry.name.removesuffix(f"-{hashed}"), entry)
        for entry in _place(kind).glob(f"{series}.*-{hashed}")
        if cache.is_complete(entry)
    ]
    if not kernels:
        return None
    newest = max(kernels, key=lambda kernel: _version_key(kernel.version))
    for entry in (newest.entry, newest.source.resolve().parent):
        cache.used(entry)
    return newest


def _unpack(kernel: Kernel, source: Source, files: Sequence[str], progress: Progress) -> None:
    """Unpack only `files`, wildcards relative to the top of the source: an eighth of all files, a fifth of the space."""
    what = f"unpacking kernel {kernel.version}"
    progress.begin(what)
    patterns = [f"linux-source-{kernel.series}/{pattern}" for pattern in files]
    with source.open_tarball() as tarball:
        tar = subprocess.run(
            ["tar", "-x", "--use-compress-program=xz -d -T0", "--strip-components=1", "--wildcards"]
            + ["--no-same-owner", "-C", str(kernel.source), "-f", "-", *patterns],
            stdin=tarball,
            stderr=subprocess.PIPE,
            text=True,
            env=toolchain.environment(),
            check=False,
        )
    # A pattern without a match is no error: the same patterns serve all versions.
    real = [
        line
        for line in tar.stderr.splitlines()
        if not line.endswith(("Not found in archive", "failure status due to previous errors"))
    ]
    if real or not (kernel.source / "Makefile").exists():
        why = "\n  ".join(real[:4]) or "the archive contains no kernel source"
        raise LabError(what, why, "Free disk space if it is full, then try again.")
    progress.end()


def configure(what: str, make: list[str], build: Path, requested: Requested, log: Path, extra: dict[str, str]) -> None:
    """Write a kernel's .config into `build`. `make` is the command without target."""
    given = build / "requested.config"
    given.write_text(requested.text(), encoding="ascii")
    toolchain.run_logged(what, [*make, "allnoconfig"], log, extra=extra | {"KCONFIG_ALLCONFIG": str(given)})


def _make_movable(kernel: Kernel) -> None:
    """Make the paths of source and build relative to the Makefile, so that the cache can be copied to another place."""
    makefile = kernel.build / "Makefile"
    text = makefile.read_text(encoding="utf-8")
    for path in (kernel.source, kernel.source.resolve()):
        text = text.replace(str(path), "$(lab_build)/../source")
    text = text.replace(str(kernel.build), "$(lab_build)")
    here = "lab_build := $(patsubst %/,%,$(dir $(realpath $(lastword $(MAKEFILE_LIST)))))\n"
    makefile.write_text(here + text, encoding="utf-8")


# Variants of the lab's kernels: the same source with additional configuration in lab-NAME.config.
#
# Comments of that file state further needs: `# boot:` words for the kernel's command line, `# memory:` MiB for the kernel
# itself, `# kernels:` the supported series. A variant a-b includes the configuration of a.


def variants() -> list[str]:
    """Names of all variants."""
    return sorted(path.stem.removeprefix("lab-") for path in HERE.glob("lab-*.config"))


@dataclass(frozen=True)
class Needs:
    """The needs of a variant of a kernel: words for its command line, memory, and real time instead of simulated time."""

    boot: tuple[str, ...] = ()
    memory_mib: int = 0
    real_time: bool = False


def needs(name: str) -> Needs:
    """The needs of the variant `name`; the default for the plain kernel."""
    if not name:
        return Needs()
    # A guest in simulated time has one processor, so several processors require real time.
    real_time = b"CONFIG_SMP=y" in _config(name)
    return Needs(tuple(_said(name, "boot")), sum(int(word) for word in _said(name, "memory")), real_time)


@dataclass(frozen=True)
class Added:
    """Configuration in addition to lab.config, for a kernel that is built as a tree: first a variant's, then a fragment of
    the user."""

    variant: str = ""
    fragment: str = ""

    def text(self, series: str) -> str:
        """Its lines for a kernel of this series."""
        if not self.variant:
            return self.fragment
        _check_series(self.variant, series)
        return b"".join(path.read_bytes() for path in _configs(self.variant)[1:]).decode() + self.fragment


NOTHING = Added()


def obtain_variant(name: str, plain: Kernel, progress: Progress) -> Kernel:
    """The variant of a kernel, from the cache or built from the source of `plain`. The plain kernel need not be built."""
    if not name:
        return plain
    if plain.tree:
        raise LabError(
            f"--variant {name}", f"{plain.tree} is your own source tree", "Use --variant with 6.1, 6.12, 7.2 or 7.3."
        )
    _check_series(name, plain.series)
    requested = configuration.read(_config(name).decode(), plain.series)
    built_by = compiler.get(progress)
    entry = cache.root() / f"kernels-{name}" / f"{plain.version}-{identity(requested, built_by)}"
    built = Kernel(plain.series, plain.version, entry)
    with cache.entry(entry, progress, resume=True) as is_new:
        if is_new:
            make(built, plain, requested, built_by, progress)
    return built


def _check_series(name: str, series: str) -> None:
    can = _said(name, "kernels")
    if can and series not in can:
        raise LabError(f"--variant {name}", f"Linux {series} does not support this variant", f"Use {' '.join(can)}.")


def _configs(name: str) -> list[Path]:
    words = name.split("-")
    return [CONFIG] + [HERE / f"lab-{'-'.join(words[: n + 1])}.config" for n in range(len(words))]


def _config(name: str) -> bytes:
    return b"".join(path.read_bytes() for path in _configs(name))


def _said(name: str, what: str) -> list[str]:
    """The words after `# WHAT:` in the configuration of a variant."""
    return " ".join(re.findall(rf"^# {what}: *(.*)$", _config(name).decode(), re.MULTILINE)).split()
