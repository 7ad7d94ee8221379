#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""The owners of bios: classes, journal, blame, processes, and the time from queue to completion.
"""

import contextlib
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Iterator

import kmod_client as kmod
from kmod_disk import Disk, journal_of

MNT = pathlib.Path("/run/lab/mnt")


@contextlib.contextmanager
def mounted(make: str, kind: str, options: str = "defaults") -> Iterator[None]:
    """A new filesystem on sda, mounted for the length of a with, with cold caches."""
    kmod.run(f"{make} /dev/sda")
    kmod.run(f"mount -t {kind} -o {options} /dev/sda {MNT}")
    try:
        yield
    finally:
        kmod.run(f"umount {MNT}")


def cold() -> None:
    """Nothing in the caches."""
    kmod.run("sync; echo 3 >/proc/sys/vm/drop_caches")


def test_raw_disk() -> None:
    """dd of the disk is data and readahead; with O_DIRECT it is direct; what it writes back is data."""
    with kmod.counted("sda") as (client, target):
        cold()
        client.ask("target-reset", id=target["id"])
        kmod.run("dd if=/dev/sda of=/dev/null bs=64k count=16 status=none")
        origin = client.counters(target).origin("bytes-queued")
        kmod.equal("classes of a read", set(origin) <= {"data", "readahead"} and "readahead" in origin, True)
        kmod.run("dd if=/dev/zero of=/dev/sda bs=64k count=16 conv=fsync status=none")
        before = client.counters(target).origin("bytes-queued")
        kmod.equal("written", before["data"] - origin.get("data", 0), 1 << 20)
        kmod.run("dd if=/dev/sda of=/dev/null bs=4k count=16 iflag=direct status=none")
        kmod.run("dd if=/dev/zero of=/dev/sda bs=4k count=16 oflag=direct status=none")
        after = client.counters(target)
        kmod.equal("direct", after.origin("bytes-queued")["direct"], 2 * 16 * 4096)
        kmod.equal("direct issues", after.origin("bytes-issued")["direct"], 2 * 16 * 4096)
        kmod.equal("dd queued it", after.submitters("bytes-queued")["dd"] >= (1 << 20) + 2 * 16 * 4096, True)


def test_files_of_ext2() -> None:
    """A large file read on ext2: data is read ahead, indirect blocks are metadata."""
    with mounted("mke2fs -q -F -t ext2 -b 4096", "ext2"):
        kmod.run(f"dd if=/dev/zero of={MNT}/file bs=1M count=24 conv=fsync status=none")
        kmod.run(f"umount {MNT}; mount -t ext2 /dev/sda {MNT}")  # the last blocks used outlive a drop of the caches
        with kmod.counted("sda") as (client, target):
            kmod.run(f"dd if={MNT}/file of=/dev/null bs=1M status=none")
            counters = client.counters(target)
        origin = counters.origin("bytes-queued")
        kmod.equal("read ahead and on demand", origin["readahead"] + origin.get("data", 0), 24 << 20)
        # one indirect block per 1024 data blocks after the first 12, the double indirect one, and the inode's
        if origin["metadata"] < (6 + 1) * 4096:
            raise AssertionError(f"indirect blocks: {origin}")


def test_blame_is_by_pair() -> None:
    """Reads that take turns between two places: every seek is blamed on the class it left and the one it went to."""
    with kmod.counted("sda") as (client, target):
        far = 1 << 20
        client.set_journal(target, [(far, 1024)])
        disk = kmod.Disk("sda")
        for i in range(10):
            disk.read(16 * i, 8)
            disk.read(far + 16 * i, 8)
        disk.close()
        counters = client.counters(target)
        direct, journal = (kmod.CLASSES.index(name) for name in ("direct", "journal"))
        pairs = {
            direct * len(kmod.CLASSES) + journal: (10, far - 8),
            journal * len(kmod.CLASSES) + direct: (9, far - 8),
        }
        kmod.equal("seeks", counters.bins("blame", "all"), {pair: seeks for pair, (seeks, _) in pairs.items()})
        sectors = {pair: seeks * sectors for pair, (seeks, sectors) in pairs.items()}
        kmod.equal("distances", counters.bins("blame-distance", "all"), sectors)
        kmod.equal("seeks to", counters.origin("seeks"), {"direct": 9, "journal": 10})
        client.set_journal(target, [])


def test_several_classes_in_one_request() -> None:
    """A request merged of bios of two classes is mixed, one of bios of one class is of theirs; its bios stay what they are."""
    with kmod.counted("sda") as (client, target):
        client.set_journal(target, [(4112, 8), (8192, 32)])
        disk = kmod.Disk("sda")
        disk.read_together([4096, 4104, 4112, 4120])  # the third is in the journal
        disk.read_together([8192, 8200, 8208, 8216])  # all are
        disk.close()
        counters = client.counters(target)
        client.set_journal(target, [])
    flow = counters.flow["read"]
    kmod.equal("merged", [flow[n] for n in ("queued", "back-merges", "issued")], [8, 6, 2])
    kmod.equal("classes of the bios", counters.origin("queued"), {"direct": 3, "journal": 5})
    kmod.equal("classes of the requests", counters.origin("issued"), {"mixed": 1, "journal": 1})
    kmod.equal("their bytes", counters.origin("bytes-issued"), {"mixed": 16384, "journal": 16384})
    kmod.equal("the seek between them", counters.origin("seek-sectors"), {"journal": 8192 - 4128})


def test_journal_of_ext3() -> None:
    """Writes of ext3 within the sectors given as its journal are journal, and metadata are not; of ext4 too."""
    for make in ("mke2fs -q -F -t ext3", "mke2fs -q -F -t ext4"):
        journal_of_kind(f"{make} -b 4096 -J size=4")


def journal_of_kind(make: str) -> None:
    """Test the journal of one file system."""
    with mounted(make, "ext4"):
        ranges = journal_of("sda")
        kmod.equal("sectors of the journal", sum(length for _, length in ranges), 8192)
        with kmod.counted("sda") as (client, target):
            client.set_journal(target, ranges)
            for i in range(20):
                (MNT / f"file{i}").write_bytes(b"x" * 8192)
                os.sync()
            counters = client.counters(target)
            origin = counters.origin("bytes-queued")
            kmod.equal("classes", {"journal", "data"} <= set(origin), True)
            kmod.equal("data", origin["data"], 20 * 8192)


def test_data_in_the_journal() -> None:
    """ext3 with data=journal: what is written goes to the journal, and to its place as data when the journal is emptied."""
    with mounted("mke2fs -q -F -t ext3 -b 4096 -J size=4", "ext4", "data=journal"):
        with kmod.counted("sda") as (client, target):
            client.set_journal(target, journal_of("sda"))
            with open(MNT / "file", "wb") as file:
                for _ in range(40):
                    file.write(b"x" * 8192)
                    os.fsync(file.fileno())
            kmod.run(f"mount -o remount,ro {MNT}")  # empties the journal
            origin = client.counters(target).origin("bytes-queued")
            client.set_journal(target, [])
        kmod.equal("in the journal, data and what describes them", origin["journal"] > 40 * 8192, True)
        kmod.equal("at their place", origin["data"], 40 * 8192)
        kmod.equal("metadata at their place", origin["metadata"] > 0, True)


def test_log_of_xfs() -> None:
    """XFS: metadata and log carry a flag; direct I/O to a file is direct; a directory's blocks are metadata."""
    with mounted("mkfs.xfs -q -f -b size=4096", "xfs"):
        kmod.run(f"dd if=/dev/zero of={MNT}/file bs=64k count=16 oflag=direct status=none; sync")
        with kmod.counted("sda") as (client, target):
            kmod.run(f"dd if={MNT}/file of=/dev/null bs=64k count=16 iflag=direct status=none")
            (MNT / "dir").mkdir()
            os.sync()
            origin = client.counters(target).origin("bytes-queued")
            kmod.equal("direct", origin["direct"], 1 << 20)
            kmod.equal("metadata", origin.get("metadata", 0) > 0, True)
            kmod.equal("others", set(origin) - {"direct", "metadata", "other"}, set())


