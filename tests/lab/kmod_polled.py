# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads by a polled hardware queue: of synchronous calls no kernel from 6.1 on polls for the end, io_uring does."""

from __future__ import annotations

import ctypes
import mmap
import os
import struct

SETUP, ENTER = 425, 426  # system calls
IOPOLL, GETEVENTS, OP_READ = 1, 1, 22
SQ_RING, CQ_RING, SQES = 0, 0x8000000, 0x10000000
LIBC = ctypes.CDLL(None, use_errno=True)


def _call(*arguments: object) -> int:
    result = LIBC.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"system call {arguments[0]}")
    return int(result)


class Polled:
    """A ring for one read at a time."""

    def __init__(self) -> None:
        parameters = ctypes.create_string_buffer(struct.pack("10I", 0, 0, IOPOLL, *[0] * 7), 120)
        self.ring = _call(SETUP, 1, parameters)
        self.sq, self.cq = struct.unpack_from("7I", parameters, 40), struct.unpack_from("6I", parameters, 80)
        self.submissions = mmap.mmap(self.ring, self.sq[6] + 4, offset=SQ_RING)
        self.completions = mmap.mmap(self.ring, self.cq[5] + 32, offset=CQ_RING)
        self.entries = mmap.mmap(self.ring, 64, offset=SQES)

    def read(self, descriptor: int, buffer: mmap.mmap, sector: int, sectors: int) -> None:
        """Direct read; raises OSError."""
        address = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
        size = sectors << 9
        self.entries[:] = struct.pack("=BBHiQQIIQ24x", OP_READ, 0, 0, descriptor, sector << 9, address, size, 0, 1)
        tail = struct.unpack_from("I", self.submissions, self.sq[1])[0]
        struct.pack_into("I", self.submissions, self.sq[6], 0)
        struct.pack_into("I", self.submissions, self.sq[1], tail + 1)
        _call(ENTER, self.ring, 1, 1, GETEVENTS, None, 0)
        head, mask = (struct.unpack_from("I", self.completions, self.cq[at])[0] for at in (0, 2))
        result = struct.unpack_from("=QiI", self.completions, self.cq[5] + 16 * (head & mask))[1]
        struct.pack_into("I", self.completions, self.cq[0], head + 1)
        if result != size:
            raise OSError(-result, f"a polled read of {sectors} sectors")

    def close(self) -> None:
        """Give the ring back."""
        for one in (self.submissions, self.completions, self.entries):
            one.close()
        os.close(self.ring)
