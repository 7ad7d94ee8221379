#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""For ctl-why: experiments that are killed with SIGKILL, each at another random place, and their remains.

    why_kills.py KILLS FIRST LAST SEED DISK...

The disks take turns. An experiment is cut into KILLS parts of equal length; of these FIRST to LAST are done, one kill at a
random place in each. Where time is simulated a place is an event, with LAB=vm a moment (see sweep_kills.py). After each
`raidctl why restore` must put back all that was changed, and end what still runs.
"""

import os
import pathlib
import random
import signal
import sys
import time

from sweep_kills import LOG, NOTES, differing, run, state

PROGRAMS = "dd", "raidctl"
FEW = 2  # kills of which one must have fallen while a setting was changed
REAL_TIME = os.environ.get("LAB") == "vm"


def words(disk: str) -> list[str]:
    """An experiment of few runs; fewer where a program takes seconds to start."""
    return ["why", "--quiet", "--disk", disk, "--runs", "8" if REAL_TIME else "18", "--out", "killed", "--",
            "dd", f"if=/dev/{disk}", "of=/dev/null", "bs=64k", "count=32"]  # fmt: skip


def running() -> str:
    """Programs of an experiment that are there."""
    names = [path.read_text().strip() for path in pathlib.Path("/proc").glob("[0-9]*/comm") if path.exists()]
    return " ".join(name for name in names if name in PROGRAMS)


def judge(disks: list[str], before: dict[str, str]) -> tuple[bool, str]:
    """The restore after a kill: whether there was something to put back, and what is wrong then."""
    journal = bool(state(disks)["journals"])
    if run(["why", "restore"]):
        return journal, "restore failed"
    # the note of a recorder that died is taken away by the next one
    wrong = differing(before, state(disks) | {NOTES: before[NOTES]})
    return journal, wrong or (f"still there: {running()}" if running() else "")


def main() -> int:
    """All kills; exit status 1 when anything was not as before."""
    kills, first, last, seed = map(int, sys.argv[1:5])
    disks = sys.argv[5:]
    most = float(os.environ.get("WHY_SECONDS") or "inf")
    before, started = state(disks), time.monotonic()
    whole: dict[str, tuple[float, int]] = {}
    for disk in disks:
        begun = time.monotonic()
        if run(words(disk)):
            print(pathlib.Path(LOG).read_text())
            return 1
        whole[disk] = time.monotonic() - begun, int(pathlib.Path("events").read_text())
    killed, journals, bad = 0, 0, 0
    for number in range(first, last + 1):
        if time.monotonic() - started > most:
            print(f"# {most:.0f} s are over: go on with WHY_FIRST={number}")
            break
        disk = disks[number % len(disks)]
        seconds, events = whole[disk]
        place, status = (number - 1 + random.Random(seed + number).random()) / kills, 0
        while status != -signal.SIGKILL and place > 1e-5:
            status = run(words(disk), *((0, seconds * place) if REAL_TIME else (1 + int(events * place), None)))
            place *= 0.9  # it had ended by then: this one was faster
        journal, wrong = judge(disks, before)
        killed, journals, bad = killed + (status == -signal.SIGKILL), journals + journal, bad + bool(wrong)
        if wrong:
            print(f"# kill {number} of {disk}: {wrong}\n{pathlib.Path(LOG).read_text()}", flush=True)
        pathlib.Path(LOG).unlink(missing_ok=True)
        if number % 10 == 0 or number == last:
            print(
                f"# {killed} kills, {journals} left a journal, {bad} bad, {time.monotonic() - started:.0f} s",
                flush=True,
            )
    experiments = ", ".join(f"{disk} {seconds:.1f} s, {events} events" for disk, (seconds, events) in whole.items())
    print(f"# an experiment: {experiments}\nkilled {killed} times, {journals} left a journal, {bad} bad")
    if not journals:
        print(f"# no kill of {killed} fell while a setting was changed")
    return 1 if bad or (not journals and killed >= FEW) else 0


if __name__ == "__main__":
    sys.exit(main())
