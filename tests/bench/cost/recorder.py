# SPDX-License-Identifier: GPL-2.0-or-later
"""`raidctl record --source bpf` while something is measured."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass


class Refused(Exception):
    """It does not count here; why."""


@dataclass
class Recorder:
    """A recorder that counts. At its end `lost` has the events that were lost, `no_room` those for which a ring had no room."""

    pid: int
    lost: int = 0
    no_room: int = 0


@contextlib.contextmanager
def recording(raidctl: str, disk: str, ring_bytes: int = 0) -> Iterator[Recorder]:
    """Record a disk, with rings of a size or the usual ones."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path = f"{folder}/bpf.rtdb"
        running = subprocess.Popen(
            [raidctl, "record", "-q", "--source", "bpf", "-d", disk, "-o", path],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | ({"RAIDTRACE_RING_BYTES": str(ring_bytes)} if ring_bytes else {}),
        )
        while running.poll() is None and _fact(path, "end") != "running":
            time.sleep(0.2)
        if running.poll() is not None:
            raise Refused(running.communicate()[0].strip())
        recorder = Recorder(running.pid)
        try:
            yield recorder
        finally:
            running.send_signal(signal.SIGINT)
            output, _ = running.communicate(timeout=60)
        if _fact(path, "invariants") != "hold":
            raise AssertionError(f"the sums do not agree: {output}")
        recorder.lost = int(_fact(path, "records_lost"))
        losses = json.loads(_fact(path, "losses") or "{}")
        recorder.no_room = sum(sum(of_disk["lost_records"].values()) for of_disk in losses.values())


def _fact(recording_path: str, name: str) -> str:
    """A value of the table meta, empty as long as there is none."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{recording_path}?mode=ro", uri=True)) as db:
            row = db.execute("SELECT value FROM meta WHERE key = ?", (name,)).fetchone()
    except sqlite3.Error:
        return ""
    return str(row[0]) if row else ""


def threads(pid: int) -> dict[str, int]:
    """Nanoseconds that each thread has run."""
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return {task.name: int((task / "schedstat").read_text(encoding="ascii").split()[0]) for task in tasks}


def spent(before: dict[str, int], after: dict[str, int]) -> list[int]:
    """Nanoseconds that each thread has run between two readings of threads()."""
    return [ran - before.get(name, 0) for name, ran in after.items()]
