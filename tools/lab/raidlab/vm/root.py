# SPDX-License-Identifier: GPL-2.0-or-later
"""A small Debian 13 in the cache directory: a QEMU with vfio-user, gcc-14, and the packages that a module build needs.

The packages are unpacked, not installed: no maintainer script runs, and root is not needed. Programs run in it by chroot in
their own namespaces. QEMU, which must see the host's files, runs by the root's dynamic loader.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from raidlab.apt import debs
from raidlab.base import cache
from raidlab.base.failure import LabError
from raidlab.base.progress import Progress
from raidlab.vm.boot import Emulator

SUITE = "trixie"
SUITES = (SUITE, f"{SUITE}-backports")
PACKAGES = (
    "base-files", "bash", "binutils", "coreutils", "dash", "diffutils", "findutils", "gcc-14", "gcc-14-for-host",
    "gawk", "grep", "kmod", "libc6", "libelf1t64", "libssl3t64", "make", "pahole", "perl", "qemu-system-x86",
    "sed", "zlib1g",
)  # fmt: skip
LIBRARIES = ("usr/lib/x86_64-linux-gnu",)
VFIO_USER_SINCE = (10, 1)
ENTER = """
root=$1 count=$2; shift 2
mount --rbind /proc "$root/proc" && mount --rbind /dev "$root/dev" || exit 125
while [ "$count" -gt 0 ]; do
    mkdir -p "$root$1" && mount --bind "$1" "$root$1" || exit 125
    shift; count=$((count - 1))
done
exec chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin LC_ALL=C.UTF-8 "$@"
"""


@dataclass(frozen=True)
class Root:
    """An unpacked root at `path`."""

    path: pathlib.Path

    def command(self, words: Sequence[str], visible: Sequence[pathlib.Path]) -> list[str]:
        """The command that runs `words` in the root. The directories `visible` are those of the host."""
        become = [] if os.geteuid() == 0 else ["--map-root-user"]
        binds = [str(path) for path in visible]
        enter = ["unshare", "--mount", *become, "sh", "-c", ENTER, "enter", str(self.path), str(len(binds)), *binds]
        return [*enter, *words]

    def emulator(self) -> Emulator:
        """The root's QEMU, with access to the host's files."""
        libraries = ":".join(str(self.path / directory) for directory in LIBRARIES)
        loader = self.path / "usr/lib64/ld-linux-x86-64.so.2"
        words = [str(loader), "--library-path", libraries, str(self.path / "usr/bin/qemu-system-x86_64")]
        for directory in ("qemu", "seabios"):
            words += ["-L", str(self.path / "usr/share" / directory)]
        return Emulator(tuple(words), (("QEMU_MODULE_DIR", str(self.path / LIBRARIES[0] / "qemu")),))


def get(progress: Progress) -> Root:
    """The root from the cache, created if it does not exist."""
    entry = cache.root() / "vm" / f"root-{cache.digest(name.encode() for name in (*SUITES, *PACKAGES))}"
    with cache.entry(entry, progress) as is_new:
        if is_new:
            cache.require_space(cache.root(), 1000, f"unpacking a {SUITE} root")
            _unpack(entry, progress)
    return Root(entry)


def _unpack(entry: pathlib.Path, progress: Progress) -> None:
    apt = debs.Apt(SUITE, SUITES, progress)
    progress.report(f"fetching a {SUITE} root with QEMU and gcc-14 (about 100 MiB)")
    packages = apt.closure(PACKAGES, SUITES[-1])
    # The first package creates the links /bin, /lib ... to /usr, through which the others are unpacked.
    packages.sort(key=lambda path: not path.name.startswith("base-files_"))
    for package in packages:
        debs.unpack(package, entry, ("./usr/share/doc/*", "./usr/share/man/*", "./usr/share/locale/*"))
    apt.forget()
    (entry / "usr/bin/awk").symlink_to("gawk")  # link that update-alternatives would create
    for name in ("proc", "dev", "tmp"):
        (entry / name).mkdir(exist_ok=True)


def qemu_version(emulator: Emulator) -> tuple[int, int]:
    """Major and minor version; (0, 0) if it does not run."""
    done = subprocess.run([*emulator.words(), "--version"], capture_output=True, text=True, check=False)
    match = re.search(r"version ([0-9]+)\.([0-9]+)", done.stdout)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def vfio_user_emulator(progress: Progress) -> Emulator:
    """A QEMU that supports the simulated controller: the host's if it is new enough, otherwise the root's."""
    host = Emulator()
    if qemu_version(host) >= VFIO_USER_SINCE:
        return host
    emulator = get(progress).emulator()
    version = qemu_version(emulator)
    if version < VFIO_USER_SINCE:
        raise LabError(
            "the simulated 3ware in a virtual machine",
            f"vfio-user needs QEMU 10.1, but {SUITE} and its backports offer {version[0]}.{version[1]}",
            "virtio-scsi and scsi_debug work without it.",
        )
    return emulator
