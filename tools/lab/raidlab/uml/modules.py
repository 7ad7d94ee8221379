# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds for a guest besides the kernel: out-of-tree modules, init, and the library that is preloaded into the kernel.

Nothing is built in the checkout: the sources are copied into the cache, to a directory with their digest as name.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from raidlab.array import profile
from raidlab.base import cache, toolchain
from raidlab.base.failure import LabError
from raidlab.base.progress import Progress
from raidlab.kernel import linux
from raidlab.kernel.linux import Kernel
from raidlab.userland import compiler

_KEEP = 6  # number of builds of one module, newest first; older ones are built again if needed
_PRODUCTS = (".o", ".ko", ".mod", ".mod.c", ".cmd", ".order", ".symvers", ".a", ".d")


@dataclass(frozen=True)
class Module:
    """A module to build. `kbuild` becomes the file Kbuild at the top of the build; `sources` are copied below it under
    their names. `words` are arguments of make. `options` of Linux and `folder`, a directory of headers, are passed to the
    compiler."""

    name: str
    kbuild: Path
    sources: tuple[Path, ...]
    product: str
    words: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    folder: Path | None = None


_GUEST = cache.LAB / "guest"
_PROGRAM_SOURCES = {
    "init": (_GUEST / "init.c", _GUEST / "init-request.c", _GUEST / "init-command.c"),
    "hostcalls.so": (_GUEST / "hostcalls.c",),
    "profile-keys": (cache.MODELS / "host" / "keys" / "profile-keys.c", *cache.model_files(".c")),
}
_PROGRAM_FLAGS: dict[str, list[str]] = {
    "init": ["-static"],
    "hostcalls.so": ["-shared", "-fPIC"],
    "profile-keys": [f"-I{cache.MODELS}"],
}

_MODEL_PARTS = tuple(cache.MODELS / part for part in (*cache.MODEL_PARTS, "host/uml"))
RAIDLAB = Module("raidlab", cache.MODELS / "Kbuild", _MODEL_PARTS, "raidlab.ko")
RAIDTRACE = Module("raidtrace", cache.CHECKOUT / "Kbuild", (cache.CHECKOUT / "kmod",), "kmod/raidtrace.ko")


@dataclass(frozen=True)
class Built:
    path: Path
    warnings: tuple[str, ...]
    log: Path


def exists(module: Module) -> bool:
    return module.kbuild.exists()


def build(module: Module, kernel: Kernel, progress: Progress) -> Built:
    """The module for `kernel`, and all warnings of its build with W=1."""
    if not exists(module):
        raise LabError(
            f"building {module.name}",
            f"{module.kbuild} is not there",
            "Run raidctl lab from a complete checkout.",
        )
    files = _files(module)
    words = [word.encode() for word in (*module.words, *module.options)]
    name = f"{module.name}-{cache.digest(_content(files) + words)}"
    entry = kernel.entry / "modules" / name
    with cache.entry(entry, progress) as is_new:
        cache.hold(entry)
        if is_new:
            with cache.locked(kernel.build.parent, progress) if kernel.tree else contextlib.nullcontext():
                _compile(module, files, kernel, entry, progress)
    cache.keep_newest(entry, module.name, _KEEP)
    log = entry / "build.log"
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    warnings = tuple(line for line in lines if "warning:" in line.lower())
    return Built(entry / "src" / module.product, warnings, log)


def _files(module: Module) -> dict[str, Path]:
    """Name in the build directory -> source file."""
    files = {"Kbuild": module.kbuild}
    for source in module.sources:
        top = module.kbuild.parent if source.is_relative_to(module.kbuild.parent) else source.parent
        for directory, subdirectories, names in os.walk(source):
            subdirectories[:] = [name for name in subdirectories if not name.startswith(".")]
            for name in names:
                path = Path(directory, name)
                if not name.startswith(".") and not name.endswith(_PRODUCTS):
                    files[str(path.relative_to(top))] = path
    return files


def _content(files: dict[str, Path]) -> list[bytes]:
    parts = []
    for name in sorted(files):
        parts += [name.encode(), files[name].read_bytes()]
    return parts


def _compile(module: Module, files: dict[str, Path], kernel: Kernel, entry: Path, progress: Progress) -> None:
    source = entry / "src"
    for name, path in files.items():
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    what = f"building {module.name} for {kernel.version}"
    progress.begin(what)
    # Build like distributions, regardless of the kernel's optimization.
    flags = " ".join(["-O2", *(f"-D{option}" for option in module.options)])
    if module.folder:
        flags += f" -I{module.folder.resolve()}"
    make = [
        "make",
        "-C",
        str(kernel.build),
        "ARCH=um",
        f"M={source}",
        "W=1",
        f"KCFLAGS={flags}",
        f"-j{toolchain.jobs()}",
        *module.words,
    ]
    # In 6.1, User Mode Linux has this option only if it is set explicitly.
    if "CONFIG_UBSAN=y\n" in (kernel.build / ".config").read_text(encoding="utf-8"):
        make.append("UBSAN_SANITIZE=y")
    toolchain.run_logged(what, make + ["modules"], entry / "build.log", extra=compiler.get(progress).environment())
    progress.end()
    if not (source / module.product).exists():
        raise LabError(what, f"the build made no {module.product}", f"The whole log: {entry}/build.log")


