# SPDX-License-Identifier: GPL-2.0-or-later
"""For ctl-destruction: words that name no disk to be overwritten, states of a disk, and signatures on it."""

import os
import struct
import time

from destruction_do import Missing, table

ROWS, row = table()


# names ---------------------------------------------------------------------------------------------------------------


@row("an ordinary file that is named as the disk, in the current directory", "is not a disk: give a name such as sdb")
def _(do, a, b):
    do(f"truncate -s 16M {a}", f"rm {a}")
    return f"./{a}"


@row("an ordinary file that is named as the disk, by its whole path", "is an ordinary file, not a disk")
def _(do, a, b):
    do(f"truncate -s 16M {a}", f"rm {a}")
    return f"{os.getcwd()}/{a}"


@row("a path that is not there and ends as the disk", "is not a disk: give a name such as sdb")
def _(do, a, b):
    return f"../nonexist/{a}"


@row("a whole path that is not there and ends as the disk", "no such disk")
def _(do, a, b):
    return f"/nonexist/{a}"


@row("a link to an ordinary file, in /dev", "is an ordinary file, not a disk")
def _(do, a, b):
    do(f"truncate -s 16M {a}", f"rm {a}")
    do(f"ln -s {os.getcwd()}/{a} /dev/linked", "rm /dev/linked")
    return "linked"


@row("a link in /dev to a disk that is mounted", "A: it is mounted on")
def _(do, a, b):
    do.file_system(a)
    do(f"mkdir -p /dev/disk/by-rt && ln -s ../../{a} /dev/disk/by-rt/one", "rm -r /dev/disk/by-rt")
    return "/dev/disk/by-rt/one"


@row("a link that leads nowhere", "no such disk")
def _(do, a, b):
    do(f"ln -s /nonexist/{a} dangling", "rm dangling")
    return f"{os.getcwd()}/dangling"


@row("a directory", "is a directory, not a disk")
def _(do, a, b):
    return "/dev/"


@row("a pipe", "is a pipe, not a disk")
def _(do, a, b):
    do(f"mkfifo {a}", f"rm {a}")
    return f"{os.getcwd()}/{a}"


@row("a character device with the disk's number", "is a character device, not a disk")
def _(do, a, b):
    number = os.stat(f"/dev/{a}").st_rdev
    do(f"mknod /dev/chr c {os.major(number)} {os.minor(number)}", "rm /dev/chr")
    return "chr"


@row("a block device that the kernel does not have", "names disk 239:77, which the kernel does not have")
def _(do, a, b):
    do("mknod /dev/none b 239 77", "rm /dev/none")
    return "none"


@row("a disk that is not there", "no such disk")
def _(do, a, b):
    return "sdzz"


@row("a node that has the name of one disk and the number of another, which is mounted", "B: it is mounted on")
def _(do, a, b):
    do.file_system(b)
    number = os.stat(f"/dev/{b}").st_rdev
    do(f"mknod /dev/shm-{a} b {os.major(number)} {os.minor(number)}", f"rm /dev/shm-{a}")
    return f"/dev/shm-{a}"


@row("a file lies over the disk's name in /dev", "/dev/A is not this disk, but another file of the same name")
def _(do, a, b):
    number = os.stat(f"/dev/{a}").st_rdev
    do(f"mknod /dev/true b {os.major(number)} {os.minor(number)}", "rm /dev/true")
    do(f"truncate -s 16M over; mount --bind over /dev/{a}", f"umount /dev/{a}; rm over")
    return "true"


@row("a partition", "A1 is a partition, but a sweep needs a whole disk; name its disk: A")
def _(do, a, b):
    return do.partition(a)


@row("a disk that is not named", "this plan overwrites A; if this is intended, name it with --destroy-data")
def _(do, a, b):
    return ["--disk", a]


@row("mkfs.xfs of the plan puts its log on another disk", "could name a disk or file")
def _(do, a, b):
    with open("plan.toml", "a", encoding="ascii") as plan:
        plan.write(f'mkfs_options = "--unsupported -l logdev=/dev/{b},size=4096b"\n')
    do("sed -i s/ext2/xfs/ plan.toml")


@row("mkfs.ext4 of the plan puts its journal on another disk", "could name a disk or file")
def _(do, a, b):
    do(f"mke2fs -q -F -O journal_dev -b 4096 /dev/{b}")
    with open("plan.toml", "a", encoding="ascii") as plan:
        plan.write(f'mkfs_options = "-b 4096 -J device=/dev/{b}"\n')
    do("sed -i s/ext2/ext4/ plan.toml")


