#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""Faults of the simulated controller: the driver, the block layer and raidtrace survive each, and no byte is wrong."""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True
from lab_checks import KEEP, KERNELS, check, guest, offered, output_of, scratch  # noqa: E402

GUEST = Path(__file__).resolve().parent / "model_faults_guest.py"
SMALL = ("drive.sectors=1000000", "store_mib=128")


@dataclass
class Case:
    """A fault, and what is to come of it. `read_errors`: offsets of reads that fail, None for some.
    `resets`: of the host by the driver. `events`: codes that the driver prints."""

    name: str
    profile: str
    settings: tuple[str, ...]
    disk: str = "sda"
    rounds: int = 12
    pause_s: float = 0.2
    resets: int = 0
    requeued: bool = False
    read_errors: tuple[int, ...] | None = ()
    write_errors: bool = False
    state: str = "ok"
    events: tuple[str, ...] = field(default=())
    kernel: str = "7.2"  # a guest takes half of the processor time of one of 6.1


BAD = ("fault.medium_lba=49000", "fault.medium_ms=2500")
REMOVED = ("fault.remove_member=3", "fault.remove_ms=1500")
REBUILD = (*SMALL, *REMOVED, "fault.replace_ms=1000", "array.background_pause_us=2000")
SECOND = ("fault.second_member=9", "fault.second_ms=2500")
PARTNER = ("fault.second_member=4", "fault.second_ms=2500")
DIED = ("0x0019", "0x0002", "0x0006")
DEAD: dict[str, Any] = {"read_errors": None, "write_errors": True, "state": "offline"}
# Members of 32 MiB, processed during the workload, as model-rates.py does with whole ones.
BACKGROUND = ("drive.sectors=65536", "store_mib=128", "array.background_pause_us=2000")
REBUILT = ("0x0019", "0x0002", "0x001A", "0x000B", "0x0005")
CASES = (
    Case("no fault", "9500s-12-raid0", ()),
    Case("lost command", "9500s-12-raid0", ("fault.lose_command=100",), resets=1, requeued=True),
    Case("lost command by time", "9500s-12-raid5", ("fault.lose_ms=1000",), resets=1, requeued=True),
    Case("lost command by place", "9500s-12-raid0", ("fault.lose_lba=30000",), resets=1, requeued=True),
    Case("controller reset", "9500s-12-raid0", ("fault.reset_command=100",), resets=1, requeued=True),
    # The driver gives back what it cannot post, and the block layer puts it in the queue again.
    Case("queue full", "9500s-12-raid0", ("fault.full_command=50", "fault.full_for_ms=3000"), requeued=True),
    Case("slow drive", "9500s-12-raid0", ("fault.slow_member=4", "fault.slow_ms=1000", "fault.slow_factor=30")),
    # In the last MiB of the span; strikes after the last write. The read of that MiB fails, and no other.
    Case("bad sector", "jbod-4", BAD, read_errors=(23 << 20,), events=("0x0026",)),
    Case("bad sector, redundant", "9500s-12-raid5", BAD, events=("0x0026", "0x0023")),
    Case("unit gone", "jbod-4", ("fault.gone_ms=1500",), **DEAD, events=("0x000D",)),
    Case("another unit gone", "jbod-4", ("fault.gone_ms=1500", "fault.unit=2"), events=("0x000D",)),
    Case("drive removed, RAID 0", "9500s-12-raid0", REMOVED, **DEAD, events=("0x0019", "0x0006")),
    Case("drive removed, RAID 5", "9500s-12-raid5", SMALL + REMOVED, state="degraded", events=("0x0019", "0x0002")),
    Case("second drive removed, RAID 5", "9500s-12-raid5", SMALL + REMOVED + SECOND, **DEAD, events=DIED),
    Case(
        "second drive removed, RAID 10",
        "9500s-12-raid0",
        (*SMALL, *REMOVED, *SECOND, "array.level=raid10"),
        state="degraded",
        events=("0x0019", "0x0002"),
    ),
    Case(
        "second drive of a pair, RAID 10",
        "9500s-12-raid0",
        (*SMALL, *REMOVED, *PARTNER, "array.level=raid10"),
        **DEAD,
        events=DIED,
    ),
    Case(
        "second drive during rebuild",
        "9500s-12-raid5",
        (*REBUILD, "fault.second_member=9", "fault.second_ms=4000"),
        rounds=30,
        **DEAD,
        events=(*DIED, "0x001A", "0x000B", "0x0004"),
    ),
    *(
        Case(f"rebuild, RAID 5, {kernel}", "9500s-12-raid5", REBUILD, rounds=100, events=REBUILT, kernel=kernel)
        for kernel in KERNELS
    ),
    Case("rebuild, RAID 10", "9500s-12-raid0", (*REBUILD, "array.level=raid10"), rounds=100, events=REBUILT),
    Case("initialising", "9650se-8-raid5", (*BACKGROUND, "array.initialize=1"), rounds=60, events=("0x000C", "0x0007")),
    Case("verifying", "9650se-8-raid5", (*BACKGROUND, "array.verify=1"), rounds=40, events=("0x0029", "0x002B")),
    Case("rebuild, no cache", "9650se-8-raid5", (*REBUILD, "controller.cache_mib=0"), rounds=100, events=REBUILT),
)


