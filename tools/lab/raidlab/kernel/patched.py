# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel without and with a change. The kernel without the change is the one that other guests of this series run. The
kernel with it is a source tree of the lab in the cache. This tree begins as a copy of the first, with objects, so that make
compiles only the differences. If the user names a source tree, both kernels are trees of the lab; nothing is written into
the user's tree. The objects stay, so a second patch compiles only its differences from the first."""

from __future__ import annotations

import filecmp
import fnmatch
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from raidlab.base import cache, toolchain
from raidlab.base.failure import LabError
from raidlab.base.progress import Progress
from raidlab.kernel import coverage, linux, tree
from raidlab.kernel.linux import NOTHING, Added, Kernel

_COMPILED = (".c", ".S")
_PROGRAMS = {"patch": "patch", "lsdiff": "patchutils", "filterdiff": "patchutils"}
_AT_ONCE = 500  # number of file names on a command line
_UNREADABLE = re.compile(r"^(rename (from|to)|copy (from|to)|GIT binary patch)", re.MULTILINE)

Changes = Mapping[str, Path | None]  # name below the top of the source -> path of the new file, None if it is removed


@dataclass(frozen=True)
class Pair:
    """Both kernels, and the files of the patches, by their names below the top of the source. `compiled` are compiled
    themselves. `included` are headers and other files that an unknown set of files includes. `elsewhere` are in none of the
    lab's kernels."""

    base: Kernel
    patched: Kernel
    compiled: tuple[str, ...]
    included: tuple[str, ...]
    elsewhere: tuple[str, ...]


def place(source: Path) -> Path:
    """The directory of the lab's trees that come from a source."""
    return cache.root() / "patched" / cache.digest([str(source).encode()])


def listed(patches: list[str], series: list[str]) -> list[Path]:
    """The patches of --patch, each a diff or a mailbox, then those in the directories of --series: in the order of the
    directory's file `series` (as in quilt), otherwise by name. LabError if one does not exist."""
    paths = [Path(name) for name in patches]
    for name in series:
        directory = Path(name)
        order = directory / "series"
        if order.is_file():
            lines = (line.partition("#")[0].split() for line in order.read_text(encoding="utf-8").splitlines())
            paths += [directory / words[0] for words in lines if words]
        else:
            paths += sorted(path for path in directory.glob("*") if path.suffix in (".patch", ".diff", ".mbox"))
    for path in paths:
        if not path.is_file():
            raise LabError(
                f"patch {path}", "no such file", "Name a diff, a mailbox or, by --series, a directory of them."
            )
    if series and not paths:
        raise LabError(
            f"--series {series[0]}", "no *.patch, *.diff, *.mbox in it", "Name the directory of the patches."
        )
    return paths


def obtain(base: str | None, patches: list[Path], progress: Progress, added: Added = NOTHING) -> Pair:
    """Build `base`, a series or the directory of a source tree, without and with the patches in their order."""
    what = f"applying {patches[0].name}" + (f" and {len(patches) - 1} more" if len(patches) > 1 else "")
    missing = sorted({package for program, package in _PROGRAMS.items() if not shutil.which(program)})
    if missing:
        raise LabError(what, f"missing: {' '.join(missing)}", "Install what the lab needs: tools/setup lab")
    toolchain.require(what)
    source, name = _source(base, progress)
    with tempfile.TemporaryDirectory(prefix="raidtrace-patch-") as overlay:
        changes, elsewhere = _applied(what, source, patches, Path(overlay))
        called = f"{name} with {' '.join(path.name for path in patches)}"
        kernel = _of_series(base, progress, added)
        return _built(source, changes, elsewhere, (name, called), progress, added, None, kernel)


def with_tree(base: str | None, directory: str, progress: Progress, added: Added = NOTHING) -> Pair:
    """Build `base` and the source tree `directory` in its current state. Without a base, build the tree's last commit and
    its current state."""
    what = f"--tree {directory}"
    toolchain.require(what)
    path = tree.checked(Path(directory))
    with tempfile.TemporaryDirectory(prefix="raidtrace-tree-") as temporary:
        if base:
            source, name = _source(base, progress)
        else:
            source, name = Path(temporary, "head"), f"{directory} HEAD"
            _export(what, path, "HEAD", _needed(_tracked(what, path, "HEAD")), source)
        before, after = set(_names(source)), set(_names(path))
        changes: dict[str, Path | None] = {
            one: path / one for one in sorted(after) if one not in before or not _same(source / one, path / one)
        }
        changes |= dict.fromkeys(sorted(before - after))
        if not changes:
            raise LabError(
                what, f"nothing differs from {name}", "Change a file that the lab compiles, or name a --kernel."
            )
        kernel = _of_series(base, progress, added) if base else None
        origin = None if base else path
        return _built(source, changes, [], (name, f"{directory} as it is"), progress, added, origin, kernel)


