# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress and time left on stderr: one changing line on a terminal, otherwise a new line from time to time."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_TERMINAL_INTERVAL = 0.2
_LOG_INTERVAL = 30.0
_SILENT = 2.0
_KNOWN = 0.1  # share of a step; before it, the time left would be a guess
_LINE = 200  # length of the line in a lock file, in bytes
_POLL = 0.2


class Progress:
    """Print the progress of steps. Silent for steps of less than two seconds, and with `quiet`."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._terminal = sys.stderr.isatty()
        self._open = False
        self._step = ""
        self._start = self._last = 0.0
        self._locks: list[int] = []

    def report(self, text: str) -> None:
        """Print one line that stays."""
        if not self._quiet:
            self._clear()
            print(f"lab: {text}", file=sys.stderr, flush=True)

    def begin(self, step: str) -> None:
        self._step = step
        self._start = time.monotonic()
        self._last = self._start + _SILENT - (_TERMINAL_INTERVAL if self._terminal else _LOG_INTERVAL)
        self._publish(step)

    def update(self, done: float) -> None:
        """Show progress. `done` is the finished part of the step, 0 to 1."""
        now = time.monotonic()
        text = f"{self._step}: {min(done, 0.99):.0%}"
        if done > _KNOWN:
            text += f", {_seconds((now - self._start) * (1 - min(done, 0.99)) / done)} left"
        self._tell(text, now)

    def count(self, number: int, unit: str) -> None:
        """Show progress of a step with an unknown end: `number` of `unit` are finished."""
        now = time.monotonic()
        self._tell(f"{self._step}: {number} {unit}, {_seconds(now - self._start)} so far", now)

    @contextmanager
    def published(self, lock: int) -> Iterator[None]:
        """Write each step into the file `lock`, for runs that wait for it with wait_for(), even if this run is quiet."""
        self._locks.append(lock)
        os.ftruncate(lock, 0)  # remove the text of a killed run
        try:
            yield
        finally:
            self._locks.remove(lock)
            os.ftruncate(lock, 0)

    def wait_for(self, what: str, lock: int, take: Callable[[], bool]) -> None:
        """Call `take` until it returns True. Meanwhile show the step of the run that holds `lock`."""
        self.report(f"waiting for another run that builds {what}")
        shown = Progress(self._quiet)  # do not change the caller's own step
        shown.begin("waiting for another run")
        while not take():
            step = os.pread(lock, _LINE, 0).decode(errors="replace").strip()
            shown._tell(f"waiting for another run: {step or 'its progress is not known'}", time.monotonic())
            time.sleep(_POLL)
        shown.end()

    def _publish(self, text: str) -> None:
        """Write a line of constant length with one call, so that a reader never gets parts of two lines."""
        for lock in self._locks:
            os.pwrite(lock, text.encode()[: _LINE - 1].ljust(_LINE - 1) + b"\n", 0)

    def _tell(self, text: str, now: float) -> None:
        """Publish `text`, and show it if the last line is old enough."""
        self._publish(text)
        interval = _TERMINAL_INTERVAL if self._terminal else _LOG_INTERVAL
        if not self._quiet and now - self._last >= interval:
            self._last = now
            self._show(f"lab: {text}")

    def _show(self, text: str) -> None:
        if self._terminal:
            sys.stderr.write(f"\r\x1b[K{text}")
            self._open = True
        else:
            sys.stderr.write(text + "\n")
        sys.stderr.flush()

    def end(self) -> None:
        elapsed = time.monotonic() - self._start
        self._clear()
        if elapsed >= _SILENT:
            self.report(f"{self._step}: {_seconds(elapsed)}")

    def _clear(self) -> None:
        if self._open:
            sys.stderr.write("\r\x1b[K")
            self._open = False


def _seconds(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole} s" if whole < 100 else f"{whole // 60} min {whole % 60} s"
