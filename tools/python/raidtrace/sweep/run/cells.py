# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the cells of a sweep, concurrently in guests of the lab or one by one on real disks, and keep its index."""

import concurrent.futures
import datetime
import fcntl
import os
import pathlib
import platform
import sys
import time
import uuid
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

from raidtrace.quantity import shown, units
from raidtrace.quantity.shown import UserError
from raidtrace.sweep import plan, steps
from raidtrace.sweep.index import DONE, FAILED, NAME, WAITING, Entry, Index, Outcome

# The progress of many runs: an estimate of the end, and a bar on a terminal, or otherwise a line for each finished run.

WIDTH = 20
C = TypeVar("C", bound=Hashable)


def clock(seconds: float) -> str:
    """A duration as 1:02:03 or 5:12."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


class Forecast(Generic[C]):
    """An estimate of the remaining time. expected: estimated seconds of each run; finished runs of the same kind
    correct it. kinds: of each run. jobs: number of concurrent runs."""

    def __init__(self, expected: Mapping[C, float], kinds: Mapping[C, str], jobs: int) -> None:
        self._expected, self._kinds, self._jobs = expected, kinds, jobs
        self.seconds: dict[C, float] = {}
        self._begun: dict[C, float] = {}

    def begin(self, run: C) -> None:
        self._begun[run] = time.monotonic()

    def end(self, run: C) -> None:
        self.seconds[run] = time.monotonic() - self._begun.pop(run)

    def left(self) -> float:
        """Estimated seconds until all runs have ended."""
        now = time.monotonic()
        total = 0.0
        for run in self._expected:
            if run not in self.seconds:
                whole = self.guess(run)
                total += max(whole - (now - self._begun.get(run, now)), 0.05 * whole)
        return total / self._jobs

    def done(self) -> float:
        """The finished share of the work, from 0 to 1."""
        whole = sum(map(self.guess, self._expected))
        return sum(self.seconds.values()) / whole if whole else 1.0

    def guess(self, run: C) -> float:
        """The duration of a finished run; else its estimate, corrected by the finished runs of its kind."""
        if run in self.seconds:
            return self.seconds[run]
        alike = [other for other in self.seconds if self._kinds[other] == self._kinds[run]] or list(self.seconds)
        guessed = sum(self._expected[other] for other in alike)
        return self._expected[run] * (sum(self.seconds[other] for other in alike) / guessed if guessed else 1.0)


class Progress(Generic[C]):
    """A bar over all runs. expected, kinds, jobs: as in Forecast. what: the name of a run."""

    def __init__(self, expected: Mapping[C, float], kinds: Mapping[C, str], jobs: int, what: str = "cells") -> None:
        self._forecast, self._all, self._what = Forecast(expected, kinds, jobs), len(expected), what
        self._begin = time.monotonic()
        self._running: dict[C, str] = {}
        self._failed = 0
        self._line = sys.stdout.isatty()

    def started(self, cell: C, name: str) -> None:
        self._forecast.begin(cell)
        self._running[cell] = name

    def ended(self, cell: C, error: str = "") -> None:
        name = self._running.pop(cell)
        self._forecast.end(cell)
        self._failed += bool(error)
        self.close()
        if error:
            print(f"  {name} FAILED: {error}", flush=True)
        if not self._line:
            print(f"  {name} {'failed' if error else 'done'}, {self.text()}", flush=True)

    def show(self) -> None:
        """Print the line on a terminal again."""
        if self._line:
            running = " ".join(self._running.values())
            print(f"\r  {self.text()}; {running}"[:118] + "\033[K", end="", flush=True, file=shown.raw(sys.stdout))

    def close(self) -> None:
        """Remove the line from the terminal."""
        if self._line:
            print("\r\033[K", end="", flush=True, file=shown.raw(sys.stdout))

    def text(self) -> str:
        signs, done = round(WIDTH * self._forecast.done()), len(self._forecast.seconds)
        failed = f", {self._failed} failed" if self._failed else ""
        return (f"[{'#' * signs}{'.' * (WIDTH - signs)}] {done} of {self._all} {self._what}{failed}, "
                f"{clock(time.monotonic() - self._begin)}, about {clock(self._forecast.left())} left")  # fmt: skip


WALL_S_PER_GIB = 10.0  # first estimate
MIN_CELL_S = 1.0  # s to boot a guest


class Ended(UserError):
    """A cell failed for a reason that affects all others. This cell and the others wait."""


class Interrupted(Exception):
    """Ctrl-C, or another signal: cells that ran are waiting again."""


class Runner(Protocol):
    """The place of the runs: guests of the lab, or the disks of this machine. stopped: stop() was called."""

    stopped: bool

    def run(self, cell: plan.Cell, name: str) -> Outcome:
        """Run one cell in the directory of that name. Raises OSError: it cannot be run."""
        ...

    def stop(self) -> None:
        """End the running cells. A signal handler calls this."""
        ...


def now() -> str:
    """The current time in UTC, as it is stored."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def about(where: str) -> dict[str, str]:
    """Facts about this machine for the index."""
    return {"where": where, "hostname": platform.node(), "machine": platform.machine(), "started_utc": now(),
            "host_kernel": platform.release(), "id": uuid.uuid4().hex}  # fmt: skip


