# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: md RAID 0 over the disks of two controllers; the counts of each controller and of raidtrace, and the data.

Prints one JSON object. Started by model-controllers.py.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import pathlib
import random
import re
import subprocess
import sys
from typing import Any

sys.dont_write_bytecode = True
from kmod_witness import Measured  # noqa: E402

MEMBERS = {"sda": "log", "sdb": "log-1"}
MIB = 1 << 20
SPAN = 48 * MIB


def make_array() -> None:
    subprocess.run("modprobe raid0", shell=True, check=True)
    words = ["mdadm", "--create", "/dev/md0", "--run", "--level=0", "--raid-devices=2", "--chunk=512", "--homehost=lab"]
    subprocess.run([*words, *(f"/dev/{disk}" for disk in MEMBERS)], check=True, capture_output=True)


def work() -> tuple[str, str]:
    """Digest of what was written, and of what is read back."""
    choose = random.Random(7)
    image = bytearray(SPAN)
    with open("/dev/md0", "r+b", buffering=0) as disk:
        at = 0
        while at < SPAN:
            part = choose.randbytes(min(choose.randrange(1, 300) << 12, SPAN - at))
            image[at : at + len(part)] = part
            disk.seek(at)
            disk.write(part)
            at += len(part)
        subprocess.run(["sync"], check=True)
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3\n", encoding="ascii")
    with open("/dev/md0", "rb", buffering=0) as disk:
        read = hashlib.sha256()
        for _ in range(SPAN // MIB):
            read.update(disk.read(MIB))
    return hashlib.sha256(image).hexdigest(), read.hexdigest()


def pci(disk: str) -> str:
    """The address of the disk's controller: the last in its path that is one."""
    path = str(pathlib.Path("/sys/block", disk).resolve())
    return re.findall(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", path)[-1]


def witnessed(measured: Measured) -> dict[str, Any]:
    """The counters against the log of the disk's controller and diskstats. `wrong`: their first difference; without a fault
    there is none. `gone`: commands that never completed, which are requeued and come again."""
    wrong = ""
    try:
        measured.check()
    except AssertionError as error:
        wrong = str(error)
    return {
        "wrong": wrong,
        "gone": sum(row["status"] in ("lost", "reset") for row in measured.commands),
        "requeued": measured.counters.total("requeued"),
        "write bytes": 512 * sum(row["sectors"] for row in measured.commands if row["name"] == "WRITE"),
        "pci": pci(measured.disk),
    }


def resets() -> list[int]:
    hosts = sorted(pathlib.Path("/sys/class/scsi_host").glob("host*/stats"))
    lines = (line for host in hosts for line in host.read_text(encoding="ascii").splitlines())
    return [int(line.partition(":")[2]) for line in lines if line.startswith("SCSI Host Resets")]


def main() -> None:
    make_array()
    with contextlib.ExitStack() as stack:
        both = [stack.enter_context(Measured(disk, log=log)) for disk, log in MEMBERS.items()]
        written, read = work()
    report = {measured.disk: witnessed(measured) for measured in both}
    print(json.dumps({"written": written, "read": read, "resets": resets(), **report}))


main()
