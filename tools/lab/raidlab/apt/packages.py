# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's kernel source packages: list the available ones and download one without root."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from raidlab.apt import sources_list
from raidlab.base import cache
from raidlab.base.failure import LabError
from raidlab.base.progress import Progress

_INSTALLED = "/usr/src/linux-source-{series}.tar.xz"
_LIST_AGE_S = 86400


@dataclass(frozen=True)
class Source:
    """A kernel source package on this machine: an installed tarball, or the package itself."""

    series: str
    version: str
    path: Path

    def release(self) -> None:
        """Remove a downloaded package that is no longer needed. An installed tarball stays."""
        if self.path.suffix == ".deb":
            self.path.unlink(missing_ok=True)

    @contextmanager
    def open_tarball(self) -> Iterator[IO[bytes]]:
        """The compressed tarball as a stream."""
        if self.path.suffix != ".deb":
            with open(self.path, "rb") as tarball:
                yield tarball
            return
        member = f"./usr/src/linux-source-{self.series}.tar.xz"
        with subprocess.Popen(
            ["dpkg-deb", "--fsys-tarfile", str(self.path)], stdout=subprocess.PIPE
        ) as package, subprocess.Popen(["tar", "-xO", member], stdin=package.stdout, stdout=subprocess.PIPE) as tar:
            assert tar.stdout is not None
            yield tar.stdout


@dataclass(frozen=True)
class _Apt:
    """One set of package lists: the system's (no options), or a private one in the cache."""

    options: tuple[str, ...] = ()

    def run(self, program: str, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        options = [word for option in self.options for word in ("-o", option)]
        try:
            return subprocess.run(
                [program, "-q", "-o", "APT::Sandbox::User=root", *options, *words],
                capture_output=True,
                text=True,
                check=False,
                cwd=cwd,
                env=os.environ | {"LC_ALL": "C"},
            )
        except FileNotFoundError:
            raise LabError(
                "finding a kernel",
                f"{program} is not installed",
                "The lab builds its kernel from Debian's packages: use a Debian system, or a container of one.",
            ) from None

    def offered(self) -> dict[str, str]:
        """series -> newest version of its source package."""
        names = self.run("apt-cache", "pkgnames", "linux-source-").stdout.split()
        packages = [name for name in names if re.fullmatch(r"linux-source-[0-9]+\.[0-9]+", name)]
        versions: dict[str, str] = {}
        if packages:
            for line in self.run("apt-cache", "madison", *packages).stdout.splitlines():
                name, version, _ = (field.strip() for field in line.split("|", 2))
                # madison lists the newest first
                versions.setdefault(name.removeprefix("linux-source-"), version)
        return versions


def find_source(series: str, progress: Progress) -> Source:
    """The newest source package of `series`: installed, from the configured sources, or from derived ones."""
    installed = Path(_INSTALLED.format(series=series))
    if installed.exists():
        query = ["dpkg-query", "-W", "-f", "${Version}", f"linux-source-{series}"]
        result = subprocess.run(query, capture_output=True, text=True, check=False)
        return Source(series, result.stdout or series, installed)
    offered: dict[str, str] = {}
    # Make each kind of lists only if the previous one did not have the package.
    for kind in ("system", "configured", "derived"):
        apt = _Apt() if kind == "system" else _private(kind == "derived", progress)
        versions = apt.offered()
        offered |= versions
        if series in versions:
            package = _download(apt, series, versions[series], progress)
            if package:
                return Source(series, versions[series], package)
    if series in offered:
        why = f"linux-source-{series} {offered[series]} could not be downloaded"
        todo = f"Try again, or install it as root: apt-get install linux-source-{series}"
    else:
        why = "not offered by the configured apt sources nor by other suites of their mirrors"
        todo = f"Offered are: {', '.join(sorted(offered, key=_series_key)) or 'none; is there a network?'}"
    raise LabError(f"kernel {series}", why, todo)


def _series_key(series: str) -> list[int]:
    return [int(number) for number in series.split(".")]


def _private(derived: bool, progress: Progress) -> _Apt:
    """Our own package lists: of the configured sources, or of other suites on the same mirrors."""
    base = cache.root() / "apt" / ("other-suites" if derived else "configured")
    (base / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    (base / "cache" / "archives" / "partial").mkdir(parents=True, exist_ok=True)
    options = [
        f"Dir::State::lists={base}/lists",
        f"Dir::Cache={base}/cache",
        "Acquire::Languages=none",
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
        "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false",
    ]
    lines = sources_list.other_suites() if derived else [str(entry) for entry in sources_list.configured()]
    if derived:
        if not lines and not sources_list.is_debian():
            raise sources_list.no_mirror()
        (base / "sources.list").write_text("\n".join(lines) + "\n", encoding="utf-8")
        options += [f"Dir::Etc::sourcelist={base}/sources.list", "Dir::Etc::sourceparts=-"]
    apt = _Apt(tuple(options))
    stamp = base / "updated"  # its time of change, and its contents: the sources
    age = _age_s(stamp)
    if age is None or age > _LIST_AGE_S or stamp.read_text(encoding="utf-8") != "\n".join(lines):
        progress.report("fetching package lists" + (" of other suites" if derived else ""))
        apt.run("apt-get", "update")  # partial success is enough; a missing package is reported later
        if apt.offered():
            stamp.write_text("\n".join(lines), encoding="utf-8")
    return apt


def _age_s(path: Path) -> float | None:
    try:
        return max(0.0, time.time() - path.stat().st_mtime)
    except FileNotFoundError:
        return None


def _download(apt: _Apt, series: str, version: str, progress: Progress) -> Path | None:
    """The package file in the cache; None when this set of lists cannot deliver it."""
    name = f"linux-source-{series}"
    directory = cache.root() / "packages"
    directory.mkdir(exist_ok=True)
    escaped = version.replace(":", "%3a")
    package = directory / f"{name}_{escaped}_all.deb"
    with cache.locked(package, progress):
        if package.exists():
            return package
        size = _size(apt, name, version)
        cache.require_space(directory, (size >> 20) + 50, f"downloading {name}")
        work = directory / f".{name}.partial"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        progress.begin(f"downloading {name} {version} ({size >> 20} MiB)")
        done = threading.Event()
        watcher = threading.Thread(target=_watch, args=(work, size, progress, done))
        watcher.start()
        result = apt.run("apt-get", "download", f"{name}={version}", cwd=work)
        done.set()
        watcher.join()
        progress.end()
        files = list(work.glob("*.deb"))
        if result.returncode or not files:
            progress.report(f"downloading {name}: {_last_line(result.stderr)}")
            return None
        files[0].rename(package)
        shutil.rmtree(work, ignore_errors=True)
        return package


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.startswith("E:")]
    return (lines or text.splitlines() or ["apt-get failed without a message"])[0]


def _size(apt: _Apt, name: str, version: str) -> int:
    """The size of the package in bytes; a typical size if apt does not know it."""
    shown = apt.run("apt-cache", "show", f"{name}={version}").stdout
    match = re.search(r"^Size: ([0-9]+)$", shown, re.MULTILINE)
    return int(match[1]) if match else 170 << 20


def _watch(directory: Path, size: int, progress: Progress, done: threading.Event) -> None:
    while not done.wait(0.3):
        have = 0
        for path in directory.rglob("*"):
            try:
                have += path.stat().st_size
            except FileNotFoundError:
                pass
        progress.update(have / size)
