# SPDX-License-Identifier: GPL-2.0-or-later
"""The screen of raidctl top. The only file that uses curses."""

import contextlib
import curses
import locale
import os
import select
import signal
import time
from collections.abc import Iterator, Sequence

from raidtrace.explain import breakdown
from raidtrace.explain.breakdown import drawn
from raidtrace.quantity import units
from raidtrace.quantity.shown import UserError
from raidtrace.recording.breakdown import of
from raidtrace.top.model import (
    BUSY,
    COLUMNS,
    DISK,
    HELP,
    READS,
    Column,
    DiskRow,
    Interval,
    Keys,
    State,
    Top,
    bar,
    classes,
    details,
)

LEAST_BAR, WIDER_BAR, MOST_BAR = 4, 6, 40
NUMBER = 8  # columns of a cell with a bar: a blank before it, and a blank and a number after it
HEAD = 3  # lines of the title and the headings
DETAILS = 14  # lines
LABEL = 21  # columns of a label of the details
STATES = 10  # characters for the whole time
LEAST_LINES, LEAST_COLUMNS = HEAD + 3, 40
MORE_LINES = 5  # free lines below the details from which on they have more
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
KEYS = "arrows pick  s sort  f freeze  + - interval  ? help  q quit"
NO_DISK = "no disk is attached any more"
READ, WRITE, ALARM = 1, 2, 3  # pairs of colours


