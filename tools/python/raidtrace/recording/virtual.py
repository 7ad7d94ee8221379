# SPDX-License-Identifier: GPL-2.0-or-later
"""What makes a disk: a hypervisor or a cloud, or a RAID controller of the machine.

A virtual disk's rotational flag is a choice of the host, and it may have limits of rate. raidctl list has the same names of
these, in tools/raidctl/disk/disk.c.
"""

import re

RAID_DRIVERS = ("3w-9xxx", "3w-sas", "3w-xxxx", "aacraid", "arcmsr", "hpsa", "megaraid_sas", "mpi3mr", "smartpqi")
DRIVERS = ("virtio-pci", "virtio-mmio", "vmw_pvscsi", "hv_storvsc", "xen-blkfront")
MODELS = re.compile("QEMU|VBOX|VMware|Virtual|Amazon Elastic|Google|MSFT NVMe")
NAMES = re.compile(r"(vd|xvd|ubd|nbd|rbd)[a-z0-9]")


def is_virtual(driver: str, model: str, name: str = "") -> bool:
    """Whether a disk is a virtual one, by its driver, its model as sysfs has it, or its name."""
    return driver in DRIVERS or bool(MODELS.search(model)) or bool(NAMES.match(name))
