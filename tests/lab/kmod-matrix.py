#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: --mem 112M --profile jbod-4 --store 900M
# lab-kernels: all
"""Ground truth: for each workload and kernel, raidtrace's counters are the controller's log and diskstats, exactly.

Whatever the controller can know is compared: numbers, bytes, the histograms of sizes, distances, depths at issue, places,
sums of distances, streams. Then the kernel's: requests, sectors, merges, flushes; and the filesystem's own where it has.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import random
import subprocess
import sys
import threading
from collections.abc import Iterator

import kmod_client as kmod
from kmod_disk import journal_of
from kmod_witness import Measured

DISK = "sda"
MOUNT = pathlib.Path("/run/lab/mnt")
MAKE = {
    "ext2": "mke2fs -q -F -t ext2 -b 1024 /dev/{} 190M",
    "ext3": "mke2fs -q -F -t ext3 -J size=8 /dev/{} 190M",
    "xfs": "mkfs.xfs -q -f -d size=310m,agcount=4 /dev/{}",
}


def ended(measured: Measured, direction: str, at_least: int) -> None:
    """Raise unless all witnesses agree, and something was moved."""
    measured.check()
    flow = measured.counters.flow
    kmod.equal(f"{direction} at least {at_least} bytes", flow[direction]["bytes-completed"] >= at_least, True)
    print(f"# {flow['read']['completed']} reads, {flow['write']['completed']} writes, depth "
          f"{flow['all']['in-flight-max']}, {len(measured.commands)} commands in the log", flush=True)  # fmt: skip


@contextlib.contextmanager
def mounted(disk: str, kind: str) -> Iterator[None]:
    """A fresh filesystem in the block."""
    kmod.run(MAKE[kind].format(disk))
    kmod.run(f"sync; mount -t {kind} /dev/{disk} {MOUNT}")
    try:
        yield
    finally:
        kmod.run(f"umount {MOUNT}")


def phases(measured: Measured) -> dict[str, kmod.Counters]:
    """Run bonnie++, with a snapshot at each phase that it prints: a phase ends where the next one begins."""
    words = {"Writing intelligently...": "write", "Rewriting...": "rewrite", "Reading intelligently...": "read"}
    command = ["bonnie++", "-d", str(MOUNT), "-s", "128M:65536", "-r", "64", "-n", "0", "-f", "-u", "root"]
    snapshots: dict[str, kmod.Counters] = {}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, bufsize=0) as process:
        assert process.stderr
        printed = ""
        while letter := process.stderr.read(1):
            printed += letter.decode("latin-1")
            if "read" in snapshots and "end" not in snapshots and printed.endswith("done"):
                snapshots["end"] = measured.client.counters(measured.target)
            for text, name in words.items():
                if printed.endswith(text):
                    if name == "read":  # as with a file that is larger than memory, also in its indirect blocks
                        pathlib.Path("/proc/sys/vm/drop_caches").write_text("3", encoding="ascii")
                    snapshots[name] = measured.client.counters(measured.target)
    kmod.equal("bonnie++", process.returncode, 0)
    kmod.equal("phases", list(snapshots), ["write", "rewrite", "read", "end"])
    return snapshots


def blamed(before: kmod.Counters, after: kmod.Counters) -> dict[tuple[str, str], int]:
    """Seeks between two snapshots, by the class that the head came from and the one that it went to."""
    was = before.bins("blame", "all")
    pairs = ((number, count - was.get(number, 0)) for number, count in after.bins("blame", "all").items())
    snapshots = {(kmod.CLASSES[n // 8], kmod.CLASSES[n % 8]): count for n, count in pairs if count}
    seeks = [counters.sum("seek") - counters.total("sequential") for counters in (before, after)]
    kmod.equal("seeks blamed", sum(snapshots.values()), seeks[1] - seeks[0])
    return snapshots


def share(pairs: dict[tuple[str, str], int], *names: str) -> float:
    """The part of the seeks that come from one of the classes or go to one."""
    return sum(count for pair, count in pairs.items() if set(names) & set(pair)) / sum(pairs.values())


def check_blame(kind: str, snapshots: dict[str, kmod.Counters]) -> None:
    """Check the seeks between classes in the phases of ext2 and ext3."""
    if kind == "ext2":
        pairs = blamed(snapshots["read"], snapshots["end"])
        queued = [snapshots[name].origin("queued").get("metadata", 0) for name in ("read", "end")]
        # one block in 256 of 1 KiB is an indirect one; it is read in order, and shares a request with adjacent data
        blocks = queued[1] - queued[0]
        kmod.equal(f"indirect blocks that a sequential read reads, {blocks}", blocks >= 512, True)
        kmod.equal(f"most seeks have to do with them: {pairs}", share(pairs, "metadata", "mixed") > 0.5, True)
    if kind == "ext3":
        pairs = blamed(snapshots["write"], snapshots["read"])
        to_and_fro = sum(count for pair, count in pairs.items() if "journal" in pair)
        kmod.equal(f"writing seeks to the journal, within it and back: {pairs}", to_and_fro >= 5, True)
    if kind in ("ext2", "ext3"):
        print(
            f"# {kind}: " + ", ".join(f"{a} to {b} {n}" for (a, b), n in sorted(pairs.items(), key=lambda one: -one[1]))
        )


def bonnie(kind: str) -> None:
    """Counted from before the mount to after the unmount, so that nothing is in flight at either end."""
    kmod.run(MAKE[kind].format(DISK))
    kmod.run("sync")
    written = 0
    with Measured(DISK) as measured:
        if kind == "ext3":
            measured.client.set_journal(measured.target, journal_of(DISK))
        kmod.run(f"mount -t {kind} /dev/{DISK} {MOUNT}")
        snapshots = phases(measured)
        kmod.run("sync")
        own = pathlib.Path(f"/sys/fs/ext4/{DISK}/session_write_kbytes")
        if own.exists():
            sectors = kmod.diskstats(DISK)["write_sectors"]
            written = int(own.read_text(encoding="ascii"))
            kmod.equal("KiB that the filesystem knows", sectors - measured.stat["write_sectors"] >= 2 * written, True)
        kmod.run(f"umount {MOUNT}")
    check_blame(kind, snapshots)
    ended(measured, "write", 2 * 128 << 20)
    kmod.equal("most was read from the disk", measured.counters.flow["read"]["bytes-completed"] > 160 << 20, True)
    if own.name and written:
        less = measured.counters.flow["write"]["bytes-completed"] // 1024 - written
        kmod.equal(f"KiB written since the mount: {written}, {less} at its begin and end", 0 <= less < 4096, True)


def test_bonnie_xfs() -> None:
    """bonnie++ on xfs"""
    bonnie("xfs")


def test_bonnie_ext2() -> None:
    """bonnie++ on ext2"""
    bonnie("ext2")


def test_bonnie_ext3() -> None:
    """bonnie++ on ext3, and what ext3 itself counts"""
    bonnie("ext3")


def threads(count: int, reads: int, share_written: float) -> None:
    """So many threads with 4 KiB direct I/O at random, side by side."""

    def work(number: int) -> None:
        disk = kmod.Disk(DISK)
        numbers = random.Random(number)
        for _ in range(reads):
            move = disk.write if numbers.random() < share_written else disk.read
            move(numbers.randrange(1 << 16) * 8, 8)
        disk.close()

    running = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


def test_random_reads() -> None:
    """4 KiB random direct reads by 16 threads"""
    with Measured(DISK) as measured:
        threads(16, 60, 0)
    ended(measured, "read", 16 * 60 * 4096)
    kmod.equal("in flight together", measured.counters.flow["read"]["in-flight-max"], 16)
    kmod.equal("all of one size", measured.counters.bins("size", "read"), {8: 960})


def test_mixed() -> None:
    """Readers and writers, sequential and random, buffered and direct"""
    with Measured(DISK) as measured:
        commands = [
            ["dd", f"if=/dev/{DISK}", "of=/dev/null", "bs=1M", "count=24", "status=none"],
            ["dd", "if=/dev/zero", f"of=/dev/{DISK}", "bs=64K", "count=200", "seek=4000", "conv=fsync", "status=none"],
            ["dd", "if=/dev/zero", f"of=/dev/{DISK}", "bs=256K", "count=60", "seek=2000", "oflag=direct",
             "status=none"],
            ["dd", f"if=/dev/{DISK}", "of=/dev/null", "bs=512K", "count=30", "skip=1500", "iflag=direct",
             "status=none"],
        ]  # fmt: skip
        running = [subprocess.Popen(command) for command in commands]
        threads(4, 40, 0.5)
        for process in running:
            kmod.equal("dd", process.wait(), 0)
        kmod.run("sync")
    ended(measured, "read", 24 << 20)


def test_software_raid() -> None:
    """md RAID 0 over two units: both members are the controller's log, the array's bytes are theirs"""
    members = ("sda", "sdb")
    kmod.run("modprobe raid0")
    kmod.run("mdadm --create /dev/md9 --run --force --assume-clean --metadata=1.2 --level=0 --chunk=64 "
             "--raid-devices=2 /dev/sda /dev/sdb")  # fmt: skip
    try:
        with contextlib.ExitStack() as stack:
            client = stack.enter_context(kmod.Client())
            array = client.add("md9")
            stack.callback(client.delete, array)
            before = kmod.diskstats("md9")
            both = [stack.enter_context(Measured(name)) for name in members]
            kmod.run("dd if=/dev/zero of=/dev/md9 bs=1M count=24 conv=fsync status=none")
            kmod.run("echo 3 > /proc/sys/vm/drop_caches; dd if=/dev/md9 of=/dev/null bs=1M count=24 status=none")
            above = client.counters(array)
            stat = kmod.diskstats("md9")
        for measured in both:
            ended(measured, "read", 12 << 20)
        kmod.equal("bio-based", array.get("bio-based"), True)
        for direction in ("read", "write"):
            sectors = stat[f"{direction}_sectors"] - before[f"{direction}_sectors"]
            kmod.equal(f"{direction} bytes of the array", above.flow[direction]["bytes-queued"], 512 * sectors)
            bios = stat[f"{direction}s"] - before[f"{direction}s"]
            kmod.equal(f"{direction} bios of the array", above.flow[direction]["queued"] + above.flow[direction]["splits"]
                       if "splits" in above.flow[direction] else bios, bios)  # fmt: skip
            members_bytes = sum(one.counters.flow[direction]["bytes-completed"] for one in both)
            kmod.equal(f"{direction} bytes of the members", members_bytes, above.flow[direction]["bytes-queued"])
    finally:
        kmod.run("mdadm --stop /dev/md9")
        kmod.run("mdadm --zero-superblock /dev/sda /dev/sdb", check=False)


if __name__ == "__main__":
    os.sync()
    sys.exit(kmod.main())
