# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the cells of a sweep, in guests of the lab side by side or on real disks one by one, and keep its index."""

import concurrent.futures
import datetime
import fcntl
import os
import pathlib
import platform
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from raidtrace.quantity import size
from raidtrace.sweep import plan, steps
from raidtrace.sweep.index import DONE, FAILED, NAME, WAITING, Entry, Index, Outcome
from raidtrace.sweep.progress import Progress

WALL_S_PER_GIB = 10.0  # first guess
LEAST_S = 1.0  # of a cell: booting a guest


class SweepError(Exception):
    """The sweep cannot be run; the text says why and what to do."""


class Ended(SweepError):
    """A cell failed for what will make all others fail, too; it and they wait."""


class Interrupted(Exception):
    """Ctrl-C, or another wish to end: cells that ran are waiting again."""


class Runner(Protocol):
    """Where cells run: guests of the lab, or the disks of this machine. stopped: stop() was called."""

    stopped: bool

    def run(self, cell: plan.Cell, name: str) -> Outcome:
        """Run one cell in the directory of that name. OSError: it cannot be run."""
        ...

    def stop(self) -> None:
        """End what runs; called from a signal handler."""
        ...


def now() -> str:
    """The time, UTC, as it is stored."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def about(where: str) -> dict[str, str]:
    """Facts about this machine for the index."""
    return {"where": where, "hostname": platform.node(), "machine": platform.machine(), "started_utc": now(),
            "host_kernel": platform.release(), "id": uuid.uuid4().hex}  # fmt: skip


@contextmanager
def alone(out: pathlib.Path) -> Iterator[None]:
    """Refuse a second sweep in the same directory. The lock goes with the process, whatever ends it."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SweepError(f"{out}: another raidctl sweep is running there") from error
        yield


def fresh(out: pathlib.Path) -> None:
    """Refuse a directory that holds a sweep or anything else."""
    if (out / NAME).is_file():
        raise SweepError(
            f"{out}: contains a sweep already; continue it with --resume, or name another directory with --out"
        )
    ours = ("lock", NAME + ".new", NAME + ".new-journal")
    foreign = sorted(entry.name for entry in out.iterdir() if entry.name not in ours) if out.is_dir() else []
    if foreign:
        raise SweepError(f"{out}: not empty ({foreign[0]}); name another directory with --out")


def open_or_create(
    out: pathlib.Path,
    the_plan: plan.Plan,
    place: Callable[[plan.Cell], steps.Place],
    facts: dict[str, str],
    resume: bool,
) -> Index:
    """The index of a new sweep, or with `resume` the one that is there."""
    if resume:
        return Index(out / NAME, write=True)
    fresh(out)
    return Index.create(out / NAME, the_plan, facts, preparing(the_plan, place))


def preparing(
    the_plan: plan.Plan, place: Callable[[plan.Cell], steps.Place]
) -> Iterator[tuple[plan.Cell, steps.Place]]:
    """The cells and their places. If that takes longer, it prints its progress every second."""
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
    """First guess of the seconds a cell takes."""
    data = size.parse(cell.text("data_size"), ram_bytes) / (1 << 30)
    rate = float(the_plan.lab.get("wall_s_per_gib", WALL_S_PER_GIB))
    kind, _ = the_plan.workload(cell.text("workload"))
    return LEAST_S + data * rate * (0.2 if kind == "dd" else 1.0)


def run(index: Index, the_plan: plan.Plan, runner: Runner, jobs: int, ram_bytes: int) -> int:
    """Run all waiting cells, `jobs` at once. Returns how many failed. Interrupted: the runner was stopped. Ended: a cell
    reports that no other can do better. The cells that ran then were finished."""

    def one(cell: plan.Cell, entry: Entry) -> Outcome:
        try:
            return runner.run(cell, entry.directory)
        except OSError as error:
            return Outcome(str(error))

    cells = {cell.identity(): cell for cell in the_plan.cells}
    todo = [entry for entry in index.entries() if entry.state == WAITING]
    missing = [entry.name for entry in todo if entry.identity not in cells]
    if missing:
        raise SweepError(f"the plan has no cell {missing[0]} any more")
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
                    continue  # it was us who ended it: it stays "running" and is made waiting at the next start
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
    """ "28 cells: 27 done, 1 failed"."""
    states = [entry.state for entry in entries]
    parts = [f"{states.count(state)} {state}" for state in (DONE, FAILED, WAITING, "running") if state in states]
    return f"{len(states)} cells: {', '.join(parts)}"


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0))
