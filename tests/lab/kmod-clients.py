#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""Clients agree: the kernel's own ynl and raidtrace.client, which read the specification, and raidctl by libnl.

The disk is gone when it is read, so its counters stand still and every number must be the same, times too.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import kmod_client as kmod

import raidtrace.client

SPEC = kmod.TOP / "Documentation/netlink/specs/raidtrace.yaml"
# Limits of raidctl status --json: name, file of /sys/block/sda, sectors or number in a unit of the file.
LIMITS = (
    ("capacity_sectors", "size", 1),
    ("max_sectors", "queue/max_sectors_kb", 2),
    ("max_hw_sectors", "queue/max_hw_sectors_kb", 2),
    ("max_segments", "queue/max_segments", 1),
    ("nr_requests", "queue/nr_requests", 1),
    ("nr_tags", "mq/0/nr_tags", 1),
    ("rotational", "queue/rotational", 1),
)
# Attributes that raidctl show --json has under other names, or not at all.
OTHER_NAMES = {"id", "resets", "state", "readahead-sectors", "since-ns", "now-ns", "carried", "direction"}


class Refused(Exception):
    """A refusal in the words of a client."""


def ynl_programs() -> dict[str, list[str]]:
    """Series -> the command line of its ynl, of each unpacked kernel source that has one: 6.12 and later. There must be one."""
    kernels = next(path for path in pathlib.Path(os.environ["RAIDTRACE_KO"]).parents if path.name.startswith("kernels"))
    programs = {}
    for program in sorted(kernels.parent.glob("sources/*/source/tools/net/ynl/**/cli.py")):
        source = next(path for path in program.parents if path.name == "source")
        schema = source / "Documentation/netlink/genetlink-legacy.yaml"
        words = ["/usr/bin/python3", "-B", str(program), "--spec", str(SPEC), "--schema", str(schema), "--output-json"]
        # That of 6.12 does not know attributes that only align others, which x86-64 and arm64 never send and this kernel does.
        known = "attr_spec[\"type\"] == 'pad'" in (program.parent / "lib/ynl.py").read_text(encoding="utf-8")
        programs[".".join(source.parent.name.split(".")[:2])] = words + ([] if known else ["--process-unknown"])
    kmod.equal("there is a ynl", bool(programs), True)
    return programs


def unpadded(tree: Any) -> Any:
    """A reply without those."""
    if isinstance(tree, dict):
        return {name: unpadded(value) for name, value in tree.items() if name != "pad"}
    return [unpadded(value) for value in tree] if isinstance(tree, list) else tree


def ynl(program: list[str], operation: str, values: dict[str, Any] | None = None, dump: bool = False) -> Any:
    """One operation by a kernel's command line."""
    words = ["--dump" if dump else "--do", operation, *(["--json", json.dumps(values)] if values else [])]
    done = subprocess.run(program + words, check=False, capture_output=True, encoding="utf-8")
    if done.returncode or done.stdout.startswith("Netlink error"):
        raise Refused(done.stdout + done.stderr)
    return unpadded(json.loads(done.stdout or "null"))


def raidctl(*words: str) -> Any:
    """The JSON of raidctl, which uses libnl."""
    done = subprocess.run(["raidctl", *words], check=False, capture_output=True, encoding="utf-8")
    if done.returncode:
        raise Refused(done.stderr)
    return json.loads(done.stdout) if "--json" in words else done.stdout


def gone_disk(client: kmod.Client) -> dict[str, Any]:
    """A target with something in most counters, whose disk is gone."""
    name = kmod.scsi_debug(dev_size_mb=64, lbpu=1, lbpws=1, delay=0, opts=0, wp=0)
    target = client.add(name)
    disk = kmod.Disk(name)
    for i in range(40):
        disk.read(i * i * 8, 8 + 8 * (i % 5))
        disk.write(i * 64, 16)
    disk.discard(0, 2048)
    disk.zero_out(8192, 512)
    disk.flush()
    disk.inquiry()
    client.ask("target-reset", id=target["id"])
    for i in range(40):
        disk.read(i * i * 8, 8 + 8 * (i % 5))
        disk.write(i * 64, 16)
    disk.inquiry()
    disk.discard(0, 1024)
    disk.close()
    kmod.run("modprobe -r scsi_debug")
    kmod.wait_for("the disk to be gone", lambda: client.counters(target).reply["state"] == "gone")
    return target


