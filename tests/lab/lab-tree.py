#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""raidctl lab --kernel DIR: what is refused, what is built again, what names it.

The tree here is a stand-in whose Makefile hands out the lab's own kernel: compiling a real one takes minutes, which is
what tests/lab/bisect/run does.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from lab_checks import KERNELS, TOP, check, lab, offered, scratch  # noqa: E402

RAIDCTL = TOP / "tools" / "bin" / "raidctl"
VERSIONS = "VERSION = {}\nPATCHLEVEL = {}\nSUBLEVEL = 7\nEXTRAVERSION = -rc1\n"
# allnoconfig leaves a Makefile in the build directory, as the real one does; it also builds modules of others.
MAKEFILE = """
allnoconfig:
        cp $(KCONFIG_ALLCONFIG) $(O)/.config
        printf 'real := REAL\\nhere := $(CURDIR)\\n' >$(O)/Makefile
        cat $(CURDIR)/build.mk >>$(O)/Makefile
linux modules modules_install drivers/scsi/3w-9xxx.ko lib/kunit/kunit.ko:
        @$(MAKE) -C $(O) $@
.PHONY: linux modules modules_install
"""
BUILD_MK = """
ifdef M
compiled := $(here)/.git/$(firstword $(subst -, ,$(notdir $(patsubst %/,%,$(dir $(M))))))
modules: # raidtrace or raidlab; the second time what came of the first
        if test -d $(compiled); then cp -rp $(compiled)/. $(M); else \\
        $(MAKE) -C $(real) ARCH=um M=$(M) W=$(W) modules && cp -rp $(M) $(compiled); fi
else
linux: $(here)/mm.c
        @! grep -n wrong $< /dev/null || { echo 'mm.c:1: error: wrong'; false; }
        echo built >>$(here)/times
        cat $(real)/linux $< >$@ && chmod +x $@ && cp $(real)/Module.symvers .
drivers/scsi/3w-9xxx.ko:
        mkdir -p $(@D) && cp $(real)/$@ $@
lib/kunit/kunit.ko modules:
modules_install:
        mkdir -p $(INSTALL_MOD_PATH) && cp -r $(real)/../modroot/lib $(INSTALL_MOD_PATH)
endif
"""


def tabs(text: str) -> str:
    return text.replace(" " * 8, "\t")


def refusals(directory: Path) -> None:
    def tree(name: str, makefile: str | None = None, *more: str) -> str:
        path = directory / name
        path.mkdir()
        for other in more:
            (path / other).mkdir(parents=True)
        if makefile is not None:
            (path / "Makefile").write_text(makefile)
        return str(path)

    known = VERSIONS.format(6, 1)
    unclean = tree("unclean", known, "arch/um")
    Path(unclean, ".config").touch()
    cases = (
        ("a directory that is not there", str(directory / "none"), "no such directory", "series"),
        ("one that is no kernel", tree("empty"), "no Makefile", "top of a kernel source tree"),
        ("a Makefile of something else", tree("other", "all:\n"), "no VERSION", "top of a kernel source tree"),
        ("a tree without User Mode Linux", tree("no-um", known), "no arch/um", "unpack"),
        ("a version that is too old", tree("old", VERSIONS.format(5, 15), "arch/um"), "5.15.7-rc1 is too old", "6.1"),
        ("a tree that was built in place", unclean, ".config exists", "mrproper"),
    )
    for name, path, why, todo in cases:
        done = lab("run", "--kernel", path, "--bare", "--out", str(directory / "out"), "--", "true")
        refused = done.returncode == 125 and path in done.stderr and why in done.stderr and todo in done.stderr
        check(f"refused with what, why and a remedy: {name}", refused, done)
    vm = lab("run", "--vm", "--kernel", unclean, "--out", str(directory / "out"), "--", "true")
    check("refused with --vm", vm.returncode == 125 and "raidctl lab run without --vm" in vm.stderr, vm)


TREE = f"linux-tree-{os.getpid()}"  # another run of this test has another place in the cache


