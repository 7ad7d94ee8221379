# SPDX-License-Identifier: GPL-2.0-or-later
"""The user's terminal, lent to a guest."""

from __future__ import annotations

import fcntl
import os
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept() -> Iterator[None]:
    """Put the terminal's settings back, however the guest that changes them ends."""
    before = termios.tcgetattr(sys.stdin)
    flags = fcntl.fcntl(sys.stdin, fcntl.F_GETFL)
    try:
        yield
    finally:
        # QEMU makes it non-blocking, for everybody who has it.
        fcntl.fcntl(sys.stdin, fcntl.F_SETFL, flags & ~os.O_ACCMODE)
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