def same(what: str, left: Any, right: Any) -> None:
    """Raise at the first difference of two trees of values."""
    if isinstance(left, dict) and isinstance(right, dict):
        kmod.equal(f"{what}: names", sorted(left), sorted(right))
        for key, value in left.items():
            same(f"{what}.{key}", value, right[key])
    elif isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        kmod.equal(f"{what}: entries", len(left), len(right))
        if left and isinstance(left[0], str):  # flags: ynl has a set of them, in no order
            left, right = sorted(left), sorted(right)
        for number, value in enumerate(left):
            same(f"{what}[{number}]", value, right[number])
    else:
        kmod.equal(what, left, right)


def leaves(tree: Any) -> int:
    """How many values a tree holds."""
    if isinstance(tree, dict):
        return sum(map(leaves, tree.values()))
    return sum(map(leaves, tree)) if isinstance(tree, (list, tuple)) else 1


def unnumbered(reply: dict[str, Any]) -> dict[str, Any]:
    """A snapshot without its number: each that is taken has another."""
    kmod.equal("is numbered", reply["snapshot"] > 0, True)
    return {name: value for name, value in reply.items() if name != "snapshot"}


def same_reading(what: str, reading: raidtrace.client.Counters, theirs: dict[str, Any]) -> None:
    """Raise when a reading of raidtrace.client differs from a reply of ynl."""
    for row in theirs["flow"]:
        same(f"{what}: {row['direction']}", {"direction": row["direction"], **reading.flow[row["direction"]]}, row)
    compared = 0
    for one in theirs["histogram"]:
        histogram = reading.histogram(one["direction"], one["kind"])
        words = f"{what}: {one['kind']} {one['direction']}"
        kmod.equal(words, histogram.counts, {at: n for at, n in enumerate(one["counts"], one["first-bin"]) if n})
        compared += 1
    kmod.equal(f"{what}: histograms", compared > 15, True)


def test_by_specification() -> None:
    """The kernel's ynl and raidtrace.client read the same snapshot, attribute by attribute"""
    with kmod.Client() as client, raidtrace.client.Client() as other:
        target = gone_disk(client)
        reading = other.targets()[0].counters()
        ours = unnumbered(client.ask("counters-get", id=target["id"])[0])
        programs = ynl_programs()
        for series, program in programs.items():
            theirs = ynl(program, "counters-get", {"id": target["id"]})
            same(f"ynl of {series}", unnumbered(theirs), ours)
            same_reading(f"client and ynl of {series}", reading, theirs)
            same(f"{series}: list", ynl(program, "target-get", dump=True), client.ask("target-get", dump=True))
            infos = [reply | {"now-ns": 0} for reply in (ynl(program, "info-get"), client.ask("info-get")[0])]
            same(f"{series}: info", *infos)
        print(f"# {leaves(ours)} values of one snapshot, the ynl of {', '.join(programs)}", flush=True)
        client.delete(target)


def bins_of(histogram: list[dict[str, int]]) -> list[tuple[int, int]]:
    """Low bound and count of the bins that are not zero."""
    return [(one["low"], one["count"]) for one in histogram if one["count"]]


