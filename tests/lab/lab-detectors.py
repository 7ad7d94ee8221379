#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: 6.1 7.2 6.12:sanitize
# lab-kernels-long: 7.2:sanitize-smp
"""Kernels that check themselves report deliberate faults, which fail the run. A driver that ends requests without an event.

Modules of tests/lab/modules do both. The silence of kmod-soak.py on the same kernel means something only if these are not.
lab-detectors.py SERIES [VARIANT] looks at the faults alone, on that kernel (make soak).
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from lab_checks import KERNELS, TOP, check, finish, lab, offered

sys.path.append(str(TOP / "tools/lab"))
sys.dont_write_bytecode = True
from raidlab.base.progress import Progress  # noqa: E402
from raidlab.kernel import tree  # noqa: E402
from raidlab.uml import modules  # noqa: E402

HERE = TOP / "tests/lab/modules"
SERIES, VARIANT = "6.12", "sanitize"
REPORTS = {
    "rcu": "WARNING: suspicious RCU usage",  # lockdep reports before KASAN disables it
    "order": "WARNING: possible circular locking dependency detected",
    "asleep": "BUG: sleeping function called from invalid context",
    "shift": "UBSAN: shift-out-of-bounds",
    "index": "UBSAN: array-index-out-of-bounds",
    "slab": "BUG: KASAN: slab-out-of-bounds in slab",
    "freed": "BUG: KASAN: slab-use-after-free in freed",
    "vmalloc": "BUG: KASAN: vmalloc-out-of-bounds in from_vmalloc",
    "leak": r"kmemleak: [1-9]\d* new suspected memory leaks",
}
# 6.1 reports less on User Mode Linux, but guards globals; from 6.12 on their poison does not last (maintainer.rst).
OF_6_1 = {name: REPORTS[name] for name in ("rcu", "order", "shift", "index", "slab", "vmalloc", "leak")} | {
    "freed": "BUG: KASAN: use-after-free in freed",
    "global": "BUG: KASAN: global-out-of-bounds in global",
}
ALL = """
echo 0 >/proc/sys/kernel/panic_on_warn
insmod {ko}
for fault in {faults}; do echo $fault >/sys/module/raidtrace_faults/parameters/fault || exit 1; done
for i in 1 2; do sleep 6; echo scan >/sys/kernel/debug/kmemleak; done
echo done
"""
COMPLAINED = 126


def built(series: str, name: str) -> list[Path]:
    """The modules for a kernel. A warning of the compiler fails a check."""
    progress = Progress(quiet=True)
    lab_kernel = tree.pick(series, progress, kind=name)
    result = modules.build(
        modules.Module("odd", HERE / "Kbuild", (HERE, TOP / "kmod"), "raidtrace_odd.ko"), lab_kernel, progress
    )
    check(f"{series} {name}: the modules build without a warning", not result.warnings, "\n".join(result.warnings))
    return [result.path.with_name(f"raidtrace_{which}.ko") for which in ("faults", "odd")]


def bare(out: Path, series: str, name: str, script: str) -> subprocess.CompletedProcess[str]:
    """A script on a kernel that checks itself, without raidtrace."""
    return lab("run", "-q", "--bare", "--kernel", series, "--variant", name, "--mem", "128M", "--out", str(out), "--",
               "sh", "-c", script)  # fmt: skip


def each_is_reported(out: Path, faults: Path, series: str = SERIES, name: str = VARIANT) -> None:
    """Every kind of fault, in one guest that goes on after a report."""
    reports = OF_6_1 if series == "6.1" else REPORTS
    done = bare(out, series, name, ALL.format(ko=faults, faults=" ".join(reports)))
    check("the guest that had every fault went to its end", done.stdout == "done\n", done.stdout + done.stderr)
    check("its run failed for the kernel's report", done.returncode == COMPLAINED, done.returncode)
    log = (out / "kernel.log").read_text(encoding="utf-8", errors="replace")
    for fault, report in reports.items():
        check(f"{fault}: {report}", re.search(report, log), log[-3000:])


def a_run_fails(out: Path, faults: Path) -> None:
    """As with kmod-soak.py: KASAN's report fails a run that goes on to pass; a warning is a panic."""
    happen = "/sys/module/raidtrace_faults/parameters/fault"
    script = (
        f"insmod {faults}; echo slab >{happen}; echo '1 passed, 0 failed'; echo shift >{happen}; echo 'still there'"
    )
    done = bare(out, SERIES, VARIANT, script)
    log = (out / "kernel.log").read_text(encoding="utf-8", errors="replace")
    check(
        "what KASAN reports fails the run",
        done.returncode == COMPLAINED and REPORTS["slab"] in done.stderr,
        done.stderr,
    )
    check("a warning is a panic", "Kernel panic - not syncing: UBSAN: panic_on_warn set" in log, log[-3000:])
    check("and nothing is printed after it", "still there" not in done.stdout, done.stdout)


def ended_untold(out: Path, series: str, odd: Path) -> None:
    """Requests that end without an event are abandoned when their tag is issued again."""
    guest = TOP / "tests/lab/kmod_odd_guest.py"
    done = lab("run", "-q", "--kernel", series, "--out", str(out), "--", "sh", "-c", f"insmod {odd} && {guest}")
    check(
        f"{series}: requests that end untold are abandoned, one by one", done.returncode == 0, done.stdout + done.stderr
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        if sys.argv[1:]:
            selected = (sys.argv[1], sys.argv[2] if sys.argv[2:] else VARIANT)
            each_is_reported(Path(scratch, "all"), built(*selected)[0], *selected)
            finish()
        for which in KERNELS:
            if offered("requests that end untold", which):
                ended_untold(Path(scratch, which), which, built(which, "")[1])
        if offered("a kernel that checks itself", SERIES, VARIANT):
            own = lab("build", "-q", "--werror", "--kernel", SERIES, "--variant", VARIANT)
            check("a kernel that checks itself: our modules build without a warning", own.returncode == 0, own.stderr)
            faulty = built(SERIES, VARIANT)[0]
            each_is_reported(Path(scratch, "all"), faulty)
            a_run_fails(Path(scratch, "fails"), faulty)
    finish()
