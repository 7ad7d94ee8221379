# SPDX-License-Identifier: GPL-2.0-or-later
"""Verbs of raidctl lab that run in a virtual machine: run by LAB=vm, shell on a terminal, expect of counts."""

from __future__ import annotations

import json
import os
import subprocess

import terminal
from results import HARNESS_S, OUT, TOP, Results, empty

LAB = TOP / "tools/lab/raidctl-lab"
READ = ("dd", "if=/dev/sda", "of=/dev/null", "bs=1M", "count=4", "iflag=direct")


def _lab(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([LAB, *words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                          env=os.environ | environment)  # fmt: skip


def run(results: Results) -> None:
    """LAB=vm turns a lab command into one of a virtual machine, options and result files included."""
    out = empty(OUT / "lab-vm")
    script = "nproc; echo $WHO; lsblk -dno NAME /dev/sda"
    done = _lab("run", "-q", "--out", str(out), "--env", "WHO=me", "--", "sh", "-c", script, LAB="vm")
    facts = json.loads((out / "lab.json").read_text(encoding="utf-8")) if not done.returncode else {}
    wrong = "" if done.stdout == "2\nme\nsda\n" and facts["simulated_seconds"] is None else f"{done} {facts}"
    results.check("harness: LAB=vm runs a lab command with two processors and the array", wrong)


def full(results: Results) -> None:
    """A store without room ends the run, instead of failing one write after the other."""
    out = empty(OUT / "lab-vm")
    fill = "dd if=/dev/urandom of=/dev/sda bs=1M count=256 oflag=direct; sleep 1000"
    done = _lab("run", "-q", "--vm", "--store", "8M", "--timeout", "300", "--out", str(out), "--", "sh", "-c", fill)
    wrong = "" if done.returncode == 126 and "--store SIZE" in done.stderr else f"{done}"
    results.check("harness: a store that is full ends the guest with 126 and prints a remedy", wrong)


def expect(results: Results) -> None:
    """Counts can be expected of Debian's own kernel, and hold or do not."""
    out = str(empty(OUT / "lab-vm"))
    for expression, status in (("bytes == 4 * 1048576 and errors == 0", 0), ("requests < 32", 1)):
        done = _lab("expect", "-q", "--vm", "--out", out, expression, "--", *READ)
        wrong = "" if done.returncode == status and "real time" in done.stdout else f"{done}"
        results.check(f"harness: expect --vm {expression!r} is {status}", wrong)


def compared(results: Results) -> None:
    """Two of Debian's kernels side by side: counts, and no figure that follows from a time."""
    out = str(empty(OUT / "lab-vm"))
    kernels = ("--kernel", "6.1", "--kernel", "6.12")
    done = _lab("ab", "-q", "-j", "--vm", "--out", out, *kernels, "--", *READ)
    result = json.loads(done.stdout) if not done.returncode else {"kernels": [], "sections": [{"measures": {}}]}
    measured = result["sections"][0]["measures"]
    releases = [kernel["version"].startswith(begin) for kernel, begin in zip(result["kernels"], ("6.1.", "6.12."))]
    timed = {"mib_per_s", "in_flight_mean", "idle_share", "d2c_mean_ms"} & measured.keys()
    nature = (result.get("simulated"), result.get("lab_time"))
    counted = measured.get("bytes") == [4 << 20] * 2 and not timed
    right = releases == [True, True] and counted and nature == (True, "real")
    results.check("harness: ab --vm compares counts of two kernels, and no times", "" if right else f"{done}")
    built = _lab("build", "-q", "--vm", "--kernel", "6.12")
    rows = [line.split("\t") for line in built.stdout.splitlines()]
    there = [words[0] for words in rows if os.path.exists(words[-1])]
    wrong = "" if there == ["kernel", "raidtrace", "raidlab"] and not built.returncode else f"{built}"
    results.check("harness: build --vm prints where kernel, module and controller are", wrong)


def shell(results: Results) -> None:
    """The same as of a shell in simulated hardware alone, tests/lab/lab-run.py."""

    def check(name: str, holds: object, detail: object) -> None:
        results.check(f"harness: shell --vm: {name}", "" if holds else f"{detail!r}")

    out = empty(OUT / "lab-vm")
    terminal.session(LAB, out, HARNESS_S, f"vm:{out}# ", check, "--vm")
