# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl report --html: raidctl-report-html."""

import argparse
import gc
import pathlib
import sys
from collections.abc import Sequence

from raidtrace.quantity import shown


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0 done, 1 failed, 2 usage."""
    parser = argparse.ArgumentParser(
        "raidctl report --html", description="Write one self-contained HTML file about one recording, two, or a sweep."
    )
    parser.add_argument("html", type=pathlib.Path, metavar="FILE", help="the page to write; replaced if it is a report")
    parser.add_argument(
        "recordings",
        type=pathlib.Path,
        metavar="RECORDING",
        nargs="+",
        help="one, or two to compare, or the directory of a sweep",
    )
    options = parser.parse_args(arguments)
    gc.disable()  # a short life, and to look through millions of rows for circles takes a good part of it
    # here, because drawing takes half a second to load that --help need not wait for
    from raidtrace.recording import recording
    from raidtrace.report import html as report_html
    from raidtrace.report import page as report_page
    from raidtrace.report import sweep as report_sweep
    from raidtrace.sweep import index as sweep_index

    try:
        if len(options.recordings) == 1 and options.recordings[0].is_dir():
            page = report_sweep.page(options.recordings[0])
        else:
            page = report_html.page(options.recordings)
        report_page.write(options.html, page)
    except (report_page.ReportError, recording.RecordingError, sweep_index.SweepIndexError, OSError) as error:
        print(f"raidctl report: {shown.failure(error)}", file=sys.stderr)
        return 1
    print(f"{options.html}: {len(page.encode()) / 1024:.0f} KiB; open it in any browser")
    return 0
