#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl sweep --lab: a failing cell does not end it, a kill is resumed, and what is resumed equals what was not stopped."""

import hashlib
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from lab_checks import TOP, check, finish  # noqa: E402

RAIDCTL = TOP / "tools/bin/raidctl"
PLAN = """title = "small"
trials = 2
[lab]
memory = "48M"
[workload.ddt]
kind = "ddt"
data = "zeros"
[[matrix]]
array = "jbod-4"
md_level = "raid0"
md_members = 2
md_chunk_kib = 64
filesystem = "xfs"
readahead_sectors = 1024
queue_depth = 1
workload = "ddt"
data_size = "64 MiB"
[[matrix]]
array = "9500s-12-raid0"
filesystem = "none"
readahead_sectors = [256, 16384]
workload = "dd"
data_size = "64 MiB"
[workload.job]
kind = "fio"
job_file = "JOB"
[[matrix]]
array = "9500s-12-raid0"
filesystem = "ext4"
workload = "job"
data_size = "16 MiB"
trials = 1
[[matrix]]
array = "9500s-12-raid0"
filesystem = "xfs"
mkfs_options = "--no-such-option"
workload = "ddt"
data_size = "64 MiB"
trials = 1
"""
JOB = "[global]\nbs=64k\nfallocate=none\n[fill]\nrw=write\nend_fsync=1\n[mix]\nstonewall\nrw=randrw\n"


def sweep(*words: str) -> "subprocess.Popen[str]":
    """raidctl sweep --lab in a session of its own."""
    command = [str(RAIDCTL), "sweep", "--lab", "--jobs", "1", *words]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            start_new_session=True)  # fmt: skip


def states(out: pathlib.Path) -> dict[str, int]:
    """How many cells are in which state; the database must be whole."""
    with sqlite3.connect(out / "sweep.rtsw") as db:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        return dict(db.execute("SELECT state, count(*) FROM cell GROUP BY state"))


def figures(out: pathlib.Path) -> list[tuple[object, ...]]:
    """All figures and counters, without real time."""
    with sqlite3.connect(out / "sweep.rtsw") as db:
        return [
            *db.execute("SELECT * FROM figure ORDER BY 1, 2"),
            *db.execute("SELECT * FROM queue ORDER BY 1, 2, 3, 4"),
        ]


def digests(out: pathlib.Path) -> dict[str, str]:
    """The controller's log of each cell that wrote one."""
    return {path.parent.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in out.glob("*/ground-truth.csv")}


def wait_for(out: pathlib.Path, state: str, count: int) -> None:
    """Until so many cells are in a state."""
    end = time.monotonic() + 300
    while time.monotonic() < end:
        if (out / "sweep.rtsw").exists() and states(out).get(state, 0) >= count:
            return
        time.sleep(0.05)


def guests(out: pathlib.Path) -> list[str]:
    """Process ids whose command lines name a sweep's directory."""
    processes = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(out).encode() in path.read_bytes():
                processes.append(path.parent.name)
        except OSError:
            pass
    return processes


def main() -> None:
    """Run all of it in a directory of its own."""
    with tempfile.TemporaryDirectory(prefix="lab-sweep-") as name:
        top = pathlib.Path(name)
        plan = top / "small.toml"
        (top / "job.fio").write_text(JOB)
        plan.write_text(PLAN.replace('"JOB"', f'"{top}/job.fio"'))
        whole, killed, stopped = top / "whole", top / "killed", top / "stopped"
        run = sweep("--out", str(whole), str(plan))
        text, _ = run.communicate(timeout=800)
        check("seven cells are done, the broken one is reported and fails", run.returncode == 1 and
              states(whole) == {"done": 7, "failed": 1} and "make a fresh file system: mkfs.xfs" in text, text)  # fmt: skip
        logs = digests(whole)
        first, second = (next(logs[name] for name in logs if name.startswith(at)) for at in ("0001", "0002"))
        check("a trial on a file system has another seed", first != second, logs)
        with sqlite3.connect(whole / "sweep.rtsw") as db:
            disks = [row[0] for row in db.execute("SELECT DISTINCT disk FROM queue WHERE cell=1 ORDER BY 1")]
            phases = [
                row[0] for row in db.execute("SELECT phase FROM figure WHERE cell=7 AND value > 0 ORDER BY figure")
            ]
        check(
            "a job file of fio gives a figure of each job and direction",
            phases == ["fill", "mix-read", "mix-write"],
            phases,
        )
        check("the members of an md are recorded, too", disks == ["md127", "sda", "sdb"], disks)

        run = sweep("--out", str(killed), str(plan))
        wait_for(killed, "done", 1)
        os.kill(run.pid, signal.SIGKILL)
        run.communicate()
        check("after kill -9 the index is whole", states(killed).get("done", 0) >= 1, states(killed))
        run = sweep("--out", str(killed), "--resume")
        text, _ = run.communicate(timeout=800)
        check("resume finishes", states(killed) == {"done": 7, "failed": 1}, text)
        differ = [pair for pair in zip(figures(killed), figures(whole), strict=True) if pair[0] != pair[1]]
        check(
            "what was killed and resumed, in another directory, has the same figures and counts", not differ, differ[:3]
        )
        check("and the same commands to the nanosecond", digests(killed) == logs, (digests(killed), logs))

        run = sweep("--out", str(stopped), str(plan))
        wait_for(stopped, "running", 1)
        os.kill(run.pid, signal.SIGINT)
        text, _ = run.communicate(timeout=300)
        check("Ctrl-C names the command that continues", run.returncode == 1 and "--resume" in text, text)
        check("and leaves no guest and no cell that runs", not guests(stopped) and "running" not in states(stopped),
              (guests(stopped), states(stopped)))  # fmt: skip
    finish()


if __name__ == "__main__":
    main()
