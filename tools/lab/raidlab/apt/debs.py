# SPDX-License-Identifier: GPL-2.0-or-later
"""Download Debian packages with apt and unpack them with dpkg into the cache directory, without root.

apt gets an empty package database and its own lists, so the packages installed on this machine have no effect.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import time
from collections.abc import Iterable, Sequence

from raidlab.apt import sources_list
from raidlab.base import cache
from raidlab.base.failure import LabError
from raidlab.base.progress import Progress

LIST_AGE_S = 86400
PART = re.compile(r"([0-9]+)")


class Apt:
    """One set of package lists. `suites` are taken from the mirrors that apt is configured with. Empty: the configured
    sources, and all other suites that these mirrors are known to have."""

    def __init__(self, name: str, suites: Sequence[str], progress: Progress) -> None:
        self._base = cache.root() / "vm" / "apt" / name
        self._progress = progress
        for directory in ("lists/partial", "cache/archives/partial", "sources", "state"):
            (self._base / directory).mkdir(parents=True, exist_ok=True)
        with cache.locked(self._base, progress):
            self._write_sources(suites)
            self._update()

    def _write_sources(self, suites: Sequence[str]) -> None:
        sources = self._base / "sources"
        for old in sources.iterdir():
            old.unlink()
        lines = sources_list.suites(suites) if suites else sources_list.other_suites()
        if not suites:
            configured = pathlib.Path("/etc/apt")
            for path in (configured / "sources.list", *(configured / "sources.list.d").glob("*")):
                if path.is_file():
                    (sources / path.name).symlink_to(path)
        (sources / "raidtrace.list").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def run(self, program: str, *words: str, cwd: pathlib.Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run a program of apt on these lists."""
        settings = {
            "APT::Sandbox::User": "root",
            "APT::Architecture": "amd64",
            "APT::Architectures": "amd64",
            "APT::Install-Recommends": "false",
            "Acquire::Languages": "none",
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
            "Dir::State": str(self._base / "state"),
            "Dir::State::status": "/dev/null",
            "Dir::State::lists": str(self._base / "lists"),
            "Dir::Cache": str(self._base / "cache"),
            "Dir::Etc::sourcelist": "/dev/null",
            "Dir::Etc::sourceparts": str(self._base / "sources"),
            "Dir::Etc::preferencesparts": "/dev/null",
        }
        options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
        return subprocess.run([program, "-q", *options, *words], capture_output=True, text=True, check=False, cwd=cwd,
                              env=os.environ | {"LC_ALL": "C"})  # fmt: skip

    def _update(self) -> None:
        stamp = self._base / "updated"
        if stamp.exists() and time.time() - stamp.stat().st_mtime < LIST_AGE_S:
            return
        self._progress.report(f"fetching package lists for {self._base.name}")
        updated = self.run("apt-get", "update")  # a mirror may lack a suite; a missing package is reported later
        if self.run("apt-cache", "pkgnames", "linux-image-").stdout:
            stamp.touch()
        else:
            raise LabError(
                f"fetching package lists for {self._base.name}", last_error(updated.stderr), "Check the network."
            )

    def newest(self, pattern: str) -> tuple[str, str]:
        """Name and version of the newest available package whose whole name matches; ("", "") if there is none."""
        fixed = re.split(r"[\\(\[]", pattern)[0]
        names = self.run("apt-cache", "pkgnames", fixed).stdout.split()
        offered = []
        matching = [name for name in names if re.fullmatch(pattern, name)]
        for line in self.run("apt-cache", "madison", *matching).stdout.splitlines() if matching else ():
            name, version, _ = (field.strip() for field in line.split("|", 2))
            offered.append((version_key(version), name, version))
        return max(offered)[1:] if offered else ("", "")

    def versions(self, names: Sequence[str]) -> dict[str, list[str]]:
        """Name -> available versions, the newest first."""
        offered: dict[str, list[str]] = {}
        for line in self.run("apt-cache", "madison", *names).stdout.splitlines():
            name, version, _ = (field.strip() for field in line.split("|", 2))
            offered.setdefault(name, []).append(version)
        return offered

    def depends(self, name: str) -> list[str]:
        """The names of a package's dependencies; of alternatives, the first."""
        shown = self.run("apt-cache", "show", "--no-all-versions", name).stdout
        match = re.search(r"^Depends: (.*)$", shown, re.MULTILINE)
        return [re.split(r"[ |(:]", part.strip())[0] for part in match[1].split(",")] if match else []

    def download(self, names: Iterable[str], into: pathlib.Path) -> list[pathlib.Path]:
        """Fetch packages; `name` or `name=version`."""
        into.mkdir(parents=True, exist_ok=True)
        packages = list(names)
        done = self.run("apt-get", "download", *packages, cwd=into)
        if done.returncode:
            raise LabError(f"downloading {' '.join(packages)}", last_error(done.stderr), "Check the network.")
        return sorted(into.glob("*.deb"))

    def closure(self, names: Iterable[str], release: str) -> list[pathlib.Path]:
        """Fetch packages and all their dependencies, preferably from the suite `release`."""
        archives = self._base / "cache" / "archives"
        for old in archives.glob("*.deb"):
            old.unlink()
        done = self.run("apt-get", "-y", "-t", release, "--download-only", "install", *names)
        if done.returncode:
            raise LabError(f"getting packages of {release}", last_error(done.stderr), "Check the network.")
        return sorted(archives.glob("*.deb"))

    def forget(self) -> None:
        """Remove downloaded packages."""
        for old in (self._base / "cache" / "archives").glob("*.deb"):
            old.unlink()


def version_key(version: str) -> list[tuple[int, int | str]]:
    """A sort key with dpkg's order, for the versions of kernels: digits compare as numbers, `~` sorts before the end."""
    key: list[tuple[int, int | str]] = []
    for part in PART.split(version):
        if part.isdigit():
            key.append((2, int(part)))
        else:
            key += [(0, "~") if sign == "~" else (3, sign) for sign in part]
    return [*key, (1, "")]


def last_error(text: str) -> str:
    """The first error line of apt, otherwise its last line."""
    lines = [line for line in text.splitlines() if line.startswith("E:")]
    return (lines or text.splitlines()[-1:] or ["apt ended without a message"])[0]


def unpack(package: pathlib.Path, into: pathlib.Path, without: Sequence[str] = ()) -> None:
    """Unpack the files of a package, except those that match one of tar's patterns."""
    into.mkdir(parents=True, exist_ok=True)
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE) as archive:
        # Where /lib is a link to /usr/lib, a package's files in /lib are unpacked to /usr/lib, as on an installed system.
        words = ["tar", "-x", "-C", str(into), "--keep-directory-symlink", "--no-same-owner"]
        words += [f"--exclude={pattern}" for pattern in without]
        tar = subprocess.run(words, stdin=archive.stdout, stderr=subprocess.PIPE, check=False, text=True)
    if tar.returncode or archive.returncode:
        raise LabError(f"unpacking {package.name}", tar.stderr.strip() or "dpkg-deb failed", "Is the disk full?")
