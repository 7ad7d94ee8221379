# SPDX-License-Identifier: GPL-2.0-or-later
"""What the guest's kernel said, and whether it complained."""

import re

import verdict

COMPLAINT = re.compile(r"blocked for more than|soft lockup|detected stall|list_(?:add|del) corruption|Bad page state")
# Not the kernel under test: what stock kernels say about being emulated.
HARMLESS = re.compile(
    r"WARNING: (?:Spectre|You have enabled|Support for this CPU)|lockdown|MDS CPU bug|"
    r"Speculative|RETBleed|spectre|vulnerab|clocksource|perf: interrupt took too long"
)
STAMP = re.compile(r"^(?:<\d+>)?\[ *\d+\.\d+\] ?")


def complaints(log: str) -> list[str]:
    """Lines of a kernel log that say something broke: what the lab looks for everywhere, and what only a kernel with
    several processors and real time can say.
    """
    known = set(verdict.complaints(log))
    return [
        line for line in log.splitlines() if (line in known or COMPLAINT.search(line)) and not HARMLESS.search(line)
    ]


def merge(kept: str, console: str) -> str:
    """One log of the ring buffer as the guest sent it and of the console: the console also has what came
    after, or, when the guest died, all there is.
    """
    known = {STAMP.sub("", line).strip() for line in kept.splitlines()}
    late = [line for line in console.splitlines() if STAMP.match(line) and STAMP.sub("", line).strip() not in known]
    return kept + ("\n" if kept and not kept.endswith("\n") else "") + "".join(f"{line}\n" for line in late)
