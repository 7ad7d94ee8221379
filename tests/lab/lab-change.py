#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: 6.12
# lab-long: compiles what options and patches change, some five minutes of processor
"""raidctl lab ab --tree and --config with real kernels: what was changed is compiled, runs and is judged; what was not is
identical, to the last command.

The change is a window that comes late, as in make bisect-demo; the option takes the scheduler away.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
os.environ.setdefault("LAB_LIMIT_S", "1800")  # of one command: it may build a kernel
from lab_checks import TOP, check, finish, lab, offered  # noqa: E402

SERIES = "6.12"
NO_SCHEDULER = "CONFIG_MQ_IOSCHED_DEADLINE=n\n"
SORTED = """
[[workload]]
name = "sorted"
does = "32 random reads at once of which the disk takes one: a scheduler takes the nearest"
profile = "jbod-4"
prepare = "echo 1 >/sys/block/sda/device/queue_depth"
command = "$FIO --filename=$DISK --direct=1 --rw=randread --bs=4k --size=64g --io_size=1m --ioengine=libaio --iodepth=32"
"""


def judged(directory: Path, *words: str) -> tuple[int, dict[str, object], str]:
    """Status, JSON (empty if there is none) and messages of one command."""
    done = lab("ab", "-q", "--json", "--out", str(directory / "out"), *words, LAB_ROOT="")
    return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr


def source() -> Path:
    built = lab("build", "-q", "--kernel", SERIES).stdout
    return (
        Path(next(line.split("\t")[2] for line in built.splitlines() if line.startswith("kernel\t"))).parent / "source"
    )


def repository(path: Path) -> None:
    """The lab's own source, committed, and then a patch in what is checked out."""
    shutil.copytree(source(), path, symlinks=True)
    own = ("-c", "user.name=lab", "-c", "user.email=lab@localhost")
    for words in (
        ("init", "-q"),
        ("config", "gc.auto", "0"),
        ("add", "-A", "-f"),
        (*own, "commit", "-q", "-m", SERIES),
    ):
        subprocess.run(["git", "-C", str(path), *words], check=True)
    for patch in sorted((TOP / "tests/lab/bisect").glob("late-window*.patch")):
        subprocess.run(["git", "-C", str(path), "apply", "--recount", str(patch)], check=False, capture_output=True)


def trees(directory: Path) -> None:
    path = directory / "linux"
    repository(path)
    before = subprocess.run(
        ["git", "-C", str(path), "status", "--porcelain"], capture_output=True, text=True, check=True
    )
    check("one file is being edited", before.stdout == " M mm/readahead.c\n", before.stdout)
    for name, words in (("with its last commit", ()), ("with a series", ("--kernel", SERIES))):
        status, result, message = judged(directory, *words, "--tree", str(path), "--workload", "read-1m", "--coverage")
        one = result["workloads"][0] if result else {}
        check(
            f"a tree {name}: slower, and status 1",
            status == 1 and one.get("verdict") == "slower",
            (status, message, one),
        )
        rows = result.get("coverage") or []
        check("its changed line ran", any(row["times"].get("read-1m") for row in rows), rows)
        halved = re.search(r"in flight (2.00|1.99) -> 1.00", str(one.get("mechanism")))
        check("by what the change does", halved, one)
        check(
            "the compiled files are named",
            result and result["patch"]["compiled"] == ["mm/readahead.c"],
            result.get("patch"),
        )
        check("the compared kernel is named", result and str(path) in result["kernels"][1], result.get("kernels"))
    after = subprocess.run(
        ["git", "-C", str(path), "status", "--porcelain"], capture_output=True, text=True, check=True
    )
    check("nothing was written into the tree", after.stdout == before.stdout, after.stdout)
    subprocess.run(["git", "-C", str(path), "stash", "-q"], check=True, env=os.environ | {"GIT_AUTHOR_NAME": "lab",
                   "GIT_AUTHOR_EMAIL": "lab", "GIT_COMMITTER_NAME": "lab", "GIT_COMMITTER_EMAIL": "lab"})  # fmt: skip
    status, _, message = judged(directory, "--tree", str(path), "--workload", "read-1m")
    check("a tree without a change is refused", status == 125 and "nothing differs" in message, (status, message))


def options(directory: Path) -> None:
    workload, fragment = directory / "sorted.toml", directory / "fragment"
    workload.write_text(SORTED)
    words = ("--kernel", SERIES, "--config", str(fragment), "--workload", str(workload))
    fragment.write_text("CONFIG_BLK_WBT=n\n")
    status, result, message = judged(directory, *words)
    one = result["workloads"][0] if result else {}
    check(
        "an option that is off already: built anew, and identical",
        (status, one.get("verdict")) == (0, "identical"),
        (status, message, one),
    )
    fragment.write_text(NO_SCHEDULER)
    status, result, message = judged(directory, *words)
    one = result["workloads"][0] if result else {}
    check(
        "without a scheduler nothing is sorted: slower",
        (status, one.get("verdict")) == (1, "slower"),
        (status, message, one),
    )
    fragment.write_text("CONFIG_NO_SUCH_OPTION=y\n")
    status, _, message = judged(directory, *words)
    refused = status == 125 and "does not take CONFIG_NO_SUCH_OPTION=y" in message
    check("an option that the kernel does not take is refused by name", refused, (status, message))


def main() -> None:
    os.environ.pop("LAB_KERNEL", None)
    with tempfile.TemporaryDirectory(prefix="lab-change-", dir="/var/tmp") as name:
        if offered("changes of a kernel", SERIES):
            options(Path(name))
            trees(Path(name))
    finish()


main()
