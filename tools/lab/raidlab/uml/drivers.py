# SPDX-License-Identifier: GPL-2.0-or-later
"""Linux's own drivers of the simulated devices, as modules of a kernel of the lab.

The driver of the 3ware controller is built with the kernel. Those of the other devices are built when a guest first has
such a device, from the unchanged source of the same kernel, so that the kernel stays the same file with and without them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from raidlab.array import profile
from raidlab.base.failure import LabError
from raidlab.base.progress import Progress
from raidlab.kernel import linux
from raidlab.kernel.linux import Kernel
from raidlab.uml import modules


@dataclass(frozen=True)
class Driver:
    """`folder` below the kernel's source, `words` for make, `products` in the order in which they are loaded. `options` of
    Linux are set for the compiler alone: the configuration of the kernel does not have them."""

    folder: str
    words: tuple[str, ...]
    products: tuple[str, ...]
    options: tuple[str, ...] = ()


_DRIVERS = {
    "ahci": Driver(
        "drivers/ata",
        ("CONFIG_ATA=m", "CONFIG_SATA_HOST=y", "CONFIG_SATA_AHCI=m"),
        ("libata.ko", "libahci.ko", "ahci.ko"),
        ("CONFIG_ATA_MODULE=1", "CONFIG_SATA_HOST=1", "CONFIG_ATA_VERBOSE_ERROR=1", "CONFIG_SATA_MOBILE_LPM_POLICY=0"),
    ),
    "nvme": Driver("drivers/nvme/host", ("CONFIG_NVME_CORE=m", "CONFIG_BLK_DEV_NVME=m"), ("nvme-core.ko", "nvme.ko")),
}


def modules_of(name: str, kernel: Kernel, progress: Progress) -> list[Path]:
    """The modules of the driver called `name`, in the order in which they are loaded; built if they are not there."""
    if name == profile.DRIVER:
        return [kernel.driver]
    driver = _DRIVERS[name]
    linux.add_driver_files(kernel, progress)
    folder = kernel.source / driver.folder
    makefile = folder / "Makefile"
    if not makefile.exists():
        raise LabError(f"driver {name}", f"{folder} is not there", "Use a kernel source that has the driver.")
    # Some sources include headers of a folder beside theirs, which is not copied.
    flags = (f"-I{folder.resolve()}", *(f"-D{option}" for option in driver.options))
    module = modules.Module(name, makefile, (folder,), driver.products[-1], driver.words, flags)
    built = modules.build(module, kernel, progress)  # its warnings are the kernel's
    return [built.path.with_name(product) for product in driver.products]
