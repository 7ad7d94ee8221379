# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl report: print a recording as text, JSON or an HTML page, or two recordings side by side."""

import argparse
import contextlib
import gc
import pathlib
from collections.abc import Callable, Sequence

from raidtrace.quantity import shown, terminal, usage
from raidtrace.recording import columns, sample_rows
from raidtrace.recording.columns import RecordingError

DESCRIPTION = """Print what limits the disks of a recording, then a table with one row for each phase, disk and direction:
throughput, IOPS, requests in flight, request size, sequential share and latency. With two recordings, print both side by side,
and their differences."""


def parser() -> argparse.ArgumentParser:
    top = usage.Parser("raidctl report", description=DESCRIPTION)
    top.add_argument(
        "recordings", metavar="RECORDING", nargs="*", help="a file of raidctl record or import; two are compared"
    )
    top.add_argument("-j", "--json", action="store_true", help="print JSON instead of text")
    top.add_argument("-p", "--phase", metavar="NAME", help="print only phases with this name")
    top.add_argument("-H", "--html", type=pathlib.Path, metavar="FILE", help="write one self-contained HTML page with pictures "
                     "to FILE instead of text; RECORDING may also be the directory of a sweep")  # fmt: skip
    top.add_argument("-v", "--verbose", action="store_true", help="print all counters after the table")
    top.add_argument("--table", action="store_true", help=argparse.SUPPRESS)  # alone, at the end of raidctl record
    top.add_argument(
        "-e",
        "--explain",
        action="store_true",
        help="print unit and definition of numbers: give headings of the text or members of the JSON instead of "
        "RECORDING, or nothing for all numbers",
    )
    return top


def main(arguments: Sequence[str]) -> int:
    """Run raidctl report. Exit status: 0 done, 1 failed, 2 usage."""
    top = parser()
    options = top.parse_args(arguments)
    paths = [pathlib.Path(word) for word in options.recordings]
    if not options.explain:
        if not paths:
            top.error("name a RECORDING")
        if len(paths) > 2:
            top.error("name one RECORDING, or two to compare")
        if options.html and (options.json or options.phase):
            top.error("--html writes the whole report; omit --json and --phase")
    gc.disable()  # short-lived process; scanning hours of rows for reference cycles would dominate its run time
    if options.explain:
        from raidtrace.report import tables

        return _shown(lambda: columns.definitions_text(options.recordings, tables.definitions_of_headings()))
    if options.html:
        return _html(options.html, paths)
    if options.table:
        return _shown(lambda: _table(paths[0]), paged=False)
    if len(paths) == 2:
        return _two(paths, options)
    if options.json:
        return _shown(lambda: _json(paths[0], options.phase), paged=False)
    return _shown(lambda: _text(paths[0], options.phase, options.verbose))


def _shown(make: Callable[[], str], paged: bool = True) -> int:
    """Print a text through the pager. It must be safe for a terminal. Returns the exit status 0."""
    with terminal.paged() if paged else contextlib.nullcontext():
        shown.write((make(),))
    return 0


def _json(path: pathlib.Path, phase: str | None) -> str:
    from raidtrace.recording import document

    return shown.value_json(document.load(path, phase)) + "\n"


def _text(path: pathlib.Path, phase: str | None, verbose: bool) -> str:
    """The text of a report. The recording is opened once, so that explanation and tables come from the same sums."""
    from raidtrace.explain import runs
    from raidtrace.recording import invariants, observation
    from raidtrace.report import text

    with sample_rows.opened(path) as opened:
        recorded = invariants.read(path, opened)
        shown_of = recorded if phase is None else invariants.of_phase(recorded, phase)
        try:
            observed = observation.read(recorded, opened)
            explained = runs.of_one(observed, runs.Choice(phase))
        except RecordingError as error:
            return text.text(shown_of, str(error), verbose)
    return text.text(shown_of, explained, verbose)


def _table(path: pathlib.Path) -> str:
    from raidtrace.recording import invariants
    from raidtrace.report import text

    return text.table(invariants.load(path))


def _two(paths: Sequence[pathlib.Path], options: argparse.Namespace) -> int:
    from raidtrace.cli import compare, front
    from raidtrace.compare import spans

    if options.json:
        a, b = paths
        return front.answer(lambda: spans.of(a, b, options.phase), spans.lines, True)
    words = ["--verbose", *(["--phase", options.phase] if options.phase else [])]
    with terminal.paged():
        return compare.main([*words, "--", *map(str, paths)])


def _html(html: pathlib.Path, paths: Sequence[pathlib.Path]) -> int:
    # here, because drawing takes half a second to load
    from raidtrace.report import html as report_html
    from raidtrace.report import page as report_page
    from raidtrace.report import sweep as report_sweep

    sweep = len(paths) == 1 and paths[0].is_dir()
    page = report_sweep.page(paths[0]) if sweep else report_html.page(paths)
    report_page.write(html, page)
    print(f"{html}: {len(page.encode()) / 1024:.0f} KiB; open it in any browser")
    return 0
