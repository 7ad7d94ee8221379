#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""Every refusal has a reason and changes nothing. Without privilege nobody adds, deletes, resets or reads who queues."""

import contextlib
import ctypes
import errno
import itertools
import os
import pathlib
import socket
import struct
import sys
import time

import kmod_client as kmod
import kmod_wrong as wrong


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


def test_wrong_in_one_way() -> None:
    """Each operation with each error: refused with its errno and text, and no target changes"""
    errors = [one for one in wrong.WRONGS if one is not wrong.nothing]
    refused_errors = set()
    with wrong.machine(seed=1) as machine:
        for operation, error, _ in itertools.product(sorted(wrong.REQUESTS), errors, range(12)):
            before = machine.client.ask("target-get", dump=True)
            with contextlib.suppress(wrong.Unfit):
                wrong.ask(machine, operation, error)
                refused_errors.add(error)
            kmod.equal(f"{operation}: targets", machine.client.ask("target-get", dump=True), before)
    kmod.equal("errors without a request", set(errors) - refused_errors, set())


def test_new_ids() -> None:
    """The id of a target is not used again"""
    with kmod.Client() as client:
        first = client.add("sda")
        client.delete(first)
        second = client.add("sda")
        client.delete(second)
    kmod.equal("a new id", second["id"] > first["id"], True)


def test_partition() -> None:
    """A partition: the disk to add instead is named"""
    kmod.run("modprobe -r scsi_debug", check=False)
    name = kmod.scsi_debug(dev_size_mb=16, delay=0, num_parts=2)
    path = pathlib.Path(f"/sys/block/{name}/{name}1")
    kmod.wait_for("partition", path.exists)
    with open(f"/dev/{name}1", "rb") as disk:
        text = f"{name}1 is a partition of {name}; attach {name}"
        refused(errno.EINVAL, text, "target-add", fd=disk.fileno())
    kmod.run("modprobe -r scsi_debug")


def test_malformed() -> None:
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


def test_only_bios() -> None:
    """The history of a disk that has only bios"""
    with kmod.mapped_disk() as (_, upper), kmod.counted(upper, history_ns=0) as (client, target):
        text = f"{upper} has no requests, only bios: name the disks below it"
        refused(errno.EOPNOTSUPP, text, "history-get", id=target["id"])


def test_removed() -> None:
    """A disk that was removed while the client had it open"""
    name = kmod.scsi_debug(dev_size_mb=16, delay=0)
    with open(f"/dev/{name}", "rb", buffering=0) as disk:
        pathlib.Path(f"/sys/block/{name}/device/delete").write_text("1", encoding="ascii")
        refused(errno.ENODEV, f"{name} is being removed", "target-add", fd=disk.fileno())
    kmod.run("modprobe -r scsi_debug")


def test_too_many() -> None:
    """64 targets are counted at once, a 65th is refused"""
    names = kmod.null_blk(nr_devices=65, gb=1, hw_queue_depth=16)
    with kmod.Client() as client:
        targets = [client.add(name) for name in names[:64]]
        kmod.equal("listed", [t["disk"] for t in client.ask("target-get", dump=True)], names[:64])
        text = "64 targets exist already, which is the maximum"
        with open(f"/dev/{names[64]}", "rb") as disk:
            refused(errno.ENOSPC, text, "target-add", fd=disk.fileno())
        for number, name in enumerate(names):
            kmod.reads(name, [i * 8 for i in range(number)])
        for number, target in enumerate(targets):
            counters = client.counters(target)
            kmod.equal(f"reads of {target['disk']}", counters.flow["read"]["completed"], number)
        for target in targets:
            client.delete(target)
    kmod.run("modprobe -r null_blk")


def test_answer_that_does_not_arrive() -> None:
    """A client that cannot get the answer does not know the id: nothing was added"""
    with kmod.Client() as client, kmod.Client() as deaf, open("/dev/sda", "rb") as disk:
        deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        for _ in range(100):  # answers that nobody reads, until there is no room
            deaf.send("info-get")
        deaf.send("target-add", fd=disk.fileno())
        kmod.equal("targets", client.ask("target-get", dump=True), [])
        target = client.add("sda")  # nor does anything keep it from being added
        client.delete(target)


NEEDED = "this needs CAP_SYS_ADMIN"
NEEDED_TO_OBSERVE = "this needs CAP_PERFMON"
CAP_NET_ADMIN, CAP_SYS_ADMIN, CAP_PERFMON = 12, 21, 38


