#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""For ctl-sweep: sweeps of plan.toml that are killed with SIGKILL, each at another random place, and their remains.

    sweep_kills.py KILLS FIRST LAST SEED DISK,DISK[,DISK...]

The sweep is cut into KILLS parts of equal length; of these FIRST to LAST are done, one kill at a random place in each. Where
time is simulated the places are events (sweep_guest.py), because a moment would always hit a wait. With LAB=vm time is real:
a place is a moment of the sweep, so that whatever takes long is hit often, programs that the sweep started among them.

The next start is `raidctl sweep restore` after every other kill, and the same sweep, resumed where it had an index already,
after each: then all that a sweep may change on any of the disks must be as before, and when it has ended nothing of it may be
left and the index must be whole with all cells done. Sweeps are forks of this process, which has loaded what they
need: emulated processors take seconds to do that.
"""

import collections
import contextlib
import glob
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import traceback

import sweep_guest

from raidtrace.sweep import steps

KILLED, OUT, LOG = pathlib.Path("killed"), "killed", "kills.log"
NOTES = "notes of targets"


def state(disks: list[str]) -> dict[str, str]:
    """All that a sweep may change, and what it may leave behind: array, mount, journal, note of a target."""
    paths = [f"/proc/sys/vm/{name}" for name in steps.VM_KEYS]
    for disk in disks:
        paths += sorted(glob.glob(f"/sys/block/{disk}/queue/*"))
        paths += [f"/sys/block/{disk}/device/queue_depth", f"/sys/block/{disk}/ro"]
    values = {}
    for path in paths:
        with contextlib.suppress(OSError):  # a directory, or a setting that this disk does not have
            values[path] = pathlib.Path(path).read_text().strip()
    mounts = [
        line for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines() if "raidtrace/sweep" in line
    ]
    values["mounted"] = "\n".join(mounts)
    values["arrays"] = " ".join(path.name for path in pathlib.Path("/sys/block").glob("md*"))
    left = [str(path) for path in pathlib.Path("/run/raidtrace").rglob("*") if path.is_file()]
    values["journals"] = " ".join(path for path in left if "/sweep/" in path)
    values[NOTES] = " ".join(path for path in left if "/sweep/" not in path)
    return values


def differing(before: dict[str, str], now: dict[str, str]) -> str:
    """The differences from before, in words; empty if there are none."""
    return ", ".join(f"{name}: {value!r} -> {now[name]!r}" for name, value in before.items() if now[name] != value)


def begin(kill_at: int, words: list[str]) -> int:
    """Fork a sweep; returns its process id."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        log = os.open(LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        status = sweep_guest.sweep(kill_at, words)
        pathlib.Path("events").write_text(str(sweep_guest.count))
        sys.stdout.flush()
    except BaseException:  # whatever it is, this process must not go on as its parent
        traceback.print_exc()
    finally:
        os._exit(status)


def run(words: list[str], kill_at: int = 0, after_s: float | None = None) -> int:
    """A sweep, killed at an event or after a time; its exit status, -9 when it was killed."""
    pid = begin(kill_at, words)
    if after_s is not None:
        time.sleep(after_s)
        os.kill(pid, signal.SIGKILL)  # one that ended by itself waits for us, so the number is still its own
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def empty(disks: list[str]) -> None:
    """No signature on the disks, no results."""
    for disk in disks:
        with open(f"/dev/{disk}", "r+b", buffering=0) as file:
            file.write(bytes(1 << 18))
    shutil.rmtree(KILLED, ignore_errors=True)
    pathlib.Path(LOG).unlink(missing_ok=True)


def hit() -> str:
    """The step of the sweep when it was killed, in words."""
    if not (KILLED / "sweep.rtsw").exists():
        return "before there was an index"
    with sqlite3.connect(KILLED / "sweep.rtsw") as db:
        row = db.execute("SELECT cell, directory FROM cell WHERE state = 'running'").fetchone()
        if not row:
            return (
                "between cells"
                if db.execute("SELECT 1 FROM cell WHERE state = 'done'").fetchone()
                else "before the cells"
            )
        try:
            number = int((KILLED / row[1] / "step").read_text())
        except (OSError, ValueError):
            return "before a cell's first step"
        purpose = db.execute("SELECT purpose FROM step WHERE cell = ? AND step = ?", (row[0], number)).fetchone()[0]
        return "settings" if " of " in purpose or purpose.startswith("vm.") else purpose


