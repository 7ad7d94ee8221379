# SPDX-License-Identifier: GPL-2.0-or-later
"""Verbs of raidctl that Python implements: raidctl-demo."""

import functools
import os
import pathlib
import sys

from raidtrace.quantity import usage

DESCRIPTION = (
    """Run dd and bonnie++ with small and large readahead on a simulated 3ware array, and explain the difference."""
)
RAIDCTL = pathlib.Path(__file__).resolve().parents[3] / "bin" / "raidctl"


def main(arguments: list[str]) -> int:
    """Run raidctl demo. Exit status: 0 all verified, 1 failed, 2 usage."""
    parser = usage.Parser("raidctl demo", description=DESCRIPTION)
    parser.add_argument(
        "--out",
        type=pathlib.Path,
        default=pathlib.Path("demo-out"),
        help="directory of the results (default %(default)s)",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=min(2, os.cpu_count() or 1),
        help="number of concurrent guests (default %(default)s)",
    )
    parser.add_argument(
        "--seeds", type=int, default=1, metavar="N", help="repeat each run with N random seeds, and print the spread"
    )
    parser.add_argument("--fresh", action="store_true", help="repeat all runs, even if the directory has their results")
    options = parser.parse_args(arguments)
    if options.jobs < 1 or options.seeds < 1:
        parser.error("--jobs and --seeds must be at least 1")
    # here, because matplotlib takes a second to load, which --help and a wrong option do not need
    from raidtrace.demo import demo

    try:
        say = functools.partial(print, flush=True)
        return demo.run(RAIDCTL, options.out, options.jobs, say, options.seeds, options.fresh)
    except KeyboardInterrupt:
        print("raidctl demo: interrupted; results of the complete runs:", options.out, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
