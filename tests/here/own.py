# SPDX-License-Identifier: GPL-2.0-or-later
"""The disk of this machine that the tests of the door without a module may look at."""

import os
import pathlib


def own_disk(directory: pathlib.Path) -> str:
    """The name of the whole disk that has a directory, "" if there is none with requests."""
    number = os.stat(directory).st_dev
    path = pathlib.Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve()
    disk = path.parent if (path / "partition").exists() else path
    return disk.name if (disk / "mq").is_dir() else ""
