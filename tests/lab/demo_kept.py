# SPDX-License-Identifier: GPL-2.0-or-later
"""The demo's figures as they are committed, in demo-kept.json: to the byte where all that runs in a guest is the same.

What runs there is kernel and root, and raidctl with the module: recorder and page cache share 48 MiB, and 60 kB more of
raidctl moved a tuned rewrite by 7 %. So a change of raidctl is another draw of chance: then each row is held to the spread
that draws have (Documentation/lab.rst, "Chance").
"""

from __future__ import annotations

import csv
import hashlib
import json
import pathlib
import sys
from collections.abc import Callable

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tools/lab"))

from raidlab.base.progress import Progress  # noqa: E402
from raidlab.userland import compiler  # noqa: E402

KEPT = pathlib.Path(__file__).with_name("demo-kept.json")
# what of the checkout a cell of the demo runs, or is built from
SOURCES = ("Kbuild", "kmod", "tools/Makefile", "tools/raidctl", "tools/libraidtrace", "tools/models", "tools/lab/guest",
           "tools/python/raidtrace/demo/demo-cell", "Documentation/counters.rst")  # fmt: skip
SUFFIXES = {".c", ".h", ".sql", ".awk", ".rst", ""}
# phase -> by how much one draw differs from another; of ext2's write by a factor of 2.5
SPREAD = {"read": 0.03, "write": 0.05, "rewrite": 0.20}
EXT2_WRITE = 1.5
Check = Callable[[str, bool, object], None]


def programs() -> str:
    """A name for raidctl, the modules and init as they are built here."""
    state = hashlib.sha256(compiler.get(Progress(quiet=True)).name.encode())
    for source in SOURCES:
        top = TOP / source
        files = [top] if top.is_file() else sorted(path for path in top.rglob("*") if path.is_file())
        for path in files:
            if path.suffix in SUFFIXES and not path.name.startswith("."):
                state.update(str(path.relative_to(TOP)).encode() + path.read_bytes())
    return state.hexdigest()[:12]


def taken(out: pathlib.Path) -> dict[str, object]:
    """What would be committed of the demo in out."""
    cells = sorted(path.parent for path in out.glob("*/ground-truth.csv"))
    lab = json.loads((cells[0] / "lab.json").read_text(encoding="utf-8"))
    return {
        "of": f"linux-source {lab['kernel']}, root {lab['root']}",
        "programs": programs(),
        "summary": (out / "summary.csv").read_text(encoding="utf-8").splitlines(),
        "ground_truth": {
            one.name: hashlib.sha256((one / "ground-truth.csv").read_bytes()).hexdigest() for one in cells
        },
    }


def check(out: pathlib.Path, say: Check) -> str:
    """Compare; returns why it was not to the byte, empty if it was."""
    kept, now = json.loads(KEPT.read_text(encoding="utf-8")), taken(out)
    if (now["of"], now["programs"]) == (kept["of"], kept["programs"]):
        say("summary.csv and six ground truths are the committed bytes", now == kept, [now, kept])
        return ""
    wrong = differences(kept["summary"], now["summary"])  # type: ignore[arg-type]
    say("each rate of summary.csv is the committed one within the spread of chance", not wrong, wrong)
    what = (
        "raidctl or a module" if now["of"] == kept["of"] else f"the kernel or the root ({now['of']}, not {kept['of']})"
    )
    return f"the committed bytes: {what} is another one by now; compared within the spread of chance"


def differences(kept: list[str], now: list[str]) -> list[str]:
    """Rows whose rate is not within the spread of the one that was kept."""
    wrong = []
    for then, row in zip(csv.DictReader(kept), csv.DictReader(now), strict=True):
        same = all(then[key] == row[key] for key in ("workload", "filesystem", "setra_sectors", "phase"))
        reach = EXT2_WRITE if (row["filesystem"], row["phase"]) == ("ext2", "write") else SPREAD.get(row["phase"], 0)
        ratio = float(row["mib_per_s"] or 1) / float(then["mib_per_s"] or 1)
        if not same or not 1 / (1 + reach) <= ratio <= 1 + reach:
            wrong.append(
                f"{row['filesystem'] or 'raw'} {row['setra_sectors']} {row['phase']}: {ratio:.3f} of what it was"
            )
    return wrong
