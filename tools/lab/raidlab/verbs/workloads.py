# SPDX-License-Identifier: GPL-2.0-or-later
"""The workloads of `raidctl lab ab --workload`: what each does, and which set it is in.

The work is fixed, so the time of the command is the figure: a kernel that fetches more than was asked for has a higher rate
and no gain. What `prepare` does is before the recording.
"""

from __future__ import annotations

from dataclasses import dataclass

from raidlab.base.failure import LabError

ALL = "all"
RECORDING = "lab.rtdb"
_DISK = "/dev/sda"
_MNT = "/run/lab/mnt"
_FILE = f"{_MNT}/file"
_MAKE = {
    "ext2": "mkfs.ext2 -q -F -E lazy_itable_init=0,nodiscard",
    "ext4": "mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0,nodiscard",
    "xfs": "mkfs.xfs -q -f -K",
}


@dataclass(frozen=True)
class Workload:
    """One line of shell, in a guest with the disk of the profile's first unit."""

    name: str
    does: str
    command: str
    prepare: str = "true"

    def words(self) -> list[str]:
        """The command of the guest, which leaves one recording."""
        cold = "sync && echo 3 >/proc/sys/vm/drop_caches && sleep 1"
        record = f"exec raidctl record --quiet --output {RECORDING} -- sh -c"
        return ["sh", "-c", f'{self.prepare} && {cold} && {record} "$1"', "sh", self.command]


def _fio(name: str, words: str) -> str:
    return f"fio --name={name} --filename={_DISK} --minimal --output=/dev/null {words}"


def _mounted(kind: str, more: str = "true") -> str:
    return f"mkdir -p {_MNT} && {_MAKE[kind]} {_DISK} && mount -t {kind} {_DISK} {_MNT} && {more}"


def _dd(skip_gib: int, mib: int = 64) -> str:
    return f"dd if={_DISK} of=/dev/null bs=64k count={mib * 16} skip={skip_gib * 16384} 2>/dev/null"


_WRITTEN = f"dd if=/dev/zero of={_FILE} bs=1M count=128 2>/dev/null"
_SMALL_FILES = f"for i in $(seq 400); do echo $i >{_MNT}/f$i; done; sync"

SETS: dict[str, tuple[Workload, ...]] = {
    "readahead": (
        Workload("read-4k", "one reader, 4 KiB a call", f"dd if={_DISK} of=/dev/null bs=4k count=24576"),
        Workload("read-1m", "one reader, 1 MiB a call", f"dd if={_DISK} of=/dev/null bs=1M count=128"),
        Workload("read-1m-ra8m", "the same with 8 MiB of readahead",
                 f"dd if={_DISK} of=/dev/null bs=1M count=256", f"blockdev --setra 16384 {_DISK}"),
        Workload("readers-2", "two readers, 20 GiB apart", f"{_dd(0)} & {_dd(20)} & wait"),
        Workload("readers-8", "eight readers", " ".join(f"{_dd(20 * n, 24)} &" for n in range(8)) + " wait"),
        Workload("strided", "16 KiB of every 256 KiB", _fio("strided", "--rw=read:240k --bs=16k --size=512m --io_size=32m")),
        Workload("random-16k", "16 KiB anywhere", _fio("random", "--rw=randread --bs=16k --size=64g --io_size=8m")),
        Workload("random-256k", "256 KiB anywhere", _fio("large", "--rw=randread --bs=256k --size=64g --io_size=64m")),
        Workload("mmap", "one reader through a mapping", _fio("mmap", "--rw=read --bs=4k --ioengine=mmap --size=64m")),
        Workload("backward", "64 KiB before the last",
                 _fio("backward", "--rw=read:-128k --bs=64k --offset=64m --size=64m --io_size=32m")),
    ),
    "queue": (
        Workload("direct-1", "O_DIRECT, one 64 KiB read at a time",
                 _fio("direct", "--direct=1 --rw=read --bs=64k --size=64m --ioengine=psync")),
        Workload("direct-32", "O_DIRECT, 32 sequential reads at once",
                 _fio("direct", "--direct=1 --rw=read --bs=64k --size=256m --ioengine=libaio --iodepth=32")),
        Workload("random-direct-1", "O_DIRECT, one 4 KiB read anywhere at a time",
                 _fio("random", "--direct=1 --rw=randread --bs=4k --size=64g --io_size=2m --ioengine=psync")),
        Workload("random-direct-32", "O_DIRECT, 32 of them at once",
                 _fio("random", "--direct=1 --rw=randread --bs=4k --size=64g --io_size=16m --ioengine=libaio --iodepth=32")),
        Workload("random-uring-32", "the same through io_uring",
                 _fio("random", "--direct=1 --rw=randread --bs=4k --size=64g --io_size=16m --ioengine=io_uring --iodepth=32")),
        Workload("mixed-direct", "O_DIRECT, 70 % reads, 16 at once",
                 _fio("mixed", "--direct=1 --rw=randrw --rwmixread=70 --bs=8k --size=64g --io_size=8m --ioengine=libaio"
                      " --iodepth=16")),
        Workload("write-1m", "one buffered writer, then fsync", f"dd if=/dev/zero of={_DISK} bs=1M count=256 conv=fsync"),
        Workload("read-beside-write", "a reader beside a buffered writer",
                 f"dd if=/dev/zero of={_DISK} bs=1M count=128 seek=40960 conv=fsync 2>/dev/null & {_dd(0, 32)}; wait"),
    ),
    "filesystem": (
        Workload("ext2-read", "a file of ext2", f"cat {_FILE} >/dev/null", _mounted("ext2", _WRITTEN)),
        Workload("ext4-write", "a file of ext4, then sync", f"{_WRITTEN}; sync", _mounted("ext4")),
        Workload("ext4-fsync", "4 KiB and fsync, 100 times",
                 f"fio --name=fsync --filename={_FILE} --rw=write --bs=4k --size=400k --fsync=1 --minimal --output=/dev/null",
                 _mounted("ext4")),
        Workload("ext4-small-files", "400 new files", _SMALL_FILES, _mounted("ext4")),
        Workload("xfs-read", "a file of XFS", f"cat {_FILE} >/dev/null", _mounted("xfs", _WRITTEN)),
        Workload("xfs-write", "a file of XFS, then sync", f"{_WRITTEN}; sync", _mounted("xfs")),
        Workload("xfs-small-files", "400 new files", _SMALL_FILES, _mounted("xfs")),
    ),
}  # fmt: skip


def of_set(name: str) -> tuple[Workload, ...]:
    """The workloads of one set, of all, or the one with that name. LabError if there is none."""
    every = tuple(workload for some in SETS.values() for workload in some)
    found = every if name == ALL else SETS.get(name) or tuple(one for one in every if one.name == name)
    if not found:
        known = ", ".join([*SETS, ALL])
        raise LabError(
            f"--workload {name}", "no such set or workload", f"Sets: {known}. Workloads: raidctl lab workloads"
        )
    return found