@dataclass(frozen=True)
class Programs:
    """Built programs: the guest's init, the library that is preloaded into the kernel, the list of the model's keys."""

    entry: Path

    @property
    def init(self) -> Path:
        return self.entry / "init"

    @property
    def preload(self) -> Path:
        return self.entry / "hostcalls.so"

    def model(self) -> profile.Model:
        program = self.entry / "profile-keys"
        result = subprocess.run([program], capture_output=True, text=True, check=True)
        return profile.parse_model(result.stdout, program)


def _program_content() -> list[bytes]:
    sources = [name for names in _PROGRAM_SOURCES.values() for name in names]
    headers = [_GUEST / "init.h", *cache.model_files(".h")]
    return [path.read_bytes() for path in sources + headers]


def installed_programs() -> Path:
    """The programs of the package raidtrace-lab-kernel, if they were built from these sources."""
    return cache.INSTALLED / f"programs-{cache.digest(_program_content())}"


def build_programs(progress: Progress) -> Programs:
    """Build the programs, unless they are installed or in the cache."""
    if installed_programs().exists():
        return Programs(installed_programs())
    content = _program_content()
    built_by = compiler.get(progress)
    entry = cache.root() / f"programs-{cache.digest(content + [built_by.name.encode()])}"
    with cache.entry(entry, progress) as is_new:
        cache.hold(entry)
        if is_new:
            for name, names in _PROGRAM_SOURCES.items():
                files = [str(source) for source in names]
                command = ["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", *_PROGRAM_FLAGS[name], "-o"]
                words = [*command, str(entry / name), *files]
                toolchain.run_logged(f"building {name}", words, entry / "build.log", extra=built_by.environment())
    cache.keep_newest(entry, "programs", _KEEP)
    return Programs(entry)


# Linux's drivers of the simulated devices, as modules of a lab kernel.
#
# The driver of the 3ware controller is built with the kernel. Drivers of other devices are built when a guest first has
# such a device, from the unchanged source of the same kernel. So the kernel is the same file with and without them.


@dataclass(frozen=True)
class Build:
    """`folder` is relative to the top of the kernel's source, `words` are arguments of make, `products` are the modules in
    loading order. `options` of Linux are set only for the compiler: the kernel's configuration lacks them."""

    folder: str
    words: tuple[str, ...]
    products: tuple[str, ...]
    options: tuple[str, ...] = ()


_BUILDS = {
    "ahci": (
        Build(
            "drivers/ata",
            ("CONFIG_ATA=m", "CONFIG_SATA_HOST=y", "CONFIG_SATA_AHCI=m"),
            ("libata.ko", "libahci.ko", "ahci.ko"),
            ("CONFIG_ATA_MODULE=1", "CONFIG_SATA_HOST=1", "CONFIG_ATA_VERBOSE_ERROR=1", "CONFIG_SATA_MOBILE_LPM_POLICY=0"),
        ),
    ),
    "nvme": (Build("drivers/nvme/host", ("CONFIG_NVME_CORE=m", "CONFIG_BLK_DEV_NVME=m"), ("nvme-core.ko", "nvme.ko")),),
    "virtio-blk": (
        Build(
            "drivers/virtio",
            ("CONFIG_VIRTIO_PCI=m", "CONFIG_VIRTIO_PCI_LIB=m"),
            ("virtio_pci_modern_dev.ko", "virtio_pci.ko"),
        ),
        Build("drivers/block", ("CONFIG_VIRTIO_BLK=m", "CONFIG_BLK_DEV_LOOP=n", "CONFIG_BLK_DEV_NULL_BLK=n"),
              ("virtio_blk.ko",)),
    ),
}  # fmt: skip


def names() -> list[str]:
    """The names of all drivers that are built as separate modules."""
    return list(_BUILDS)


def modules_of(name: str, kernel: Kernel, progress: Progress) -> list[Path]:
    """The modules of the driver `name`, in loading order; built if they do not exist."""
    if name == profile.DRIVER:
        return [kernel.driver]
    if kernel.source.exists():
        linux.add_driver_files(kernel, progress)
    return [path for build in _BUILDS[name] for path in _built(name, build, kernel, progress)]


def _built(name: str, made_by: Build, kernel: Kernel, progress: Progress) -> list[Path]:
    product = made_by.products[-1]
    # The kernel of the package raidtrace-lab-kernel has no source, but these modules.
    installed = (
        [] if kernel.source.exists() else sorted(kernel.entry.glob(f"modules/{Path(product).stem}-*/src/{product}"))
    )
    if installed:
        return [installed[0].with_name(name) for name in made_by.products]
    folder = kernel.source / made_by.folder
    makefile = folder / "Makefile"
    if not makefile.exists():
        raise LabError(f"driver {name}", f"{folder} is not there", "Use a kernel source that has the driver.")
    # Name the original folder, because some sources include headers of a directory next to it, which is not copied.
    module = Module(Path(product).stem, makefile, (folder,), product, made_by.words, made_by.options, folder)
    built = build(module, kernel, progress)  # ignore the warnings: they are the kernel's
    return [built.path.with_name(product) for product in made_by.products]
