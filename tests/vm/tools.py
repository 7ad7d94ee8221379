# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl on a stock kernel: what it says where a module is refused; blktrace against a live recording."""

from __future__ import annotations

import json
import shutil

from raidlab.base.progress import Progress
from raidlab.vm import session
from results import HARNESS_S, OUT, TOP, Results, array, captured, empty

# What a kernel that takes signed modules alone says, and what raidctl makes of it; and the checks of a stock machine.
REFUSED_SCRIPT = """
raidctl check --json sda >check.json || true
rmmod raidtrace
mount -t securityfs securityfs /sys/kernel/security 2>/dev/null || true
echo integrity >/sys/kernel/security/lockdown
raidctl load "$RAIDTRACE_KO" 2>&1 || echo "status $?"
echo 1 >/sys/module/module/parameters/sig_enforce
raidctl load "$RAIDTRACE_KO" 2>&1 || echo "status $?"
grep -c raidtrace /proc/modules || true
"""
PROFILE = "9500s-12-raid0"
SCSI_DEBUG = "modprobe scsi_debug dev_size_mb=128 ndelay=1000"


def refused(series: str, results: Results, progress: Progress) -> None:
    """Lockdown and enforced signatures: raidctl says which it is. raidctl check on a stock machine."""
    out = empty(OUT / f"{series}-refused")
    job = session.Session(
        series,
        ["sh", "-c", REFUSED_SCRIPT],
        out,
        None,
        timeout_s=HARNESS_S,
        prepare=SCSI_DEBUG,
    )
    ended, said, complained = captured(job, progress, out / "log")
    lines = said.splitlines()
    found: dict[str, tuple[str, str]] = {}
    if (out / "check.json").exists():
        findings = json.loads((out / "check.json").read_text(encoding="utf-8"))["findings"]
        found = {finding["rule"]: (finding["verdict"], finding["seen"]) for finding in findings}
    name = f"{series}: a kernel that takes signed modules alone"
    wrong = (
        ""
        if len(lines) == 5 and "signed modules only (lockdown integrity), and it is not signed" in lines[0]
        else f"{lines} {complained.strip()[-300:]}"
    )
    results.check(f"{name}: lockdown is named", wrong)
    wrong = "" if len(lines) == 5 and "(lockdown integrity, module.sig_enforce)" in lines[2] else f"{lines}"
    results.check(f"{name}: so are signatures", wrong)
    wrong = "" if lines[1::2] == ["status 1"] * 2 and lines[4:] == ["0"] else f"{lines}"
    results.check(f"{name}: status 1, and nothing is loaded", wrong)
    wanted = {"machine": "warn", "kernel-debug": "pass", "swap": "pass", "disk-idle": "pass", "scheduler": "pass"}
    seen = {rule: found.get(rule, ("nothing", "")) for rule in wanted}
    wrong = "; ".join(f"{rule}: {seen[rule]}" for rule, verdict in wanted.items() if seen[rule][0] != verdict)
    results.check(f"{series}: raidctl check knows a virtual machine with a stock kernel", wrong or ended.outcome.reason)


def agreement(series: str, results: Results, progress: Progress) -> None:
    """blktrace and raidtrace see one workload: the imported trace and the live recording agree (tests/lab/import-agree)."""
    if shutil.which("blktrace") is None:
        results.line(
            f"skip - {series}: blktrace and raidtrace agree: there is no blktrace here; apt-get install blktrace"
        )
        return
    out = empty(OUT / f"{series}-agreement")
    command = [str(TOP / "tests/lab/import-agree"), "sda"]
    job = session.Session(series, command, out, array(PROFILE, progress), timeout_s=HARNESS_S * 5)
    ended, said, complained = captured(job, progress, out / "log")
    for text in said.splitlines():
        mark, dash, rest = text.partition(" - ")
        if dash and mark in ("ok", "not ok"):
            results.line(f"{mark} - {series}: blktrace and raidtrace: {rest}")
    wrong = ended.outcome.reason
    if not wrong and ended.outcome.status:
        wrong = f"status {ended.outcome.status}: {said.strip()[-300:]} {complained.strip()[-300:]}"
    results.check(f"{series}: blktrace and raidtrace: the guest ended well after {ended.outcome.wall_s:.0f} s", wrong)
