# SPDX-License-Identifier: GPL-2.0-or-later
"""For ctl-destruction: uses of a disk."""

import glob
import os
import shlex
import time

from destruction_do import LVM, NAMES, Missing, table

ROWS, row = table()

OFFSET = 1 << 20  # of loop devices
THREAD = """
import ctypes, os, sys, threading, time
libc = ctypes.CDLL(None)
def hold():
    libc.unshare(0x400)  # CLONE_FILES: a table of its own
    os.open(sys.argv[1], os.O_RDWR)
    time.sleep(36000)
threading.Thread(target=hold).start()
time.sleep(1)
libc.syscall(60, 0)  # exit of the first thread alone
"""
MAPPING = """
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
handle = os.open(sys.argv[1], os.O_RDWR)
libc.mmap(None, 4096, 3, 1, handle, 0)
os.close(handle)
time.sleep(36000)
"""


# mounts --------------------------------------------------------------------------------------------------------------


@row("a mounted disk", r"A: it is mounted on \S+/m \(unmount it\)")
def _(do, a, b):
    do.file_system(a)


@row("a mounted partition", r"A: its partition A1 is mounted on \S+/m ")
def _(do, a, b):
    do.file_system(do.partition(a))


@row("mounted in another mount namespace", r"A: it is mounted on \S+/m in the mount namespace of \d+ \(sleep\)")
def _(do, a, b):
    do(f"mkfs.ext2 -q -F /dev/{a}")
    do.holder(f"unshare --mount --propagation private sh -c 'mount -o ro /dev/{a} m && exec sleep 36000'")


@row("the root of a mount namespace", r"A: it is mounted on / in the mount namespace of \d+ \(sh\)")
def _(do, a, b):
    do(f"mkfs.ext2 -q -F /dev/{a} && mkfifo wait", "rm wait")
    pivot = f"exec 3<>wait; mount /dev/{a} m && mkdir m/old && mount -o remount,ro m && cd m"
    pivot += " && pivot_root . old && read line <&3"
    do.holder(f"unshare --mount --propagation private sh -c {shlex.quote(pivot)}")


@row(
    "mounted in a mount namespace that no process is in",
    "A: in use, as the kernel reports, but it is open in no process",
)
def _(do, a, b):
    do(f"mkfs.ext2 -q -F /dev/{a}")
    do("mkdir -p ns && mount --bind ns ns && mount --make-private ns && touch ns/kept", "umount ns/kept; umount -l ns")
    do(f"unshare --mount=ns/kept --propagation private mount -o ro /dev/{a} m")


@row(
    "unmounted lazily, with a process still in it",
    r"A: in use, as the kernel reports; process \d+ \(sleep\) uses files on it",
)
def _(do, a, b):
    do(f"mkfs.ext2 -q -F /dev/{a} && mount -o ro /dev/{a} m")
    do.holder("sh -c 'cd m && exec sleep 36000'")
    do("umount -l m")


@row("a directory of it is mounted elsewhere, itself not any more", r"A: it is mounted on \S+/m2 ")
def _(do, a, b):
    do.file_system(a, inside="mkdir m/inner")
    do("mount --bind m/inner m2", "umount m2")
    do("umount m")


@row("mounted below another mount", r"A: it is mounted on \S+/m ")
def _(do, a, b):
    do.file_system(a)
    do("mount -t tmpfs none m", "umount m")


@row("mounted on a directory with a blank", r"A: it is mounted on \S+/a b ")
def _(do, a, b):
    do(f"mkfs.ext2 -q -F /dev/{a} && mkdir 'a b'", "rmdir 'a b'")
    do(f"mount -o ro /dev/{a} 'a b'", "umount 'a b'")


@row("two disks, the second of which is mounted", r"B: it is mounted on")
def _(do, a, b):
    do.file_system(b)
    with open("plan.toml", "a", encoding="ascii") as plan:
        plan.write('md_level = "raid0"\nmd_members = 2\nmd_chunk_kib = 64\n')
    return f"{a},{b}"


