# SPDX-License-Identifier: GPL-2.0-or-later
"""Mutants in a PID namespace of their own: one that ends processes that it should not ends none but those of its run.

A condition turned in what ends the processes that a sweep left ended every process of the machine, as root.
"""

from __future__ import annotations

import os
import sys

INSIDE = "MUTANTS_ALONE"


def go() -> None:
    """Start this program again in a namespace, below a shell that waits for what nobody waits for; not if it is in one."""
    if os.environ.get(INSIDE):
        return
    words = [
        "unshare",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
        *(["--map-root-user"] if os.getuid() else []),
    ]
    os.execvpe(
        words[0], [*words, "sh", "-c", '"$@"; exit $?', "sh", sys.executable, *sys.argv], os.environ | {INSIDE: "1"}
    )
