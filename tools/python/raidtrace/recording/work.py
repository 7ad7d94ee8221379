# SPDX-License-Identifier: GPL-2.0-or-later
"""The work of a program in a phase, and whether a second program did the same work in less time.

Only the time of the same work compares two programs. The rate of a disk does not: readahead, the page cache and other
processes change the bytes that the disk moves for the same work.
"""

import dataclasses
import enum
from collections.abc import Mapping

from raidtrace.quantity import units
from raidtrace.recording.observation import Observation

# Bytes and calls may differ by the larger of a share and a number: of other commands, and of equal commands, whose first
# run may also load programs and libraries.
OTHER, EQUAL = (0.01, 1 << 16, 64), (0.05, 1 << 20, 256)  # share, bytes, calls
SAME_FACTOR = 1.1  # two times with a smaller quotient are equal
PAGE_BYTES = 4096  # of a page fault


class Kind(enum.StrEnum):
    """The relation of the work of two phases."""

    SAME = "same"
    DIFFERENT = "different"
    UNKNOWN = "unknown"


@dataclasses.dataclass(frozen=True)
class Work:
    """The work of one phase. seconds: its length. octets, calls: of the program's read and write calls; None: not
    recorded. faults: page faults that waited for a disk. command: its words as JSON; empty: not recorded. complete:
    the command ended with status 0 within the recording. direct: bytes at the disk that bypassed the page cache; those of
    libaio and io_uring are in no call. foreign: bytes that other processes queued at this disk."""

    seconds: float
    octets: int | None = None
    calls: int | None = None
    faults: int = 0
    command: str = ""
    complete: bool = True
    direct: int = 0
    foreign: int = 0

    def aside(self) -> bool:
        """Whether most of the known bytes were not moved by calls, but by direct I/O of libaio or io_uring."""
        return self.direct > (self.octets or 0)

    def mapped(self) -> bool:
        """Whether most of the known bytes were read through a mapping, whose used pages are not all counted."""
        return self.faults * PAGE_BYTES > max(self.octets or 0, self.direct)

    def text(self) -> str:
        """The calls and bytes in words."""
        if self.octets is None or self.calls is None:
            return "calls not recorded"
        if self.aside():
            return f"{units.octets(self.direct)} of direct I/O"
        mapped = f" and {self.faults:,} page faults" if self.mapped() else ""
        return f"{units.octets(self.octets)} in {self.calls:,} calls{mapped}"


@dataclasses.dataclass(frozen=True)
class Compared:
    """The works of A and B. kind: their relation. why: the reason if it is not SAME; otherwise empty. factor: the time
    of B divided by that of A; None: the works are not known to be the same."""

    a: Work
    b: Work
    kind: Kind
    why: str = ""
    factor: float | None = None

    def level(self) -> bool:
        """Whether the same work took the same time."""
        return self.factor is not None and 1 / SAME_FACTOR < self.factor < SAME_FACTOR

    def sentence(self) -> str:
        """Which program is faster, or why none is called faster."""
        times = (
            f"{units.significant(self.b.seconds)} s instead of {units.significant(self.a.seconds)} s, in one run each"
        )
        if self.factor is None:
            known = "is not known to be the same" if self.kind is Kind.UNKNOWN else "differs"
            return f"The work of A and B {known} ({self.why}), so neither is called faster."
        if self.level():
            return f"A and B took the same time within 10 % for the same work ({self.a.text()}): {times}."
        if self.factor > 1:
            return f"B took {self.factor:.2f} times as long as A for the same work ({self.b.text()}): {times}."
        return f"B is faster by a factor of {1 / self.factor:.2f}: the same work ({self.b.text()}) took {times}."


def of(phase: Observation, meta: Mapping[str, str]) -> Work:
    """The work of a phase. meta: facts of its recording."""
    direct = (phase.origin or {}).get("direct", {})
    name = (
        "bytes_queued" if phase.disk.bio_based else "bytes_issued"
    )  # bios that are refused and come again are queued twice
    foreign = sum(one.bytes for one in phase.submitters or () if one.pid in phase.others)
    work = of_host(phase.seconds(), phase.host, meta)
    return dataclasses.replace(work, direct=direct.get(name, 0), foreign=foreign)


def of_host(seconds: float, host: Mapping[tuple[str, str], int], meta: Mapping[str, str]) -> Work:
    """The work of a phase of so many seconds. host: (source, name) -> growth of a counter of the machine. meta: facts
    of the recording."""
    names = ("rchar", "wchar", "syscr", "syscw")
    known = any(("command", name) in host for name in names)
    read, written, reads, writes = (host.get(("command", name), 0) for name in names)
    complete = (meta.get("exit_status") or "0") == "0" and (meta.get("end") or "complete") == "complete"
    return Work(
        seconds,
        read + written if known else None,
        reads + writes if known else None,
        host.get(("command", "major_faults"), 0),
        meta.get("command") or "",
        complete,
    )


def compare(a: Work, b: Work) -> Compared:
    """Compare two works by their calls and bytes. With mapped files, whose used pages are not all counted, the commands
    must be equal, too."""
    for letter, work in (("A", a), ("B", b)):
        if work.octets is None:
            return Compared(a, b, Kind.UNKNOWN, f"the calls of {letter} were not recorded")
        if not work.complete:
            return Compared(a, b, Kind.DIFFERENT, f"the command of {letter} failed, or its recording ended early")
        if not work.calls and not work.faults and not work.direct:
            return Compared(a, b, Kind.UNKNOWN, f"{letter} made no calls in this phase")
    share, octets, calls = EQUAL if a.command == b.command and a.command else OTHER
    if a.aside() or b.aside():
        if any(one.foreign > max(octets, share * one.direct) for one in (a, b)):
            return Compared(a, b, Kind.UNKNOWN, "its direct I/O is in no call, and other processes used the disk, too")
        if not _near(a.direct, b.direct, octets, share):
            return Compared(a, b, Kind.DIFFERENT, f"A: {a.text()}; B: {b.text()}")
    elif not _near(a.octets or 0, b.octets or 0, octets, share) or not _near(a.calls or 0, b.calls or 0, calls, share):
        return Compared(a, b, Kind.DIFFERENT, f"A: {a.text()}; B: {b.text()}")
    if (a.mapped() or b.mapped()) and a.command != b.command:
        text = "other commands, and the pages of a mapping that are used without a wait are not counted"
        return Compared(a, b, Kind.UNKNOWN, text)
    if not a.seconds or not b.seconds:
        return Compared(a, b, Kind.UNKNOWN, "the phase has no length")
    return Compared(a, b, Kind.SAME, "", b.seconds / a.seconds)


def _near(a: int, b: int, least: int, share: float) -> bool:
    return abs(a - b) <= max(least, share * max(a, b))
