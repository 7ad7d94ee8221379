# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared by the tests of the kernel module: raidtrace.client with what only tests do, disks, and the printing of results.

The client knows the family from its specification alone and shares no code with libraidtrace: it is a witness.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tools/python"))

from kmod_disk import Disk as Disk  # noqa: E402, F401  for those who test
from kmod_disk import reads as reads  # noqa: E402, F401
from kmod_invariants import DIRECTIONS as DIRECTIONS  # noqa: E402, F401
from kmod_invariants import Counters  # noqa: E402
from pyroute2.netlink import genlmsg  # noqa: E402

from raidtrace.client.exchange import Exchange  # noqa: E402
from raidtrace.client.exchange import specification  # noqa: E402
from raidtrace.client.exchange import Refused as Refused  # noqa: E402

SPEC = specification().text
GROUPS = specification().flags["group"]
CLASSES = specification().enums["class"]
attribute_number = specification().number

LEAKS = pathlib.Path("/sys/kernel/debug/kmemleak")
REFUSALS: set[str] = set()  # texts that requests of this process were refused with
CHECKED: list[int] = []  # targets of snapshots in which the invariants were looked at

_NLM_F_DUMP, _NLMSG_DONE = 0x300, 3
NLM_F_DUMP_INTR = 0x10
_DELETE_MODULE, _FINIT_MODULE = 176, 313  # system calls of x86-64, as the lab's guests are
_LIBC = ctypes.CDLL(None, use_errno=True)


class Client(Exchange):
    """A socket that speaks the family, and notes each refusal."""

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def messages(self, kind: type[genlmsg] = genlmsg) -> Iterator[tuple[int, genlmsg]]:
        """As Exchange.messages(); without a kind attributes stay undecoded."""
        try:
            yield from super().messages(kind)
        except Refused as refusal:
            REFUSALS.add(refusal.text)
            raise

    def dump_in_pieces(self, operation: str, between: Callable[[], object], piece: int = 4096) -> list[int]:
        """Flags of a dump's messages, the closing one too; `between` is called when the first piece has been read.

        A socket of its own, because pieces are as large as the largest read of a socket so far.
        """
        usual = self.socket
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, usual.proto)
        try:
            self.send(operation, _NLM_F_DUMP)
            message_flags: list[int] = []
            while True:
                data = self.socket.recv(piece)
                at, before = 0, len(message_flags)
                while at < len(data):
                    length, kind, flags = struct.unpack_from("=IHH", data, at)
                    at += (length + 3) & ~3
                    message_flags.append(flags)
                    if kind == _NLMSG_DONE:
                        return message_flags
                if not before:
                    between()
        finally:
            self.socket.close()
            self.socket = usual

    def add(self, disk: str, groups: Iterable[str] = (), **options: Any) -> dict[str, Any]:
        """Make a disk of /sys/class/block a target, with all groups or the named ones."""
        if groups:
            options["groups"] = groups
        with open(f"/dev/{disk}", "rb", buffering=0) as opened:
            return self.ask("target-add", fd=opened.fileno(), **options)[0]

    def set_journal(self, target: dict[str, Any], ranges: list[tuple[int, int]]) -> None:
        """Say where the journal is, by first sector and number of sectors; nowhere without any."""
        extents = [{"sector": sector, "nr-sectors": length} for sector, length in ranges]
        self.ask("target-set", id=target["id"], journal=extents)

    def delete(self, target: dict[str, Any]) -> None:
        """Forget a target; what it counted last must be sound, as every snapshot."""
        last = self.ask("counters-get", id=target["id"])[0]
        self.ask("target-del", id=target["id"])
        sound(Counters(last))

    def counters(self, target: dict[str, Any]) -> Counters:
        """One snapshot; raises when an invariant does not hold in it."""
        return sound(Counters(self.ask("counters-get", id=target["id"])[0]))


