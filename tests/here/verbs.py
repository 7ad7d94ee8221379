# SPDX-License-Identifier: GPL-2.0-or-later
"""The verbs that count while they run, by BPF programs: top."""

import fcntl
import os
import pathlib
import pty
import select
import signal
import struct
import subprocess
import termios
import time

from machine import RAIDCTL, killed, ok, read_directly

PATIENCE_S = 60
RING = 120000  # reads that are more than the rings hold


def lose(process: subprocess.Popen, data: pathlib.Path) -> None:
    """Read while a process that counts is stopped, until its rings are full."""
    process.send_signal(signal.SIGSTOP)
    number, end = 0, time.monotonic() + PATIENCE_S
    while number < RING and time.monotonic() < end:
        read_directly(data, 5000)
        number += 5000
    process.send_signal(signal.SIGCONT)


class Screen:
    """raidctl top on a terminal of 80 columns."""

    def __init__(self, *words: str) -> None:
        self.end, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.process = subprocess.Popen([RAIDCTL, "top", *words], stdin=other, stdout=other, stderr=subprocess.PIPE,
                                        text=True, env=os.environ | {"TERM": "xterm"})  # fmt: skip
        os.close(other)
        self.raw = ""

    def shows(self, text: str) -> bool:
        """Wait until a text was written."""
        end = time.monotonic() + PATIENCE_S
        while text not in self.raw and time.monotonic() < end and self.process.poll() is None:
            if select.select([self.end], [], [], 0.2)[0]:
                self.raw += os.read(self.end, 65536).decode("utf-8", "replace")
        return text in self.raw


def test_top(data: pathlib.Path, disk: str) -> None:
    """top names its source, counts, tells losses, and ends without a trace."""
    screen = Screen("--source", "bpf", disk)
    ok(screen.shows(f">{disk}") and screen.shows("(bpf)"), "top by BPF programs names its source", screen.raw[-500:])
    read_directly(data, 2000)
    ok(screen.shows("direct"), "top counts the direct reads", screen.raw[-500:])
    lose(screen.process, data)
    ok(screen.shows(f"LOST {disk}: "), "top shows what was lost", screen.raw[-500:])
    os.write(screen.end, b"q")
    told = screen.process.communicate(timeout=PATIENCE_S)[1]
    ok(screen.process.returncode == 0 and "events were lost" in told, "top repeats the losses at its end", told)
    screen = Screen("--source", "bpf", disk)
    screen.shows(f">{disk}")
    killed(screen.process, "top")


def test_all(data: pathlib.Path, disk: str) -> None:
    """Run the tests of this file."""
    test_top(data, disk)