def test_swapped_memory() -> None:
    """Bios to swap and from swap have the class swap."""
    kmod.run("mkswap /dev/sda 65536 >/dev/null")
    kmod.run("swapon /dev/sda")
    try:
        with kmod.counted("sda") as (client, target):
            code = (  # pages that are being written are still there; read and clean, they go the second time
                "import mmap,ctypes,time\nm=mmap.mmap(-1,8<<20,flags=34);m[:]=b'x'*(8<<20)\n"  # private: kept in swap
                "at=ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(m)))\n"
                "for i in 1,2:\n  ctypes.CDLL(None).madvise(at,ctypes.c_size_t(8<<20),21)\n  time.sleep(2)\n"
                "  assert m[::4096]==b'x'*2048"
            )
            subprocess.run([sys.executable, "-c", code], check=True)
            counters = client.counters(target)
            origin = counters.origin("bytes-queued")
            kmod.equal("classes", set(origin) - {"other"}, {"swap"})
            for direction in ("write", "read"):  # out and in again
                kmod.equal(f"{direction}: 8 MiB", counters.flow[direction]["bytes-queued"] >= 7 << 20, True)
    finally:
        kmod.run("swapoff /dev/sda")


def test_time_from_queue() -> None:
    """Each bio or piece of one has a time from queue to completion; they are no shorter than those of requests."""
    with kmod.counted("sda") as (client, target):
        disk = kmod.Disk("sda")
        for i in range(20):
            disk.read(i * 4096, 1024)  # 512 KiB is more than a request of this disk holds
        disk.flush()
        disk.close()
        counters = client.counters(target)
        flow = counters.flow["read"]
        kmod.equal("splits", flow["splits"], 20 * 3)
        kmod.equal("pieces", sum(counters.bins("q2c", "read").values()), flow["queued"] + flow["splits"])
        kmod.equal("unknown", flow["q2c-unknown"], 0)
        kmod.equal("longer than d2c", flow["q2c-sum-ns"] >= flow["d2c-sum-ns"], True)
        # One read at a time, each of four pieces.
        elapsed = counters.reply["now-ns"] - counters.reply["since-ns"]
        kmod.equal("no longer than the reads took", flow["q2c-sum-ns"] <= 4 * elapsed, True)
        flush = counters.flow["flush"]
        kmod.equal("flushes", sum(counters.bins("q2c", "flush").values()), flush["queued"])


