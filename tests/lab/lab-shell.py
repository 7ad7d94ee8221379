#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl lab shell on a terminal: keys, job control, the terminal's settings, the exit status."""

from __future__ import annotations

import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from fcntl import ioctl

sys.dont_write_bytecode = True
from lab_checks import LAB, check, finish, lab  # noqa: E402

WAIT_S = 30.0


class Terminal:
    """A terminal of 40 lines of 132 columns, with raidctl lab shell on it."""

    def __init__(self, directory: str) -> None:
        self._keys, self._screen = pty.openpty()
        ioctl(self._screen, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 132, 0, 0))
        self.before = termios.tcgetattr(self._screen)
        ends = {"stdin": self._screen, "stdout": self._screen, "stderr": self._screen}
        self.runner = subprocess.Popen([str(LAB), "shell", "-q", "--out", directory], **ends)
        self.text = ""

    def until(self, wanted: str) -> bool:
        """Read until `wanted` has come; what came before it is forgotten."""
        end = time.monotonic() + WAIT_S
        while wanted not in self.text:
            ready, _, _ = select.select([self._keys], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                return False
            self.text += os.read(self._keys, 4096).decode(errors="replace")
        self.text = self.text.partition(wanted)[2]
        return True

    def type(self, keys: str) -> None:
        os.write(self._keys, keys.encode())

    def after(self) -> list[object]:
        return termios.tcgetattr(self._screen)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="lab-test-", dir="/var/tmp") as directory:
        terminal = Terminal(directory)
        check("a prompt comes", terminal.until("lab:/run/lab/out# "), terminal.text)
        terminal.type("stty size\r")
        check("the terminal's size is known", terminal.until("40 132\r"), terminal.text)
        terminal.type("echo a$((40 + 2))b; lsblk -dno NAME\r")
        check("a command runs", terminal.until("a42b"), terminal.text)
        check("the array is there", terminal.until("sda"), terminal.text)
        terminal.type("sleep 1000\r")
        time.sleep(0.5)
        terminal.type("\x03")
        terminal.type("echo status $?\r")
        check("Ctrl-C interrupts the command, not the lab", terminal.until("status 130"), terminal.text)
        terminal.type("exit 3\r")
        check("its exit status is passed on", terminal.runner.wait(WAIT_S) == 3, terminal.runner.returncode)
        check("the terminal is as it was", terminal.after() == terminal.before, terminal.after())
    none = lab("shell")
    check("without a terminal it is refused", none.returncode == 125 and "raidctl lab run" in none.stderr, none)
    finish()


main()
