#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""The examples of Documentation/client.rst, and raidtrace.client beyond them. Disk and times are simulated."""

from __future__ import annotations

import doctest
import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import kmod_client as kmod

from raidtrace.client import Client, Refused, Target

PAGE = kmod.TOP / "Documentation/client.rst"


def sections() -> list[Callable[[], None]]:
    """A test for each section of the page that has examples. They run in order and share names."""
    parts = re.split(r"^(.+)\n=+$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    names: dict[str, Any] = {}
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    tests = []
    for title, text in zip(parts[1::2], parts[2::2]):
        examples = parser.get_doctest(text, names, title, str(PAGE), 0)
        examples.globs = names  # get_doctest() copies them

        def test(examples: doctest.DocTest = examples) -> None:
            wrong: list[str] = []
            runner.run(examples, out=wrong.append, clear_globs=False)
            kmod.equal("".join(wrong), len(wrong), 0)

        test.__doc__ = f"{title}: {len(examples.examples)} examples of client.rst"
        if examples.examples and title != "Recordings":  # a guest has no pandas: tests/python/interface
            tests.append(test)
    kmod.equal("sections with examples", len(tests), 4)
    return tests


def refused(what: str, error: int, text: str, ask: Callable[[], object]) -> None:
    """Raise unless the module refuses."""
    try:
        ask()
    except Refused as refusal:
        kmod.equal(what, (refusal.errno, refusal.text), (error, text))
    else:
        raise AssertionError(f"{what}: not refused")


def disks(client: Client) -> list[str]:
    """Names of the disks that are attached."""
    return [target.disk for target in client.targets()]


def test_attached_by_others() -> None:
    """A disk that was attached before stays attached; one that another program detaches meanwhile is no error"""
    kmod.run("raidctl attach sda")
    with Client() as client:
        with client.attached("/dev/sda", groups=["flow", "latency"]) as disk:
            kmod.equal("the same", disk.id, client.target("sda").id)
        kmod.equal("after", disks(client), ["sda"])
        try:
            with client.attached("sda", groups=["hwq"]):
                raise AssertionError("attached without hwq, as if it had it")
        except ValueError as error:
            kmod.equal("text", str(error), "sda is attached without the groups hwq")
        kmod.run("raidctl detach sda")
        with client.attached("sda", groups=["hwq"]) as disk:
            kmod.equal("groups", disk.groups, {"flow", "hwq"})
            kmod.run("raidctl detach sda && raidctl attach sda")
        kmod.equal("the later one is not ours", disks(client), ["sda"])
        client.target("sda").detach()
        try:
            with client.attached("sda"):
                kmod.equal("in the block", disks(client), ["sda"])
                raise KeyError
        except KeyError:
            pass
        kmod.equal("after an exception", disks(client), [])


def test_refusals() -> None:
    """A request that is refused has the text of the module; names that do not exist are refused here"""
    with Client() as client:
        gone = client.attach("sda")
        gone.detach()
        for ask in (gone.counters, gone.reset, gone.detach):
            refused("no target", errno.ENOENT, f"there is no target {gone.id}", ask)
        for what, ask in (("not attached", lambda: client.target("sda")), ("kind", lambda: kind(client))):
            try:
                ask()
                raise AssertionError(f"{what}: nothing raised")
            except LookupError:
                pass
        try:
            client.attach("sda", groups=["flow", "lat"])
            raise AssertionError("an unknown group is attached")
        except ValueError as error:
            kmod.equal("text", str(error).split(",")[0], "groups has no lat")
        kmod.equal("nothing is left", disks(client), [])


def kind(client: Client) -> None:
    """Raises LookupError: only directions with bins have a histogram."""
    with client.attached("sda") as disk:
        for name in ("size", "d2c", "seek", "place"):
            kmod.equal(name, disk.counters().histogram("read", name).total(), 0)
        disk.counters().histogram("all", "d2c")


def test_disk_with_bios_only() -> None:
    """A disk of device mapper has no requests: their counters and histograms are missing, not 0"""
    with kmod.mapped_disk() as (_, name), Client() as client, client.attached(name) as disk:
        before = disk.counters()
        kmod.reads(name, [0, 8, 4096])
        spent = disk.counters() - before
        kmod.equal("bios", (spent.flow["read"]["queued"], "issued" in spent.flow["read"]), (3, False))
        kmod.equal("q2c", spent.histogram("read", "q2c").total(), 3)
        for direction, missing in (("read", "d2c"), ("all", "depth-time"), ("read", "size"), ("all", "unplug")):
            try:
                raise AssertionError(f"{missing}: {spent.histogram(direction, missing)}")
            except LookupError:
                pass


def test_equals_raidctl() -> None:
    """A reading has the counters and bins that raidctl, which uses libnl, prints of a disk at rest"""
    with Client() as client, client.attached("sda") as disk:
        kmod.reads("sda", [i * i * 8 for i in range(50)])
        spent, printed = disk.counters(), shown(disk)
        for name in ("issued", "completed", "bytes-issued", "d2c-sum-ns", "sequential", "seek-forward-sectors"):
            kmod.equal(name, spent.flow["read"][name], printed["flow"].get(name.replace("-", "_"), 0))
        for name in ("size", "d2c", "q2c", "seek", "depth-issue"):
            theirs = [
                (one["low"], one["count"]) for one in printed["histograms"][name.replace("-", "_")] if one["count"]
            ]
            kmod.equal(name, [(low, count) for low, _, count in spent.histogram("read", name).bins()], theirs)


def shown(disk: Target) -> Any:
    """The reads of raidctl show --json."""
    done = subprocess.run(["raidctl", "show", "--json", disk.disk], check=True, capture_output=True)
    return json.loads(done.stdout)[0]["directions"]["read"]


def test_unprivileged() -> None:
    """Without privilege: the group flow of a disk that is attached, no other group, no change"""
    with Client() as client, client.attached("sda"):
        kmod.reads("sda", [0, 8, 16])
        child = os.fork()
        if not child:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            try:
                _unprivileged()
            except BaseException as error:  # pylint: disable=broad-except
                print(f"# {type(error).__name__}: {error}", flush=True)
                os._exit(1)
            os._exit(0)
        kmod.equal("exit status of the child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)


def _unprivileged() -> None:
    with Client() as client:
        with client.attached("sda") as disk:
            now = disk.counters()
        kmod.equal("flow", (now.groups, now.flow["read"]["completed"]), ({"flow"}, 3))
        kmod.equal("others", (now.submitter, now.origin, "sequential" in now.flow["read"]), ({}, {}, False))
        try:
            raise AssertionError(now.histogram("read", "d2c"))
        except LookupError:
            pass
        refused("reset", errno.EPERM, "this needs CAP_SYS_ADMIN", disk.reset)
        refused("detach", errno.EPERM, "this needs CAP_SYS_ADMIN", disk.detach)


def test_unloaded() -> None:
    """Without the module the client says that it is not loaded"""
    kmod.remove("raidtrace")
    try:
        refused("module", errno.ENOENT, "raidtrace.ko is not loaded", Client)
    finally:
        kmod.insert(os.environ["RAIDTRACE_KO"])


if __name__ == "__main__":
    own = [value for name, value in list(globals().items()) if name.startswith("test_")]
    sys.exit(kmod.main([*sections(), *own]))
