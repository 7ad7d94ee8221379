#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""Every refusal says why, changes nothing, and nobody unprivileged adds, deletes, resets or is told who queues."""

import ctypes
import errno
import os
import pathlib
import socket
import struct
import sys
import time

import kmod_client as kmod
import kmod_wrong as wrong
from kmod_disk import extents


def refused(error: int, text: str, operation: str, raw: bytes = b"", **attributes: int) -> None:
    """Raise unless the request is refused with that error and that text."""
    with kmod.Client() as client:
        before = client.ask("target-get", dump=True)
        try:
            reply = client.ask(operation, raw=raw, **attributes)
        except kmod.Refused as refusal:
            kmod.equal(operation, (errno.errorcode[refusal.errno], refusal.text), (errno.errorcode[error], text))
        else:
            raise AssertionError(f"{operation} {attributes}: not refused but {reply}")
        kmod.equal("targets before and after", client.ask("target-get", dump=True), before)


def no_disk() -> None:
    """A file descriptor that is none, or of no disk, or not open for reading"""
    unreadable = "fd is no file that is open for reading"
    refused(errno.EBADF, unreadable, "target-add", fd=1 << 20)
    refused(errno.EBADF, unreadable, "target-add", fd=0xFFFFFFFF)
    for path, flags, error, text in (
        ("/dev/sda", os.O_PATH, errno.EBADF, unreadable),
        ("/dev/sda", os.O_WRONLY, errno.EBADF, unreadable),
        ("/dev/null", os.O_RDONLY, errno.ENOTBLK, "fd is no block device"),
        ("/", os.O_RDONLY, errno.ENOTBLK, "fd is no block device"),
    ):
        descriptor = os.open(path, flags)
        refused(error, text, "target-add", fd=descriptor)
        os.close(descriptor)


def partition() -> None:
    """A partition: the disk to add instead is named"""
    kmod.run("modprobe -r scsi_debug", check=False)
    name = kmod.scsi_debug(dev_size_mb=16, delay=0, num_parts=2)
    path = pathlib.Path(f"/sys/block/{name}/{name}1")
    kmod.wait_for("partition", path.exists)
    with open(f"/dev/{name}1", "rb") as disk:
        text = f"{name}1 is a partition of {name}; add {name}"
        refused(errno.EINVAL, text, "target-add", fd=disk.fileno())
    kmod.run("modprobe -r scsi_debug")


def twice() -> None:
    """A disk that is a target already: its id is named"""
    with kmod.Client() as client:
        target = client.add("sda")
        with open("/dev/sda", "rb") as disk:
            refused(errno.EEXIST, f"sda is target {target['id']} already", "target-add", fd=disk.fileno())
        client.delete(target)


def missing_attributes() -> None:
    """A request without what it is about"""
    for operation in ("target-del", "target-get", "target-reset", "target-set", "counters-get"):
        refused(errno.EINVAL, "the attribute id is missing", operation)
    refused(errno.EINVAL, "the attribute fd is missing", "target-add")


def no_such_target() -> None:
    """No such target; ids are not used again"""
    with kmod.Client() as client:
        target = client.add("sda")
        client.delete(target)
    for operation in ("target-del", "target-get", "target-reset", "target-set", "counters-get"):
        for number in (target["id"], 0, 0xFFFFFFFF):
            refused(errno.ENOENT, f"there is no target {number}", operation, id=number)
    with kmod.Client() as client:
        again = client.add("sda")
        client.delete(again)
    kmod.equal("a new id", again["id"] > target["id"], True)


def other_abi() -> None:
    """A client of another ABI"""
    refused(errno.EPROTONOSUPPORT, "the module speaks ABI 5, the client ABI 1", "info-get", abi=1)
    with kmod.Client() as client:
        kmod.equal("the same ABI", client.ask("info-get", abi=5)[0]["abi"], 5)


def malformed() -> None:
    """Attributes that are too short, unknown or nested are refused with a reason, never followed"""
    cases = {
        "short": struct.pack("HHH", 6, 1, 7) + b"\0\0",
        "unknown": struct.pack("HHI", 8, 77, 7),
        "nested": struct.pack("HHHHI", 12, 1 | 0x8000, 8, 1, 7),
    }
    for name, raw in cases.items():
        with kmod.Client() as client:
            try:
                reply = client.ask("counters-get", raw=raw)
            except kmod.Refused as refusal:
                kmod.equal(f"{name}: a reason is given", bool(refusal.text), True)
            else:
                raise AssertionError(f"{name}: {reply}")


