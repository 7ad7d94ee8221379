#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""Several controllers: md RAID 0 over two of them keeps every byte, each log is what raidtrace counted of its disk; faults
strike the controller they are meant for; as many units as there can be."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True
from lab_checks import KERNELS, check, guest, offered, output_of, scratch  # noqa: E402

GUEST = Path(__file__).resolve().parent / "model_controllers_guest.py"
LOGS = ("ground-truth.csv", "ground-truth-1.csv")


def run(out: Path, kernel: str, *settings: str) -> dict[str, Any]:
    """The report of the guest; empty if the run failed."""
    done = guest(out, "python3", GUEST, kernel=kernel, profile="two-controllers", settings=settings)
    return json.loads(output_of(" ".join((kernel, *settings)), done) or "{}")


def striped(kernel: str, top: Path) -> None:
    result = run(top / kernel, kernel)
    if not result:
        return
    check(f"{kernel}: data written over both is read back", result["written"] == result["read"], result)
    for disk in ("sda", "sdb"):
        check(f"{kernel}: {disk}: raidtrace counted what its controller got", not result[disk]["wrong"], result)
    share = [result[disk]["write bytes"] for disk in ("sda", "sdb")]
    check(f"{kernel}: each controller has half", abs(share[0] - share[1]) <= 512 << 10 and min(share) > 20 << 20, share)
    check(f"{kernel}: they are two PCI functions", result["sda"]["pci"] != result["sdb"]["pci"], result["sda"]["pci"])


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
    check("what vanished was requeued", counted["requeued"] >= counted["gone"] > 0, counted)


def many(top: Path) -> None:
    """Four controllers; 16 units each as a 9500S has, then 32 on two 9650SE."""
    small = ("store_mib=8", "log_entries=10000", "array.level=single", "array.drives=1")
    script = "ls -d /sys/block/sd* | wc -l; ls /proc/raidlab; for d in sda sdp sdq sdbl; do test -b /dev/$d || echo no $d; done"
    script += "; dd if=/dev/zero bs=64k count=4 of=/dev/sdbl oflag=direct 2>/dev/null && sync"
    for device, controllers, units in (("0x1002", 4, 16), ("0x1004", 2, 32)):
        keys = (*small, f"controller.device_id={device}", f"controller.count={controllers}", f"array.units={units}")
        out = top / device
        done = guest(out, "sh", "-c", script, kernel="6.1", profile="jbod-4", settings=keys)
        expected = [str(controllers * units), "log", *(f"log-{i}" for i in range(1, controllers)), "status"]
        check(f"{controllers} controllers of {units} units are {controllers * units} disks",
              done.stdout.split() == expected, done)  # fmt: skip
        last = out / f"ground-truth-{controllers - 1}.csv"
        rows = [line.split(",") for line in last.read_text().splitlines()] if last.exists() else []
        units_written = [row[4] for row in rows if row[3] == "WRITE"]
        check(f"the last of {units} units has been written", units_written == [str(units - 1)] * 4, units_written)
    done = guest(top / "17", "true", profile="jbod-4", settings=["array.units=17"])
    check("a 9500S with 17 units is refused", done.returncode == 125 and "array.units" in done.stderr, done)


def main() -> None:
    with scratch() as top:
        for kernel in sys.argv[1:] or KERNELS:
            if offered(kernel, kernel):
                striped(kernel, top)
        faulty(top)
        many(top)


main()
