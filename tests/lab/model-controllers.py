#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""Several controllers: md RAID 0 over two of them keeps every byte, each log is what raidtrace counted of its disk,
two runs leave the same logs; faults strike the controller they are meant for; as many units as there can be."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True
from lab_checks import KERNELS, check, finish, lab, offered  # noqa: E402

GUEST = Path(__file__).resolve().parent / "model_controllers_guest.py"
LOGS = ("ground-truth.csv", "ground-truth-1.csv")


def run(out: Path, kernel: str, *settings: str) -> dict[str, Any]:
    """What the guest reports, empty if the run failed."""
    words = [word for setting in settings for word in ("--set", setting)]
    options = ("--kernel", kernel, "--profile", "two-controllers", "--out", str(out), *words)
    done = lab("run", "-q", *options, "--", "python3", str(GUEST))
    check(f"{kernel}: the run succeeds {' '.join(settings)}", done.returncode == 0, done.stderr + done.stdout)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def striped(kernel: str, top: Path) -> None:
    first = run(top / f"{kernel}-first", kernel)
    again = run(top / f"{kernel}-again", kernel)
    if not first or not again:
        return
    check(f"{kernel}: what was written over both is read back", first["written"] == first["read"], first)
    for disk in ("sda", "sdb"):
        counted = first[disk]
        check(f"{kernel}: {disk}: raidtrace's invariants hold", not counted["violations"], counted["violations"])
        check(f"{kernel}: {disk}: its controller was given what raidtrace counted",
              counted["raidtrace"] == counted["controller"], counted)  # fmt: skip
    share = [first[disk]["controller"]["write bytes"] for disk in ("sda", "sdb")]
    check(f"{kernel}: each controller has half", abs(share[0] - share[1]) <= 512 << 10 and min(share) > 20 << 20, share)
    check(f"{kernel}: they are two PCI functions", first["sda"]["pci"] != first["sdb"]["pci"], first["sda"]["pci"])
    for name in LOGS:
        logs = [(top / f"{kernel}-{which}" / name).read_bytes() for which in ("first", "again")]
        check(f"{kernel}: two runs leave the same {name}", logs[0] == logs[1] and len(logs[0]) > 10000)
    check(f"{kernel}: and count the same", first == again)


def faulty(top: Path) -> None:
    """A command that the second controller loses is no business of the first."""
    out = top / "faulty"
    result = run(out, "6.1", "fault.controller=1", "fault.lose_command=60")
    if not result:
        return
    lost = [(out / name).read_text(encoding="ascii").count(",lost") for name in LOGS]
    check("a fault strikes the controller it is meant for", lost == [0, 1], lost)
    check("only that one is reset", result["resets"] == [0, 1], result["resets"])
    check("no byte is wrong after it", result["written"] == result["read"])
    counted = result["sdb"]
    check("its disk's invariants hold", not counted["violations"], counted["violations"])
    gone = counted["raidtrace"]["gone"], counted["controller"]["gone"]
    check("what vanished was requeued", gone[0] >= gone[1] > 0, gone)


def many(top: Path) -> None:
    """Four controllers; 16 units each as a 9500S has, then 32 on two 9650SE."""
    small = ("store_mib=8", "log_entries=10000", "array.level=single", "array.drives=1")
    script = "ls -d /sys/block/sd* | wc -l; ls /proc/raidlab; for d in sda sdp sdq sdbl; do test -b /dev/$d || echo no $d; done"
    script += "; dd if=/dev/zero bs=64k count=4 of=/dev/sdbl oflag=direct 2>/dev/null && sync"
    for device, controllers, units in (("0x1002", 4, 16), ("0x1004", 2, 32)):
        keys = (*small, f"controller.device_id={device}", f"controller.count={controllers}", f"array.units={units}")
        words = [word for key in keys for word in ("--set", key)]
        out = top / device
        done = lab(
            "run", "-q", "--kernel", "6.1", "--profile", "jbod-4", *words, "--out", str(out), "--", "sh", "-c", script
        )
        expected = [str(controllers * units), "log", *(f"log-{i}" for i in range(1, controllers)), "status"]
        check(f"{controllers} controllers of {units} units are {controllers * units} disks",
              done.stdout.split() == expected, done)  # fmt: skip
        last = out / f"ground-truth-{controllers - 1}.csv"
        rows = [line.split(",") for line in last.read_text().splitlines()] if last.exists() else []
        units_written = [row[4] for row in rows if row[3] == "WRITE"]
        check(f"the last of {units} units has been written", units_written == [str(units - 1)] * 4, units_written)
    done = lab("run", "-q", "--profile", "jbod-4", "--set", "array.units=17", "--out", str(top / "17"), "--", "true")
    check("a 9500S with 17 units is refused", done.returncode == 125 and "array.units" in done.stderr, done)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="lab-test-", dir="/var/tmp") as name:
        for kernel in sys.argv[1:] or KERNELS:
            if offered(kernel, kernel):
                striped(kernel, Path(name))
        faulty(Path(name))
        many(Path(name))
    finish()


main()
