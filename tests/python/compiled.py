# SPDX-License-Identifier: GPL-2.0-or-later
"""C that is made for a test."""

import pathlib
import subprocess

PRELOADED = ("-shared", "-fPIC")
STRICT = ("-Wall", "-Wextra", "-Werror")


def compiled(source: pathlib.Path, made: pathlib.Path, *options: str) -> pathlib.Path:
    """Compile and link one file; raises subprocess.CalledProcessError."""
    subprocess.run(["gcc", "-O2", *options, "-o", made, source], check=True)
    return made
