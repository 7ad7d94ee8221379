# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs on a terminal of their own, for the tests of raidctl top and of raidctl lab shell."""

from __future__ import annotations

import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from fcntl import F_GETFL, fcntl, ioctl
from pathlib import Path
from typing import Any

import pyte


class Terminal:
    """A program on a VT100 without colours; no method waits longer than `wait_s`. `raw`: its output since it was cleared.

    `more`: further arguments of Popen. With `controls` the terminal sends the program signals.
    """

    def __init__(self, words: tuple[object, ...], lines: int = 24, columns: int = 80, wait_s: float = 20.0,
                 controls: bool = True, env: dict[str, str] | None = None, **more: Any) -> None:  # fmt: skip
        self.keys, self.end = pty.openpty()
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.Stream(self.screen)
        self.resize(lines, columns)
        self.before = self.state()
        self.raw, self._wait_s = "", wait_s
        inherited = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "LINES", "COLUMNS")}
        self.program = subprocess.Popen(
            [str(word) for word in words],
            **{"stdin": self.end, "stdout": self.end, "stderr": self.end, "text": True} | more,
            env=inherited | {"TERM": "vt100"} | (env or {}),
            preexec_fn=lambda: (os.setsid(), ioctl(0, termios.TIOCSCTTY, 0) if controls else None),
        )

    def resize(self, lines: int, columns: int) -> None:
        self.screen.resize(lines, columns)
        self.screen.reset()
        ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def state(self) -> tuple[list[object], int]:
        """Its settings, and the flags that everybody who has it open shares."""
        return termios.tcgetattr(self.end), fcntl(self.end, F_GETFL)

    def restored(self) -> bool:
        return self.state() == self.before

    def text(self) -> str:
        """The screen, without blanks at the ends of lines."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    def type(self, keys: str) -> None:
        os.write(self.keys, keys.encode())

    def read(self, seconds: float) -> bool:
        """Wait for output. Returns whether there was some."""
        ready, _, _ = select.select([self.keys], [], [], seconds)
        if ready:
            text = os.read(self.keys, 65536).decode(errors="replace")
            self.raw += text
            self._stream.feed(text)
        return bool(ready)

    def watch(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(0.05)

    def _wait(self, holds: Callable[[], object]) -> bool:
        end = time.monotonic() + self._wait_s
        while not holds():
            if time.monotonic() > end:
                return False
            self.read(0.05)
        return True

    def until(self, expected: str | Callable[[str], object]) -> bool:
        """Wait until a pattern fits the screen, or until a function of its text holds."""
        holds = expected if callable(expected) else lambda text: re.search(expected, text, re.MULTILINE)
        return self._wait(lambda: holds(self.text()))

    def wrote(self, expected: str) -> bool:
        """Wait until this text was written; the output before it is dropped."""
        if not self._wait(lambda: expected in self.raw):
            return False
        self.raw = self.raw.partition(expected)[2]
        return True

    def ended(self) -> int | None:
        """The exit status, None if the program does not end. Its remaining output is read."""
        if not self._wait(lambda: self.program.poll() is not None):
            self.program.kill()
            self.program.wait()
            return None
        while self.read(0.05):
            pass
        return self.program.returncode

    def close(self) -> None:
        os.close(self.keys)
        os.close(self.end)


def session(lab: Path, out: Path, wait_s: float, prompt: str, check: Callable[[str, object, object], None],
            *options: str) -> None:  # fmt: skip
    """The features of raidctl lab shell for its user."""
    terminal = Terminal((lab, "shell", "-q", *options, "--out", out), 40, 132, wait_s, controls=False)
    check("a prompt comes", terminal.wrote(prompt), terminal.raw)
    terminal.type("stty size\r")
    check("the terminal's size is known", terminal.wrote("40 132\r"), terminal.raw)
    terminal.type("echo a$((40 + 2))b; lsblk -dno NAME\r")
    check("a command runs", terminal.wrote("a42b"), terminal.raw)
    check("the array is there", terminal.wrote("sda"), terminal.raw)
    terminal.type("echo go; sleep 1000\r")
    terminal.wrote("go\r")
    time.sleep(0.5)
    terminal.type("\x03")
    terminal.type("echo status $?\r")
    check("Ctrl-C interrupts the command, not the lab", terminal.wrote("status 130"), terminal.raw)
    terminal.type("exit 3\r")
    status = terminal.ended()
    check("its exit status is passed on", status == 3, status)
    check("the terminal is as it was", terminal.restored(), terminal.state())
