# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's kernel: User Mode Linux built from Debian's source package, kept in the cache."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import cache
import toolchain
from failure import LabError
from packages import Source, default_series, find_source
from progress import Progress

_CONFIG = cache.LAB / "lab.config"
_PLAIN = ""
_FILES = cache.LAB / "kernel-files"
_SPACE_MIB = 700  # source 250, objects while building 200, package 170
_LINES = 1500  # of make's output, about; only the time left depends on it


@dataclass(frozen=True)
class Kernel:
    """A built kernel. `series` is what a user asks for (6.1), `version` the source package's."""

    series: str
    version: str
    entry: Path
    variant: str = _PLAIN

    @property
    def source(self) -> Path:
        return self.entry / "source"

    @property
    def build(self) -> Path:
        return self.entry / "build"

    @property
    def binary(self) -> Path:
        return self.build / "linux"

    @property
    def boot(self) -> list[str]:
        """Words that its variant adds to the command line."""
        return _variant_says(self.variant, "boot")

    @property
    def real_time(self) -> bool:
        """It has no simulated time: several processors and a leaping clock exclude each other."""
        return "smp" in self.variant

    @property
    def more_mib(self) -> int:
        """Memory that its variant needs for itself."""
        return sum(int(word) for word in _variant_says(self.variant, "memory"))

    @property
    def modroot(self) -> Path:
        """Holds lib/modules/RELEASE, for modprobe -d."""
        return self.entry / "modroot"


def variants() -> list[str]:
    """Kinds of kernel that there are beside the plain one: lab-NAME.config."""
    return sorted(path.stem.removeprefix("lab-") for path in cache.LAB.glob("lab-*.config"))


def _configs(variant: str) -> list[Path]:
    """Of the variant a-b: lab.config, lab-a.config and lab-a-b.config."""
    words = variant.split("-") if variant else []
    return [_CONFIG] + [cache.LAB / f"lab-{'-'.join(words[: n + 1])}.config" for n in range(len(words))]


def _variant_says(variant: str, what: str) -> list[str]:
    """Words behind `# WHAT:` in the configuration of a variant."""
    texts = [path.read_text(encoding="utf-8") for path in _configs(variant)]
    return " ".join(re.findall(rf"^# {what}: *(.*)$", "\n".join(texts), re.MULTILINE)).split()


def obtain_variant(variant: str, series: str | None, progress: Progress) -> Kernel:
    """The same kernel, from the same source, with the variant's configuration on top."""
    plain = obtain(series, progress)
    if not variant:
        return plain
    if variant not in variants():
        raise LabError(f"--variant {variant}", "there is none of this name", f"There are: {' '.join(variants())}.")
    wanted = _variant_says(variant, "kernels")
    if wanted and plain.series not in wanted:
        raise LabError(f"--variant {variant}", f"Linux {plain.series} cannot be built so", f"Use {' '.join(wanted)}.")
    name = f"{plain.version}-{_config_hash(variant)}"
    kernel = Kernel(plain.series, plain.version, cache.root() / f"kernels-{variant}" / name, variant)
    with cache.entry(kernel.entry, progress) as is_new:
        if is_new:
            kernel.source.symlink_to(os.path.relpath(plain.source, kernel.entry))
            _build(kernel, progress)
            _make_movable(kernel)
            _trim(kernel)
    return kernel


def obtain(series: str | None, progress: Progress, refresh: bool = False) -> Kernel:
    """The kernel of `series` (default: the release's own), built if it is not in the cache.

    With `refresh` the newest package of the series is asked for even when an
    older one is built already.
    """
    if series and not re.fullmatch(r"[0-9]+\.[0-9]+", series):
        raise LabError(f"kernel {series}", "not a series such as 6.1", "Use 6.1, 6.12 or 7.2.")
    series = series or default_series(progress)
    built = None if refresh else _newest_built(series)
    if built:
        return built
    toolchain.require(f"building kernel {series}")
    source = find_source(series, progress)
    kernel = Kernel(series, source.version, _kernels() / f"{source.version}-{_config_hash()}")
    with cache.entry(kernel.entry, progress) as is_new:
        if is_new:
            cache.require_space(_kernels(), _SPACE_MIB, f"building kernel {series}")
            _unpack(kernel, source, progress)
            _build(kernel, progress)
            _make_movable(kernel)
            _trim(kernel)
            source.release()
    return kernel


def _kernels() -> Path:
    path = cache.root() / "kernels"
    path.mkdir(exist_ok=True)
    return path


def _config(variant: str) -> bytes:
    return b"".join(path.read_bytes() for path in _configs(variant))


def _config_hash(variant: str = _PLAIN) -> str:
    inputs = (_config(variant), _FILES.read_bytes(), toolchain.compiler().encode())
    return cache.digest(inputs)


def _version_key(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"[0-9]+", version)]


def _newest_built(series: str) -> Kernel | None:
    suffix = f"-{_config_hash()}"
    found = [
        Kernel(series, entry.name.removesuffix(suffix), entry)
        for entry in _kernels().glob(f"{series}.*{suffix}")
        if cache.is_complete(entry)
    ]
    if not found:
        return None
    return max(found, key=lambda kernel: _version_key(kernel.version))


def _unpack(kernel: Kernel, source: Source, progress: Progress) -> None:
    """Only what _FILES names: an eighth of the files, a fifth of the space."""
    what = f"unpacking kernel {kernel.version}"
    progress.begin(what)
    kernel.source.mkdir()
    patterns = [
        f"linux-source-{kernel.series}/{line}"
        for line in _FILES.read_text(encoding="ascii").splitlines()
        if line and not line.startswith("#")
    ]
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


def _build(kernel: Kernel, progress: Progress) -> None:
    what = f"building kernel {kernel.version} {kernel.variant}".rstrip()
    log = kernel.entry / "build.log"
    config = kernel.entry / "config"
    config.write_bytes(_config(kernel.variant))
    kernel.build.mkdir()
    toolchain.run_logged(
        what,
        ["make", "-C", str(kernel.source), f"O={kernel.build}", "ARCH=um", "allnoconfig"],
        log,
        extra={"KCONFIG_ALLCONFIG": str(config)},
    )
    progress.begin(what)
    make = ["make", "-C", str(kernel.build), "ARCH=um", f"-j{toolchain.jobs()}"]
    toolchain.run_logged(what, make + ["linux", "modules"], log, progress, _LINES)
    toolchain.run_logged(what, make + [f"INSTALL_MOD_PATH={kernel.modroot}", "modules_install"], log)
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