@row(
    "a mounted btrfs of two disks, of which the mount table names the other", r"B: it is a member of the mounted btrfs"
)
def _(do, a, b):
    do("command -v mkfs.btrfs", needs="mkfs.btrfs")
    do("modprobe btrfs", needs="btrfs")
    # the smallest that there is
    do(f"mkfs.btrfs -q -f --mixed -m single -d single /dev/{a} /dev/{b}", f"wipefs -a /dev/{a} /dev/{b}")
    do(f"mount -o ro,device=/dev/{a},device=/dev/{b} /dev/{a} m", "umount m")
    return b


# swap ----------------------------------------------------------------------------------------------------------------


@row("swap", r"A: it is swap \(swapoff /dev/A\)")
def _(do, a, b):
    do(f"mkswap /dev/{a}; swapon /dev/{a}", f"swapoff /dev/{a}")


@row("a partition is swap", r"A: its partition A1 is swap")
def _(do, a, b):
    part = do.partition(a)
    do(f"mkswap /dev/{part}; swapon /dev/{part}", f"swapoff /dev/{part}")


@row("a file of it is swap", r"A: it is mounted on")
def _(do, a, b):
    do(f"mkfs.ext2 -q -F /dev/{a} && mount /dev/{a} m", "umount m")
    do(
        "dd if=/dev/zero of=m/swap bs=1M count=4 status=none; chmod 600 m/swap; mkswap m/swap; swapon m/swap",
        "swapoff m/swap",
    )


# md, dm, LVM, crypt, multipath ---------------------------------------------------------------------------------------


@row("a member of a running md", r"A: it is a member of md5 \(md\)")
def _(do, a, b):
    do.md(a, b)


@row("a partition is a member of md", r"A: its partition A1 is a member of md5 \(md\)")
def _(do, a, b):
    do.md(do.partition(a), level=0)


@row("a member of an md that does not run", r"A: it is a member of md\S+ \(md\)")
def _(do, a, b):
    do.md(a, b)
    do("mdadm --quiet --stop /dev/md5")
    do(f"mdadm --quiet --incremental /dev/{a}", "mdadm --quiet --stop $(ls -d /dev/md[0-9]*)")


@row("a member of an md that is mounted", r"A: md5 above it is mounted on \S+/m ")
def _(do, a, b):
    do.file_system(do.md(a, b))


@row("the signature of a stopped md, not forced", "A: it holds the signature of a stopped md array", forced=False)
def _(do, a, b):
    do.md(a, b)
    do("mdadm --quiet --stop /dev/md5")


@row("below device mapper", r"A: it is a member of dm-0 \(device mapper\) \(dmsetup remove rt\)")
def _(do, a, b):
    do.dm(a)


@row("a partition below device mapper, mounted", r"A: dm-0 above it is mounted on \S+/m ")
def _(do, a, b):
    do.file_system(do.dm(do.partition(a)))


@row("below device mapper above md", r"A: md5 above it is a member of dm-0 \(device mapper\)")
def _(do, a, b):
    do.dm(do.md(a, b))


@row("a path of a multipath device", r"A: it is a member of dm-0 \(multipath\) \(name dm-0, which combines its paths")
def _(do, a, b):
    do.dm(a, "mpath-3600")


@row(
    "an open encrypted container, by its name in device mapper",
    r"A: it is a member of dm-0 \(an open encrypted container\)",
)
def _(do, a, b):
    do.dm(a, "CRYPT-LUKS2-0123-x")


@row("an active logical volume, by its name in device mapper", r"A: it is a member of dm-0 \(LVM\)")
def _(do, a, b):
    do.dm(a, "LVM-0123")


@row("a path of a real multipath device", r"A: it is a member of dm-0 \(multipath\)")
def _(do, a, b):
    do("modprobe -a dm-multipath dm-round-robin", needs="dm-multipath")
    sectors = do(f"cat /sys/block/{a}/size")
    table = f"0 {sectors} multipath 0 0 1 1 round-robin 0 1 1 /dev/{a} 1000"
    do(f"dmsetup create rt --noudevsync --uuid mpath-36000 --table '{table}'", "dmsetup remove --noudevsync rt")


