# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: md RAID 0 over the disks of two controllers; the counts of each controller and of raidtrace, and the data.

Prints one JSON object. Started by model-controllers.py.
"""

from __future__ import annotations

import collections
import csv
import hashlib
import io
import json
import pathlib
import random
import re
import subprocess
import sys
from typing import Any

sys.dont_write_bytecode = True
import kmod_client as kmod  # noqa: E402

MEMBERS = {"sda": "log", "sdb": "log-1"}
MIB = 1 << 20
SPAN = 48 * MIB
DATA = {"READ": "read", "WRITE": "write"}


def rows(log: str) -> list[dict[str, str]]:
    text = pathlib.Path("/proc/raidlab", log).read_text(encoding="ascii")
    return [row for row in csv.DictReader(io.StringIO(text)) if row["unit"] == "0"]


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


def size_bin(sectors: int) -> int:
    octave = sectors.bit_length() - 1
    return sectors if sectors <= 256 else 257 + (octave - 8) * 16 + ((sectors >> (octave - 4)) & 15)


def by_controller(commands: list[dict[str, str]]) -> dict[str, Any]:
    """In raidtrace's terms; what never completed was requeued and came again."""
    counts: dict[str, Any] = {"gone": sum(row["status"] in ("lost", "reset") for row in commands)}
    for name, direction in DATA.items():
        mine = [row for row in commands if row["name"] == name]
        counts[f"{direction}s"] = len(mine)
        counts[f"{direction} bytes"] = sum(512 * int(row["sectors"]) for row in mine)
        counts[f"{direction} sizes"] = dict(collections.Counter(size_bin(int(row["sectors"])) for row in mine))
    counts["depths"] = dict(collections.Counter(int(row["depth"]) for row in commands))
    return counts


def by_raidtrace(counters: kmod.Counters) -> dict[str, Any]:
    counts: dict[str, Any] = {"gone": counters.total("requeued")}
    for direction in DATA.values():
        counts[f"{direction}s"] = counters.flow[direction]["issued"]
        counts[f"{direction} bytes"] = counters.flow[direction]["bytes-issued"]
        counts[f"{direction} sizes"] = counters.bins("size", direction)
    counts["depths"] = counters.bins("depth-issue", "all")
    return counts


def resets() -> list[int]:
    hosts = sorted(pathlib.Path("/sys/class/scsi_host").glob("host*/stats"))
    lines = (line for host in hosts for line in host.read_text(encoding="ascii").splitlines())
    return [int(line.partition(":")[2]) for line in lines if line.startswith("SCSI Host Resets")]


def main() -> None:
    make_array()
    report: dict[str, Any] = {"resets": []}
    before = {disk: len(rows(log)) for disk, log in MEMBERS.items()}
    with kmod.Client() as client:
        targets = {disk: client.add(disk) for disk in MEMBERS}
        report["written"], report["read"] = work()
        for disk, log in MEMBERS.items():
            kmod.wait_for("end of I/O", lambda name=disk: not kmod.diskstats(name)["in_flight"])
            counters = client.counters(targets[disk])
            client.delete(targets[disk])
            report[disk] = {
                "violations": counters.violations(),
                "raidtrace": by_raidtrace(counters),
                "controller": by_controller(rows(log)[before[disk] :]),
                "pci": pci(disk),
            }
    report["resets"] = resets()
    print(json.dumps(report))


main()
