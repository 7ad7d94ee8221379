#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: 6.1:storage
# lab-long: builds a kernel of its own, five minutes of processor
"""The variant storage: control groups limit memory and I/O, an encrypted disk holds no plain text, file systems mount."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from lab_checks import LAB, TOP, check, finish, lab  # noqa: E402

sys.path.insert(0, str(LAB.parent))
from raidlab.verbs import workloads  # noqa: E402

KERNEL = "6.1"
IN_GROUP = """
mkdir -p /run/lab/tmp/cg && mount -t cgroup2 cgroup2 /run/lab/tmp/cg && cd /run/lab/tmp/cg || exit
cat cgroup.controllers; echo '+memory +io +pids' >cgroup.subtree_control; mkdir slow
"""
RATE = "dd if=/dev/sda of=/dev/null bs=64k count=160 iflag=direct 2>&1 | tail -1"
THROTTLED = f"""{IN_GROUP}
echo "$(cat /sys/block/sda/dev) rbps=1048576" >slow/io.max && (echo 0 >slow/cgroup.procs; exec sh -c '{RATE}')
{RATE}
grep -h rbytes slow/io.stat
"""
MEMORY = f"""{IN_GROUP}
echo 8M >slow/memory.max && (echo 0 >slow/cgroup.procs; dd if=/dev/sda of=/dev/null bs=1M count=64 2>/dev/null)
cat slow/memory.peak 2>/dev/null || cat slow/memory.current
"""
WEIGHT = f"""{IN_GROUP}
modprobe bfq && echo bfq >/sys/block/sda/queue/scheduler && echo 500 >slow/io.bfq.weight && cat slow/io.bfq.weight
echo "$(cat /sys/block/sda/dev) enable=1" >io.cost.qos && cat io.cost.qos
"""
ENCRYPTED = """
modprobe dm-crypt && key=$(printf '%064d' 7) || exit
dmsetup create secret --table "0 65536 crypt aes-xts-plain64 $key 0 /dev/sda 0" || exit
disk=/dev/$(basename $(ls -d /sys/block/dm-*))
yes 'plain text' | dd of=$disk bs=1M count=4 iflag=fullblock oflag=direct 2>/dev/null
for from in $disk /dev/sda; do dd if=$from bs=1M count=4 iflag=direct 2>/dev/null | grep -c 'plain text'; done; true
"""
MOUNTED = """
mkfs.f2fs -q /dev/sda 400000 >/dev/null && modprobe f2fs && mount -t f2fs /dev/sda /run/lab/mnt &&
dd if=/dev/zero of=/run/lab/mnt/f bs=1M count=20 conv=fsync 2>/dev/null && umount /run/lab/mnt && echo f2fs
modprobe btrfs && grep -w btrfs /proc/filesystems
"""
OWNERS = f"""{IN_GROUP}
mkdir reader writer
mke2fs -q -t ext4 -E lazy_itable_init=0 /dev/sda 4194304k && mount /dev/sda /run/lab/mnt || exit
cat >/run/lab/tmp/load <<'EOF'
sh -c 'echo 0 >reader/cgroup.procs; exec dd if=/dev/sda of=/dev/null bs=64k count=320 skip=20000 iflag=direct' 2>/dev/null
sh -c 'echo 0 >writer/cgroup.procs; exec dd if=/dev/zero of=/run/lab/mnt/f bs=1M count=20' 2>/dev/null
sync
EOF
raidctl record -q -o /run/lab/out/owners.rtdb --disk sda -- sh /run/lab/tmp/load
cat reader/io.stat writer/io.stat
"""

# The command takes away the limit that was there, and another cgroup gets one.
LIMITS = f"""{IN_GROUP}
mkdir 'b c'; disk=$(cat /sys/block/sda/dev)
echo "$disk rbps=1048576" >slow/io.max
raidctl record -q -o /run/lab/out/limits.rtdb --disk sda -- sh -c "
sleep 2.5; echo '$disk rbps=max' >slow/io.max; echo '$disk wiops=7' >'b c/io.max'; sleep 2.5; rmdir 'b c'"
"""

# In a cgroup that lets 2 MiB/s through: the experiment's verdict; then one that is killed while the limit is off.
WHY = """
mount -t cgroup2 cgroup2 /sys/fs/cgroup && cd /run/lab/out && modprobe scsi_debug dev_size_mb=64 || exit
sleep 1; for at in /sys/block/sd*; do grep -q scsi_debug $at/device/model && disk=${at##*/}; done
echo +io >/sys/fs/cgroup/cgroup.subtree_control; mkdir /sys/fs/cgroup/slow; limit=/sys/fs/cgroup/slow/io.max
echo "$(cat /sys/block/$disk/dev) rbps=2097152" >$limit; echo 0 >/sys/fs/cgroup/slow/cgroup.procs; cat $limit
read="dd if=/dev/$disk of=/dev/null bs=64k count=64 iflag=direct"
raidctl why --quiet --disk $disk --runs 20 --out w -- $read | head -1; cat $limit
raidctl why --quiet --disk $disk --runs 20 --out w -- $read >/dev/null 2>&1 & why=$!
while [ "$(cat $limit)" ]; do sleep 0.01; done; kill -9 $why; wait
echo "left '$(cat $limit)'"; raidctl why restore >/dev/null; cat $limit
"""


def owners(directory: Path) -> None:
    """Writeback belongs to the owner of the data, not to the kernel thread; bytes are those of io.stat."""
    lines = ran(directory, "owners", OWNERS)
    stat = [sum(int(n) for n in re.findall(r"[rw]bytes=(\d+)", line)) for line in lines[-2:]]
    db = sqlite3.connect(next(directory.glob("owners/**/owners.rtdb")))
    of = "SELECT cgroup, sum(bytes_queued) FROM submitter GROUP BY cgroup"
    bytes_of = dict(db.execute(of).fetchall())
    check(
        "bytes of each cgroup are those of io.stat",
        [bytes_of["/reader"], bytes_of["/writer"]] == stat,
        (bytes_of, stat),
    )
    threads = dict(db.execute(of.replace("GROUP", "WHERE comm LIKE 'kworker%' GROUP")).fetchall())
    check("a kernel thread wrote for the writer", threads.get("/writer", 0) >= 20 << 20, threads)


def limits(directory: Path) -> None:
    """The limits of cgroups are a setting of the disk, and so is each change."""
    ran(directory, "limits", LIMITS)
    db = sqlite3.connect(next(directory.glob("limits/**/limits.rtdb")))
    rows = db.execute("SELECT time_ns, value FROM setting WHERE name = 'io.max' ORDER BY time_ns").fetchall()
    begin, end = db.execute("SELECT min(start_ns), max(end_ns) FROM phase").fetchone()
    values = ["/slow rbps=1048576 wbps=max riops=max wiops=max", "/b c rbps=max wbps=max riops=max wiops=7", ""]
    check("io.max is kept with each change", [value for _, value in rows] == values, rows)
    late = [(at - begin) / 1e9 for at, _ in rows]
    check("a change is recorded within a second and a half", late[0] == 0 and 2.5 <= late[1] <= 4, late)
    check("a removal is recorded where the phase ends", rows[-1][0] == end, (rows, end))


def why(directory: Path) -> None:
    """The experiment takes the limit away, names it, and puts it back, also after a kill."""
    before, verdict, after, killed, restored = ran(directory, "why", WHY)[-5:]
    check("why names the limit", verdict.startswith("Limit of its cgroup: with io.max off it takes"), verdict)
    check("the limit is as before", after == before and "rbps=2097152" in before, (before, after))
    check("killed without it, restore puts it back", (killed, restored) == ("left ''", before), (killed, restored))


def ran(directory: Path, name: str, script: str, memory: str = "96M") -> list[str]:
    done = lab("run", "-q", "--kernel", KERNEL, "--variant", "storage", "--mem", memory, "--out", str(directory / name), "--",
               "sh", "-c", script, LAB_ROOT="")  # fmt: skip
    check(f"{name} runs", done.returncode == 0, done)
    return done.stdout.splitlines()


def judged(directory: Path) -> None:
    """The workloads of ab that need what this kernel has, or a module, move their data."""
    for one in workloads.read(workloads.OWN):
        if not {"BTRFS_FS", "F2FS_FS", "JFS_FS", "DM_CRYPT", "BLK_DEV_THROTTLING", "BFQ_GROUP_IOSCHED"} & set(
            one.needs
        ):
            continue
        out = directory / one.name
        words = ("run", "-q", "--kernel", KERNEL, "--variant", "storage", "--out", str(out), "--", *one.words())
        done = lab(*words, LAB_ROOT="")
        report = [TOP / "tools/bin/raidctl", "report", "--json", out / workloads.RECORDING]
        report_text = (
            subprocess.run(report, capture_output=True, text=True, check=False).stdout if done.returncode == 0 else ""
        )
        spans = json.loads(report_text)["spans"] if report_text else []
        moved = sum(direction.get("bytes") or 0 for span in spans for direction in span["directions"].values())
        check(f"{one.name}: {one.does}", moved >= 64 << 20, (done, moved))


def rate(line: str) -> float:
    """MB/s as dd prints them."""
    number, unit = line.split(", ")[-1].split()
    return float(number) * {"kB/s": 1e-3, "MB/s": 1.0, "GB/s": 1e3}[unit]


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="ls-", dir="/var/tmp") as name:
        directory = Path(name)
        lines = ran(directory, "io.max", THROTTLED)
        check("memory and I/O can be controlled", {"io", "memory", "pids"} <= set(lines[0].split()), lines)
        check("io.max holds: 1 MiB/s", 0.9 <= rate(lines[1]) <= 1.2, lines)
        check("outside of the group it is many times that", rate(lines[2]) > 10 * rate(lines[1]), lines)
        check("io.stat has the bytes", "rbytes=10485760" in lines[3], lines)
        peak = int(ran(directory, "memory.max", MEMORY)[-1])
        check("memory.max holds: 8 MiB", 4 << 20 <= peak <= 8 << 20, peak)
        lines = ran(directory, "io.weight", WEIGHT)
        check("weights by BFQ, and a cost model", lines[1] == "default 500" and "enable=1" in lines[2], lines)
        owners(directory)
        limits(directory)
        why(directory)
        lines = ran(directory, "dm-crypt", ENCRYPTED)
        check(
            "what is read through dm-crypt is plain, what lies on the disk is not",
            int(lines[0]) > 300000 and lines[1] == "0",
            lines,
        )
        lines = ran(directory, "file systems", MOUNTED)
        check("f2fs and btrfs", lines[0] == "f2fs" and lines[1].split() == ["btrfs"], lines)
        judged(directory)
    finish()


main()
