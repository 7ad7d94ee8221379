# SPDX-License-Identifier: GPL-2.0-or-later
"""Run cells of the demo in guests of the lab, a few at once, and say how far that is."""

import concurrent.futures
import dataclasses
import os
import pathlib
import subprocess
from collections.abc import Callable, Sequence

from raidtrace.demo.workload import Cell
from raidtrace.sweep.progress import Progress

SCRIPT = pathlib.Path(__file__).parent / "demo-cell"
PROFILE = "9500s-12-raid0"
SECONDS_PER_MIB = {"dd": 0.0012, "bonnie++": 0.008}  # first guess of the wall time, until a cell of its kind has ended
TIMEOUT_SECONDS = 600


def simulated_time() -> dict[str, str]:
    """The environment, but that guests run in simulated time whatever LAB says: with LAB=vm figures would be the host's."""
    return dict(os.environ, LAB="")


class GuestError(Exception):
    """A guest did not do its work; the text says which, why and where to look."""


def run_in_guest(
    raidctl: pathlib.Path, name: str, out: pathlib.Path, options: Sequence[str], command: Sequence[str],
    simulated: bool = True,
) -> None:  # fmt: skip
    """Run a command in a guest of the lab, its files and its output in `out`. simulated: in simulated time whatever LAB says.
    GuestError: it failed; the text begins with `name`."""
    words = [str(raidctl), "lab", "run", "-q", *options, "--out", str(out), "--", *command]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          env=simulated_time() if simulated else None)  # fmt: skip
    (out / "output.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
    if done.returncode != 0:
        last = "\n  ".join((done.stdout + done.stderr).strip().splitlines()[-8:])
        raise GuestError(f"{name}: exit status {done.returncode}; more in {out}\n  {last}")


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
    """Run all cells: those that are `first`, then the others, the long ones before the short ones. The first failure is raised
    once the running guests have ended."""
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