@row("an open LUKS container", r"A: it is a member of dm-0 \(an open encrypted container\)")
def _(do, a, b):
    do.luks(a)
    do("modprobe dm-crypt && echo x | DM_DISABLE_UDEV=1 cryptsetup open --key-file - /dev/{a} rt".replace("{a}", a),
       "DM_DISABLE_UDEV=1 cryptsetup close rt", needs="dm-crypt")  # fmt: skip


@row("a closed LUKS container, not forced", r"A: it holds an encrypted container \(crypto_LUKS\)", forced=False)
def _(do, a, b):
    do.luks(a)


@row("an active volume group", r"A: it is a member of dm-0 \(LVM\)")
def _(do, a, b):
    do.lvm(a)
    do(f"{LVM} lvcreate -qq -y -Wn -Zn -n lv -l 100%FREE rt", f"{LVM} vgchange -qq -an rt")


@row("a volume group that is not active, not forced", "A: it holds a signature of LVM2_member", forced=False)
def _(do, a, b):
    do.lvm(a)


@row("two paths to one disk, without a multipath device", r"TWIN1: TWIN2 is another path to the same disk")
def _(do, a, b):
    driver = "/sys/bus/pseudo/drivers/scsi_debug"
    before = {*glob.glob("/sys/block/sd*")}
    do(
        f"echo 0 >{driver}/vpd_use_hostno && echo 2 >{driver}/add_host",
        f"echo -2 >{driver}/add_host; echo 1 >{driver}/vpd_use_hostno",
    )
    time.sleep(5)
    twins = sorted(path.rsplit("/", 1)[-1] for path in {*glob.glob("/sys/block/sd*")} - before)
    if len(twins) != 2:
        raise Missing("scsi_debug that adds hosts")
    NAMES.update(TWIN1=twins[0], TWIN2=twins[1])
    return twins[0]


# loop ----------------------------------------------------------------------------------------------------------------


@row("below a loop device", r"A: it is the backing device of loop\d+ \(losetup --detach")
def _(do, a, b):
    do.loop(f"/dev/{a}")


@row("below a loop device with an offset", r"A: it is the backing device of loop\d+ at byte 1048576")
def _(do, a, b):
    do.loop(f"/dev/{a}", OFFSET)


@row("below a mounted loop device with an offset", r"A: loop\d+ above it is mounted on \S+/m ")
def _(do, a, b):
    do.file_system(do.loop(f"/dev/{a}", OFFSET))


@row("a partition below a loop device", r"A: its partition A1 is the backing device of loop\d+")
def _(do, a, b):
    do.loop(f"/dev/{do.partition(a)}")


@row("below a loop device on a loop device", r"A: loop\d+ above it is the backing device of loop\d+")
def _(do, a, b):
    do.loop(f"/dev/{do.loop('/dev/' + a)}", OFFSET)


@row("a loop device on a file of it", r"A: it contains the file \S+/m/image of loop\d+")
def _(do, a, b):
    do.file_system(a, inside="truncate -s 4M m/image")
    do.loop("m/image")


@row("a loop device on a file of it, unmounted lazily", r"A: it contains the file \S+image\S* of loop\d+")
def _(do, a, b):
    do.file_system(a, inside="truncate -s 4M m/image")
    do.loop("m/image")
    do("umount -l m")


# processes -----------------------------------------------------------------------------------------------------------


@row("open for reading and writing", r"A: it is open for writing in process \d+ \(sleep\)")
def _(do, a, b):
    do.holder(f"sleep 36000 3<>/dev/{a}")


@row("open for writing", r"A: it is open for writing in process \d+ \(sleep\)")
def _(do, a, b):
    do.holder(f"sleep 36000 3>/dev/{a}")


@row("a partition is open", r"A: its partition A1 is open for writing in process \d+ \(sleep\)")
def _(do, a, b):
    do.holder(f"sleep 36000 3<>/dev/{do.partition(a)}")