@contextlib.contextmanager
def counted(disk: str, groups: Iterable[str] = (), **options: int) -> Iterator[tuple[Client, dict[str, Any]]]:
    """A client and a target, which is deleted at the end of the block."""
    with Client() as client:
        target = client.add(disk, groups, **options)
        try:
            yield client, target
        finally:
            client.delete(target)


def delete_all() -> list[str]:
    """Delete all targets, unchecked. Returns the names of their disks."""
    with Client() as client:
        targets = client.ask("target-get", dump=True)
        for target in targets:
            client.ask("target-del", id=target["id"])
    return [target["disk"] for target in targets]


def device_number(disk: str) -> tuple[int, int]:
    """Major and minor of a block device."""
    major, minor = pathlib.Path(f"/sys/class/block/{disk}/dev").read_text(encoding="ascii").split(":")
    return int(major), int(minor)


def diskstats(disk: str) -> dict[str, int]:
    """The kernel's own counts of a disk, in the names used here: the witness. Flushes and discards too."""
    names = (
        "reads", "read_merges", "read_sectors", "read_ms", "writes", "write_merges", "write_sectors", "write_ms",
        "in_flight", "io_ms", "queue_ms", "discards", "discard_merges", "discard_sectors", "discard_ms", "flushes",
    )  # fmt: skip
    text = pathlib.Path(f"/sys/class/block/{disk}/stat").read_text(encoding="ascii")
    return dict(zip(names, (int(word) for word in text.split())))


def run(command: str, check: bool = True) -> str:
    """Output of a shell command, errors too; raises when it fails, unless `check` is off."""
    done = subprocess.run(
        command, shell=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    )
    if check and done.returncode:
        raise AssertionError(f"{command}: exit status {done.returncode}: {done.stdout.strip()}")
    return done.stdout


def wait_for(what: str, condition: Callable[[], bool], seconds: float = 10) -> None:
    """Wait until something is so; raises AssertionError."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.01)


def idle(disk: str) -> None:
    """Wait until nothing is in flight."""
    wait_for("end of I/O", lambda: not diskstats(disk)["in_flight"])


def as_diskstats(counters: Counters, before: dict[str, int], after: dict[str, int]) -> None:
    """Raise unless as many reads and writes completed, of as many bytes, as the kernel counted in between."""
    for direction in ("read", "write"):
        flow = counters.flow[direction]
        equal(f"{direction}s", flow["completed"], after[f"{direction}s"] - before[f"{direction}s"])
        sectors = after[f"{direction}_sectors"] - before[f"{direction}_sectors"]
        equal(f"{direction} bytes", flow["bytes-completed"], 512 * sectors)


def all_ended(counters: Counters) -> None:
    """Raise unless each issued request completed, and each completed one was issued since the disk was added."""
    equal("in flight at the end", counters.flow["all"]["in-flight"], 0)
    equal("abandoned", counters.total("abandoned"), 0)
    equal("unmatched", counters.total("unmatched"), 0)


def null_blk(**parameters: object) -> list[str]:
    """Load null_blk anew; names of its disks."""
    run("modprobe -r null_blk", check=False)
    words = " ".join(f"{name}={value}" for name, value in parameters.items())
    run(f"modprobe null_blk {words}")
    # Not /sys/class/block: what a read of null_blk leaves in a page may look like a partition table.
    disks = sorted((path.name for path in pathlib.Path("/sys/block").glob("nullb*")), key=lambda n: int(n[5:]))
    for disk in disks:
        wait_for(f"/dev/{disk}", lambda name=disk: os.path.exists(f"/dev/{name}"))
    return disks


@contextlib.contextmanager
def mapped_disk(**parameters: object) -> Iterator[tuple[str, str]]:
    """A disk of null_blk and a linear disk of device mapper on it, which has only bios: their names."""
    lower = null_blk(nr_devices=1, gb=1, **parameters)[0]
    run(f"dmsetup create --noudevsync raidtrace-test --table '0 131072 linear /dev/{lower} 0'")
    try:
        yield lower, next(pathlib.Path(f"/sys/block/{lower}/holders").iterdir()).name
    finally:
        run("dmsetup remove raidtrace-test; modprobe -r null_blk")


def scsi_debug(**parameters: object) -> str:
    """Load scsi_debug anew; name of its disk."""
    before = {path.name for path in pathlib.Path("/sys/block").glob("sd*")}
    words = " ".join(f"{name}={value}" for name, value in parameters.items())
    run(f"modprobe scsi_debug {words}")

    def new() -> set[str]:
        return {p.name for p in pathlib.Path("/sys/block").glob("sd*")} - before

    wait_for("disk of scsi_debug", lambda: bool(new()) and all(os.path.exists(f"/dev/{name}") for name in new()))
    time.sleep(1)  # its asynchronous probe reads the partition table
    return new().pop()


def _call(what: str, number: int, *words: object) -> None:
    if _LIBC.syscall(ctypes.c_long(number), *words) < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), what)


def insert(path: str) -> None:
    """Load the module in that file, as insmod(8), which takes seconds on kernels that check themselves. Raises OSError."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _call(f"finit_module({path})", _FINIT_MODULE, ctypes.c_int(file), ctypes.c_char_p(b""), ctypes.c_int(0))
    finally:
        os.close(file)


