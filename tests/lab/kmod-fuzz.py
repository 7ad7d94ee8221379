#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""Wrong Netlink messages: each is refused with a reason, and has no other effect."""

import contextlib
import errno
import functools
import os
import pathlib
import struct
import sys
import time

import kmod_client as kmod
import kmod_fuzz as fuzz
import kmod_wrong as wrong


def test_random_messages() -> None:
    """1,000 messages of random bytes: none is followed where it should not be, the module answers as before"""
    with kmod.Client() as client:
        target = client.add("sda")
        errors = fuzz.storm(1000, 9500, [target["id"]])
        print("# " + ", ".join(f"{errno.errorcode.get(e, e)} {n}" for e, n in sorted(errors.items())), flush=True)
        kmod.equal("some were refused", sum(n for e, n in errors.items() if e) > 150, True)
        kmod.equal("only known errors", set(errors) - {
            0, errno.EINVAL, errno.ENOENT, errno.EOPNOTSUPP, errno.ERANGE, errno.EEXIST, errno.ENXIO, errno.ENODEV,
            errno.EPROTONOSUPPORT, errno.EBADMSG, errno.EMSGSIZE, errno.ETIME, errno.ENOTBLK, errno.ENOBUFS,
        }, set())  # fmt: skip
        kmod.equal("info", client.ask("info-get")[0]["max-targets"], 64)
        for left in client.ask("target-get", dump=True):
            client.delete(left)


def test_right_but_for_one_thing() -> None:
    """5,000 requests that are right but for one thing: each gets its answer, three of four from the module itself"""
    answers = wrong.storm(5000, 9500)
    print("# " + ", ".join(f"{name} {n}" for name, n in answers.most_common()), flush=True)
    kmod.equal("each error was tried", [one.__name__ for one in wrong.WRONGS if answers[one.__name__] < 20], [])
    kmod.equal(f"{answers['module']} of 5000 reached the module", answers["module"] > 3750, True)


def test_every_attribute() -> None:
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
    kmod.delete_all()
    print(f"# {tried} messages", flush=True)


def test_all_at_once() -> None:
    """Two who add, delete and read, one who reads all, one who sends nonsense, one who reads the disk: all end well"""
    names = kmod.null_blk(nr_devices=2, gb=1)

    def reader() -> None:
        disk = kmod.Disk(names[0])
        for i in range(4000):
            disk.read(i * 8, 8)

    fuzz.children(
        functools.partial(fuzz.adder, names[0], fuzz.times(150)), functools.partial(fuzz.adder, names[1], fuzz.times(150)),
        functools.partial(fuzz.adder, names[0], fuzz.times(150)), functools.partial(fuzz.dumper, fuzz.times(300)),
        functools.partial(fuzz.storm, 600, 71, [1, 2, 3]), reader,
    )  # fmt: skip
    kmod.delete_all()
    kmod.run("modprobe -r null_blk")


def plug(times: int, stop: pathlib.Path) -> list[str]:
    """Three disks come and go, the third with a target of ours; what its state was each time when they had gone."""
    states = []
    with kmod.Client() as client:
        for _ in range(times):
            kmod.run("modprobe null_blk nr_devices=3 gb=1")
            kmod.wait_for("the disk", pathlib.Path("/dev/nullb2").exists)
            target = client.add("nullb2")
            disk = kmod.Disk("nullb2")
            disk.read(0, 8)
            disk.close()
            time.sleep(0.05)  # that others have
            kmod.wait_for("nobody has a disk open", lambda: not kmod.run("modprobe -r null_blk 2>&1", check=False))
            gone = client.counters(target)
            kmod.equal("what was counted stays", gone.flow["read"]["completed"] > 0, True)
            states.append(gone.reply["state"])
            client.delete(target)
            time.sleep(0.01)
    stop.touch()
    return states


def test_unplugged_meanwhile() -> None:
    """The same while disks are added and removed: each target is gone then, keeps its counters, and can be deleted"""
    stop = pathlib.Path(os.environ["TMPDIR"], "stop")

    def goes_on(_done: int) -> bool:
        time.sleep(0.001)
        return not stop.exists()

    kmod.run("modprobe -r null_blk", check=False)
    states, first, second, most, _ = fuzz.children(
        functools.partial(plug, 12, stop), functools.partial(fuzz.adder, "nullb0", goes_on, 0.003),
        functools.partial(fuzz.adder, "nullb1", goes_on, 0.0007), functools.partial(fuzz.dumper, goes_on),
        functools.partial(fuzz.storm, 300, 72, [1, 2, 3]),
    )  # fmt: skip
    stop.unlink()
    print(f"# added, refused, no disk: nullb0 {first}, nullb1 {second}; {most} targets at most", flush=True)
    kmod.equal("states", states, ["gone"] * 12)
    kmod.equal("targets of others were listed", most > 1, True)
    kmod.equal("added concurrently", min(first[0], second[0]) > 0, True)
    kmod.equal("found no disk", min(first[2], second[2]) > 0, True)
    with kmod.Client() as client:
        for left in client.ask("target-get", dump=True):
            client.delete(left)
        client.delete(client.add("sda"))
        kmod.equal("nothing is left", client.ask("target-get", dump=True), [])


if __name__ == "__main__":
    sys.exit(kmod.main())