class Screen:
    """The terminal; a context manager that restores it."""

    def __init__(self) -> None:
        self.styled = not os.environ.get("NO_COLOR")

    def __enter__(self) -> "Screen":
        locale.setlocale(locale.LC_ALL, "")
        try:
            curses.setupterm()
        except curses.error as error:
            raise UserError(f"the terminal type TERM={os.environ.get('TERM', '')} is unknown; set TERM to the type of this "
                            "terminal, such as xterm or vt100") from error  # fmt: skip
        self.wake, end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(end, warn_on_full_buffer=False)
        for number in (*ENDS, signal.SIGWINCH):
            signal.signal(number, lambda *_: None)
        self.window = curses.initscr()
        curses.cbreak()
        curses.noecho()
        curses.nonl()
        with contextlib.suppress(curses.error):  # a terminal that cannot hide its cursor
            curses.curs_set(0)
        curses.set_escdelay(50)
        self.window.keypad(True)
        self.window.nodelay(True)
        if self.styled and curses.has_colors():
            curses.start_color()
            curses.use_default_colors()
            for pair, colour in ((READ, curses.COLOR_GREEN), (WRITE, curses.COLOR_YELLOW), (ALARM, curses.COLOR_RED)):
                curses.init_pair(pair, colour, -1)
        return self

    def __exit__(self, *_: object) -> None:
        curses.endwin()

    def wait(self, seconds: float | None) -> bool:
        """Wait for a key, a signal, or a time. Returns whether the program goes on."""
        poll = select.poll()
        poll.register(0, select.POLLIN)
        poll.register(self.wake, select.POLLIN)
        ready = dict(poll.poll(None if seconds is None else max(seconds, 0) * 1000))
        numbers = set(os.read(self.wake, 64)) if self.wake in ready else set()
        if numbers & set(ENDS) or ready.get(0, 0) & ~select.POLLIN:
            return False
        if signal.SIGWINCH in numbers:
            size = os.get_terminal_size(1)
            if size.lines and size.columns:
                curses.resizeterm(size.lines, size.columns)
            self.window.clearok(True)
        return True

    def keys(self) -> Iterator[str]:
        """The keys that were pressed."""
        while (key := self.window.getch()) != -1:
            names = {curses.KEY_UP: "UP", curses.KEY_DOWN: "DOWN"}
            if key in names or key < 256:
                yield names.get(key) or chr(key)

    def put(self, y: int, x: int, text: str, attributes: int = 0) -> None:
        """Print text up to the edge of the screen."""
        lines, columns = self.window.getmaxyx()
        if 0 <= y < lines and x < columns and text:
            with contextlib.suppress(curses.error):  # the cursor cannot move beyond the last column
                self.window.addnstr(y, x, text, columns - x, attributes if self.styled else 0)

    def colour(self, pair: int) -> int:
        return curses.color_pair(pair) if self.styled and curses.has_colors() else 0

    def draw(self, top: Top, keys: Keys) -> None:
        """Show the present state."""
        lines, columns = self.window.getmaxyx()
        self.window.erase()
        if lines < LEAST_LINES or columns < LEAST_COLUMNS:
            self.put(0, 0, "the terminal is too small")
        elif keys.help:
            for y, line in enumerate(HELP.splitlines()):
                self.put(y, 1, line, 0 if y else curses.A_BOLD)
        else:
            self._list(top, keys, lines, columns)
        self.window.refresh()

    def _list(self, top: Top, keys: Keys, lines: int, columns: int) -> None:
        full = top.full()
        simulated = ", simulated" if top.simulated else ""
        title = (f"raidctl top ({top.source}{simulated})  every {keys.interval:g} s{'  FROZEN' if keys.frozen else ''}  "
                 f"sorted by {COLUMNS[top.sort].name}  full bar = {full}")  # fmt: skip
        clock = time.strftime("%H:%M:%S")
        self.put(0, 0, title, curses.A_BOLD)
        if columns > len(title) + len(clock):
            self.put(0, columns - len(clock), clock)
        shown, length = layout(columns)
        self._headings(shown, length, COLUMNS[top.sort])
        picked = top.chosen()
        detailed = lines >= LEAST_LINES + DETAILS
        room = lines - HEAD - 2 - (DETAILS if detailed else 0)
        at = top.rows.index(picked) if picked else 0
        first = max(at - room + 1, 0)
        y = HEAD
        for row in top.rows[first : first + room]:
            self._row(y, row, row is picked, shown, length, full)
            y += 1
        if not top.rows:
            self.put(y, 1, NO_DISK)
        if picked and detailed:
            self._details(y + 1, picked, lines - 2, columns)
        if top.losses:
            self.put(lines - 2, 0, f"LOST {top.losses}", curses.A_BOLD | self.colour(ALARM))
        self.put(lines - 1, 0, keys.message or KEYS, curses.A_BOLD if keys.message else 0)

    def _headings(self, shown: Sequence[Column], length: int, sort: Column) -> None:
        marked = curses.A_BOLD | curses.A_UNDERLINE
        self.put(2, 1, DISK.head, marked if sort is DISK else curses.A_BOLD)
        x = DISK.width
        for column in shown:
            wide = column.width or length + NUMBER
            head = f"{'*' if column is sort else ''}{column.head}"
            self.put(1, x, f"{column.above:>{wide}}", curses.A_BOLD)
            self.put(2, x + wide - len(head), head, marked if column is sort else curses.A_BOLD)
            x += wide

    def _row(self, y: int, row: DiskRow, picked: bool, shown: Sequence[Column], length: int, full: int) -> None:
        name = f"{'>' if picked else ' '}{row.target.disk:<{DISK.width - 1}.{DISK.width - 1}}"
        self.put(y, 0, name, curses.A_BOLD | curses.A_REVERSE if picked else 0)
        x = DISK.width
        if not row.interval:
            self.put(y, x + 1, row.state.value, 0 if row.state is State.FRESH else self.colour(ALARM))
            return
        for column in shown:
            wide = column.width or length + NUMBER
            if column is BUSY:
                self.put(y, x + 2, drawn(row.interval.states, STATES), self.colour(READ))
            elif not column.width:
                figures = row.interval.read if column is READS else row.interval.write
                text = bar(figures.depth(), figures.deepest(), length, full)
                self.put(y, x + 1, text, self.colour(READ if column is READS else WRITE))
                self.put(y, x + length + 2, f"{row.cell(column).text:>{NUMBER - 2}}")
            else:
                self.put(y, x, f"{row.cell(column).text:>{wide}}")
            x += wide

    def _details(self, y: int, row: DiskRow, end: int, columns: int) -> None:
        one, target = row.interval, row.target
        ahead = "n/a" if row.readahead is None else units.sectors(row.readahead)
        where = " ".join(filter(None, (target.driver, target.hctl)))
        self.put(y, 1, f"{target.disk}  {where}{'  ' if where else ''}readahead {ahead}", curses.A_BOLD)
        if one is None:
            self.put(y + 2, 1, row.state.value)
            return
        self.put(y + 1, 1, states_text(one))
        middle = LABEL + (columns - LABEL) // 2
        self.put(y + 2, 1, f"over {one.seconds:.2f} s")
        for x, direction in ((LABEL, "read"), (middle, "write")):
            self.put(y + 2, x, direction, curses.A_BOLD)
        y += 3
        for label, read, write in details(one):
            for x, text in ((1, label), (LABEL, read), (middle, write)):
                self.put(y, x, text)
            y += 1
        if seeks := classes(one):
            self.put(y, 1, f"seeks/s by class {seeks}")
        if row.errors:
            self.put(
                y + 1,
                1,
                f"{units.count(row.errors)} requests FAILED since top began",
                curses.A_BOLD | self.colour(ALARM),
            )
        if end - (y + 3) >= MORE_LINES:
            for at, line in enumerate(more(one, columns - 2)[: end - (y + 3)]):
                self.put(y + 3 + at, 1, line)


def states_text(one: Interval) -> str:
    """The states of the time with their shares, in the order of the bar."""
    return ", ".join(f"{state} {units.share(share, 1)}" for state, share in one.states.items()) or "n/a"


def more(one: Interval, columns: int) -> list[str]:
    """The states of time and the answers of a report, for a terminal with room below the details."""
    if not (found := of(one.span)):
        return []
    return breakdown.text([found], columns)


def layout(columns: int) -> tuple[list[Column], int]:
    """The columns that fit, without the name of the disk, and the length of a bar."""
    shown: list[Column] = []
    used = DISK.width
    for column in COLUMNS[1:]:
        # If the disk and its bars fit, bars have at least WIDER_BAR characters.
        bars = 0 if len(shown) < 5 else 2 * ((LEAST_BAR if len(shown) < 6 else WIDER_BAR) - LEAST_BAR)
        wide = column.width or LEAST_BAR + NUMBER
        if used + wide + bars > columns:
            break
        used += wide
        shown.append(column)
    return shown, min(LEAST_BAR + max(columns - used, 0) // 2, MOST_BAR)