@contextmanager
def alone(out: pathlib.Path) -> Iterator[None]:
    """Lock the directory of a sweep; the kernel releases the lock with the process. Raises UserError: another sweep
    uses it."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UserError(f"{out}: another raidctl sweep uses this directory; name another with --out") from error
        yield


def fresh(out: pathlib.Path) -> None:
    """Raise UserError if a directory contains a sweep or other files."""
    if (out / NAME).is_file():
        raise UserError(
            f"{out}: contains a sweep already; continue it with --resume, or name another directory with --out"
        )
    ours = ("lock", NAME + ".new", NAME + ".new-journal")
    foreign = sorted(entry.name for entry in out.iterdir() if entry.name not in ours) if out.is_dir() else []
    if foreign:
        raise UserError(f"{out}: not empty ({foreign[0]}); name another directory with --out")


def open_or_create(
    out: pathlib.Path,
    the_plan: plan.Plan,
    place: Callable[[plan.Cell], steps.Place],
    facts: dict[str, str],
    resume: bool,
) -> Index:
    """The index of a new sweep, or with `resume` the existing one."""
    if resume:
        return Index(out / NAME, write=True)
    fresh(out)
    return Index.create(out / NAME, the_plan, facts, preparing(the_plan, place))


def preparing(
    the_plan: plan.Plan, place: Callable[[plan.Cell], steps.Place]
) -> Iterator[tuple[plan.Cell, steps.Place]]:
    """The cells and their places. If this takes longer than a second, the progress is printed every second."""
    begin = printed_at = time.monotonic()
    for number, cell in enumerate(the_plan.cells):
        if time.monotonic() - printed_at >= 1:
            printed_at = time.monotonic()
            left = (printed_at - begin) * (len(the_plan.cells) / number - 1)
            print(
                f"preparing: {number} of {len(the_plan.cells)} cells, about {left:.0f} s left",
                file=sys.stderr,
                flush=True,
            )
        yield cell, place(cell)


def expected(cell: plan.Cell, the_plan: plan.Plan, ram_bytes: int) -> float:
    """A first estimate of the seconds of a cell."""
    data = units.parse_size(cell.text("data_size"), ram_bytes) / (1 << 30)
    rate = float(the_plan.lab.get("wall_s_per_gib", WALL_S_PER_GIB))
    kind, _ = the_plan.workload(cell.text("workload"))
    return MIN_CELL_S + data * rate * (0.2 if kind == "dd" else 1.0)


def run(index: Index, the_plan: plan.Plan, runner: Runner, jobs: int, ram_bytes: int) -> int:
    """Run all waiting cells, `jobs` of them concurrently. Returns the number of failed cells. Raises Interrupted: the
    runner was stopped; Ended: a cell reports that no other can succeed. Before that, the running cells are finished."""

    def one(cell: plan.Cell, entry: Entry) -> Outcome:
        try:
            return runner.run(cell, entry.directory)
        except OSError as error:
            return Outcome(str(error))

    cells = {cell.identity(): cell for cell in the_plan.cells}
    todo = [entry for entry in index.entries() if entry.state == WAITING]
    missing = [entry.name for entry in todo if entry.identity not in cells]
    if missing:
        raise UserError(f"the plan no longer contains cell {missing[0]}")
    progress = Progress(
        {entry.cell: expected(cells[entry.identity], the_plan, ram_bytes) for entry in todo},
        {entry.cell: cells[entry.identity].text("workload") for entry in todo},
        jobs,
    )
    failed = 0
    ends = ""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = list(todo)
        running: dict[concurrent.futures.Future[Outcome], Entry] = {}
        while waiting or running:
            while waiting and len(running) < jobs and not runner.stopped and not ends:
                entry = waiting.pop(0)
                index.begin(entry.cell, now())
                progress.started(entry.cell, entry.name)
                running[pool.submit(one, cells[entry.identity], entry)] = entry
            if not running:
                break
            done, _ = concurrent.futures.wait(running, 0.5, concurrent.futures.FIRST_COMPLETED)
            for future in done:
                entry = running.pop(future)
                outcome = future.result()
                if runner.stopped and outcome.error:
                    continue  # ended by us: it stays "running", and the next start sets it to waiting
                if outcome.ends:
                    ends = ends or f"{entry.name}: {outcome.error}"
                    continue  # the same
                index.end(entry.cell, outcome)
                failed += bool(outcome.error)
                progress.ended(entry.cell, outcome.error)
            progress.show()
        progress.close()
    if runner.stopped:
        index.again(failed=False)
        raise Interrupted
    if ends:
        index.again(failed=False)
        raise Ended(ends)
    return failed


def counts(entries: Sequence[Entry]) -> str:
    """A text such as "28 cells: 27 done, 1 failed"."""
    states = [entry.state for entry in entries]
    parts = [f"{states.count(state)} {state}" for state in (DONE, FAILED, WAITING, "running") if state in states]
    return f"{len(states)} cells: {', '.join(parts)}"


def cores() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0))
