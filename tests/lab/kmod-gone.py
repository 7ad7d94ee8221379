#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""A target keeps nobody from removing its disk or unloading its driver, and its state is gone then."""

import contextlib
import os
import pathlib
import sys
import threading
import time

import kmod_client as kmod


def still_readable(client: kmod.Client, target: dict, reads: int, pause_s: float = 0.2) -> None:
    """Raise unless the counters stayed, and stand still: another snapshot has another number and nothing else of its own."""
    first = client.counters(target)
    time.sleep(pause_s)
    second = client.counters(target)
    kmod.equal("state", first.reply["state"], "gone")
    kmod.equal("reads", first.flow["read"]["completed"], reads)
    kmod.equal("the snapshot has its own number", second.reply["snapshot"], first.reply["snapshot"] + 1)
    kmod.equal("the counters stand still", second.reply | {"snapshot": first.reply["snapshot"]}, first.reply)
    kmod.equal("readahead of no disk", "readahead-sectors" in first.reply, False)
    described = client.ask("target-get", id=target["id"])[0]
    kmod.equal("still listed, by name", (described["disk"], described["state"]), (target["disk"], "gone"))


def read_some(name: str) -> int:
    """Read; how many reads diskstats counts since the disk appeared."""
    kmod.reads(name, [i * 1024 for i in range(20)])
    return 20


def test_unload_null_blk() -> None:
    """null_blk can be unloaded while its disk is a target"""
    name = kmod.null_blk(nr_devices=1, gb=1)[0]
    with kmod.Client() as client:
        target = client.add(name)
        reads = read_some(name)
        kmod.run("modprobe -r null_blk")
        still_readable(client, target, reads)
        client.delete(target)
        kmod.equal("targets left", client.ask("target-get", dump=True), [])


def test_streams() -> None:
    """Streams that were alive when the disk went stay so: no time passes for it"""
    name = kmod.null_blk(nr_devices=1, gb=1)[0]
    with kmod.counted(name, kmod.GROUPS) as (client, target):
        kmod.reads(name, range(0, 80, 8))
        kmod.run("modprobe -r null_blk")
        counters = client.counters(target).reply
        kmod.equal("alive", [counters[f"streams-alive{of}"] for of in ("", "-queued")], [1, 1])
        still_readable(client, target, 10, pause_s=1.5)


def unload(disk: str, command: str, limit_s: float) -> None:
    """Unload the driver of a disk that is a target; it must take less than `limit_s`."""
    with kmod.counted(disk) as (client, target):
        reads = read_some(disk)
        begin = time.monotonic()
        kmod.run(command)
        took = time.monotonic() - begin
        still_readable(client, target, reads)
    kmod.equal(f"unloading did not wait ({took:.2f} s)", took < limit_s, True)


def test_unload_scsi_debug() -> None:
    """scsi_debug can be unloaded at once while its disk is a target"""
    unload(kmod.scsi_debug(dev_size_mb=16, delay=0), "modprobe -r scsi_debug", 1)


def test_delete_in_flight() -> None:
    """A SCSI disk can be deleted with requests of a target in flight"""
    name = kmod.scsi_debug(dev_size_mb=16, ndelay=500_000_000)
    with kmod.counted(name) as (client, target):
        disks = [kmod.Disk(name) for _ in range(5)]

        def read(disk: kmod.Disk, sector: int) -> None:
            with contextlib.suppress(OSError):
                disk.read(sector, 8)

        threads = [threading.Thread(target=read, args=(disk, 64 * i)) for i, disk in enumerate(disks)]
        for thread in threads:
            thread.start()
        kmod.wait_for("reads in flight", lambda: kmod.diskstats(name)["in_flight"] == 5)
        pathlib.Path(f"/sys/block/{name}/device/delete").write_text("1", encoding="ascii")
        for thread in threads:
            thread.join()
        counters = client.counters(target)
        for disk in disks:
            disk.close()
    flow = counters.flow["read"]
    kmod.equal("every read is accounted for", flow["issued"], flow["completed"] + flow["in-flight"])
    kmod.equal("reads", flow["issued"], 5)
    kmod.run("modprobe -r scsi_debug")


def test_same_name_again() -> None:
    """A disk that comes back under its old name is another disk: the old target does not count it"""
    with kmod.Client() as client:
        name = kmod.null_blk(nr_devices=1, gb=1)[0]
        old = client.add(name)
        reads = read_some(name)
        kmod.equal("name", kmod.null_blk(nr_devices=1, gb=1)[0], name)
        new = client.add(name)
        read_some(name)
        read_some(name)
        still_readable(client, old, reads)
        counters = client.counters(new)
        kmod.equal("reads of the new one", counters.flow["read"]["completed"], 2 * reads)
        kmod.equal("state of the new one", counters.reply["state"], "active")
        client.delete(old)
        client.delete(new)
    kmod.run("modprobe -r null_blk")


def test_unbind_and_bind() -> None:
    """The same SCSI device with a new disk, its queue kept, is not counted by the old target"""
    name = kmod.scsi_debug(dev_size_mb=16, delay=0)
    device = pathlib.Path(f"/sys/block/{name}/device").resolve()
    with kmod.counted(name) as (client, old):
        reads = read_some(name)
        (device / "driver/unbind").write_text(device.name, encoding="ascii")
        pathlib.Path("/sys/bus/scsi/drivers/sd/bind").write_text(device.name, encoding="ascii")
        kmod.wait_for("the disk again", lambda: (device / "block").exists() and bool(os.listdir(device / "block")))
        again = os.listdir(device / "block")[0]
        kmod.wait_for("its node", lambda: os.path.exists(f"/dev/{again}"))
        time.sleep(1)
        read_some(again)
        still_readable(client, old, reads)
    kmod.run("modprobe -r scsi_debug")


def test_unload_with_targets() -> None:
    """raidtrace can be unloaded with targets, active and gone"""
    for _ in range(5):
        names = kmod.null_blk(nr_devices=3, gb=1)
        with kmod.Client() as client:
            for name in names:
                client.add(name)
        stop = threading.Event()
        # A millisecond of rest: without SMP, 7.2 goes on with the grace periods that taking probes back waits for at timer
        # ticks only, 0.2 s for three targets, and the clock of the lab stands still while a thread never rests.
        thread = threading.Thread(target=lambda: [read_some(names[0]) for _ in iter(lambda: stop.wait(0.001), True)])
        thread.start()
        kmod.run("rmmod raidtrace")
        stop.set()
        thread.join()
        kmod.run(f"insmod {os.environ['RAIDTRACE_KO']}")
        with kmod.Client() as client:
            kmod.equal("targets of a fresh module", client.ask("target-get", dump=True), [])
            for name in names:
                client.add(name)
        kmod.run("modprobe -r null_blk")
        kmod.run(f"rmmod raidtrace && insmod {os.environ['RAIDTRACE_KO']}")


def test_unload_3ware() -> None:
    """3w-9xxx can be unloaded at once while its disk is a target"""
    unload("sda", "rmmod 3w_9xxx", 5)


if __name__ == "__main__":
    sys.exit(kmod.main())
