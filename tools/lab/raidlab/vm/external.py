# SPDX-License-Identifier: GPL-2.0-or-later
"""Modules for a stock kernel, built against Debian's headers with the compiler that Debian used."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
from dataclasses import dataclass

from raidlab.base import cache
from raidlab.base.failure import LabError
from raidlab.base.progress import Progress
from raidlab.vm import root
from raidlab.vm.stock import Stock

PRODUCTS = ("*.o", "*.ko", "*.mod", "*.mod.c", "*.cmd", ".*", "*.order", "*.symvers", "*.a", "*.d")


@dataclass(frozen=True)
class Built:
    """A module and what the compiler had to say about it."""

    module: pathlib.Path
    warnings: tuple[str, ...]
    log: pathlib.Path


@dataclass(frozen=True)
class Module:
    """Sources, by their names in the build directory, and what comes out of them."""

    name: str
    files: dict[str, pathlib.Path]
    product: str


def below(top: pathlib.Path, directory: pathlib.Path) -> dict[str, pathlib.Path]:
    """Sources of a directory, named as `top` sees them."""
    found = (path for path in sorted(directory.rglob("*")) if path.is_file())
    return {str(path.relative_to(top)): path for path in found if not any(path.match(what) for what in PRODUCTS)}


def raidtrace() -> Module:
    """The module of this checkout."""
    files = {"Kbuild": cache.CHECKOUT / "Kbuild", **below(cache.CHECKOUT, cache.CHECKOUT / "kmod")}
    return Module("raidtrace", files, "kmod/raidtrace.ko")


def build(stock: Stock, progress: Progress, module: Module | None = None) -> Built:
    """A module, raidtrace.ko unless told otherwise, for `stock`; built with W=1 unless the cache has it."""
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
    # BTF of a module needs the vmlinux that it was built for; nothing here reads it.
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
