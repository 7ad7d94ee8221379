# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel that takes signed modules only: how raidctl says so, and that its advice is the command that helps.

A key that this kernel trusts cannot be had here: Debian's is Debian's, and a machine owner's needs firmware, shim and a
person at the console. So the advice is followed as far as the signature, which the kernel then names.
"""

from __future__ import annotations

import re

from raidlab.base.progress import Progress
from raidlab.vm import session, stock
from results import HARNESS_S, OUT, Results, captured, empty

# What is asked -> the words that name it.
ASKED = {
    "module.sig_enforce=1": "module.sig_enforce",
    "lockdown=integrity": "lockdown integrity",
    "lockdown=confidentiality": "lockdown confidentiality",
}
SCRIPT = r"""
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


def refused(series: str, results: Results, progress: Progress) -> None:
    """Each thing that asks for a signature is named; a module without one and one of somebody else's are told apart."""
    sign_file = str(next(stock.get(series, progress).entry.glob("usr/lib/linux-kbuild-*/scripts/sign-file")))
    for parameter, words in ASKED.items():
        out = empty(OUT / f"{series}-signing")
        job = session.Session(series, ["sh", "-c", SCRIPT], out, insert=False, timeout_s=HARNESS_S * 3,
                              environment={"SIGN_FILE": sign_file}, parameters=parameter)  # fmt: skip
        ended, said, complained = captured(job, progress, out / "log")
        first, _, second = complained.partition("has no key of")
        wrong = ""
        if not re.search(rf"signed modules only \({words}\), and it is not signed; .*mokutil --import", first):
            wrong = f"status {ended.outcome.status} {ended.outcome.reason} {complained[-600:]}"
        results.check(
            f"{series}: {parameter}: a module that is not signed is refused with the command that helps", wrong
        )
        wrong = "" if '"somebody"' in second and "enrol the key of its signer" in second else complained[-600:]
        results.check(f"{series}: {parameter}: one that somebody signed is refused with another", wrong)
        found = re.search(rf"warn signing - this kernel takes signed modules only \({words}\)", " ".join(said.split()))
        wrong = "" if found else said[-600:]
        results.check(f"{series}: {parameter}: check warns of it", wrong)
        results.check(
            f"{series}: {parameter}: neither was loaded",
            said[-300:] if "loaded\n" in said.replace("installed", "") else "",
        )