def configured(base: str | None, progress: Progress, some: Iterable[Added]) -> list[Kernel]:
    """Build `base` with each of these configurations. From the second on, make compiles only the effects of the options."""
    source, name = _source(base, progress)
    kept = place(source)
    kernels = []
    with _in_use(kept, progress):
        plain = kept / "base" / "linux"
        before: Added | None = None
        for added in some:
            kernel = _of_series(base, progress, Added(added.variant))
            if kernel and not added.fragment:
                kernels.append(kernel)
                continue
            if kernel:
                with cache.locked(kernel.entry, progress):
                    tree.begin_as(kernel.source.resolve(), kernel.build, plain, progress, added, unchanged=True)
            elif before:
                tree.begin(plain, plain, progress, before, added)
            else:
                _begin(plain, source, progress, added)
            differs = " ".join(word for word in (added.variant, added.fragment and "the fragment") if word)
            called = f"{name} with {differs}" if differs else name
            kernels.append(tree.obtain(plain, progress, called, added, _state(plain)))
            before = before or added
    return kernels


def between(directory: str, commits: str, progress: Progress, added: Added = NOTHING) -> Pair:
    """Build both ends of a range A..B of commits of a source tree, from git, independent of the checked out files."""
    what = f"--range {commits}"
    toolchain.require(what)
    path = tree.checked(Path(directory))
    ends = tree.ends(what, path, commits)
    both = (ends.first, ends.last)
    differ = _split(tree.git(what, path, "diff", "--name-only", "--no-renames", "-z", *both))
    before, after = (set(_needed(_tracked(what, path, end))) for end in both)
    needed = [name for name in differ if name in before | after]
    with tempfile.TemporaryDirectory(prefix="raidtrace-range-") as temporary:
        old, new = Path(temporary, "old"), Path(temporary, "new")
        _export(what, path, ends.first, sorted(before), old)
        _export(what, path, ends.last, [name for name in needed if name in after], new)
        changes = {name: new / name if name in after else None for name in needed}
        elsewhere = [name for name in differ if name not in before | after]
        first, last = (f"{directory} {name}" for name in ends.names)
        return _built(old, changes, elsewhere, (first, last), progress, added, path, None)


def telling(pair: Pair, progress: Progress, added: Added = NOTHING) -> tuple[Kernel, list[coverage.Line]]:
    """Build the changed kernel again with counters in the blocks of its changed files. Returns it, and the changed lines
    with code in it."""
    before, other = pair.base.source.resolve(), pair.patched.source
    third = other.parents[1] / "seen" / "linux"
    files = [name for name in pair.compiled if name.endswith(".c") and not name.startswith("arch/")]
    with cache.locked(other.parents[1], progress), tempfile.TemporaryDirectory(prefix="raidtrace-ran-") as overlay:
        tree.begin(other, third, progress, added, added)
        _bring(other, coverage.added(other, files, Path(overlay)), third)
        kernel = tree.obtain(third, progress, f"{pair.patched.called}, with coverage", added, _state(third))
    changed_lines = {name: coverage.changed(before / name, other / name) for name in files}
    return kernel, coverage.lines(kernel.binary, changed_lines)


def _tracked(what: str, path: Path, commit: str) -> list[str]:
    return _split(tree.git(what, path, "ls-tree", "-r", "--name-only", "-z", commit))


def _split(text: str) -> list[str]:
    return [name for name in text.split("\0") if name]


def _export(what: str, path: Path, commit: str, names: list[str], to: Path) -> None:
    """Write the files of a commit into a directory."""
    to.mkdir()
    for at in range(0, len(names), _AT_ONCE):
        some = [f":(literal){name}" for name in names[at : at + _AT_ONCE]]
        with subprocess.Popen(
            ["git", "-C", str(path), "archive", commit, "--", *some], stdout=subprocess.PIPE
        ) as archive:
            done = subprocess.run(["tar", "-x", "-C", str(to)], stdin=archive.stdout, check=False)
        if done.returncode or archive.returncode:
            raise LabError(what, f"git archive {commit[:12]} failed", f"Look at the repository: git -C {path} fsck")


