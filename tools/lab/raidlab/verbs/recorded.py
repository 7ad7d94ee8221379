# SPDX-License-Identifier: GPL-2.0-or-later
"""One command in one guest under raidctl record, and what its recording says: what ab and expect are made of."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raidlab.base import cache
from raidlab.base.failure import LabError
from raidlab.uml import runner
from raidlab.uml.verdict import Verdict
from raidlab.verbs import measures

RAIDCTL = cache.CHECKOUT / "tools" / "bin" / "raidctl"
_RECORDING = "lab.rtdb"

Boot = Callable[[list[str], Path], Verdict]  # run a command in a guest, its results into a directory


@dataclass(frozen=True)
class Recorded:
    """What came of a run. `truth` is the digest of its ground truth."""

    directory: Path
    spans: list[measures.Span]
    truth: str
    facts: dict[str, Any]


def require_tools() -> None:
    """Before a kernel is built for minutes."""
    if not RAIDCTL.exists():
        raise LabError("recording the command", f"{RAIDCTL} is not there", "Build it: make tools")


def wrapped(command: list[str], disk: str | None) -> list[str]:
    """The command under raidctl record, unless it does that itself."""
    if "raidctl record" in " ".join(command):
        return command
    disks = ["--disk", disk] if disk else []
    return ["raidctl", "record", "--quiet", "--output", _RECORDING, *disks, "--", *command]


def run(arguments: argparse.Namespace, kernel: str, boot: Boot, out: Path) -> Recorded:
    """Boot, record, read. `kernel` is its name for people. LabError when there is nothing to read."""
    what = f"the run on {kernel}"
    out = runner.out_directory(str(out))
    for old in (*out.glob("*.rtdb"), *out.glob("*.rtdb-journal")):  # the second is left by a run that was killed
        old.unlink()
    result = boot(wrapped(arguments.command, arguments.disk), out)
    if result.status:
        why = "".join(f"\n  {message.strip()}" for message in result.messages)
        raise LabError(what, f"exit status {result.status}{why}", f"What it left, kernel.log among it: {out}")
    found = sorted(out.glob("*.rtdb"))
    if len(found) != 1:
        raise LabError(
            what,
            f"{len(found)} recordings (*.rtdb) in {out}, one is needed",
            "A command that records itself has to leave exactly one in its working directory.",
        )
    truths = sorted(out.glob("ground-truth*.csv"))  # one for each controller
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in truths)).hexdigest()
    return Recorded(out, _spans(found[0]), digest, json.loads((out / "lab.json").read_text(encoding="utf-8")))


def _spans(recording: Path) -> list[measures.Span]:
    from raidtrace.recording import columns, document  # here: a guest begins sooner without

    try:
        return measures.spans(document.load(recording)["spans"])
    except (columns.RecordingError, OSError) as error:
        raise LabError(f"reading {recording}", str(error), "Look at it: raidctl report") from None
