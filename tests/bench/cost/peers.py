# SPDX-License-Identifier: GPL-2.0-or-later
"""What else watches a disk's requests, for comparison: the kernel's parts of blktrace and of ftrace, reading nothing back."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import struct
from collections.abc import Iterator

import kmod_client as kmod

DEBUG = pathlib.Path("/sys/kernel/debug")
TRACING = pathlib.Path("/sys/kernel/tracing")
_SETUP, _START, _STOP, _TEARDOWN = 0xC0481273, 0x1274, 0x1275, 0x1276
_BUFFER_BYTES, _BUFFERS = 1 << 19, 48  # nobody reads: large enough that nothing is lost
_EVENTS = ("block_rq_issue", "block_rq_complete")
_HISTOGRAM = "hist:keys=bytes.log2:size=1024"


class Missing(Exception):
    """This kernel does not have it."""


@contextlib.contextmanager
def blktrace(disk: str) -> Iterator[None]:
    """All actions of blktrace into its kernel buffers."""
    if not (DEBUG / "block").exists():
        raise Missing("no blktrace")
    descriptor = os.open(f"/dev/{disk}", os.O_RDONLY)
    setup = struct.pack("32sHxxIIxxxxQQIxxxx", b"", 0xFFFF, _BUFFER_BYTES, _BUFFERS, 0, 1 << 62, 0)
    try:
        fcntl.ioctl(descriptor, _SETUP, setup)
        fcntl.ioctl(descriptor, _START)
        yield
        fcntl.ioctl(descriptor, _STOP)
        lost = (DEBUG / "block" / disk / "dropped").read_text(encoding="ascii").strip()
        fcntl.ioctl(descriptor, _TEARDOWN)
        kmod.equal("events that blktrace lost", lost, "0")
    finally:
        os.close(descriptor)


def _tracing() -> None:
    if not (TRACING / "events").exists():
        kmod.run(f"mount -t tracefs tracefs {TRACING}", check=False)
    if not (TRACING / "events/block").exists():
        raise Missing("no ftrace")


@contextlib.contextmanager
def ftrace(_disk: str) -> Iterator[None]:
    """Event records of issue and completion in ftrace's ring buffer, which overwrites the oldest."""
    _tracing()
    enable = [TRACING / f"events/block/{event}/enable" for event in _EVENTS]
    for path in enable:
        path.write_text("1", encoding="ascii")
    try:
        yield
    finally:
        for path in enable:
            path.write_text("0", encoding="ascii")
        (TRACING / "trace").write_text("", encoding="ascii")


@contextlib.contextmanager
def ftrace_histogram(_disk: str) -> Iterator[None]:
    """A histogram trigger: sizes of requests issued, in powers of two."""
    _tracing()
    trigger = TRACING / "events/block/block_rq_issue/trigger"
    try:
        trigger.write_text(_HISTOGRAM, encoding="ascii")
    except OSError as error:
        raise Missing("no histogram triggers") from error
    try:
        yield
    finally:
        trigger.write_text(f"!{_HISTOGRAM}", encoding="ascii")


PEERS = {"blktrace": blktrace, "ftrace": ftrace, "ftrace histogram": ftrace_histogram}