def _built(
    source: Path,
    changes: Changes,
    elsewhere: list[str],
    names: tuple[str, str],
    progress: Progress,
    added: Added,
    origin: Path | None,
    kernel: Kernel | None,
) -> Pair:
    """Build both kernels. `names` are their names for people. Their trees stay in a directory named after `origin`
    (default: the source). The unchanged kernel is `kernel` if the cache has it."""
    kept = place(origin or source)
    with _in_use(kept, progress):
        plain, other = kept / "base" / "linux", kept / "with" / "linux"
        if kernel:
            unchanged = kernel
            with cache.locked(kernel.entry, progress):
                tree.begin_as(source, kernel.build, other, progress, added)
        else:
            _begin(plain, source, progress, added)
            unchanged = tree.obtain(plain, progress, names[0], added, _state(plain))
            tree.begin(plain, other, progress, added, added)
        _bring(source, changes, other)
        changed = tree.obtain(other, progress, names[1], added, _state(other))
    compiled = [path for path in changes if (changed.build / path).with_suffix(".o").exists()]
    rest = [path for path in changes if path not in compiled]
    return Pair(
        unchanged,
        changed,
        tuple(compiled),
        tuple(path for path in rest if not path.endswith(_COMPILED)),
        tuple(sorted({*elsewhere, *(path for path in rest if path.endswith(_COMPILED))})),
    )


@contextmanager
def _in_use(kept: Path, progress: Progress) -> Iterator[None]:
    """Hold the lock of a directory, and record that it is in use."""
    with cache.locked(kept, progress):
        kept.mkdir(exist_ok=True)
        os.utime(kept)
        yield


def _of_series(base: str | None, progress: Progress, added: Added) -> Kernel | None:
    """The kernel that other guests of a series run; built if it does not exist. None for a tree, and for additional options."""
    if added.fragment or (base and tree.is_directory(base)):
        return None
    return tree.pick(base, progress, kind=added.variant, objects=True)


def _begin(plain: Path, source: Path, progress: Progress, added: Added) -> None:
    """Give the tree `plain` the files of the source. A new tree begins as a copy of a built kernel with another source of
    the same series, or of the series' own kernel, so that only the differences are compiled."""
    if not plain.exists():
        for base in sorted(plain.parents[2].glob("*/base/linux"), key=os.path.getmtime, reverse=True):
            if tree.is_built(base, added, source, progress):
                with cache.locked(base.parents[1], progress):
                    tree.begin(base, plain, progress, added, added)
                break
        else:
            kernel = None if added.variant or added.fragment else linux.kept(tree.series_of(source), progress)
            if kernel:
                with cache.locked(kernel.entry, progress):
                    tree.begin_as(kernel.source.resolve(), kernel.build, plain, progress, added)
    _bring(source, {}, plain)


def _source(base: str | None, progress: Progress) -> tuple[Path, str]:
    """The path of the unpatched source, and its name for people."""
    if base and tree.is_directory(base):
        path = tree.checked(Path(base))
        return path, f"{base} {tree.describe(path) or ''}".strip()
    kernel = linux.unpacked(base, progress)
    return kernel.source.resolve(), kernel.name


def _applied(what: str, source: Path, patches: list[Path], overlay: Path) -> tuple[Changes, list[str]]:
    """Copy the files that the patches change to `overlay` and patch them there. Returns them, and the files that the lab's
    source lacks."""
    touched: dict[str, None] = {}
    elsewhere: dict[str, None] = {}
    for path in patches:
        files = _files(what, path)
        absent = {
            name for name, made in files.items() if not made and name not in touched and not _is_file(source, name)
        }
        elsewhere |= dict.fromkeys(sorted(absent))
        for name in files:
            if name not in absent and name not in touched:
                touched[name] = None
                (overlay / name).parent.mkdir(parents=True, exist_ok=True)
                if _is_file(source, name):
                    shutil.copy(source / name, overlay / name)
        if len(absent) < len(files):
            _patch(what, path, sorted(absent), overlay)
    if not touched:
        raise LabError(
            what,
            f"the lab's kernel has none of the files: {' '.join(elsewhere)}",
            "It contains only the files that it compiles: block, mm, fs, md, SCSI with 3w-9xxx "
            "(tools/lab/raidlab/kernel/kernel-files).",
        )
    return {name: overlay / name if (overlay / name).exists() else None for name in touched}, list(elsewhere)


