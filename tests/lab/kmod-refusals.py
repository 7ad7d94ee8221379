#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""Every refusal says why, changes nothing, and nobody unprivileged adds, deletes, resets or is told who queues."""

import errno
import os
import pathlib
import socket
import struct
import sys

import kmod_client as kmod


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


def no_such_disk() -> None:
    """No such disk"""
    refused(errno.ENXIO, "there is no disk 240:17", "target-add", major=240, minor=17)


def no_device_number() -> None:
    """A number that no device can have"""
    refused(errno.EINVAL, "4096:1 is no device number", "target-add", major=4096, minor=1)
    refused(errno.EINVAL, "8:1048576 is no device number", "target-add", major=8, minor=1 << 20)


def partition() -> None:
    """A partition: the disk to add instead is named"""
    kmod.run("modprobe -r scsi_debug", check=False)
    name = kmod.scsi_debug(dev_size_mb=16, delay=0, num_parts=2)
    path = pathlib.Path(f"/sys/block/{name}/{name}1")
    kmod.wait_for("partition", path.exists)
    major, minor = kmod.device_number(f"{name}1")
    refused(errno.EINVAL, f"{name}1 is a partition of {name}; add {name}", "target-add", major=major, minor=minor)
    kmod.run("modprobe -r scsi_debug")


def twice() -> None:
    """A disk that is a target already: its id is named"""
    with kmod.Client() as client:
        target = client.add("sda")
        refused(errno.EEXIST, f"sda is target {target['id']} already", "target-add", major=8, minor=0)
        client.delete(target)


def missing_attributes() -> None:
    """A request without what it is about"""
    for operation in ("target-del", "target-get", "target-reset", "target-set", "counters-get"):
        refused(errno.EINVAL, "the attribute id is missing", operation)
    refused(errno.EINVAL, "the attribute major is missing", "target-add", minor=0)
    refused(errno.EINVAL, "the attribute minor is missing", "target-add", major=8)


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
    refused(errno.EPROTONOSUPPORT, "the module speaks ABI 2, the client ABI 1", "info-get", abi=1)
    with kmod.Client() as client:
        kmod.equal("the same ABI", client.ask("info-get", abi=2)[0]["abi"], 2)


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


def too_many() -> None:
    """64 targets are counted at once, a 65th is refused"""
    names = kmod.null_blk(nr_devices=65, gb=1, hw_queue_depth=16)
    with kmod.Client() as client:
        targets = [client.add(name) for name in names[:64]]
        kmod.equal("listed", [t["disk"] for t in client.ask("target-get", dump=True)], names[:64])
        major, minor = kmod.device_number(names[64])
        text = "there are 64 targets already, the most that can be"
        refused(errno.ENOSPC, text, "target-add", major=major, minor=minor)
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
    major, minor = kmod.device_number("sda")
    with kmod.Client() as client, kmod.Client() as deaf:
        deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        for _ in range(100):  # answers that nobody reads, until there is no room
            deaf.send("info-get")
        deaf.send("target-add", major=major, minor=minor)
        kmod.equal("targets", client.ask("target-get", dump=True), [])
        target = client.add("sda")  # nor does anything keep it from being added
        client.delete(target)


def unprivileged() -> None:
    """Without privilege: counters may be read, but not who the processes are; changing is refused"""
    with kmod.Client() as client:
        target = client.add("sda")
        disk = kmod.Disk("sda")
        for i in range(20):
            disk.read(i * 512, 8)
        disk.close()
        named = client.counters(target)
        rows = [row for row in named.reply["submitter"] if row.get("pid") == os.getpid()]
        kmod.equal("with privilege this process is told", [row["queued"] >= 20 for row in rows], [True])
    child = os.fork()
    if not child:
        os._exit(_unprivileged(target, sum(row["queued"] for row in named.reply["submitter"])))
    _, status = os.waitpid(child, 0)
    with kmod.Client() as client:
        client.delete(target)
    kmod.equal("what the unprivileged child found", os.waitstatus_to_exitcode(status), 0)


def _unprivileged(target: dict, queued: int) -> int:
    """In a child, which tells what is wrong by its exit status."""
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    with kmod.Client() as client:
        rows = client.counters(target).reply["submitter"]
        if len(client.ask("target-get", dump=True)) != 1 or client.ask("info-get")[0]["nr-targets"] != 1:
            return 1
        if [sorted(row) for row in rows] != [sorted(("index", "queued", "bytes-queued", "seeks-queued"))]:
            return 2
        if rows[0]["queued"] != queued:
            return 3
        changes = {name: {"id": target["id"]} for name in ("target-del", "target-reset", "target-set")}
        for operation, attributes in (changes | {"target-add": {"major": 8, "minor": 0}}).items():
            try:
                client.ask(operation, **attributes)
                return 4
            except kmod.Refused as refusal:
                if refusal.errno != errno.EPERM:
                    return 5
    return 0


if __name__ == "__main__":
    sys.exit(
        kmod.main(
            [
                no_such_disk, no_device_number, partition, twice, missing_attributes, no_such_target, other_abi,
                malformed, untold, unprivileged, too_many,
            ]
        )
    )  # fmt: skip
