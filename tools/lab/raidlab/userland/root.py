# SPDX-License-Identifier: GPL-2.0-or-later
"""The root of a guest: programs of the lab that are the same on each host, instead of the host's programs.

root.lock lists Debian packages with versions and digests. They are unpacked into the cache, not installed: none of their
scripts runs, and root is not needed. If the archive has only another version, it is used and reported.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

from raidlab.apt import debs
from raidlab.base import cache
from raidlab.base.failure import LabError
from raidlab.base.progress import Progress

LOCK = Path(__file__).with_name("root.lock")
_RECIPE = "1"  # version of the steps below; a new one causes all hosts to unpack again
_WITHOUT = ("./usr/share/doc/*", "./usr/share/man/*", "./usr/share/locale/*", "./usr/share/info/*")
_MERGED = ("bin", "sbin", "lib", "lib64")
_DIRECTORIES = ("proc", "dev", "sys", "run", "tmp", "lab", "raidtrace", "etc", "root")
_FILES = {"etc/passwd": "root:x:0:0:root:/root:/bin/sh\n", "etc/group": "root:x:0:\n"}
_LINKS = {"usr/bin/sh": "dash", "usr/bin/awk": "gawk"}  # links that the packages' scripts would create
_SPACE_MIB = 350
_NOT_LOCKED = "not-locked"  # lists packages with another version than the lock's


@dataclass(frozen=True)
class Package:
    """A line of the lock; `digest` is the SHA-256 of the .deb."""

    name: str
    version: str
    digest: str


@dataclass(frozen=True)
class Root:
    """An unpacked root. `name` identifies its contents: the lock's digest, with a + if the archive had other versions."""

    path: Path
    name: str

    def put_init(self, init: Path) -> str:
        """Copy `init` into the root and return its path in the guest. Its name has its digest, because other checkouts
        share the root."""
        content = init.read_bytes()
        name = f"lab/init-{cache.digest((content,))}"
        if not (self.path / name).exists():
            fresh = self.path / f"{name}.{os.getpid()}.{threading.get_ident()}"
            shutil.copy(init, fresh)
            fresh.replace(self.path / name)
        return f"/{name}"


def get(progress: Progress) -> Root:
    """The root of root.lock from the cache, unpacked if it does not exist."""
    text = LOCK.read_bytes()
    digest = cache.digest((text, _RECIPE.encode()))
    entry = cache.root() / f"root-{digest}"
    with cache.entry(entry, progress) as is_new:
        if is_new:
            cache.require_space(cache.root(), _SPACE_MIB, "unpacking the guest's root")
            _fill(entry, *read(text.decode()), progress)
    return Root(entry / "root", digest + mark(entry))


def mark(entry: Path) -> str:
    """Suffix for the name of a root or sysroot that has other versions than its lock."""
    return "+" if (entry / _NOT_LOCKED).exists() else ""


def read(text: str) -> tuple[str, list[Package]]:
    """Read suite and packages from a lock."""
    suite = re.search(r"^# suite: (\S+)$", text, re.MULTILINE)
    if not suite:
        raise LabError("the guest's root", f"{LOCK} names no suite", "Take it from the project again.")
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return suite[1], [Package(*words) for words in lines]


def _fill(entry: Path, suite: str, packages: list[Package], progress: Progress) -> None:
    got = download(entry, suite, packages, "(about 70 MiB, once)", progress)
    _make(entry / "root", got)
    shutil.rmtree(entry / "packages")


def download(entry: Path, suite: str, packages: list[Package], why: str, progress: Progress) -> list[Path]:
    """Download the packages of a lock into entry/packages. If the archive has only another version, it is used and
    reported. LabError if the archive has no version, or one with another digest."""
    apt = debs.Apt(f"{suite}-root", (suite,), progress)
    what = f"getting {len(packages)} packages for the guest's root"
    progress.report(f"{what} {why}")
    files = entry / "packages"
    offered = apt.versions([package.name for package in packages])
    others = []
    versions = []
    for package in packages:
        have = offered.get(package.name, [])
        if not have:
            raise LabError(what, f"{suite} offers no {package.name}", "Is a Debian mirror among apt's sources?")
        version = package.version if package.version in have else have[0]
        versions.append(f"{package.name}={version}")
        if version != package.version:
            others.append(f"{package.name} {version} instead of {package.version}")
    got = apt.download(versions, files)
    digests = {hashlib.sha256(path.read_bytes()).hexdigest() for path in got}
    altered = [one.name for one in packages if f"{one.name}={one.version}" in versions and one.digest not in digests]
    if altered:
        raise LabError(what, f"{', '.join(altered)}: the content differs from root.lock", "Is the mirror genuine?")
    if others:
        progress.report(
            f"not the versions of root.lock: {', '.join(others)}. Figures may differ from those of the documentation."
        )
        (entry / _NOT_LOCKED).write_text("".join(f"{line}\n" for line in others), encoding="utf-8")
    return got


def unpack(root: Path, packages: list[Path]) -> None:
    """Unpack the files of the packages, except documentation."""
    for package in packages:
        debs.unpack(package, root, _WITHOUT)


def _make(root: Path, packages: list[Path]) -> None:
    for name in _MERGED:
        (root / "usr" / name).mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(f"usr/{name}")
    for name in _DIRECTORIES:
        (root / name).mkdir(exist_ok=True)
    unpack(root, packages)
    for name, text in _FILES.items():
        (root / name).write_text(text, encoding="utf-8")
    for name, target in _LINKS.items():
        if not (root / name).exists():
            (root / name).symlink_to(target)
    # Use the root's own static ldconfig. The second cache that it writes contains inode numbers of the host.
    done = subprocess.run([root / "usr/sbin/ldconfig", "-r", root], capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError("making the guest's root", f"ldconfig: {done.stderr.strip()}", "Try again: raidctl lab build")
    shutil.rmtree(root / "var/cache/ldconfig", ignore_errors=True)
