# SPDX-License-Identifier: GPL-2.0-or-later
"""Directories and files of results. A maker leaves its mark there; nothing without the mark is emptied or replaced."""

import os
import pathlib
import shutil
from collections.abc import Iterable, Sequence

MARK = ".made-by"


class ResultsError(OSError):
    """A directory or file that is not ours, or cannot be written; the text says which and what to do."""


def fresh(directory: pathlib.Path, maker: str) -> None:
    """Make an empty directory for results of `maker`. One that it made before is emptied, one that holds anything else is
    refused and left as it is."""
    obsolete = _judged(directory, maker)
    for name in obsolete:
        path = directory / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif name != MARK:  # until the end it is there, so that after a kill the directory is still known
            path.unlink()
    _mark(directory, maker)


def without(directory: pathlib.Path, maker: str, names: Sequence[str]) -> None:
    """Make a directory in which there is nothing of these names: `maker` is going to write them. Those that it made before are
    removed, those of others refused. All else stays."""
    obsolete = _judged(directory, maker, names)
    for name in obsolete:
        (directory / name).unlink()
    _mark(directory, maker)


def _judged(directory: pathlib.Path, maker: str, names: Sequence[str] = ()) -> list[str]:
    """The names that exist in the directory, of all or of some. ResultsError: they exist, and the directory lacks the mark."""
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
    """Write a file whole or not at all. Returns its size. A file that is there is replaced if it has the mark in its first
    `within` bytes, and otherwise refused. what: a word for such a file; option: names another one."""
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
