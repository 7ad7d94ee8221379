# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl on a stock kernel: where a module is refused, which disks may be written; blktrace against a live recording."""

from __future__ import annotations

import json
import re
import shutil

from raidlab.base.progress import Progress
from raidlab.vm import session, stock
from results import HARNESS_S, OUT, TOP, Results, array, captured, empty

# The messages of a kernel that accepts only signed modules, and raidctl's; and the checks of a stock machine.
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
    """Lockdown and enforced signatures: raidctl names the one. raidctl check on a stock machine."""
    out = empty(OUT / f"{series}-refused")
    job = session.Session(
        series,
        ["sh", "-c", REFUSED_SCRIPT],
        out,
        None,
        timeout_s=HARNESS_S,
        prepare=SCSI_DEBUG,
    )
    ended, output, complained = captured(job, progress, out / "log")
    lines = output.splitlines()
    verdicts: dict[str, tuple[str, str]] = {}
    if (out / "check.json").exists():
        findings = json.loads((out / "check.json").read_text(encoding="utf-8"))["findings"]
        verdicts = {finding["rule"]: (finding["verdict"], finding["seen"]) for finding in findings}
    name = f"{series}: a kernel that accepts only signed modules"
    wrong = (
        ""
        if len(lines) == 5
        and "accepts only signed modules (lockdown integrity), but this module is not signed" in lines[0]
        else f"{lines} {complained.strip()[-300:]}"
    )
    results.check(f"{name}: lockdown is named", wrong)
    wrong = "" if len(lines) == 5 and "(lockdown integrity, module.sig_enforce)" in lines[2] else f"{lines}"
    results.check(f"{name}: so are signatures", wrong)
    wrong = "" if lines[1::2] == ["status 1"] * 2 and lines[4:] == ["0"] else f"{lines}"
    results.check(f"{name}: status 1, and nothing is loaded", wrong)
    expected = {"machine": "warn", "kernel-debug": "pass", "swap": "pass", "disk-idle": "pass", "scheduler": "pass"}
    actual = {rule: verdicts.get(rule, ("nothing", "")) for rule in expected}
    wrong = "; ".join(f"{rule}: {actual[rule]}" for rule, verdict in expected.items() if actual[rule][0] != verdict)
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
    ended, output, complained = captured(job, progress, out / "log")
    for text in output.splitlines():
        mark, dash, rest = text.partition(" - ")
        if dash and mark in ("ok", "not ok"):
            results.line(f"{mark} - {series}: blktrace and raidtrace: {rest}")
    wrong = ended.outcome.reason
    if not wrong and ended.outcome.status:
        wrong = f"status {ended.outcome.status}: {output.strip()[-300:]} {complained.strip()[-300:]}"
    results.check(f"{series}: blktrace and raidtrace: the guest ended well after {ended.outcome.wall_s:.0f} s", wrong)


# A kernel that accepts only signed modules: how raidctl reports that, and that its advice is the command that helps.
# A key that this kernel trusts cannot be had here: Debian's is Debian's, and a machine owner's needs firmware, shim and a
# person at the console. So the advice is followed as far as the signature, which the kernel then names.
# Setting that requires signatures -> the words that name it.
ASKED = {
    "module.sig_enforce=1": "module.sig_enforce",
    "lockdown=integrity": "lockdown integrity",
    "lockdown=confidentiality": "lockdown confidentiality",
}
SIGNED_SCRIPT = r"""
mount -t securityfs none /sys/kernel/security 2>/dev/null
cp "$RAIDTRACE_KO" raidtrace.ko
raidctl load raidtrace.ko && echo loaded
raidctl check 2>/dev/null | grep -A2 ' signing '
mkdir -p keys && openssl req -new -x509 -newkey rsa:2048 -nodes -days 9 -subj "/CN=somebody/" -outform DER \
    -keyout keys/mok.key -out keys/mok.pub 2>/dev/null
"$SIGN_FILE" sha256 keys/mok.key keys/mok.pub raidtrace.ko
echo signed
raidctl load raidtrace.ko && echo loaded
:
"""


def signed_only(series: str, results: Results, progress: Progress) -> None:
    """Each setting that requires a signature is named; a module without one and one with a foreign one are distinguished."""
    sign_file = str(next(stock.get(series, progress).entry.glob("usr/lib/linux-kbuild-*/scripts/sign-file")))
    for parameter, words in ASKED.items():
        out = empty(OUT / f"{series}-signing")
        job = session.Session(series, ["sh", "-c", SIGNED_SCRIPT], out, insert=False, timeout_s=HARNESS_S * 3,
                              environment={"SIGN_FILE": sign_file}, parameters=parameter)  # fmt: skip
        ended, output, complained = captured(job, progress, out / "log")
        first, _, second = complained.partition("has no key of")
        wrong = ""
        if not re.search(
            rf"accepts only signed modules \({words}\), but this module is not signed; .*mokutil --import", first
        ):
            wrong = f"status {ended.outcome.status} {ended.outcome.reason} {complained[-600:]}"
        results.check(
            f"{series}: {parameter}: a module that is not signed is refused with the command that helps", wrong
        )
        wrong = "" if '"somebody"' in second and "enrol the key of its signer" in second else complained[-600:]
        results.check(f"{series}: {parameter}: one that somebody signed is refused with another", wrong)
        warned = re.search(
            rf"warn signing - this kernel accepts only signed modules \({words}\)", " ".join(output.split())
        )
        wrong = "" if warned else output[-600:]
        results.check(f"{series}: {parameter}: check warns of it", wrong)
        results.check(
            f"{series}: {parameter}: neither was loaded",
            output[-300:] if "loaded\n" in output.replace("installed", "") else "",
        )


# May this disk be written: the table of tests/lab/ctl-destruction on a stock kernel, which has what the lab's kernels lack.
TABLE_S = 2400.0


def disks_in_use(series: str, results: Results, progress: Progress) -> None:
    """Each row of the table is a test here."""
    out = empty(OUT / f"{series}-disks")
    job = session.Session(series, [str(TOP / "tests/lab/ctl-destruction")], out, timeout_s=TABLE_S)
    ended, output, complained = captured(job, progress, out / "log")
    failures = 0
    for text in output.splitlines():
        mark, dash, rest = text.partition(" - ")
        if dash and mark in ("ok", "not ok", "skip"):
            failures += mark == "not ok"
            results.line(f"{mark} - {series}: {rest}")
    wrong = ended.outcome.reason
    if not wrong and (ended.outcome.status != (failures > 0) or "0 accepted" not in output):
        wrong = f"status {ended.outcome.status} with {failures} failures: {complained.strip()[-300:]}"
    results.check(f"{series}: no disk in use was overwritten, its kernel log is clean", wrong)