@row("open in other namespaces", r"A: it is open for writing in process \d+ \(sleep\)")
def _(do, a, b):
    do("unshare --mount --pid --ipc --uts --fork true", needs="PID namespaces")
    do.holder(f"unshare --mount --pid --ipc --uts --fork sleep 36000 3<>/dev/{a}")


@row("open by a node of another name", r"A: it is open for writing in process \d+ \(sleep\)")
def _(do, a, b):
    number = os.stat(f"/dev/{a}").st_rdev
    do(f"mknod /dev/guest-disk b {os.major(number)} {os.minor(number)}", "rm /dev/guest-disk")
    do.holder("sleep 36000 3<>/dev/guest-disk")


@row("open by a node that was removed", r"A: it is open for writing in process \d+ \(sleep\)")
def _(do, a, b):
    number = os.stat(f"/dev/{a}").st_rdev
    do(f"mknod /dev/guest-disk b {os.major(number)} {os.minor(number)}")
    do.holder("sleep 36000 3<>/dev/guest-disk")
    do("rm /dev/guest-disk")


@row(
    "open in a thread of a process that has ended its first thread", r"A: it is open for writing in process \d+ \(\S+\)"
)
def _(do, a, b):
    do.holder(f"python3 -c {shlex.quote(THREAD)} /dev/{a}")
    time.sleep(3)


@row("mapped, its descriptor closed", r"A: it is open for writing in process \d+ \(python3\), as a mapping")
def _(do, a, b):
    do.holder(f"python3 -c {shlex.quote(MAPPING)} /dev/{a}")


@row("its SCSI generic device is open", r"A: its sg\d+ \(scsi_generic\) is open for writing in process \d+ \(sleep\)")
def _(do, a, b):
    devices = glob.glob(f"/sys/block/{a}/device/scsi_generic/*")
    if not devices:
        do("modprobe sg", needs="sg")
        devices = glob.glob(f"/sys/block/{a}/device/scsi_generic/*")
    do.holder(f"sleep 36000 3<>/dev/{os.path.basename(devices[0])}")


@row("an md above it is open", r"A: md5 above it is open for writing in process \d+ \(sleep\)")
def _(do, a, b):
    do.holder(f"sleep 36000 3<>/dev/{do.md(a, b)}")


@row("claimed by who only reads", r"A: in use, as the kernel reports; it is open in process \d+ \(python3\)")
def _(do, a, b):
    code = "import os, sys, time; os.open(sys.argv[1], os.O_RDONLY | os.O_EXCL); time.sleep(36000)"
    do.holder(f"python3 -c {shlex.quote(code)} /dev/{a}")


@row("the raw disk of a virtual machine", r"A: it is open for writing in process \d+ \(qemu-system-x86\)")
def _(do, a, b):
    if os.environ.get("LAB") != "vm":  # in simulated time it does not come up on 7.2
        raise Missing("QEMU in simulated time")
    do("command -v qemu-system-x86_64", needs="qemu-system-x86_64")
    disk = f"-blockdev driver=host_device,node-name=raw,filename=/dev/{a} -device virtio-blk-pci,drive=raw"
    do(f"qemu-system-x86_64 -S -daemonize -pidfile qemu.pid -display none -nodefaults -accel tcg -m 16 {disk}",
       "pid=$(cat qemu.pid) && kill $pid && while kill -0 $pid; do sleep 0.1; done")  # fmt: skip


@row("locked by flock, as partitioning tools do", r"A: another program has locked it \(flock\)")
def _(do, a, b):
    do.holder(f"flock /dev/{a} sleep 36000")


@row("served by nvmet", r"A: the kernel exports it as a storage target")
def _(do, a, b):
    do(
        "modprobe nvmet && { mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config; }",
        needs="nvmet",
    )
    where = "/sys/kernel/config/nvmet/subsystems/rt"
    do(
        f"mkdir {where} {where}/namespaces/1",
        f"echo 0 >{where}/namespaces/1/enable; rmdir {where}/namespaces/1 {where}",
    )
    do(f"echo -n /dev/{a} >{where}/namespaces/1/device_path && echo 1 >{where}/namespaces/1/enable")
