#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# lab-kernels: all
"""The simulated disks other than the 3ware array under the kernel's own drivers: raidtrace's counts are those of the
device's log, times are the arithmetic of the profile, two runs leave the same log, and a fault ends as the driver would
end it on a real device.

model-devices.py [KERNEL...]
"""

from __future__ import annotations

import concurrent.futures
import json
import statistics
import sys
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True
from lab_checks import KERNELS, check, guest, lab, output_of, scratch  # noqa: E402

HERE = Path(__file__).resolve().parent
GUEST = HERE / "model_devices_guest.py"
TRUTH = HERE / "kmod-truth.py"
DISKS = {
    "nvme-970pro": "nvme0n1",
    "nvme-azure": "nvme0n1",
    "sata-hdd-7200": "sda",
    "sata-ssd": "sda",
    "virtio-capped": "vda",
}
CLOCK_NS = 256  # a step of the guest's clock

# How reading ends, and whether the disk is there a minute later.
COPY = """
dd if=/dev/{disk} of=/dev/null bs=64K count=512 status=none; echo $?
for second in $(seq 60); do test -b /dev/{disk} || break; sleep 1; done; test -b /dev/{disk} && echo there || echo gone
"""
# Linux 6.1 removes a dead controller from a work queue that may not wait for others: the kernel warns.
KNOWN = ("6.1", "nvme-970pro", "gone", "check_flush_dependency")
# A file system is written, something happens to the device meanwhile, and what comes back is compared.
KEEP_DATA = """
mkfs.ext4 -q -F /dev/{disk} && mkdir -p mnt && mount /dev/{disk} mnt &&
dd if=/dev/urandom of=mnt/file bs=64K count=256 conv=fsync status=none && sum=$(md5sum <mnt/file) && sync &&
echo 3 >/proc/sys/vm/drop_caches && test "$sum" = "$(md5sum <mnt/file)" && umount mnt &&
fsck.ext4 -fn /dev/{disk} >/dev/null 2>&1 && echo same
"""


def moved(top: Path, kernel: str, profile: str, *load: object) -> dict[str, Any]:
    """The device's log of a load (direction, operations, depth, bytes)."""
    done = guest(top / "-".join(map(str, load)), "python3", GUEST, DISKS[profile], *load, kernel=kernel,
                 profile=profile, options=["--no-raidtrace"])  # fmt: skip
    result: dict[str, Any] = json.loads(output_of(f"{kernel}: {profile}: {load}", done) or "{}")
    return result


def counts(top: Path, kernel: str) -> None:
    """All that raidtrace counts."""
    for profile, disk in DISKS.items():
        done = guest(top / "truth", "python3", TRUTH, disk, kernel=kernel, profile=profile)
        message = done.stdout.strip().splitlines()[-1:]
        check(
            f"{kernel}: {profile}: counts are those of the log",
            message == ["9 passed, 0 failed"],
            done.stdout + done.stderr,
        )


def rates(top: Path, kernel: str) -> None:
    """Times and rates against the profile's constants."""
    reads = {"nvme-970pro": 35_760 + 21_500 + 4096 / 3.36,
             "sata-ssd": 10_000 + 4096e9 / (527_344 * 1024) + 75_000 + 7_000}  # fmt: skip
    for profile, expected in reads.items():
        one = moved(top, kernel, profile, "read", 200, 1, 4096)
        if one:
            slowest, quickest = max(one["latency_ns"]), min(one["latency_ns"])
            check(f"{kernel}: {profile}: a read takes {expected:.0f} ns and at most a step of the clock more",
                  expected - 1 <= quickest and slowest <= expected + 2 * CLOCK_NS, (quickest, slowest))  # fmt: skip
    limited = (("nvme-azure", 2000, 64, 65536, 460_000_000), ("virtio-capped", 1200, 32, 4096, 3000 * 4096),
               ("virtio-capped", 1200, 32, 131072, 131_072_000))  # fmt: skip
    for profile, operations, depth, size, rate in limited:
        volume = moved(top, kernel, profile, "read", operations, depth, size)
        if volume:
            span = volume["completions_ns"][-1] - volume["completions_ns"][200]
            got = (len(volume["completions_ns"]) - 201) * size * 1e9 / span
            check(f"{kernel}: {profile}: {size} bytes a read: {rate} bytes a second within 0.1 %",
                  abs(got / rate - 1) < 0.001, got)  # fmt: skip
    disk = moved(top, kernel, "sata-hdd-7200", "read", 400, 1, 4096)
    deep = moved(top, kernel, "sata-hdd-7200", "read", 400, 32, 4096)
    if disk and deep:
        mean = statistics.fmean(disk["latency_ns"]) / 1e6
        check(f"{kernel}: sata-hdd-7200: seek and half a turn, 12.7 ms within 5 %", abs(mean / 12.67 - 1) < 0.05, mean)
        alone, queued = (one["completions_ns"][-1] - one["first_arrival_ns"] for one in (disk, deep))
        check(f"{kernel}: sata-hdd-7200: a queue makes random reads 2 to 3.5 times as fast",
              2 < alone / queued < 3.5, alone / queued)  # fmt: skip


