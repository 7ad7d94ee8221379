# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of the kernel module share: a netlink client of their own, I/O to count, and how results are said.

The client knows the family from its specification alone and shares no code with libraidtrace: it is a witness.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
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

TOP = pathlib.Path(__file__).resolve().parents[2]
SPEC = yaml.safe_load((TOP / "Documentation/netlink/specs/raidtrace.yaml").read_text(encoding="utf-8"))
DIRECTIONS = ("read", "write", "discard", "flush", "other", "passthrough")
DEPTH_DIRECTIONS = ("read", "write", "all")

_NETLINK_GENERIC, _SOL_NETLINK = 16, 270
_ADD_MEMBERSHIP, _EXT_ACK, _CAP_ACK = 1, 11, 10
_NLM_F_REQUEST, _NLM_F_ACK, _NLM_F_DUMP = 1, 4, 0x300
_NLMSG_ERROR, _NLMSG_DONE = 2, 3
_GENL_ID_CTRL, _CTRL_GETFAMILY = 16, 3
_NLA_TYPE = 0x3FFF


class Refused(Exception):
    """The kernel's refusal: `errno` and the text it gave, empty if it gave none."""

    def __init__(self, errno: int, text: str) -> None:
        super().__init__(f"{os.strerror(errno)}: {text}")
        self.errno = errno
        self.text = text


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
    """A socket that speaks the family. With `listen` it hears notifications too."""

    def __init__(self, listen: bool = False) -> None:
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_GENERIC)
        self.socket.bind((0, 0))
        self.socket.setsockopt(_SOL_NETLINK, _EXT_ACK, 1)
        self.socket.setsockopt(_SOL_NETLINK, _CAP_ACK, 1)
        self.socket.settimeout(30)
        self.sequence = 0
        self.family, groups = self._family()
        if listen:
            self.socket.setsockopt(_SOL_NETLINK, _ADD_MEMBERSHIP, groups["targets"])

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

    def _family(self) -> tuple[int, dict[str, int]]:
        self._send(_GENL_ID_CTRL, _NLM_F_REQUEST | _NLM_F_ACK, _CTRL_GETFAMILY, _attribute(2, b"raidtrace\0"))
        family, groups = 0, {}
        for _, body in self._messages():
            for kind, data in _attributes(body[4:]):
                if kind == 1:
                    family = struct.unpack("H", data)[0]
                elif kind == 7:
                    for _, group in _attributes(data):
                        found = dict(_attributes(group))
                        groups[found[1].rstrip(b"\0").decode()] = struct.unpack("I", found[2])[0]
        return family, groups

    def ask(self, operation: str, dump: bool = False, raw: bytes = b"", **attributes: int) -> list[dict[str, Any]]:
        """Send a request; `attributes` are u32, named as in the specification with underscores."""
        number, one = _OPERATIONS[operation]
        names = [attribute["name"].replace("-", "_") for attribute in _SETS[one["attribute-set"]]]
        payload = raw + b"".join(
            _attribute(names.index(name) + 1, struct.pack("I", value)) for name, value in attributes.items()
        )
        self._send(self.family, _NLM_F_REQUEST | (_NLM_F_DUMP if dump else _NLM_F_ACK), number, payload)
        return [_decode(one["attribute-set"], body[4:]) for _, body in self._messages()]

    def add(self, disk: str, groups: Iterable[str] = (), **options: int) -> dict[str, Any]:
        """Make a disk of /sys/class/block a target, with all groups or the named ones."""
        major, minor = device_number(disk)
        if groups:
            options["groups"] = sum(1 << GROUPS.index(group) for group in groups)
        return self.ask("target-add", major=major, minor=minor, **options)[0]

    def delete(self, target: dict[str, Any]) -> None:
        """Forget a target."""
        self.ask("target-del", id=target["id"])

    def counters(self, target: dict[str, Any]) -> Counters:
        """One snapshot."""
        return Counters(self.ask("counters-get", id=target["id"])[0])

    def notification(self, seconds: float) -> tuple[str, dict[str, Any]] | None:
        """Next notification: name of its operation and its target; None when none comes in time."""
        self.socket.settimeout(seconds)
        try:
            data = self.socket.recv(1 << 20)
        except TimeoutError:
            return None
        finally:
            self.socket.settimeout(30)
        name = next(name for name, (number, _) in _OPERATIONS.items() if number == data[16])
        return name, _decode("target", data[20:])


