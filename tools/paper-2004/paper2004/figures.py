# SPDX-License-Identifier: GPL-2.0-or-later
"""make figures: the pictures of README and Documentation: of the demo and of a small sweep in the lab, and of tables.

The data of the pictures are kept with them (demo.json, readahead.json), so that they can be drawn again, and compared,
without the lab; tables are those of the reproduction and of the sweeps.
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

from raidtrace.demo import demo, workload
from raidtrace.plot import recording as plot_recording
from raidtrace.plot import style as plot
from raidtrace.plot import sweep as plot_sweep
from raidtrace.recording import invariants
from raidtrace.recording.sample_rows import Point
from raidtrace.report import export
from raidtrace.report import sweep as report_sweep
from raidtrace.sweep import index as sweep_index

TOP = pathlib.Path(__file__).resolve().parents[3]
RAIDCTL = TOP / "tools" / "bin" / "raidctl"
FIGURES = TOP / "Documentation" / "figures"
REPRODUCTION = TOP / "Documentation" / "reproduction.csv"
BNL = TOP / "Documentation" / "sweeps" / "bnl.csv"
PLAN = FIGURES / "readahead.toml"
SURFACE = ("surface", "ext3", "random-read")
SWEEP = "readahead.json"
DATA = "demo.json"
DEPTH, SEEKS = ("xfs-256", "xfs-16384"), "ext2-256"
ALIKE = 0.02  # figures of two runs of the demo that differ by no more are the same
SEEKS_ALIKE = 0.05  # another build of raidctl shifts who is first where a race decides
MB = {"KiB/s": 1 / 1000, "MiB/s": 1.024}  # MB/s as KiB/s / 1000
Data = dict[str, Any]


class FiguresError(Exception):
    """Something cannot be drawn; the text says what."""


def collect(out: pathlib.Path) -> Data:
    """The results of a demo that the pictures show."""
    cells = {cell.name(): cell for cell in workload.cells(demo.DD_MIB, demo.BONNIE_MIB)}
    runs = {}
    for name in DEPTH:
        path = out / name / "run.rtdb"
        recorded = invariants.load(path)
        points = [(p.start_ns, p.end_ns, round(p.mean, 3), p.highest) for p in workload.points(path, "read")]
        runs[name] = {"read": dataclasses.asdict(workload.evidence(cells[name], recorded)), "points": points}
    seek_run = invariants.load(out / SEEKS / "run.rtdb")
    counts = plot_recording.seek_counts(seek_run, seek_run.targets[0])
    return {"runs": runs, "seeks": {SEEKS: counts.tolist()}}


def kept(source: pathlib.Path) -> Data:
    """The data of a picture."""
    data: Data = json.loads(source.read_text(encoding="utf-8"))
    return data


def differences(one: Data, other: Data) -> list[str]:
    """A text for each figure that differs between two demos."""
    different = []
    for name in DEPTH:
        for what in ("kib_per_s", "inflight_mean", "request_sectors_mean"):
            a, b = (float(data["runs"][name]["read"][what]) for data in (one, other))
            if abs(a / b - 1) > ALIKE:
                different.append(f"{name} {what}: {a:.2f} and {b:.2f}")
    a, b = (sum(map(sum, data["seeks"][SEEKS])) for data in (one, other))
    if abs(a / b - 1) > SEEKS_ALIKE:
        different.append(f"{SEEKS} seeks: {a} and {b}")
    return different


def draw_depth(source: pathlib.Path, into: pathlib.Path) -> None:
    """Requests in flight of the demo, untuned and tuned."""
    panels: list[tuple[str, workload.ReadPhase, Sequence[Point]]] = []
    for key, name in zip(("untuned", "tuned"), DEPTH):
        run: Mapping[str, Any] = kept(source)["runs"][name]
        panels.append((key, workload.ReadPhase(**run["read"]), [Point(*point) for point in run["points"]]))
    demo.draw_runs([into], panels, True, title_of(source))


def draw_seeks(source: pathlib.Path, into: pathlib.Path) -> None:
    """Which requests of the demo made the disk seek."""
    picture = plot_recording.seek_table(kept(source)["seeks"][SEEKS])
    assert picture
    plot.save(picture, [into], title_of(source))


def title_of(table: pathlib.Path) -> str:
    """The title of a picture: the name and the digest of its table, which show whether the picture is current."""
    return f"{table.name} {hashlib.sha256(table.read_bytes()).hexdigest()[:16]}"


def draw_published(table: pathlib.Path, into: pathlib.Path) -> None:
    """The picture of the reproduction: each published rate and the simulated one."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["unit"] in MB and row["published"] and row["simulated"]]
    pairs = [
        plot_sweep.Pair(
            row["tool"], float(row["published"]) * MB[row["unit"]], float(row["simulated"]) * MB[row["unit"]]
        )
        for row in rows
    ]
    plot.save(plot_sweep.scatter(pairs, True), [into], title_of(table))


