# SPDX-License-Identifier: GPL-2.0-or-later
"""raidtrace.ko for a stock kernel, built against Debian's headers with the compiler that Debian used."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
from dataclasses import dataclass

import cache
from failure import LabError
from progress import Progress
from vm import root
from vm.stock import Stock

PRODUCTS = ("*.o", "*.ko", "*.mod", "*.mod.c", "*.cmd", ".*", "*.order", "*.symvers", "*.a", "*.d")
PRODUCT = "kmod/raidtrace.ko"


@dataclass(frozen=True)
class Built:
    """A module and what the compiler had to say about it."""

    module: pathlib.Path
    warnings: tuple[str, ...]
    log: pathlib.Path


def _sources() -> list[pathlib.Path]:
    found = [cache.CHECKOUT / "Kbuild"]
    for path in sorted((cache.CHECKOUT / "kmod").rglob("*")):
        if path.is_file() and not any(path.match(pattern) for pattern in PRODUCTS):
            found.append(path)
    return found


def build(stock: Stock, progress: Progress) -> Built:
    """raidtrace.ko for `stock`, built with W=1 outside the checkout unless the cache has it."""
    sources = _sources()
    parts = [part for path in sources for part in (str(path.relative_to(cache.CHECKOUT)).encode(), path.read_bytes())]
    entry = stock.entry / "modules" / f"raidtrace-{cache.digest(parts)}"
    log = entry / "build.log"
    with cache.entry(entry, progress) as is_new:
        if is_new:
            for path in sources:
                target = entry / path.relative_to(cache.CHECKOUT)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
            progress.begin(f"building raidtrace.ko for {stock.kernel.release}")
            _make(stock, entry, log, progress)
            progress.end()
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return Built(entry / PRODUCT, tuple(line for line in lines if "warning:" in line.lower()), log)


def _make(stock: Stock, entry: pathlib.Path, log: pathlib.Path, progress: Progress) -> None:
    # BTF of a module needs the vmlinux that it was built for; nothing here reads it.
    words = ["make", "-C", str(stock.headers), f"M={entry}", "W=1", "CONFIG_DEBUG_INFO_BTF_MODULES="]
    if shutil.which(stock.compiler) is None:
        words.append(f"CC=x86_64-linux-gnu-{stock.compiler}")
        command = root.get(progress).command([*words, "modules"], [cache.root()])
    else:
        words.append(f"CC={stock.compiler}")
        command = [*words, "modules"]
    with open(log, "wb") as output:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False)
    if done.returncode or not (entry / PRODUCT).exists():
        tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-12:]
        raise LabError(
            f"building raidtrace.ko for {stock.kernel.release}",
            "the build failed:\n    " + "\n    ".join(tail),
            f"The whole log: {log}",
        )