def _files(what: str, path: Path) -> dict[str, bool]:
    """The files that a patch changes, and whether it creates them. LabError if the patch is invalid or names files outside
    of the source."""
    if _UNREADABLE.search(path.read_bytes().decode("utf-8", "replace")):
        raise LabError(
            what, f"{path} renames or copies files, or is binary", "Create it with: git diff --no-renames --text"
        )
    done = subprocess.run(["lsdiff", "-s", "--strip=1", str(path)], capture_output=True, text=True, check=False)
    touched = {line[2:].strip(): line.startswith("+") for line in done.stdout.splitlines() if line}
    if not touched:
        raise LabError(what, f"{path} changes no file", "Name a diff as git format-patch or diff -u write it.")
    for name in touched:
        if name.startswith("/") or ".." in Path(name).parts:
            raise LabError(
                what, f"{path} names a file outside of the source: {name}", "Check the patch before you use it."
            )
    return touched


def _is_file(source: Path, name: str) -> bool:
    """Whether it is a regular file. Links of the source may lead anywhere, so they are not patched."""
    return (source / name).is_file() and (source / name).resolve() == source / name


def _patch(what: str, path: Path, absent: list[str], overlay: Path) -> None:
    left = ["filterdiff", *(word for name in absent for word in ("-x", f"?/{name}")), str(path)]
    diff = subprocess.run(left, capture_output=True, check=False).stdout
    words = ["patch", "-p1", "--batch", "--forward", "--no-backup-if-mismatch", "-r", "-", "-d", str(overlay)]
    done = subprocess.run(words, input=diff, capture_output=True, check=False)
    if done.returncode:
        output = done.stdout.decode("utf-8", "replace").splitlines()
        wrong = [line for line in output if "FAILED" in line or "previously applied" in line] or output
        raise LabError(
            what, "\n  ".join([f"{path} does not apply", *wrong[:6]]), "Name the kernel it is for: --kernel."
        )


def _bring(source: Path, changes: Changes, to: Path) -> None:
    """Give the tree `to` the source with the changes. Only differing files are written, so that make compiles no more than
    necessary."""
    files: dict[str, Path] = {name: source / name for name in _names(source)}
    for name, path in changes.items():
        if path:
            files[name] = path
        else:
            files.pop(name, None)
    to.mkdir(parents=True, exist_ok=True)
    for name in _names(to):
        if name not in files:
            (to / name).unlink()
    os.utime(to)
    for name, path in files.items():
        there = to / name
        there.parent.mkdir(parents=True, exist_ok=True)
        if _same(path, there):
            continue
        if path.is_symlink():
            there.unlink(missing_ok=True)
            there.symlink_to(os.readlink(path))
        else:
            shutil.copy(path, there)


def _state(top: Path) -> str:
    """The state on which make's decisions depend: names, dates and sizes of all files."""
    facts = ((name, os.lstat(top / name)) for name in sorted(_names(top)))
    return cache.digest([f"{name} {one.st_mtime_ns} {one.st_size}".encode() for name, one in facts])


def _same(path: Path, there: Path) -> bool:
    """Whether two files or links have the same content."""
    if path.is_symlink():
        return there.is_symlink() and os.readlink(there) == os.readlink(path)
    return there.is_file() and filecmp.cmp(path, there, shallow=False)


def _names(top: Path) -> list[str]:
    """Names of the files and links that the lab needs from a source, relative to its top."""
    names_below = []
    for directory, below, names in os.walk(top):
        links = [name for name in below if os.path.islink(os.path.join(directory, name))]
        names_below += [os.path.relpath(os.path.join(directory, name), top) for name in names + links]
    return _needed(names_below)


def _needed(names: Iterable[str]) -> list[str]:
    """Those files of a source that the lab compiles, or may compile."""
    is_needed = re.compile("|".join(map(fnmatch.translate, linux.patterns()))).match
    return [name for name in names if is_needed(name)]
