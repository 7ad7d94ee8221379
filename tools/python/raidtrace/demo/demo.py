# SPDX-License-Identifier: GPL-2.0-or-later
"""The demo: the published effect of readahead on a 3ware array, measured in the lab, verified and explained."""

import concurrent.futures
import dataclasses
import datetime
import hashlib
import json
import os
import pathlib
import subprocess
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence

from raidtrace.demo import truth, workload
from raidtrace.demo.truth import CLOCK_READ_NS, CLOCK_READS, Agreement
from raidtrace.demo.workload import Cell, PhaseRow, Spread
from raidtrace.explain import runs as explain_runs
from raidtrace.plot import style as plot
from raidtrace.quantity.shown import UserError
from raidtrace.quantity.units import SECTOR_BYTES
from raidtrace.recording import invariants, results
from raidtrace.recording.quantities import kib
from raidtrace.recording.sample_rows import Point
from raidtrace.recording.spans import Recorded
from raidtrace.sweep.run.cells import Progress

# Cells run in concurrent guests of the lab, with a line of progress.

SCRIPT = pathlib.Path(__file__).parent / "demo-cell"
PROFILE = "9500s-12-raid0"
SECONDS_PER_MIB = {"dd": 0.0012, "bonnie++": 0.008}  # first estimate of the wall time of a cell of each kind
TIMEOUT_SECONDS = 600


def simulated_time() -> dict[str, str]:
    """The environment for guests in simulated time. LAB is cleared: with LAB=vm, figures would depend on the host."""
    return dict(os.environ, LAB="")


