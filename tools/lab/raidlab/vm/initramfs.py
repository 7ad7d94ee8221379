# SPDX-License-Identifier: GPL-2.0-or-later
"""The first user space of a guest: busybox, the modules that reach the host's files, and an order to run."""

from __future__ import annotations

import lzma
import pathlib
import shutil
import stat
import subprocess
from collections.abc import Iterable

from raidlab.base.failure import LabError

WANTED = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_console")
BUSYBOX = ("/bin/busybox", "/usr/bin/busybox")
GUEST_INIT = pathlib.Path(__file__).with_name("guest-init")
GUEST_SESSION = pathlib.Path(__file__).with_name("guest-session")


class Archive:
    """A cpio archive in the `newc` form that the kernel unpacks. Later archives may follow earlier ones."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._inode = 0

    def _entry(self, name: str, mode: int, data: bytes = b"") -> None:
        self._inode += 1
        path = name.encode() + b"\0"
        fields = (self._inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0)
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + path
        self._parts += [head, bytes(-len(head) % 4), data, bytes(-len(data) % 4)]

    def directory(self, name: str) -> None:
        """Add a directory, mode 0755."""
        self._entry(name, stat.S_IFDIR | 0o755)

    def file(self, name: str, data: bytes, mode: int = 0o755) -> None:
        """Add a regular file."""
        self._entry(name, stat.S_IFREG | mode, data)

    def bytes(self) -> bytes:
        """The archive, closed and padded so that another one may follow."""
        self._entry("TRAILER!!!", 0)
        whole = b"".join(self._parts)
        return whole + bytes(-len(whole) % 512)


def busybox() -> bytes:
    """A statically linked busybox of the host."""
    for path in map(pathlib.Path, BUSYBOX):
        if path.exists():
            return path.read_bytes()
    raise LabError(
        "making an initramfs", "no busybox here, the guest's first program", "apt-get install busybox-static"
    )


def _plain(module: pathlib.Path) -> bytes:
    """A module's object, uncompressed: busybox has no decompressor."""
    if module.suffix == ".xz":
        return lzma.decompress(module.read_bytes())
    if module.suffix == ".zst":
        program = shutil.which("zstd")
        if program is None:
            raise LabError("making an initramfs", f"{module.name} is compressed with zstd", "apt-get install zstd")
        return subprocess.run([program, "-dcq", str(module)], check=True, stdout=subprocess.PIPE).stdout
    return module.read_bytes()


def load_order(modules: pathlib.Path, wanted: Iterable[str]) -> list[pathlib.Path]:
    """Files of the named modules and of what they need, in the order to insert them.

    `modules` is a lib/modules/RELEASE with depmod's output. A name that is built in is left out.
    """
    needs: dict[str, list[str]] = {}
    for line in (modules / "modules.dep").read_text(encoding="utf-8").splitlines():
        path, _, rest = line.partition(":")
        needs[path] = rest.split()
    by_name = {pathlib.PurePath(path).name.split(".")[0].replace("-", "_"): path for path in needs}
    builtin = (modules / "modules.builtin").read_text(encoding="utf-8").split()
    inside = {pathlib.PurePath(path).stem.replace("-", "_") for path in builtin}
    order: list[str] = []
    for name in wanted:
        if name in inside:
            continue
        if name not in by_name:
            raise LabError(
                "making an initramfs", f"{modules} has no module {name}", "Only Debian's kernel packages boot here."
            )
        # modules.dep lists what is needed nearest first
        order += [path for path in (*reversed(needs[by_name[name]]), by_name[name]) if path not in order]
    return [modules / path for path in order]


def base(modules: pathlib.Path) -> bytes:
    """The part that depends on the kernel only."""
    archive = Archive()
    for name in ("bin", "dev", "proc", "sys", "modules", "host", "over", "newroot"):
        archive.directory(name)
    archive.file("bin/busybox", busybox())
    for number, module in enumerate(load_order(modules, WANTED)):
        archive.file(f"modules/{number:02}-{module.name.split('.')[0]}.ko", _plain(module), 0o644)
    return archive.bytes()


def order(session: str) -> bytes:
    """The part that depends on the run: what to do once the root is there (sh assignments and functions)."""
    archive = Archive()
    archive.file("init", GUEST_INIT.read_bytes())
    archive.file("session", GUEST_SESSION.read_bytes())
    archive.file("order", session.encode(), 0o644)
    return archive.bytes()
