#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""The controller's write-back cache as the kernel sees it: fsync reaches the model, its time is charged, and what was
flushed survives a power cut that what was not may not."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True
from lab_checks import KEEP, KERNELS, check, guest, offered, output_of, scratch  # noqa: E402

GUEST = Path(__file__).resolve().parent / "model_cache_guest.py"
CUT = 4_000_000  # a sector that nobody else reads
POWER = f"fault.power_lba={CUT}"
# The time that 7 drives of this kind need for 16 MiB at their best.
LEAST_NS = 16 * 1024 * 10**9 // 70312 // 7


def run(top: Path, kernel: str, profile: str, *settings: str) -> tuple[str, dict[str, Any], str]:
    """A name for it, what the guest reports (empty if the run failed), the kernel's log."""
    name = " ".join((kernel, profile, *settings))
    cut = CUT if POWER in settings else 0
    out = top / str(abs(hash(name)))
    done = guest(out, "python3", GUEST, cut, kernel=kernel, profile=profile, settings=settings, options=KEEP)
    if not output_of(name, done):
        return name, {}, ""
    result = json.loads(done.stdout)
    check(f"{name}: raidtrace's invariants hold", not result["violations"], result["violations"])
    check(f"{name}: nothing is left in flight and nothing fails",
          not result["counted"]["in-flight"] and not result["counted"]["errors"], result["counted"])  # fmt: skip
    return name, result, (out / "kernel.log").read_text(errors="replace")


def flushes(top: Path, kernel: str) -> None:
    """A cache that is reported: fsync is SYNCHRONIZE CACHE, which takes as long as the drives."""
    name, result, log = run(top, kernel, "9650se-8-raid5")
    if not result:
        return
    check(f"{name}: the block layer knows of the cache, and of no FUA",
          (result["write_cache"], result["fua"]) == ("write back", "0"), result)  # fmt: skip
    check(f"{name}: so does sd", "Write cache: enabled, read cache: enabled, doesn't support DPO or FUA" in log, log)
    syncs = [row for row in result["log"] if row[0] == "SYNCHRONIZE_CACHE"]
    writes = [row for row in result["log"] if row[0] == "WRITE"]
    check(f"{name}: each fsync is one flush", len(syncs) == 2 == result["sent"], result["log"][-5:])
    check(f"{name}: raidtrace counts as many",
          list(result["flush"].values()) == [2, 2, 0, 0, 0], result["flush"])  # fmt: skip
    if len(syncs) != 2 or not writes:
        return
    check(
        f"{name}: it comes after the writes are answered",
        syncs[0][1] >= max(row[2] for row in writes),
        result["log"][-5:],
    )
    spent = [row[2] - row[1] for row in syncs]
    begun = min(row[1] for row in writes)
    check(
        f"{name}: and is done when the drives can have written all",
        syncs[0][2] - begun >= LEAST_NS,
        spent,
    )
    check(f"{name}: the first has much to wait for, the second nothing", spent[0] > 20 * spent[1] > 0, spent)


def unreported(top: Path) -> None:
    """A cache that is not reported: nothing is sent, and without a battery a power cut takes what fsync promised."""
    name, result, log = run(top, "6.1", "9500s-12-raid0", POWER, "controller.battery=0")
    if not result:
        return
    check(f"{name}: sd and the block layer know of no cache",
          result["write_cache"] == "write through" and "Write cache: disabled" in log, result["write_cache"])  # fmt: skip
    check(f"{name}: fsync sends nothing", result["sent"] == 0 and result["flush"]["issued"] == 0, result)
    check(f"{name}: some data that was not flushed is lost", result["unflushed_lost"] > 0, result)
    check(f"{name}: the driver gets the event of lost data", "(0x04:0x005F)" in log, log[-2000:])


def power(top: Path) -> None:
    name, result, log = run(top, "6.1", "9650se-8-raid5", POWER, "controller.battery=0")
    if result:
        check(f"{name}: flushed data is there", result["flushed_lost"] == 0, result["flushed_lost"])
        check(f"{name}: of the rest, some is lost", result["unflushed_lost"] > 0, result["unflushed_lost"])
        check(f"{name}: the driver gets an event", "(0x04:0x005F)" in log, log[-2000:])
        check(
            f"{name}: the running command is issued again",
            result["counted"]["requeued"] == 1,
            result["counted"],
        )
    name, result, log = run(top, "6.1", "9650se-8-raid5", POWER)
    if result:
        lost = result["flushed_lost"] + result["unflushed_lost"]
        check(f"{name}: a battery keeps everything", lost == 0, result)
        check(f"{name}: the driver gets an event", "(0x04:0x005E)" in log and "(0x04:0x005F)" not in log, log[-2000:])


def main() -> None:
    with scratch() as top:
        for kernel in sys.argv[1:] or KERNELS:
            if offered(kernel, kernel):
                flushes(top, kernel)
        unreported(top)
        power(top)


main()