def test_unprivileged() -> None:
    """Without privilege: the counters of the group flow may be read, and nothing else; changing is refused

    So it is with CAP_NET_ADMIN alone. A process with CAP_PERFMON alone may read everything, and change nothing. One with
    CAP_SYS_ADMIN alone may not add a disk that it cannot open.
    """
    gone = kmod.scsi_debug(dev_size_mb=16, delay=0)
    with kmod.Client() as client:
        target, other = client.add("sda", history_ns=0), client.add(gone)
        kmod.run("modprobe -r scsi_debug")
        kmod.reads("sda", [i * 512 for i in range(20)])
        named = client.counters(target)
        rows = [row for row in named.reply["submitter"] if row.get("pid") == os.getpid()]
        kmod.equal("with privilege this process is named", [row["queued"] >= 20 for row in rows], [True])
    statuses = {}
    for capabilities in ((), (CAP_NET_ADMIN,), (CAP_PERFMON,), (CAP_SYS_ADMIN,)):
        with kmod.Client() as client:
            client.ask("target-reset", id=other["id"])
        child = os.fork()
        if not child:
            os._exit(_with_capabilities(capabilities, target, other, named))
        statuses[capabilities] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with kmod.Client() as client:
        client.delete(target)
        client.delete(other)
    kmod.equal("exit statuses of the children", statuses, dict.fromkeys(statuses, 0))
    kmod.REFUSALS.update({NEEDED, NEEDED_TO_OBSERVE})  # in the children


def _keep(capabilities: tuple[int, ...]) -> None:
    """Become nobody, with these capabilities alone."""
    libc = ctypes.CDLL(None, use_errno=True)
    low, high = (
        sum(1 << capability % 32 for capability in capabilities if capability // 32 == word) for word in (0, 1)
    )
    libc.prctl(8, 1, 0, 0, 0)  # PR_SET_KEEPCAPS
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    header, sets = struct.pack("Ii", 0x20080522, 0), struct.pack("6I", low, low, 0, high, high, 0)
    if libc.syscall(ctypes.c_long(126), header, sets):  # capset
        raise OSError(ctypes.get_errno(), "capset")


def _with_capabilities(capabilities: tuple[int, ...], target: dict, other: dict, named: kmod.Counters) -> int:
    """In a child. Returns its exit status: 0, or the number of the check that fails."""
    disk = os.open("/dev/sda", os.O_RDONLY) if CAP_SYS_ADMIN not in capabilities else -1
    _keep(capabilities)
    if CAP_SYS_ADMIN in capabilities:
        return _cannot_open()
    if CAP_PERFMON in capabilities:
        return _may_observe(target, named) or _changes_refused(target, disk)
    with kmod.Client() as client:
        first, first_other = (client.ask("counters-get", id=one["id"])[0] for one in (target, other))
        # A snapshot right after a reset begins with it.
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
        try:
            client.ask("history-get", id=target["id"])
            return 6
        except kmod.Refused as refusal:
            if (refusal.errno, refusal.text) != (errno.EPERM, NEEDED_TO_OBSERVE):
                return 7
    return _changes_refused(target, disk)


def _may_observe(target: dict, named: kmod.Counters) -> int:
    """All counters, at the moment of the request, and the last requests."""
    with kmod.Client() as client:
        first, second = (client.ask("counters-get", id=target["id"])[0] for _ in range(2))
        if first["groups"] != named.reply["groups"] or "histogram" not in first or "submitter" not in first:
            return 11
        if second["snapshot"] != first["snapshot"] + 1:
            return 12
        if not client.ask("history-get", id=target["id"])[0].get("ended"):
            return 13
    return 0


def _changes_refused(target: dict, disk: int) -> int:
    with kmod.Client() as client:
        changes = {name: {"id": target["id"]} for name in ("target-del", "target-reset", "target-set")}
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


# Texts that no request here is refused with, and why. All others of the source must have been an answer of these tests.
ELSEWHERE = {
    "this kernel lacks the tracepoint %s, which raidtrace needs": "kmod-edges, test_missing_tracepoints",
    "not enough memory for the reply": "no kernel of the lab makes an allocation fail",
    "not enough memory for the journal": "no kernel of the lab makes an allocation fail",
    "not enough memory for the counters": "no kernel of the lab makes an allocation fail",
    "cannot attach to the tracepoint %s: error %d": "no kernel of the lab makes an allocation fail",
    "cannot watch for the removal of disks: error %d": "no kernel of the lab makes an allocation fail",
}


def test_every_refusal() -> None:
    """Each text that the module has for a refusal was its answer to a request of these tests, or is listed with why not"""
    silent = {text for text, fits in wrong.patterns() if not any(map(fits.fullmatch, kmod.REFUSALS))}
    kmod.equal("texts that no request was refused with", silent, set(ELSEWHERE))
    print(f"# {len({text for text, _ in wrong.patterns()})} texts, {len(ELSEWHERE)} of them not reached here")


if __name__ == "__main__":
    sys.exit(kmod.main())
