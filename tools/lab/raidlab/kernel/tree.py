# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels from a user's source tree, with any patches. The build is outside of the tree and compiles only changed files.

Each tree has one build directory, whose objects stay; make decides which are out of date. A guest runs from a copy that has
its digest as name, so that the next build does not affect the guest.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from raidlab.base import cache, toolchain
from raidlab.base.failure import LabError
from raidlab.base.progress import Progress
from raidlab.kernel import configuration, linux
from raidlab.kernel.configuration import Requested
from raidlab.kernel.linux import NOTHING, Added, Kernel
from raidlab.userland import compiler
from raidlab.userland.compiler import Compiler

_OLDEST = (6, 1)  # the oldest kernel that raidtrace and the model support
_NEWEST_TRIED = (7, 3)
_KEEP_TREES = 8  # number of build directories, 250 MB each
_KEEP_BUILT = 4  # number of built kernels of one tree, 12 MB each, or 20 with all modules
_SPACE_MIB = 500
# This file exists in the entry of a tree after a guest has requested a module. From then on, modules are built with the
# kernel, because a later state of the tree may differ only in a module.
_WITH_MODULES = "with-modules"
# The release must not change with each commit, because make would compile each file that contains it again.
_MAKE = ("LOCALVERSION=",)


def pick(name: str | None, progress: Progress, refresh: bool = False, kind: str = "", objects: bool = False) -> Kernel:
    """The kernel of --kernel: one of Debian's series, or the directory of a source tree; built if it does not exist. `kind`
    is its variant, or empty. With `objects`, the result has its objects."""
    if name and is_directory(name):
        return linux.obtain_variant(kind, obtain(Path(name), progress), progress)
    if kind:
        return linux.obtain_variant(kind, linux.unpacked(name, progress, refresh), progress)
    return linux.obtain(name, progress, refresh, objects)


def is_directory(name: str) -> bool:
    """Whether a name means a source tree. For a directory that is named like a series, the user writes ./ before its name."""
    return "/" in name or (not re.fullmatch(r"[0-9]+\.[0-9]+", name) and Path(name).is_dir())


def begin(path: Path, to: Path, progress: Progress, added: Added, goal: Added) -> None:
    """Begin the tree `to`, built with `goal`, as a copy of `path` and of its build with `added`, so that only differing
    files are compiled. A tree that was built before stays as it is."""
    entry = _entry(path.resolve(), added, compiler.get(progress))
    begin_as(path.resolve(), entry / "build", to, progress, goal)


def begin_as(source: Path, build: Path, to: Path, progress: Progress, goal: Added, unchanged: bool = False) -> None:
    """Begin a tree from a source and a build directory, which need not belong to a tree. Nobody may build in them
    meanwhile. `unchanged`: if `to` exists, its files and their dates are those of the source."""
    target = to.parent.resolve() / to.name
    place = _entry(target, goal, compiler.get(progress), source)
    target.parent.mkdir(parents=True, exist_ok=True)
    with cache.locked(place, progress):
        if (place / "build" / "linux").exists():
            return
        shutil.rmtree(place, ignore_errors=True)
        if target != source and not (unchanged and target.exists()):
            shutil.rmtree(target, ignore_errors=True)
            # Keep the dates: make does not compile a file that is not newer than its object.
            shutil.copytree(source, target, symlinks=True)
        shutil.copytree(build, place / "build", symlinks=True)
        renamed = {bytes(source): bytes(target), bytes(build): bytes(place / "build")}
        for directory, _, names in os.walk(place / "build"):
            for name in names:
                _rename(Path(directory, name), renamed)
        (place / "origin").write_text(_origin(target), encoding="ascii")


def series_of(source: Path) -> str:
    """The series of a source, such as 6.12. LabError if it is no kernel source."""
    return _name(_version(f"kernel {source}", source))


def is_built(path: Path, added: Added, source: Path, progress: Progress) -> bool:
    """Whether the lab has built its own tree of the series of `source` with `added`."""
    series = {_series(_version(f"kernel {one}", one)) for one in (path, source)}
    return len(series) == 1 and (_entry(path, added, compiler.get(progress)) / "build" / "linux").exists()


