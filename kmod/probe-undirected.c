// SPDX-License-Identifier: GPL-2.0-only
/* Handlers of events without a direction: plugs, and windows of the page cache. */
#include "probe-handlers.h"

#include <linux/fs.h>
#include <linux/huge_mm.h>
#include <linux/mm.h>

static noinline void count_event(const struct request_queue *queue,
				 enum raidtrace_event_counter counter, u32 amount)
{
	struct raidtrace_probe *probe = raidtrace_probe_of(queue);

	if (probe && probe->groups & RAIDTRACE_GROUP_PLUG)
		raidtrace_write_count(probe, 0, counter, amount);
}

void raidtrace_on_plug(void *data, struct request_queue *queue)
{
	count_event(queue, RAIDTRACE_PLUGS, 0);
}

void raidtrace_on_unplug(void *data, struct request_queue *queue, unsigned int depth,
			 bool explicit)
{
	count_event(queue, explicit ? RAIDTRACE_UNPLUGS_EXPLICIT : RAIDTRACE_UNPLUGS_SCHEDULE, depth);
}

#ifdef RAIDTRACE_HAS_RA_ORDER

enum { WINDOW_SYNC, WINDOW_ASYNC };

/* Probe of the disk that a file's pages come from: its filesystem's, or the device that it is. */
static struct raidtrace_probe *probe_of_inode(struct inode *inode)
{
	const struct block_device *bdev = S_ISBLK(inode->i_mode) ? I_BDEV(inode) :
								   inode->i_sb->s_bdev;

	return bdev ? raidtrace_probe_of(bdev->bd_queue) : NULL;
}

/*
 * Windows that are asked for on a marked page have the order of the last window
 * and 2 more, and mark their first page: ->async_size is ->size. Those on a
 * missing page have order 0; but those of huge pages have their order, and the
 * mark in the middle. A single huge page without a second one could be either:
 * it is not counted.
 */
static int window_kind(const struct file_ra_state *ra)
{
	if (!ra->order || ra->async_size != ra->size)
		return WINDOW_SYNC;
	if (IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE) && ra->order == HPAGE_PMD_ORDER &&
	    ra->size == HPAGE_PMD_NR)
		return -1;
	return WINDOW_ASYNC;
}

void raidtrace_on_ra_order(void *data, struct inode *inode, pgoff_t index,
			   struct file_ra_state *ra)
{
	struct raidtrace_probe *probe = probe_of_inode(inode);
	u32 sectors = ra->size << (PAGE_SHIFT - SECTOR_SHIFT);
	int kind = window_kind(ra);

	if (!probe || !(probe->groups & RAIDTRACE_GROUP_READAHEAD) || kind < 0)
		return;
	raidtrace_write_count(probe, 0, RAIDTRACE_RA_SYNC_SECTORS + kind, sectors);
}

#endif /* RAIDTRACE_HAS_RA_ORDER */