# state and signatures ------------------------------------------------------------------------------------------------


@row("read-only", r"A: it is read-only")
def _(do, a, b):
    do(f"blockdev --setro /dev/{a}", f"blockdev --setrw /dev/{a}")


@row("suspended, as while it is being resized", r"dm-0: it is suspended, for example during a resize")
def _(do, a, b):
    name = do.dm(a)
    do("dmsetup suspend --noudevsync rt", "dmsetup resume --noudevsync rt")
    return name


@row("an md that is at work", r"md5: md is working on it \(\S+\)")
def _(do, a, b):
    name = do.md(a, b)
    do(f"echo 1 >/sys/block/{name}/md/sync_speed_max; echo 1 >/sys/block/{name}/md/sync_speed_min; "
       f"echo check >/sys/block/{name}/md/sync_action", f"echo idle >/sys/block/{name}/md/sync_action")  # fmt: skip
    time.sleep(10)  # it writes down that it has begun
    return name


# where a signature lies and its bytes, as libblkid looks for them
MAGIC = {
    "crypto_LUKS": (0, b"LUKS\xba\xbe\0\1", r"A: it holds an encrypted container \(crypto_LUKS\)"),
    "btrfs": (0x10040, b"_BHRfS_M", "A: it holds a signature of btrfs"),
    "LVM2_member": (512, b"LABELONE" + bytes(16) + b"LVM2 001", "A: it holds a signature of LVM2_member"),
    "swsuspend": (4086, b"S1SUSPEND\0", "A: it holds a signature of swsuspend"),
}


def _signed(kind: str) -> None:
    offset, magic, pattern = MAGIC[kind]

    @row(f"the signature of {kind}, not forced", pattern, forced=False)
    def _(do, a, b):
        with open(f"/dev/{a}", "r+b", buffering=0) as disk:
            disk.write(bytes(offset).ljust((offset + len(magic) + 511) // 512 * 512, b"\0"))
            os.pwrite(disk.fileno(), (bytes(offset % 512) + magic).ljust(1024, b"\0"), offset // 512 * 512)
        if kind == "LVM2_member":
            _lvm_label(a)
        if kind not in do(f"wipefs --no-act --output TYPE --noheadings /dev/{a}"):
            raise Missing(f"libblkid that finds these bytes of {kind}")


def _lvm_label(disk: str) -> None:
    """Its label carries its own sector, its offset and a checksum."""
    sector = bytearray(512)
    sector[:8] = b"LABELONE"
    sector[8:16] = (1).to_bytes(8, "little")
    sector[20:24] = (32).to_bytes(4, "little")
    sector[24:32] = b"LVM2 001"
    sector[32:64] = b"0123456789abcdefghijklmnopqrstuv"
    crc = 0xF597A6CF
    table = [0, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
             0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C]  # fmt: skip
    for byte in sector[20:]:
        crc ^= byte
        crc = (crc >> 4) ^ table[crc & 0xF]
        crc = (crc >> 4) ^ table[crc & 0xF]
    sector[16:20] = crc.to_bytes(4, "little")
    with open(f"/dev/{disk}", "r+b", buffering=0) as file:
        os.pwrite(file.fileno(), bytes(sector), 512)


for _kind in MAGIC:
    _signed(_kind)


@row("the signature of zfs_member, not forced", "dm-0: it holds a signature of zfs_member", forced=False)
def _(do, a, b):
    with open(f"/dev/{a}", "r+b", buffering=0) as disk:
        for block in range(8):  # uberblocks of the first label: their magic and a version
            os.pwrite(disk.fileno(), struct.pack("<QQ", 0x00BAB10C, 5000).ljust(1024, b"\0"), (128 + block) << 10)
    sectors = int(do(f"cat /sys/block/{a}/size"))
    # libblkid looks for it on 64 MiB and more alone: one disk three times
    table = "".join(f"{sectors * part} {sectors} linear /dev/{a} 0\n" for part in range(3))
    do(f"dmsetup create rt --noudevsync <<'END'\n{table}END", "dmsetup remove --noudevsync rt")
    if "zfs_member" not in do("wipefs --no-act --output TYPE --noheadings /dev/dm-0"):
        raise Missing("libblkid that finds these bytes of zfs_member")
    return "dm-0"
