# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl lab clean: what the cache holds and nothing used for some time."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

from raidlab.base import cache

_DAY = 24 * 60 * 60
_PARTS = (
    "kernels*/*",
    "trees/*",
    "patched/*",
    "sources/*",
    "root-*",
    "sysroot-*",
    "compiler-*",
    "tools-*",
    "programs-*",
)


def act(arguments: argparse.Namespace) -> int:
    """Status 0."""
    top = cache.root()
    old = unused(top, time.time() - arguments.days * _DAY)
    for path in old:
        days = (time.time() - cache.last_used(path)) / _DAY
        print(f"{_mib(path):6} MiB  {days:4.0f} days  {path.relative_to(top)}")
    total = sum(map(_mib, old))
    if not old:
        print(f"Everything in {top} ({_mib(top)} MiB) was used within {arguments.days} days.")
    elif arguments.remove:
        left = [path for path in old if not cache.forget(path)]
        print(f"Removed {total - sum(map(_mib, left))} MiB.")
    else:
        print(f"{total} MiB were not used for {arguments.days} days. To remove them: raidctl lab clean --remove")
    return 0


def unused(top: Path, since: float) -> list[Path]:
    """Entries of the cache that were last used before `since`, seconds since 1970; the one unused for longest is first."""
    entries = [path for part in _PARTS for path in top.glob(part) if path.is_dir()]
    return sorted((path for path in entries if cache.last_used(path) < since), key=cache.last_used)


def _mib(path: Path) -> int:
    """What a directory takes of the disk."""
    blocks = 0
    for directory, _, names in os.walk(path):
        for name in names:
            blocks += os.lstat(os.path.join(directory, name)).st_blocks
    return blocks * 512 >> 20
