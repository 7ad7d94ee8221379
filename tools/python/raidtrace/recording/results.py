# SPDX-License-Identifier: GPL-2.0-or-later
"""Directories and files of results. The program that makes one leaves a mark there. Nothing without the mark is emptied
or replaced."""

import os
import pathlib
import shutil
from collections.abc import Iterable, Sequence

MARK = ".made-by"


class ResultsError(OSError):
    """A directory or file that is not ours, or cannot be written. The text contains its name and the remedy."""


def fresh(directory: pathlib.Path, maker: str) -> None:
    """Make an empty directory for results of `maker`. A directory that it made before is emptied. Raises ResultsError
    if it contains files of others; then nothing changes."""
    obsolete = _judged(directory, maker)
    for name in obsolete:
        path = directory / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif name != MARK:  # removed last, so that the directory is still ours after a kill
            path.unlink()
    _mark(directory, maker)


def without(directory: pathlib.Path, maker: str, names: Sequence[str]) -> None:
    """Make a directory without files of these names, which `maker` is about to write. Other files stay.

    Files of these names that it made before are removed. Raises ResultsError if they belong to others."""
    obsolete = _judged(directory, maker, names)
    for name in obsolete:
        (directory / name).unlink()
    _mark(directory, maker)


def _judged(directory: pathlib.Path, maker: str, names: Sequence[str] = ()) -> list[str]:
    """The existing files of a directory, all or those in `names`. Raises ResultsError if there are some but no mark."""
    if directory.is_symlink() or (directory.exists() and not directory.is_dir()):
        raise ResultsError(f"{directory} is not a directory; name one with --out")
    names_there = sorted(path.name for path in directory.iterdir()) if directory.is_dir() else []
    names_there = [name for name in names_there if not names or name in names]
    mark = directory / MARK
    if names_there and (mark.is_symlink() or not mark.is_file() or mark.read_bytes() != f"{maker}\n".encode()):
        raise ResultsError(f"{directory} contains {names_there[0]}, but {maker} did not create this directory; "
                           "name another directory with --out, or empty this one")  # fmt: skip
    return names_there


def _mark(directory: pathlib.Path, maker: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / MARK).write_text(f"{maker}\n", encoding="utf-8")


def replace(path: pathlib.Path, parts: Iterable[bytes], mark: bytes, within: int, what: str, option: str) -> int:
    """Write a file completely or not at all. Returns its size in bytes.

    An existing file is replaced if it has the mark in its first `within` bytes. Otherwise ResultsError is raised. what:
    a word for such a file; option: the option that names another one."""
    if path.exists():
        if not path.is_file():
            raise ResultsError(f"{path} is not a regular file; name a file with {option}")
        with path.open("rb") as file:
            if mark not in file.read(within):
                raise ResultsError(f"{path} exists, but is not a {what}; name another file with {option}")
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with fresh.open("xb") as file:
            size = sum(file.write(part) for part in parts)
        fresh.replace(path)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        fresh.unlink(missing_ok=True)
    return size
