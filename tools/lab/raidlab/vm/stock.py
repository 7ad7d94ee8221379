# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's own kernels: image, modules and headers of a series, unpacked in the cache directory."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
import time
from dataclasses import dataclass

from raidlab.apt import debs
from raidlab.base import cache
from raidlab.base.failure import LabError
from raidlab.base.progress import Progress
from raidlab.vm import root
from raidlab.vm.boot import Kernel

SERIES = ("6.1", "6.12", "7.2")
# Kernels built for a later Debian need a compiler that the build root (root.py) does not have.
NEWEST_DEBIAN = 13
# Drivers of hardware that no guest has: two thirds of a package.
WITHOUT = tuple(
    f"*/kernel/{directory}"
    for directory in (
        "sound", "drivers/gpu", "drivers/media", "drivers/infiniband", "drivers/iio", "drivers/usb/gadget",
        "drivers/staging", "drivers/net/wireless", "drivers/net/ethernet", "drivers/platform", "drivers/hid",
        "drivers/input", "drivers/bluetooth", "net/bluetooth", "net/wireless", "net/mac80211", "drivers/comedi",
    )
)  # fmt: skip


@dataclass(frozen=True)
class Stock:
    """One kernel package set, unpacked below `entry`. `compiler` is what Debian built it with, e.g. gcc-12."""

    series: str
    version: str
    kernel: Kernel
    entry: pathlib.Path
    headers: pathlib.Path
    compiler: str


def release_pattern(series: str) -> str:
    """A pattern for the releases of a series in package names, such as 6.1.0-56-amd64 or 7.2.12+deb13-amd64."""
    debian = "|".join(str(number) for number in range(12, NEWEST_DEBIAN + 1))
    return rf"({re.escape(series)}\.[0-9]+(?:-[0-9]+|\+deb(?:{debian})(?:\.[0-9]+)*)-amd64)"


def _newest(series: str, progress: Progress) -> tuple[str, str]:
    """Image package and version of the newest kernel of a series; asks apt once a day."""
    memory = cache.root() / "vm" / f"newest-{series}"
    with cache.locked(memory, progress):
        if memory.exists() and time.time() - memory.stat().st_mtime < debs.LIST_AGE_S:
            image, _, version = memory.read_text(encoding="ascii").partition(" ")
            return image, version
        apt = debs.Apt("kernels", (), progress)
        image, version = apt.newest(rf"linux-image-{release_pattern(series)}(?:-unsigned)?")
        if not image:
            raise LabError(
                f"stock kernel {series}",
                "no mirror that apt is configured with offers its package",
                "Other series: " + ", ".join(name for name in SERIES if name != series),
            )
        memory.write_text(f"{image} {version}", encoding="ascii")
        return image, version


def get(series: str, progress: Progress) -> Stock:
    """The newest available kernel of a series, downloaded unless the cache has it."""
    image, version = _newest(series, progress)
    match = re.search(release_pattern(series), image)
    assert match is not None
    release = match[1]
    entry = cache.root() / "vm" / "kernels" / f"{release}_{version.replace(':', '%3a')}"
    with cache.entry(entry, progress) as is_new:
        if is_new:
            cache.require_space(cache.root(), 1500, f"unpacking {image}")
            _fetch(debs.Apt("kernels", (), progress), release, image, version, entry, progress)
    return _found(series, release, version, entry)


