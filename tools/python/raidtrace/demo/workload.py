# SPDX-License-Identifier: GPL-2.0-or-later
"""The cells of the demo, the figures that each command prints, and one row of figures for each phase."""

import csv
import dataclasses
import pathlib
from collections.abc import Iterable, Sequence

from raidtrace.benchmark import parsers
from raidtrace.published import tables as published
from raidtrace.quantity import trials
from raidtrace.quantity.shown import UserError
from raidtrace.quantity.units import SECTOR_BYTES, ratio
from raidtrace.recording import quantities as q
from raidtrace.recording import sample_rows, spans
from raidtrace.recording.figures import Figures
from raidtrace.recording.sample_rows import Point
from raidtrace.recording.spans import OUTSIDE, Recorded, Span

# Sentences why readahead made a difference, with only numbers of counters.
#
# The tested chain: a readahead of S sectors, split into requests of at most M sectors, keeps S/M to 2S/M requests in
# flight. (The program reads one window, and the kernel has requested the next.) More requests in flight keep more
# drives busy. The requests themselves do not get larger. Each link is compared with the counters; a link that does not
# hold is reported.

RISE = 1.5  # a mean that changes by this factor has risen
SAME = 1.1  # two means with a smaller quotient are equal
AGREEMENT = 0.05  # a figure and its prediction agree within this share


@dataclasses.dataclass(frozen=True)
class ReadPhase:
    """The counters of the read phase of one workload. largest_sectors: the largest request of the disk."""

    workload: str
    setra_sectors: int
    kib_per_s: float
    inflight_mean: float
    request_sectors_mode: int
    request_sectors_mean: float
    largest_sectors: int
    sequential_share: float
    d2c_mean_ms: float

    def predicted(self) -> tuple[float, float]:
        """Lower and upper bound of the reads in flight that the readahead alone predicts."""
        windows = max(self.setra_sectors / self.largest_sectors, 1.0)
        return windows, 2 * windows

    def as_predicted(self) -> bool:
        """Whether the mean is within the prediction of the readahead."""
        low, high = self.predicted()
        return low * (1 - AGREEMENT) <= self.inflight_mean <= high * (1 + AGREEMENT)


def why(untuned: ReadPhase, tuned: ReadPhase) -> list[str]:
    """Sentences about the effect of the larger readahead, whether the counters support it or not."""
    speed = tuned.kib_per_s / untuned.kib_per_s
    depth = tuned.inflight_mean / untuned.inflight_mean
    rates = f"{untuned.workload}: {untuned.kib_per_s / 1000:.1f} -> {tuned.kib_per_s / 1000:.1f} MB/s, x{speed:.2f}"
    if speed < SAME:
        return [f"{rates}. The larger readahead did not make it faster: {_depths(untuned, tuned)}."]
    sentences = [f"{rates}.", _size_sentence(untuned, tuned)]
    rose = depth >= RISE
    grew = tuned.request_sectors_mean / untuned.request_sectors_mean >= SAME
    if not rose:
        sentences.append(f"The reads in flight do not explain the gain: {_depths(untuned, tuned)}.")
    else:
        too = ", too" if grew else ""
        sentences += [f"More reads were in flight{too}: {_depths(untuned, tuned)}.", _prediction(untuned, tuned)]
    return [*sentences, *_balance(untuned, tuned, speed, depth)]


def _depths(untuned: ReadPhase, tuned: ReadPhase) -> str:
    ratio = tuned.inflight_mean / untuned.inflight_mean
    return f"{untuned.inflight_mean:.2f} -> {tuned.inflight_mean:.2f} on average, x{ratio:.1f}"


def _size_sentence(untuned: ReadPhase, tuned: ReadPhase) -> str:
    before, after = untuned.request_sectors_mode, tuned.request_sectors_mode
    if before != after:
        return f"The requests changed size, {q.kib(before)} -> {q.kib(after)}: this is a part of the gain."
    mean = tuned.request_sectors_mean / untuned.request_sectors_mean
    if mean >= SAME:
        return f"Most requests are {q.kib(before)} in both, but their mean size grew, x{mean:.2f}: this is a part of the gain."
    return f"The requests did not grow: most are {q.kib(before)} in both runs."


