# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl export --perfetto: raidctl-export-perfetto."""

import argparse
import gc
import pathlib
import sys
from collections.abc import Sequence

from raidtrace.quantity import shown
from raidtrace.recording import recording
from raidtrace.report import perfetto


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0 done, 1 failed, 2 usage."""
    parser = argparse.ArgumentParser(
        "raidctl export --perfetto", description="Write a recording as a trace of Perfetto."
    )
    parser.add_argument("trace", type=pathlib.Path, metavar="FILE", help="the trace to write; replaced if it is one")
    parser.add_argument("recording", type=pathlib.Path, metavar="RECORDING", help="what raidctl record wrote")
    options = parser.parse_args(arguments)
    gc.disable()  # a short life
    try:
        size = perfetto.write(options.trace, options.recording)
    except (perfetto.TraceError, recording.RecordingError, OSError) as error:
        print(f"raidctl export: {shown.failure(error)}", file=sys.stderr)
        return 1
    print(f"{options.trace}: {size / 1024:.0f} KiB; open it in ui.perfetto.dev or another viewer of Perfetto's traces")
    return 0
