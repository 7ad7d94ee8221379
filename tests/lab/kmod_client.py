# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared by the tests of the kernel module: a netlink client of their own, disks, and the printing of results.

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

import yaml
from kmod_disk import Disk as Disk  # noqa: F401  for those who test
from kmod_disk import extents
from kmod_disk import reads as reads  # noqa: F401
from kmod_invariants import DIRECTIONS as DIRECTIONS  # noqa: F401
from kmod_invariants import Counters

TOP = pathlib.Path(__file__).resolve().parents[2]
SPEC = yaml.safe_load((TOP / "Documentation/netlink/specs/raidtrace.yaml").read_text(encoding="utf-8"))

LEAKS = pathlib.Path("/sys/kernel/debug/kmemleak")
REFUSALS: set[str] = set()  # texts that requests of this process were refused with
CHECKED: list[int] = []  # targets of snapshots in which the invariants were looked at

_NETLINK_GENERIC, _SOL_NETLINK = 16, 270
_EXT_ACK, _CAP_ACK = 11, 10
_NLM_F_REQUEST, _NLM_F_ACK, _NLM_F_DUMP = 1, 4, 0x300
_NLMSG_ERROR, _NLMSG_DONE = 2, 3
NLM_F_DUMP_INTR = 0x10
_GENL_ID_CTRL, _CTRL_GETFAMILY = 16, 3
_NLA_TYPE = 0x3FFF
_DELETE_MODULE, _FINIT_MODULE = 176, 313  # system calls of x86-64, as the lab's guests are
_LIBC = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """The kernel's refusal: `errno` and the text it gave, empty if it gave none."""

    def __init__(self, errno: int, text: str) -> None:
        super().__init__(f"{os.strerror(errno)}: {text}")
        self.errno = errno
        self.text = text
        REFUSALS.add(text)


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("HH", data, at)
        yield kind & _NLA_TYPE, data[at + 4 : at + length]
        at += (length + 3) & ~3


def _attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("HH", 4 + len(data), kind) + data + b"\0" * (-len(data) % 4)


_SETS = {one["name"]: one["attributes"] for one in SPEC["attribute-sets"]}
_ENUMS = {
    one["name"]: [entry["name"] for entry in one["entries"]] for one in SPEC["definitions"] if one["type"] == "enum"
}
_FLAGS = {
    one["name"]: [entry["name"] for entry in one["entries"]] for one in SPEC["definitions"] if one["type"] == "flags"
}
GROUPS = _FLAGS["group"]
CLASSES = _ENUMS["class"]
_OPERATIONS = {one["name"]: (number, one) for number, one in enumerate(SPEC["operations"]["list"], 1)}


def _decode(name: str, data: bytes) -> dict[str, Any]:
    """Attributes of a set by their names in the specification; a repeated one becomes a list."""
    result: dict[str, Any] = {}
    for kind, payload in _attributes(data):
        one = _SETS[name][kind - 1]
        value: Any
        if one["type"] == "pad":
            continue
        if one["type"] == "nest":
            value = _decode(one["nested-attributes"], payload)
        elif one["type"] == "string":
            value = payload.rstrip(b"\0").decode()
        elif one["type"] == "flag":
            value = True
        elif one["type"] == "binary":
            value = list(struct.unpack(f"{len(payload) // 8}Q", payload))
        else:
            value = int.from_bytes(payload, sys.byteorder)
            if one.get("enum") in _FLAGS:
                value = [flag for bit, flag in enumerate(_FLAGS[one["enum"]]) if value >> bit & 1]
            elif "enum" in one:
                value = _ENUMS[one["enum"]][value]
        if one.get("multi-attr"):
            result.setdefault(one["name"], []).append(value)
        else:
            result[one["name"]] = value
    return result


def attribute_number(name: str, attribute: str) -> int:
    """Number of an attribute in its set."""
    return next(number for number, one in enumerate(_SETS[name], 1) if one["name"] == attribute)


