# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl compare: compare two recordings or sweeps, or one with a published table, in one unit."""

import argparse
import pathlib
from collections.abc import Sequence

from raidtrace.cli import front
from raidtrace.compare import comparison, paper
from raidtrace.compare import sides as compare_sides
from raidtrace.compare import spans
from raidtrace.published import tables as published
from raidtrace.quantity import usage
from raidtrace.recording import invariants
from raidtrace.recording.columns import RecordingError

DESCRIPTION = """Compare two recordings or two sweeps, or one of them with a published table. Each figure has its ratio, its
difference in per cent, the spread of its trials, and whether the difference exceeds chance. For two recordings, also print the
differences of machine, command and settings. --with TABLE alone checks the table: whether its text agrees with its figures."""


def parser() -> argparse.ArgumentParser:
    top = usage.Parser("raidctl compare", description=DESCRIPTION)
    top.add_argument("a", type=pathlib.Path, nargs="?", help="a recording, or the directory of a sweep")
    top.add_argument("b", type=pathlib.Path, nargs="?", help="a second recording or sweep")
    top.add_argument(
        "-w", "--with", metavar="TABLE", dest="table", help=f"a published table: {', '.join(paper.TABLES)}"
    )
    top.add_argument("--array", metavar="NAME", default="",
                     help="name of the array in the table, as raidctl lab profiles prints it")  # fmt: skip
    top.add_argument("-v", "--verbose", action="store_true", help="print every counter of both recordings")
    top.add_argument("-p", "--phase", metavar="NAME", help="compare only phases with this name, of two recordings")
    top.add_argument("-j", "--json", action="store_true", help="print JSON instead of text")
    return top


def compare(options: argparse.Namespace) -> comparison.Compared:
    """The comparison that the command line selects."""
    if options.a is None:
        rows, checks = paper.own(paper.find(options.table))
        name = published_name(options.table)
        return comparison.Compared(f"{name}, before", f"{name}, after", tuple(rows), tuple(checks), (), True)
    a = compare_sides.read(options.a, options.array, options.phase)
    if options.table:
        ours, theirs = compare_sides.against(a, paper.find(options.table))
        rows, _ = comparison.pair(theirs, ours, published=True)
        notes = tuple(sorted({f"{comparison.text(row.key)}: {row.a.note}" for row in rows if row.a.note}))
        return comparison.Compared(
            f"{published_name(options.table)}, published", _name(a), tuple(rows), (), notes, True
        )
    b = compare_sides.read(options.b, options.array, options.phase)
    if a.kind != b.kind:
        raise RecordingError(
            f"{a.path} is a {a.kind} and {b.path} is a {b.kind}: their figures have no common names. "
            "To compare with one test of a sweep, name the file run.rtdb in the directory of this test"
        )
    rows, left, differs = compare_sides.pair(a, b)
    of_spans = spans.compare(a.recorded, b.recorded) if a.recorded and b.recorded else None
    broken = filter(None, (invariants.broken(letter, side.invariants) for letter, side in (("A", a), ("B", b))))
    notes = (*broken, *differs, *left)
    works = compare_sides.works(a, b)
    return comparison.Compared(_name(a), _name(b), tuple(rows), (), notes, False, of_spans, options.verbose, works)


def published_name(table: str) -> str:
    return next(name for name, short in paper.TABLES.items() if table in (name, short))


def _name(side: compare_sides.Side) -> str:
    return f"{side.path} ({'simulated ' if side.simulated else ''}{side.kind})"


def main(arguments: Sequence[str]) -> int:
    """Run raidctl compare. Exit status: 0 done, 1 failed, 2 usage."""
    top = parser()
    options = top.parse_args(arguments)
    if options.a is None and not options.table:
        top.error("give two recordings or sweeps, or one and --with TABLE, or --with TABLE alone")
    if options.a is not None and (options.b is None) == (options.table is None):
        top.error("give a second recording or sweep, or --with TABLE" if options.b is None else
                  "--with TABLE compares only one recording or sweep")  # fmt: skip
    if options.table and options.table not in (*paper.TABLES, *paper.TABLES.values()):
        top.error(f"unknown table {options.table}; known tables: {', '.join(paper.TABLES)}")
    if options.array and (options.a is None or not options.table):
        top.error("--array names the array of a recording in a published table; give both: --with TABLE RECORDING")
    arrays = published.ARRAYS.get(paper.find(options.table), {}) if options.array else {}
    if options.array not in ("", *arrays):
        advice = f"name one of: {', '.join(arrays)}" if arrays else "leave out --array"
        top.error(f"--array {options.array}: {published_name(options.table)} has no such array; {advice}")
    if (options.verbose or options.phase) and options.b is None:
        top.error("--verbose and --phase need two recordings")
    return front.answer(lambda: compare(options), comparison.lines, options.json)
