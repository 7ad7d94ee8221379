#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write every picture, of made-up figures, as SVG and PNG: tests/python/pictures.py DIRECTORY"""

import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tools" / "python"))

import long_recording  # noqa: E402

from raidtrace.plot import recording as plot_recording  # noqa: E402
from raidtrace.plot import style as plot  # noqa: E402
from raidtrace.plot import sweep as plot_sweep  # noqa: E402
from raidtrace.report import html as report_html  # noqa: E402

RATES = {256: 88, 1024: 264, 4096: 405, 16384: 387}


def pictures(directory):
    """Name and figure of each."""
    directory.mkdir(exist_ok=True)
    path = directory / "made-up.rtdb"
    long_recording.write(path, 80, 10, 2)
    observed, _ = report_html.read(path)
    path.unlink()
    disk = observed.targets[0]
    dd = [plot_sweep.Point(ahead, rate, rate - 4, rate + 3, ahead / 180, 256) for ahead, rate in RATES.items()]
    xfs = [
        plot_sweep.Point(ahead, rate * 0.8, rate * 0.8, rate * 0.8, ahead / 220, 256) for ahead, rate in RATES.items()
    ]
    bars = [
        plot_sweep.Bar(phase, name, rate * part, rate * part - 5, rate * part + 4)
        for phase, rate in (("write", 205), ("rewrite", 138), ("read", 410))
        for name, part in (("xfs", 1.0), ("ext2", 0.8), ("jfs", 0.9), ("reiserfs", 0.6))
    ]
    rates = {
        (1 << file, 4 << record): 4e5 * record / 13
        for file in range(9, 18)
        for record in range(13)
        if record + 2 <= file
    }
    pairs = [plot_sweep.Pair(tool, text, text * part) for tool, part in (("dd", 1.02), ("bonnie++", 0.9), ("iozone", 1.3))
             for text in (30, 90, 150, 400)]  # fmt: skip
    return {
        "in-flight": plot_recording.in_flight(observed, observed.targets),
        "over-time": plot_recording.overview(observed, disk),
        "lba": plot_recording.place_map(observed, disk),
        "depths": plot_recording.shares_of_depth(observed),
        "sizes": plot_recording.shares_of_size(observed),
        "blame": plot_recording.seek_matrix(observed, disk),
        "sweep": plot_sweep.readahead([("dd", dd), ("bonnie++, xfs", xfs)], True),
        "filesystems": plot_sweep.bars(bars, True),
        "surface": plot_sweep.surface(rates, True),
        "published": plot_sweep.scatter(pairs, True),
    }


def main(directory):
    """Write them, PNG as wide as they must be legible at."""
    plot.DPI = 600 / plot.WIDTH
    for name, picture in pictures(directory).items():
        plot.save(picture, [directory / f"{name}.svg", directory / f"{name}.png"])


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
