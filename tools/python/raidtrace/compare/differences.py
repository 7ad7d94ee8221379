# SPDX-License-Identifier: GPL-2.0-or-later
"""Differences between the machines, commands and settings of two recordings."""

import dataclasses
from collections.abc import Iterator

from raidtrace.recording.spans import Recorded, Span, Target

OTHER_TIMES = "times of the lab's model are not those of a disk: no time or rate is comparable"
# Facts of a recording that say what its numbers are worth, and what of these is incomparable where they differ.
FACTS = {
    "abi": "counters of another ABI may mean something else",
    "simulated": OTHER_TIMES,
    "lab_profile": "another simulated array",
    "source": "an imported trace lacks what blktrace does not tell",
    "command": "another command asks for other work",
    "exit_status": "a command that failed did not do all of its work",
    "end": "one of them ended before its command did",
    "invariants": "numbers that contradict each other",
    "machine": None,
    "hostname": None,
    "kernel": None,
    "module_version": None,
    "unavailable": "counters of tracepoints that one kernel lacks",
    "disturbance": "something else used the machine meanwhile",
}
UNKNOWN_TIMES = "one has times of the lab's model; whose the other's are is not recorded"
OF_BOTH = ("lab_profile", "exit_status", "disturbance")  # what is said of these holds where both have one alone
# They say what happened.
NO_SETTINGS = ("driver_stats", "in_flight_at_attach", "reset", "state", "device", "controller_events")


@dataclasses.dataclass(frozen=True)
class Difference:
    """Something that is not the same in both. what: a fact, a property of the disk, a setting; disk: whose, None for the
    recording; a, b: values, n/a: not known; not_recorded_in: A or B where that is an imported trace and does not hold it.
    """

    what: str
    disk: str | None
    a: str
    b: str
    not_comparable: str | None = None
    not_recorded_in: str | None = None


def same_disk(a: Recorded, b: Recorded, x: str, y: str) -> bool:
    """Whether disks of these names belong together: names do not matter when both have one."""
    return x == y or len(a.targets) == len(b.targets) == 1


def _lacks(a: Recorded, b: Recorded, x: str | None, y: str | None) -> str | None:
    """Which of the two is a trace that does not hold this, if just one is a trace."""
    imported = [bool(one.fact("source")) for one in (a, b)]
    if imported[0] == imported[1]:
        return None
    letter, value = ("A", x) if imported[0] else ("B", y)
    return None if value else letter


def facts(a: Recorded, b: Recorded) -> Iterator[Difference]:
    """Of the recordings."""
    for what, why in FACTS.items():
        x, y = (one.fact(what) for one in (a, b))
        if x == y and not (what == "invariants" and x not in ("", "hold")):
            continue
        lacks = None if what == "source" else _lacks(a, b, x, y)
        if what == "simulated":
            yield Difference(what, None, x or "n/a", y or "n/a", UNKNOWN_TIMES if lacks else why)
            continue
        silent = not (x and y) if what in OF_BOTH else x and y if what == "source" else False
        yield Difference(what, None, x or "n/a", y or "n/a", None if silent else why, lacks)


def targets(a: Recorded, b: Recorded) -> Iterator[Difference]:
    """Of disks."""
    for x in a.targets:
        for y in b.targets:
            if not same_disk(a, b, x.disk, y.disk) or None in (x.unit_3ware, y.unit_3ware):
                continue  # of a disk in a trace its name alone is known
            for what in ("disk", "driver", "pci", "capacity_sectors", "max_sectors"):
                one, other = (_property(target, what) for target in (x, y))
                if one != other:
                    yield Difference(what, x.disk, one, other)


def _property(target: Target, name: str) -> str:
    value = getattr(target, name)
    return str(value or 0) if name == "max_sectors" else str(value) if value else "n/a"


def settings(a: Recorded, b: Recorded, of_a: Span, of_b: Span) -> Iterator[Difference]:
    """Of a disk's settings at the begin of spans that belong together."""
    for name in dict.fromkeys(one.name for of in (a, b) for one in of.settings if one.name not in NO_SETTINGS):
        x, y = a.setting(of_a.target, name, of_a.start_ns), b.setting(of_b.target, name, of_b.start_ns)
        if (x or "n/a") != (y or "n/a"):
            yield Difference(name, of_a.disk, x or "n/a", y or "n/a", None, _lacks(a, b, x, y))