def no_range() -> None:
    """A journal's ranges that are none, and one too many"""
    kind = kmod.attribute_number("target", "journal")
    with kmod.Client() as client:
        target = client.add("sda")
        for ranges, error, text in (
            ([(8, 0)], errno.EINVAL, "the range of 0 sectors from sector 8 is no range"),
            ([(8 * i, 8) for i in range(65)], errno.E2BIG, "a journal may have 64 ranges at most"),
        ):
            refused(error, text, "target-set", raw=extents(ranges, kind), id=target["id"])
        half = struct.pack("HHHHQ", 16, kind | 0x8000, 12, 1, 8)
        refused(errno.EINVAL, "a range needs sector and nr-sectors", "target-set", raw=half, id=target["id"])
        client.delete(target)


def no_history() -> None:
    """The history of a disk that was attached without one, or that has only bios"""
    lower = kmod.null_blk(nr_devices=1, gb=1)[0]
    kmod.run(f"dmsetup create --noudevsync raidtrace-test --table '0 131072 linear /dev/{lower} 0'")
    upper = next(pathlib.Path(f"/sys/block/{lower}/holders").iterdir()).name
    with kmod.Client() as client:
        for disk, options, text in (
            ("sda", {}, "sda was attached without a history of its requests"),
            (upper, {"history_ns": 0}, f"{upper} has no requests, only bios: name the disks below it"),
        ):
            target = client.add(disk, **options)
            refused(errno.EOPNOTSUPP, text, "history-get", id=target["id"])
            client.delete(target)
    kmod.run("dmsetup remove raidtrace-test; modprobe -r null_blk")


def removed() -> None:
    """A disk that was removed while who adds it had it open"""
    name = kmod.scsi_debug(dev_size_mb=16, delay=0)
    with open(f"/dev/{name}", "rb", buffering=0) as disk:
        pathlib.Path(f"/sys/block/{name}/device/delete").write_text("1", encoding="ascii")
        refused(errno.ENODEV, f"{name} is being removed", "target-add", fd=disk.fileno())
    kmod.run("modprobe -r scsi_debug")


# What nothing here reaches, and why; all else that the source says must have been said when these tests have ended.
ELSEWHERE = {
    "this kernel has no tracepoint %s, which counting needs": "kmod-edges, missing_tracepoints",
    "not enough memory for the reply": "no kernel of the lab makes an allocation fail",
    "not enough memory for the journal": "likewise",
    "not enough memory for the counters": "likewise",
    "the tracepoint %s cannot be attached to: error %d": "likewise",
    "removals of disks cannot be watched: error %d": "likewise",
}


def every_refusal() -> None:
    """Each text that the module has for a refusal was its answer to a request of these tests, or is listed with why not"""
    silent = {text for text, fits in wrong.patterns() if not any(map(fits.fullmatch, kmod.REFUSALS))}
    kmod.equal("texts that no request was refused with", silent, set(ELSEWHERE))
    print(f"# {len({text for text, _ in wrong.patterns()})} texts, {len(ELSEWHERE)} of them not reached here")


def too_many() -> None:
    """64 targets are counted at once, a 65th is refused"""
    names = kmod.null_blk(nr_devices=65, gb=1, hw_queue_depth=16)
    with kmod.Client() as client:
        targets = [client.add(name) for name in names[:64]]
        kmod.equal("listed", [t["disk"] for t in client.ask("target-get", dump=True)], names[:64])
        text = "there are 64 targets already, the most that can be"
        with open(f"/dev/{names[64]}", "rb") as disk:
            refused(errno.ENOSPC, text, "target-add", fd=disk.fileno())
        for number, name in enumerate(names):
            disk = kmod.Disk(name)
            for i in range(number):
                disk.read(i * 8, 8)
            disk.close()
        for number, target in enumerate(targets):
            counters = client.counters(target)
            kmod.equal(f"reads of {target['disk']}", counters.flow["read"]["completed"], number)
        for target in targets:
            client.delete(target)
    kmod.run("modprobe -r null_blk")


def untold() -> None:
    """Who does not get the answer does not know the id: nothing was added"""
    with kmod.Client() as client, kmod.Client() as deaf, open("/dev/sda", "rb") as disk:
        deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        for _ in range(100):  # answers that nobody reads, until there is no room
            deaf.send("info-get")
        deaf.send("target-add", fd=disk.fileno())
        kmod.equal("targets", client.ask("target-get", dump=True), [])
        target = client.add("sda")  # nor does anything keep it from being added
        client.delete(target)


NEEDED = "this needs CAP_SYS_ADMIN"
CAP_NET_ADMIN, CAP_SYS_ADMIN = 12, 21


