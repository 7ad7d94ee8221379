# SPDX-License-Identifier: GPL-2.0-or-later
"""Text of words for a terminal, and the pager. The caller passes text of files through shown.visible() first."""

import contextlib
import os
import re
import signal
import sys
from collections.abc import Container, Iterator, Sequence

from raidtrace.quantity import shown

DEFAULT_WIDTH = 80  # off a terminal
MIN_WIDTH, MAX_WIDTH = 20, 100  # longer lines are hard to read
LABEL_WIDTH = 11  # columns
_WORD = re.compile(r"[^ ]*(?:(?<=[0-9]) [^ ]*)*")  # a number and its unit are one word


def width() -> int:
    """Columns of lines of words on standard output."""
    if not sys.stdout.isatty():
        return DEFAULT_WIDTH
    with contextlib.suppress(OSError):
        return min(max(os.get_terminal_size(1).columns, MIN_WIDTH), MAX_WIDTH)
    return DEFAULT_WIDTH


def styles() -> tuple[str, str]:
    """The control sequences that begin and end bold text; empty off a terminal and with NO_COLOR."""
    return ("\033[1m", "\033[0m") if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else ("", "")


def wrapped(text: str, columns: int, indent: int = 0, first: str = "") -> str:
    """A paragraph that ends with a line feed. first: what stands before its first line, in `indent` columns."""
    if columns < 2 * indent and columns < DEFAULT_WIDTH:  # half of a narrow line holds no words
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
        while len(word) > columns - indent:  # a word that no line holds, such as mount options
            out.append(f"{word[: columns - indent]}\n{'':{indent}}")
            word = word[columns - indent :]
        out.append(word)
        at += len(word)
    return "".join(out) + "\n"


def table(rows: Sequence[Sequence[str]], left: Container[int] = (0,), columns: int | None = None) -> list[str]:
    """Lines of columns as wide as their widest cell. left: the columns that are aligned to the left. columns: where a line
    would be longer, the columns are closer together."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    gap = " " if columns is not None and sum(widths) + 2 * (len(widths) - 1) > columns else "  "
    return [
        gap.join(f"{cell:{'<' if at in left else '>'}{widths[at]}}" for at, cell in enumerate(row)).rstrip()
        for row in rows
    ]


@contextlib.contextmanager
def paged() -> Iterator[None]:
    """Let standard output go through the program that PAGER names, if standard output is a terminal."""
    command, out = os.environ.get("PAGER"), shown.raw(sys.stdout)
    if not command or not out.isatty():
        yield
        return
    import subprocess  # here, because nothing else of a report needs it

    with subprocess.Popen(command, shell=True, stdin=subprocess.PIPE, encoding="utf-8") as pager:
        assert pager.stdin is not None
        before, sys.stdout = sys.stdout, _Pager(pager.stdin)  # type: ignore
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the pager's
        try:
            yield
        except BrokenPipeError:
            pass  # somebody who leaves the pager early has read enough
        finally:
            sys.stdout = before
            with contextlib.suppress(BrokenPipeError):
                pager.stdin.close()


class _Pager(shown.Door):
    """A pager shows what the terminal behind it would."""

    def isatty(self) -> bool:
        return True
