#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: 6.1 7.2
"""The simulated disks against arithmetic and against figures that others published: rates of NVMe with simple constants,
the data sheets of the 970 PRO and the 850 EVO, readahead that is too large on a cloud's volume, readahead of rotating
disks since Linux 6.17. Documentation/devices.rst has the results.

model-published.py [rates | volume | rotating]...
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True
from lab_checks import KERNELS, check, guest, output_of, processor_s, scratch  # noqa: E402

HERE = Path(__file__).resolve().parent
FIRST, LAST = KERNELS[0], KERNELS[-1]
SIMPLE = {
    "flash.channels": 8, "flash.page_kib": 16, "flash.read_ns": 80_000, "flash.program_ns": 200_000, "cache.kib": 0,
    "nvme.command_ns": 1000, "link.latency_ns": 5000, "link.bytes_s": 3_500_000_000,
}  # fmt: skip
PAGE = 16384
# Direction, operations, depth, bytes, stride (0: random), more settings; operations a second by arithmetic, tolerance.
ARITHMETIC = (
    ("read", 16000, 32, 4096, PAGE, {}, 8 / 80e-6, 0.001),
    ("write", 20000, 32, 4096, PAGE, {}, 8 / 200e-6, 0.001),
    ("read", 4000, 32, 4096, 0, {"limit.iops": 5000}, 5000, 0.001),
    ("read", 2000, 8, 65536, 0, {"limit.bytes_s": 100_000_000}, 100e6 / 65536, 0.001),
    # 87,170 ns; the next command begins at the next step of the clock, of 256 ns.
    ("read", 500, 1, 4096, 0, {}, 1e9 / (87_296 + 256), 0.005),
)
# Profile, disk; the data sheets' figures for 512 and 500 GB, and the part that the lab was off when Documentation/devices.rst
# was written.
DATA_SHEETS = (("nvme-970pro", "nvme0n1", (
    ("read", 8000, 32, 131072, 131072, 3500e6 / 131072, -0.040),
    ("write", 1600, 32, 131072, 131072, 2300e6 / 131072, 0.233),
    ("read", 10000, 32, 4096, 0, 370_000, -0.160),
    ("write", 10000, 32, 4096, 0, 500_000, -0.862),
    ("read", 1000, 1, 4096, 0, 15_000, 0.129),
    ("write", 2000, 1, 4096, 0, 55_000, -0.213),
)), ("sata-ssd", "sda", (
    ("read", 4000, 32, 131072, 131072, 540e6 / 131072, 0.0),
    ("write", 8000, 32, 131072, 131072, 520e6 / 131072, 0.011),
    ("read", 20000, 32, 4096, 0, 98_000, 0.019),
    ("write", 20000, 32, 4096, 0, 90_000, 0.111),
    ("read", 1000, 1, 4096, 0, 10_000, -0.003),
    ("write", 2000, 1, 4096, 0, 40_000, -0.014),
)))  # fmt: skip
NEAR = 0.02  # of the page's figures


def per_second(top: Path, profile: str, disk: str, load: tuple[str | int, ...], settings: dict[str, int]) -> float:
    """Commands a second of a load after its first fifth, by the device's log."""
    sets = [f"{key}={value}" for key, value in settings.items()]
    done = guest(top / "out", "python3", HERE / "model_devices_guest.py", disk, *load, kernel=LAST, profile=profile,
                 settings=sets, options=["--no-raidtrace"])  # fmt: skip
    output = output_of(f"{LAST}: {profile}: {load}", done)
    if not output:
        return 0
    ends = json.loads(output)["completions_ns"]
    first = len(ends) // 5
    return (len(ends) - 1 - first) * 1e9 / (ends[-1] - ends[first])


def rates(top: Path) -> None:
    """NVMe: arithmetic, then the data sheets."""
    for direction, operations, depth, size, stride, more, expected, part in ARITHMETIC:
        load = (direction, operations, depth, size, *([stride] if stride else []))
        rate = per_second(top, "nvme-970pro", "nvme0n1", load, SIMPLE | more)
        off = rate / expected - 1
        print(f"# {load} {more}: {rate:.1f} a second, arithmetic {expected:.1f}, {off:+.3%}")
        check(f"nvme: {load}: {expected:.0f} a second within {part:.1%}", abs(off) <= part, rate)
    for profile, disk, rows in DATA_SHEETS:
        for direction, operations, depth, size, stride, expected, known in rows:
            load = (direction, operations, depth, size, *([stride] if stride else []))
            rate = per_second(top, profile, disk, load, {})
            off = rate / expected - 1
            print(f"# {load}: {rate:.0f} a second, {rate * size / 1e6:.0f} MB/s; data sheet {expected:.0f}, {off:+.1%}")
            check(f"{profile}: {load}: {known:+.1%} of the data sheet", abs(off - known) <= NEAR, off)