def unprivileged() -> None:
    """Without privilege: the counters of the group flow may be read, and nothing else; changing is refused

    So it is to who has CAP_NET_ADMIN alone; and who has CAP_SYS_ADMIN alone may not add what it cannot open.
    """
    gone = kmod.scsi_debug(dev_size_mb=16, delay=0)
    with kmod.Client() as client:
        target, other = client.add("sda"), client.add(gone)
        kmod.run("modprobe -r scsi_debug")
        disk = kmod.Disk("sda")
        for i in range(20):
            disk.read(i * 512, 8)
        disk.close()
        named = client.counters(target)
        rows = [row for row in named.reply["submitter"] if row.get("pid") == os.getpid()]
        kmod.equal("with privilege this process is named", [row["queued"] >= 20 for row in rows], [True])
    found = {}
    for capabilities in ((), (CAP_NET_ADMIN,), (CAP_SYS_ADMIN,)):
        with kmod.Client() as client:
            client.ask("target-reset", id=other["id"])
        child = os.fork()
        if not child:
            os._exit(_with_capabilities(capabilities, target, other, named))
        found[capabilities] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with kmod.Client() as client:
        client.delete(target)
        client.delete(other)
    kmod.equal("what the children found", found, dict.fromkeys(found, 0))
    kmod.REFUSALS.add(NEEDED)  # they were told


def _keep(capabilities: tuple[int, ...]) -> None:
    """Become nobody, with these capabilities alone."""
    libc = ctypes.CDLL(None, use_errno=True)
    bits = sum(1 << capability for capability in capabilities)
    libc.prctl(8, 1, 0, 0, 0)  # PR_SET_KEEPCAPS
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    header, sets = struct.pack("Ii", 0x20080522, 0), struct.pack("6I", bits, bits, 0, 0, 0, 0)
    if libc.syscall(ctypes.c_long(126), header, sets):  # capset
        raise OSError(ctypes.get_errno(), "capset")


def _with_capabilities(capabilities: tuple[int, ...], target: dict, other: dict, named: kmod.Counters) -> int:
    """In a child, which tells what is wrong by its exit status."""
    disk = os.open("/dev/sda", os.O_RDONLY) if CAP_SYS_ADMIN not in capabilities else -1
    _keep(capabilities)
    if CAP_SYS_ADMIN in capabilities:
        return _cannot_open()
    with kmod.Client() as client:
        first, first_other = (client.ask("counters-get", id=one["id"])[0] for one in (target, other))
        # What it is told right after a reset began with that.
        if first_other["since-ns"] != first_other["now-ns"]:
            return 10
        # Frequent requests take no more snapshots, of two targets in turn neither, one of them gone; none is older than 50 ms.
        for _ in range(3):
            for one, reply in ((target, first), (other, first_other)):
                if client.ask("counters-get", id=one["id"])[0]["snapshot"] != reply["snapshot"]:
                    return 8
        time.sleep(0.06)
        if client.ask("counters-get", id=target["id"])[0]["snapshot"] == first["snapshot"]:
            return 9
        if len(client.ask("target-get", dump=True)) != 2 or client.ask("info-get")[0]["nr-targets"] != 2:
            return 1
        # The group flow, and nothing of another one.
        if first["groups"] != ["flow"] or set(first) & {"submitter", "origin", "histogram", "plugs", "streams-alive"}:
            return 2
        flow = {row["direction"]: row for row in first["flow"]}["read"]
        if flow["completed"] != named.flow["read"]["completed"] or set(flow) & {"sequential", "q2c-sum-ns", "stream"}:
            return 3
        changes = {name: {"id": target["id"]} for name in ("target-del", "target-reset", "target-set", "history-get")}
        for operation, attributes in (changes | {"target-add": {"fd": disk}}).items():
            try:
                client.ask(operation, **attributes)
                return 4
            except kmod.Refused as refusal:
                if (refusal.errno, refusal.text) != (errno.EPERM, NEEDED):
                    return 5
    return 0


def _cannot_open() -> int:
    """The capability does not open disks, and the module opens none for anybody."""
    try:
        os.open("/dev/sda", os.O_RDONLY)
        return 6
    except PermissionError:
        pass
    with kmod.Client() as client:
        for attributes in ({"major": 8, "minor": 0}, {"fd": 0}, {"fd": os.open("/dev/sda", os.O_PATH)}):
            try:
                client.ask("target-add", **attributes)
                return 7
            except kmod.Refused as refusal:
                if refusal.errno not in (errno.EINVAL, errno.EBADF, errno.ENOTBLK):
                    return 8
    return 0


if __name__ == "__main__":
    sys.exit(
        kmod.main(
            [
                no_disk, partition, twice, missing_attributes, no_such_target, other_abi,
                malformed, untold, no_range, no_history, removed, unprivileged, too_many, every_refusal,
            ]
        )
    )  # fmt: skip
