# SPDX-License-Identifier: GPL-2.0-or-later
"""What insmod(8) and rmmod(8) do, by the process itself.

Where the kernel checks itself on two processors, the start of a program takes seconds.
"""

from __future__ import annotations

import ctypes
import os

_DELETE_MODULE, _FINIT_MODULE = 176, 313  # x86-64, as the lab's guests are
_LIBC = ctypes.CDLL(None, use_errno=True)


def _call(what: str, number: int, *words: object) -> None:
    if _LIBC.syscall(ctypes.c_long(number), *words) < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), what)


def insert(path: str) -> None:
    """Load the module in that file; raises OSError."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _call(f"finit_module({path})", _FINIT_MODULE, ctypes.c_int(file), ctypes.c_char_p(b""), ctypes.c_int(0))
    finally:
        os.close(file)


def remove(name: str) -> None:
    """Unload a module; raises OSError: ENOENT when it is not loaded, EWOULDBLOCK when it is in use."""
    _call(f"delete_module({name})", _DELETE_MODULE, ctypes.c_char_p(name.encode()), ctypes.c_uint(os.O_NONBLOCK))
