#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: 6.1 7.2
"""Netlink messages that are wrong in every way: refused with a reason, and nothing but refused."""

import contextlib
import errno
import functools
import os
import re
import struct
import sys

import kmod_client as kmod
import kmod_fuzz as fuzz

REASON_FROM_THE_CORE = {errno.EPERM, errno.EOPNOTSUPP, errno.EPROTONOSUPPORT}  # before the module is asked


def random_messages() -> None:
    """3,000 random messages: none is followed where it should not be, the module answers as before"""
    with kmod.Client() as client:
        target = client.add("sda")
        found = fuzz.storm(3000, 9500, [target["id"]])
        print("# " + ", ".join(f"{errno.errorcode.get(e, e)} {n}" for e, n in sorted(found.items())), flush=True)
        kmod.equal("some were refused", sum(n for e, n in found.items() if e) > 500, True)
        kmod.equal("only known errors", set(found) - {
            0, errno.EINVAL, errno.ENOENT, errno.EOPNOTSUPP, errno.ERANGE, errno.EEXIST, errno.ENXIO, errno.ENODEV,
            errno.EPROTONOSUPPORT, errno.EBADMSG, errno.EMSGSIZE, errno.ETIME, errno.ENOTBLK, errno.ENOBUFS,
        }, set())  # fmt: skip
        kmod.equal("info", client.ask("info-get")[0]["max-targets"], 64)
        for left in client.ask("target-get", dump=True):
            client.delete(left)


def every_attribute() -> None:
    """Each request attribute, missing, short, long, twice, as a nest: whatever is refused is refused with a reason"""
    sets = {one["name"]: one["attributes"] for one in kmod.SPEC["attribute-sets"]}
    tried = 0
    with kmod.Client() as client:
        for operation in (one for one in kmod.SPEC["operations"]["list"] if "do" in one):
            names = operation["do"].get("request", {}).get("attributes", [])
            for name in names:
                kind = [one["name"] for one in sets[operation["attribute-set"]]].index(name) + 1
                good = fuzz.attribute(kind, struct.pack("I", 0xFFFFFFF0))
                for raw in (
                    fuzz.attribute(kind, b"\1"), fuzz.attribute(kind, b""), fuzz.attribute(kind, b"\1" * 4096),
                    good + good, fuzz.attribute(kind | fuzz.NESTED, good), fuzz.attribute(kind, b"\1" * 4, 2),
                    fuzz.attribute(kind, b"\1" * 4, 0xFFFF), good[:5], fuzz.attribute(kind + 200, b"\1" * 4),
                    fuzz.attribute(kind | 0x4000, b"\0\0\0\1"), b"\xff" * 64,
                ):  # fmt: skip
                    with contextlib.suppress(StopIteration):
                        try:
                            client.ask(operation["name"], raw=raw)
                        except kmod.Refused as refusal:
                            what = f"{operation['name']} {name} {raw[:12].hex()}: {os.strerror(refusal.errno)}"
                            kmod.equal(f"{what}: a reason", bool(refusal.text), True)
                        tried += 1
        for left in client.ask("target-get", dump=True):
            client.delete(left)
    print(f"# {tried} messages", flush=True)


def all_at_once() -> None:
    """Two who add, delete and read, one who reads all, one who sends nonsense, one who reads the disk: all end well"""
    names = kmod.null_blk(nr_devices=2, gb=1)

    def reader() -> None:
        disk = kmod.Disk(names[0])
        for i in range(4000):
            disk.read(i * 8, 8)

    fuzz.children(
        functools.partial(fuzz.adder, names[0], 150), functools.partial(fuzz.adder, names[1], 150),
        functools.partial(fuzz.adder, names[0], 150), functools.partial(fuzz.dumper, 300),
        functools.partial(fuzz.storm, 600, 71, [1, 2, 3]), reader,
    )  # fmt: skip
    with kmod.Client() as client:
        for left in client.ask("target-get", dump=True):
            client.delete(left)
    kmod.run("modprobe -r null_blk")


def unplugged_meanwhile() -> None:
    """The same while disks come and go"""

    def plug() -> None:
        for _ in range(12):
            kmod.run("modprobe null_blk nr_devices=2 gb=1")
            kmod.run("modprobe -r null_blk", check=False)

    kmod.null_blk(nr_devices=2, gb=1)
    fuzz.children(
        plug, functools.partial(fuzz.adder, "nullb0", 80), functools.partial(fuzz.adder, "nullb1", 80),
        functools.partial(fuzz.dumper, 100), functools.partial(fuzz.storm, 300, 72, [1, 2, 3]),
    )  # fmt: skip
    with kmod.Client() as client:
        for left in client.ask("target-get", dump=True):
            client.delete(left)
    kmod.run("modprobe -r null_blk", check=False)


def every_refusal_has_text() -> None:
    """In the source: no function that answers a request returns an error without saying why"""
    silent = []
    for path in sorted((kmod.TOP / "kmod").glob("netlink*.c")):
        if path.name == "netlink-gen.c":
            continue
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for body in re.findall(r"^\{\n(.*?)^\}", text, re.DOTALL | re.MULTILINE):
            for match in re.finditer(r"(?:return|[^=!]=) (?:ERR_PTR\()?-E(?!MSGSIZE)[A-Z]+", body):
                before = body[: match.start()].rstrip().splitlines()[-4:]
                if not any("raidtrace_refuse" in line or "NL_SET" in line or "extack" in line for line in before):
                    silent.append(f"{path.name}: {match[0]}")
    kmod.equal("errors without a text", silent, [])


if __name__ == "__main__":
    sys.exit(kmod.main([random_messages, every_attribute, all_at_once, unplugged_meanwhile, every_refusal_has_text]))