def remove(name: str) -> None:
    """Unload a module; raises OSError: ENOENT when it is not loaded, EWOULDBLOCK when it is in use."""
    _call(f"delete_module({name})", _DELETE_MODULE, ctypes.c_char_p(name.encode()), ctypes.c_uint(os.O_NONBLOCK))


def no_leaks() -> None:
    """Raise when the kernel finds memory that nobody can free any more, or was not built to look."""
    if not LEAKS.exists():
        raise AssertionError(f"{LEAKS} is missing: kmemleak is off")
    for _ in range(3):  # younger than 5 s is not looked at; a single report may be memory that is being freed
        time.sleep(6)
        LEAKS.write_text("scan", encoding="ascii")
    report = LEAKS.read_text(encoding="ascii", errors="replace")
    equal("leaks", [line for line in report.splitlines() if "unreferenced" in line], [])


def equal(what: str, got: object, expected: object) -> None:
    """Raise when two values differ."""
    if got != expected:
        raise AssertionError(f"{what}: {got}, expected {expected}")


def sound(counters: Counters) -> Counters:
    """Raise when an invariant does not hold."""
    CHECKED.append(counters.reply["id"])
    wrong = counters.violations()
    if wrong:
        raise AssertionError("; ".join(wrong))
    return counters


def main(tests: Sequence[Callable[[], None]] = ()) -> int:
    """Run tests, those of the program whose names begin with test_ if none are given. Print how each ended, and the totals.

    Returns the exit status.
    """
    tests = tests or [value for name, value in vars(sys.modules["__main__"]).items() if name.startswith("test_")]
    failed = 0
    for number, test in enumerate(tests, 1):
        name = (test.__doc__ or test.__name__).strip().splitlines()[0].rstrip(".")
        try:
            test()
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            where = error.__traceback__
            while where and where.tb_next:
                where = where.tb_next
            line = where.tb_lineno if where else 0
            print(f"not ok {number} - {name}\n# line {line}: {type(error).__name__}: {error}", flush=True)
        else:
            print(f"ok {number} - {name}", flush=True)
        with contextlib.suppress(Refused):  # so that the next test is judged by itself
            for disk in delete_all():
                print(f"# left over: target {disk}", flush=True)
    print(f"# invariants were looked at in {len(CHECKED)} snapshots of {len(set(CHECKED))} targets")
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


def kernel_version() -> tuple[int, int]:
    """The version of the running kernel."""
    match = re.match(r"(\d+)\.(\d+)", os.uname().release)
    assert match
    return int(match[1]), int(match[2])
