#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl explain on recordings of the lab: the chain where readahead is why, and where it is not, what is instead."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True
from lab_checks import check, lab, scratch  # noqa: E402

TOP = Path(__file__).resolve().parents[2]
RAIDCTL = TOP / "tools/bin/raidctl"
GUEST = Path(__file__).resolve().parent / "explain_guest"
OWN_ROOT = ""  # the lab's programs: the same figures on every machine
THREE = ("--profile", "9500s-12-raid5", "--set", "array.drives=3")
LOST = ("--set", "fault.remove_member=2", "--set", "fault.remove_ms=500")
GUESTS = (
    (
        "raid0",
        ("untuned", "tuned", "direct", "random", "queue", "program", "small", "paced", "rewritten", "beside"),
        (),
    ),
    ("clock", ("processor",), ("--real-time",)),
    ("slow", ("tuned",), ("--profile", "slow-drive")),
    ("whole", ("scattered",), THREE),
    ("lost", ("scattered", "tuned"), (*THREE, *LOST)),
)
CELL = TOP / "tools/paper-2004/guest/misconceptions-cell"
FILESYSTEMS = ("fs-ext2", "fs-xfs")
# recording -> what holds its throughput down, nearest to the cause
COUNTER = {
    "clock/processor": "processor",
    "raid0/program": "program",
    "raid0/random": "seeks",
    "raid0/direct": "direct",
    "raid0/queue": "queue depth",
    "raid0/small": "pieces",
    "slow/tuned": "slow part",
    "lost/scattered": "degraded",
}
# cases that look like a ceiling or a concurrent load, and the one that is
SHARED = {"raid0/paced": "", "raid0/rewritten": "", "raid0/beside": "competing"}


def record(out: Path) -> None:
    """All guests; each leaves a directory of recordings."""
    for name, cases, options in GUESTS:
        words = ["--mem", "128M", *options, "--out", str(out / name), "--", str(GUEST), *cases]
        done = lab("run", "-q", *words, LAB_ROOT=OWN_ROOT)
        check(f"{name}: its guest runs", done.returncode == 0, done.stderr + done.stdout)
    for name in FILESYSTEMS:
        done = lab("run", "-q", "--mem", "96M", "--out", str(out / name), "--", str(CELL), name, LAB_ROOT=OWN_ROOT)
        check(f"{name}: its guest runs", done.returncode == 0, done.stderr + done.stdout)


def explain(out: Path, *names: str) -> dict[str, Any]:
    """The one chain of a recording, or of two; what is printed as text goes through the same."""
    words = [str(RAIDCTL), "explain", "--json", *(str(out / f"{name}.rtdb") for name in names)]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"story": done.stderr, "limits": [], "links": [], "summary": []}
    chains: list[dict[str, Any]] = json.loads(done.stdout)["chains"]
    return chains[0] if len(chains) == 1 else {"story": chains, "limits": [], "links": [], "summary": []}


def notes_of(out: Path, name: str) -> str:
    """The notes on a recording."""
    words = [str(RAIDCTL), "explain", "--json", str(out / f"{name}.rtdb")]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return " ".join(json.loads(done.stdout)["notes"]) if done.returncode == 0 else done.stderr


def shown(chain: dict[str, Any]) -> list[str]:
    """Keys of what limits it."""
    return [limit["key"] for limit in chain["limits"] if limit["verdict"] == "inferred"]


def verdicts(chain: dict[str, Any]) -> dict[str, str]:
    """Verdict of each link."""
    return {link["key"]: link["verdict"] for link in chain["links"]}


def main() -> None:
    with scratch() as out:
        record(out)
        low, high = explain(out, "raid0/untuned"), explain(out, "raid0/tuned")
        check(
            "untuned: readahead is what limits it",
            (low["story"], shown(low)) == ("inferred", ["readahead"]),
            low["limits"],
        )
        check("tuned: the controller is", (high["story"], shown(high)) == ("not shown", ["controller"]), high["limits"])
        both = explain(out, "raid0/untuned", "raid0/tuned")
        check("256 to 16384: readahead is why", both["story"] == "inferred", both["summary"])
        expected = ("changed", "setting", "window", "bios", "splits", "size", "depth", "busy", "throughput",
                    "difference")  # fmt: skip
        check(
            "256 to 16384: every link is shown",
            all(verdicts(both).get(key) == "shown" for key in expected),
            verdicts(both),
        )
        depths = [value for link in both["links"] if link["key"] == "depth" for value in link["values"]
                  if value["name"] == "depth-mean"]  # fmt: skip
        inside = [v["predicted"][0] <= v["value"] <= v["predicted"][1] for v in depths]
        check("256 to 16384: predicted and measured depth are there", inside == [True, True], depths)
        for recording, limit in COUNTER.items():
            chain = explain(out, recording)
            check(f"{recording}: {limit} limits it", shown(chain)[:1] == [limit], chain["limits"][:3])
            check(
                f"{recording}: the readahead story is refused",
                chain["story"] in ("contradicted", "not shown"),
                chain["story"],
            )
        for recording, limit in SHARED.items():
            shared = explain(out, recording)
            chains = shared["story"] if isinstance(shared["story"], list) else [shared]
            inferred = shown(chains[0])[:1] if limit else [key for chain in chains for key in shown(chain)]
            check(
                f"{recording}: {limit or 'neither a ceiling nor the command itself'} limits it",
                inferred == ([limit] if limit else []),
                inferred,
            )
        notes = {name: notes_of(out, name) for name in ("clock/processor", "raid0/program")}
        check("real time is not called simulated", "simulated time" not in notes["clock/processor"], notes)
        check("and simulated time is", "simulated time" in notes["raid0/program"], notes)
        tuned = explain(out, "lost/tuned")
        check("a lost drive that costs a reader little is mentioned, not the limit", "degraded" not in shown(tuned) and
              any("The controller reported" in text for text in tuned["summary"]), tuned["summary"])  # fmt: skip
        pair = explain(out, "whole/scattered", "lost/scattered")
        check("a lost drive: readahead is not why", pair["story"] == "contradicted", pair["summary"])
        text = next((link["statement"] for link in pair["links"] if link["key"] == "changed"), "")
        check("a lost drive: what changed is the array", text == "array whole -> degraded", text)
        pair = explain(out, "raid0/tuned", "slow/tuned")
        check("a slow drive: readahead is not why", pair["story"] == "contradicted", pair["summary"])
        check("a slow drive: it is named", "slow part" in shown(pair), pair["limits"])
        words = [str(RAIDCTL), "explain", "--phase", "read",
                 *(str(out / name / f"{name}.rtdb") for name in FILESYSTEMS)]  # fmt: skip
        text = " ".join(subprocess.run(words, capture_output=True, text=True, check=False).stdout.split())
        check("ext2 against xfs: readahead is not why", "so it is not the cause" in text, text)
        check("ext2 against xfs: metadata in between is", "they account for the difference" in text, text)


main()