def run_in_guest(
    raidctl: pathlib.Path, name: str, out: pathlib.Path, options: Sequence[str], command: Sequence[str],
    simulated: bool = True,
) -> None:  # fmt: skip
    """Run a command in a guest of the lab, with its files and its output in `out`. Raises UserError, with `name`, if it
    fails. simulated: use simulated time even if LAB is set."""
    words = [str(raidctl), "lab", "run", "-q", *options, "--out", str(out), "--", *command]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          env=simulated_time() if simulated else None)  # fmt: skip
    (out / "output.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
    if done.returncode != 0:
        last = "\n  ".join((done.stdout + done.stderr).strip().splitlines()[-8:])
        raise UserError(f"{name}: exit status {done.returncode}; more in {out}\n  {last}")


@dataclasses.dataclass(frozen=True)
class Guests:
    """How guests are started. raidctl: the program. out: directory of the results. memory: of each guest. jobs:
    concurrent guests."""

    raidctl: pathlib.Path
    out: pathlib.Path
    memory: str
    jobs: int
    seed: int = 0

    def run(self, cell: Cell) -> None:
        """Boot a guest with a fresh array and run the cell in it. Its files are in out/NAME."""
        options = ["--profile", PROFILE, "--mem", self.memory, "--seed", str(self.seed)]
        options += ["--timeout", str(TIMEOUT_SECONDS)]
        words = [str(SCRIPT), cell.workload, cell.filesystem or "raw", str(cell.setra_sectors), str(cell.mib)]
        run_in_guest(self.raidctl, cell.name(), self.out / cell.name(), options, words)


def run_all(
    cells: Sequence[Cell],
    guests: Guests,
    ended: Callable[[Cell], None],
    first: Callable[[Cell], bool] = lambda _: False,
) -> None:
    """Run all cells: those for which `first` is true, then the others, long ones before short ones. If a cell fails,
    its error is raised after the running guests have ended."""
    expected = {cell: cell.mib * SECONDS_PER_MIB[cell.workload] for cell in cells}
    order = sorted(cells, key=lambda cell: (not first(cell), -expected[cell]))
    progress = Progress(expected, {cell: cell.workload for cell in cells}, guests.jobs, "runs")

    def one(cell: Cell) -> Cell:
        progress.started(cell, cell.name())
        guests.run(cell)
        return cell

    with concurrent.futures.ThreadPoolExecutor(guests.jobs) as pool:
        waiting = {pool.submit(one, cell) for cell in order}
        try:
            while waiting:
                done, waiting = concurrent.futures.wait(waiting, 0.5, concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    cell = future.result()
                    progress.ended(cell)
                    progress.close()  # the caller may print
                    ended(cell)
                progress.show()
        except BaseException:
            for future in waiting:
                future.cancel()
            raise
        finally:
            progress.close()


# The page cache of a guest must not hold a significant part of the data. So the data is at least 40 times the free
# memory (checked in the guest), as in the published runs, and the read phase must read all of it from the disk.
MEMORY = "48M"
DD_MIB = 2048
BONNIE_MIB = 2048
# Share of the data that the read phase reads from the disk. Less: the page cache contained some. More: the page cache
# was too small for the readahead, which was dropped and read again.
FETCHED = (0.99, 1.01)
MAKER = "raidctl demo"  # mark of its directories
PUBLISHED = "xfs"  # file system of the published pair, which runs first
KEPT = "kept.json"  # in the directory of the results: digest of the programs, and date
PYTHON = pathlib.Path(__file__).resolve().parents[1]


@dataclasses.dataclass(frozen=True)
class Run:
    """One finished cell."""

    cell: workload.Cell
    recording: Recorded
    rows: tuple[workload.PhaseRow, ...]
    evidence: workload.ReadPhase
    page_cache_kib: int
    fetched: float  # share of the data that the read phase read from the disk
    verdict: truth.Agreement
    complaints: tuple[str, ...]


def examine(cell: workload.Cell, directory: pathlib.Path) -> Run:
    """Read and verify the results of a cell."""
    recorded = invariants.load(directory / "run.rtdb")
    log = truth.read_log(directory / "ground-truth.csv")
    lab = json.loads((directory / "lab.json").read_text(encoding="utf-8"))
    verdict = truth.compare(recorded.whole(), log)
    page_cache_kib = int((directory / "page-cache-kib").read_text(encoding="ascii"))
    complaints = list(verdict.mismatches)
    if lab["log_lost"]:
        complaints.append(f"the controller's log lacks {lab['log_lost']} commands")
    reads = workload.read_phase(cell, recorded)
    fetched = reads.count("read", "bytes_completed") / (cell.mib << 20)
    if not FETCHED[0] <= fetched <= FETCHED[1]:
        why = (
            "the page cache already contained some of it"
            if fetched < 1
            else "the page cache dropped some of it, and it was read again"
        )
        complaints.append(f"the read phase read {fetched:.2%} of the data from the disk: {why}")
    if recorded.meta.get("end") != "complete" or recorded.meta.get("invariants") != "hold":
        facts = {key: recorded.meta.get(key, "missing") for key in ("end", "invariants")}
        complaints.append(f"end of the recording: {facts['end']}; invariants: {facts['invariants']}")
    if recorded.meta.get("simulated") != "yes":
        complaints.append("the recording is not marked as simulated")
    rows = tuple(workload.rows(cell, recorded))
    evidence = workload.evidence(cell, recorded)
    return Run(cell, recorded, rows, evidence, page_cache_kib, fetched, verdict, tuple(complaints))


def clear(out: pathlib.Path, cells: Sequence[workload.Cell]) -> None:
    """Remove the results of an earlier demo in out, and nothing else."""
    results.without(out, MAKER, ("summary.csv", "spread.csv", "inflight.svg", "inflight.png", "report.txt", KEPT))
    for cell in cells:
        results.fresh(out / cell.name(), MAKER)


def export(raidctl: pathlib.Path, run: Run, directory: pathlib.Path) -> None:
    command = [str(raidctl), "export", "--csv", str(directory / "csv"), str(run.recording.path)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UserError(f"{run.cell.name()}: export failed: {done.stderr.strip()}")


def pair(runs: Mapping[workload.Cell, Run], cells: Sequence[workload.Cell], filesystem: str) -> tuple[Run, Run]:
    """The untuned and the tuned run of one file system."""
    low, high = (runs[cell] for cell in cells if cell.filesystem == filesystem)
    return low, high


def draw(out: pathlib.Path, runs: Sequence[Run]) -> None:
    panels = [
        (key, run.evidence, workload.points(run.recording.path, "read"))
        for key, run in zip(("untuned", "tuned"), runs, strict=True)
    ]
    draw_runs([out / "inflight.svg", out / "inflight.png"], panels, simulated=True)


def text(cells: Sequence[workload.Cell], runs: Mapping[workload.Cell, Run], out: pathlib.Path) -> list[str]:
    """The lines that are printed at the end."""
    ordered = [runs[cell] for cell in cells]
    lines = table([row for run in ordered for row in run.rows if row.phase == "read"])
    lines += ["", "Why:"]
    for filesystem in ("xfs", "ext2"):
        low, high = pair(runs, cells, filesystem)
        lines += paragraph(workload.why(low.evidence, high.evidence))
    ext2, xfs = (pair(runs, cells, filesystem)[1] for filesystem in ("ext2", "xfs"))
    compared = explain_runs.two(
        ext2.recording.path, xfs.recording.path, explain_runs.Choice("read", direction="read")
    ).chains
    lines += ["", "Tuned ext2 (A) against tuned xfs (B):", *paragraph(compared[0].summary)] if compared else []
    lines += ["", *COMPARED]
    for run in ordered:
        lines += verification(run.cell, run.verdict, run.complaints)
    least = min(run.cell.mib * 1024 / run.page_cache_kib for run in ordered)
    part = 100 * min(1, *(run.fetched for run in ordered))
    lines += [
        f"The data is at least {least:.0f} times the memory available to the page cache.",
        f"The read phases read at least {part:.1f} % of it from the disk.",
        "",
        f"Results in {out}/: summary.csv (all phases), inflight.svg, inflight.png,",
        "and for each run run.rtdb (the recording), csv/ and ground-truth.csv.",
    ]
    low, high = pair(runs, cells, PUBLISHED)
    return [*lines, "To see each step:", f"  raidctl explain {low.recording.path} {high.recording.path}"]


def repeated(
    cells: Sequence[workload.Cell], guests: Guests, first: Sequence[workload.PhaseRow], seeds: int
) -> list[workload.Spread]:
    """Run the cells again with the seeds 1 to seeds - 1, verify each, and return the spread of the rates."""
    draws = [list(first)]
    for seed in range(1, seeds):
        place = guests.out / f"seed-{seed}"
        place.mkdir(exist_ok=True)
        rows: dict[workload.Cell, tuple[workload.PhaseRow, ...]] = {}

        def ended(cell: workload.Cell) -> None:
            repeated = examine(cell, place / cell.name())  # noqa: B023
            if repeated.verdict.mismatches:
                raise UserError(f"{place / cell.name()}: {'; '.join(repeated.verdict.mismatches)}")  # noqa: B023
            rows[cell] = repeated.rows  # noqa: B023

        clear(place, cells)
        run_all(cells, dataclasses.replace(guests, out=place, seed=seed), ended)
        draws.append([row for cell in cells for row in rows[cell]])
    return workload.spreads(draws)


def programs(raidctl: pathlib.Path, built: str, seeds: int) -> str:
    """A digest of all that determines the output of the demo. built: the output of `raidctl lab build`."""
    state = hashlib.sha256(f"{built}\n{seeds}\n".encode())
    for path in (raidctl, SCRIPT, *sorted(PYTHON.rglob("*.py"))):
        state.update(path.read_bytes())
    return state.hexdigest()[:12]


def kept(out: pathlib.Path, name: str) -> list[str]:
    """The output of an earlier demo with the same programs, and its date. Empty: `out` has no such results."""
    try:
        facts = json.loads((out / KEPT).read_text(encoding="utf-8"))
        if facts["programs"] != name:
            return []
        report = (out / "report.txt").read_text(encoding="utf-8").splitlines()
        return [
            f"Results of {facts['date']} of the same programs. To repeat the runs: raidctl demo --fresh --out {out}",
            "",
            *report,
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def figure(low: Run, high: Run) -> list[str]:
    """The published pair: two lines with their ratio, and the explanation."""
    rows = [row for run in (low, high) for row in run.rows if row.phase == "read"]
    return [*table(rows), "", *paragraph(workload.why(low.evidence, high.evidence)), ""]


def build(raidctl: pathlib.Path) -> str:
    """Build kernel, modules and programs of the guests if necessary. Progress is on stderr. Returns their paths, as
    printed. Raises UserError."""
    words, null = [str(raidctl), "lab", "build"], subprocess.DEVNULL
    done = subprocess.run(words, stdin=null, stdout=subprocess.PIPE, text=True, check=False, env=simulated_time())
    if done.returncode != 0:
        raise UserError("the lab could not be built; the reason is above")
    return done.stdout


def run(
    raidctl: pathlib.Path, out: pathlib.Path, jobs: int, say: Callable[[str], None], seeds: int = 1, fresh: bool = False
) -> int:
    """Run the demo, or print the kept results unless `fresh`. Returns 0: all verified; 1: a printed disagreement."""
    begin = time.monotonic()
    cells = workload.cells(DD_MIB, BONNIE_MIB)
    name = programs(raidctl, build(raidctl), seeds)
    report = [] if fresh else kept(out, name)
    if report:
        say("\n".join(report))
        return 0
    clear(out, cells)
    say("Simulated 3ware 9500S-12 controller, RAID 0 of 12 drives.")
    say(f"{len(cells)} runs, each in its own guest with a fresh array. First the published pair:")
    say("bonnie++ on xfs with a readahead of 256 and of 16384 sectors.")
    runs: dict[workload.Cell, Run] = {}

    def is_published(cell: workload.Cell) -> bool:
        return cell.filesystem == PUBLISHED

    def ended(cell: workload.Cell) -> None:
        directory = out / cell.name()
        runs[cell] = examine(cell, directory)
        export(raidctl, runs[cell], directory)
        if is_published(cell) and all(one in runs for one in cells if is_published(one)):
            say("\n".join(["", *figure(*pair(runs, cells, PUBLISHED))]))

    guests = Guests(raidctl, out, MEMORY, jobs)
    run_all(cells, guests, ended, is_published)
    rows = [row for cell in cells for row in runs[cell].rows]
    workload.write_summary(out / "summary.csv", rows)
    draw(out, pair(runs, cells, PUBLISHED))
    lines = text(cells, runs, out)
    if seeds > 1:
        spread = repeated(cells, guests, rows, seeds)
        workload.write_spread(out / "spread.csv", spread)
        lines += ["", *spread_text(spread)]
    (out / "report.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    say("\n".join(["", *lines]))
    wrong = [run.cell.name() for run in runs.values() if run.complaints]
    if wrong:
        say(f"demo: FAILED: {', '.join(wrong)} disagree with the controller's log or the rules above")
    else:
        facts = {"programs": name, "date": datetime.datetime.now().strftime("%Y-%m-%d %H:%M")}
        (out / KEPT).write_text(json.dumps(facts) + "\n", encoding="utf-8")
    say(f"{time.monotonic() - begin:.0f} s")
    return 1 if wrong else 0


# The picture of the demo: reads in flight over time, untuned above tuned.

DEMO_STYLES = {"untuned": plot.STYLES[0], "tuned": plot.STYLES[1]}


def draw_runs(
    paths: Sequence[pathlib.Path],
    runs: Sequence[tuple[str, workload.ReadPhase, Sequence[Point]]],
    simulated: bool,
    title: str | None = None,
) -> None:
    """Draw reads in flight over time, a panel for each run, the first at the top, with common scales.

    runs: (key of DEMO_STYLES, figures, points). paths: the suffix is the format. title: metadata of an SVG; it is not
    drawn.
    """
    picture = plot.figure(0.8 + 2.3 * len(runs))
    panels = picture.subplots(len(runs), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    highest = max(max(run.predicted()[1], *(p.highest for p in points)) for _, run, points in runs)
    panels[0].set_ylim(0, 1.3 * highest)
    longest = max((points[-1].end_ns - points[0].start_ns) / 1e9 for _, _, points in runs)
    for panel, (key, run, points) in zip(panels, runs, strict=True):
        begin, color = points[0].start_ns, DEMO_STYLES[key].line
        edges = [0.0] + [(p.end_ns - begin) / 1e9 for p in points]
        low, high = run.predicted()
        band = f"predicted by setra: {low:g} to {high:g}"
        panel.axhspan(low, high, facecolor=plot.GRID, edgecolor=plot.QUIET, linewidth=0.6, label=band)
        panel.stairs([p.highest for p in points], edges, color=color, alpha=0.6, linewidth=1, label="highest")
        panel.stairs([p.mean for p in points], edges, color=color, linewidth=2.2, label="mean")
        panel.set_xlim(0, longest * 1.01)
        panel.set_ylabel("reads in flight")
        setra = f"{run.setra_sectors} ({kib(run.setra_sectors)})"
        panel.set_title(f"{run.workload}, setra {setra}: {run.kib_per_s / 1000:.0f} MB/s")
        panel.legend(ncols=3, loc="upper right", columnspacing=1.2, handlelength=1.5)
    label = "simulated seconds since the read began\nsimulated 3ware 9500S-12, RAID 0 of 12 drives"
    panels[-1].set_xlabel(label if simulated else "seconds since the read began")
    plot.save(picture, paths, title)


# The figures of the demo as text of at most 80 columns.

WIDTH = 80
WIDTHS = (-13, 6, 6, 10, 10, 4, 8, 8, 6)  # columns; negative: aligned to the left
HEADINGS = ("READ PHASE OF", "SETRA", "MB/s", "PUBLISHED", "IN FLIGHT", "MAX", "REQUEST", "SEQU. %", "SEEKS")
LEGEND = (
    "SETRA: readahead in sectors of 512 bytes. MB/s: simulated, 1000 KiB/s.",
    "PUBLISHED: MB/s of the real array in 2004, - if none. IN FLIGHT: reads, mean",
    "over time. MAX: the most. REQUEST: most frequent size. SEQU.: requests that",
    "begin where the previous one ended. SEEKS: the others.",
    "Simulated: real Linux and 3w-9xxx driver, a model of the array, simulated time.",
)
COMPARED = (
    "Compared with the log of the simulated controller: the size of every request,",
    f"and the requests in flight at all times and at each issue (within {CLOCK_READS * CLOCK_READ_NS} ns a",
    "command).",
)


def _line(*fields: str) -> str:
    columns = zip(fields, WIDTHS, strict=True)
    return " ".join(f"{field:{'<' if width < 0 else '>'}{abs(width)}}" for field, width in columns).rstrip()


def _or_dash(value: float | None, form: str, per: float = 1.0) -> str:
    return "-" if value is None else format(value / per, form)


def spread_text(spreads: Sequence[Spread]) -> list[str]:
    """The spread of the rates over all seeds in MB/s."""
    form = "{:22} {:>6} {:>7} {:>7} {:>7}  {}"
    lines = [f"Simulated MB/s of {len(spreads[0].draws)} seeds. In brackets: the 95 % interval of the median."]
    lines.append(form.format("", "SETRA", "LEAST", "MEDIAN", "MOST", "").rstrip())
    for one in spreads:
        summary = one.summary()
        least, median, most, low, high = (
            f"{value / 1000:.1f}"
            for value in (min(one.draws), summary.median, max(one.draws), summary.low or 0, summary.high or 0)
        )
        name = f"{one.cell.title()} {one.phase}"
        lines.append(form.format(name, one.cell.setra_sectors, least, median, most, f"({low} to {high})"))
    return lines


def table(rows: Sequence[PhaseRow]) -> list[str]:
    """Lines of a table of the read phases, with the ratio tuned/untuned after each pair."""
    lines = [_line(*HEADINGS)]
    first: dict[str, PhaseRow] = {}
    for row in rows:
        size = None if row.request_bytes_mode is None else row.request_bytes_mode // SECTOR_BYTES
        lines.append(
            _line(
                row.cell.title(),
                str(row.cell.setra_sectors),
                _or_dash(row.kib_per_s, ".1f", 1000),
                _or_dash(row.published_kib_per_s, ".1f", 1000),
                _or_dash(row.inflight_reads_mean, ".2f"),
                str(row.inflight_reads_max),
                "-" if size is None else kib(size),
                _or_dash(row.sequential_share, ".2f", 0.01),
                str(row.seeks),
            )
        )
        untuned = first.setdefault(row.cell.title(), row)
        if untuned is not row:
            lines.append(_ratio(untuned, row))
    return [*lines, *LEGEND]


def _ratio(untuned: PhaseRow, tuned: PhaseRow) -> str:
    def ratio(what: str) -> str:
        before, after = getattr(untuned, what), getattr(tuned, what)
        return f"x{after / before:.2f}" if before and after else "-"

    return _line(
        "  ratio", "", ratio("kib_per_s"), ratio("published_kib_per_s"), ratio("inflight_reads_mean"), "", "", "", ""
    )


def paragraph(sentences: Sequence[str]) -> list[str]:
    return textwrap.wrap(" ".join(sentences), WIDTH, initial_indent="  ", subsequent_indent="  ")


def verification(cell: Cell, verdict: Agreement, complaints: Sequence[str]) -> list[str]:
    """The comparison of one run with the controller's log, and each disagreement."""
    if complaints:
        return [f"  {cell.name():<11} DISAGREES:"] + [f"    {line}" for line in complaints]
    reads, writes = verdict.commands["read"], verdict.commands["write"]
    lines = [f"  {cell.name():<11} equal: {reads} reads, {writes} writes, {sum(verdict.bytes.values())} bytes"]
    if verdict.added:
        lines.append(
            "    added by SCSI: " + ", ".join(f"{count} {name}" for name, count in sorted(verdict.added.items()))
        )
    depths = verdict.depths
    if depths.apart or depths.other_at_issue:
        lines.append(f"    requests in flight differ {depths.apart:.3%} of the time (bound {depths.bound:.3%}), and at "
                     f"{depths.other_at_issue} issues")  # fmt: skip
    return lines
