# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl lab shell on a terminal of its own: what the tests of the lab's shell and of the virtual machine's share."""

from __future__ import annotations

import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from fcntl import F_GETFL, fcntl, ioctl
from pathlib import Path


class Terminal:
    """A terminal of 40 lines of 132 columns, with raidctl lab shell on it; nothing is waited for longer than `wait_s`."""

    def __init__(self, lab: Path, directory: Path, wait_s: float, *options: str) -> None:
        self._keys, self._screen = pty.openpty()
        self._wait_s = wait_s
        ioctl(self._screen, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 132, 0, 0))
        self.before = self.state()
        words = [str(lab), "shell", "-q", *options, "--out", str(directory)]
        self.runner = subprocess.Popen(words, stdin=self._screen, stdout=self._screen, stderr=self._screen)
        self.text = ""

    def until(self, expected: str) -> bool:
        """Read until `expected` has come; the text before it is dropped."""
        end = time.monotonic() + self._wait_s
        while expected not in self.text:
            ready, _, _ = select.select([self._keys], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                return False
            self.text += os.read(self._keys, 4096).decode(errors="replace")
        self.text = self.text.partition(expected)[2]
        return True

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._keys, keys.encode())

    def state(self) -> tuple[list[object], int]:
        """Its settings, and the flags that everybody who has it open shares."""
        return termios.tcgetattr(self._screen), fcntl(self._screen, F_GETFL)

    def ended(self) -> int:
        """Exit status of the shell's raidctl, which has to end by itself; its remaining output is read."""
        end = time.monotonic() + self._wait_s
        while self.runner.poll() is None and time.monotonic() < end:
            if select.select([self._keys], [], [], 0.1)[0]:
                os.read(self._keys, 4096)
        if self.runner.poll() is None:
            self.runner.kill()
        return int(self.runner.wait())


def session(terminal: Terminal, prompt: str, check: Callable[[str, object, object], None]) -> None:
    """The features of a shell in a guest for its user."""
    check("a prompt comes", terminal.until(prompt), terminal.text)
    terminal.type("stty size\r")
    check("the terminal's size is known", terminal.until("40 132\r"), terminal.text)
    terminal.type("echo a$((40 + 2))b; lsblk -dno NAME\r")
    check("a command runs", terminal.until("a42b"), terminal.text)
    check("the array is there", terminal.until("sda"), terminal.text)
    terminal.type("echo go; sleep 1000\r")
    terminal.until("go\r")
    time.sleep(0.5)
    terminal.type("\x03")
    terminal.type("echo status $?\r")
    check("Ctrl-C interrupts the command, not the lab", terminal.until("status 130"), terminal.text)
    terminal.type("exit 3\r")
    status = terminal.ended()
    check("its exit status is passed on", status == 3, status)
    check("the terminal is as it was", terminal.state() == terminal.before, terminal.state())
