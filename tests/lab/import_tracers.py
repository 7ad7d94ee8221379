# SPDX-License-Identifier: GPL-2.0-or-later
"""Who takes a blktrace trace of a disk, for import-agree; and who counts what a kernel leaves out of it."""

import ctypes
import fcntl
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import time

SETUP2 = 3 << 30 | 192 << 16 | 0x12 << 8 | 142
START, STOP, TEARDOWN = (0x12 << 8 | number for number in (116, 117, 118))
BUFFER_BYTES = 1 << 20
BUFFERS = 16


def debugfs(disk, name):
    """A file of the trace of a disk."""
    return pathlib.Path(f"/sys/kernel/debug/block/{disk}/{name}")


class Blktrace:
    """blktrace itself, which takes version 1; its buffers hold all that the workload makes at once."""

    version = 1

    def __init__(self, disk, place):
        self.disk, self.log = disk, pathlib.Path(f"{place}/blktrace.log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                ["blktrace", "-d", f"/dev/{disk}", "-D", place, "-b", str(BUFFER_BYTES // 1024), "-n", str(BUFFERS)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)  # fmt: skip
        for _ in range(100):
            if debugfs(disk, "dropped").exists() and list(pathlib.Path(place).glob("*.blktrace.*")):
                break
            if self.process.poll() is not None:
                sys.exit(f"blktrace ended: {self.log.read_text()}")
            time.sleep(0.1)
        time.sleep(1)

    def stop(self):
        """What it and the kernel say about losses, empty for none."""
        dropped = debugfs(self.disk, "dropped").read_text().strip()
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)
        said = self.log.read_text()
        whole = re.search(r"Total: +\d+ events \(dropped 0\)", said)
        return ([f"kernel: {dropped} dropped"] if dropped != "0" else []) + ([] if whole else said.splitlines())


class Version2:
    """What asks a kernel from 7.x on for version 2, as blktrace 1.3 does not; all stays in the kernel to the end."""

    version = 2

    def __init__(self, disk, place):
        self.disk, self.place = disk, place
        self.file = open(f"/dev/{disk}", "rb")
        setup = struct.pack("64sQIIQQII88x", b"", 0xFFFFFFFF, BUFFER_BYTES, BUFFERS, 0, 0, 0, 0)
        fcntl.ioctl(self.file, SETUP2, ctypes.create_string_buffer(setup, len(setup)))
        fcntl.ioctl(self.file, START)

    def stop(self):
        """Write the files that blktrace would have written."""
        fcntl.ioctl(self.file, STOP)
        dropped = debugfs(self.disk, "dropped").read_text().strip()
        for cpu in range(os.cpu_count() or 1):
            pathlib.Path(f"{self.place}/{self.disk}.blktrace.{cpu}").write_bytes(
                debugfs(self.disk, f"trace{cpu}").read_bytes())  # fmt: skip
        fcntl.ioctl(self.file, TEARDOWN)
        self.file.close()
        return [f"kernel: {dropped} dropped"] if dropped != "0" else []


def tracers():
    """Those that this kernel serves."""
    return (Blktrace, Version2) if int(os.uname().release.split(".")[0]) >= 7 else (Blktrace,)


class FuaBios:
    """Bios with REQ_FUA that a kernel leaves out of a trace of version 1, seen by ftrace."""

    tracing = pathlib.Path("/sys/kernel/tracing")
    events = {"block_bio_queue": "queued", "block_getrq": "got"}

    def __init__(self):
        self.needed = int(os.uname().release.split(".")[0]) >= 7
        if self.needed and not (self.tracing / "trace").exists():
            self.tracing = pathlib.Path("/sys/kernel/debug/tracing")

    def switch(self, text):
        """Begin with 1, end with 0."""
        if not self.needed:
            return
        if text == "1":
            (self.tracing / "buffer_size_kb").write_text("16384")
            (self.tracing / "trace").write_text("")
        for event in self.events:
            (self.tracing / "events/block" / event / "enable").write_text(text)

    def counted(self, disk):
        """{(direction, counter): how many}."""
        found = {}
        if not self.needed:
            return found
        device = pathlib.Path(f"/sys/block/{disk}/dev").read_text().strip().replace(":", ",")
        line = re.compile(rf"(block_\w+): {device} F?W\w*F\w* \d+ \+ (\d+) ")
        for event, sectors in line.findall((self.tracing / "trace").read_text()):
            key = ("write" if int(sectors) else "flush", self.events[event])
            found[key] = found.get(key, 0) + 1
            if key[1] == "queued":
                found[key[0], "bytes_queued"] = found.get((key[0], "bytes_queued"), 0) + int(sectors) * 512
        return found
