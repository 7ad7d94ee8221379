// SPDX-License-Identifier: GPL-2.0-only
/* What the kernel says of a target's disk: which one it is, and who drives it. */
#include "target.h"
#include "compat.h"

#include <linux/ctype.h>
#include <linux/fs.h>
#include <linux/pci.h>

/*
 * The disk that is to become a target, as long as @file is held (NULL for no file), or
 * ERR_PTR(-errno). Whoever may count a disk is who may open it, and waits for its driver
 * while opening: nothing is opened here, where others would wait too.
 */
struct block_device *raidtrace_disk_of_file(struct file *file, struct netlink_ext_ack *extack)
{
	if (!file || !(file->f_mode & FMODE_READ))
		return ERR_PTR(raidtrace_refuse(-EBADF, extack,
						"fd is no file that is open for reading"));
	if (!S_ISBLK(file_inode(file)->i_mode))
		return ERR_PTR(raidtrace_refuse(-ENOTBLK, extack, "fd is no block device"));
	return I_BDEV(file->f_mapping->host);
}

/*
 * Who drives a disk: the nearest PCI device above it, else the nearest device with a
 * driver.
 */
void raidtrace_disk_describe(struct raidtrace_target *target, struct device *disk)
{
	struct device *dev;

	for (dev = disk->parent; dev; dev = dev->parent) {
		bool pci = dev_is_pci(dev);

		/* On this bus are also hosts and targets, whose names begin with a word. */
		if (dev->bus && !strcmp(dev->bus->name, "scsi") && isdigit(dev_name(dev)[0]))
			strscpy(target->hctl, dev_name(dev), sizeof(target->hctl));
		if (dev->driver && (pci || !target->driver[0]))
			strscpy(target->driver, dev->driver->name, sizeof(target->driver));
		if (pci) {
			strscpy(target->pci, dev_name(dev), sizeof(target->pci));
			break;
		}
	}
	target->unit_3ware = target->pci[0] && !strcmp(target->driver, "3w-9xxx");
}
