# SPDX-License-Identifier: GPL-2.0-or-later
"""Two simulated controllers in one virtual machine: two PCI functions for the distribution's driver, md RAID 0 on top."""

from __future__ import annotations

import truth
from raidlab.base.progress import Progress
from raidlab.vm import session
from results import DRIVER_3WARE, HARNESS_S, OUT, Results, array, captured, empty

PROFILE = "two-controllers"
DISKS = ("sda", "sdb")
MIB = 48
# raidctl looks at what the array holds before it records: the page cache has it by then.
# A read of one sector before and after marks in each controller's log where the recording begins and ends.
SCRIPT = f"""
set -e
for disk in {' '.join(DISKS)}; do
    function=$(readlink -f /sys/block/$disk/device | grep -o '/[0-9a-f:.]*/host' | cut -d/ -f2)
    echo "function $disk $function $(basename $(readlink -f /sys/bus/pci/devices/$function/driver))"
done
modprobe raid0
mdadm --create /dev/md0 --run --level=0 --raid-devices=2 --chunk=512 --homehost=lab {' '.join(f'/dev/{d}' for d in DISKS)}
mark() {{
    for disk in {' '.join(DISKS)}; do
        at=$(($(cat /sys/block/$disk/size) - $1))
        dd if=/dev/$disk of=/dev/null bs=512 count=1 skip=$at iflag=direct status=none
        echo "mark $disk $at"
    done
}}
head -c {MIB}M /dev/urandom >$TMPDIR/data
sync
head -c 64k /dev/md0 >/dev/null
mark 8
raidctl record -q -d md0 -o md.rtdb -- sh -ec '
    dd if=$TMPDIR/data of=/dev/md0 bs=1M conv=fsync status=none
    echo 3 >/proc/sys/vm/drop_caches
    head -c {MIB}M /dev/md0 | cmp - $TMPDIR/data && echo same'
sync
mark 16
raidctl export --csv md md.rtdb
mdadm --stop /dev/md0
"""


def striped(series: str, results: Results, progress: Progress) -> None:
    """Write and read over both; each controller's log is what raidtrace counted of its disk."""
    name = f"{series}: two controllers"
    out = empty(OUT / f"{series}-controllers")
    job = session.Session(series, ["sh", "-c", SCRIPT], out, array(PROFILE, progress), timeout_s=HARNESS_S * 3)
    ended, output, complained = captured(job, progress, out / "log")
    if ended.outcome.status:
        wrong = f"status {ended.outcome.status}: {ended.outcome.reason} {complained.strip()[-300:]}"
        results.check(f"{name}: the guest ended well", wrong)
        return
    words = [line.split() for line in output.splitlines()]
    functions = {line[1]: line[2:] for line in words if line[0] == "function"}
    places = {function[0] for function in functions.values()}
    drivers = {function[1] for function in functions.values()}
    wrong = "" if len(places) == 2 and drivers == {DRIVER_3WARE} else f"{functions}"
    results.check(f"{name}: {DRIVER_3WARE} drives two PCI functions, a disk behind each", wrong)
    results.check(f"{name}: md RAID 0 over both reads back what was written", "" if ["same"] in words else output)
    meta = {row["key"]: row["value"] for row in truth.rows(out / "md" / "meta.csv")}
    results.check(f"{name}: raidtrace's invariants hold", "" if meta.get("invariants") == "hold" else f"{meta}")
    written = []
    for number, disk in enumerate(DISKS):
        log = truth.rows(out / (f"ground-truth-{number}.csv" if number else "ground-truth.csv"))
        marks = [int(line[2]) for line in words if line[:2] == ["mark", disk]]
        try:
            commands = truth.between(log, marks[0], marks[1])
            differ = truth.differences(out / "md", commands, disk)
        except (ValueError, OSError, IndexError) as error:
            commands, differ = [], [str(error)]
        written.append(sum(int(row["sectors"]) for row in commands if row["name"] == "WRITE"))
        results.check(f"{name}: {disk} counts as its controller does", "; ".join(differ))
    half = MIB * 2048 // 2
    wrong = "" if all(sectors >= half for sectors in written) else f"{written} sectors, {half} are half"
    results.check(f"{name}: each controller was given its half", wrong)
