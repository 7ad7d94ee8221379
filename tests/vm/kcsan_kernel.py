# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's 6.12 with the kernel's sanitizer of data races, built for x86-64 and kept in the cache."""

from __future__ import annotations

import pathlib

from raidlab.base import cache, toolchain
from raidlab.base.progress import Progress
from raidlab.kernel import configuration, linux
from raidlab.vm import boot, stock

SERIES = "6.12"
CONFIG = pathlib.Path(__file__).with_name("kcsan.config")
# What x86-64 compiles and User Mode Linux does not, as wildcards of kernel-files.
SOURCES = (
    "drivers/acpi/*", "drivers/clocksource/*", "drivers/cpufreq/*", "drivers/cpuidle/*", "drivers/firmware/*",
    "drivers/idle/*", "drivers/input/*", "drivers/pnp/*", "drivers/power/*", "drivers/rtc/*", "drivers/thermal/*",
    "drivers/video/*", "net/9p/*", "net/ipv4/*", "tools/arch/x86/*", "tools/lib/*", "tools/objtool/*",
)  # fmt: skip
SPACE_MIB = 600
LINES = 1500  # of make's output, about


def get(progress: Progress) -> stock.Stock:
    """The kernel, built unless the cache has it."""
    source = linux.unpacked(SERIES, progress, more=SOURCES)
    requested = configuration.read(CONFIG.read_text(encoding="ascii"), SERIES)
    version = toolchain.first_line("gcc", "--version")
    key = cache.digest((str(source.source).encode(), requested.text().encode(), version.encode()))
    entry = cache.root() / "vm" / "kcsan" / f"{source.version}-{key}"
    with cache.entry(entry, progress) as is_new:
        if is_new:
            _build(source, requested, entry, progress)
    modules = next((entry / "lib/modules").iterdir())
    kernel = boot.Kernel(modules.name, entry / "build/arch/x86/boot/bzImage", modules)
    return stock.Stock(SERIES, source.version, kernel, entry, entry / "build", "gcc")


def _build(source: linux.Kernel, requested: configuration.Requested, entry: pathlib.Path, progress: Progress) -> None:
    what = f"building kernel {source.version} with KCSAN"
    toolchain.require(what)
    cache.require_space(entry, SPACE_MIB, what)
    build, log = entry / "build", entry / "build.log"
    build.mkdir()
    make = ["make", "-C", str(source.source), f"O={build}", "ARCH=x86_64"]
    linux.configure(what, make, build, requested, log, {})
    requested.require(what, (build / ".config").read_text(encoding="utf-8"))
    progress.begin(what)
    toolchain.run_logged(what, [*make, f"-j{toolchain.jobs()}", "bzImage", "modules"], log, progress, LINES)
    toolchain.run_logged(what, [*make, f"INSTALL_MOD_PATH={entry}", "DEPMOD=true", "modules_install"], log)
    progress.end()
    for path in build.rglob("*.o"):  # a module is built from headers, programs of scripts/ and Module.symvers
        if "scripts" not in path.parts and "tools" not in path.parts:
            path.unlink()
    release = next((entry / "lib/modules").iterdir()).name
    toolchain.run_logged(f"indexing the modules of {release}", ["/sbin/depmod", "-b", str(entry), release], log)
