# SPDX-License-Identifier: GPL-2.0-or-later
"""Looks at the threads of a recorded command (raidctl/machine/looks.c): what it did, and what it waited for."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

IN_KERNEL, RUNNING = "kernel", "running"
MIN_PART = 0.05  # of the looks


@dataclasses.dataclass(frozen=True)
class Looks:
    """Looks at the threads of a command. number: of all. by: what they found -> number of looks, the most first; a look that
    found several things counts for each. functions: where they were in the kernel -> number of looks."""

    number: int
    by: Mapping[str, int]
    functions: Mapping[str, int]

    def asleep(self) -> float:
        """The share of the looks that found the command neither running nor in the kernel."""
        return 1 - sum(self.by.get(name, 0) for name in (IN_KERNEL, RUNNING)) / self.number

    def waits_for(self) -> str | None:
        """The reason of most looks that found it so. None: no look did."""
        return next((name for name in self.by if name not in (IN_KERNEL, RUNNING)), None)

    def most(self) -> dict[str, int]:
        """The reasons that at least 5 % of the looks found -> number of looks."""
        return {name: nr for name, nr in self.by.items() if nr >= MIN_PART * self.number}


def looks(host: Mapping[tuple[str, str], int]) -> Looks | None:
    """The looks at the command in a phase, by its counters of the machine. None: there were none."""
    number = host.get(("look", "all"), 0)
    found: dict[str, int] = {}
    functions: dict[str, int] = {}
    for (source, name), nr in sorted(host.items(), key=lambda item: (-item[1], item[0])):
        if source == "look" and name != "all":
            kind, _, function = name.partition(" ")
            found[kind] = found.get(kind, 0) + nr
            if function:
                functions[function] = nr
    by = dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
    return Looks(number, by, functions) if number else None
