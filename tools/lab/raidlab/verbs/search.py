# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl lab expect --range: the first commit of a range after which an expression does not hold, and what it changed.

git bisect searches, in a clone of the lab's own that shares the objects of the user's tree: nothing there is checked out or
written.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

from raidlab.base import cache
from raidlab.base.failure import LabError
from raidlab.base.progress import Progress
from raidlab.kernel import linux, tree
from raidlab.verbs import ab

RAIDCTL_LAB = cache.LAB / "raidctl-lab"
_FIRST_BAD = re.compile(r"^([0-9a-f]{40}) is the first bad commit$", re.MULTILINE)
_HOLDS, _NOT = 0, 1


def act(arguments: argparse.Namespace) -> int:
    """Status 0 if a commit was found; what it changed is then printed. LabError (125) if there is none or it is not known."""
    what = f"--range {arguments.range}"
    first, dots, last = arguments.range.partition("..")
    if not (first and dots and last) or last.startswith("."):
        raise LabError(what, "not two commits", "Name them as in: --range v6.12..mine")
    source = tree.checked(Path(arguments.kernel or "."))
    clone = _clone(what, source)
    good, bad = (
        _git(what, source, "rev-parse", "--verify", "--end-of-options", f"{end}^{{commit}}") for end in (first, last)
    )
    for name, commit, wanted in ((first, good, _HOLDS), (last, bad, _NOT)):
        _git(what, clone, "checkout", "-q", "--detach", "--force", commit)
        status = subprocess.run(_expect(arguments), cwd=clone, check=False, stdout=sys.stderr).returncode
        if status != wanted:
            held = {_HOLDS: "it holds", _NOT: "it does not hold"}.get(status, f"it cannot be tested (status {status})")
            raise LabError(what, f"{held} at {name}", "It has to hold at the first commit and not at the last.")
    culprit = _searched(what, clone, good, bad, _expect(arguments))
    print(_git(what, clone, "show", "--no-patch", "--format=%H%n%n    %s%n%n    %an, %as", culprit))
    print(_git(what, clone, "show", "--stat", "--format=", culprit) + "\n", flush=True)
    progress = Progress(arguments.quiet)
    kernels = []
    for commit in (f"{culprit}^", culprit):
        _git(what, clone, "checkout", "-q", "--detach", "--force", commit)
        kernels.append(tree.obtain(clone, progress, f"{source} {commit[:12]}{commit[40:]}"))
    ab.between(argparse.Namespace(**vars(arguments) | {"repeat": False}), kernels, progress)
    return 0


def _clone(what: str, source: Path) -> Path:
    """The lab's clone of a repository, with the files alone that the lab needs."""
    clone = cache.root() / "patched" / cache.digest([str(source).encode()]) / "find" / "linux"
    if not (clone / ".git").exists():
        clone.parent.mkdir(parents=True, exist_ok=True)
        _git(what, source, "clone", "-q", "--shared", "--no-checkout", str(source), str(clone))
    _git(what, clone, "sparse-checkout", "set", "--no-cone", *map(_sparse, linux.patterns()))
    return clone


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


def _searched(what: str, clone: Path, good: str, bad: str, expect: list[str]) -> str:
    """The first commit where it does not hold. Progress goes to standard error."""
    subprocess.run(["git", "-C", str(clone), "bisect", "reset"], check=False, capture_output=True)
    _git(what, clone, "bisect", "start", bad, good)
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
        subprocess.run(["git", "-C", str(clone), "bisect", "reset"], check=False, capture_output=True)
    if not found:
        raise LabError(
            what, "the search found no single commit", "Those that could not be tested are in what is above."
        )
    return found[1]


def _git(what: str, directory: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(directory), *words],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"LC_ALL": "C"},
    )
    if done.returncode:
        raise LabError(what, done.stderr.strip() or "git failed", f"Try it by hand: git -C {directory} {words[0]}")
    return done.stdout.strip("\n")