def examine(case: Case, out: Path, result: dict[str, Any]) -> None:
    """Each promise is a check of its own, so that a failure names it."""
    counted = result["counted"]
    check(f"{case.name}: every byte reads back", not result["wrong"], result["wrong"])
    check(f"{case.name}: raidtrace's invariants hold", not result["violations"], result["violations"])
    if case.read_errors is None:
        check(f"{case.name}: reads that cannot succeed fail", result["read_errors"])
    else:
        fails = tuple(result["read_errors"])
        check(f"{case.name}: no other read fails", fails == case.read_errors, fails)
    check(f"{case.name}: writes fail or not", bool(result["write_errors"]) == case.write_errors, result["write_errors"])
    if case.read_errors == () and not case.write_errors:
        check(f"{case.name}: sha256 of all that was written is that of all that is read at the end",
              result["sha256"][0] == result["sha256"][1], result["sha256"])  # fmt: skip
    ends = sum(counted[name] for name in ("completed", "requeued", "in-flight", "abandoned"))
    check(f"{case.name}: issued = completed + requeued + in flight + abandoned", counted["issued"] == ends, counted)
    check(f"{case.name}: nothing is left in flight", counted["in-flight"] == 0, counted)
    check(f"{case.name}: resets by the driver", result["driver"]["SCSI Host Resets"] == case.resets, result["driver"])
    check(f"{case.name}: requeued or not", (counted["requeued"] > 0) == case.requeued, counted)
    check(
        f"{case.name}: raidtrace counts errors if and only if there are",
        bool(counted["errors"]) == bool(result["read_errors"] or result["write_errors"]), counted,
    )  # fmt: skip
    check(
        f"{case.name}: the unit ends {case.state}", result["controller"]["unit_0"] == case.state, result["controller"]
    )
    log = (out / "kernel.log").read_text(errors="replace")
    missing = [code for code in case.events if f"(0x04:{code})" not in log]
    check(f"{case.name}: the driver got the events", not missing, f"{missing}\n{log[-2000:]}")
    check_truth(case, out, counted)


def check_truth(case: Case, out: Path, counted: dict[str, int]) -> None:
    """The controller was given as many commands as raidtrace saw issued; those it threw away were issued again."""
    with open(out / "ground-truth.csv", encoding="ascii") as file:
        rows = [row for row in csv.DictReader(file) if row["name"] in ("READ", "WRITE")]
    states = Counter(row["status"] for row in rows)
    vanished = states["lost"] + states["reset"]
    check(f"{case.name}: the controller's log has the lost commands", bool(vanished) == bool(case.resets), states)
    if case.resets:
        check(f"{case.name}: what vanished was requeued", counted["requeued"] >= vanished, (counted, states))


def main() -> None:
    chosen = [case for case in CASES if not sys.argv[1:] or case.name in sys.argv[1:]]
    with scratch() as top:
        for number, case in enumerate(chosen):
            out = top / str(number)
            if not offered(case.name, case.kernel):
                continue
            done = guest(out, "python3", GUEST, case.disk, case.rounds, case.pause_s, kernel=case.kernel,
                         profile=case.profile, settings=case.settings, options=KEEP)  # fmt: skip
            if output_of(case.name, done):
                examine(case, out, json.loads(done.stdout))


main()
