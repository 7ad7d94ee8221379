# SPDX-License-Identifier: GPL-2.0-or-later
"""Run cells of the demo in guests of the lab, a few at once, and say how far that is."""

import concurrent.futures
import dataclasses
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from raidtrace.demo.workload import Cell
from raidtrace.quantity import shown

SCRIPT = pathlib.Path(__file__).parent / "demo-cell"
PROFILE = "9500s-12-raid0"
SECONDS_PER_MIB = {"dd": 0.0012, "bonnie++": 0.008}  # first guess of the wall time, until a cell of its kind has ended
TIMEOUT_SECONDS = 600


def simulated_time() -> dict[str, str]:
    """The environment, but that guests run in simulated time whatever LAB says: with LAB=vm figures would be the host's."""
    return dict(os.environ, LAB="")


class GuestError(Exception):
    """A guest did not do its work; the text says which, why and where to look."""


@dataclasses.dataclass(frozen=True)
class Guests:
    """How guests are started: the raidctl to use, where results go, memory of each guest, how many at once."""

    raidctl: pathlib.Path
    out: pathlib.Path
    memory: str
    jobs: int
    seed: int = 0

    def run(self, cell: Cell) -> None:
        """Boot one guest with a fresh array and run the cell in it. Its files are in out/NAME."""
        directory = self.out / cell.name()
        command = [
            str(self.raidctl),
            "lab",
            "run",
            "-q",
            "--profile",
            PROFILE,
            "--mem",
            self.memory,
            "--seed",
            str(self.seed),
        ]
        command += ["--timeout", str(TIMEOUT_SECONDS), "--out", str(directory), "--", str(SCRIPT)]
        command += [cell.workload, cell.filesystem or "raw", str(cell.setra_sectors), str(cell.mib)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              env=simulated_time())  # fmt: skip
        (directory / "output.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
        if done.returncode != 0:
            last = "\n  ".join((done.stdout + done.stderr).strip().splitlines()[-8:])
            raise GuestError(f"{cell.name()}: exit status {done.returncode}; more in {directory}\n  {last}")


class Progress:
    """One line on a terminal, renewed; a line per finished cell elsewhere."""

    def __init__(self, cells: Sequence[Cell], jobs: int) -> None:
        self._cells, self._jobs = cells, jobs
        self._begin = time.monotonic()
        self._started: dict[Cell, float] = {}
        self._seconds: dict[Cell, float] = {}
        self._line = sys.stdout.isatty()

    def started(self, cell: Cell) -> None:
        """A guest boots."""
        self._started[cell] = time.monotonic()

    def ended(self, cell: Cell) -> None:
        """A guest has ended."""
        self._seconds[cell] = time.monotonic() - self._started[cell]
        if not self._line:
            print(f"  {cell.name():<11} done, {self._text()}", flush=True)

    def show(self) -> None:
        """Renew the line."""
        if self._line:
            running = " ".join(c.name() for c in self._started if c not in self._seconds)
            print(f"\r  {self._text()}; running {running}\033[K", end="", flush=True, file=shown.raw(sys.stdout))

    def close(self) -> None:
        """Take the line away."""
        if self._line:
            print("\r\033[K", end="", flush=True, file=shown.raw(sys.stdout))

    def _text(self) -> str:
        elapsed = time.monotonic() - self._begin
        return f"{len(self._seconds)} of {len(self._cells)} runs, {elapsed:.0f} s, about {self._left():.0f} s left"

    def _left(self) -> float:
        now = time.monotonic()
        wanted = 0.0
        for cell in self._cells:
            if cell not in self._seconds:
                whole = self._expected(cell)
                wanted += max(whole - (now - self._started.get(cell, now)), 0.05 * whole)
        return wanted / self._jobs

    def _expected(self, cell: Cell) -> float:
        known = [(c.mib, seconds) for c, seconds in self._seconds.items() if c.workload == cell.workload]
        if known:
            return cell.mib * sum(seconds for _, seconds in known) / sum(mib for mib, _ in known)
        return cell.mib * SECONDS_PER_MIB[cell.workload]


def run_all(
    cells: Sequence[Cell],
    guests: Guests,
    ended: Callable[[Cell], None],
    first: Callable[[Cell], bool] = lambda _: False,
) -> None:
    """Run all cells: those that are `first`, then the others, the long ones before the short ones. The first failure is raised
    once the running guests have ended."""
    order = sorted(cells, key=lambda cell: (not first(cell), -cell.mib * SECONDS_PER_MIB[cell.workload]))
    progress = Progress(cells, guests.jobs)

    def one(cell: Cell) -> Cell:
        progress.started(cell)
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
