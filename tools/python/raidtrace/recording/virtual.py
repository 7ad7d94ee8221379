# SPDX-License-Identifier: GPL-2.0-or-later
"""Disks that a hypervisor or a cloud makes. Their rotational flag is a choice of the host, and they may have limits of rate.

raidctl list has the same names, in tools/raidctl/disk/disk.c.
"""

import re

DRIVERS = ("virtio-pci", "virtio-mmio", "vmw_pvscsi", "hv_storvsc", "xen-blkfront")
MODELS = re.compile("QEMU|VBOX|VMware|Virtual|Amazon Elastic|Google|MSFT NVMe")
NAMES = re.compile(r"(vd|xvd|ubd|nbd|rbd)[a-z0-9]")


def is_virtual(driver: str, model: str, name: str = "") -> bool:
    """Whether a disk is a virtual one, by its driver, its model as sysfs has it, or its name."""
    return driver in DRIVERS or bool(MODELS.search(model)) or bool(NAMES.match(name))