def _rename(path: Path, renamed: dict[bytes, bytes]) -> None:
    """Replace paths in a file that make or the compiler wrote, and keep its date. A binary file keeps its paths if the new
    ones have another length: only programs that run during the build contain any."""
    if path.is_symlink():
        there = os.readlink(os.fsencode(path))
        for old, new in renamed.items():
            there = there.replace(old, new)
        path.unlink()
        os.symlink(there, os.fsencode(path))
        return
    before = path.read_bytes()
    if b"\0" in before and any(len(old) != len(new) for old, new in renamed.items()):
        return
    after = before
    for old, new in renamed.items():
        after = after.replace(old, new)
    if after != before:
        facts = path.stat()
        path.write_bytes(after)
        os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def obtain(path: Path, progress: Progress, called: str = "", added: Added = NOTHING, state: str = "") -> Kernel:
    """The kernel of the source tree `path`, brought up to date. `called` is its name for people, if it has one. If the
    caller passes the tree's `state`, make runs only if the state differs from that of the last build."""
    what = f"kernel {path}"
    source = checked(path)
    version = _version(what, source)
    if _series(version) > _NEWEST_TRIED:
        progress.report(f"{what}: Linux {version} is newer than every version that the lab was tested with")
    toolchain.require(f"building {what}")
    described = describe(source)
    built_by = compiler.get(progress)
    entry = _entry(source, added, built_by)
    with cache.locked(entry, progress):
        last = entry / "last"
        then, _, name = last.read_text(encoding="ascii").partition(" ") if last.exists() else ("", "", "")
        built = entry / "built" / name
        if not state or state != then or not cache.is_complete(built):
            last.unlink(missing_ok=True)
            _make(f"building {called or f'{version} of {source}'}", source, entry, version, added, built_by, progress)
            built = _keep(entry)
            last.write_text(f"{state} {built.name}", encoding="ascii")
        cache.hold(built)
        _point_modules(built, source, entry)
    _forget_old(entry.parent, entry, _KEEP_TREES)
    return Kernel(str(path), version, built, source, described, called)


def _entry(source: Path, added: Added, built_by: Compiler, like: Path | None = None) -> Path:
    """The build directory of a tree. A new one gets the build of another version."""
    requested = _requested(_version(f"kernel {source}", like or source), added)
    key = cache.digest((str(source).encode(), requested.text().encode(), built_by.name.encode()))
    return cache.root() / "trees" / f"{re.sub('[^A-Za-z0-9.-]', '_', source.name)}-{key}"


def _requested(version: str, added: Added) -> Requested:
    """The options that the lab requests for a kernel of this version."""
    return linux.requested_options(_name(version), added.text(_name(version)))


def _origin(source: Path) -> str:
    """A text that distinguishes a tree from another one that had the same path before."""
    facts = source.stat()
    return f"{facts.st_dev} {facts.st_ino}\n"


def checked(path: Path) -> Path:
    """The real path of the tree. LabError if it is not a tree that the lab can build."""
    what = f"kernel {path}"
    if not path.is_dir():
        raise LabError(
            what, "no such directory", "Name a series (6.1, 6.12, 7.2, 7.3) or the top of a kernel source tree."
        )
    source = path.resolve()
    _version(what, source)
    _refuse_unclean(what, source)
    return source


