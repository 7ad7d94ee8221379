# SPDX-License-Identifier: GPL-2.0-or-later
"""What the guest's kernel said, and whether it complained."""

import re

from raidlab.uml import verdict

COMPLAINT = re.compile(r"blocked for more than|soft lockup|detected stall|list_(?:add|del) corruption|Bad page state")
STAMP = re.compile(r"^(?:<\d+>)?\[ *\d+\.\d+\] ?")


def complaints(log: str) -> list[str]:
    """Lines of a kernel log that say something broke: what the lab looks for everywhere, and what only a kernel with
    several processors and real time can say. Nothing is excused: the stock kernels have nothing to say of being emulated
    that looks like a complaint.
    """
    known = set(verdict.complaints(log))
    return [line for line in log.splitlines() if line in known or COMPLAINT.search(line)]


def merge(kept: str, console: str) -> str:
    """One log of the ring buffer as the guest sent it and of the console: the console also has what came
    after, or, when the guest died, all there is.
    """
    known = {STAMP.sub("", line).strip() for line in kept.splitlines()}
    late = [line for line in console.splitlines() if STAMP.match(line) and STAMP.sub("", line).strip() not in known]
    return kept + ("\n" if kept and not kept.endswith("\n") else "") + "".join(f"{line}\n" for line in late)
