# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl compare: two recordings or sweeps, or one with a published table, in one unit."""

import argparse
import pathlib
from collections.abc import Sequence

from raidtrace.cli import answer as cli_answer
from raidtrace.compare import comparison, paper
from raidtrace.compare import sides as compare_sides
from raidtrace.compare import spans, spans_text
from raidtrace.compare import text as comparison_text
from raidtrace.recording import invariants

DESCRIPTION = """Set two recordings or sweeps side by side, or one beside a published table: one unit, ratio and per cent,
spread, and whether the difference exceeds it. --with alone does the table's own arithmetic again and says where its words
and its figures disagree. --all: of two recordings all that was counted, and what differs between machines and settings."""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser("raidctl compare", description=DESCRIPTION)
    top.add_argument("a", type=pathlib.Path, nargs="?", help="a recording, or a sweep's directory")
    top.add_argument("b", type=pathlib.Path, nargs="?", help="another of its kind")
    top.add_argument("-w", "--with", metavar="TABLE", dest="table", help=f"one of {', '.join(paper.TABLES)}")
    top.add_argument("--array", metavar="NAME", default="",
                     help="what the recorded array is in the table: a profile of the lab (raidctl lab profiles)")  # fmt: skip
    top.add_argument("--all", action="store_true", help="all that was counted in two recordings, as raidctl report A B")
    top.add_argument("--phase", metavar="NAME", help="with --all: only phases of that name")
    top.add_argument("-j", "--json", action="store_true", help="print JSON instead of text")
    return top


def compare(options: argparse.Namespace) -> comparison_text.Compared:
    """What was asked for."""
    if options.a is None:
        rows, checks = paper.own(paper.find(options.table))
        name = published_name(options.table)
        return comparison_text.Compared(f"{name}, before", f"{name}, after", tuple(rows), tuple(checks), (), True)
    a = compare_sides.read(options.a, options.array)
    if options.table:
        ours, theirs = compare_sides.against(a, paper.find(options.table))
        rows, _ = comparison.pair(theirs, ours, published=True)
        notes = sorted({f"{comparison.text(row.key)}: {row.a.note}" for row in rows if row.a.note})
        return comparison_text.Compared(
            f"{published_name(options.table)}, published", _name(a), tuple(rows), (), tuple(notes), True
        )
    b = compare_sides.read(options.b, options.array)
    rows, left, differs = compare_sides.pair(a, b)
    return comparison_text.Compared(
        _name(a), _name(b), tuple(rows), (), (*_wrong(a, "A"), *_wrong(b, "B"), *differs, *left)
    )


def _wrong(side: compare_sides.Side, letter: str) -> tuple[str, ...]:
    """What contradicts itself in a recording, or was not counted."""
    return tuple(filter(None, (invariants.broken(letter, side.invariants),)))


def published_name(table: str) -> str:
    """The long name of a table."""
    return next(name for name, short in paper.TABLES.items() if table in (name, short))


def _name(side: compare_sides.Side) -> str:
    return f"{side.path} ({'simulated ' if side.simulated else ''}{side.kind})"


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0 done, 1 failed, 2 usage."""
    top = parser()
    options = top.parse_args(arguments)
    if options.a is None and not options.table:
        top.error("name two recordings or sweeps, or one and --with TABLE, or --with TABLE alone")
    if options.a is not None and (options.b is None) == (options.table is None):
        top.error("name what to compare it with: another, or --with TABLE" if options.b is None else
                  "--with TABLE takes one recording or sweep")  # fmt: skip
    if options.table and options.table not in (*paper.TABLES, *paper.TABLES.values()):
        top.error(f"there is no table {options.table}; there are: {', '.join(paper.TABLES)}")
    if (options.all and options.b is None) or (options.phase and not options.all):
        top.error("--all takes two recordings, and --phase goes with it")
    if options.all:
        return cli_answer.answer(
            "compare", lambda: spans.of(options.a, options.b, options.phase), spans_text.lines, options.json
        )
    return cli_answer.answer("compare", lambda: compare(options), comparison_text.lines, options.json)
