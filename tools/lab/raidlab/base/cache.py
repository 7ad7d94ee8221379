# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's cache directory: paths of its entries, locks for builds, and marks of complete entries."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from raidlab.base.failure import LabError
from raidlab.base.progress import Progress

LAB = Path(__file__).resolve().parents[2]
CHECKOUT = LAB.parent.parent
MODELS = CHECKOUT / "tools" / "models"  # the simulated devices, in C
# Parts of the models that need no host.
MODEL_PARTS = ("base", "media", "3w-9xxx", "ahci", "nvme", "virtio-blk", "host/kinds")

# Files of the package raidtrace-lab-kernel (packaging/lab-kernel): kernel, modules and guest programs, laid out as in the
# cache.
INSTALLED = CHECKOUT / "lab-kernel"

_COMPLETE = "complete"
_held: list[int] = []  # open directories, until this process ends


def model_files(suffix: str) -> list[Path]:
    """Sources (".c") or headers (".h") of the models that need no host, sorted."""
    return sorted(path for part in MODEL_PARTS for path in (MODELS / part).rglob(f"*{suffix}"))


def root() -> Path:
    """The cache directory; created if it is missing."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    path = Path(home).absolute() / "raidtrace"
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(
            "no cache directory",
            f"{path}: {error.strerror}",
            "Name a writable directory: export XDG_CACHE_HOME=DIR",
        ) from None
    return path.resolve()


def digest(parts: Iterable[bytes]) -> str:
    """A name for some content: 12 hexadecimal digits."""
    state = hashlib.sha256()
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.hexdigest()[:12]


def is_complete(path: Path) -> bool:
    return (path / _COMPLETE).exists()


def used(path: Path) -> None:
    """Record that a complete entry is in use, for last_used()."""
    with contextlib.suppress(OSError):  # the cache may belong to another user
        os.utime(path / _COMPLETE)


def last_used(path: Path) -> float:
    """The time of last use of a complete entry, otherwise the time of its last change, in seconds since 1970."""
    mark = path / _COMPLETE
    return (mark if mark.exists() else path).stat().st_mtime


@contextmanager
def locked(path: Path, progress: Progress) -> Iterator[None]:
    """Hold the lock that belongs to `path`. Other processes wait for it and show the holder's progress."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = os.open(path.parent / f".{path.name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        if not _take(lock):
            progress.wait_for(path.name, lock, lambda: _take(lock))
        with progress.published(lock):
            yield
    finally:
        os.close(lock)


def _take(lock: int) -> bool:
    """Take a lock if it is free. Returns whether this process holds it now."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def entry(path: Path, progress: Progress, resume: bool = False) -> Iterator[bool]:
    """An entry of the cache, created if it is missing. Yields whether the caller must fill `path` now.

    The entry becomes valid when the caller's block ends without an exception. A kernel's build directory contains its own
    absolute path, so entries are not renamed: they are filled in place and marked as complete at the end. With `resume`, an
    interrupted block's files stay in `path`, and the caller continues from them.
    """
    if is_complete(path):
        used(path)
        yield False
        return
    with locked(path, progress):
        is_new = not is_complete(path)
        if is_new:
            if not resume:
                discard(path)
            path.mkdir(parents=True, exist_ok=resume)
        yield is_new
        (path / _COMPLETE).touch()


def discard(path: Path) -> None:
    """Remove an entry. The mark is removed first, so that nobody uses a partly removed entry."""
    (path / _COMPLETE).unlink(missing_ok=True)
    shutil.rmtree(path, ignore_errors=True)


def hold(path: Path) -> None:
    """Prevent other processes from removing an entry while this process runs, because a guest uses it."""
    locked = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(locked, fcntl.LOCK_SH)
    _held.append(locked)


def forget(path: Path) -> bool:
    """Remove an entry unless a process holds it. Returns whether it was removed."""
    try:
        there = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(there, fcntl.LOCK_EX | fcntl.LOCK_NB)
        discard(path)
        return True
    except BlockingIOError:
        return False
    finally:
        os.close(there)


def keep_newest(keep: Path, name: str, count: int) -> None:
    """Record that `keep` is in use. Then remove the entries NAME-... next to it that have been unused for longest.
    Installed entries stay."""
    if keep.is_relative_to(INSTALLED):
        return
    os.utime(keep)
    entries = [path for path in keep.parent.glob(f"{name}-*") if path != keep]
    entries.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for entry in entries[count - 1 :]:
        forget(entry)


def require_space(path: Path, mebibytes: int, what: str) -> None:
    status = os.statvfs(path)
    free = status.f_bavail * status.f_frsize >> 20
    if free < mebibytes:
        raise LabError(
            what,
            f"{path} has {free} MiB free, {mebibytes} are needed",
            "Free some space, or name another directory: export XDG_CACHE_HOME=DIR",
        )