_Same = Callable[[str, int, int], None]
_Bins = Callable[[str, str], int]


class Counters:
    """A snapshot. flow[direction][counter]; bins(kind, direction) is {bin: count}."""

    def __init__(self, reply: dict[str, Any]) -> None:
        self.reply = reply
        self.flow = {one["direction"]: one for one in reply["flow"]}
        self.histogram = {(one["kind"], one["direction"]): one for one in reply.get("histogram", ())}

    def origin(self, name: str) -> dict[str, int]:
        """Classes with a number other than 0 of that name."""
        return {one["class"]: one[name] for one in self.reply["origin"] if one[name]}

    def submitters(self, name: str) -> dict[str, int]:
        """That number by process name; those without a row are "rest"."""
        found: dict[str, int] = {}
        for one in self.reply.get("submitter", ()):
            found[one.get("comm", "rest")] = found.get(one.get("comm", "rest"), 0) + one[name]
        return found

    def bins(self, kind: str, direction: str) -> dict[int, int]:
        """Bins that are not zero."""
        one = self.histogram.get((kind, direction))
        if one is None:
            return {}
        return {one["first-bin"] + i: count for i, count in enumerate(one["counts"]) if count}

    def total(self, counter: str) -> int:
        """Sum over directions."""
        return sum(self.flow[direction][counter] for direction in DIRECTIONS)

    def violations(self) -> list[str]:
        """Invariants that do not hold, in words; those of groups that are counted."""
        wrong: list[str] = []

        def same(what: str, left: int, right: int) -> None:
            if left != right:
                wrong.append(f"{what}: {left} is not {right}")

        def bins(kind: str, direction: str) -> int:
            return sum(self.bins(kind, direction).values())

        groups = self.reply["groups"]
        if "in-flight" in self.flow["all"]:
            self._request_violations(groups, same, bins, wrong)
        self._bio_violations(groups, same, bins, wrong)
        return wrong

    def _request_violations(self, groups: list[str], same: _Same, bins: _Bins, wrong: list[str]) -> None:
        for direction in DIRECTIONS:
            flow = self.flow[direction]
            ends = flow["completed"] + flow["requeued"] + flow["abandoned"] + flow["in-flight"]
            same(f"{direction}: issued + carried = ends + in flight", flow["issued"] + flow["carried"], ends)
            if "size" in groups:
                same(f"{direction}: sizes sum to issues", bins("size", direction), flow["issued"])
            if "latency" in groups:
                same(f"{direction}: d2c sums to completions", bins("d2c", direction), flow["completed"])
                if bins("i2d", direction) > flow["issued"]:
                    wrong.append(f"{direction}: more issues after an insert than issues")
            if "seek" in groups:
                zero = self.bins("seek", direction).get(64, 0)
                same(f"{direction}: sequential is seek bin 64", zero, flow["sequential"])
            if "seek" in groups and "stream" in groups and flow["sequential"] > flow["stream"]:
                wrong.append(f"{direction}: sequential requests that continue no stream")
        placed = sum(self.flow[d]["issued"] for d in ("read", "write", "discard", "other"))
        seeks = sum(bins("seek", d) for d in DIRECTIONS)
        if "seek" in groups and not 0 <= placed - seeks <= 1:
            wrong.append(f"all but the first request have a distance: {placed} and {seeks}")
        same("in flight sums to all", self.total("in-flight"), self.flow["all"]["in-flight"])
        span = self.reply["now-ns"] - self.reply["since-ns"]
        for direction in DEPTH_DIRECTIONS if "depth" in groups else ():
            same(f"{direction}: depth time sums to the span", bins("depth-time", direction), span)
        for direction in ("read", "write"):
            flow = self.flow[direction]
            if "depth" in groups:
                same(f"{direction}: depths found sum to issues", bins("depth-issue", direction), flow["issued"])
            if "latency" in groups:
                same(f"{direction}: d2c by depth sums to completions", bins("depth-d2c", direction), flow["completed"])
            if "place" in groups:
                same(f"{direction}: places sum to bytes", bins("place", direction), flow["bytes-issued"])
        if "origin" in groups:
            for name in ("issued", "bytes-issued"):
                same(f"classes: {name}", sum(self.origin(name).values()), self.total(name))
        if "origin" in groups and "seek" in groups:
            distance = self.total("seek-forward-sectors") + self.total("seek-backward-sectors")
            same("classes: seeks", sum(self.origin("seeks").values()), seeks - self.total("sequential"))
            same("classes: distances", sum(self.origin("seek-sectors").values()), distance)
        if "blame" in groups and "seek" in groups:
            distance = self.total("seek-forward-sectors") + self.total("seek-backward-sectors")
            same("blame sums to seeks", bins("blame", "all"), seeks - self.total("sequential"))
            same("blame sums to distances", bins("blame-distance", "all"), distance)
        if "depth" in groups:
            same("depths found by all", bins("depth-issue", "all"), self.total("issued"))
        if "plug" in groups:
            unplugs = self.reply["unplugs-explicit"] + self.reply["unplugs-schedule"]
            same("requests per unplug sum to unplugs", bins("unplug", "all"), unplugs)

    def _bio_violations(self, groups: list[str], same: _Same, bins: _Bins, wrong: list[str]) -> None:
        for direction in DIRECTIONS:
            flow = self.flow[direction]
            if "seek" in groups:
                zero = self.bins("seek-queued", direction).get(64, 0)
                same(f"{direction}: sequential-queued is seek-queued bin 64", zero, flow["sequential-queued"])
            if "seek" in groups and "stream" in groups and flow["sequential-queued"] > flow["stream-queued"]:
                wrong.append(f"{direction}: sequential bios that continue no stream")
        for name in ("queued", "bytes-queued"):
            if "origin" in groups:
                same(f"classes: {name}", sum(self.origin(name).values()), self.total(name))
            if "submitter" in groups:
                same(f"submitters: {name}", sum(self.submitters(name).values()), self.total(name))
        if "seek" in groups:
            seeks = sum(bins("seek-queued", d) for d in DIRECTIONS) - self.total("sequential-queued")
            for group, numbers in (("origin", self.origin), ("submitter", self.submitters)):
                if group in groups:
                    same(f"{group}: seeks-queued", sum(numbers("seeks-queued").values()), seeks)


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

    def close(self) -> None:
        """Give the disk back."""
        os.close(self.descriptor)


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
    disks = sorted((path.name for path in pathlib.Path("/sys/class/block").glob("nullb*")), key=lambda n: int(n[5:]))
    for disk in disks:
        wait_for(f"/dev/{disk}", lambda name=disk: os.path.exists(f"/dev/{name}"))
    return disks


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


def equal(what: str, got: object, expected: object) -> None:
    """Raise when two values differ."""
    if got != expected:
        raise AssertionError(f"{what}: {got}, expected {expected}")


def sound(counters: Counters) -> Counters:
    """Raise when an invariant does not hold."""
    wrong = counters.violations()
    if wrong:
        raise AssertionError("; ".join(wrong))
    return counters


def main(tests: Sequence[Callable[[], None]]) -> int:
    """Run tests, say how each ended, and the totals. Returns the exit status."""
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
        for target in _left_over():
            print(f"# left over: target {target}", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _left_over() -> list[str]:
    """Delete what a failed test left attached, so that the next one is judged by itself."""
    try:
        with Client() as client:
            left = client.ask("target-get", dump=True)
            for target in left:
                client.delete(target)
    except Refused:
        return []
    return [target["disk"] for target in left]


def kernel_version() -> tuple[int, int]:
    """Of the running kernel."""
    match = re.match(r"(\d+)\.(\d+)", os.uname().release)
    assert match
    return int(match[1]), int(match[2])