def readahead(top: Path, kernel: str, profile: str, disk: str, cases: list[str], *options: str) -> dict[str, Any]:
    """Case -> the result of model_readahead_guest.py."""
    done = guest(top / "out", "python3", HERE / "model_readahead_guest.py", disk, *cases, kernel=kernel, profile=profile,
                 options=["--no-raidtrace", "--mem", "512M", *options])  # fmt: skip
    output = output_of(f"{kernel}: {profile}: {cases}", done)
    results = dict(zip(cases, map(json.loads, output.splitlines())))
    for case, one in results.items():
        print(f"# {kernel} {profile} {case}: read_ahead_kb {one['read_ahead_kb']}, {one['mb_s']:.1f} MB/s, "
              f"{one['reads_s']:.1f} reads/s, {one['fetched']:.2f} bytes fetched a byte")  # fmt: skip
    return results if len(results) == len(cases) else {}


def volume(top: Path) -> None:
    """Issue 5743 of Azure Kubernetes Service: the volume's optimal write size makes Linux read 64 MiB ahead of each fault."""
    for kernel in (FIRST, LAST):
        ordered = [f"{setting},sequential,1,2048,131072" for setting in ("128", "4096", "own")]
        single = [f"{setting},random,4,500,4096" for setting in ("128", "4096", "own")]
        mapped = ["128,mapped,4,500,4096", "4096,mapped,4,50,4096", "own,mapped,4,10,4096"]
        advised, long = "own,advised,4,500,4096", "4096,mapped,1,400,4096"
        results = readahead(top, kernel, "nvme-azure", "nvme0n1", [*ordered, *single, *mapped, advised, long])
        if not results:
            continue
        check(
            f"{kernel}: nvme-azure: the kernel sets 65536 by itself",
            results["own,mapped,4,10,4096"]["read_ahead_kb"] == 65536,
        )
        rate = [results[case]["reads_s"] for case in mapped]
        check(
            f"{kernel}: nvme-azure: mapped reads fall a hundredfold or more",
            rate[0] > 100 * rate[2] and rate[0] > 8 * rate[1] > 16 * rate[2],
            rate,
        )
        check(
            f"{kernel}: nvme-azure: 65536 fetches thousands of bytes for one",
            results[mapped[2]]["fetched"] > 5000,
            results,
        )
        same = [results[case]["reads_s"] for case in (*single, advised)]
        check(f"{kernel}: nvme-azure: pread() and MADV_RANDOM are not read ahead for, 4 in 0.7 ms",
              all(abs(one * 0.7e-3 / 4 - 1) < 0.005 for one in same), same)  # fmt: skip
        brake = results[long]["fetched"]
        check(f"{kernel}: nvme-azure: 400 faults: " + ("all fetch a window" if kernel == FIRST else "most do not"),
              brake > 950 if kernel == FIRST else brake < 400, brake)  # fmt: skip


def rotating(top: Path) -> None:
    """Linux 459779d04ae8: what the kernel sets for rotating disks against 128 KiB."""
    one, small, large = "sequential,1,2048,131072", "sequential,8,512,131072", "sequential,8,64,1048576"
    mapped, single = "mapped,4,20,4096", "random,4,40,4096"
    gain: dict[tuple[str, str], float] = {}
    for name, profile, disk, loads in (
        ("hdd", "sata-hdd-7200", "sda", (one, small, large, mapped, single)),
        ("virtio", "virtio-capped", "vda", (one, small, large, mapped, single)),
    ):
        cases = [f"{setting},{load}" for load in loads for setting in ("128", "own")]
        results = readahead(top, LAST, profile, disk, cases)
        if not results:
            return
        check(f"{name}: the kernel sets 8192", results[cases[1]]["read_ahead_kb"] == 8192)
        for load in loads:
            gain[name, load] = results[f"own,{load}"]["reads_s"] / results[f"128,{load}"]["reads_s"]
            print(f"# {name} {load}: {gain[name, load] - 1:+.0%}")
    check("hdd: 8 readers gain, those of 128 KiB more than those of 1 MiB, as published",
          gain["hdd", small] > 2 > gain["hdd", large] > 1.2, gain)  # fmt: skip
    check("hdd: one reader gains nothing", 0.85 < gain["hdd", one] < 1.02, gain)
    check("hdd: mapped random reads lose", gain["hdd", mapped] < 0.3, gain)
    check("hdd: pread() at random stays", abs(gain["hdd", single] - 1) < 0.1, gain)
    check(
        "virtio: readers in order gain nothing", all(gain["virtio", load] < 1.01 for load in (one, small, large)), gain
    )
    check("virtio: mapped random reads lose", gain["virtio", mapped] < 0.1, gain)


def main() -> None:
    parts = {"rates": rates, "volume": volume, "rotating": rotating}
    with scratch() as top:
        for part in sys.argv[1:] or parts:
            before = processor_s()
            parts[part](top)
            print(f"# {part}: {processor_s() - before:.1f} s of processor")


main()