def again(top: Path, kernel: str) -> None:
    """Two runs side by side."""
    for profile, disk in DISKS.items():
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            script = KEEP_DATA.format(disk=disk)
            runs = [pool.submit(guest, top / name, "sh", "-c", script, kernel=kernel, profile=profile)
                    for name in ("one", "other")]  # fmt: skip
        for done in (run.result() for run in runs):
            check(
                f"{kernel}: {profile}: what is written comes back", done.stdout == "same\n", done.stdout + done.stderr
            )
        one, other = ((top / name / "ground-truth.csv").read_bytes() for name in ("one", "other"))
        check(
            f"{kernel}: {profile}: the same {one.count(bytes([10])) - 1} commands, byte for byte",
            one == other and len(one) > 9000,
        )


def faults(top: Path, kernel: str) -> None:
    """Each fault, from the command to the error of the program."""
    done = guest(top / "medium", "sh", "-c", COPY.format(disk="vda"), kernel=kernel, profile="virtio-capped",
                 settings=["fault.medium_lba=20000"])  # fmt: skip
    check(f"{kernel}: virtio-capped: a bad sector ends dd with 1", done.stdout.split() == ["1", "there"], done.stdout)
    for profile in ("nvme-970pro", "sata-hdd-7200", "sata-ssd"):
        disk = DISKS[profile]
        # A drive that is pulled out of a PCI slot without hotplug stays listed since Linux 6.2.
        pulled = "there" if disk.startswith("nvme") else "gone"
        for fault, status, place in (
            ("lose", 0, "there"),
            ("reset", 0, "there"),
            ("medium", 1, "there"),
            ("gone", 1, pulled),
        ):
            setting = "fault.medium_lba=20000" if fault == "medium" else f"fault.{fault}_command=15"
            done = guest(
                top / fault, "sh", "-c", COPY.format(disk=disk), kernel=kernel, profile=profile, settings=[setting]
            )
            if (kernel, profile, fault) == KNOWN[:3]:
                check(
                    f"{kernel}: {profile}: {setting}: the driver's known warning", KNOWN[3] in done.stderr, done.stderr
                )
                continue
            check(f"{kernel}: {profile}: {setting}: dd ends with {status}, the disk is {place}",
                  done.stdout.split() == [str(status), place], done.stdout + done.stderr)  # fmt: skip
        done = guest(top / "kept", "sh", "-c", KEEP_DATA.format(disk=disk), kernel=kernel, profile=profile,
                     settings=["fault.reset_command=150"])  # fmt: skip
        check(f"{kernel}: {profile}: data outlives a reset", done.stdout == "same\n", done.stdout + done.stderr)
        lost = (top / "kept" / "ground-truth.csv").read_text(encoding="ascii").count(",reset\n")
        check(f"{kernel}: {profile}: the reset ended commands", lost > 0, lost)


# Profile, setting, and what the kernel makes of it: rotational, optimal_io_size; the first kernel that does.
QUEUES = (
    ("nvme-970pro", "queue.io_opt_kib=1024", "0 1048576", (6, 1)),
    ("nvme-970pro", "queue.rotational=1", "1 0", (6, 13)),
    ("sata-hdd-7200", "queue.rotational=0", "0 0", (6, 1)),
    ("sata-ssd", "queue.rotational=1", "1 0", (6, 1)),
    ("virtio-capped", "queue.io_opt_kib=2048", "1 2097152", (6, 1)),
)


def queues(top: Path, kernel: str) -> None:
    """The properties that a disk reports."""
    major, minor = map(int, kernel.split("."))
    for profile, setting, message, since in QUEUES:
        script = f"cd /sys/block/{DISKS[profile]}/queue; echo $(cat rotational optimal_io_size)"
        expected = message if (major, minor) >= since else "0 0"
        done = guest(top / "queue", "sh", "-c", script, kernel=kernel, profile=profile, settings=[setting],
                     options=["--no-raidtrace"])  # fmt: skip
        check(f"{kernel}: {profile}: {setting}: {expected}", done.stdout.strip() == expected, done.stdout + done.stderr)


def refusals(top: Path) -> None:
    """The lab's own refusals, and those of the model, which the lab passes on; tests/model/test-config.c has all of these."""
    for words, message in (
        (("--set", "array.drives=4"), "a key of 3w-9xxx, not of nvme"),
        (("--set", "queue.io_opt_kib=64", "--set", "nvme.optimal_write_kib=64"), "which is set already"),
        (
            ("--set", "queue.rotational=0", "--profile", "9500s-12-raid0"),
            "a key of ahci, nvme, virtio-blk, not of 3w-9xxx",
        ),
        (("--set", "limit.iops=0", "--profile", "virtio-capped"), "is not allowed"),
        (("--profile", "nvme-970"), "no profile has this name"),
        (("--profile", ",".join(["virtio-capped"] * 17)), "17 devices"),
        (("--profile", "nvme-4,nvme-4"), "the same serial numbers"),
    ):
        done = guest(top / "refused", "true", kernel=KERNELS[0], profile="nvme-970pro", options=words)
        check(f"{' '.join(words)} is refused: {message}", done.returncode != 0 and message in done.stderr, done.stderr)
    for setting, warned in (("fault.lose_ms=600000", True), ("fault.lose_ms=0", False)):
        words = ["--profile", "virtio-capped", "--set", setting, "--out", str(top / "note")]
        done = lab("run", *words, "--", "true")
        check(f"virtio-capped: {setting}: runs, {'with' if warned else 'without'} a note that such a request never ends",
              done.returncode == 0 and ("has no timeout" in done.stderr) == warned, done.stderr)  # fmt: skip


def main() -> None:
    with scratch() as top:
        for kernel in sys.argv[1:] or (KERNELS[0], KERNELS[-1]):
            for part in (counts, rates, again, faults, queues):
                part(top, kernel)
        refusals(top)


main()