def _prediction(untuned: ReadPhase, tuned: ReadPhase) -> str:
    ranges = [p.predicted() for p in (untuned, tuned)]
    expected = " and ".join(f"{low:g} to {high:g}" for low, high in ranges)
    text = f"A readahead of S sectors in requests of M sectors predicts S/M to 2S/M in flight: {expected}."
    strays = [q.kib(p.setra_sectors) for p in (untuned, tuned) if not p.as_predicted()]
    return f"{text} This does NOT hold at {' and '.join(strays)}." if strays else f"{text} Both runs agree."


def _balance(untuned: ReadPhase, tuned: ReadPhase, speed: float, depth: float) -> list[str]:
    """Little's law: requests in flight = requests per second x time of each."""
    wait = tuned.d2c_mean_ms / untuned.d2c_mean_ms
    size = tuned.request_sectors_mean / untuned.request_sectors_mean
    expected = depth * size / wait
    times = f"{untuned.d2c_mean_ms:.2f} -> {tuned.d2c_mean_ms:.2f} ms from issue to completion, x{wait:.2f}"
    made = f"In flight x size / time = {depth:.1f} x {size:.2f} / {wait:.2f} = {expected:.2f}"
    if abs(expected / speed - 1) <= AGREEMENT:
        return [f"Time of a request: {times}.", f"{made}: the rate grew by the same factor, x{speed:.2f}."]
    return [
        f"Time of a request: {times}.",
        f"{made}, but the rate grew x{speed:.2f}: the program also waited for other things.",
    ]


ARRAY = "raid0"  # the published array that profile 9500s-12-raid0 models
SETRA = (256, 16384)  # sectors: untuned and tuned in the published measurements


PLACED = ("read", "write", "discard", "write_zeroes", "other")  # directions with a position on the disk


@dataclasses.dataclass(frozen=True)
class Cell:
    """One run: a command on a file system (empty: the raw disk) with a readahead. mib: size of the data."""

    workload: str
    filesystem: str
    setra_sectors: int
    mib: int

    def name(self) -> str:
        return f"{self.filesystem or 'raw'}-{self.setra_sectors}"

    def title(self) -> str:
        return f"{self.workload} {self.filesystem or 'raw'}"


@dataclasses.dataclass(frozen=True)
class PhaseRow:
    """The figures of one phase. None: not published, not reported, or not counted."""

    cell: Cell
    phase: str
    kib_per_s: float | None
    published_kib_per_s: float | None
    inflight_reads_mean: float | None
    inflight_reads_max: int
    request_bytes_mode: int | None
    sequential_share: float | None
    seeks: int


SUMMARY_HEADER = (
    "workload,filesystem,setra_sectors,phase,mib_per_s,published_mib_per_s,"
    "inflight_reads_mean,inflight_reads_max,request_bytes_mode,sequential_share,seeks"
)


def cells(dd_mib: int, bonnie_mib: int) -> list[Cell]:
    kinds = (("dd", "", dd_mib), ("bonnie++", "xfs", bonnie_mib), ("bonnie++", "ext2", bonnie_mib))
    return [Cell(workload, filesystem, setra, mib) for workload, filesystem, mib in kinds for setra in SETRA]


def rates(cell: Cell, output: str) -> dict[str, float]:
    """KiB/s of each phase, from the output of the command. Raises UserError: there is no rate of reading."""
    figures = parsers.dd(output, "read") if cell.workload == "dd" else parsers.bonnie(output)
    reported = {one.phase: one.value for one in figures if one.value is not None and one.unit == parsers.KIB_PER_S}
    if "read" not in reported:
        raise UserError(f"{cell.name()}: {cell.workload} printed no read rate; the file may be too small")
    return reported


def phase_name(cell: Cell, recorded: str) -> str:
    """The name of a phase in the summary. dd has a single phase, which reads."""
    return "read" if cell.workload == "dd" else recorded


def rows(cell: Cell, recording: Recorded) -> list[PhaseRow]:
    """A row for each phase, in order of time. The time outside the phases is left out."""
    printed = rates(cell, recording.output)
    names = dict.fromkeys(phase.name for phase in recording.phases if phase.name != OUTSIDE)
    return [_row(cell, phase_name(cell, name), recording.whole(name), printed) for name in names]


def _row(cell: Cell, phase: str, span: Span, printed: dict[str, float]) -> PhaseRow:
    direction = "write" if phase == "write" else "read"
    reads, sectors = Figures(span, "read"), Figures(span, direction).exact_size_mode()
    placed = [Figures(span, direction) for direction in PLACED]
    sequential = sum(one.count("sequential") for one in placed)
    seeks = sum(one.seeks() or 0 for one in placed)
    return PhaseRow(
        cell,
        phase,
        printed.get(phase),
        published.quoted(ARRAY, cell.workload, cell.filesystem, cell.setra_sectors, phase),
        None if reads.depth_is_bound() else reads.depth(),
        _most(reads),
        None if sectors is None else sectors * SECTOR_BYTES,
        ratio(sequential, sequential + seeks),
        seeks,
    )


