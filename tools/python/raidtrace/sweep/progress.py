# SPDX-License-Identifier: GPL-2.0-or-later
"""How far a sweep is: a bar over the whole matrix, renewed on a terminal, a line per finished cell elsewhere."""

import sys
import time
from collections.abc import Mapping

from raidtrace.quantity import shown

WIDTH = 20


def clock(seconds: float) -> str:
    """1:02:03, 5:12."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


class Progress:
    """expected: seconds each cell takes, a guess, by number; corrected as cells of its kind end. kinds: of each cell."""

    def __init__(self, expected: Mapping[int, float], kinds: Mapping[int, str], jobs: int) -> None:
        self._expected, self._kinds, self._jobs = expected, kinds, jobs
        self._begin = time.monotonic()
        self._running: dict[int, tuple[float, str]] = {}
        self._seconds: dict[int, float] = {}
        self._failed = 0
        self._line = sys.stdout.isatty()

    def started(self, cell: int, name: str) -> None:
        """A cell begins."""
        self._running[cell] = (time.monotonic(), name)

    def ended(self, cell: int, error: str) -> None:
        """A cell has ended."""
        begin, name = self._running.pop(cell)
        self._seconds[cell] = time.monotonic() - begin
        self._failed += bool(error)
        self.close()
        if error:
            print(f"  {name} FAILED: {error}", flush=True)
        if not self._line:
            print(f"  {name} {'failed' if error else 'done'}, {self.text()}", flush=True)

    def show(self) -> None:
        """Renew the line on a terminal."""
        if self._line:
            running = " ".join(name for _, name in self._running.values())
            print(f"\r  {self.text()}; {running}"[:118] + "\033[K", end="", flush=True, file=shown.raw(sys.stdout))

    def close(self) -> None:
        """Take the line away."""
        if self._line:
            print("\r\033[K", end="", flush=True, file=shown.raw(sys.stdout))

    def text(self) -> str:
        """The bar in words and signs."""
        whole = sum(self._guess(cell) for cell in self._expected)
        done = sum(self._guess(cell) for cell in self._seconds)
        signs = round(WIDTH * done / whole) if whole else WIDTH
        failed = f", {self._failed} failed" if self._failed else ""
        return (f"[{'#' * signs}{'.' * (WIDTH - signs)}] {len(self._seconds)} of {len(self._expected)} cells{failed}, "
                f"{clock(time.monotonic() - self._begin)}, about {clock(self.left())} left")  # fmt: skip

    def left(self) -> float:
        """Seconds until the end."""
        now = time.monotonic()
        wanted = 0.0
        for cell in self._expected:
            if cell not in self._seconds:
                begin = self._running.get(cell, (now, ""))[0]
                wanted += max(self._guess(cell) - (now - begin), 0.05 * self._guess(cell))
        return wanted / self._jobs

    def _guess(self, cell: int) -> float:
        """Its own time; else its guess, times how wrong the guesses of its kind were."""
        if cell in self._seconds:
            return self._seconds[cell]
        alike = [other for other in self._seconds if self._kinds[other] == self._kinds[cell]] or list(self._seconds)
        guessed = sum(self._expected[other] for other in alike)
        factor = sum(self._seconds[other] for other in alike) / guessed if guessed else 1.0
        return self._expected[cell] * factor