def describe(source: Path) -> str | None:
    """The output of git describe, with -dirty if the tree has changes; None if the tree is not a checkout of its own."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(source), *words]
        environment = os.environ | {"GIT_OPTIONAL_LOCKS": "0"}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment).stdout.strip()

    if not shutil.which("git") or not (source / ".git").exists():
        return None
    return git("describe", "--always", "--tags", "--dirty", "--abbrev=12") or None


def _version(what: str, source: Path) -> str:
    """The version in the tree's Makefile. LabError if this is no kernel, or one that the lab does not support."""
    makefile = source / "Makefile"
    if not makefile.exists():
        raise LabError(
            what, "it has no Makefile, so it is not a kernel source", "Name the top of a kernel source tree."
        )
    head = makefile.read_text(encoding="utf-8", errors="replace")[:2000]
    fields = dict(re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION)\s*=[ \t]*(\S*)", head, re.MULTILINE))
    if not (fields.get("VERSION", "").isdigit() and fields.get("PATCHLEVEL", "").isdigit()):
        raise LabError(what, "its Makefile names no VERSION and PATCHLEVEL", "Name the top of a kernel source tree.")
    if not (source / "arch" / "um").is_dir():
        raise LabError(what, "it has no arch/um", "The lab runs User Mode Linux: unpack the tree with that directory.")
    sublevel = fields.get("SUBLEVEL") or "0"
    version = f"{fields['VERSION']}.{fields['PATCHLEVEL']}.{sublevel}{fields.get('EXTRAVERSION', '')}"
    if _series(version) < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        raise LabError(
            what, f"Linux {version} is too old", f"raidtrace and the lab's controller need {oldest} or later."
        )
    return version


def _name(version: str) -> str:
    """The name of a series, such as 6.12."""
    return ".".join(map(str, _series(version)))


def _series(version: str) -> tuple[int, int]:
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def _refuse_unclean(what: str, source: Path) -> None:
    """Refuse a tree with a build inside, because a build outside of the tree would use the headers of the build inside."""
    for left in (".config", "include/config", "arch/um/include/generated"):
        if (source / left).exists():
            raise LabError(
                what,
                f"it was built in place: {source / left} exists",
                f"Clean it with: make -C {source} ARCH=um mrproper (this deletes .config, too: save it first)",
            )


def _make(
    what: str, source: Path, entry: Path, version: str, added: Added, built_by: Compiler, progress: Progress
) -> None:
    places = built_by.environment() | linux.ENVIRONMENT
    requested, own = _requested(version, added), configuration.read(added.fragment, _name(version))
    build = entry / "build"
    origin = entry / "origin"
    directory = _origin(source)
    if not origin.exists() or origin.read_text(encoding="ascii") != directory:
        # Another tree was at this path: its files may be older than the objects of the previous tree.
        shutil.rmtree(build, ignore_errors=True)
    is_new = not (build / "linux").exists()
    build.mkdir(parents=True, exist_ok=True)
    origin.write_text(directory, encoding="ascii")
    cache.require_space(build, _SPACE_MIB if is_new else 100, what)
    log = entry / "build.log"
    log.unlink(missing_ok=True)
    # Configure before each build: a commit may add an option, and make would ask for its value on a terminal.
    linux.configure(what, _command(source, build), build, requested, log, places)
    config = (build / ".config").read_text(encoding="utf-8")
    if own.lost(config):
        names = ", ".join(f"CONFIG_{name}={own.options[name]}" for name in own.lost(config))
        raise LabError(what, f"the kernel does not accept {names}", "Also request its dependencies, or omit it.")
    lost = requested.lost(config)
    if lost:  # a tree may be about such a change: report it, and continue
        progress.report(f"{what}: it lacks CONFIG_{', CONFIG_'.join(lost)}, which the lab sets")
    make = [*_command(source, build), f"-j{toolchain.jobs()}"]
    linux.compile_kernel(what, make, log, linux.LINES if is_new else 0, places, progress)
    if (entry / _WITH_MODULES).exists():
        shutil.rmtree(entry / "modroot", ignore_errors=True)
        linux.install_modules(f"{what}, its modules", make, log, entry / "modroot", places, progress)


def _command(source: Path, build: Path) -> list[str]:
    """The command that builds a tree, without targets."""
    return ["make", "-C", str(source), f"O={build}", *_MAKE, "ARCH=um"]


def _keep(entry: Path) -> Path:
    """Copy the files that a guest needs to a directory with their digest as name."""
    modroot = entry / "modroot"
    files = [entry / "build" / "linux", entry / "build" / linux.DRIVER]
    loadable = sorted(path for path in modroot.rglob("*") if path.is_file()) if (entry / _WITH_MODULES).exists() else []
    parts = [part for path in files + loadable for part in (path.name.encode(), path.read_bytes())]
    built = entry / "built" / cache.digest(parts)
    if not cache.is_complete(built):
        cache.discard(built)
        built.mkdir(parents=True)
        for path in files:
            shutil.copy(path, built)
        if loadable:
            shutil.copytree(modroot, built / "modroot")
            Kernel("", "", built, built).set_has_modules()
        else:
            (built / "modroot").mkdir()
        (built / "build").symlink_to("../../build")
        (built / "complete").touch()
    cache.hold(built)
    _forget_old(built.parent, built, _KEEP_BUILT)
    return built