def stand_in(path: Path) -> Path:
    """A tree of git's that is Linux 6.1 as the lab has it."""
    built = lab("build", "-q", "--modules", "--kernel", "6.1").stdout
    real = next(line.split("\t")[2] for line in built.splitlines() if line.startswith("kernel\t"))
    (path / "arch" / "um").mkdir(parents=True)
    (path / "Makefile").write_text(VERSIONS.format(6, 1) + tabs(MAKEFILE.replace("REAL", real)))
    (path / "build.mk").write_text(tabs(BUILD_MK))
    (path / "mm.c").write_text("first\n")
    own = ("-c", "user.name=lab", "-c", "user.email=lab@localhost")
    for words in (("init", "-q"), ("add", "-A"), (*own, "commit", "-q", "-m", "x"), ("tag", "v6.1.7-lab")):
        subprocess.run(["git", "-C", str(path), *words], check=True)
    (path / ".git" / "info" / "exclude").write_text("times\n")
    return path


def builds(directory: Path) -> None:
    tree = stand_in(directory / TREE)
    out = directory / "out"

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return lab("run", "-q", "--out", str(out), "--", *command, LAB_KERNEL=str(tree))

    def times() -> int:
        return len((tree / "times").read_text().splitlines())

    read = ("dd", "if=/dev/sda", "of=/dev/null", "bs=1M", "count=4")
    first = run("raidctl", "record", "-q", "-f", "-o", "r.rtdb", "--", *read)
    check("a kernel of one's own boots, with modules built for it", first.returncode == 0, first)
    facts = json.loads((out / "lab.json").read_text())
    expected = {"kernel": "6.1.7-rc1", "kernel_source": str(tree), "kernel_described": "v6.1.7-lab"}
    check("lab.json names version, tree and commit", facts.items() >= expected.items(), facts)
    words = [str(RAIDCTL), "report", "-v", str(out / "r.rtdb")]
    report = subprocess.run(words, capture_output=True, text=True, check=False)
    check("so does the recording", f"{tree} v6.1.7-lab" in report.stdout, report)
    kept = next((cache() / "trees").glob(f"{tree.name}-*")) / "built"
    check("it is kept under its content", len(list(kept.iterdir())) == 1, list(kept.iterdir()))
    run("true")
    check("what did not change is not built again", times() == 1, times())
    (tree / "mm.c").write_text("second\n")
    again = run("true")
    facts = json.loads((out / "lab.json").read_text())
    check("what changed is", again.returncode == 0 and times() == 2, (again, times()))
    check("and is what runs", len(list(kept.iterdir())) == 2, list(kept.iterdir()))
    check("and git's name is marked as changed", facts["kernel_described"] == "v6.1.7-lab-dirty", facts)
    modules = kept.parent / "modules"
    check("modules are not built again for it", len(list(modules.iterdir())) == 1, list(modules.iterdir()))
    (tree / "include").mkdir()
    (tree / "include" / "new.h").touch()
    run("true")
    check("but they are for another header", len(list(modules.iterdir())) == 2, list(modules.iterdir()))
    (tree / "mm.c").write_text("wrong\n")
    broken = run("true")
    reported = all(part in broken.stderr for part in ("mm.c:1: error: wrong", "build.log", str(tree)))
    check("a compile error is 125, with its line and the log's path", broken.returncode == 125 and reported, broken)
    (tree / "mm.c").write_text("first\n")
    mended = run("true")
    check("and is no obstacle when it is mended", mended.returncode == 0, mended)


def patches(directory: Path) -> None:
    """Each kernel takes one of the patches that make bisect-demo has, which compiles and runs them."""
    for kernel in KERNELS:
        if not offered(f"{kernel}: a patch for its readahead", kernel):
            continue
        built = Path(lab("build", "-q", "--kernel", kernel).stdout.splitlines()[0].split("\t")[2])
        tree = directory / f"patched-{kernel}"
        (tree / "mm").mkdir(parents=True)
        shutil.copy(built.parent / "source" / "mm" / "readahead.c", tree / "mm")
        fit = []
        for patch in sorted((TOP / "tests/lab/bisect").glob("late-window*.patch")):
            apply = ["git", "apply", "--check", "--recount", str(patch)]
            done = subprocess.run(apply, cwd=tree, capture_output=True, text=True, check=False)
            fit += [patch.name] * (done.returncode == 0)
        check(f"{kernel}: one patch fits its readahead", len(fit) == 1, fit)


def cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "raidtrace"


def forget(name: str) -> None:
    """The entries of this test in the cache."""
    for path in (cache() / "trees").glob(f"*{name}*"):
        subprocess.run(["rm", "-rf", str(path)], check=True)


def main() -> None:
    os.environ.pop("LAB_KERNEL", None)
    with scratch() as top:
        refusals(top)
        try:
            builds(top)
        finally:
            forget(TREE)
        patches(top)


main()
