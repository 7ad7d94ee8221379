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
class Build:
    """`folder` below the kernel's source, `words` for make, `products` in the order in which they are loaded. `options` of
    Linux are set for the compiler alone: the configuration of the kernel does not have them."""

    folder: str
    words: tuple[str, ...]
    products: tuple[str, ...]
    options: tuple[str, ...] = ()


_BUILDS = {
    "ahci": (
        Build(
            "drivers/ata",
            ("CONFIG_ATA=m", "CONFIG_SATA_HOST=y", "CONFIG_SATA_AHCI=m"),
            ("libata.ko", "libahci.ko", "ahci.ko"),
            ("CONFIG_ATA_MODULE=1", "CONFIG_SATA_HOST=1", "CONFIG_ATA_VERBOSE_ERROR=1", "CONFIG_SATA_MOBILE_LPM_POLICY=0"),
        ),
    ),
    "nvme": (Build("drivers/nvme/host", ("CONFIG_NVME_CORE=m", "CONFIG_BLK_DEV_NVME=m"), ("nvme-core.ko", "nvme.ko")),),
    "virtio-blk": (
        Build(
            "drivers/virtio",
            ("CONFIG_VIRTIO_PCI=m", "CONFIG_VIRTIO_PCI_LIB=m"),
            ("virtio_pci_modern_dev.ko", "virtio_pci.ko"),
        ),
        Build("drivers/block", ("CONFIG_VIRTIO_BLK=m", "CONFIG_BLK_DEV_LOOP=n", "CONFIG_BLK_DEV_NULL_BLK=n"),
              ("virtio_blk.ko",)),
    ),
}  # fmt: skip


def names() -> list[str]:
    """Of all drivers that are built as modules of their own."""
    return list(_BUILDS)


def modules_of(name: str, kernel: Kernel, progress: Progress) -> list[Path]:
    """The modules of the driver called `name`, in the order in which they are loaded; built if they are not there."""
    if name == profile.DRIVER:
        return [kernel.driver]
    if kernel.source.exists():
        linux.add_driver_files(kernel, progress)
    return [path for build in _BUILDS[name] for path in _built(name, build, kernel, progress)]


def _built(name: str, build: Build, kernel: Kernel, progress: Progress) -> list[Path]:
    product = build.products[-1]
    # The kernel of the package raidtrace-lab-kernel has no source; what was built of it is there.
    installed = (
        [] if kernel.source.exists() else sorted(kernel.entry.glob(f"modules/{Path(product).stem}-*/src/{product}"))
    )
    if installed:
        return [installed[0].with_name(name) for name in build.products]
    folder = kernel.source / build.folder
    makefile = folder / "Makefile"
    if not makefile.exists():
        raise LabError(f"driver {name}", f"{folder} is not there", "Use a kernel source that has the driver.")
    # The folder, since some sources include headers of one beside theirs, which is not copied.
    module = modules.Module(Path(product).stem, makefile, (folder,), product, build.words, build.options, folder)
    built = modules.build(module, kernel, progress)  # its warnings are the kernel's
    return [built.path.with_name(product) for product in build.products]
