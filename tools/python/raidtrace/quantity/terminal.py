# SPDX-License-Identifier: GPL-2.0-or-later
"""Paragraphs and tables for a terminal, and the pager. The caller passes text of files through
shown.visible() first."""

import contextlib
import os
import re
import signal
import sys
from collections.abc import Container, Iterator, Sequence

from raidtrace.quantity import shown

DEFAULT_WIDTH = 80  # if the output is not a terminal
MIN_WIDTH, MAX_WIDTH = 20, 100  # longer lines are hard to read
LABEL_WIDTH = 11  # columns
_WORD = re.compile(r"[^ ]*(?:(?<=[0-9]) [^ ]*)*")  # a number and its unit are one word


def width() -> int:
    """The width of text on standard output in columns."""
    if not sys.stdout.isatty():
        return DEFAULT_WIDTH
    with contextlib.suppress(OSError):
        return min(max(os.get_terminal_size(1).columns, MIN_WIDTH), MAX_WIDTH)
    return DEFAULT_WIDTH


def styles() -> tuple[str, str]:
    """The control sequences that begin and end bold text. Empty if the output is not a terminal, or with NO_COLOR."""
    return ("\033[1m", "\033[0m") if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else ("", "")


def wrapped(text: str, columns: int, indent: int = 0, first: str = "") -> str:
    """A paragraph that ends with a line feed. first: text before its first line, in `indent` columns."""
    if columns < 2 * indent and columns < DEFAULT_WIDTH:  # half of a narrow line is too short for words
        columns = min(2 * indent, DEFAULT_WIDTH)
    out, at = [f"{first:<{indent}}"], indent
    while text:
        match = _WORD.match(text)
        word = match[0] if match else text
        text = text[len(word) :].lstrip(" ")
        if at > indent and at + 1 + len(word) > columns:
            out.append(f"\n{'':{indent}}")
            at = indent
        elif at > indent:
            out.append(" ")
            at += 1
        while len(word) > columns - indent:  # a word longer than a line, such as mount options
            out.append(f"{word[: columns - indent]}\n{'':{indent}}")
            word = word[columns - indent :]
        out.append(word)
        at += len(word)
    return "".join(out) + "\n"


def table(rows: Sequence[Sequence[str]], left: Container[int] = (0,), columns: int | None = None) -> list[str]:
    """The lines of a table. Each column is as wide as its widest cell. left: columns aligned to the left. columns: if
    lines would be longer, the gaps are narrower."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    gap = " " if columns is not None and sum(widths) + 2 * (len(widths) - 1) > columns else "  "
    return [
        gap.join(f"{cell:{'<' if at in left else '>'}{widths[at]}}" for at, cell in enumerate(row)).rstrip()
        for row in rows
    ]


@contextlib.contextmanager
def paged() -> Iterator[None]:
    """Send standard output through the program in PAGER, if standard output is a terminal."""
    command, out = os.environ.get("PAGER"), shown.raw(sys.stdout)
    if not command or not out.isatty():
        yield
        return
    import subprocess  # here, because only the pager needs it

    with subprocess.Popen(command, shell=True, stdin=subprocess.PIPE, encoding="utf-8") as pager:
        assert pager.stdin is not None
        before, sys.stdout = sys.stdout, _Pager(pager.stdin)  # type: ignore
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the pager handles it
        try:
            yield
        except BrokenPipeError:
            pass  # the user left the pager early
        finally:
            sys.stdout = before
            with contextlib.suppress(BrokenPipeError):
                pager.stdin.close()


class _Pager(shown.Door):
    """The pipe to a pager. It counts as a terminal."""

    def isatty(self) -> bool:
        return True