def test_bios_of_a_bio_based_disk() -> None:
    """A disk of device mapper has the time from queue to completion of each of its bios."""
    with kmod.mapped_disk(irqmode=2, completion_nsec=100000) as (_, name), kmod.counted(name) as (client, target):
        kmod.reads(name, [i * 128 for i in range(10)], 64)
        counters = client.counters(target)
    kmod.equal("bios", sum(counters.bins("q2c", "read").values()), counters.flow["read"]["queued"])
    kmod.equal("100 us each", counters.flow["read"]["q2c-sum-ns"] >= 10 * 100_000, True)
    kmod.equal("direct", counters.origin("queued"), {"direct": 10})
    kmod.equal("issued", counters.reply["origin"][0].get("issued"), None)


def test_more_processes_than_rows() -> None:
    """The last of 101 processes have rows, and the rest has the counts of the others; the sums stay exact."""
    with kmod.counted("sda") as (client, target):
        for i in range(100):
            kmod.run(f"dd if=/dev/sda of=/dev/null bs=4k count=1 skip={i} iflag=direct status=none")
            if i == 80:
                base = client.counters(target)
        kmod.reads("sda", [4096 + 8 * i for i in range(50)])
        counters = client.counters(target)
    rows = counters.reply["submitter"]
    kmod.equal("queued before", sum(one["queued"] for one in base.reply["submitter"]), 81)
    kmod.equal("queued", sum(one["queued"] for one in rows), 150)
    kmod.equal("bytes", sum(one["bytes-queued"] for one in rows), 150 * 4096)
    rest = [one for one in rows if "pid" not in one]
    kmod.equal("rows", 2 <= len(rows) <= 65 and len(rest) == 1 and rest[0]["index"] == 64, True)
    kmod.equal("one that came late", [one["queued"] for one in rows if one.get("pid") == os.getpid()], [50])


def test_memory_of_the_kernel() -> None:
    """Stripes and parity of md are in memory of nobody: they are other, and what goes straight to a disk is direct."""
    disks = kmod.null_blk(nr_devices=3, gb=1, memory_backed=1)
    members = " ".join(f"/dev/{disk}" for disk in disks)
    kmod.run("modprobe raid456; mdadm --create /dev/md9 --run --force --assume-clean --metadata=1.2 --level=5 --chunk=64 "
             f"--bitmap=none --raid-devices=3 {members}")  # fmt: skip
    try:
        with kmod.counted(disks[0]) as (client, target):
            kmod.run("dd if=/dev/urandom of=/dev/md9 bs=128k count=16 oflag=direct status=none")
            written = client.counters(target).origin("bytes-queued")
            kmod.run(f"dd if=/dev/{disks[0]} of=/dev/null bs=64k count=4 iflag=direct status=none")
            read = client.counters(target).origin("bytes-queued")
    finally:
        kmod.run("mdadm --stop /dev/md9")
    kmod.equal("stripes", written["other"] >= 16 * 65536 and "direct" not in written, True)
    kmod.equal("direct", read["direct"], 4 * 65536)


def test_zeroing() -> None:
    """The kernel's thread that zeroes tables of inodes is no process; one that requests zeroes is."""
    with kmod.counted("sda") as (client, target):
        kmod.run("mke2fs -q -F -t ext4 -E lazy_itable_init=1,lazy_journal_init=0 /dev/sda 2G")
        kmod.run("sync")
        client.ask("target-reset", id=target["id"])
        kmod.run(f"mount -t ext4 -o init_itable=0 /dev/sda {MNT}")
        try:
            for _ in range(300):
                time.sleep(0.1)
                origin = client.counters(target).origin("bytes-queued")
                if origin.get("other", 0) + origin.get("direct", 0) >= 1 << 20:
                    break
        finally:
            kmod.run(f"umount {MNT}")
        kmod.equal("by the kernel", (origin.get("other", 0) >= 1 << 20, origin.get("direct", 0)), (True, 0))
        client.ask("target-reset", id=target["id"])
        Disk("sda").zero_out(0, 2048)
        kmod.equal("by a process", client.counters(target).origin("bytes-queued"), {"direct": 1 << 20})


if __name__ == "__main__":
    sys.exit(kmod.main())
