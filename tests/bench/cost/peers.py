# SPDX-License-Identifier: GPL-2.0-or-later
"""Other ways to observe the requests of a disk: raidctl's BPF programs; blktrace and ftrace in the kernel, bpftrace, biosnoop,
and blktrace with btt."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator

import kmod_client as kmod
import recorder

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


# Sizes, distances, latencies and requests in flight of a disk: a part of what raidtrace counts with its default groups.
_PROGRAM = """
tracepoint:block:block_rq_issue /args->dev == DEV/ {
    @issued[args->sector] = nsecs; @size = hist(args->bytes); @flight++; @depth = lhist(@flight, 0, 256, 1);
    @seek = hist(args->sector - @end); @end = args->sector + args->nr_sector;
}
tracepoint:block:block_rq_complete /args->dev == DEV && @issued[args->sector]/ {
    @d2c = hist(nsecs - @issued[args->sector]); delete(@issued[args->sector]); @flight--;
}
"""


def _needs(program: str) -> None:
    if not shutil.which(program):
        raise Missing(f"{program} is not installed")


@contextlib.contextmanager
def bpf(disk: str) -> Iterator[None]:
    """raidctl record without the module: the same groups, counted in user space."""
    if not pathlib.Path("/sys/kernel/btf/vmlinux").exists():
        raise Missing("the kernel has no BTF")
    try:
        with recorder.recording("raidctl", disk) as running:
            yield
    except recorder.Refused as why:
        raise Missing(str(why)) from why
    kmod.equal("events that were lost", running.lost, 0)


@contextlib.contextmanager
def biosnoop(disk: str) -> Iterator[None]:
    """biosnoop of libbpf-tools: a line for each request."""
    _needs("biosnoop")
    with tempfile.TemporaryFile() as complaints:
        running = subprocess.Popen(
            ["prlimit", "--memlock=unlimited", "biosnoop", "-d", disk], stdout=subprocess.DEVNULL, stderr=complaints
        )
        time.sleep(5)  # until its probes are attached
        if running.poll() is not None:
            complaints.seek(0)
            raise Missing(f"biosnoop ends: {complaints.read().decode(errors='replace').strip()[-200:]}")
        try:
            yield
        finally:
            running.send_signal(signal.SIGINT)
            running.wait()


@contextlib.contextmanager
def bpftrace(disk: str) -> Iterator[None]:
    """A program of bpftrace with maps that are read at the end."""
    _needs("bpftrace")
    major, minor = kmod.device_number(disk)
    running = subprocess.Popen(
        ["bpftrace", "-e", _PROGRAM.replace("DEV", str(major << 20 | minor))],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    time.sleep(5)  # until its probes are attached
    try:
        if running.poll() is not None:
            raise Missing("bpftrace ends at once")
        yield
    finally:
        running.kill()
        running.communicate()


@contextlib.contextmanager
def blktrace_and_btt(disk: str) -> Iterator[None]:
    """blktrace writes all actions to a file in memory, then btt reads it."""
    _needs("blktrace")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        running = subprocess.Popen(
            ["blktrace", "-d", f"/dev/{disk}", "-b", str(_BUFFER_BYTES >> 10), "-n", str(_BUFFERS), "-D", folder],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        time.sleep(1)  # a signal before its threads run would be lost
        if running.poll() is not None:
            raise Missing("blktrace does not start")
        yield
        running.send_signal(signal.SIGINT)
        output, _ = running.communicate(timeout=60)
        if b"(dropped 0)" not in output:
            raise AssertionError(output.decode(errors="replace"))
        traces = [str(path) for path in pathlib.Path(folder).glob("*.blktrace.*")]
        subprocess.run(["btt", "-i", traces[0]], check=True, stdout=subprocess.DEVNULL)


PEERS = {"bpf": bpf, "blktrace": blktrace, "ftrace": ftrace, "ftrace histogram": ftrace_histogram, "biosnoop": biosnoop,
         "bpftrace": bpftrace}  # fmt: skip
READ = {"bpf and read": bpf, "blktrace and btt": blktrace_and_btt}  # with the result read