def _fetch(apt: debs.Apt, release: str, image: str, version: str, entry: pathlib.Path, progress: Progress) -> None:
    progress.report(f"fetching Debian's {release}")
    names = {f"{image}={version}", f"linux-headers-{release}"}
    for package in (image, f"linux-headers-{release}"):
        # Newer kernels have a split image. The headers are always split, and their programs are in another package.
        parts = [
            name for name in apt.depends(package) if re.match(r"linux-(base|binary|modules|headers|kbuild)-", name)
        ]
        names.update(parts)
    work = entry / "packages"
    for package_file in apt.download(sorted(names), work):
        debs.unpack(package_file, entry, WITHOUT)
    shutil.rmtree(work)
    if not (entry / "lib").exists():
        (entry / "lib").symlink_to("usr/lib")
    # The headers' top Makefile contains the path where the package would be installed.
    makefile = entry / "usr/src" / f"linux-headers-{release}" / "Makefile"
    makefile.write_text(
        makefile.read_text(encoding="utf-8").replace("/usr/src/", f"{entry}/usr/src/"), encoding="utf-8"
    )
    done = subprocess.run(["/sbin/depmod", "-b", str(entry), release], capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(f"indexing the modules of {release}", done.stderr.strip(), "Is the disk full?")


def _found(series: str, release: str, version: str, entry: pathlib.Path) -> Stock:
    headers = entry / "usr/src" / f"linux-headers-{release}"
    compiler = ""
    for path in (headers / ".config", headers / "include/config/auto.conf"):
        if path.exists():
            match = re.search(
                r'^CONFIG_CC_VERSION_TEXT="\S*?(gcc-[0-9]+)', path.read_text(encoding="utf-8"), re.MULTILINE
            )
            compiler = match[1] if match else ""
            break
    modules = entry / "lib/modules" / release
    image = next(path for path in (modules / "vmlinuz", entry / "boot" / f"vmlinuz-{release}") if path.exists())
    kernel = Kernel(release, image, modules)
    return Stock(series, version, kernel, entry, headers, compiler or "gcc")


# Modules for a stock kernel, built against Debian's headers with Debian's compiler.

PRODUCTS = ("*.o", "*.ko", "*.mod", "*.mod.c", "*.cmd", ".*", "*.order", "*.symvers", "*.a", "*.d")


@dataclass(frozen=True)
class Built:
    """A module and the compiler's output."""

    module: pathlib.Path
    warnings: tuple[str, ...]
    log: pathlib.Path


@dataclass(frozen=True)
class Module:
    """Sources by their names in the build directory, and the products."""

    name: str
    files: dict[str, pathlib.Path]
    product: str


def below(top: pathlib.Path, directory: pathlib.Path) -> dict[str, pathlib.Path]:
    """Sources of a directory, with names relative to `top`."""
    files = (path for path in sorted(directory.rglob("*")) if path.is_file())
    return {str(path.relative_to(top)): path for path in files if not any(path.match(what) for what in PRODUCTS)}


def raidtrace() -> Module:
    """The module of this checkout."""
    files = {"Kbuild": cache.CHECKOUT / "Kbuild", **below(cache.CHECKOUT, cache.CHECKOUT / "kmod")}
    return Module("raidtrace", files, "kmod/raidtrace.ko")


def build(stock: Stock, progress: Progress, module: Module | None = None) -> Built:
    """A module (default: raidtrace.ko) for `stock`; built with W=1 unless the cache has it."""
    module = module or raidtrace()
    parts = [part for name, path in module.files.items() for part in (name.encode(), path.read_bytes())]
    entry = stock.entry / "modules" / f"{module.name}-{cache.digest(parts)}"
    log = entry / "build.log"
    with cache.entry(entry, progress) as is_new:
        if is_new:
            for name, path in module.files.items():
                target = entry / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
            progress.begin(f"building {module.name}.ko for {stock.kernel.release}")
            _make(stock, entry, module, progress)
            progress.end()
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return Built(entry / module.product, tuple(line for line in lines if "warning:" in line.lower()), log)


def _make(stock: Stock, entry: pathlib.Path, module: Module, progress: Progress) -> None:
    # BTF of a module needs the vmlinux of its kernel, and nothing here reads BTF.
    words = ["make", "-C", str(stock.headers), f"M={entry}", "W=1", "CONFIG_DEBUG_INFO_BTF_MODULES="]
    if shutil.which(stock.compiler) is None:
        words.append(f"CC=x86_64-linux-gnu-{stock.compiler}")
        command = root.get(progress).command([*words, "modules"], [cache.root()])
    else:
        words.append(f"CC={stock.compiler}")
        command = [*words, "modules"]
    log = entry / "build.log"
    with open(log, "wb") as output:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False)
    if done.returncode or not (entry / module.product).exists():
        tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-12:]
        raise LabError(
            f"building {module.name}.ko for {stock.kernel.release}",
            "the build failed:\n    " + "\n    ".join(tail),
            f"The whole log: {log}",
        )