def whole() -> str:
    """The defects of the index of a sweep that ended; empty if there are none."""
    with sqlite3.connect(KILLED / "sweep.rtsw") as db:
        integrity = db.execute("PRAGMA integrity_check").fetchone()[0]
        states = [row[0] for row in db.execute("SELECT state FROM cell")]
        rows = db.execute("SELECT count(DISTINCT cell) FROM figure").fetchone()[0]
    good = integrity == "ok" and set(states) == {"done"} and rows == len(states)
    return "" if good else f"index: {integrity}, cells {' '.join(states)}, figures of {rows}"


def targets() -> str:
    """Disks that are still targets."""
    done = subprocess.run(["raidctl", "status", "--json"], capture_output=True, text=True, check=True)
    return " ".join(target["disk"] for target in json.loads(done.stdout)["targets"])


def judge(number: int, words: list[str], disks: list[str], before: dict[str, str]) -> str:
    """The next start after a kill, and the one that finishes. What was wrong, empty when nothing was."""
    if number % 2 == 0:
        if run(["restore"]):
            return "restore failed"
        # the note of a recorder that died is taken away by the next one
        wrong = differing(before, state(disks) | {NOTES: before[NOTES]})
        if wrong:
            return f"after restore: {wrong}"
    resume = (KILLED / "sweep.rtsw").exists()
    status = run([*words, "--resume"] if resume else [*words, "plan.toml"])
    if status:
        return f"the next sweep ended with {status}"
    wrong = differing(before, state(disks))
    return f"at the end: {wrong}" if wrong else whole() or (f"still attached: {targets()}" if targets() else "")


def main() -> int:
    """All kills; exit status 1 when anything was not as before."""
    kills, first, last, seed = map(int, sys.argv[1:5])
    disks = sys.argv[5].split(",")
    real_time = os.environ.get("LAB") == "vm"
    words = ["--ignore-check", "--destroy-data", ",".join(disks[:2]), "--out", OUT]
    before = state(disks)
    empty(disks[:2])
    started = time.monotonic()
    if run([*words, "plan.toml"]):
        print(pathlib.Path(LOG).read_text())
        return 1
    seconds = time.monotonic() - started
    events = int(pathlib.Path("events").read_text())
    hits: collections.Counter[str] = collections.Counter()
    bad = 0
    most = float(os.environ.get("SWEEP_SECONDS") or "inf")
    for number in range(first, last + 1):
        if time.monotonic() - started > most:
            print(f"# {most:.0f} s are over: go on with SWEEP_FIRST={number}")
            break
        place = (number - 1 + random.Random(seed + number).random()) / kills
        empty(disks[:2])
        status = 0
        while status != -signal.SIGKILL and place > 1e-5:
            status = run(
                [*words, "plan.toml"], *((0, seconds * place) if real_time else (1 + int(events * place), None))
            )
            place *= 0.9 if status != -signal.SIGKILL else 1  # it had ended by then: this one was faster
            if status != -signal.SIGKILL:
                empty(disks[:2])
        where = hit()
        hits[where] += 1
        wrong = judge(number, words, disks, before)
        if wrong:
            bad += 1
            print(f"# kill {number}, {where}: {wrong}\n{pathlib.Path(LOG).read_text()}", flush=True)
        if number % 10 == 0 or number == last:
            print(f"# {sum(hits.values())} kills, {bad} bad, {time.monotonic() - started:.0f} s", flush=True)
    print(
        f"# one sweep: {seconds:.1f} s, {events} events; killed at: "
        + ", ".join(f"{n} {w}" for w, n in hits.most_common())
    )
    print(f"killed {sum(hits.values())} times, {bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
