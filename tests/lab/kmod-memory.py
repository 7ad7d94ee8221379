#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: --mem 512M
# lab-kernels: 6.12:sanitize-faults
# lab-long: a kernel of its own
"""Each allocation of each request, and of loading the module, fails once, on a kernel that checks itself.

A thread can select which of its next allocations fails (/proc/thread-self/fail-nth). A request is made again
and again: its first allocation fails, its second, until it has none left to fail. What is refused has a reason and leaves
the targets as they were, and in the end nobody holds memory that nothing refers to.
"""

from __future__ import annotations

import errno
import os
import pathlib
import socket
import sys
from collections import Counter
from collections.abc import Callable

import kmod_client as kmod
from kmod_disk import extents

KO = os.environ["RAIDTRACE_KO"]
DEBUG = pathlib.Path("/sys/kernel/debug")
DISK = "sda"  # of the simulated controller
KERNELS_OWN = 12  # of a request's allocations, at most: genetlink refuses them without a reason
TURNS = 9  # the checks of the kernel itself allocate here and there, so that a number may miss one of a request
MOST = 4000  # more than any request has
MANY = 10**6  # more than loading the module has
LAST = 150  # of these, which begin behind those that the loader of the kernel warns of


class Failing:
    """The N-th allocation of this thread fails, from arm() to disarm(). Used around one system call."""

    def __init__(self) -> None:
        for name in ("failslab", "fail_page_alloc"):
            (DEBUG / name / "ignore-gfp-wait").write_text("N", encoding="ascii")
            (DEBUG / name / "verbose").write_text("0", encoding="ascii")
        (DEBUG / "fail_page_alloc/min-order").write_text("0", encoding="ascii")
        self.file = os.open("/proc/thread-self/fail-nth", os.O_RDWR)

    def arm(self, number: int) -> None:
        """From the next system call on."""
        os.pwrite(self.file, b"%d" % number, 0)

    def left(self) -> int:
        """How many allocations are left to the one that is to fail; from now on none fails."""
        left = int(os.pread(self.file, 16, 0))
        os.pwrite(self.file, b"0", 0)
        return left

    def disarm(self) -> bool:
        """Whether it came to that allocation."""
        return self.left() == 0


class Armed:
    """A socket whose first send() has an allocation that fails; else the one that it stands for."""

    def __init__(self, usual: socket.socket, failing: Failing, number: int) -> None:
        self.usual, self.failing, self.number, self.failed = usual, failing, number, False

    def send(self, data: bytes) -> int:
        """As a socket's."""
        if not self.number:
            return self.usual.send(data)
        self.failing.arm(self.number)
        try:
            return self.usual.send(data)
        finally:
            self.failed, self.number = self.failing.disarm(), 0

    def __getattr__(self, name: str) -> object:
        return getattr(self.usual, name)


def undo(client: kmod.Client, before: list[dict[str, object]]) -> None:
    """Forget a target that was added without an answer."""
    for target in client.ask("target-get", dump=True):
        if target["id"] not in [one["id"] for one in before]:
            client.delete(target)


def each(failing: Failing, ask: Callable[[kmod.Client], object]) -> tuple[int, Counter[str]]:
    """Let each allocation of what `ask` sends fail; how many there are, and how often it was refused with which text."""
    refused: Counter[str] = Counter()
    for number in range(1, MOST):
        with kmod.Client() as client, kmod.Client() as other:
            before = other.ask("target-get", dump=True)
            usual = client.socket
            client.socket = armed = Armed(usual, failing, number)  # type: ignore[assignment]
            try:
                ask(client)
            except kmod.Refused as refusal:
                kmod.equal(f"allocation {number}: refused with", errno.errorcode[refusal.errno], "ENOMEM")
                refused[refusal.text] += 1
                kmod.equal(f"allocation {number}: targets", other.ask("target-get", dump=True), before)
            except OSError as error:  # of send(), or what was done could not be acknowledged
                if error.errno not in (errno.ENOBUFS, errno.ENOMEM):
                    raise
                refused[""] += 1
                undo(other, before)
            finally:
                client.socket = usual
            if not armed.failed:
                return number - 1, refused
    raise AssertionError(f"no end after {MOST} allocations")


def added(client: kmod.Client, disk: str) -> None:
    """A target that comes and goes."""
    client.delete(client.add(disk, history_ns=0))


def request(operation: str, reasons: set[str], ask: Callable[[kmod.Client, int], object]) -> Callable[[], None]:
    """A test of one operation; `ask` gets the id of a target that stays."""

    def test() -> None:
        failing, refused, number = Failing(), Counter[str](), 0
        with kmod.Client() as client:
            target = client.add(DISK, history_ns=0)
            for _ in range(TURNS):
                number, more = each(failing, lambda one: ask(one, int(target["id"])))
                kmod.equal("few refusals are the kernel's own, without a reason", more[""] <= KERNELS_OWN, True)
                refused += more
                if reasons <= set(refused):
                    break
            client.delete(target)
        print(f"# {operation}: some {number} allocations, refused: {dict(refused)}", flush=True)
        kmod.equal("reasons", set(refused) - {""}, reasons)

    test.__doc__ = f"{operation}: each allocation fails once"
    return test


def loading() -> None:
    """Loading the module: each of its last allocations fails once, those of its own beginning among them"""
    failing, failed = Failing(), 0
    kmod.remove("raidtrace")
    failing.arm(MANY)
    kmod.insert(KO)
    every = MANY - failing.left()
    for number in range(every - LAST, every + 1):
        kmod.remove("raidtrace")
        failing.arm(number)
        try:
            kmod.insert(KO)
        except OSError as error:
            if error.errno != errno.ENOMEM or not failing.disarm():
                raise
            failed += 1
            kmod.insert(KO)
        failing.disarm()
    print(f"# the last {LAST} of {every} allocations, {failed} times it was not loaded", flush=True)
    kmod.equal("it failed at times", failed > 0, True)
    with kmod.Client() as client:
        added(client, DISK)


def leaks() -> None:
    """Nothing is left that nobody refers to"""
    kmod.no_leaks()


REPLY = "not enough memory for the reply"
JOURNAL = kmod.attribute_number("target", "journal")
TESTS = [
    request("info-get", {REPLY}, lambda client, _: client.ask("info-get")),
    request("target-add", {REPLY, "not enough memory for the counters"}, lambda client, _: added(client, OTHER)),
    request("target-get", {REPLY}, lambda client, number: client.ask("target-get", id=number)),
    request("target-get of all", set(), lambda client, _: client.ask("target-get", dump=True)),
    request(
        "target-set",
        {"not enough memory for the journal"},
        lambda client, number: client.ask("target-set", raw=extents([(8, 8)], JOURNAL), id=number),
    ),
    request("target-reset", set(), lambda client, number: client.ask("target-reset", id=number)),
    request("counters-get", {REPLY}, lambda client, number: client.ask("counters-get", id=number)),
    request("history-get", {REPLY}, lambda client, number: client.ask("history-get", id=number)),
    loading,
    leaks,
]

if __name__ == "__main__":
    OTHER = kmod.scsi_debug(dev_size_mb=16, delay=0)
    sys.exit(kmod.main(TESTS))