def test_by_libnl() -> None:
    """raidctl, through libnl, prints the same counters, bins and description"""
    with kmod.Client() as client:
        target = gone_disk(client)
        counters = client.counters(target)
        printed = raidctl("show", "--json", target["disk"])[0]
        kmod.equal("times", (printed["start_ns"], printed["end_ns"]),
                   (counters.reply["since-ns"], counters.reply["now-ns"]))  # fmt: skip
        compared = 0
        kmod.equal("directions with requests are printed", {"read", "write", "discard", "passthrough", "all"}
                   - set(printed["directions"]), set())  # fmt: skip
        for direction in kmod.DIRECTIONS:
            flow = printed["directions"].get(direction, {}).get("flow", {})
            for name, value in counters.flow[direction].items():
                if name not in OTHER_NAMES:
                    kmod.equal(f"{direction} {name}", flow.get(name.replace("-", "_"), 0), value)
                    compared += 1
        for (kind, direction), one in counters.histogram.items():
            words = printed["directions"][direction]["histograms"][kind.replace("-", "_")]
            kmod.equal(f"{kind} {direction}", [count for _, count in bins_of(words)], [n for n in one["counts"] if n])
            compared += len(one["counts"])
        status = next(one for one in raidctl("status", "--json")["targets"] if one["disk"] == target["disk"])
        described = [status[name] for name in ("target", "gone", "attached_ns", "driver", "max_sectors")]
        kmod.equal("described", described, [target["id"], True, target["attached-ns"], None, None])
        print(f"# {compared} values compared", flush=True)
        client.delete(target)
        live = client.add("sda")
        status = next(one for one in raidctl("status", "--json")["targets"] if one["disk"] == "sda")
        device = pathlib.Path("/sys/block/sda/device").resolve()
        pci = next(above for above in device.parents if (above / "subsystem").resolve().name == "pci")
        kmod.equal("above the disk", [status[name] for name in ("hctl", "pci", "driver", "unit_3ware", "attached_ns")],
                   [device.name, pci.name, "3w-9xxx", True, live["attached-ns"]])  # fmt: skip
        for name, file, unit in LIMITS:
            number = int(pathlib.Path("/sys/block/sda", file).read_text(encoding="ascii"))
            kmod.equal(name, status[name], number * unit)
        kmod.equal("nr_hw_queues", status["nr_hw_queues"], len(os.listdir("/sys/block/sda/mq")))
        client.delete(live)


def test_refusals() -> None:
    """A refusal has the same text for each of them"""
    with kmod.counted("sda") as (client, target):
        cases = (
            ("target-add", {"fd": 1 << 20}),
            ("target-add", {}),
            ("target-get", {"id": 4711}),
            ("target-del", {"id": 0}),
            ("target-reset", {"id": 0xFFFFFFFF}),
            ("counters-get", {"id": 4711}),
            ("counters-get", {}),
            ("info-get", {"abi": 99}),
        )
        for operation, values in cases:
            try:
                client.ask(operation, **values)
                raise AssertionError(f"{operation} {values} is not refused")
            except kmod.Refused as refusal:
                errno, text = refusal.errno, refusal.text
            kmod.equal(f"{operation} {values}: a reason", bool(text), True)
            for series, program in ynl_programs().items():
                try:
                    ynl(program, operation, values)
                    raise AssertionError(f"ynl of {series}: {operation} {values} is not refused")
                except Refused as refusal:
                    kmod.equal(f"ynl of {series}: {operation} {values}: {refusal}", text in str(refusal), True)
                    kmod.equal(
                        f"ynl of {series}: {operation} {values}: {refusal}", os.strerror(errno) in str(refusal), True
                    )
        try:
            raidctl("attach", "sda")
            raise AssertionError("raidctl attaches twice")
        except Refused as refusal:
            kmod.equal(f"raidctl: {refusal}", f"sda is already target {target['id']}" in str(refusal), True)


def test_operations() -> None:
    """Adding, reset and deleting through each is visible to the others"""
    with kmod.Client() as client:
        raidctl("attach", "sda")
        target = client.ask("target-get", dump=True)[0]
        for resets, (series, program) in enumerate(ynl_programs().items(), 1):
            same(f"listed by the ynl of {series}", ynl(program, "target-get", {"id": target["id"]}), target)
            ynl(program, "target-reset", {"id": target["id"]})
            kmod.equal(f"resets by the ynl of {series} too", client.counters(target).reply["resets"], resets)
        raidctl("detach", "sda")
        kmod.equal("detached by raidctl", client.ask("target-get", dump=True), [])
        for program in ynl_programs().values():
            target = client.add("sda")
            ynl(program, "target-del", {"id": target["id"]})
            kmod.equal("deleted by ynl", client.ask("target-get", dump=True), [])


if __name__ == "__main__":
    sys.exit(kmod.main())
