#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: records the runs of a list, one after the other: guest.py LIST.json. Started by battery.

Each is {"name", "settings", "interval", "prepare", "command", "other", "grouped", "limit", "within"}; it leaves NAME.rtdb,
and what went wrong in NAME.err.
"""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys

BLOCK = pathlib.Path("/sys/block")
FILES = {"queue_depth": "device/queue_depth"} | {name: f"queue/{name}" for name in (
    "scheduler", "nr_requests", "max_sectors_kb", "nomerges")}  # fmt: skip
GROUPS = pathlib.Path("/run/lab/tmp/cgroups")
LIMITED = GROUPS / "held"  # the command is in it, or below it
# of a 3ware unit; other disks have the kernel's own
PLAIN = {"scheduler": "mq-deadline", "queue_depth": 254, "nr_requests": 256, "max_sectors_kb": 128, "nomerges": 0}
NCQ = 32  # commands that a SATA disk takes at once
OWN: dict[str, dict[str, str]] = {}  # settings of a disk at the start of its guest


def shell(text: str) -> subprocess.CompletedProcess[str]:
    """A line of shell."""
    return subprocess.run(["sh", "-c", text], capture_output=True, text=True, check=False)


def own(disk: str) -> dict[str, str]:
    """The settings of a disk at the first call."""
    if disk not in OWN:
        paths = {name: BLOCK / disk / path for name, path in FILES.items() if (BLOCK / disk / path).exists()}
        OWN[disk] = {name: path.read_text(encoding="utf-8").strip() for name, path in paths.items()}
        active = OWN[disk]["scheduler"]
        OWN[disk]["scheduler"] = active[active.index("[") + 1 : active.index("]")]
    return OWN[disk]


def arrange(disk: str, settings: dict[str, str | int]) -> list[str]:
    """Set the queue. Returns the settings that were refused. Without a scheduler nr_requests is not more than queue_depth."""
    wrong = []
    plain = PLAIN if int(own(disk).get("queue_depth", 0)) > NCQ else {}
    for name, value in {**own(disk), **plain, **settings}.items():
        if name == "readahead_sectors":
            shell(f"blockdev --setra {value} /dev/{disk}")
            continue
        try:
            (BLOCK / disk / FILES[name]).write_text(str(value))
        except OSError as error:
            wrong += [f"{name}={value}: {error}"] if name in settings else []
    return wrong


def grouped(run: dict[str, object]) -> str:
    """The begin of the command: it enters a cgroup, which has the limit or none."""
    if not run.get("grouped"):
        return ""
    if not LIMITED.exists():
        shell(f"mkdir {GROUPS}; mount -t cgroup2 cgroup2 {GROUPS}; echo +io +memory >{GROUPS}/cgroup.subtree_control")
        LIMITED.mkdir()
    within = pathlib.Path(f"{LIMITED}{run['within']}")
    within.mkdir(exist_ok=True)
    limit = " ".join(f"{name}=max" for name in ("rbps", "wbps", "riops", "wiops"))
    for text in (limit, str(run["limit"])):
        (LIMITED / "io.max").write_text(
            f"{(BLOCK / str(run['disk']) / 'dev').read_text(encoding='utf-8').strip()} {text}"
        )
    return f"echo 0 >{within}/cgroup.procs; "


def record(run: dict[str, object]) -> None:
    """One run."""
    name, disk = str(run["name"]), str(run["disk"])
    errors = arrange(disk, dict(run["settings"]))  # type: ignore[call-overload]
    if run["prepare"]:
        done = shell(str(run["prepare"]))
        errors += [done.stderr] if done.returncode else []
        arrange(disk, dict(run["settings"]))  # type: ignore[call-overload]
    shell("sync; echo 3 >/proc/sys/vm/drop_caches")
    if run.get("warm"):
        shell(str(run["warm"]))
    group = grouped(run)
    shell("sleep 0.1")
    words = ["sh", "-c", str(run["other"])]
    other = subprocess.Popen(words, start_new_session=True) if run["other"] else None
    words = ["raidctl", "record", "-q", "-f", "-d", disk, "-o", f"{name}.rtdb", "-i", str(run["interval"]), "--",
             "sh", "-c"]  # fmt: skip
    done = subprocess.run([*words, group + str(run["command"])], capture_output=True, text=True, check=False)
    errors += [done.stderr] if done.returncode else []
    if other:
        os.killpg(other.pid, signal.SIGKILL)  # its children would go on during the next run
        other.wait()
    shell("umount /run/lab/mnt")
    if errors:
        pathlib.Path(f"{name}.err").write_text("\n".join(errors), encoding="utf-8")


def main() -> None:
    """All of the list."""
    if "simulated: yes" not in pathlib.Path("/proc/raidlab/status").read_text(encoding="utf-8"):
        sys.exit("guest.py: not in the lab")
    shell("modprobe bfq; modprobe kyber-iosched; mkdir -p /run/lab/mnt")
    for run in json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")):
        record(run)


main()
