# SPDX-License-Identifier: GPL-2.0-or-later
"""What the guest's kernel said, and whether it complained."""

import re

COMPLAINT = re.compile(
    r"Kernel panic|\bOops\b|\bBUG\b|\bWARNING:|general protection fault|Unable to handle|Call Trace:"
    r"|lockdep|possible (?:circular locking|recursive locking|deadlock)|suspicious RCU|KASAN|UBSAN|KCSAN"
    r"|refcount_t: |list_(?:add|del) corruption|hung_task|blocked for more than|detected stall|soft lockup"
    r"|Bad page state|scheduling while atomic|kmem_cache_destroy|unable to handle"
)
# Not the kernel under test: what stock kernels say about being emulated.
HARMLESS = re.compile(
    r"WARNING: (?:Spectre|You have enabled|Support for this CPU)|lockdown|MDS CPU bug|"
    r"Speculative|RETBleed|spectre|vulnerab|clocksource|perf: interrupt took too long"
)
STAMP = re.compile(r"^(?:<\d+>)?\[ *\d+\.\d+\] ?")


def complaints(log: str) -> list[str]:
    """Lines of a kernel log that say something broke: panic, oops, BUG, WARN, lockdep, KASAN, hung task."""
    return [line for line in log.splitlines() if COMPLAINT.search(line) and not HARMLESS.search(line)]


def merge(kept: str, console: str) -> str:
    """One log of the ring buffer as the guest sent it and of the console: the console also has what came
    after, or, when the guest died, all there is.
    """
    known = {STAMP.sub("", line).strip() for line in kept.splitlines()}
    late = [line for line in console.splitlines() if STAMP.match(line) and STAMP.sub("", line).strip() not in known]
    return kept + ("\n" if kept and not kept.endswith("\n") else "") + "".join(f"{line}\n" for line in late)
