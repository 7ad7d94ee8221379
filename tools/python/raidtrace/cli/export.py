# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl export: convert a recording to formats of other programs."""

import gc
import pathlib
from collections.abc import Sequence

from raidtrace.quantity import shown, usage
from raidtrace.recording import sample_rows

DESCRIPTION = """Convert a recording to CSV (RFC 4180), to Parquet, to a Perfetto trace, or to JSON."""


def main(arguments: Sequence[str]) -> int:
    """Run raidctl export. Exit status: 0 done, 1 failed, 2 usage."""
    top = usage.Parser("raidctl export", description=DESCRIPTION)
    top.add_argument("recording", type=pathlib.Path, metavar="RECORDING", help="a file of raidctl record or import")
    top.add_argument("-c", "--csv", type=pathlib.Path, metavar="DIR", help="write one CSV file for each table into DIR, "
                     "which is created if necessary; columns.csv defines each column")  # fmt: skip
    top.add_argument("-P", "--parquet", type=pathlib.Path, metavar="DIR", help="write one Parquet file for each table into "
                     "DIR; needs pyarrow")  # fmt: skip
    top.add_argument("-p", "--perfetto", type=pathlib.Path, metavar="FILE", help="Perfetto trace: phases as "
                     "slices; throughput, requests in flight and latency as counters")  # fmt: skip
    top.add_argument("-j", "--json", action="store_true", help="print every row of every table, with the meaning of each "
                     "column, as JSON")  # fmt: skip
    options = top.parse_args(arguments)
    if not (options.csv or options.json or options.parquet or options.perfetto):
        top.error("name a format: --csv DIR, --parquet DIR, --json or --perfetto FILE")
    gc.disable()  # short-lived process, as in raidctl report
    from raidtrace.report import export

    if options.csv or options.parquet or options.json:
        with sample_rows.opened(options.recording) as rows:
            if options.csv:
                export.csv(options.recording, rows, options.csv)
            if options.parquet:
                export.parquet(options.recording, rows, options.parquet)
            if options.json:
                shown.write(export.json(options.recording, rows))
    if options.perfetto:
        size = export.perfetto(options.perfetto, options.recording)
        print(
            f"{options.perfetto}: {size / 1024:.0f} KiB; open it in ui.perfetto.dev or another viewer of Perfetto's traces"
        )
    return 0