def add_modules(kernel: Kernel, progress: Progress) -> None:
    """Fill a kernel's modroot with all modules of its configuration, unless it is complete. LabError if the kernel comes
    from a tree that has been built in another state since."""
    if kernel.has_modules:
        return
    built_by = compiler.get(progress)
    if not kernel.tree:
        return linux.add_modules(kernel, built_by, progress)
    entry = kernel.build.parent
    with cache.locked(entry, progress):
        if kernel.has_modules:
            return
        if (entry / "last").read_text(encoding="ascii").partition(" ")[2] != kernel.entry.name:
            raise LabError(
                f"building the modules of {kernel.name}",
                "the tree was built again in the meantime",
                "Start the run again.",
            )
        what, places = f"building the modules of {kernel.name}", built_by.environment() | linux.ENVIRONMENT
        make = [*_command(kernel.tree, kernel.build), f"-j{toolchain.jobs()}"]
        linux.install_modules(what, make, entry / "modules.log", kernel.modroot, places, progress)
        kernel.set_has_modules()
        (entry / _WITH_MODULES).touch()


def _point_modules(built: Path, source: Path, entry: Path) -> None:
    """Use modules of an earlier build while configuration, symbols and headers are the same, so that a bisection need not
    build them at each step."""
    build = entry / "build"
    symbols = next(path for path in (build / "vmlinux.symvers", build / "Module.symvers") if path.exists())
    files = [build / ".config", symbols, *sorted((build / "include" / "generated").rglob("*.h"))]
    parts = [path.read_bytes() for path in files]
    for top in ("include", "arch/um/include", "arch/x86/include", "arch/x86/um"):
        for path in sorted((source / top).rglob("*.h")):
            facts = path.stat()
            parts.append(f"{path} {facts.st_size} {facts.st_mtime_ns}".encode())
    directory = entry / "modules" / cache.digest(parts)
    directory.mkdir(parents=True, exist_ok=True)
    cache.hold(directory)
    _forget_old(directory.parent, directory, _KEEP_BUILT)
    link = built / f".modules-{os.getpid()}"
    link.symlink_to(f"../../modules/{directory.name}")
    link.replace(built / "modules")


def _forget_old(directory: Path, keep: Path, count: int) -> None:
    """Record that `keep` is in use, and remove the entries that have been unused for longest."""
    os.utime(keep)
    entries = [path for path in directory.iterdir() if path.is_dir() and path != keep]
    entries.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for entry in entries[count - 1 :]:
        cache.forget(entry)


@dataclass(frozen=True)
class Range:
    """Two commits: their hashes, and the user's names for them."""

    first: str
    last: str
    names: tuple[str, str]


def git(what: str, tree: Path, *words: str) -> str:
    """The output of a git command without the last end of line. If git fails, LabError with `what` as the action."""
    done = subprocess.run(
        ["git", "-C", str(tree), *words], capture_output=True, text=True, check=False, env=os.environ | {"LC_ALL": "C"}
    )
    if done.returncode:
        raise LabError(what, done.stderr.strip() or "git failed", f"Try it by hand: git -C {tree} {words[0]}")
    return done.stdout.strip("\n")


def ends(what: str, tree: Path, commits: str) -> Range:
    """Resolve a range A..B from the user. LabError if it is no range, or git does not know a commit."""
    first, dots, last = commits.partition("..")
    if not (first and dots and last) or last.startswith("."):
        raise LabError(what, "not two commits", "Name them as in: --range v6.12..mine")
    hashes = [
        git(what, tree, "rev-parse", "--verify", "--end-of-options", f"{end}^{{commit}}") for end in (first, last)
    ]
    return Range(hashes[0], hashes[1], (first, last))