class Client:
    """A socket that speaks the family."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_GENERIC)
        self.socket.bind((0, 0))
        self.socket.setsockopt(_SOL_NETLINK, _EXT_ACK, 1)
        self.socket.setsockopt(_SOL_NETLINK, _CAP_ACK, 1)
        self.socket.settimeout(30)
        self.sequence = 0
        self.family = self._family()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def _send(self, kind: int, flags: int, command: int, payload: bytes) -> None:
        self.sequence += 1
        body = struct.pack("BBxx", command, 1) + payload
        self.socket.send(struct.pack("IHHII", 16 + len(body), kind, flags, self.sequence, 0) + body)

    def _messages(self) -> Iterator[tuple[int, bytes]]:
        """Messages until the end of the reply. Raises Refused."""
        while True:
            data = self.socket.recv(1 << 20)
            at = 0
            while at < len(data):
                length, kind, flags, sequence, _ = struct.unpack_from("IHHII", data, at)
                body = data[at + 16 : at + length]
                at += (length + 3) & ~3
                if sequence != self.sequence:
                    continue
                if kind == _NLMSG_DONE:
                    return
                if kind == _NLMSG_ERROR:
                    error = -struct.unpack_from("i", body)[0]
                    if not error:
                        return
                    raise Refused(error, self._text(body, flags))
                yield kind, body

    @staticmethod
    def _text(body: bytes, flags: int) -> str:
        if not flags & 0x200:
            return ""
        skip = 20 if flags & 0x100 else 4 + struct.unpack_from("I", body, 4)[0]
        return next((data.rstrip(b"\0").decode() for kind, data in _attributes(body[skip:]) if kind == 1), "")

    def _family(self) -> int:
        self._send(_GENL_ID_CTRL, _NLM_F_REQUEST | _NLM_F_ACK, _CTRL_GETFAMILY, _attribute(2, b"raidtrace\0"))
        replies = [dict(_attributes(body[4:])) for _, body in self._messages()]
        return int(struct.unpack("H", replies[0][1])[0])

    def ask(self, operation: str, dump: bool = False, raw: bytes = b"", **attributes: int) -> list[dict[str, Any]]:
        """Send a request; `attributes` are numbers, named as in the specification with underscores. Returns the answers."""
        self.send(operation, _NLM_F_DUMP if dump else _NLM_F_ACK, raw, **attributes)
        name = _OPERATIONS[operation][1]["attribute-set"]
        return [_decode(name, body[4:]) for _, body in self._messages()]

    def send(self, operation: str, flags: int = 0, raw: bytes = b"", **attributes: int) -> None:
        """Send a request as ask() does, and read no answer."""
        number, one = _OPERATIONS[operation]
        known = _SETS[one["attribute-set"]]
        names = [attribute["name"].replace("-", "_") for attribute in known]
        for name, value in attributes.items():
            at = names.index(name)
            raw += _attribute(at + 1, struct.pack("=Q" if known[at]["type"] == "u64" else "I", value))
        self._send(self.family, _NLM_F_REQUEST | flags, number, raw)

    def dump_in_pieces(self, operation: str, between: Callable[[], object], piece: int = 4096) -> list[int]:
        """Flags of a dump's messages, the closing one too; `between` is called when the first piece has been read.

        A socket of its own, because pieces are as large as the largest read of a socket so far.
        """
        number, _ = _OPERATIONS[operation]
        usual = self.socket
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_GENERIC)
        try:
            self._send(self.family, _NLM_F_REQUEST | _NLM_F_DUMP, number, b"")
            message_flags: list[int] = []
            while True:
                data = self.socket.recv(piece)
                at, before = 0, len(message_flags)
                while at < len(data):
                    length, kind, flags = struct.unpack_from("IHH", data, at)
                    at += (length + 3) & ~3
                    message_flags.append(flags)
                    if kind == _NLMSG_DONE:
                        return message_flags
                if not before:
                    between()
        finally:
            self.socket.close()
            self.socket = usual

    def add(self, disk: str, groups: Iterable[str] = (), **options: int) -> dict[str, Any]:
        """Make a disk of /sys/class/block a target, with all groups or the named ones."""
        if groups:
            options["groups"] = sum(1 << GROUPS.index(group) for group in groups)
        with open(f"/dev/{disk}", "rb", buffering=0) as opened:
            return self.ask("target-add", fd=opened.fileno(), **options)[0]

    def set_journal(self, target: dict[str, Any], ranges: list[tuple[int, int]]) -> None:
        """Say where the journal is, by first sector and number of sectors; nowhere without any."""
        self.ask("target-set", raw=extents(ranges, attribute_number("target", "journal")), id=target["id"])

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
