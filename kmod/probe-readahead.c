// SPDX-License-Identifier: GPL-2.0-only
/* Handler of the page cache's readahead: windows asked for, and why. */
#include "compat.h"
#include "probe-handlers.h"

#include <linux/fs.h>
#include <linux/mm.h>

/* Probe of the disk that a file's pages come from: its filesystem's, or the device that it is. */
static struct raidtrace_probe *probe_of_inode(struct inode *inode)
{
	const struct block_device *bdev = S_ISBLK(inode->i_mode) ? I_BDEV(inode) :
								   inode->i_sb->s_bdev;

	return bdev ? raidtrace_probe_of(bdev->bd_queue) : NULL;
}

/*
 * A window is asked for on a missing page with order 0, and on a marked page with
 * the order of the last window and 2 more; ->order is what the two paths differ
 * in at this point.
 */
void raidtrace_on_ra_order(void *data, struct inode *inode, pgoff_t index,
			   struct file_ra_state *ra)
{
	struct raidtrace_probe *probe = probe_of_inode(inode);
	unsigned int async = raidtrace_ra_order(ra) ? 1 : 0;
	u64 sectors = (u64)ra->size << (PAGE_SHIFT - SECTOR_SHIFT);

	if (!probe || !(probe->groups & RAIDTRACE_GROUP_READAHEAD))
		return;
	this_cpu_add(probe->queued->disk[async ? RAIDTRACE_RA_ASYNC_SECTORS :
						     RAIDTRACE_RA_SYNC_SECTORS], sectors);
	this_cpu_inc(probe->queued->window[async][raidtrace_size_bin(sectors)]);
}
