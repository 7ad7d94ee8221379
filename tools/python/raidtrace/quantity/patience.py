# SPDX-License-Identifier: GPL-2.0-or-later
"""A line on a terminal while a program has printed nothing yet."""

import sys

DELAY_S = 1.0
_end = None  # ends the waiting


def begin(text: str) -> None:
    """If standard error is a terminal, print a line there after DELAY_S, unless end() is called first."""
    global _end
    if not sys.stderr.isatty():
        return
    import threading  # here, because most runs do not need it

    timer = threading.Timer(DELAY_S, print, [text], {"file": sys.stderr, "flush": True})
    timer.daemon = True
    timer.start()
    _end = timer.cancel


def end() -> None:
    """The program prints something, or has ended."""
    global _end
    if _end:
        _end()
        _end = None