def read_phase(cell: Cell, recording: Recorded) -> Span:
    """The phase that reads the data once, sequentially."""
    return recording.whole(None if cell.workload == "dd" else "read")


def _most(figures: Figures) -> int:
    """The most requests in flight: the highest depth at which time was spent, or the highest depth at an issue plus one
    for the request itself."""
    deepest = max((at + 1 for at, count in figures.histogram("depth_issue").items() if count), default=0)
    return max(figures.deepest() or 0, deepest)


def points(path: pathlib.Path, phase: str) -> list[Point]:
    """Reads in flight in each sample of a phase. Raises RecordingError: the recording cannot be read."""
    with sample_rows.opened(path, series=True) as rows:
        recorded = spans.read(path, rows, sums=False)
        numbers = [one.phase for one in recorded.phases if one.name == phase]
        return rows.points("read", recorded.targets[0].target, numbers)


def evidence(cell: Cell, recording: Recorded) -> ReadPhase:
    """The figures of a run's read phase for why(). Raises UserError: there are none."""
    reads = read_phase(cell, recording)
    row = _row(cell, "read", reads, {})
    mean, sectors, share = row.inflight_reads_mean, row.request_bytes_mode, row.sequential_share
    size, wait = Figures(reads, "read").size_mean(), Figures(reads, "read").d2c_mean()
    largest = next(one.max_sectors for one in recording.targets if one.target == reads.target)
    if not (mean and sectors and share is not None and size and wait and largest):
        raise UserError(f"{cell.name()}: the read phase contains no reads, or requests beyond the exact bins")
    rate = rates(cell, recording.output)["read"]
    return ReadPhase(cell.title(), cell.setra_sectors, rate, mean, sectors // SECTOR_BYTES, size / SECTOR_BYTES,
                     largest, share, wait / 1e6)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Spread:
    """KiB/s of one phase of a cell for several seeds. The first is the one in the summary."""

    cell: Cell
    phase: str
    draws: tuple[float, ...]

    def summary(self) -> trials.Summary:
        """The median, and its 95 % interval."""
        return trials.summarise(self.draws)


SPREAD_HEADER = ("workload", "filesystem", "setra_sectors", "phase", "draws", "least", "median", "most", "interval_low",
                 "interval_high")  # fmt: skip


def spreads(draws: Sequence[Sequence[PhaseRow]]) -> list[Spread]:
    """The spread of each phase with a rate. draws: the rows of each seed, in the same order."""
    all_spreads = []
    for rows_of_one in zip(*draws, strict=True):
        rates_of_one = tuple(row.kib_per_s for row in rows_of_one if row.kib_per_s is not None)
        if len(rates_of_one) == len(draws):
            all_spreads.append(Spread(rows_of_one[0].cell, rows_of_one[0].phase, rates_of_one))
    return all_spreads


def write_spread(path: pathlib.Path, all_spreads: Iterable[Spread]) -> None:
    """Write spread.csv, in MiB/s."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(SPREAD_HEADER)
        for one in all_spreads:
            s = one.summary()
            values = (min(one.draws), s.median, max(one.draws), s.low or s.median, s.high or s.median)
            cell = one.cell
            writer.writerow([cell.workload, cell.filesystem, cell.setra_sectors, one.phase, s.trials,
                             *(f"{value / 1024:.3f}" for value in values)])  # fmt: skip


def write_summary(path: pathlib.Path, all_rows: Iterable[PhaseRow]) -> None:
    """Write summary.csv. An empty field is not published or not available."""

    def number(value: float | None, digits: int, per: float = 1.0) -> str:
        return "" if value is None else f"{value / per:.{digits}f}"

    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(SUMMARY_HEADER.split(","))
        for row in all_rows:
            cell, size = row.cell, row.request_bytes_mode
            writer.writerow([
                cell.workload, cell.filesystem, cell.setra_sectors, row.phase, number(row.kib_per_s, 3, 1024),
                number(row.published_kib_per_s, 3, 1024), number(row.inflight_reads_mean, 4), row.inflight_reads_max,
                "" if size is None else size, number(row.sequential_share, 6), row.seeks,
            ])  # fmt: skip