def draw_filesystems(table: pathlib.Path, into: pathlib.Path) -> None:
    """bonnie++ by file system, tuned, as the reproduction has it."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if (row["array"], row["tool"], row["setra_sectors"], row["trial"]) ==
                ("raid0", "bonnie++", "16384", "1") and row["unit"] in MB]  # fmt: skip
    rates = {(row["metric"], row["filesystem"]): float(row["simulated"]) * MB[row["unit"]] for row in rows}
    bars = [plot_sweep.Bar(phase, name, rate, rate, rate) for (phase, name), rate in rates.items()]
    plot.save(plot_sweep.bars(bars, True), [into], title_of(table))


def draw_surface(table: pathlib.Path, into: pathlib.Path) -> None:
    """Random reads over sizes of file and record, as the sweep bnl has them."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if (row["workload"], row["filesystem"], row["phase"]) == SURFACE]
    rates = {}
    for row in rows:
        place = dict(word.split("=") for word in row["file_and_record"].split())
        rates[int(place["file_kib"]), int(place["record_kib"])] = float(row["median"])
    plot.save(plot_sweep.surface(rates, True), [into], title_of(table))


def draw_sweep(source: pathlib.Path, into: pathlib.Path) -> None:
    """The picture of the small sweep."""
    drawn = [(name, [plot_sweep.Point(*point) for point in points]) for name, points in kept(source).items()]
    plot.save(plot_sweep.readahead(drawn, True), [into], title_of(source))


PICTURES = {  # what each is drawn of, and how: (source, picture)
    "demo-inflight.svg": (FIGURES / DATA, draw_depth),
    "demo-seeks.svg": (FIGURES / DATA, draw_seeks),
    "readahead.svg": (FIGURES / SWEEP, draw_sweep),
    "published.svg": (REPRODUCTION, draw_published),
    "filesystems.svg": (REPRODUCTION, draw_filesystems),
    "surface.svg": (BNL, draw_surface),
}


def sweep(out: pathlib.Path) -> Data:
    """Run the small sweep, or what is left of it to be run, and what its picture needs."""
    resume = ["--resume"] if (out / sweep_index.NAME).is_file() else []
    command = [str(RAIDCTL), "sweep", "--lab", *resume, "--out", str(out), str(PLAN)]
    if subprocess.run(command, check=False).returncode:
        raise FiguresError(f"the sweep failed; what it left is in {out}")
    return {name: [dataclasses.astuple(point) for point in points] for name, points in report_sweep.curves(out).items()}


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
        _keep(DATA, collect(options.out))
        for name in DEPTH:
            export.perfetto(FIGURES / f"demo-{name}.pftrace", options.out / name / "run.rtdb")
        try:
            _keep(SWEEP, sweep(options.out / "readahead"))
        except FiguresError as error:
            print(f"figures: {error}", file=sys.stderr)
            return 1
    for name, (source, how) in PICTURES.items():
        how(source, FIGURES / name)
    print(f"drawn in {FIGURES}", file=sys.stderr)
    return 0


def _keep(name: str, data: Data) -> None:
    (FIGURES / name).write_text(json.dumps(data, separators=(",", ":")) + "\n", encoding="utf-8")
