# SPDX-License-Identifier: GPL-2.0-or-later
"""make figures: the pictures of README and Documentation, of the demo in the lab and of the reproduction.

What pictures are drawn from is kept beside them (demo.json), so that they can be drawn again, and compared, without the lab.
"""

import argparse
import csv
import dataclasses
import hashlib
import json
import pathlib
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from raidtrace import demo, explain, overview, plot, plot_blame, plot_demo, plot_published, recording, workload
from raidtrace.recording import Point

TOP = pathlib.Path(__file__).resolve().parents[3]
RAIDCTL = TOP / "tools" / "bin" / "raidctl"
FIGURES = TOP / "Documentation" / "figures"
REPRODUCTION = TOP / "Documentation" / "reproduction.csv"
DATA = "demo.json"
DEPTH, SEEKS = ("xfs-256", "xfs-16384"), "ext2-256"
ALIKE = 0.02  # figures of two runs of the demo that differ by no more are the same
MB = {"KiB/s": 1 / 1000, "MiB/s": 1.024}  # MB/s as KiB/s / 1000
Data = dict[str, Any]


def collect(out: pathlib.Path) -> Data:
    """What the pictures need of a demo's results."""
    cells = {cell.name(): cell for cell in workload.cells(demo.DD_MIB, demo.BONNIE_MIB)}
    runs = {}
    for name in DEPTH:
        found = recording.load(out / name / "run.rtdb")
        points = [(p.start_ns, p.end_ns, round(p.mean, 3), p.highest) for p in found.series("read")]
        runs[name] = {"read": dataclasses.asdict(workload.evidence(cells[name], found)), "points": points}
    seen = overview.load(out / SEEKS / "run.rtdb")
    counts = plot_blame.counts(seen, seen.recording.targets[0])
    return {"runs": runs, "seeks": {SEEKS: counts.tolist()}}


def differences(one: Data, other: Data) -> list[str]:
    """Figures of two demos that are not alike, in words."""
    found = []
    for name in DEPTH:
        for what in ("kib_per_s", "inflight_mean", "request_sectors_mean"):
            a, b = (float(data["runs"][name]["read"][what]) for data in (one, other))
            if abs(a / b - 1) > ALIKE:
                found.append(f"{name} {what}: {a:.2f} and {b:.2f}")
    a, b = (sum(map(sum, data["seeks"][SEEKS])) for data in (one, other))
    if abs(a / b - 1) > ALIKE:
        found.append(f"{SEEKS} seeks: {a} and {b}")
    return found


def draw(data: Data, into: pathlib.Path) -> None:
    """The pictures of the demo."""
    panels: list[tuple[str, explain.ReadPhase, Sequence[Point]]] = []
    for key, name in zip(("untuned", "tuned"), DEPTH):
        run: Mapping[str, Any] = data["runs"][name]
        panels.append((key, explain.ReadPhase(**run["read"]), [Point(*point) for point in run["points"]]))
    plot_demo.inflight([into / "demo-inflight.svg"], panels, simulated=True)
    picture = plot_blame.table(data["seeks"][SEEKS])
    if picture:
        plot.save(picture, [into / "demo-seeks.svg"])


def title_of(table: pathlib.Path) -> str:
    """What a picture of a table is called: so it can be told whether it is one of that table as it is now."""
    return f"{table.name} {hashlib.sha256(table.read_bytes()).hexdigest()[:16]}"


def draw_published(table: pathlib.Path, into: pathlib.Path) -> None:
    """The picture of the reproduction: each published rate and the simulated one."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["unit"] in MB and row["published"] and row["simulated"]]
    pairs = [
        plot_published.Pair(
            row["tool"], float(row["published"]) * MB[row["unit"]], float(row["simulated"]) * MB[row["unit"]]
        )
        for row in rows
    ]
    plot.save(plot_published.scatter(pairs, True), [into / "published.svg"], title_of(table))


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0 drawn, 1 failed, 2 usage."""
    parser = argparse.ArgumentParser("figures", description="Run the demo and draw the pictures of the documentation.")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("figures-out"), help="directory of the demo")
    parser.add_argument("--have", action="store_true", help="the demo in --out is there: do not run it again")
    parser.add_argument("--draw", action="store_true", help="draw again what is kept, without a demo")
    options = parser.parse_args(arguments)
    FIGURES.mkdir(exist_ok=True)
    if not options.draw:
        if not options.have and subprocess.run([RAIDCTL, "demo", "--out", options.out], check=False).returncode:
            return 1
        (FIGURES / DATA).write_text(json.dumps(collect(options.out), separators=(",", ":")) + "\n", encoding="utf-8")
    draw(json.loads((FIGURES / DATA).read_text(encoding="utf-8")), FIGURES)
    draw_published(REPRODUCTION, FIGURES)
    print(f"drawn in {FIGURES}", file=sys.stderr)
    return 0
