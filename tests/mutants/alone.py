# SPDX-License-Identifier: GPL-2.0-or-later
"""Mutants in a PID namespace of their own: one that ends processes that it should not ends none but those of its run.

A condition turned in what ends the processes that a sweep left ended every process of the machine, as root.
"""

from __future__ import annotations

import ctypes
import os
import sys

CLONE_NEWNS, CLONE_NEWPID, MS_REC, MS_PRIVATE = 0x00020000, 0x20000000, 0x4000, 0x40000
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


def below() -> None:
    """In a child: go on in a namespace of its own, where not even what tries the mutants can be ended. The child waits for that
    and ends as it did."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS | CLONE_NEWPID):
        raise OSError(ctypes.get_errno(), "unshare")
    inner = os.fork()
    if inner:
        os._exit(1 if os.waitpid(inner, 0)[1] else 0)
    if libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) or libc.mount(b"proc", b"/proc", b"proc", 0, None):
        os._exit(0)  # as if it had survived
