# SPDX-License-Identifier: GPL-2.0-or-later
"""The module and the BPF programs at once, on real drivers of a stock kernel: what counts events is equal."""

from __future__ import annotations

import pathlib
import re

from raidlab.base.progress import Progress
from raidlab.vm import boot, session
from results import HARNESS_S, OUT, Results, captured, empty

GUEST = pathlib.Path(__file__).with_name("guest-doors")
DISK_BYTES = 96 << 20
DEVICES = {"nvme": "nvme,serial=doors", "virtio_blk": "virtio-blk-pci", "ahci": "ide-hd,bus=ahci.0"}
# QEMU 7.2 and the nvme driver of Linux 6.1, on a busy host: a queue that never completes a command again.
LOST = r"timeout, (aborting|reset controller)"
PREPARE = """
modprobe -a nvme virtio_blk ahci sd_mod ext4 dm_mod raid0 raid1
modprobe scsi_debug dev_size_mb=96 lbpu=1 lbpws=1 ndelay=20000
modprobe null_blk nr_devices=1 gb=1 memory_backed=1 submit_queues=2 discard=1
sleep 2
"""


def images(directory: pathlib.Path) -> tuple[str, ...]:
    """QEMU's options for a disk of each driver."""
    words = ["-device", "ahci,id=ahci"]
    for name, device in DEVICES.items():
        image = directory / name
        with open(image, "wb") as file:
            file.truncate(DISK_BYTES)
        words += ["-blockdev", f"file,node-name={name},filename={image},cache.no-flush=on,discard=unmap"]
        words += ["-device", f"{device},drive={name}"]
    return tuple(words)


def both(series: str, results: Results, progress: Progress) -> None:
    """Each disk alone, then all at once with dm and md above."""
    out = empty(OUT / f"{series}-doors")
    with boot.work_directory() as work:
        job = session.Session(
            series,
            [str(GUEST)],
            out,
            timeout_s=10 * HARNESS_S,
            memory_mib=1536,
            prepare=PREPARE,
            devices=images(work),
        )
        ended, output, complained = captured(job, progress, out / "log")
    results.lines(output, f"{series}: both doors")
    wrong = ended.outcome.reason
    if wrong and re.search(LOST, (out / "kernel.log").read_text(encoding="utf-8")):
        wrong += f"; the disk did not answer a command, perhaps by the emulation; again: --suite both {series}"
    if not wrong and " passed, " not in output:
        wrong = f"status {ended.outcome.status}: {complained.strip()[-400:]}"
    results.check(f"{series}: both doors: the guest ended well after {ended.outcome.wall_s:.0f} s", wrong)
