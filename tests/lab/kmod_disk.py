# SPDX-License-Identifier: GPL-2.0-or-later
"""Direct I/O to a disk, commands that are no I/O, and the place of its journal, for the tests of the kernel module."""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import re
import struct
import subprocess
from collections.abc import Iterable


class Disk:
    """Direct I/O to a disk, which the page cache does not change."""

    def __init__(self, disk: str) -> None:
        self.descriptor = os.open(f"/dev/{disk}", os.O_RDWR | os.O_DIRECT)
        self.buffer = mmap.mmap(-1, 1 << 20)

    def read(self, sector: int, sectors: int) -> None:
        """Read; raises OSError."""
        os.preadv(self.descriptor, [memoryview(self.buffer)[: sectors << 9]], sector << 9)

    def write(self, sector: int, sectors: int) -> None:
        """Write zeroes; raises OSError."""
        os.pwritev(self.descriptor, [memoryview(self.buffer)[: sectors << 9]], sector << 9)

    def flush(self) -> None:
        """Send a cache flush to the disk."""
        os.fsync(self.descriptor)

    def discard(self, sector: int, sectors: int) -> None:
        """BLKDISCARD."""
        fcntl.ioctl(self.descriptor, 0x1277, struct.pack("QQ", sector << 9, sectors << 9))

    def zero_out(self, sector: int, sectors: int) -> None:
        """BLKZEROOUT."""
        fcntl.ioctl(self.descriptor, 0x127F, struct.pack("QQ", sector << 9, sectors << 9))

    def inquiry(self) -> None:
        """INQUIRY through SG_IO, a passthrough request of 36 bytes."""
        command = ctypes.create_string_buffer(bytes([0x12, 0, 0, 0, 36, 0]))
        data = ctypes.create_string_buffer(36)
        sense = ctypes.create_string_buffer(32)
        header = struct.pack(
            "iiBBHIPPPIIiP4BiHHiII",
            ord("S"), -3, 6, 32, 0, 36, ctypes.addressof(data), ctypes.addressof(command), ctypes.addressof(sense),
            30000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        )  # fmt: skip
        fcntl.ioctl(self.descriptor, 0x2285, header)

    def read_together(self, sectors: list[int]) -> None:
        """Read 8 sectors at each of more than two places, submitted at once: what lies side by side may be merged."""
        address = ctypes.addressof(ctypes.c_char.from_buffer(self.buffer))
        blocks = [
            ctypes.create_string_buffer(struct.pack("=QIIHhIQQqQII", i, 0, 0, 0, 0, self.descriptor, address + 4096 * i, 4096,
                                                    sector << 9, 0, 0, 0), 64)
            for i, sector in enumerate(sectors)
        ]  # fmt: skip
        pointers = (ctypes.c_void_p * len(blocks))(*map(ctypes.addressof, blocks))
        events = ctypes.create_string_buffer(32 * len(blocks))
        context = ctypes.c_ulong()
        libc = ctypes.CDLL(None, use_errno=True)
        calls = (  # io_setup, io_submit, io_getevents, io_destroy
            (206, len(blocks), ctypes.byref(context)),
            (209, context, ctypes.c_long(len(blocks)), pointers),
            (208, context, ctypes.c_long(len(blocks)), ctypes.c_long(len(blocks)), events, None),
            (207, context),
        )
        for call in calls:
            if libc.syscall(*call) < 0:
                raise OSError(ctypes.get_errno(), f"system call {call[0]}")
        results = [struct.unpack_from("=QQqq", events, 32 * i)[2] for i in range(len(blocks))]
        if results != [4096] * len(blocks):
            raise OSError(f"read {results}")

    def close(self) -> None:
        """Give the disk back."""
        os.close(self.descriptor)


def reads(disk: str, sectors: Iterable[int], length: int = 8) -> None:
    """Direct reads one after the other."""
    one = Disk(disk)
    for sector in sectors:
        one.read(sector, length)
    one.close()


def journal_of(disk: str) -> list[tuple[int, int]]:
    """Where the journal of an ext3 or ext4 lies: first sector and number of sectors of each part, from debugfs."""

    def debugfs(request: str) -> str:
        command = ["debugfs", "-R", request, f"/dev/{disk}"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8")
        return done.stdout

    size = re.search(r"^Block size:\s+(\d+)", debugfs("stats -h"), re.MULTILINE)
    assert size
    sectors = int(size[1]) >> 9
    parts = []
    for first, last in re.findall(r"\(\d[\d-]*\):(\d+)(?:-(\d+))?", debugfs("stat <8>")):
        parts.append((int(first) * sectors, (int(last or first) - int(first) + 1) * sectors))
    return parts


def extents(ranges: list[tuple[int, int]], attribute: int) -> bytes:
    """An attribute of this number for each range: first sector and number of sectors."""
    raw = b""
    for sector, length in ranges:
        inner = struct.pack("=HHQHHQ", 12, 1, sector, 12, 2, length)
        raw += struct.pack("HH", 4 + len(inner), attribute | 0x8000) + inner
    return raw
