# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl lab expect --range: the first commit of a range after which an expression does not hold, and what it changed.

git bisect searches, in a clone of the lab's own that shares the objects of the user's tree: nothing there is checked out or
written.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

from raidlab.base import cache
from raidlab.base.failure import LabError
from raidlab.base.progress import Progress
from raidlab.kernel import linux, patched, tree
from raidlab.verbs import ab

RAIDCTL_LAB = cache.LAB / "raidctl-lab"
_FIRST_BAD = re.compile(r"^([0-9a-f]{40}) is the first '?bad'? commit$", re.MULTILINE)
_HOLDS, _NOT = 0, 1


def act(arguments: argparse.Namespace) -> int:
    """Status 0 if a commit was found; what it changed is then printed. LabError (125) if there is none or it is not known."""
    what = f"--range {arguments.range}"
    source = tree.checked(Path(arguments.kernel or "."))
    ends = tree.ends(what, source, arguments.range)
    clone = patched.place(source) / "find" / "linux"
    with cache.locked(clone, Progress(arguments.quiet)):
        _prepare(what, source, clone)
        return _found(arguments, what, source, clone, ends)


def _found(arguments: argparse.Namespace, what: str, source: Path, clone: Path, ends: tree.Range) -> int:
    """Search in the clone, and compare what is found with the commit before it."""
    for name, commit, wanted in ((ends.names[0], ends.first, _HOLDS), (ends.names[1], ends.last, _NOT)):
        _check_out(what, clone, commit)
        status = subprocess.run(_expect(arguments), cwd=clone, check=False, stdout=sys.stderr).returncode
        if status != wanted:
            held = {_HOLDS: "it holds", _NOT: "it does not hold"}.get(status, f"it cannot be tested (status {status})")
            raise LabError(what, f"{held} at {name}", "It has to hold at the first commit and not at the last.")
    culprit = _searched(what, clone, ends, _expect(arguments))
    print(tree.git(what, clone, "show", "--no-patch", "--format=%H%n%n    %s%n%n    %an, %as", culprit))
    print(tree.git(what, clone, "show", "--stat", "--format=", culprit) + "\n", flush=True)
    progress = Progress(arguments.quiet)
    kernels = []
    for commit in (f"{culprit}^", culprit):
        _check_out(what, clone, commit)
        kernels.append(tree.obtain(clone, progress, f"{source} {commit[:12]}{commit[40:]}"))
    ab.between(argparse.Namespace(**vars(arguments) | {"repeat": False}), kernels, progress)
    return 0


def _prepare(what: str, source: Path, clone: Path) -> None:
    """The lab's clone of a repository, with the files alone that the lab needs."""
    if not (clone / ".git").exists():
        clone.parent.mkdir(parents=True, exist_ok=True)
        tree.git(what, source, "clone", "-q", "--shared", "--no-checkout", str(source), str(clone))
    tree.git(what, clone, "sparse-checkout", "set", "--no-cone", *map(_sparse, linux.patterns()))


def _check_out(what: str, clone: Path, commit: str) -> None:
    tree.git(what, clone, "checkout", "-q", "--detach", "--force", commit)


def _sparse(pattern: str) -> str:
    """A wildcard of kernel-files, where * also matches /, as one of git's, where it does not."""
    if pattern.startswith("*/"):
        return f"**{pattern[1:]}"
    return "/" + re.sub(r"/\*(?=\.)", "/**/*", pattern)


def _expect(arguments: argparse.Namespace) -> list[str]:
    """The same question about the kernel in the current directory."""
    words = [
        str(RAIDCTL_LAB),
        "expect",
        arguments.expression,
        "--kernel",
        ".",
        "--out",
        str(Path(arguments.out).absolute()),
    ]
    words += ["--profile", arguments.profile, "--mem", f"{arguments.mem}M", "--seeds", str(arguments.seeds)]
    words += ["--timeout", str(arguments.timeout)]
    words += [f"--{name}" for name in ("host", "quiet") if getattr(arguments, name)]
    words += ["--store", f"{arguments.store}M"] if arguments.store else []
    for option, values in (("--set", arguments.set), ("--env", arguments.env)):
        words += [word for value in values for word in (option, value)]
    words += ["--disk", arguments.disk] if arguments.disk else []
    words += ["--phase", arguments.phase] if arguments.phase else []
    return [*words, "--", *arguments.command]


def _searched(what: str, clone: Path, ends: tree.Range, expect: list[str]) -> str:
    """The first commit where it does not hold. Progress goes to standard error."""
    tree.git(what, clone, "bisect", "reset")
    tree.git(what, clone, "bisect", "start", ends.last, ends.first)
    try:
        said = []
        words = ["git", "-C", str(clone), "bisect", "run", *expect]
        with subprocess.Popen(words, cwd=clone, stdout=subprocess.PIPE, text=True) as search:
            assert search.stdout is not None
            for line in search.stdout:
                said.append(line)
                sys.stderr.write(line)
        found = _FIRST_BAD.search("".join(said))
    finally:
        tree.git(what, clone, "bisect", "reset")
    if not found:
        raise LabError(
            what, "the search found no single commit", "Those that could not be tested are in what is above."
        )
    return found[1]
