# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress and time left on stderr: one line that changes on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time

_TERMINAL_INTERVAL = 0.2
_LOG_INTERVAL = 30.0
_SILENT = 2.0
_KNOWN = 0.1  # of a step: before, what is left would be a guess


class Progress:
    """Says what is being done. Silent for steps of less than two seconds, and when told to be."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._terminal = sys.stderr.isatty()
        self._open = False
        self._step = ""
        self._start = self._last = 0.0

    def say(self, text: str) -> None:
        """One line that stays."""
        if not self._quiet:
            self._clear()
            print(f"lab: {text}", file=sys.stderr, flush=True)

    def begin(self, step: str) -> None:
        self._step = step
        self._start = time.monotonic()
        self._last = self._start + _SILENT - (_TERMINAL_INTERVAL if self._terminal else _LOG_INTERVAL)

    def update(self, done: float) -> None:
        """`done` is the part of the step that is behind us, 0 to 1."""
        if self._is_due():
            text = f"lab: {self._step}: {min(done, 0.99):.0%}"
            if done > _KNOWN:
                text += f", {_seconds((self._last - self._start) * (1 - min(done, 0.99)) / done)} left"
            self._show(text)

    def count(self, number: int, unit: str) -> None:
        """`number` of `unit` are behind us; nobody knows how many there will be."""
        if self._is_due():
            self._show(f"lab: {self._step}: {number} {unit}, {_seconds(self._last - self._start)} so far")

    def _is_due(self) -> bool:
        now = time.monotonic()
        interval = _TERMINAL_INTERVAL if self._terminal else _LOG_INTERVAL
        if self._quiet or now - self._last < interval:
            return False
        self._last = now
        return True

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
            self.say(f"{self._step}: {_seconds(elapsed)}")

    def _clear(self) -> None:
        if self._open:
            sys.stderr.write("\r\x1b[K")
            self._open = False


def _seconds(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole} s" if whole < 100 else f"{whole // 60} min {whole % 60} s"
