# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl top: the counters of all disks, live."""

import argparse
import gc
import os
import sys
import time
from collections.abc import Sequence

from raidtrace.quantity import usage
from raidtrace.quantity.usage import add_source
from raidtrace.recording import live
from raidtrace.recording.live import DIFFERENCE, Live
from raidtrace.top.model import INTERVALS, Keys, Top
from raidtrace.top.view import Screen

DESCRIPTION = """Show a line for each attached disk, and details of the selected one, until q or Ctrl-C. Each DISK that is not
attached is attached meanwhile; without DISK and an attached disk, all 3ware units are."""


def interval(word: str) -> float:
    seconds = usage.duration(word)
    if not INTERVALS[0] <= seconds <= INTERVALS[-1]:
        raise argparse.ArgumentTypeError(f"{word} is not between 50ms and 1m")
    return seconds


def parser() -> argparse.ArgumentParser:
    top = usage.Parser("raidctl top", description=DESCRIPTION)
    top.add_argument("disks", metavar="DISK", nargs="*", help="a disk; it is attached if it is not yet")
    top.add_argument("-i", "--interval", metavar="TIME", type=interval, default=1.0,
                     help="length of an interval, in ms, s or m, from 50ms to 1m (default 1s)")  # fmt: skip
    add_source(top)
    return top


def main(arguments: Sequence[str]) -> int:
    """Run raidctl top. Exit status: 0 the user quit, 1 failed, 2 usage."""
    top = parser()
    options = top.parse_args(arguments)
    for name, fd in (("output", 1), ("input", 0)):
        if not os.isatty(fd):
            top.error(f"standard {name} is not a terminal; print the counters once with: raidctl show, or keep them with: "
                      "raidctl record")  # fmt: skip
    rows = Top()
    try:
        with Live("top", options.disks, options.source) as disks:
            rows.take(disks.recorded(DIFFERENCE))
            gc.freeze()  # what is loaded stays, so a collection need not look at it
            with Screen() as screen:
                _watch(screen, rows, disks, Keys(options.interval))
    except live.Ended as error:
        return error.status
    finally:
        if rows.losses:
            print(f"raidctl: events were lost: {rows.losses}; the counters lack them", file=sys.stderr)
    return 0


def _watch(screen: Screen, rows: Top, disks: Live, keys: Keys) -> None:
    """Sample and draw until the user quits."""
    sampled = time.monotonic()
    while True:
        screen.draw(rows, keys)
        if not screen.wait(None if keys.frozen else sampled + keys.interval - time.monotonic()):
            return
        for key in screen.keys():
            if not keys.press(rows, key):
                return
        if not keys.frozen and time.monotonic() >= sampled + keys.interval:
            sampled = time.monotonic()
            rows.take(disks.recorded(DIFFERENCE))
