# SPDX-License-Identifier: GPL-2.0-or-later
"""How far many runs are: when they end, and a bar that is renewed on a terminal, a line per finished run elsewhere."""

import sys
import time
from collections.abc import Hashable, Mapping
from typing import Generic, TypeVar

from raidtrace.quantity import shown

WIDTH = 20
C = TypeVar("C", bound=Hashable)


def clock(seconds: float) -> str:
    """1:02:03, 5:12."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


class Forecast(Generic[C]):
    """expected: seconds each run takes, a guess, by its key; corrected as runs of its kind end. kinds: of each run. jobs: how
    many run at once."""

    def __init__(self, expected: Mapping[C, float], kinds: Mapping[C, str], jobs: int) -> None:
        self._expected, self._kinds, self._jobs = expected, kinds, jobs
        self.seconds: dict[C, float] = {}
        self._begun: dict[C, float] = {}

    def begin(self, run: C) -> None:
        """A run begins."""
        self._begun[run] = time.monotonic()

    def end(self, run: C) -> None:
        """A run has ended."""
        self.seconds[run] = time.monotonic() - self._begun.pop(run)

    def left(self) -> float:
        """Seconds until the end of all."""
        now = time.monotonic()
        total = 0.0
        for run in self._expected:
            if run not in self.seconds:
                whole = self.guess(run)
                total += max(whole - (now - self._begun.get(run, now)), 0.05 * whole)
        return total / self._jobs

    def done(self) -> float:
        """The part of the work that is done, 0 to 1."""
        whole = sum(map(self.guess, self._expected))
        return sum(self.seconds.values()) / whole if whole else 1.0

    def guess(self, run: C) -> float:
        """Its own time; else its guess, times how wrong the guesses of its kind were."""
        if run in self.seconds:
            return self.seconds[run]
        alike = [other for other in self.seconds if self._kinds[other] == self._kinds[run]] or list(self.seconds)
        guessed = sum(self._expected[other] for other in alike)
        return self._expected[run] * (sum(self.seconds[other] for other in alike) / guessed if guessed else 1.0)


class Progress(Generic[C]):
    """A bar over all runs. expected, kinds, jobs: of Forecast. what: what a run is called."""

    def __init__(self, expected: Mapping[C, float], kinds: Mapping[C, str], jobs: int, what: str = "cells") -> None:
        self._forecast, self._all, self._what = Forecast(expected, kinds, jobs), len(expected), what
        self._begin = time.monotonic()
        self._running: dict[C, str] = {}
        self._failed = 0
        self._line = sys.stdout.isatty()

    def started(self, cell: C, name: str) -> None:
        """A cell begins."""
        self._forecast.begin(cell)
        self._running[cell] = name

    def ended(self, cell: C, error: str = "") -> None:
        """A cell has ended."""
        name = self._running.pop(cell)
        self._forecast.end(cell)
        self._failed += bool(error)
        self.close()
        if error:
            print(f"  {name} FAILED: {error}", flush=True)
        if not self._line:
            print(f"  {name} {'failed' if error else 'done'}, {self.text()}", flush=True)

    def show(self) -> None:
        """Renew the line on a terminal."""
        if self._line:
            running = " ".join(self._running.values())
            print(f"\r  {self.text()}; {running}"[:118] + "\033[K", end="", flush=True, file=shown.raw(sys.stdout))

    def close(self) -> None:
        """Take the line away."""
        if self._line:
            print("\r\033[K", end="", flush=True, file=shown.raw(sys.stdout))

    def text(self) -> str:
        """The bar in words and signs."""
        signs, done = round(WIDTH * self._forecast.done()), len(self._forecast.seconds)
        failed = f", {self._failed} failed" if self._failed else ""
        return (f"[{'#' * signs}{'.' * (WIDTH - signs)}] {done} of {self._all} {self._what}{failed}, "
                f"{clock(time.monotonic() - self._begin)}, about {clock(self._forecast.left())} left")  # fmt: skip
